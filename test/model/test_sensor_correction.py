# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mends of a driver: names, factors, axes; and payloads."""
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.exceptions import ConfigurationError, UnknownNameError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.joint_order import Mimics
from legged_dynamics.model.sensor_correction import SensorCorrection
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

DIALECT, PREFIX = StandaloneDialect(), 'robot.sensors.'
JOINTS = ('a', 'b', 'c')


def corrected(**values):
    return SensorCorrection.from_parameters(
        {'robot.joints': list(JOINTS), **{PREFIX + key: value for key, value in values.items()}})


def read(correction):
    message = convert.joint_state(DIALECT, 5, JOINTS, np.array([1.0, 2.0, 3.0]),
                                  np.array([10.0, 20.0, 30.0]), np.array([0.1, 0.2, 0.3]))
    return convert.SensorReader(JOINTS, correction).joints(message)


def test_nothing_is_changed_by_nothing():
    sample = read(corrected())
    assert corrected().neutral and corrected().parameters() == {}
    assert sample.position.tolist() == [1.0, 2.0, 3.0]


def test_readings_are_renamed_scaled_and_shifted():
    sample = read(corrected(rename=['a=b', 'b=a'], position_scale=[-1.0, 1.0, 1.0],
                            position_offset=[0.5, 0.0, 0.0], effort_scale=[2.0],
                            ignore_effort=['c']))
    assert sample.position.tolist() == [-1.5, 1.0, 3.0]
    assert sample.velocity.tolist() == [20.0, 10.0, 30.0]
    assert sample.effort[:2].tolist() == [0.4, 0.2] and np.isnan(sample.effort[2])


def test_what_is_lacking_or_follows_is_mended_too():
    """The driver swaps a and b, turned; c follows a, and b is never reported."""
    correction = corrected(rename=['a=b', 'b=a'], position_scale=[-1.0, 3.0, 9.0],
                           effort_scale=[2.0])
    mimics = Mimics(('c',), *(np.array([k]) for k in (2, 0, 2, 0)), np.array([-2.0]),
                    np.array([0.5]), 3)
    reader = convert.SensorReader(JOINTS, correction, {'b': 0.25}, mimics)
    for names, values in ((('b',), [2.0]), (('b', 'c'), [2.0, 99.0])):
        values = np.array(values)
        sample = reader.joints(convert.joint_state(DIALECT, 5, names, values, values, values))
        assert sample.position.tolist() == [-2.0, 0.25, 4.5]
        assert sample.velocity.tolist() == [2.0, 0.0, -4.0]
        assert sample.effort[0] == 4.0 and np.isnan(sample.effort[1:]).all()
        assert reader.joints.assumed == ('b',)
    plain = convert.SensorReader(JOINTS, None, {'b': 0.25}, mimics)
    one = np.array([2.0])
    sample = plain.joints(convert.joint_state(DIALECT, 5, ('a',), one, one, one))
    assert sample.position.tolist() == [2.0, 0.25, -3.5] and plain.joints.assumed == ('b',)


def test_efforts_alone_can_be_renamed():
    sample = read(corrected(rename_effort=['a=b', 'b=a']))
    assert sample.position.tolist() == [1.0, 2.0, 3.0]
    assert sample.effort.tolist() == [0.2, 0.1, 0.3]


def test_axes_bias_and_delay_of_the_imu():
    c = corrected(imu_axes=['y', '-x', 'z'], gyro_scale=np.pi / 180.0, gyro_bias=[0.0, 0.0, 0.1],
                  imu_delay=0.02)
    message = convert.imu(DIALECT, 10 ** 9, 'imu', np.array([180.0, 0.0, 0.0]),
                          np.array([0.0, 0.0, 9.81]), None)
    sample = convert.SensorReader(JOINTS, c).imu(message)
    np.testing.assert_allclose(sample.angular_velocity, [0.0, -np.pi, -0.1], atol=1e-12)
    assert sample.stamp_ns == 10 ** 9 - 20_000_000


def test_parameters_come_back():
    c = corrected(rename=['a=b', 'b=a'], imu_rpy=[0.1, 0.0, 0.0], position_scale=[1.0, -1.0, 1.0])
    again = SensorCorrection.from_parameters({'robot.joints': list(JOINTS), **c.parameters()})
    assert again == c


@pytest.mark.parametrize(('key', 'value', 'said'), [
    ('rename', ['a'], 'DRIVER=URDF'), ('imu_axes', ['x', 'x', 'z'], 'in some order'),
    ('position_scale', [1.0, 2.0], 'one per name'), ('gyro_bias', [0.0], '3 values')])
def test_a_wrong_correction_is_refused(key, value, said):
    with pytest.raises(ConfigurationError, match=said):
        corrected(**{key: value})


def test_an_unknown_joint_is_refused():
    with pytest.raises(UnknownNameError):
        corrected(rename=['a=knee']).driver_names(JOINTS)


def test_a_payload_counts_once_however_often_it_is_applied():
    model = RobotModel.from_urdf(CONFIG / 'robots' / 'solo_class.urdf')
    config = RobotConfig.from_parameters({
        'robot.feet': ['LF_FOOT'], 'robot.payload_mass': 0.5,
        'robot.payload_position': [0.1, 0.0, 0.0],
        'robot.center_of_mass_offset': [0.01, 0.0, 0.0]})
    once = config.apply_to(model)
    twice = config.apply_to(once)
    assert once.total_mass == pytest.approx(model.total_mass + 0.5) == twice.total_mass
    base = model.body_inertia(0)
    wanted = (base.mass * (base.com[0] + 0.01) + 0.05) / (base.mass + 0.5)
    assert twice.body_inertia(0).com[0] == pytest.approx(wanted)
