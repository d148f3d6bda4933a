# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the estimator's kernel works on: its arrays, and where things lie in them.

The tables of indices and of settings are one-element record arrays: one argument to a compiled
call, with names.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import N_GEOMETRY, N_INDEX, FeetTable
from legged_dynamics.dynamics.kinematics import N_BODY_STATE
from legged_dynamics.dynamics.rigid_body import N_RIGID_BODY
from legged_dynamics.estimation.ground import N_GIVEN, N_LIMIT, Ground
from legged_dynamics.model.tree import N_CONSTANTS, N_TOPOLOGY, Tree
from legged_dynamics.optimization.within_limits import carve_bounds
from legged_dynamics.spatial.jit import as_python, inlined_part
from legged_dynamics.spatial.layout import endless, lengths_of, matrix, vector

# What a tick used; the values of ground_reaction.Mode.
UNAVAILABLE, TORQUE_ONLY, BASE_ONLY, FUSED = range(4)
# What the kernel returns when a row of the window cannot be used.
NOT_FINITE = -1
# Bits of what was wrong with the input; the values of ground_reaction.Fault.
WARMING_UP, TIME_JUMPED_BACK, GAP = 1, 2, 4
NO_EFFORT, PARTIAL_EFFORT, NO_IMU, NO_ORIENTATION = 8, 16, 32, 64
NOISE_MISSTATED = 128

# Elements of the tracked state beside the contact coordinates: an external wrench on the base.
N_BESIDE = 6
# Columns of the equations' response behind the joints': angular and proper acceleration, its jump.
N_SHARED = 7
# Columns before the mass matrix in `Tracking.mass`.
AHEAD = 3


def _input_sizes(nj: int, nf: int) -> dict[str, int]:
    return {'time': 1, 'position': nj, 'velocity': nj, 'effort': nj, 'gyro': 3, 'acceleration': 3,
            'orientation': 4, 'given_contact': nf, 'switch_evidence': nf}


def _output_sizes(nj: int, nf: int, nc: int) -> dict[str, int]:
    return {'faults': 1, 'wrench': 6 * nf, 'raw_wrench': 6 * nf, 'contact': nf,
            'probability': nf, 'observable': nf, 'feet': 15 * nf, 'base_rotation': 9,
            'net_wrench': 6, 'center_of_pressure': 3, 'base_residual': 6, 'external_torque': nj,
            'joint_acceleration': nj, 'coordinates': nc, 'covariance': nc * nc,
            'latest_coordinates': nc, 'latest_covariance': nc * nc, 'external_wrench': 6,
            'external_deviation': 6, 'mass_error': 4, 'latest_contact': nf, 'ground_normal': 3,
            'foot_normals': 3 * nf, 'link_wrench': 6, 'link_deviation': 6, 'link_point': 3,
            'joint_noise': 2 * nj}


def _memory_sizes(nj: int, nf: int, nc: int) -> dict[str, int]:
    nx = nc + N_BESIDE
    return {'filled': 1, 'drift': 3, 'drift_known': 1, 'up': 3, 'up_known': 1, 'oriented': 1,
            'filter_ready': 1, 'standing': nf, 'contact_state': nf, 'filter': 12 * nf,
            # Of the tracked forces:
            'tracking': 1, 'push': 6, 'push_change': 6, 'push_beyond': 6,
            'reading': 3, 'steady_reading': 3, 'recent_force': 3 * nf, 'struck': nf, 'pace': 1,
            'lasting': 6 + nj, 'mass': 20, 'before': nc, 'walked': nc, 'contact_before': 2 * nf,
            'places': 4 * nf, 'normal': 3, 'followed': 1, 'described': 1,
            'heights': 4 * nf, 'last_effort': 2 * nj,
            # Of the noise of velocities and torques:
            'noise_ticks': 1, 'noise_below': 2 * nj, 'noise_above': 2 * nj,
            'repeats': 2 * nj, 'step_width': 2 * nj,
            'first_difference': 2 * nj, 'second_difference': 2 * nj, 'third_difference': 2 * nj,
            # Where no torque is measured:
            'drift_variance': 1, 'by_motion': 1, 'soles': 2 * nf, 'noise_scale': 1, 'fastest': 1,
            'recent_speed': nf, 'lost': 1, 'lasted': nf, 'flag': nf, 'restless': 1,
            'slip_variance': 1, 'load_rate': 5 * nf, 'state': nx, 'state_covariance': nx * nx}


