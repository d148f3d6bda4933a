# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ask one foot of a standing robot for more force, without any middleware.

The controller holds the body and shares the load; the simulated robot shows the true forces.
"""
import numpy as np

from legged_dynamics.estimation import LegOdometry
from legged_dynamics.model import JointOrder, RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.simulation import Schedule, SimulatedRobot
from legged_dynamics.workspace import AskedForce, BodyTarget, WorkspaceController

yaml, urdf = robot_files('anymal_class')
config = RobotConfig.from_yaml(yaml)
model = config.apply_to(RobotModel.from_urdf(urdf))
controller, odometry = WorkspaceController(model, config), LegOdometry(model, config)
robot = SimulatedRobot.from_files(yaml, schedule=Schedule.from_text('stand 10'))

# Sensors and motors have the command order, numerics the model's: joints are matched by name.
to_model = JointOrder(config.joints, model.joint_names)
to_robot = JointOrder(model.joint_names, config.joints)
weight, target = 9.81 * model.total_mass, None
print('Upward force of the ground on each foot, world axes: commanded/truth')
print('time [s]', *(f'{foot.link:>16}' for foot in config.feet))
for _ in range(1000):
    robot.step()
    measurement = robot.read().ordered(to_model)
    body = odometry.update(measurement)
    if target is None:      # the body is to stay where it is
        target = BodyTarget.of(body.position, body.rotation)
    asked = {0: AskedForce([0.0, 0.0, 0.35 * weight])} if robot.time > 1.0 else {}
    command = controller.update(body, measurement, target, asked)
    # Guard efforts on a real robot: legged_dynamics.safety.EffortGuard.
    robot.command_effort(to_robot(command.effort))
    if measurement.stamp_ns % 250_000_000 == 0:
        given = np.array(list(controller.forces().values()))[:, 2]
        true = [robot.data.site(foot.link).xmat.reshape(3, 3)[2] @ wrench[:3]
                for foot, wrench in zip(config.feet, robot.truth().feet.wrench)]
        print(f'{robot.time:8.2f}', *(f'{wanted:7.1f}/{force:6.1f} N'
                                      for wanted, force in zip(given, true)))
assert np.abs(given - true).max() < 0.05 * weight
