# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Wall reactions and body acceleration as affine maps of the hips' rest positions, at one state.

Source 003, (30)-(35) and (45)-(57), in the corrected form. With d_i the limb's end in body axes,
``R`` the body's rotation on (x, y), W_i the effect of a hip force on the foot through the limb's
own acceleration, and sel the first two rows::

    F_r,i = a_i + C_i r_i + S_i rdot_i           xdd = G + sum_i ( H_i r_i + T_i rdot_i )

    L_i = R (K d_i + B ddot_i)                   N_i = -R K            P_i = -R B       (42)-(44)
    W_i = -M_fq M_qq^-1 J_i^T                    X_i = M_b^-1 (1 + d_i~ R^T)
    C_i = (W_i + sel) N_i                        S_i = (W_i + sel) P_i                  (32), (47)
    G = g + sum X_i L_i                          H_i = X_i N_i         T_i = X_i P_i    (53)-(55)

The arm is d_i, which does not depend on r_i: the maps are exact in all three components of r_i.
State and rates are frozen: these are statements for an instant, on the time scale of the limbs'
own inertia, and not laws of load sharing.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.stickybot.model.limb import hip_deflection, limb_terms
from legged_dynamics.stickybot.model.machine import LIMB, WORK, make_workspace
from legged_dynamics.stickybot.model.parts import Limb
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import RestPosition, StickybotState


@dataclass(frozen=True, eq=False)
class AffineMaps:
    """
    The maps at one state, in wall axes; rows of feet off the wall are zero.

    Attributes
    ----------
    a : (N, 2) array [N]
        ``a_i`` (46): reaction at r = rdot = 0 (inner joints at rest angle 0).
    C, S : (N, 2, 3) array [N/m, N/m, N/rad] and [N s/m, N s/m, N s/rad]
        ``C_i`` (32) and ``S_i`` (47).
    G : (3,) array [m/s^2, rad/s^2]
        (53).
    H, T : (N, 3, 3) array
        (54), (55).
    C_joint, S_joint : tuple of (2, links - 1) arrays [N/rad, N s/rad]
        The same for the rest angles of each limb's inner joints.

    """

    a: np.ndarray
    C: np.ndarray
    S: np.ndarray
    G: np.ndarray
    H: np.ndarray
    T: np.ndarray
    C_joint: tuple[np.ndarray, ...]
    S_joint: tuple[np.ndarray, ...]

    def reaction(self, rest: RestPosition, model: StickybotModel) -> np.ndarray:
        """Return ``a + C r + S rdot`` (45), (N, 2) [N]."""
        u, ud = rest.packed(model)
        r, rd = u[model.hip_columns], ud[model.hip_columns]
        force = self.a + np.einsum('ijk,ik->ij', self.C, r) + np.einsum('ijk,ik->ij', self.S, rd)
        at = 0
        for i, (C, S) in enumerate(zip(self.C_joint, self.S_joint)):
            inner = model.inner_columns[at:at + C.shape[1]]
            force[i] += C @ u[inner] + S @ ud[inner]
            at += C.shape[1]
        return force

    def acceleration(self, rest: RestPosition, model: StickybotModel) -> np.ndarray:
        """Return ``G + sum H r + T rdot`` (52), (3,) [m/s^2, rad/s^2]."""
        u, ud = rest.packed(model)
        return (self.G + np.einsum('ijk,ik->j', self.H, u[model.hip_columns])
                + np.einsum('ijk,ik->j', self.T, ud[model.hip_columns]))


