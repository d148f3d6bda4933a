# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How calls are timed: batches of many, interleaved between rivals, the median of the batches."""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def microseconds(*calls: Callable[[], object], batches: int = 15,
                 batch_seconds: float = 0.02) -> list[float]:
    """Return the median time of each call [us]; rivals take turns, so that drift hits all."""
    counts = []
    for call in calls:
        call()
        start = time.perf_counter()
        count = 0
        while time.perf_counter() - start < batch_seconds:
            call()
            count += 1
        counts.append(max(count, 1))
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(batches):
        for call, count, found in zip(calls, counts, times):
            start = time.perf_counter()
            for _ in range(count):
                call()
            found.append((time.perf_counter() - start) / count * 1e6)
    return [statistics.median(found) for found in times]
