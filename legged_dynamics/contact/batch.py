# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ContactBatch: the ground reactions of many instants, and the call that finds them.

The closed form of `contact.tick` for `WIDTH` samples side by side, so that the compiler makes
vector instructions of Newton-Euler: 0.4 us a sample. Within friction cones or with measured torque
the samples go through `program_tick` one by one, each warm started by the last.
"""
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
from legged_dynamics.model.parts import (
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
# Newton-Euler for a block of samples: the outer loop runs over bodies, the inner one over samples.
#
# The inner loops have no branches and run over neighbouring memory, so that the compiler makes
# vector instructions of them. Joints and bodies are those of `dynamics.kinematics`.
#
# A block is a flat array of rows of WIDTH samples, a row for each quantity: N_BODY_STATE rows for
# a body, one for each coordinate in ``q``, ``v`` and ``a``, 9 in ``base``; ``blocks`` has those of
# all bodies. All is in base axes; ``R_tree`` and ``p_tree`` place the body's frame in its
# parent's, ``k`` is the place of a sample in the block.


# Samples in a block. It is a constant, as otherwise nothing would be made a vector.
WIDTH = 16
BODY_BLOCK = N_BODY_STATE * WIDTH


@part
def _vec3(block, row, k):
    """Read a vector of sample k."""
    return block[row * WIDTH + k], block[(row + 1) * WIDTH + k], block[(row + 2) * WIDTH + k]


@part
def _rot9(block, row, k):
    """Read a rotation of sample k."""
    a, b, c = _vec3(block, row, k), _vec3(block, row + 3, k), _vec3(block, row + 6, k)
    return a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]


@part
def _put_vec3(block, row, k, v):
    """Write a vector of sample k."""
    block[row * WIDTH + k] = v[0]
    block[(row + 1) * WIDTH + k] = v[1]
    block[(row + 2) * WIDTH + k] = v[2]


@part
def _put_rot9(block, row, k, R):
    """Write a rotation of sample k."""
    _put_vec3(block, row, k, (R[0], R[1], R[2]))
    _put_vec3(block, row + 3, k, (R[3], R[4], R[5]))
    _put_vec3(block, row + 6, k, (R[6], R[7], R[8]))


@part
def _put_motion(block, k, R, p, w, alpha, a):
    """Write pose and motion of a body in sample k."""
    _put_rot9(block, ROTATION, k, R)
    _put_vec3(block, POSITION, k, p)
    _put_vec3(block, OMEGA, k, w)
    _put_vec3(block, ALPHA, k, alpha)
    _put_vec3(block, ACCELERATION, k, a)


@part
def _revolute_block(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a revolute joint."""
    for k in range(WIDTH):
        R, w, alpha = _rot9(parent, ROTATION, k), _vec3(parent, OMEGA, k), _vec3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        acceleration = acceleration_at(w, alpha, _vec3(parent, ACCELERATION, k), offset)
        w, alpha = turn(w, alpha, z_axis(R), v[k], a[k])
        sine, cosine = sine_cosine(q[k])
        _put_motion(body, k, turn_about_z(R, sine, cosine),
                    add(_vec3(parent, POSITION, k), offset), w, alpha, acceleration)


