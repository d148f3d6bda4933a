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


def is_there(name):
    """Return whether a package is installed; a folder of ours of that name, launch/, is none."""
    spec = find_spec(name)
    return spec is not None and any(Path(place).resolve().parent != ROOT for place in (
        [spec.origin] if spec.origin else spec.submodule_search_locations or ()))


class Missing:
    """Skips the test module that imports a package which is not there."""

    names = frozenset(name for name in OPTIONAL if not is_there(name))

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.names:
            pytest.skip(f'{name} is not installed', allow_module_level=True)


if Missing.names:
    sys.meta_path.insert(0, Missing)
