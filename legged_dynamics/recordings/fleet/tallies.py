# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Statistics of one recording, computed piece by piece: feet, joints, base, IMU and errors.

A recording may be larger than the memory. It is replayed in overlapping pieces (`each_window`),
and each class here adds a piece at a time to counts, sums and extremes of fixed size. Statistics
over recordings are computed by pandas in `summarise.py`.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import Mode
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.recording import RecordGatherer, Recording, Truth, world_force
from legged_dynamics.recordings.replay import Preparation, Replay
from legged_dynamics.recordings.report.accuracy import (
    STANDING,
    Behaviour,
    ForceError,
    StepCounts,
    measure_accuracy,
    standing_samples,
)
from legged_dynamics.recordings.series import GAP, EstimateSeries, InputStatistics, InputTimes

# -------------------------------------------------------------------------------------------------
# Streaming moments and intervals: memory does not grow with the number of values.


# Intervals that the median is taken of.
MOST_INTERVALS = 1_000_000


class Moments:
    """Count, sum and sum of squares of the finite values."""

    def __init__(self, shape: tuple[int, ...] = ()):
        self.count = np.zeros(shape)
        self._sum, self._squares = np.zeros(shape), np.zeros(shape)

    def add(self, values: np.ndarray) -> None:
        """Add values (n, ...), one per row; non-finite ones are left out."""
        known = np.isfinite(values)
        values = np.where(known, values, 0.0)
        self.count += known.sum(axis=0)
        self._sum += values.sum(axis=0)
        self._squares += (values ** 2).sum(axis=0)

    def _add_squares(self, count: int, squares: np.ndarray | float) -> None:
        """Add values of which only the sum of squares is known."""
        self.count += count
        self._squares += squares

    @property
    def sum(self) -> np.ndarray:
        """Return the sum."""
        return self._sum

    @property
    def mean(self) -> np.ndarray:
        """Return the mean; NaN without any."""
        return np.where(self.count, self._sum / np.maximum(self.count, 1), np.nan)

    @property
    def rms(self) -> np.ndarray:
        """Return the root mean square; NaN without any."""
        return np.where(self.count, np.sqrt(self._squares / np.maximum(self.count, 1)), np.nan)


class IntervalTally:
    """Regularity of one input, the same as :func:`input_statistics` of all its times."""

    def __init__(self, topic: str):
        self._topic = topic
        self._count = self._backwards = 0
        self._stamps: tuple[int, int, int, int] | None = None   # first, last, least, largest
        self._receipts: tuple[int, int] | None = None
        self._forward, self._received = _Spread(), _Spread()
        self._held: list[np.ndarray] = []
        self._held_count, self._median, self._gaps, self._longest = 0, np.nan, 0, 0.0

    def take(self, times: InputTimes) -> None:
        """Add the times of messages, and clear them."""
        stamp, receipt = times.stamp_ns.copy(), times.receipt_ns.copy()
        if not len(stamp):
            return
        times.drop(len(stamp))
        self._count += len(stamp)
        low, high = int(stamp.min()), int(stamp.max())
        if self._stamps is None or self._receipts is None:
            steps, waits = np.diff(stamp), np.diff(receipt)
            self._stamps = (int(stamp[0]), int(stamp[-1]), low, high)
            self._receipts = (int(receipt[0]), int(receipt[-1]))
        else:
            first, last, least, largest = self._stamps
            steps = np.diff(stamp, prepend=last)
            waits = np.diff(receipt, prepend=self._receipts[1])
            self._stamps = (first, int(stamp[-1]), min(least, low), max(largest, high))
            self._receipts = (self._receipts[0], int(receipt[-1]))
        forward = steps[steps > 0] * 1e-9
        self._backwards += len(steps) - len(forward)
        self._forward.add(forward)
        self._received.add(waits * 1e-9)
        if len(forward):
            self._longest = max(self._longest, float(forward.max()))
            self._note(forward)

    def _note(self, forward: np.ndarray) -> None:
        room = MOST_INTERVALS - self._held_count
        if room > 0:
            self._held.append(forward[:room])
            self._held_count += len(forward[:room])
            if self._held_count < MOST_INTERVALS:
                return
            forward = forward[room:]
            self._settle()
        self._gaps += int((forward > GAP * self._median).sum())

    def _settle(self) -> None:
        held = np.concatenate(self._held)
        self._held = []
        self._median = float(np.median(held))
        self._gaps += int((held > GAP * self._median).sum())

    def statistics(self) -> InputStatistics:
        """Return the regularity; no more can be added."""
        if self._held:
            self._settle()
        return InputStatistics(
            self._topic, self._count, _rate(self._count, self._stamps and self._stamps[2:]),
            _rate(self._count, self._receipts), 1e3 * self._median, 1e3 * self._forward.deviation,
            1e3 * self._received.deviation, 1e3 * self._longest if self._forward.count else np.nan,
            self._gaps, self._backwards)


