# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The package stays within its budget of lines, docstrings, numbers, and large or long parts."""
import pytest

from benchmarks import structure


def test_the_package_is_within_its_budget():
    rooms, worst = structure.measure_all()
    budget = structure.read_budget()
    over = {name: f'{size} of {budget[name]}' for name, size in structure.totals(rooms).items()
            if size > budget[name]}
    assert not over, (f'{over}: make room, or raise it in {structure.BUDGET.name} and say why '
                      f'there; what exceeds a limit: {worst[:12]}')


@pytest.mark.parametrize('text, expected', [
    ('A = 0.3\n', {'constants': 1}),
    ('A, B = 0.3, -1e3\n', {'constants': 2, 'in tuples': 2}),
    ('A, B = range(2)\nc = 3\nD = f(3)\n', {}),
    ('def f(a):\n    """\n    F.\n\n    Of a.\n    """\n    return a\n',
     {'docstrings': 5, 'outweighed': 1, 'code': 2}),
    ('def f(a, b, c, d, e, f, g, h, i):  # nine\n    return a\n', {'many': 1}),
    ('class A:\n    def f(self):\n' + ''.join(f'        self.a{k} = {k}\n' for k in range(26)),
     {'crowded': 1}),
    ('def f():\n' + '    g()\n' * 80, {'long': 1})])
def test_sizes_are_counted(text, expected):
    found, worst = structure.measure(text)
    for name in structure.LIMITED:
        if name in expected or name not in ('lines', 'code', 'files'):
            assert found[name] == expected.get(name, 0), name
