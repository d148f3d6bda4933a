# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Estimate the ground reactions of a simulated robot, without any middleware.

Prints, twice a second, the vertical force on each foot: estimated, and true.
"""
import numpy as np

import legged_dynamics as ld
from legged_dynamics.simulation import Schedule, SimulatedRobot

yaml, urdf = ld.robot_files('anymal_class')
config = ld.RobotConfig.from_yaml(yaml)
estimator = ld.GroundReactionEstimator(ld.RobotModel.from_urdf(urdf), config)
robot = SimulatedRobot.from_files(yaml, schedule=Schedule.from_text('stand 1, trot_forward 2'))

# Sensors come in command order, the estimator wants the model's: joints are matched by name.
order = ld.JointOrder(config.joints, estimator.model.joint_names)
truth = {}
print('Upward force of the ground on each foot, world axes: estimate/truth')
print('time [s]', *(f'{foot:>16}' for foot in estimator.feet))
for _ in range(1500):
    robot.step()
    sample = robot.read()
    truth[sample.stamp_ns] = robot.truth().feet.wrench
    reaction = estimator.update(sample.ordered(order))
    if not reaction.mode or reaction.stamp_ns % 500_000_000:
        continue
    up = reaction.base_rotation[2]      # the world's z, in base axes
    vertical = [[up @ R @ wrench[:3] for R, wrench in zip(reaction.foot_rotation, wrenches)]
                for wrenches in (reaction.wrench, truth[reaction.stamp_ns])]
    print(f'{reaction.stamp_ns * 1e-9:8.2f}',
          *(f'{found:7.1f}/{true:6.1f} N' for found, true in zip(*vertical)))
    assert np.abs(np.subtract(*vertical)).max() < 0.2 * estimator.model.total_mass * 9.81
