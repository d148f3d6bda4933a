# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A person on two skates or rollers: forces and moments from joint torque and motion."""
from dataclasses import replace

import numpy as np
import pytest
from motions import QUIET, Scene, known_robot, quadruped
from robots import crouching_biped

from legged_dynamics.contact import ContactInverseDynamics
from legged_dynamics.dynamics import BaseMotion, Motion, frame_jacobian, frame_poses
from legged_dynamics.estimation import LegOdometry, Measurement
from legged_dynamics.model import PointFoot, RobotConfig
from legged_dynamics.spatial.rotations import rotation_from_vector, skew

RATE, FEET = 500.0, ('l_foot', 'r_foot')
# Front, back, and the rest that lines do not have [m].
BLADES = [0.16, -0.1, 0.0, 0.0]
RADIUS = 0.06       # of a roller [m]
# Of the weight; what is asked of exact measurements.
EXACT = 5e-4


class Skater:
    """Stands still with the blades level, squeezed and pressed ahead of their middles."""

    def __init__(self, seed, contact=(True, True), kind='line'):
        self.model, self.q = crouching_biped()
        names = self.model.joint_names
        self.q += 0.05 * np.random.default_rng(seed).normal(size=len(names))
        poses = frame_poses(self.model, self.q, FEET)
        self.config = RobotConfig.from_parameters({
            'robot.feet': [f'{foot}_blade' for foot in FEET], 'robot.foot_type': kind,
            'robot.sole': BLADES, 'robot.foot_radius': RADIUS, 'robot.foot_parents': list(FEET),
            # The blade is level where the foot is not.
            'robot.foot_frames': [x for foot in FEET for x in (0.0, 0.0, 0.0, *rpy(
                poses[foot].R.T))],
            'robot.joints': list(names), 'robot.nominal_position': self.q.tolist(),
            'noise.effort': 1e-6, 'noise.velocity': 1e-6, 'noise.position': 1e-9,
            'noise.gyro': 1e-6, 'noise.accelerometer': 1e-6, 'noise.gyro_bias': 1e-9,
            'noise.accelerometer_bias': 1e-9, 'noise.mass': 1e-9, 'noise.center_of_mass': 1e-9})
        self.bare, self.model = self.model, self.config.apply_to(self.model)
        solver = ContactInverseDynamics(self.model, self.config.feet)
        still = np.zeros(self.model.nv)
        motion = Motion(self.q, still, still, BaseMotion(proper_acceleration=[0.0, 0.0, 9.81]))
        guess = np.random.default_rng(seed).normal(size=(2, 6)) * [30.0, 30, 100, 0, 10.0, 0]
        self.truth = solver.solve(motion, in_contact=contact, guess=guess)

    def measurement(self, k):
        return Measurement(
            round(k * 1e9 / RATE), self.q, np.zeros(self.model.nv), self.truth.joint_effort,
            np.zeros(3), np.array([0.0, 0.0, 9.81]), np.array([0.0, 0.0, 0.0, 1.0]))

    @property
    def weight(self):
        return self.model.total_mass * 9.81


def rpy(R):
    """Return roll, pitch and yaw of a rotation."""
    return (float(np.arctan2(R[2, 1], R[2, 2])), float(-np.arcsin(R[2, 0])),
            float(np.arctan2(R[1, 0], R[0, 0])))


@pytest.mark.parametrize('kind', ['line', 'cylinder'])
@pytest.mark.parametrize('seed', [0, 1])
def test_exact_measurements_give_force_and_moment_of_each_blade(seed, kind):
    skater = Skater(seed, kind=kind)
    up = [0.0, 0.0, 1.0]        # of a level foot
    assert np.abs(skater.truth.root_residual).max() < 1e-9 * skater.weight
    about = [w[3:] - np.cross(foot.touching(np.eye(3), up, foot.center), w[:3])
             for foot, w in zip(skater.config.feet, skater.truth.wrench)]
    assert np.abs(about)[:, 1].max() > 1.0           # the truth presses off the middles
    assert np.abs(about)[:, [0, 2]].max() < 1e-9     # and is what a line can bear
    estimator = known_robot(skater.bare, skater.config, {'force_filter.cutoff': 0.0})
    for k in range(40):
        reaction = estimator.update(skater.measurement(k), (True, True))
    np.testing.assert_allclose(reaction.raw_wrench, skater.truth.wrench,
                               atol=EXACT * skater.weight)
    np.testing.assert_allclose(reaction.wrench, skater.truth.wrench, atol=EXACT * skater.weight)
    np.testing.assert_allclose(reaction.base_residual, np.zeros(6), atol=EXACT * skater.weight)
    assert reaction.observable.all()
    # About its middle a blade has no moment but one, so no doubt about the others.
    for foot in skater.config.feet:
        shift = np.eye(6)
        x, y, z = foot.touching(np.eye(3), up, foot.center)
        shift[3:, :3] = -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        about = shift @ reaction.covariance_of(foot.link) @ shift.T
        assert np.abs(about[[3, 5]]).max() < 1e-9 * about[2, 2]
        assert about[4, 4] > 0.0