SIZES = ('bodies', 'joints', 'feet_count', 'contacts', 'samples', 'mimics', 'limits')
# Elements are np.record, whose fields are attributes in compiled code and in Python alike.
LAYOUT = np.dtype((np.record, [(name, np.int64) for name in (
    *SIZES, *_input_sizes(0, 0), 'input_size', *_output_sizes(0, 0, 0), 'output_size',
    *_memory_sizes(0, 0, 0), 'memory_size')]))

SETTINGS = np.dtype((np.record, [(name, np.float64) for name in (
    'cutoff', 'flight', 'force_evidence', 'motion_evidence', 'slip_speed', 'swing_speed',
    'clearance', 'swing_clearance', 'natural_time', 'least_height', 'switching_rate', 'on', 'off',
    'weight', 'arm', 'observable_variance', 'use_base', 'use_torque', 'angular_noise',
    'angular_unknown', 'linear_noise', 'linear_unknown', 'linear_lasting', 'accelerometer_noise',
    'gravity', 'reach', 'ahead', 'risen', 'pace', 'lasting_samples', 'jump_share',
    'external_force', 'external_moment', 'external_on_leg', 'effort_gain', 'momentum_time',
    'momentum_keep', 'effort_at')]
    + [('imu_body', np.int64), ('R_BI', np.float64, (9,)), ('p_BI', np.float64, (3,)),
       ('external_body', np.int64), ('R_external', np.float64, (9,)),
       ('p_external', np.float64, (3,))]))


def _place(sizes: dict[str, int], size_name: str) -> dict[str, int]:
    starts = np.concatenate([[0], np.cumsum(list(sizes.values()))])
    return {**dict(zip(sizes, starts.tolist())), size_name: int(starts[-1])}


def make_layout(nj: int, nf: int, nc: int, samples: int, mimics: int = 0,
                limits: int = 0) -> np.ndarray:
    """
    Return the (1,) record array of indices.

    Parameters
    ----------
    nj, nf, nc : int
        Joints, feet, contact coordinates.
    samples : int
        Length of the window.
    mimics : int
        Joints that follow others.
    limits : int
        On the feet's forces, of all feet.

    """
    places = {**dict(zip(SIZES, (nj + 1, nj, nf, nc, samples, mimics, limits))),
              **_place(_input_sizes(nj, nf), 'input_size'),
              **_place(_output_sizes(nj, nf, nc), 'output_size'),
              **_place(_memory_sizes(nj, nf, nc), 'memory_size')}
    layout = np.zeros(1, LAYOUT)
    for name, value in places.items():
        layout[name] = value
    return layout


class Robot(NamedTuple):
    """
    What the kernel needs to know of the robot.

    Attributes
    ----------
    tree : Tree
    feet : FeetTable
    model_error : (6,) array
        Variance of the base's equations by stated errors of the model.
    prior : (nc,) array
        Inverse variance of each contact coordinate before measuring.
    columns : (nv, nx + 2) int array
        Which elements of the tracked state each joint bears on: contact coordinates behind their
        number, then those of the external wrench, and last how many there are with these.
    mimics : (nm, 2) int array
        Each joint that follows another, and its master.
    ratio : (nm,) array
        By which it follows.
    branches : (nv, 2) int array
        First joint of the branch of the base that a joint belongs to, and the first behind it.
    ends : (6 + nv,) int array
        Of the mass matrix; see `dynamics.branch_elimination`.
    effort_variance, motion_noise : (nv,) array
        Variance of the measured torque; deviation of the differentiated joint velocity; both
        follow what is seen of the noise.
    stated_noise : (2 nv,) array
        Of joint velocities, then of torques.
    slope_noise : (1,) array
        Deviation of a differentiated velocity by the noise of velocities.
    contact_levels : (nf, 3) array
        Normal force at which contact is as likely as not, the error of a swinging foot's, and the
        error that the noise of its torques makes, as fractions of the weight.
    homes : (nf, 2) array
        Where the feet are from the base in the standing pose, seen from above.
    stops : (nv, 2) array
        Between which positions a joint moves freely.

    """

    tree: Tree
    feet: FeetTable
    model_error: np.ndarray
    prior: np.ndarray
    columns: np.ndarray
    mimics: np.ndarray
    ratio: np.ndarray
    branches: np.ndarray
    ends: np.ndarray
    effort_variance: np.ndarray
    motion_noise: np.ndarray
    stated_noise: np.ndarray
    slope_noise: np.ndarray
    contact_levels: np.ndarray
    homes: np.ndarray
    stops: np.ndarray


