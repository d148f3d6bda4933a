# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stage 2, workspace dynamics: the body's inertia and bias while the feet stand still.

``P_1 Vdot_1 + z_1 = F_1``, in the body's axes, holds the legs' inertia and weight. Two ways there:
the paper's *big base* (3.12)-(3.20), which makes the feet a million times heavier than the body,
and the exact one, which roots every leg at its foot.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.reproductions.planar.robot import (
    JOINTS_PER_LEG,
    LINK,
    PlanarRobot,
    PlanarState,
    adjoint_of_joint,
    bracket,
    gravity_and_spin,
    hinge,
    inboard,
)
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add,
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    load9,
    norm,
    rotate,
    rotate_back,
    scale,
    store3,
    store9,
    subtract,
    transpose,
)
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.layout import offsets

# -------------------------------------------------------------------------------------------------
# Stage 1, velocity propagation (3.5)-(3.9): from the body to the feet.


class MotionColumns(NamedTuple):
    """Columns of ``LinkMotion.links``, a row a link, link axes."""

    angle: int = 1          # rad, about +y in the inertial frame
    adjoint: int = 9        # A_ii^io (3.6), by rows
    hinge: int = 3          # H_io
    twist: int = 3          # V_io (3.7) [m/s, rad/s]
    drift: int = 3          # a_i (3.8) [m/s^2, rad/s^2]
    load: int = 3           # b_io (3.9) [N, N m]
    width: int = 0


MOTION = offsets(MotionColumns())


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """
    What the velocity propagation found, one row a link, in link axes.

    Attributes
    ----------
    links : (n, 22) array
        All of it, as the kernels of the later stages read it.

    """

    links: np.ndarray

    @property
    def angle(self) -> np.ndarray:
        """Orientation of each link about +y in the inertial frame, (n,) [rad]."""
        return self.links[:, MOTION.angle]

    @property
    def adjoint(self) -> np.ndarray:
        """``A_ii^io`` (3.6): twists of the inboard link into the link's axes, (n, 3, 3)."""
        return self.links[:, MOTION.adjoint:MOTION.hinge].reshape(-1, 3, 3)

    @property
    def hinge(self) -> np.ndarray:
        """``H_io``: twist of the link at one rad/s of its joint, (n, 3)."""
        return self.links[:, MOTION.hinge:MOTION.twist]

    @property
    def twist(self) -> np.ndarray:
        """``V_io`` (3.7): body velocity of each link, (n, 3) [m/s, rad/s]."""
        return self.links[:, MOTION.twist:MOTION.drift]

    @property
    def drift(self) -> np.ndarray:
        """``a_i`` (3.8): acceleration by motion alone, (n, 3) [m/s^2, rad/s^2]."""
        return self.links[:, MOTION.drift:MOTION.load]

    @property
    def load(self) -> np.ndarray:
        """``b_io`` (3.2), (3.9): gravity and spin, ``M Vdot + b = F``, (n, 3) [N, N m]."""
        return self.links[:, MOTION.load:]


@lean_kernel
def propagate_velocity(parent, constants, pose, twist, position, velocity, gravity, links):
    """
    Fill the rows of all links: (3.1), (3.2) for the body, (3.5)-(3.9) outboard of it.

    ``pose`` in inertial axes, ``twist`` in body axes; ``gravity`` [m/s^2] downwards.
    """
    body, V = links[0], load3(twist, 0)
    body[MOTION.angle] = pose[2]
    store9(body, MOTION.adjoint, IDENTITY)
    store3(body, MOTION.hinge, ZERO)
    store3(body, MOTION.twist, V)
    store3(body, MOTION.drift, ZERO)                                         # (3.1)
    load = gravity_and_spin(constants[0, LINK.mass], pose[2], V, gravity)
    store3(body, MOTION.load, load)                                          # (3.2)
    for i in range(1, parent.shape[0]):
        part, link, inner = constants[i], links[i], links[parent[i]]
        link[MOTION.angle] = inner[MOTION.angle] + position[i - 1]           # (3.5), its rotation
        A = adjoint_of_joint(position[i - 1], part[LINK.in_x], part[LINK.in_z],
                             part[LINK.out_x], part[LINK.out_z])
        H = hinge(part[LINK.out_x], part[LINK.out_z])
        carried, rate = rotate(A, load3(inner, MOTION.twist)), velocity[i - 1]
        V = add_scaled(carried, rate, H)                                     # (3.7)
        a = bracket((-rate * H[0], -rate * H[1], -rate * H[2]), carried)     # (3.8)
        store9(link, MOTION.adjoint, A)                                      # (3.6)
        store3(link, MOTION.hinge, H)
        store3(link, MOTION.twist, V)
        store3(link, MOTION.drift, a)
        load = gravity_and_spin(part[LINK.mass], link[MOTION.angle], V, gravity)
        store3(link, MOTION.load, load)                                      # (3.9)


