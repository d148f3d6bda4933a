# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The estimator's memory: everything that is kept from one tick to the next, in named groups.

All groups are views of one flat array, so that a reset is one assignment. A kernel gets the group
that it may write, and no other. Where a group keeps several numbers of each foot, joint or signal,
these are columns of a table, named by a NamedTuple of sizes (`spatial.layout`). Vectors are in
base axes unless another frame is stated; "of the weight" is force over the robot's weight.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.spatial.layout import Size, floats, offsets

# Elements of a tracked state after the contact coordinates w: an external wrench where torque is
# measured (`ForceMemory.state`), errors of the base's momentum where it is not
# (`MotionMemory.state`).
N_EXTRA = 6
# The base's equations in the tables of this file: force and moment.
N_BASE = 6
# Sizes of a robot: joints, feet, contact coordinates; elements of a tracked state, equations.
NJ = Size('joints')
NF = Size('feet_count')
NC = Size('contacts')
NX = NC + N_EXTRA
N = NJ + N_BASE


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
    unchanged: int = 1      # samples for which it has been the same in every bit
    slope: int = 1          # mean slope [N m/s or N/s]
    most: int = 1           # largest size so far [N m or N]
    bound: int = 1          # size at which it stayed for a while: beyond is cut off; or 0
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


STATUS = offsets(_StatusColumns())
TILT = offsets(_TiltColumns())
EFFORT = offsets(_EffortColumns())
SIGNAL = offsets(_SignalColumns())
PUSH = offsets(_PushColumns())
FILTER = offsets(_FilterColumns())
LIFT = offsets(_LiftColumns())
PLACE = offsets(_PlaceColumns())
MOTION = offsets(_MotionColumns())
LEG = offsets(_LegColumns())
# Numbers that a second-order filter keeps of a channel.
N_DELAYS = 2
# Mass parameters: errors of the base's mass and of its three first moments.
N_MASS = 4


class NoiseMemory(NamedTuple):
    """Of the noise of joint velocities and torques."""

    ticks: np.ndarray = floats(1)  # samples that have been seen, up to the memory's length
    # of the joints' velocities, then of their torques
    signals: np.ndarray = floats(2 * NJ, SIGNAL.width)


class ContactMemory(NamedTuple):
    """Which feet are in contact."""

    probability: np.ndarray = floats(NF)  # of contact
    flag: np.ndarray = floats(NF)  # 1 for a foot that counts as in contact, by the hysteresis


class GroundMemory(NamedTuple):
    """The ground that the feet have stood on."""

    normal: np.ndarray = floats(3)  # unit normal of the ground, world axes
    age: np.ndarray = floats(1)  # s: for how long it has been followed, up to `ground.SETTLED`
    places: np.ndarray = floats(NF, PLACE.width)  # where each foot stood last


class MassMemory(NamedTuple):
    """Of the error of the base's mass and first moment."""

    # normal equations, and their right side in the last column
    equations: np.ndarray = floats(N_MASS, N_MASS + 1)
    acceleration: np.ndarray = floats(3)  # m/s^2: mean of the base's proper acceleration
    error: np.ndarray = floats(N_MASS)  # kg, kg m: mass and first moment that the model lacks


class ForceMemory(NamedTuple):
    """The Kalman filter of all feet's forces where torque is measured."""

    # N, N m: ``[w; e]``: contact coordinates of all feet, external wrench
    state: np.ndarray = floats(NX)
    covariance: np.ndarray = floats(NX, NX)  # of the state
    mean: np.ndarray = floats(NF, 3)  # N: force of each foot, averaged over a short time
    # process noise of standing feet's forces: deviation after a second, of the weight
    rate: np.ndarray = floats(1)
    # slowly varying part of the innovation of each equation: base, then joints
    bias: np.ndarray = floats(N)
    impact: np.ndarray = floats(NF)  # 1 for a foot that was hit by an impact in this tick


class PreviousTick(NamedTuple):
    """What the tick before has found: a sample's forces lie between those of two ticks."""

    known: np.ndarray = floats(1)  # 1: there was one
    forces: np.ndarray = floats(NC)  # N, N m: contact coordinates, mean of the tick
    variance: np.ndarray = floats(NC)  # of what the forces may have done within that tick
    contact: np.ndarray = floats(NF)  # flag of contact
    probability: np.ndarray = floats(NF)  # and its probability


class MotionMemory(NamedTuple):
    """The filter of all feet's forces where no torque is measured."""

    # N, N m, N s, N m s: ``[w; p]``: contact coordinates of all feet, error of the base's momentum
    state: np.ndarray = floats(NX)
    covariance: np.ndarray = floats(NX, NX)  # of the state
    # velocity of the base, and estimates of all feet together
    body: np.ndarray = floats(MOTION.width)
    legs: np.ndarray = floats(NF, LEG.width)  # estimates of each foot


class FilterMemory(NamedTuple):
    """The low-pass of the published forces."""

    status: np.ndarray = floats(FILTER.width)  # whether it has started, and in which axes
    # of each component of force and moment of each foot, world axes
    delays: np.ndarray = floats(6 * NF, N_DELAYS)


class Memory(NamedTuple):
    """All groups."""

    status: np.ndarray = floats(STATUS.width)  # which parts hold
    tilt: np.ndarray = floats(TILT.width)  # direction of gravity
    jump: np.ndarray = floats(3)  # m/s^2: deviation of the mean acceleration in a tick
    # by which torques are found that are no longer measured
    efforts: np.ndarray = floats(NJ, EFFORT.width)
    noise: NoiseMemory = NoiseMemory()
    contact: ContactMemory = ContactMemory()
    lift: np.ndarray = floats(NF, LIFT.width)  # how far each foot has risen from its place
    ground: GroundMemory = GroundMemory()
    # means by which a push differs from a slowly varying error
    push: np.ndarray = floats(N_EXTRA, PUSH.width)
    mass: MassMemory = MassMemory()
    forces: ForceMemory = ForceMemory()
    previous: PreviousTick = PreviousTick()
    motion: MotionMemory = MotionMemory()
    filter: FilterMemory = FilterMemory()
