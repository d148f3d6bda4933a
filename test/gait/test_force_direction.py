# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How forces lean: symmetries of the law, and planted errors against a walk that is known."""
from dataclasses import replace

import numpy as np
import pytest
from walkers import DT, GRAVITY, MASS, standing, two_footed_walk

from legged_dynamics.people.gait.force_direction import DIRECTION, _drawn, directions, through_sole
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import soles_of

WALK = two_footed_walk()
WEIGHT = MASS * GRAVITY
# The walker's load does not vary, so its forces pass for known: here they are not.
DOUBTED = GaitSettings(sum_error=0.04)
INNER = slice(20, -20)


def dynamics_of(walk):
    return GaitInverseDynamics.of(walk.model, walk.feet, walk.motion())


def corrected(dynamics, contact, settings, lean=None):
    return through_sole(dynamics, contact, settings, soles_of(dynamics, settings), lean)


def moved_by(dynamics, force):
    """Return dynamics with a horizontal force (n, 2) on the centre of mass that is not there."""
    force = np.pad(force, ((0, 0), (0, 1)))
    wrench = dynamics.wrench + np.hstack([force, np.cross(dynamics.center_of_mass, force)])
    return replace(dynamics, wrench=wrench)


@pytest.mark.parametrize('axis', [0, 1])
def test_an_error_of_the_force_is_seen_by_where_the_foot_stands(axis):
    clean = dynamics_of(WALK)
    planted = np.zeros((len(WALK.time), 2))
    planted[:, axis] = 0.05 * WEIGHT * np.sin(2.0 * np.pi * 2.0 * WALK.time)
    found = corrected(moved_by(clean, planted), WALK.contact, DOUBTED)
    alone = (WALK.contact.sum(axis=1) == 1)[INNER]
    left = (found.wrench - clean.wrench)[INNER][alone][:, :2]
    assert np.std(left[:, axis]) < 0.7 * np.std(planted[INNER][alone][:, axis])
    assert np.abs(left[:, 1 - axis]).max() < 0.03 * WEIGHT
    np.testing.assert_allclose(found.wrench + found.noise, moved_by(clean, planted).wrench,
                               atol=1e-9 * WEIGHT)
    # The vertical force is not touched.
    np.testing.assert_allclose(found.wrench[:, 2], clean.wrench[:, 2], rtol=1e-12)


def test_what_is_known_is_left_alone():
    """A load that does not vary is that of a body at rest, whose forces are known."""
    clean = dynamics_of(WALK)
    found = corrected(clean, WALK.contact, GaitSettings())
    assert np.abs(found.wrench - clean.wrench)[INNER, :3].max() < 0.01 * WEIGHT
    walk = standing()
    two = dynamics_of(walk)
    assert corrected(two, walk.contact, DOUBTED) is two


def leans(dynamics, contact, share):
    points = dynamics.points(dynamics.low_point)
    return directions(dynamics, contact, points, share, GaitSettings())


def test_feet_side_by_side_push_each_other_apart_and_a_foot_alone_points_at_the_pivot():
    walk = standing()
    two, shares = dynamics_of(walk), np.full(walk.contact.shape, 0.5)
    to_pivot = leans(two, walk.contact, np.ones(walk.contact.shape))
    further = leans(two, walk.contact, shares) - to_pivot
    np.testing.assert_allclose(further.sum(axis=1), 0.0, atol=1e-3)    # it sways
    outward = np.sign(two.foot_arm[..., 1]) * further[..., 1]
    np.testing.assert_allclose(outward, DIRECTION.standing_lean * 0.5 ** 1.5, rtol=0.01)
    np.testing.assert_allclose(further[..., 0], 0.0, atol=1e-3)
    aim = -two.points(two.low_point)[..., :2] + two.center_of_mass[:, None, :2]
    np.testing.assert_allclose(to_pivot[..., 0] * aim[..., 1], to_pivot[..., 1] * aim[..., 0],
                               atol=1e-12)


def test_the_law_knows_neither_heading_nor_belt():
    """The same walk turned about up, or over a belt by which it stays in place, leans the same."""
    share = np.where(WALK.contact, 0.5, 0.0)
    seen = leans(dynamics_of(WALK), WALK.contact, share)
    yaw = 0.7
    turned = GaitInverseDynamics.of(WALK.model, WALK.feet, WALK.motion(yaw=yaw))
    R = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    np.testing.assert_allclose(leans(turned, WALK.contact, share), seen @ R.T, atol=1e-6)
    belt = np.array([-1.2, 0.0, 0.0])
    moved = replace(WALK, base=WALK.base + belt * WALK.time[:, None])
    still = dynamics_of(moved).on_ground(np.broadcast_to(belt, (*WALK.contact.shape, 3)))
    np.testing.assert_allclose(leans(still, WALK.contact, share), seen, atol=1e-6)


def test_steps_learn_from_how_the_feet_lean():
    clean, lean = dynamics_of(WALK), np.tile([0.1, 0.0], (len(WALK.time), 1))
    found = corrected(clean, WALK.contact, DOUBTED, lean=lean)
    several = (WALK.contact.sum(axis=1) == 2)[INNER]
    change = (found.wrench - corrected(clean, WALK.contact, DOUBTED).wrench)[INNER, 0]
    assert change[several].mean() > 0.01 * WEIGHT
    assert change[several].mean() > 3.0 * np.abs(change[~several]).mean()


def test_the_body_stays_on_its_path():
    """Newton: the change of the force, integrated twice, does not carry the body away."""
    rng = np.random.default_rng(2)
    n, alone = 400, np.arange(400) % 80 < 60
    force, wanted = rng.normal(0.0, 0.05, (2, n, 2))
    wanted += [0.1, 0.0]
    variance = np.where(alone, 0.03 ** 2, np.inf)[:, None] * np.ones(2)
    found = _drawn(force, wanted, variance, np.full(n, 0.05), np.ones(n, bool), DT, 0.01)
    change = GRAVITY * np.cumsum(np.cumsum(found - force, axis=0), axis=0) * DT ** 2
    time = np.arange(n) * DT
    # Unbound, a tenth of the weight would carry it for 5 m.
    beside = change - np.column_stack([np.polyval(np.polyfit(time, column, 1), time)
                                       for column in change.T])
    assert np.abs(beside).max() < 0.1
    assert np.std((found - wanted)[alone]) < np.std((force - wanted)[alone])
