# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The crouch on several plants, for comparison with the values of the paper's simulator."""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from legged_dynamics.estimation.leg_odometry import BodyState, OdometryFault
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.simulation.planar_biped import PlanarBiped
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.controller import WorkspaceController
from legged_dynamics.workspace.planar import (
    BIG_BASE,
    CROUCH,
    Biped,
    PinnedRobot,
    PlanarController,
    PlanarGains,
    PlanarState,
    PlanarTarget,
    biped_urdf,
    start_state,
)

# -------------------------------------------------------------------------------------------------
# Controller and plant in closed loop, with sampling, zero-order hold, delay and pushes.


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


# -------------------------------------------------------------------------------------------------
# The controller in SE(3), given the crouch's planar state, for comparison with the planar one.


FEET = 2


@dataclass(frozen=True)
class SpatialCommand:
    """What the loop needs of a tick: joint torques, (6,) [N m]."""

    torque: np.ndarray


class SpatialController:
    """
    `WorkspaceController` behind the planar controller's interface, with even gains.

    Parameters
    ----------
    gains : PlanarGains
        Those of x are used along, that of the angle about all axes; no integral.

    """

    def __init__(self, gains: PlanarGains):
        settings: dict[str, Any] = {
            f'gains.{kind}.{name}': [float(values[axis])] * 3
            for kind, axis in (('linear', 0), ('angular', 2))
            for name, values in (('stiffness', gains.position), ('damping', gains.velocity),
                                 ('integral', np.zeros(3)))}
        # Without limits, as the planar controller.
        settings.update({'limits.error.linear': 10.0, 'limits.error.angular': 3.0,
                         'limits.acceleration.linear': 100.0,
                         'limits.acceleration.angular': 1000.0})
        yaml, _ = robot_files('biped')
        self._controller = WorkspaceController(
            RobotModel.from_urdf(biped_urdf(Biped())), RobotConfig.from_yaml(yaml), settings)
        self._time = 0.0

    def reset(self) -> None:
        """Forget what was before."""
        self._controller.reset()
        self._time = 0.0

    def update(self, state: PlanarState, target: PlanarTarget, period: float) -> SpatialCommand:
        """Return the torques until the next tick."""
        stamp = round(1e9 * self._time)
        self._time += period
        position, rotation = _pose(state.pose)
        x, z, w = state.twist
        body = BodyState(
            stamp, position, rotation, np.array([-x, 0.0, z, 0.0, -w, 0.0]),
            np.ones(FEET, dtype=bool), np.zeros((FEET, 3)), np.zeros(FEET), 0.0, 0, 0,
            OdometryFault.NONE)
        command = self._controller.update(
            body, Measurement(stamp, state.position, state.velocity),
            BodyTarget.of(*_pose(target.pose)))
        return SpatialCommand(command.effort)


def _pose(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return position and rotation in REP-103 axes of a pose in the paper's."""
    return (np.array([-pose[0], 0.0, pose[1]]),
            rotation_from_rpy(np.array([0.0, -pose[2], 0.0])))


# -------------------------------------------------------------------------------------------------


# The paper's values at 9.99 s: x, z [m], angle [rad].
PAPER = np.array([0.0999935, 0.95016, np.radians(0.00169)])
LANDING = 0.05          # s from 1 cm above the ground until both soles are loaded
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
    """
    Run the controller on the plant once.

    Parameters
    ----------
    run : Run
        Robot, plant, controller and loop.

    Returns
    -------
    Crouch
        What happened, and how long computing took; compiling is not counted.

    """
    plant, controller = run.make_plant(), run.make_controller()
    controller.update(plant.state, CROUCH, 1.0)     # compiles, and is forgotten
    if run.pinned:
        PinnedRobot(run.biped.planar(), start_state()).advance(np.zeros(6), 1e-3)
    begin = time.perf_counter()
    trace = close_loop(plant, controller, run.loop, CROUCH)
    return Crouch(run, trace, time.perf_counter() - begin)
