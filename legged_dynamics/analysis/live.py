# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The wrenches published live against those of the replay, and how long the live ones took."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from legged_dynamics.analysis.inputs import InputTimes
from legged_dynamics.analysis.recording import WrenchRecord
from legged_dynamics.analysis.series import EstimateSeries


@dataclass(frozen=True)
class LiveComparison:
    """
    Live against replayed estimates of one foot.

    Attributes
    ----------
    foot : str
    published, missing, compared : int
        Live wrenches in the bag; joint states between the first and the last of them that got
        none; live wrenches with a replayed one of the same stamp.
    identical : int
        Those equal in every bit.
    force, moment : float [N, N m]
        Largest difference of any component.
    last : float [s]
        When the last difference was, from the first live wrench on; NaN without any.

    """

    foot: str
    published: int
    missing: int
    compared: int
    identical: int
    force: float
    moment: float
    last: float


@dataclass(frozen=True)
class Latency:
    """
    How long live estimates took, by the recorder's clock.

    Attributes
    ----------
    total : (n,) array [ms]
        From the receipt of the joint state that a wrench describes to the receipt of the wrench,
        the derivative filter's delay included.
    completing : (n,) array [ms]
        From the receipt of the joint state that completed the filter's window: transport and
        computing alone.
    delay : int
        Samples between those two joint states.

    """

    total: np.ndarray
    completing: np.ndarray
    delay: int


def compare_live(series: EstimateSeries, live: Mapping[str, WrenchRecord],
                 joints: InputTimes) -> list[LiveComparison]:
    """Compare what was published live with the replay, by stamp, in all bits."""
    found = []
    inputs = np.unique(joints.stamp_ns)
    stamps = series.latest_ns.values
    for foot, record in live.items():
        replayed = series.wrench.values[:, series.feet.index(foot)]
        _, mine, theirs = np.intersect1d(stamps, record.stamp_ns, return_indices=True)
        difference = np.abs(replayed[mine] - record.wrench[theirs])
        same = (replayed[mine] == record.wrench[theirs]).all(axis=1)
        during = inputs[(inputs >= record.stamp_ns.min()) & (inputs <= record.stamp_ns.max())]
        found.append(LiveComparison(
            foot, len(record), len(np.setdiff1d(during, record.stamp_ns)), len(mine),
            int(same.sum()),
            float(difference[:, :3].max()) if len(mine) else np.nan,
            float(difference[:, 3:].max()) if len(mine) else np.nan,
            float(stamps[mine[~same]].max() - record.stamp_ns.min()) * 1e-9
            if not same.all() else np.nan))
    return found


def measure_latency(joints: InputTimes, live: Mapping[str, WrenchRecord],
                    delay: int) -> Latency | None:
    """
    Return how long live wrenches took, or None when the bag has none.

    Each wrench counts once, when the last foot's wrench of its stamp was received.
    """
    if not live or not len(joints):
        return None
    stamps, first = np.unique(joints.stamp_ns, return_index=True)
    receipts = joints.receipt_ns[first]
    done: dict[int, int] = {}
    for record in live.values():
        for stamp, receipt in zip(record.stamp_ns.tolist(), record.receipt_ns.tolist()):
            done[stamp] = max(done.get(stamp, 0), receipt)
    described = np.array(sorted(done), dtype=np.int64)
    at = np.searchsorted(stamps, described).clip(0, len(stamps) - 1)
    usable = (stamps[at] == described) & (at + delay < len(stamps))
    if not usable.any():
        return None
    at = at[usable]
    finished = np.array([done[stamp] for stamp in described[usable].tolist()])
    return Latency((finished - receipts[at]) * 1e-6, (finished - receipts[at + delay]) * 1e-6,
                   delay)
