# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time series of an estimator and of when its inputs came; what units these can be in."""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from legged_dynamics.estimation import (
    ActuatorFinding,
    EstimatorSettings,
    Fault,
    GroundReaction,
    Measurement,
    Mode,
)
from legged_dynamics.model import Joint

# Components of a vector and of a wrench, in names of columns.
XYZ = ('x', 'y', 'z')
WRENCH = ('fx', 'fy', 'fz', 'mx', 'my', 'mz')
_FIRST_CAPACITY = 1024


def columns_of(prefix: str, values: np.ndarray, axes: Sequence[str]) -> dict[str, np.ndarray]:
    """Return a column for each component of values (..., k)."""
    return {prefix + axis: values.T[k] for k, axis in enumerate(axes)}


class Column:
    """A growing array with one row per sample."""

    def __init__(self, shape: tuple[int, ...] = (), dtype: type = float):
        self._rows = np.empty((_FIRST_CAPACITY, *shape), dtype)
        self._count = 0

    @classmethod
    def of(cls, values: np.ndarray) -> Column:
        """Return a column that holds an array, not copied."""
        column = cls(values.shape[1:], values.dtype.type)
        column._rows, column._count = values, len(values)
        return column

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._count

    def append(self, row: object) -> None:
        """Add a sample of the shape of one row."""
        if self._count == len(self._rows):
            grown = np.empty((2 * self._count + 1, *self._rows.shape[1:]), self._rows.dtype)
            grown[:self._count] = self._rows
            self._rows = grown
        self._rows[self._count] = row
        self._count += 1

    @property
    def values(self) -> np.ndarray:
        """Return the samples so far, as a view."""
        return self._rows[:self._count]


class ForceSeries:
    """
    Foot wrenches over time, of one estimator.

    `wrench`, `raw_wrench` (nf, 6): ``[f; m]`` in foot axes and origin, as published at once
    (of `latest_ns`), and of the sample before, as `contact` (of `stamp_ns`).
    """

    def __init__(self, n_feet: int):
        self.stamp_ns = Column(dtype=np.int64)
        self.latest_ns = Column(dtype=np.int64)
        self.mode = Column(dtype=np.int64)
        self.wrench = Column((n_feet, 6))
        self.raw_wrench = Column((n_feet, 6))
        self.contact = Column((n_feet,), bool)

    def append(self, reaction: GroundReaction) -> None:
        """Add an estimate."""
        for name in ('stamp_ns', 'latest_ns', 'mode', 'wrench', 'raw_wrench', 'contact'):
            getattr(self, name).append(getattr(reaction, name))

    @property
    def published(self) -> np.ndarray:
        """(n, nf, 6) array of the wrenches at each `stamp_ns`; NaN where there is none."""
        wrench = np.full(self.wrench.values.shape, np.nan)
        _, mine, theirs = np.intersect1d(self.stamp_ns.values, self.latest_ns.values,
                                         return_indices=True)
        wrench[mine] = self.wrench.values[theirs]
        return wrench

    def aligned(self, stamps: np.ndarray) -> ForceSeries:
        """Return the estimates at stamps; UNAVAILABLE and NaN where there is none."""
        _, mine, theirs = np.intersect1d(stamps, self.stamp_ns.values, return_indices=True)
        found = ForceSeries(self.wrench.values.shape[1])
        for name, fill in (('mode', Mode.UNAVAILABLE), ('latest_ns', 0), ('wrench', np.nan),
                           ('raw_wrench', np.nan), ('contact', False)):
            values = getattr(self, name).values
            column = np.full((len(stamps), *values.shape[1:]), fill, values.dtype)
            column[mine] = values[theirs]
            setattr(found, name, Column.of(column))
        found.stamp_ns = Column.of(stamps)
        return found


# Columns of `EstimateSeries` that estimate and joint state have under the same name.
_ESTIMATED = ('observable', 'center_of_pressure', 'base_residual', 'external_torque', 'mass_error',
              'base_rotation', 'foot_rotation', 'foot_position', 'contact_point')
_SENSED = ('position', 'velocity', 'effort', 'angular_velocity', 'linear_acceleration')


