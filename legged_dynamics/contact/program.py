# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The quadratic program of one tick, and the ground's limits on foot forces.

Unknown are the contact coordinates w of all feet, base axes:

    min  (w - g)^T D (w - g) / 2  +  |b - A w|^2_(V^-1) / 2,    C w >= d

D is diagonal. The rows of A are the six equations of the base and, with measured torque, one for
each joint; those of the base can be equalities instead. C are friction, load limits and the edges
of soles. What depends on the robot alone is set once, by `make_program`.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.solution import EquationWeights
from legged_dynamics.contact.tick import NORMAL, STANDING
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    PLANE,
    SIZE,
    SOLE,
    START,
    has_moment,
    moment_axes,
)
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model.feet import Foot, as_wrenches
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.optimization.quadratic_program import QuadraticProgram
from legged_dynamics.spatial.algebra import ZERO, add, cross, load3, rotate, subtract, z_axis
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import get3, get9

# Columns of a template: coefficients of the limit in axes with z along the normal (of a sole: its
# own, about its middle), its least value, and the number of the foot.
INEQUALITY, BOUND, FOOT = accumulate((0, 6, 1))
N_TEMPLATE = 8
# Row of the first inequality in `Program.qp`, behind the base's equations.
LIMITS = 6


class Program(NamedTuple):
    """Memory for nc coordinates, m inequalities and nv joints, with that of a tick."""

    integers: np.ndarray    # as `contact.tick.allocate` makes them
    floats: np.ndarray
    results: np.ndarray
    templates: np.ndarray   # (m, N_TEMPLATE): limits in no pose
    variance: np.ndarray    # (8 + nv,): of base, force and moment before, joints; see `packed`
    near: np.ndarray        # (nc,): g, the guess
    cost: np.ndarray        # (nc, nc): the cost's matrix; its lower triangle until it is solved
    jacobian: np.ndarray    # (nc, nv): of the joints; zero for feet in the air
    qp: QuadraticProgram    # of 6 equalities and m inequalities
    kept: np.ndarray        # (nc + 7,) int: how many were active last, and which
    multipliers: np.ndarray     # (6 + m,)


def make_program(model: RobotModel, feet: Sequence[Foot], cones: Sequence[FrictionCone],
                 weights: EquationWeights | None, arrays: tuple[np.ndarray, ...]) -> Program:
    """
    Return the memory of a robot's program, with constants filled in.

    Without ``cones`` there are no inequalities; ``weights`` are the equation variances for
    measured torque; ``arrays`` are those of a tick.
    """
    templates = limit_templates(feet, cones)
    nc, m, nv = sum(len(foot.rows) for foot in feet), len(templates), model.nv
    variance = np.ones(8 + nv) if weights is None else np.concatenate(weights.packed(nv))
    return Program._make([*arrays, templates, variance, np.zeros(nc), np.zeros((nc, nc)),
                          np.zeros((nc, nv)), QuadraticProgram.of_size(nc, LIMITS + m),
                          np.zeros(nc + 7, np.int64), np.zeros(LIMITS + m)])


def one_cone_a_foot(friction: FrictionCone | Sequence[FrictionCone] | None, nf: int
                    ) -> tuple[FrictionCone, ...]:
    """Return one cone per foot, with z for its normal; empty without friction."""
    if friction is None:
        return ()
    cones = (friction,) * nf if isinstance(friction, FrictionCone) else tuple(friction)
    if len(cones) != nf:
        raise ConfigurationError(f'expected one friction cone, or one for each of {nf} feet, '
                                 f'got {len(cones)}')
    return tuple(replace(cone, normal=np.array([0.0, 0.0, 1.0])) for cone in cones)


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
    """Return a limit's coefficients of a foot's force, base axes, and moments about ``axes``."""
    # Moments are about the middle of the sole, from where ``arm`` [m] leads to the contact point.
    return add(on_force, cross(on_moment, arm)), rotate(axes, on_moment)


@part
def fill_inequalities(feet, settings, states, p):
    """Fill the limits in contact coordinates from templates; those of feet in the air bind not."""
    i, C, d = -1, p.qp.C, p.qp.d
    R, arm, axes = _frame_on((0.0, 0.0, 1.0)), ZERO, NO_AXES
    for k in range(p.templates.shape[0]):
        foot = int(p.templates[k, FOOT])
        if foot != i:
            i = foot
            R, arm = ground_axes(feet, states, i, load3(settings, NORMAL))
            axes = moment_axes(feet.index, states, i)
        on_force, on_moment = rotate(R, get3(p.templates, k, INEQUALITY)), ZERO
        if has_moment(feet.index, i):
            moment = rotate(get9(states, i, FOOT_ROTATION), get3(p.templates, k, INEQUALITY + 3))
            on_force, on_moment = limit_row(on_force, moment, arm, axes)
        standing = 1.0 if feet.index[i, STANDING] != 0 else 0.0
        d[LIMITS + k] = standing * p.templates[k, BOUND]
        for c in range(feet.index[i, SIZE]):
            value = on_force[c] if c < 3 else on_moment[c - 3]
            C[LIMITS + k, feet.index[i, START] + c] = standing * value


@part
def slack(index, p, k):
    """Return ``C w - d`` of inequality k."""
    i, total = int(p.templates[k, FOOT]), -p.qp.d[LIMITS + k]
    for c in range(index[i, START], index[i, START] + index[i, SIZE]):
        total += p.qp.C[LIMITS + k, c] * p.qp.x[c]
    return total


@part
def within(index, p):
    """Return whether all inequalities are met, to the last bit."""
    for k in range(p.templates.shape[0]):
        if slack(index, p, k) < 0.0:
            return False
    return True


@part
def move_inside(feet, settings, states, p):
    """
    Move each foot's force inside the limits that rounding has left violated.

    A normal force at the middle of a sole meets all limits but the upper load limit; a
    smaller wrench meets that. The changes are of the size of the tolerance.
    """
    if within(feet.index, p):
        return
    C, w = p.qp.C, p.qp.x
    for i in range(feet.index.shape[0]):
        start, size = feet.index[i, START], feet.index[i, SIZE]
        R, arm = ground_axes(feet, states, i, load3(settings, NORMAL))
        normal = z_axis(R)
        moment = rotate(moment_axes(feet.index, states, i), cross(normal, arm))
        missing, limit, reached, share = 0.0, -1.0, 0.0, 1.0
        for k in range(p.templates.shape[0]):
            if int(p.templates[k, FOOT]) == i:
                room, own = 0.0, slack(feet.index, p, k)
                for c in range(size):
                    room += C[LIMITS + k, start + c] * (normal[c] if c < 3 else moment[c - 3])
                if room > 0.0:
                    missing = max(missing, -own / room)
                elif p.qp.d[LIMITS + k] < 0.0:
                    limit = p.qp.d[LIMITS + k]
                    reached = own + limit
        if reached - missing < limit:
            share = limit / (reached - missing)
        for c in range(size):
            along = normal[c] if c < 3 else moment[c - 3]
            w[start + c] = share * (w[start + c] + missing * along)
