# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A bag in pieces: the replay goes on through all of it, and what it said is handed on and forgotten.

Pieces overlap, so that what needs a sample's neighbourhood (a zero-phase low-pass, the margin
around standing, the wrench published a sample before) is the same as over the whole bag.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.analysis.bags import BagReader
from legged_dynamics.analysis.preparation import Preparation
from legged_dynamics.analysis.recording import RecordGatherer, Recording
from legged_dynamics.analysis.replay import Replay
from legged_dynamics.analysis.series import EstimateSeries

# Samples of a piece beside its overlaps, and how long these are at least on either side [s]: the
# low-pass of 25 Hz has forgotten after a tenth of that, and standing is judged by 0.35 s.
SAMPLES, OVERLAP = 8192, 1.0
_FOR_PERIOD = 512       # samples that the usual interval is taken from
# Records are received so much before or after the joint states of their stamp, at most [s].
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
        What the bag says beside, of the same time.
    first, last : int
        Samples that are this piece's own: from the first up to, but not at, the last.
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
        """(n,) bool: samples that are this piece's own."""
        mask = np.zeros(len(self.series.stamp_ns), bool)
        mask[self.first:self.last] = True
        return mask


def each_window(bag: BagReader, ready: Preparation, take: Callable[[Window, Replay], None],
                progress: Callable[[float], None] | None = None) -> Replay:
    """
    Replay a bag and hand it on in pieces.

    Parameters
    ----------
    bag : BagReader
        An open bag.
    ready : Preparation
        Robot, topics and range.
    take : callable
        Gets each piece, and the replay; arrays are valid only during the call.
    progress : callable, optional
        Gets the part done, from 0 to 1.

    Raises
    ------
    BagError
        When the bag is damaged.

    """
    # What was live is judged bag by bag only.
    topics = replace(ready.topics, live={}, desired={}, reference='')
    records = RecordGatherer(topics, {})
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
            # What the bag says of the last of them may not have come yet: hence twice.
            hand_on(count - 2 * overlap, overlap)

    replay.run(bag, on_estimate=look, records=records, progress=progress)
    if len(series.stamp_ns) > begun:
        hand_on(len(series.stamp_ns), 0)
    return replay
