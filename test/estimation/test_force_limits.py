# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces within what the ground can give: on robots that trot and step, deviations to match."""
import numpy as np
import pytest
from motions import Scene, quadruped
from zoo_runs import short_run

from benchmarks.zoo.estimators import shipped
from benchmarks.zoo.scoring import score
from legged_dynamics.contact.solution import friction_used
from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.estimation.ground import limits_of
from legged_dynamics.model import FlatFoot, PointFoot

SOLE = FlatFoot('sole', 0.1, -0.1, 0.05, -0.05)


def reactions(recording, settings):
    estimator = GroundReactionEstimator(recording.model, recording.config,
                                        {'rate': recording.rate, **settings})
    return [estimator.update(m) for m in recording.measurements()][5:]


def test_what_is_a_limit_whatever_the_friction():
    ball, sole = (limits_of([foot], 'unilateral', 0.7) for foot in (PointFoot('ball'), SOLE))
    assert ball.tolist() == [[0, 0, 1, 0, 0, 0, 0, 0]]
    press = sole[:, :6] @ [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert len(sole) == 5 and sorted(press) == [0.05, 0.05, 0.1, 0.1, 1.0]
    edge = np.array([0.0, 0.0, 1.0, 0.05, -0.1, 0.0])        # a corner bears all
    assert (sole[:, :6] @ edge).min() == pytest.approx(0.0)
    assert not len(limits_of([SOLE], 'none', 0.7))
    assert len(limits_of([SOLE, PointFoot('ball')], 'cone', 0.7)) > 20


@pytest.mark.parametrize('name', ['four', 'two'])
def test_no_force_leaves_the_cone_and_every_one_may_be_wrong(name):
    recording, outside = short_run(name), 0
    # The pyramids of a sole's corners have four sides.
    within = 1.001 if name == 'four' else 1.001 * np.sqrt(2.0)
    weight = recording.weight
    free = reactions(recording, {'ground.limits': 'none'})
    for r, f in zip(reactions(recording, {'ground.friction': 0.8}), free):
        force = np.einsum('fij,fj->fi', r.foot_rotation, r.wrench[:, :3])
        normal = (force * r.foot_normal).sum(axis=1)
        assert normal.min() > -1e-6 * weight
        loaded = normal > 1e-3 * weight
        assert (friction_used(force, r.foot_normal, 0.8)[loaded] < within).all()
        variance = np.linalg.eigvalsh(r.latest_covariance)
        assert variance.min() > 0.0
        assert (np.diag(r.latest_covariance) <= np.diag(f.latest_covariance) * (1 + 1e-9)).all()
        outside += not np.array_equal(r.wrench, f.wrench)
        # What is for filters afterwards is not touched, nor what the estimator goes on from.
        assert np.array_equal(r.raw_wrench, f.raw_wrench)
        assert np.array_equal(r.contact, f.contact)
    assert outside > 0.1 * len(free)


@pytest.mark.parametrize('name', ['four', 'six', 'two'])
def test_limits_never_make_the_newest_forces_worse(name):
    free, bounded = (score(short_run(name), shipped({'ground.limits': kind}))['latest']
                     for kind in ('none', 'cone'))
    assert bounded.on_line < 1.005 * free.on_line
    assert abs(bounded.normalised - free.normalised) < 0.1 and bounded.sigma_zero == 0.0


def test_a_pull_by_a_wrong_torque_goes_to_where_it_may_belong():
    """
    One knee's torque is off: its foot would pull, and the base says how much is missing.

    The base contradicts the knee, so the forces go there slowly.
    """
    scene = Scene(*quadruped(), motion=0.0, squeeze=0.0)
    wrong = scene.model.joint_names.index('LF_KFE')
    found = {}
    for kind in ('none', 'unilateral'):
        estimator = GroundReactionEstimator(scene.model, scene.config, {'ground.limits': kind})
        for k in range(150):
            m = scene.measurement(k)
            m.effort[:] += 0.05 * np.sin(7.0 * k + np.arange(len(m.effort)))    # not in steps
            m.effort[wrong] -= 60.0 * (k > 20)
            found[kind] = estimator.update(m, [1] * 4)
    up = [(np.einsum('fij,fj->fi', r.foot_rotation, r.wrench[:, :3]) * r.foot_normal).sum(axis=1)
          for r in found.values()]
    assert up[0].min() < -1.0 and up[1].min() > -1e-6
    assert (np.diag(found['unilateral'].latest_covariance) > 0.0).all()


def test_the_same_measurements_give_the_same_bits():
    once, again = (reactions(short_run('four'), {'ground.limits': 'cone'}) for _ in range(2))
    assert all(np.array_equal(a.data, b.data, equal_nan=True) for a, b in zip(once, again))
