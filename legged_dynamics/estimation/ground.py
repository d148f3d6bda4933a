# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The ground's normal, from where feet have stood.

A plane through the last places of all feet is a help for the contact points of balls, for the
normal force and for telling a tilted sole from one that lies on a slope; it decides nothing. It
counts the less the worse the places lie on it: on steps gravity's direction is the better guess.
Soles that rest say the normal themselves.

Arguments of the kernels: see ``estimation/__init__.py``.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.program import NO_AXES, frame_on, limit_row
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
    contact_points,
    has_moment,
    lean_on_lowest_part,
    moment_axes,
)
from legged_dynamics.dynamics.kinematics import OMEGA
from legged_dynamics.estimation.filter.memory import PLACE
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model.feet import Foot, as_wrenches
from legged_dynamics.optimization.within_limits import BoundsRoom, within_limits
from legged_dynamics.spatial.algebra import (
    ZERO,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    norm,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    z_axis,
)
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import get3, put3

# What places may lie off the plane, as a fraction of the feet's distance from the base.
UNEVEN = 0.02
# How fast the normal follows [s], and how fast a sole may turn that counts as resting [rad/s].
NORMAL_TIME, RESTING = 0.3, 0.3
# A robot that was just found may still settle [s]: gravity's direction holds until then.
SETTLED = 0.5
# Steepest slope that is believed, as the horizontal part of the normal (35 degrees).
STEEPEST = 0.57


@part
def follow_ground(feet, settings, bodies, states, R_WB, imu, probability, memory, settle, dt):
    """
    Move the feet's last places along with the base, and the normal towards their plane.

    A standing foot draws its place to where it is by the share ``settle``, at once by 1.
    """
    nf, places = feet.index.shape[0], memory.places
    moved, total = (0.0, 0.0, 0.0), 0.0
    soles, resting = (0.0, 0.0, 0.0), 0
    for i in range(nf):
        p = probability[i]
        now = rotate(R_WB, load3(states[i], FOOT_POSITION))
        if p > 0.5 and places[i, PLACE.known] > 0.5:
            step = subtract(now, get3(places, i, PLACE.position))
            moved, total = add_scaled(moved, p, step), total + p
        if p > 0.5 and feet.index[i, PLANE] != 0:
            if norm(load3(bodies[feet.index[i, BODY]], OMEGA)) < RESTING:
                R_WF = rotate(R_WB, (states[i, FOOT_ROTATION + 2], states[i, FOOT_ROTATION + 5],
                                     states[i, FOOT_ROTATION + 8]))
                soles, resting = add(soles, R_WF), resting + 1
    step = scale(1.0 / total, moved) if total > 0.0 else (0.0, 0.0, 0.0)
    known = 0
    for i in range(nf):
        place = add(get3(places, i, PLACE.position), step)
        if probability[i] > 0.5:
            now = rotate(R_WB, load3(states[i], FOOT_POSITION))
            share = settle if places[i, PLACE.known] > 0.5 else 1.0
            place = now if share == 1.0 else add_scaled(place, share, subtract(now, place))
            places[i, PLACE.known] = 1.0
        put3(places, i, PLACE.position, place)
        if places[i, PLACE.known] > 0.5:
            known += 1
    memory.age[0] = min(memory.age[0] + dt, SETTLED)
    if not imu or memory.age[0] < SETTLED:
        return
    goal = (0.0, 0.0, 1.0)
    if resting > 0:
        goal = soles
    elif known >= 3 and known == nf:
        goal = plane_normal(settings, places)
    length = norm(goal)
    slope = math.sqrt(goal[0] * goal[0] + goal[1] * goal[1])
    if not (length > 0.0 and slope < STEEPEST * length):
        return
    normal = load3(memory.normal, 0)
    share = min(dt / NORMAL_TIME, 1.0)
    normal = add_scaled(normal, share, subtract(scale(1.0 / length, goal), normal))
    store3(memory.normal, 0, scale(1.0 / norm(normal), normal))


@part
def plane_normal(settings, places):
    """Return a normal of the plane nearest to the places, drawn to gravity's direction."""
    nf, mean = places.shape[0], (0.0, 0.0, 0.0)
    for i in range(nf):
        mean = add_scaled(mean, 1.0 / nf, get3(places, i, PLACE.position))
    uneven2 = (UNEVEN * settings.reach) ** 2
    # Ridge: a plane through points that are nearly in line leans nowhere.
    xx = yy = nf * uneven2
    xy = xz = yz = zz = 0.0
    for i in range(nf):
        x, y, z = subtract(get3(places, i, PLACE.position), mean)
        xx, xy, xz = xx + x * x, xy + x * y, xz + x * z
        yy, yz, zz = yy + y * y, yz + y * z, zz + z * z
    determinant = xx * yy - xy * xy
    a, b = (yy * xz - xy * yz) / determinant, (xx * yz - xy * xz) / determinant
    left = max(zz - a * xz - b * yz, 0.0) / nf
    trust = uneven2 / (uneven2 + left)
    return -trust * a, -trust * b, 1.0


# -------------------------------------------------------------------------------------------------
# The ground's normals that a user gives, beside the one that feet have found (`ground_plane`).
#
# World axes: z up, heading of the IMU. A foot without a given normal stands on the common plane.
#
# Arguments of the kernels: see ``estimation/__init__.py``.


