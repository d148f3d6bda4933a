# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Feet that hold on a wall: plastic touchdown, reactions, and pads that let go when overloaded."""
from __future__ import annotations

import mujoco
import numpy as np

from legged_dynamics.simulation.climbing_plant import ClimbingPlant
from legged_dynamics.simulation.climbing_world import ROOT_JOINTS
from legged_dynamics.stickybot.model.adhesion import HOLDS, normal_loads, pad_failure
from legged_dynamics.stickybot.model.machine import FORCE
from legged_dynamics.stickybot.model.state import StickybotState


class WallFeet:
    """
    Switches the feet's point constraints and reads their forces.

    Parameters
    ----------
    plant : ClimbingPlant
        The robot.
    model : mujoco.MjModel
        Of :func:`build_wall_world`; the anchors of its constraints are moved.
    data : mujoco.MjData
        Its state, after mj_forward; all feet take hold where they are.

    Attributes
    ----------
    sites : (N,) int array
        The feet's frames in the model.
    attached : (N,) array of bool
        Feet on the wall.

    """

    def __init__(self, plant: ClimbingPlant, model: mujoco.MjModel, data: mujoco.MjData):
        self._plant, self._model, self._data = plant, model, data
        climber = plant.climber
        self.sites = np.array([model.site(foot).id for foot in plant.feet])
        self._grips = np.array([model.equality(foot).id for foot in plant.feet])
        self._wall = model.body('wall').id
        self._root = np.array([model.joint(name).qposadr[0] for name in ROOT_JOINTS])
        self._root_dofs = np.array([model.joint(name).dofadr[0] for name in ROOT_JOINTS])
        joints = [model.joint(name) for name in plant.joints]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dofs = np.array([joint.dofadr[0] for joint in joints])
        n = climber.n_limbs
        self.attached = np.zeros(n, bool)
        self._pads = None if plant.pads is None else [pad.packed() for pad in plant.pads]
        self._pad_angles, self._normals = np.zeros(n), np.zeros(n)
        self._z, self._forces = np.zeros(climber.nz), np.zeros((n, FORCE.width))
        self._balance = np.array([climber.body.height, climber.wall.normal])
        for i in range(n):
            self.hold(i)

    @property
    def R_WA(self) -> np.ndarray:
        """Axes of the wall in world axes, (3, 3)."""
        return self._data.xmat[self._wall].reshape(3, 3)

    @property
    def limited(self) -> bool:
        """Whether the pads have limits."""
        return self._pads is not None

    @property
    def state(self) -> StickybotState:
        """The state as the planar equations have it; needs mj_forward or mj_kinematics."""
        climber, data = self._plant.climber, self._data
        z = self._coordinates()
        v = np.zeros(climber.nz)
        v[:3] = data.qvel[self._root_dofs]
        v[climber.joint_columns] = self._plant.limbs.link_rates(data.qvel[self._dofs], v[2])
        for i in np.flatnonzero(~self.attached):
            v[climber.foot_columns[i]] = (self._foot_jacobian(i) @ data.qvel)[:2]
        return StickybotState.unpacked(climber, z, v, self.attached)

    def hold(self, i: int) -> None:
        """
        Fix foot i to the wall where it is, by a plastic impact.

        The impact changes all rates by ``-M^-1 J^T (J M^-1 J^T)^-1 J v``, which leaves the foot at
        rest; springs and dampers transmit none of it.
        """
        model, data = self._model, self._data
        grip = self._grips[i]
        model.eq_data[grip, 3:6] = data.site_xpos[self.sites[i]]
        if not self.attached[i]:
            J = self._foot_jacobian(i)[:2]
            inverse = np.zeros((2, model.nv))
            mujoco.mj_solveM(model, data, inverse, J)
            data.qvel[:] -= inverse.T @ np.linalg.solve(J @ inverse.T, J @ data.qvel)
        data.eq_active[grip] = True
        self.attached[i] = True
        if self._pads is not None:
            direction = self._plant.pads[i].direction       # type: ignore[index]
            self._pad_angles[i] = data.qpos[self._root[2]] + (direction or 0.0)

    def let_go(self, i: int) -> None:
        """Take foot i off the wall."""
        self._data.eq_active[self._grips[i]] = False
        self.attached[i] = False

    def reactions(self) -> np.ndarray:
        """Return the wall's force on each foot, (N, 3) [N], wall axes, of the last dynamics."""
        data = self._data
        force = np.zeros((self._model.neq, 3))
        # Each constraint has three rows; its force acts on the foot.
        force[data.efc_id[:data.ne:3]] = data.efc_force[:data.ne].reshape(-1, 3)
        return force[self._grips] @ self.R_WA

    def overloaded(self) -> tuple[int, int]:
        """Return the first foot whose pad does not hold any more, and how; else (-1, HOLDS)."""
        if self._pads is None:
            return -1, HOLDS
        climber, force = self._plant.climber, self.reactions()
        self._forces[:, FORCE.reaction:FORCE.reaction + 2] = force[:, :2]
        normal_loads(climber.machine, self._balance, self.attached, self._coordinates(),
                     self._forces, self._normals)
        for i in np.flatnonzero(self.attached):
            how = pad_failure(self._pads[i], self._pad_angles[i], force[i, 0], force[i, 1],
                              self._normals[i])
            if how != HOLDS:
                return int(i), how
        return -1, HOLDS

    def _coordinates(self) -> np.ndarray:
        climber, data, z = self._plant.climber, self._data, self._z
        z[:3] = data.qpos[self._root]
        z[climber.foot_columns] = (data.site_xpos[self.sites] @ self.R_WA)[:, :2]
        z[climber.joint_columns] = self._plant.limbs.link_angles(data.qpos[self._qpos], z[2])
        return z

    def _foot_jacobian(self, i: int) -> np.ndarray:
        J = np.zeros((3, self._model.nv))
        mujoco.mj_jacSite(self._model, self._data, J, None, self.sites[i])
        return self.R_WA.T @ J
