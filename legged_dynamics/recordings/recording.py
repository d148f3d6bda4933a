# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A bag's records in addition to the estimator's inputs: the truth, and the live estimates.

`RecordGatherer` fills them while the bag is replayed, so that the bag is read once;
`SensorLogWriter` gathers joint states and IMU readings as they came.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from legged_dynamics.diagnosis.identification.samples import ImuLog, JointLog, SensorLog
from legged_dynamics.estimation.measurement import ImuSample, JointSample
from legged_dynamics.exceptions import BagError
from legged_dynamics.recordings.bags import BagReader, receipts
from legged_dynamics.recordings.series import Column, EstimateSeries, ForceSeries, InputTimes
from legged_dynamics.recordings.topics import TopicChoice, input_topics
from legged_dynamics.ros.conversions import read_wrench, stamp_ns
from legged_dynamics.ros.conversions.reading import RawSampleReader


class WrenchRecord(InputTimes):
    """Stamped wrenches ``[f; m]`` [N, N m] of one topic; `frame_id` of the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.frame_id = ''
        self.wrench = Column((6,))

    def append(self, message: object, receipt_ns: int) -> None:
        """Add a WrenchStamped message."""
        stamp, wrench = read_wrench(message)
        if not len(self):
            self.frame_id = message.header.frame_id     # type: ignore[attr-defined]
        self.note(stamp, receipt_ns)
        self.wrench.append(wrench)

    def at(self, stamps: np.ndarray, max_gap_ns: int = 0) -> np.ndarray:
        """
        Return ``[f; m]`` (n, 6) at stamps, in the messages' frame; NaN if none.

        At the exact stamp, else interpolated between neighbours at most ``max_gap_ns`` apart.
        """
        order = np.argsort(self.stamp_ns.values, kind='stable')
        known = self.stamp_ns.values[order]
        found = _interpolated(stamps, known, self.wrench.values[order])
        if len(known):
            after = np.searchsorted(known, stamps).clip(max=len(known) - 1)
            apart = known[after] - known[after - 1] > max_gap_ns
            found[apart & (known[after] != stamps)] = np.nan
        return found


def _interpolated(stamps: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return values (n, ...) known at ascending stamps at others; NaN before and after."""
    if not len(known):
        return np.full((len(stamps), values.shape[1]), np.nan)
    return np.stack([np.interp(stamps - known[0], known - known[0], column, np.nan, np.nan)
                     for column in values.T], axis=1)


class PoseRecord(InputTimes):
    """Positions [m] and quaternions xyzw of the base, of an Odometry or a PoseStamped."""

    def __init__(self) -> None:
        super().__init__()
        self.position, self.orientation = Column((3,)), Column((4,))

    def append(self, message: object, receipt_ns: int) -> None:
        """Add a message."""
        pose = message.pose             # type: ignore[attr-defined]
        pose = getattr(pose, 'pose', pose)
        p, q = pose.position, pose.orientation
        self.note(stamp_ns(message.header.stamp), receipt_ns)   # type: ignore[attr-defined]
        self.position.append((p.x, p.y, p.z))
        self.orientation.append((q.x, q.y, q.z, q.w))

    def at(self, stamps: np.ndarray) -> np.ndarray:
        """Return positions (n, 3) [m] at stamps, interpolated; NaN where not recorded."""
        return _interpolated(stamps, self.stamp_ns.values, self.position.values)


class FlagRecord(InputTimes):
    """Flags of one topic. A std_msgs/Bool has no stamp, so only its receipt is known."""

    def __init__(self) -> None:
        super().__init__()
        self.flag = Column(dtype=bool)

    def append(self, message: object, receipt_ns: int) -> None:
        """Add a Bool message."""
        self.note(receipt_ns, receipt_ns)
        self.flag.append(message.data)      # type: ignore[attr-defined]

    def received_by(self, receipts: np.ndarray) -> np.ndarray:
        """Return the flags (n,) that held at receipt times; False before the first."""
        last = np.searchsorted(self.receipt_ns.values, receipts, side='right') - 1
        return (last >= 0) & self.flag.values[last.clip(0)] if len(self) else np.zeros(
            len(receipts), bool)


