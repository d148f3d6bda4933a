# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Recorded signals in one band and on one clock, for identification and doctor.

Every signal passes the same zero-phase low-pass, so equations that are linear in the signals hold
for the filtered ones, and is then thinned out to twice the band. Corrections (names, signs, units,
offsets, axes, delay) are applied to the filtered signals: the result is the same as with the
filter after them, thousands of times cheaper.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.jit import kernel

# -------------------------------------------------------------------------------------------------
# Logs of the sensors, as their messages came.


@dataclass(frozen=True, eq=False)
class JointLog:
    """
    Joint states as the driver sent them.

    Attributes
    ----------
    stamp_ns, receipt_ns : (n,) int array [ns]
        The driver's stamps, and times of receipt by the recorder's clock.
    names : tuple of str
        Joints as in the first message.
    position, velocity, effort : (n, nj) array
        NaN where a message has none.

    """

    stamp_ns: np.ndarray
    receipt_ns: np.ndarray
    names: tuple[str, ...]
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


@dataclass(frozen=True, eq=False)
class ImuLog:
    """
    IMU readings as the driver sent them.

    Attributes
    ----------
    stamp_ns, receipt_ns : (n,) int array [ns]
        The driver's stamps, and times of receipt by the recorder's clock.
    gyro, acceleration : (n, 3) array
        In the IMU's axes.
    orientation : (n, 4) array
        Quaternions as sent; NaN where there is none.
    frame_id : str
        Frame in the messages.

    """

    stamp_ns: np.ndarray
    receipt_ns: np.ndarray
    gyro: np.ndarray
    acceleration: np.ndarray
    orientation: np.ndarray
    frame_id: str = ''


@dataclass(frozen=True, eq=False)
class SensorLog:
    """A recording of a robot's sensors."""

    joints: JointLog  # Joint states
    imu: ImuLog | None = None  # IMU readings
    # Whether stamps are of simulated time, which need not keep pace with the recorder's clock
    simulated: bool = False

    def time_of(self, log: JointLog | ImuLog) -> np.ndarray:
        """Return when samples came [s] since the first joint state, by the clock of `extent`."""
        clock = 'stamp_ns' if self.simulated else 'receipt_ns'
        return (getattr(log, clock) - getattr(self.joints, clock)[:1]) * 1e-9

    @property
    def duration(self) -> float:
        """Time from the first joint state to the last [s]: simulated, or by the recorder."""
        return float(self.time_of(self.joints)[-1]) if len(self.joints.stamp_ns) else 0.0

    @property
    def extent(self) -> str:
        """The duration in words, with the clock that it is by."""
        return (f'{self.duration:.1f} s of simulated time' if self.simulated else
                f'{self.duration:.1f} s by the clock of the recorder')


# -------------------------------------------------------------------------------------------------
# Filtering.


@dataclass(frozen=True)
class FilterSettings:
    """Filters of recorded signals, and of the vertical."""

    band: float = 8.0       # Hz: motion of legs and body is below, impacts and vibrations above
    of_rate: float = 0.12   # of the sampling rate: largest band
    up_time: float = 1.5    # s, time constant of the accelerometer in the vertical
    settling: float = 0.4   # s at either end with transients of the filter
    shortest: float = 2.0   # s of recording
    stretch: int = 50       # samples in which noise is measured
    quiet: float = 0.3      # of the stretches: those without motion


FILTER = FilterSettings()


