# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Where in the sole a foot presses, as its stance goes by: from heel to toe, or as the foot comes.

The path of a stance is the most likely one under four statements: it starts in the part of the
sole that is lowest when the foot lands and ends in the one that is lowest when it leaves, or over
which it rolls then, be it in front of the sole; while the foot stands alone it is the centre of
pressure that the motion gives, within that one's error; while it rolls it is not far from the line
that rests (`sole_motion`); and in between it wanders no faster than a sole's length a stance (a
Wiener process). It lies on the floor, which is above a rigid sole where toes bend. Where nothing
is said, it goes back to the middle of the sole. Each coordinate is one tridiagonal system,

.. math:: \sum_t (x_{t+1} - x_t)^2 / q + \sum_t (x_t - z_t)^2 / r_t .

Taking the path from the motion's own centre of pressure rather than from a table does more than
fit the person: what is wrong with the model's mass shifts path and load alike, and so cancels out
of the split between two feet.
"""
from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from legged_dynamics.gait.ground_demand import GroundDemand
from legged_dynamics.gait.settings import GaitSettings
from legged_dynamics.gait.sole_motion import SoleMotion, on_floor, speed_scale
from legged_dynamics.gait.stance_detection import Stance, soles_of, stances
from legged_dynamics.model.foot import Foot


def travelling_reference(demand: GroundDemand, contact: np.ndarray, settings: GaitSettings,
                         moved: SoleMotion | None = None) -> np.ndarray:
    """
    Return where each foot presses, (n, nf, 3) in its own frame [m], inside the sole.

    Parameters
    ----------
    demand : GroundDemand
        The feet's poses and the wrench that the motion asks for.
    contact : (n, nf) bool array
        Feet on the ground.
    settings : GaitSettings
        Those named `reference`.
    moved : SoleMotion, optional
        How the soles move, if known.

    """
    moved = moved or soles_of(demand, settings)
    doubt = settings.roll_speed * speed_scale(demand)
    path = demand.low_point.copy()
    alone = contact & (contact.sum(axis=1) == 1)[:, None]
    pressure = demand.pressure_in_feet()
    for stance in stances(contact):
        foot = demand.feet[stance.foot]
        if not foot.moments:
            continue        # a point has nothing to travel in
        part, i = stance.samples, stance.foot
        seen = np.where(alone[part, i, None], pressure[part, i], np.nan)
        spread = np.hypot(settings.roll_error, doubt / np.maximum(moved.roll_rate[part, i], 1e-9))
        rolled = (moved.roll[part, i], spread)
        edge = demand.low_point[part, i, :2].copy()
        ahead, back, left, right = foot.edges
        front = ahead
        if stance.left:
            front = edge[-1, 0] = _front(foot, edge[-1, 0], rolled, demand.step, settings)
            front = max(front, ahead)
        path[part, i, 0] = _path(stance, (back, front), seen[:, 0], edge[:, 0], demand.step,
                                 settings, rolled)
        if left > right:
            path[part, i, 1] = _path(stance, (right, left), seen[:, 1], edge[:, 1], demand.step,
                                     settings)
        path[part, i, 2] = 0.0
    return on_floor(demand, moved.floor, path)


def _front(foot: Foot, edge: float, rolled: tuple[np.ndarray, np.ndarray], dt: float,
           settings: GaitSettings) -> float:
    """Return where the sole of a foot that leaves ends: a shoe is longer than soles are given."""
    roll, spread = (values[-max(round(settings.pressure_memory / dt), 1):] for values in rolled)
    front, back, *_ = foot.edges
    seen = roll[np.isfinite(roll) & (spread < 2.0 * settings.roll_error)]
    if edge < front - 0.2 * (front - back) or not len(seen):
        return edge
    return float(np.clip(np.median(seen), edge, front + settings.longer_sole * (front - back)))


def _path(stance: Stance, edges: tuple[float, float], seen: np.ndarray, edge: np.ndarray,
          dt: float, settings: GaitSettings,
          rolled: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """Return one coordinate of the path through one stance."""
    n, (low, high) = len(seen), edges
    length = high - low
    crossing = max(n * dt, settings.crossing_time)
    step = length ** 2 * dt / crossing
    # A sole's length off the middle within one crossing: no more than a place to come back to.
    middle = dt / (crossing * length ** 2)
    information, pull = np.full(n, middle), np.full(n, middle * (low + high) / 2.0)
    for values, spread in ((seen, np.full(n, settings.pressure_error)),
                           *([] if rolled is None else [rolled])):
        inside = np.clip(values, low, high)
        beyond = np.nan_to_num(np.abs(values - inside) / settings.plausible_distance)
        trust = np.where(np.isfinite(values), dt / settings.pressure_memory
                         / (spread * (1.0 + beyond ** 2)) ** 2, 0.0)
        information += trust
        pull += trust * np.nan_to_num(inside)
    for there, sample in ((stance.landed, 0), (stance.left, n - 1)):
        if there:
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
