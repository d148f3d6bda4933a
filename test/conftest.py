# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where a package that only tests need is missing (`colcon test`), what needs it is skipped."""
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OPTIONAL = ('distributed', 'hypothesis', 'launch', 'launch_ros', 'mujoco', 'pinocchio',
            'playwright', 'pyarrow', 'quadprog', 'rich', 'rosbags', 'trimesh', 'viser')


def installed(name):
    """Tell whether a package is there; a mere folder of ours of that name, as launch/, is none."""
    spec = find_spec(name)
    places = spec.submodule_search_locations if spec is not None else None
    return spec is not None and (
        not places or any(Path(place).parent != ROOT for place in places))


class Missing:
    """Skips the test module that imports a package which is not there."""

    names = frozenset(name for name in OPTIONAL if not installed(name))

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.names:
            pytest.skip(f'{name} is not installed', allow_module_level=True)


if Missing.names:
    sys.meta_path.insert(0, Missing)
