# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time that only ever goes on, for ages and farewells: nobody can set it back or ahead."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# A sample may come before its time on /clock does, by no more than this.
OVERTAKING_NS = 20_000_000
# Simulated time that stands still for so long, and for so many looks at it, has ended: one look
# after a long pause of this process says nothing [s].
STANDSTILL, LOOKS = 5.0, 50


class SteadyClock:
    """
    A node's monotonic time; simulated time where the node follows that, going on when it is reset.

    Parameters
    ----------
    node : Node
        Whose clock says what time is.

    """

    def __init__(self, node: Any):
        self._node = node
        self._simulated = (node.has_parameter('use_sim_time')
                           and bool(node.get_parameter('use_sim_time').value))
        self._before = self._shift = self._heard = 0

    def __call__(self) -> int:
        """Return the time [ns]."""
        raw = self._source()()
        if raw < self._before:
            self._shift += self._before - raw
        self._before = raw
        return raw + self._shift

    def heard(self, stamp_ns: int) -> None:
        """Take the stamp of a sample [ns]: simulated time is no less, /clock come or not."""
        if not self._simulated:
            return
        raw = self._node.get_clock().now().nanoseconds
        if not raw or 0 < stamp_ns - raw <= OVERTAKING_NS:
            self._heard = max(stamp_ns, self.wall())

    def wall(self) -> int:
        """Return the time that stamps are of [ns], which may be set."""
        raw = self._node.get_clock().now().nanoseconds
        return self._heard if not raw or 0 < self._heard - raw <= OVERTAKING_NS else raw

    def _source(self) -> Callable[[], int]:
        clock = self._node.get_clock()
        if self._simulated:
            return self.wall
        if hasattr(clock, 'steady_ns'):     # of the backends without rclpy
            return clock.steady_ns
        return time.monotonic_ns


class Farewell:
    """
    What a node may take its time for before it stops.

    Parameters
    ----------
    now : callable
        The node's time [ns].
    longest_ns : int [ns]
        When it is late.
    wall : callable
        Time that goes on whatever happens [s].

    Attributes
    ----------
    begun : bool
        Whether the node is being stopped.

    """

    def __init__(self, now: Callable[[], int], longest_ns: int,
                 wall: Callable[[], float] = time.monotonic):
        self._now, self.longest_ns, self._wall = now, longest_ns, wall
        self.reset()

    def reset(self) -> None:
        """Forget that the node was to be stopped."""
        self.begun = False
        self._before = self._since = -1
        self._moved, self._looks = 0.0, 0

    def begin(self) -> bool:
        """Begin; return whether this is the first call."""
        first = not self.begun
        if first:
            self.begun, self._since = True, self._now()
        return first

    def late(self) -> bool:
        """Tell whether it has lasted for too long."""
        return self._now() - self._since > self.longest_ns

    def vain(self) -> bool:
        """
        Tell whether time stands still, so that nothing will change any more.

        Simulated time does when the simulator was stopped first. To be asked again and again.
        """
        now, wall = self._now(), self._wall()
        if now != self._before:
            self._before, self._moved, self._looks = now, wall, 0
        self._looks += 1
        return self._looks > LOOKS and wall - self._moved > STANDSTILL
