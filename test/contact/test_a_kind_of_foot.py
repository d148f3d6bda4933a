# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A kind of foot that the package does not know: a class, and everything takes it."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from contact_oracles import LENGTH, motion_of, nearest
from over_time_reference import swing
from robots import random_robot, random_state

from legged_dynamics.contact import (
    ContactInverseDynamics,
    ContactInverseDynamicsOverTime,
    ContactLimits,
    OverTimeWeights,
)
from legged_dynamics.dynamics import (
    BaseMotion,
    Motion,
    frame_jacobian,
    frame_poses,
    inverse_dynamics,
    mass_matrix,
)
from legged_dynamics.force_map import ConstrainedForceMap, FrictionCone, contact_inequalities
from legged_dynamics.model import LineFoot, PointFoot
from legged_dynamics.model.feet import FORCES, MOMENT, ContactRow, Foot

ARM = 0.03      # of the friction that holds a pad against turning [m]


@dataclass(frozen=True)
class Pad(Foot):
    """A soft pad: a force, and a moment about its own z axis, by friction."""

    link: str
    kind: ClassVar[str] = 'pad'
    rows: ClassVar[tuple[ContactRow, ...]] = (*FORCES, ContactRow(MOMENT, 2, in_foot=True))

    def press_rows(self, coefficient):
        """Return rows of a moment up to that of friction at an arm."""
        return np.array([[0.0, 0.0, coefficient * ARM, s] for s in (1.0, -1.0)])


FEET = [Pad('link4'), LineFoot('link5', 0.1, -0.06), Pad('link6'), PointFoot('link7', 0.02)]


def test_rows_that_nothing_understands_are_refused():
    turning = ContactRow(MOMENT, 2)
    for rows, plane in ((FORCES[:2], False), ((*FORCES, turning), False),
                        ((turning, *FORCES), False),
                        ((*FORCES, turning._replace(in_foot=True)), True),
                        ((*FORCES, *[turning._replace(in_foot=True)] * 2), False)):
        with pytest.raises(TypeError, match='Odd: expected the rows FORCES, then moments about'):
            type('Odd', (Foot,), {'rows': rows, 'plane': plane})


def contacts(model, feet, q, up):
    """Return the dense map to the base's wrench, and to each wrench in its foot's frame."""
    poses, grasp, into, rows = frame_poses(model, q), [], [], []
    for foot in feet:
        pose = poses[foot.link]
        arm = pose.R @ foot.center - foot.radius * up
        axes = [(np.eye(3)[k], np.zeros(3)) for k in range(3)]
        axes += [(np.zeros(3), pose.R[:, row.axis]) for row in foot.rows[3:]]
        grasp += [np.concatenate([f, m + np.cross(pose.p + arm, f)]) for f, m in axes]
        into.append(np.column_stack([np.concatenate([pose.R.T @ f, pose.R.T @ (
            m + np.cross(arm, f))]) for f, m in axes]))
        J = frame_jacobian(model, q, foot.link)
        rows += [f @ (J[:3] + np.cross(J[3:], arm, axis=0)) + m @ J[3:] for f, m in axes]
    return np.array(grasp).T, into, np.array(rows)


def wrenches(into, w):
    parts = np.split(w, np.cumsum([part.shape[1] for part in into])[:-1])
    return np.array([part @ x for part, x in zip(into, parts)])


@pytest.mark.parametrize('seed', [1, 2])
def test_an_instant_is_that_of_dense_matrices(seed):
    model = random_robot(11, 8)
    motion = motion_of(model, seed)
    found = ContactInverseDynamics(model, FEET).solve(motion)
    grasp, into, _ = contacts(model, FEET, motion.position, np.array([0.0, 0.0, 1.0]))
    b = inverse_dynamics(model, motion).base_wrench
    kinds = np.concatenate([[row.kind == MOMENT for row in foot.rows] for foot in FEET])
    w, rank = nearest(grasp, b, np.zeros(len(kinds)), np.where(kinds, 1.0, LENGTH ** 2))
    assert found.rank == rank == 6
    np.testing.assert_allclose(found.wrench, wrenches(into, w), atol=1e-8 * np.abs(b).max())
    assert np.abs(found.wrench[[0, 2], 5]).min() > 1e-3      # the pads do hold against turning


def test_over_time_each_frame_is_an_instant_without_smoothing_and_keeps_limits():
    model = random_robot(11, 8)
    motion = swing(model, 8, 4)
    solver = ContactInverseDynamicsOverTime(model, FEET)
    alone = ContactInverseDynamics(model, FEET)
    found = solver.solve(motion, weights=OverTimeWeights(smoothing=0.0))
    for t in range(len(motion)):
        one = alone.solve(motion.instant(t), ground_normal=motion.base_rotation[t, 2])
        size = np.abs(one.wrench).max()
        np.testing.assert_allclose(found.wrench[t], one.wrench, atol=1e-9 * size)
    within = solver.solve(motion, limits=ContactLimits(FrictionCone(0.8)))
    for i in (0, 2):
        for t in range(len(motion)):
            R = motion.base_rotation[t] @ frame_poses(model, motion.position[t])[FEET[i].link].R
            up, turning = R[2] @ within.wrench[t, i, :3], within.wrench[t, i, 5]
            assert abs(turning) <= 0.8 * ARM * up + 1e-6 * np.abs(within.wrench).max()


def test_friction_of_an_instant_keeps_its_rows():
    model, cone = random_robot(11, 8), FrictionCone(0.6)
    feet = [Pad(f'link{i}') for i in (4, 5, 6, 7)]
    checked = 0
    for seed in range(8):
        motion = motion_of(model, seed, 0.0)
        motion = Motion(motion.position, 0.0 * motion.velocity, motion.acceleration,
                        BaseMotion(proper_acceleration=[0.5, -0.3, 9.7]))
        found = ContactInverseDynamics(model, feet, friction=cone).solve(motion)
        poses = frame_poses(model, motion.position)
        for foot, wrench in zip(feet, found.wrench):
            w = np.append(poses[foot.link].R @ wrench[:3], wrench[5])
            A, b = contact_inequalities(cone, foot, np.eye(3))
            assert (A @ w - b).min() > -1e-7 * 9.81 * model.total_mass
            checked += (A @ w - b).min() < 1e-6
    assert checked > 2


def test_its_force_map_is_that_of_the_dense_equations():
    model = random_robot(11, 8)
    q = random_state(model, 1)[0]
    feet = [FEET[0], FEET[3]]
    _, _, J = contacts(model, feet, q, np.array([0.0, 0.0, 1.0]))
    M = mass_matrix(model, q)
    matrix = -np.linalg.solve(J @ np.linalg.solve(M, J.T),
                              J @ np.linalg.solve(M, np.eye(len(M))[:, 6:]))
    found = ConstrainedForceMap(model, feet).compute(q, np.zeros(model.nv))
    np.testing.assert_allclose(found.matrix, matrix, atol=1e-7 * np.abs(matrix).max())
