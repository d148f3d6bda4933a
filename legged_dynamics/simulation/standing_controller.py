# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The stand-in for the own controller of a robot on flat feet: it holds its joints, and stands."""
from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.simulation.plant import TrotSettings
from legged_dynamics.simulation.quadruped_controller import JointTargets

LENGTH = 0.1    # m: that arm of a moment on a sole counts as much as its force


class StandingController:
    """
    Holds the joints where they were when it took over, by joint PD and the torque of standing.

    The gains are those of a loaded leg; a robot whose ankles are stiffer than its weight times its
    height stays up.

    Parameters
    ----------
    model : mujoco.MjModel
        Model whose motors are the joints.
    data : mujoco.MjData
        State, which must have been through mj_forward.
    joints, feet : sequence of str
        Joints in the order of the motors; sites at the soles.
    base : str
        Link with the free joint.
    settings : TrotSettings
        Joint gains.

    Attributes
    ----------
    height : float
        Of the base above the soles at the start [m].

    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, *, joints: Sequence[str],
                 feet: Sequence[str], base: str, settings: TrotSettings):
        self._model, self._data, self._settings = model, data, settings
        self._body = model.body(base).id
        free = model.jnt_dofadr[model.body_jntadr[self._body]]
        self._free = slice(free, free + 6)
        self._dofs = np.array([model.joint(name).dofadr[0] for name in joints])
        self._qpos = np.array([model.joint(name).qposadr[0] for name in joints])
        self._sites = [model.site(foot).id for foot in feet]
        self.height = data.xpos[self._body][2] - min(data.site_xpos[self._sites, 2])
        self.reset()

    def reset(self) -> None:
        """Hold the joints where they are now."""
        n = len(self._dofs)
        self._targets = JointTargets(
            position=self._data.qpos[self._qpos], velocity=np.zeros(n), effort=self._standing(),
            stiffness=np.full(n, self._settings.stance_stiffness),
            damping=np.full(n, self._settings.stance_damping))

    def update(self, time_step: float, behaviour: str) -> JointTargets:
        """Return the drives' targets: whatever the behaviour, it stands."""
        return self._targets

    def _standing(self) -> np.ndarray:
        """Return the torques of standing, with the least forces and moments on the soles."""
        model, data = self._model, self._data
        J = np.zeros((len(self._sites), 2, 3, model.nv))
        for jacobian, site in zip(J, self._sites):
            mujoco.mj_jacSite(model, data, jacobian[0], jacobian[1], site)
        J[:, 1] /= LENGTH
        J = J.reshape(-1, model.nv)
        n = len(J)
        wrenches = GroundForceProblem.prior(np.zeros(n), np.ones(n)).with_rows(
            J[:, self._free].T, data.qfrc_bias[self._free]).solve().mean
        return data.qfrc_bias[self._dofs] - wrenches @ J[:, self._dofs]
