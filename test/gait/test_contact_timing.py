# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Times of touch-down and toe-off, on walkers and hoppers whose contacts are known."""
from dataclasses import replace

import numpy as np
import pytest
from walkers import DT, GRAVITY, HEIGHT, standing, two_footed_walk

from legged_dynamics.people.gait import contact_timing as timing_module
from legged_dynamics.people.gait.contact_timing import ContactChange, contact_timing, given_timing
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.required_wrench import WrenchSmoother
from legged_dynamics.people.gait.settings import GaitSettings

WALK = two_footed_walk()
SETTINGS = GaitSettings.from_parameters({'stance.lift_off_speed': 0.3})


def dynamics(walker=WALK, **more):
    return GaitInverseDynamics.of(walker.model, walker.feet, walker.motion(**more))


def true_changes(contact):
    return [(i, bool(contact[k, i]), (k - 0.5) * DT) for i in range(contact.shape[1])
            for k in np.flatnonzero(contact[1:, i] != contact[:-1, i]) + 1]


def test_every_change_of_a_walk_is_timed_within_its_deviation():
    found, true = contact_timing(dynamics(), SETTINGS), true_changes(WALK.contact)
    assert [(c.foot, c.landing) for c in found.changes] == [change[:2] for change in true]
    errors = np.array([c.time - time for c, (*_, time) in zip(found.changes, true)])
    deviations = np.array([c.deviation for c in found.changes])
    assert np.abs(errors).max() < 0.035 and abs(np.median(errors)) < 0.012
    assert (np.abs(errors) < 3.0 * deviations).all()
    assert 0.003 < deviations.min() and deviations.max() < 0.06


def test_flags_and_probabilities_follow_from_the_times():
    found = contact_timing(dynamics(), SETTINGS)
    time = WALK.time - WALK.time[0]
    for change in found.changes:
        after = int(np.searchsorted(time, change.time))
        assert found.contact[after, change.foot] == change.landing
        assert found.contact[after - 1, change.foot] != change.landing
    assert ((found.probability > 0.5) == found.contact).all()
    assert found.probability.min() >= 0.0 and found.probability.max() <= 1.0
    middle = WALK.contact[:, 0] & ~WALK.contact[:, 1]
    assert found.probability[middle, 0].max() > 0.999


def test_a_change_that_is_known_is_certain_but_for_half_a_sample():
    walk = dynamics()
    given = given_timing(WALK.contact, walk)
    assert [(c.foot, c.landing, c.time) for c in given.changes] == [
        (foot, landing, pytest.approx(time)) for foot, landing, time in true_changes(WALK.contact)]
    certain = np.abs(given.probability - WALK.contact) < 1e-6
    assert certain.mean() > 0.9
    spread = ContactChange(0, True, 1.0, 0.05)
    blurred = given_timing(np.ones((len(WALK.time), 2), bool), walk, (spread,)).probability[:, 0]
    time = WALK.time - WALK.time[0]
    assert np.interp(1.0, time, blurred) == pytest.approx(0.5, abs=0.02)
    assert np.interp(1.05, time, blurred) == pytest.approx(0.841, abs=0.02)


def test_signs_time_the_changes_of_another_detector():
    walk = dynamics()
    own = contact_timing(walk, SETTINGS).changes
    late = np.vstack([np.tile(WALK.contact[:1], (4, 1)), WALK.contact[:-4]])
    found = contact_timing(walk, SETTINGS, contact=late).changes
    assert [(c.foot, c.landing) for c in found] == [(c.foot, c.landing) for c in own]
    off = [abs(c.time - other.time) for c, other in zip(found, own)]
    assert np.mean(off) < 0.5 * 4.0 * DT


def test_the_load_puts_late_signs_right(monkeypatch):
    """The share by the centre of pressure is exact here: signs 30 ms late are moved by it."""
    unit = np.sqrt(dynamics().leg_length / GRAVITY)
    late = 0.03 / unit
    late_signs = replace(timing_module.TIMING, **{
        name: replace(sign, delay=sign.delay - late, deviation=2.0 * sign.deviation)
        for name, sign in ((name, getattr(timing_module.TIMING, name))
                           for name in ('start_speed', 'toe_height'))})
    monkeypatch.setattr(timing_module, 'TIMING', late_signs)
    leavings = [time for _, landing, time in true_changes(WALK.contact) if not landing]

    def error():
        found = contact_timing(dynamics(), SETTINGS)
        return np.mean([c.time for c in found.changes if not c.landing]) - np.mean(leavings)

    helped = error()
    monkeypatch.setattr(timing_module, 'TIMING', replace(late_signs, rounds=0))
    assert error() > 0.04 and helped < 0.7 * error()


