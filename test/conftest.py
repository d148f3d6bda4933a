# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where a package that only tests need is missing (`colcon test`), what needs it is skipped."""
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

OPTIONAL = ('distributed', 'hypothesis', 'launch', 'launch_ros', 'mujoco', 'pinocchio',
            'playwright', 'pyarrow', 'quadprog', 'rich', 'rosbags', 'trimesh', 'viser')


HERE = Path(__file__).resolve().parent.parent


def missing(name):
    """Return whether a package is missing: a mere folder of ours, such as launch/, is none."""
    spec = find_spec(name)
    return spec is None or (spec.origin is None and all(
        Path(place).resolve().parent == HERE for place in spec.submodule_search_locations or ()))


class Missing:
    """Skips the test module that imports a package which is not there."""

    names = frozenset(name for name in OPTIONAL if missing(name))

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.names:
            pytest.skip(f'{name} is not installed', allow_module_level=True)


if Missing.names:
    sys.meta_path.insert(0, Missing)
