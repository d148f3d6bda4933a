# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""WorkspaceController: state of the base and a target in, joint efforts out."""
from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY, state_vector
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.settings import check_floating_robot
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.joint_order import refuse_following_legs
from legged_dynamics.model.parts import V_START
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.workspace import control_tick as codes
from legged_dynamics.workspace.command import LIMP, BodyTarget, WorkspaceCommand, WorkspaceFault
from legged_dynamics.workspace.control_tick import (
    INPUT,
    OUTPUT,
    StanceFeet,
    find_dynamics,
    find_efforts,
    find_forces,
)
from legged_dynamics.workspace.force_division import BALANCED, FRICTION_CONE, friction_cone
from legged_dynamics.workspace.ground import SETTINGS as GROUND
from legged_dynamics.workspace.ground import Ground, GroundReading
from legged_dynamics.workspace.pressure import Pressure, pressing_acceleration
from legged_dynamics.workspace.settings import WorkspaceSettings
from legged_dynamics.workspace.support import ANYTHING, NUMBER, Support, support_excess, support_of
from legged_dynamics.workspace.workspace_dynamics import POSE, follow_base, wanted_acceleration

# -------------------------------------------------------------------------------------------------
# Requested foot forces.


AXES = ('world', 'base', 'foot')


@dataclass(frozen=True)
class TickSettings:
    """Numbers of a tick beside the parameters; chosen by hand on walking and pushed robots."""

    # Of the weight by which a force misses its request to be reported as clipped.
    clipped: float = 0.01
    request_lead: float = 0.1   # of the weight, of a target force before the feasible force
    longest_step: float = 0.05  # s between ticks, beyond which the error is not integrated
    # Of the integral's gain about each axis that is left while a robot steps: steps turn the body
    # to and fro faster than a lasting moment changes.
    stepping_integral: float = 0.57
    # Of stiffness, damping and integral across the ground that are left for a body that falls
    # between its footholds: they bring it back. With the gains of a stand, the way that it has
    # fallen would be made good by the feet at once when they land.
    falling_stiffness: float = 0.3
    falling_damping: float = 0.4
    falling_integral: float = 0.33
    missed_wrench: float = 1e-3     # of the weight: part of the wrench that the feet may miss


TICK = TickSettings()
_FALLING = np.array([[TICK.falling_stiffness], [TICK.falling_damping], [TICK.falling_integral]])


@dataclass(frozen=True, eq=False)
class AskedForce:
    """
    A requested force of the ground on one foot.

    Attributes
    ----------
    force : (3,) array [N]
        Components of the force.
    axes : {'world', 'base', 'foot'}
        Axes of these components.

    Raises
    ------
    ConfigurationError
        When the force is not three finite numbers, or the axes have another name.

    """

    force: np.ndarray
    axes: str = 'world'

    def __post_init__(self) -> None:
        force = np.array(self.force, dtype=float)
        if force.shape != (3,) or not np.isfinite(force).all():
            raise ConfigurationError(f'expected a force of three finite numbers, got {self.force}')
        if self.axes not in AXES:
            raise ConfigurationError(f'expected axes {", ".join(AXES)}; got {self.axes!r}')
        object.__setattr__(self, 'force', force)

    def _in_world(self, R_WB: np.ndarray, R_BF: np.ndarray) -> np.ndarray:
        """Return its components in world axes, (3,) [N]."""
        if self.axes == 'world':
            return self.force
        return R_WB @ (self.force if self.axes == 'base' else R_BF @ self.force)


