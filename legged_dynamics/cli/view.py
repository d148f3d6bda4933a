# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``view``: the robot and the forces on its feet in a browser, live or of a bag."""
from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from legged_dynamics.cli.arguments import keep_to_this_machine
from legged_dynamics.cli.output import ProgressBar, show_page
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.recordings.robot import RobotChoice
from legged_dynamics.ros.middleware.lifecycle import stopped_by_signals
from legged_dynamics.view.rerun_file import write_rrd
from legged_dynamics.view.show import Show, close_page, open_page
from legged_dynamics.view.sources import LiveOptions, follow, play, read_view


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    if args.rrd is not None:
        return _write_rrd(args)
    if args.bag is not None:
        return _play_bag(args)
    keep_to_this_machine(args.network)
    server = open_page(args.host, args.port)
    _announce(server, args.open)

    try:
        urdf = str(Path(args.urdf).resolve()) if args.urdf else ''
        return follow(LiveOptions(args.robot, urdf, args.joint_states, args.imu, args.reactions,
                                  args.odom), partial(_show, args, server), args.rate)
    finally:
        close_page(server)


def _write_rrd(args: argparse.Namespace) -> int:
    if args.bag is None:
        raise ConfigurationError('--rrd: expected a recording to write from; give a BAG')
    with ProgressBar(f'Reading {args.bag.name}') as bar:
        recorded = read_view(args.bag, args.robot, args.urdf, args.odom, args.rate, bar)
    path = write_rrd(recorded, args.rrd, args.friction, args.newtons_per_meter)
    print(f'Rerun: {path.resolve()}')
    return 0


def _play_bag(args: argparse.Namespace) -> int:
    """Serve a bag until Ctrl-C."""
    server = open_page(args.host, args.port)        # says what is wrong with it before the work
    try:
        with ProgressBar(f'Reading {args.bag.name}') as bar:
            recorded = read_view(args.bag, args.robot, args.urdf, args.odom, args.rate, bar)
        show = _show(args, server, recorded.robot)
        stopping: list[bool] = []
        with stopped_by_signals(lambda: stopping.append(True)):
            _announce(server, args.open)     # who reads this may end it at once
            play(show, recorded, args.rate, lambda: not stopping, args.at)
    finally:
        close_page(server)
    return 0


def _announce(server: Any, show: bool = False) -> None:
    """Say where the page is."""
    host = server.get_host()
    shown = 'localhost' if host in ('127.0.0.1', '0.0.0.0') else host
    address = f'http://{shown}:{server.get_port()}'
    print(f'View: {address} (Ctrl-C ends it)', flush=True)
    if show:
        show_page(address)


def _show(args: argparse.Namespace, server: Any, robot: RobotChoice) -> Show:
    return Show(server, robot.model, robot.config, robot.urdf, robot.name, friction=args.friction,
                newtons_per_meter=args.newtons_per_meter, meshes=args.meshes)
