# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Normals that a user gives: where balls touch, how soles lean, and what is refused."""
import numpy as np
import pytest
from motions import Scene, quadruped

from legged_dynamics.contact.solution import friction_used
from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.exceptions import ConfigurationError

WALL = np.array([0.0, np.sin(0.7), np.cos(0.7)])


def after(scene, settings, count=20):
    estimator = GroundReactionEstimator(scene.model, scene.config, settings)
    for k in range(count):
        reaction = estimator.update(scene.measurement(k), [1] * 4)
    return reaction


def test_balls_touch_where_the_given_ground_is():
    scene = Scene(*quadruped(), motion=0.0)
    radius = scene.config.feet[0].radius
    assert radius > 0.0
    reaction = after(scene, {'ground.normal': (2.0 * WALL).tolist()})   # of any length
    normal = reaction.base_rotation.T @ WALL
    np.testing.assert_allclose(reaction.foot_normal, np.tile(normal, (4, 1)), atol=1e-12)
    np.testing.assert_allclose(reaction.ground_normal, normal, atol=1e-12)
    np.testing.assert_allclose(reaction.foot_position - reaction.contact_point,
                               np.tile(radius * normal, (4, 1)), atol=1e-12)


def test_each_foot_may_have_its_own_and_others_find_theirs():
    """A groove: left feet lean to one side, right ones find the ground by themselves."""
    scene = Scene(*quadruped(), motion=0.0)
    radius = scene.config.feet[0].radius
    given = np.zeros((4, 3))
    given[0] = WALL
    reaction = after(scene, {'ground.normals': given.ravel().tolist()})
    free = after(scene, {})
    arms = (reaction.foot_position - reaction.contact_point) / radius
    np.testing.assert_allclose(arms[0], reaction.base_rotation.T @ WALL, atol=1e-12)
    np.testing.assert_allclose(reaction.contact_point[1:], free.contact_point[1:], atol=1e-12)
    np.testing.assert_allclose(reaction.foot_normal[1:], np.tile(free.ground_normal, (3, 1)),
                               atol=1e-12)


def test_a_sole_leans_on_the_edge_that_is_low_on_the_given_ground():
    scene = Scene(*quadruped(**{'robot.foot_type': 'flat'}), motion=0.0)
    scene.q0[:] = scene.config.nominal_in(scene.model)
    level = after(scene, {'ground.normal': [0.0, 0.0, 1.0]})
    R = level.base_rotation
    uphill = R @ level.foot_rotation[0, :, 0]       # the ground rises to the sole's front
    slope = np.array([0.0, 0.0, 1.0]) - 0.5 * uphill * [1.0, 1.0, 0.0]
    tilted = after(scene, {'ground.normal': slope.tolist()})
    at = [r.foot_rotation[0].T @ (r.contact_point[0] - r.foot_position[0])
          for r in (level, tilted)]
    assert at[1][0] > at[0][0] + 0.02


@pytest.mark.parametrize('limits', ['cone', 'none'])
def test_limits_are_those_of_the_given_ground(limits):
    """Forces straight up on ground that leans by 40 degrees: more than friction 0.5 can hold."""
    scene = Scene(*quadruped(), motion=0.0, squeeze=0.0)
    scene.R_WB = np.eye(3)
    reaction = after(scene, {'ground.normal': WALL.tolist(), 'ground.limits': limits,
                             'ground.friction': 0.5}, 60)
    force = np.einsum('fij,fj->fi', reaction.foot_rotation, reaction.wrench[:, :3])
    used = friction_used(force, reaction.foot_normal, 0.5)
    assert (used <= 1.0 + 1e-6).all() if limits == 'cone' else used.max() > 1.3


@pytest.mark.parametrize('settings, text', [
    ({'ground.normal': [0.0, 1.0]}, 'expected 3 values'),
    ({'ground.normal': [0.0, 0.0, 0.0]}, 'with a direction'),
    ({'ground.normal': [0.0, 0.3, -1.0]}, 'out of the ground'),
    ({'ground.normals': [0.0, 0.0, 1.0]}, 'expected 12 values, 3 for each of 4 feet'),
    ({'ground.normals': [0.0, 0.0, 1.0] * 3 + [0.0, 0.0, -1.0]}, 'foot 4: .* out of the ground'),
    ({'ground.normals': [0.0, 0.0, 1.0] * 4, 'ground.normal': [0.0, 0.0, 1.0]}, 'one of them'),
    ({'ground.normal': [0.0, 0.0, float('nan')]}, 'finite'),
    ({'ground.normal': 'up'}, 'expected a list'),
    ({'ground.limits': 'cones'}, 'unilateral')])
def test_wrong_input_is_refused(settings, text):
    with pytest.raises(ConfigurationError, match=text):
        GroundReactionEstimator(*quadruped(), settings)
