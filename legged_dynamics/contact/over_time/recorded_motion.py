# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A whole recorded motion: joints and base over time, differentiated where only poses are known.

Poses from markers or encoders are noisy, and a second derivative turns a millimetre at 10 Hz into
4 m/s^2: low-pass the poses (zero phase, the whole recording at hand) before differentiating.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY, UP, BaseMotion, Motion
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.model.parts import JOINT, Q_START, SPHERICAL, V_START
from legged_dynamics.model.robot_model import POSITION_SIZE, VELOCITY_SIZE, RobotModel
from legged_dynamics.spatial.frames import Transform

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation  # slow to import

# Steps in time may differ by this part of their median; a larger one is a gap.
EVEN = 0.2
# Before they are low-passed, recordings are continued at their ends by polynomials of this order,
# fitted to one period of the cut-off.
CONTINUED = 3
# A low-pass forward and back has its -3 dB here, as a fraction of the cut-off of each pass.
TWICE = (np.sqrt(2.0) - 1.0) ** 0.25


@dataclass(frozen=True, eq=False)
class RecordedMotion:
    """
    Motion of a robot or a person over time, at an even rate.

    Attributes
    ----------
    time : (n,) array [s]
        Evenly spaced.
    position : (n, nq) array [rad or m]
        Joints in the model's order.
    velocity, acceleration : (n, nv) array [rad/s, rad/s^2 or m/s, m/s^2]
        Velocities and accelerations of the joints.
    base_position : (n, 3) array [m]
        p_WB.
    base_rotation : (n, 3, 3) array
        R_WB.
    base_motion : (n, 9) array [rad/s, rad/s^2, m/s^2]
        Angular velocity, angular acceleration and proper acceleration of the base's origin, in
        base axes.
    cutoff : float or None [Hz]
        Low-pass of the poses that were differentiated; None where there was none, or where not all
        is by differences.

    """

    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    base_position: np.ndarray
    base_rotation: np.ndarray
    base_motion: np.ndarray
    cutoff: float | None = field(default=None, kw_only=True)

    @classmethod
    def from_poses(cls, model: RobotModel, time: np.ndarray, base_position: np.ndarray,
                   base_quaternion: np.ndarray, position: np.ndarray,
                   cutoff: float | None = None) -> RecordedMotion:
        """
        Differentiate poses twice by central differences, after an optional low-pass.

        Quaternions are xyzw. ``cutoff`` [Hz]: -3 dB of a zero-phase second-order Butterworth; 6
        for slow human movement, 10 to 15 for walking and running.
        """
        if (model.tree.topology[1:, JOINT] == SPHERICAL).any():
            raise MeasurementError('expected joints of one degree of freedom, got a spherical one;'
                                   ' build the RecordedMotion from its derivatives')
        time = checked_rows('time', time, (None,))
        n = len(time)
        p = checked_rows('base position', base_position, (n, 3))
        q = checked_rows('joint positions', position, (n, model.nq))
        xyzw = checked_rows('base quaternion', base_quaternion, (n, 4))
        dt = even_step(time)
        length = np.linalg.norm(xyzw, axis=1)
        if not (length > 1e-9).all():
            raise MeasurementError('expected quaternions of non-zero length, got zero at '
                                   f'{time[length <= 1e-9][0]:g} s')
        xyzw = _continuous(xyzw / length[:, None])
        if cutoff is not None:
            p, q, xyzw = (low_pass(values, dt, cutoff) for values in (p, q, xyzw))
        from scipy.spatial.transform import Rotation  # slow to import
        R = Rotation.from_quat(xyzw)
        # The rotation between two samples, halved, is the turning on either side of each.
        turn = _turns(R) / dt
        forward, back = np.vstack([turn, turn[-1:]]), np.vstack([turn[:1], turn])
        w, alpha = (forward + back) / 2.0, (forward - back) / dt
        alpha[0], alpha[-1] = alpha[1], alpha[-2]
        R_WB = R.as_matrix()
        proper = np.einsum('nji,nj->ni', R_WB, second_difference(p, dt) + GRAVITY * UP)
        return cls(time, q, np.gradient(q, dt, axis=0), second_difference(q, dt), p, R_WB,
                   np.hstack([w, alpha, proper]), cutoff=cutoff)

    @classmethod
    def from_inertial(cls, model: RobotModel, time: np.ndarray, base_position: np.ndarray,
                      imu_quaternion: np.ndarray, gyro: np.ndarray, accelerometer: np.ndarray,
                      mount: Transform, position: np.ndarray,
                      cutoff: float | None = None) -> RecordedMotion:
        """
        Take the base's motion from an IMU, and differentiate the joint positions.

        ``imu_quaternion`` (n, 4) xyzw in the world; ``gyro``, ``accelerometer`` (n, 3) in IMU
        axes, +9.81 upward at rest; ``mount``: IMU pose in the base. Others as in `from_poses`.
        """
        posed = cls.from_poses(model, time, base_position, imu_quaternion, position, cutoff)
        n, dt = len(posed), posed.step
        w, a = (checked_rows(name, values, (n, 3)) for name, values
                in (('gyro', gyro), ('accelerometer', accelerometer)))
        if cutoff is not None:
            w, a = low_pass(w, dt, cutoff), low_pass(a, dt, cutoff)
        w, a = w @ mount.R.T, a @ mount.R.T
        alpha = np.gradient(w, dt, axis=0)
        a = a - np.cross(alpha, mount.p) - np.cross(w, np.cross(w, mount.p))
        return replace(posed, base_rotation=posed.base_rotation @ mount.R.T,
                       base_motion=np.hstack([w, alpha, a]), cutoff=None)

    def __len__(self) -> int:
        """Return the number of instants."""
        return len(self.time)

    @property
    def step(self) -> float:
        """Time between instants [s]."""
        return even_step(self.time)

    def instant(self, i: int) -> Motion:
        """Return the motion at instant i."""
        w, alpha, proper = self.base_motion[i].reshape(3, 3)
        return Motion(self.position[i], self.velocity[i], self.acceleration[i],
                      BaseMotion(w, alpha, proper))

    def checked(self, model: RobotModel) -> RecordedMotion:
        """Return the motion as finite float arrays that fit a model, three times or more even."""
        time = checked_rows('time', self.time, (None,))
        n = len(time)
        if n > 2:
            even_step(time)
        return RecordedMotion(
            time, checked_rows('joint positions', self.position, (n, model.nq)),
            checked_rows('joint velocities', self.velocity, (n, model.nv)),
            checked_rows('joint accelerations', self.acceleration, (n, model.nv)),
            checked_rows('base position', self.base_position, (n, 3)),
            checked_rows('base rotation', self.base_rotation, (n, 3, 3)),
            checked_rows('base motion', self.base_motion, (n, 9)), cutoff=self.cutoff)