class _ForceRequests:
    """
    Moves each foot's target force towards its request, and back when that ends.

    Only internal forces, which sum to zero, are free. A target stays within a tenth of the
    weight of the feasible force, so that large requests are released as fast as small ones.
    `sought`: by foot, world axes.
    """

    def __init__(self, weight: float):
        self._weight = weight
        self.sought: dict[int, np.ndarray] = {}

    def seek(self, asked: Mapping[int, np.ndarray], step: float, standing: Container[int],
             given: Callable[[int], np.ndarray],
             free: Callable[[Mapping[int, np.ndarray]], Mapping[int, np.ndarray]]) -> None:
        """
        Advance all target forces (world axes) by at most ``step`` [N].

        ``given`` returns a foot's last force; ``free`` all forces for given targets only, to
        which a foot whose request has ended returns.
        """
        for foot in [foot for foot in self.sought if foot not in standing]:
            del self.sought[foot]
        leaving = self.sought.keys() - asked.keys() if self.sought.keys() != asked.keys() else ()
        goals = {foot: force for foot, force in asked.items() if foot in standing}
        if leaving:
            alone = free({foot: force for foot, force in self.sought.items() if foot in asked})
            goals |= {foot: alone[foot] for foot in leaving}
        for foot, goal in goals.items():
            if goal is self.sought.get(foot):       # already reached
                continue
            start = self.sought[foot] if foot in self.sought else given(foot)
            gap = goal - start
            far = math.hypot(*gap.tolist())
            if foot in leaving and far <= step:
                del self.sought[foot]
            else:
                self.sought[foot] = goal if far <= step else start + gap * (step / far)

    def stay_near(self, given: Callable[[int], np.ndarray]) -> list[int]:
        """Keep each target near the feasible force; return the feet that miss it."""
        short = []
        for foot, sought in self.sought.items():
            gap = sought - given(foot)
            ahead = math.hypot(*gap.tolist())
            if ahead > TICK.clipped * self._weight:
                short.append(foot)
            if ahead > TICK.request_lead * self._weight:
                self.sought[foot] = given(foot) + gap * (TICK.request_lead * self._weight / ahead)
        return short


# -------------------------------------------------------------------------------------------------
# Legs that do not all bear.


class LegPlan(NamedTuple):
    """Which feet bear the body at a tick, and how the other legs move."""

    bearing: np.ndarray  # (nf,): feet that get forces of the ground
    # (nf,) [N]: largest normal force of each foot: it grows after a touch-down and shrinks before
    # a lift-off, so that efforts do not jump
    most: np.ndarray
    # (nv,) [rad/s^2 or m/s^2]: accelerations of the joints of other legs; NaN for joints that keep
    # their posture
    moved: np.ndarray
    # Whether the feet may fail to produce the required wrench for any length of time
    stepping: bool = True
    # Where the ground is to press: it accelerates the base across the ground in place of the gains
    pressure: Pressure | None = None
    # (nv,) [N m or N]: efforts beside those of the dynamics, as for the friction of swinging legs'
    # joints
    extra: np.ndarray | None = None
    # Fraction of the effort limits that may be used, where it is below that of the settings
    effort_fraction: float = 1.0
    # Whether the body falls like a pendulum between its footholds, as on two of four feet
    falling: bool = False


# -------------------------------------------------------------------------------------------------
# The controller.


METHODS = ('even', 'least_squares', 'friction_cone')
# Faults with which there are no efforts, and those that stop the integral (anti-windup).
_LIMP = int(LIMP)
_STUCK = codes.EFFORT_LIMIT | codes.UNBALANCED | codes.ACCELERATION_LIMIT


class _Inputs(NamedTuple):
    """Inputs of the kernels in one row, and views of its parts (`control_tick.Inputs`)."""

    all: np.ndarray
    rotation: np.ndarray
    position: np.ndarray
    twist: np.ndarray
    target: np.ndarray


@dataclass(frozen=True, eq=False)
class _Choice:
    """The settings as the kernels read them."""

    gains: np.ndarray       # (5, 6), of `WorkspaceSettings.gains`
    method: int
    parameters: np.ndarray
    force_rate: float       # N/s
    patience_ns: int
    adapted: dict[tuple[bool, bool, bool], np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: WorkspaceSettings, weight: float) -> _Choice:
        parameters = np.zeros(codes.PARAMETER.width)
        for at, value in (
                (codes.PARAMETER.threshold, settings.singularity_threshold),
                (codes.PARAMETER.posture_stiffness, settings.posture_stiffness),
                (codes.PARAMETER.posture_damping, settings.posture_damping),
                (codes.PARAMETER.tolerance, TICK.missed_wrench * weight),
                (codes.PARAMETER.far, settings.linear_error_limit),
                (codes.PARAMETER.turned, settings.angular_error_limit)):
            parameters[at] = value
        return cls(settings.gains, METHODS.index(settings.division_method), parameters,
                   settings.force_rate * weight, round(settings.patience * 1e9))

    def gains_for(self, stepping: bool, falling: bool, pressed: bool) -> np.ndarray:
        """Return the gains of a phase; `pressed`: the place of pressure moves the base across."""
        gains = self.adapted.get((stepping, falling, pressed))
        if gains is None:
            gains = self.adapted[stepping, falling, pressed] = self.gains.copy()
            gains[2, 3:] *= TICK.stepping_integral if stepping else 1.0
            gains[:3, :2] *= (not pressed) * (_FALLING if falling else 1.0)
        return gains


