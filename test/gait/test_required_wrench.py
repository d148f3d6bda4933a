# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The smoothed wrench: Newton's law, the smoother against a dense solution, and its noise."""
from dataclasses import replace

import numpy as np
from walkers import DT, GRAVITY, MASS, hopper, two_footed_walk

from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.required_wrench import (
    ORDER,
    WrenchSmoother,
    _bent_least,
    _landings,
    _noise_density,
    _smoothed,
    _yielding,
)
from legged_dynamics.people.gait.settings import GaitSettings

SETTINGS = GaitSettings()
WEIGHT = MASS * GRAVITY
TRIED = np.geomspace(6.0, 55.0, 33)


def test_the_smoother_is_the_minimum():
    rng = np.random.default_rng(0)
    values, stiffness = rng.normal(size=60), 37.0
    D = np.diff(np.eye(60), ORDER, axis=0)
    expected = np.linalg.solve(np.eye(60) + stiffness * D.T @ D, values)
    found = _bent_least(values, np.full(60 - ORDER, stiffness), ORDER)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_noise_goes_and_signals_stay():
    """A small signal is smoothed more than a large one in the same noise."""
    rng = np.random.default_rng(1)
    time = np.arange(0.0, 6.0, 0.01)
    wave = np.sin(2.0 * np.pi * 2.0 * time)
    noise = rng.normal(0.0, 0.03, len(time))
    density = 0.03 ** 2 * 0.01
    left = {}
    for size in (0.0, 0.03, 1.0):
        found = _smoothed(size * wave + noise, 0.01, density, TRIED)
        left[size] = np.std(found - size * wave)
        assert left[size] < 0.6 * np.std(noise)
    assert left[0.0] < left[0.03] < left[1.0]
    assert np.std(_smoothed(wave, 0.01, density, TRIED) - wave) < 0.01


def test_nothing_is_lost_and_flight_is_free_of_force():
    dynamics, contact, _ = hopper(gain=1.15)
    found = WrenchSmoother(dynamics, SETTINGS).given(contact)
    np.testing.assert_allclose(found.wrench + found.noise, dynamics.wrench, atol=1e-9 * WEIGHT)
    flying = ~contact.any(axis=1)
    assert flying.sum() > 100 and not found.wrench[flying, :3].any()
    assert found.wrench[:, 2].min() >= 0.0
    again = WrenchSmoother(found, SETTINGS).given(contact)
    np.testing.assert_allclose(again.wrench, found.wrench, atol=1e-9 * WEIGHT)


def test_the_momentum_that_flight_lacks_is_taken_from_stance():
    """Newton: where a tenth of the weight is missing in flight, stance has as much too much."""
    dynamics, contact, load = hopper(gain=1.15)
    inner = slice(30, -30)
    before = np.sqrt(np.mean((dynamics.wrench[:, 2] - load)[inner] ** 2))
    found = WrenchSmoother(dynamics, SETTINGS).given(contact).wrench[:, 2]
    assert np.sqrt(np.mean((found - load)[inner] ** 2)) < 0.5 * before
    # The centre of mass stays near its path: two integrals of the change.
    change = (found - dynamics.wrench[:, 2]) / MASS
    path = np.cumsum(np.cumsum(change)) * DT ** 2
    drift = path - np.polyval(np.polyfit(np.arange(len(path)), path, 1), np.arange(len(path)))
    assert np.std(drift) < 0.03


def test_the_pitch_of_jumps_and_the_load_of_those_who_stand_are_as_recorded():
    """Both change faster than white noise of the third derivative allows."""
    dynamics, contact, _ = hopper(gain=1.15)
    bump = np.zeros((len(contact), 6))
    bump[np.flatnonzero(contact.any(axis=1))[40], [2, 4]] = 0.1 * WEIGHT
    shaken = replace(dynamics, wrench=dynamics.wrench + bump)
    flown, stood = (WrenchSmoother(shaken, SETTINGS).given(flags) for flags in (
        contact, np.ones_like(contact)))
    on = contact.any(axis=1)
    about = [values[:, 4] - np.cross(dynamics.center_of_mass, values[:, :3])[:, 1]
             for values in (flown.wrench, shaken.wrench)]
    np.testing.assert_allclose(about[0][on], about[1][on], atol=1e-6 * WEIGHT)
    np.testing.assert_allclose(stood.wrench[:, 2], shaken.wrench[:, 2], atol=1e-6 * WEIGHT)


