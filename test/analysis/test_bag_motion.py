# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion out of a bag: what the robot's YAML corrects is corrected there, too."""
from dataclasses import replace

import numpy as np
import pytest
from simulated_bag import messages, write

from legged_dynamics.estimation import EstimatorSettings
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.people.trials.bag_motion import motion_from_imu, motion_from_odometry
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file


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


def test_pose_by_odometry_and_acceleration_by_the_imu(tmp_path):
    yaml, urdf = robot_files('anymal_class')
    model, config = RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml)
    settings = EstimatorSettings.from_parameters(read_parameter_file(yaml))

    def with_imu(content, odometry):
        path = write(tmp_path / f'bag{len(list(tmp_path.iterdir()))}', content)
        with BagReader(path) as bag:
            return motion_from_imu(bag, model, config, settings, '/joint_states', '/imu/data',
                                   None, (None, None), odometry)

    odometry = '/ground_truth/odom'
    alone, both = (with_imu(messages(steps=300), name) for name in ('', odometry))
    np.testing.assert_array_equal(both.contact, alone.contact)

    def without_velocity(content):
        for topic, receipt, message in content:
            if topic == '/joint_states':
                message.velocity = []
            yield topic, receipt, message
    assert with_imu(without_velocity(messages(steps=300)), odometry).contact is None
    np.testing.assert_allclose(both.motion.base_motion, alone.motion.base_motion, atol=1e-6)
    with BagReader(next(tmp_path.iterdir())) as bag:
        posed = motion_from_odometry(bag, model, config, '/joint_states', odometry, None,
                                     (None, None)).motion
    np.testing.assert_allclose(both.motion.base_position, posed.base_position, atol=1e-9)
    np.testing.assert_allclose(both.motion.base_rotation, posed.base_rotation, atol=1e-9)

    def upside_down(content):
        for topic, receipt, message in content:
            if topic == '/imu/data':
                felt = message.linear_acceleration
                felt.y, felt.z = -felt.y, -felt.z
            yield topic, receipt, message
    with pytest.raises(MeasurementError, match='gravity'):
        with_imu(upside_down(messages(steps=300)), odometry)
