# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ground reactions over a recording, and what follows from them: efforts, centres of pressure."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.people.gait.contact_timing import ContactTiming
from legged_dynamics.people.gait.error_bars import force_covariance
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.load_transfer import TRANSFER
from legged_dynamics.people.gait.settings import GaitSettings


@dataclass(frozen=True, eq=False)
class GaitReactions:
    """
    Ground reactions and joint efforts of n instants with nf feet.

    Attributes
    ----------
    time : (n,) array [s]
        Times of the instants.
    feet : tuple of str
        Names of the feet's links.
    contact : (n, nf) bool array
        Feet on the ground.
    wrench : (n, nf, 6) array [N, N m]
        ``[f; m]`` of the ground on each foot, in the foot's axes about its frame's origin.
    force : (n, nf, 3) array [N]
        The same forces in world axes.
    center_of_pressure : (n, nf, 3) array [m]
        Of each foot, in the world, at the height of its reference; NaN without load.
    foot_position, foot_rotation : (n, nf, 3), (n, nf, 3, 3) array [m]
        p_WF and R_WF.
    joint_effort : (n, nv) array [N m or N]
        Of muscles or motors, in the model's joint order.
    root_residual : (n, 6) array [N, N m]
        Wrench on the base that no foot can explain, in world axes about the base's origin.
    reference : (n, nf, 3) array [m]
        Points about which the contact moments were made small, in the feet's frames.
    supported : (n,) bool array
        False where something other than the feet must carry load, a seat or a hand: the forces on
        the feet are wrong there.
    inside_soles : (n,) bool array
        False where the centre of pressure that the motion requires is further outside the stated
        soles than it errs by (`transfer.plausible_distance`).
    probability : (n, nf) array
        That each foot is on the ground.
    covariance : (n, nf, 3, 3) array [N^2]
        Of `force`, by what is not known about the motion (`error_bars`).

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
    inside_soles: np.ndarray
    probability: np.ndarray
    covariance: np.ndarray

    @property
    def deviation(self) -> np.ndarray:
        """Standard deviations of `force`, (n, nf, 3) [N]."""
        return np.sqrt(np.diagonal(self.covariance, axis1=2, axis2=3))


def gait_reactions(dynamics: GaitInverseDynamics, timing: ContactTiming, wrench: np.ndarray,
                   reference: np.ndarray, supported: np.ndarray, inside_soles: np.ndarray,
                   settings: GaitSettings, by_markers: bool = False) -> GaitReactions:
    """
    Return forces, efforts and centres of pressure that follow from the foot wrenches.

    ``wrench`` (n, nf, 6) and ``reference`` (n, nf, 3) or (nf, 3) are in foot frames;
    ``supported`` (n,): where the feet may carry all load; ``inside_soles`` (n,): where its centre
    of pressure may be theirs.
    """
    R_WF, reference = dynamics.foot_rotation, np.broadcast_to(reference, dynamics.foot_arm.shape)
    f, m = (np.einsum('nfij,nfj->nfi', R_WF, wrench[..., part])
            for part in (slice(0, 3), slice(3, 6)))
    carried = np.hstack([f.sum(axis=1), (m + np.cross(dynamics.foot_arm, f)).sum(axis=1)])
    arm = dynamics.points(reference) - dynamics.foot_arm
    load = np.where(f[..., 2] > TRANSFER.least_load * dynamics.weight, f[..., 2], np.nan)
    pressed = np.stack([(arm[..., 2] * f[..., 0] - m[..., 1]) / load,
                        (arm[..., 2] * f[..., 1] + m[..., 0]) / load,
                        np.where(np.isnan(load), np.nan, arm[..., 2])], axis=-1)
    position = dynamics.base_position[:, None] + dynamics.foot_arm
    return GaitReactions(
        dynamics.time, tuple(foot.link for foot in dynamics.feet), timing.contact, wrench, f,
        position + pressed, position, R_WF, dynamics.joint_efforts(wrench),
        dynamics.wrench + dynamics.noise - carried, np.array(reference), supported,
        inside_soles, timing.probability,
        force_covariance(dynamics, timing, f, dynamics.points(reference), settings, by_markers))
