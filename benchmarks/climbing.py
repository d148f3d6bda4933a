# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Tables of docs/stickybot_measured.md: the climbing node on MuJoCo's wall, against the truth.

``python -m benchmarks.climbing reduction`` climbs plain, reduced and reduced by turning hips: by
the package's own equations, by MuJoCo, and with the node and the wall's node as processes on DDS,
with sensor noise of three seeds. ``... conditions`` climbs other walls, with a payload and with a
foot that fails, node and wall on one bus in a process, and compares the pads' published margins
with MuJoCo's forces. ``... space`` climbs there with a body free in space. Where a foot
let go or a speed was missed, `reduction` exits with 1.
"""
from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import climbing_in_space
from legged_dynamics.reproductions.climbing.twin import ClimbingTwin
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.ros.nodes.stickybot_controller import StickybotControllerNode
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.stickybot import Adhesion, StickybotSettings, climb

YAML = robot_files('stickybot')[0]
DIALECT = StandaloneDialect()
NODE = '/stickybot_controller'
WRENCH, FLOAT = 'geometry_msgs/msg/WrenchStamped', 'std_msgs/msg/Float64'
ODOMETRY = 'nav_msgs/msg/Odometry'
SPEED = 0.04        # m/s, asked of all
STARTING = 2.5      # s until the gait is periodic: hanging, first pose, up to speed
SECONDS = 6.0       # of each climb
RATE = 250.0        # Hz on DDS and in the table of conditions, half of the robot's own
PATIENCE = 300.0    # s of the wall's clock for a climb on DDS
WAYS = {'off': 'plain gait', 'full': 'reduced', 'turning': 'reduced by turning hips'}


@dataclass
class Run:
    """What came of a climb."""

    speed: float = math.nan                 # m/s
    peak: np.ndarray = field(default_factory=lambda: np.full(4, math.nan))      # N, of each foot
    let_go: int = 0


def on_equations(way: str, pads: str, twin: bool) -> Run:
    """Climb without a node: by the package's own equations, or MuJoCo's."""
    settings = StickybotSettings.from_yaml(YAML).changed(
        {'control.reduction': way, 'control.speed': SPEED, 'adhesion.kind': pads})
    done = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                 seconds=SECONDS, trace=True, climber=ClimbingTwin(settings) if twin else None)
    assert done.trace is not None
    sizes = np.hypot(done.trace.reaction[..., 0], done.trace.reaction[..., 1])
    return Run(done.speed, sizes[len(sizes) // 2:].max(axis=0), done.failures)


def on_dds(way: str, pads: str, seed: int) -> Run:
    """Climb with node and wall as processes that exchange messages on the loopback interface."""
    from legged_dynamics.ros.middleware.cyclone import CycloneBus
    from legged_dynamics.ros.middleware.discovery import DomainLease

    values = {'walk': True, 'control.rate': RATE, 'control.speed': SPEED, 'adhesion.kind': pads,
              'control.reduction': way}
    wall = {'simulation.rate': RATE, 'lock_step.answers': f'[{NODE}/answer]', 'seed': seed,
            'lock_step.speed': 0.0, 'adhesion.kind': pads}
    feet = StickybotSettings.from_yaml(YAML).model().limb_names
    forces: list[dict[int, float]] = [{} for _ in feet]
    heights: dict[int, float] = {}
    let_go: list[str] = []
    with DomainLease() as lease:
        environment = {**lease.environment(), 'LEGGED_DYNAMICS_MIDDLEWARE': 'cyclonedds'}
        bus = CycloneBus(environment)
        ear = bus.create_node('listener')

        def listen(kind: str, topic: str, take: Any) -> None:
            ear.create_subscription(DIALECT.message(kind), topic, take,
                                    DIALECT.qos.reliable(10_000))

        def take_force(i: int) -> Any:
            def take(message: Any) -> None:
                stamp, wrench = convert.read_wrench(message)
                forces[i][stamp] = math.hypot(wrench[0], wrench[1])
            return take

        def take_pose(message: Any) -> None:
            heights[convert.stamp_ns(message.header.stamp)] = message.pose.pose.position.z
        for i, foot in enumerate(feet):
            listen(WRENCH, f'/ground_truth/{foot}_foot/wrench', take_force(i))
        listen(ODOMETRY, '/ground_truth/odom', take_pose)
        listen('std_msgs/msg/String', f'{NODE}/events',
               lambda m: let_go.append(m.data) if 'no longer' in m.data else None)
        processes = [subprocess.Popen(
            [sys.executable, '-m', 'legged_dynamics', 'run', node, '--ros-args', '--params-file',
             str(YAML), *(word for name, value in given.items() for word in (
                 '-p', f'{name}:={str(value).lower() if isinstance(value, bool) else value}'))],
            env={**os.environ, **environment}, stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
            for node, given in (('stickybot_controller', values | {'use_sim_time': True}),
                                ('simulated_robot', wall))]
        try:
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end and (
                    not heights or max(heights) - min(heights) < SECONDS * 1e9):
                bus.spin_once(0.05)
        finally:
            for process in processes:
                process.terminate()
                process.wait()
            bus.close()
    if not heights:
        return Run()
    start, last = min(heights) + round(STARTING * 1e9), max(heights)
    steady = sorted(stamp for stamp in heights if stamp >= start)
    if len(steady) < 2:
        return Run()
    speed = (heights[last] - heights[steady[0]]) / ((last - steady[0]) * 1e-9)
    return Run(speed, np.array([max((size for stamp, size in force.items() if stamp >= start),
                                    default=math.nan) for force in forces]), len(let_go))


def reduction() -> int:
    """Print peaks of every way to climb, on every plant."""
    print('| climb | plant | speed [cm/s] | peak of any foot [N] | against plain [%] | '
          'largest difference, left to right [%] | feet that let go |')
    print('| --- | --- | ---: | ---: | ---: | ---: | ---: |')
    plain: dict[str, float] = {}
    fallen = 0
    plants: list[tuple[str, Any]] = [
        ('own equations', lambda way, pads: on_equations(way, pads, False)),
        ('MuJoCo', lambda way, pads: on_equations(way, pads, True)),
        *((f'node and MuJoCo on DDS, noise, seed {seed}',
           lambda way, pads, seed=seed: on_dds(way, pads, seed)) for seed in range(3))]
    for name, run in plants:
        for way, pads in (('off', 'none'), ('full', 'none'), ('turning', 'none'),
                          ('full', 'directional'), ('turning', 'directional')):
            found = run(way, pads)
            peak = float(found.peak.max())
            if way == 'off':
                plain[name] = peak
            # Limbs are listed in pairs, left then right.
            left, right = found.peak[0::2], found.peak[1::2]
            fallen += int(found.let_go > 0 or not found.speed > 0.9 * SPEED)
            print(f'| {WAYS[way]}{", directional pads" if pads != "none" else ""} | {name} | '
                  f'{100 * found.speed:.2f} | {peak:.2f} | '
                  f'{100 * (peak / plain[name] - 1):+.0f} | '
                  f'{100 * np.max(np.abs(left / right - 1)):.1f} | {found.let_go} |', flush=True)
    return int(fallen > 0)


# -------------------------------------------------------------------------------------------------
# Other walls, payload, a foot that fails: node and wall on one bus.


def parts_used(pad: Adhesion, force: np.ndarray, angle: float) -> dict[str, float]:
    """Return what a force uses of each limit of a pad, by the limit's name."""
    x, y, pull = float(force[0]), float(force[1]), max(-float(force[2]), 0.0)
    pressed = pad.friction * max(float(force[2]), 0.0)
    found = {'shear': math.hypot(x, y) / (pad.shear + pressed), 'pull': pull / pad.normal}
    if pad.directional:
        c, s = math.cos(angle), math.sin(angle)
        along, across = c * x + s * y + pad.tack, abs(c * y - s * x)
        held = math.tan(pad.half_angle) * (along + pressed)
        lifted = math.tan(pad.release_angle) * max(along, 0.0)
        found['cone'] = across / held if held > 0.0 else 10.0
        found['release angle'] = (pull / lifted if lifted > 0.0 else 10.0) if pull else 0.0
    return found


