# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Covariances of the feet's forces: what they are made of, and drawn errors for comparison."""
from dataclasses import replace

import numpy as np
import pytest
from walkers import GRAVITY, MASS, hopper, standing, two_footed_walk

from legged_dynamics.people.gait.contact_timing import ContactTiming, given_timing
from legged_dynamics.people.gait.double_support import DoubleSupport
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.reactions import BARS, force_covariance, load_passes
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import runs

WALK = two_footed_walk()
WEIGHT = MASS * GRAVITY
# Nothing but the error that a test is about.
NONE = {'error.sum': 0.0, 'error.sum_moving': 0.0, 'error.rate': 0.0, 'error.mass': 0.0}


def dynamics(walker=WALK):
    return GaitInverseDynamics.of(walker.model, walker.feet, walker.motion())


def timed(deviation):
    timing = given_timing(WALK.contact, dynamics())
    changes = tuple(replace(change, deviation=deviation) for change in timing.changes)
    return given_timing(WALK.contact, dynamics(), changes)


def deviation_of(timing: ContactTiming, **more):
    walk = dynamics()
    covariance = force_covariance(walk, timing, WALK.force, walk.points(walk.low_point),
                                  GaitSettings.from_parameters({**NONE, **more}))
    return covariance


def test_a_covariance_is_one():
    found = DoubleSupport(WALK.model, WALK.feet).solve(WALK.motion())
    np.testing.assert_allclose(found.covariance, found.covariance.swapaxes(2, 3))
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-6 * WEIGHT ** 2
    np.testing.assert_allclose(found.deviation ** 2,
                               np.einsum('nfii->nfi', found.covariance))
    assert found.deviation[WALK.contact].min() > 0.0


def test_the_error_of_the_sum_is_all_on_a_foot_that_is_alone():
    alone = WALK.contact[:, 0] & ~WALK.contact[:, 1]
    alone &= np.convolve(alone, np.ones(21), 'same') == 21
    found = deviation_of(timed(1e-4), **{'error.sum': 0.04})[..., 2, 2]
    np.testing.assert_allclose(np.sqrt(found[alone, 0]), 0.04 * WEIGHT, rtol=1e-6)
    assert found[alone, 1].max() < 1e-9


def test_in_a_step_a_stated_error_of_the_centre_of_mass_counts():
    """It is in the centre of pressure, by which the load is shared."""
    stepping = load_passes(dynamics(), WALK.contact, GaitSettings()) & WALK.contact.all(axis=1)
    assert stepping.any()
    without, stated = (deviation_of(timed(1e-4), **{
        'error.rate': 0.15, 'error.center_of_mass': size})[stepping][..., 2, 2].mean()
        for size in (0.0, 0.05))
    assert stated > 2.0 * without


@pytest.mark.parametrize('deviation', [0.005, 0.015])
def test_drawn_times_spread_the_load_as_stated(deviation):
    """A load that passes over at a constant rate, its ends drawn at random."""
    rng = np.random.default_rng(0)
    time = WALK.time - WALK.time[0]
    first, end = next((a, b) for a, b in runs(WALK.contact.all(axis=1)) if a > 0)
    middle = (first + end) // 2
    down, up = time[first] - 0.005, time[end] - 0.005
    ends = np.array([down, up]) + rng.normal(0.0, deviation, (20000, 2))
    share = np.clip((time[middle] - ends[:, 0]) / np.ptp(ends, axis=1), 0.0, 1.0)
    total = WALK.force[middle, :, 2].sum()
    found = np.sqrt(deviation_of(timed(deviation), **{'error.rate': 1e-6})[middle, :, 2, 2])
    assert found == pytest.approx(total * share.std(), rel=0.25)


def test_a_change_of_unknown_time_shows_on_both_sides_of_it():
    found = np.sqrt(deviation_of(timed(0.03))[..., 2, 2])
    landings = [k for k in range(1, len(WALK.time)) if WALK.contact[k, 0]
                and not WALK.contact[k - 1, 0]]
    for k in landings:
        before = found[k - 2, 0]
        assert before > 0.0 and before > 3.0 * found[k - 8, 0]


def test_a_recording_that_begins_in_flight_doubts_that_flight():
    """The low-pass of the poses hides the load at their ends: a foot may have left just then."""
    walker = standing(seconds=1.5)
    contact = np.tile(walker.time[:, None] - walker.time[0] >= 0.3, (1, 2))
    contact[walker.time - walker.time[0] > 1.0] = False
    walk = dynamics(walker)
    timing = given_timing(contact, walk)
    force = contact[..., None] * [0.0, 0.0, 0.5 * WEIGHT]
    rate = 0.25 * WEIGHT / walk.step        # of a load that is there from a sample to the next
    for cutoff in (None, 10.0):
        seen = replace(walk, motion=replace(walk.motion, cutoff=cutoff))
        found = np.sqrt(force_covariance(seen, timing, force, seen.points(seen.low_point),
                                         GaitSettings.from_parameters(NONE))[..., 2, 2])
        for end in (0, -1):
            expected = rate * 0.05 * np.sqrt(0.5) if cutoff else 0.0
            np.testing.assert_allclose(found[end], expected, rtol=0.01, atol=1e-6 * WEIGHT)


