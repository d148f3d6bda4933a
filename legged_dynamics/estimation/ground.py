# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The ground under the feet: its normal, found or given, and limits of the forces on it.

The normal is that of a plane through the last places of all feet, drawn to gravity's direction the
more the worse the places lie on the plane (stairs, for example); soles at rest show the normal
themselves. It serves the contact points of balls, the normal force, and telling a tilted sole from
one on a slope. Users may give normals instead. Limits (friction cone, no pulling) apply to the
forces of the newest sample only: what the filters estimate further is not cut.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.program import (
    BOUND,
    FOOT,
    INEQUALITY,
    N_TEMPLATE,
    NO_AXES,
    ground_axes,
    limit_row,
    limit_templates,
)
from legged_dynamics.dynamics.jacobians import (
    BODY,
    FOOT_POSITION,
    FOOT_ROTATION,
    PLANE,
    SIZE,
    START,
    FeetTable,
    contact_points,
    moment_axes,
    move_to_lowest_edge,
)
from legged_dynamics.dynamics.kinematics import OMEGA
from legged_dynamics.estimation.filter.memory import NF, PLACE
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.friction_cone import FrictionCone
from legged_dynamics.model.feet import Foot
from legged_dynamics.optimization.within_limits import LimitsMemory, within_limits
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
from legged_dynamics.spatial.layout import Size, floats, get3, put3


@part
def follow_ground(arrays, settings, states, R_WB, imu, bearing, settle, dt):
    """
    Move the feet's last places with the base, and the normal towards their plane.

    ``bearing`` (nf,): how surely a foot bears load, 0 to 1; ``settle``: share by which a
    stance foot updates its place, 1 at once.
    """
    feet, bodies, memory = arrays.robot.feet, arrays.scratch.bodies, arrays.memory.ground
    probability = arrays.memory.contact.probability
    nf, places = feet.index.shape[0], memory.places
    moved, total = (0.0, 0.0, 0.0), 0.0
    soles, resting = (0.0, 0.0, 0.0), 0
    for i in range(nf):
        p = probability[i]
        now = rotate(R_WB, load3(states[i], FOOT_POSITION))
        if p > 0.5 and places[i, PLACE.known] > 0.5:
            step = subtract(now, get3(places, i, PLACE.position))
            w = max(bearing[i], settings.least_bearing)
            moved, total = add_scaled(moved, w, step), total + w
        if p > 0.5 and feet.index[i, PLANE] != 0:
            if norm(load3(bodies[feet.index[i, BODY]], OMEGA)) < settings.resting:
                R_WF = rotate(R_WB, (states[i, FOOT_ROTATION + 2], states[i, FOOT_ROTATION + 5],
                                     states[i, FOOT_ROTATION + 8]))
                soles, resting = add(soles, R_WF), resting + 1
    step = scale(1.0 / total, moved) if total > 0.0 else (0.0, 0.0, 0.0)
    known = 0
    for i in range(nf):
        place = add(get3(places, i, PLACE.position), step)
        if probability[i] > 0.5:
            now = rotate(R_WB, load3(states[i], FOOT_POSITION))
            share = 1.0
            if settle < 1.0 and places[i, PLACE.known] > 0.5:
                share = settle * min(bearing[i] / probability[i], 1.0)
            place = now if share == 1.0 else add_scaled(place, share, subtract(now, place))
            places[i, PLACE.known] = 1.0
        put3(places, i, PLACE.position, place)
        if places[i, PLACE.known] > 0.5:
            known += 1
    memory.age[0] = min(memory.age[0] + dt, settings.ground_settled)
    if not imu or memory.age[0] < settings.ground_settled:
        return
    goal = (0.0, 0.0, 1.0)
    if resting > 0:
        goal = soles
    elif known >= 3 and known == nf:
        goal = _plane_normal(settings, places)
    length = norm(goal)
    slope = math.sqrt(goal[0] * goal[0] + goal[1] * goal[1])
    if not (length > 0.0 and slope < settings.steepest * length):
        return
    normal = load3(memory.normal, 0)
    share = min(dt / settings.normal_time, 1.0)
    normal = add_scaled(normal, share, subtract(scale(1.0 / length, goal), normal))
    store3(memory.normal, 0, scale(1.0 / norm(normal), normal))


@part
def _plane_normal(settings, places):
    """Return a normal of the plane nearest to the places, drawn to gravity's direction."""
    nf, mean = places.shape[0], (0.0, 0.0, 0.0)
    for i in range(nf):
        mean = add_scaled(mean, 1.0 / nf, get3(places, i, PLACE.position))
    uneven2 = (settings.unevenness * settings.reach) ** 2
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
# Normals that a user gives.
#
# World axes: z up, heading of the IMU. A foot without a given normal stands on the common plane.


# Columns of `Ground.given`.
N_GIVEN = 4
# A vector shorter than this has no direction to speak of.
LEAST_LENGTH = 1e-3


class Ground(NamedTuple):
    """The ground under the feet, as far as it is known beforehand."""

    bounds: LimitsMemory  # to work in
    given: np.ndarray = floats(NF, N_GIVEN)  # whether a normal is given, and it, in world axes
    # limits of the forces on the feet: see `limits_of`
    limits: np.ndarray = floats(Size('limits'), N_TEMPLATE)


