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
    """
    Return the divergent component from which the last shift ends at rest.

    Parameters
    ----------
    shifts : sequence of Shift
        Way of the centre of pressure from now on; it stays at the end of the last.
    omega : float [1/s]
        Natural frequency of the pendulum.

    Returns
    -------
    (2,) array [m]

    """
    found = np.asarray(shifts[-1].end, dtype=float)
    for start, end, duration in reversed(shifts):
        if duration <= 0.0:
            continue
        lag = (end - start) / (duration * omega)
        found = start + lag + math.exp(-omega * duration) * (found - end - lag)
    return found


def step_share(omega: float, left: float, shift: float) -> float:
    """
    Return by what part of a step's displacement the divergent component of now is to change.

    It is ``exp(-omega t) (1 - exp(-omega T)) / (omega T)``: the foot lands after t, and the weight
    shifts to it in T; later steps move along.

    Parameters
    ----------
    omega : float [1/s]
        Natural frequency of the pendulum.
    left : float [s]
        Time until the foot lands.
    shift : float [s]
        Time in which the weight shifts to the foot then.

    Returns
    -------
    float

    """
    spread = -math.expm1(-omega * shift) / (omega * shift) if shift > 0.0 else 1.0
    return math.exp(-omega * left) * spread


def step_correction(error: np.ndarray, omega: float, left: float, shift: float,
                    reach: np.ndarray) -> np.ndarray:
    """
    Return how far a step is to land from its planned place.

    The centre of pressure takes away what it can until the foot lands: held d from its plan it
    takes ``d (1 - exp(-omega t))`` from an error of now. The step takes the rest.

    Parameters
    ----------
    error : (2,) array [m]
        Error of the divergent component.
    omega, left, shift : float
        As for `step_share`.
    reach : (2,) array [m]
        How far the centre of pressure can be from its plan, either way.

    Returns
    -------
    (2,) array [m]

    """
    rest = np.maximum(np.abs(error) + reach * math.expm1(-omega * left), 0.0)
    return np.sign(error) * rest / step_share(omega, left, shift)
