# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Walker: a velocity in, a target of the base and a plan of the legs out.

Every leg is in stance or swings. The clock of the gait says when a leg is to lift; it lifts when
the others bear. A foot stands again when it is felt to bear, earlier or later than planned: a late
foot is lowered until it does, and the clock waits for it. Feet land where the inverted pendulum
and the commanded velocity want them (:mod:`footholds`), on the plane through the last footholds.
The base follows the integral of the velocity, at its height over that plane and tilted with it; in
gaits with three and more feet on the ground it is led over the feet that bear next (the support
polygon of Bledt et al. 2018).
"""
from __future__ import annotations

import cmath
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.leg_odometry import SETTLED, BodyState
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import body_poses, center_of_mass, link_pose
from legged_dynamics.spatial.rotations import rotation_from_vector, rotation_vector
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.controller import LegPlan, WorkspaceController
from legged_dynamics.workspace.support import hull_edges
from legged_dynamics.workspace.walking.footholds import (
    fall,
    fill_target,
    fit_plane,
    move_center,
    pendulum_step,
    stand_on_slope,
)
from legged_dynamics.workspace.walking.gaits import GAITS, fastest, offsets_of, part_walked
from legged_dynamics.workspace.walking.settings import WalkSettings
from legged_dynamics.workspace.walking.swing import (
    SwingLegs,
    SwingPath,
    directions,
    learn_friction,
    lower,
)

# A foot lands early from this part of its swing on if it feels this part of the weight: less may
# be friction of its joints. From the second part on any touch is the ground when the foot is as
# near to the plane of the others as this part of the height.
EARLY, FIRM, NEARLY, NEAR = 0.35, 0.25, 0.88, 0.03
# An early touch has to last as long, and one beyond the planned end of a swing [s]: a spike of the
# estimate in mid-air does not.
LASTS, LATE = 0.009, 0.005
# A force across the ground of this part of the weight, between these parts of a swing, is an edge
# that the foot has run into; it is then raised as fast as this [heights/s], at most by this.
STUB, STUBBED, RAISE, RAISED = 0.12, (0.1, 0.85), 2.5, 0.35
# Heights of footholds off the plane of the others, beyond this [heights], make the next swings as
# much higher; over how many cycles that is forgotten.
ROUGH, FORGOTTEN = 0.015, 4.0
# Time constants with which the body follows a slope and a height, in that of the pendulum.
TILTS, RISES = 12.0, 5.0
# How fast the friction of joints is learnt while their legs swing [1/s], the joint velocity from
# which it is whole [rad/s], and the largest that is believed [of the effort limit].
LEARNS, SLIDES, MOST_FRICTION = 6.0, 0.15, 0.06
# Longest time that the clock waits for feet that do not land [s].
WAIT = 0.25
# Depth below the estimated ground at which feet aim, in heights of the body.
PRESS = 0.01
# Times of the preview of the centre of pressure, in time constants of the pendulum, and the
# weights of an exponential window there.
PREVIEW = np.linspace(0.0, 3.5, 15)
WEIGHTS = np.exp(-PREVIEW)
WEIGHTS[[0, -1]] *= 0.5
WEIGHTS /= WEIGHTS.sum()
NOWHERE = np.zeros(2)
# Velocity from which a robot stops stepping [m/s or rad/s].
SLOW = 0.04
# A body that is about to stand comes to rest as far ahead as it moves in this time [s].
RESTS = 0.1
# A standing robot steps when its capture point is nearer to the edge of its support than this part
# of its height, and it moves as fast as this [m/s].
KEPT, FAST = 0.05, 0.12
# Largest angle from the body to its target while it steps [rad], and the cosine of the tilt beyond
# which the target stays level, so that a fallen body is lost.
LEANS, UPSIDE = 0.4, 0.7
# How far ahead that is looked for, in time constants of the pendulum, the time over which its
# acceleration is smoothed [s], and the part of a cycle of the trot that such steps take.
FORESIGHT, SMOOTHED, RUSH = 0.8, 0.02, 0.8
# A foot that is to bear and is not felt is in the air when it moves as far from its place [m]; it
# is then lowered with this part of the weight.
ADRIFT, LOWERED = 0.01, 0.04
# Largest speed by default, as a part of that of a shallow wave, sqrt(g h): what the lowest robot
# of the table of gaits (solo_class) walks.
FROUDE = 0.39
# Longest way of a foot under the body in one stance [heights]: faster commands are slowed down.
REACH = 1.0
# How far the body sways towards the feet that bear, as a part of the way, where they leave a
# choice.
SWAY = 0.6
# Parts by which the stance may be made shorter and narrower for a trot, effort that needs none of
# that [of its limit], what such a part costs of the same, and half a step [heights].
NARROWER, ENOUGH, PRICE, STEP = (0.0, 0.06, 0.12, 0.18, 0.24), 0.5, 0.25, 0.15
# Of a robot whose stance is made so: how much longer the cycle is, how much smaller the duty, and
# the part of the clearance that is left.
EASIER = 1.07, 0.03, 0.82


class Walking(Enum):
    """What the legs do."""

    STAND = 'stands'
    STEP = 'walks'
    STOP = 'stops'
    RECOVER = 'steps to recover'


@dataclass
class _Leg:
    """One leg's place in the gait."""

    swing: SwingPath | None = None
    since: float = 0.0          # s in swing or in stance
    over: float = 0.0           # s beyond the planned touch-down
    firm: float = 0.0           # s of a firm touch before it
    touch: float = 0.0          # s of any touch before it
    turn: np.ndarray = field(default_factory=lambda: np.eye(3))     # foot's axes to base's
    goal: np.ndarray | None = None
    early: bool = False         # stands before its planned touch-down
    loose: bool = False         # is to bear, but does not: it is lowered


