# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Memory of the quadratic program of one tick, and the ground's limits on foot forces.

Unknown are the contact coordinates w of all feet, base axes:

    min  sum_i (w_i - g_i)^T D_i (w_i - g_i) / 2  +  |b - A w|^2_(V^-1) / 2,    C w >= d

D has a block for each foot. The rows of A are the six equations of the base and, with measured
torque, one for each joint that several feet load; V = 0 makes them exact. C are friction, load
limits and the edges of soles. What depends on the robot alone is set once, by `make_program`.
"""
from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.solution import EquationWeights
from legged_dynamics.contact.tick import NORMAL, STANDING
from legged_dynamics.dynamics.jacobians import (
    BODY,
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    PLANE,
    SIZE,
    SOLE,
    START,
    FeetTable,
    has_moment,
    moment_axes,
)
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model.feet import Foot, as_wrenches
from legged_dynamics.model.parts import JOINT, SPHERICAL, V_START
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import ZERO, add, cross, load3, rotate, subtract, z_axis
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import get3, get9, put3

# Columns of a template: coefficients of the limit in axes with z along the normal (of a sole: its
# own, about its middle), its least value, and the number of the foot.
INEQUALITY, BOUND, FOOT = accumulate((0, 6, 1))
N_TEMPLATE = 8
# Rows of Program.lists, and which foot loads a joint: its number, none, or several.
WORKING, REMEMBERED, OWNER, SIZES = range(4)
N_LISTS = 4
NO_FOOT = -1
SEVERAL_FEET = -2
# The first rows of Program.wide: vectors of length nc, ...
AIM, W, CHANGE = range(3)
# ... of the number of equations, ...
B, V, Y, BASE_VARIANCE = range(3, 7)
# ... of inequalities, active ones, and joints.
SLACK, SIZE_OF_SLACK, U, R, WHOLE, JOINT_VARIANCE = range(7, 13)
N_VECTORS = 13


class Program(NamedTuple):
    """
    Memory for nc coordinates, e equations and m inequalities: three tables, and where things lie.

    Only three arrays, because each one adds to the time of a call and of compilation.

    Attributes
    ----------
    narrow : (rows, at least 8 and e) array
        From the row of that name on: templates (m); D (nc) and its inverse (nc), of which a row
        has the block of its foot; ``D^-1 A^T``, the response (nc); A^T (nc); inequalities C in
        the coordinates of their foot (m); the factor of M (e).
    wide : (rows, at least m, nc + 6, nv and e) array
        Vectors first; then columns, how slacks respond to multipliers of active inequalities
        (nc + 1); the matrix of those (nc + 1); Jacobian of the joints (nc).
    lists : (N_LISTS, n) int array
        At WORKING the active inequalities, at REMEMBERED those of the last tick and before them
        their number, at OWNER the foot of each joint, at SIZES nc, e and m.
    nc, e, m : int
        Numbers of contact coordinates, equations and inequalities.
    D, inverse, response, A, C, M : int
        First rows of those parts of ``narrow``.
    columns, gram, jacobian : int
        First rows of those parts of ``wide``.

    """

    narrow: np.ndarray
    wide: np.ndarray
    lists: np.ndarray
    nc: int
    e: int
    m: int
    D: int
    inverse: int
    response: int
    A: int
    C: int
    M: int
    columns: int
    gram: int
    jacobian: int


@part
def carve_program(narrow, wide, lists):
    """Return the `Program` that is stored in three tables, with the offsets of its parts."""
    nc, e, m = lists[SIZES, 0], lists[SIZES, 1], lists[SIZES, 2]
    return Program(narrow, wide, lists, nc, e, m, m, m + nc, m + 2 * nc, m + 3 * nc,
                   m + 4 * nc, 2 * m + 4 * nc, N_VECTORS, N_VECTORS + nc + 1,
                   N_VECTORS + 2 * nc + 2)


def make_program(model: RobotModel, feet: Sequence[Foot], table: FeetTable,
                 cones: Sequence[FrictionCone], weights: EquationWeights | None) -> Program:
    """
    Return the memory of a robot's program, with constants filled in.

    Without ``cones`` there are no inequalities; ``weights`` are the equation variances for
    measured torque.
    """
    nc, nv = table.size, model.nv
    templates = limit_templates(feet, cones)
    owner = _owners(model, table)
    m, e = len(templates), 6 + int((owner == SEVERAL_FEET).sum())
    width = max(m, nc + 6, nv, e)
    lists = np.zeros((N_LISTS, width), np.int64)
    lists[SIZES, :3] = nc, e, m
    program = carve_program(np.zeros((2 * m + 4 * nc + e, max(N_TEMPLATE, e))),
                            np.zeros((N_VECTORS + 3 * nc + 2, width)), lists)
    program.narrow[:m, :N_TEMPLATE] = templates
    program.lists[OWNER, :nv] = owner
    if weights is not None:
        program.wide[BASE_VARIANCE, :8], program.wide[JOINT_VARIANCE, :nv] = weights.packed(nv)
    return program


def _owners(model: RobotModel, table: FeetTable) -> np.ndarray:
    """Return which foot each joint moves: its number, NO_FOOT or SEVERAL_FEET; (nv,)."""
    owner = np.full(model.nv, NO_FOOT)
    for i, body in enumerate(table.index[:, BODY]):
        for b in model.chain(int(body)):
            start = int(model.tree.topology[b, V_START])
            size = 3 if model.tree.topology[b, JOINT] == SPHERICAL else 1
            seen = owner[start:start + size]
            seen[:] = np.where(seen == NO_FOOT, i, SEVERAL_FEET)
    return owner


def one_cone_a_foot(friction: FrictionCone | Sequence[FrictionCone] | None, nf: int
                    ) -> tuple[FrictionCone, ...]:
    """Return one cone per foot, with z for its normal; empty without friction."""
    if friction is None:
        return ()
    cones = (friction,) * nf if isinstance(friction, FrictionCone) else tuple(friction)
    if len(cones) != nf:
        raise ConfigurationError(f'expected one friction cone, or one for each of {nf} feet, '
                                 f'got {len(cones)}')
    normal = np.array([0.0, 0.0, 1.0])
    return tuple(FrictionCone(cone.coefficient, normal, cone.facets, cone.minimum, cone.maximum)
                 for cone in cones)


# -------------------------------------------------------------------------------------------------
# Limits of the ground's forces on the feet: templates that do not depend on the pose, and what
# they are in contact coordinates at the present one.


NO_AXES = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@part
def _frame_on(normal):
    """Return the rotation whose third axis is a unit normal: a kernel's `rotation_to_z`."""
    x, y, z = normal
    if z < -1.0 + 1e-12:
        return 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0
    s = 1.0 / (1.0 + z)
    return 1.0 - s * x * x, -s * x * y, x, -s * x * y, 1.0 - s * y * y, y, -x, -y, z


