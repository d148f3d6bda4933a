# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots and their recordings, simulated once for all tests: healthy, and with friction."""
from dataclasses import replace
from functools import cache

import numpy as np

from benchmarks.doctor_table import plant_of
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
    return RecordedRobot(model, RobotConfig.from_yaml(yaml), _log(robot, plan))


def _log(robot, plan):
    log = record_sensors(robot, plan.duration)
    assert not robot.fallen
    return log


def simulated(name, schedule, noise):
    yaml, urdf = robot_files(name)
    plan = Schedule.from_text(schedule)
    robot = SimulatedRobot.from_files(yaml, urdf, schedule=plan, start_ns=STAMP, noise=noise)
    return RecordedRobot(RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml),
                         _log(robot, plan))


@cache
def healthy(name='solo_class', schedule=CHECKUP):
    """Return a robot in which nothing is wrong."""
    return simulated(name, schedule, True)


@cache
def noiseless(name, schedule):
    """Return a robot in which nothing is wrong, and whose sensors tell the truth."""
    return simulated(name, schedule, False)


@cache
def with_stated_friction(part, name, schedule):
    """Return a robot whose joints have friction of a part of their limits, as its YAML says."""
    plant, parameters = plant_of(name)
    model, plan = RobotModel.from_urdf(plant.urdf), Schedule.from_text(schedule)
    limits = np.array([model.joints[model.joint_index(joint)].effort for joint in plant.joints])
    friction = plant.joint_friction + part * limits
    robot = SimulatedRobot(replace(plant, joint_friction=friction), schedule=plan, start_ns=STAMP)
    config = RobotConfig.from_parameters({key: value for key, value in parameters.items()
                                          if key.startswith(('robot.', 'noise.'))})
    stated = dict(zip(plant.joints, friction.tolist()))
    return RecordedRobot(model, replace(config, joint_friction=tuple(
        stated[joint] for joint in config.joints or model.joint_names)), _log(robot, plan))
