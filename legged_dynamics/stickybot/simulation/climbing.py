# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ClimbingSimulation: the planar robot on its wall, integrated, with its energy balance."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError, SimulationError
from legged_dynamics.stickybot.model.adhesion import HOLDS, PAD, PEELS, SLIPS, Adhesion
from legged_dynamics.stickybot.model.bookkeeping import STORED, TOTAL, stored
from legged_dynamics.stickybot.model.dynamics import Accelerations
from legged_dynamics.stickybot.model.jacobian import make_stepper
from legged_dynamics.stickybot.model.limb import FORCE, hip_deflections
from legged_dynamics.stickybot.model.robot import (
    FootEvent,
    FootEventKind,
    RestPosition,
    StickybotCommand,
    StickybotMeasurement,
    StickybotModel,
    StickybotState,
    fitting,
    unloaded_state,
)
from legged_dynamics.stickybot.simulation.integration import (
    PROGRESS,
    advance,
    make_motion,
    settle,
    touch_down,
)

# -------------------------------------------------------------------------------------------------
# Energy and momentum balance of a simulation.


@dataclass(frozen=True)
class EnergyBalance:
    """
    Energy and momentum in and out of the robot since the simulation began, and the residual.

    Attributes
    ----------
    work : float [J]
        Work of the actuators that move the rest positions.
    damped, struck : float [J]
        Lost in dampers and in plastic touchdowns.
    stored : float [J]
        Gain of kinetic, elastic and gravitational energy.
    energy_residual : float [J]
        ``stored - work + damped + struck``.
    momentum_residual : tuple of 2 floats [N s]
        Momentum less the impulses of wall and weight.
    angular_momentum_residual : float [N m s]
        The same for angular momentum about the wall frame's origin.

    """

    work: float
    damped: float
    struck: float
    stored: float
    energy_residual: float
    momentum_residual: tuple[float, float]
    angular_momentum_residual: float


def _energy_balance(start: np.ndarray, now: np.ndarray, totals: np.ndarray) -> EnergyBalance:
    """Return the balance between two instants from stored quantities and sums."""
    change = now - start
    gain = float(now[STORED.kinetic] + now[STORED.potential]
                 - start[STORED.kinetic] - start[STORED.potential])
    work, damped, struck = totals[[TOTAL.work, TOTAL.damped, TOTAL.struck]].tolist()
    missing = change[STORED.momentum:STORED.momentum + 2] - totals[TOTAL.impulse:TOTAL.impulse + 2]
    turning = change[STORED.angular_momentum] - totals[TOTAL.angular_impulse]
    return EnergyBalance(work, damped, struck, gain, gain - work + damped + struck,
                         (float(missing[0]), float(missing[1])), float(turning))


# -------------------------------------------------------------------------------------------------
# The simulation.


# Tolerated error of a velocity over that of a position [1/s]: of the order of a limb's own decay.
VELOCITY_TOLERANCE = 3e3
FAILURES = {SLIPS: FootEventKind.SLIPPED, PEELS: FootEventKind.PEELED}


