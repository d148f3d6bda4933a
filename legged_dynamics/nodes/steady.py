# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time that only ever goes on, for ages: nobody can set it back or ahead."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

# A sample may come before its time on /clock does, by no more than this.
OVERTAKING_NS = 20_000_000


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