def velocity_propagation(robot: PlanarRobot, state: PlanarState,
                         gravity: float = GRAVITY) -> LinkMotion:
    """
    Run stage 1: orientation, velocity, Coriolis acceleration and load of every link.

    (3.8) is used in closed form, ``a_i = -ad_(H thd) A V_ii``. In (3.9) the multiplier is the
    link's total angular rate; the inboard link's, as printed, errs by some newtons at 1 rad/s.
    """
    if len(state.position) != robot.n_joints:
        raise MeasurementError(f'expected {robot.n_joints} joint angles, '
                               f'got {len(state.position)}')
    links = np.empty((robot.n_links, MOTION.width))
    propagate_velocity(robot.parent, robot.constants, state.pose, state.twist, state.position,
                       state.velocity, gravity, links)
    return LinkMotion(links)


# -------------------------------------------------------------------------------------------------
# Stage 2, workspace dynamics (3.12)-(3.20), and its exact form.

BIG_BASE = 1e6      # (3.14): mass of a foot, in masses of the body


@dataclass(frozen=True, eq=False)
class WorkspaceDynamics:
    """
    Dynamics of the body: ``inertia Vdot_1 + bias = F_1``.

    Attributes
    ----------
    inertia : (3, 3) array
        ``P_1`` [kg, kg m, kg m^2].
    bias : (3,) array
        ``z_1`` [N, N m].
    condition : float
        Largest condition number of a leg's Jacobian (Frobenius norms, metres and radians): above
        some hundreds the knee is nearly straight. NaN in big-base mode, which does not form it.
    rates : (n, 3) array or None
        Row i turns the body's velocity into the rate of joint i while the feet stand still, and
        that joint's torque into a wrench on the body: ``thd = rates V_1``, ``F_1 = rates^T tau``.
        None in big-base mode.

    """

    inertia: np.ndarray
    bias: np.ndarray
    condition: float
    rates: np.ndarray | None


@lean_kernel
def _reduce_big_base(parent, constants, links, size, articulated):
    """
    Fill the articulated inertia P and bias z of every link: (3.12)-(3.20).

    The feet are set *after* (3.12)-(3.13): in the printed order the approximation is lost. The
    printed (3.19), (3.20) must accumulate on the inboard link's own P and z.
    """
    n = parent.shape[0]
    for j in range(n):
        m = constants[j, LINK.mass]
        store9(articulated[j], 0, (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, constants[j, LINK.inertia]))
        store3(articulated[j], 9, load3(links[j], MOTION.load))              # (3.12), (3.13)
    for i in range(n - 1, 0, -1):
        outer, inner = articulated[i], articulated[parent[i]]
        leaf = True
        for j in range(i + 1, n):
            leaf &= parent[j] != i
        if leaf:
            m = size * constants[0, LINK.mass]
            store9(outer, 0, (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0,
                              size * constants[0, LINK.inertia]))            # (3.14)
            store3(outer, 9, (0.0, 0.0, 0.0))                                # (3.15)
        A, H = load9(links[i], MOTION.adjoint), load3(links[i], MOTION.hinge)
        a = load3(links[i], MOTION.drift)
        P, z = load9(outer, 0), load3(outer, 9)
        D = dot(H, rotate(P, H))                                             # (3.16)
        PH = rotate_back(P, H)
        # L = (1 - K P) A with K = H D^-1 H^T: row r of K P is H[r] / D times P^T H.
        KP = (H[0] * PH[0] / D, H[0] * PH[1] / D, H[0] * PH[2] / D,
              H[1] * PH[0] / D, H[1] * PH[1] / D, H[1] * PH[2] / D,
              H[2] * PH[0] / D, H[2] * PH[1] / D, H[2] * PH[2] / D)          # (3.17)
        L = compose((1.0 - KP[0], -KP[1], -KP[2], -KP[3], 1.0 - KP[4], -KP[5],
                     -KP[6], -KP[7], 1.0 - KP[8]), A)                        # (3.18)
        added = compose(transpose(L), compose(P, A))                         # (3.19)
        for k in range(9):
            inner[k] += added[k]
        store3(inner, 9, add(load3(inner, 9),
                             rotate_back(L, add(z, rotate(P, a)))))          # (3.20)


