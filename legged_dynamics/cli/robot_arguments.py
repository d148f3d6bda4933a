# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which robot a verb is about: ``--robot`` and ``--urdf``."""
from __future__ import annotations

from typing import Any


def add_robot_arguments(parser: Any, where: str = 'in the bag or on the bus') -> None:
    """Add ``--robot`` and ``--urdf`` to a verb or to a group of its arguments."""
    parser.add_argument('--robot', default='', metavar='YAML',
                        help='robot YAML (path, or name of one that comes with the package); '
                        'default: the one that fits the URDF')
    parser.add_argument('--urdf', default='', metavar='FILE',
                        help=f'URDF; default: robot_description {where}')
