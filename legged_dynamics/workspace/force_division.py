# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Division of the base's wrench among the feet within a control tick of 35 us, (3.24) and better.

A foot's wrench ``lambda`` is the ground's on the robot, in base axes at the contact. With joints
at accelerations ``qdd`` the base requires ``W = M_b a + h_b = sum J_base^T lambda``. The paper
divides ``F`` instead, the wrench that massless legs would transmit; a leg's own inertia and weight
make the difference, ``lambda = f + J_q^+T (M_q a + h_q)``. Three methods:

*even*            every foot gets ``F / n`` at the base (3.24). A foot that cannot transmit its
share
                  of the moment, such as a spherical one, gets the forces nearest to even ones.
*least squares*   the least ``sum |lambda - even share of W|^2`` that produces W.
*friction cone*   the same within friction, load, the sole's edges and the joints' efforts. When
                  these limits are infeasible together, W is missed by as little as possible.

The last is the ground-force problem of `force_map.ground_force_problem`, set up and solved within
the control tick. It is written anew here because it takes 8 us, the general one some 480.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_ROTATION,
    PLANE,
    SIZE,
    START,
    moment_axes,
    put_moment,
)
from legged_dynamics.force_map.affine import ASKED_WEIGHT, BALANCE_WEIGHT
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model.feet import Foot, as_wrenches
from legged_dynamics.optimization.factorizations import factorize, solve_factorized
from legged_dynamics.optimization.quadratic_program import (
    INFEASIBLE,
    QuadraticProgram,
    dual_method,
)
from legged_dynamics.spatial.algebra import (
    compose,
    cross,
    load3,
    load9,
    rotate,
    store3,
    subtract,
    transpose,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9
from legged_dynamics.spatial.packed import opened

# Largest number of steps of the quadratic program; about ten are typical.
STEPS = 200
# Outcome of a division.
BALANCED, UNBALANCED, NO_SOLUTION = range(3)
EVEN, LEAST_SQUARES, FRICTION_CONE = range(3)


@part
def even_shares(feet, states, force, shares):
    """
    Fill the contact wrenches that divide a base wrench evenly (3.24).

    Each of the n feet gets ``force / n``, seen at the base; ``shares`` (nc,) in base axes.
    """
    n = feet.index.shape[0]
    f = (force[0] / n, force[1] / n, force[2] / n)
    m = (force[3] / n, force[4] / n, force[5] / n)
    for i in range(n):
        row = feet.index[i, START]
        at_contact = subtract(m, cross(get3(states, i, CONTACT), f))
        for k in range(3):
            shares[row + k] = f[k]
        put_moment(feet.index, states, i, at_contact, shares)


@part
def asked_shares(feet, asked, wrench, weights, shares):
    """
    Replace the even forces of feet with a request (base axes), and fill the weights.

    The rest of the force is divided evenly; moments start at zero, since soles are best
    loaded in the middle. ``asked`` (nf, 4): flag and force; weights `ASKED_WEIGHT` or one.
    """
    rest, others = load3(wrench, 0), 0
    for i in range(feet.index.shape[0]):
        if asked[i, 0] == 0.0:
            others += 1
        else:
            rest = subtract(rest, load3(asked[i], 1))
    for i in range(feet.index.shape[0]):
        row = feet.index[i, START]
        if asked[i, 0] != 0.0:
            store3(shares, row, load3(asked[i], 1))
        elif others < feet.index.shape[0]:
            store3(shares, row, (rest[0] / others, rest[1] / others, rest[2] / others))
        for k in range(3):
            weights[row + k] = 1.0 if asked[i, 0] == 0.0 else ASKED_WEIGHT
        for k in range(3, feet.index[i, SIZE]):
            shares[row + k] = 0.0


@part
def missing_wrench(grasp, wrench, shares, missing):
    """Fill the wrench that the feet do not produce, ``W - sum J_base^T lambda``."""
    for i in range(6):
        missing[i] = wrench[i]
        for c in range(shares.shape[0]):
            missing[i] -= grasp[i, c] * shares[c]


@part
def least_squares(grasp, spare, wrench, weights, shares):
    """Move shares to the nearest (by weights) that add up to the wrench, if any."""
    A, b = spare[:6], spare[6]
    missing_wrench(grasp, wrench, shares, b)
    trace = 0.0
    for i in range(6):
        for j in range(i + 1):
            A[i, j] = 0.0
            for c in range(shares.shape[0]):
                A[i, j] += grasp[i, c] * grasp[j, c] / weights[c]
        trace += A[i, i]
    for i in range(6):
        A[i, i] += 1e-12 * trace     # two point feet give no moment about the line through them
    factorize(A, 6)
    solve_factorized(A, 6, b)
    for c in range(shares.shape[0]):
        for i in range(6):
            shares[c] += grasp[i, c] * b[i] / weights[c]


@part
def _fill_cones(feet, states, R_WB, p, row):
    """
    Fill rows of ``C lambda >= d`` of a program with the feet's cones; return the next row.

    ``cones`` (nf, k, 7): flag, and rows on force, in ground axes (``R_WG``; own ones for a
    foot with a plane), and on moment, in foot axes; ``bounds`` (nf, k).
    """
    for i in range(feet.index.shape[0]):
        start, size = feet.index[i, START], feet.index[i, SIZE]
        R_BF, axes = get9(states, i, FOOT_ROTATION), moment_axes(feet.index, states, i)
        R = R_BF        # from the axes of the inequalities to those of the base
        if feet.index[i, PLANE] == 0:
            R = compose(transpose(R_WB), get9(p.ground, i, 0))
        for k in range(p.cones.shape[1]):
            if p.cones[i, k, 0] == 0.0:
                continue
            on_force = rotate(R, get3(p.cones[i], k, 1))
            for c in range(3):
                p.C[row, start + c] = on_force[c]
            on_moment = rotate(axes, rotate(R_BF, get3(p.cones[i], k, 4)))
            for c in range(size - 3):
                p.C[row, start + 3 + c] = on_moment[c]
            p.d[row] = p.bounds[i, k]
            row += 1
    return row


@part
def _fill_efforts(jacobian, free, limits, C, d, row):
    """
    Fill rows of ``C lambda >= d`` with the legs' effort limits; return the next row.

    ``free``: efforts without ground reactions; ``limits``: zero for joints without one.
    """
    nc, nv = jacobian.shape
    for j in range(nv):
        borne = False
        for c in range(nc):
            borne = borne or jacobian[c, j] != 0.0
        if not borne or limits[j] == 0.0:
            continue
        # tau = free - J_q^T lambda lies within +-limit.
        for c in range(nc):
            C[row, c] = jacobian[c, j]
            C[row + 1, c] = -jacobian[c, j]
        d[row] = free[j] - limits[j]
        d[row + 1] = -free[j] - limits[j]
        row += 2
    return row


@part
def _recall(active, memory, first, rows):
    """Fill the first active set from the last solution, equalities first; return its size."""
    found = 0
    for i in range(first, 6):
        active[found] = i
        found += 1
    for i in range(memory[0]):
        if 6 <= memory[1 + i] < rows:
            active[found] = memory[1 + i] - first
            found += 1
    return found


@lean_kernel
def friction_cone(s, p, R_WB, wrench, free, limits, weights, shares):
    """
    Move shares to the nearest that add up to the wrench within cones and efforts.

    Returns BALANCED, UNBALANCED or NO_SOLUTION (shares unchanged). ``free``:
    ``M_q a + h_q``; ``limits``: zero for joints without one; shares are even on entry.
    """
    s, p = opened(s), opened(p)
    nc, grasp = shares.shape[0], s.grasp
    p.C[:, :] = 0.0
    for i in range(6):
        p.d[i] = wrench[i]
        for c in range(nc):
            p.C[i, c] = grasp[i, c]
    rows = _fill_cones(s.feet, s.states, load9(R_WB, 0), p, 6)
    rows = _fill_efforts(s.jacobian, free, limits, p.C, p.d, rows)
    outcome, first, status, n_active = BALANCED, 0, INFEASIBLE, 0
    while first <= 6 and status == INFEASIBLE:
        # First the wrench is an equality; if that is infeasible, a cost.
        missed = 0.0 if first == 0 else BALANCE_WEIGHT
        outcome = BALANCED if first == 0 else UNBALANCED
        for c in range(nc):
            # When the ground cannot support the body, requests are ignored.
            weight = weights[c] if first == 0 or weights[c] < ASKED_WEIGHT else 1.0
            p.g[c] = -weight * shares[c]
            for i in range(6):
                p.g[c] -= missed * p.balance[i] * grasp[i, c] * wrench[i]
            for k in range(nc):
                p.H[c, k] = weight if c == k else 0.0
                for i in range(6):
                    p.H[c, k] += missed * p.balance[i] * grasp[i, c] * grasp[i, k]
        n_active = _recall(p.active, p.memory, first, rows)
        status, n_active, _ = dual_method(QuadraticProgram(
            p.H, p.g, p.C[first:rows], p.d[first:rows], p.x, p.u, p.active, p.rows[first:rows],
            p.columns, p.gram, p.vectors, p.span), 6 - first, n_active, STEPS)
        for i in range(n_active):
            p.active[i] += first
        first += 6
    if status != 0:
        p.memory[0] = 0
        return NO_SOLUTION
    kept = 0
    for i in range(n_active):
        if p.active[i] >= 6:
            p.memory[1 + kept] = p.active[i]
            kept += 1
    p.memory[0] = kept
    for c in range(nc):
        shares[c] = p.x[c]
    return outcome


@part
def add_leg_loads(inverse, free, shares):
    """Add the contact wrenches required by the legs, ``J_q^+T (M_q a + h_q)``, to shares."""
    nv, nc = inverse.shape
    for c in range(nc):
        for j in range(nv):
            shares[c] += inverse[j, c] * free[j]


# -------------------------------------------------------------------------------------------------
# The quadratic program of one set of stance feet.


# Number of facets of the pyramid inside the friction cone of a spherical foot.
FACETS = 8


class DivisionProgram(NamedTuple):
    """
    A quadratic program of nc unknowns and at most m constraints, equalities first.

    Attributes
    ----------
    ground : (nf, 9) array
        ``R_WG`` of each foot, by rows; see StanceArrays.
    cones : (nf, k, 7) array
        Flag whether a row is used; coefficients of the foot's inequalities, in the axes of the
        ground for a spherical foot and in its own for a sole.
    bounds : (nf, k) array
        Lower bounds.
    balance : (6,) array
        Weight of each component of the wrench on the base when the wrench is infeasible.
    H, g, C, d : (nc, nc), (nc,), (m, nc), (m,) array
        As in :mod:`legged_dynamics.optimization.quadratic_program`.
    active, u, x : (m + nc + 1,) int, (m + nc + 1,), (nc,) array
        Constraints that hold with equality, multipliers, solution.
    memory : (m + nc + 2,) int array
        Number of active constraints of the last solution, and which.
    rows, columns, gram, vectors, span : arrays
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
    columns: np.ndarray
    gram: np.ndarray
    vectors: np.ndarray
    span: np.ndarray


def foot_cone(foot: Foot, friction: float, minimum: float,
              margin: float = 0.0, most: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    """
    Return A (k, 6), b (k,) of the inequalities ``A w >= b`` on a foot's wrench.

    ``minimum``, ``most`` [N]: normal force; ``margin``: fraction of a sole at its edges
    that the CoP must avoid. As in `DivisionProgram.cones`.
    """
    A, b = contact_inequalities(FrictionCone(friction, facets=FACETS, minimum=minimum,
                                             maximum=most),
                                foot.shrunk(margin), np.eye(3))
    return as_wrenches(foot, A), b


def division_program(feet: Sequence[Foot], nc: int, nv: int, friction: float, minimum: float,
                 ground: np.ndarray | None = None, upright: float = 1.0,
                     most: float = np.inf) -> DivisionProgram:
    """
    Set up the quadratic program that divides a wrench among feet.

    ``ground`` (nf, 9): axes ``R_WG``, level by default; ``upright`` [1/m]: missing newtons
    that count like one newton metre.
    """
    found = [foot_cone(foot, friction, minimum, most=most) for foot in feet]
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
    qp = QuadraticProgram.of_size(nc, m)
    return DivisionProgram(
        ground, cones, bounds, balance, qp.H, qp.g, qp.C, qp.d, qp.active, qp.u, qp.x,
        np.zeros(m + nc + 2, np.int64), qp.rows, qp.columns, qp.gram, qp.vectors, qp.span)
