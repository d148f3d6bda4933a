# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Shares of the load over a whole recording: a problem in time, of loads and not of wrenches.

The centre of pressure ``z`` of all feet is the mean of the feet's own, ``p_i``, weighted by their
shares ``s_i`` of the load. With the ``p_i`` known (the travelling reference), it determines the
shares of two feet, and of three that are not in line; beyond that the most even shares are taken.
The noise of ``z`` comes from the acceleration of the body, so the shares are smoothed over time,
as strongly as feet can transfer load: slowly between feet that stay in place, and within the time
of double support between two steps.

.. math::

    \sum_t \left(\frac{F_t}{W}\right)^2 \frac{2 |\sum_i s_{it} p_{it} - z_t|^2}{d_t^2}
    + \sum_t \frac{|s_{t+1} - s_t|^2}{(2 \pi f_t \Delta t)^2}, \qquad
    \sum_i s_{it} = 1, \quad s_{it} \ge 0,

``d`` is the distance between the feet and ``f`` the cut-off frequency. The share of a foot in the
air is zero, so a share grows from zero at touch-down and returns to zero before toe-off. Where the
total force changes fast, as at an impact, shares may change fast as well. The minimum is one
banded linear system; shares that it has below zero are taken as zero.
"""
from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import solveh_banded

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.standing import UP
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import (
    SoleMotion,
    StancePhase,
    on_floor,
    speed_scale,
    stances,
)

# -------------------------------------------------------------------------------------------------
# Weight of the constraints (a share of zero, a sum of one) against smoothing of the order of one.
PENALTY = 1e7
# Directions in which a centre of pressure may be outside the soles: right to a thousandth.
DIRECTIONS = 64


@dataclass(frozen=True)
class TransferSettings:
    """What a centre of pressure leaves open of shares, and says of a seat."""

    even_weight: float = 1e-3  # Of even shares, against the centre of pressure
    least_load: float = 0.02  # [weight]: smaller ones do not tell where they act
    longest_step: float = 6.0  # [sqrt(l / g)]: feet that stay between changes for less are walking
    usual_error: float = 0.95  # Quantile of how far it is outside the soles while feet step


TRANSFER = TransferSettings()


def smooth_shares(dynamics: GaitInverseDynamics, contact: np.ndarray, points: np.ndarray,
                  outside: np.ndarray, settings: GaitSettings) -> np.ndarray:
    """
    Return each foot's share of the vertical load (n, nf), summing to 1 in contact.

    ``points``: CoP from the base origin, world axes; ``outside`` (n,) [m]: distance of the
    motion's CoP from the soles, large with other supports, NaN without load.
    """
    center = center_of_pressure(dynamics, contact, points)
    weight = np.where(
        np.isfinite(outside),
        (1.0 + (np.nan_to_num(outside) / settings.plausible_distance) ** 2) ** -2, 0.0)
    weight *= np.clip(dynamics.load, 0.0, None) ** 2
    H, g = _normal_equations(contact, points[..., :2], center, weight)
    smoothing = 1.0 / (2.0 * np.pi * dynamics.step * _cutoff(dynamics, contact, settings)) ** 2
    share = _smoothed(H, g, smoothing, contact)
    total = share.sum(axis=1, keepdims=True)
    return np.divide(share, total, out=np.zeros_like(share), where=total > 0.0)


def outside_soles(dynamics: GaitInverseDynamics, contact: np.ndarray) -> np.ndarray:
    """Return the CoP's horizontal distance (n,) [m] from the soles' hull, NaN if unloaded."""
    center = center_of_pressure(dynamics, contact, dynamics.points(dynamics.low_point))
    parts = []
    for i, foot in enumerate(dynamics.feet):
        at = dynamics.foot_arm[:, i, None] + foot.touching(dynamics.foot_rotation[:, i], UP)
        parts.append(np.where(contact[:, i, None, None], at[..., :2], np.nan))
    corners = np.concatenate(parts, axis=1)
    outside = np.zeros(len(contact))
    standing = contact.any(axis=1)
    for angle in 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
        direction = np.array([np.cos(angle), np.sin(angle)])
        reach = np.nanmax(corners[standing] @ direction, axis=1)
        outside[standing] = np.fmax(outside[standing], center[standing] @ direction - reach)
    return np.where(standing & np.isfinite(center).all(axis=1), outside, np.nan)


def borne_elsewhere(dynamics: GaitInverseDynamics, contact: np.ndarray, outside: np.ndarray,
                    settings: GaitSettings) -> np.ndarray:
    """
    Return where a seat or a hand bears load (n,): the moment of the feet is missing as they stay.

    While feet step nothing else bears, so how far `outside` (n,) [m] is then shows what base pose,
    masses and soles are wrong by; the same error is no larger where several feet stand.
    """
    planted, unit = np.zeros(len(contact), bool), np.sqrt(dynamics.leg_length / GRAVITY)
    margin = round(settings.shortest_phase * unit / dynamics.step)
    changes = np.flatnonzero((contact[1:] != contact[:-1]).any(axis=1)) + 1
    walking = contact.any(axis=1)
    for first, end in pairwise([0, *changes.tolist(), len(contact)]):
        seen, left = first > 0, end < len(contact)
        if contact[first].sum() > 1 and not (
                seen and left and (end - first) * dynamics.step < TRANSFER.longest_step * unit):
            walking[first:end] = False
            planted[first + margin * seen:max(end - margin * left, 0)] = True
    known = outside[walking & np.isfinite(outside)]
    error = float(np.quantile(known, TRANSFER.usual_error)) if len(known) else 0.0
    return planted & (outside > 2.0 * settings.plausible_distance + error)


def center_of_pressure(dynamics: GaitInverseDynamics, contact: np.ndarray,
                        points: np.ndarray) -> np.ndarray:
    """Return the common CoP (n, 2) [m] from the base origin, world axes; NaN without load."""
    f, m = dynamics.wrench[:, :3], dynamics.wrench[:, 3:]
    height = (np.where(contact, points[..., 2], 0.0).sum(axis=1)
              / np.maximum(contact.sum(axis=1), 1))
    fz = np.where(dynamics.load > TRANSFER.least_load, f[:, 2], np.nan)
    return np.stack([(height * f[:, 0] - m[:, 1]) / fz, (height * f[:, 1] + m[:, 0]) / fz], axis=1)


def _cutoff(dynamics: GaitInverseDynamics, contact: np.ndarray,
            settings: GaitSettings) -> np.ndarray:
    """Return the cut-off frequency of load transfer at each instant, (n,) [Hz]."""
    dt = dynamics.step
    cutoff = np.full(len(contact), settings.planted_cutoff)
    changes = np.flatnonzero((contact[1:] != contact[:-1]).any(axis=1)) + 1
    for first, end in pairwise(changes.tolist()):
        if contact[first].sum() > 1:
            cutoff[first:end] = max(settings.planted_cutoff,
                                    settings.step_cutoff / ((end - first) * dt))
    # Where the total load changes fast, as at an impact, the shares may as well.
    change = np.abs(np.gradient(dynamics.load, dt)) / np.maximum(
        dynamics.load, settings.flight_load)
    return cutoff + change / (2.0 * np.pi)


def _normal_equations(contact: np.ndarray, points: np.ndarray, center: np.ndarray,
                      weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, nf, nf) matrices and (n, nf) right sides of the shares, without smoothing."""
    n, nf = contact.shape
    down = contact.astype(float)
    count = np.maximum(down.sum(axis=1), 1.0)
    middle = np.einsum('nf,nfi->ni', down, points) / count[:, None]
    arm = np.where(contact[..., None], points - middle[:, None], 0.0)
    # With this length two feet at a distance d give 2 (s - s_z)^2, of the size of the smoothing.
    length = np.sqrt(2.0) * np.maximum(np.linalg.norm(arm, axis=2).max(axis=1), 1e-6)
    arm = arm / length[:, None, None]
    offset = np.nan_to_num(center - middle) / length[:, None]
    H = weight[:, None, None] * np.einsum('nfi,ngi->nfg', arm, arm)
    g = weight[:, None] * np.einsum('nfi,ni->nf', arm, offset)
    H += PENALTY * down[:, :, None] * down[:, None, :]
    g += PENALTY * down
    even = TRANSFER.even_weight * weight + 1e-9
    index = np.arange(nf)
    H[:, index, index] += np.where(contact, even[:, None], PENALTY)
    g += down * even[:, None] / count[:, None]
    return H, g


