# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Shares of the load over a whole recording: a problem in time, of loads and not of wrenches.

The centre of pressure ``z`` of all feet is the mean of their own, ``p_i``, weighted by the shares
``s_i`` of the load. With the ``p_i`` known (the travelling reference), it tells the shares of two
feet, and of three that are not in line; beyond that the most even ones are taken. What is noisy in
``z`` is the acceleration behind it, so shares are smoothed over time, and only as much as feet can
pass load on: slowly between feet that stay where they are, within the time that the feet share it
between two steps.

.. math::

    \sum_t \left(\frac{F_t}{W}\right)^2 \frac{2 |\sum_i s_{it} p_{it} - z_t|^2}{d_t^2}
    + \sum_t \frac{|s_{t+1} - s_t|^2}{(2 \pi f_t \Delta t)^2}, \qquad
    \sum_i s_{it} = 1, \quad s_{it} \ge 0,

``d`` the distance between the feet, ``f`` the cut-off. The share of a foot in the air is zero, so
a share grows from nothing when the foot lands and goes back to nothing before it leaves. Where the
whole force changes fast, as at an impact, shares may, too; and there the centre of pressure is
trusted less, and an even share more. All of it is one banded system in O(n), solved a few times
until the shares at zero are the right ones.
"""
from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import solveh_banded

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.gait.ground_demand import GroundDemand, efforts_under
from legged_dynamics.gait.settings import GaitSettings
from legged_dynamics.gait.sole_motion import speed_scale
from legged_dynamics.model.robot_model import RobotModel

# What holds a share where it must be, and a sum at one, against smoothing of the order of one.
HOLD = 1e7
# Preference for even shares where the centre of pressure leaves them open.
EVEN = 1e-3
# Loads below this part of the weight say nothing about who bears them.
LEAST_LOAD = 0.02
ROUNDS = 50
# Of the weight: what is borne lightly counts as this much when its changes are compared with it.
HALF = 0.5
# In which a centre of pressure may be outside the soles: the distance is right to a thousandth.
DIRECTIONS = 64


def smooth_shares(demand: GroundDemand, contact: np.ndarray, points: np.ndarray,
                  outside: np.ndarray, settings: GaitSettings) -> np.ndarray:
    """
    Return each foot's share of the load, (n, nf); they sum to one while a foot is down.

    Parameters
    ----------
    demand : GroundDemand
        The wrench that the motion asks for.
    contact : (n, nf) bool array
        Feet on the ground.
    points : (n, nf, 3) array [m]
        Where each foot presses: arms from the base's origin in world axes.
    outside : (n,) array [m]
        How far the motion's centre of pressure is outside the soles, which says that other things
        than feet bear load; NaN without load.
    settings : GaitSettings
        Those named `transfer`.

    """
    center = _center_of_pressure(demand, contact, points)
    trust = np.where(np.isfinite(outside), (1.0 + (np.nan_to_num(outside)
                                                   / settings.plausible_distance) ** 2) ** -2, 0.0)
    trust *= np.clip(demand.load, 0.0, None) ** 2
    H, g = _observed(contact, points[..., :2], center, trust, _violence(demand, settings),
                     settings)
    smoothing = 1.0 / (2.0 * np.pi * demand.step * _cutoff(demand, contact, settings)) ** 2
    share = _nonnegative(H, g, smoothing, contact)
    total = share.sum(axis=1, keepdims=True)
    return np.divide(share, total, out=np.zeros_like(share), where=total > 0.0)


def outside_soles(demand: GroundDemand, contact: np.ndarray) -> np.ndarray:
    """
    Return how far the motion's centre of pressure is outside all soles on the ground, (n,) [m].

    Seen from above, by the directions that stick out most; NaN where no foot is down or nothing
    is borne.
    """
    center = _center_of_pressure(demand, contact, demand.points(demand.low_point))
    parts = []
    for i, foot in enumerate(demand.feet):
        at = demand.foot_arm[:, i, None] + foot.corners @ demand.foot_rotation[:, i].swapaxes(1, 2)
        parts.append(np.where(contact[:, i, None, None], at[..., :2], np.nan))
    corners = np.concatenate(parts, axis=1)
    outside = np.zeros(len(contact))
    standing = contact.any(axis=1)
    for angle in 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
        direction = np.array([np.cos(angle), np.sin(angle)])
        reach = np.nanmax(corners[standing] @ direction, axis=1)
        outside[standing] = np.fmax(outside[standing], center[standing] @ direction - reach)
    return np.where(standing & np.isfinite(center).all(axis=1), outside, np.nan)


def _center_of_pressure(demand: GroundDemand, contact: np.ndarray,
                        points: np.ndarray) -> np.ndarray:
    """Return (n, 2) where the motion has no tipping moment, at the height of the feet down."""
    f, m = demand.wrench[:, :3], demand.wrench[:, 3:]
    height = (np.where(contact, points[..., 2], 0.0).sum(axis=1)
              / np.maximum(contact.sum(axis=1), 1))
    fz = np.where(demand.load > LEAST_LOAD, f[:, 2], np.nan)
    return np.stack([(height * f[:, 0] - m[:, 1]) / fz, (height * f[:, 1] + m[:, 0]) / fz], axis=1)


def _violence(demand: GroundDemand, settings: GaitSettings) -> np.ndarray:
    """
    Return how far the centre of pressure is off for what is fast in the force, (n,).

    In units of its error while nothing is fast. Impacts are smoothed, soft tissue moves against
    the bones: the force's fast part acts at a place that is known to a part of the leg length.
    """
    from scipy.ndimage import gaussian_filter1d  # slow to import

    width = (settings.shortest_phase * demand.leg_length / speed_scale(demand) / demand.step) / 2.0
    force = demand.wrench[:, :3] / demand.weight
    fast = ((force - gaussian_filter1d(force, width, axis=0)) ** 2).sum(axis=1)
    size = np.sqrt(gaussian_filter1d(fast, width))
    arm = settings.impact_arm * demand.leg_length / settings.pressure_error
    return arm * size / np.maximum(demand.load, settings.flight_load)


def _cutoff(demand: GroundDemand, contact: np.ndarray, settings: GaitSettings) -> np.ndarray:
    """Return how fast load may shift at each instant [Hz]."""
    dt = demand.step
    cutoff = np.full(len(contact), settings.planted_cutoff)
    changes = np.flatnonzero((contact[1:] != contact[:-1]).any(axis=1)) + 1
    for first, end in pairwise(changes.tolist()):
        if contact[first].sum() > 1:
            cutoff[first:end] = max(settings.planted_cutoff,
                                    settings.step_cutoff / ((end - first) * dt))
    # Where the whole load changes fast, as at an impact, so may its parts.
    change = np.abs(np.gradient(demand.load, dt)) / np.maximum(demand.load, HALF)
    return cutoff + change / (2.0 * np.pi)


def _observed(contact: np.ndarray, points: np.ndarray, center: np.ndarray, trust: np.ndarray,
              violence: np.ndarray, settings: GaitSettings) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, nf, nf) matrices and (n, nf) right sides of the shares, each instant."""
    n, nf = contact.shape
    down = contact.astype(float)
    count = np.maximum(down.sum(axis=1), 1.0)
    middle = np.einsum('nf,nfi->ni', down, points) / count[:, None]
    arm = np.where(contact[..., None], points - middle[:, None], 0.0)
    # With this length two feet that are d apart give 2 (s - s_z)^2, as much as their smoothing.
    length = np.sqrt(2.0) * np.maximum(np.linalg.norm(arm, axis=2).max(axis=1), 1e-6)
    arm = arm / length[:, None, None]
    offset = np.nan_to_num(center - middle) / length[:, None]
    seen = trust / (1.0 + violence ** 2)
    H = seen[:, None, None] * np.einsum('nfi,ngi->nfg', arm, arm)
    g = seen[:, None] * np.einsum('nfi,ni->nf', arm, offset)
    H += HOLD * down[:, :, None] * down[:, None, :]
    g += HOLD * down
    # What an impact leaves open is shared as evenly as feet side by side do.
    evenly = np.minimum(settings.pressure_error / (settings.uneven_share * np.sqrt(2.0) * length),
                        1.0) ** 2
    even = EVEN * trust + (trust - seen) * evenly + 1e-9
    index = np.arange(nf)
    H[:, index, index] += np.where(contact, even[:, None], HOLD)
    g += down * even[:, None] / count[:, None]
    return H, g


