# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where a package that only tests need is missing (`colcon test`), what needs it is skipped."""
import sys
from importlib.util import find_spec

import pytest

OPTIONAL = ('distributed', 'hypothesis', 'launch', 'launch_ros', 'mujoco', 'pinocchio',
            'playwright', 'pyarrow', 'quadprog', 'rich', 'rosbags', 'trimesh', 'viser')


class Missing:
    """Skips the test module that imports a package which is not there."""

    # Without an origin it is a mere folder of that name, such as our launch/.
    names = frozenset(name for name in OPTIONAL
                      if getattr(find_spec(name), 'origin', None) is None)

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in cls.names:
            pytest.skip(f'{name} is not installed', allow_module_level=True)


if Missing.names:
    sys.meta_path.insert(0, Missing)
