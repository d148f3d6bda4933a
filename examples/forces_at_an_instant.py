# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Estimate a trotting robot's forces and draw one instant; writes forces_at_an_instant.svg."""
from pathlib import Path

import legged_dynamics as ld
from legged_dynamics.pages.robot_picture import FootLoad, force_picture
from legged_dynamics.simulation import Schedule, SimulatedRobot

yaml, urdf = ld.robot_files('anymal_class')
config = ld.RobotConfig.from_yaml(yaml)
model = ld.RobotModel.from_urdf(urdf)
estimator = ld.GroundReactionEstimator(model, config)
robot = SimulatedRobot.from_files(yaml, schedule=Schedule.from_text('stand 0.3, trot_forward 1'))
order = ld.JointOrder(config.joints, estimator.model.joint_names)
for _ in range(600):
    robot.step()
    sample = robot.read().ordered(order)
    reaction = estimator.update(sample)

R_WB = reaction.base_rotation
loads = [FootLoad(foot, R_WB @ R_BF @ wrench[:3], point, bool(down))
         for foot, R_BF, wrench, point, down in zip(
             estimator.feet, reaction.foot_rotation, reaction.wrench, reaction.contact_point,
             reaction.latest_contact)]
Path('forces_at_an_instant.svg').write_text(force_picture(
    config.apply_to(model), config, sample.position, R_WB, loads, urdf.read_text(),
    f'{model.name} at {robot.time:.2f} s'))
print('forces_at_an_instant.svg; upward forces of the ground, world axes:',
      *(f'{load.foot} {load.force[2]:.0f} N' for load in loads))