class Scratch(NamedTuple):
    """Arrays the kernel works in; nothing in them outlives a tick."""

    bodies: np.ndarray          # (nb, N_BODY_STATE)
    jacobian: np.ndarray        # (nx, nv), zero where a joint does not bear on a coordinate
    information: np.ndarray     # (nc, nc)
    grasp: np.ndarray           # (6, nx)
    vectors: np.ndarray         # (rows, max(nv, nc, 9))
    active: np.ndarray          # (nc,) int


class Tracking(NamedTuple):
    """
    What the filter of all feet's forces works on; n = 6 + nv equations, nx = nc + 6 unknowns.

    `state` and `covariance` are kept from tick to tick.
    """

    state: np.ndarray           # (nx,)
    covariance: np.ndarray      # (nx, nx)
    carried: np.ndarray         # (nx, nx) covariance of now
    rigid: np.ndarray           # (nb, N_RIGID_BODY)
    mass: np.ndarray            # (n, AHEAD + n) right sides and mass matrix
    response: np.ndarray        # (n, nv + N_SHARED) error of an equation by an error of motion
    noise: np.ndarray           # (n, n)
    noise_lasting: np.ndarray   # (n, n)
    gain: np.ndarray            # (n, nx)
    columns: np.ndarray         # (6, 4) of a wrong mass and first moment
    few: np.ndarray             # (7, nx)
    ahead: np.ndarray           # (6, nx)
    block: np.ndarray           # (6, 7)
    innovation: np.ndarray      # (n,)
    lasting: np.ndarray         # (n,) part of it that lasts
    steady: np.ndarray          # (2, n) variance by what lasts for seconds, by means of the brief
    walk: np.ndarray            # (nx,)
    now: np.ndarray             # (nx,) state of now
    vector: np.ndarray          # (9,)
    doubt: np.ndarray           # (12,) variance of a push by lasting errors, then by brief ones
    left: np.ndarray            # (6,) of the base's equations, feet as their joints see them
    theta: np.ndarray           # (4,) error of mass and first moment
    rows: np.ndarray            # (n,) int: equations that hold


# Rows of Scratch.vectors.
(TAU, ACCEL, RESIDUAL, WEIGHTS, VECTOR, BASE, BASE_WEIGHTS, BEYOND,
 LASTING_WEIGHTS, SLIPPING) = range(10)
N_VECTORS = 10


class Arrays(NamedTuple):
    """Everything a tick works on, as views of one integer and one float array."""

    robot: Robot
    scratch: Scratch
    window: np.ndarray          # (samples, input_size), oldest first
    stamps: np.ndarray          # (samples + 1,) int [ns] of its rows, and of the newest to come
    memory: np.ndarray          # (memory_size,)
    row: np.ndarray             # (input_size,), the newest measurement
    middle: np.ndarray          # (input_size,), the measurement that an estimate starts from
    tracking: Tracking
    ground: Ground