@dataclass(frozen=True)
class Recording:
    """
    The records of a bag, by foot.

    Attributes
    ----------
    truth, live : dict of str to WrenchRecord
        True wrenches, and those that the estimator published live.
    contact : dict of str to FlagRecord
        True contact flags.
    valid : FlagRecord or None
        Flag that says when the truth is complete; None when it always is.
    base : PoseRecord or None
        Pose of the base in the world.
    desired : dict of str to WrenchRecord
        Wrenches that a controller commanded the feet to have.
    reference : PoseRecord or None
        Reference pose of the base, as a controller had it.

    """

    truth: Mapping[str, WrenchRecord] = field(default_factory=dict)
    live: Mapping[str, WrenchRecord] = field(default_factory=dict)
    contact: Mapping[str, FlagRecord] = field(default_factory=dict)
    valid: FlagRecord | None = None
    base: PoseRecord | None = None
    desired: Mapping[str, WrenchRecord] = field(default_factory=dict)
    reference: PoseRecord | None = None


AnyRecord = TypeVar('AnyRecord', WrenchRecord, FlagRecord, PoseRecord)


class RecordGatherer:
    """Gathers a recording message by message; `topics` are the names to be taken."""

    def __init__(self, topics: TopicChoice):
        self._sinks: dict[str, list[WrenchRecord | FlagRecord | PoseRecord]] = {}

        def sink(record: AnyRecord, name: str) -> AnyRecord:
            self._sinks.setdefault(name, []).append(record)
            return record
        self.recording = Recording(
            {foot: sink(WrenchRecord(), name) for foot, name in topics.wrench_truth.items()},
            {foot: sink(WrenchRecord(), name) for foot, name in topics.live.items()},
            {foot: sink(FlagRecord(), name) for foot, name in topics.contact_truth.items()},
            sink(FlagRecord(), topics.valid) if topics.valid else None,
            sink(PoseRecord(), topics.odometry) if topics.odometry else None,
            {foot: sink(WrenchRecord(), name) for foot, name in topics.desired.items()},
            sink(PoseRecord(), topics.reference) if topics.reference else None)
        self.topics = frozenset(self._sinks)

    def take(self, topic: str, message: object, receipt_ns: int) -> None:
        """Add a decoded message of one of `topics`."""
        for sink in self._sinks[topic]:
            sink.append(message, receipt_ns)


def read_records(bag: BagReader, topics: TopicChoice, start_ns: int | None = None,
                 stop_ns: int | None = None) -> Recording:
    """Return the records of a bag, received from start up to stop."""
    records = RecordGatherer(topics)
    for message in bag.messages(records.topics, start_ns, stop_ns):
        records.take(message.topic, bag.decode(message), message.receipt_ns)
    return records.recording


# -------------------------------------------------------------------------------------------------
# True ground reactions at the instants of the estimates, all in world axes.
#
# A true wrench comes either in the axes and about the origin of its foot (frame_id is the foot, as
# a simulator or a foot sensor gives it), or in world axes about the world's origin (any other
# frame_id, as force plates give it). Estimates turn into world axes with the IMU's orientation.


@dataclass(frozen=True)
class TruthSettings:
    """How truth is brought to the instants of the estimates."""

    contact_share: float = 0.03    # of the weight: load in contact, without a true contact flag
    max_gap: float = 2.5    # estimates between neighbours that truth is interpolated from
    paired: float = 0.98    # of flags and wrenches that agree, which belong together
    most_lost: int = 50    # messages that one of the two topics may lack
    alignment: float = 0.2    # s in which a controller's frame is aligned with the world
    near: int = 2_500_000    # ns from a reference to the true pose that belongs to it


TRUTH = TruthSettings()


