# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Pairs joint states with IMU readings by their stamps, and continues signals that come late.

The records themselves stand in `legged_dynamics.model.measurement`.
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.measurement import (
    ImuSample,
    JointSample,
    Measurement,
    SwitchSample,
)

__all__ = ['IMU_TIMEOUT', 'MAX_GAP', 'ImuSample', 'JointSample', 'LateSignal',
           'Measurement', 'MeasurementSynchronizer', 'SwitchSample']

# -------------------------------------------------------------------------------------------------
# Synchronization of joint states and IMU readings, by their stamps alone.
#
# A joint state of stamp ``s`` waits for the first IMU reading of ``s`` or later. A reading of
# exactly ``s`` is used as it is; otherwise the readings on either side are interpolated to ``s``
# when they are closer to each other than a given gap. When joint states have run ahead of the
# newest IMU reading by more than the time-out, the IMU counts as lost, and joint states go on
# without it until it is back. The messages of each topic are expected in order; how the two topics
# interleave does not matter as long as the IMU lags by less than the time-out, so a bag gives the
# pairs that the live robot had, in spite of bursts and queues. (Only for the first samples after a
# loss, the order of arrival may decide.)


# Joint states and IMU readings kept, at most; the oldest are dropped.
CAPACITY = 4096
# Bursts of the IMU of this length do no harm [s].
IMU_TIMEOUT = 0.1
# A reading of a contact switch is valid for this long [ns].
SWITCH_AGE_NS = 100_000_000
# IMU readings further apart than this are not interpolated by default [s].
MAX_GAP = 0.02