def affine_maps(model: StickybotModel, state: StickybotState) -> AffineMaps:
    """
    Return the affine maps of a state.

    Raises
    ------
    MeasurementError
        When the state does not fit the model.

    """
    z, v, attached = state.packed(model)
    n = model.n_limbs
    c, s = math.cos(z[2]), math.sin(z[2])
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    inverse_mass = 1.0 / np.array([model.body.mass, model.body.mass, model.body.inertia])
    a, C, S = np.zeros((n, 2)), np.zeros((n, 2, 3)), np.zeros((n, 2, 3))
    H, T = np.zeros((n, 3, 3)), np.zeros((n, 3, 3))
    G = np.array([*model.wall.in_plane, 0.0])
    joints = []
    work = make_workspace(model.machine)
    for i, limb in enumerate(model.limbs):
        start, links = model.machine.index[i, LIMB.start], model.machine.index[i, LIMB.n_links]
        limb_terms(*model.machine, work, i, z, v)
        d = np.array(hip_deflection(c, s, z, v, work))
        L = R @ (limb.stiffness @ d[:3] + limb.damping @ d[3:])
        N, P = -R @ limb.stiffness, -R @ limb.damping
        arm = R[:2, :2] @ d[:2]
        X = inverse_mass[:, None] * np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0],
                                              [-arm[1], arm[0], 1.0]])
        G += X @ L
        H[i], T[i] = X @ N, X @ P
        springs = np.array([link.stiffness for link in limb.links[1:]])
        dampers = np.array([link.damping for link in limb.links[1:]])
        if not attached[i]:
            joints.append((np.zeros((2, links - 1)), np.zeros((2, links - 1))))
            continue
        # Lower triangle only: rows of joints, columns of the foot's position.
        M_fq = work[2:2 + links, WORK.mass_matrix:WORK.mass_matrix + 2].T
        M_qq = np.tril(work[2:2 + links, WORK.mass_matrix + 2:WORK.mass_matrix + 2 + links])
        M_qq = M_qq + np.tril(M_qq, -1).T
        by_force = np.linalg.solve(M_qq, M_fq.T).T
        J = np.column_stack([work[2:2 + links, WORK.jacobian:WORK.jacobian + 2], np.ones(links)])
        W = np.eye(2, 3) - by_force @ J
        servo = np.zeros(links)
        servo[1:] = (-springs * z[start + 3:start + 2 + links]
                     - dampers * v[start + 3:start + 2 + links])
        a[i] = (by_force @ (servo - work[2:2 + links, WORK.bias]) + work[:2, WORK.bias] + W @ L)
        C[i], S[i] = W @ N, W @ P
        joints.append((by_force[:, 1:] * springs, by_force[:, 1:] * dampers))
    return AffineMaps(a, C, S, G, H, T, tuple(pair[0] for pair in joints),
                      tuple(pair[1] for pair in joints))


def reaction_by_turn(maps: AffineMaps) -> np.ndarray:
    """Return dF_r,i / dr_phi,i = C_i e_3 (48), (N, 2) [N/rad]."""
    return maps.C[:, :, 2].copy()


def reaction_by_turn_size(model: StickybotModel) -> np.ndarray:
    """
    Return |dF_r,i / dr_phi,i| (49), (N,) [N/rad], of feet on the wall.

    ``m c / A_i k_phi`` with c the distance of the rod's centre from the foot: for the source's
    uniform rod ``(L/2)(m_i/A_i) k_phi = 3 k_phi / (2 L)``, whatever the pose.

    Raises
    ------
    ModelError
        When a limb has several links or a hip couples its directions: see (48) then.

    """
    return np.array([_turn_lever(limb, limb.stiffness) * limb.stiffness[2, 2]
                     for limb in model.limbs])


def reaction_by_turn_rate(maps: AffineMaps) -> np.ndarray:
    """Return dF_r,i / drdot_phi,i = S_i e_3 (50), (N, 2) [N s/rad]."""
    return maps.S[:, :, 2].copy()


def reaction_by_turn_rate_size(model: StickybotModel) -> np.ndarray:
    """Return |dF_r,i / drdot_phi,i| (51), (N,) [N s/rad]; as (49) with b_phi."""
    return np.array([_turn_lever(limb, limb.damping) * limb.damping[2, 2]
                     for limb in model.limbs])


def acceleration_by_turn(maps: AffineMaps) -> np.ndarray:
    """Return dxdd / dr_phi,i = H_i e_3 (56), (N, 3): (0, 0, -k_phi/I_cg)."""
    return maps.H[:, :, 2].copy()


def acceleration_by_turn_rate(maps: AffineMaps) -> np.ndarray:
    """Return dxdd / drdot_phi,i = T_i e_3 (57), (N, 3): (0, 0, -b_phi/I_cg)."""
    return maps.T[:, :, 2].copy()


def _turn_lever(limb: Limb, matrix: np.ndarray) -> float:
    if len(limb.links) != 1 or matrix[:2, 2].any():
        raise ModelError(f'limb {limb.name!r}: expected one link, and a hip whose angle is not '
                         'coupled with x and y. Otherwise the size depends on the pose: take the '
                         'norm of the gradient.')
    rod = limb.links[0]
    return rod.mass * rod.center / (rod.mass * rod.center ** 2 + rod.inertia)