@dataclass(frozen=True)
class Truth:
    """
    True ground reactions at each estimate.

    Attributes
    ----------
    force : (n, nf, 3) array [N]
        World axes; NaN where it is not known.
    contact : (n, nf) bool array
        Whether each foot is in contact.
    valid : (n,) bool array
        Where the truth is complete: all contacts measured, all feet known.
    center_of_pressure : (n, 3) array [m]
        From the base's origin, in world axes; NaN without load or where it is not known.
    notes : list of str
        Sentences on how the truth was understood.

    """

    force: np.ndarray
    contact: np.ndarray
    valid: np.ndarray
    center_of_pressure: np.ndarray
    notes: list[str]

    @property
    def known(self) -> bool:
        """Whether there is anything to compare with."""
        return bool(self.valid.any())


def world_force(series: ForceSeries, foot_to_world: np.ndarray, raw: bool) -> np.ndarray:
    """Return forces (n, nf, 3) [N], world axes, by R_WF; ``raw``: unfiltered."""
    wrench = series.raw_wrench.values if raw else series.published
    return np.einsum('nfij,nfj->nfi', foot_to_world, wrench[:, :, :3])


def align_truth(series: EstimateSeries, recording: Recording, weight: float,
                contact_force: float | None = None) -> Truth:
    """
    Return the truth at each estimate.

    ``contact_force`` [N]: vertical force that counts as contact without true flags, default
    a share of the weight.
    """
    n, feet = len(series.stamp_ns), series.feet
    threshold = TRUTH.contact_share * weight if contact_force is None else contact_force
    force, moment = np.full((n, len(feet), 3), np.nan), np.full((n, len(feet), 3), np.nan)
    contact = np.zeros((n, len(feet)), bool)
    notes: list[str] = []
    unflagged = []
    for i, foot in enumerate(feet):
        record = recording.truth.get(foot)
        if record is None:
            continue
        force[:, i], moment[:, i] = _in_world(series, i, record, recording)
        flags = _flags(recording, foot, record, series.stamp_ns.values)
        if flags is None:
            unflagged.append(foot)
            flags = np.nan_to_num(force[:, i, 2]) > threshold
        contact[:, i] = flags
    if unflagged and len(recording.truth):
        notes.append(f'True contact of {", ".join(unflagged)} is taken from the true vertical '
                     f'force: down above {threshold:.0f} N.')
    missing = [foot for foot in feet if foot not in recording.truth]
    if missing and len(recording.truth):
        notes.append(f'There is no true wrench of {", ".join(missing)}: the sum over all feet '
                     'cannot be compared.')
    valid = np.isfinite(force).all(axis=(1, 2))
    if recording.valid is not None:
        valid &= recording.valid.received_by(series.receipt_ns.values)
        notes.append(f'Compared only where the bag flags its truth as complete: '
                     f'{valid.sum()} of {n} samples.')
    return Truth(force, contact, valid, _center(series, force, moment, contact, weight), notes)


def desired_force(series: EstimateSeries, recording: Recording) -> np.ndarray | None:
    """Return commanded forces (n, nf, 3), world axes, NaN if unknown; None without any."""
    if not any(len(record) for record in recording.desired.values()):
        return None
    force = np.full((len(series.stamp_ns), len(series.feet), 3), np.nan)
    for i, foot in enumerate(series.feet):
        if foot in recording.desired:
            force[:, i], _ = _in_world(series, i, recording.desired[foot], recording)
    return force


