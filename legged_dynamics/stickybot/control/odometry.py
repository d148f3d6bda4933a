# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Odometry on the wall: position and velocity of the body from hips and attitude.

A foot on the wall rests, so its limb gives the body's position and velocity; the values of several
feet are averaged. The body's angle and rate come from the attitude sensor. A foot whose limb gives
another velocity than the body had a moment ago, and than the other limbs give, does not hold; nor
does one that carries nothing and whose distance from the others has changed. Distances between
feet follow from the hips alone, and so to micrometres; a limb that has lost its foot springs back
by what its load had bent it.

The angle follows from the IMU: with a wall inclined by l and the body turned by phi, the vertical
in body axes is

    u = (sin l sin phi, sin l cos phi, cos l)

so that phi = atan2(u_x, u_y) wherever gravity has a component in the wall's plane. On a floor it
has none, and the gyro's rates are integrated instead.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.attitude import STEADY, advance_tilt
from legged_dynamics.estimation.filter.memory import TILT
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.spatial.algebra import rotation_of_quaternion
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.model.limb import END, LIMB, limb_terms, make_workspace
from legged_dynamics.stickybot.model.robot import StickybotMeasurement, StickybotModel

# A foot with less than this part of the largest load counts as unloaded.
IDLE_PART = 0.3


class SlipLimits(NamedTuple):
    """Limits beyond which a foot does not hold."""

    settling: float         # s after touchdown in which a foot is not judged
    speed: float            # m/s
    distance: float         # m, from where it stood
    duration: float         # s
    load: float             # N, of a foot that carries nothing
    span: float             # m, by which the distances of such a foot have changed


class _Place(NamedTuple):
    """What the sensors measured last, where body and feet are, how long feet have been there."""

    hips: np.ndarray        # (N, 6): d (x, y, angle), and its rate
    inner: np.ndarray       # (2, joints): angles and rates of inner joints
    body: np.ndarray        # (2,): angle and rate of the body [rad, rad/s]
    z: np.ndarray           # (nz,)
    v: np.ndarray           # (nz,)
    votes: np.ndarray       # (N, 4): place and velocity of the body by each foot
    anchors: np.ndarray     # (N, 2) [m]: where feet stand, wall axes
    spans: np.ndarray       # (N, N) [m]: distances of feet when both had settled; NaN of others
    holds: np.ndarray       # (N,)
    held_for: np.ndarray    # (N,) [s]
    suspected: np.ndarray   # (N,) [s] for which each foot seems to slip


@kernel
def _cast_votes(machine, work, place):
    """Fill angles, rates and ``votes``."""
    index, constants, hips, inner = machine.index, machine.constants, place.hips, place.inner
    z, v, votes, angle, rate = place.z, place.v, place.votes, place.body[0], place.body[1]
    c, s = math.cos(angle), math.sin(angle)
    end = work.shape[0] - 1
    z[2], v[2] = angle, rate
    at = 0
    for i in range(index.shape[0]):
        n, start = index[i, LIMB.n_links], index[i, LIMB.start]
        z[start], z[start + 1], v[start], v[start + 1] = 0.0, 0.0, 0.0, 0.0
        z[start + 2], v[start + 2] = angle + hips[i, 2], rate + hips[i, 5]
        for k in range(1, n):
            z[start + 2 + k], v[start + 2 + k] = inner[0, at], inner[1, at]
            z[start + 2] -= inner[0, at]
            v[start + 2] -= inner[1, at]
            at += 1
        limb_terms(index, constants, work, i, z, v)
        # The body's centre from the foot, and its velocity if the foot rests.
        dx, dy = c * hips[i, 0] - s * hips[i, 1], s * hips[i, 0] + c * hips[i, 1]
        wx, wy = c * hips[i, 3] - s * hips[i, 4], s * hips[i, 3] + c * hips[i, 4]
        votes[i, 0] = work[end, END.pose] - dx
        votes[i, 1] = work[end, END.pose + 1] - dy
        votes[i, 2] = work[end, END.velocity] - wx + rate * dy
        votes[i, 3] = work[end, END.velocity + 1] - wy - rate * dx


