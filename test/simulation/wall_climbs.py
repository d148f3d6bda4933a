# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Climbing robots on the MuJoCo wall, brought to any state."""
from dataclasses import replace

import mujoco
import numpy as np
from robots import CONFIG

from legged_dynamics.model.robot_config import SensorNoise
from legged_dynamics.simulation import ClimbingPlant, ClimbingRobot
from legged_dynamics.stickybot import ClimbingSimulation
from legged_dynamics.stickybot.model.joints import LimbJoints, urdf

YAML = CONFIG / 'robots' / 'stickybot.yaml'


NOISELESS = SensorNoise(position=0.0, velocity=0.0, effort=0.0, effort_gain=0.0, gyro=0.0,
                        accelerometer=0.0, orientation=0.0, gyro_bias=0.0, accelerometer_bias=0.0)


def plant_of(model, **changes):
    """Return a plant with noise-free sensors and strong motors for any climber."""
    limbs = LimbJoints(model)
    plant = ClimbingPlant(
        urdf=urdf(model), base_link='body', imu_link='imu_link', feet=limbs.feet,
        joints=limbs.names, noise=NOISELESS, rate=500.0, timestep=1e-4, command_timeout=0.1,
        climber=model, limbs=limbs, pads=None, effort_limits=np.full(len(limbs.names), 1e5),
        fault=None)
    return replace(plant, **changes)


def placed(model, state, rest, **changes):
    """Return a robot in a state of the planar equations, its rest positions held by its motors."""
    robot = ClimbingRobot(plant_of(model, **changes), noise=False)
    limbs, data = robot.plant.limbs, robot.data
    said = ClimbingSimulation(model, rest, state).measure()
    rates = rest.packed(model)[1]

    def by_joint(hip, inner):
        found = np.zeros(len(limbs.names))
        found[limbs.hip], found[limbs.inner] = hip, inner
        return found
    columns = [robot.model.joint(name) for name in limbs.names]
    data.qpos[[joint.qposadr[0] for joint in columns]] = limbs.positions(said.hip, said.joint)
    data.qvel[[joint.dofadr[0] for joint in columns]] = by_joint(said.hip_rate, said.joint_rate)
    data.qpos[:3], data.qvel[:3] = state.pose, state.velocity
    effort = limbs.efforts(
        limbs.positions(rest.hip, model.bends if rest.joint is None else rest.joint),
        by_joint(rates[model.hip_columns], rates[model.inner_columns]))
    robot.command_effort(effort)
    data.ctrl[:] = effort
    mujoco.mj_forward(robot.model, data)
    for i, holds in enumerate(state.attached):
        robot.feet.hold(i)      # moves the anchor; the foot rests already
        if not holds:
            robot.feet.let_go(i)
    robot.command_grips(state.attached)
    mujoco.mj_forward(robot.model, data)
    return robot