class MeasurementSynchronizer:
    """
    Pairs joint states with IMU readings by their stamps.

    ``imu_timeout`` [s]: how long joint states wait, and the limit between a late message
    (left out) and time set back (waiting samples are dropped, `jumps_back`). ``max_gap``
    [s]: largest interpolated gap.
    """

    def __init__(self, imu_timeout: float = IMU_TIMEOUT, max_gap: float | None = None):
        max_gap = min(MAX_GAP, imu_timeout) if max_gap is None else max_gap
        if not 0.0 < imu_timeout < math.inf:
            raise ConfigurationError(f'imu_timeout: expected a time above 0 s, got {imu_timeout}')
        # Then a gap longer than the time-out gives no IMU reading in any order of arrival.
        if not 0.0 < max_gap <= imu_timeout:
            raise ConfigurationError(f'max_gap: expected a time above 0 and up to imu_timeout '
                                     f'({imu_timeout} s), got {max_gap}')
        self._timeout = round(imu_timeout * 1e9)
        self._max_gap = round(max_gap * 1e9)
        self.late = 0
        self.jumps_back = 0
        self.reset()

    def reset(self) -> None:
        """Drop all samples that wait."""
        self._waiting: deque[JointSample] = deque()
        self._readings: deque[ImuSample] = deque(maxlen=CAPACITY)
        self._switches: deque[SwitchSample] = deque(maxlen=CAPACITY)
        self._newest_joints: int | None = None
        self._newest_imu: int | None = None
        self._first_joints: int | None = None

    def push_joints(self, sample: JointSample) -> list[Measurement]:
        """Add a joint state; return the measurements now complete, oldest first."""
        stamp_ns = sample.stamp_ns
        newest = self._newest_joints
        if newest is not None and stamp_ns < newest:
            if newest - stamp_ns <= self._timeout:
                self.late += 1
                return []
            self.jumps_back += 1
            self._waiting.clear()
            self._drop_readings_after(stamp_ns + self._timeout)
            self._first_joints = stamp_ns
        if newest is None:
            self._first_joints = stamp_ns
        self._newest_joints = stamp_ns
        self._waiting.append(sample)
        return self._release()

    def push_imu(self, sample: ImuSample) -> list[Measurement]:
        """Add an IMU reading; return the measurements now complete, oldest first."""
        stamp_ns = sample.stamp_ns
        newest = self._newest_imu
        if newest is not None and stamp_ns <= newest:
            if newest - stamp_ns <= self._timeout:
                self.late += 1
                return []
            self.jumps_back += 1
            self._readings.clear()
            while self._waiting and self._waiting[-1].stamp_ns > stamp_ns + self._timeout:
                self._waiting.pop()
        self._newest_imu = stamp_ns
        self._readings.append(sample)
        return self._release()

    def push_switches(self, sample: SwitchSample) -> None:
        """Add a contact switch reading, for joint states of its stamp or later."""
        switches = self._switches
        if switches and sample.stamp_ns <= switches[-1].stamp_ns:
            if switches[-1].stamp_ns - sample.stamp_ns <= self._timeout:
                self.late += 1
                return
            self.jumps_back += 1
            switches.clear()
        switches.append(sample)

    def _closed(self, stamp_ns: int) -> np.ndarray | None:
        """Return the newest reading of the switches at a stamp, or None."""
        switches = self._switches
        while len(switches) > 1 and switches[1].stamp_ns <= stamp_ns:
            switches.popleft()
        if not switches or not 0 <= stamp_ns - switches[0].stamp_ns <= SWITCH_AGE_NS:
            return None
        return switches[0].closed

    def _drop_readings_after(self, stamp_ns: int) -> None:
        """Drop readings of the IMU from before time was set back."""
        while self._readings and self._readings[-1].stamp_ns > stamp_ns:
            self._readings.pop()
        self._newest_imu = self._readings[-1].stamp_ns if self._readings else None

    def _release(self) -> list[Measurement]:
        ready: list[Measurement] = []
        while self._waiting:
            stamp, imu = self._waiting[0].stamp_ns, self._newest_imu
            since = self._first_joints if imu is None else imu
            lost = self._newest_joints - since > self._timeout      # type: ignore[operator]
            if not (lost or (imu is not None and imu >= stamp) or len(self._waiting) > CAPACITY):
                break
            ready.append(self._complete(self._waiting.popleft()))
        return ready

    def _complete(self, joints: JointSample) -> Measurement:
        """Return the joint state with its IMU reading, and forget the readings before that."""
        stamp, readings, moved = joints.stamp_ns, self._readings, joints[:4]
        # Joint states come in order: no later one needs what lies before this one's neighbours.
        while len(readings) > 1 and readings[1].stamp_ns <= stamp:
            readings.popleft()
        closed = self._closed(stamp)
        if not readings or readings[0].stamp_ns > stamp:
            return Measurement(*moved, switches=closed)
        before = readings[0]
        if before.stamp_ns == stamp:
            return Measurement(*moved, *before[1:], closed)
        if len(readings) == 1 or readings[1].stamp_ns - before.stamp_ns > self._max_gap:
            return Measurement(*moved, switches=closed)
        return Measurement(*moved, *_between(before, readings[1], stamp), closed)


