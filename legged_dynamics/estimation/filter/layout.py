# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the estimator's kernel works on: its arrays, and where things lie in them.

The tables of indices and of settings are one-element record arrays: one argument to a compiled
call, with names.
"""
from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import N_FOOT_STATE, N_GEOMETRY, N_INDEX, FeetTable
from legged_dynamics.dynamics.kinematics import N_BODY_STATE, N_RIGID_BODY
from legged_dynamics.estimation.filter.memory import (
    N_BASE,
    N_EXTRA,
    N_MASS,
    NC,
    NF,
    NJ,
    NX,
    Memory,
    N,
)
from legged_dynamics.estimation.ground import Ground
from legged_dynamics.model.parts import N_CONSTANTS, N_TOPOLOGY, Tree
from legged_dynamics.optimization.within_limits import LimitsMemory
from legged_dynamics.spatial.layout import Size, allocated, floats, integers

# What a tick used; the values of ground_reaction.Mode.
UNAVAILABLE, TORQUE_ONLY, BASE_ONLY, FUSED = range(4)
# What the kernel returns when a row of the window cannot be used.
NOT_FINITE = -1
# And when there is no torque: `tick_by_motion` is a kernel of its own, compiled when it is needed.
BY_MOTION = -2
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
# Sizes of a robot and of an estimator besides those of `memory`.
NB = Size('bodies')
MIMICS = Size('mimics')
SAMPLES = Size('samples')
ROW = Size('input_size')
LINKS = Size('links')
WIDEST = Size('widest')
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


def record(values: Mapping[str, Any]) -> np.ndarray:
    """Return a one-element record array of numbers and vectors, and of bodies' numbers."""
    made = np.zeros(1, np.dtype((np.record, [
        (name, np.int64 if name.endswith('_body') else np.float64, np.shape(value))
        for name, value in values.items()])))
    for name, value in values.items():
        made[name] = value
    return made


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
    """Constants of the robot, and its noise."""

    tree: Tree = Tree(integers(NB, N_TOPOLOGY), floats(NB, N_CONSTANTS))
    feet: FeetTable = FeetTable(integers(NF, N_INDEX), floats(NF, N_GEOMETRY))
    # variance of the base's equations by stated errors of the model
    model_error: np.ndarray = floats(N_BASE)
    prior: np.ndarray = floats(NC)  # inverse variance of each contact coordinate before measuring
    # which elements of the tracked state each joint moves: contact coordinates after their number,
    # then those of the external wrench, and last how many there are with these
    columns: np.ndarray = integers(NJ, NX + 2)
    mimics: np.ndarray = integers(MIMICS, 2)  # each joint that follows another, and its master
    ratio: np.ndarray = floats(MIMICS)  # velocity of each follower over that of its master
    # first joint of the branch of the base that a joint belongs to, and the first after it
    branches: np.ndarray = integers(NJ, 2)
    # end of each row's branch in the mass matrix: see `dynamics.composite_body`
    ends: np.ndarray = integers(N)
    # variance of the measured torque, by the estimated noise
    effort_variance: np.ndarray = floats(NJ)
    motion_noise: np.ndarray = floats(NJ)  # deviation of the joint acceleration, by the same
    stated_noise: np.ndarray = floats(2 * NJ)  # of joint velocities, then of torques
    # deviation of a differentiated velocity by the noise of velocities
    slope_noise: np.ndarray = floats(1)
    # normal force at which contact is as likely as not, the error of a swinging foot's, the error
    # that noise and doubt of its torques make, and that of doubt, by the weight
    contact_levels: np.ndarray = floats(NF, 4)
    stops: np.ndarray = floats(NJ, 2)  # positions between which each joint moves freely [rad or m]
    passive: np.ndarray = floats(NJ)  # 1 for a joint without a motor, whose effort is not measured
    # factor from measured to delivered torque, what is added to it, and the share of it that
    # friction takes
    effort_map: np.ndarray = floats(NJ, N_EFFORT_MAP)
    # covariance of each joint's actuator parameters, by rows: see `model.actuators`
    doubt: np.ndarray = floats(NJ, N_DOUBT * N_DOUBT)
    # mean square error of dry friction by data and a wide prior: in soles' deviations, no weights
    friction_doubt: np.ndarray = floats(NJ)


