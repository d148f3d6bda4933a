# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where the climbing robot is, how it moves, and where its actuators hold hips and joints."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.stickybot.model.limb import limb_terms
from legged_dynamics.stickybot.model.machine import LIMB, make_workspace
from legged_dynamics.stickybot.model.robot import StickybotModel


def fitting(values: object, shape: tuple[int, ...], what: str) -> np.ndarray:
    """
    Return values as a float array of that shape.

    Raises
    ------
    MeasurementError
        When the shape is another one or a value is not finite.

    """
    array = np.array(values, dtype=float)
    if array.shape != shape:
        raise MeasurementError(f'expected {what} of shape {shape}, got shape {array.shape}')
    if not np.isfinite(array).all():
        raise MeasurementError(f'expected finite {what}, got {array.tolist()}')
    return array


@dataclass(frozen=True, eq=False)
class StickybotState:
    """
    Pose and motion of body and limbs in wall axes (x right, y up the slope).

    Attributes
    ----------
    pose : (3,) array [m, m, rad]
        Position of the body's centre of mass and the body's angle.
    velocity : (3,) array [m/s, m/s, rad/s]
    foot : (N, 2) array [m]
    joint : (nq,) array [rad]
        For each limb its first link's angle from the wall's x axis, foot to hip, then each
        further link's angle against the one before it.
    joint_velocity : (nq,) array [rad/s]
    foot_velocity : (N, 2) array [m/s], optional
        At rest unless given; a foot on the wall rests.
    attached : (N,) array of bool, optional
        Feet on the wall; all unless given.

    """

    pose: np.ndarray
    velocity: np.ndarray
    foot: np.ndarray
    joint: np.ndarray
    joint_velocity: np.ndarray
    foot_velocity: np.ndarray | None = None
    attached: np.ndarray | None = None

    def packed(self, model: StickybotModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return coordinates z (nz,), rates v (nz,) and attached (N,).

        Raises
        ------
        MeasurementError
            When an array does not fit the model, is not finite, or a foot on the wall moves.

        """
        n = model.n_limbs
        z, v = np.zeros(model.nz), np.zeros(model.nz)
        z[:3] = fitting(self.pose, (3,), 'a body pose')
        v[:3] = fitting(self.velocity, (3,), 'a body velocity')
        z[model.foot_columns] = fitting(self.foot, (n, 2), 'foot positions')
        z[model.joint_columns] = fitting(self.joint, (model.n_joints,), 'joint angles')
        v[model.joint_columns] = fitting(self.joint_velocity, (model.n_joints,), 'joint rates')
        attached = np.ones(n, bool) if self.attached is None else np.array(self.attached, bool)
        if attached.shape != (n,):
            raise MeasurementError(f'expected {n} flags of attached feet, got shape '
                                   f'{attached.shape}')
        if self.foot_velocity is not None:
            v[model.foot_columns] = fitting(self.foot_velocity, (n, 2), 'foot velocities')
            if np.any(v[model.foot_columns][attached]):
                raise MeasurementError('expected feet on the wall to rest, got the velocities '
                                       f'{v[model.foot_columns][attached].tolist()} m/s')
        return z, v, attached

    @classmethod
    def unpacked(cls, model: StickybotModel, z: np.ndarray, v: np.ndarray, attached: np.ndarray
                 ) -> StickybotState:
        """Return the state of coordinates z, rates v and flags."""
        return cls(z[:3].copy(), v[:3].copy(), z[model.foot_columns], z[model.joint_columns],
                   v[model.joint_columns], v[model.foot_columns], attached.copy())


@dataclass(frozen=True, eq=False)
class RestPosition:
    """
    Where the actuators hold hips and inner joints.

    Attributes
    ----------
    hip : (N, 3) array [m, m, rad]
        ``r``: rest position of each limb's end in body axes, and its angle against the body.
    hip_rate : (N, 3) array [m/s, m/s, rad/s], optional
        Zero unless given.
    joint, joint_rate : (nq - N,) array [rad, rad/s], optional
        Of the inner joints, limb after limb; the model's bends and zero unless given.

    """

    hip: np.ndarray
    hip_rate: np.ndarray | None = None
    joint: np.ndarray | None = None
    joint_rate: np.ndarray | None = None

    def packed(self, model: StickybotModel) -> tuple[np.ndarray, np.ndarray]:
        """
        Return rest positions u (nz - 3,) and their rates.

        Raises
        ------
        MeasurementError
            When an array does not fit the model or is not finite.

        """
        n, inner = model.n_limbs, model.n_inner_joints
        u, ud = np.zeros(model.nz - 3), np.zeros(model.nz - 3)
        u[model.hip_columns] = fitting(self.hip, (n, 3), 'hip rest positions')
        u[model.inner_columns] = (model.bends if self.joint is None else
                                  fitting(self.joint, (inner,), 'joint rest angles'))
        if self.hip_rate is not None:
            ud[model.hip_columns] = fitting(self.hip_rate, (n, 3), 'rates of hip rest positions')
        if self.joint_rate is not None:
            ud[model.inner_columns] = fitting(self.joint_rate, (inner,),
                                              'rates of joint rest angles')
        return u, ud

    @classmethod
    def nominal(cls, model: StickybotModel) -> RestPosition:
        """Return the model's own rest positions."""
        return cls(model.rest)


def unloaded_state(model: StickybotModel, pose: np.ndarray | None = None,
                   rest: RestPosition | None = None) -> StickybotState:
    """
    Return the state at rest in which no spring is deflected, all feet on the wall.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    pose : (3,) array, optional [m, m, rad]
        The origin unless given.
    rest : RestPosition, optional
        The model's own unless given.

    """
    z = np.zeros(model.nz)
    z[:3] = np.zeros(3) if pose is None else fitting(pose, (3,), 'a body pose')
    u, _ = (rest or RestPosition.nominal(model)).packed(model)
    c, s = np.cos(z[2]), np.sin(z[2])
    work = make_workspace(model.machine)
    for i in range(model.n_limbs):
        n, start = model.machine.index[i, LIMB.n_links], model.machine.index[i, LIMB.start]
        r = u[start - 3:start]
        bends = u[start:start + n - 1]
        z[start + 2] = z[2] + r[2] - bends.sum()
        z[start + 3:start + 2 + n] = bends
        limb_terms(*model.machine, work, i, z, np.zeros(model.nz))
        hip = np.array([c * r[0] - s * r[1], s * r[0] + c * r[1]])
        z[start:start + 2] = z[:2] + hip - work[-1, :2]
    return StickybotState.unpacked(model, z, np.zeros(model.nz), np.ones(model.n_limbs, bool))