def limit_templates(feet: Sequence[Foot], cones: Sequence[FrictionCone]) -> np.ndarray:
    """
    Return the ground force limits of the feet (m, N_TEMPLATE), independent of the pose.

    Per row: coefficients of force and moment in axes with z along the normal (of a sole:
    its own, about its middle), lower bound, foot number. Empty without ``cones``.
    """
    rows = []
    for i, cone in enumerate(cones):
        A, d = contact_inequalities(cone, feet[i], np.eye(3))
        rows += [[*a, bound, i] for a, bound in zip(as_wrenches(feet[i], A), d)]
    return np.array(rows, float).reshape(-1, N_TEMPLATE)


@part
def ground_axes(feet, states, i, normal):
    """
    Return the axes of a foot's force limits, and the arm from their origin.

    Row-major rotation from limit axes to base axes (9), and the contact point from the
    middle of the sole [m], zero without moments. ``normal`` is in base axes.
    """
    geometry = feet.geometry
    R, arm = get9(states, i, FOOT_ROTATION), ZERO
    if has_moment(feet.index, i):
        middle = (0.5 * (geometry[i, SOLE] + geometry[i, SOLE + 1]),
                  0.5 * (geometry[i, SOLE + 2] + geometry[i, SOLE + 3]), 0.0)
        arm = subtract(get3(states, i, CONTACT), get3(states, i, FOOT_POSITION))
        arm = subtract(arm, rotate(R, middle))
    if feet.index[i, PLANE] == 0:
        R = _frame_on(normal)
    return R, arm


