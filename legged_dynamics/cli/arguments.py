# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Who may talk to a node that is started from the command line: this machine, unless asked."""
from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

# A user who has set one of these has decided.
DECIDED = ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS',
           'CYCLONEDDS_URI')


def add_network_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--network`` to a verb."""
    parser.add_argument('--network', action='store_true',
                        help='talk to other machines, too; by default all stays on this one, '
                        f'unless {", ".join(DECIDED[:-1])} or {DECIDED[-1]} is set')


def keep_to_this_machine(network: bool,
                         environ: MutableMapping[str, str] = os.environ) -> None:
    """Restrict ROS 2 and Cyclone DDS to loopback in ``environ``, unless the user decided."""
    if not network and not any(environ.get(name) for name in DECIDED):
        environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        environ['ROS_LOCALHOST_ONLY'] = '1'     # what ROS 2 Humble reads


def add_open_argument(parser: Any) -> None:
    """Add ``--open`` to a verb that makes or serves a page."""
    parser.add_argument('--open', action='store_true',
                        help='show the page in the default browser')


# -------------------------------------------------------------------------------------------------
# Which robot a verb is about: ``--robot`` and ``--urdf``.


def add_robot_arguments(parser: Any, where: str = 'in the bag or on the bus') -> None:
    """Add ``--robot`` and ``--urdf`` to a verb or an argument group."""
    parser.add_argument('--robot', default='', metavar='YAML',
                        help='robot YAML (path, or name of one that comes with the package); '
                        'default: the one that fits the URDF')
    parser.add_argument('--urdf', default='', metavar='FILE',
                        help=f'URDF; default: robot_description {where}')


# -------------------------------------------------------------------------------------------------
# A copy of a robot's YAML with some settings changed.


def write_yaml(path: Path, before: Mapping[str, Any], changed: Mapping[str, Any],
               head: str) -> None:
    """Write a robot's YAML: settings by dotted name, some changed, below a comment line."""
    from legged_dynamics.exceptions import OutputError
    from legged_dynamics.parameter_file import written_file

    values = {name: value for name, value in {**before, **changed}.items() if value != []}
    try:
        path.write_text(f'# {head}\n{written_file(values)}', encoding='utf-8')
    except OSError as error:
        raise OutputError(f'cannot write {path}: {error}') from error
