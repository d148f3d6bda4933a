# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node compiles at its first start, in another process, and goes on meanwhile."""
import subprocess
import sys

import pytest

from legged_dynamics.ros.middleware import lifecycle
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.spatial import kernel_cache as kernel_state


class Cold(Component):
    """Has kernels, and none is compiled."""

    default_name, has_kernels = 'cold', True


class Log:
    """Keeps what is said."""

    def __init__(self):
        self.lines = []
        self.info = self.lines.append


def compiler_of(text):
    """Return what starts a Python text instead of the compiler, and a list of its processes."""
    made = []

    def start(command, **options):
        assert command[-2:] == ['warm', 'cold']
        made.append(subprocess.Popen([sys.executable, '-c', text],
                                     **{**options, 'stdin': subprocess.PIPE}))
        return made[0]
    return start, made


@pytest.mark.parametrize(('code', 'end'), [(0, 'compiled'), (1, 'compiling ahead failed')])
def test_it_says_when_it_begins_and_ends(code, end):
    start, made = compiler_of(f'input(); raise SystemExit({code})')
    log = Log()
    with lifecycle.compilation(Cold, log, start) as compiles:
        assert compiles() and log.lines == [lifecycle.COMPILING]
        made[0].communicate(b'\n')
        assert not compiles()
    assert log.lines[-1].startswith(end)


def test_a_compiler_that_is_not_awaited_is_ended():
    (start, made), log = compiler_of('input()'), Log()
    with lifecycle.compilation(Cold, log, start) as compiles:
        assert compiles()
    assert made[0].returncode is not None and log.lines == [lifecycle.COMPILING]


def test_what_estimates_has_the_nodes_kernels_compiled_by_another_process(monkeypatch):
    asked = []
    monkeypatch.setattr(kernel_state, 'is_warm', lambda name: name == 'warm')

    def run(command, **options):
        asked.append(command)
    lifecycle.compile_first('warm', run=run)
    assert not asked
    lifecycle.compile_first('warm', 'cold', run=run)
    assert [command[-2:] for command in asked] == [['warm', 'cold']]
