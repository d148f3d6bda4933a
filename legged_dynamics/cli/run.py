# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``run``: a node of the package, on ROS 2 where it is there, else on Cyclone DDS."""
from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from legged_dynamics.cli.arguments import add_network_argument, keep_to_this_machine
from legged_dynamics.node_registry import NODES

HELP = """usage: legged-dynamics run {node} [--ros-args [-p NAME:=VALUE] [-r FROM:=TO]
                           [--params-file FILE] [--log-level LEVEL]]

{text}

Runs until Ctrl-C. A name after -p that is none of the node's parameters is refused; docs/topics.md
lists them with units, ranges and defaults."""


def add_parser(verbs: Any) -> None:
    """
    Add the verb to the command line.

    Parameters
    ----------
    verbs : argparse subparsers
        What ``add_subparsers`` returned.

    """
    parser = verbs.add_parser(
        'run', help='run a node', description='Runs a node until Ctrl-C. What follows its name '
        'goes to the node, --ros-args included.')
    add_network_argument(parser)
    parser.add_argument('node', choices=NODES, metavar='NODE', help=f'one of {", ".join(NODES)}')
    parser.add_argument('arguments', nargs=argparse.REMAINDER, metavar='--ros-args ...',
                        help='ROS 2 arguments: -p name:=value, -r from:=to, --params-file FILE')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """
    Run the node and return its exit code.

    Parameters
    ----------
    args : argparse.Namespace
        With ``node``, ``arguments`` and ``network``.

    Returns
    -------
    int
        Exit code of the process.

    """
    module = NODES[args.node].module
    before = args.arguments[:args.arguments.index('--ros-args')
                            if '--ros-args' in args.arguments else None]
    if {'-h', '--help'} & set(before):
        print(HELP.format(node=args.node, text=(
            import_module(module).__doc__ or '').strip()))
        return 0
    keep_to_this_machine(args.network)
    return import_module(module).main(args.arguments)