def _in_world(series: EstimateSeries, i: int, record: WrenchRecord,
              recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Return force and moment about the base's origin, both in world axes."""
    stamps = series.stamp_ns.values
    gap = round(TRUTH.max_gap * series.period * 1e9) if len(stamps) > 1 else 0
    wrench = record.at(stamps, gap)
    if record.frame_id == series.feet[i]:
        R_WF, R_WB = series.foot_to_world[:, i], series.base_rotation.values
        force = np.einsum('nij,nj->ni', R_WF, wrench[:, :3])
        arm = np.einsum('nij,nj->ni', R_WB, series.foot_position.values[:, i])
        return force, np.einsum('nij,nj->ni', R_WF, wrench[:, 3:]) + np.cross(arm, force)
    base = (recording.base.at(stamps) if recording.base is not None
            else np.full((len(stamps), 3), np.nan))
    return wrench[:, :3], wrench[:, 3:] - np.cross(base, wrench[:, :3])


def _flags(recording: Recording, foot: str, record: WrenchRecord,
           stamps: np.ndarray) -> np.ndarray | None:
    """
    Return true contact flags at stamps, or None when flags and wrenches do not pair up.

    A Bool has no stamp. Flags are published with wrenches, so they pair in order; where the
    recorder missed some at the beginning, the shift is taken that agrees with the forces.
    """
    flags = recording.contact.get(foot)
    if flags is None or not len(flags) or not len(record):
        return None
    n, m = len(record), len(flags)
    pushed = np.linalg.norm(record.wrench.values[:, :3], axis=1) > 0.0
    paired, best = np.zeros(n, bool), TRUTH.paired
    for shift in sorted(range(m - n - TRUTH.most_lost, m - n + TRUTH.most_lost + 1), key=abs):
        first, last = max(0, -shift), min(n, m - shift)
        if last - first < 0.9 * n:
            continue
        match = float((pushed[first:last] == flags.flag.values[first + shift:last + shift]).mean())
        if match > best:
            best, paired = match, pushed.copy()
            paired[first:last] = flags.flag.values[first + shift:last + shift]
        if match == 1.0:
            break
    if best == TRUTH.paired:
        return None
    found = np.zeros(len(stamps), bool)
    _, mine, theirs = np.intersect1d(stamps, record.stamp_ns.values, return_indices=True)
    found[mine] = paired[theirs]
    return found if len(mine) > 0.9 * len(stamps) else None


def _center(series: EstimateSeries, force: np.ndarray, moment: np.ndarray, contact: np.ndarray,
            weight: float) -> np.ndarray:
    """Return where the true forces have no tipping moment, at the height of the feet down."""
    points = leveled(series, series.contact_point.values)
    down = contact.sum(axis=1)
    height = np.where(contact, points[:, :, 2], 0.0).sum(axis=1) / np.maximum(down, 1)
    f, m = force.sum(axis=1), moment.sum(axis=1)
    loaded = (down > 0) & (np.nan_to_num(f[:, 2]) > TRUTH.contact_share * weight)
    center = np.full((len(points), 3), np.nan)
    f, m, z = f[loaded], m[loaded], height[loaded]
    center[loaded] = np.stack([(z * f[:, 0] - m[:, 1]) / f[:, 2],
                               (z * f[:, 1] + m[:, 0]) / f[:, 2], z], axis=1)
    return center


def leveled(series: EstimateSeries, points: np.ndarray) -> np.ndarray:
    """Rotate points from base to world axes, keeping the base's origin [m]."""
    return np.einsum('nij,n...j->n...i', series.base_rotation.values, points)


# -------------------------------------------------------------------------------------------------
# Tracking of a controller's reference pose by the true base.


@dataclass(frozen=True)
class BodyTracking:
    """
    True and reference motion of the base since the controller took over.

    Attributes
    ----------
    time : (n,) array [s]
        Time since the first reference.
    wanted, moved : (n, 3) array [m]
        Reference and true position since the beginning, world axes.
    wanted_turn, turned : (n, 3) array [rad]
        Roll, pitch and yaw of reference and truth since the beginning, from the base axes of the
        beginning; yaw goes on beyond half a turn.
    error : (n,) array [m]
        Distance between the two positions.
    angle : (n,) array [rad]
        Angle between the two orientations.

    """

    time: np.ndarray
    wanted: np.ndarray
    moved: np.ndarray
    wanted_turn: np.ndarray
    turned: np.ndarray
    error: np.ndarray
    angle: np.ndarray


def track_body(recording: Recording) -> BodyTracking | None:
    """
    Compare the true base motion with the controller's reference; None without both.

    Their frames differ by a constant pose, taken from the beginning, since the controller
    knows only how it moves.
    """
    base, reference = recording.base, recording.reference
    if base is None or reference is None or not len(base) or not len(reference):
        return None
    stamps = reference.stamp_ns.values
    order = np.argsort(base.stamp_ns.values, kind='stable')
    known = base.stamp_ns.values[order]
    nearest = np.interp(stamps - known[0], known - known[0], np.arange(len(known)))
    place = np.rint(nearest).astype(int)
    both = np.abs(known[place] - stamps) <= TRUTH.near
    if not both.any():
        return None
    time = (stamps[both] - stamps[both][0]) * 1e-9
    begin = time <= TRUTH.alignment
    rows = order[place[both]]
    true, wanted = base.position.values[rows], reference.position.values[both]
    R_true, R_wanted = (Rotation.from_quat(quaternions) for quaternions in (
        base.orientation.values[rows], reference.orientation.values[both]))
    heading = (R_true[begin] * R_wanted[begin].inv()).mean()
    R_home, target = heading * R_wanted[0], heading * R_wanted
    wished = heading.apply(wanted - wanted[0])
    moved = true - (true[begin] - wished[begin]).mean(axis=0)
    return BodyTracking(
        time, wished, moved, _roll_pitch_yaw(R_home.inv() * target),
        _roll_pitch_yaw(R_home.inv() * R_true), np.linalg.norm(moved - wished, axis=1),
        (target.inv() * R_true).magnitude())


def _roll_pitch_yaw(rotation: Rotation) -> np.ndarray:
    return np.unwrap(rotation.as_euler('ZYX')[:, ::-1], axis=0)


# -------------------------------------------------------------------------------------------------
# A bag's joint states and IMU readings as they came, for the doctor and for identification.


class SensorLogWriter:
    """Gathers messages of joint states and IMU into a SensorLog."""

    def __init__(self) -> None:
        self._read = RawSampleReader()
        self._joints: list[tuple[int, JointSample]] = []
        self._imu: list[tuple[int, ImuSample]] = []

    def take(self, message: Any, receipt_ns: int) -> None:
        """Add a decoded JointState or Imu message."""
        sample = self._read(message)
        if isinstance(sample, JointSample):
            self._joints.append((receipt_ns, sample))
        else:
            self._imu.append((receipt_ns, sample))

    @property
    def count(self) -> int:
        """Number of joint states so far."""
        return len(self._joints)

    def log(self) -> SensorLog:
        """Return all so far; raise BagError without a joint state."""
        if not self._joints:
            raise BagError('expected joint states, got none')
        stamp, receipt, q, v, tau = _columns(self._joints)
        joints = JointLog(stamp, receipt, self._read.names, q, v, tau)
        if not self._imu:
            return SensorLog(joints)
        stamp, receipt, w, a, xyzw = _columns(self._imu)
        return SensorLog(joints, ImuLog(stamp, receipt, w, a, xyzw, self._read.imu_frame))


def _columns(received: Sequence[tuple[int, JointSample | ImuSample]]) -> list[np.ndarray]:
    """Return stamps, receipts and the three fields of samples."""
    stamps, *fields = zip(*(sample[:4] for _, sample in received))
    return [np.array(stamps), np.array([receipt for receipt, _ in received]),
            *(np.array(field) for field in fields)]


def read_sensor_log(bag: BagReader, joint_states: str = '', imu: str = '',
                    start: float | None = None, end: float | None = None) -> SensorLog:
    """
    Return a bag's joint states and IMU readings, in a range [s] from its beginning.

    Topics are found by type and name when empty; BagError if none or several fit.
    """
    joints, inertial, _ = input_topics(bag, joint_states, imu)
    writer = SensorLogWriter()
    for message in bag.messages({joints, inertial} - {''}, *receipts(bag, start, end)):
        writer.take(bag.decode(message), message.receipt_ns)
    return replace(writer.log(), simulated='/clock' in bag.topics)