@dataclass
class _Run:
    """What a tick leaves for the next."""

    newest: int | None = None       # ns
    unbalanced_since: int | None = None     # ns
    integrating: bool = True
    stepping: bool = False
    falling: bool = False

    def step_to(self, stamp: int) -> float:
        """Return the time since the last tick [s]; zero for none, a gap, or a step back."""
        step = 0.0 if self.newest is None else (stamp - self.newest) * 1e-9
        self.newest = stamp
        return step if 0.0 < step <= TICK.longest_step else 0.0

    def rescale(self, integral: np.ndarray, stepping: bool, falling: bool) -> None:
        """Scale the integral where its gain changes, so that its moment and force do not jump."""
        if stepping != self.stepping:
            part = TICK.stepping_integral
            integral[3:] *= 1.0 / part if stepping else part
            self.stepping = stepping
        if falling != self.falling:
            part = TICK.falling_integral
            integral[:2] *= 1.0 / part if falling else part
            self.falling = falling

    def unbalanced_too_long(self, stamp: int, faults: int, patience_ns: int) -> int:
        """Return `LOST` when the required wrench has been missed for too long, else 0."""
        if not faults & codes.UNBALANCED:
            self.unbalanced_since = None
            return 0
        if self.unbalanced_since is None:
            self.unbalanced_since = stamp
        return codes.LOST if stamp - self.unbalanced_since > patience_ns else 0


