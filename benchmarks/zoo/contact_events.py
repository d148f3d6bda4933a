# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts: how often right, how late seen, what was missed and what was made up."""
from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.zoo.recording import Recording

BOUNCE = 0.02       # s: shorter gaps and touches are part of the same landing or leaving
WINDOW = 0.1        # s: an event seen further away than this is another one


@dataclass(frozen=True)
class ContactScore:
    """
    How contacts were seen.

    A change is a change of contact that lasts: gaps and touches shorter than 20 ms are closed
    first, in truth and in estimate.

    Attributes
    ----------
    agreement : float
        % of foot-samples whose flag is the true one at the stamp, nothing closed.
    agreement_on_line : float
        The same against the truth of the newest measurement.
    steps : int
        True touch-downs.
    touch_down_ms, lift_off_ms : float
        Median of how late changes were seen, by stamps [ms]; negative: early.
    unseen, false : float
        True changes without an estimated one within 100 ms, and the reverse; a step.
    longest_up_ms : float
        Longest time for which a foot that bears more than 10 % of the weight was reported to be
        in the air [ms].

    """

    agreement: float
    agreement_on_line: float
    steps: int
    touch_down_ms: float
    lift_off_ms: float
    unseen: float
    false: float
    longest_up_ms: float


def contact_score(recording: Recording, flags: np.ndarray, stamp: np.ndarray, scored: np.ndarray,
                  loaded: float) -> ContactScore:
    """
    Compare contact flags with the truth.

    Parameters
    ----------
    recording : Recording
    flags : (m, nf) array of bool
    stamp : (m,) array
        What the flags describe [ns].
    scored : (m,) array of bool
    loaded : float
        Normal force of a foot that bears load [N].

    """
    period = 1e9 / recording.rate
    last = len(recording) - len(stamp)
    t0 = float(recording.stamp_ns[0])
    place = np.clip(np.floor((stamp - t0) / period + 0.5).astype(int), 0, len(recording) - 1)
    truth_now, truth = recording.contact[last:], recording.contact[place]
    up = ~flags & (recording.normal_force[place] > loaded) & scored[:, None]
    down_late, lift_late, unseen, false, steps = [], [], 0, 0, 0
    short = max(round(BOUNCE * recording.rate), 1)
    begin, end = stamp[scored][0] + WINDOW * 1e9, stamp[scored][-1] - WINDOW * 1e9
    for i in range(truth.shape[1]):
        true = changes(closed(recording.contact[:, i], short))
        seen = changes(closed(flags[:, i], short))
        # Two sides: when each true change was, and when each seen one, both as time stamps.
        real = [(float(recording.stamp_ns[k]), rise) for k, rise in true]
        mine = [(float(stamp[k]), rise) for k, rise in seen]
        pairs, free = matched(real, mine)
        for (when, rise), late in pairs:
            if not begin <= when <= end:
                continue
            steps += rise
            if late is None:
                unseen += 1
            else:
                (down_late if rise else lift_late).append(late * 1e-6)
        false += sum(begin <= when <= end for when, _ in free)
    return ContactScore(
        agreement=100.0 * float((flags == truth)[scored].mean()),
        agreement_on_line=100.0 * float((flags == truth_now)[scored].mean()),
        steps=steps,
        touch_down_ms=float(np.median(down_late)) if down_late else float('nan'),
        lift_off_ms=float(np.median(lift_late)) if lift_late else float('nan'),
        unseen=unseen / max(steps, 1), false=false / max(steps, 1),
        longest_up_ms=max(longest_run(column) for column in up.T) * period * 1e-6)


def closed(flags: np.ndarray, short: int) -> np.ndarray:
    """Return flags with gaps, then touches, of at most `short` samples removed."""
    out = flags.copy()
    for value in (False, True):
        edges = np.flatnonzero(np.diff(out.astype(int))) + 1
        for start, end in pairwise(edges):
            if out[start] == value and end - start <= short:
                out[start:end] = not value
    return out


def changes(flags: np.ndarray) -> list[tuple[int, bool]]:
    """Return the sample after each change, and whether it is a touch-down."""
    return [(int(k) + 1, bool(flags[k + 1])) for k in np.flatnonzero(np.diff(flags.astype(int)))]


def matched(real: list[tuple[float, bool]], mine: list[tuple[float, bool]]) -> tuple[
        list[tuple[tuple[float, bool], float | None]], list[tuple[float, bool]]]:
    """Return each true change with how late it was seen (None: not), and what is left over."""
    left = list(mine)
    pairs: list[tuple[tuple[float, bool], float | None]] = []
    for when, rise in real:
        near = [other for other in left if other[1] == rise
                and abs(other[0] - when) <= WINDOW * 1e9]
        if not near:
            pairs.append(((when, rise), None))
            continue
        best = min(near, key=lambda other: abs(other[0] - when))
        left.remove(best)
        pairs.append(((when, rise), best[0] - when))
    return pairs, left


def longest_run(flags: np.ndarray) -> int:
    """Return the length of the longest run of True."""
    edges = np.diff(np.concatenate([[0], flags.astype(int), [0]]))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return int((ends - starts).max()) if len(starts) else 0
