# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The crouch on several plants, beside what the paper reports of its own simulator."""
from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from legged_dynamics.analysis.crouch.closed_loop import (
    Controller,
    Loop,
    PlanarPlant,
    Trace,
    close_loop,
)
from legged_dynamics.analysis.crouch.spatial import SpatialController
from legged_dynamics.simulation.planar_biped import PlanarBiped
from legged_dynamics.workspace.planar import (
    BIG_BASE,
    CROUCH,
    Biped,
    PinnedRobot,
    PlanarController,
    PlanarGains,
    start_state,
)

# What the paper's text gives for 9.99 s: x, z [m], angle [rad].
PAPER = np.array([0.0999935, 0.95016, np.radians(0.00169)])
LANDING = 0.05          # s from 1 cm above the ground until both soles bear on it
LANDED = 1.0            # s after which a dropped robot has come to rest on its soles


@dataclass(frozen=True)
class Run:
    """
    One way to crouch.

    Attributes
    ----------
    name : str
    pinned : bool
        Whether the feet are fixed to the ground, or stand on it by MuJoCo's contact.
    big_base : float or None
        Size of the feet in the controller's dynamics; None for exact dynamics.
    spatial : bool
        Whether the controller is the one in SE(3), and not the planar one.
    biped : Biped
        What stands there; the controller always has the biped as modelled.
    plant : mapping
        Options of :class:`PlanarBiped`.
    loop : Loop
    integral : float
        Integral gain on all three coordinates [1/s^3].

    """

    name: str
    pinned: bool = False
    big_base: float | None = None
    spatial: bool = False
    biped: Biped = field(default_factory=Biped)
    plant: Mapping[str, Any] = field(default_factory=dict)
    loop: Loop = field(default_factory=Loop)
    integral: float = 0.0

    def make_plant(self) -> PlanarPlant:
        """Build the plant, at the start of the crouch."""
        if self.pinned:
            return PinnedRobot(self.biped.planar(), start_state())
        return PlanarBiped(self.biped, **self.plant)

    def make_controller(self) -> Controller:
        """Build the controller, which believes in the biped as modelled."""
        gains = PlanarGains(integral=np.full(3, self.integral))
        if self.spatial:
            return SpatialController(gains)
        return PlanarController(Biped().planar(), gains, big_base=self.big_base)

    @property
    def slip_start(self) -> float:
        """Time from which a sole that moves is said to slip [s]."""
        return LANDED if self.plant.get('drop_height') else 0.0


# The figures are drawn of the first two.
RUNS = (
    Run('exact dynamics, feet pinned', pinned=True),
    Run('exact dynamics, MuJoCo, friction 0.5'),
    Run('big base 1e6, feet pinned', pinned=True, big_base=BIG_BASE),
    Run('big base 1e6, MuJoCo, friction 0.5', big_base=BIG_BASE),
    Run('the controller in SE(3), MuJoCo, friction 0.5', spatial=True),
    Run("exact dynamics, MuJoCo, the paper's friction 3", plant={'floor_friction': 3.0}),
    Run('dropped from 1 cm, controlled in the air', plant={'drop_height': 0.01, 'standing': 0.0}),
    Run('dropped from 1 cm, controlled from the landing on',
        plant={'drop_height': 0.01, 'standing': LANDING}),
)


@dataclass(frozen=True)
class Crouch:
    """
    A run and what came of it.

    Attributes
    ----------
    run : Run
    trace : Trace
    computing : float
        Time that controller and plant took [s].

    """

    run: Run
    trace: Trace
    computing: float

    @property
    def error(self) -> np.ndarray:
        """Return the final error: x, z [m], angle [rad]."""
        return self.trace.error

    @property
    def slip(self) -> float:
        """Return how far a sole moved at most [m]; NaN where there is no ground."""
        return self.trace.slip(self.run.slip_start) if self.trace.ground_known else float('nan')


def crouch(run: Run) -> Crouch:
    """Make one run."""
    plant, controller = run.make_plant(), run.make_controller()
    controller.update(plant.state, CROUCH, 1.0)     # compiles, and is forgotten
    if run.pinned:
        PinnedRobot(run.biped.planar(), start_state()).advance(np.zeros(6), 1e-3)
    begin = time.perf_counter()
    trace = close_loop(plant, controller, run.loop, CROUCH)
    return Crouch(run, trace, time.perf_counter() - begin)
