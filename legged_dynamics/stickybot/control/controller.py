# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
StickybotController: a gait on compliant hips, with reaction-force reduction.

The plain gait moves the hips' rest angles and lets the springs find their balance: the feet
squeeze against each other, and the robot drops at every change of feet. The reduction keeps the
gait's feet and times and chooses the forces. The body follows a straight line at the plain gait's
own speed, which determines the load that the feet carry together. This load is shared so that the
largest force is least, and each foot takes up and gives away its part gradually. The hips' rest
positions then produce these forces.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.stickybot.allocation.force_allocation import SET, fill_sets
from legged_dynamics.stickybot.control.gait import (
    ControlSettings,
    Footing,
    Gait,
    GaitClock,
    smooth_step,
)
from legged_dynamics.stickybot.control.load_sharing import (
    UNSOLVED,
    PadForesight,
    choose_forces,
    follow_forces,
    make_sharing_memory,
    turn_to_forces,
)
from legged_dynamics.stickybot.control.odometry import SlipLimits, WallOdometry
from legged_dynamics.stickybot.model.adhesion import PAD, Adhesion, fill_use, normal_loads
from legged_dynamics.stickybot.model.dynamics import accelerate
from legged_dynamics.stickybot.model.limb import FORCE, Coordinates
from legged_dynamics.stickybot.model.robot import (
    RestPosition,
    StickybotCommand,
    StickybotMeasurement,
    StickybotModel,
)
from legged_dynamics.stickybot.simulation import ClimbingSimulation

# -------------------------------------------------------------------------------------------------
# The plain gait in simulation: its speed and its largest force.


@dataclass(frozen=True)
class PlainGaitResult:
    """
    What the plain gait does once it is periodic.

    Attributes
    ----------
    speed : float [m/s]
        Of the body along its own y axis at the start.
    peak : float [N]
        Largest reaction of any foot over the last period.
    pad_use : float
        Largest share of a pad's limit that it uses from its first step on; NaN without pads.

    """

    speed: float
    peak: float
    pad_use: float = math.nan


