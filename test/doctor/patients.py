# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A healthy robot and its recording, simulated once for all tests."""
from functools import cache

from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.simulation import Schedule, SimulatedRobot
from legged_dynamics.simulation.sensor_faults import Patient
from legged_dynamics.simulation.sensor_recording import record_sensors

CHECKUP = 'stand 1.5, lift_legs 8.4, squat 6, stand 1'
STAMP = 10 ** 18


@cache
def healthy(name='solo_class', schedule=CHECKUP):
    """Return a robot in which nothing is wrong."""
    yaml, urdf = robot_files(name)
    plan = Schedule.from_text(schedule)
    robot = SimulatedRobot.from_files(yaml, urdf, schedule=plan, start_ns=STAMP)
    log = record_sensors(robot, plan.duration)
    assert not robot.fallen
    return Patient(RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml), log)