@dataclass(frozen=True, eq=False)
class Signals:
    """
    Filtered signals of a recording, in the driver's names, units and axes.

    Attributes
    ----------
    names : tuple of str
        Joints as the driver names them.
    time : (n,) array [s]
        Times of the thinned samples, from the first joint state on.
    position, velocity, acceleration, effort, rate : (n, nj) array
        Acceleration is the filtered derivative of velocity, rate that of position. NaN columns
        where nothing was measured.
    imu_time : (k,) array [s]
        Times of the IMU's filtered signals, by its own stamps.
    gyro, gyro_rate, accelerometer : (k, 3) array
        Angular velocity, its derivative, acceleration.
    missed : (k,) array
        Deviation of the acceleration by what changes too fast for its samples: impacts.
    orientation : (k, 4) array
        NaN where there is none.
    band, sample_rate : float [Hz]
        Cut-off of the low-pass, and rate of the recording.
    jitter : float [s]
        Deviation of the stamps of joints and IMU from even steps.

    """

    names: tuple[str, ...]
    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray
    rate: np.ndarray
    imu_time: np.ndarray
    gyro: np.ndarray
    gyro_rate: np.ndarray
    accelerometer: np.ndarray
    missed: np.ndarray
    orientation: np.ndarray
    band: float
    sample_rate: float
    jitter: float = 0.0

    @property
    def passed(self) -> float:
        """What the low-pass leaves of white noise."""
        return math.sqrt(min(2.0 * self.band / self.sample_rate, 1.0))

    @property
    def has_imu(self) -> bool:
        """Whether there is an IMU."""
        return len(self.imu_time) > 0


def filtered(log: SensorLog, band: float = FILTER.band, spacing: float | None = None) -> Signals:
    """
    Return the low-passed and thinned signals of a recording.

    ``band`` [Hz]: cut-off, less for low rates; ``spacing`` [s]: default a quarter of its
    period.
    """
    joints = log.joints
    stamp = joints.stamp_ns
    # Stamps that stand still or run backwards are replaced by the receipts.
    if len(stamp) < 2 or not (np.diff(stamp) > 0).mean() > 0.5:
        stamp = joints.receipt_ns
    stamp, first = _increasing(stamp)
    if len(stamp) < 50 or (stamp[-1] - stamp[0]) * 1e-9 < FILTER.shortest:
        raise MeasurementError(f'expected at least {FILTER.shortest:g} s of joint states, '
                               f'got {len(stamp)} samples; record longer')
    zero = stamp[0]
    t = (stamp - zero) * 1e-9
    period = float(np.median(np.diff(t)))
    band = min(band, FILTER.of_rate / period)
    grid = np.arange(t[0], t[-1], period)
    q, v, tau = (_low_pass(_onto(grid, t, values[first]), band, period)
                 for values in (joints.position, joints.velocity, joints.effort))
    a, rate = (np.gradient(values, period, axis=0) for values in (v, q))
    step = max(int((spacing or 0.25 / band) / period), 1)
    edge = max(int(FILTER.settling / period), 1)
    keep = slice(edge, len(grid) - edge, step)
    imu_time, gyro, gyro_rate, accelerometer, missed, orientation = _imu_signals(log, zero, band)
    return Signals(joints.names, grid[keep], q[keep], v[keep], a[keep], tau[keep], rate[keep],
                   imu_time, gyro, gyro_rate, accelerometer, missed, orientation, band,
                   1.0 / period, math.hypot(*(_jitter(one) for one in (joints, log.imu) if one)))


def _jitter(log: JointLog | ImuLog) -> float:
    """Return by how much stamps are off [s]: half the width of two thirds of the steps."""
    low, high = np.percentile(np.diff(log.stamp_ns), (16, 84))
    return 0.5e-9 * float(high - low) / math.sqrt(2.0)