# Rows of Scratch.vectors.
(TAU, ACCEL, RESIDUAL, WEIGHTS, VECTOR, BASE, BASE_WEIGHTS, BEYOND,
 SLOW_WEIGHTS, SLIPPING, DOUBT, MOST, LAG, BENDING) = range(14)
N_VECTORS = 14


class Scratch(NamedTuple):
    """Arrays that the kernels work in; nothing in them outlives a tick."""

    # frames, motion and forces of the bodies; see `dynamics.kinematics`
    bodies: np.ndarray = floats(NB, N_BODY_STATE)
    # contact coordinates and external wrench by joint; zero where a joint does not move them
    jacobian: np.ndarray = floats(NX, NJ)
    # information, or covariance, of the contact coordinates
    information: np.ndarray = floats(NC, NC)
    # wrench on the base's origin by the elements of the tracked state; without torque the last
    # columns belong to the error of the base's momentum and not to the external wrench
    grasp: np.ndarray = floats(N_BASE, NX)
    vectors: np.ndarray = floats(N_VECTORS, WIDEST)  # rows named above


class Tracking(NamedTuple):
    """
    Arrays of the filters of all feet's forces; n = 6 + nv equations, nx = nc + N_EXTRA unknowns.

    Nothing in them outlives a tick.
    """

    latest: np.ndarray = floats(NX)  # state of the newest sample
    latest_covariance: np.ndarray = floats(NX, NX)
    # inertias of the bodies; see `dynamics.kinematics`
    rigid: np.ndarray = floats(NB, N_RIGID_BODY)
    mass: np.ndarray = floats(N, N + N_RIGHT_SIDES)  # right sides, and the mass matrix
    # error of each equation by each error of motion, one deviation each
    response: np.ndarray = floats(N, NJ + N_SHARED)
    noise: np.ndarray = floats(N, N)  # covariance of the equations' errors in a sample
    slow_noise: np.ndarray = floats(N, N)  # and of slowly varying ones
    gain: np.ndarray = floats(N, NX)  # ``H P``, then whitened
    # wrench on the base by an error of mass and of first moments
    mass_columns: np.ndarray = floats(N_BASE, N_MASS)
    # of one foot: rows of the covariance and a difference of states
    foot_rows: np.ndarray = floats(7, NX)
    # of the accelerometer: its rows, and these times the covariance
    sensor_rows: np.ndarray = floats(6, NX)
    block: np.ndarray = floats(7, 6)  # a small matrix, and a row
    innovation: np.ndarray = floats(N)  # what each equation has that the state does not predict
    slow_innovation: np.ndarray = floats(N)  # the slowly varying part of it
    # variance of each equation by errors that stay for seconds, and of a mean of the others
    slow_variance: np.ndarray = floats(2, N)
    # variance that each element of the state gains in this tick
    process_noise: np.ndarray = floats(NX)
    vector: np.ndarray = floats(9)
    # variance of each component of the external wrench by slowly varying errors, then by others
    push_variance: np.ndarray = floats(2 * N_EXTRA)
    # of the base's equations, with the feet's forces as their own joints see them
    unexplained: np.ndarray = floats(N_BASE)
    # equations that hold: 0 to 5 those of the base, 6 + j that of joint j
    rows: np.ndarray = integers(N)


class FeetResults(NamedTuple):
    """Feet and the ground under them."""

    # frames and contact points: see `dynamics.jacobians`
    states: np.ndarray = floats(NF, N_FOOT_STATE)
    normals: np.ndarray = floats(NF, 3)  # unit normal of the ground under each foot
    ground_normal: np.ndarray = floats(3)  # the common one


class ContactResults(NamedTuple):
    """Which feet are in contact."""

    flag: np.ndarray = floats(NF)  # of contact, of the sample before the newest
    probability: np.ndarray = floats(NF)  # of the same
    latest: np.ndarray = floats(NF)  # flag of the newest sample
    observable: np.ndarray = floats(NF)  # 1 for a foot whose force the measurements determine


class ForceResults(NamedTuple):
    """Contact coordinates of all feet."""

    coordinates: np.ndarray = floats(NC)  # N, N m: of the sample before the newest
    covariance: np.ndarray = floats(NC, NC)
    latest: np.ndarray = floats(NC)  # N, N m: of the newest sample
    latest_covariance: np.ndarray = floats(NC, NC)


