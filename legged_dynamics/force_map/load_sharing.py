# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A shorthand for the ground-force problem of point feet that is deprecated: build the problem.

The forces of all feet must add up to a wrench: six rows. Within friction and load limits, feet
with a desired force come as near to it as they can, and the others share the rest evenly: the
prior of the problem.
"""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.jacobians import contact_table
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.affine import ASKED_WEIGHT, BALANCE_WEIGHT
from legged_dynamics.force_map.ground_force_problem import GroundForceProblem
from legged_dynamics.model.feet import PointFoot
from legged_dynamics.optimization.quadratic_program import Outcome


@dataclass(frozen=True, eq=False)
class LoadShares:
    """
    Forces under all feet.

    Attributes
    ----------
    force : (k, 3) array [N]
        Ground on robot, in the axes of the contact points.
    missing : (k, 3) array [N]
        Desired less found force; zero for feet without a desired force.
    unbalanced : (6,) array [N, N m]
        Wrench required of all feet together less what their forces add up to.
    balanced : bool
        Whether the forces add up to the wrench. When none inside the cones do, they come as near
        to it as possible.

    """

    force: np.ndarray
    missing: np.ndarray
    unbalanced: np.ndarray
    balanced: bool


def share_load(contact_points: np.ndarray, wrench: np.ndarray,
               asked: Mapping[int, np.ndarray] | None = None,
               inequalities: tuple[np.ndarray, np.ndarray] | None = None) -> LoadShares:
    """
    Return forces that add up to a wrench and are near to desired ones; deprecated since 0.2.

    Use :class:`~legged_dynamics.force_map.GroundForceProblem` instead.

    Parameters
    ----------
    contact_points : (k, 3) array [m]
        Where the feet touch.
    wrench : (6,) array [N, N m]
        ``[f; m]`` about the points' origin, in their axes: the wrench that the motion requires.
    asked : mapping of int to (3,) array, optional [N]
        Desired forces, by the foot's place in `contact_points`.
    inequalities : pair of arrays, optional
        ``A`` (n, 3 k) and ``b`` of ``A f >= b``: friction cones and load limits.

    Returns
    -------
    LoadShares
        Forces of all feet, and what they miss of the wrench and of the desired forces.

    Raises
    ------
    ConfigurationError
        When shapes do not fit, or a foot does not exist.

    """
    warnings.warn('share_load is deprecated since 0.2 and goes with 0.3: use GroundForceProblem',
                  DeprecationWarning, stacklevel=2)
    points, wrench = np.asarray(contact_points, float), np.asarray(wrench, float)
    if points.ndim != 2 or points.shape[1] != 3 or not len(points) or wrench.shape != (6,):
        raise ConfigurationError('expected (k, 3) contact points and a (6,) wrench, got shapes '
                                 f'{points.shape} and {wrench.shape}')
    k = len(points)
    A, b = inequalities or (np.zeros((0, 3 * k)), np.zeros(0))
    if A.shape != (len(b), 3 * k):
        raise ConfigurationError(f'expected inequalities of {3 * k} columns, got shape {A.shape}')
    wanted, weight = np.tile(wrench[:3] / k, k), np.ones(3 * k)
    for foot, force in (asked or {}).items():
        if not 0 <= foot < k or np.shape(force) != (3,):
            raise ConfigurationError(f'expected a (3,) force for one of the feet 0 to {k - 1}, '
                                     f'got shape {np.shape(force)} for foot {foot}')
        wanted[3 * foot:3 * foot + 3] = force
        weight[3 * foot:3 * foot + 3] = ASKED_WEIGHT
    if asked and len(asked) < k:
        rest = wrench[:3] - sum(np.asarray(force, float) for force in asked.values())
        even = np.tile(rest / (k - len(asked)), k)
        wanted = np.where(weight == 1.0, even, wanted)
    grasp = contact_table([PointFoot('')] * k).grasp(np.tile(np.eye(3), (k, 1, 1)), points)
    shares = GroundForceProblem.prior(wanted, 1.0 / weight).with_limits(A, b)
    found = shares.with_rows(grasp, wrench).solve()
    balanced = found.outcome is Outcome.SOLVED
    if not balanced:        # the balance comes before the desired forces, too
        found = shares.with_rows(grasp, wrench, 1.0 / (BALANCE_WEIGHT * ASKED_WEIGHT)).solve()
    missing = np.where(weight > 1.0, wanted - found.mean, 0.0)
    return LoadShares(found.mean.reshape(k, 3), missing.reshape(k, 3), wrench - grasp @ found.mean,
                      balanced)
