# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ContactBatch: the ground reactions of many instants, and the call that finds them."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from legged_dynamics.contact.conditions import Conditions, refuse
from legged_dynamics.contact.program_tick import program_tick
from legged_dynamics.contact.solution import ContactSolution
from legged_dynamics.contact.tick import (
    DONE,
    FLOATING,
    GUESS,
    GUESSED,
    KKT,
    LOADED,
    NORMAL,
    NOT_FINITE,
    NOT_UNIT,
    OUTCOME,
    RANK,
    RESIDUAL,
    STANDING,
    carve,
    choose,
    relieve_feet,
    report_residual,
    start_from_guess,
)
from legged_dynamics.dynamics.jacobians import BODY, contact_points
from legged_dynamics.dynamics.kinematics import (
    ACCELERATION,
    ALPHA,
    FORCE,
    MOMENT,
    N_BODY_STATE,
    OMEGA,
    POSITION,
    ROTATION,
    acceleration_at,
    inertial_wrench,
    slide,
    turn,
)
from legged_dynamics.dynamics.newton_euler import add_joint_physics
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.tree import (
    COM,
    INERTIA,
    JOINT,
    MASS,
    P_TREE,
    PARENT,
    PRISMATIC,
    Q_START,
    R_TREE,
    REVOLUTE,
    SPHERICAL,
    V_START,
)
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add,
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    rotate,
    rotate_back,
    rotation_of_quaternion,
    sine_cosine,
    subtract,
    turn_about_z,
    z_axis,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get6, get9, put3, put9

# -------------------------------------------------------------------------------------------------
# Newton-Euler over several samples side by side: the loop over bodies outside, that over samples
# in.
#
# The inner loops have no branches and run over neighbouring memory, so that the compiler makes
# vector instructions of them. What happens at a joint or a body is that of `dynamics.body_motion`.
#
# Kernels take blocks, with the samples in the last axis: a body is (N_BODY_STATE, .), joint states
# ``q``, ``v``, ``a`` are rows of (., .), ``base`` is (9, .), ``lanes`` (nb, N_BODY_STATE, .). All
# is in base axes; ``R_tree`` and ``p_tree`` place the body's frame in its parent's.
#
# The kernels share their arguments.


# Samples side by side. What is called a block here is a flat array of rows of LANES samples, a row
# for each quantity: places in it are known when it is compiled, or nothing is made a vector.
LANES = 16
BODY_BLOCK = N_BODY_STATE * LANES


@part
def lane3(block, row, k):
    """Read a vector of sample k."""
    return block[row * LANES + k], block[(row + 1) * LANES + k], block[(row + 2) * LANES + k]


@part
def lane9(block, row, k):
    """Read a rotation of sample k."""
    a, b, c = lane3(block, row, k), lane3(block, row + 3, k), lane3(block, row + 6, k)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@part
def put_lane3(block, row, k, v):
    """Write a vector of sample k."""
    block[row * LANES + k] = v[0]
    block[(row + 1) * LANES + k] = v[1]
    block[(row + 2) * LANES + k] = v[2]


@part
def put_lane9(block, row, k, R):
    """Write a rotation of sample k."""
    put_lane3(block, row, k, (R[0], R[1], R[2]))
    put_lane3(block, row + 3, k, (R[3], R[4], R[5]))
    put_lane3(block, row + 6, k, (R[6], R[7], R[8]))


@part
def put_motion(block, k, R, p, w, alpha, a):
    """Write pose and motion of a body in sample k."""
    put_lane9(block, ROTATION, k, R)
    put_lane3(block, POSITION, k, p)
    put_lane3(block, OMEGA, k, w)
    put_lane3(block, ALPHA, k, alpha)
    put_lane3(block, ACCELERATION, k, a)


