# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the estimator's kernel works on: its arrays, and where things lie in them.

The tables of indices and of settings are one-element record arrays: one argument to a compiled
call, with names.
"""
from __future__ import annotations

import itertools
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.program import N_TEMPLATE
from legged_dynamics.dynamics.jacobians import N_GEOMETRY, N_INDEX, FeetTable
from legged_dynamics.dynamics.kinematics import N_BODY_STATE, N_RIGID_BODY
from legged_dynamics.estimation.filter.memory import (
    N_BASE,
    N_EXTRA,
    N_MASS,
    Memory,
    carve_memory,
)
from legged_dynamics.estimation.filter.settings import FilterSettings
from legged_dynamics.estimation.ground import N_GIVEN, Ground
from legged_dynamics.model.parts import N_CONSTANTS, N_TOPOLOGY, Tree
from legged_dynamics.optimization.within_limits import limits_memory
from legged_dynamics.spatial.jit import as_python, inlined_part
from legged_dynamics.spatial.layout import endless, lengths_of, matrix, vector

# What a tick used; the values of ground_reaction.Mode.
UNAVAILABLE, TORQUE_ONLY, BASE_ONLY, FUSED = range(4)
# What the kernel returns when a row of the window cannot be used.
NOT_FINITE = -1
# Bits of what was wrong with the input that kernels find; the values of ground_reaction.Fault.
WARMING_UP = 1
TIME_JUMPED_BACK = 2
GAP = 4
NO_EFFORT = 8
PARTIAL_EFFORT = 16
NO_IMU = 32
NO_ORIENTATION = 64
NOISE_MISSTATED = 128

# Columns of the equations' response after the joints': angular and proper acceleration of the
# base, and its jump.
N_SHARED = 7
# Columns of Robot.effort_map.
N_EFFORT_MAP = 3
# Actuator parameters of a joint.
N_DOUBT = 7
# Right sides, which are the columns before the mass matrix in `Tracking.mass`.
N_RIGHT_SIDES = 3


def _input_sizes(nj: int, nf: int) -> dict[str, int]:
    """Return how many numbers each input takes in a row of the window."""
    return {'time': 1, 'position': nj, 'velocity': nj, 'effort': nj, 'gyro': 3, 'acceleration': 3,
            'orientation': 4, 'given_contact': nf, 'switch_evidence': nf}


# Joints are counted without the base: bodies are one more. limits: of the feet's forces.
SIZES = ('bodies', 'joints', 'feet_count', 'contacts', 'samples', 'mimics', 'limits')
# Elements are np.record, whose fields are attributes in compiled code and in Python alike.
LAYOUT = np.dtype((np.record, [(name, np.int64) for name in (
    *SIZES, *_input_sizes(0, 0), 'input_size')]))

# Settings of the kernels, with units; a deviation is one standard deviation.
_REAL_SETTINGS = (
    'cutoff',                 # Hz, of the low-pass of the forces; 0: none
    'flight',                 # load on all feet below which the robot flies, of the weight
    'force_evidence',         # largest log-likelihood ratio by the load, without torque
    'motion_evidence',        # largest ratio because a foot has not risen, with torque
    'slip_speed',             # m/s, deviation of a standing foot
    'swing_speed',            # m/s, deviation of a swinging foot
    'clearance',              # m, deviation of the height of a standing foot
    'swing_clearance',        # m, deviation of the height of a swinging foot
    'natural_time',           # s, sqrt(l / g) with the leg length l
    'least_height',           # m, least height of the base over the feet
    'switching_rate',         # 1/s, of contact
    'on',                     # probability above which a foot counts as in contact
    'off',                    # probability below which it counts as up
    'weight',                 # N, of the robot
    'arm',                    # m, moment over force of a flat foot
    'observable_variance',    # N^2, largest one of a force that is known
    'use_base',               # 1: the equations of the base are used
    'use_torque',             # 1: the equations of the joints are used
    'angular_noise',          # rad/s^2, of the angular acceleration
    'angular_unknown',        # rad/s^2, the same without an IMU
    'linear_noise',           # m/s^2, white noise of the acceleration
    'linear_unknown',         # m/s^2, the same without an IMU
    'linear_slow',            # variance of the accelerometer's bias over that of its noise
    'accelerometer_noise',    # m/s^2, of noise and bias together
    'gravity',                # m/s^2
    'reach',                  # m, how far the feet are from the base
    'two_samples',            # 1: the window has two samples, and a tick lies between them
    'risen',                  # m, rise of a foot that has left its place
    'natural_frequency',      # 1/s, sqrt(g / l)
    'slow_samples',           # samples after which an error counts as slowly varying
    'jump_share',             # error of the accelerometer's mean over its jump
    'imu_late',               # samples that the IMU's readings are found to be late
    'external_force',         # N, deviation of the external force
    'external_moment',        # N m, deviation of the external moment
    'external_on_leg',        # 1: the link that is pushed belongs to a leg
    'effort_gain',            # deviation of the gain of torque sensors
    'scale_doubt',            # deviation of what all forces are wrong by alike, as a share
    'momentum_time',          # s, deviation of an error of momentum over that of its derivative
    'momentum_keep',          # share of an error of momentum that stays in a sample
    'effort_at',              # place in the window, or after it, of the efforts that belong
    'effort_age',             # s, of efforts against the positions they come with
)
SETTINGS = np.dtype((np.record, [(name, np.float64) for name in (
    *_REAL_SETTINGS, *(field.name for field in fields(FilterSettings)))] + [
    ('imu_body', np.int64),                     # body that carries the IMU
    ('R_BI', np.float64, (9,)),                 # orientation of the IMU on that body, by rows
    ('p_BI', np.float64, (3,)),                 # m, its position there
    ('external_body', np.int64),                # body that is pushed; -1: the base
    ('R_external', np.float64, (9,)),           # orientation of the pushed link on it, by rows
    ('p_external', np.float64, (3,)),           # m, where the wrench acts on it
]))


def make_layout(nj: int, nf: int, nc: int, samples: int, mimics: int = 0,
                limits: int = 0) -> np.ndarray:
    """Return the `LAYOUT` record: all counts, and each input's offset in a window row."""
    inputs = _input_sizes(nj, nf)
    starts = itertools.accumulate(inputs.values(), initial=0)
    layout = np.zeros(1, LAYOUT)
    for name, value in [*zip(SIZES, (nj + 1, nj, nf, nc, samples, mimics, limits)),
                        *zip([*inputs, 'input_size'], starts)]:
        layout[name] = value
    return layout


