# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A foot that is down alone: planted errors of the force, against a walk whose truth is known."""
from dataclasses import replace

import numpy as np
import pytest
from walkers import DT, GRAVITY, MASS, standing, two_footed_walk

from legged_dynamics.gait.force_direction import _drawn, through_sole
from legged_dynamics.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.gait.settings import GaitSettings

WALK = two_footed_walk()
WEIGHT = MASS * GRAVITY
# The walker's load does not vary, so its forces pass for known: here they are not.
DOUBTED = GaitSettings(sum_error=0.04)
INNER = slice(20, -20)


def dynamics_of(walk):
    return GaitInverseDynamics.of(walk.model, walk.feet, walk.motion())


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
    found = through_sole(moved_by(clean, planted), WALK.contact, DOUBTED)
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
    found = through_sole(clean, WALK.contact, GaitSettings())
    assert np.abs(found.wrench - clean.wrench)[INNER, :3].max() < 0.01 * WEIGHT
    walk = standing()
    two = dynamics_of(walk)
    assert through_sole(two, walk.contact, DOUBTED) is two


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