class WorkspaceController:
    """
    Moves the base of a standing robot by its joint efforts: Wendlandt and Sastry's recursion.

    Every tick runs the stages of the paper: velocity propagation, workspace dynamics, workspace
    force, division and propagation of forces.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base and 1-DoF joints, all of them actuated.
    config : RobotConfig
        Its feet and joint physics.
    settings : WorkspaceSettings or mapping, optional
        Checked settings, or dotted names of `workspace.settings.SETTINGS`.

    Attributes
    ----------
    settings : WorkspaceSettings
        May be replaced between ticks.
    ground : GroundReading
        Normals and friction of the friction cones.

    Raises
    ------
    ConfigurationError
        When the robot has no feet, a fixed base or spherical joints, or a setting is wrong.
    UnknownNameError
        When a foot or joint is not in the model.

    Examples
    --------
    >>> state = odometry.update(measurement)                            # doctest: +SKIP
    >>> command = controller.update(state, measurement, target)         # doctest: +SKIP
    >>> command.effort if command.usable else None                      # doctest: +SKIP

    """

    def __init__(self, model: RobotModel, config: RobotConfig,
                 settings: WorkspaceSettings | Mapping[str, Any] | None = None):
        self.model = config.apply_to(model)
        check_floating_robot(self.model, config)
        self._held, self._upper = np.zeros(self.model.nv), np.ones(self.model.nv, bool)
        for foot in config.feet:
            leg = self.model.chain(self.model.frame(foot.link).body)
            refuse_following_legs(self.model.joints, leg, 'workspace control')
            self._upper[self.model.tree.topology[leg, V_START]] = False
        self.feet = tuple(foot.link for foot in config.feet)
        self._config = config
        self._integral, row = np.zeros(6), np.zeros(INPUT.width)
        self._inputs = _Inputs(row, row[:9].reshape(3, 3), row[9:12], row[12:18],
                               row[INPUT.target:])
        self._unmoved = np.full(self.model.nv, np.nan)
        self.configure(settings)
        self.reset()

    def configure(self, settings: WorkspaceSettings | Mapping[str, Any] | None = None) -> None:
        """
        Use other settings from the next tick on; the integral is kept.

        Parameters
        ----------
        settings : WorkspaceSettings or mapping, optional
            Checked settings, or dotted names; the defaults unless given.

        Raises
        ------
        ConfigurationError
            When a setting is wrong; the previous ones are kept.

        """
        if not isinstance(settings, WorkspaceSettings):
            settings = WorkspaceSettings.from_parameters(settings)
        self.settings = settings
        self._chosen = _Choice.of(settings, self.model.total_mass * GRAVITY)
        self._stances: dict[bytes, StanceFeet] = {}
        self.ground = GroundReading(self._config.feet, settings.friction)
        self._stance: bytes | None = None

    def reset(self) -> None:
        """Forget the integral and the posture: the next tick starts afresh."""
        self._integral[:] = 0.0
        self._stance = None
        self._run = _Run()
        self._last: StanceFeet | None = None
        self._requests = _ForceRequests(self.model.total_mass * GRAVITY)
        self.ground.reset()

    def update(self, state: BodyState, measurement: Measurement, target: BodyTarget,
               asked: Mapping[int, AskedForce] | None = None,
               ground: Ground | None = None, legs: LegPlan | None = None) -> WorkspaceCommand:
        """
        Return efforts that move the base towards its target and give feet their desired forces.

        Parameters
        ----------
        state : BodyState
            Pose, twist and feet in contact, at the instant of the measurement.
        measurement : Measurement
            Joint positions and velocities, in the model's order.
        target : BodyTarget
            Desired pose, twist and acceleration of the base at that instant.
        asked : mapping of int to AskedForce, optional
            Requested forces by the foot's number; the 'even' division ignores them.
        ground : Ground, optional
            Known normals of the ground, in addition to what the places of the feet tell.
        legs : LegPlan, optional
            Which feet bear how much, and how the other legs move; without one, the feet in
            contact bear and the other legs stay as they are.

        Returns
        -------
        WorkspaceCommand

        Raises
        ------
        MeasurementError
            When the joints do not fit the model or are not finite.
        ConfigurationError
            When normals of the ground are not unit vectors.

        """
        nv, nf, stamp = self.model.nv, len(self.feet), measurement.stamp_ns
        q = state_vector(measurement.position, nv, 'joint positions')
        v = state_vector(measurement.velocity, nv, 'joint velocities')
        inputs, chosen, run = self._inputs.all, self._chosen, self._run
        self._inputs.rotation[...], self._inputs.position[...] = state.rotation, state.position
        self._inputs.twist[...], self._inputs.target[...] = state.twist, target.packed
        step = run.step_to(stamp)
        dt = step if run.integrating else 0.0
        contact = state.contact if legs is None else legs.bearing
        feet = self._feet_of(contact, q)
        moved = self._unmoved if legs is None else legs.moved
        pressure = None if legs is None else legs.pressure
        stepping, falling = (False, False) if legs is None else (legs.stepping, legs.falling)
        run.rescale(self._integral, stepping, falling)
        gains = chosen.gains_for(stepping, falling, pressure is not None)
        out = np.zeros(OUTPUT.effort + nv + 7 * nf)
        # Singular values are not known for legs that are not in contact.
        out[-nf:] = np.nan
        faults = 0 if len(feet.members) == nf else int(WorkspaceFault.FOOT_LOST)
        requests: dict[str, Any] = {}
        if feet.enough:
            s, memory, _ = feet.packed
            feet.arrays.q[:], feet.arrays.v[:] = q, v
            self._look_at_ground(state, ground)
            feet.stand_on(self.ground)
            feet.bear(None if legs is None else legs.most)
            feet.spare_efforts(1.0 if legs is None else legs.effort_fraction)
            find_dynamics(s, chosen.parameters, self._held, moved, inputs)
            wanted = self._seek(feet, state, asked or {}, inputs, step, out)
            find_forces(s, memory, chosen.method, gains, self._integral, inputs, dt, out)
            if pressure is not None:
                self._press(pressure, state, feet, inputs, out)
                find_forces(s, memory, chosen.method, gains, self._integral, inputs, 0.0, out)
            if legs is not None and legs.extra is not None:
                effort = out[OUTPUT.effort:OUTPUT.effort + nv]
                np.add(effort, legs.extra, out=effort)
            outcome = self._divide(feet, inputs, out)
            faults |= find_efforts(s, memory, chosen.method, outcome, chosen.parameters, out)
            if wanted:
                requests = {'asked': wanted, 'clipped': self._explain(feet, state, wanted)}
            # On two feet the moment about the line through them is missed in every step.
            faults |= run.unbalanced_too_long(stamp, 0 if stepping else faults, chosen.patience_ns)
            self._last = feet
        else:
            wanted_acceleration(inputs[INPUT.body:INPUT.target], inputs[INPUT.target:],
                                chosen.gains, self._integral, 0.0, out[:24].reshape(4, 6))
            faults |= int(WorkspaceFault.NO_STANCE)
        run.integrating = not faults & (codes.EFFORT_LIMIT if stepping else _STUCK)
        if faults & _LIMP:
            out[OUTPUT.effort:OUTPUT.effort + nv] = 0.0
        out.setflags(write=False)
        return WorkspaceCommand(stamp, WorkspaceFault(faults), contact, nv, out, **requests)

    def forces(self) -> dict[int, np.ndarray]:
        """Return the last tick's forces on feet in contact, by their index, in world axes [N]."""
        return {} if self._last is None else self._last.forces(self._inputs.rotation)

    def unloaded(self) -> np.ndarray:
        """Return (nj,) efforts that hold the legs without ground forces, last tick [N m or N]."""
        return np.zeros(self.model.nv) if self._last is None else self._last.arrays.h[6:].copy()

    def expected(self, command: WorkspaceCommand) -> np.ndarray:
        """
        Tell which accelerations the last command is expected to have.

        Parameters
        ----------
        command : WorkspaceCommand
            The last command.

        Returns
        -------
        (6 + nj,) array [m/s^2, rad/s^2]
            Derivative of the base's twist in its axes, less what the feet cannot give; then the
            joints'. Zero without efforts.

        """
        found = np.zeros(6 + self.model.nv)
        if self._last is None or not command.usable:
            return found
        s, wanted = self._last.arrays, self._last.memory.moved
        wanted = wanted - np.linalg.solve(s.inertia, command.unbalanced)
        follow_base(s.N, s.n0, wanted, self._inputs.twist, found)
        found[:6] = wanted
        return found

    def support(self, state: BodyState) -> Support:
        """
        Return the limits of the ground for the stance of the last tick.

        Parameters
        ----------
        state : BodyState
            Pose of the base at that tick.

        Returns
        -------
        Support
            No limits before the first tick.

        """
        if self._last is None:
            return ANYTHING
        ground, members = self.ground, self._last.members
        return support_of(self._last.arrays, state, ground.axes[members], float(
            ground.friction[members].min()), self.settings.reference_spare)

    def margins(self, command: WorkspaceCommand, state: BodyState,
                position: np.ndarray) -> dict[str, float]:
        """
        Return the margins of the last command to its limits.

        Parameters
        ----------
        command : WorkspaceCommand
            The last command.
        state : BodyState
            Pose of the base at that tick.
        position : (nj,) array [rad or m]
            Joint positions, in the model's order.

        Returns
        -------
        dict of str to float
            ``friction``: fraction of the friction cone that the worst foot leaves unused.
            ``sole``: distance of the centre of pressure from the edge of the worst sole [m].
            ``support``: distance of the zero-moment point from the edge of the support polygon
            [m]. ``effort``: fraction of the effort limit that the worst joint leaves unused.
            ``joint``: distance of the nearest joint from its position limit [rad or m]. Entries
            that do not apply are left out.

        """
        found = {} if self._last is None else self._last.margins(
            state.rotation, self.ground.friction)
        support = self.support(state)
        if len(support.edges):
            still = np.zeros(24)
            still[:9], still[9:12] = state.rotation.ravel(), state.position
            found['support'] = float(support.numbers[NUMBER.margin]
                                     - support_excess(support, still, 1.0)[0])
        limits = self.model.effort_limits
        bounded = np.isfinite(limits) & (limits > 0.0)
        if bounded.any():
            used = np.abs(command.effort[bounded]) / limits[bounded]
            found['effort'] = float(1.0 - used.max())
        ends = np.abs(self.model.position_limits - np.asarray(position)[:, None])
        if np.isfinite(ends).any():
            found['joint'] = float(ends[np.isfinite(ends)].min())
        return found

    # ---- between the stages ----------------------------------------------------------------

    def _look_at_ground(self, state: BodyState, given: Ground | None) -> None:
        self.ground.look(state, given)
        if max(state.foot_offset.tolist()) > GROUND.slide and self._last is not None:
            force = np.zeros((len(self.feet), 3))
            for foot, f in self._last.forces(state.rotation).items():
                force[foot] = f
            self.ground.feel(state.foot_offset, force)

    def _press(self, pressure: Pressure, state: BodyState, feet: StanceFeet, inputs: np.ndarray,
               out: np.ndarray) -> None:
        """Change the acceleration of the target so that the ground presses where it is to."""
        s, R = feet.arrays, state.rotation
        slope = s.M[:6, :6] + s.M[:6, 6:] @ s.N[6:]
        across = pressing_acceleration(pressure, R, state.position,
                                       out[OUTPUT.net:OUTPUT.missing], slope)
        target, start = inputs[INPUT.target:], POSE.acceleration
        target[start:start + 3] += across @ target[:9].reshape(3, 3)[:2]

    def _divide(self, feet: StanceFeet, inputs: np.ndarray, out: np.ndarray) -> int:
        if self._chosen.method != FRICTION_CONE:
            return BALANCED
        (s, _, program), memory = feet.packed, feet.memory
        return friction_cone(
            s, program, inputs[:9], out[OUTPUT.net:OUTPUT.missing],
            out[OUTPUT.effort:OUTPUT.effort + self.model.nv], memory.limits, memory.weights,
            memory.shares)

    def _seek(self, feet: StanceFeet, state: BodyState, asked: Mapping[int, AskedForce],
              inputs: np.ndarray, dt: float, out: np.ndarray) -> dict[int, np.ndarray]:
        """Set the target forces of the division; return the requested ones in world axes."""
        if not asked and not self._requests.sought:
            feet.ask({}, state.rotation)
            return {}
        wanted = {foot: force.force if force.axes == 'world' else
                  force._in_world(state.rotation, feet.rotation(foot))
                  for foot, force in asked.items()}

        def alone(staying: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
            (s, memory, _), integral = feet.packed, self._integral.copy()
            chosen = self._chosen
            feet.ask(staying, state.rotation)
            find_forces(s, memory, chosen.method, chosen.gains, integral, inputs, 0.0, out)
            self._divide(feet, inputs, out)
            return feet.forces(state.rotation)

        if feet is not self._last:
            alone({})
        self._requests.seek(wanted, self._chosen.force_rate * dt, feet.place,
                            partial(feet.force, state.rotation), alone)
        feet.ask(self._requests.sought, state.rotation)
        return wanted

    def _explain(self, feet: StanceFeet, state: BodyState,
                 asked: Mapping[int, np.ndarray]) -> dict[int, str]:
        """Return the reasons why feet do not get their requested forces."""
        found = {foot: 'it does not stand' for foot in asked if foot not in feet.place}
        for foot in self._requests.stay_near(partial(feet.force, state.rotation)):
            if foot in asked:
                found[foot] = feet.why_not(foot, asked[foot], state.rotation)
        return found

    def _feet_of(self, contact: np.ndarray, q: np.ndarray) -> StanceFeet:
        """Return the arrays of the feet in contact; note the posture when the stance changes."""
        key = contact.tobytes()
        if key != self._stance:
            # Arms and trunk keep theirs over the steps, so as not to sink a little in each.
            kept = self._upper if self._stance else False
            self._stance, self._held = key, np.where(kept, self._held, q)
        if key not in self._stances:
            self._stances[key] = StanceFeet(self.model, self._config.feet, contact, self.settings)
        return self._stances[key]
