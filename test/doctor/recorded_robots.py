# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots and their recordings, simulated once for all tests: healthy, and with friction."""
from dataclasses import replace
from functools import cache

import numpy as np

from benchmarks.planted_faults import RecordedRobot, record_sensors
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import Plant, Schedule, SimulatedRobot

CHECKUP = 'stand 1.5, lift_legs 8.4, squat 3, stand 0.5'
STAMP = 10 ** 18


@cache
def with_friction(part, name='anymal_class', schedule=CHECKUP):
    """Return a robot whose joints rub with a part of their limits; the YAML does not say so."""
    yaml, urdf = robot_files(name)
    model, plan = RobotModel.from_urdf(urdf), Schedule.from_text(schedule)
    plant = Plant.from_parameters(read_parameter_file(yaml), urdf.read_text())
    friction = [part * model.joints[model.joint_index(joint)].effort for joint in plant.joints]
    robot = SimulatedRobot(replace(plant, joint_friction=np.array(friction)), schedule=plan,
                           start_ns=STAMP)
    log = record_sensors(robot, plan.duration)
    assert not robot.fallen
    return RecordedRobot(model, RobotConfig.from_yaml(yaml), log)


@cache
def healthy(name='solo_class', schedule=CHECKUP):
    """Return a robot in which nothing is wrong."""
    yaml, urdf = robot_files(name)
    plan = Schedule.from_text(schedule)
    robot = SimulatedRobot.from_files(yaml, urdf, schedule=plan, start_ns=STAMP)
    log = record_sensors(robot, plan.duration)
    assert not robot.fallen
    return RecordedRobot(RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml), log)
