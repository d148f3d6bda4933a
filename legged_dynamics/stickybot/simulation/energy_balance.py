# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Energy and momentum balance of a simulation: what went in, what was lost, and the residual."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.stickybot.model.bookkeeping import STORED, TOTAL


@dataclass(frozen=True)
class EnergyBalance:
    """
    Energy and momentum in and out of the robot since the simulation began, and the residual.

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


def energy_balance(start: np.ndarray, now: np.ndarray, totals: np.ndarray) -> EnergyBalance:
    """
    Return the balance between two instants.

    Parameters
    ----------
    start, now : (STORED.width,) array
        As :func:`bookkeeping.stored` fills it.
    totals : (TOTAL.width,) array
        What was summed in between.

    """
    change = now - start
    gain = float(now[STORED.kinetic] + now[STORED.potential]
                 - start[STORED.kinetic] - start[STORED.potential])
    work, damped, struck = totals[[TOTAL.work, TOTAL.damped, TOTAL.struck]].tolist()
    missing = change[STORED.momentum:STORED.momentum + 2] - totals[TOTAL.impulse:TOTAL.impulse + 2]
    turning = change[STORED.angular_momentum] - totals[TOTAL.angular_impulse]
    return EnergyBalance(work, damped, struck, gain, gain - work + damped + struck,
                         (float(missing[0]), float(missing[1])), float(turning))
