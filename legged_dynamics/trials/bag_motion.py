# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Motion out of a bag: joints from joint states, the base from odometry or from an IMU.

Odometry gives poses, which are differentiated as the joints are. An IMU gives the rotation and the
acceleration of the base; its position then follows from the feet in contact, by leg odometry, with
the contacts that the on-line estimator detects.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.conversions import stamp_ns
from legged_dynamics.conversions.samples import SampleReader
from legged_dynamics.estimation import EstimatorSettings, Measurement, Mode
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.leg_odometry import LegOdometry
from legged_dynamics.estimation.measurement import JointSample
from legged_dynamics.estimation.sensor_stream import SensorStream
from legged_dynamics.exceptions import BagError, MeasurementError
from legged_dynamics.middleware.lifecycle import compile_first
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.replay import ESTIMATOR
from legged_dynamics.trials.poses import Poses, even_grid, interpolated, slerped


@dataclass(frozen=True, eq=False)
class BagMotion:
    """
    A motion that was recorded in a bag.

    Attributes
    ----------
    start_ns : int
        Stamp at which the motion's time is zero.
    motion : RecordedMotion
        The motion, at an even rate.
    contact : (n, nf) bool array or None
        Feet on the ground as the on-line estimator detects them; None when the base's pose is
        known, from which contact is detected better.

    """

    start_ns: int
    motion: RecordedMotion
    contact: np.ndarray | None


def motion_from_odometry(bag: BagReader, model: RobotModel, config: RobotConfig, joints: str,
                         odometry: str, cutoff: float | None,
                         span: tuple[int | None, int | None]) -> BagMotion:
    """
    Return the motion of joint states and an Odometry of the base.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    model : RobotModel
        Whose joints and base they are.
    config : RobotConfig
        Corrections of the joint sensors, and joints that messages may lack.
    joints, odometry : str
        Topics of the joint states and of the odometry.
    cutoff : float or None [Hz]
        Low-pass before differentiating; None for none.
    span : pair of int or None [ns]
        Receipts from the first up to, but not at, the second.

    Returns
    -------
    BagMotion

    Raises
    ------
    BagError
        When the bag is damaged, or the topics do not overlap in time.
    MeasurementError
        When a message lacks required content, or there is a gap in time.

    """
    read = SampleReader(model, config)
    stamps: list[int] = []
    positions: list[np.ndarray] = []
    base_stamps: list[int] = []
    poses: list[list[float]] = []

    def take_joints(message: Any) -> None:
        sample = read.joints(_with_velocity(message))
        stamps.append(sample.stamp_ns)
        positions.append(sample.position)

    def take_pose(message: Any) -> None:
        p, q = message.pose.pose.position, message.pose.pose.orientation
        base_stamps.append(stamp_ns(message.header.stamp))
        poses.append([p.x, p.y, p.z, q.x, q.y, q.z, q.w])

    _pass(bag, {joints: take_joints, odometry: take_pose}, span)
    start = max(stamps[0], base_stamps[0])
    time, known = _seconds(stamps, start), _seconds(base_stamps, start)
    both = (time >= known[0] - 1e-9) & (time <= known[-1] + 1e-9)
    if both.sum() < 3:
        raise BagError(f'{bag.path}: {joints} and {odometry} have no time in common')
    pose, time = np.array(poses), time[both]
    even_grid(known)        # refuses odometry with a gap
    found = Poses(time, interpolated(known, pose[:, :3], time),
                  slerped(known, pose[:, 3:], time), np.array(positions)[both]).evenly()
    return BagMotion(start, RecordedMotion.from_poses(
        model, found.time, found.base_position, found.base_quaternion, found.position, cutoff),
        None)


