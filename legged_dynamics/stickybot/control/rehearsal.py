# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The plain gait, rehearsed in simulation: how fast it climbs, and how hard it pulls."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.stickybot.control.gait import Gait, GaitClock
from legged_dynamics.stickybot.model.exchange import StickybotCommand
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import RestPosition
from legged_dynamics.stickybot.simulation.climbing import ClimbingSimulation


@dataclass(frozen=True)
class Rehearsal:
    """
    What the plain gait does once it is periodic.

    Attributes
    ----------
    speed : float [m/s]
        Of the body along its own y axis at the start.
    peak : float [N]
        Largest reaction of any foot over the last period.

    """

    speed: float
    peak: float


def rehearse(model: StickybotModel, gait: Gait, *, periods: int = 4, rate: float = 250.0
             ) -> Rehearsal:
    """
    Simulate the plain gait and return what its last period does.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    gait : Gait
        Which feet hold when.
    periods : int
        How many periods to simulate, at least 2.
    rate : float [Hz]
        Of the commands.

    """
    clock = GaitClock(model, gait)
    steps = max(round(gait.period * rate), 1)
    period_ns = gait.period_ns // steps

    def rest_at(time_ns: int) -> np.ndarray:
        rest = model.rest
        rest[:, 2] += clock.at(time_ns).angle
        return rest

    simulation = ClimbingSimulation(model, RestPosition(rest_at(0)))
    start = 0.0
    for step in range(periods * steps):
        if step == (periods - 1) * steps:
            simulation.reset_peak()
            start = float(simulation.state.pose[1])
        simulation.step(StickybotCommand(step * period_ns, rest_at((step + 1) * period_ns),
                                         clock.at(step * period_ns).stance, model.bends),
                        period_ns * 1e-9)
    rise = float(simulation.state.pose[1]) - start
    return Rehearsal(rise / gait.period, float(simulation.peak.max()))