class ClimbingSimulation:
    """
    A robot on its wall, driven by commands.

    Feet come down where they are (plastic impact); a foot on the wall lets go when told to, or
    when its force leaves what its pad holds. It then stays off until the command has released
    and set it again.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    rest : RestPosition, optional
        Initial rest positions of hips and joints; the model's own unless given.
    state : StickybotState, optional
        At rest with unloaded springs, all feet on the wall, unless given.
    pads : Adhesion or sequence of Adhesion, optional
        Of all feet, or of each; without limit unless given.
    tolerance : float [m or rad]
        Local error of a position that a step may make; of a velocity it is 3000/s times that.
    longest_step : float [s]
        Of the integration.

    Raises
    ------
    ConfigurationError
        When an option is out of range.
    MeasurementError
        When state or rest positions do not fit the model.

    """

    def __init__(self, model: StickybotModel, rest: RestPosition | None = None,
                 state: StickybotState | None = None,
                 pads: Adhesion | Sequence[Adhesion] | None = None, *,
                 tolerance: float = 1e-7, longest_step: float = 0.01):
        if not (0.0 < tolerance <= 1e-3 and 0.0 < longest_step <= 1.0):
            raise ConfigurationError('expected a tolerance up to 1e-3 and a longest step up to '
                                     f'1 s, got {tolerance!r} and {longest_step!r}')
        self.model = model
        self.pads = _per_foot(model, pads)
        rest = rest or RestPosition.nominal(model)
        state = state or unloaded_state(model, rest=rest)
        self._pads = np.array([pad.packed() for pad in self.pads]).reshape(-1, PAD.width)
        self._limits = np.array([tolerance, VELOCITY_TOLERANCE * tolerance, longest_step])
        self._wall = np.array([model.body.height, model.wall.normal])
        self._motion = make_motion(model.machine, model.nz)
        self._stepper = make_stepper(model.machine)
        motion = self._motion
        motion.z[:], motion.v[:], motion.attached[:] = state.packed(model)
        motion.u[:] = rest.packed(model)[0]
        self._lost = np.zeros(model.n_limbs, bool)
        for i in np.flatnonzero(motion.attached):
            self._turn_pad(i)
        self.stamp_ns = 0
        self.n_steps = 0
        settle(model.machine, self._stepper, self._wall, motion)
        self._start = self._stored()

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self.stamp_ns * 1e-9

    @property
    def state(self) -> StickybotState:
        """The present state."""
        motion = self._motion
        return StickybotState.unpacked(self.model, motion.z, motion.v, motion.attached)

    @property
    def pose(self) -> np.ndarray:
        """Pose of the body, (3,) [m, m, rad]."""
        return self._motion.z[:3].copy()

    @property
    def attached(self) -> np.ndarray:
        """Feet on the wall, (N,) array of bool."""
        return self._motion.attached.copy()

    @property
    def reaction(self) -> np.ndarray:
        """Force of the wall on each foot now, (N, 2) [N], wall axes."""
        return self._motion.forces[:, FORCE.reaction:FORCE.reaction + 2].copy()

    @property
    def rest(self) -> RestPosition:
        """Present rest positions of hips and inner joints, and their rates."""
        u, ud, model = self._motion.u, self._motion.ud, self.model
        return RestPosition(u[model.hip_columns], ud[model.hip_columns], u[model.inner_columns],
                            ud[model.inner_columns])

    @property
    def forces(self) -> Accelerations:
        """Accelerations, hip forces and wall reactions now."""
        return Accelerations.unpacked(self.model, self._motion.zdd, self._motion.forces)

    @property
    def normal_loads(self) -> np.ndarray:
        """The wall's push on each foot, (N,) [N]; negative where the foot pulls."""
        return self._motion.normals.copy()

    @property
    def pad_angles(self) -> np.ndarray:
        """Directions of the pads in wall axes, (N,) [rad]; NaN for a pad that holds every way."""
        return np.where(np.isnan(self._pads[:, -1]), np.nan, self._motion.pad_angle)

    @property
    def peak(self) -> np.ndarray:
        """Largest reaction of each foot since :meth:`reset_peak`, (N,) [N]."""
        return self._motion.peak.copy()

    def reset_peak(self) -> None:
        """Forget the largest reactions."""
        self._motion.peak[:] = 0.0

    @property
    def energy(self) -> EnergyBalance:
        """Energy and momentum since the start."""
        return _energy_balance(self._start, self._stored(), self._motion.totals)

    def measure(self) -> StickybotMeasurement:
        """Return the measurement of the robot's sensors, without noise."""
        model, motion = self.model, self._motion
        hips = np.empty((model.n_limbs, 6))
        hip_deflections(model.machine, self._stepper.work, motion.z, motion.v, hips)
        inner = model.inner_columns + 3
        return StickybotMeasurement(
            self.stamp_ns, hips[:, :3], hips[:, 3:], float(motion.z[2]), float(motion.v[2]),
            motion.z[inner], motion.v[inner])

    def push(self, velocity: np.ndarray) -> None:
        """
        Change the body's velocity at once, as an impact does; the energy balance starts again.

        Parameters
        ----------
        velocity : (3,) array [m/s, m/s, rad/s]
            Change of the body's velocity, wall axes.

        """
        self._motion.v[:3] += fitting(velocity, (3,), 'a change of the body velocity')
        settle(self.model.machine, self._stepper, self._wall, self._motion)
        self._motion.totals[:] = 0.0
        self._start = self._stored()

    def release(self, limb: str) -> FootEvent:
        """
        Make a foot let go, as a failing pad does; it holds again when it is set again.

        Parameters
        ----------
        limb : str
            Name of the limb.

        Returns
        -------
        FootEvent

        Raises
        ------
        UnknownNameError
            When there is no such limb.

        """
        i = self.model.limb_index(limb)
        self._motion.attached[i], self._lost[i] = False, True
        settle(self.model.machine, self._stepper, self._wall, self._motion)
        return FootEvent(self.stamp_ns, limb, FootEventKind.LOST)

    def step(self, command: StickybotCommand, duration: float) -> list[FootEvent]:
        """
        Follow a command for some time.

        Parameters
        ----------
        command : StickybotCommand
            Its rest positions are reached at the end of the duration.
        duration : float [s]
            How long.

        Returns
        -------
        list of FootEvent
            What happened to feet, in order of time.

        Raises
        ------
        MeasurementError
            When the command does not fit the model.
        SimulationError
            When the motion cannot be integrated.

        """
        model, motion = self.model, self._motion
        if not duration > 0.0:
            raise MeasurementError(f'expected a duration above 0 s, got {duration!r}')
        target = RestPosition(command.rest, joint=command.joint_rest).packed(model)[0] \
            if model.n_inner_joints else self._plain_target(command)
        motion.ud[:] = (target - motion.u) / duration
        events = self._obey(command.attach)
        settle(model.machine, self._stepper, self._wall, motion)
        done = 0.0
        while True:
            code = advance(model.machine, self._stepper, self._wall, self._pads, self._limits,
                           duration - done, motion)
            done += float(motion.report[PROGRESS.elapsed])
            self.n_steps += int(motion.report[PROGRESS.steps])
            if code == HOLDS:
                break
            if code not in FAILURES:
                raise SimulationError(
                    f'the motion cannot be integrated any further at {self.time + done:.6f} s: '
                    'stiffness, damping or the command is beyond what double precision resolves')
            foot = int(motion.report[PROGRESS.foot])
            motion.attached[foot], self._lost[foot] = False, True
            events.append(FootEvent(self.stamp_ns + round(done * 1e9),
                                    model.limb_names[foot], FAILURES[code]))
            settle(model.machine, self._stepper, self._wall, motion)
            if duration - done <= 1e-12:
                break
        motion.u[:] = target
        self.stamp_ns += round(duration * 1e9)
        return events

    def _plain_target(self, command: StickybotCommand) -> np.ndarray:
        rest = np.asarray(command.rest, dtype=float)
        if rest.shape != (self.model.n_limbs, 3) or not math.isfinite(rest.sum()):
            raise MeasurementError(f'expected finite rest positions of shape '
                                   f'({self.model.n_limbs}, 3), got {command.rest!r}')
        return rest.ravel()

    def _obey(self, attach: np.ndarray) -> list[FootEvent]:
        wanted = np.asarray(attach, bool)
        model, motion = self.model, self._motion
        if wanted.shape != (model.n_limbs,):
            raise MeasurementError(f'expected {model.n_limbs} flags of feet that are to hold, '
                                   f'got shape {wanted.shape}')
        self._lost &= wanted
        events: list[FootEvent] = []
        if ((wanted & ~self._lost) == motion.attached).all():
            return events
        for i in np.flatnonzero((wanted & ~self._lost) != motion.attached):
            if motion.attached[i]:
                motion.attached[i] = False
                kind = FootEventKind.LIFTED_OFF
            else:
                touch_down(model.machine, self._stepper, i, motion)
                self._turn_pad(i)
                kind = FootEventKind.TOUCHED_DOWN
            events.append(FootEvent(self.stamp_ns, model.limb_names[i], kind))
        return events

    def _turn_pad(self, i: int) -> None:
        direction = self.pads[i].direction
        self._motion.pad_angle[i] = 0.0 if direction is None else self._motion.z[2] + direction

    def _stored(self) -> np.ndarray:
        now, rate, motion = np.zeros(STORED.width), np.zeros(STORED.width), self._motion
        stored(self.model.machine, self._stepper.work, motion.z, motion.v, motion.zdd, motion.u,
               motion.ud, now, rate)
        return now


def _per_foot(model: StickybotModel, pads: Adhesion | Sequence[Adhesion] | None
              ) -> tuple[Adhesion, ...]:
    if pads is None or isinstance(pads, Adhesion):
        return (pads or Adhesion(),) * model.n_limbs
    if len(pads) != model.n_limbs:
        raise ConfigurationError(f'expected one pad, or {model.n_limbs} (one per limb), '
                                 f'got {len(pads)}')
    return tuple(pads)
