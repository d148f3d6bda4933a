# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The estimator's memory: everything that is kept from one tick to the next, in named groups.

All groups are views of one flat array, cut by `carve_memory` alone, so that a reset is one
assignment. A kernel gets the group that it may write, and no other. Where a group keeps several
numbers of each foot, joint or signal, these are columns of a table, named by a NamedTuple of sizes
(`spatial.layout`). Vectors are in base axes unless another frame is stated; "of the weight" is
force over the robot's weight.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.spatial.jit import inlined_part
from legged_dynamics.spatial.layout import matrix, offsets, vector

# Elements of a tracked state after the contact coordinates w: an external wrench where torque is
# measured (`ForceMemory.state`), errors of the base's momentum where it is not
# (`MotionMemory.state`).
N_EXTRA = 6
# The base's equations in the tables of this file: force and moment.
N_BASE = 6


class _StatusColumns(NamedTuple):
    """Columns of ``Memory.status``."""

    filled: int = 1         # samples in the window
    by_torque: int = 1      # 1: the last tick tracked forces by torque, `ForceMemory` holds
    by_motion: int = 1      # 1: the last tick tracked them by motion, `MotionMemory` holds
    width: int = 0


class _TiltColumns(NamedTuple):
    """Columns of ``Memory.tilt``."""

    up: int = 3             # unit vector against gravity, base axes
    known: int = 1          # 1: it has been measured
    width: int = 0


class _EffortColumns(NamedTuple):
    """Columns of ``Memory.efforts``, a row for each joint."""

    last: int = 1           # effort of the last sample [N m or N]
    unchanged: int = 1      # for how long it has been the same in every bit [s]
    slope: int = 1          # mean slope [N m/s or N/s]
    width: int = 0


class _SignalColumns(NamedTuple):
    """Columns of ``NoiseMemory.signals``; units are the signal's, [rad/s or m/s], [N m or N]."""

    below: int = 1          # lower bound of the noise, one deviation
    above: int = 1          # upper bound
    repeats: int = 1        # share of samples that repeat the one before
    step_width: int = 1     # smallest step that was seen
    first: int = 1          # last first difference
    second: int = 1         # last second difference
    third: int = 1          # last third difference
    width: int = 0


class _LiftColumns(NamedTuple):
    """Columns of ``Memory.lift``, a row for each foot; heights along the ground's normal."""

    height: int = 1         # of the contact point over the base [m]
    place: int = 1          # height over the base of the place where the foot stood last [m]
    state: int = 1          # 0: there is no place; 1: there is one; 2: the foot is loaded
    since: int = 1          # time since the foot has landed [s]
    width: int = 0


class _PlaceColumns(NamedTuple):
    """Columns of ``GroundMemory.places``, a row for each foot."""

    position: int = 3       # where the foot stood last, from the base, world axes [m]
    known: int = 1          # 1: it has stood
    width: int = 0


class _PushColumns(NamedTuple):
    """Columns of ``Memory.push``, a row for each component of the external wrench."""

    whole: int = 1          # mean of the wrench in a sample, over its deviation
    change: int = 1         # mean of the part that the filter does not follow, likewise
    beyond: int = 1         # mean of that part [N, N m]
    width: int = 0


class _MotionColumns(NamedTuple):
    """Columns of ``MotionMemory.body``."""

    velocity: int = 3       # of the base over the ground, world axes [m/s]
    known: int = 1          # 1: it is known
    variance: int = 1       # of each component of it [m^2/s^2]
    lost: int = 1           # for how long no foot has seemed to stand without a fall [s]
    fastest: int = 1        # fastest foot of late [m/s]
    slip_variance: int = 1  # of a standing foot's velocity, each component [m^2/s^2]
    noise_scale: int = 1    # noise of the base's equations as a share of the stated
    switches: int = 1       # changes of contact of late, of each foot
    stood: int = 1          # for how long all feet have been called standing [s]
    upward: int = 1         # the base's upward velocity by its feet, at the last sample [m/s]
    rising: int = 1         # how much faster the base rises by the accelerometer [m/s]
    rising_bias: int = 1    # mean difference of the accelerations [m/s^2]
    lifted: int = 1         # probability that the robot hangs in the air
    width: int = 0


class _LegColumns(NamedTuple):
    """Columns of ``MotionMemory.legs``, a row for each foot."""

    probability: int = 1    # of contact, updated by correlated samples
    mean: int = 1           # mean of the probability of contact
    speed: int = 1          # mean speed of the contact point [m/s]
    spread_x: int = 1       # deviation of the centre of pressure along the sole [m]; 0: not known
    spread_y: int = 1       # and across it [m]
    load_rate: int = 1      # process noise of the load, of the weight after a natural time
    correction: int = 1     # sum of the load's whitened corrections
    information: int = 1    # sum of the squared gains of these
    before: int = 1         # the sum of corrections before this one
    elapsed: int = 1        # time over which they are summed [s]
    width: int = 0


