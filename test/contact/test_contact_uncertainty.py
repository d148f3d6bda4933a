# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Error bars against the errors of noisy simulated data; measured torque against dense algebra."""
import numpy as np
import pytest
from contact_oracles import Contacts, four_feet, motion_of
from robots import CONFIG, TWO_LEGS
from scipy.stats import chi2

from legged_dynamics.contact import (
    ContactInverseDynamics,
    EquationWeights,
    MotionNoise,
    equation_weights,
)
from legged_dynamics.dynamics import BaseMotion, Motion, inverse_dynamics
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.model.parts import COM, INERTIA, MASS

NOISE = MotionNoise(position=1e-3, velocity=0.02, acceleration=1.0, angular_velocity=0.01,
                    angular_acceleration=0.5, proper_acceleration=0.1, effort=0.5, mass=0.02,
                    center_of_mass=0.003, inertia=0.05)
CONFIGURED = RobotConfig.from_yaml(CONFIG / 'robots' / 'anymal_class.yaml')
QUADRUPED = RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf')
BASE = BaseMotion(np.array([0.1, 0.2, -0.3]), np.array([1.0, 0.5, -0.5]),
                  np.array([0.5, -0.3, 9.6]))


def walking(model, position):
    rng = np.random.default_rng(0)
    return Motion(position, 0.5 * rng.normal(size=model.nv), 2.0 * rng.normal(size=model.nv),
                  BASE)


NOMINAL = np.array([dict(zip(CONFIGURED.joints, CONFIGURED.nominal_position))[name]
                    for name in QUADRUPED.joint_names])


def errors(solver, motion, n, effort=None, **conditions):
    """Return (n, 6 nf) errors of the wrenches from data, and models, off by the stated noise."""
    rng, nv = np.random.default_rng(1), solver.model.nv
    constants = solver.memory.tree.constants
    kept, base = constants.copy(), motion.base

    def off(name, size):
        return NOISE.of(name, size) * rng.normal(size=size)
    true = solver.solve(motion, effort=effort, **conditions).wrench
    found = np.zeros((n, true.size))
    for k in range(n):
        bodies = len(constants)
        constants[:, MASS] *= 1.0 + NOISE.mass * rng.normal(size=bodies)
        constants[:, COM:COM + 3] += NOISE.center_of_mass * rng.normal(size=(bodies, 3))
        constants[:, INERTIA:INERTIA + 6] *= 1.0 + NOISE.inertia * rng.normal(size=(bodies, 1))
        noisy = Motion(motion.position + off('position', nv), motion.velocity
                       + off('velocity', nv), motion.acceleration + off('acceleration', nv),
                       BaseMotion(*(getattr(base, name) + off(name, 3) for name in (
                           'angular_velocity', 'angular_acceleration', 'proper_acceleration'))))
        torque = None if effort is None else effort + off('effort', nv)
        found[k] = (solver.solve(noisy, effort=torque, **conditions).wrench - true).ravel()
        constants[:] = kept
    return found


def coverage(errors, covariance, rank):
    """Return the part of the errors inside the 95 % ellipsoid of a covariance of that rank."""
    variance, directions = np.linalg.eigh(covariance)
    assert variance[-rank] > 1e-10 * variance[-1]
    scaled = errors @ (directions[:, -rank:] / np.sqrt(variance[-rank:]))
    return float(((scaled ** 2).sum(axis=1) < chi2.ppf(0.95, rank)).mean())


def test_error_bars_of_motion_alone_hold_and_squeeze_has_none():
    solver, motion = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet), walking(QUADRUPED,
                                                                                 NOMINAL)
    bars = solver.uncertainty(motion, NOISE)
    assert 0.93 <= coverage(errors(solver, motion, 1500), bars.covariance, 6) <= 0.97
    assert bars.unobservable.shape == (24, 6)
    # What is not observable changes nothing of the motion.
    at = Contacts(QUADRUPED, CONFIGURED.feet, motion)
    for direction in bars.unobservable.T:
        squeeze = at.coordinates(direction.reshape(4, 6))
        assert np.linalg.norm(squeeze) > 0.1
        np.testing.assert_allclose(at.grasp @ squeeze, 0.0, atol=1e-9)
    assert not bars.observable.any() and np.isinf(bars.standard_deviation).all()