def simulate_plain_gait(model: StickybotModel, gait: Gait, *, periods: int = 4,
                        rate: float = 250.0, pads: Sequence[Adhesion] | None = None,
                        start_time: float = 0.0) -> PlainGaitResult:
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
    pads : sequence of Adhesion, optional
        Of which it is said how much is used; the feet hold whatever they are asked to.
    start_time : float [s]
        In which all feet hold and the hips turn to where the gait begins, after the robot has hung
        for as long; 0 for a robot that begins there with relaxed springs.

    Returns
    -------
    PlainGaitResult
        Speed and forces of the plain gait.

    """
    clock = GaitClock(model, gait)
    steps = max(round(gait.period * rate), 1)
    period_ns = gait.period_ns // steps

    starting = 2 * math.ceil(start_time * rate) if start_time else 0

    def rest_at(step: int) -> np.ndarray:
        rest = model.rest
        part = min(max(2.0 * step / starting + 1.0, 0.0), 1.0) if step < 0 else 1.0
        rest[:, 2] += part * clock.at(max(step, 0) * period_ns).angle
        return rest

    simulation = ClimbingSimulation(model, RestPosition(rest_at(-starting)))
    start, used = 0.0, 0.0 if pads else math.nan
    packed = np.array([pad.packed() for pad in pads or ()])
    n = model.n_limbs
    angles, held, use = np.zeros(n), np.zeros(n, bool), np.zeros(n)
    for step in range(-starting, periods * steps):
        if step == (periods - 1) * steps:
            simulation.reset_peak()
            start = float(simulation.state.pose[1])
        stance = clock.at(step * period_ns).stance if step >= 0 else np.ones(n, bool)
        simulation.step(StickybotCommand(step * period_ns, rest_at(step + 1), stance, model.bends),
                        period_ns * 1e-9)
        if pads and step >= -starting // 2:
            on, turned = simulation.attached, simulation.pose[2] + packed[:, PAD.direction]
            angles, held = np.where(on & ~held, turned, angles), on
            fill_use(packed, angles, simulation.reaction, simulation.normal_loads, use)
            used = max(used, float(use[on].max(initial=0.0)))
    rise = float(simulation.state.pose[1]) - start
    return PlainGaitResult(rise / gait.period, float(simulation.peak.max()), used)


# -------------------------------------------------------------------------------------------------
# The controller.


def gait_on_pads(model: StickybotModel, gait: Gait, pads: Sequence[Adhesion],
                 control: ControlSettings) -> tuple[Gait | None, float]:
    """
    Return the plain gait, slowed as far as its pads require, and the share of them that it uses.

    It is simulated from hanging on, on feet that hold anything. None where steps that pads hold
    do not climb, since the body sinks at each. The share is that of the gait as given.
    """
    asked = 0.0
    for part in np.linspace(1.0, 0.1, 10):
        slower = replace(gait, amplitude=float(part) * gait.amplitude)
        found = simulate_plain_gait(model, slower, pads=pads, start_time=control.start_time)
        asked = asked or found.pad_use
        if found.pad_use <= 1.0 - control.pad_deviation:
            return (slower if found.speed * gait.amplitude > 0.0 else None), asked
    return None, asked


@dataclass(frozen=True)
class ReferenceSettings:
    """Reference of the body and check of the feet; chosen by hand, as defaults of the gait."""

    halt_time: float = 0.1      # s in which the reference stops when the gait is halted
    angle_leash: float = 0.2    # rad that the reference angle may be from the body's
    settling_time: float = 0.01     # s after touchdown in which a foot is not checked for slip
    foresight_time: float = 0.02    # s from one look at the next phase's load to the next


REFERENCE = ReferenceSettings()


class _Robot(NamedTuple):
    """Numbers of the robot and its settings that stay the same; angles [rad], lengths [m]."""

    turn: np.ndarray        # (N,): columns of the hips' angles
    nominal: np.ndarray     # (nz - 3,): rest positions of the robot at rest
    limit: np.ndarray       # (nz - 3,): largest offset of a rest position
    hip_compliance: np.ndarray      # (N, 3, 3)
    servo_compliance: np.ndarray    # of the inner joints [rad/(N m)]
    limb_weights: np.ndarray        # (N, 2) [N]
    wall: np.ndarray        # (2,): height of the body [m], gravity towards the wall [m/s^2]
    pads: np.ndarray        # (N, PAD.width), each to bear its tack: margin for a touchdown
    tacky: np.ndarray       # pads as they are
    period_ns: int          # of the control


def _robot(model: StickybotModel, settings: ControlSettings, pads: Sequence[Adhesion]) -> _Robot:
    nominal, _ = RestPosition.nominal(model).packed(model)
    limit = np.full(model.nz - 3, settings.largest_turn)
    limit[model.hip_columns[:, :2]] = settings.largest_offset
    tacky = np.array([pad.packed() for pad in pads])
    servos = np.array([link.stiffness for limb in model.limbs for link in limb.links[1:]])
    return _Robot(
        turn=model.hip_columns[:, 2], nominal=nominal, limit=limit,
        hip_compliance=np.linalg.inv([limb.stiffness for limb in model.limbs]),
        servo_compliance=np.divide(1.0, servos, where=servos > 0.0, out=np.zeros(servos.size)),
        limb_weights=np.outer([limb.mass for limb in model.limbs], model.wall.in_plane),
        wall=np.array([model.body.height, model.wall.normal]),
        pads=tacky * np.where(np.arange(PAD.width) == PAD.tack, -1.0, 1.0),
        tacky=tacky,
        period_ns=round(1e9 / settings.rate))


class _Estimate(NamedTuple):
    """The wall's forces by the springs, and what they are of the pads' limits."""

    zdd: np.ndarray         # (nz,)
    forces: np.ndarray      # (N, FORCE.width); reactions are those of the feet that hold now
    normals: np.ndarray     # (2, N) [N]: the wall's push on feet that hold now, and from now on
    loads: np.ndarray       # (N,) [N]: at the hips, without the limbs' weights
    angles: np.ndarray      # (N,) [rad]: of pads, wall axes
    used: np.ndarray        # (N,): shares of the pads' limits
    sets: np.ndarray        # (N, SET.width)


@kernel
def _estimate(machine, work, robot, x, before, holds, found):
    """Fill ``found`` for feet that hold now (``before``) and from now on (``holds``)."""
    forces, z, reaction = found.forces, x.z, FORCE.reaction
    accelerate(machine, work, holds, x, found.zdd, forces)
    now, then = found.normals[0], found.normals[1]
    then[:] = now
    normal_loads(machine, robot.wall, holds, z, forces, then)
    for i in range(holds.shape[0]):
        hip_x = forces[i, FORCE.hip] - robot.limb_weights[i, 0]
        hip_y = forces[i, FORCE.hip + 1] - robot.limb_weights[i, 1]
        found.loads[i] = math.hypot(hip_x, hip_y)
        # A foot that is lifted or set from now on holds still, or not yet.
        if before[i] and not holds[i]:
            forces[i, reaction], forces[i, reaction + 1] = hip_x, hip_y
        elif holds[i] and not before[i]:
            forces[i, reaction], forces[i, reaction + 1] = 0.0, 0.0
            found.angles[i] = z[2] + robot.pads[i, PAD.direction]
    fill_sets(robot.pads, then, found.angles, found.sets)
    if np.array_equal(before, holds):
        now[:] = then
    else:
        normal_loads(machine, robot.wall, before, z, forces, now)
    fill_use(robot.tacky, found.angles, forces[:, reaction:reaction + 2], now, found.used)


class _State:
    """What the controller carries from one measurement to the next."""

    def __init__(self, nz: int):
        self.offsets = np.zeros(nz - 3)     # of the rest positions from the plain gait's
        self.held, self.held_rate = np.zeros((2, nz - 3))   # rest positions now, and their rates
        self.last_ns: int | None = None
        self.look_ns, self.foreseen = 0, True   # when to look ahead again; whether pads will hold
        self.reference = np.zeros(3)        # m, m, rad: pose of the body
        self.ramp = 0.0                     # 0 standing, 1 at full speed


class StickybotController:
    """
    Turns measurements into commands.

    The node, a replay and a test call the same :meth:`update`; the same measurements give the
    same commands, bit for bit.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    gait : Gait, optional
        Which feet hold when; the default gait unless given.
    settings : ControlSettings or mapping, optional
        Checked settings, or dotted names of `control.gait.SETTINGS`.
    pads : sequence of Adhesion, optional
        Limits of the feet; the reduction keeps to them where it can.
    walking : bool
        Whether to walk from the first measurement; otherwise the robot stands on all feet.

    Attributes
    ----------
    settings : ControlSettings
        Of the controller.
    speed : float [m/s]
        Of the reference under reduction.

    Raises
    ------
    ConfigurationError
        When a setting is wrong, or reduction by angle is chosen for hips whose stiffness couples
        the angle with x and y.

    """

    def __init__(self, model: StickybotModel, gait: Gait | None = None,
                 settings: ControlSettings | Mapping[str, Any] | None = None,
                 pads: Sequence[Adhesion] | None = None, *, walking: bool = True):
        if not isinstance(settings, ControlSettings):
            settings = ControlSettings.from_parameters(settings)
        self.model, self.settings, self.gait = model, settings, gait or Gait()
        if pads is not None and len(pads) != model.n_limbs:
            raise ConfigurationError(f'expected {model.n_limbs} pads (one per limb), '
                                     f'got {len(pads)}')
        for limb in model.limbs if settings.reduction == 'turning' else ():
            if limb.stiffness[2, :2].any() or limb.damping[2, :2].any():
                raise ConfigurationError(
                    f'limb {limb.name!r}: reduction by angle needs hips whose angle is not '
                    f'coupled with x and y, got stiffness {limb.stiffness.tolist()}')
        self.speed = settings.speed
        if self.speed == 0.0 and settings.reduction != 'off':
            self.speed = simulate_plain_gait(model, self.gait).speed
        n, nz = model.n_limbs, model.nz
        self._robot = _robot(model, settings, pads or [Adhesion()] * n)
        self._footing = Footing(model, self.gait, settings, walking)
        self._odometry = WallOdometry(model, SlipLimits(
            REFERENCE.settling_time, settings.slip_speed, settings.slip_distance,
            settings.slip_time, settings.slip_load * model.mass * model.wall.gravity,
            settings.slip_span))
        self._memory = make_sharing_memory(model.machine, nz)
        self._found = _Estimate(np.zeros(nz), np.zeros((n, FORCE.width)), np.zeros((2, n)),
                                np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((n, SET.width)))
        self._limited = pads is not None
        self._foresight = (None if pads is None or settings.reduction == 'off' else PadForesight(
            model, GaitClock(model, self.gait), pads, settings.pad_deviation))
        self._nominal, self._nominal_rate = self._robot.nominal.copy(), np.zeros(nz - 3)
        self.reset()

    @property
    def walking(self) -> bool:
        """Whether the robot walks; when set to False it stops as soon as all feet are down."""
        return self._footing.walking

    @walking.setter
    def walking(self, wanted: bool) -> None:
        self._footing.walking = bool(wanted)

    def reset(self) -> None:
        """Start again with the next measurement, all feet taken to be on the wall."""
        self._footing.restart()
        self._odometry.reset()
        self._memory.planned[:] = self._found.normals[:] = 0.0
        self._state = _State(self.model.nz)

    def update(self, measurement: StickybotMeasurement) -> StickybotCommand:
        """
        Return the command for a measurement.

        Parameters
        ----------
        measurement : StickybotMeasurement
            Joint states and attitude, newer than the one before.

        Returns
        -------
        StickybotCommand

        Raises
        ------
        MeasurementError
            When the measurement does not fit the model, is not finite, or is not newer than the
            one before.

        """
        dt_ns, late = self._check_time(measurement)
        footing, odometry, state, robot = self._footing, self._odometry, self._state, self._robot
        odometry.take(measurement)
        dt, first = dt_ns * 1e-9, state.last_ns is None
        state.last_ns = measurement.stamp_ns
        lost = odometry.lost(measurement, self._found.loads, dt)
        if late:
            footing.hold_on()
        events = footing.update(measurement.stamp_ns, 0 if first else dt_ns, robot.period_ns, lost)
        before = odometry.holds.copy()
        odometry.read(footing.wanted, dt)
        self._nominal[robot.turn] = robot.nominal[robot.turn] + footing.angle
        self._nominal_rate[robot.turn] = footing.rate
        if first:
            state.reference[:] = odometry.z[:3]
            state.held[:] = self._nominal
            self._found.angles[:] = odometry.z[2] + robot.pads[:, PAD.direction]
        held, rate = self._acting(measurement)
        _estimate(self.model.machine, self._memory.work, robot,
                  Coordinates(odometry.z, odometry.v, held, rate),
                  odometry.holds if first else before, odometry.holds, self._found)
        self._look_ahead(measurement.stamp_ns)
        if self.settings.reduction != 'off':
            self._reduce(self._advance_reference(dt))
        target = self._nominal + state.offsets
        target[robot.turn] += footing.angle_ahead - footing.angle
        state.held_rate = (target - state.held) / (robot.period_ns * 1e-9)
        state.held = target
        return self._command(measurement.stamp_ns, target, events)

    def _check_time(self, measurement: StickybotMeasurement) -> tuple[int, bool]:
        """Return by how much time goes on [ns], and whether feet must hold after a long gap."""
        period = self._robot.period_ns
        if self._state.last_ns is None:
            return period, False
        dt_ns = measurement.stamp_ns - self._state.last_ns
        if dt_ns <= 0:
            raise MeasurementError(
                f'expected a measurement later than {self._state.last_ns} ns, got one of '
                f'{measurement.stamp_ns} ns. Call reset() when time starts again.')
        # The robot kept its last command through a gap: continue from there, and not from where
        # the gait would have been.
        gap = dt_ns > 2.5 * period
        return (period if gap else dt_ns), gap and dt_ns > self.settings.max_gap * 1e9

    def _look_ahead(self, stamp_ns: int) -> None:
        """Say whether the pads hold now, and what the next phase of the gait asks of them."""
        state, footing = self._state, self._footing
        if self._foresight is not None and stamp_ns >= state.look_ns:
            state.look_ns = stamp_ns + round(1e9 * REFERENCE.foresight_time)
            state.foreseen = not footing.moving or self._foresight.holds(
                self._odometry.z, self._found.angles, footing.time_ns, self.speed)

    def _acting(self, measurement: StickybotMeasurement) -> tuple[np.ndarray, np.ndarray]:
        """Return rest positions whose springs act as motors and springs together, and rates."""
        model, robot, state = self.model, self._robot, self._state
        if measurement.effort is None:
            return state.held, state.held_rate
        acting = robot.nominal.copy()
        acting[model.hip_columns] += np.einsum(
            'nij,nj->ni', robot.hip_compliance, measurement.effort)
        if measurement.joint_effort is not None:
            acting[model.inner_columns] += robot.servo_compliance * measurement.joint_effort
        return acting, np.zeros(len(acting))

    def _advance_reference(self, dt: float) -> np.ndarray:
        """Advance the body's reference; return the accelerations that lead to it."""
        settings, odometry, state = self.settings, self._odometry, self._state
        rate = dt / settings.start_time if settings.start_time > 0.0 else 1.0
        state.ramp = (min(state.ramp + rate, 1.0) if self._footing.moving
                      else max(state.ramp - dt / REFERENCE.halt_time, 0.0))
        speed = self.speed * smooth_step(state.ramp)
        heading, z = float(state.reference[2]), odometry.z[:3]
        forward = speed * np.array([-math.sin(heading), math.cos(heading), 0.0])
        ahead = state.reference - z + forward * dt
        ahead[:2] *= min(settings.leash / max(math.hypot(ahead[0], ahead[1]), 1e-300), 1.0)
        state.reference[:2] = z[:2] + ahead[:2]
        ahead[2] = min(max(ahead[2], -REFERENCE.angle_leash), REFERENCE.angle_leash)
        w = settings.natural_frequency if settings.reduction == 'full' \
            else settings.turning_frequency
        return w * w * ahead + 2.0 * settings.damping_ratio * w * (forward - odometry.v[:3])

    def _reduce(self, wanted: np.ndarray) -> None:
        """
        Choose forces, and move the offsets of the rest positions towards them.

        The step is the control period and not the age of the last sample: the actuators fulfil a
        command within that time, which determines the rates in the dampers.
        """
        settings, machine, memory = self.settings, self.model.machine, self._memory
        state, robot = self._state, self._robot
        z, holds = self._odometry.z, self._odometry.holds
        x = Coordinates(z, self._odometry.v, self._nominal, self._nominal_rate)
        if choose_forces(machine, memory, z, holds, self._footing.share, wanted,
                         self._found.sets, settings.smoothness) != UNSOLVED:
            follow = follow_forces if settings.reduction == 'full' else turn_to_forces
            follow(machine, memory, x, holds, robot.period_ns * 1e-9, state.offsets)
        np.minimum(np.maximum(state.offsets, -robot.limit), robot.limit, out=state.offsets)

    def _command(self, stamp_ns: int, target: np.ndarray, events: list) -> StickybotCommand:
        model, odometry, found = self.model, self._odometry, self._found
        kept = self._state.foreseen and bool(found.used.max() <= 1.0 - self.settings.pad_deviation)
        return StickybotCommand(
            stamp_ns, target[model.hip_columns], self._footing.wanted.copy(),
            target[model.inner_columns], found.forces[:, FORCE.reaction:FORCE.reaction + 2].copy(),
            self._memory.planned.copy(), odometry.z[:3].copy(), odometry.v[:3].copy(),
            found.normals[0].copy(), found.used.copy() if self._limited else None,
            found.angles.copy() if self._limited else None, kept, tuple(events))
