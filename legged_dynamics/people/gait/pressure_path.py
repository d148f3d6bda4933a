# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
The path of each foot's centre of pressure through its sole during stance.

It is the reference of the method 'travelling': the maximum a posteriori estimate under these
statements, each with its error. At touch-down the path is on the lowest part of the sole, and at
toe-off on the part that is lowest then or over which the foot rolls; in single support it is the
centre of pressure of the motion; while the foot rolls it is near the instantaneous centre of
rotation (`SoleMotion`); in between it is a random walk (Wiener process) of one sole's length a
stance. Each coordinate is one tridiagonal system,

.. math:: \sum_t (x_{t+1} - x_t)^2 / q + \sum_t (x_t - z_t)^2 / r_t .

Because the path follows the motion's own centre of pressure, an error of the model's mass
distribution shifts the path and the total load alike, and cancels out of the split.
"""
from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from legged_dynamics.model.feet import Foot
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import (
    SoleMotion,
    StancePhase,
    on_floor,
    soles_of,
    speed_scale,
    stances,
)


def travelling_reference(dynamics: GaitInverseDynamics, contact: np.ndarray,
                         settings: GaitSettings, moved: SoleMotion | None = None) -> np.ndarray:
    """Return the path of each foot's CoP through its sole (n, nf, 3) [m], foot frames."""
    moved = moved or soles_of(dynamics, settings)
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
