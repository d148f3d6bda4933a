# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Noise and bias of the simulated sensors against the figures in the robots' YAMLs."""
from __future__ import annotations

import numpy as np
import pytest
from simulated_recordings import NAMES, make_robot

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, SensorNoise
from legged_dynamics.simulation import NoisySensors

SAMPLES = 4000


@pytest.fixture(params=NAMES)
def errors(request):
    robot = make_robot(request.param)
    noise, exact = robot.plant.noise, robot.exact()
    sensors = NoisySensors(noise, len(robot.plant.joints), seed=11)
    samples = [sensors.measure(exact) for _ in range(SAMPLES)]
    x, y, z, w = exact.orientation
    conjugate = np.array([[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z]])
    found = {
        'position': [s.position - exact.position for s in samples],
        'velocity': [s.velocity - exact.velocity for s in samples],
        'effort': [s.effort - exact.effort for s in samples],
        'gyro': [s.angular_velocity - exact.angular_velocity for s in samples],
        'accelerometer': [s.linear_acceleration - exact.linear_acceleration for s in samples],
        'orientation': [2.0 * conjugate @ s.orientation for s in samples],
    }
    assert all(s.orientation @ s.orientation == pytest.approx(1.0) for s in samples[:10])
    return noise, sensors, {key: np.array(value) for key, value in found.items()}


@pytest.mark.parametrize('kind', ['position', 'velocity', 'effort', 'gyro', 'accelerometer',
                                  'orientation'])
def test_noise_is_white_and_as_large_as_stated(errors, kind):
    noise, sensors, found = errors
    stated, values = getattr(noise, kind), found[kind]
    bias = {'gyro': sensors.gyro_bias, 'accelerometer': sensors.accelerometer_bias}
    assert stated > 0.0
    # Five standard errors of a mean, of a standard deviation and of a correlation.
    np.testing.assert_allclose(values.mean(axis=0), bias.get(kind, 0.0),
                               atol=5.0 * stated / np.sqrt(SAMPLES))
    np.testing.assert_allclose(values.std(axis=0), stated, rtol=5.0 / np.sqrt(2.0 * SAMPLES))
    white = values - values.mean(axis=0)
    lagged = (white[1:] * white[:-1]).mean(axis=0) / stated ** 2
    np.testing.assert_allclose(lagged, 0.0, atol=5.0 / np.sqrt(SAMPLES))


def test_biases_have_the_stated_spread():
    noise = SensorNoise(gyro_bias=0.001, accelerometer_bias=0.02)
    sensors = [NoisySensors(noise, 12, seed) for seed in range(300)]
    gyro = np.array([s.gyro_bias for s in sensors])
    accelerometer = np.array([s.accelerometer_bias for s in sensors])
    assert gyro.std() == pytest.approx(0.001, rel=0.12)
    assert accelerometer.std() == pytest.approx(0.02, rel=0.12)


def test_negative_noise_is_refused():
    with pytest.raises(ConfigurationError, match=r'noise\.gyro: expected a value at least 0 '):
        RobotConfig.from_parameters({'noise.gyro': -1})