class _FilterColumns(NamedTuple):
    """Columns of ``FilterMemory.status``."""

    ready: int = 1          # 1: the delays hold values
    oriented: int = 1       # 1: the last sample had an orientation, so that the heading is known
    width: int = 0


STATUS, TILT = offsets(_StatusColumns()), offsets(_TiltColumns())
EFFORT, SIGNAL = offsets(_EffortColumns()), offsets(_SignalColumns())
PUSH, FILTER = offsets(_PushColumns()), offsets(_FilterColumns())
LIFT, PLACE = offsets(_LiftColumns()), offsets(_PlaceColumns())
MOTION, LEG = offsets(_MotionColumns()), offsets(_LegColumns())
# Numbers that a second-order filter keeps of a channel.
N_DELAYS = 2
# Mass parameters: errors of the base's mass and of its three first moments.
N_MASS = 4


class NoiseMemory(NamedTuple):
    """
    Of the noise of joint velocities and torques.

    Attributes
    ----------
    ticks : (1,) array
        Samples that have been seen, up to the memory's length.
    signals : (2 nj, SIGNAL.width) array
        Of the joints' velocities, then of their torques.

    """

    ticks: np.ndarray
    signals: np.ndarray


class ContactMemory(NamedTuple):
    """
    Which feet are in contact.

    Attributes
    ----------
    probability : (nf,) array
        Of contact.
    flag : (nf,) array
        1 for a foot that counts as in contact, by the hysteresis.

    """

    probability: np.ndarray
    flag: np.ndarray


class GroundMemory(NamedTuple):
    """
    The ground that the feet have stood on.

    Attributes
    ----------
    normal : (3,) array
        Unit normal of the ground, world axes.
    age : (1,) array [s]
        For how long it has been followed, up to `ground.SETTLED`.
    places : (nf, PLACE.width) array
        Where each foot stood last.

    """

    normal: np.ndarray
    age: np.ndarray
    places: np.ndarray


class MassMemory(NamedTuple):
    """
    Of the error of the base's mass and first moment.

    Attributes
    ----------
    equations : (4, 5) array
        Normal equations, and their right side in the last column.
    acceleration : (3,) array [m/s^2]
        Mean of the base's proper acceleration.
    error : (4,) array [kg, kg m]
        Mass and first moment that the model lacks.

    """

    equations: np.ndarray
    acceleration: np.ndarray
    error: np.ndarray


class ForceMemory(NamedTuple):
    """
    The Kalman filter of all feet's forces where torque is measured.

    Attributes
    ----------
    state : (nx,) array [N, N m]
        ``[w; e]``: contact coordinates of all feet, external wrench.
    covariance : (nx, nx) array
        Of the state.
    mean : (nf, 3) array [N]
        Force of each foot, averaged over a short time.
    rate : (1,) array
        Process noise of standing feet's forces: deviation after a second, of the weight.
    bias : (6 + nj,) array
        Slowly varying part of the innovation of each equation: base, then joints.
    impact : (nf,) array
        1 for a foot that was hit by an impact in this tick.

    """

    state: np.ndarray
    covariance: np.ndarray
    mean: np.ndarray
    rate: np.ndarray
    bias: np.ndarray
    impact: np.ndarray


class PreviousTick(NamedTuple):
    """
    What the tick before has found: a sample's forces lie between those of two ticks.

    Attributes
    ----------
    known : (1,) array
        1: there was one.
    forces : (nc,) array [N, N m]
        Contact coordinates, mean of the tick.
    variance : (nc,) array
        Of what the forces may have done within that tick.
    contact, probability : (nf,) array
        Flag and probability of contact.

    """

    known: np.ndarray
    forces: np.ndarray
    variance: np.ndarray
    contact: np.ndarray
    probability: np.ndarray


class MotionMemory(NamedTuple):
    """
    The filter of all feet's forces where no torque is measured.

    Attributes
    ----------
    state : (nx,) array [N, N m, N s, N m s]
        ``[w; p]``: contact coordinates of all feet, error of the base's momentum.
    covariance : (nx, nx) array
        Of the state.
    body : (MOTION.width,) array
        Velocity of the base, and estimates of all feet together.
    legs : (nf, LEG.width) array
        Estimates of each foot.

    """

    state: np.ndarray
    covariance: np.ndarray
    body: np.ndarray
    legs: np.ndarray