def test_error_bars_with_measured_torque_hold_for_every_foot():
    motion = walking(QUADRUPED, NOMINAL)
    weights = equation_weights(QUADRUPED, NOISE, motion)
    solver = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, weights=weights)
    effort = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet).solve(motion).joint_effort
    bars = solver.uncertainty(motion, NOISE, effort=effort)
    found = errors(solver, motion, 1500, effort)
    assert 0.93 <= coverage(found, bars.covariance, 12) <= 0.97
    assert bars.unobservable.shape == (24, 0) and bars.observable.all()
    for i, foot in enumerate(bars.feet):
        own = bars.covariance_of(foot)
        assert 0.93 <= coverage(found[:, 6 * i:6 * i + 6], own, 3) <= 0.97
        np.testing.assert_allclose(np.sqrt(np.diag(own)), bars.standard_deviation[i])
    with pytest.raises(UnknownNameError, match='tail'):
        bars.covariance_of('tail')


def test_one_flat_foot_is_seen_whole_and_two_are_not():
    model = RobotModel.from_urdf(TWO_LEGS)
    feet = [FlatFoot(f'{side}_foot', 0.1, -0.1, 0.05, -0.05) for side in 'lr']
    motion = walking(model, np.array([0.0, -0.4, -0.9] * 2))
    solver = ContactInverseDynamics(model, feet)
    bars = solver.uncertainty(motion, NOISE, in_contact=[True, False])
    assert bars.observable.all() and bars.unobservable.shape == (12, 0)
    assert not bars.standard_deviation[1].any()
    found = errors(solver, motion, 1500, in_contact=[True, False])
    assert 0.93 <= coverage(found, bars.covariance, 6) <= 0.97
    both = solver.uncertainty(motion, NOISE)
    assert both.unobservable.shape == (12, 6) and not both.observable.any()


def test_what_a_missing_sensor_hides_is_said():
    """Without the left leg's torques, and the base's equations in doubt, the left foot is lost."""
    model = RobotModel.from_urdf(TWO_LEGS)
    feet = [PointFoot('l_foot'), PointFoot('r_foot')]
    motion = walking(model, np.array([0.1, -0.4, -0.9] * 2))
    weights = EquationWeights(np.full(6, 1e10), np.full(6, 0.25), prior_force=100.0)
    solver = ContactInverseDynamics(model, feet, weights=weights)
    effort = np.zeros(6)
    effort[[model.joint_names.index(name) for name in ('l_hip_x', 'l_hip_y', 'l_knee')]] = np.nan
    bars = solver.uncertainty(motion, NOISE, effort=effort)
    assert bars.unobservable.shape == (12, 3)
    assert bars.observable[1, :3].all() and not bars.observable[0, :3].any()
    assert np.isinf(bars.standard_deviation[0, :3]).all()


def test_noise_that_is_none_is_refused():
    with pytest.raises(ConfigurationError, match='velocity: expected standard deviations'):
        MotionNoise(velocity=-1.0)
    with pytest.raises(ConfigurationError, match='position: expected one value or 12'):
        ContactInverseDynamics(QUADRUPED, CONFIGURED.feet).uncertainty(
            walking(QUADRUPED, NOMINAL), MotionNoise(position=np.ones(3)))
    with pytest.raises(ConfigurationError, match='variances above 0'):
        ContactInverseDynamics(QUADRUPED, CONFIGURED.feet,
                               weights=EquationWeights(np.zeros(6), np.ones(12)))
    with pytest.raises(ConfigurationError, match='6 base and 12 joint'):
        ContactInverseDynamics(QUADRUPED, CONFIGURED.feet,
                               weights=EquationWeights(np.ones(6), np.ones(6)))


def dense(model, feet, motion, effort, weights, down, guess=None):
    """Return wrenches and efforts by weighted least squares of all equations at once."""
    at, free = Contacts(model, feet, motion, down), inverse_dynamics(model, motion)
    known = ~np.isnan(effort)
    rows = np.vstack([at.grasp, at.jacobian.T[known], np.eye(at.n)])
    prior = np.where(at.moments, weights.prior_moment, weights.prior_force)
    start = np.zeros(at.n) if guess is None else at.coordinates(guess)
    right = np.concatenate([free.base_wrench, (free.joint_effort - effort)[known], start])
    deviation = np.concatenate([np.sqrt(weights.base), np.sqrt(weights.joint[known]), prior])
    w = np.linalg.lstsq(rows / deviation[:, None], right / deviation, rcond=None)[0]
    return at.wrenches(w), free.joint_effort - at.jacobian.T @ w, free.base_wrench - at.grasp @ w


