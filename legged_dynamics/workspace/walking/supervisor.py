# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Supervisor: what the legs do, one table of transitions, and the signs that they follow."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from legged_dynamics.estimation.leg_odometry import SETTLED, BodyState
from legged_dynamics.model.feet import Foot
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.support import hull_edges
from legged_dynamics.workspace.walking.schedule import CONTACT
from legged_dynamics.workspace.walking.stance import Pendulum, Stance, heading_of, turned


@dataclass(frozen=True)
class SupervisorSettings:
    """
    When a push is stepped for and when a body is at rest; lengths in heights of the body.

    Half of `kept` steps too late for pushes of 60 % of the weight, twice steps for those that a
    stand holds.
    """

    fast: float = 0.12      # m/s of a body that does not stand; half of it is at rest
    # Distance of the capture point from the edge of the support, on soles from its target, and
    # beyond a sole to the side: a step there first throws the body on.
    kept: float = 0.05
    foresight: float = 0.8  # time constants of the pendulum for which its acceleration lasts

    @property
    def slow(self) -> float:
        """Commanded velocity at which a robot stops stepping [m/s or rad/s]."""
        return self.fast / 3.0


SUPERVISOR = SupervisorSettings()


class Walking(Enum):
    """What the legs do."""

    STAND = 'stands'
    WALK = 'walks'
    HALT = 'stops'
    RECOVER = 'steps to recover'
    SIT = 'sits'


TRANSITIONS = (
    (Walking.STAND, 'asked to sit', Walking.SIT),
    (Walking.STAND, 'asked to walk', Walking.WALK),
    (Walking.STAND, 'pushed', Walking.RECOVER),
    (Walking.WALK, 'asked to stop', Walking.HALT),
    (Walking.HALT, 'asked to walk', Walking.WALK),
    (Walking.HALT, 'stands still', Walking.STAND),
    (Walking.RECOVER, 'asked to walk', Walking.WALK),
    (Walking.RECOVER, 'at rest', Walking.HALT),
    (Walking.SIT, 'asked to rise', Walking.STAND),
)


class Supervisor:
    """State of the walk."""

    def __init__(self) -> None:
        self.state = Walking.STAND

    def step(self, signs: Mapping[str, Callable[[], bool]]) -> Walking | None:
        """Take the first transition whose sign is seen; return the state before, or None."""
        for start, sign, end in TRANSITIONS:
            if start is self.state and signs[sign]():
                self.state = end
                return start
        return None


class PushWatch:
    """Notices that a standing body is pushed, and that a pushed one is at rest again."""

    def __init__(self, stance: Stance, feet: Sequence[Foot], soles: bool):
        self._stance, self._soles = stance, soles
        self._outlines = [(foot.corners - foot.center)[:, :2] for foot in feet]
        self.reset()

    def reset(self) -> None:
        """Forget the speed of before."""
        self._speed: np.ndarray | None = None
        self._gain, self._calm, self._light = np.zeros(2), 0.0, 0.0

    def pushed(self, state: BodyState, body: Pendulum, led: BodyTarget | None, dt: float) -> bool:
        """Return whether the body will not stay where it stands."""
        s, height = SUPERVISOR, self._stance.height
        if self._soles:
            place, still = state.foot_position[:, :2].mean(axis=0), np.zeros(2)
            if led is not None:
                place = (led.position + led.rotation @ self._stance.com)[:2]
                still = (led.rotation @ led.twist[:3])[:2]
            fast = body.speed[:2] - still
            off = body.place[:2] - place + fast / body.omega
            return bool(np.hypot(*off) > s.kept * height and np.hypot(*fast) > s.fast)
        leaves = self.leaves(state, self.coming(body, dt))
        return leaves and math.hypot(*body.speed[:2].tolist()) > s.fast

    def leaves(self, state: BodyState, coming: np.ndarray) -> bool:
        """Return whether a divergent component (2,) [m] is not well within the feet's support."""
        edges = hull_edges(self._corners(state))
        outside = (edges[:, :2] @ coming - edges[:, 2]).max(initial=-math.inf)
        return bool(outside > -SUPERVISOR.kept * self._stance.height)

    def coming(self, body: Pendulum, dt: float) -> np.ndarray:
        """Return the divergent component (2,) [m], and what a step's time adds to it."""
        speed = body.speed[:2]
        if self._speed is not None and dt:
            self._gain += min(1.0, dt / SETTLED) * ((speed - self._speed) / dt - self._gain)
        self._speed = speed
        return body.divergent + self._gain * (SUPERVISOR.foresight / body.omega ** 2)

    def rests(self, state: BodyState, cycle: float, dt: float) -> bool:
        """Return whether the body has been at rest for half a cycle."""
        moves = math.hypot(*state.twist[:2].tolist())
        self._calm = self._calm + dt if moves < 0.5 * SUPERVISOR.fast else 0.0
        return self._calm > 0.5 * cycle

    def unloaded(self, state: BodyState, body: Pendulum, force: np.ndarray, weight: float,
                 dt: float, least: float) -> int | None:
        """Return the sole that a push has lifted off, or None."""
        light = int(np.argmin(force))
        bearing = state.foot_position[1 - light]
        over = (body.divergent - bearing[:2]) @ (bearing - state.foot_position[light])[:2] > 0.0
        self._light = self._light + dt if (over and force[light] < CONTACT.firm * weight) else 0.0
        return light if self._light > least else None

    def _corners(self, state: BodyState) -> np.ndarray:
        """Return where the feet touch the ground, (n, 2) [m]."""
        turn = turned(heading_of(state.rotation))[:2, :2]
        return np.vstack([place[:2] + outline @ turn.T
                          for place, outline in zip(state.foot_position, self._outlines)])


def must_step(ends: np.ndarray, middle: np.ndarray, divergent: np.ndarray, yaw: float,
              beside: float) -> bool:
    """
    Return whether a body on soles, of which the polygon is given, can not be held there.

    ``beside`` [m]: beyond a sole to the side, where a step first throws the body on.
    """
    turn = turned(yaw)[:2, :2]
    place, ends = (divergent - middle) @ turn, (ends - middle) @ turn
    (back, right), (front, left) = ends.min(axis=0), ends.max(axis=0)
    return bool(not back <= place[0] <= front
                or not right - beside <= place[1] <= left + beside)
