# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The books of a simulation: what went in, what was lost, and what is missing."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.stickybot.model.bookkeeping import (
    ANGULAR_IMPULSE,
    ANGULAR_MOMENTUM,
    DAMPED,
    IMPULSE,
    KINETIC,
    MOMENTUM,
    POTENTIAL,
    STRUCK,
    WORK,
)


@dataclass(frozen=True)
class Books:
    """
    What went in and out of the robot since the simulation began, and what is missing.

    Attributes
    ----------
    work : float [J]
        Put in by the actuators that move the rest positions.
    damped, struck : float [J]
        Lost in dampers and in plastic touchdowns.
    stored : float [J]
        Gain of kinetic, elastic and gravitational energy.
    energy_residual : float [J]
        ``stored - work + damped + struck``.
    momentum_residual : tuple of 2 floats [N s]
        Momentum less the impulses of wall and weight.
    angular_momentum_residual : float [N m s]
        The same for angular momentum about the wall frame's origin.

    """

    work: float
    damped: float
    struck: float
    stored: float
    energy_residual: float
    momentum_residual: tuple[float, float]
    angular_momentum_residual: float


def make_books(start: np.ndarray, now: np.ndarray, totals: np.ndarray) -> Books:
    """
    Return the books.

    Parameters
    ----------
    start, now : (N_STORED,) array
        As :func:`bookkeeping.stored` fills it.
    totals : (N_TOTALS,) array
        What was summed in between.

    """
    gain = float(now[KINETIC] + now[POTENTIAL] - start[KINETIC] - start[POTENTIAL])
    work, damped, struck = float(totals[WORK]), float(totals[DAMPED]), float(totals[STRUCK])
    change = now - start
    missing = change[MOMENTUM:MOMENTUM + 2] - totals[IMPULSE:IMPULSE + 2]
    turning = change[ANGULAR_MOMENTUM] - totals[ANGULAR_IMPULSE]
    return Books(work, damped, struck, gain, gain - work + damped + struck,
                 (float(missing[0]), float(missing[1])), float(turning))
