# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces within what the ground can give: on robots that trot and step, deviations to match."""
from dataclasses import replace

import numpy as np
import pytest
from motions import RATE, Scene, quadruped
from robots import crouching_biped
from zoo_runs import short_run

from benchmarks.zoo.cache import recording
from benchmarks.zoo.estimators import shipped
from benchmarks.zoo.scenarios import SCENARIOS
from benchmarks.zoo.scoring import score
from benchmarks.zoo.simulate import simulate
from legged_dynamics.contact import ContactInverseDynamics
from legged_dynamics.contact.solution import friction_used
from legged_dynamics.dynamics import BaseMotion, Motion
from legged_dynamics.estimation import GroundReactionEstimator, Measurement
from legged_dynamics.estimation.ground import limits_of
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig

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


NOISE = {'velocity': 1e-3, 'effort': 1e-2, 'gyro': 1e-3, 'accelerometer': 2e-2}


def standing_on(kind, rng):
    """Return (model, config, position) of a robot at rest on feet of a kind."""
    noise = {f'noise.{name}': value for name, value in NOISE.items()}
    if kind in ('point', 'straight'):
        model, config = quadruped(**noise)
        bent = config.nominal_in(model) + 0.1 * rng.normal(size=12)
        return model, config, bent if kind == 'point' else 1e-3 * rng.normal(size=12)
    model, q = crouching_biped()
    config = RobotConfig.from_parameters({
        'robot.feet': ['l_foot', 'r_foot'],
        'robot.foot_type': {'sole': 'flat', 'edge': 'line'}[kind],
        'robot.sole': [0.16, -0.1, *([0.05, -0.05] if kind == 'sole' else [0.0, 0.0])],
        'robot.joints': list(model.joint_names), 'robot.nominal_position': q.tolist(), **noise})
    return model, config, q + 0.05 * rng.normal(size=len(q))


@pytest.mark.parametrize('kind', ['point', 'straight', 'edge', 'sole'])
def test_no_force_exceeds_all_of_its_causes_when_feet_pull_and_then_push(kind):
    """
    What stands on the floor cannot pull, so such torques contradict all that is believed.

    A force has two causes: what the base weighs, and what the torques of its own leg hold. None
    may be larger than both by more than the deviations that are published with it.
    """
    for seed in range(6):
        rng = np.random.default_rng(seed)
        model, config, q = standing_on(kind, rng)
        model, still = config.apply_to(model), np.zeros(model.nv)
        nf, weight = len(config.feet), model.total_mass * 9.81
        solver = ContactInverseDynamics(model, config.feet)
        at_rest = Motion(q, still, still, BaseMotion(proper_acceleration=[0.0, 0.0, 9.81]))
        pulling = weight * rng.uniform(0.8, 1.6) * np.array([1.0, -1.0, -1.0, 1.0][:nf])
        wanted = [np.pad((weight / nf + pull)[:, None], ((0, 0), (2, 3)))
                  for pull in (pulling, 0.0 * pulling, -pulling)]
        truth = [solver.solve(at_rest, in_contact=[True] * nf, guess=one,
                              ground_normal=[0.0, 0.0, 1.0]) for one in wanted]
        most = max(weight, *(np.linalg.norm(one.wrench[:, :3], axis=1).max() for one in truth))
        estimator = GroundReactionEstimator(model, config)
        for k in range(300):
            noise = {name: size * rng.normal(size=3 if name in ('gyro', 'accelerometer')
                                             else model.nv) for name, size in NOISE.items()}
            r = estimator.update(Measurement(
                round(k * 1e9 / RATE), q, noise['velocity'],
                truth[k // 100].joint_effort + noise['effort'], noise['gyro'],
                noise['accelerometer'] + [0.0, 0.0, 9.81], [0.0, 0.0, 0.0, 1.0]))
            if k < 5:
                continue
            for wrench, latest in ((r.raw_wrench, False), (r.wrench, True)):
                for foot, force in zip(config.feet, wrench[:, :3]):
                    size = np.linalg.norm(force)
                    P = r.covariance_of(foot.link, latest)[:3, :3]
                    own = np.sqrt(force @ P @ force) / max(size, 1e-9)
                    assert size < most + 2.5 * own, (seed, k, foot.link, latest)


def test_bars_hold_where_a_sole_is_loaded_and_unloaded_slowly():
    """Below the threshold of contact a foot is called up, but bears what its torques show."""
    slow = simulate(replace(SCENARIOS['biped-steps'], name='slow', period=11.0))
    found = score(slow, shipped())['raw'].phases
    for phase in ('double', 'change'):      # every foot that stands, and after it lands or lifts
        assert found[phase].normalised < 1.4 and found[phase].inside > 90.0, phase


def test_bars_hold_of_a_sole_in_the_air_that_seems_to_bear_a_little():
    """It keeps the light load that torques show, of two ticks, or has none: both are in bars."""
    found = score(recording('biped-steps'), shipped())['raw'].phases['swing']
    assert found.inside > 98.0 and found.normalised < 1.0


def test_a_sole_high_in_the_air_is_not_held_down_by_a_force_that_it_seemed_to_have():
    """Near the apex it hardly rises, as after a landing: but it moves over the standing foot."""
    run = recording('biped-steps')
    high = ~run.contact & (run.foot_position[:, :, 2] > 0.2 * SCENARIOS['biped-steps'].lift)
    called = [found['raw'].contact for found in shipped()(run, run.measurements()) if found]
    wrong = high[-len(called) - 1:-1] & np.array(called)
    assert high.sum() > 1000 and not wrong.any()