class EstimateSeries(ForceSeries):
    """
    Estimates over time, with all that reports use of them.

    `base_residual` (6,), `external_torque` (nj,): unexplained; `mass_error` [kg]: base
    heavier than modelled; CoP, R_BF, p_BF and contact points in base axes, IMU readings in
    its own; NaN where unknown.
    """

    def __init__(self, feet: tuple[str, ...], joints: tuple[str, ...]):
        n = len(feet)
        super().__init__(n)
        self.feet, self.joints = feet, joints
        self.receipt_ns = Column(dtype=np.int64)
        self.probability = Column((n,))
        self.observable = Column((n,), bool)
        self.center_of_pressure = Column((3,))
        self.base_residual = Column((6,))
        self.mass_error = Column()
        self.position, self.velocity = Column((len(joints),)), Column((len(joints),))
        self.effort, self.external_torque = Column((len(joints),)), Column((len(joints),))
        self.angular_velocity, self.linear_acceleration = Column((3,)), Column((3,))
        self.base_rotation = Column((3, 3))
        self.foot_rotation = Column((n, 3, 3))
        self.foot_position, self.contact_point = Column((n, 3)), Column((n, 3))

    def append_received(self, reaction: GroundReaction, receipt_ns: int,
                        measurement: Measurement) -> None:
        """Add an estimate and the joint state that it describes, with its receipt time."""
        self.append(reaction)
        self.receipt_ns.append(receipt_ns)
        self.probability.append(reaction.contact_probability)
        for name in _ESTIMATED:
            getattr(self, name).append(getattr(reaction, name))
        for name in _SENSED:
            sensed = getattr(measurement, name)
            getattr(self, name).append(np.nan if sensed is None else sensed)

    @property
    def time(self) -> np.ndarray:
        """(n,) array of the time since the first estimate [s]."""
        stamps = self.stamp_ns.values
        return (stamps - stamps[0]) * 1e-9 if len(stamps) else np.zeros(0)

    @property
    def period(self) -> float:
        """Median time between estimates [s]; NaN with fewer than two."""
        return float(np.median(np.diff(self.time))) if len(self.stamp_ns) > 1 else np.nan

    @property
    def foot_to_world(self) -> np.ndarray:
        """(n, nf, 3, 3) array of the rotations R_WF."""
        return np.einsum('nij,nfjk->nfik', self.base_rotation.values, self.foot_rotation.values)


# -------------------------------------------------------------------------------------------------
# Rate, jitter and gaps of the estimator's inputs, by their stamps and by the recorder's clock.


# A gap is an interval longer than this many medians.
GAP = 1.5


class InputTimes:
    """When the messages of one topic were stamped and received, in the order received [ns]."""

    def __init__(self) -> None:
        self.stamp_ns, self.receipt_ns = Column(dtype=np.int64), Column(dtype=np.int64)

    def note(self, stamp_ns: int, receipt_ns: int) -> None:
        """Add the stamp and receipt time of a message [ns]."""
        self.stamp_ns.append(stamp_ns)
        self.receipt_ns.append(receipt_ns)

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self.stamp_ns)


@dataclass(frozen=True)
class InputStatistics:
    """
    Regularity of one input.

    Attributes
    ----------
    topic : str
        Name of the topic.
    count : int
        Number of messages.
    rate, received : float [Hz]
        Messages a second, by their stamps and by the recorder's clock.
    interval : float [ms]
        Median of the intervals between stamps.
    stamp_jitter, receipt_jitter : float [ms]
        Standard deviation of the intervals between stamps and between receipts.
    worst_interval : float [ms]
        Longest interval between stamps.
    gaps : int
        Intervals between stamps of more than one and a half medians: samples were lost there.
    backwards : int
        Stamps that are not later than the one before.

    """

    topic: str
    count: int
    rate: float
    received: float
    interval: float
    stamp_jitter: float
    receipt_jitter: float
    worst_interval: float
    gaps: int
    backwards: int

    @property
    def lost(self) -> float:
        """Share of the messages between the first and the last that are missing, 0 to 1."""
        lost = 1.0 - self.rate * self.interval * 1e-3
        return lost if lost > 0.0 else 0.0

    @property
    def covered(self) -> float:
        """Time that the messages which are there stand for [s]."""
        return self.count * self.interval * 1e-3 if self.interval > 0.0 else 0.0

    def __str__(self) -> str:
        """Return count, span and loss."""
        span = (self.count - 1) / self.rate if self.rate > 0.0 else 0.0
        lost = f'{100.0 * self.lost:.0f} %' if self.lost >= 0.005 else 'none'
        return f'{self.topic}: {self.count} messages over {span:.2f} s, {lost} lost'