# Columns of the tables of `Ground`.
N_GIVEN, N_LIMIT = 4, 8
# A vector shorter than this has no direction to speak of.
LEAST_LENGTH = 1e-3


class Ground(NamedTuple):
    """
    What is known of the ground under the feet beforehand.

    Attributes
    ----------
    given : (nf, N_GIVEN) array
        Whether a normal is given, and it, in world axes.
    limits : (m, N_LIMIT) array
        What the ground can give: see `force_limits`.
    bounds : BoundsRoom
        Room to keep forces within that.

    """

    given: np.ndarray
    limits: np.ndarray
    bounds: BoundsRoom


@part
def normals_under_feet(given, R_WB, plane, results):
    """Fill each foot's normal in base axes; return the common one: given for all, or found."""
    shared, total, known = rotate_back(R_WB, plane), ZERO, 0
    for i in range(given.shape[0]):
        normal = shared
        if given[i, 0] > 0.5:
            normal = rotate_back(R_WB, load3(given[i], 1))
            total, known = add(total, normal), known + 1
        put3(results.normals, i, 0, normal)
    length = norm(total)
    if known == given.shape[0] and length > 1e-9:
        shared = scale(1.0 / length, total)
    store3(results.ground_normal, 0, shared)
    return shared


@part
def stand_on_given(feet, given, bodies, shared, results):
    """Move the contact points of feet that stand on ground of their own."""
    states = results.states
    for i in range(given.shape[0]):
        normal = get3(results.normals, i, 0)
        if given[i, 0] > 0.5 and normal != shared:
            one = FeetTable(feet.index[i:i + 1], feet.geometry[i:i + 1])
            contact_points(one, bodies, normal, states[i:i + 1])
            lean_on_lowest_part(one, normal, states[i:i + 1])


def given_normals(normal: Sequence[float], normals: Sequence[float], feet: int) -> np.ndarray:
    """
    Return the normals that settings give, (feet, 4): whether there is one, and it.

    Parameters
    ----------
    normal : sequence of float
        Of the ground under all feet, three values; or empty.
    normals : sequence of float
        The same one foot after the other, three each; zeros for a foot whose normal is to be
        found; or empty.
    feet : int
        How many there are.

    Raises
    ------
    ConfigurationError
        When the number of values is wrong, both are given, or a vector has no length, or points
        down.

    """
    found = np.zeros((feet, 4))
    if len(normal) and len(normals):
        raise ConfigurationError('ground.normal and ground.normals: expected one of them, got '
                                 'both; ground.normal is that of all feet')
    if len(normal) not in (0, 3):
        raise ConfigurationError(f'ground.normal: expected 3 values (x, y, z, with z up), got '
                                 f'{len(normal)}')
    if len(normals) not in (0, 3 * feet):
        raise ConfigurationError(f'ground.normals: expected {3 * feet} values, 3 for each of '
                                 f'{feet} feet, got {len(normals)}')
    rows = np.reshape(normals, (-1, 3)) if len(normals) else np.tile(normal, (feet, 1))
    for i, row in enumerate(rows if rows.size else ()):
        length = float(np.linalg.norm(row))
        name = f'ground.normals, foot {i + 1}' if len(normals) else 'ground.normal'
        if length == 0.0 and len(normals):
            continue
        if not length > LEAST_LENGTH:
            raise ConfigurationError(f'{name}: expected a vector with a direction, got '
                                     f'{row.tolist()}')
        if row[2] < 0.0:
            raise ConfigurationError(f'{name}: expected a normal out of the ground, with z at '
                                     f'least 0 in world axes, got {row.tolist()}; is the sign '
                                     'the wrong way round?')
        found[i] = 1.0, *(row / length)
    return found


# -------------------------------------------------------------------------------------------------
# What the ground can give the feet, known of the estimated forces as well as the measurements.
#
# The filters' forces are a Gaussian of all feet, and may pull or lie outside friction by some
# deviations. Within the limits the likeliest forces are those nearest in the metric of the
# covariance: the force that a foot cannot have goes to where it is least certain that it does not
# belong. Only the forces of now are limited. The filters go on from what they have found, and the
# forces of the sample before stay as they are, for whoever filters them: noise that is cut off on
# one side is a bias once it is averaged.
#
# Arguments of the kernels: see ``estimation/__init__.py``; ``ground`` is a layout.Ground.


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
def fill_limits(feet, ground, results):
    """Turn the limits into rows on contact coordinates, as the feet stand now."""
    limits, bounds, states, foot = ground.limits, ground.bounds, results.states, -1
    R, normal, arm, axes, on_ground = NO_AXES, ZERO, ZERO, NO_AXES, NO_AXES
    for k in range(limits.shape[0]):
        i = int(limits[k, FOOT])
        if i != foot:
            foot, arm = i, ZERO
            R, normal = load9(states[i], FOOT_ROTATION), get3(results.normals, i, 0)
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
def keep_limits(feet, layout, ground, row, results):
    """Limit the forces of the newest sample, and their covariance."""
    if ground.limits.shape[0] == 0:
        return
    fill_limits(feet, ground, results.feet)
    w = results.forces.latest
    within_limits(w, results.forces.latest_covariance, ground.bounds)
    for i in range(feet.index.shape[0]):
        if row[layout.given_contact + i] < 0.5:     # what is known to be up stays without force
            for k in range(feet.index[i, SIZE]):
                w[feet.index[i, START] + k] = 0.0
