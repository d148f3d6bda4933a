# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The constrained force map of feet that touch along a line."""
import numpy as np
import pytest
from robots import random_robot, random_state

from legged_dynamics.dynamics import (
    BaseMotion,
    Motion,
    frame_jacobian,
    frame_poses,
    inverse_dynamics,
    mass_matrix,
)
from legged_dynamics.force_map import ConstrainedForceMap
from legged_dynamics.model import FlatFoot, LineFoot, PointFoot
from legged_dynamics.spatial.rotations import rotation_from_rpy, skew

FEET = (LineFoot('link4', 0.12, -0.04), PointFoot('link5'), LineFoot('link7', 0.05, -0.05))


def dense_map(model, q, feet):
    """Return offset and matrix at rest, from the dense equations of motion and contact."""
    rows = []
    for foot in feet:
        J, R = frame_jacobian(model, q, foot.link), frame_poses(model, q)[foot.link].R
        force = J[:3] - skew(R @ foot.center) @ J[3:]
        rows.append(np.vstack([force, R[:, 1:2].T @ J[3:]]) if isinstance(foot, LineFoot)
                    else force)
    J, n = np.vstack(rows), 6 + model.nv
    free = inverse_dynamics(model, Motion(q, np.zeros(model.nv), np.zeros(model.nv),
                                          BaseMotion(proper_acceleration=[0.0, 0.0, 9.81])))
    h = np.concatenate([free.base_wrench, free.joint_effort])
    M = mass_matrix(model, q)
    G = J @ np.linalg.solve(M, J.T)
    S = np.eye(n)[:, 6:]
    return (np.linalg.solve(G, J @ np.linalg.solve(M, h)),
            -np.linalg.solve(G, J @ np.linalg.solve(M, S)))


@pytest.mark.parametrize('seed', [1, 2, 3])
@pytest.mark.parametrize('feet', [FEET[:1], FEET[:2], FEET[1:]])
def test_it_agrees_with_the_dense_equations(seed, feet):
    model = random_robot(11, 8)
    q = random_state(model, seed)[0]
    offset, matrix = dense_map(model, q, feet)
    found = ConstrainedForceMap(model, feet).compute(q, np.zeros(model.nv))
    assert found.redundancy is None
    size = np.abs(offset).max()
    np.testing.assert_allclose(found.offset, offset, atol=1e-7 * size)
    np.testing.assert_allclose(found.matrix, matrix, atol=1e-7 * np.abs(matrix).max())
    for foot in feet:
        assert len(found.offset[found.rows(foot.link)]) == 3 + len(foot.moments)


def test_other_axes_turn_forces_and_leave_the_moment_about_the_line():
    model = random_robot(11, 8)
    q = random_state(model, 1)[0]
    feet = (FEET[0], FlatFoot('link7', 0.1, -0.1, 0.1, -0.1))
    found = ConstrainedForceMap(model, feet).compute(q, np.zeros(model.nv))
    R = rotation_from_rpy(np.array([0.3, -0.2, 1.0]))
    turned = found.in_axes(R)
    rows, flat = found.rows('link4'), found.rows('link7')
    np.testing.assert_allclose(turned.offset[rows][:3], R @ found.offset[rows][:3], atol=1e-9)
    np.testing.assert_array_equal(turned.matrix[rows][3], found.matrix[rows][3])
    for part in (flat.start, flat.start + 3):
        np.testing.assert_allclose(turned.offset[part:part + 3],
                                   R @ found.offset[part:part + 3], atol=1e-9)
