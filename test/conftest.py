# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where a package that only tests need is missing (`colcon test`), what needs it is skipped."""
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent
OPTIONAL = ('distributed', 'hypothesis', 'launch', 'launch_ros', 'mujoco', 'pinocchio',
            'playwright', 'pyarrow', 'quadprog', 'rich', 'rosbags', 'trimesh', 'viser')


def installed(name):
    """Say whether there is a package of a name, and not a mere folder such as our launch/."""
    spec = find_spec(name)
    # A package without a file of its own, as rosbags is, has no origin either.
    return spec is not None and (spec.origin is not None or any(
        HERE not in Path(place).resolve().parents or 'site-packages' in Path(place).parts
        for place in spec.submodule_search_locations))


class Missing:
    """Skips the test module that imports a package which is not there."""

    names = frozenset(name for name in OPTIONAL if not installed(name))

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.names:
            pytest.skip(f'{name} is not installed', allow_module_level=True)


if Missing.names:
    sys.meta_path.insert(0, Missing)
