# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The quadratic program that divides forces within friction cones, for one set of stance feet."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model.foot import Foot, as_wrenches

# Of the pyramid inside a ball's friction cone.
FACETS = 8


class DivisionProgram(NamedTuple):
    """
    A quadratic program of nc unknowns and at most m constraints, equalities first.

    Attributes
    ----------
    ground : (nf, 9) array
        ``R_WG`` of each foot, by rows; see StanceArrays.
    cones : (nf, k, 7) array
        Whether a row is used; coefficients of the foot's inequalities, in the axes of the ground
        for a ball and in its own for a sole.
    bounds : (nf, k) array
        What each is to reach at least.
    balance : (6,) array
        How much each component of the wrench on the base counts when the wrench is infeasible.
    H, g, C, d : (nc, nc), (nc,), (m, nc), (m,) array
        As in :mod:`legged_dynamics.optimization.quadratic_program`.
    active, u, x : (m + nc + 1,) int, (m + nc + 1,), (nc,) array
        Constraints that hold with equality, multipliers, solution.
    memory : (m + nc + 2,) int array
        Number of active constraints of the last solution, and which.
    rows, gram, vectors : arrays
        Scratch memory of the method.

    """

    ground: np.ndarray
    cones: np.ndarray
    bounds: np.ndarray
    balance: np.ndarray
    H: np.ndarray
    g: np.ndarray
    C: np.ndarray
    d: np.ndarray
    active: np.ndarray
    u: np.ndarray
    x: np.ndarray
    memory: np.ndarray
    rows: np.ndarray
    gram: np.ndarray
    vectors: np.ndarray


def foot_cone(foot: Foot, friction: float, minimum: float,
              margin: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return A (k, 6), b of ``A w >= b`` for one foot, as DivisionProgram.cones has them."""
    A, b = contact_inequalities(FrictionCone(friction, facets=FACETS, minimum=minimum),
                                foot.shrunk(margin), np.eye(3))
    return as_wrenches(foot, A), b


def division_program(feet: Sequence[Foot], nc: int, nv: int, friction: float, minimum: float,
                 ground: np.ndarray | None = None, upright: float = 1.0) -> DivisionProgram:
    """
    Return the program for some feet.

    Parameters
    ----------
    feet : sequence of Foot
        Those in contact.
    nc, nv : int
        Contact coordinates, joint velocities.
    friction : float
        Coefficient.
    minimum : float [N]
        Least normal force of each foot.
    ground : (nf, 9) array, optional
        Taken as it is; level by default.
    upright : float [1/m]
        How many missing newtons at the base a missing newton metre counts as.

    """
    found = [foot_cone(foot, friction, minimum) for foot in feet]
    if ground is None:
        ground = np.tile(np.eye(3).ravel(), (len(feet), 1))
    k = max(len(b) for _, b in found)
    cones, bounds = np.zeros((len(feet), k, 7)), np.zeros((len(feet), k))
    for i, (A, b) in enumerate(found):
        cones[i, :len(b), 0] = 1.0
        cones[i, :len(b), 1:] = A
        bounds[i, :len(b)] = b
    m = 6 + sum(len(b) for _, b in found) + 2 * nv
    balance = np.repeat([1.0, upright ** 2], 3)
    return DivisionProgram(
        ground, cones, bounds, balance, np.zeros((nc, nc)), np.zeros(nc), np.zeros((m, nc)),
        np.zeros(m), np.zeros(m + nc + 1, np.int64), np.zeros(m + nc + 1), np.zeros(nc),
        np.zeros(m + nc + 2, np.int64), np.zeros((m, nc)), np.zeros((nc + 1, nc + 1)),
        np.zeros((4, max(m, nc + 1))))
