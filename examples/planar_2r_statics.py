# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which joint torques push with a given force: a planar arm of two links, ``Q = J^T g``.

A robot at rest that exerts the wrench g on the environment at its end effector does so with the
efforts Q = G + J^T g; G holds the robot against gravity. The wrench of the environment on the
robot is -g, and Q = G - J^T g. Wrench and Jacobian must belong to one point and have the same
axes. Here: two links, two joints, gravity off; the same torques come out of the Jacobian in base
axes, of the one in the end effector's axes, and of the general 3-D functions.

Run: python examples/planar_2r_statics.py
"""
import numpy as np

from legged_dynamics.dynamics import frame_jacobian
from legged_dynamics.model import Inertia, Joint, RobotModel
from legged_dynamics.spatial.frames import Transform


def jacobian(q, l1, l2):
    """Return the (3, 2) Jacobian of [px, py, phi] in base axes."""
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    return np.array([[-l1 * s1 - l2 * s12, -l2 * s12],
                     [l1 * c1 + l2 * c12, l2 * c12],
                     [1.0, 1.0]])


def rotation(angle):
    """Return R_0E of the end effector."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def arm(l1, l2):
    """Return the same arm as a robot model."""
    light = Inertia(1e-3, np.zeros(3), 1e-6 * np.eye(3))
    along = [Transform(np.eye(3), np.array([length, 0.0, 0.0])) for length in (l1, l2)]
    return RobotModel('2r', {'base': Inertia(), 'upper': light, 'lower': light, 'hand': Inertia()},
                      [Joint('q1', 'revolute', 'base', 'upper'),
                       Joint('q2', 'revolute', 'upper', 'lower', along[0]),
                       Joint('tip', 'fixed', 'lower', 'hand', along[1])], base='fixed')


def main():
    """Hold a force on the environment in four ways, and say what the torques are."""
    l1, l2, q = 1.0, 1.0, np.array([0.0, np.pi / 2])
    J_0, R_0E = jacobian(q, l1, l2), rotation(q.sum())
    g_0 = np.array([10.0, 0.0, 0.0])        # N, N, N m: a push along base x, on the environment
    Q = J_0.T @ g_0

    # In the end effector's axes: J_E = [[l1 s2, 0], [l2 + l1 c2, l2], [1, 1]].
    J_E, g_E = R_0E.T @ J_0, R_0E.T @ g_0
    s2, c2 = np.sin(q[1]), np.cos(q[1])
    np.testing.assert_allclose(J_E, [[l1 * s2, 0.0], [l2 + l1 * c2, l2], [1.0, 1.0]], atol=1e-15)
    np.testing.assert_allclose(J_E.T @ g_E, Q, atol=1e-14)
    # Mixed: Jacobian in base axes, wrench in the end effector's.
    np.testing.assert_allclose(J_0.T @ R_0E @ g_E, Q, atol=1e-14)
    # The same arm as a tree of bodies, with a full wrench.
    J = frame_jacobian(arm(l1, l2), q, 'hand')
    wrench = np.array([*g_0[:2], 0.0, 0.0, 0.0, g_0[2]])
    np.testing.assert_allclose(J.T @ wrench, Q, atol=1e-14)

    # The free-body diagrams: Q1 = m + l1 fy - l2 fx, Q2 = m - l2 fx.
    np.testing.assert_allclose(Q, [-l2 * g_0[0] + l1 * g_0[1] + g_0[2], -l2 * g_0[0] + g_0[2]],
                               atol=1e-14)
    print(f'To push the surroundings with {g_0[:2]} N (x, y of the base) the motors give '
          f'Q1 = {Q[0]:.3f}, Q2 = {Q[1]:.3f} N m.')


if __name__ == '__main__':
    main()