@inlined_part
def unpack(layout, integers, floats):
    """
    Cut the two flat arrays into their parts.

    Two arguments to a compiled call instead of twenty; the same text makes the views that fill
    them from Python, and says how long they are.
    """
    nb, nj, nf, nc = layout.bodies, layout.joints, layout.feet_count, layout.contacts
    n, nx = 6 + nj, nc + N_BESIDE
    topology, at = matrix(integers, 0, nb, N_TOPOLOGY)
    index, at = matrix(integers, at, nf, N_INDEX)
    columns, at = matrix(integers, at, nj, nx + 2)
    mimics, at = matrix(integers, at, layout.mimics, 2)
    branches, at = matrix(integers, at, nj, 2)
    ends, at = vector(integers, at, n)
    rows, at = vector(integers, at, n)
    active, at = vector(integers, at, nc)
    stamps, at = vector(integers, at, layout.samples + 1)
    acting = at
    constants, at = matrix(floats, 0, nb, N_CONSTANTS)
    geometry, at = matrix(floats, at, nf, N_GEOMETRY)
    bodies, at = matrix(floats, at, nb, N_BODY_STATE)
    jacobian, at = matrix(floats, at, nx, nj)
    information, at = matrix(floats, at, nc, nc)
    grasp, at = matrix(floats, at, 6, nx)
    vectors, at = matrix(floats, at, N_VECTORS, max(nj + 3, nc, 9))
    window, at = matrix(floats, at, layout.samples, layout.input_size)
    rigid, at = matrix(floats, at, nb, N_RIGID_BODY)
    mass, at = matrix(floats, at, n, AHEAD + n)
    response, at = matrix(floats, at, n, nj + N_SHARED)
    noise, at = matrix(floats, at, n, n)
    noise_lasting, at = matrix(floats, at, n, n)
    gain, at = matrix(floats, at, n, nx)
    carried, at = matrix(floats, at, nx, nx)
    beside, at = matrix(floats, at, 6, 4)
    few, at = matrix(floats, at, 7, nx)
    ahead, at = matrix(floats, at, 6, nx)
    block, at = matrix(floats, at, 6, 7)
    levels, at = matrix(floats, at, nf, 3)
    homes, at = matrix(floats, at, nf, 2)
    stops, at = matrix(floats, at, nj, 2)
    innovation, at = vector(floats, at, n)
    lasting, at = vector(floats, at, n)
    steady, at = matrix(floats, at, 2, n)
    walk, at = vector(floats, at, nx)
    now, at = vector(floats, at, nx)
    nine, at = vector(floats, at, 9)
    doubt, at = vector(floats, at, 12)
    left, at = vector(floats, at, 6)
    theta, at = vector(floats, at, 4)
    model_error, at = vector(floats, at, 6)
    effort_variance, at = vector(floats, at, nj)
    motion_noise, at = vector(floats, at, nj)
    stated_noise, at = vector(floats, at, 2 * nj)
    slope_noise, at = vector(floats, at, 1)
    prior, at = vector(floats, at, nc)
    ratio, at = vector(floats, at, layout.mimics)
    memory, at = vector(floats, at, layout.memory_size)
    row, at = vector(floats, at, layout.input_size)
    middle, at = vector(floats, at, layout.input_size)
    given, at = matrix(floats, at, nf, N_GIVEN)
    limits, at = matrix(floats, at, layout.limits, N_LIMIT)
    bounds = carve_bounds(floats, at, integers, acting, layout.limits, nc)
    state, _ = vector(memory, layout.state, nx)
    covariance, _ = matrix(memory, layout.state_covariance, nx, nx)
    robot = Robot(Tree(topology, constants), FeetTable(index, geometry), model_error, prior,
                  columns, mimics, ratio, branches, ends, effort_variance, motion_noise,
                  stated_noise, slope_noise, levels, homes, stops)
    scratch = Scratch(bodies, jacobian, information, grasp, vectors, active)
    tracking = Tracking(state, covariance, carried, rigid, mass, response, noise, noise_lasting,
                        gain, beside, few, ahead, block, innovation, lasting, steady, walk,
                        now, nine, doubt, left, theta, rows)
    return Arrays(robot, scratch, window, stamps, memory, row, middle, tracking,
                  Ground(given, limits, bounds))


def allocate(layout: np.record) -> tuple[np.ndarray, np.ndarray]:
    """Return the integer and the float array that :func:`unpack` cuts up, zero."""
    memories = endless(np.int64), endless()
    integers, floats = lengths_of(as_python(unpack)(layout, *memories), *memories)
    return np.zeros(integers, np.int64), np.zeros(floats)