def _smoothed(H: np.ndarray, g: np.ndarray, smoothing: np.ndarray,
              contact: np.ndarray) -> np.ndarray:
    """Return the smoothed least-squares shares, none below zero."""
    n, nf = contact.shape
    joined = contact.any(axis=1)
    # No smoothing across a flight phase.
    link = np.where(joined[1:] & joined[:-1], np.minimum(smoothing[1:], smoothing[:-1]), 0.0)
    band = np.zeros((nf + 1, n * nf))
    for i in range(nf):
        for j in range(i, nf):
            band[nf - (j - i), j::nf] += H[:, i, j]
        band[nf, i::nf] += np.append(link, 0.0) + np.append(0.0, link)
        band[0, nf + i::nf] -= link
    share = solveh_banded(band, g.reshape(-1)).reshape(n, nf)
    return np.clip(np.where(contact, share, 0.0), 0.0, None)


# -------------------------------------------------------------------------------------------------
# The path of each foot's centre of pressure through its sole during stance.
#
# It is the reference of the method 'travelling': the maximum a posteriori estimate under these
# statements, each with its error. At touch-down the path is on the lowest part of the sole, and at
# toe-off on the part that is lowest then or over which the foot rolls; in single support it is the
# centre of pressure of the motion; while the foot rolls it is near the instantaneous centre of
# rotation (`SoleMotion`); in between it is a random walk (Wiener process) of one sole's length a
# stance. Each coordinate is one tridiagonal system,
#
# .. math:: \sum_t (x_{t+1} - x_t)^2 / q + \sum_t (x_t - z_t)^2 / r_t .
#
# Because the path follows the motion's own centre of pressure, an error of the model's mass
# distribution shifts the path and the total load alike, and cancels out of the split.


