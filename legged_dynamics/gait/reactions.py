# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""GaitReactions: ground reactions over a recording, and what follows from them."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.gait.ground_demand import GroundDemand, efforts_under
from legged_dynamics.gait.load_transfer import LEAST_LOAD
from legged_dynamics.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class GaitReactions:
    """
    Ground reactions and joint efforts over a recording.

    Attributes
    ----------
    time : (n,) array [s]
    feet : tuple of str
        Links.
    contact : (n, nf) bool array
        Feet on the ground.
    wrench : (n, nf, 6) array [N, N m]
        Ground on robot, ``[f; m]`` in each foot's axes about its frame's origin.
    force : (n, nf, 3) array [N]
        The same forces in world axes.
    center_of_pressure : (n, nf, 3) array [m]
        Where each foot presses, in the world, at the height of its reference; NaN without load.
    foot_position, foot_rotation : (n, nf, 3), (n, nf, 3, 3) array [m]
        p_WF and R_WF.
    joint_effort : (n, nv) array [N m or N]
        What muscles or motors deliver, in the model's joint order.
    root_residual : (n, 6) array [N, N m]
        Wrench on the base that no foot can explain, in world axes about the base's origin.
    reference : (n, nf, 3) array [m]
        About where the contact moment was made small, in the foot's frame.
    supported : (n,) bool array
        False where the motion can be explained only if something else bears load, too (a seat, a
        hand): what is said of the feet is not to be believed there.

    """

    time: np.ndarray
    feet: tuple[str, ...]
    contact: np.ndarray
    wrench: np.ndarray
    force: np.ndarray
    center_of_pressure: np.ndarray
    foot_position: np.ndarray
    foot_rotation: np.ndarray
    joint_effort: np.ndarray
    root_residual: np.ndarray
    reference: np.ndarray
    supported: np.ndarray


def gait_reactions(model: RobotModel, motion: RecordedMotion, demand: GroundDemand,
                   contact: np.ndarray, wrench: np.ndarray, reference: np.ndarray,
                   supported: np.ndarray) -> GaitReactions:
    """
    Return what follows from wrenches on the feet.

    Parameters
    ----------
    model : RobotModel
        The robot.
    motion : RecordedMotion
        What it does.
    demand : GroundDemand
        What that asks of the ground.
    contact : (n, nf) bool array
        Feet on the ground.
    wrench : (n, nf, 6) array [N, N m]
        In the feet's axes about their frames' origins.
    reference : (n, nf, 3) or (nf, 3) array [m]
        In the feet's frames.
    supported : (n,) bool array
        Where the feet can be all that bears load.

    """
    R_WF, reference = demand.foot_rotation, np.broadcast_to(reference, demand.foot_arm.shape)
    f, m = (np.einsum('nfij,nfj->nfi', R_WF, wrench[..., part])
            for part in (slice(0, 3), slice(3, 6)))
    borne = np.hstack([f.sum(axis=1), (m + np.cross(demand.foot_arm, f)).sum(axis=1)])
    arm = demand.points(reference) - demand.foot_arm
    load = np.where(f[..., 2] > LEAST_LOAD * demand.weight, f[..., 2], np.nan)
    pressed = np.stack([(arm[..., 2] * f[..., 0] - m[..., 1]) / load,
                        (arm[..., 2] * f[..., 1] + m[..., 0]) / load,
                        np.where(np.isnan(load), np.nan, arm[..., 2])], axis=-1)
    position = demand.base_position[:, None] + demand.foot_arm
    return GaitReactions(
        motion.time, tuple(foot.link for foot in demand.feet), contact, wrench, f,
        position + pressed, position, R_WF, efforts_under(model, demand.feet, motion, wrench),
        demand.wrench - borne, np.array(reference), supported)
