# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How far feet slide on the ground, told by each other, without knowing where the robot is.

The material point of a foot that touches the ground does not move while it rests or rolls.
From one sample to the next it moves in level axes that travel with the base by minus the base's
own step; what a foot does beside the others on the ground is slip. Two feet share it: which of
them slid cannot be told.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.analysis.series import EstimateSeries


class SlipTally:
    """
    Gathers slip over stances, of a recording that comes in pieces.

    Parameters
    ----------
    n_feet : int

    Attributes
    ----------
    stances : (nf,) int array
        Stances that are over, with another foot on the ground for some of their time.
    total, largest : (nf,) array [m]
        Distance from first to last place of a stance: sum over stances, and the largest.

    """

    def __init__(self, n_feet: int):
        self.stances = np.zeros(n_feet, int)
        self.total, self.largest = np.zeros(n_feet), np.zeros(n_feet)
        self._way = np.zeros((n_feet, 3))
        self._seen = np.zeros(n_feet, bool)

    def add(self, series: EstimateSeries, first: int, last: int) -> None:
        """Add the steps from each of the samples first to last - 1 to the one after it."""
        last = min(last, len(series.stamp_ns) - 1)
        if last <= first:
            return
        step, down = foot_steps(series, first, last)
        known = down.sum(axis=1) > 1
        weight = np.where(down, 1.0, 0.0)
        base = np.einsum('nf,nfi->ni', weight, step) / np.maximum(weight.sum(axis=1), 1.0)[:, None]
        slid = np.where((down & known[:, None])[:, :, None], step - base[:, None], 0.0)
        way = np.cumsum(slid, axis=0)
        for i in range(down.shape[1]):
            begin = 0       # of the piece of the stance that is not yet counted
            for end in [*np.flatnonzero(~down[:, i]), len(down)]:
                if end > begin:
                    before = way[begin - 1, i] if begin else 0.0
                    self._way[i] += way[end - 1, i] - before
                    self._seen[i] |= bool(known[begin:end].any())
                if end < len(down):
                    self._close(i)
                begin = end + 1

    def finish(self) -> None:
        """End the stances that are still on."""
        for i in range(len(self.total)):
            self._close(i)

    def _close(self, i: int) -> None:
        if self._seen[i]:
            distance = float(np.linalg.norm(self._way[i]))
            self.stances[i] += 1
            self.total[i] += distance
            self.largest[i] = max(self.largest[i], distance)
        self._way[i], self._seen[i] = 0.0, False


def foot_steps(series: EstimateSeries, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """
    Return how the touching points move against the base, and which feet stay down.

    Returns
    -------
    step : (n, nf, 3) array [m]
        Of the material point that touches the ground, in level axes, the base taken as fixed;
        its part across the ground's normal only.
    down : (n, nf) bool array
        Feet that are down before and after.

    """
    now, after = slice(first, last), slice(first + 1, last + 1)
    R_WB, R_WF = series.base_rotation.values, series.foot_to_world[first:last + 1]
    p_W = np.einsum('nij,nfj->nfi', R_WB[first:last + 1], series.foot_position.values[
        first:last + 1])
    c_W = np.einsum('nij,nfj->nfi', R_WB[now], series.contact_point.values[now])
    in_foot = np.einsum('nfji,nfj->nfi', R_WF[:-1], c_W - p_W[:-1])
    step = p_W[1:] + np.einsum('nfij,nfj->nfi', R_WF[1:], in_foot) - c_W
    step[:, :, 2] = 0.0         # level axes: feet leave uneven ground by their heights
    contact = series.contact.values
    return step, contact[now] & contact[after]