def travelling_reference(dynamics: GaitInverseDynamics, contact: np.ndarray,
                         settings: GaitSettings, moved: SoleMotion) -> np.ndarray:
    """Return the path of each foot's CoP through its sole (n, nf, 3) [m], foot frames."""
    speed_error = settings.roll_speed * speed_scale(dynamics)
    path = dynamics.low_point.copy()
    alone = contact & (contact.sum(axis=1) == 1)[:, None]
    pressure = dynamics.pressure_in_feet()
    for stance in stances(contact):
        foot = dynamics.feet[stance.foot]
        if not foot.moments:
            continue        # the contact of a point foot does not move
        part, i = stance.samples, stance.foot
        seen = np.where(alone[part, i, None], pressure[part, i], np.nan)
        spread = np.hypot(settings.roll_error,
                          speed_error / np.maximum(moved.roll_rate[part, i], 1e-9))
        rolled = (moved.roll[part, i], spread)
        edge = dynamics.low_point[part, i, :2].copy()
        toe, heel, left, right = foot.edges
        front = toe
        if stance.left:
            front = edge[-1, 0] = _front(foot, edge[-1, 0], rolled, dynamics.step, settings)
            front = max(front, toe)
        path[part, i, 0] = _path(stance, (heel, front), seen[:, 0], edge[:, 0], dynamics.step,
                                 settings, rolled)
        if left > right:
            path[part, i, 1] = _path(stance, (right, left), seen[:, 1], edge[:, 1],
                                     dynamics.step, settings)
        path[part, i, 2] = 0.0
    return on_floor(dynamics, moved.floor, path)


def _front(foot: Foot, edge: float, rolled: tuple[np.ndarray, np.ndarray], dt: float,
           settings: GaitSettings) -> float:
    """Return where the sole ends at toe-off: shoes are longer than soles are usually given."""
    roll, spread = (values[-max(round(settings.pressure_memory / dt), 1):] for values in rolled)
    front, back, *_ = foot.edges
    seen = roll[np.isfinite(roll) & (spread < 2.0 * settings.roll_error)]
    if edge < front - 0.2 * (front - back) or not len(seen):
        return edge
    return float(np.clip(np.median(seen), edge, front + settings.longer_sole * (front - back)))


def _path(stance: StancePhase, edges: tuple[float, float], seen: np.ndarray, edge: np.ndarray,
          dt: float, settings: GaitSettings,
          rolled: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """Return one coordinate of the path through one stance."""
    n, (low, high) = len(seen), edges
    length = high - low
    crossing = max(n * dt, settings.crossing_time)
    step = length ** 2 * dt / crossing
    # A weak prior at the middle of the sole, where nothing else is known.
    middle = dt / (crossing * length ** 2)
    information, pull = np.full(n, middle), np.full(n, middle * (low + high) / 2.0)
    for values, spread in ((seen, np.full(n, settings.pressure_error)),
                           *([] if rolled is None else [rolled])):
        inside = np.clip(values, low, high)
        beyond = np.nan_to_num(np.abs(values - inside) / settings.plausible_distance)
        weight = np.where(np.isfinite(values), dt / settings.pressure_memory
                          / (spread * (1.0 + beyond ** 2)) ** 2, 0.0)
        information += weight
        pull += weight * np.nan_to_num(inside)
    for seen_there, sample in ((stance.landed, 0), (stance.left, n - 1)):
        if seen_there:
            information[sample] += settings.edge_error ** -2
            pull[sample] += settings.edge_error ** -2 * edge[sample]
    if n == 1:
        return np.clip(pull / information, low, high)
    band = np.zeros((2, n))
    band[0, 1:] = -1.0 / step
    band[1] = information
    band[1, :-1] += 1.0 / step
    band[1, 1:] += 1.0 / step
    return np.clip(solveh_banded(band, pull), low, high)