class WalkPlan(NamedTuple):
    """
    What a tick of walking gives to the controller.

    Attributes
    ----------
    target : BodyTarget
        Target of the base.
    legs : LegPlan
        Plan of all legs.

    """

    target: BodyTarget
    legs: LegPlan


class Walker:
    """
    Walks a robot by gait, footholds and a moving target of its base.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base and 1-DoF joints.
    config : RobotConfig
        Its feet and its standing pose.
    settings : WalkSettings or mapping, optional
        Checked settings, or dotted names of `walking.settings.SETTINGS`.

    Attributes
    ----------
    state : Walking
        What the legs do.
    walk : bool
        Whether to walk in the gait of the settings; else the robot comes to a stand.
    height : float [m]
        Height of the base's origin over the ground.
    led : BodyTarget, optional
        Target of the base that others move while the robot stands; None when nobody does.
    borne : float
        Part of the friction that swings have taught which is compensated in legs that bear.

    """

    height, borne = 0.0, 0.8
    led: BodyTarget | None = None

    def __init__(self, model: RobotModel, config: RobotConfig,
                 settings: WalkSettings | Mapping[str, Any] | None = None):
        self.model, self._config = config.apply_to(model), config
        self._feet = config.feet
        self._weight = self.model.total_mass * GRAVITY
        self._swings: dict[bytes, SwingLegs] = {}
        self._flat = any(foot.moments for foot in self._feet)
        self._narrowing: np.ndarray | None = None
        limits = self.model.effort_limits
        self._most_friction = MOST_FRICTION * np.where(np.isfinite(limits), limits, 0.0)
        self.configure(settings)
        self.reset()

    def configure(self, settings: WalkSettings | Mapping[str, Any] | None = None) -> None:
        """
        Use other settings from the next tick on.

        Parameters
        ----------
        settings : WalkSettings or mapping, optional
            Checked settings, or dotted names; the defaults unless given.

        """
        if not isinstance(settings, WalkSettings):
            settings = WalkSettings.from_parameters(settings)
        self.settings = settings
        self._gait_name, self._haste = '', 1.0
        self._recovery = 'steps' if len(self._feet) == 2 else 'trot'

    def check(self, gait: str) -> None:
        """
        Refuse a gait that the robot cannot use.

        Parameters
        ----------
        gait : str
            A name in `gaits.GAITS`.

        Raises
        ------
        ConfigurationError
            When there is no such gait, or the robot has too few feet for it.

        """
        hips = self._stance if self._begun else np.array(
            [[-float(i // 2), 1.0 - 2.0 * (i % 2)] for i in range(len(self._feet))])
        offsets_of(gait, hips)

    def reset(self) -> None:
        """Forget everything; the next tick starts from the stance that the robot has."""
        self.state, self.walk = Walking.STAND, True
        self._legs = [_Leg() for _ in self._feet]
        self._clock = 0.0
        self._waited = self._calm = self._rough = self._moves = 0.0
        self._ran = False
        self._newest: int | None = None
        self._wanted = np.zeros(3)
        self._velocity = np.zeros(3)
        self._begun = False
        self._gait_name = ''
        self._friction, self._seen = np.zeros((2, self.model.nv))
        self._unmoved = np.full(self.model.nv, np.nan)
        self._learnt_of, self._body = np.zeros((2, self.model.nv)), np.zeros(18)
        self._speed, self._gain, self._stood = np.zeros(2), np.zeros(2), False

    @property
    def gait(self) -> str:
        """Gait that is walked, or would be."""
        return self.settings.gait if self.settings.gait != 'stand' else self.usual

    @property
    def fastest(self) -> tuple[float, float, float]:
        """Largest velocity ahead, to the left [m/s] and of turning [rad/s], each by itself."""
        ahead, left, turning = fastest(self.gait)
        most = self.settings.speed or min(
            ahead, FROUDE * math.sqrt(GRAVITY * self.height) if self.height else math.inf)
        return most, left * most / ahead, self.settings.turning or turning

    def command(self, ahead: float, left: float, turning: float) -> float:
        """
        Ask for a velocity; one that is too fast is slowed down, all of it alike.

        Parameters
        ----------
        ahead, left : float [m/s]
            Velocity of the base along its own axes.
        turning : float [rad/s]
            Rate about the vertical.

        Returns
        -------
        float
            Part of the velocity that is within `fastest`, and among the combinations of axes that
            the gait has been tried with.

        """
        x, y, yaw = self.fastest
        part = part_walked(self.gait, (ahead / x, left / y, turning / yaw))
        self._wanted[:] = ahead * part, left * part, turning * part
        return part

    def rehearse(self, state: BodyState, measurement: Measurement,
                 controller: WorkspaceController) -> None:
        """
        Run a step of every set of feet once, so that its kernels and arrays are ready.

        Parameters
        ----------
        state : BodyState
            State of a robot that stands.
        measurement : Measurement
            Joint positions and velocities, in the model's order.
        controller : WorkspaceController
            Controller whose ticks are run as well.

        """
        self.reset()
        n = len(self._feet)
        still = self.update(state, measurement, np.ones(n, bool), np.zeros((n, 3)))
        body = np.concatenate([state.rotation.ravel(), state.position, state.twist])
        q, v = np.asarray(measurement.position), np.asarray(measurement.velocity)
        members = list(range(n // 2)) or [0]
        swing = SwingLegs(self.model, self._feet, members)
        moved = np.full(len(q), np.nan)
        motions = [np.concatenate([state.foot_position[i], np.zeros(6)]) for i in members]
        swing.accelerations(body, q, v, motions, state.rotation, (1.0, 1.0), 0.05, moved)
        down = np.ones(n, bool)
        down[members] = False
        controller.update(state, measurement, still.target,
                          legs=LegPlan(down, still.legs.most, moved))
        controller.reset()
        self.reset()

    @property
    def usual(self) -> str:
        """Gait for those who do not choose one."""
        return self._recovery

    @property
    def walking(self) -> bool:
        """Whether legs step, or are about to."""
        return self.state is not Walking.STAND

    @property
    def lowered(self) -> list[int]:
        """Numbers of feet that are to bear and are in the air."""
        return [i for i, leg in enumerate(self._legs) if leg.loose]

    # ---- start -----------------------------------------------------------------------------

    def _begin(self, state: BodyState, position: np.ndarray) -> None:
        """Take the stance, its height and the feet's places under the body."""
        bodies = body_poses(self.model, position)
        self._com = center_of_mass(self.model, bodies)
        links = [link_pose(self.model, bodies, foot.link) for foot in self._feet]
        heading = _heading(state.rotation)
        turn = heading.T @ state.rotation
        nominal = np.array([turn @ pose.p for pose in links])
        com = turn @ self._com
        # The radius of balls, or the middle of soles.
        self._radius = np.array([getattr(foot, 'radius', 0.0) for foot in self._feet])
        self._stance = nominal[:, :2] - nominal[:, :2].mean(axis=0)
        self._hips = self._stance
        self._arm = float(np.hypot(*self._stance.T).max())
        self._shift = com[:2]
        self.height = float(-(nominal[:, 2] - self._radius).mean())
        self._com_height = self.height + float(com[2])
        self._begun, self._places = True, state.foot_position.copy()
        self._reference = state.position[:2] + (heading @ com)[:2]
        self._yaw = math.atan2(heading[1, 0], heading[0, 0])
        self._width = float(np.ptp(self._hips, axis=0).max()) or 0.2
        self._plane = fit_plane(self._places, self._width)
        self._slope = np.array(self._plane[:2])
        self._sway, self._level = self._reference.copy(), np.array([0.0, 0.0, state.position[2]])
        self._held = 0.0
        self._inertia = np.diag(mass_matrix(self.model, position))[-len(position):].copy()
        if self._narrowing is None:
            self._narrowing = self._easiest(position, np.array([pose.p for pose in links]))

    def _easiest(self, q: np.ndarray, places: np.ndarray) -> np.ndarray:
        """
        Return by which parts the stance is made shorter and narrower to trot on, (2,).

        Two of four feet carry twice as much as in a stand. The efforts for that, at the ends of a
        step too, fall when the feet are nearer to their hips; a narrow stance is easier to upset.
        """
        limits = np.where(self.model.effort_limits > 0.0, self.model.effort_limits, np.inf)
        legs = SwingLegs(self.model, self._feet, range(len(places)))
        force = 2.0 * self._weight / len(places)
        middle, best, found = places.mean(axis=0), math.inf, np.zeros(2)
        if self._flat or not np.isfinite(limits).all():
            return found
        for short in NARROWER:
            for narrow in NARROWER:
                if PRICE * (short + narrow) + ENOUGH >= best:
                    continue
                scale, worst, near = np.array([1.0 - short, 1.0 - narrow, 1.0]), ENOUGH, q
                for way in (0.0, -STEP * self.height, STEP * self.height):
                    effort, near = legs.effort_at(
                        near, middle + (places - middle) * scale + [way, 0.0, 0.0], force, limits)
                    worst = max(worst, effort)
                cost = worst + PRICE * (short + narrow)
                if cost < best - 1e-9:
                    best, found = cost, np.array([short, narrow])
        return found

    def _choose(self, gait: str, haste: float = 1.0) -> None:
        """Read the timing of a gait; with haste, in a part of its cycle."""
        if gait == self._gait_name and haste == self._haste:
            return
        row, s = GAITS[gait], self.settings
        self._offsets = offsets_of(gait, self._stance)
        assert self._narrowing is not None
        eased = self._narrowing if row.order == 'diagonal' else np.zeros(2)
        self._hips = self._stance * (1.0 - eased)
        # Legs that bear near their limits also swing slower and lower.
        longer, less, self._lower = EASIER if eased.any() else (1.0, 0.0, 1.0)
        self._duty = s.duty or row.duty - less
        self._cycle = haste * (s.cycle or longer * row.cycle
                               * math.sqrt(self._com_height / GRAVITY))
        self._gait_name, self._haste = gait, haste
        self._sways = 1.0 if len(self._feet) == 2 else SWAY if row.order == 'wave' else 0.0
        self._falls = row.order == 'diagonal' and len(self._feet) == 4
        groups = len(np.unique(np.round(self._offsets, 6)))
        self._step_time = self._cycle / max(groups, 1) if row.order != 'wave' else (
            self._duty * self._cycle)
        self._swing_time = (1.0 - self._duty) * self._cycle

    # ---- a tick ----------------------------------------------------------------------------

    @property
    def trusted(self) -> np.ndarray:
        """Feet whose places tell where the body is, (nf,) of bool: those that bear for a while."""
        settled = [leg.swing is None and leg.since >= SETTLED and not leg.loose
                   for leg in self._legs]
        return np.array(settled if any(settled) else [leg.swing is None for leg in self._legs])

    def update(self, state: BodyState, measurement: Measurement, felt: np.ndarray,
               force: np.ndarray) -> WalkPlan:
        """
        Return the target of the base and the plan of the legs at an instant.

        Parameters
        ----------
        state : BodyState
            Pose, twist and places of the feet.
        measurement : Measurement
            Joint positions and velocities, in the model's order.
        felt : (nf,) array of bool
            Feet that are felt to bear.
        force : (nf, 3) array [N]
            Estimated force on each foot, in the axes of the foot.

        Returns
        -------
        WalkPlan

        """
        q, v = np.asarray(measurement.position), np.asarray(measurement.velocity)
        if not self._begun:
            self._begin(state, q)
        dt = self._tick(measurement.stamp_ns)
        self._moves = math.hypot(*state.twist[:2].tolist())
        gait = self.settings.gait if self.walk else 'stand'
        moving = gait != 'stand'
        if moving or not self._gait_name:
            self._choose(gait if moving else self._recovery)
        if self.state is Walking.STAND and not moving and self._pushed(state, dt):
            moving, self._calm = True, 0.0
            self._choose(self._recovery, RUSH)
        if self.state is Walking.RECOVER and not moving:
            moving = not self._recovered(dt)
            if not moving:
                self.state = Walking.STEP
        if moving and self.state is Walking.STAND:
            self.state = Walking.STEP if gait != 'stand' else Walking.RECOVER
            self._start(state)
            # The first foot is about to lift; a body that sways is led over the others before.
            self._clock = float((self._duty - self._offsets.max()) % 1.0) - 1e-3
            self._held = (3.0 * math.sqrt(self._com_height / GRAVITY) if self._sways else 0.0)
            self._sway = self._reference.copy()
        elif moving:
            self.state = Walking.STEP if gait != 'stand' else Walking.RECOVER
        elif self.state is Walking.STEP:
            self.state = Walking.STOP
        self._pace(dt)
        self._schedule(state, felt, force, dt)
        return self._plan(state, q, v, dt)

    def _pace(self, dt: float) -> None:
        """Let the velocity approach the one that is asked for."""
        x, y, turning = self._velocity.tolist()
        wanted = (0.0, 0.0, 0.0)
        if self.state is Walking.STEP:
            ahead, left, turn = self._wanted.tolist()
            # What the furthest foot goes back under the body in one stance.
            way = (math.hypot(ahead, left) + abs(turn) * self._arm) * self._duty * self._cycle
            part = min(1.0, REACH * self.height / way) if way else 1.0
            wanted = ahead * part, left * part, turn * part
        step = self.settings.acceleration * dt
        gap, faster = (wanted[0] - x, wanted[1] - y), wanted[2] - turning
        far = math.hypot(*gap)
        part = min(1.0, step / far) if far else 0.0
        self._velocity[:] = (x + gap[0] * part, y + gap[1] * part,
                             turning + min(max(faster, -3.0 * step), 3.0 * step))

    def _schedule(self, state: BodyState, felt: np.ndarray, force: np.ndarray,
                  dt: float) -> None:
        """Let legs lift and land."""
        legs, stepping = self._legs, self.state is not Walking.STAND
        self._rough *= max(1.0 - dt / (FORGOTTEN * self._cycle), 0.0)
        late = [leg for leg in legs if leg.swing is not None and leg.over > 0.0]
        still = all(leg.swing is None for leg in legs)
        if stepping:
            if self._held > 0.0:
                self._held -= dt
            elif late and self._waited < WAIT:
                self._waited += dt
            else:
                self._clock = (self._clock + dt / self._cycle) % 1.0
        if not late:
            self._waited = 0.0
        offsets, felt = self._offsets.tolist(), felt.tolist()
        for i, leg in enumerate(legs):
            phase = (self._clock + offsets[i]) % 1.0
            leg.since += dt
            if leg.swing is None:
                self._watch(i, state, felt[i])
                if phase < self._duty:
                    leg.early = False
                elif (self._steps_on() and not leg.early
                      and leg.since > 0.3 * self._duty * self._cycle and self._may_lift(i)):
                    self._lift(i, state)
                continue
            part = leg.since / self._swing_time
            leg.over = max(leg.since - self._swing_time, 0.0)
            touched, (up, across) = felt[i], directions(state.up, leg.turn, force[i])
            firm = part > EARLY and touched and up > max(FIRM * self._weight, across)
            leg.firm = leg.firm + dt if firm else 0.0
            leg.touch = leg.touch + dt if touched else 0.0
            if across > max(STUB * self._weight, up) and STUBBED[0] < part < STUBBED[1]:
                leg.swing.rise(RAISE * self.height * dt, RAISED * self.height)
            if touched and (leg.firm > LASTS or (leg.over > 0.0 and leg.touch > LATE)
                            or (part > NEARLY and self._above(state.foot_position[i])
                            < NEAR * self.height)):
                self._land(i, state, phase)
        if still and self.state is Walking.STOP and not self._steps_on():
            self.state, self._stood = Walking.STAND, False
            self._velocity[:] = self._gain[:] = 0.0

    def _tick(self, stamp: int) -> float:
        """Return the time since the last tick [s]."""
        dt = 0.0 if self._newest is None else min(max((stamp - self._newest) * 1e-9, 0.0), 0.02)
        self._newest = stamp
        return dt

    def _watch(self, foot: int, state: BodyState, felt: bool) -> None:
        """Notice that a foot that is to bear is in the air, and that it bears again."""
        leg = self._legs[foot]
        if felt and leg.loose:
            leg.loose, leg.since = False, 0.0
        elif (not felt and not leg.loose and leg.since > 2.0 * SETTLED
              and state.foot_offset[foot] > ADRIFT):
            others = sum(leg.swing is None for leg in self._legs) - 1
            if others < 2 or not self._ran or self.state is Walking.STAND:
                leg.loose = True
                return
            # It is lowered like a foot that lands late, against the friction of its joints too.
            self._lift(foot, state)
            leg.since = self._swing_time

    def _steps_on(self) -> bool:
        """Return whether feet are to lift: also to stop, until the body is slow."""
        return self.state in (Walking.STEP, Walking.RECOVER) or (
            self.state is Walking.STOP and (
                float(np.abs(self._velocity).max()) > SLOW or self._moves > FAST))

    def _start(self, state: BodyState) -> None:
        """Begin to walk from where the body is."""
        R = state.rotation
        self._yaw = math.atan2(R[1, 0], R[0, 0])
        self._reference = state.position[:2] + (R @ self._com)[:2]
        self._sway, self._level = self._reference.copy(), np.array([0.0, 0.0, state.position[2]])

    def _pushed(self, state: BodyState, dt: float) -> bool:
        """Return whether the capture point soon leaves the support of a standing robot."""
        if not self.settings.recovery or (len(self._feet) < 3 and not self._flat):
            return False
        R, omega = state.rotation, math.sqrt(GRAVITY / self._com_height)
        point = state.position + R @ self._com
        speed = R @ (state.twist[:3] + _cross(state.twist[3:], self._com))
        # A step takes time: what the body gains meanwhile counts as well.
        if self._stood and dt:
            part = min(1.0, dt / SMOOTHED)
            self._gain += part * ((speed[:2] - self._speed) / dt - self._gain)
        self._speed, self._stood = speed[:2], True
        capture = point[:2] + (speed[:2] + self._gain * (FORESIGHT / omega)) / omega
        edges = hull_edges(self._corners(state))
        if not len(edges):
            return False
        outside = float((edges[:, :2] @ capture - edges[:, 2]).max())
        return outside > -KEPT * self.height and float(speed @ speed) > FAST * FAST

    def _corners(self, state: BodyState) -> np.ndarray:
        """Return where the feet touch the ground, (n, 2) [m]."""
        if not self._flat:
            return state.foot_position[:, :2]
        found = []
        for place, foot in zip(state.foot_position, self._feet):
            corners = foot.corners - foot.center
            found.append(place[:2] + corners[:, :2] @ _heading(state.rotation)[:2, :2].T)
        return np.vstack(found)

    def _recovered(self, dt: float) -> bool:
        """Return whether the body has come to rest."""
        self._calm = self._calm + dt if self._moves < 0.5 * FAST else 0.0
        return self._calm > 0.5 * self._cycle

    def _may_lift(self, foot: int) -> bool:
        """Return whether the other feet can bear the body."""
        down = [i for i, leg in enumerate(self._legs) if leg.swing is None and i != foot]
        if self._flat:
            return bool(down)
        # A foot of the same beat lifts together with this one.
        return sum(self._legs[i].early or (self._clock + self._offsets[i]) % 1.0 < self._duty
                   for i in down) >= 2

    def _above(self, place: np.ndarray) -> float:
        """Return the height of a place over the plane of the last footholds."""
        a, b, c = self._plane
        return float(place[2] - a * place[0] - b * place[1] - c)

    def _lift(self, foot: int, state: BodyState) -> None:
        leg = self._legs[foot]
        start = state.foot_position[foot] + [0.0, 0.0, self._radius[foot]]
        rough = max(self._rough - ROUGH * self.height, 0.0)
        leg.swing = SwingPath(start, self._lower * self.settings.clearance * self.height + rough)
        leg.since = leg.over = leg.touch = 0.0
        leg.goal = start.copy()

    def _land(self, foot: int, state: BodyState, phase: float) -> None:
        leg = self._legs[foot]
        leg.early = phase >= self._duty
        off = abs(self._above(state.foot_position[foot]))
        self._rough = max(self._rough, min(off, RAISED * self.height))
        leg.swing, leg.goal, leg.since, leg.over, leg.firm = None, None, 0.0, 0.0, 0.0
        self._ran = True

    def _middle(self, state: BodyState) -> np.ndarray:
        return state.foot_position[:, :2].mean(axis=0)

    # ---- the plan --------------------------------------------------------------------------

    def _plan(self, state: BodyState, q: np.ndarray, v: np.ndarray, dt: float) -> WalkPlan:
        legs, n = self._legs, len(self._legs)
        stands = [leg.swing is None for leg in legs]
        bearing = np.array(stands)
        np.copyto(self._places, state.foot_position, where=self.trusted[:, None])
        self._plane = fit_plane(self._places, self._width)
        vx, vy, turn = self._velocity.tolist()
        self._yaw += turn * dt
        c, s = math.cos(self._yaw), math.sin(self._yaw)
        heading = np.array([[c, -s], [s, c]])
        motion = np.empty(6)
        move_center(state.rotation, state.position, state.twist, self._com, motion)
        arm, com, com_speed = motion[:2].tolist(), motion[2:4], motion[4:]
        # The command is the base's velocity; footholds and reference are of the centre of mass.
        speed = np.array([c * vx - s * vy - turn * arm[1], s * vx + c * vy + turn * arm[0]])
        target = self._base(state, com, com_speed, speed, heading, dt)
        moved = self._unmoved.copy()
        most = self._loads(bearing, n)
        if not all(stands):
            self._move_legs(state, q, v, com, com_speed, speed, heading, target, moved, dt)
        calm = self.state in (Walking.STEP, Walking.STOP)
        return WalkPlan(target, LegPlan(
            bearing, most, moved, self.walking,
            extra=self._against_friction(moved, v, dt) if self.walking else None,
            effort_fraction=self.settings.effort_fraction if calm else 1.0,
            falling=self.walking and self._falls))

    def _loads(self, bearing: np.ndarray, n: int) -> np.ndarray:
        """Return the largest normal force of each foot."""
        most = [math.inf] * n
        ramp, offsets = self.settings.ramp, self._offsets.tolist()
        for i, leg in enumerate(self._legs):
            part = 1.0
            if leg.loose:
                most[i] = LOWERED * self._weight
                continue
            if not bearing[i]:
                part = 0.0
            else:
                if leg.since < ramp and self._newest is not None and self._ran:
                    part = 0.05 + leg.since / ramp
                phase = (self._clock + offsets[i]) % 1.0
                left = (self._duty - phase) * self._cycle
                if 0.0 < left < ramp and self._steps_on():
                    part = min(part, 0.05 + left / ramp)
            if part < 1.0:
                most[i] = part * self._weight
        return np.array(most)

    def _base(self, state: BodyState, com: np.ndarray, com_speed: np.ndarray, speed: np.ndarray,
              heading: np.ndarray, dt: float) -> BodyTarget:
        """Move the reference of the base."""
        omega = math.sqrt(GRAVITY / self._com_height)
        if self.state is Walking.STAND:
            step = min(1.0, omega * dt)
            self._reference = self._reference + step * (self._middle(state) - self._reference)
        elif self.state is Walking.STOP and all(leg.swing is None for leg in self._legs):
            self._reference = com + com_speed * RESTS
        self._reference = self._reference + speed * dt
        leash = self.settings.leash * self.height
        if not self._sways:
            lead = self._reference - com
            far = math.hypot(*lead.tolist())
            if far > leash:
                self._reference = com + lead * (leash / far)
        wanted, drive, pull = self._reference, speed, NOWHERE
        if self._sways:
            dcm, pressure = self._preview(state, speed, omega)
            drive = omega * (dcm - self._sway)
            pull = omega * omega * (self._sway - pressure)
            self._sway = self._sway + dt * drive
            lead = self._sway - com
            far = math.hypot(lead[0], lead[1])
            if far > leash:
                off = lead * (1.0 - leash / far)
                self._sway, self._reference = self._sway - off, self._reference - off
            wanted = self._sway
        self._drive, self._goal_com = drive, wanted
        # Filter the plane: it jumps when a foot lands.
        gain, R, turning = min(1.0, dt * omega / RISES), state.rotation, float(self._velocity[2])
        tilts, (a, b), level = min(1.0, dt * omega / TILTS), self._slope.tolist(), self._level
        a, b = a + tilts * (self._plane[0] - a), b + tilts * (self._plane[1] - b)
        self._slope[:] = a, b
        R_d, packed = np.empty((3, 3)), np.zeros(24)
        alike = stand_on_slope(self._slope, heading, R, R_d)
        # A body that leans far gets up again as it lands; it is not lost for that.
        if alike < 1.0 + 2.0 * math.cos(LEANS) and R[2, 2] > UPSIDE:
            off = rotation_vector(R.T @ R_d)
            R_d = R @ rotation_from_vector(off * (LEANS / np.linalg.norm(off)))
        x, y = com_speed.tolist()
        level[0], level[1], level[2] = self.height, gain, level[2] + dt * (a * x + b * y)
        fill_target(wanted, drive, pull, turning, R_d, self._com, self._plane, self._level, packed)
        return BodyTarget(packed)

    def _preview(self, state: BodyState, speed: np.ndarray, omega: float
                 ) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the divergent component of motion, and the centre of pressure, of the coming steps.

        The component that stays bounded is ``xi = omega int_0^inf p(t + s) exp(-omega s) ds`` of
        the centre of pressure p that the gait plans (Englsberger 2015, eq. 16).
        """
        if self.state is Walking.STAND:
            middle = self._middle(state)
            return middle, middle
        times = PREVIEW / omega
        phase = (self._clock + self._offsets + times[:, None] / self._cycle)
        whole = np.floor(phase)
        stands = (phase - whole < self._duty).astype(float)
        stands[0] = [leg.swing is None for leg in self._legs]
        path = self._reference + times[:, None] * speed
        c, s = math.cos(self._yaw), math.sin(self._yaw)
        hips = self._hips @ np.array([[c, s], [-s, c]])
        here = np.array([state.foot_position[i, :2] if leg.goal is None else leg.goal[:2]
                         for i, leg in enumerate(self._legs)])
        # A foot stays where it stands, or lands, until it lifts next; then it is under its hip.
        kept = phase - whole[0] < self._duty + (phase[0] - whole[0] >= self._duty)
        places = np.where(kept[:, :, None], here, path[:, None] + hips)
        middle = places.mean(axis=1)
        count = np.maximum(stands.sum(axis=1), 1.0)[:, None]
        pressure = (stands[:, :, None] * places).sum(axis=1) / count
        pressure = middle + self._sways * (pressure - middle)
        return WEIGHTS @ pressure, pressure[0]

    def _move_legs(self, state: BodyState, q: np.ndarray, v: np.ndarray, com: np.ndarray,
                   com_speed: np.ndarray, speed: np.ndarray, heading: np.ndarray,
                   target: BodyTarget, moved: np.ndarray, dt: float) -> None:
        """Fill accelerations of the swinging legs' joints."""
        s = self.settings
        bearing = [leg.swing is None for leg in self._legs]
        members = [i for i, stands in enumerate(bearing) if not stands]
        swing, motions = self._swinging(members), []
        a, b, c0 = self._plane
        # Across the ground as complex numbers: of two elements arrays are slow.
        here, pace, wanted, ahead = (complex(*part.tolist()) for part in (
            com, com_speed, speed, heading[:, 0]))
        turning = float(self._velocity[2])
        for i in members:
            leg = self._legs[i]
            left = max(self._swing_time - leg.since, 0.0)
            part = leg.since / self._swing_time
            if left > 0.25 * self._swing_time or leg.goal is None:
                then, fast = here + pace * left, pace
                if self.state is Walking.RECOVER and any(bearing):
                    then, fast = (complex(*part) for part in fall(
                        com, com_speed, self._places[bearing, :2].mean(axis=0),
                        self._com_height, left))
                hip = ahead * cmath.rect(1.0, turning * left) * complex(*self._hips[i].tolist())
                hip += 0.5j * turning * self._step_time * hip
                place = then + hip + self._limit(pendulum_step(
                    fast, wanted, self._com_height, self._step_time, s.capture))
                if self._sways:
                    # Until the foot lands the pendulum falls further away from its reference.
                    omega = math.sqrt(GRAVITY / self._com_height)
                    off = com - self._goal_com + (com_speed - self._drive) / omega
                    off = off * (math.exp(min(omega * left, 1.0)) * s.capture)
                    middle = self._reference + (left + 0.5 * self._duty * self._cycle) * speed
                    place = complex(*middle) + hip + self._limit(complex(*off))
                leg.goal = np.array([place.real, place.imag, (
                    a * place.real + b * place.imag + c0 + self._radius[i]
                    - PRESS * self.height)])
            assert leg.swing is not None
            motion = leg.swing.advance(leg.goal, part, left, self._swing_time, dt)
            if leg.over > 0.0:
                lower(motion, s.lowering * self.height, leg.over)
            motions.append(motion)
        gains = (s.foot_frequency ** 2, 2.0 * s.foot_frequency)
        body = self._body
        body[:9], body[9:12], body[12:] = state.rotation.reshape(9), state.position, state.twist
        self.away = swing.accelerations(body, q, v, motions, target.rotation, gains, 0.05, moved)
        for k, i in enumerate(members):
            self._legs[i].turn = swing.turn(k)

    def _swinging(self, members: list[int]) -> SwingLegs:
        """Return the legs of the feet that swing now."""
        key = bytes(members)
        if key not in self._swings:
            self._swings[key] = SwingLegs(self.model, self._feet, members)
        self._learnt_of = self._swings[key].learnt
        return self._swings[key]

    def _against_friction(self, moved: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
        """
        Return efforts against dry friction of joints that is not known.

        It would leave a light leg behind, and brake a body that moves over its feet. It is learnt
        from the corrections of swings, as in adaptive control (Slotine and Li 1987).
        """
        effort = np.empty(len(v))
        learn_friction(self._learnt_of, moved, v, self._inertia, self._most_friction, dt, LEARNS,
                       SLIDES, self.borne, self._seen, self._friction, effort)
        return effort

    def _limit(self, step: complex) -> complex:
        """Keep a step within the reach of a leg."""
        most, size = 0.55 * self.height, abs(step)
        return step * (most / size) if size > most else step


def _heading(R: np.ndarray) -> np.ndarray:
    """Return the rotation about the vertical by the heading of an orientation."""
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return ``a x b``; numpy's takes ten times as long."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])
