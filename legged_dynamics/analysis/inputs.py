# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rate, jitter and gaps of the estimator's inputs, by their stamps and by the recorder's clock."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.analysis.series import Column

# A gap is an interval longer than this many medians.
GAP = 1.5


class InputTimes:
    """When the messages of one topic were stamped and received."""

    def __init__(self) -> None:
        self._stamp, self._receipt = Column(dtype=np.int64), Column(dtype=np.int64)

    def note(self, stamp_ns: int, receipt_ns: int) -> None:
        """Add a message's times."""
        self._stamp.append(stamp_ns)
        self._receipt.append(receipt_ns)

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self._stamp)

    def forget(self, before_ns: int) -> None:
        """Drop what was received before an instant, given in the order of receipt."""
        self.drop(int(np.searchsorted(self.receipt_ns, before_ns)))

    def drop(self, count: int) -> None:
        """Drop the first messages."""
        for column in vars(self).values():
            if isinstance(column, Column):
                column.drop(count)

    @property
    def stamp_ns(self) -> np.ndarray:
        """(n,) stamps."""
        return self._stamp.values

    @property
    def receipt_ns(self) -> np.ndarray:
        """(n,) receipts."""
        return self._receipt.values


@dataclass(frozen=True)
class InputStatistics:
    """
    Regularity of one input.

    Attributes
    ----------
    topic : str
    count : int
    rate, received : float [Hz]
        Messages over time, by their stamps and by the recorder's clock.
    interval : float [ms]
        The usual one between stamps: their median.
    stamp_jitter, receipt_jitter : float [ms]
        Standard deviation of the intervals between stamps and between receipts.
    worst_interval : float [ms]
        Longest interval between stamps.
    gaps : int
        Intervals between stamps beyond one and a half medians: samples lost.
    backwards : int
        Stamps not after the one before.

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


def input_statistics(topic: str, times: InputTimes) -> InputStatistics:
    """Return the regularity of one input."""
    steps = np.diff(times.stamp_ns) * 1e-9
    forward = steps[steps > 0.0]
    if not len(forward):
        return InputStatistics(topic, len(times), np.nan, np.nan, np.nan, np.nan, np.nan, np.nan,
                               0, len(steps))
    median = float(np.median(forward))
    receipts = np.diff(times.receipt_ns) * 1e-9
    return InputStatistics(
        topic, len(times), _per_second(times.stamp_ns), _per_second(times.receipt_ns),
        1e3 * median, 1e3 * float(forward.std()), 1e3 * float(receipts.std()),
        1e3 * float(forward.max()), int((forward > GAP * median).sum()),
        len(steps) - len(forward))


def _per_second(when_ns: np.ndarray) -> float:
    """Return how many there are over the time that they take [Hz]."""
    span = float(np.ptp(when_ns)) * 1e-9
    return (len(when_ns) - 1) / span if span > 0.0 else np.nan