def test_a_clean_walk_is_left_as_it_is():
    walk = two_footed_walk()
    dynamics = GaitInverseDynamics.of(walk.model, walk.feet, walk.motion())
    # Its feet land softly, so there is nothing that markers would hide.
    found = WrenchSmoother(dynamics, replace(SETTINGS, landing=0.0)).given(walk.contact)
    assert np.std(found.noise[10:-10, :3], axis=0).max() < 0.01 * WEIGHT


def test_what_landings_hide_moves_no_body():
    walk = two_footed_walk()
    dynamics = GaitInverseDynamics.of(walk.model, walk.feet, walk.motion())
    speed = np.ptp(walk.base[:, 0]) / np.ptp(walk.time)
    slow, fast = (dynamics.on_ground(np.broadcast_to([by, 0.0, 0.0], dynamics.foot_arm.shape))
                  for by in (speed - 0.3, speed - 2.0))
    assert not _landings(slow, walk.contact, SETTINGS).any()
    force = _landings(fast, walk.contact, SETTINGS)
    assert force.max() > 0.02
    # Of one landing, which no other overlaps and no end of the recording cuts off.
    landed = np.flatnonzero(walk.contact[1:, 0] & ~walk.contact[:-1, 0]) + 1
    once = walk.contact.copy()
    once[:, 0] = np.arange(len(once)) >= landed[len(landed) // 2]
    once[:, 1] = True
    one = _landings(fast, once, SETTINGS)
    assert abs(one.sum()) < 0.005 * np.abs(one).sum()
    assert abs(np.cumsum(np.cumsum(one))[-1] * DT ** 2 * GRAVITY) < 1e-3        # of the body [m]
    # A runner's foot stops in half the time, and feet that land together are left as they are.
    time = np.arange(len(walk.contact))
    flying = (time % 80 >= 60)[:, None] | (time[:, None] // 80 % 2 != np.arange(2))
    running = _landings(fast, ~flying, SETTINGS)
    assert running.max() > 0.02 and abs(running.sum()) < 0.02 * np.abs(running).sum()
    long, short = (np.flatnonzero(values[k - 20:k + 20] > 0.0) for values, k in (
        (one, int(np.argmax(one))), (running, int(np.argmax(running)))))
    assert len(short) < 0.7 * len(long)
    together = np.tile((time % 80 < 60)[:, None], (1, 2))
    assert not _landings(fast, together, SETTINGS).any()


def test_markers_on_springs_are_seen_through():
    """Where one foot lands at a time, markers move further by the force over their stiffness."""
    duty, period, time = 0.4, 0.35, np.arange(0.0, 4.2, DT)
    phase = (time / period) % 1.0
    bump = np.where(phase < duty, np.sin(np.pi * phase / duty) ** 2, 0.0)
    force = bump / bump.mean()
    stiffness = (2.0 * np.pi * SETTINGS.yielding) ** -2
    seen = force - stiffness * np.gradient(np.gradient(force, DT), DT)
    step = (time // period).astype(int) % 2
    contact = (phase < duty)[:, None] & (step[:, None] == np.arange(2))
    found = _bent_least(seen, _yielding(contact, DT, SETTINGS), 1)
    inner = slice(30, -30)
    assert np.std((found - force)[inner]) < 0.15 * np.std((seen - force)[inner])
    # Two feet that land together are left as they are.
    both = np.tile(contact.any(axis=1)[:, None], (1, 2))
    np.testing.assert_allclose(_bent_least(seen, _yielding(both, DT, SETTINGS), 1), seen)


def test_the_noise_is_that_of_the_recording():
    rng, time = np.random.default_rng(2), np.arange(0.0, 8.0, 0.01)
    wave = 1.0 + 0.2 * np.sin(2.0 * np.pi * 2.0 * time)
    for size in (0.05, 0.2):
        density = _noise_density(wave + rng.normal(0.0, size, len(time)), 0.01, 3.3, SETTINGS)
        np.testing.assert_allclose(density, size ** 2 * 0.01 + SETTINGS.noise ** 2 / 16.0,
                                   rtol=0.4)
    assert _noise_density(wave, 0.01, 3.3, SETTINGS) < 1e-5
