# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Controller and plant in closed loop, with sampling, zero-order hold, delay and pushes."""
from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.workspace.planar import (
    CROUCH,
    PlanarState,
    PlanarTarget,
)

DURATION = 9.99     # s, when the paper reads the final values
RATE = 100.0        # Hz, the paper's controller


class PlanarPlant(Protocol):
    """The methods that the loop requires of a plant, as `PinnedRobot` and `PlanarBiped` have."""

    @property
    def state(self) -> PlanarState:
        """State that the controller gets."""

    @property
    def true_state(self) -> PlanarState:
        """True state."""

    @property
    def ground(self) -> np.ndarray:
        """Feet on the ground, (nf, 5) as in `Trace.ground`; NaN where the plant has no ground."""

    @property
    def fallen(self) -> bool:
        """Whether the robot has fallen, which ends the run."""

    def advance(self, torque: np.ndarray, duration: float, push: np.ndarray | None = None
                ) -> None:
        """
        Advance the plant with torques and push constant.

        Parameters
        ----------
        torque : (6,) array [N m]
            Of the joints.
        duration : float
            [s].
        push : (3,) array, optional
            Force and moment on the body, inertial axes [N, N m].

        """


class Command(Protocol):
    """Result of a tick of a controller."""

    @property
    def torque(self) -> np.ndarray:
        """Joint torques, (6,) [N m]."""


class Controller(Protocol):
    """The methods that the loop requires of a controller, such as `PlanarController`."""

    def reset(self) -> None:
        """Start anew."""

    def update(self, state: PlanarState, target: PlanarTarget, period: float) -> Command:
        """
        Return the torques until the next tick.

        Parameters
        ----------
        state : PlanarState
            What the controller knows.
        target : PlanarTarget
            What is commanded of the body.
        period : float
            Time to the next tick [s].

        Returns
        -------
        Command
            The torques.

        """


@dataclass(frozen=True)
class Loop:
    """
    How controller and plant are joined.

    Attributes
    ----------
    rate : float
        Of the controller [Hz].
    duration : float
        [s].
    delay : float
        From the sampling of the state to the torque [s].
    push : (3,) tuple of float
        Force and moment on the body, inertial axes [N, N m].
    push_start, push_length : float
        When and how long [s].

    """

    rate: float = RATE
    duration: float = DURATION
    delay: float = 0.0
    push: tuple[float, float, float] = (0.0, 0.0, 0.0)
    push_start: float = 2.0
    push_length: float = 0.2

    def __post_init__(self) -> None:
        if not (self.rate > 0.0 and self.duration > 0.0 and self.delay >= 0.0):
            raise ConfigurationError(f'expected a rate and a duration above zero and a delay of '
                                     f'at least zero, got {self}')


@dataclass(frozen=True, eq=False)
class Trace:
    """
    Course of a run: one row a tick of the controller, and one for the end.

    Attributes
    ----------
    time : (n,) array [s]
    pose, twist : (n, 3) array
        True pose of the body [m, rad], and its velocity in its axes [m/s, rad/s].
    position : (n, 6) array
        True joint angles [rad].
    torque : (n, 6) array
        As commanded [N m].
    ground : (n, nf, 5) array
        Each sole's place forward and to the left [m], the ground's force along and normal [N],
        centre of pressure ahead of the ankle [m]; NaN on a plant without ground.
    target : PlanarTarget
    error : (3,) array
        True pose less target at the end, along the inertial axes [m, rad].
    fallen : bool

    """

    time: np.ndarray
    pose: np.ndarray
    twist: np.ndarray
    position: np.ndarray
    torque: np.ndarray
    ground: np.ndarray
    target: PlanarTarget
    fallen: bool
    error: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'error', self.pose[-1] - self.target.pose)

    def slip(self, start: float = 0.0) -> float:
        """
        Return how far a sole moved at most from where it stood at some time.

        Parameters
        ----------
        start : float
            That time [s].

        Returns
        -------
        float
            Distance [m].

        """
        places = self.ground[self.time >= start - 1e-9, :, :2]
        return float(np.linalg.norm(places - places[0], axis=2).max())

    @property
    def ground_known(self) -> bool:
        """Whether the plant has a ground to stand on."""
        return not bool(np.isnan(self.ground[:, :, 3]).any())


def close_loop(plant: PlanarPlant, controller: Controller, loop: Loop | None = None,
               target: PlanarTarget = CROUCH) -> Trace:
    """
    Run the controller on the plant.

    Parameters
    ----------
    plant : PlanarPlant
        At its start.
    controller : Controller
        It is reset first.
    loop : Loop, optional
        Rate, delay and push; the paper's unless given.
    target : PlanarTarget
        What is commanded of the body.

    Returns
    -------
    Trace
        What happened.

    """
    loop = Loop() if loop is None else loop
    period, rows = 1.0 / loop.rate, []
    late, rest = divmod(round(loop.delay * 1e9), round(period * 1e9))
    controller.reset()
    # Torques from the one that acts to the newest, which acts after the delay.
    queue: deque[np.ndarray] = deque(maxlen=late + 2)
    tick, time = 0, 0.0
    while True:
        command = controller.update(plant.state, target, period)
        # Before the first command arrives, its torque holds the robot as well.
        while len(queue) <= late:
            queue.append(command.torque)
        queue.append(command.torque)
        true = plant.true_state
        rows.append((time, true.pose, true.twist, true.position, command.torque, plant.ground))
        if time >= loop.duration - 1e-9 or plant.fallen:
            break
        tick += 1
        end = min(tick * period, loop.duration)
        change = min(time + rest * 1e-9, end)
        for torque, begin, stop in ((queue[0], time, change), (queue[1], change, end)):
            _advance(plant, torque, begin, stop, loop)
        time = end
    times, poses, twists, positions, torques, ground = (np.array(c) for c in zip(*rows))
    return Trace(times, poses, twists, positions, torques, ground, target, plant.fallen)


def _advance(plant: PlanarPlant, torque: np.ndarray, begin: float, end: float,
             loop: Loop) -> None:
    """Advance from begin to end, with the push for the part of it that is pushed."""
    first, last = loop.push_start, loop.push_start + loop.push_length
    cuts = [begin, *(t for t in (first, last) if begin + 1e-9 < t < end - 1e-9), end]
    for start, stop in pairwise(cuts):
        if stop - start > 1e-9:
            pushed = any(loop.push) and first - 1e-9 <= start and stop <= last + 1e-9
            plant.advance(torque, stop - start, np.array(loop.push) if pushed else None)
