# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the command line says of odd models and of packages that are missing."""
import warnings

import pytest

from legged_dynamics import cli
from legged_dynamics.model import ModelWarning


class Verb:
    """A verb that warns as a model does that is made several times."""

    def add_parser(self, verbs):
        verbs.add_parser('odd').set_defaults(run=self.run)

    def run(self, args):
        for level in (1, 2, 3):
            warnings.warn('mule: joint 4 moves nothing', ModelWarning, stacklevel=level)
        warnings.warn('mule: joint 5 moves nothing', ModelWarning, stacklevel=1)
        return 0


class Lacking(Verb):
    """A verb that needs a package which is not installed."""

    def __init__(self, package):
        self.package = package

    def run(self, args):
        raise ModuleNotFoundError(f'No module named {self.package!r}', name=self.package)


def test_a_warning_of_a_model_is_one_line_without_files(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter('always')
        assert cli.main(['odd'], (Verb(),)) == 0
    assert capsys.readouterr().err.splitlines() == [
        'legged-dynamics odd: mule: joint 4 moves nothing',
        'legged-dynamics odd: mule: joint 5 moves nothing']


def test_a_missing_package_comes_with_what_installs_it():
    assert cli.installs('tables', '0.3.0') == 'pip install "legged_dynamics[tables]"'
    assert cli.installs('tables', cli.NOT_INSTALLED) == (
        'pip install ".[tables]" in the folder of its sources')


@pytest.mark.parametrize(('package', 'extra'), [
    ('cyclonedds.core', 'dds'), ('mujoco', 'sim'), ('viser', 'view'), ('some_other', 'all')])
def test_the_extra_that_has_a_missing_package_is_named(package, extra, capsys):
    assert cli.main(['odd'], (Lacking(package),)) == cli.WRONG
    assert f'pip install "legged_dynamics[{extra}]"' in capsys.readouterr().err
