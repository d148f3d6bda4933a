# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pushes on a named link: by inverse dynamics that know them, and in MuJoCo with all noise."""
import numpy as np
import pytest
from motions import Scene, known_robot, quadruped
from zoo_runs import pushed_at

from benchmarks.zoo.estimators import shipped
from legged_dynamics.dynamics import frame_poses
from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.exceptions import ConfigurationError, UnknownNameError

pytestmark = pytest.mark.slow


class PushedScene(Scene):
    """A robot at rest that is pushed from the second 0.3 on: a force at a point of a link."""

    def __init__(self, link, point, force, **more):
        super().__init__(*quadruped(), motion=0.0, **more)
        self.link = link
        self.push = np.concatenate([force, np.cross(point, force)])

    def truth(self, t):
        motion, rotation, solution = super().truth(t)
        if t > 0.3:
            up = rotation.T @ [0, 0, 1]
            solution = self.solver.solve(
                motion, in_contact=self.down, guess=self.guess(motion, up), ground_normal=up,
                external={self.link: self.push})
        return motion, rotation, solution

    def guess(self, motion, up):
        least = self.solver.solve(motion, in_contact=self.down, ground_normal=up)
        return least.wrench + np.hstack([self.extra, np.zeros_like(self.extra)])


def estimate(scene, settings, count=450):
    estimator = known_robot(scene.model, scene.config, settings)
    for k in range(count):
        reaction = estimator.update(scene.measurement(k), [1] * 4)
    return reaction, scene.truth(reaction.stamp_ns * 1e-9)[2]


@pytest.mark.parametrize('link, point', [
    ('base', (0.25, 0.1, 0.05)), ('LF_THIGH', (0.0, 0.05, -0.1)), ('RH_HIP', (0.05, 0.0, 0.0))])
def test_a_push_on_a_link_is_found_at_its_point(link, point):
    """Newton's law for all bodies: joints between base and link feel it, as the base does."""
    force = np.array([15.0, 35.0, 0.0])     # what is slow and vertical fades into a payload
    scene = PushedScene(link, point, force)
    weight = scene.model.total_mass * 9.81
    named = {'external.link': link, 'external.point': list(point), 'external.force': 40.0,
             'external.moment': 0.5}
    reaction, truth = estimate(scene, named)
    found = reaction.link_wrench
    assert np.linalg.norm(found[:3] - force) < 0.1 * np.linalg.norm(force)
    assert np.linalg.norm(found[3:]) < 1.0
    wrong = np.abs(reaction.raw_wrench - truth.wrench)[:, :3].max()
    assert wrong < 0.01 * weight
    # What is said about the base's origin is the same wrench.
    pose = frame_poses(scene.model, scene.q0)[link]
    np.testing.assert_allclose(reaction.link_point, pose.p + pose.R @ point, atol=1e-9)
    f, m = (pose.R @ part for part in (found[:3], found[3:]))
    np.testing.assert_allclose(reaction.external_wrench,
                               np.append(f, m + np.cross(reaction.link_point, f)), atol=1e-9)
    assert (reaction.link_deviation > 0.0).all()
    # Who does not know of the link sees the same wrench on the base, but for the joints between.
    blind, _ = estimate(scene, {})
    wrong_blind = np.abs(blind.raw_wrench - truth.wrench)[:, :3].max()
    assert wrong_blind > 2.0 * wrong if link == 'LF_THIGH' else wrong_blind < 0.01 * weight


def test_by_default_it_is_the_base_that_is_pushed():
    scene = PushedScene('base', (0.0, 0.0, 0.0), np.array([0.0, 30.0, 0.0]))
    reaction, _ = estimate(scene, {})
    assert np.array_equal(reaction.link_wrench, reaction.external_wrench)
    assert np.array_equal(reaction.link_deviation, reaction.external_deviation)
    assert not reaction.link_point.any() and reaction.link_wrench[1] > 20.0


@pytest.mark.parametrize('link, point', [('body', (0.25, 0.1, 0.05)),
                                         ('leg0_coxa', (0.0, 0.0, -0.05))])
def test_pushes_in_a_simulation_are_not_the_feet(link, point):
    """0.3 of the weight at a known link and point, all sensors noisy, steps of 50 ms."""
    r = pushed_at(link, point)
    named = {'external.link': link, 'external.point': list(point)}
    true = r.external_wrench
    size = np.linalg.norm(true[:, :3], axis=1)
    pushed, calm = size > 0.9 * size.max(), (size == 0.0) & (np.arange(len(r)) > 150)
    errors = {}
    for name, settings in (('named', named), ('base', {})):
        outputs = list(shipped(settings)(r, r.measurements()))
        start = next(k for k, o in enumerate(outputs) if o)
        given = np.array([o['raw'].external for o in outputs[start:]])
        force = np.array([o['raw'].force for o in outputs[start:]])
        wrong = np.linalg.norm(force - r.force_B[start:], axis=2) / r.weight
        errors[name] = [
            np.sqrt(((given - true[start:])[pushed[start:], :3] ** 2).sum()
                    / (true[pushed, :3] ** 2).sum()),
            np.sqrt(((given - true[start:])[pushed[start:], 3:] ** 2).sum(axis=1).mean()),
            np.sqrt((wrong[pushed[start:]] ** 2).mean()),
            np.sqrt((wrong[calm[start:]] ** 2).mean())]
    push, moment, feet, calm_feet = errors['named']
    assert push < 0.2
    assert feet < 1.3 * calm_feet and feet < errors['base'][2]
    assert moment < 0.9 * errors['base'][1]


def test_a_push_near_a_foot_says_what_nobody_can_see():
    """No joint tells a force on a shank, along it to the ground, from the foot's own."""
    r = pushed_at('leg0_tibia', (0.0, 0.0, -0.05))
    pushed = np.linalg.norm(r.external_wrench[:, :3], axis=1) > 0.25 * r.weight
    found = {}
    for link in ('leg0_tibia', 'leg0_coxa'):
        named = {'external.link': link, 'external.point': [0.0, 0.0, -0.05]}
        outputs = list(shipped(named)(r, r.measurements()))
        start = next(k for k, o in enumerate(outputs) if o)
        error, sigma = (np.array([getattr(o['raw'], name)[:3] for o in outputs[start:]])
                        for name in ('external', 'external_sigma'))
        error = error - r.external_wrench[start:, :3]
        found[link] = sigma[pushed[start:]].mean(axis=0) / r.weight
        if link == 'leg0_tibia':
            assert np.sqrt(((error / sigma)[pushed[start:]] ** 2).mean()) < 1.6
    assert found['leg0_tibia'].max() > 0.2 and found['leg0_coxa'].max() < 0.06


def test_wrong_input_is_refused():
    model, config = quadruped()
    with pytest.raises(UnknownNameError, match='LF_TIGH'):
        GroundReactionEstimator(model, config, {'external.link': 'LF_TIGH'})
    with pytest.raises(ConfigurationError, match=r'external\.point: expected 3 values'):
        GroundReactionEstimator(model, config, {'external.point': [0.1, 0.2]})