class _Spread:
    """Standard deviation of values that come in pieces, by Chan's update."""

    def __init__(self) -> None:
        self.count, self._mean, self._squares = 0, 0.0, 0.0

    def add(self, values: np.ndarray) -> None:
        n = len(values)
        if not n:
            return
        mean = float(values.mean())
        total, apart = self.count + n, mean - self._mean
        self._squares += float(((values - mean) ** 2).sum()) + apart ** 2 * self.count * n / total
        self._mean += apart * n / total
        self.count = total

    @property
    def deviation(self) -> float:
        return float(np.sqrt(self._squares / self.count)) if self.count else np.nan


def _rate(count: int, span: tuple[int, ...] | None) -> float:
    """Return how many a second there are from the first to the last [Hz]."""
    seconds = (span[1] - span[0]) * 1e-9 if span else 0.0
    return (count - 1) / seconds if seconds > 0.0 else np.nan


# -------------------------------------------------------------------------------------------------
# Slip of the feet, from each other and without the pose of the robot.
#
# The material point of a foot that touches the ground does not move while the foot rests or rolls.
# In level axes that travel with the base, its step from one sample to the next is minus the step
# of the base, the same for all feet on the ground. The difference of a foot from their mean is
# slip; with two feet down, each gets half of it.


class SlipTally:
    """
    Accumulates slip over stances, for a recording in pieces.

    `stances` (nf,): complete ones that overlap another foot's; `total`, `largest` (nf,)
    [m]: distance from first to last place.
    """

    def __init__(self, n_feet: int):
        self.stances = np.zeros(n_feet, int)
        self.total, self.largest = np.zeros(n_feet), np.zeros(n_feet)
        self._way = np.zeros((n_feet, 3))
        self._seen = np.zeros(n_feet, bool)

    def add(self, series: EstimateSeries, first: int, last: int) -> None:
        """Add samples first to last (exclusive); the series has the next one, if any."""
        last = min(last, len(series.stamp_ns) - 1)
        if last <= first:
            return
        step, down = _foot_steps(series, first, last)
        known = down.sum(axis=1) > 1
        weight = np.where(down, 1.0, 0.0)
        base = np.einsum('nf,nfi->ni', weight, step) / np.maximum(weight.sum(axis=1), 1.0)[:, None]
        slid = np.where((down & known[:, None])[:, :, None], step - base[:, None], 0.0)
        way = np.cumsum(slid, axis=0)
        for i in range(down.shape[1]):
            begin = 0       # of the piece of the stance that is not yet counted
            for end in [*np.flatnonzero(~down[:, i]), len(down)]:
                if end > begin:
                    before = way[begin - 1, i] if begin else 0.0
                    self._way[i] += way[end - 1, i] - before
                    self._seen[i] |= bool(known[begin:end].any())
                if end < len(down):
                    self._close(i)
                begin = end + 1

    def finish(self) -> None:
        """End the stances that are still on."""
        for i in range(len(self.total)):
            self._close(i)

    def _close(self, i: int) -> None:
        if self._seen[i]:
            distance = float(np.linalg.norm(self._way[i]))
            self.stances[i] += 1
            self.total[i] += distance
            self.largest[i] = max(self.largest[i], distance)
        self._way[i], self._seen[i] = 0.0, False


