# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Poses of the base, trajectories that wait for their start, and work that is done in pieces."""
from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Result = TypeVar('Result')


def run(work: Generator[None, None, Result]) -> Result:
    """Return what comes of work that is done in pieces, all of it at once."""
    try:
        while True:
            next(work)
    except StopIteration as done:
        return done.value


@dataclass(frozen=True, eq=False)
class BodyPose:
    """
    A pose of the base.

    Attributes
    ----------
    position : (3,) array [m]
        ``p_WB``.
    rotation : (3, 3) array
        ``R_WB``.

    """

    position: np.ndarray
    rotation: np.ndarray


@dataclass(frozen=True, eq=False)
class TrajectoryPlan:
    """
    A trajectory that waits for its start.

    Attributes
    ----------
    asked : float [s]
        How long it was to be.
    first_step : float [s]
        How long the way to its first pose is to take.
    first, first_rates : (12,) array
        That pose, and how it is passed.
    rows : (n, 46) array
        Segments; that way is the second, and not made yet.
    ends_ns : (n - 1,) int array [ns]
        When they end, counted from that pose.

    """

    asked: float
    first_step: float
    first: np.ndarray
    first_rates: np.ndarray
    rows: np.ndarray
    ends_ns: np.ndarray
