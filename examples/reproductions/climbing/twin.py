# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The MuJoCo climbing robot in the place of the planar simulation: the same commands, a climb."""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.exceptions import SimulationError
from legged_dynamics.simulation.climbing_plant import ClimbingPlant
from legged_dynamics.simulation.climbing_robot import ClimbingRobot
from legged_dynamics.stickybot.model.robot import (
    FootEvent,
    RestPosition,
    StickybotCommand,
    StickybotMeasurement,
    StickybotState,
)
from legged_dynamics.stickybot.settings import StickybotSettings
from legged_dynamics.stickybot.simulation import EnergyBalance

UNKNOWN = EnergyBalance(*(math.nan,) * 5, (math.nan, math.nan), math.nan)


class ClimbingTwin:
    """
    A robot on MuJoCo's wall, driven by controller commands, for `stickybot.climb`.

    Starts on all feet with relaxed springs, knows its state exactly, and keeps no energy
    balance, because MuJoCo's soft constraints exchange energy.
    """

    def __init__(self, settings: StickybotSettings,
                 robot: type[ClimbingRobot] = ClimbingRobot):
        rate = settings.values['control.rate']
        self._robot = robot(ClimbingPlant.from_parameters(
            {**settings.values, 'simulation.rate': rate}), noise=False)
        plant = self._robot.plant
        self.model = plant.climber
        self._limbs, self._pads = plant.limbs, plant.pads
        n = self.model.n_limbs
        self._held = np.zeros(len(self._limbs.names))
        self._rest = RestPosition.nominal(self.model)
        self._pad_angles = np.full(n, math.nan)
        self._turn_pads(np.ones(n, bool))
        self.n_steps = 0
        self.reset_peak()

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self._robot.time

    @property
    def stamp_ns(self) -> int:
        """Stamp of the present sample [ns]."""
        return self._robot.stamp_ns

    @property
    def state(self) -> StickybotState:
        """The present state."""
        return self._robot.state

    @property
    def pose(self) -> np.ndarray:
        """Pose of the body, (3,) [m, m, rad]."""
        return self._robot.state.pose

    @property
    def attached(self) -> np.ndarray:
        """Feet on the wall, (N,) array of bool."""
        return self._robot.feet.attached.copy()

    @property
    def reaction(self) -> np.ndarray:
        """Force of the wall on each foot now, (N, 2) [N], wall axes."""
        return self._robot.feet.reactions()[:, :2]

    @property
    def rest(self) -> RestPosition:
        """Where hips and inner joints are held now."""
        return self._rest

    @property
    def normal_loads(self) -> np.ndarray:
        """The wall's push on each foot, (N,) [N], as statics and least squares tell it."""
        return self._robot.feet.reactions()[:, 2]

    @property
    def pad_angles(self) -> np.ndarray:
        """Directions of the pads in wall axes, (N,) [rad]; NaN for a pad without one."""
        return self._pad_angles.copy()

    @property
    def peak(self) -> np.ndarray:
        """Largest reaction of each foot at any sample since :meth:`reset_peak`, (N,) [N]."""
        return self._peak.copy()

    def reset_peak(self) -> None:
        """Forget the largest reactions."""
        self._peak = np.zeros(self.model.n_limbs)

    @property
    def energy(self) -> EnergyBalance:
        """Energy and momentum, not known: NaN."""
        return UNKNOWN

    def measure(self) -> StickybotMeasurement:
        """Return the sensor readings without noise."""
        sample, state = self._robot.exact(), self._robot.state
        return self._limbs.measurement(sample.stamp_ns, sample.position, sample.velocity,
                                       float(state.pose[2]), float(state.velocity[2]),
                                       sample.effort)

    def step(self, command: StickybotCommand, duration: float) -> list[FootEvent]:
        """
        Follow a command for one period; return the feet that detached by themselves.

        Rest positions are reached at the end; motors hold the effort of the middle. Raises
        SimulationError for another duration or divergence.
        """
        robot = self._robot
        if abs(duration - robot.period_ns * 1e-9) > 1e-9:
            raise SimulationError(f'expected steps of {robot.period_ns * 1e-9:g} s, '
                                  f'got {duration!r}')
        goal = self._limbs.positions(command.rest, command.joint_rest)
        robot.command_effort(self._limbs.efforts(0.5 * (self._held + goal),
                                                 (goal - self._held) / duration))
        robot.command_grips(command.attach)
        self._held = goal
        self._rest = RestPosition(command.rest, joint=command.joint_rest)
        before = self.attached
        robot.step()
        self._turn_pads(self.attached & ~before)
        self.n_steps += round(duration / robot.plant.timestep)
        reaction = self.reaction
        np.maximum(self._peak, np.hypot(reaction[:, 0], reaction[:, 1]), out=self._peak)
        return robot.take_events()

    def _turn_pads(self, fresh: np.ndarray) -> None:
        if self._pads is None:
            return
        for i in np.flatnonzero(fresh):
            direction = self._pads[i].direction
            if direction is not None:
                self._pad_angles[i] = self.pose[2] + direction
