# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Placement: where the robot is drawn, by the feet in contact where nothing else says it."""
from __future__ import annotations

import numpy as np


class Placement:
    """
    Follows the base over the ground from picture to picture.

    Feet that stood in the last picture and stand in this one have not moved. It is for the eye:
    `LegOdometry` is for whom centimetres matter.
    """

    def __init__(self) -> None:
        self._last: tuple[int, np.ndarray, np.ndarray] | None = None
        self._base = np.zeros(3)

    def update(self, stamp_ns: int, rotation: np.ndarray, points: np.ndarray,
               contact: np.ndarray) -> np.ndarray:
        """
        Return p_WB, (3,) [m]; the ground is at zero where the robot is first seen.

        Parameters
        ----------
        stamp_ns : int [ns]
            Earlier than the last one: the robot is seen for the first time again.
        rotation : (3, 3) array
            R_WB.
        points : (nf, 3) array [m]
            Where the feet touch, or would touch, in the base.
        contact : (nf,) bool array
            Feet that stand.

        """
        turned = points @ rotation.T
        if self._last is None or stamp_ns < self._last[0]:
            low = turned[contact] if contact.any() else turned
            self._base = np.array([0.0, 0.0, -low[:, 2].min() if len(low) else 0.0])
        else:
            _, before, stood = self._last
            both = stood & contact
            if both.any():
                self._base = self._base + (before[both] - turned[both]).mean(axis=0)
        self._last = stamp_ns, turned, contact
        return self._base