def _imu_signals(log: SensorLog, zero: int, band: float) -> tuple[np.ndarray, ...]:
    empty = (np.zeros(0), *[np.zeros((0, 3))] * 3, np.zeros(0), np.zeros((0, 4)))
    imu = log.imu
    if imu is None or len(imu.stamp_ns) < 50:
        return empty
    stamp = imu.stamp_ns
    joints = log.joints
    overlap = min(stamp[-1], joints.stamp_ns[-1]) - max(stamp[0], joints.stamp_ns[0])
    if overlap < 0.5 * (joints.stamp_ns[-1] - joints.stamp_ns[0]) or not (
            np.diff(stamp) > 0).mean() > 0.5:
        # The IMU's stamps are of another clock: receipts instead.
        stamp = imu.receipt_ns - joints.receipt_ns[0] + zero
    stamp, first = _increasing(stamp)
    t = (stamp - zero) * 1e-9
    period = float(np.median(np.diff(t)))
    grid = np.arange(t[0], t[-1], period)
    sampled = _onto(grid, t, imu.acceleration[first])
    gyro, accelerometer = (_low_pass(values, band, period) for values in (
        _onto(grid, t, imu.gyro[first]), sampled))
    # Samples of an impact have its mean no better than by what they scatter.
    power = _low_pass(np.mean((sampled - accelerometer) ** 2, axis=1, keepdims=True), band, period)
    missed = np.sqrt(2.0 * band * period * np.maximum(power[:, 0], 0.0))
    turn = imu.orientation[first]
    turn = turn * np.cumprod(np.where(np.sum(turn * np.roll(turn, 1, axis=0), axis=1) < 0.0, -1.0,
                                      1.0))[:, None]        # the same rotation, without jumps
    turn = _low_pass(_onto(grid, t, turn), band, period)
    return (grid, gyro, np.gradient(gyro, period, axis=0), accelerometer, missed,
            turn / np.linalg.norm(turn, axis=1, keepdims=True))


