# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ContactSolution: ground reactions and joint efforts of one instant, and how sure they are."""
from __future__ import annotations

from enum import Enum

import numpy as np

from legged_dynamics.contact.memory import KKT, OUTCOME, RANK, RESIDUAL, UNKNOWNS


class Support(Enum):
    """How far the feet on the ground determine their wrenches."""

    AIRBORNE = 'no foot is on the ground: no reaction, the residual is what the motion lacks'
    UNIQUE = 'the feet can carry every motion in exactly one way'
    REDUNDANT = 'the feet can carry every motion in many ways, of which one was chosen'
    DEFICIENT = 'the feet cannot carry every motion: least squares, see the root residual'
    DEFICIENT_REDUNDANT = ('the feet cannot carry every motion (least squares, see the root '
                           'residual), and squeeze between them was chosen')
    BOLTED = 'the base is bolted down: what its mount carries is the residual'


class ContactSolution:
    """
    Ground reactions and joint efforts of one instant: read-only views of one array.

    Attributes
    ----------
    wrench : (nf, 6) array [N, N m]
        Ground on robot, ``[f; m]`` in each foot's axes about its frame's origin; zero for a foot
        off the ground.
    joint_effort : (nv,) array [N m or N]
        What the motors deliver, in the model's joint order.
    root_residual : (6,) array [N, N m]
        Wrench on the base that no foot explains, in base axes about its origin; on a fixed base,
        what its mount carries.
    rank : int
        Of the map from contact coordinates to the base's wrench.
    nullity : int
        Number of directions of `wrench` that the motion says nothing about.
    support : Support
    feasible : bool
        False when friction, load limits or the edges of soles forbid the motion: the wrenches are
        then the admissible ones that leave the least residual.
    kkt_residual : float
        Largest violation of the optimality conditions, relative to their terms; zero where the
        answer is a closed form.

    """

    __slots__ = ('_data', '_shape')

    def __init__(self, data: np.ndarray, shape: tuple[int, bool]):
        self._data = data
        self._shape = shape     # number of feet, whether the base floats

    @property
    def wrench(self) -> np.ndarray:
        """Ground reactions, (nf, 6) [N, N m]."""
        return self._data[:6 * self._shape[0]].reshape(-1, 6)

    @property
    def joint_effort(self) -> np.ndarray:
        """Efforts of the motors, (nv,) [N m or N]."""
        return self._data[6 * self._shape[0]:RESIDUAL]

    @property
    def root_residual(self) -> np.ndarray:
        """Wrench on the base that is left over, (6,) [N, N m]."""
        return self._data[RESIDUAL:RESIDUAL + 6]

    @property
    def rank(self) -> int:
        """Rank of the map from contact coordinates to the base's wrench."""
        return int(self._data[RANK])

    @property
    def nullity(self) -> int:
        """Return how many directions of the wrenches the motion says nothing about."""
        return int(self._data[UNKNOWNS]) - self.rank

    @property
    def feasible(self) -> bool:
        """Whether the ground can bear the motion as far as the feet can."""
        return self._data[OUTCOME] == 0.0

    @property
    def kkt_residual(self) -> float:
        """Relative violation of the optimality conditions."""
        return float(self._data[KKT])

    @property
    def support(self) -> Support:
        """How far the feet on the ground determine their wrenches."""
        if not self._shape[1]:
            return Support.BOLTED
        if self._data[UNKNOWNS] == 0.0:
            return Support.AIRBORNE
        if self.rank == 6:
            return Support.REDUNDANT if self.nullity else Support.UNIQUE
        return Support.DEFICIENT_REDUNDANT if self.nullity else Support.DEFICIENT

    def __repr__(self) -> str:
        return (f'ContactSolution({self.support.name}, normal forces '
                f'{self.wrench[:, 2].round(1).tolist()} N in foot axes, '
                f'residual {np.abs(self.root_residual).max(initial=0.0):.2g})')
