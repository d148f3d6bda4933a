# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Keeps a loop in step with the wall clock and says how well that went."""
from __future__ import annotations

import time
from collections.abc import Callable


class Pacer:
    """
    Sleeps until each deadline of a periodic loop.

    A loop that falls behind runs without sleeping until it has caught up; when it is further
    behind than ``give_up``, the lost time is dropped: a burst of late samples is of no use.

    Parameters
    ----------
    period_ns : int
        Time between deadlines [ns].
    give_up_ns : int
        Lateness beyond which the lost time is dropped [ns].
    clock, sleep : callable
        Monotonic time [ns] and a sleep of so many seconds.

    Attributes
    ----------
    ticks : int
        Deadlines so far.
    missed : int
        Deadlines that had passed before :meth:`wait` was called: the work took too long.
    dropped : int
        Times the lost time was dropped.
    worst_lateness_ns : int
        Longest time from a deadline to the return of :meth:`wait` [ns].

    """

    def __init__(self, period_ns: int, *, give_up_ns: int = 100_000_000,
                 clock: Callable[[], int] = time.monotonic_ns,
                 sleep: Callable[[float], None] = time.sleep):
        self._period_ns = period_ns
        self._give_up_ns = give_up_ns
        self._clock = clock
        self._sleep = sleep
        self._deadline: int | None = None
        self.ticks = 0
        self.missed = 0
        self.dropped = 0
        self.worst_lateness_ns = 0

    def wait(self) -> None:
        """Return at the next deadline; the first call starts the clock and returns at once."""
        now = self._clock()
        if self._deadline is None:
            self._deadline = now
            return
        self._deadline += self._period_ns
        self.ticks += 1
        if now > self._deadline:
            self.missed += 1
        else:
            # The sleep may return early: its remainder is slept again.
            while (now := self._clock()) < self._deadline:
                self._sleep((self._deadline - now) * 1e-9)
        lateness = now - self._deadline
        self.worst_lateness_ns = max(self.worst_lateness_ns, lateness)
        if lateness > self._give_up_ns:
            self.dropped += 1
            self._deadline = now

    @property
    def statement(self) -> str:
        """One line for people: deadlines missed and worst lateness."""
        share = 100.0 * self.missed / self.ticks if self.ticks else 0.0
        dropped = f', lost time dropped {self.dropped} times' if self.dropped else ''
        return (f'{self.missed} of {self.ticks} deadlines missed ({share:.2f} %), '
                f'worst lateness {self.worst_lateness_ns * 1e-6:.2f} ms{dropped}')