def _between(a: ImuSample, b: ImuSample,
             stamp_ns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    t = (stamp_ns - a.stamp_ns) / (b.stamp_ns - a.stamp_ns)
    orientation = None
    if a.orientation is not None and b.orientation is not None:
        orientation = _slerp(a.orientation, b.orientation, t)
    return ((1.0 - t) * a.angular_velocity + t * b.angular_velocity,
            (1.0 - t) * a.linear_acceleration + t * b.linear_acceleration, orientation)


def _slerp(a: np.ndarray, b: np.ndarray, t: float) -> np.ndarray:
    """Interpolate two unit quaternions along the shorter way."""
    cosine = float(a @ b)
    if cosine < 0.0:
        b, cosine = -b, -cosine
    angle = math.acos(min(cosine, 1.0))
    if angle < 1e-6:        # sin(angle) equals angle
        mixed = (1.0 - t) * a + t * b
    else:
        mixed = math.sin((1.0 - t) * angle) * a + math.sin(t * angle) * b
    return mixed / math.sqrt(mixed @ mixed)


# Samples over which squares of a late signal's derivatives are means.
MEAN_SAMPLES = 500.0


class LateSignal:
    """
    A signal older by ``late`` [s] than the sample it comes with, as after a low-pass.

    ``x(t) = y(t) + late dy/dt + k late^2/2 d2y/dt2``; k = 1 for a delay or a second-order
    Butterworth low-pass, 0 where noise is all. Derivatives are (1 + k/2) (1 - 1/z) / (1 + k/2/z)
    a sample; backward differences are late by half of one.
    """

    def __init__(self) -> None:
        self.late = 0.0
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self._last: list[np.ndarray] = []       # the last sample and its derivatives
        self._squares = np.zeros(2)     # mean ones, of second and third derivatives
        self._smooth, self._count = 1.0, -6.0

    def correct(self, values: np.ndarray, dt: float) -> None:
        """Extrapolate a sample in place by slope and curvature; ``dt`` is 0 for the first."""
        even, last, now = 0.5 * self._smooth, self._last, [values.copy()]
        for k in range(min(len(last), 3) if dt > 0.0 else 0):
            slope = now[k] - last[k]
            before = last[k + 1] if k + 1 < len(last) else slope / (1.0 + even)
            now.append(slope - even * np.nan_to_num(before))
        self._last = now
        if len(now) > 3 and self._is_judged(now):
            steps = (1.0 + even) * self.late / dt
            ahead = steps * now[1] + self._smooth * 0.5 * steps * steps * now[2]
            np.add(values, ahead, out=values, where=np.isfinite(ahead))

    def _is_judged(self, derivatives: list[np.ndarray]) -> bool:
        """Find how smooth the signal is: 1 without noise, 0 where noise is all that changes."""
        self._count = min(self._count + 1.0, MEAN_SAMPLES)
        if self._count > 0.0:       # what its beginning leaves in derivatives has decayed
            squares = np.nansum(np.square(derivatives[2:]), axis=1)
            self._squares += (squares - self._squares) / self._count
            second, third = self._squares
            self._smooth = min(max(2.0 - third / second, 0.0), 1.0) if second > 0.0 else 0.0
        return self._count > 0.0


class SampleClock:
    """Times of samples in even steps: their stamps, but smoothed ones where these scatter."""

    def __init__(self, rate: float):
        self.stamp: int | None = None       # ns, of the last sample; `time`: that it counts for
        self.period, self.time, self._step, self.scatter = round(1e9 / rate), 0, 0, 0.0    # ns
        self.uneven = False     # whether stamps are of receipt

    def time_of(self, stamp: int) -> int:
        """Return the time of a sample that comes next [ns]."""
        stray = stamp - self.time - self.period
        even = not self.uneven or stray > TUNED.lost * self.scatter
        return stamp if even else stamp - stray + round(stray / TUNED.steady_samples)

    def take(self, stamp: int, time: int) -> None:
        """Take a sample in."""
        if self.stamp is not None:
            change, self._step = abs(stamp - self.stamp - self._step), stamp - self.stamp
            self.scatter += (change - self.scatter) / TUNED.steady_samples
            self.uneven = self.scatter >= TUNED.scatter * self.period
        self.stamp, self.time = stamp, time


# -------------------------------------------------------------------------------------------------
# The row of measurements that the kernel of the estimator reads.


class InputViews(NamedTuple):
    """Views of the row; NaN where nothing is measured."""

    position: np.ndarray            # (nj,)
    velocity: np.ndarray            # (nj,)
    effort: np.ndarray              # (nj,)
    gyro: np.ndarray                # (3,) IMU axes [rad/s]
    acceleration: np.ndarray        # (3,) IMU axes [m/s^2]
    orientation: np.ndarray         # (4,) x, y, z, w
    contact: np.ndarray             # (nf,): given ones
    switch: np.ndarray              # (nf,): logarithm of the odds by foot switches


class InputRow:
    """Writes measurements into the row, torques of passive joints as not measured."""

    def __init__(self, row: np.ndarray, index: np.ndarray, joints: Sequence[str], n_feet: int,
                 passive: Sequence[int], switch_errors: tuple[float, float]):
        nj = len(joints)
        starts = [int(index[name]) for name in (
            'position', 'velocity', 'effort', 'gyro', 'acceleration', 'orientation',
            'given_contact', 'switch_evidence')]
        self.views = InputViews(*(row[start:start + size] for start, size in zip(
            starts, (nj, nj, nj, 3, 3, 4, n_feet, n_feet))))
        self._joints, self._passive = tuple(joints), list(passive)
        self._switch_errors = switch_errors     # probabilities of missed and of false contacts
        self._given = self._switched = True     # what the row holds now: to be filled once

    def fill(self, m: Measurement, contact: Sequence[bool] | None) -> None:
        """Write a measurement into the row; MeasurementError when a shape does not fit."""
        position, velocity, effort, gyro, acceleration, orientation, given, switch = self.views
        nj, nan = len(position), np.nan
        w, a, xyzw = m.angular_velocity, m.linear_acceleration, m.orientation
        try:
            # A single value would be spread over all joints or axes without a word.
            if not (len(m.position) == nj == len(m.velocity)
                    and (m.effort is None or len(m.effort) == nj)
                    and (w is None or len(w) == 3) and (a is None or len(a) == 3)
                    and (xyzw is None or len(xyzw) == 4)
                    and (m.switches is None or len(m.switches) == len(switch))
                    and (contact is None or len(contact) == len(given))):
                raise ValueError
            position[...] = m.position
            velocity[...] = m.velocity
            effort[...] = nan if m.effort is None else m.effort
            if self._passive:
                effort[self._passive] = nan
            gyro[...] = nan if w is None else w
            acceleration[...] = nan if a is None else a
            orientation[...] = nan if xyzw is None else xyzw
            if contact is not None or self._given:
                self._given = True      # until nothing stands there again
                given[...] = nan if contact is None else contact
                self._given = contact is not None
            if m.switches is not None or self._switched:
                self._switched = True
                switch[...] = 0.0 if m.switches is None else self._switch_evidence(m.switches)
                self._switched = m.switches is not None
        except (ValueError, TypeError):
            raise MeasurementError(misfit(m, contact, nj, len(switch))) from None

    def _switch_evidence(self, closed: np.ndarray) -> np.ndarray:
        """Return the log-likelihood ratio of contact that switches speak for (Bayes' rule)."""
        missed, false = self._switch_errors
        closed = np.asarray(closed, dtype=float)
        return np.where(np.isnan(closed), 0.0, np.where(
            closed > 0.5, np.log((1.0 - missed) / false), np.log(missed / (1.0 - false))))

    def not_finite(self, m: Measurement) -> str:
        """Return which joint states of a measurement are not finite."""
        bad = [f'{kind} of {name}' for kind, values in (('position', m.position),
                                                        ('velocity', m.velocity))
               for name, value in zip(self._joints, values) if not np.isfinite(value)]
        return f'expected finite joint states, got NaN or infinity for: {", ".join(bad)}'


def misfit(m: Measurement, contact: Sequence[bool] | None, nj: int, nf: int) -> str:
    """Return which part of a measurement does not fit a robot of nj joints and nf feet."""
    for name, size in {'position': nj, 'velocity': nj, 'effort': nj, 'angular_velocity': 3,
                       'linear_acceleration': 3, 'orientation': 4}.items():
        value = getattr(m, name)
        optional = name not in ('position', 'velocity')
        if (value is None and not optional) or (value is not None
                                                and np.shape(value) != (size,)):
            got = 'None' if value is None else f'shape {np.shape(value)}'
            return (f'{name}: expected {size} values'
                    f'{" in the model joint order" if size == nj else ""}, got {got}')
        if value is not None and np.asarray(value).dtype.kind not in 'biuf':
            return f'{name}: expected numbers, got {value!r}'
    if m.switches is not None and np.shape(m.switches) != (nf,):
        return f'switches: expected {nf} values (one a foot), got shape {np.shape(m.switches)}'
    return f'contact: expected {nf} flags (one a foot), got {contact!r}'
