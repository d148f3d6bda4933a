# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Estimates of a trotting MuJoCo robot, against MuJoCo's own contact forces."""
import numpy as np
import pytest
from robots import CONFIG
from scipy.signal import butter, sosfiltfilt

from legged_dynamics.estimation import GroundReactionEstimator, Measurement, Mode
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.simulation import Schedule, SimulatedRobot

PATH = CONFIG / 'robots' / 'anymal_class.yaml'


@pytest.fixture(scope='module', params=[True, False], ids=['noisy', 'exact'])
def trot(request):
    """Return (noisy, samples, truths) of one second standing and three trotting."""
    robot = SimulatedRobot.from_files(PATH, noise=request.param,
                                      schedule=Schedule.from_text('stand 1, trot_forward 3'))
    samples, truths = [], []
    for _ in range(2000):
        robot.step()
        samples.append(robot.read())
        truths.append(robot.truth())
    return request.param, samples, truths


def estimate(samples, torque=True, **settings):
    config = RobotConfig.from_yaml(PATH)
    estimator = GroundReactionEstimator(RobotModel.from_urdf(PATH.with_suffix('.urdf')), config,
                                        settings)
    order = [config.joints.index(name) for name in estimator.model.joint_names]
    found = [estimator.update(Measurement(
        s.stamp_ns, s.position[order], s.velocity[order], s.effort[order] if torque else None,
        s.angular_velocity, s.linear_acceleration, s.orientation)) for s in samples]
    return estimator, [r for r in found if r.mode]


def in_world(reactions, wrenches):
    return np.array([np.einsum('ij,fjk,fk->fi', r.base_rotation, r.foot_rotation, w[:, :3])
                     for r, w in zip(reactions, wrenches)])


def test_forces_of_the_trot(trot):
    """The figures that the demo's report must show, on a shorter run."""
    noisy, samples, truths = trot
    estimator, found = estimate(samples)
    by_stamp = {t.stamp_ns: t for t in truths}
    matched = [by_stamp[r.stamp_ns] for r in found]
    true = in_world(found, [t.feet.wrench for t in matched])
    raw = in_world(found, [r.raw_wrench for r in found])
    down = np.array([t.feet.contact for t in matched])
    if noisy:
        low = butter(2, 25.0, fs=500.0, output='sos')
        raw, true = sosfiltfilt(low, raw, axis=0), sosfiltfilt(low, true, axis=0)
    weight = estimator.model.total_mass * 9.81
    bounds = {True: ((0.5, 0.3), (1.5, 1.2)), False: ((0.5, 0.3), (2.5, 2.0))}[noisy]
    for part, (whole, vertical) in zip((slice(50, 450), slice(650, 1950)), bounds):
        error = (raw - true)[part][down[part]]
        assert 100 * np.sqrt((error ** 2).sum(axis=1).mean()) / weight < whole
        assert 100 * np.sqrt((error[:, 2] ** 2).mean()) / weight < vertical


def test_contact_is_found_without_torque(trot):
    _, samples, truths = trot
    _, found = estimate(samples, torque=False)
    by_stamp = {t.stamp_ns: t for t in truths}
    true = np.array([by_stamp[r.stamp_ns].feet.contact for r in found])
    seen = np.array([r.contact for r in found])
    assert (seen == true).mean() > 0.88
    assert seen.any(axis=1).all()       # it never flies
    assert {r.mode for r in found} == {Mode.BASE_ONLY}


def test_an_estimate_that_starts_late_comes_to_the_one_that_did_not(trot):
    """
    A bag that was cut, a node that was started late: what it did not see is forgotten.

    What is learned of actuators is kept for a minute, and is left out here.
    """
    _, samples, _ = trot
    filtering = {'actuators.learn': False}
    estimator, found = estimate(samples, **filtering)
    weight = estimator.model.total_mass * 9.81
    by_stamp = {r.latest_ns: r for r in found}
    for start in (250, 650):
        _, late = estimate(samples[start:], **filtering)
        apart = np.array([np.abs(by_stamp[r.latest_ns].wrench - r.wrench)[:, :3].max()
                          for r in late]) / weight
        assert apart[:50].max() > 1e-4      # it does begin with knowing nothing
        assert apart[1100:].max() < 1e-2
        assert np.median(apart[1100:]) < 1e-3
