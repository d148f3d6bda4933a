# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion out of a bag: what the robot's YAML corrects is corrected there, too."""
from dataclasses import replace

import numpy as np
from simulated_bag import messages, write

from legged_dynamics.estimation import EstimatorSettings
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.trials.bag_motion import motion_from_imu, motion_from_odometry


def test_motion_is_corrected_as_the_robots_yaml_says(tmp_path):
    yaml, urdf = robot_files('anymal_class')
    model, config = RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml)
    settings = EstimatorSettings.from_parameters(read_parameter_file(yaml))
    driver = replace(config.sensors, position_scale=(2.0,), velocity_scale=(2.0,), gyro_scale=2.0)

    def as_the_driver_says(content):
        for topic, receipt, message in content:
            if topic == '/joint_states':
                message.position = [0.5 * value for value in message.position]
                message.velocity = [0.5 * value for value in message.velocity]
            elif topic == '/imu/data':
                rate = message.angular_velocity
                rate.x, rate.y, rate.z = 0.5 * rate.x, 0.5 * rate.y, 0.5 * rate.z
            yield topic, receipt, message
    bags = [write(tmp_path / 'true', messages(steps=300)),
            write(tmp_path / 'halved', as_the_driver_says(messages(steps=300)))]
    found = []
    for path, sensors in zip(bags, (config.sensors, driver)):
        known = replace(config, sensors=sensors)
        with BagReader(path) as bag:
            found.append([motion_from_imu(bag, model, known, settings, '/joint_states',
                                          '/imu/data', None, (None, None)).motion,
                          motion_from_odometry(bag, model, known, '/joint_states',
                                               '/ground_truth/odom', None, (None, None)).motion])
    for true, halved in zip(*found):
        assert np.abs(true.position).max() > 0.1
        np.testing.assert_allclose(halved.position, true.position, atol=1e-12)
        np.testing.assert_allclose(halved.base_motion, true.base_motion, atol=1e-7)