@part
def turn_lanes(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a revolute joint."""
    for k in range(LANES):
        R, w, alpha = lane9(parent, ROTATION, k), lane3(parent, OMEGA, k), lane3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        acceleration = acceleration_at(w, alpha, lane3(parent, ACCELERATION, k), offset)
        w, alpha = turn(w, alpha, z_axis(R), v[k], a[k])
        sine, cosine = sine_cosine(q[k])
        put_motion(body, k, turn_about_z(R, sine, cosine), add(lane3(parent, POSITION, k), offset),
                   w, alpha, acceleration)


@part
def slide_lanes(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a prismatic joint."""
    for k in range(LANES):
        R, w, alpha = lane9(parent, ROTATION, k), lane3(parent, OMEGA, k), lane3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        offset = add_scaled(offset, q[k], z_axis(R))
        acceleration = acceleration_at(w, alpha, lane3(parent, ACCELERATION, k), offset)
        put_motion(body, k, R, add(lane3(parent, POSITION, k), offset), w, alpha,
                   slide(w, acceleration, z_axis(R), v[k], a[k]))


@part
def roll_lanes(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a spherical joint."""
    for k in range(LANES):
        R, w, alpha = lane9(parent, ROTATION, k), lane3(parent, OMEGA, k), lane3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        acceleration = acceleration_at(w, alpha, lane3(parent, ACCELERATION, k), offset)
        R = compose(R, rotation_of_quaternion(q[k], q[LANES + k], q[2 * LANES + k],
                                              q[3 * LANES + k]))
        w, alpha = turn(w, add(alpha, rotate(R, lane3(a, 0, k))), rotate(R, lane3(v, 0, k)),
                        1.0, 0.0)
        put_motion(body, k, R, add(lane3(parent, POSITION, k), offset), w, alpha, acceleration)


@part
def load_lanes(mass, com, inertia, body):
    """Fill the wrench a body takes to move as it does."""
    for k in range(LANES):
        force, moment = inertial_wrench(
            mass, com, inertia, lane9(body, ROTATION, k), lane3(body, OMEGA, k),
            lane3(body, ALPHA, k), lane3(body, ACCELERATION, k))
        put_lane3(body, FORCE, k, force)
        put_lane3(body, MOMENT, k, moment)


@part
def outwards(tree, q, v, a, base, lanes):
    """Fill motion and wrench of every body, from blocks of joint states and the base's motion."""
    topology, constants = tree.topology, tree.constants
    body = lanes[:BODY_BLOCK]
    for k in range(LANES):
        put_motion(body, k, IDENTITY, ZERO, lane3(base, 0, k), lane3(base, 3, k),
                   lane3(base, 6, k))
    for i in range(topology.shape[0]):
        body = lanes[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        if i > 0:
            parent = lanes[topology[i, PARENT] * BODY_BLOCK:(topology[i, PARENT] + 1) * BODY_BLOCK]
            R_tree, p_tree = get9(constants, i, R_TREE), get3(constants, i, P_TREE)
            kind, q_i = topology[i, JOINT], q[LANES * topology[i, Q_START]:]
            v_i, a_i = v[LANES * topology[i, V_START]:], a[LANES * topology[i, V_START]:]
            if kind == REVOLUTE:
                turn_lanes(R_tree, p_tree, parent, body, q_i, v_i, a_i)
            elif kind == PRISMATIC:
                slide_lanes(R_tree, p_tree, parent, body, q_i, v_i, a_i)
            else:
                roll_lanes(R_tree, p_tree, parent, body, q_i, v_i, a_i)
        load_lanes(constants[i, MASS], get3(constants, i, COM), get6(constants, i, INERTIA), body)


@part
def gather(body, parent):
    """Add a body's wrench to its parent's."""
    for k in range(LANES):
        force = lane3(body, FORCE, k)
        arm = subtract(lane3(body, POSITION, k), lane3(parent, POSITION, k))
        moment = add(lane3(body, MOMENT, k), cross(arm, force))
        put_lane3(parent, FORCE, k, add(lane3(parent, FORCE, k), force))
        put_lane3(parent, MOMENT, k, add(lane3(parent, MOMENT, k), moment))


@part
def inwards(tree, lanes, tau):
    """Gather wrenches from the tips to the base and project them on the joints."""
    topology = tree.topology
    for i in range(topology.shape[0] - 1, 0, -1):
        body = lanes[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        own = tau[LANES * topology[i, V_START]:]
        if topology[i, JOINT] == SPHERICAL:
            for k in range(LANES):
                put_lane3(own, 0, k, rotate_back(lane9(body, ROTATION, k),
                                                 lane3(body, MOMENT, k)))
        else:
            felt = FORCE if topology[i, JOINT] == PRISMATIC else MOMENT
            for k in range(LANES):
                own[k] = dot(z_axis(lane9(body, ROTATION, k)), lane3(body, felt, k))
        gather(body, lanes[topology[i, PARENT] * BODY_BLOCK:
                           (topology[i, PARENT] + 1) * BODY_BLOCK])


# -------------------------------------------------------------------------------------------------
# Many ticks in one call: dynamics several samples side by side, contacts one by one.


@part
def load_block(table, t, block):
    """Fill a block with rows of a (samples, n) table from the t-th on, the last one repeated."""
    last = table.shape[0] - 1
    for k in range(LANES):
        row = min(t + k, last)
        for c in range(table.shape[1]):
            block[c * LANES + k] = table[row, c]


@part
def relieve_lanes(external, lanes):
    """Subtract external wrenches (nb, 6), in body axes, from what each body needs."""
    for i in range(external.shape[0]):
        body = lanes[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        on_force, on_moment = get3(external, i, 0), get3(external, i, 3)
        for k in range(LANES):
            R = lane9(body, ROTATION, k)
            put_lane3(body, FORCE, k, subtract(lane3(body, FORCE, k), rotate(R, on_force)))
            put_lane3(body, MOMENT, k, subtract(lane3(body, MOMENT, k), rotate(R, on_moment)))


@part
def demand_lanes(n_bodies, lanes, demand):
    """Fill the force and moment about the base's origin that all bodies together take."""
    demand[:6 * LANES] = 0.0
    for i in range(n_bodies):
        body = lanes[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        for k in range(LANES):
            force = lane3(body, FORCE, k)
            moment = add(lane3(body, MOMENT, k), cross(lane3(body, POSITION, k), force))
            put_lane3(demand, 0, k, add(lane3(demand, 0, k), force))
            put_lane3(demand, 3, k, add(lane3(demand, 3, k), moment))


@part
def set_sample(index, settings, states, t, standing, normal, guess):
    """
    Set the conditions of the t-th sample; a table without samples leaves them as they are.

    Arguments: see :mod:`~legged_dynamics.contact.tick`; ``t`` is the sample.
    """
    if standing.shape[0] > 0:
        for i in range(index.shape[0]):
            index[i, STANDING] = standing[t, i]
    if normal.shape[0] > 0:
        put3(settings, 0, NORMAL, get3(normal, t, 0))
    if guess.shape[0] > 0:
        for i in range(index.shape[0]):
            for c in range(6):
                states[i, GUESS + c] = guess[t, 6 * i + c]


@part
def touch(feet, states, settings, flags, bodies, lanes, demand, k, results):
    """
    Share what sample k asks of the ground, and take it off the bodies of the feet.

    Arguments: see :mod:`~legged_dynamics.contact.tick`. ``flags`` is the second row of integers,
    ``lanes`` the bodies of a block of samples, ``demand`` (6, .) what each asks, ``k`` the place
    of the sample in the block; ``results`` is the sample's row.
    """
    index = feet.index
    for i in range(index.shape[0]):
        b = index[i, BODY]
        body = lanes[b * BODY_BLOCK:(b + 1) * BODY_BLOCK]
        put9(bodies, b, ROTATION, lane9(body, ROTATION, k))
        put3(bodies, b, POSITION, lane3(body, POSITION, k))
        put3(bodies, b, FORCE, lane3(body, FORCE, k))
        put3(bodies, b, MOMENT, lane3(body, MOMENT, k))
    contact_points(feet, bodies, load3(settings[0], NORMAL), states)
    f, m = start_from_guess(index, states, flags[GUESSED] != 0, lane3(demand, 0, k),
                            lane3(demand, 3, k))
    results[RANK] = 0.0
    if flags[FLOATING] != 0:
        results[RANK] = choose(index, states, settings[0], f, m)
    relieve_feet(index, states, bodies, results)
    for i in range(index.shape[0]):
        b = index[i, BODY]
        body = lanes[b * BODY_BLOCK:(b + 1) * BODY_BLOCK]
        put_lane3(body, FORCE, k, get3(bodies, b, FORCE))
        put_lane3(body, MOMENT, k, get3(bodies, b, MOMENT))


@lean_kernel
def batch_tick(q, v, a, base, standing, normal, guess, integers, floats, results, inputs, lanes):
    """
    Fill the rows of results for all samples of motion; inputs and lanes are scratch.

    Returns
    -------
    tuple of int
        `memory.DONE`, or which of `NOT_UNIT` and `NOT_FINITE` a sample is, and which sample.

    Arguments: see :mod:`~legged_dynamics.contact.tick`. ``inputs`` and
    ``lanes`` are scratch for a block of samples.

    """
    tree, feet, _, bodies, states, external = carve(integers, floats)
    settings, flags, efforts = floats[:1], integers[1], 6 * feet.index.shape[0]
    nq, nv, at = q.shape[1], v.shape[1], LANES
    q_block, at = inputs[:nq * at], nq * at
    v_block, at = inputs[at:at + nv * LANES], at + nv * LANES
    a_block, at = inputs[at:at + nv * LANES], at + nv * LANES
    base_block, at = inputs[at:at + 9 * LANES], at + 9 * LANES
    tau, at = inputs[at:at + nv * LANES], at + nv * LANES
    demand = inputs[at:]
    for t in range(0, q.shape[0], LANES):
        load_block(q, t, q_block)
        load_block(v, t, v_block)
        load_block(a, t, a_block)
        load_block(base, t, base_block)
        outwards(tree, q_block, v_block, a_block, base_block, lanes)
        if flags[LOADED] != 0:
            relieve_lanes(external[:bodies.shape[0]], lanes)
        demand_lanes(bodies.shape[0], lanes, demand)
        n = min(LANES, q.shape[0] - t)
        for k in range(n):
            set_sample(feet.index, settings, states, t + k, standing, normal, guess)
            up = load3(settings[0], NORMAL)
            if not abs(dot(up, up) - 1.0) < 2e-6:
                return NOT_UNIT, t + k
            touch(feet, states, settings, flags, bodies, lanes, demand, k, results[t + k])
        inwards(tree, lanes, tau)
        for k in range(n):
            row = results[t + k]
            effort = row[efforts:RESIDUAL]
            for j in range(nv):
                effort[j] = tau[j * LANES + k]
            add_joint_physics(tree, q[t + k], v[t + k], a[t + k], effort)
            put3(bodies, 0, FORCE, lane3(lanes, FORCE, k))
            put3(bodies, 0, MOMENT, lane3(lanes, MOMENT, k))
            if not report_residual(bodies, effort, row):
                return NOT_FINITE, t + k
    return DONE, 0


@lean_kernel
def program_batch(q, v, a, base, effort, standing, normal, guess, integers, floats, results,
                  narrow, wide, lists):
    """
    Run `program_tick` on all samples, each warm started by the last; effort may be (n, 0).

    Arguments: see :mod:`~legged_dynamics.contact.tick`.
    """
    _, feet, _, _, states, _ = carve(integers, floats)
    settings = floats[:1]
    for t in range(q.shape[0]):
        set_sample(feet.index, settings, states, t, standing, normal, guess)
        status = program_tick(q[t], v[t], a[t], base[t], effort[t], integers, floats, results[t],
                              narrow, wide, lists)
        if status != DONE:
            return status, t
    return DONE, 0


# -------------------------------------------------------------------------------------------------


class ContactBatch:
    """
    Ground reactions and joint efforts of n instants: views of one array.

    Attributes
    ----------
    wrench : (n, nf, 6) array [N, N m]
    joint_effort : (n, nv) array [N m or N]
    root_residual : (n, 6) array [N, N m]
    rank : (n,) int array
    feasible : (n,) bool array
    kkt_residual : (n,) array
        Each as `ContactSolution` has it; ``batch[i]`` is the solution of one instant.

    """

    def __init__(self, data: np.ndarray, shape: tuple[int, bool]):
        self._data, self._shape = data, shape
        feet = shape[0]
        self.wrench = data[:, :6 * feet].reshape(len(data), feet, 6)
        self.joint_effort = data[:, 6 * feet:RESIDUAL]
        self.root_residual = data[:, RESIDUAL:RESIDUAL + 6]
        self.rank = data[:, RANK].astype(int)
        self.feasible = data[:, OUTCOME] == 0.0
        self.kkt_residual = data[:, KKT]

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, i: int) -> ContactSolution:
        return ContactSolution(self._data[i], self._shape)


def solve_batch(conditions: Conditions, program: tuple[np.ndarray, ...] | None,
                motion: Sequence[np.ndarray], effort: np.ndarray | None,
                in_contact: np.ndarray | None, guess: np.ndarray | None,
                ground_normal: np.ndarray | None) -> np.ndarray:
    """
    Return the results of all samples, one a row.

    Parameters
    ----------
    conditions : Conditions
        Whose memory is used; what is given for each sample is left as the last one had it.
    program : tuple of arrays, optional
        Without it, the closed form.
    motion : sequence of arrays
        (n, nq) positions, (n, nv) velocities and accelerations, (n, 9) motions of the base.
    effort, in_contact, guess, ground_normal : arrays, optional
        (n, nv), (n, nf), (n, nf, 6), and (n, 3) or (3,).

    Raises
    ------
    MeasurementError
        When a shape does not fit, or a sample is not finite; the message says which.

    """
    model, feet = conditions.model, len(conditions.memory.feet.index)
    n = len(motion[0])
    q, v, a, base = (_samples(table, (n, size), what) for table, size, what in zip(
        motion, (model.nq, model.nv, model.nv, 9),
        ('joint positions', 'joint velocities', 'joint accelerations', 'motions of the base')))
    standing = (np.zeros((0, feet), np.int64) if in_contact is None else
                _samples(np.asarray(in_contact, bool), (n, feet), 'flags').astype(np.int64))
    normal = np.zeros((0, 3))
    if ground_normal is not None:
        normal = _samples(np.broadcast_to(ground_normal, (n, 3)) if np.ndim(ground_normal) == 1
                          else ground_normal, (n, 3), 'ground normals')
    guesses = np.zeros((0, 6 * feet))
    if guess is not None:
        guesses = _samples(guess, (n, feet, 6), 'guesses')
        if not np.isfinite(guesses).all():
            raise MeasurementError('expected finite guesses')
        guesses = conditions.use_guess(guesses).reshape(n, 6 * feet)
    results = np.zeros((n, conditions.results.size))
    arrays = conditions.integers, conditions.floats, results
    if program is None:
        inputs = np.zeros((model.nq + 3 * model.nv + 15) * LANES)
        lanes = np.zeros(model.n_bodies * BODY_BLOCK)
        failure, at = batch_tick(q, v, a, base, standing, normal, guesses, *arrays, inputs, lanes)
    else:
        measured = (np.zeros((n, 0)) if effort is None
                    else _samples(effort, (n, model.nv), 'joint torques'))
        failure, at = program_batch(q, v, a, base, measured, standing, normal, guesses, *arrays,
                                    *program)
    if failure:
        refuse(failure, f'sample {at}: ')
    return results


def _samples(table: np.ndarray, shape: tuple[int, ...], what: str) -> np.ndarray:
    array = np.asarray(table)
    array = np.require(array, bool if array.dtype == bool else float, ['C', 'W'])
    if array.shape != shape:
        raise MeasurementError(f'expected {what} of shape {shape}, got {array.shape}')
    return array
