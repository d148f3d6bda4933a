# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
From a motion to the frames of a problem over time, and from its solution to wrenches and efforts.

Both ways run the same Newton-Euler passes as a single tick, and store nothing of the bodies in
between: running them twice costs less than a table of joint Jacobians.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.tick import (
    CONTACT_FORCE,
    CONTACT_MOMENT,
    LENGTH,
    RESIDUAL,
    STANDING,
    base_wrench,
    carried,
    carve,
    relieve_feet,
    report_residual,
    support,
)
from legged_dynamics.dynamics.jacobians import (
    AXES,
    BODY,
    CONTACT,
    FOOT_ROTATION,
    IN_FOOT,
    SIZE,
    START,
    contact_points,
    moment_axes,
)
from legged_dynamics.dynamics.kinematics import OMEGA, POSITION, VELOCITY, forward_kinematics
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    inertial_wrenches,
    joint_efforts,
    relieve_bodies,
)
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add,
    compose,
    cross,
    dot,
    rotate,
    rotate_back,
    subtract,
    transpose,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9, put3, put9

# Return code of kernels when every frame is finite; otherwise the first frame that is not.
FINITE = -1


class MotionArrays(NamedTuple):
    """
    A motion as kernels take it, T frames.

    Attributes
    ----------
    position : (T, nq) array [rad or m]
        Of the joints.
    velocity, acceleration : (T, nv) array [rad/s, rad/s^2 or m/s, m/s^2]
        Of the joints.
    base : (T, 9) array [rad/s, rad/s^2, m/s^2]
        Angular velocity and acceleration, proper acceleration of the base, in its axes.
    rotation : (T, 9) array
        R_WB.
    base_velocity : (T, 3) array, or (0, 3) [m/s]
        Of the base's origin over ground, in world axes.

    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    base: np.ndarray
    rotation: np.ndarray
    base_velocity: np.ndarray


@part
def _enter(memory, motion, standing, external, normal, t):
    """
    Set the contacts of frame t, run Newton-Euler outwards, and return the required wrench.

    Parameters
    ----------
    memory : Memory
        Changed.
    motion : MotionArrays
        Of all frames.
    standing : (T, nf) array
        Flags of feet in contact.
    external : (T, nb, 6) array
        Wrenches on bodies; empty where there are none.
    normal : tuple of 3 floats
        Of the ground, world axes.
    t : int
        The frame.

    """
    for i in range(standing.shape[1]):
        memory.feet.index[i, STANDING] = standing[t, i]
    forward_kinematics(memory.tree, motion.position[t], motion.velocity[t],
                       motion.acceleration[t], motion.base[t], memory.bodies)
    inertial_wrenches(memory.tree, memory.bodies)
    if external.shape[0] > 0:
        relieve_bodies(external[t], memory.bodies)
    contact_points(memory.feet, memory.bodies,
                   rotate_back(get9(motion.rotation, t, 0), normal), memory.states)
    return base_wrench(memory.bodies)


@part
def _contact_speed(memory, i, base_velocity):
    """Return the square of the speed over ground of a foot's contact point, base axes."""
    b, point = memory.feet.index[i, BODY], get3(memory.states, i, CONTACT)
    v = add(get3(memory.bodies, b, VELOCITY),
            cross(get3(memory.bodies, b, OMEGA),
                  subtract(point, get3(memory.bodies, b, POSITION))))
    v = add(v, base_velocity)
    return dot(v, v)