@kernel
def _read(machine, work, place, wanted, trust, dt):
    """Take place and velocity of the body from feet that stay, and of feet from the body."""
    z, v, votes, anchors, holds = place.z, place.v, place.votes, place.anchors, place.holds
    _cast_votes(machine, work, place)
    staying = holds & wanted
    if not staying.any():
        staying = holds         # all feet change at once
    # Where none agrees with the last estimate (an impact, the first sample), all count.
    for limit in (trust, math.inf):
        count, x, y, vx, vy = 0, 0.0, 0.0, 0.0, 0.0
        for i in range(holds.shape[0]):
            if staying[i] and math.hypot(votes[i, 2] - v[0], votes[i, 3] - v[1]) <= limit:
                count, vx, vy = count + 1, vx + votes[i, 2], vy + votes[i, 3]
                x, y = x + (votes[i, 0] + anchors[i, 0]), y + (votes[i, 1] + anchors[i, 1])
        if count > 0:
            z[0], z[1], v[0], v[1] = x / count, y / count, vx / count, vy / count
            break
    for i in range(holds.shape[0]):
        start, fresh = machine.index[i, LIMB.start], wanted[i] and not holds[i]
        for j in range(2):
            z[start + j], v[start + j] = z[j] - votes[i, j], v[j] - votes[i, 2 + j]
            if fresh:
                anchors[i, j] = z[start + j]
        place.held_for[i] = place.held_for[i] + dt if wanted[i] and not fresh else 0.0
        holds[i] = wanted[i]


@kernel
def _find_lost(machine, place, loads, dt, limits):
    """
    Return which feet seem to have detached; ``loads`` (N,) [N]: at hips, without limbs' weights.

    If all seem to move, those with almost no load are suspected; if all are loaded, the body was
    pushed.
    """
    index, z, v, spans, n = machine.index, place.z, place.v, place.spans, loads.shape[0]
    settled = place.holds & (place.held_for > limits.settling)
    doubtful, most = np.zeros(n, np.bool_), 0.0
    for i in range(n):
        a, stray = index[i, LIMB.start], False
        for j in range(n):
            b = index[j, LIMB.start]
            span = math.hypot(z[a] - z[b], z[a + 1] - z[b + 1])
            if not (settled[i] and settled[j]) or math.isnan(spans[i, j]):
                spans[i, j] = span if settled[i] and settled[j] else math.nan
            stray = stray or abs(span - spans[i, j]) > limits.span      # False where NaN
        if settled[i]:
            most = max(most, loads[i])
            away = math.hypot(z[a] - place.anchors[i, 0], z[a + 1] - place.anchors[i, 1])
            doubtful[i] = ((stray and loads[i] < limits.load) or away > limits.distance
                           or math.hypot(v[a], v[a + 1]) > limits.speed)
    if doubtful.sum() > 1 and (doubtful == settled).all():
        doubtful &= loads <= IDLE_PART * most
    for i in range(n):
        suspected = place.suspected[i] + dt if doubtful[i] else 0.0
        doubtful[i] = suspected > limits.duration
        place.suspected[i] = 0.0 if doubtful[i] else suspected
    return doubtful