def motion_from_imu(bag: BagReader, model: RobotModel, config: RobotConfig,
                    settings: EstimatorSettings, joints: str, imu: str, cutoff: float | None,
                    span: tuple[int | None, int | None]) -> BagMotion:
    """
    Return the motion of joint states and an IMU with orientation.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    model : RobotModel
        Whose joints and base they are.
    config : RobotConfig
        Feet, IMU mount, noise and corrections of the sensors.
    settings : EstimatorSettings
        Of contact detection; the rate is taken from the bag.
    joints, imu : str
        Topics of the joint states and of the IMU.
    cutoff : float or None [Hz]
        Low-pass before differentiating; None for none.
    span : pair of int or None [ns]
        Receipts from the first up to, but not at, the second.

    Returns
    -------
    BagMotion

    Raises
    ------
    BagError
        When the bag is damaged.
    MeasurementError
        When fewer than three joint states have a complete reading of the IMU, or there is a gap.

    """
    read, stream = SampleReader(model, config, joints, imu, ''), SensorStream()
    measurements: list[Measurement] = []

    def take(topic: str, message: Any) -> None:
        sample = read(topic, message)
        if isinstance(sample, JointSample):
            sample = sample._replace(effort=None)
        measurements.extend(stream.push(sample))

    _pass(bag, {topic: partial(take, topic) for topic in (joints, imu)}, span)
    whole = [m for m in measurements if m.angular_velocity is not None
             and m.linear_acceleration is not None and m.orientation is not None]
    if len(whole) < 3:
        raise MeasurementError(f'{bag.path}: expected joint states with an IMU reading that has '
                               f'an orientation, got {len(whole)} of {len(measurements)}; give an '
                               'odometry topic with --odom')
    start = whole[0].stamp_ns
    time = _seconds([m.stamp_ns for m in whole], start)
    rate = min(max(1.0 / float(np.median(np.diff(time))), 1.0), 10000.0)
    contact, position = _follow(model, config, replace(settings, rate=rate), whole)
    grid = even_grid(time)
    columns = (np.array([m.position for m in whole]),
               np.array([m.angular_velocity for m in whole]),
               np.array([m.linear_acceleration for m in whole]), position)
    q, gyro, accelerometer, p = (interpolated(time, values, grid) for values in columns)
    xyzw = slerped(time, np.array([m.orientation for m in whole]), grid)
    config.require_fixed_imu(model, 'motion from an IMU')
    mount = model.frame(config.imu_link or config.base_link or model.base_link).pose
    nearest = np.clip(np.searchsorted(time, grid - 1e-9), 0, len(time) - 1)
    return BagMotion(start, RecordedMotion.from_inertial(
        model, grid, p, xyzw, gyro, accelerometer, mount, q, cutoff), contact[nearest])


def speed_topic(bag: BagReader, name: str, start_ns: int) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the speeds on a topic.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    name : str
        Topic with std_msgs Float64 or Float32, timed by their receipt, or with a TwistStamped, of
        which x is taken at its stamp.
    start_ns : int
        Stamp at which time is zero.

    Returns
    -------
    time : (k,) array [s]
    speed : (k,) array [m/s]

    Raises
    ------
    BagError
        When the topic does not exist, has another type, or holds no message.

    """
    kinds = ('std_msgs/msg/Float64', 'std_msgs/msg/Float32', 'geometry_msgs/msg/TwistStamped')
    if name not in bag.topics or bag.topics[name].type not in kinds:
        there = [topic for kind in kinds for topic in bag.of_type(kind)]
        raise BagError(f'expected a speed or a topic with {", ".join(kinds)}, got {name!r}; '
                       f'topics of these types are: {", ".join(there) or "(none)"}')
    stamped = bag.topics[name].type == kinds[2]
    stamps, speeds = [], []
    for message in bag.messages({name}):
        decoded = bag.decode(message)
        stamps.append(stamp_ns(decoded.header.stamp) if stamped else message.receipt_ns)
        speeds.append(decoded.twist.linear.x if stamped else decoded.data)
    if not stamps:
        raise BagError(f'{bag.path}: expected speeds on {name}, got no message')
    return _seconds(stamps, start_ns), np.array(speeds, float)


def _pass(bag: BagReader, takers: dict[str, Callable[[Any], None]],
          span: tuple[int | None, int | None]) -> None:
    counts = dict.fromkeys(takers, 0)
    for message in bag.messages(takers, *span):
        takers[message.topic](bag.decode(message))
        counts[message.topic] += 1
    for topic, count in counts.items():
        if count < 3:
            raise BagError(f'{bag.path}: expected three messages or more on {topic}, got {count}')


def _follow(model: RobotModel, config: RobotConfig, settings: EstimatorSettings,
            measurements: list[Measurement]) -> tuple[np.ndarray, np.ndarray]:
    """Return contacts by the on-line estimator, and the base's position by leg odometry."""
    compile_first(ESTIMATOR)
    estimator, odometry = GroundReactionEstimator(model, config, settings), LegOdometry(model,
                                                                                       config)
    found: dict[int, np.ndarray] = {}
    for measurement in measurements:
        reaction = estimator.update(measurement)
        if reaction.mode != Mode.UNAVAILABLE:
            found[reaction.stamp_ns] = reaction.contact
    if not found:
        raise MeasurementError('expected more samples: contact detection did not get ready')
    first = next(iter(found.values()))
    contact, position = [], []
    for measurement in measurements:
        first = found.get(measurement.stamp_ns, first)
        contact.append(first)
        position.append(odometry.update(measurement, first).position)
    return np.array(contact, bool), np.array(position)


def _with_velocity(message: Any) -> Any:
    """Return a JointState with velocities, which are not needed where poses are differentiated."""
    return message if len(message.velocity) else replace(
        message, velocity=np.zeros(len(message.name)))


def _seconds(stamps: list[int], start: int) -> np.ndarray:
    return (np.array(stamps, dtype=np.int64) - start) * 1e-9
