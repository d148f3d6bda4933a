# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Means, spreads and intervals of values that come in pieces: nothing grows with their number."""
from __future__ import annotations

import numpy as np

from legged_dynamics.analysis.inputs import GAP, InputStatistics, InputTimes

# Intervals whose median is taken for all of them.
MOST_INTERVALS = 1_000_000


class Moments:
    """
    Count, sum and sum of squares of values; what is not finite is left out.

    Parameters
    ----------
    shape : tuple of int
        Of one value.

    """

    def __init__(self, shape: tuple[int, ...] = ()):
        self.count = np.zeros(shape)
        self._sum, self._squares = np.zeros(shape), np.zeros(shape)

    def add(self, values: np.ndarray) -> None:
        """Add values, one a row."""
        known = np.isfinite(values)
        values = np.where(known, values, 0.0)
        self.count += known.sum(axis=0)
        self._sum += values.sum(axis=0)
        self._squares += (values ** 2).sum(axis=0)

    def add_squares(self, count: int, squares: np.ndarray | float) -> None:
        """Add so many values of which only the sum of squares is known."""
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
        """Take over what has been noted, and leave nothing there."""
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
