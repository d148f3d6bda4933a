# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the robot did when, standing or stepping with some gait, and how well contacts were detected.

All feet in contact for some time is standing. A gait is named by the pairs of feet that are in
contact together: diagonal ones when trotting, those of a side when pacing, the two front and the
two hind feet when bounding.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.people.gait.stance_detection import runs

# Standing means all feet down for so long before and after [s]: longer than any double support.
MARGIN = 0.35
# Feet whose contacts agree for this part of the time step together.
TOGETHER = 0.9
STANDING = 'standing'


@dataclass(frozen=True)
class Behaviour:
    """One behaviour and where it occurs."""

    name: str  # Such as 'standing', 'trotting', 'walking'
    samples: np.ndarray  # (n,)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """First and last sample of each stretch, both included."""
        return [(first, after - 1) for first, after in runs(self.samples)]


def find_behaviours(time: np.ndarray, contact: np.ndarray,
                    position: np.ndarray) -> list[Behaviour]:
    """Return the behaviours, standing first; ``position`` (nf, 2): x forward, y left."""
    if not len(time):
        return []
    standing = standing_samples(time, contact)
    found = [Behaviour(STANDING, standing),
             Behaviour(name_gait(contact[~standing], position), ~standing)]
    return [behaviour for behaviour in found if behaviour.samples.any()]


def standing_samples(time: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """Return the samples (n,) around which all feet are down for long enough."""
    lifted = np.concatenate([[0], np.cumsum(~contact.all(axis=1))])
    return (lifted[np.searchsorted(time, time + MARGIN, side='right')]
            == lifted[np.searchsorted(time, time - MARGIN)])


def name_gait(contact: np.ndarray, position: np.ndarray) -> str:
    """Return a gait's name, or 'stepping'; ``position`` (nf, 2) [m]: feet in base axes."""
    steps = StepCounts(contact.shape[1] if contact.ndim == 2 else 0)
    steps.add(contact)
    return steps.gait(position)


class StepCounts:
    """Counts how often pairs of feet are down together, over parts of a recording."""

    def __init__(self, n_feet: int):
        self.count = self._airborne = 0
        self._same = np.zeros((n_feet, n_feet))

    def add(self, contact: np.ndarray) -> None:
        """Add contacts (n, nf) of samples in which the robot is not standing."""
        self.count += len(contact)
        self._airborne += int((~contact).all(axis=1).sum()) if contact.ndim == 2 else 0
        down = contact.astype(float)
        if len(self._same):
            self._same += down.T @ down + (1.0 - down).T @ (1.0 - down)

    def gait(self, position: np.ndarray) -> str:
        """Return the gait's name, or 'stepping'; ``position`` (nf, 2): base axes."""
        if not self.count or len(self._same) < 2:
            return 'stepping'
        return _gait(self._airborne / self.count, self._same / self.count, position)


def _gait(airborne: float, same: np.ndarray, position: np.ndarray) -> str:
    n_feet = len(same)
    if n_feet == 2:
        if same[0, 1] > TOGETHER:
            return 'hopping'
        return 'running' if airborne > 0.02 else 'walking'
    if n_feet != 4:
        return 'stepping'
    front, left = (position > np.median(position, axis=0)).T
    agreement: dict[str, list[float]] = {'trotting': [], 'pacing': [], 'bounding': []}
    for i in range(4):
        for k in range(i):
            kind = ('trotting' if left[i] != left[k] and front[i] != front[k]
                    else 'pacing' if left[i] == left[k] else 'bounding')
            agreement[kind].append(float(same[i, k]))
    means = {kind: float(np.mean(values)) if values else 0.0
             for kind, values in agreement.items()}
    best = max(means, key=lambda kind: means[kind])
    return best if means[best] > TOGETHER - 0.1 else 'walking'


# -------------------------------------------------------------------------------------------------
# Contact detection: agreement with the truth, and delay of each change.


# An estimated change so long before or after a true one is the same change [s].
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
    """Return the contact score of each foot; empty without valid samples."""
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