@part
def _prismatic_block(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a prismatic joint."""
    for k in range(WIDTH):
        R, w, alpha = _rot9(parent, ROTATION, k), _vec3(parent, OMEGA, k), _vec3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        offset = add_scaled(offset, q[k], z_axis(R))
        acceleration = acceleration_at(w, alpha, _vec3(parent, ACCELERATION, k), offset)
        _put_motion(body, k, R, add(_vec3(parent, POSITION, k), offset), w, alpha,
                    slide(w, acceleration, z_axis(R), v[k], a[k]))


@part
def _spherical_block(R_tree, p_tree, parent, body, q, v, a):
    """Fill a body's pose and motion beyond a spherical joint."""
    for k in range(WIDTH):
        R, w, alpha = _rot9(parent, ROTATION, k), _vec3(parent, OMEGA, k), _vec3(parent, ALPHA, k)
        offset, R = rotate(R, p_tree), compose(R, R_tree)
        acceleration = acceleration_at(w, alpha, _vec3(parent, ACCELERATION, k), offset)
        R = compose(R, rotation_of_quaternion(q[k], q[WIDTH + k], q[2 * WIDTH + k],
                                              q[3 * WIDTH + k]))
        w, alpha = turn(w, add(alpha, rotate(R, _vec3(a, 0, k))), rotate(R, _vec3(v, 0, k)),
                        1.0, 0.0)
        _put_motion(body, k, R, add(_vec3(parent, POSITION, k), offset), w, alpha, acceleration)


@part
def _fill_wrenches(mass, com, inertia, body):
    """Fill the wrench a body takes to move as it does."""
    for k in range(WIDTH):
        force, moment = inertial_wrench(
            mass, com, inertia, _rot9(body, ROTATION, k), _vec3(body, OMEGA, k),
            _vec3(body, ALPHA, k), _vec3(body, ACCELERATION, k))
        _put_vec3(body, FORCE, k, force)
        _put_vec3(body, MOMENT, k, moment)


@part
def _outwards(tree, q, v, a, base, blocks):
    """Fill motion and wrench of every body, from blocks of joint states and the base's motion."""
    topology, constants = tree.topology, tree.constants
    body = blocks[:BODY_BLOCK]
    for k in range(WIDTH):
        _put_motion(body, k, IDENTITY, ZERO, _vec3(base, 0, k), _vec3(base, 3, k),
                    _vec3(base, 6, k))
    for i in range(topology.shape[0]):
        body = blocks[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        if i > 0:
            p = topology[i, PARENT]
            parent = blocks[p * BODY_BLOCK:(p + 1) * BODY_BLOCK]
            R_tree, p_tree = get9(constants, i, R_TREE), get3(constants, i, P_TREE)
            kind, q_i = topology[i, JOINT], q[WIDTH * topology[i, Q_START]:]
            v_i, a_i = v[WIDTH * topology[i, V_START]:], a[WIDTH * topology[i, V_START]:]
            if kind == REVOLUTE:
                _revolute_block(R_tree, p_tree, parent, body, q_i, v_i, a_i)
            elif kind == PRISMATIC:
                _prismatic_block(R_tree, p_tree, parent, body, q_i, v_i, a_i)
            else:
                _spherical_block(R_tree, p_tree, parent, body, q_i, v_i, a_i)
        _fill_wrenches(constants[i, MASS], get3(constants, i, COM), get6(constants, i, INERTIA),
                       body)


@part
def _gather(body, parent):
    """Add a body's wrench to its parent's."""
    for k in range(WIDTH):
        force = _vec3(body, FORCE, k)
        arm = subtract(_vec3(body, POSITION, k), _vec3(parent, POSITION, k))
        moment = add(_vec3(body, MOMENT, k), cross(arm, force))
        _put_vec3(parent, FORCE, k, add(_vec3(parent, FORCE, k), force))
        _put_vec3(parent, MOMENT, k, add(_vec3(parent, MOMENT, k), moment))


@part
def _inwards(tree, blocks, tau):
    """Gather wrenches from the tips to the base and project them on the joints."""
    topology = tree.topology
    for i in range(topology.shape[0] - 1, 0, -1):
        body = blocks[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        own = tau[WIDTH * topology[i, V_START]:]
        if topology[i, JOINT] == SPHERICAL:
            for k in range(WIDTH):
                _put_vec3(own, 0, k, rotate_back(_rot9(body, ROTATION, k),
                                                 _vec3(body, MOMENT, k)))
        else:
            felt = FORCE if topology[i, JOINT] == PRISMATIC else MOMENT
            for k in range(WIDTH):
                own[k] = dot(z_axis(_rot9(body, ROTATION, k)), _vec3(body, felt, k))
        p = topology[i, PARENT]
        _gather(body, blocks[p * BODY_BLOCK:(p + 1) * BODY_BLOCK])


# -------------------------------------------------------------------------------------------------
# Many ticks in one call: dynamics block by block, contacts sample by sample.


@part
def _load_block(table, t, block):
    """Fill a block with rows of a (samples, n) table from row t on; the last one is repeated."""
    last = table.shape[0] - 1
    for k in range(WIDTH):
        row = min(t + k, last)
        for c in range(table.shape[1]):
            block[c * WIDTH + k] = table[row, c]


@part
def _relieve_block(external, blocks):
    """Subtract external wrenches (nb, 6), in body axes, from what each body needs."""
    for i in range(external.shape[0]):
        body = blocks[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        on_force, on_moment = get3(external, i, 0), get3(external, i, 3)
        for k in range(WIDTH):
            R = _rot9(body, ROTATION, k)
            _put_vec3(body, FORCE, k, subtract(_vec3(body, FORCE, k), rotate(R, on_force)))
            _put_vec3(body, MOMENT, k, subtract(_vec3(body, MOMENT, k), rotate(R, on_moment)))


@part
def _base_wrench_block(n_bodies, blocks, required):
    """Fill the wrench at the base's origin that the motion of all bodies requires."""
    required[:6 * WIDTH] = 0.0
    for i in range(n_bodies):
        body = blocks[i * BODY_BLOCK:(i + 1) * BODY_BLOCK]
        for k in range(WIDTH):
            force = _vec3(body, FORCE, k)
            moment = add(_vec3(body, MOMENT, k), cross(_vec3(body, POSITION, k), force))
            _put_vec3(required, 0, k, add(_vec3(required, 0, k), force))
            _put_vec3(required, 3, k, add(_vec3(required, 3, k), moment))


@part
def _set_sample(index, settings, states, t, standing, normal, guess):
    """Set the conditions of sample ``t``; an empty table leaves them unchanged."""
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
def _share_wrench(feet, states, settings, flags, bodies, blocks, required, k, results):
    """
    Distribute sample k's required wrench over the feet; subtract it from their bodies.

    Arguments: see :mod:`~legged_dynamics.contact.tick`. ``flags``: second row of integers.
    """
    index = feet.index
    for i in range(index.shape[0]):
        b = index[i, BODY]
        body = blocks[b * BODY_BLOCK:(b + 1) * BODY_BLOCK]
        put9(bodies, b, ROTATION, _rot9(body, ROTATION, k))
        put3(bodies, b, POSITION, _vec3(body, POSITION, k))
        put3(bodies, b, FORCE, _vec3(body, FORCE, k))
        put3(bodies, b, MOMENT, _vec3(body, MOMENT, k))
    contact_points(feet, bodies, load3(settings[0], NORMAL), states)
    f, m = start_from_guess(index, states, flags[GUESSED] != 0, _vec3(required, 0, k),
                            _vec3(required, 3, k))
    results[RANK] = 0.0
    if flags[FLOATING] != 0:
        results[RANK] = choose(index, states, settings[0], f, m)
    relieve_feet(index, states, bodies, results)
    for i in range(index.shape[0]):
        b = index[i, BODY]
        body = blocks[b * BODY_BLOCK:(b + 1) * BODY_BLOCK]
        _put_vec3(body, FORCE, k, get3(bodies, b, FORCE))
        _put_vec3(body, MOMENT, k, get3(bodies, b, MOMENT))


@lean_kernel
def _batch_tick(q, v, a, base, standing, normal, guess, integers, floats, results, inputs, blocks):
    """
    Fill the results of all samples; return the status and the number of a bad sample.

    `DONE`, `NOT_UNIT` or `NOT_FINITE`. Arguments: see :mod:`~legged_dynamics.contact.tick`.
    """
    tree, feet, _, bodies, states, external = carve(integers, floats)
    settings, flags, efforts = floats[:1], integers[1], 6 * feet.index.shape[0]
    nq, nv, at = q.shape[1], v.shape[1], WIDTH
    q_block, at = inputs[:nq * at], nq * at
    v_block, at = inputs[at:at + nv * WIDTH], at + nv * WIDTH
    a_block, at = inputs[at:at + nv * WIDTH], at + nv * WIDTH
    base_block, at = inputs[at:at + 9 * WIDTH], at + 9 * WIDTH
    tau, at = inputs[at:at + nv * WIDTH], at + nv * WIDTH
    required = inputs[at:]
    for t in range(0, q.shape[0], WIDTH):
        _load_block(q, t, q_block)
        _load_block(v, t, v_block)
        _load_block(a, t, a_block)
        _load_block(base, t, base_block)
        _outwards(tree, q_block, v_block, a_block, base_block, blocks)
        if flags[LOADED] != 0:
            _relieve_block(external[:bodies.shape[0]], blocks)
        _base_wrench_block(bodies.shape[0], blocks, required)
        n = min(WIDTH, q.shape[0] - t)
        for k in range(n):
            _set_sample(feet.index, settings, states, t + k, standing, normal, guess)
            up = load3(settings[0], NORMAL)
            if not abs(dot(up, up) - 1.0) < 2e-6:
                return NOT_UNIT, t + k
            _share_wrench(feet, states, settings, flags, bodies, blocks, required, k,
                          results[t + k])
        _inwards(tree, blocks, tau)
        for k in range(n):
            row = results[t + k]
            effort = row[efforts:RESIDUAL]
            for j in range(nv):
                effort[j] = tau[j * WIDTH + k]
            add_joint_physics(tree, q[t + k], v[t + k], a[t + k], effort)
            put3(bodies, 0, FORCE, _vec3(blocks, FORCE, k))
            put3(bodies, 0, MOMENT, _vec3(blocks, MOMENT, k))
            if not report_residual(bodies, effort, row):
                return NOT_FINITE, t + k
    return DONE, 0


@lean_kernel
def _program_batch(q, v, a, base, effort, standing, normal, guess, integers, floats, results,
                  narrow, wide, lists):
    """Run a warm-started `program_tick` on each sample; ``effort`` may be (n, 0)."""
    _, feet, _, _, states, _ = carve(integers, floats)
    settings = floats[:1]
    for t in range(q.shape[0]):
        _set_sample(feet.index, settings, states, t, standing, normal, guess)
        status = program_tick(q[t], v[t], a[t], base[t], effort[t], integers, floats, results[t],
                              narrow, wide, lists)
        if status != DONE:
            return status, t
    return DONE, 0


# -------------------------------------------------------------------------------------------------
# What is called from Python.


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

    Parameters
    ----------
    data : (n, 6 nf + nv + N_REPORT) array
        Results of a tick, one a row.
    shape : int, bool
        Number of feet, and whether the base floats.

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
    Return the results of all samples, (n, 6 nf + nv + N_REPORT): see `contact.tick`.

    ``motion``: q, v, a and base (n, 9); ``guess`` (n, nf, 6) in foot frames;
    ``ground_normal`` (n, 3) or (3,) in base axes. Without ``program``: the closed form.
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
        inputs = np.zeros((model.nq + 3 * model.nv + 15) * WIDTH)
        blocks = np.zeros(model.n_bodies * BODY_BLOCK)
        failure, at = _batch_tick(q, v, a, base, standing, normal, guesses, *arrays, inputs,
                                   blocks)
    else:
        measured = (np.zeros((n, 0)) if effort is None
                    else _samples(effort, (n, model.nv), 'joint torques'))
        failure, at = _program_batch(q, v, a, base, measured, standing, normal, guesses, *arrays,
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