def test_feet_side_by_side_share_as_their_distance_allows():
    walker = standing()
    walk = dynamics(walker)
    settings = GaitSettings.from_parameters(NONE)
    force = np.tile([0.0, 0.0, 0.5 * WEIGHT], (len(walker.time), 2, 1))
    points = walk.points(walk.low_point)
    found = force_covariance(walk, given_timing(walker.contact, walk), force, points, settings)
    apart = np.linalg.norm(points[0, 0, :2] - points[0, 1, :2])
    pressure, even = BARS.planted / apart, settings.uneven_share
    expected = WEIGHT / np.sqrt(pressure ** -2 + even ** -2)
    np.testing.assert_allclose(np.sqrt(found[..., 2, 2]), expected, rtol=0.05)
    doubted = GaitSettings.from_parameters(NONE | {'error.center_of_mass': 0.01})
    found = force_covariance(walk, given_timing(walker.contact, walk), force, points, doubted)
    pressure = np.hypot(BARS.planted, 0.01) / apart
    expected = WEIGHT / np.sqrt(pressure ** -2 + even ** -2)
    np.testing.assert_allclose(np.sqrt(found[..., 2, 2]), expected, rtol=0.05)


def test_where_a_foot_stands_narrows_horizontal_bars_along_and_across_the_sole():
    """And in the axes of the sole: the bars of a walk that is turned about up turn with it."""
    yaw, settings = 0.7, GaitSettings.from_parameters({'error.sum': 0.05})
    R = np.eye(3)
    R[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
    found = {}
    for turned in (0.0, yaw):
        given = GaitInverseDynamics.of(WALK.model, WALK.feet, WALK.motion(yaw=turned))
        up = WEIGHT * WALK.contact[..., None] * [0.0, 0.0, 0.5]
        for known in (False, True):
            found[turned, known] = force_covariance(
                given, given_timing(WALK.contact, given), up, given.points(given.low_point),
                settings, known)
    alone = WALK.contact & (WALK.contact.sum(axis=1) == 1)[:, None]
    before, after = (np.diagonal(found[0.0, known], axis1=2, axis2=3) for known in (False, True))
    assert (after[alone][:, :2] < before[alone][:, :2]).all()
    assert (after[alone][:, 1] < after[alone][:, 0]).all()
    np.testing.assert_array_equal(after[~alone], before[~alone])
    np.testing.assert_array_equal(after[..., 2], before[..., 2])
    np.testing.assert_allclose(found[yaw, True][alone], R @ found[0.0, True][alone] @ R.T,
                               atol=1e-3)


def test_a_landing_widens_the_bars_by_the_speed_that_it_stops():
    walker, widest = standing(seconds=1.5), []
    for height in (0.05, 0.2):
        rise = np.clip(height - 0.5 * GRAVITY * (walker.time - 0.75) ** 2, 0.0, None)
        base = walker.base + np.outer(rise, [0.0, 0.0, 1.0])
        jump = GaitInverseDynamics.of(walker.model, walker.feet, walker.motion(base=base))
        timing = given_timing(np.tile(rise[:, None] == 0.0, (1, 2)), jump)
        force = np.tile([0.0, 0.0, 0.5 * WEIGHT], (len(rise), 2, 1))
        found = force_covariance(jump, timing, force, jump.points(jump.low_point),
                                 GaitSettings.from_parameters(NONE))
        landed = int(np.flatnonzero(rise)[-1]) + 3
        widest.append(np.sqrt(found[landed, 0, 2, 2]) / WEIGHT)
    speed = np.sqrt(2.0 * GRAVITY * 0.2) / np.sqrt(GRAVITY * 0.9)
    assert widest[1] > widest[0]
    assert widest[1] > 0.25 * BARS.impact_down * speed     # half of the sum's, and fading


@pytest.mark.parametrize('gain', [0.9, 1.2])
def test_bars_of_a_runner_follow_the_force_that_the_recording_has_in_flight(gain):
    """Where the acceleration is seen too small or too large, stance is wrong by as much."""
    both, flags, _ = hopper(gain)
    feet = both.feet[:1]
    hops = replace(both, feet=feet, foot_arm=both.foot_arm[:, :1],
                   foot_rotation=both.foot_rotation[:, :1], low_point=both.low_point[:, :1],
                   ground_velocity=both.ground_velocity[:, :1])
    contact = flags[:, :1]
    force = np.where(contact[..., None], [0.0, 0.0, WEIGHT], 0.0)
    found = force_covariance(hops, given_timing(contact, hops), force, hops.points(hops.low_point),
                             GaitSettings.from_parameters(NONE))
    stance = np.sqrt(found[contact[:, 0], 0, 2, 2]) / WEIGHT
    error = abs(gain - 1.0)
    assert 0.5 * error < np.median(stance) < 1.5 * error
    assert error < stance.max()


def test_feet_that_land_together_do_not_step():
    """One of them is down a moment earlier; a walk's feet take turns."""
    walk = GaitInverseDynamics.of(WALK.model, WALK.feet, WALK.motion())
    landed = np.zeros(WALK.contact.shape, bool)
    landed[50:100], landed[47:97, 0] = True, True
    landed[97:100, 0] = False
    several = WALK.contact.all(axis=1)
    inner = slice(int(np.argmin(several)), len(several) - int(np.argmin(several[::-1])))
    assert not load_passes(walk, landed, GaitSettings()).any()
    np.testing.assert_array_equal(load_passes(walk, WALK.contact, GaitSettings())[inner],
                                  several[inner])
