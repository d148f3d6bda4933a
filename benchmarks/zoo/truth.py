# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""True wrenches of the ground on the feet, with where they act and the ground's normal there."""
from __future__ import annotations

import mujoco
import numpy as np


def ground_wrenches(model: mujoco.MjModel, data: mujoco.MjData, sites: np.ndarray,
                    radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """
    Return what the ground does to each foot; the state must have been through mj_forward.

    Parameters
    ----------
    sites : (nf,) array of int
        At the feet's frames.
    radius : float
        Of point feet [m].

    Returns
    -------
    wrench : (nf, 6) array
        At the contact point, simulation axes.
    point, normal : (nf, 3) array
        Means over the foot's contacts by normal force; without contact the foot's bottom, and up.
    load : (nf,) array
        Normal force [N].

    """
    n = len(sites)
    force, point, normal, load = (np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)),
                                  np.zeros(n))
    parts: list[tuple[int, np.ndarray, np.ndarray]] = []
    local = np.zeros(6)
    bodies = model.site_bodyid[sites].tolist()
    for k in range(data.ncon):
        contact = data.contact[k]
        mujoco.mj_contactForce(model, data, k, local)
        first, second = model.geom_bodyid[contact.geom].tolist()
        i = bodies.index(second) if second in bodies else (
            bodies.index(first) if first in bodies else -1)
        if local[0] <= 0.0 or i < 0:
            continue
        axes = contact.frame.reshape(3, 3)
        sign = 1.0 if bodies[i] == second else -1.0
        f = sign * (local[:3] @ axes)
        parts.append((i, contact.pos.copy(), f))
        force[i] += f
        point[i] += local[0] * contact.pos
        normal[i] += local[0] * sign * axes[0]
        load[i] += local[0]
    down = load > 0.0
    point[down] /= load[down, None]
    normal[down] /= np.linalg.norm(normal[down], axis=1)[:, None]
    point[~down] = data.site_xpos[sites][~down] - [0.0, 0.0, radius]
    normal[~down] = [0.0, 0.0, 1.0]
    moment = np.zeros((n, 3))
    if parts:
        feet, places, forces = (np.array(column) for column in zip(*parts))
        np.add.at(moment, feet, np.cross(places - point[feet], forces))
    return np.hstack([force, moment]), point, normal, load


def ground_forces(model: mujoco.MjModel, data: mujoco.MjData, feet: dict[int, int]) -> np.ndarray:
    """
    Return the (nf, 3) forces of the ground alone, simulation axes.

    Parameters
    ----------
    feet : dict of int to int
        Numbers of the feet by the bodies that they belong to.

    """
    force, local = np.zeros((len(feet), 3)), np.zeros(6)
    bodies = model.geom_bodyid
    for k in range(data.ncon):
        contact = data.contact[k]
        first, second = contact.geom
        i, sign = feet.get(int(bodies[second]), -1), 1.0
        if i < 0:
            i, sign = feet.get(int(bodies[first]), -1), -1.0
        if i >= 0:
            mujoco.mj_contactForce(model, data, k, local)
            force[i] += sign * (local[:3] @ contact.frame.reshape(3, 3))
    return force
