# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The equations of motion of many instants at once, and their regressor.

With the base's proper acceleration in the place of gravity, the wrench on the base and the joint
efforts are ``Y(motion) pi``: linear in the ten inertial parameters of each body (mass, first
moment of mass, inertia about the body's origin; Atkeson, An and Hollerbach 1986). The ground's
forces f enter as ``G f`` on the base and ``J^T f`` on the joints.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.diagnosis.identification.samples import Samples
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    N_FOOT_STATE,
    FeetTable,
    contact_jacobians,
    contact_map,
    contact_points,
    unit,
)
from legged_dynamics.dynamics.kinematics import (
    ACCELERATION,
    ALPHA,
    FORCE,
    OMEGA,
    POSITION,
    ROTATION,
    body_workspace,
    forward_kinematics,
)
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.model import parts as layout
from legged_dynamics.model.parts import PARENT, PRISMATIC, V_START
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    cross,
    dot,
    load3,
    rotate,
    rotate_back,
    subtract,
    symmetric_times,
    z_axis,
)
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import get3, get9, put3

N_INERTIAL = 10     # mass, mass times centre of mass, inertia about the origin (xx xy xz yy yz zz)


class Motion(NamedTuple):
    """Motion of n instants."""

    q: np.ndarray       # (n, nv)
    v: np.ndarray       # (n, nv)
    a: np.ndarray       # (n, nv)
    # (n, 9): angular velocity, angular and proper acceleration of the base, base axes
    base: np.ndarray
    normal: np.ndarray  # (n, 3): of the ground, base axes


class Equations(NamedTuple):
    """Both sides of the equations of motion of n instants, in base axes."""

    # (n, 6) [N, N m]: wrench on the base that the motion requires, about the base's origin
    wrench: np.ndarray
    # (n, nv) [N m or N]: joint efforts that the motion requires without ground forces
    effort: np.ndarray
    jacobian: np.ndarray  # (n, nc, nv): joint part of the contacts' Jacobian
    grasp: np.ndarray  # (n, 6, nc): from contact forces to the wrench on the base
    points: np.ndarray  # (n, nf, 3) [m]: contact points

    @property
    def required(self) -> np.ndarray:
        """What the motion requires of base and joints, (n, 6 + nv)."""
        return np.hstack([self.wrench, self.effort])

    def unexplained(self, samples: Samples) -> np.ndarray:
        """Return what the motion requires of base and joints less measured efforts, if any."""
        return np.hstack([self.wrench, self.effort - np.where(samples.has_effort, samples.effort,
                                                              0.0)])

    @property
    def of_forces(self) -> np.ndarray:
        """How contact forces enter it, (n, 6 + nv, nc)."""
        return np.concatenate([self.grasp, self.jacobian.transpose(0, 2, 1)], axis=1)

    def by_foot(self, values: np.ndarray) -> np.ndarray:
        """Return each foot's forces (n, nf, 3, ...) out of contact coordinates (n, nc, ...)."""
        n, feet = self.points.shape[:2]
        return values.reshape(n, feet, -1, *values.shape[2:])[:, :, :3]

    def foot_motion(self, samples: Samples) -> tuple[np.ndarray, np.ndarray]:
        """Return the contact points' velocity (n, nf, 3) and height over the base (n, nf)."""
        speed = np.einsum('nfij,nj->nfi', self.by_foot(self.jacobian), samples.velocity)
        return (speed + np.cross(samples.base[:, None, :3], self.points),
                np.einsum('nfi,ni->nf', self.points, samples.up))


@kernel
def _equations(tree, feet, motion, bodies, states, out):
    """Fill `Equations` from a `Motion`: inverse dynamics and contact kinematics."""
    for n in range(motion.q.shape[0]):
        newton_euler(tree, motion.q[n], motion.v[n], motion.a[n], motion.base[n], bodies,
                     out.effort[n])
        for k in range(6):
            out.wrench[n, k] = bodies[0, FORCE + k]
        contact_points(feet, bodies, load3(motion.normal[n], 0), states)
        contact_jacobians(tree, feet, bodies, states, out.jacobian[n])
        contact_map(feet, states, out.grasp[n])
        for i in range(feet.index.shape[0]):
            put3(out.points[n], i, 0, get3(states, i, CONTACT))


