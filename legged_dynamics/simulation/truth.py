# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ground truth of the simulator: foot wrenches, contacts and base motion."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np


@dataclass(frozen=True)
class FootContacts:
    """
    Ground contacts of all feet at one instant.

    Attributes
    ----------
    wrench : (nf, 6) array
        [force; moment] by the ground on the robot, foot axes, about the foot's origin [N, N m].
    contact : (nf,) array of bool
        Whether the ground pushes on the foot.
    point : (nf, 3) array
        Where it does, world axes [m]: the mean of the foot's contact points weighed by normal
        force; NaN without contact.
    stray : int
        Contacts with the ground of anything but a foot.

    """

    wrench: np.ndarray
    contact: np.ndarray
    point: np.ndarray
    stray: int


@dataclass(frozen=True)
class TrueState:
    """
    Exact state, motion and ground contact of the simulated robot at one instant.

    Attributes
    ----------
    stamp_ns : int
        Time [ns], equal to that of the sample of the same instant.
    position, velocity, acceleration : (nj,) array
        Joints, in command order [rad, rad/s, rad/s^2].
    effort, friction : (nj,) array
        Torque of the motors and of dry friction on the joints [N m].
    base_position : (3,) array
        p_WB [m].
    base_orientation : (4,) array
        Quaternion xyzw of R_WB.
    base_velocity : (6,) array
        [linear; angular] of the base's origin, base axes [m/s, rad/s].
    base_acceleration : (6,) array
        Time derivative of the world-axes velocity of the base's origin (gravity not included) and
        of the angular velocity, base axes [m/s^2, rad/s^2].
    feet : FootContacts
        Ground wrenches, contact flags and points of the feet.

    """

    stamp_ns: int
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray
    friction: np.ndarray
    base_position: np.ndarray
    base_orientation: np.ndarray
    base_velocity: np.ndarray
    base_acceleration: np.ndarray
    feet: FootContacts


class ContactTruth:
    """
    Reads true ground wrenches per foot out of any MuJoCo model.

    Ground is every shape fixed to the world: floors, walls, steps.

    Parameters
    ----------
    model : mujoco.MjModel
        Compiled model.
    feet : sequence of str
        Sites at the feet's frames; the shapes of a site's body are that foot's.

    """

    def __init__(self, model: mujoco.MjModel, feet: Sequence[str]):
        self._model = model
        self._sites = np.array([model.site(foot).id for foot in feet])
        self._is_ground = model.body_weldid[model.geom_bodyid] == 0
        self._foot_of_geom = np.full(model.ngeom, -1)
        for index, site in enumerate(self._sites):
            self._foot_of_geom[model.geom_bodyid == model.site_bodyid[site]] = index

    def read(self, data: mujoco.MjData) -> FootContacts:
        """
        Sum the contacts of each foot; ``data`` must have been through mj_forward.

        Parameters
        ----------
        data : mujoco.MjData
            MuJoCo state.

        Returns
        -------
        FootContacts
            Wrenches, contacts and points of the feet.

        """
        n_feet = len(self._sites)
        origin = data.site_xpos[self._sites]
        wrench_W = np.zeros((n_feet, 6))
        weighted_point, weight = np.zeros((n_feet, 3)), np.zeros(n_feet)
        stray = 0
        local = np.zeros(6)
        # One array of each kind for all contacts: the objects of single contacts are slow.
        contacts = data.contact
        frames, points = contacts.frame.reshape(-1, 3, 3), contacts.pos
        for index, (first, second) in enumerate(contacts.geom.tolist()):
            if self._is_ground[first] == self._is_ground[second]:
                continue
            mujoco.mj_contactForce(self._model, data, index, local)
            if local[0] <= 0.0:
                continue
            robot_geom, sign = (second, 1.0) if self._is_ground[first] else (first, -1.0)
            foot = self._foot_of_geom[robot_geom]
            if foot < 0:
                stray += 1
                continue
            # MuJoCo's wrench acts on the second geom, in axes that are the rows of the frame.
            axes = frames[index]
            force = sign * (local[:3] @ axes)
            wrench_W[foot, :3] += force
            wrench_W[foot, 3:] += _cross(points[index] - origin[foot], force)
            wrench_W[foot, 3:] += sign * (local[3:] @ axes)
            weighted_point[foot] += local[0] * points[index]
            weight[foot] += local[0]
        R_WF = data.site_xmat[self._sites].reshape(n_feet, 3, 3)
        wrench_F = (wrench_W.reshape(n_feet, 2, 3) @ R_WF).reshape(n_feet, 6)
        touching = weight > 0.0
        point = np.full((n_feet, 3), np.nan)
        point[touching] = weighted_point[touching] / weight[touching, None]
        return FootContacts(wrench_F, touching, point, stray)


def dry_friction(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return MuJoCo's dry-friction torque on every degree of freedom (nv,) [N m]."""
    torque = np.zeros(model.nv)
    rows = slice(data.ne, data.ne + data.nf)
    torque[data.efc_id[rows]] = data.efc_force[rows]
    return torque


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    # np.cross costs more than the rest of a contact
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                     a[0] * b[1] - a[1] * b[0]])