class Robot(NamedTuple):
    """
    Constants of the robot, and its noise.

    Attributes
    ----------
    tree : Tree
        Bodies and joints.
    feet : FeetTable
        Feet and their contact coordinates.
    model_error : (6,) array
        Variance of the base's equations by stated errors of the model.
    prior : (nc,) array
        Inverse variance of each contact coordinate before measuring.
    columns : (nv, nx + 2) int array
        Which elements of the tracked state each joint moves: contact coordinates after their
        number, then those of the external wrench, and last how many there are with these.
    mimics : (nm, 2) int array
        Each joint that follows another, and its master.
    ratio : (nm,) array
        Velocity of each follower over that of its master.
    branches : (nv, 2) int array
        First joint of the branch of the base that a joint belongs to, and the first after it.
    ends : (6 + nv,) int array
        End of each row's branch in the mass matrix: see `dynamics.composite_body`.
    effort_variance, motion_noise : (nv,) array
        Variance of the measured torque; deviation of the joint acceleration. Both are updated with
        the estimated noise.
    stated_noise : (2 nv,) array
        Of joint velocities, then of torques.
    slope_noise : (1,) array
        Deviation of a differentiated velocity by the noise of velocities.
    contact_levels : (nf, 4) array
        Normal force at which contact is as likely as not, the error of a swinging foot's, the
        error that noise and doubt of its torques make, and that of doubt, by the weight.
    homes : (nf, 2) array
        Positions of the feet in the standing pose, x and y from the base [m].
    stops : (nv, 2) array
        Positions between which each joint moves freely [rad or m].
    passive : (nv,) array
        1 for a joint without a motor, whose effort is not measured.
    effort_map : (nv, N_EFFORT_MAP) array
        Factor from measured to delivered torque, what is added to it, and the share of it that
        friction takes.
    doubt : (nv, N_DOUBT ** 2) array
        Covariance of each joint's actuator parameters, by rows: see `model.actuators`.

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
    passive: np.ndarray
    effort_map: np.ndarray
    doubt: np.ndarray


class Scratch(NamedTuple):
    """Arrays that the kernels work in; nothing in them outlives a tick."""

    # (nb, N_BODY_STATE): frames, motion and forces of the bodies; see `dynamics.kinematics`
    bodies: np.ndarray
    # (nx, nv): contact coordinates and external wrench by joint; zero where a joint does not move
    # them
    jacobian: np.ndarray
    information: np.ndarray  # (nc, nc): information, or covariance, of the contact coordinates
    # (6, nx): wrench on the base's origin by the elements of the tracked state; without torque the
    # last columns belong to the error of the base's momentum and not to the external wrench
    grasp: np.ndarray
    vectors: np.ndarray  # (N_VECTORS, max(nv + 3, nc, 9)): rows named below


class Tracking(NamedTuple):
    """
    Arrays of the filters of all feet's forces; n = 6 + nv equations, nx = nc + N_EXTRA unknowns.

    Nothing in them outlives a tick.

    Attributes
    ----------
    latest, latest_covariance : (nx,), (nx, nx) array
        State of the newest sample.
    rigid : (nb, N_RIGID_BODY) array
        Inertias of the bodies; see `dynamics.kinematics`.
    mass : (n, N_RIGHT_SIDES + n) array
        Right sides, and the mass matrix.
    response : (n, nv + N_SHARED) array
        Error of each equation by each error of motion, one deviation each.
    noise, slow_noise : (n, n) array
        Covariance of the equations' errors in a sample, and of slowly varying ones.
    gain : (n, nx) array
        ``H P``, then whitened.
    mass_columns : (6, 4) array
        Wrench on the base by an error of mass and of first moments.
    foot_rows : (7, nx) array
        Of one foot: rows of the covariance and a difference of states.
    sensor_rows : (6, nx) array
        Of the accelerometer: its rows, and these times the covariance.
    block : (6, 7) array
        A small matrix, and a column.
    innovation : (n,) array
        What each equation has that the state does not predict.
    slow_innovation : (n,) array
        The slowly varying part of it.
    slow_variance : (2, n) array
        Variance of each equation by errors that stay for seconds, and of a mean of the others.
    process_noise : (nx,) array
        Variance that each element of the state gains in this tick.
    vector : (9,) array
    push_variance : (12,) array
        Variance of each component of the external wrench by slowly varying errors, then by others.
    unexplained : (6,) array
        Of the base's equations, with the feet's forces as their own joints see them.
    rows : (n,) int array
        Equations that hold: 0 to 5 those of the base, 6 + j that of joint j.

    """

    latest: np.ndarray
    latest_covariance: np.ndarray
    rigid: np.ndarray
    mass: np.ndarray
    response: np.ndarray
    noise: np.ndarray
    slow_noise: np.ndarray
    gain: np.ndarray
    mass_columns: np.ndarray
    foot_rows: np.ndarray
    sensor_rows: np.ndarray
    block: np.ndarray
    innovation: np.ndarray
    slow_innovation: np.ndarray
    slow_variance: np.ndarray
    process_noise: np.ndarray
    vector: np.ndarray
    push_variance: np.ndarray
    unexplained: np.ndarray
    rows: np.ndarray


# Rows of Scratch.vectors.
(TAU, ACCEL, RESIDUAL, WEIGHTS, VECTOR, BASE, BASE_WEIGHTS, BEYOND,
 SLOW_WEIGHTS, SLIPPING, DOUBT, MOST) = range(12)
N_VECTORS = 12


class Arrays(NamedTuple):
    """Everything a tick works on, as views of one integer and one float array."""

    robot: Robot
    scratch: Scratch
    window: np.ndarray  # (samples, input_size): measurements, oldest first
    # (samples + 1,) [ns]: of the window's rows, and of the newest measurement to come
    stamps: np.ndarray
    memory: Memory
    row: np.ndarray  # (input_size,): the newest measurement
    middle: np.ndarray  # (input_size,): the measurement that an estimate starts from
    tracking: Tracking
    ground: Ground


@inlined_part
def unpack(layout, integers, floats):
    """
    Split the two flat arrays into their parts, memory first.

    Compiled calls then take two arguments instead of fifty; the same code defines the views
    for Python and the lengths (`allocate`).
    """
    nb, nj, nf, nc = layout.bodies, layout.joints, layout.feet_count, layout.contacts
    n, nx = N_BASE + nj, nc + N_EXTRA
    topology, at = matrix(integers, 0, nb, N_TOPOLOGY)
    index, at = matrix(integers, at, nf, N_INDEX)
    columns, at = matrix(integers, at, nj, nx + 2)
    mimics, at = matrix(integers, at, layout.mimics, 2)
    branches, at = matrix(integers, at, nj, 2)
    ends, at = vector(integers, at, n)
    rows, at = vector(integers, at, n)
    stamps, end_of_integers = vector(integers, at, layout.samples + 1)
    memory, at = carve_memory(floats, layout)
    constants, at = matrix(floats, at, nb, N_CONSTANTS)
    geometry, at = matrix(floats, at, nf, N_GEOMETRY)
    model_error, at = vector(floats, at, N_BASE)
    prior, at = vector(floats, at, nc)
    ratio, at = vector(floats, at, layout.mimics)
    effort_variance, at = vector(floats, at, nj)
    motion_noise, at = vector(floats, at, nj)
    stated_noise, at = vector(floats, at, 2 * nj)
    slope_noise, at = vector(floats, at, 1)
    contact_levels, at = matrix(floats, at, nf, 4)
    homes, at = matrix(floats, at, nf, 2)
    stops, at = matrix(floats, at, nj, 2)
    passive, at = vector(floats, at, nj)
    effort_map, at = matrix(floats, at, nj, N_EFFORT_MAP)
    doubt, at = matrix(floats, at, nj, N_DOUBT * N_DOUBT)
    bodies, at = matrix(floats, at, nb, N_BODY_STATE)
    jacobian, at = matrix(floats, at, nx, nj)
    information, at = matrix(floats, at, nc, nc)
    grasp, at = matrix(floats, at, N_BASE, nx)
    vectors, at = matrix(floats, at, N_VECTORS, max(nj + 3, nc, 9))
    window, at = matrix(floats, at, layout.samples, layout.input_size)
    row, at = vector(floats, at, layout.input_size)
    middle, at = vector(floats, at, layout.input_size)
    latest, at = vector(floats, at, nx)
    latest_covariance, at = matrix(floats, at, nx, nx)
    rigid, at = matrix(floats, at, nb, N_RIGID_BODY)
    mass, at = matrix(floats, at, n, N_RIGHT_SIDES + n)
    response, at = matrix(floats, at, n, nj + N_SHARED)
    noise, at = matrix(floats, at, n, n)
    slow_noise, at = matrix(floats, at, n, n)
    gain, at = matrix(floats, at, n, nx)
    mass_columns, at = matrix(floats, at, N_BASE, N_MASS)
    foot_rows, at = matrix(floats, at, 7, nx)
    sensor_rows, at = matrix(floats, at, 6, nx)
    block, at = matrix(floats, at, 6, 7)
    innovation, at = vector(floats, at, n)
    slow_innovation, at = vector(floats, at, n)
    slow_variance, at = matrix(floats, at, 2, n)
    process_noise, at = vector(floats, at, nx)
    vector_of_nine, at = vector(floats, at, 9)
    push_variance, at = vector(floats, at, 2 * N_EXTRA)
    unexplained, at = vector(floats, at, N_BASE)
    given, at = matrix(floats, at, nf, N_GIVEN)
    limits, at = matrix(floats, at, layout.limits, N_TEMPLATE)
    bounds = limits_memory(floats, at, integers, end_of_integers, layout.limits, nc)
    robot = Robot(
        tree=Tree(topology=topology, constants=constants),
        feet=FeetTable(index=index, geometry=geometry), model_error=model_error, prior=prior,
        columns=columns, mimics=mimics, ratio=ratio, branches=branches, ends=ends,
        effort_variance=effort_variance, motion_noise=motion_noise, stated_noise=stated_noise,
        slope_noise=slope_noise, contact_levels=contact_levels, homes=homes, stops=stops,
        effort_map=effort_map, doubt=doubt, passive=passive)
    scratch = Scratch(bodies=bodies, jacobian=jacobian, information=information, grasp=grasp,
                      vectors=vectors)
    tracking = Tracking(
        latest=latest, latest_covariance=latest_covariance, rigid=rigid, mass=mass,
        response=response, noise=noise, slow_noise=slow_noise, gain=gain,
        mass_columns=mass_columns, foot_rows=foot_rows, sensor_rows=sensor_rows, block=block,
        innovation=innovation, slow_innovation=slow_innovation, slow_variance=slow_variance,
        process_noise=process_noise, vector=vector_of_nine, push_variance=push_variance,
        unexplained=unexplained, rows=rows)
    return Arrays(robot=robot, scratch=scratch, window=window, stamps=stamps, memory=memory,
                  row=row, middle=middle, tracking=tracking,
                  ground=Ground(given=given, limits=limits, bounds=bounds))


def allocate(layout: np.record) -> tuple[np.ndarray, np.ndarray]:
    """Return the zeroed integer and float arrays that :func:`unpack` splits."""
    memories = endless(np.int64), endless()
    integers, floats = lengths_of(as_python(unpack)(layout, *memories), *memories)
    return np.zeros(integers, np.int64), np.zeros(floats)