def _foot_steps(series: EstimateSeries, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how the touching points move against the base, and which feet stay down."""
    now, after = slice(first, last), slice(first + 1, last + 1)
    R_WB, R_WF = series.base_rotation.values, series.foot_to_world[first:last + 1]
    p_W = np.einsum('nij,nfj->nfi', R_WB[first:last + 1], series.foot_position.values[
        first:last + 1])
    c_W = np.einsum('nij,nfj->nfi', R_WB[now], series.contact_point.values[now])
    in_foot = np.einsum('nfji,nfj->nfi', R_WF[:-1], c_W - p_W[:-1])
    step = p_W[1:] + np.einsum('nfij,nfj->nfi', R_WF[1:], in_foot) - c_W
    step[:, :, 2] = 0.0         # level axes: feet leave uneven ground by their heights
    contact = series.contact.values
    return step, contact[now] & contact[after]


# -------------------------------------------------------------------------------------------------
# Replay of a bag in pieces.
#
# Pieces overlap, so that results that depend on neighbouring samples (a zero-phase low-pass, the
# margin around standing, the wrench published a sample before) are those of the whole bag.


# Samples of a piece without its overlaps.
SAMPLES = 8192
# Least length of an overlap [s]: the low-pass of 25 Hz has forgotten after a tenth of that, and
# standing is judged by 0.35 s.
OVERLAP = 1.0
_FOR_PERIOD = 512       # samples that the usual interval is taken from
# Largest difference between the receipts of a record and of the joint state of its stamp [s].
LATE = 1.0


@dataclass(frozen=True)
class Window:
    """
    A piece of a replayed bag.

    Attributes
    ----------
    series : EstimateSeries
        With overlaps.
    recording : Recording
        Truth and other records of the bag, of the same time.
    first, last : int
        Samples of the piece without overlaps: from the first up to, but not at, the last.
    start_ns : int
        Stamp of the bag's first estimate.

    """

    series: EstimateSeries
    recording: Recording
    first: int
    last: int
    start_ns: int

    @property
    def own(self) -> np.ndarray:
        """(n,) bool: samples of the piece without overlaps."""
        mask = np.zeros(len(self.series.stamp_ns), bool)
        mask[self.first:self.last] = True
        return mask


def each_window(bag: BagReader, ready: Preparation,
                take: Callable[[Window, Replay], None]) -> Replay:
    """Replay a bag and pass it on in pieces; arrays are valid only during the call."""
    # Live estimates are compared in the report of one bag only.
    topics = replace(ready.topics, live={}, desired={}, reference='')
    records = RecordGatherer(topics)
    replay = Replay(replace(ready.plan, topics=topics, others=False))
    series = replay.series
    begun, start = 0, 0         # samples handed on, of those still there; stamp of the first
    overlap: int | None = None

    def hand_on(until: int, overlap: int) -> None:
        nonlocal begun
        take(Window(series, records.recording, begun, until, start), replay)
        keep = max(until - 1 - overlap, 0)
        records.forget(int(series.receipt_ns.values[keep]) - round(LATE * 1e9))
        series.drop(keep)
        begun = until - keep

    def look(reaction: object, receipt_ns: int) -> None:
        nonlocal start, overlap
        count = len(series.stamp_ns)
        start = start or int(series.stamp_ns.values[0])
        if overlap is None and count == _FOR_PERIOD:
            overlap = min(round(OVERLAP / max(series.period, OVERLAP / SAMPLES)), SAMPLES)
        if overlap is not None and count - begun >= SAMPLES + 2 * overlap:
            # Truth of the last samples may not have been read yet: hence two overlaps.
            hand_on(count - 2 * overlap, overlap)

    replay.run(bag, on_estimate=look, records=records)
    if len(series.stamp_ns) > begun:
        hand_on(len(series.stamp_ns), 0)
    return replay


# -------------------------------------------------------------------------------------------------


# Name of the samples without standing, until the gait is known.
MOVING = 'moving'


class FootTally:
    """Load, duty, steps and agreement with the truth, by foot."""

    def __init__(self, n_feet: int):
        self._count = 0
        self._down, self._observable = np.zeros(n_feet), np.zeros(n_feet)
        self._load, self._force = Moments((n_feet,)), Moments((n_feet,))
        self._peak = np.full(n_feet, np.nan)
        self._steps = np.zeros(n_feet, int)
        self._agree, self._judged = np.zeros(n_feet), 0
        self.slip = SlipTally(n_feet)

    def add(self, window: Window, force: np.ndarray, truth: Truth) -> None:
        """Add a piece of a recording; ``force`` (n, nf, 3) as published, world axes."""
        series, own = window.series, slice(window.first, window.last)
        contact, load = series.contact.values, force[:, :, 2]
        down = contact[own]
        self._count += len(down)
        self._down += down.sum(axis=0)
        self._observable += (down & series.observable.values[own]).sum(axis=0)
        self._force.add(load[own])
        self._load.add(np.where(down, load[own], np.nan))
        self._peak = np.fmax(self._peak, np.fmax.reduce(load[own], axis=0))
        first = max(window.first, 1)
        self._steps += (contact[first:window.last] & ~contact[first - 1:window.last - 1]).sum(
            axis=0)
        judged = window.own & truth.valid
        self._agree += (contact[judged] == truth.contact[judged]).sum(axis=0)
        self._judged += int(judged.sum())
        self.slip.add(series, window.first, window.last)

    @property
    def agreement(self) -> np.ndarray:
        """(nf,) part of the time in which contact is the true one [%]; NaN without truth."""
        return (100.0 * self._agree / self._judged if self._judged else
                np.full(len(self._agree), np.nan))

    def rows(self, feet: Sequence[str]) -> list[dict[str, object]]:
        """Return the rows of the table of feet; nothing can be added afterwards."""
        self.slip.finish()
        total = float(self._force.sum.sum())
        share = self._force.sum / total if total > 0.0 else np.full(len(feet), np.nan)
        return [{
            'foot': foot, 'duty': self._down[i] / max(self._count, 1),
            'load': self._load.mean[i], 'load_share': share[i], 'peak': self._peak[i],
            'observable': self._observable[i] / self._down[i] if self._down[i] else np.nan,
            'steps': int(self._steps[i]), 'agreement': self.agreement[i],
            'slip': (self.slip.total[i] / self.slip.stances[i] if self.slip.stances[i]
                     else np.nan),
            'slip_largest': self.slip.largest[i] if self.slip.stances[i] else np.nan,
        } for i, foot in enumerate(feet)]


class JointTally:
    """Measured and unexplained effort, by joint."""

    def __init__(self, n_joints: int):
        self._count = 0
        self._effort, self._residual = Moments((n_joints,)), Moments((n_joints,))

    def add(self, window: Window) -> None:
        """Add a piece of a recording."""
        own = slice(window.first, window.last)
        self._count += window.last - window.first
        self._effort.add(window.series.effort.values[own])
        self._residual.add(window.series.external_torque.values[own])

    def rows(self, joints: Sequence[str]) -> list[dict[str, object]]:
        """Return the rows of the table of joints."""
        effort, residual = self._effort, self._residual
        return [{'joint': joint, 'effort': effort.rms[i],
                 'measured': effort.count[i] / max(self._count, 1), 'residual': residual.rms[i],
                 'residual_mean': residual.mean[i]} for i, joint in enumerate(joints)]


class BaseTally:
    """Residual at the base, modes, and means of the IMU while the robot stands."""

    def __init__(self) -> None:
        self.samples = self.standing = 0
        self.modes = np.zeros(max(Mode) + 1, int)
        self._force, self._wrench = Moments(), Moments((6,))
        self._gyro, self._gravity = Moments((3,)), Moments()
        self._second, self._worst = (-1, 0.0, 0), (0.0, np.nan)
        self._last = (0, 0.0)           # stamp of the last estimate, and its mass error
        self._start = 0

    def add(self, window: Window, standing: np.ndarray) -> None:
        """Add a piece of a recording; ``standing`` (n,) flags its samples."""
        series, own = window.series, slice(window.first, window.last)
        self.samples += window.last - window.first
        self.standing += int(standing[own].sum())
        self.modes += np.bincount(series.mode.values[own], minlength=len(self.modes))
        wrench = series.base_residual.values[own]
        force = np.linalg.norm(wrench[:, :3], axis=1)
        self._force.add(force)
        self._wrench.add(wrench)
        still = np.flatnonzero(standing[own]) + window.first
        self._gyro.add(series.angular_velocity.values[still])
        self._gravity.add(np.linalg.norm(series.linear_acceleration.values[still], axis=1))
        self._start = window.start_ns
        stamps = series.stamp_ns.values[own]
        self._last = (int(stamps[-1]), float(series.mass_error.values[window.last - 1]))
        self._seconds((stamps - window.start_ns) // 1_000_000_000, force)

    def _seconds(self, second: np.ndarray, force: np.ndarray) -> None:
        """Look for the second with the largest residual."""
        squares = np.where(np.isfinite(force), force, 0.0) ** 2
        begin = np.flatnonzero(np.diff(second, prepend=second[0] - 1))
        for start, end in zip(begin, [*begin[1:], len(second)]):
            which, total, count = self._second
            total, count = (total, count) if which == second[start] else (0.0, 0)
            self._second = (int(second[start]), total + float(squares[start:end].sum()),
                            count + int(end - start))
            mean = self._second[1] / self._second[2]
            if mean > self._worst[0]:
                self._worst = (mean, float(second[start]))

    @property
    def estimate(self) -> str:
        """Name what most estimates rest on."""
        known = self.modes.copy()
        known[Mode.UNAVAILABLE] = 0
        return (Mode(int(known.argmax())).name.lower().replace('_', ' ') if known.any()
                else 'unavailable')

    @property
    def residual(self) -> float:
        """Force left unexplained, rms [N]; zero where it is not known."""
        return float(np.nan_to_num(self._force.rms))

    def row(self) -> dict[str, Any]:
        """Return the values of the summary's columns by name."""
        mean, gyro = self._wrench.mean, self._gyro.mean
        return {
            'samples': self.samples, 'standing': self.standing / max(self.samples, 1),
            'silent': self.modes[Mode.UNAVAILABLE] / max(self.samples, 1),
            'estimate': self.estimate, 'residual': float(self._force.rms),
            **{f'residual_mean_{axis}': mean[k]
               for k, axis in enumerate(('fx', 'fy', 'fz', 'mx', 'my', 'mz'))},
            **{f'gyro_bias_{axis}': gyro[k] for k, axis in enumerate('xyz')},
            'gravity_error': float(self._gravity.mean) - GRAVITY,
            'worst_at': self._worst[1], 'mass_error': self._last[1]}


class ErrorTally:
    """Errors against the truth; the gait gets its name at the end."""

    def __init__(self, n_feet: int, weight: float):
        self._weight = weight
        self._errors: dict[tuple[str, str], tuple[Moments, Moments]] = {}
        self._steps, self._position = StepCounts(n_feet), Moments((n_feet, 2))

    def add(self, window: Window, truth: Truth) -> np.ndarray:
        """Add a piece of a recording; return in which samples the robot stands."""
        series, own = window.series, window.own
        contact = np.where(np.isfinite(truth.force).all(axis=2), truth.contact,
                           series.contact.values)
        standing = standing_samples(series.time, contact)
        self._steps.add(contact[own & ~standing])
        self._position.add(series.foot_position.values[own][:, :, :2])
        if (truth.valid & own).any():
            parts = [Behaviour(STANDING, standing), Behaviour(MOVING, ~standing)]
            judged = Truth(truth.force, truth.contact, truth.valid & own,
                           truth.center_of_pressure, [])
            accuracy = measure_accuracy(series, {}, judged, parts, self._weight)
            for error in (*accuracy.feet, *accuracy.sums):
                total, vertical = self._errors.setdefault(
                    (error.subject, error.treatment), (Moments(), Moments()))
                total._add_squares(error.count, error.count * error.total ** 2)
                vertical._add_squares(error.count, error.count * error.vertical ** 2)
        return standing

    @property
    def gait(self) -> str:
        """Name what the robot does while it does not stand; empty when it always does."""
        return self._steps.gait(self._position.mean) if self._steps.count else ''

    def errors(self, estimate: str) -> list[ForceError]:
        """Return the errors against the truth, by behaviour and treatment."""
        return [ForceError(estimate, treatment, self.gait if subject == MOVING else subject,
                           int(total.count), float(total.rms), float(vertical.rms), self._weight)
                for (subject, treatment), (total, vertical) in self._errors.items()]


def force_of(series: EstimateSeries) -> np.ndarray:
    """Return the forces as published (n, nf, 3) [N], world axes."""
    return world_force(series, series.foot_to_world, raw=False)
