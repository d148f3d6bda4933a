# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``run``: a node of the package, on ROS 2 where it is there, else on Cyclone DDS."""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import MutableMapping, Sequence
from importlib import import_module
from pathlib import Path
from xml.sax.saxutils import quoteattr

from legged_dynamics.cli.arguments import (
    add_arguments,
    argument,
    keep_to_this_machine,
    switch,
)
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.node_registry import NODES

HELP = """usage: legged-dynamics run {node} [--ros-args [-p NAME:=VALUE] [-r FROM:=TO]
                           [--params-file FILE] [--log-level LEVEL]]

{text}

Runs until Ctrl-C. A name after -p that is none of the node's parameters is refused; docs/topics.md
lists them with units, ranges and defaults."""
UNITREE = 'unitree'
# The name that a Unitree robot's node runs under: its topics are those of the estimator.
ESTIMATOR = 'ground_reaction_estimator'


def run(args: argparse.Namespace) -> int:
    """Run the node and return its exit code."""
    module = NODES[args.node].module
    before, ros = _split(args.arguments)
    if args.node == UNITREE and (before or not ros):
        return import_module(module).main(unitree_arguments(before, ros, os.environ))
    if {'-h', '--help'} & set(before):
        print(HELP.format(node=args.node, text=(
            import_module(module).__doc__ or '').strip()))
        return 0
    if before:
        raise ConfigurationError(f'expected --ros-args in front of {" ".join(before)!r}')
    keep_to_this_machine(args.network)
    return import_module(module).main(args.arguments)


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what stands before --ros-args, and the rest."""
    at = arguments.index('--ros-args') if '--ros-args' in arguments else len(arguments)
    return list(arguments[:at]), list(arguments[at:])


# -------------------------------------------------------------------------------------------------
# A Unitree robot: from options of its own to the arguments of its node.


def _unitree_parser() -> argparse.ArgumentParser:
    """Return the parser of what stands behind ``run unitree``."""
    from legged_dynamics.ros.unitree_low_level import ROBOTS

    parser = argparse.ArgumentParser(
        prog='legged-dynamics run unitree', description='Foot forces of a Unitree robot from its '
        'own LowState, on the topics of ground_reaction_estimator. Reads only, unless --command '
        'is given.')
    add_arguments(parser, (
        argument('--robot', help=f'one of {", ".join(ROBOTS)}', required=True),
        argument('--interface', 'NAME', 'network interface to the robot, such as eth0; lo: a '
                 'simulator here', required=True),
        argument('--domain', 'N', 'DDS domain: 0 on robots (default), 1 in unitree_mujoco', int,
                 default=0),
        argument('--urdf', 'FILE', "the robot's URDF; default: that of robot_descriptions (PyPI), "
                 'where it is installed'),
        argument('--yaml', 'FILE', "the robot's YAML; default: the one that comes with the "
                 'package'),
        argument('--foot-force', help='publish LowState with our forces on '
                 f'rt/{ESTIMATOR}/lowstate: in foot_force_est, or in foot_force too',
                 choices=('off', 'estimate', 'both'), default='off'),
        argument('--print', 'S', 'how often forces are printed; 0: never', float, default=0.5,
                 dest='period'),
        switch('--command', 'send efforts of effort_controller/commands to the motors, as torque'),
        switch('--yes', 'do not ask before commanding')))
    return parser


def unitree_arguments(before: Sequence[str], ros: Sequence[str],
                      environ: MutableMapping[str, str]) -> list[str]:
    """
    Return the ROS arguments for ``run unitree``; set the DDS variables in ``environ``.

    ``ros`` (``--ros-args`` and what follows) takes precedence. Raises ConfigurationError if
    robot, interface or URDF are missing, or commanding was not confirmed.
    """
    from legged_dynamics.resources import robot_files
    from legged_dynamics.ros.unitree_low_level import robot_named

    args = _unitree_parser().parse_args(before)
    robot = robot_named(args.robot)
    urdf = args.urdf or _described(robot.description)
    if not Path(urdf).is_file():
        raise ConfigurationError(f'--urdf: there is no file {urdf!r}; Unitree has it as '
                                 f'{robot.urdf} in github.com/unitreerobotics/unitree_ros')
    _reach(args.interface, args.domain, environ)
    if args.command and not args.yes:
        _ask(robot.name)
    parameters = {'robot_description': urdf, 'unitree.robot': robot.name,
                  'unitree.foot_force': f"'{args.foot_force}'",
                  'unitree.print_period': float(args.period),
                  'unitree.command': str(args.command).lower()}
    made = ['--ros-args', '-r', f'__node:={ESTIMATOR}',
            '--params-file', args.yaml or str(robot_files(robot.name)[0])]
    for name, value in parameters.items():
        made += ['-p', f'{name}:={value}']
    return [*made, *ros[1:]]


def _described(package: str) -> str:
    """Return the URDF that the package robot_descriptions has of a robot."""
    try:
        if package:
            return str(import_module(f'robot_descriptions.{package}').URDF_PATH)
    except (ImportError, AttributeError):
        pass
    raise ConfigurationError("--urdf: expected the robot's URDF; give the path of your copy"
                             + (', or pip install robot_descriptions' if package else ''))


def _reach(interface: str, domain: int, environ: MutableMapping[str, str]) -> None:
    """Have DDS use one network interface and one domain."""
    import socket

    names = [name for _, name in socket.if_nameindex()]
    if interface not in names:
        raise ConfigurationError(f'--interface: expected one of {", ".join(names)}, '
                                 f'got {interface!r}')
    environ['ROS_DOMAIN_ID'] = str(domain)
    for name in ('ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS', 'CYCLONEDDS_URI'):
        environ.pop(name, None)
    # Unitree's programs find each other by multicast, on the loopback interface too.
    environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'SUBNET'
    environ['CYCLONEDDS_URI'] = (
        '<CycloneDDS><Domain id="any"><General><Interfaces><NetworkInterface '
        f'name={quoteattr(interface)}/></Interfaces></General></Domain></CycloneDDS>')


def _ask(name: str) -> None:
    """Ask whether the motors may be commanded."""
    if not sys.stdin.isatty():
        raise ConfigurationError('--command: nobody is there to be asked; --yes agrees beforehand')
    answer = input(f'Torque will be sent to the motors of this {name}. Its own controller must be '
                   'off (motion switcher), the robot hung up or free to fall.\n'
                   f'Type {name} to go on: ')
    if answer.strip().lower() != name:
        raise ConfigurationError('--command: not agreed to; nothing was sent')
