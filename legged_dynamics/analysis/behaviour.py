# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the robot was doing when: standing, or stepping with some gait, told by its contacts."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# All feet down for so long on either side counts as standing [s]: longer than any double support.
MARGIN = 0.35
# Feet that agree on contact for this part of the time step together.
TOGETHER = 0.9
STANDING = 'standing'


@dataclass(frozen=True)
class Behaviour:
    """
    One behaviour and where it occurs.

    Attributes
    ----------
    name : str
        Such as 'standing', 'trotting', 'walking'.
    samples : (n,) bool array

    """

    name: str
    samples: np.ndarray

    @property
    def spans(self) -> list[tuple[int, int]]:
        """First and last sample of each stretch, both included."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], self.samples.astype(int), [0]])))
        return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2])]


def find_behaviours(time: np.ndarray, contact: np.ndarray,
                    position: np.ndarray) -> list[Behaviour]:
    """
    Return the behaviours that occur, standing first.

    Parameters
    ----------
    time : (n,) array [s]
        Of each estimate.
    contact : (n, nf) bool array
        True contacts where they are known, else estimated ones.
    position : (nf, 2) array [m]
        Mean horizontal position of the feet in base axes, x forward, y left.

    """
    if not len(time):
        return []
    standing = standing_samples(time, contact)
    found = [Behaviour(STANDING, standing),
             Behaviour(name_gait(contact[~standing], position), ~standing)]
    return [behaviour for behaviour in found if behaviour.samples.any()]


def standing_samples(time: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """Return the (n,) samples around which all feet are down for long enough."""
    lifted = np.concatenate([[0], np.cumsum(~contact.all(axis=1))])
    return (lifted[np.searchsorted(time, time + MARGIN, side='right')]
            == lifted[np.searchsorted(time, time - MARGIN)])


def name_gait(contact: np.ndarray, position: np.ndarray) -> str:
    """
    Name a gait by which feet step together.

    Parameters
    ----------
    contact : (n, nf) bool array
        Feet that are down, while the robot is not standing.
    position : (nf, 2) array [m]
        Mean horizontal position of the feet in base axes.

    """
    steps = StepCounts(contact.shape[1] if contact.ndim == 2 else 0)
    steps.add(contact)
    return steps.gait(position)


class StepCounts:
    """How often which feet were down together, of a recording that comes in pieces."""

    def __init__(self, n_feet: int):
        self.count = self._airborne = 0
        self._same = np.zeros((n_feet, n_feet))

    def add(self, contact: np.ndarray) -> None:
        """Add samples, (n, nf) bool, in which the robot is not standing."""
        self.count += len(contact)
        self._airborne += int((~contact).all(axis=1).sum()) if contact.ndim == 2 else 0
        down = contact.astype(float)
        if len(self._same):
            self._same += down.T @ down + (1.0 - down).T @ (1.0 - down)

    def gait(self, position: np.ndarray) -> str:
        """Name the gait; `position` (nf, 2) is where the feet are in base axes on average [m]."""
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
