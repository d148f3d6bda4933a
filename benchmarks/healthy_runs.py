# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Runs of robots whose actuators are as their YAML says, apart from the field's noise.

Robots, gaits, speeds, grounds and noise are drawn from the number of the run. Torque gains differ
by 2 % (one deviation) and offsets by 0.3 % of the limit, as in all runs of the zoo. Of these runs
no fault of an actuator should be said. Each motion is heard with the noise of two seeds. Motions
of an even number chose the thresholds of the faults; those of an odd number did not.
"""
from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import benchmarks.zoo.foreign_robots  # noqa: F401  (adds its robots to those of the zoo)
from benchmarks.zoo.cache import _kept
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import ROBOTS, MissingRobot, ZooRobot, _robot
from benchmarks.zoo.scenarios import Scenario
from benchmarks.zoo.simulate import simulate
from legged_dynamics.exceptions import SimulationError

GAITS = {'hexapod': ('tripod', 'wave'), 'biped': ('step',), 'talos': ('step',), 'g1': ('step',),
         'romeo': ('step',)}
FOUR_LEGGED = ('trot', 'trot', 'walk')
FLOORS = ('soft', 'normal', 'normal', 'stiff')
# Robots that walk in these runs.
NAMES = ('go2', 'hyq', 'b1', 'hexapod', 'quadruped', 'biped', 'anymal_class', 'solo_class',
         'talos', 'g1', 'a1', 'laikago', 'anymal_b', 'anymal_c', 'romeo', 'go1', 'aliengo', 'b2',
         'a2')
# Unitree's quadrupeds in unitree_ros: thigh, calf [rad], torque noise [N m], armature [kg m^2],
# damping [N m s/rad], friction [N m], radius of a foot [m].
UNITREE = {'go1': (0.75, -1.5, 0.3, 0.008, 0.1, 0.1, 0.02),
           'aliengo': (0.75, -1.5, 0.5, 0.015, 0.1, 0.2, 0.0265),
           'b2': (0.75, -1.5, 2.5, 0.08, 0.5, 0.5, 0.032),
           'a2': (0.75, -1.5, 1.5, 0.05, 0.3, 0.3, 0.032)}
# Robots whose legs are shorter than 0.3 m: their feet come down slower.
SMALL = ('quadruped', 'solo_class')


def unitree(name: str, urdf: str) -> ZooRobot:
    """
    Return a quadruped of Unitree's.

    Parameters
    ----------
    name : str
        One of `UNITREE`.
    urdf : str
        Text of its maker's URDF.

    """
    thigh, calf, effort, armature, damping, friction, radius = UNITREE[name]
    legs = {leg: {f'{leg}_hip_joint': 0.0, f'{leg}_thigh_joint': thigh,
                  f'{leg}_calf_joint': calf} for leg in ('FR', 'FL', 'RR', 'RL')}
    base = next(one for one in ('base', 'base_link', 'trunk') if f'name="{one}"' in urdf)
    imu = next((one for one in ('imu_link', 'imu_in_torso', 'imu') if f'name="{one}"' in urdf),
               base)
    return _robot(name, urdf, legs, [f'{i}_foot' for i in legs], imu=imu, base=base,
                  effort=effort, armature=armature, damping=damping, friction=friction,
                  radius=radius)


def add_unitree(folder: str | None) -> None:
    """
    Add the robots of unitree_ros to the zoo.

    Parameters
    ----------
    folder : str, optional
        ``unitree_ros/robots``; what is not in it is not added.

    """
    for name in UNITREE:
        for file in Path(folder or '.').glob(f'{name}_description/urdf/{name}*.urdf'):
            text = file.read_text(encoding='utf-8')
            ROBOTS[name] = lambda name=name, text=text: unitree(    # type: ignore[misc]
                name, text)


def healthy(number: int) -> Scenario:
    """Return what the robot of a number does, on what ground."""
    rng = np.random.default_rng(number)
    robot = NAMES[number % len(NAMES)]
    gaits = GAITS.get(robot, FOUR_LEGGED)
    motion = str(rng.choice(gaits))
    draw = rng.uniform
    two = motion == 'step'
    slow = motion in ('walk', 'wave')
    slope, across = draw(-8.0, 10.0), draw(-6.0, 6.0)
    flat = two or rng.random() < 0.5
    return Scenario(
        f'healthy-{number}-{robot}', robot, motion, seconds=5.5,
        speed=round(draw(0.03, 0.12) if two else draw(0.1, 0.5 if slow else 1.0), 2),
        landing=round(draw(0.2, 0.4) if two else draw(0.3, 0.7) if robot in SMALL
                      else draw(0.4, 1.5), 2),
        lift=round(draw(0.035, 0.08) if two else draw(0.15, 0.3), 3),
        floor=str(rng.choice(FLOORS)), slope=0.0 if flat else round(slope, 1),
        across=0.0 if flat else round(across, 1))


def healthy_motions(count: int, rate: float, first: int = 0) -> Iterator[tuple[int, Recording]]:
    """
    Yield numbers and recordings of healthy robots that move.

    Parameters
    ----------
    count : int
        How many; a robot that is not installed, falls or drags its feet does not count.
    rate : float
        Of the recordings [Hz].
    first : int
        Number to begin with.

    """
    number, found = first, 0
    while found < count and number < first + 4 * count:
        scenario = healthy(number)
        number += 1
        if scenario.robot not in ROBOTS:
            continue
        try:
            made = _kept(scenario, rate, False, simulate)
        except (MissingRobot, SimulationError, ValueError) as error:
            print(f'{scenario.name}: left out: {error}', file=sys.stderr, flush=True)
            continue
        found += 1
        yield number - 1, made
