# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Other noise of the sensors, true and stated, and the bound of a standing run."""
from dataclasses import replace

import numpy as np
import pytest
from zoo_runs import made_up, short_run

from benchmarks.zoo.estimators import shipped
from benchmarks.zoo.noise_page import bound
from benchmarks.zoo.scoring import score
from benchmarks.zoo.sensors import FIELD, GAIN, LASTING, Sensors, heard

pytestmark = pytest.mark.slow


def columns(recording, **asked):
    found = list(recording.measurements(**asked))
    return {name: np.array([getattr(m, name) for m in found]) for name in (
        'position', 'velocity', 'effort', 'angular_velocity', 'linear_acceleration',
        'orientation')}


def test_the_usual_sensors_are_those_of_the_recording():
    recording = made_up(seconds=0.5)
    usual, same = columns(recording, seed=3), columns(heard(recording, Sensors('')), seed=3)
    for name in usual:
        np.testing.assert_allclose(usual[name], same[name], rtol=1e-12, atol=1e-15)


def test_noise_scales_with_what_is_asked_and_the_statement_apart():
    recording = made_up(seconds=2.0)
    made = heard(recording, Sensors('', scale=3.0, of={'gyro': 0.0}, stated=0.5))
    found = columns(made)
    assert np.std(found['velocity']) == pytest.approx(3.0 * FIELD['velocity'], rel=0.05)
    assert np.ptp(found['angular_velocity'], axis=0) == pytest.approx(0.0, abs=1e-12)
    assert made.config.noise.velocity == 0.5 * recording.config.noise.velocity
    assert made.config.noise.effort_gain == 0.5 * FIELD['effort_gain']
    nothing = heard(recording, Sensors('', stated=None))
    assert not any(key.startswith('noise.') for key in nothing.parameters)
    assert recording.parameters['noise.velocity'] == FIELD['velocity']
    assert heard(recording, Sensors('', states={GAIN: 0.1})).config.noise.effort_gain == 0.1


def test_encoders_differences_low_pass_and_delay():
    recording = made_up(seconds=1.0)
    t = np.arange(len(recording)) / recording.rate
    wave = np.tile(np.sin(2.0 * np.pi * t)[:, None], (1, recording.q.shape[1]))
    recording = replace(recording, q=wave, tau=wave)
    step = 2.0 * np.pi / 4096
    found = columns(heard(recording, Sensors('', encoder=step, differences=True)), noise=False)
    assert np.abs(found['position'] - wave).max() <= 0.5 * step + 1e-12
    np.testing.assert_allclose(found['velocity'][1:],
                               np.diff(found['position'], axis=0) * recording.rate, atol=1e-9)
    late = columns(heard(recording, Sensors('', effort_delay=2)), noise=False)['effort']
    np.testing.assert_array_equal(late[2:], wave[:-2])
    slow = columns(heard(recording, Sensors('', effort_time=0.02)), noise=False)['effort']
    # A slow sine through a first-order low-pass is late by its time constant.
    settled = t > 0.3
    np.testing.assert_allclose(slow[settled, 0], np.sin(2.0 * np.pi * (t - 0.02))[settled],
                               atol=0.02)


def test_a_bias_that_wanders_has_the_size_of_one_that_lasts():
    recording = made_up(seconds=8.0)
    lasts, wanders = (columns(heard(recording, Sensors(
        '', of={'accelerometer': 0.0}, bias_time=seconds)))['linear_acceleration']
        - recording.accelerometer for seconds in (0.0, 0.2))
    assert np.ptp(lasts, axis=0).max() == pytest.approx(0.0, abs=1e-12)
    assert np.std(wanders) == pytest.approx(FIELD['accelerometer_bias'], rel=0.3)


def test_noise_that_is_twice_the_stated_is_followed():
    """On a trot; what is known of nothing else, gain and offset, stays as stated."""
    lasting = dict.fromkeys(LASTING, 0.5)
    made = heard(short_run('six'), Sensors('', scale=2.0, of=lasting))
    for found in score(made, shipped()).values():
        assert 0.6 < found.normalised < 1.5


def test_the_bound_grows_with_the_noise_that_is_assumed_and_needs_feet_that_stand():
    pytest.importorskip('pinocchio')
    standing = replace(short_run('pushed'), scored=(0.2, 0.5))
    found = bound(standing)
    assert 0.1 < found < 3.0
    twice = {name: 2.0 * deviation for name, deviation in FIELD.items()}
    assert bound(standing, twice) == pytest.approx(2.0 * found, rel=0.05)
    with pytest.raises(ValueError, match='every foot stands'):
        bound(short_run('four'))
