# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walk any legged robot by its YAML and URDF: python examples/walk_a_robot.py my_robot.yaml."""
import sys

import numpy as np

from legged_dynamics.estimation import GroundReactionEstimator, LegOdometry, Measurement
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.simulation import SimulatedRobot
from legged_dynamics.workspace import WorkspaceController
from legged_dynamics.workspace.walking import make_walker

yaml, urdf = robot_files(sys.argv[1] if len(sys.argv) > 1 else 'solo_class')
robot = SimulatedRobot.from_files(yaml, urdf)
model, config = RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml)
estimator, odometry = GroundReactionEstimator(model, config), LegOdometry(model, config)
controller, walker = WorkspaceController(model, config), make_walker(model, config)
walker.configure({'gait': walker.usual})    # a trot, or the steps of two soles
walker.check(walker.gait)   # says what feet and legs a robot needs for it
joints, follow = robot.plant.joints, model.mimics   # of a gripper some joints follow others
to_model = [joints.index(name) if name in joints else 0 for name in model.joint_names]
to_robot = [model.joint_names.index(name) for name in joints]
while robot.time < 4.0 and not robot.fallen:
    s = robot.read()
    effort = s.effort[to_model]
    effort[follow.follower_v] = np.nan      # nothing measures it
    measurement = Measurement(s.stamp_ns, follow.positions(s.position[to_model]),
                              follow.rates(s.velocity[to_model]), effort, s.angular_velocity,
                              s.linear_acceleration, s.orientation)
    reaction = estimator.update(measurement)
    state = odometry.update(measurement, walker.trusted)
    walker.walk = robot.time > 0.5      # stands before
    walker.command(0.2, 0.0, 0.3)       # m/s ahead and to the left, rad/s
    plan = walker.update(state, measurement, reaction.latest_contact, reaction.wrench[:, :3])
    command = controller.update(state, measurement, plan.target, legs=plan.legs)
    robot.command_effort(command.effort[to_robot])
    robot.step()
print(f'{"fallen" if robot.fallen else walker.state.value} at '
      f'{np.round(robot.truth().base_position, 2)} m; by its own odometry at '
      f'{np.round(state.position, 2)} m')
