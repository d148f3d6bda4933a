# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""State, Jacobians and inertia of a robot whose legs have as many joints as their feet carry."""
from __future__ import annotations

import mujoco
import numpy as np

from legged_dynamics.exceptions import SimulationError

DAMPING = 1e-5     # m^2


class Body:
    """
    Reads what a controller needs out of MuJoCo.

    Legs have three joints (point feet) or six (soles); rows of a foot are its force's three and,
    for a sole, its moment's three. Contact points lie `radius` below the feet's frames.

    Parameters
    ----------
    model : mujoco.MjModel
    data : mujoco.MjData
    feet : sequence of str
        Sites.
    base : str
    rows : int
        3 or 6.
    radius : float [m]

    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, feet: tuple[str, ...],
                 base: str, rows: int, radius: float):
        self.model, self.data, self.rows, self.radius = model, data, rows, radius
        self.base = model.body(base).id
        self.sites = np.array([model.site(foot).id for foot in feet])
        joints = model.actuator_trnid[:, 0]
        self.dofs, self.qpos = model.jnt_dofadr[joints], model.jnt_qposadr[joints]
        free = model.body_jntadr[self.base]
        self.free_qpos, self.free = model.jnt_qposadr[free], model.jnt_dofadr[free]
        self.motors = [self._motors_of(site, joints) for site in self.sites]
        self._feet = np.arange(len(feet))[:, None, None]
        self._rows = np.arange(rows)[None, :, None]
        self._leg_dofs = self.dofs[np.array(self.motors)][:, None, :]
        self.mass = float(model.body_subtreemass[self.base])
        self.J = np.zeros((len(feet), rows, model.nv))
        self.drift = np.zeros((len(feet), rows))
        self.M = np.zeros((model.nv, model.nv))
        self.read()
        turning = slice(self.free + 3, self.free + 6)
        self.inertia = self.M[turning, turning].copy()

    def _motors_of(self, site: int, joints: np.ndarray) -> np.ndarray:
        chain, body = [], self.model.site_bodyid[site]
        while body != 0:
            chain.append(body)
            body = self.model.body_parentid[body]
        found = np.flatnonzero(np.isin(self.model.jnt_bodyid[joints], chain))
        found = found[len(found) - min(self.rows, len(found)):]     # a waist above them is held
        if len(found) != self.rows:
            raise SimulationError(f'expected {self.rows} motors in the leg of '
                                  f'{self.model.site(site).name}, got {len(found)}')
        return found

    def read(self) -> None:
        """Take over the state, which must have been through mj_forward."""
        model, data = self.model, self.data
        qvel = data.qvel
        self.R = data.xmat[self.base].reshape(3, 3).copy()
        self.position = data.qpos[self.free_qpos:self.free_qpos + 3].copy()
        self.velocity = qvel[self.free:self.free + 3].copy()
        self.omega = self.R @ qvel[self.free + 3:self.free + 6]
        mujoco.mj_subtreeVel(model, data)
        self.com = data.subtree_com[self.base].copy()
        self.com_velocity = data.subtree_linvel[self.base].copy()
        self.foot = data.site_xpos[self.sites].copy()
        self.foot_R = data.site_xmat[self.sites].reshape(-1, 3, 3).copy()
        self.contact_point = self.foot - [0.0, 0.0, self.radius]
        self.q, self.dq = data.qpos[self.qpos], qvel[self.dofs]
        self.bias = data.qfrc_bias - data.qfrc_passive
        mujoco.mj_fullM(model, data, self.M)
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        for i, site in enumerate(self.sites):
            body = model.site_bodyid[site]
            mujoco.mj_jac(model, data, linear, angular, self.contact_point[i], body)
            self.J[i, :3], self.J[i, 3:] = linear, angular[:self.rows - 3]
            mujoco.mj_jacDot(model, data, linear, angular, self.contact_point[i], body)
            self.drift[i, :3] = linear @ qvel
            self.drift[i, 3:] = (angular @ qvel)[:self.rows - 3]
        # A leg's own Jacobian inverted, damped where the leg is straight.
        J = self.J[self._feet, self._rows, self._leg_dofs]
        J_T = J.transpose(0, 2, 1)
        self.inverse = J_T @ np.linalg.inv(J @ J_T + DAMPING * np.eye(self.rows))

    def joint_motion(self, foot: int, wanted: np.ndarray, base: np.ndarray) -> np.ndarray:
        """Return the leg's joint rates that move its foot so, the base moving by (6,)."""
        return self.inverse[foot] @ (wanted
                                     - self.J[foot][:, self.free:self.free + 6] @ base)