@lean_kernel
def gather(motion, normal, external, in_world, integers, floats, problem, foot_rotation, speed):
    """
    Fill points, required wrench, rank and line of a problem, and the optional tables.

    Parameters
    ----------
    motion : MotionArrays
        Frames.
    normal : tuple of three floats
        Of the ground, in world axes.
    external : (T, nb, 6) array, or (0, nb, 6) [N, N m]
        Wrenches on bodies, in their axes.
    in_world : bool
        Whether the problem is in world axes, or in those of the base.
    integers, floats : 2-D arrays
        Memory of a tick.
    problem : Problem
        To be filled.
    foot_rotation : (T, nf, 9) array, or (0, nf, 9)
        To be filled with the feet's rotations into the problem's axes.
    speed : (T, nf) array, or (0, nf) [m^2/s^2]
        To be filled with squares of the contact points' speeds over ground.

    Returns
    -------
    int
        `FINITE`, or the first frame that is not.

    """
    memory = carve(integers, floats)
    for t in range(problem.required.shape[0]):
        f, m = _enter(memory, motion, problem.standing, external, normal, t)
        if not math.isfinite(dot(f, f) + dot(m, m)):
            return t
        R_WB = get9(motion.rotation, t, 0)
        rank, _, _, center, _, line = support(
            memory.feet.index, memory.states, memory.settings[LENGTH])
        if 0 < rank < 6:
            f, m = carried(f, m, center, line, rank, memory.settings[LENGTH])
        elif rank == 0:
            f, m = ZERO, ZERO
        problem.rank[t] = rank
        put3(problem.line, t, 0, _turned(R_WB, center, in_world))
        put3(problem.line, t, 3, _turned(R_WB, line, in_world))
        put3(problem.required, t, 0, _turned(R_WB, f, in_world))
        put3(problem.required, t, 3, _turned(R_WB, m, in_world))
        for i in range(speed.shape[1]):
            put3(problem.points[t], i, 0,
                 _turned(R_WB, get3(memory.states, i, CONTACT), in_world))
            R = get9(memory.states, i, FOOT_ROTATION)
            if foot_rotation.shape[0] > 0:
                put9(foot_rotation[t], i, 0, compose(R_WB, R) if in_world else R)
            if problem.turns.shape[0] > 0:
                put9(problem.turns[t], i, 0, _moment_columns(memory, i, R_WB, R, in_world))
            if speed.shape[0] > 0:
                over_ground = rotate_back(R_WB, get3(motion.base_velocity, t, 0))
                speed[t, i] = _contact_speed(memory, i, over_ground)
    return FINITE


@lean_kernel
def express(motion, normal, external, in_world, integers, floats, problem, x, results, wrench,
            effort, residual):
    """
    Fill wrenches in the feet's frames, joint efforts and the residual at the base.

    Parameters
    ----------
    motion, normal, external, in_world, integers, floats, problem
        As for :func:`gather`.
    x : (T, nc) array
        Contact coordinates.
    results : 1-D array
        Memory for the results of a tick.
    wrench : (T, nf, 6) array [N, N m]
        To be filled.
    effort : (T, nv) array [N m or N]
        To be filled.
    residual : (T, 6) array [N, N m]
        To be filled, in base axes.

    Returns
    -------
    int
        `FINITE`, or the first frame whose efforts are not.

    """
    memory = carve(integers, floats)
    states, index = memory.states, problem.index
    nf = wrench.shape[1]
    for t in range(x.shape[0]):
        _enter(memory, motion, problem.standing, external, normal, t)
        R_WB = get9(motion.rotation, t, 0)
        for i in range(nf):
            start, R = index[i, START], get9(states, i, FOOT_ROTATION)
            f, m = get3(x, t, start), ZERO
            if index[i, SIZE] > 3:
                m = get3(x, t, start + 3)
            if problem.turns.shape[0] > 0:
                m = rotate(get9(problem.turns[t], i, 0), m)
            put3(states, i, CONTACT_FORCE, rotate_back(R_WB, f) if in_world else rotate(R, f))
            put3(states, i, CONTACT_MOMENT, rotate_back(R_WB, m) if in_world else m)
        relieve_feet(memory.feet.index, states, memory.bodies, results)
        joint_efforts(memory.tree, memory.bodies, effort[t])
        add_joint_physics(memory.tree, motion.position[t], motion.velocity[t],
                          motion.acceleration[t], effort[t])
        if not report_residual(memory.bodies, effort[t], results):
            return t
        for i in range(nf):
            for k in range(6):
                wrench[t, i, k] = results[6 * i + k]
        for k in range(6):
            residual[t, k] = results[RESIDUAL + k]
    return FINITE


@part
def _moment_columns(memory, i, R_WB, R, in_world):
    """
    Return the axes of a foot's moments in the problem's axes, as columns.

    Moments about base axes in a tick are here about the problem's, or with it the foot's.
    """
    columns = transpose(moment_axes(memory.feet.index, memory.states, i))
    if memory.feet.index[i, AXES] >= IN_FOOT:
        return compose(R_WB, columns) if in_world else columns
    return IDENTITY if in_world else R


@part
def _turned(R, v, in_world):
    """Return v in world axes where the problem is in them."""
    return rotate(R, v) if in_world else v