@kernel
def _regressor(tree, q, v, a, base, bodies, Y):
    """
    Fill the regressor of inertial parameters Y (N, 6 + nv, 10 nb), base wrench first.

    ``base`` (N, 9): angular velocity, angular and proper acceleration, base axes.
    """
    topology, nb = tree.topology, tree.topology.shape[0]
    for n in range(q.shape[0]):
        forward_kinematics(tree, q[n], v[n], a[n], base[n], bodies)
        for i in range(nb):
            R, p = get9(bodies, i, ROTATION), get3(bodies, i, POSITION)
            w = rotate_back(R, get3(bodies, i, OMEGA))
            alpha = rotate_back(R, get3(bodies, i, ALPHA))
            acc = rotate_back(R, get3(bodies, i, ACCELERATION))
            for k in range(N_INERTIAL):
                # Columns of a body: mass, first moment h (unit vectors e) and inertia I about its
                # origin (unit matrices E), of the force m a + alpha x h + w x (w x h) and the
                # moment h x a + I alpha + w x I w.
                f, m = acc, ZERO
                if 0 < k < 4:
                    e = unit(k - 1)
                    f = add(cross(alpha, e), cross(w, cross(w, e)))
                    m = cross(e, acc)
                elif k > 3:
                    E = (1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0, 1.0 if k == 6 else 0.0,
                         1.0 if k == 7 else 0.0, 1.0 if k == 8 else 0.0, 1.0 if k == 9 else 0.0)
                    f = ZERO
                    m = add(symmetric_times(E, alpha), cross(w, symmetric_times(E, w)))
                f_B, m_B = rotate(R, f), rotate(R, m)
                column = N_INERTIAL * i + k
                arm = cross(p, f_B)
                for r in range(3):
                    Y[n, r, column] = f_B[r]
                    Y[n, 3 + r, column] = m_B[r] + arm[r]
                b = i
                while b > 0:
                    z = z_axis(get9(bodies, b, ROTATION))
                    row = 6 + topology[b, V_START]
                    if topology[b, layout.JOINT] == PRISMATIC:
                        Y[n, row, column] = dot(z, f_B)
                    else:
                        lever = cross(subtract(p, get3(bodies, b, POSITION)), f_B)
                        Y[n, row, column] = dot(z, add(m_B, lever))
                    b = topology[b, PARENT]


def motion_equations(model: RobotModel, feet: FeetTable, samples: Samples) -> Equations:
    """Return the equations of all samples."""
    n, nv, nf, nc = len(samples.time), model.nv, len(feet.index), feet.size
    out = Equations(np.zeros((n, 6)), np.zeros((n, nv)), np.zeros((n, nc, nv)),
                    np.zeros((n, 6, nc)), np.zeros((n, nf, 3)))
    motion = Motion(*(np.ascontiguousarray(x, float) for x in (
        samples.position, samples.velocity, samples.acceleration, samples.base, samples.up)))
    _equations(model.tree, feet, motion, body_workspace(model), np.zeros((nf, N_FOOT_STATE)), out)
    return out


def regressor(model: RobotModel, samples: Samples) -> np.ndarray:
    """Return the regressor of all samples (n, 6 + nv, 10 nb), base wrench first."""
    q, v, a, base = (np.ascontiguousarray(x, float) for x in (
        samples.position, samples.velocity, samples.acceleration, samples.base))
    Y = np.zeros((len(q), 6 + model.nv, N_INERTIAL * model.n_bodies))
    _regressor(model.tree, q, v, a, base, body_workspace(model), Y)
    return Y
