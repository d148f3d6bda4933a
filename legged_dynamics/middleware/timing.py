# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Clocks and timers of the nodes that run without rclpy."""
from __future__ import annotations

import time
from collections.abc import Callable


class Instant:
    """A point in time."""

    __slots__ = ('nanoseconds',)

    def __init__(self, nanoseconds: int):
        self.nanoseconds = nanoseconds


class NodeClock:
    """
    A node's clock: the bus's, until simulated time from /clock takes over.

    Parameters
    ----------
    wall_ns, steady_ns : callable
        Time for stamps and time for timers, which must not jump with the wall clock [ns].

    """

    def __init__(self, wall_ns: Callable[[], int] = time.time_ns,
                 steady_ns: Callable[[], int] = time.monotonic_ns):
        self._wall_ns = wall_ns
        self.steady_ns = steady_ns

    def now(self) -> Instant:
        """Return the present time."""
        return Instant(self._wall_ns())

    def follow(self, ns: int) -> None:
        """Take simulated time; from the first call on, the clock stands still between calls."""
        self._wall_ns = self.steady_ns = lambda: ns


class NodeTimer:
    """Calls back every period on the node's clock; periods missed are skipped, as in rcl."""

    def __init__(self, clock: NodeClock, period_ns: int, callback: Callable[[], None]):
        self._clock = clock
        self.period_ns = period_ns
        self.callback = callback
        self.cancelled = False
        self.due_ns = clock.steady_ns() + period_ns

    def cancel(self) -> None:
        """Stop calling back."""
        self.cancelled = True

    def remaining_ns(self) -> int:
        """Return the time until the next call, not positive when it is due."""
        remaining = self.due_ns - self._clock.steady_ns()
        if remaining > self.period_ns:
            # time jumped back, or simulated time has just begun
            self.due_ns -= remaining - self.period_ns
            remaining = self.period_ns
        return remaining

    def advance(self) -> None:
        """Set the next call, on the grid of the period, behind the present time."""
        late = self._clock.steady_ns() - self.due_ns
        self.due_ns += self.period_ns * (late // self.period_ns + 1)
