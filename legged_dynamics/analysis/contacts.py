# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How well contact was detected: agreement with the truth, and how late each change was seen."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# A change seen this long before or after the true one is taken to be the same change [s].
SAME_CHANGE = 0.1


@dataclass(frozen=True)
class ContactScore:
    """
    Contact detection of one foot.

    Attributes
    ----------
    foot : str
    agreement : float [%]
        Part of the samples in which estimate and truth agree.
    touchdown_delay, liftoff_delay : float [ms]
        Median; negative when it was seen early, NaN when there was none.
    changes, unseen : int
        True changes of contact, and those without a matching estimated one.

    """

    foot: str
    agreement: float
    touchdown_delay: float
    liftoff_delay: float
    changes: int
    unseen: int


def score_contacts(time: np.ndarray, feet: tuple[str, ...], estimated: np.ndarray,
                   true: np.ndarray, valid: np.ndarray) -> list[ContactScore]:
    """
    Return the score of each foot.

    Parameters
    ----------
    time : (n,) array [s]
        Of each estimate.
    feet : tuple of str
        Names of the feet.
    estimated, true : (n, nf) bool array
        Feet that are down.
    valid : (n,) bool array
        Samples that count.

    """
    scores = []
    for i, foot in enumerate(feet):
        if not valid.any():
            break
        delays: dict[bool, list[float]] = {True: [], False: []}
        changes = unseen = 0
        seen = _changes(estimated[:, i], np.ones(len(time), bool))
        for at, down in _changes(true[:, i], valid):
            changes += 1
            near = [time[k] - time[at] for k, kind in seen
                    if kind == down and abs(time[k] - time[at]) <= SAME_CHANGE]
            if near:
                delays[down].append(1e3 * min(near, key=abs))
            else:
                unseen += 1
        scores.append(ContactScore(
            foot, 100.0 * float((estimated[valid, i] == true[valid, i]).mean()),
            _median(delays[True]), _median(delays[False]), changes, unseen))
    return scores


def _changes(flags: np.ndarray, valid: np.ndarray) -> list[tuple[int, bool]]:
    """Return the first sample of each new state, and that state."""
    at = np.flatnonzero((flags[1:] != flags[:-1]) & valid[1:] & valid[:-1]) + 1
    return [(int(k), bool(flags[k])) for k in at]


def _median(values: list[float]) -> float:
    return float(np.median(values)) if values else np.nan
