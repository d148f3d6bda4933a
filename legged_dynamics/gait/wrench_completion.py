# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
From the load on each foot to its whole wrench: what pushes sideways, and where in the sole.

Each foot's force aims at a point above the centre of mass, as the forces of legs do in whatever
walks upright (the virtual pivot point), and presses at its reference; the wrench that the motion
asks for is met by the least departure from that. Where this would pull, slide or press beside the
sole, a quadratic program departs further, and what no wrench of these feet can give is left over
as root residual: the load on a foot stays.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem, contact_grasp
from legged_dynamics.gait.ground_demand import GroundDemand
from legged_dynamics.gait.settings import GaitSettings
from legged_dynamics.model.foot import Foot
from legged_dynamics.optimization.quadratic_program import Outcome
from legged_dynamics.spatial.rotations import skew

# One deviation each, of a foot that bears all the weight, as multiples of the weight [-, m].
NORMAL, SIDEWAYS, MOMENT = 1e-4, 0.05, 0.02
# The same of the root residual, where there has to be one.
FORCE_RESIDUAL, MOMENT_RESIDUAL = 1e-4, 1e-2
# A share below this counts as this: what is hardly loaded may still rub a little.
LEAST_SHARE = 0.01
# A sole seen from above is at least this wide [m], were it to stand on its edge.
LEAST_SOLE = 0.01
# A centre of mass counts as at least this part of the leg length above a foot.
LEAST_HEIGHT = 0.1
TOLERANCE = 1e-9


def complete_wrenches(demand: GroundDemand, contact: np.ndarray, points: np.ndarray,
                      share: np.ndarray, settings: GaitSettings) -> np.ndarray:
    """
    Return the wrench on each foot, (n, nf, 6) about its point in world axes [N, N m].

    What is left of the demand is the root residual.

    Parameters
    ----------
    demand : GroundDemand
        The wrench that the motion asks for.
    contact : (n, nf) bool array
        Feet on the ground.
    points : (n, nf, 3) array [m]
        Where each foot presses: arms from the base's origin in world axes.
    share : (n, nf) array
        Of the load, by foot.
    settings : GaitSettings
        Those named `force` and `friction`.

    """
    wrench = np.zeros((*contact.shape, 6))
    wanted = demand.wrench / demand.weight
    cone = FrictionCone(settings.friction)
    # A centre of mass near the ground is no place to aim at.
    height = settings.pivot_height * np.maximum(
        demand.center_of_mass[:, None, 2] - points[..., 2], LEAST_HEIGHT * demand.leg_length)
    aims = (demand.center_of_mass[:, None, :2] - points[..., :2]) / height[..., None]
    for t in range(len(contact)):
        down = np.flatnonzero(contact[t])
        if not len(down):
            continue
        turns = [_moment_axes(demand.feet[i], demand.foot_rotation[t, i]) for i in down]
        columns = [3 + axes.shape[1] for axes in turns]
        load = max(float(demand.load[t]), 0.0)
        aim, variance = _wanted(load * share[t, down], share[t, down], aims[t, down], columns)
        A = contact_grasp(points[t, down], turns)
        C, d = _limits(cone, demand, t, down, points[t, down], turns)
        w = _nearest(A, wanted[t], aim, variance, C, d)
        for i, axes, part in zip(down, turns, np.split(w, np.cumsum(columns)[:-1])):
            wrench[t, i, :3], wrench[t, i, 3:] = part[:3], axes @ part[3:]
    return wrench * demand.weight


def _moment_axes(foot: Foot, R_WF: np.ndarray) -> np.ndarray:
    """Return the axes of a foot's moments in world axes, (3, k)."""
    return np.array([R_WF[:, row.axis] if row.in_foot else np.eye(3)[row.axis]
                     for row in foot.rows[3:]]).reshape(-1, 3).T


def _wanted(load: np.ndarray, share: np.ndarray, direction: np.ndarray,
            columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the wrenches aimed at and their variances, over the weight."""
    aim, variance = [], []
    for f, s, (x, y), size in zip(load, np.maximum(share, LEAST_SHARE), direction, columns):
        aim.append([f * x, f * y, f, 0.0, 0.0, 0.0][:size])
        variance.append([SIDEWAYS ** 2 * s, SIDEWAYS ** 2 * s, NORMAL ** 2,
                         *[(MOMENT * s) ** 2] * 3][:size])
    return np.concatenate(aim), np.concatenate(variance)


def _limits(cone: FrictionCone, demand: GroundDemand, t: int, down: np.ndarray,
            points: np.ndarray, turns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return C, d of ``C w >= d``: no pull, no slip, no pressure beside the sole."""
    rows, right, total, start = [], [], sum(3 + axes.shape[1] for axes in turns), 0
    for i, p, axes in zip(down, points, turns):
        R_WF, size = demand.foot_rotation[t, i], 3 + axes.shape[1]
        # Where it presses, from the middle of what touches.
        pressed = p - demand.foot_arm[t, i] - R_WF @ demand.feet[i].center
        foot, turned = demand.feet[i].shadow(R_WF, pressed, LEAST_SOLE)
        A, b = contact_inequalities(cone, foot, turned)
        if size > 3:
            shift = np.eye(size)
            shift[3:, :3] = axes.T @ skew(pressed)
            A = A @ shift
        wide = np.zeros((len(b), total))
        wide[:, start:start + size] = A
        rows.append(wide)
        right.append(b)
        start += size
    return np.vstack(rows), np.concatenate(right)


def _nearest(A: np.ndarray, b: np.ndarray, aim: np.ndarray, variance: np.ndarray, C: np.ndarray,
             d: np.ndarray) -> np.ndarray:
    """Return the wrenches nearest to the aim that meet the demand, or nearly so within limits."""
    problem = GroundForceProblem.prior(aim, variance)
    if A.shape[1] >= 6:
        w = problem.with_rows(A, b).solve().mean
        if (np.abs(A @ w - b) < TOLERANCE).all() and (C @ w >= d - TOLERANCE).all():
            return w
    residual = np.array([FORCE_RESIDUAL] * 3 + [MOMENT_RESIDUAL] * 3)
    found = problem.with_rows(A, b, residual ** 2).with_limits(C, d).solve()
    return found.mean if found.outcome is Outcome.SOLVED else np.zeros_like(aim)