@part
def normals_under_feet(given, R_WB, plane, results):
    """
    Fill the ground normal under each foot; return the common one, base axes.

    ``given`` (nf, N_GIVEN): known normals, see `Ground`; ``plane``: estimated, world axes.
    """
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
def move_to_given_ground(feet, given, bodies, shared, results):
    """
    Move the contact points of feet whose ground normal is given: see `Ground`.

    ``shared``: the normal with which they were found, base axes.
    """
    states = results.states
    for i in range(given.shape[0]):
        normal = get3(results.normals, i, 0)
        if given[i, 0] > 0.5 and normal != shared:
            one = FeetTable(feet.index[i:i + 1], feet.geometry[i:i + 1])
            contact_points(one, bodies, normal, states[i:i + 1])
            move_to_lowest_edge(one, normal, states[i:i + 1])


def given_normals(normal: Sequence[float], normals: Sequence[float], feet: int) -> np.ndarray:
    """
    Return the ground normals stated in the settings.

    ``normal``: three values for all feet, or empty; ``normals``: three per foot, zeros to
    estimate it, or empty. Raises ConfigurationError when both are given.
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
# Limits of the ground's forces.
#
# The filters' forces are a Gaussian of all feet, and may pull or lie outside the friction cone by
# some deviations. The most likely forces within the limits are the nearest ones in the metric of
# the covariance. Only the forces of the newest sample are limited; those of the sample before stay
# as they are, because noise that is cut off on one side becomes a bias when it is averaged.


def limits_of(feet: Sequence[Foot], kind: str, friction: float) -> np.ndarray:
    """
    Return the feet's ground force limits (m, N_TEMPLATE): see `limit_templates`.

    ``kind``: see the setting ground.limits; unilateral: no foot pulls, and soles press within
    their edges.
    """
    rows = limit_templates(feet, [] if kind == 'none' else [FrictionCone(friction)] * len(feet))
    if kind == 'unilateral':    # those that do not depend on friction
        other = limit_templates(feet, [FrictionCone(2.0 * friction)] * len(feet))
        rows = rows[(rows == other).all(axis=1)]
    return rows


@part
def _turned(a, b, v):
    """Return v rotated by the smallest rotation from unit vector a to unit vector b."""
    axis, c = cross(a, b), dot(a, b)
    once = cross(axis, v)
    return add_scaled(add(v, once), 1.0 / max(1.0 + c, 1e-9), cross(axis, once))


@part
def _fill_limits(feet, ground, results):
    """Fill the limits in contact coordinates at the present pose."""
    limits, bounds, states, foot = ground.limits, ground.bounds, results.states, -1
    R, R_ground, normal, arm, axes = NO_AXES, NO_AXES, ZERO, ZERO, NO_AXES
    for k in range(limits.shape[0]):
        i = int(limits[k, FOOT])
        if i != foot:
            foot, normal = i, get3(results.normals, i, 0)
            R, axes = load9(states[i], FOOT_ROTATION), moment_axes(feet.index, states, i)
            R_ground, arm = ground_axes(feet, states, i, normal)
        force = rotate(R_ground, load3(limits[k], INEQUALITY))
        moment = rotate(R, load3(limits[k], INEQUALITY + 3))
        if feet.index[i, PLANE] != 0:       # a tilted sole has the limits of one that lies there
            force, moment = _turned(z_axis(R), normal, force), _turned(z_axis(R), normal, moment)
        on_force, on_moment = limit_row(force, moment, arm, axes)
        s = feet.index[i, START]
        store3(bounds.C[k], s, on_force)
        for c in range(feet.index[i, SIZE] - 3):
            bounds.C[k, s + 3 + c] = on_moment[c]
        bounds.d[k] = limits[k, BOUND]
        bounds.begin[k], bounds.end[k] = s, s + feet.index[i, SIZE]


@part
def keep_limits(feet, layout, ground, row, results):
    """Constrain the newest forces and their covariance to the ground's limits, in place."""
    if ground.limits.shape[0] == 0:
        return
    _fill_limits(feet, ground, results.feet)
    w = results.forces.latest
    within_limits(w, results.forces.latest_covariance, ground.bounds)
    for i in range(feet.index.shape[0]):
        if row[layout.given_contact + i] < 0.5:     # feet that are known to be up have no force
            for k in range(feet.index[i, SIZE]):
                w[feet.index[i, START] + k] = 0.0


@part
def keep_believable(feet, total, most, w, P):
    """
    Scale down a foot's force ``w`` that exceeds all causes by more than its deviation.

    ``total``: what moves the base; ``most`` (nf,): what the foot's own joints allow [N]. Beyond,
    the deviation was wrong: ``P`` gains what is cut off.
    """
    for i in range(feet.index.shape[0]):
        s, n = feet.index[i, START], feet.index[i, SIZE]
        force = load3(w, s)
        size, limit = norm(force), max(total, most[i])
        if size <= limit:
            continue
        variance = 0.0
        for r in range(3):
            variance += force[r] * dot(load3(P[s + r], s), force)
        limit += math.sqrt(max(variance, 0.0)) / size
        if size > limit:
            left = limit / size
            for r in range(s, s + n):
                for c in range(s, s + n):
                    P[r, c] += (1.0 - left) ** 2 * w[r] * w[c]
            for r in range(s, s + n):
                w[r] *= left