class WrenchResults(NamedTuple):
    """Wrenches of the feet."""

    # N, N m: of the newest sample, low-passed, and of the one before; each foot's axes and origin
    latest: np.ndarray = floats(NF, 6)
    raw: np.ndarray = floats(NF, 6)
    net: np.ndarray = floats(6)  # N, N m: sum of the latest ones about the base's origin
    center_of_pressure: np.ndarray = floats(3)  # m


class ExternalResults(NamedTuple):
    """The external wrench and the error of the base's mass."""

    wrench: np.ndarray = floats(6)  # N, N m: about the base's origin
    deviation: np.ndarray = floats(6)  # one standard deviation
    # N, N m: in the axes of the link that it acts on, about the point
    link_wrench: np.ndarray = floats(6)
    link_deviation: np.ndarray = floats(6)
    link_point: np.ndarray = floats(3)  # m: where it acts
    mass_error: np.ndarray = floats(N_MASS)  # kg, kg m: mass and first moment that the model lacks


class OffFeetResults(NamedTuple):
    """Contacts of other links than feet; base axes, or NaN."""

    force: np.ndarray = floats(LINKS, 3)  # N
    deviation: np.ndarray = floats(LINKS, 3)  # N
    point: np.ndarray = floats(LINKS, 3)  # m


class Results(NamedTuple):
    """
    All that a tick finds, views of one flat array; vectors are in base axes where none are stated.

    `ground_reaction.GroundReaction` documents each for its users.
    """

    faults: np.ndarray = floats(1)  # bits of `ground_reaction.Fault`
    base_rotation: np.ndarray = floats(9)  # ``R_WB`` by rows
    joint_acceleration: np.ndarray = floats(NJ)  # rad/s^2 or m/s^2
    # one deviation of velocities [rad/s or m/s] and of torques [N m or N]
    joint_noise: np.ndarray = floats(2, NJ)
    # N, N m: what the estimate leaves unexplained of the base's equations; NaN without an IMU
    base_residual: np.ndarray = floats(6)
    # N m or N: and of the joints'; NaN where no torque is measured
    joint_residual: np.ndarray = floats(NJ)
    feet: FeetResults = FeetResults()
    contact: ContactResults = ContactResults()
    forces: ForceResults = ForceResults()
    wrenches: WrenchResults = WrenchResults()
    external: ExternalResults = ExternalResults()
    off_feet: OffFeetResults = OffFeetResults()     # not by the tick


class Arrays(NamedTuple):
    """Everything a tick works on."""

    layout: np.ndarray  # (1,) of `LAYOUT`
    settings: np.ndarray  # (1,): `record` of the estimator's
    ground: Ground
    robot: Robot = Robot()
    scratch: Scratch = Scratch()
    window: np.ndarray = floats(SAMPLES, ROW)  # measurements, oldest first
    # ns: of the window's rows, and of the newest measurement to come
    stamps: np.ndarray = integers(SAMPLES + 1)
    memory: Memory = Memory()
    row: np.ndarray = floats(ROW)  # the newest measurement
    middle: np.ndarray = floats(ROW)  # the measurement that an estimate starts from
    tracking: Tracking = Tracking()
    results: Results = Results()


def sizes_of(layout: np.ndarray, links: int = 0) -> dict[str, int]:
    """Return the sizes that descriptions of arrays name; ``links``: that may touch the ground."""
    sizes = {name: int(layout[name][0]) for name in (*SIZES, 'input_size')}
    return {**sizes, 'links': links, 'widest': max(sizes['joints'] + 3, sizes['contacts'], 9)}


def allocate(layout: np.ndarray, settings: np.ndarray, links: int = 0
             ) -> tuple[Arrays, np.ndarray, np.ndarray]:
    """Return zeroed arrays, and two flat ones: all of the memory, and all of the results."""
    sizes = sizes_of(layout, links)
    memory, kept = allocated(Memory(), sizes)
    results, out = allocated(Results(), sizes)
    ground = Ground(LimitsMemory.of_size(sizes['contacts'], sizes['limits']))
    arrays, _ = allocated(Arrays(layout, settings, ground, memory=memory, results=results), sizes)
    return arrays, kept, out