@part
def limit_row(on_force, on_moment, arm, axes):
    """
    Return a limit's coefficients of a foot's force and of its moment coordinates.

    ``on_force``, ``on_moment`` (about the sole's middle) and ``axes`` (by rows, of
    `moment_axes`) are in base axes; ``arm``: contact point from the middle of the sole [m].
    """
    return add(on_force, cross(on_moment, arm)), rotate(axes, on_moment)


@part
def fill_inequalities(feet, settings, states, p):
    """Fill the limits in contact coordinates from templates; flags: see `contact.tick`."""
    i = -1
    R, arm, axes = _frame_on((0.0, 0.0, 1.0)), ZERO, NO_AXES
    for k in range(p.m):
        foot = int(p.narrow[k, FOOT])
        if foot != i:
            i = foot
            R, arm = ground_axes(feet, states, i, load3(settings, NORMAL))
            axes = moment_axes(feet.index, states, i)
        on_force, on_moment = rotate(R, get3(p.narrow, k, INEQUALITY)), ZERO
        if has_moment(feet.index, i):
            moment = rotate(get9(states, i, FOOT_ROTATION), get3(p.narrow, k, INEQUALITY + 3))
            on_force, on_moment = limit_row(on_force, moment, arm, axes)
        put3(p.narrow, p.C + k, 0, on_force)
        put3(p.narrow, p.C + k, 3, on_moment)


@part
def fill_slacks(index, p):
    """Fill ``C w - d`` of all inequalities, 0 for swing feet; return the least, at most 0."""
    smallest = 0.0
    for k in range(p.m):
        i, slack = int(p.narrow[k, FOOT]), 0.0
        if index[i, STANDING] != 0:
            slack = -p.narrow[k, BOUND]
            for c in range(index[i, SIZE]):
                slack += p.narrow[p.C + k, c] * p.wide[W, index[i, START] + c]
        p.wide[SLACK, k] = slack
        smallest = min(smallest, slack)
    return smallest


@part
def move_inside(feet, settings, states, p):
    """
    Move each foot's force inside the limits that rounding has left violated.

    A normal force at the middle of a sole meets all limits but the upper load limit; a
    smaller wrench meets that. The changes are of the size of the tolerance.
    """
    if fill_slacks(feet.index, p) == 0.0:
        return
    for i in range(feet.index.shape[0]):
        start, size = feet.index[i, START], feet.index[i, SIZE]
        R, arm = ground_axes(feet, states, i, load3(settings, NORMAL))
        normal = z_axis(R)
        moment = rotate(moment_axes(feet.index, states, i), cross(normal, arm))
        missing, limit, reached, share = 0.0, -1.0, 0.0, 1.0
        for k in range(p.m):
            if int(p.narrow[k, FOOT]) == i:
                room = 0.0
                for c in range(3):
                    room += p.narrow[p.C + k, c] * normal[c] + p.narrow[p.C + k, 3 + c] * moment[c]
                if room > 0.0:
                    missing = max(missing, -p.wide[SLACK, k] / room)
                elif p.narrow[k, BOUND] < 0.0:
                    limit = p.narrow[k, BOUND]
                    reached = p.wide[SLACK, k] + limit
        if reached - missing < limit:
            share = limit / (reached - missing)
        for c in range(3):
            p.wide[W, start + c] = share * (p.wide[W, start + c] + missing * normal[c])
        for c in range(size - 3):
            p.wide[W, start + 3 + c] = share * (p.wide[W, start + 3 + c] + missing * moment[c])
