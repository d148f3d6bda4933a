# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The books of a simulation: what went in, what was lost, and what is missing."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.stickybot.model.bookkeeping import STORED, TOTAL


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
    change = now - start
    gain = float(now[STORED.kinetic] + now[STORED.potential]
                 - start[STORED.kinetic] - start[STORED.potential])
    work, damped, struck = totals[[TOTAL.work, TOTAL.damped, TOTAL.struck]].tolist()
    missing = change[STORED.momentum:STORED.momentum + 2] - totals[TOTAL.impulse:TOTAL.impulse + 2]
    turning = change[STORED.angular_momentum] - totals[TOTAL.angular_impulse]
    return Books(work, damped, struck, gain, gain - work + damped + struck,
                 (float(missing[0]), float(missing[1])), float(turning))
