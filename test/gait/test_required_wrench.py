# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The smoothed wrench: Newton's law, the smoother against a dense solution, and its noise."""
from dataclasses import replace

import numpy as np
from walkers import DT, GRAVITY, MASS, standing, two_footed_walk

from legged_dynamics.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.gait.required_wrench import (
    ORDER,
    _whittaker,
    smoothed,
    without_noise,
)
from legged_dynamics.gait.settings import GaitSettings

SETTINGS = GaitSettings()
WEIGHT = MASS * GRAVITY
TRIED = np.geomspace(6.0, 55.0, 33)


def hopper(gain=1.0, period=0.7, duty=0.6, seconds=4.2):
    """Return the dynamics of hops, its contacts and true load, its acceleration seen too large."""
    walker = standing(seconds=seconds)
    n = len(walker.time)
    phase = (np.arange(n) * DT / period) % 1.0
    on = phase < duty
    load = np.where(on, np.pi / (2.0 * duty) * np.sin(np.pi * phase / duty), 0.0)
    dynamics = GaitInverseDynamics.of(walker.model, walker.feet, walker.motion())
    wrench = dynamics.wrench.copy()
    force = np.column_stack([np.zeros((n, 2)), WEIGHT * (1.0 + gain * (load - 1.0))])
    wrench[:, :3] = force
    wrench[:, 3:] = np.cross(dynamics.center_of_mass, force)
    return replace(dynamics, wrench=wrench), np.tile(on[:, None], (1, 2)), WEIGHT * load


def test_the_smoother_is_the_minimum():
    rng = np.random.default_rng(0)
    values, stiffness = rng.normal(size=60), 37.0
    D = np.diff(np.eye(60), ORDER, axis=0)
    expected = np.linalg.solve(np.eye(60) + stiffness * D.T @ D, values)
    np.testing.assert_allclose(_whittaker(values, stiffness), expected, atol=1e-10)


def test_noise_goes_and_signals_stay():
    """A small signal is smoothed more than a large one in the same noise."""
    rng = np.random.default_rng(1)
    time = np.arange(0.0, 6.0, 0.01)
    wave = np.sin(2.0 * np.pi * 2.0 * time)
    noise = rng.normal(0.0, 0.03, len(time))
    density = 0.03 ** 2 * 0.01
    left = {}
    for size in (0.0, 0.03, 1.0):
        found = smoothed(size * wave + noise, 0.01, density, TRIED)
        left[size] = np.std(found - size * wave)
        assert left[size] < 0.6 * np.std(noise)
    assert left[0.0] < left[0.03] < left[1.0]
    assert np.std(smoothed(wave, 0.01, density, TRIED) - wave) < 0.01


def test_nothing_is_lost_and_flight_is_free_of_force():
    dynamics, contact, _ = hopper(gain=1.15)
    found = without_noise(dynamics, contact, SETTINGS)
    np.testing.assert_allclose(found.wrench + found.noise, dynamics.wrench, atol=1e-9 * WEIGHT)
    flying = ~contact.any(axis=1)
    assert flying.sum() > 100 and not found.wrench[flying, :3].any()
    assert found.wrench[:, 2].min() >= 0.0
    again = without_noise(found, contact, SETTINGS)
    np.testing.assert_allclose(again.wrench, found.wrench, atol=1e-9 * WEIGHT)


def test_the_momentum_that_flight_lacks_is_taken_from_stance():
    """Newton: where a tenth of the weight is missing in flight, stance has as much too much."""
    dynamics, contact, load = hopper(gain=1.15)
    inner = slice(30, -30)
    before = np.sqrt(np.mean((dynamics.wrench[:, 2] - load)[inner] ** 2))
    found = without_noise(dynamics, contact, SETTINGS).wrench[:, 2]
    assert np.sqrt(np.mean((found - load)[inner] ** 2)) < 0.5 * before
    # The centre of mass stays near its path: two integrals of the change.
    change = (found - dynamics.wrench[:, 2]) / MASS
    path = np.cumsum(np.cumsum(change)) * DT ** 2
    drift = path - np.polyval(np.polyfit(np.arange(len(path)), path, 1), np.arange(len(path)))
    assert np.std(drift) < 0.03


def test_a_clean_walk_is_left_as_it_is():
    walk = two_footed_walk()
    dynamics = GaitInverseDynamics.of(walk.model, walk.feet, walk.motion())
    found = without_noise(dynamics, walk.contact, SETTINGS)
    assert np.std(found.noise[10:-10, :3], axis=0).max() < 0.02 * WEIGHT

