# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Strides of each foot, and curves over them in percent, as gait laboratories publish them."""
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

PERCENT = np.arange(101.0)
CYCLE, STANCE = 'gait cycle', 'stance'
_SIDE = (('r', r'(^|_)(r|right)(_|$)'), ('l', r'(^|_)(l|left)(_|$)'))


@dataclass(frozen=True)
class Stride:
    """
    From one landing of a foot to its next one, or to its leaving.

    Attributes
    ----------
    foot : int
    start, off, end : float [s]
        Landing, leaving, and next landing; `end` is `off` where only the stance is whole.

    """

    foot: int
    start: float
    off: float
    end: float


def strides(time: np.ndarray, contact: np.ndarray) -> tuple[list[Stride], str]:
    """
    Return whole strides, and whether they are gait cycles or, where there is none, stances.

    Parameters
    ----------
    time : (n,) array [s]
        Evenly spaced.
    contact : (n, nf) bool array
        Feet on the ground.

    """
    whole, stances = [], []
    half = 0.5 * (time[1] - time[0])
    for i in range(contact.shape[1]):
        on = contact[:, i].astype(int)
        landings = time[1:][np.diff(on) > 0] - half
        leavings = time[1:][np.diff(on) < 0] - half
        for k, start in enumerate(landings):
            off = leavings[leavings > start]
            if not len(off):
                continue
            stances.append(Stride(i, start, off[0], off[0]))
            if k + 1 < len(landings):
                whole.append(Stride(i, start, off[0], landings[k + 1]))
    return (whole, CYCLE) if whole else (stances, STANCE)


def over_strides(time: np.ndarray, values: np.ndarray, found: Iterable[Stride]) -> np.ndarray:
    """Return (strides, 101) values over strides; NaN where a value is not known."""
    rows = []
    for stride in found:
        at = stride.start + (stride.end - stride.start) * PERCENT / 100.0
        rows.append(np.interp(at, time, values))
    return np.array(rows).reshape(-1, len(PERCENT))


def side_of(name: str) -> str:
    """Return 'r', 'l' or '' by the name of a link or a joint."""
    for side, pattern in _SIDE:
        if re.search(pattern, name, re.IGNORECASE):
            return side
    return ''


def without_side(name: str) -> str:
    """Return a name without its side: 'knee_angle' for 'knee_angle_r'."""
    for _, pattern in _SIDE:
        name = re.sub(pattern, lambda found: '_' if found[1] and found[3] else '', name,
                      flags=re.IGNORECASE)
    return name


def other_side(name: str, names: Iterable[str]) -> str:
    """Return which of the names is the same on the other side; empty when none is."""
    own = side_of(name)
    return next((other for other in names if own and other != name
                 and side_of(other) not in ('', own) and without_side(other) == without_side(name)
                 ), '')