def input_statistics(topic: str, times: InputTimes) -> InputStatistics:
    """Return the regularity of one input."""
    stamped, received = times.stamp_ns.values, times.receipt_ns.values
    steps = np.diff(stamped) * 1e-9
    forward = steps[steps > 0.0]
    if not len(forward):
        return InputStatistics(topic, len(times), np.nan, np.nan, np.nan, np.nan, np.nan, np.nan,
                               0, len(steps))
    median = float(np.median(forward))
    receipts = np.diff(received) * 1e-9
    return InputStatistics(
        topic, len(times), _per_second(stamped), _per_second(received),
        1e3 * median, 1e3 * float(forward.std()), 1e3 * float(receipts.std()),
        1e3 * float(forward.max()), int((forward > GAP * median).sum()),
        len(steps) - len(forward))


def _per_second(when_ns: np.ndarray) -> float:
    """Return the mean rate of events [Hz]."""
    span = float(np.ptp(when_ns)) * 1e-9
    return (len(when_ns) - 1) / span if span > 0.0 else np.nan


# -------------------------------------------------------------------------------------------------
# Sentences for reports.


def input_notes(faults: Counter[Fault], refused: Counter[str], settings: EstimatorSettings,
                inputs: Sequence[InputStatistics],
                findings: Sequence[ActuatorFinding] = (),
                off_feet: Mapping[str, Sequence[float]] = MappingProxyType({})) -> list[str]:
    """
    Return sentences on what was missing, odd or refused.

    ``inputs``: joint states, then IMU; ``off_feet``: forces [N] on other links, by link.
    """
    notes = []
    for fault, said in (
            (Fault.NO_EFFORT, "No joint torque in {} samples: forces rest on the base's motion "
             'alone there, and how the feet share them is only a guess.'),
            (Fault.PARTIAL_EFFORT, 'Some joints have no torque in {} samples.'),
            (Fault.NO_IMU, 'No IMU reading for {} joint states.'),
            (Fault.NO_ORIENTATION, 'The IMU gives no orientation in {} samples; tilt is taken '
             'from gyro and accelerometer, and heading is not known.'),
            (Fault.GAP, 'The estimator started anew {} times after a gap in the joint states.')):
        if faults[fault] and (fault != Fault.NO_IMU or len(inputs) > 1):
            notes.append(said.format(faults[fault]))
    notes += [f'{Fault(one.fault).name}: {one}.' for one in findings]
    if off_feet:
        notes.append('Contacts off the feet: ' + '; '.join(
            f'{link}, {np.median(forces):.0f} N for {len(forces) / settings.rate:.1f} s'
            for link, forces in sorted(off_feet.items(), key=lambda one: -len(one[1]))) + '.')
    notes += [f'{count} messages were refused: {why}.' for why, count in refused.most_common(5)]
    for entry in inputs:
        # By stamps a simulator may run on time while messages are lost or come slowly.
        usual = 1e3 / entry.interval
        if entry.rate < 0.9 * usual:
            notes.append(f'{entry.topic}: {entry.rate:.0f} messages a second, although most come '
                         f'{entry.interval:.3g} ms after the last ({usual:.0f} Hz): '
                         f'{entry.gaps} gaps.')
    usual = 1e3 / inputs[0].interval
    if np.isfinite(usual) and abs(usual / settings.rate - 1.0) > 0.1:
        notes.append(f'Joint states come every {inputs[0].interval:.3g} ms ({usual:.0f} Hz), but '
                     f'the estimator is set to {settings.rate:.0f} Hz (parameter rate): its noise '
                     'weights are off.')
    return notes


