# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``repair``: what is whole in a recording that was cut off, as a new bag."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_repair_parser(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        'repair', help='save what is whole in a bag that was cut off',
        description='Writes everything up to the last whole message of a recording that was never '
        'closed (killed, out of power, disk full) into a new bag; the old one stays as it is.')
    parser.add_argument('bag', type=Path, help='folder of a recording, or an .mcap or .db3 file')
    parser.add_argument('-o', '--out', type=Path, metavar='DIR',
                        help='folder to make; default: <bag>_repaired')
    parser.set_defaults(run=run_repair)


def run_repair(args: argparse.Namespace) -> int:
    """Repair and return the exit code."""
    from legged_dynamics.analysis.bag_repair import repair
    out = args.out or args.bag.with_name(f'{args.bag.stem}_repaired')
    count = repair(args.bag, out)
    print(f'{count} messages saved: {out}')
    return 0