@dataclass
class Conditions:
    """A climb under some conditions, sample by sample once it is periodic."""

    speed: float = math.nan
    used: list[float] = field(default_factory=list)         # of pads, MuJoCo's truth
    said: list[float] = field(default_factory=list)         # the same, published by the node
    worst: tuple[float, str] = (0.0, '-')                   # and by which limit
    let_go: list[str] = field(default_factory=list)


def under(changes: Mapping[str, Any], seconds: float = SECONDS) -> Conditions:
    """Climb with sensor noise under changed settings of robot, wall and pads."""
    values = {**read_parameter_file(YAML), 'control.rate': RATE, 'simulation.rate': RATE,
              'control.speed': SPEED, 'adhesion.kind': 'directional', **changes}
    bus = LoopbackBus()
    wall = bus.host(SimulatedRobotNode, parameters=values)
    bus.host(StickybotControllerNode, parameters={**values, 'walk': True})
    feet = StickybotSettings.from_parameters(
        {name: value for name, value in values.items()
         if name.partition('.')[0] in ('stickybot', 'adhesion', 'gait', 'control')})
    pads = feet.pads()
    assert pads is not None
    margins = [bus.watch(FLOAT, f'{NODE}/{name}_foot/margin', QoSProfile(depth=100))
               for name in feet.model().limb_names]
    found, period, start = Conditions(), 1.0 / RATE, 0.0
    for step in range(round((STARTING + seconds) * RATE)):
        bus.step(period)
        robot = wall.component.robot
        if robot.fallen:
            break
        if step * period < STARTING:
            start = robot.climbed
            continue
        force, on = robot.feet.reactions(), robot.feet.attached
        for i in np.flatnonzero(on):
            used = parts_used(pads[i], force[i], float(robot.feet._pad_angles[i]))
            limit, most = max(used.items(), key=lambda item: item[1])
            found.worst = max(found.worst, (most, limit))
            if margins[i] and margins[i][-1].data < 1.0:
                found.used.append(most)
                found.said.append(1.0 - margins[i][-1].data)
        for heard in margins:
            del heard[:-1]
    found.let_go = [entry.message for entry in bus.logs
                    if entry.node == 'simulated_robot' and ' s: foot ' in entry.message
                    and not entry.message.startswith('robot')]
    found.speed = (robot.climbed - start) / (seconds if not robot.fallen else math.nan)
    return found


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield names and settings."""
    def named(angle: int) -> str:
        return {0: 'floor', 90: 'wall, 90°', 180: 'ceiling'}.get(angle, f'{angle}°')

    for angle in (0, 45, 90, 100, 105, 110, 120):
        yield f'{named(angle)}, directional pads', {'stickybot.inclination': math.radians(angle)}
    for angle in (90, 120, 180):
        yield f'{named(angle)}, disc pads', {'stickybot.inclination': math.radians(angle),
                                             'adhesion.kind': 'disc'}
    for mass in (0.1, 0.2, 0.3):
        yield f'payload of {1000 * mass:.0f} g, known, directional pads', {
            'stickybot.body_mass': 0.29 + mass}
    for foot in ('right_fore_foot', 'left_hind_foot'):
        for pads in ('directional', 'disc'):
            yield f'{foot} fails after 4 s, {pads} pads', {
                'simulation.fault.foot': foot, 'simulation.fault.time': 4.0,
                'adhesion.kind': pads}
    yield 'hips that only turn, directional pads', {'control.reduction': 'turning'}


def conditions() -> int:
    """Print a row for each wall, payload and fault; then how true the margins are."""
    print('| conditions | speed [cm/s] | least margin of a pad [%] | by its | margin published: '
          'error at 95 % [% of the limit] | first foot that lets go |')
    print('| --- | ---: | ---: | --- | ---: | --- |')
    errors: list[np.ndarray] = []
    for name, changes in cases():
        found = under(changes)
        error = np.abs(np.array(found.said) - np.array(found.used))
        errors.append(error)
        first = found.let_go[0] if found.let_go else 'none'
        margin = ((f'{100 * (1 - found.worst[0]):.0f}', f'{100 * np.quantile(error, 0.95):.1f}')
                  if len(error) else ('-', '-'))
        speed = 'falls' if math.isnan(found.speed) else f'{100 * found.speed:.2f}'
        print(f'| {name} | {speed} | {margin[0]} | {found.worst[1]} | {margin[1]} | {first} |',
              flush=True)
    every = np.concatenate(errors)
    print(f'\nOf {len(every)} published margins {100 * np.mean(every <= 0.05):.1f} % are within '
          '5 % of the limit of the truth.')
    return 0


def main() -> int:
    """Make the tables that are asked for."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.climbing', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('table', choices=('reduction', 'conditions', 'space'))
    return {'reduction': reduction, 'conditions': conditions,
            'space': climbing_in_space.table}[parser.parse_args().table]()


if __name__ == '__main__':
    sys.exit(main())