def even_step(time: np.ndarray) -> float:
    """Return the mean time step [s] of at least three evenly spaced samples."""
    if len(time) < 3:
        raise MeasurementError(f'expected three samples or more, got {len(time)}: the second '
                               'derivative needs three')
    steps = np.diff(time)
    dt = float(np.median(steps))
    odd = np.flatnonzero(~(np.abs(steps - dt) <= EVEN * dt))
    if dt <= 0.0 or len(odd):
        where = time[odd[0]] if len(odd) else time[0]
        raise MeasurementError(f'expected evenly spaced times, every {dt:g} s, got an odd step '
                               f'after {where:g} s ({len(odd)} in all); resample the recording, '
                               'or cut it at its gaps')
    return float(steps.mean())


def low_pass(values: np.ndarray, dt: float, cutoff: float) -> np.ndarray:
    """
    Low-pass (n, ...) values without delay: second-order Butterworth, forward and back.

    Both passes together have -3 dB at ``cutoff`` [Hz]. Ends are continued by cubics, since
    the usual odd reflection would let the acceleration vanish there.
    """
    # scipy.signal would double the time that importing this package takes.
    from scipy.signal import butter, sosfiltfilt

    corner = 2.0 * dt * cutoff / TWICE
    if not 0.0 < corner < 0.95:
        raise MeasurementError(f'expected a cut-off above 0 and below {0.475 * TWICE / dt:.1f} Hz '
                               f'at {1.0 / dt:.0f} samples a second, got {cutoff:g} Hz')
    pad = round(1.0 / (dt * cutoff))        # the filter forgets within one period of the cut-off
    if len(values) <= max(pad, 12):
        raise MeasurementError(f'expected more than {max(pad, 12)} samples for a low-pass at '
                               f'{cutoff:g} Hz, got {len(values)}')
    length, flat = max(pad, 12), values.reshape(len(values), -1)
    extended = np.vstack([_before(flat, length, pad), flat,
                          _before(flat[::-1], length, pad)[::-1]])
    found = sosfiltfilt(butter(2, corner, output='sos'), extended, axis=0, padlen=length)
    return found[length:-length].reshape(values.shape)


def _before(values: np.ndarray, length: int, fitted: int) -> np.ndarray:
    """Return samples that continue the start of values (n, k) backward."""
    size = min(max(fitted, CONTINUED + 2), len(values))
    powers = np.vander(np.arange(-length, size) / size, CONTINUED + 1)
    return powers[:length] @ np.linalg.lstsq(powers[length:], values[:size], rcond=None)[0]


def second_difference(values: np.ndarray, dt: float) -> np.ndarray:
    """Return central second differences (n, ...); end values repeat their neighbours'."""
    second = np.empty_like(values)
    second[1:-1] = (values[2:] - 2.0 * values[1:-1] + values[:-2]) / dt ** 2
    second[0], second[-1] = second[1], second[-2]
    return second


def _continuous(xyzw: np.ndarray) -> np.ndarray:
    """Return the same rotations with signs that do not jump."""
    flips = np.sign((xyzw[1:] * xyzw[:-1]).sum(axis=1))
    return xyzw * np.concatenate([[1.0], np.cumprod(np.where(flips < 0.0, -1.0, 1.0))])[:, None]


def checked_rows(what: str, values: object, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return a table as finite floats, refused unless it has a shape; None is any length."""
    array = np.ascontiguousarray(values, dtype=float)
    if array.ndim != len(shape) or any(want not in (None, got)
                                       for want, got in zip(shape, array.shape)):
        expected = ', '.join('n' if size is None else str(size) for size in shape)
        raise MeasurementError(f'{what}: expected shape ({expected}), got {array.shape}')
    if not len(array):
        raise MeasurementError(f'{what}: expected at least one frame, got none')
    finite = np.isfinite(array).all(axis=tuple(range(1, array.ndim)))
    if not finite.all():
        raise MeasurementError(f'{what}: expected finite values, got NaN or infinity in '
                               f'{(~finite).sum()} of {len(array)} frames, first in frame '
                               f'{np.flatnonzero(~finite)[0]}')
    return array


# -------------------------------------------------------------------------------------------------
# Motions out of generalised coordinates: base position, base quaternion, joints, one row a frame.
#
# Positions alone are differenced on the manifold, a rotation by the logarithm of what lies between
# two frames. A row of velocities is ``[v; w]`` of the base in its own axes, then the joints; a row
# of accelerations is its derivative component by component, as Pinocchio and Nimble have it.


SCHEMES = ('central', 'forward')
# Columns of the base in a row of positions: position and quaternion.
BASE_POSITIONS = 7
# Columns of the base in a row of velocities.
BASE_VELOCITIES = 6


@dataclass(frozen=True, eq=False)
class GeneralizedMotion(RecordedMotion):
    """
    A motion with the velocity of its base over ground.

    Attributes
    ----------
    base_velocity : (n, 3) array [m/s]
        Velocity of the base's origin, in world axes. Contact points' speeds follow from it.

    """

    base_velocity: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))

    @classmethod
    def from_positions(cls, model: RobotModel, positions: np.ndarray, time_step: float, *,
                       scheme: str = 'central', joint_names: Sequence[str] | None = None
                       ) -> GeneralizedMotion:
        """
        Difference positions.

        Parameters
        ----------
        model : RobotModel
            Robot with a floating base.
        positions : (T, 7 + nq) array [m, -, rad or m]
            ``[p_WB, quaternion x y z w, joints]``, a row a frame.
        time_step : float
            Time from frame to frame. [s]
        scheme : {'central', 'forward'}
            Second order: velocity and acceleration from the frames on either side; or first
            order, as Nimble has it: velocity to the next frame, acceleration from there to the
            one after. Forward differences put the root wrench of a 1 Hz motion at 100 Hz off by
            tens of newtons, central ones by tenths.
        joint_names : sequence of str, optional
            The order of the joints' columns; the model's by default.

        Returns
        -------
        GeneralizedMotion
            Of T - 2 frames: those from the second to the last but one, or with forward
            differences from the first to the last but two.

        Raises
        ------
        ConfigurationError
            When the scheme or the time step is not one.
        MeasurementError
            When there are fewer than three frames, a shape does not fit or a value is not finite.
        UnknownNameError
            When a joint's name is not in the model.

        """
        if scheme not in SCHEMES:
            raise ConfigurationError(f'expected a scheme of {", ".join(SCHEMES)}; got {scheme!r}')
        p, R, q = _split(model, positions, joint_names)
        dt, n = _step(time_step), len(p)
        if n < 3:
            raise MeasurementError(f'expected 3 frames or more, got {n}: an acceleration takes '
                                   'three positions')
        joint_rate, turn = _joint_differences(model, q) / dt, _turns(R) / dt
        v_world = np.diff(p, axis=0) / dt
        now = slice(1, -1) if scheme == 'central' else slice(0, -2)
        a = np.diff(joint_rate, axis=0) / dt
        if scheme == 'central':
            v, w, over_ground = ((rate[1:] + rate[:-1]) / 2.0
                                 for rate in (joint_rate, turn, v_world))
            proper = R[now].inv().apply(np.diff(v_world, axis=0) / dt + GRAVITY * UP)
        else:
            v, w, over_ground = joint_rate[:-1], turn[:-1], v_world[:-1]
            # Nimble's velocity is in body axes, and so is what it differences.
            along = R[:-1].inv().apply(v_world)
            proper = (np.diff(along, axis=0) / dt + np.cross(w, along[:-1])
                      + R[now].inv().apply(GRAVITY * UP))
        return cls(dt * np.arange(n)[now], q[now], v, a, p[now], R[now].as_matrix(),
                   np.hstack([w, np.diff(turn, axis=0) / dt, proper]), over_ground)

    @classmethod
    def from_states(cls, model: RobotModel, positions: np.ndarray, velocities: np.ndarray,
                    accelerations: np.ndarray, time_step: float, *,
                    joint_names: Sequence[str] | None = None) -> GeneralizedMotion:
        """
        Take positions, velocities and accelerations as they are given.

        Parameters
        ----------
        model : RobotModel
            Robot with a floating base.
        positions : (T, 7 + nq) array [m, -, rad or m]
            As in `from_positions`.
        velocities, accelerations : (T, 6 + nv) array [m/s, rad/s, joints; their derivatives]
            ``[v; w, joints]``, the base's in its own axes; the acceleration is *spatial*.
        time_step : float
            Time from frame to frame. [s]
        joint_names : sequence of str, optional
            The order of the joints' columns; the model's by default.

        Returns
        -------
        GeneralizedMotion
            Of T frames.

        Raises
        ------
        ConfigurationError
            When the time step is not above 0.
        MeasurementError
            When a shape does not fit or a value is not finite.
        UnknownNameError
            When a joint's name is not in the model.

        """
        p, R, q = _split(model, positions, joint_names)
        order = BASE_VELOCITIES + _columns(model, joint_names, VELOCITY_SIZE, V_START)
        shape = len(p), BASE_VELOCITIES + model.nv
        v = checked_rows('velocities', velocities, shape)
        a = checked_rows('accelerations', accelerations, shape)
        linear, w = v[:, :3], v[:, 3:6]
        proper = a[:, :3] + np.cross(w, linear) + R.inv().apply(GRAVITY * UP)
        return cls(_step(time_step) * np.arange(len(p)), q, v[:, order], a[:, order], p,
                   R.as_matrix(), np.hstack([w, a[:, 3:6], proper]), R.apply(linear))


def _split(model: RobotModel, positions: np.ndarray, joint_names: Sequence[str] | None
           ) -> tuple[np.ndarray, Rotation, np.ndarray]:
    """Return base positions, base rotations, and joints in the model's order."""
    from scipy.spatial.transform import Rotation
    order = BASE_POSITIONS + _columns(model, joint_names, POSITION_SIZE, Q_START)
    rows = checked_rows('positions', positions, (None, BASE_POSITIONS + model.nq))
    length = np.linalg.norm(rows[:, 3:7], axis=1)
    if not (length > 1e-9).all():
        raise MeasurementError('expected quaternions of non-zero length, got zero in frame '
                               f'{int(np.argmin(length))}')
    return rows[:, :3], Rotation.from_quat(rows[:, 3:7]), rows[:, order]


def _columns(model: RobotModel, joint_names: Sequence[str] | None, sizes: dict[int, int],
             start: int) -> np.ndarray:
    """Return for each of the model's coordinates which of the caller's joint columns it is."""
    names = model.joint_names if joint_names is None else tuple(joint_names)
    codes = {name: int(model.tree.topology[body, JOINT])
             for body, name in enumerate(model.joint_names, start=1)}
    missing = [name for name in model.joint_names if name not in names]
    for name in names:
        if name not in codes:
            raise UnknownNameError('joint', name, model.joint_names)
    if missing or len(names) != len(codes):
        raise MeasurementError(f'expected each joint once in joint_names; {len(names)} were '
                               f'given, without {missing}')
    at, first = {}, 0
    for name in names:
        at[name], first = first, first + sizes[codes[name]]
    return np.array([at[name] + k for name in model.joint_names
                     for k in range(sizes[codes[name]])], dtype=int)


def _step(time_step: float) -> float:
    if not (np.isfinite(time_step) and time_step > 0.0):
        raise ConfigurationError(f'expected a time step above 0 s, got {time_step}')
    return float(time_step)


def _turns(R: Rotation) -> np.ndarray:
    """Return the rotation vectors from each frame to the next, in the axes of both."""
    return (R[:-1].inv() * R[1:]).as_rotvec()


def _joint_differences(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """Return how far the joints move from each frame to the next, (T - 1, nv)."""
    from scipy.spatial.transform import Rotation
    differences = np.zeros((len(q) - 1, model.nv))
    for kind, iq, iv in model.tree.topology[1:, [JOINT, Q_START, V_START]]:
        if kind == SPHERICAL:
            differences[:, iv:iv + 3] = _turns(Rotation.from_quat(q[:, iq:iq + 4]))
        else:
            differences[:, iv] = np.diff(q[:, iq])
    return differences
