# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The largest steady speed along the wall that the feet allow."""
from __future__ import annotations

import numpy as np

from legged_dynamics.stickybot.allocation.allocation import Allocation, AllocationStatus
from legged_dynamics.stickybot.allocation.force_allocation import least_maximum
from legged_dynamics.stickybot.allocation.force_sets import ForceSets
from legged_dynamics.stickybot.model.load import load_of
from legged_dynamics.stickybot.model.recovery import following_rates
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import StickybotState


def largest_speed(model: StickybotModel, state: StickybotState, direction: np.ndarray,
                  sets: ForceSets, *, ceiling: float = 100.0) -> Allocation:
    """
    Return the largest steady speed in a direction that the feet allow.

    The body moves at ``speed * direction``, unaccelerated, and each limb on the wall turns so that
    its end follows its hip as well as it can; what a speed costs is then the limbs' centripetal
    force, which grows with its square. The value is the speed, `ceiling` when that is no limit.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Its pose counts, its velocities do not.
    direction : (3,) array
        Of the body's velocity, for a speed of 1.
    sets : ForceSets
        Of the feet on the wall.
    ceiling : float
        Largest speed that is asked for.

    """
    def allocation(speed: float) -> Allocation:
        moving = following_rates(model, state, speed * np.asarray(direction, float))
        return least_maximum(load_of(model, moving, np.zeros(3)), sets)

    slow, fast = 0.0, ceiling
    best = allocation(slow)
    if best.status is not AllocationStatus.OPTIMAL:
        return best
    top = allocation(fast)
    if top.status is AllocationStatus.OPTIMAL:
        return Allocation(top.status, top.forces, fast, top.gap, top.balance_error)
    while fast - slow > 1e-9 * fast:
        middle = 0.5 * (slow + fast)
        found = allocation(middle)
        if found.status is AllocationStatus.OPTIMAL:
            slow, best = middle, found
        else:
            fast = middle
    return Allocation(best.status, best.forces, slow, best.gap, best.balance_error)