def _nonnegative(H: np.ndarray, g: np.ndarray, smoothing: np.ndarray,
                 contact: np.ndarray) -> np.ndarray:
    """Minimise over shares of zero or more, by a primal-dual active set."""
    n, nf = contact.shape
    joined = contact.any(axis=1)
    # Nothing is carried over from one side of a flight to the other.
    weight = np.where(joined[1:] & joined[:-1], np.minimum(smoothing[1:], smoothing[:-1]), 0.0)
    band = np.zeros((nf + 1, n * nf))
    for i in range(nf):
        for j in range(i, nf):
            band[nf - (j - i), j::nf] += H[:, i, j]
        band[nf, i::nf] += np.append(weight, 0.0) + np.append(0.0, weight)
        band[0, nf + i::nf] -= weight
    zero, down = np.zeros(n * nf, bool), contact.reshape(-1)
    right = g.reshape(-1)
    for _ in range(ROUNDS):
        held = band.copy()
        held[nf] += HOLD * zero
        x = solveh_banded(held, right)
        # What is held at zero and yet above it pushes the wrong way, and is let go.
        wrong = down & ((~zero & (x < -1e-9)) | (zero & (x > 1e-9)))
        if not wrong.any():
            break
        zero ^= wrong
    return np.clip(np.where(contact, x.reshape(n, nf), 0.0), 0.0, None)


# -------------------------------------------------------------------------------------------------
# GaitReactions: ground reactions over a recording, and what follows from them.


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