@pytest.mark.parametrize('lift', [0.1, 0.25])
def test_a_flight_begins_and_ends_with_the_load(lift):
    walker = standing(seconds=1.5)
    t = walker.time - 0.75
    rise = np.clip(lift - 0.5 * GRAVITY * t ** 2, 0.0, None)
    found = contact_timing(
        dynamics(walker, base=np.column_stack([walker.base[:, :2], HEIGHT + rise])), SETTINGS)
    half = np.sqrt(2.0 * lift / GRAVITY)
    for foot in range(2):
        leaves, lands = (c for c in found.changes if c.foot == foot)
        assert not leaves.landing and leaves.time == pytest.approx(0.75 - half, abs=0.025)
        assert lands.landing and lands.time == pytest.approx(0.75 + half, abs=0.025)


@pytest.mark.parametrize('duration', [0.01, 0.02, 0.04, 0.1, 0.2])
def test_the_load_of_a_foot_that_leaves_lasts_no_longer_than_from_half_of_it(duration):
    """A load that falls evenly ends when it ends, however fast; its last part is the shorter."""
    dt, end = 1e-3, 0.7
    load = np.clip((end - np.arange(1000) * dt) / duration, 0.0, 1.0)
    contact = (load > 0.0)[:, None]
    still = [np.zeros(1000)]
    signs = timing_module._Signs(dt, 0.3, load, contact, still, still, still)
    ((found, deviation),) = signs.of_change(0, False, 0, 700, 1000)
    assert abs(found - end) < 0.5 * duration and abs(found - end) < 2.0 * deviation


def test_a_change_that_nothing_shows_stays_where_it_was_detected_and_is_doubted():
    walker = standing(seconds=1.5)
    contact = np.ones((len(walker.time), 2), bool)
    contact[60:90, 1] = False
    leaves, lands = contact_timing(dynamics(walker), SETTINGS, contact=contact).changes
    assert (leaves.landing, lands.landing) == (False, True)
    assert leaves.time == pytest.approx(59.5 * DT) and lands.time == pytest.approx(89.5 * DT)
    assert min(leaves.deviation, lands.deviation) > 0.05
    assert (contact_timing(dynamics(walker), SETTINGS, contact=contact).contact == contact).all()


def test_a_flight_that_was_made_free_of_force_is_timed_by_the_force_as_recorded():
    walker = standing(seconds=1.5)
    rise = np.clip(0.1 - 0.5 * GRAVITY * (walker.time - 0.75) ** 2, 0.0, None)
    jump = dynamics(walker, base=np.column_stack([walker.base[:, :2], HEIGHT + rise]))
    own = contact_timing(jump, SETTINGS)
    # Contacts that begin late make a longer flight free of force.
    late = own.contact.copy()
    late[int(0.75 / DT):int(0.75 / DT) + 20] = False
    free = WrenchSmoother(jump, SETTINGS).given(late)
    again = contact_timing(free, SETTINGS, contact=own.contact)
    np.testing.assert_allclose([c.time for c in again.changes], [c.time for c in own.changes],
                               atol=1e-9)


def test_times_count_from_the_first_sample():
    late = replace(WALK.motion(), time=WALK.time + 12.3)
    moved = contact_timing(GaitInverseDynamics.of(WALK.model, WALK.feet, late), SETTINGS)
    here = contact_timing(dynamics(), SETTINGS)
    np.testing.assert_allclose([c.time for c in moved.changes], [c.time for c in here.changes],
                               atol=1e-9)


def test_of_several_crossings_that_next_to_the_detected_change_counts():
    values = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 0.0])
    crossings = [timing_module._crossing(values, 0.5, slice(0, 6), True, near) for near in (1, 4)]
    assert crossings == [pytest.approx(0.5), pytest.approx(3.25)]
    assert timing_module._crossing(values, 3.0, slice(0, 6), True, 1) is None


def test_the_lowest_place_of_a_sign_lies_between_samples_and_not_at_an_end():
    at, samples = 40.3, np.arange(100.0)
    values = (samples - at) ** 2 - 5.0
    lowest = timing_module._lowest
    assert lowest(values, slice(20, 60), -1.0) == pytest.approx(at)
    assert lowest(values, slice(20, 60), -6.0) is None          # not low enough
    for part in (slice(45, 60), slice(20, 38), slice(40, 60)):  # it lies outside
        assert lowest(values, part, 100.0) is None
