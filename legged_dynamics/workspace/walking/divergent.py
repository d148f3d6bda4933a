# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Walking on two soles: the divergent component of motion, and the feedback that holds it.

A centre of mass c at height h over the centre of pressure p obeys ``cdd = omega^2 (c - p)`` with
``omega = sqrt(g / h)``. Its divergent component ``xi = c + cd / omega`` obeys
``xid = omega (xi - p)``, and c follows xi by itself (Englsberger et al. 2015, eq. 8-16). While p
runs straight from p_0 with velocity u for a time T, ``xi - p - u / omega`` grows by
``exp(omega T)``; so the xi from which a walk ends at rest follows backwards from its last step.
What xi is off is taken away by the centre of pressure,

    p = p_ref + (1 + k / omega) (xi - xi_ref) + k_i int (xi - xi_ref) dt,

as in the stabilizer of Caron et al. (2019, eq. 8), and as far as the sole is too short for it by
the place of the next step (Khadiv et al. 2020).
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Shift(NamedTuple):
    """
    A straight way of the centre of pressure.

    Attributes
    ----------
    start, end : (2,) array [m]
        Its ends, in world axes.
    duration : float [s]
        Time from one to the other.

    """

    start: np.ndarray
    end: np.ndarray
    duration: float


def divergent_start(shifts: Sequence[Shift], omega: float) -> np.ndarray:
    """Return the divergent component (2,) [m] from which the last shift ends at rest."""
    found = np.asarray(shifts[-1].end, dtype=float)
    for start, end, duration in reversed(shifts):
        if duration <= 0.0:
            continue
        lag = (end - start) / (duration * omega)
        found = start + lag + math.exp(-omega * duration) * (found - end - lag)
    return found


def step_share(omega: float, left: float, shift: float) -> float:
    """
    Return the present divergent component's change as a part of a step's displacement.

    ``exp(-omega t) (1 - exp(-omega T)) / (omega T)``: the foot lands after t (``left``),
    the weight shifts in T (``shift``), later steps move along.
    """
    spread = -math.expm1(-omega * shift) / (omega * shift) if shift > 0.0 else 1.0
    return math.exp(-omega * left) * spread


def step_correction(error: np.ndarray, omega: float, left: float, shift: float,
                    reach: np.ndarray) -> np.ndarray:
    """
    Return how far (2,) [m] a step is to land from its planned place.

    The CoP, at most ``reach`` from its plan, removes ``d (1 - exp(-omega t))`` of the
    divergent component's error until landing; the step the rest.
    """
    rest = np.maximum(np.abs(error) + reach * math.expm1(-omega * left), 0.0)
    return np.sign(error) * rest / step_share(omega, left, shift)
