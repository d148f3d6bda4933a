# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""An oracle: the largest multiple of a load as a linear program, with polygons in the discs."""
from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog

from legged_dynamics.stickybot.allocation.force_allocation import (
    SET,
    Allocation,
    AllocationStatus,
    ForceSets,
    answer,
    certificate,
    no_answer,
)
from legged_dynamics.stickybot.model.dynamics import Load


def largest_multiple_of_polygons(load: Load, direction: np.ndarray, sets: ForceSets, sides: int
                                 ) -> Allocation:
    """
    Return the largest alpha of ``w + alpha direction`` with that many sides in each disc.

    A lower bound of the cone program's answer, by 10 % at 8 sides and 0.2 % at 64.
    """
    scale = float(np.abs(direction).max())
    grasp = np.column_stack([load.grasp, -direction / scale])
    n = sets.n_feet
    # Corners on the axes: sides half-way between them.
    turns = math.pi * (2.0 * np.arange(sides) + 1.0) / sides
    outward = np.column_stack([np.cos(turns), np.sin(turns)])
    rows, bounds = [], []
    for i in range(n):
        normals, limits = sets.planes(i)
        radius = sets.table[i, SET.radius] * math.cos(math.pi / sides)
        for normal, bound in [*zip(outward, np.full(sides, radius)), *zip(normals, limits)]:
            row = np.zeros(2 * n + 1)
            row[2 * i:2 * i + 2] = normal
            rows.append(row)
            bounds.append(bound)
    cost = np.zeros(2 * n + 1)
    cost[-1] = -1.0
    found = linprog(cost, np.array(rows), np.array(bounds), grasp, load.wrench,
                    bounds=(None, None), method='highs')
    if found.status == 2:
        proof = certificate(grasp, load.wrench, sets)
        return no_answer(n, AllocationStatus.INFEASIBLE if proof else
                         AllocationStatus.FAILED, proof)
    if found.status != 0:
        return no_answer(n, AllocationStatus.FAILED)
    value = float(found.x[-1]) / scale
    direction = -grasp[:, -1] * scale
    return answer(load.grasp, load.wrench + value * direction, found.x[:2 * n], value, 0.0)
