# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What an allocation of forces is: an optimum with its gap, or a proof that there is none."""
from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np


class AllocationStatus(Enum):
    """How an allocation ended."""

    OPTIMAL = 'solved to the duality gap that is given'
    INFEASIBLE = 'no forces within the limits carry the load; see the certificate'
    FAILED = 'the solver did not converge; nothing is claimed'


@dataclass(frozen=True, eq=False)
class Infeasibility:
    """
    Proof that no forces within the limits make a load.

    Of all forces that the feet may have, none makes more of the combination
    ``direction . (force x, force y, moment)`` than `available`; the load asks for `demanded`.

    Attributes
    ----------
    direction : (3,) array [1, 1, 1/m]
    demanded, available : float [N]
    message : str

    """

    direction: np.ndarray
    demanded: float
    available: float
    message: str


@dataclass(frozen=True, eq=False)
class Allocation:
    """
    Forces of the wall on the feet.

    Attributes
    ----------
    status : AllocationStatus
    forces : (k, 2) array [N]
        Of the load's feet; NaN unless optimal.
    value : float
        What was minimised or maximised: the largest force over its weight, or the multiple.
    gap : float
        Duality gap of the solution, relative; 0 for closed forms.
    balance_error : float
        Miss of the balance, relative to the load.
    certificate : Infeasibility or None

    """

    status: AllocationStatus
    forces: np.ndarray
    value: float
    gap: float
    balance_error: float
    certificate: Infeasibility | None = None


def size(wrench: np.ndarray) -> float:
    """Return the largest entry of a load, which its errors are relative to."""
    return max(float(np.abs(wrench).max()), 1e-12)


def answer(grasp: np.ndarray, wrench: np.ndarray, forces: np.ndarray, value: float, gap: float
           ) -> Allocation:
    """Return an optimal allocation, its balance checked again."""
    error = float(np.abs(grasp @ forces - wrench).max()) / size(wrench)
    return Allocation(AllocationStatus.OPTIMAL, forces.reshape(-1, 2).copy(), float(value), gap,
                      error)


def no_answer(n: int, status: AllocationStatus, certificate: Infeasibility | None = None
              ) -> Allocation:
    """Return an allocation without forces."""
    return Allocation(status, np.full((n, 2), math.nan), math.nan, math.nan, math.nan,
                      certificate)