class FilterMemory(NamedTuple):
    """
    The low-pass of the published forces.

    Attributes
    ----------
    status : (FILTER.width,) array
        Whether it has started, and in which axes.
    delays : (6 nf, 2) array
        Of each component of force and moment of each foot, world axes.

    """

    status: np.ndarray
    delays: np.ndarray


class Memory(NamedTuple):
    """
    All groups.

    Attributes
    ----------
    status : (STATUS.width,) array
        Which parts hold.
    tilt : (TILT.width,) array
        Direction of gravity.
    acceleration : (3,) array [m/s^2]
        Proper acceleration of the base in the tick before.
    efforts : (nj, EFFORT.width) array
        By which torques are found that are no longer measured.
    noise : NoiseMemory
    contact : ContactMemory
    lift : (nf, LIFT.width) array
        How far each foot has risen from its place.
    ground : GroundMemory
    push : (6, PUSH.width) array
        Means by which a push differs from a slowly varying error.
    mass : MassMemory
    forces : ForceMemory
    previous : PreviousTick
    motion : MotionMemory
    filter : FilterMemory

    """

    status: np.ndarray
    tilt: np.ndarray
    acceleration: np.ndarray
    efforts: np.ndarray
    noise: NoiseMemory
    contact: ContactMemory
    lift: np.ndarray
    ground: GroundMemory
    push: np.ndarray
    mass: MassMemory
    forces: ForceMemory
    previous: PreviousTick
    motion: MotionMemory
    filter: FilterMemory


@inlined_part
def carve_memory(flat, layout):
    """
    Cut the memory out of the beginning of a flat array.

    Parameters
    ----------
    flat : array
        At least as long as the memory.
    layout : record
        Of `layout.LAYOUT`: numbers of joints, feet and contact coordinates.

    Returns
    -------
    memory : Memory
    end : int
        Its length.

    """
    nj, nf, nc = layout.joints, layout.feet_count, layout.contacts
    nx = nc + N_EXTRA
    status, at = vector(flat, 0, STATUS.width)
    tilt, at = vector(flat, at, TILT.width)
    acceleration, at = vector(flat, at, 3)
    efforts, at = matrix(flat, at, nj, EFFORT.width)
    ticks, at = vector(flat, at, 1)
    signals, at = matrix(flat, at, 2 * nj, SIGNAL.width)
    probability, at = vector(flat, at, nf)
    flag, at = vector(flat, at, nf)
    lift, at = matrix(flat, at, nf, LIFT.width)
    normal, at = vector(flat, at, 3)
    age, at = vector(flat, at, 1)
    places, at = matrix(flat, at, nf, PLACE.width)
    push, at = matrix(flat, at, N_EXTRA, PUSH.width)
    equations, at = matrix(flat, at, N_MASS, N_MASS + 1)
    mean_acceleration, at = vector(flat, at, 3)
    mass_error, at = vector(flat, at, N_MASS)
    state, at = vector(flat, at, nx)
    covariance, at = matrix(flat, at, nx, nx)
    mean, at = matrix(flat, at, nf, 3)
    rate, at = vector(flat, at, 1)
    bias, at = vector(flat, at, N_BASE + nj)
    impact, at = vector(flat, at, nf)
    known, at = vector(flat, at, 1)
    forces_before, at = vector(flat, at, nc)
    variance_before, at = vector(flat, at, nc)
    contact_before, at = vector(flat, at, nf)
    probability_before, at = vector(flat, at, nf)
    motion_state, at = vector(flat, at, nx)
    motion_covariance, at = matrix(flat, at, nx, nx)
    body, at = vector(flat, at, MOTION.width)
    legs, at = matrix(flat, at, nf, LEG.width)
    filter_status, at = vector(flat, at, FILTER.width)
    delays, at = matrix(flat, at, 6 * nf, N_DELAYS)
    memory = Memory(
        status=status, tilt=tilt, acceleration=acceleration, efforts=efforts,
        noise=NoiseMemory(ticks=ticks, signals=signals),
        contact=ContactMemory(probability=probability, flag=flag), lift=lift,
        ground=GroundMemory(normal=normal, age=age, places=places), push=push,
        mass=MassMemory(equations=equations, acceleration=mean_acceleration, error=mass_error),
        forces=ForceMemory(state=state, covariance=covariance, mean=mean, rate=rate, bias=bias,
                           impact=impact),
        previous=PreviousTick(known=known, forces=forces_before, variance=variance_before,
                              contact=contact_before, probability=probability_before),
        motion=MotionMemory(state=motion_state, covariance=motion_covariance, body=body,
                            legs=legs),
        filter=FilterMemory(status=filter_status, delays=delays))
    return memory, at