def test_blades_are_found_to_stand_by_torque_and_without():
    skater = Skater(2)
    for settings in ({}, {'fusion': 'base_only'}):
        estimator = known_robot(skater.bare, skater.config, settings)
        for k in range(200):
            reaction = estimator.update(skater.measurement(k))
        assert reaction.contact.all()
        up = reaction.wrench[:, 2]
        assert up.sum() == pytest.approx(skater.weight, rel=0.02)
        assert (up > 0.1 * skater.weight).all()


def test_a_body_that_moves_over_its_blades_is_followed_by_its_joints():
    """
    Points and pitch of the blades stay, whatever the base does; what blades leave free, happens.

    Two points alone leave the turn about the line through them to be guessed.
    """
    skater = Skater(0)
    odometry = LegOdometry(skater.bare, skater.config)
    points = LegOdometry(skater.bare, replace(skater.config, feet=tuple(
        PointFoot(foot.link) for foot in skater.config.feet)))
    q, dt, unknown = skater.q.copy(), 1.0 / RATE, np.full(3, np.nan)
    R, p = np.eye(3), np.zeros(3)
    for k in range(100):
        twist = np.array([0.05, -0.02, 0.03, 0.04, 0.2, -0.1])
        rows = []
        poses = frame_poses(skater.model, q)
        for foot in skater.config.feet:
            J, R_BF = frame_jacobian(skater.model, q, foot.link), poses[foot.link].R
            rows += [J[:3] - skew(R_BF @ foot.center) @ J[3:], R_BF[:, 1:2].T @ J[3:]]
        J = np.vstack(rows)
        v = np.linalg.lstsq(J[:, 6:], -J[:, :6] @ twist, rcond=None)[0]
        measured = Measurement(round(k * 1e9 / RATE), q, v, None, unknown, unknown,
                               np.full(4, np.nan))
        found, guessed = odometry.update(measured), points.update(measured)
        if k == 0:
            start = found
        np.testing.assert_allclose(found.twist, twist, atol=1e-2 * np.abs(twist).max())
        q, p = q + dt * v, p + R @ twist[:3] * dt
        R = R @ rotation_from_vector(twist[3:] * dt)
    assert np.abs(guessed.twist - twist).max() > 0.1 * np.abs(twist).max()
    moved = start.rotation.T @ (found.position - start.position)
    assert np.linalg.norm(p) > 3e-3
    np.testing.assert_allclose(moved, p, atol=0.05 * np.linalg.norm(p))


def test_a_blade_that_rolls_over_its_edge_does_not_turn_the_body():
    """A line leaves the turns about itself and about the normal free, as a ball all."""
    skater = Skater(0)
    odometry = LegOdometry(skater.bare, skater.config)
    q, rest = skater.q.copy(), np.zeros(skater.model.nv)
    turn = skater.model.joint_names.index('l_ankle_x')
    for k in range(60):
        found = odometry.update(Measurement(
            round(k * 1e9 / RATE), q, rest, None, np.zeros(3), np.array([0.0, 0.0, 9.81]),
            np.array([0.0, 0.0, 0.0, 1.0])), (True, False))
        q[turn] += 1e-3     # it rolls over its edge
    assert found.slips == 0
    assert np.abs(found.rotation - np.eye(3)).max() < 1e-3


@pytest.mark.parametrize('seed', [0, 1])
def test_a_quadruped_on_short_skids_that_moves(seed):
    """
    Three joints a leg cannot see a skid's four numbers: the base's equations tell the rest.

    The skids are not level. A skid is taken to bear on its low end, the truth on its middle.
    """
    skids = {'robot.foot_type': 'line', 'robot.sole': [0.01, -0.01, 0.0, 0.0]}
    scene = Scene(*quadruped(**QUIET, **skids), seed=seed)
    estimator = known_robot(scene.model, scene.config, {'force_filter.cutoff': 0.0})
    for k in range(40):
        reaction = estimator.update(scene.measurement(k), (True,) * 4)
    truth, weight = scene.truth(reaction.stamp_ns * 1e-9)[2], 9.81 * scene.model.total_mass
    np.testing.assert_allclose(reaction.raw_wrench, truth.wrench, atol=0.005 * weight)
    assert np.abs(truth.wrench).max() > 0.2 * weight