# -------------------------------------------------------------------------------------------------
# What a recording in rad, m, s and N m can hold, and which mistakes explain what it cannot.


@dataclass(frozen=True)
class Bound:
    """Between which values a quantity lies, and how many times as large mistakes make it."""

    what: str
    least: float
    most: float
    mistakes: tuple[tuple[str, float], ...] = ()

    def doubt(self, values: np.ndarray | float, whose: str = '') -> list[str]:
        """Return a sentence where the mean of what is known is outside, with its causes."""
        known = np.extract(np.isfinite(values), values)
        if not len(known) or self.least <= known.mean() <= self.most:
            return []
        why = ' or '.join(name for name, factor in self.mistakes
                          if abs(self.least) <= known.mean() / factor <= self.most)
        return [f'{self.what}{whose} is {known.mean():.3g}, expected {self.least:.3g} to '
                f'{self.most:.3g}' + f' ({why}?)' * bool(why)]


# Steps show from 5 Hz on, and no drive is read more often than at 10 kHz.
INTERVAL = Bound('the usual time between samples [s]', 1e-4, 0.2, (
    ('milliseconds', 1e3), ('microseconds', 1e6), ('nanoseconds', 1e9)))
# An encoder may have turned once.
BEYOND = Bound('the way beyond the limits in the URDF of ', 0.0, 2.0 * np.pi)
# Filters and noise of slow joints reach 1.5 in recordings of real robots; rpm are 9.5 rad/s.
CHANGE = Bound('the change of position over that by the velocity of ', 1.0 / 3.0, 3.0, (
    ('positions in degrees', 180.0 / np.pi), ('velocities in degrees/s', np.pi / 180.0),
    ('velocities in turns a minute', np.pi / 30.0), ('velocities of the opposite sign', -1.0),
    ('positions in mm', 1e3), ('velocities in mm/s', 1e-3)))
# Momentum does not grow for seconds; the feet may also hang in the air.
LOAD = Bound('the mean load of all feet over the weight', -0.3, 2.0, (
    ('torques in N mm', 1e3),))


def recording_doubts(joints: Sequence[Joint], time: np.ndarray, position: np.ndarray,
                     velocity: np.ndarray, load: np.ndarray | float = np.nan) -> list[str]:
    """Return what joint states and loads over the weight cannot be in rad, m, s and N m."""
    if len(time) < 3 or position.shape[1] != len(joints):   # a ball joint has four numbers
        return LOAD.doubt(load)
    beyond, change = [], []
    for joint, q, ratio in zip(joints, position.T, _changes(time, position, velocity)):
        # A hinge whose limits are not stated does not turn around, either.
        free = BEYOND.most if joint.kind == 'revolute' else np.inf
        low, high = np.clip((joint.lower, joint.upper), -free, free)
        beyond += BEYOND.doubt(max(low - q.min(), q.max() - high, 0.0),
                               f'{joint.name} [{joint.unit}, not {joint.mistaken_unit}]')
        change += CHANGE.doubt(ratio, joint.name)
    return [found[0] + f', and so of {len(found) - 1} more' * (len(found) > 1)
            for found in (beyond, change) if found] + LOAD.doubt(load)


def _changes(time: np.ndarray, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return ratios of changes of position to those by velocity, NaN where not alike (nj,)."""
    steps = np.diff(time)
    n = int(np.clip(INTERVAL.most / max(np.median(steps), 1e-6), 1, len(steps) // 2))
    told = np.cumsum(0.5 * (velocity[1:] + velocity[:-1]) * steps[:, None], axis=0)
    way, told = (rows - rows.mean(axis=0) for rows in (
        position[1 + n:] - position[1:-n], told[n:] - told[:-n]))
    product, square = (way * told).sum(axis=0), (told ** 2).sum(axis=0)
    # So alike that noise alone does not bring the ratio out of its bounds.
    alike = product ** 2 > (1.0 - CHANGE.least ** 2) * square * (way ** 2).sum(axis=0)
    return np.divide(product, square, out=np.full(len(square), np.nan), where=alike)
