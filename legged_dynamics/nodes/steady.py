# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time that only ever goes on, for ages: nobody can set it back or ahead."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


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
        self._before = self._shift = 0

    def __call__(self) -> int:
        """Return the time [ns]."""
        raw = self._source()()
        if raw < self._before:
            self._shift += self._before - raw
        self._before = raw
        return raw + self._shift

    def _source(self) -> Callable[[], int]:
        clock = self._node.get_clock()
        if hasattr(clock, 'steady_ns'):     # of the backends without rclpy
            return clock.steady_ns
        if self._simulated:
            return lambda: clock.now().nanoseconds
        return time.monotonic_ns