class WallOdometry:
    """
    Pose, velocity and foot positions from hips, inner joints and attitude.

    The body starts at the wall frame's origin. Limbs that give a velocity farther than the slip
    speed from the last one are left out while others are within.
    """

    def __init__(self, model: StickybotModel, limits: SlipLimits):
        self._machine, self._work = model.machine, make_workspace(model.machine)
        self._limits, n, inner = limits, model.n_limbs, model.n_inner_joints
        self._values = np.zeros(6 * n + 2 * inner + 2)
        hips, joints, body = np.split(self._values, [6 * n, 6 * n + 2 * inner])
        self._place = _Place(
            hips.reshape(n, 6), joints.reshape(2, inner), body, np.zeros(model.nz),
            np.zeros(model.nz), np.zeros((n, 4)), np.zeros((n, 2)), np.zeros((n, n)),
            np.zeros(n, bool), np.zeros(n), np.zeros(n))
        self.z, self.v, self.holds = self._place.z, self._place.v, self._place.holds

    def reset(self) -> None:
        """Forget where the body is and which feet hold."""
        for values in self._place:
            values[:] = 0
        self._place.spans[:] = math.nan

    def take(self, measurement: StickybotMeasurement) -> None:
        """Store a measurement after checking it."""
        m, (hips, joints, body) = measurement, self._place[:3]
        of_limbs, of_joints = (len(hips), 3), (joints.shape[1],)
        for name, shape in (('hip', of_limbs), ('hip_rate', of_limbs), ('joint', of_joints),
                            ('joint_rate', of_joints), ('attached', of_limbs[:1]),
                            ('effort', of_limbs), ('joint_effort', of_joints)):
            if (given := getattr(m, name)) is not None and np.shape(given) != shape:
                raise MeasurementError(f'expected {name} of shape {shape}, got {np.shape(given)}')
        hips[:, :3], hips[:, 3:], joints[0], joints[1] = m.hip, m.hip_rate, m.joint, m.joint_rate
        body[:] = m.body_angle, m.body_rate
        if not all(math.isfinite(np.sum(given)) for given in (self._values, m.effort,
                                                              m.joint_effort)
                   if given is not None):
            raise MeasurementError('expected finite joint states, efforts, body angle and body '
                                   f'rate, got {measurement}')

    def read(self, wanted: np.ndarray, dt: float) -> None:
        """Update by the stored measurement; ``wanted`` feet are on the wall from now on."""
        _read(self._machine, self._work, self._place, wanted, self._limits.speed, dt)

    def lost(self, measurement: StickybotMeasurement, loads: np.ndarray, dt: float) -> np.ndarray:
        """Return which feet have detached, as measured or as `_find_lost` suspects."""
        if measurement.attached is not None:
            return (self.holds & (self._place.held_for > self._limits.settling)
                    & ~np.asarray(measurement.attached, bool))
        return _find_lost(self._machine, self._place, loads, dt, self._limits)


# -------------------------------------------------------------------------------------------------
# Angle of the body in the plane of the wall, from the IMU.


# Least part of gravity in the wall's plane from which the angle is computed.
LEAST_PART = 0.1


class BodyAngle:
    """
    Estimates the body's angle in the plane of the wall, 0 with the head up the slope.

    ``R_BI``: IMU in body axes (x right, y to the head, z off the wall).
    """

    def __init__(self, R_BI: np.ndarray):
        self._R_BI = np.array(R_BI, float)
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._memory = np.zeros(TILT.width)
        self._last_ns: int | None = None
        self.angle = self.rate = self.inclination = 0.0

    def update(self, measurement: Measurement) -> bool:
        """Update the angle by an IMU reading; return False while it is unknown."""
        if measurement.angular_velocity is None or measurement.linear_acceleration is None:
            return False
        stamp = measurement.stamp_ns
        dt = 0.0 if self._last_ns is None else max(stamp - self._last_ns, 0) * 1e-9
        self._last_ns = stamp
        w = self._R_BI @ measurement.angular_velocity
        memory = self._memory
        if measurement.orientation is not None:
            # The vertical in the IMU's axes is the last row of its rotation.
            memory[:3] = self._R_BI @ rotation_of_quaternion(
                *measurement.orientation.tolist())[6:]
            memory[3] = 1.0
        else:
            a = self._R_BI @ measurement.linear_acceleration
            if memory[3] == 0.0 and abs(np.linalg.norm(a) - GRAVITY) > STEADY * GRAVITY:
                return False
            advance_tilt(memory, tuple(w.tolist()), tuple(a.tolist()), dt)
        x, y, z = memory[:3].tolist()
        self.rate = float(w[2])
        self.inclination = math.atan2(math.hypot(x, y), z)
        if math.hypot(x, y) > LEAST_PART:
            self.angle = math.atan2(x, y)
        else:
            self.angle += dt * self.rate
        return True
