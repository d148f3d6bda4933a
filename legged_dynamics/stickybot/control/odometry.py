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

    speed: float            # m/s
    distance: float         # m, from where it stood
    duration: float         # s
    load: float             # N, of a foot that carries nothing
    span: float             # m, by which the distances of such a foot have changed


class _Readings(NamedTuple):
    """What the sensors measured last."""

    hips: np.ndarray        # (N, 6): d (x, y, angle), and its rate
    inner: np.ndarray       # (2, joints): angles and rates of inner joints
    body: np.ndarray        # (2,): angle and rate of the body [rad, rad/s]


@kernel
def _cast_votes(machine, work, readings, z, v, votes):
    """Fill angles and rates; ``votes`` (N, 4): place and velocity of the body by each foot."""
    index, constants, hips, inner = machine.index, machine.constants, readings.hips, readings.inner
    angle, rate = readings.body[0], readings.body[1]
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


class WallOdometry:
    """
    Pose, velocity and foot positions from hips, inner joints and attitude.

    The body starts at the wall frame's origin. Limbs that give a velocity farther than ``trust``
    [m/s] from the last one are left out while others are within.
    """

    def __init__(self, model: StickybotModel, trust: float):
        self._machine, self._work = model.machine, make_workspace(model.machine)
        self._feet, self._trust = model.foot_columns, trust
        self._readings = _Readings(np.zeros((model.n_limbs, 6)),
                                   np.zeros((2, model.n_inner_joints)), np.zeros(2))
        self._votes = np.zeros((model.n_limbs, 4))
        self.z, self.v = np.zeros((2, model.nz))
        self._anchors = np.zeros((model.n_limbs, 2))    # m: where feet stand, wall axes
        self.holds = np.zeros(model.n_limbs, bool)
        # Distances of feet from each other when both had been set.
        self._kept = np.full((model.n_limbs, model.n_limbs), math.nan)

    def reset(self) -> None:
        """Forget where the body is and which feet hold."""
        self.z[:], self.v[:], self._anchors[:], self.holds[:] = 0.0, 0.0, 0.0, False
        self._kept[:] = math.nan

    def take(self, measurement: StickybotMeasurement) -> None:
        """Store a measurement after checking it."""
        m, (hips, joints, body) = measurement, self._readings
        n, inner = len(hips), joints.shape[1]
        shapes = ((n, 3), (n, 3), (inner,), (inner,))
        got = tuple(np.shape(a) for a in (m.hip, m.hip_rate, m.joint, m.joint_rate))
        if got != shapes:
            raise MeasurementError(f'expected hip, hip_rate, joint, joint_rate of shapes '
                                   f'{shapes}, got {got}')
        if m.attached is not None and np.shape(m.attached) != (n,):
            raise MeasurementError(f'expected {n} flags of attached feet, got {m.attached!r}')
        for effort, shape in ((m.effort, (n, 3)), (m.joint_effort, (inner,))):
            if effort is not None and not (np.shape(effort) == shape
                                           and math.isfinite(np.sum(effort))):
                raise MeasurementError(f'expected finite efforts of shape {shape} or None, got '
                                       f'{effort!r}')
        hips[:, :3], hips[:, 3:] = m.hip, m.hip_rate
        joints[0], joints[1] = m.joint, m.joint_rate
        body[:] = m.body_angle, m.body_rate
        if not math.isfinite(sum(float(values.sum()) for values in self._readings)):
            raise MeasurementError('expected finite joint states, body angle and body rate, got '
                                   f'{measurement}')

    def read(self, wanted: np.ndarray) -> None:
        """Update by the stored measurement; ``wanted`` feet are on the wall from now on."""
        staying = self.holds & wanted
        if not staying.any() and self.holds.any():
            # All feet change at once: use those that held so far.
            staying = self.holds
        z, v, votes = self.z, self.v, self._votes
        _cast_votes(self._machine, self._work, self._readings, z, v, votes)
        trusted = staying & (np.hypot(*(votes[:, 2:] - v[:2]).T) <= self._trust)
        if not trusted.any():
            # None agrees with the last estimate (an impact, the first sample): use all that hold.
            trusted = staying
        if trusted.any():
            z[:2] = (votes[:, :2] + self._anchors)[trusted].mean(axis=0)
            v[:2] = votes[trusted, 2:].mean(axis=0)
        z[self._feet] = z[:2] - votes[:, :2]
        v[self._feet] = v[:2] - votes[:, 2:]
        fresh = wanted & ~self.holds
        if fresh.any():
            self._anchors[fresh] = self.z[self._feet][fresh]
        self.holds = wanted.copy()

    def suspects(self, settled: np.ndarray, loads: np.ndarray, dt: float, limits: SlipLimits,
                 suspected: np.ndarray) -> np.ndarray:
        """
        Return which feet seem to have detached.

        If all seem to move, those with almost no load are suspected; if all are loaded, the body
        was pushed. ``loads`` (N,) [N]: at the hips, without the limbs' weights; ``suspected`` [s]
        is changed.
        """
        feet, speeds = self.z[self._feet], self.v[self._feet]
        spans = np.hypot(*(feet[:, None] - feet).T)
        kept = np.where(np.isnan(self._kept), spans, self._kept)
        self._kept = np.where(np.outer(settled, settled), kept, math.nan)
        stray = np.abs(spans - self._kept) > limits.span        # False where NaN
        doubtful = settled & ((loads < limits.load) & stray.any(axis=1)
                              | (np.hypot(*speeds.T) > limits.speed)
                              | (np.hypot(*(feet - self._anchors).T) > limits.distance))
        if doubtful.sum() > 1 and (doubtful == settled).all():
            doubtful &= loads <= IDLE_PART * loads[settled].max()
        suspected[:] = np.where(doubtful, suspected + dt, 0.0)
        lost = suspected > limits.duration
        suspected[lost] = 0.0
        return lost


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
        self._memory = np.zeros(TILT.width)
        self.reset()

    def reset(self) -> None:
        """Forget the past."""
        self._memory[:] = 0.0
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