@lean_kernel
def reduce_exact(parent, constants, links, rates, workspace):
    """
    Fill P_1 and z_1 with the feet fixed, and ``rates``; return the worst condition.

    From each foot, ``V_k = J_k thd``, ``Vdot_k = J_k thdd + c_k``: a leg adds
    ``J^-T M J^-1`` and ``J^-T (h - M J^-1 c)``. ``workspace`` (12,): P_1, z_1, body axes.
    """
    m = constants[0, LINK.mass]
    P = (m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, constants[0, LINK.inertia])
    z = load3(links[0], MOTION.load)
    worst = 1.0
    for foot in range(parent.shape[0] - 1, 0, -1):
        leaf = True
        for j in range(foot + 1, parent.shape[0]):
            leaf &= parent[j] != foot
        if not leaf:
            continue
        zero = (0.0, 0.0, 0.0)
        J = (zero, zero, zero)          # columns, by the joints from the foot inwards
        M, h, c = (zero, zero, zero), zero, zero
        link, joints = foot, 0
        while link > 0:
            A, H = load9(links[link], MOTION.adjoint), load3(links[link], MOTION.hinge)
            J = (inboard(A, J[0]), inboard(A, J[1]), inboard(A, J[2]))
            new = inboard(A, scale(-1.0, H))
            J = (new if joints == 0 else J[0], new if joints == 1 else J[1],
                 new if joints == 2 else J[2])
            joints += 1
            c = inboard(A, subtract(c, load3(links[link], MOTION.drift)))
            link = parent[link]
            if link > 0:
                mass, inertia = constants[link, LINK.mass], constants[link, LINK.inertia]
                b = load3(links[link], MOTION.load)
                load = (mass * c[0] + b[0], mass * c[1] + b[1], inertia * c[2] + b[2])
                h = (h[0] + dot(J[0], load), h[1] + dot(J[1], load), h[2] + dot(J[2], load))
                W0 = (mass * J[0][0], mass * J[0][1], inertia * J[0][2])
                W1 = (mass * J[1][0], mass * J[1][1], inertia * J[1][2])
                W2 = (mass * J[2][0], mass * J[2][1], inertia * J[2][2])
                M = (add(M[0], (dot(J[0], W0), dot(J[0], W1), dot(J[0], W2))),
                     add(M[1], (dot(J[1], W0), dot(J[1], W1), dot(J[1], W2))),
                     add(M[2], (dot(J[2], W0), dot(J[2], W1), dot(J[2], W2))))
        # Rows of J^-1 are the reciprocal basis of J's columns.
        volume = dot(J[0], cross(J[1], J[2]))
        R0 = scale(1.0 / volume, cross(J[1], J[2]))
        R1 = scale(1.0 / volume, cross(J[2], J[0]))
        R2 = scale(1.0 / volume, cross(J[0], J[1]))
        size = norm((norm(J[0]), norm(J[1]), norm(J[2])))
        # Not max(): a singular leg's NaN must come through.
        condition = size * norm((norm(R0), norm(R1), norm(R2)))
        worst = worst if condition <= worst else condition
        link = foot
        store3(rates[link], 0, R0)
        store3(rates[parent[link]], 0, R1)
        store3(rates[parent[parent[link]]], 0, R2)
        thdd = (dot(R0, c), dot(R1, c), dot(R2, c))
        h = (h[0] - dot(M[0], thdd), h[1] - dot(M[1], thdd), h[2] - dot(M[2], thdd))
        z = add_scaled(add_scaled(add_scaled(z, h[0], R0), h[1], R1), h[2], R2)
        inverse = (R0[0], R0[1], R0[2], R1[0], R1[1], R1[2], R2[0], R2[1], R2[2])
        mass_matrix = (M[0][0], M[0][1], M[0][2], M[1][0], M[1][1], M[1][2],
                       M[2][0], M[2][1], M[2][2])
        share = compose(transpose(inverse), compose(mass_matrix, inverse))
        P = (P[0] + share[0], P[1] + share[1], P[2] + share[2], P[3] + share[3], P[4] + share[4],
             P[5] + share[5], P[6] + share[6], P[7] + share[7], P[8] + share[8])
    store9(workspace, 0, P)
    store3(workspace, 9, z)
    return worst


def workspace_dynamics_big_base(robot: PlanarRobot, motion: LinkMotion,
                                size: float = BIG_BASE) -> WorkspaceDynamics:
    """
    Run stage 2 as the paper has it: articulated-body inertias with heavy feet, (3.12)-(3.20).

    A foot has ``size`` times the body's inertia (3.14); the relative error is ``3e-3 / size`` of
    truncation and ``1e-16 size`` of round-off.
    """
    if not size > 0.0:
        raise ConfigurationError(f'expected a size of the base above zero, got {size!r}')
    articulated = np.empty((robot.n_links, 12))
    _reduce_big_base(robot.parent, robot.constants, motion.links, size, articulated)
    return WorkspaceDynamics(articulated[0, :9].reshape(3, 3), articulated[0, 9:], np.nan, None)


def workspace_dynamics(robot: PlanarRobot, motion: LinkMotion) -> WorkspaceDynamics:
    """Run stage 2 exactly, legs rooted at their feet; condition inf or NaN at a straight knee."""
    rates, workspace = np.zeros((robot.n_links, JOINTS_PER_LEG)), np.empty(12)
    condition = reduce_exact(robot.parent, robot.constants, motion.links, rates, workspace)
    return WorkspaceDynamics(workspace[:9].reshape(3, 3), workspace[9:], condition, rates)
