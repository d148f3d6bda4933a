# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Noise that the samples show: stated noise is believed until they say otherwise."""
from types import SimpleNamespace

import numpy as np
import pytest

from legged_dynamics.estimation.filter.layout import make_layout
from legged_dynamics.estimation.filter.memory import SIGNAL, NoiseMemory
from legged_dynamics.estimation.filter.noise import update_noise
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.estimation.ground_reaction import Fault
from legged_dynamics.spatial.jit import as_python

RATE, STATED = 500.0, 0.03


def seen(velocity, stated=STATED, effort=None):
    """Return the noise that counts at the end for the velocities of a joint, and the faults."""
    layout = make_layout(1, 1, 3, 2)[0]
    robot = SimpleNamespace(
        stated_noise=np.array([stated, 1.0]), slope_noise=np.ones(1), motion_noise=np.zeros(1),
        effort_variance=np.zeros(1), columns=np.array([[1, 0, 1]]))
    memory = NoiseMemory(ticks=np.zeros(1), signals=np.zeros((2, SIGNAL.width)))
    results = SimpleNamespace(faults=np.zeros(1), joint_noise=np.zeros((2, 1)))
    window = np.zeros((2, layout.input_size))
    for k in range(len(velocity)):
        window[0] = window[1]
        window[1, layout.velocity] = velocity[k]
        window[1, layout.effort] = 0.0 if effort is None else effort[k]
        results.faults[0] = 0.0
        if k > 0:
            as_python(update_noise)(robot, layout, TUNED, window, memory, results)
    assert robot.motion_noise[0] == results.joint_noise[0, 0]
    return results.joint_noise[0, 0], Fault(int(results.faults[0]))


def gait(rate=RATE, seconds=4.0, sigma=STATED, seed=0):
    """Return the velocity of a joint in a trot, with noise and the blows of landings."""
    t = np.arange(round(seconds * rate)) / rate
    rng = np.random.default_rng(seed)
    swing = 4.0 * np.sin(2.0 * np.pi * 2.5 * t) + 1.0 * np.sin(2.0 * np.pi * 10.0 * t)
    landing = np.where((t % 0.4 < 0.01), 3.0 * np.exp(-(t % 0.4) / 0.003), 0.0)
    return swing + landing + sigma * rng.standard_normal(len(t))


@pytest.mark.parametrize('rate', [100.0, 200.0, 500.0, 1000.0])
def test_stated_noise_that_is_right_is_believed(rate):
    noise, faults = seen(gait(rate))
    assert noise == pytest.approx(STATED, rel=0.08)
    assert faults is Fault.NONE


@pytest.mark.parametrize('rate', [200.0, 500.0, 1000.0])
@pytest.mark.parametrize('factor', [1.6, 3.0, 5.0])
def test_noise_above_the_stated_is_found_and_told_of(rate, factor):
    noise, faults = seen(gait(rate, seconds=6.0, sigma=factor * STATED))
    # Rather too little than too much: fast motion hides noise from a slow sensor.
    assert 0.65 * factor * STATED < noise < 1.05 * factor * STATED
    assert (faults is Fault.NOISE_MISSTATED) == (factor > 2.0)


def test_noise_below_the_stated_counts_half_at_least():
    assert seen(gait(sigma=0.7 * STATED))[0] == pytest.approx(0.7 * STATED, rel=0.2)
    assert seen(gait(sigma=0.05 * STATED))[0] == pytest.approx(
        TUNED.least_noise_share * STATED, rel=0.1)


def test_a_signal_in_steps_has_the_noise_of_its_steps():
    """Velocities of a slow joint, differences of a coarse encoder's positions."""
    t = np.arange(3000) / RATE
    step = 2.0 * np.pi / 2 ** 14
    position = step * np.round((0.01 * np.sin(2.0 * np.pi * 0.3 * t)) / step)
    noise, _ = seen(np.diff(position) * RATE)
    assert noise == pytest.approx(step * RATE / np.sqrt(12.0), rel=0.1)
    # Steps finer than the noise that is stated change nothing.
    assert seen(np.diff(position) * RATE, stated=0.1)[0] == 0.1


def test_one_step_of_a_signal_at_rest_is_no_noise():
    assert seen(np.where(np.arange(2000) < 1000, 0.0, 100.0 * STATED))[0] == STATED


def test_a_torque_that_is_not_measured_tells_nothing():
    noise, faults = seen(gait(sigma=3.0 * STATED), effort=np.full(2000, np.nan))
    assert noise > 2.0 * STATED and faults is Fault.NONE


def test_sensors_at_rest_and_exact():
    assert seen(np.zeros(2000)) == (STATED, Fault.NONE)