def _increasing(stamp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the stamps that are later than all before them, and where they are."""
    first = np.flatnonzero(np.diff(np.maximum.accumulate(stamp), prepend=stamp[0] - 1) > 0)
    return stamp[first], first


def _onto(grid: np.ndarray, t: np.ndarray, values: np.ndarray) -> np.ndarray:
    columns = []
    for column in values.T:
        known = np.isfinite(column)
        columns.append(np.interp(grid, t[known], column[known]) if known.mean() > 0.5
                       else np.full(len(grid), np.nan))
    return np.stack(columns, axis=1)


def _low_pass(values: np.ndarray, band: float, period: float) -> np.ndarray:
    return sosfiltfilt(butter(2, min(2.0 * band * period, 0.9), output='sos'), values, axis=0)


@kernel
def _vertical(time, w, a, up_time, up):
    """Fill the vertical by a complementary filter, forward and backward to avoid lag."""
    n = len(time)
    for direction in range(2):
        x, y, z = 0.0, 0.0, 0.0
        weight = 0.0
        for step in range(n):
            k = step if direction == 0 else n - 1 - step
            if step > 0:
                last = k - 1 if direction == 0 else k + 1
                dt = time[k] - time[last]
                wx = 0.5 * (w[k, 0] + w[last, 0]) * dt
                wy = 0.5 * (w[k, 1] + w[last, 1]) * dt
                wz = 0.5 * (w[k, 2] + w[last, 2]) * dt
                # Twice: a midpoint step, good to the third power of the angle.
                mx, my, mz = (x + 0.5 * (y * wz - z * wy), y + 0.5 * (z * wx - x * wz),
                              z + 0.5 * (x * wy - y * wx))
                x, y, z = x + my * wz - mz * wy, y + mz * wx - mx * wz, z + mx * wy - my * wx
                weight *= math.exp(-abs(dt) / up_time)
            # A mean of all readings so far, with less weight on older ones.
            weight += 1.0
            gain = 1.0 / weight
            x, y, z = (x + gain * (a[k, 0] - x), y + gain * (a[k, 1] - y),
                       z + gain * (a[k, 2] - z))
            up[k, 0] += x
            up[k, 1] += y
            up[k, 2] += z
    for k in range(n):
        length = math.sqrt(up[k, 0] ** 2 + up[k, 1] ** 2 + up[k, 2] ** 2)
        for i in range(3):
            up[k, i] /= max(length, 1e-9)


@dataclass(frozen=True, eq=False)
class Samples:
    """
    Signals corrected by a configuration: model's joint order, base axes.

    Attributes
    ----------
    time : (n,) array [s]
        From the first joint state on.
    position, velocity, acceleration, effort, rate : (n, nj) array
        As in `Signals`.
    base : (n, 9) array
        Angular velocity, angular acceleration, proper acceleration of the base's origin.
    up : (n, 3) array
        Vertical in base axes, by the accelerometer and the gyro.
    up_by_orientation : (n, 3) array
        Vertical in base axes, by the IMU's orientation; NaN without.
    missed : (n,) array
        Deviation of the proper acceleration by impacts between samples.

    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray
    rate: np.ndarray
    base: np.ndarray
    up: np.ndarray
    up_by_orientation: np.ndarray
    missed: np.ndarray

    @cached_property
    def has_effort(self) -> np.ndarray:
        """(nj,) flags: joints whose effort is known."""
        return np.isfinite(self.effort).all(axis=0)


# By how much motors lead their links, and that rate as measured velocities show it, (2, n, nj)
# [rad, rad/s].
Drive = Callable[[Samples], np.ndarray]


def observe(signals: Signals, model: RobotModel, config: RobotConfig,
            drive: Drive | None = None) -> Samples:
    """Return samples under a configuration's corrections and IMU mount, and drives that give."""
    c, names = config.sensors, model.joint_names
    order = _order(signals, c.driver_names(names))
    scale, offset = c.per_joint('position_scale', names, 1.0), c.per_joint(
        'position_offset', names, 0.0)
    speed = c.per_joint('velocity_scale', names, 1.0)
    place = _order(signals, c.driver_names(names, effort=True))
    effort = _later(signals, signals.effort[:, place], config.noise.effort_age)
    effort = (effort * c.per_joint('effort_scale', names, 1.0)
              + c.per_joint('effort_offset', names, 0.0))
    effort[:, [name in c.ignore_effort for name in names]] = np.nan
    velocity, acceleration = (_later(signals, values[:, order], config.noise.velocity_age)
                              for values in (signals.velocity, signals.acceleration))
    rate = signals.rate[:, order] * scale
    blind = ~np.isfinite(velocity).all(axis=0)
    velocity, acceleration = velocity * speed, acceleration * speed
    if blind.any():         # a driver without velocities: from the positions
        velocity[:, blind] = rate[:, blind]
        acceleration[:, blind] = np.gradient(rate[:, blind], signals.time, axis=0)
    samples = Samples(signals.time, signals.position[:, order] * scale + offset, velocity,
                      acceleration, effort, rate, *_base(signals, model, config))
    return samples if drive is None else _deflected(samples, drive(samples))


def _later(signals: Signals, values: np.ndarray, age: float) -> np.ndarray:
    """Return what is said later by its age [s]: readings of the positions' own instants."""
    known = np.isfinite(values).all(axis=0) & (age != 0.0)
    values[:, known] = CubicSpline(signals.time, values[:, known])(
        np.clip(signals.time + age, *signals.time[[0, -1]]))
    return values


def _deflected(samples: Samples, deflection: np.ndarray) -> Samples:
    """Return the samples of links that are behind their motors, as a `Drive` says."""
    turned, rate = deflection
    return replace(
        samples, position=samples.position - turned, velocity=samples.velocity - rate,
        acceleration=samples.acceleration - np.gradient(rate, samples.time, axis=0),
        rate=samples.rate - np.gradient(turned, samples.time, axis=0))


def _order(signals: Signals, wanted: tuple[str, ...]) -> list[int]:
    where = {name: i for i, name in enumerate(signals.names)}
    missing = [name for name in wanted if name not in where]
    if missing:
        raise MeasurementError(f'joint_states: expected {", ".join(missing)}, got '
                               f'{", ".join(signals.names)}')
    return [where[name] for name in wanted]


def _base(signals: Signals, model: RobotModel, config: RobotConfig) -> tuple[np.ndarray, ...]:
    n, c = len(signals.time), config.sensors
    if not signals.has_imu:     # taken as level and slow
        rest = np.tile([0.0, 0, 0, 0, 0, 0, 0, 0, GRAVITY], (n, 1))
        return rest, rest[:, 6:] / GRAVITY, np.full((n, 3), np.nan), np.zeros(n)

    def at(values: np.ndarray) -> np.ndarray:
        t = signals.time + c.imu_delay
        return np.stack([np.interp(t, signals.imu_time, column) for column in values.T], axis=1)

    nearest = np.searchsorted(signals.imu_time, signals.time + c.imu_delay).clip(
        0, len(signals.imu_time) - 1)
    reported = c.reported_up(signals.orientation[nearest])
    mount = model.frame(config.imu_link_in(model)).pose
    w, a = c.imu(at(signals.gyro), at(signals.accelerometer), reported)
    alpha = c.imu(at(signals.gyro_rate), np.zeros((n, 3)))[0] + np.asarray(c.gyro_bias)
    w, alpha, a = (x @ mount.R.T for x in (w, alpha, a))
    p = mount.p
    a = a - np.cross(alpha, p) - np.cross(w, np.cross(w, p))
    up = np.zeros((n, 3))
    _vertical(signals.time, w, a, FILTER.up_time, up)
    attitude = (np.full((n, 3), np.nan) if c.ignore_orientation
                else reported @ c.imu_matrix.T @ mount.R.T)
    missed = abs(c.accelerometer_scale) * at(signals.missed[:, None])[:, 0]
    return np.hstack([w, alpha, a]), up, attitude, missed


# -------------------------------------------------------------------------------------------------
# Sensor noise in a recording, for the YAML's ``noise.*``.
#
# The third difference of a signal removes slow motion, and has twenty times the variance of white
# noise. It is taken in short stretches, of which the quieter ones count; the median makes a single
# impact harmless. A quantised signal (an encoder's resolution) has at least the deviation of a
# step's width over the root of twelve.

_THIRD = 20.0           # 1 + 9 + 9 + 1: variance of a third difference of white noise


def white_noise(values: np.ndarray) -> np.ndarray:
    """Return each column's white noise deviation (k,); NaN for columns without numbers."""
    third = np.diff(values, n=3, axis=0)
    count = len(third) // FILTER.stretch
    if count < 1:
        return np.full(values.shape[1], np.nan)
    stretches = third[:count * FILTER.stretch].reshape(count, FILTER.stretch, -1)
    each = np.sqrt(np.mean(stretches ** 2, axis=1) / _THIRD)
    each.sort(axis=0)
    quiet = each[:max(int(FILTER.quiet * count), 1)]
    # The quietest of equal stretches are too quiet by chance, by a few per cent. The median of
    # all has no such bias, and is taken where motion does not disturb it.
    found = np.where(each[count // 2] < 1.5 * np.median(quiet, axis=0), each[count // 2],
                     np.median(quiet, axis=0))
    steps = np.abs(np.diff(values, axis=0))
    width = np.array([np.min(column[column > 0.0], initial=np.inf) for column in steps.T])
    repeats = np.mean(steps == 0.0, axis=0) > 0.3       # a coarse signal repeats itself
    return np.where(repeats & np.isfinite(width), np.maximum(found, width / np.sqrt(12.0)), found)


def sensor_noise(log: SensorLog) -> Mapping[str, float]:
    """Return noise settings, by dotted name, from a recording; the noisiest joint decides."""
    found: dict[str, float] = {}
    parts = [(f'noise.{name}', getattr(log.joints, name)) for name in (
        'position', 'velocity', 'effort')]
    if log.imu is not None:
        parts += [('noise.gyro', log.imu.gyro), ('noise.accelerometer', log.imu.acceleration)]
    for name, values in parts:
        each = white_noise(values)
        if np.isfinite(each).any():
            found[name] = float(np.nanmax(each))
    return found
