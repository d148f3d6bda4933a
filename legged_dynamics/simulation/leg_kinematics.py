# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Positions, Jacobians and torques of the legs, for the simulated robot's own controller."""
from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from legged_dynamics.exceptions import SimulationError

DAMPING = 1e-5  # m^2, keeps a resolved-rate step finite at a straight knee


class LegKinematics:
    """
    Reads a quadruped's legs out of MuJoCo's state.

    Parameters
    ----------
    model : mujoco.MjModel
        Model in which every foot hangs on exactly three motors.
    data : mujoco.MjData
        State at the standing pose, after mj_forward; read again at every :meth:`read`.
    feet : sequence of str
        Sites at the feet.
    base : str
        Link with the free joint.

    Attributes
    ----------
    R_WB : (3, 3) array
        Base axes in world axes.
    base_position, base_velocity, angular_velocity : (3,) array
        Of the base's origin, world axes [m, m/s, rad/s].
    centre_of_mass : (3,) array
        Of the whole robot, world axes [m].
    foot_position : (nf, 3) array
        World axes [m].
    jacobian : (nf, 3, 3) array
        Foot velocity, world axes, by the foot's own motors.
    position, bias : (nj,) array
        Joint angles [rad]; torques of gravity, motion and viscous friction [N m]; motor order.
    mass, base_inertia : float, (3, 3) array
        Total mass [kg]; inertia of the whole standing robot, base axes [kg m^2].

    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, feet: Sequence[str],
                 base: str):
        self._model, self._data = model, data
        self._body = model.body(base).id
        free, joints = model.body_jntadr[self._body], model.actuator_trnid[:, 0]
        self._free_qpos, self._free_dofs = model.jnt_qposadr[free], model.jnt_dofadr[free]
        self._qpos, self._dofs = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._sites = np.array([model.site(foot).id for foot in feet])
        self._foot_bodies = model.site_bodyid[self._sites]
        self._motors = np.array([self._motors_of(site, joints) for site in self._sites])
        legs = self._dofs[self._motors]
        self._leg_rows, self._leg_columns = legs[:, :, None], legs[:, None, :]
        self._feet = np.arange(len(feet))
        self._each_foot, self._each_axis = self._feet[:, None, None], np.arange(3)[:, None]
        self._damping = DAMPING * np.eye(3)
        self._jacobians = np.zeros((len(feet), 3, model.nv))
        self._jacobian_rate = np.zeros((3, model.nv))
        self._mass_matrix = np.zeros((model.nv, model.nv))
        self._drift = np.zeros((len(feet), 3))
        self.mass = float(model.body_subtreemass[self._body])
        self.read(np.zeros(len(feet), dtype=bool))
        turning = slice(self._free_dofs + 3, self._free_dofs + 6)
        self.base_inertia = self._mass_matrix[turning, turning].copy()

    def _motors_of(self, site: int, joints: np.ndarray) -> np.ndarray:
        chain, body = [], self._model.site_bodyid[site]
        while body != 0:
            chain.append(body)
            body = self._model.body_parentid[body]
        motors = np.flatnonzero(np.isin(self._model.jnt_bodyid[joints], chain))
        if len(motors) != 3:
            raise SimulationError(f'expected three motors between the base and '
                                  f'{self._model.site(site).name}, got {len(motors)}')
        return motors

    def read(self, swinging: np.ndarray) -> None:
        """
        Take over the state, which must have been through mj_forward.

        Parameters
        ----------
        swinging : (nf,) array of bool
            Feet that will be asked to accelerate; the others count as fixed.

        """
        model, data = self._model, self._data
        qpos, qvel = data.qpos, data.qvel
        twist = qvel[self._free_dofs:self._free_dofs + 6]
        self.R_WB = data.xmat[self._body].reshape(3, 3).copy()
        self.base_position = qpos[self._free_qpos:self._free_qpos + 3].copy()
        self.base_velocity = twist[:3].copy()
        self.angular_velocity = self.R_WB @ twist[3:]
        self.centre_of_mass = data.subtree_com[self._body].copy()
        self.foot_position = data.site_xpos[self._sites]
        self.position = qpos[self._qpos]
        self.bias = (data.qfrc_bias - data.qfrc_passive)[self._dofs]
        mujoco.mj_fullM(model, data, self._mass_matrix)
        self._leg_inertia = self._mass_matrix[self._leg_rows, self._leg_columns]
        for foot in self._feet:
            mujoco.mj_jacSite(model, data, self._jacobians[foot], None, self._sites[foot])
        self.jacobian = self._jacobians[self._each_foot, self._each_axis, self._leg_columns]
        self._carried = self._jacobians[:, :, self._free_dofs:self._free_dofs + 6] @ twist
        self._drift[:] = 0.0
        for foot in self._feet[swinging]:
            mujoco.mj_jacDot(model, data, self._jacobian_rate, None, self.foot_position[foot],
                             self._foot_bodies[foot])
            self._drift[foot] = self._jacobian_rate @ qvel

    def resolve(self, displacement: np.ndarray, velocity: np.ndarray,
                acceleration: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return joint displacements, rates and inertial torques that move the feet so.

        The present motion of the base is taken into account, its acceleration is not.

        Parameters
        ----------
        displacement, velocity, acceleration : (nf, 3) array
            Of the feet, world axes [m, m/s, m/s^2].

        Returns
        -------
        step, rate, effort : (nj,) array
            In motor order [rad, rad/s, N m].

        """
        J, J_T = self.jacobian, self.jacobian.transpose(0, 2, 1)
        wanted = np.empty_like(J)
        wanted[:, :, 0] = displacement
        wanted[:, :, 1] = velocity - self._carried
        wanted[:, :, 2] = acceleration - self._drift
        solved = J_T @ np.linalg.solve(J @ J_T + self._damping, wanted)
        solved[:, :, 2:] = self._leg_inertia @ solved[:, :, 2:]
        joints = np.zeros((3, len(self._dofs)))
        joints[:, self._motors] = solved.transpose(2, 0, 1)
        return joints[0], joints[1], joints[2]

    def torque_of(self, force: np.ndarray) -> np.ndarray:
        """Return ``J^T f`` of forces (nf, 3) on the feet, world axes, in motor order [N m]."""
        torque = np.zeros(len(self._dofs))
        torque[self._motors] = (force[:, None, :] @ self.jacobian)[:, 0]
        return torque

    def per_motor(self, per_foot: np.ndarray) -> np.ndarray:
        """Return values (nf,) of the feet as values (nj,) of the motors that carry them."""
        values = np.zeros(len(self._dofs))
        values[self._motors] = per_foot[:, None]
        return values


def rotation_about_z(angle: float) -> np.ndarray:
    """Return the rotation matrix about the vertical [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_matrix(vector: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a rotation vector [rad]."""
    quaternion, matrix = np.empty(4), np.empty(9)
    angle = float(np.sqrt(vector @ vector))
    axis = vector / angle if angle > 0.0 else np.array([1.0, 0.0, 0.0])
    mujoco.mju_axisAngle2Quat(quaternion, axis, angle)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def rotation_vector(matrix: np.ndarray) -> np.ndarray:
    """Return the rotation vector of a rotation matrix [rad]."""
    quaternion, vector = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(matrix).reshape(9))
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector
