# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Motion out of a bag: joints from joint states, the base from odometry or from an IMU.

Odometry gives poses, which are differentiated as the joints are. An IMU measures the rotation and
the acceleration of the base, with less noise than poses that are differentiated twice. Where there
is an IMU and odometry, the poses are those of the odometry. With an IMU alone, the base's position
follows from the feet in contact, by leg odometry. With an IMU, contacts are those that the on-line
estimator detects.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.dynamics.motion import GRAVITY, UP
from legged_dynamics.estimation import EstimatorSettings, Measurement, Mode
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.leg_odometry import LegOdometry
from legged_dynamics.estimation.measurement import JointSample
from legged_dynamics.estimation.sensor_stream import SensorStream
from legged_dynamics.exceptions import BagError, MeasurementError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.people.trials.csv_motion import Poses, even_grid, interpolated, slerped
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.recording import PoseRecord
from legged_dynamics.recordings.replay import ESTIMATOR
from legged_dynamics.ros.conversions.reading import SampleReader
from legged_dynamics.ros.middleware.lifecycle import compile_first

# Takes a decoded message and its receipt [ns].
Taker = Callable[[Any, int], None]


@dataclass(frozen=True)
class ImuSettings:
    """When an IMU takes part in the motion of the base."""

    # Mean acceleration by which it may differ from odometry: tilt, bias and scale of any IMU whose
    # mount is known are less.
    mount_error: float = 1.5  # [m/s^2]
    # It is used where its acceleration changes from sample to sample by less than this part of
    # that of an odometry, differentiated twice: both have the same motion, the rest is noise.
    noise_ratio: float = 0.7


IMU = ImuSettings()


@dataclass(frozen=True, eq=False)
class BagMotion:
    """A motion that was recorded in a bag."""

    start_ns: int  # Stamp at which the motion's time is zero
    motion: RecordedMotion  # The motion, at an even rate
    detect: Callable[[], np.ndarray] | None = None  # Returns `contact`

    @cached_property
    def contact(self) -> np.ndarray | None:
        """Return the on-line estimator's contacts (n, nf); None without IMU or velocities."""
        return None if self.detect is None else self.detect()


def motion_from_odometry(bag: BagReader, model: RobotModel, config: RobotConfig, joints: str,
                         odometry: str, cutoff: float | None,
                         span: tuple[int | None, int | None]) -> BagMotion:
    """
    Return the motion of joint states and an Odometry of the base.

    ``cutoff`` [Hz]: low-pass before differentiating; ``span`` [ns]: receipts, end
    exclusive.
    """
    read, base = SampleReader(model, config), PoseRecord()
    stamps: list[int] = []
    positions: list[np.ndarray] = []

    def take_joints(message: Any, _receipt_ns: int) -> None:
        sample = read.joints(_with_velocity(message))
        stamps.append(sample.stamp_ns)
        positions.append(sample.position)

    _pass(bag, {joints: take_joints, odometry: base.append}, span)
    start = max(stamps[0], int(base.stamp_ns.values[0]))
    time = _seconds(stamps, start)
    both, position, xyzw = _base_at(base, time, start, f'{bag.path}: {joints} and {odometry}')
    poses = Poses(time[both], position, xyzw, np.array(positions)[both])
    return BagMotion(start, poses.motion(model, cutoff)[0])


def motion_from_imu(bag: BagReader, model: RobotModel, config: RobotConfig,
                    settings: EstimatorSettings, joints: str, imu: str, cutoff: float | None,
                    span: tuple[int | None, int | None], odometry: str = '') -> BagMotion:
    """
    Return the motion of joint states and an IMU with an orientation or an odometry.

    ``cutoff`` [Hz]: low-pass; ``span`` [ns]: receipts, end exclusive. Without ``odometry``
    the pose is by orientation and stance feet; the IMU must be on the base.
    """
    config.require_fixed_imu(model, 'motion from an IMU')
    read, stream = SampleReader(model, config, joints, imu, ''), SensorStream()
    base = PoseRecord()
    measurements: list[Measurement] = []
    still = False       # joint states without velocities

    def take(topic: str, message: Any, _receipt_ns: int) -> None:
        nonlocal still
        still |= topic == joints and not len(message.velocity)
        sample = read(topic, _with_velocity(message) if topic == joints and odometry else message)
        if isinstance(sample, JointSample):
            sample = sample._replace(effort=None)
        measurements.extend(stream.push(sample))

    takers: dict[str, Taker] = {topic: partial(take, topic) for topic in (joints, imu)}
    _pass(bag, takers | ({odometry: base.append} if odometry else {}), span)
    whole = [m for m in measurements if m.angular_velocity is not None
             and m.linear_acceleration is not None and (odometry or m.orientation is not None)]
    if len(whole) < 3:
        raise MeasurementError(f'{bag.path}: expected joint states with a reading of the IMU'
                               f'{"" if odometry else " that has an orientation"}, got '
                               f'{len(whole)} of {len(measurements)}; '
                               + ('try --base odometry' if odometry else
                                  'give an odometry topic with --odom'))
    start = max(whole[0].stamp_ns, int(base.stamp_ns.values[0]) if odometry else 0)
    time = _seconds([m.stamp_ns for m in whole], start)
    mount = model.frame(config.imu_link_in(model)).pose
    if odometry:
        both, position, xyzw = _base_at(base, time, start, f'{bag.path}: {imu} and {odometry}')
        whole = [m for m, inside in zip(whole, both) if inside]
        time = time[both]
        from scipy.spatial.transform import Rotation  # slow to import
        xyzw = (Rotation.from_quat(xyzw) * Rotation.from_matrix(mount.R)).as_quat()
        whole = [replace(m, orientation=each) for m, each in zip(whole, xyzw)]
    else:
        xyzw = np.array([m.orientation for m in whole])
    rate = min(max(1.0 / float(np.median(np.diff(time))), 1.0), 10000.0)
    grid = even_grid(time)

    @cache
    def contacts() -> np.ndarray:
        return _contacts(model, config, replace(settings, rate=rate), whole)

    def detect() -> np.ndarray:
        return contacts()[np.clip(np.searchsorted(time, grid - 1e-9), 0, len(time) - 1)]

    if not odometry:
        follow = LegOdometry(model, config)
        position = np.array([follow.update(m, down).position
                             for m, down in zip(whole, contacts())])
    columns = (np.array([m.position for m in whole]),
               np.array([m.angular_velocity for m in whole]),
               np.array([m.linear_acceleration for m in whole]), position)
    q, gyro, accelerometer, p = (interpolated(time, values, grid) for values in columns)
    motion = RecordedMotion.from_inertial(model, grid, p, slerped(time, xyzw, grid), gyro,
                                          accelerometer, mount, q, cutoff)
    if odometry:
        _require_gravity(motion, imu, odometry)
    return BagMotion(start, motion, None if odometry and still else detect)


def _base_at(base: PoseRecord, time: np.ndarray, start: int,
             topics: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which times the odometry covers, and position and quaternion at these."""
    known = _seconds(base.stamp_ns.values, start)
    both = (time >= known[0] - 1e-9) & (time <= known[-1] + 1e-9)
    if both.sum() < 3:
        raise BagError(f'{topics} have no time in common')
    even_grid(known)        # refuses odometry with a gap
    return (both, interpolated(known, base.position.values, time[both]),
            slerped(known, base.orientation.values, time[both]))


def _require_gravity(motion: RecordedMotion, imu: str, odometry: str) -> None:
    """Refuse an IMU whose mean proper acceleration is not that of the base by its poses."""
    felt = np.einsum('nij,nj->i', motion.base_rotation, motion.base_motion[:, 6:]) / len(motion)
    velocity = np.gradient(motion.base_position, motion.step, axis=0)
    gained = (velocity[-1] - velocity[0]) / (motion.time[-1] - motion.time[0])
    off = float(np.linalg.norm(felt - gained - GRAVITY * UP))
    if off > IMU.mount_error:
        raise MeasurementError(
            f'{imu} differs by {off:.1f} m/s^2 on average from gravity in the axes of {odometry}: '
            'expected the mount of the IMU in the URDF (robot.imu_link), or --base odometry')


def _pass(bag: BagReader, takers: Mapping[str, Taker],
          span: tuple[int | None, int | None]) -> None:
    counts = dict.fromkeys(takers, 0)
    for message in bag.messages(takers, *span):
        takers[message.topic](bag.decode(message), message.receipt_ns)
        counts[message.topic] += 1
    for topic, count in counts.items():
        if count < 3:
            raise BagError(f'{bag.path}: expected three messages or more on {topic}, got {count}')


def _contacts(model: RobotModel, config: RobotConfig, settings: EstimatorSettings,
              measurements: list[Measurement]) -> np.ndarray:
    """Return which feet are on the ground by the on-line estimator, (k, nf)."""
    compile_first(ESTIMATOR)
    estimator = GroundReactionEstimator(model, config, settings)
    found: dict[int, np.ndarray] = {}
    for measurement in measurements:
        reaction = estimator.update(measurement)
        if reaction.mode != Mode.UNAVAILABLE:
            found[reaction.stamp_ns] = reaction.contact
    if not found:
        raise MeasurementError('expected more samples: contact detection did not get ready')
    last, contact = next(iter(found.values())), []
    for measurement in measurements:
        last = found.get(measurement.stamp_ns, last)
        contact.append(last)
    return np.array(contact, bool)


def _with_velocity(message: Any) -> Any:
    """Return a JointState with velocities, which are not needed where poses are differentiated."""
    return message if len(message.velocity) else replace(
        message, velocity=np.zeros(len(message.name)))


def _seconds(stamps: Sequence[int] | np.ndarray, start: int) -> np.ndarray:
    return (np.array(stamps, dtype=np.int64) - start) * 1e-9
