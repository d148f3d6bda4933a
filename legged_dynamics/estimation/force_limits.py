# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the ground can give the feet, known of the estimated forces as well as the measurements.

The filters' forces are a Gaussian of all feet, and may pull or lie outside friction by some
deviations. Within the limits the likeliest forces are those nearest in the metric of the
covariance: the force that a foot cannot have goes to where it is least certain that it does not
belong. Only the forces of now are limited. The filters go on from what they have found, and the
forces of the sample before stay as they are, for whoever filters them: noise that is cut off on
one side is a bias once it is averaged.

Arguments of the kernels: see ``estimation/__init__.py``; ``ground`` is a layout.Ground.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from legged_dynamics.contact.ground_limits import NO_AXES, frame_on, limit_row
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
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model.foot import Foot, as_wrenches
from legged_dynamics.optimization.within_limits import within_limits
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    rotate,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import matrix, vector

CHOICES = ('none', 'unilateral', 'cone')
# Columns of a limit: coefficients of force and moment in axes with z along the normal (of a sole:
# its own, about its middle), what it is to reach at least, the foot.
COEFFICIENTS, BOUND, FOOT = 0, 6, 7


def limits_of(feet: Sequence[Foot], kind: str, friction: float) -> np.ndarray:
    """
    Return what the ground can give feet, (m, 8), a limit a row.

    Parameters
    ----------
    feet : sequence of Foot
        In the estimator's order.
    kind : str
        One of `CHOICES`; unilateral: no foot pulls, and soles press inside their edges.
    friction : float
        Coefficient.

    """
    rows: list[list[float]] = []
    for i, foot in enumerate(feet if kind != 'none' else ()):
        A, b = contact_inequalities(FrictionCone(friction), foot, np.eye(3))
        if kind == 'unilateral':    # what is so whatever the friction
            other, _ = contact_inequalities(FrictionCone(2.0 * friction), foot, np.eye(3))
            kept = (A == other).all(axis=1)
            A, b = A[kept], b[kept]
        rows += [[*a, bound, i] for a, bound in zip(as_wrenches(foot, A), b)]
    return np.array(rows).reshape(-1, 8)


@part
def turned(a, b, v):
    """Return v turned by the smallest rotation that takes unit vector a to b."""
    axis, c = cross(a, b), dot(a, b)
    once = cross(axis, v)
    return add_scaled(add(v, once), 1.0 / max(1.0 + c, 1e-9), cross(axis, once))


@part
def fill_limits(feet, states, ground, layout, out):
    """Turn the limits into rows on contact coordinates, as the feet stand now."""
    limits, bounds, foot = ground.limits, ground.bounds, -1
    R, normal, arm, axes, on_ground = NO_AXES, ZERO, ZERO, NO_AXES, NO_AXES
    for k in range(limits.shape[0]):
        i = int(limits[k, FOOT])
        if i != foot:
            foot, arm = i, ZERO
            R, normal = load9(states[i], FOOT_ROTATION), load3(out, layout.foot_normals + 3 * i)
            axes, on_ground = moment_axes(feet.index, states, i), frame_on(normal)
            if has_moment(feet.index, i):
                edges = feet.geometry[i]
                middle = (0.5 * (edges[SOLE] + edges[SOLE + 1]),
                          0.5 * (edges[SOLE + 2] + edges[SOLE + 3]), 0.0)
                arm = subtract(load3(states[i], CONTACT), load3(states[i], FOOT_POSITION))
                arm = subtract(arm, rotate(R, middle))
        force, moment = load3(limits[k], COEFFICIENTS), load3(limits[k], COEFFICIENTS + 3)
        moment = rotate(R, moment)
        if feet.index[i, PLANE] != 0:       # a tilted sole has the limits of one that lies there
            force = turned(z_axis(R), normal, rotate(R, force))
            moment = turned(z_axis(R), normal, moment)
        else:
            force = rotate(on_ground, force)
        on_force, on_moment = limit_row(force, moment, arm, axes)
        s = feet.index[i, START]
        store3(bounds.C[k], s, on_force)
        for c in range(feet.index[i, SIZE] - 3):
            bounds.C[k, s + 3 + c] = on_moment[c]
        bounds.d[k] = limits[k, BOUND]
        bounds.begin[k], bounds.end[k] = s, s + feet.index[i, SIZE]


@part
def keep_limits(feet, layout, states, ground, row, out):
    """Limit the forces of the newest sample, and their covariance."""
    if ground.limits.shape[0] == 0:
        return
    nc = layout.contacts
    fill_limits(feet, states, ground, layout, out)
    w, _ = vector(out, layout.latest_coordinates, nc)
    P, _ = matrix(out, layout.latest_covariance, nc, nc)
    within_limits(w, P, ground.bounds)
    for i in range(feet.index.shape[0]):
        if row[layout.given_contact + i] < 0.5:     # what is known to be up stays without force
            for k in range(feet.index[i, SIZE]):
                out[layout.latest_coordinates + feet.index[i, START] + k] = 0.0