@pytest.mark.parametrize('kinds', ['pppp', 'ffff', 'pfpf'])
def test_measured_torque_is_weighed_as_dense_algebra_does(kinds):
    """Legs share joints here, and some torques are missing."""
    model, feet = four_feet(kinds)
    rng = np.random.default_rng(2)
    weights = EquationWeights(rng.uniform(1.0, 9.0, 6), rng.uniform(0.1, 1.0, 8), 300.0, 30.0)
    solver = ContactInverseDynamics(model, feet, weights=weights)
    motions, efforts, downs = [], [], []
    for stance in range(16):
        down = np.array([bool(stance >> k & 1) for k in range(4)])
        motion, effort = motion_of(model, stance), 20.0 * rng.normal(size=8)
        effort[rng.random(8) < 0.2] = np.nan
        guess = 10.0 * rng.normal(size=(4, 6)) if stance % 2 else None
        found = solver.solve(motion, effort=effort, in_contact=down, guess=guess)
        wrench, free, residual = dense(model, feet, motion, effort, weights, down, guess)
        size = max(np.abs(residual).max(), np.abs(wrench).max())
        np.testing.assert_allclose(found.wrench, wrench, atol=1e-9 * size)
        np.testing.assert_allclose(found.joint_effort, free, atol=1e-9 * size)
        np.testing.assert_allclose(found.root_residual, residual, atol=1e-9 * size)
        motions, efforts, downs = [*motions, motion], [*efforts, effort], [*downs, down]
    batch = solver.batch(*(np.array([getattr(m, name) for m in motions]) for name in (
        'position', 'velocity', 'acceleration')), np.array([m.base.packed() for m in motions]),
        np.array(efforts), in_contact=np.array(downs))
    one = solver.solve(motions[6], effort=efforts[6], in_contact=downs[6])
    np.testing.assert_allclose(batch[6].wrench, one.wrench, rtol=1e-9, atol=1e-9)


def test_a_waist_that_both_legs_hang_on():
    """Both feet bear on the waist: its equation ties them together."""
    waist = """<joint name="waist" type="revolute"><parent link="base"/><child link="pelvis"/>
      <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="30" velocity="10"/></joint>
      <link name="pelvis"><inertial><mass value="2"/>
      <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    model = RobotModel.from_urdf(TWO_LEGS.replace('</robot>', waist + '</robot>').replace(
        '<parent link="base"/><child link="l_hip"/>',
        '<parent link="pelvis"/><child link="l_hip"/>').replace(
        '<parent link="base"/><child link="r_hip"/>',
        '<parent link="pelvis"/><child link="r_hip"/>'))
    weights = EquationWeights(np.full(6, 4.0), np.full(7, 0.2))
    motion, effort = motion_of(model, 0), np.linspace(-5.0, 5.0, 7)
    for feet in ([PointFoot('l_foot', 0.01), PointFoot('r_foot')],
                 [FlatFoot('l_foot', 0.1, -0.1, 0.1, -0.1), PointFoot('r_foot')]):
        solver = ContactInverseDynamics(model, feet, weights=weights)
        for down in ([True, True], [False, True]):
            found = solver.solve(motion, effort=effort, in_contact=down)
            wrench, _, _ = dense(model, feet, motion, effort, weights, down)
            np.testing.assert_allclose(found.wrench, wrench, atol=1e-9 * np.abs(wrench).max())


def test_measured_torque_of_a_wrong_shape_is_refused():
    weights = EquationWeights(np.ones(6), np.ones(12))
    solver = ContactInverseDynamics(QUADRUPED, CONFIGURED.feet, weights=weights)
    with pytest.raises(MeasurementError, match='expected 12 joint torques'):
        solver.solve(walking(QUADRUPED, NOMINAL), effort=np.zeros(11))
    whole = solver.solve(walking(QUADRUPED, NOMINAL), effort=[1] * 12)
    assert np.isfinite(whole.wrench).all()
