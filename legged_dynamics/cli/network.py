# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Who may talk to a node that is started from the command line: this machine, unless asked."""
from __future__ import annotations

import argparse
import os
from collections.abc import MutableMapping

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
    """Have ROS 2 and Cyclone DDS stay on the loopback interface, unless the user has decided."""
    if not network and not any(environ.get(name) for name in DECIDED):
        environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        environ['ROS_LOCALHOST_ONLY'] = '1'     # what ROS 2 Humble reads
