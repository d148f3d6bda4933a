# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Walker of robots on two soles: steps along a planned divergent component of motion.

Double and single support follow each other. The centre of pressure is to move from sole to sole
while both bear and to rest in the middle of one while the other foot swings; the divergent
component that belongs to it is planned backwards over the coming steps, from the places where the
feet stand (:mod:`divergent`). The centre of pressure that takes its error away goes to the
controller as the acceleration of the centre of mass, with the soles' edges as its limit; errors
that a sole cannot take away move the next foothold and hasten it. Height and orientation of the
base are the servo's, as in standing.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from legged_dynamics.dynamics.composite_body import CompositeBody
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.leg_odometry import SETTLED, BodyState
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import body_poses, link_pose
from legged_dynamics.spatial.convex_hull import convex_hull
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.controller import LegPlan
from legged_dynamics.workspace.pressure import Pressure
from legged_dynamics.workspace.walking.divergent import (
    Shift,
    divergent_start,
    step_correction,
    step_share,
)
from legged_dynamics.workspace.walking.settings import WalkSettings
from legged_dynamics.workspace.walking.swing import SwingPath, lower
from legged_dynamics.workspace.walking.walker import (
    EARLY,
    FIRM,
    NEAR,
    NEARLY,
    PRESS,
    SLOW,
    Walker,
    Walking,
    WalkPlan,
)

# Steps that are planned ahead.
AHEAD = 3
# Gains of the divergent component: proportional [1/s], walking and held in place, and integral
# [1/s], and the largest part of the integral [m].
HOLD, FIRMLY, LEARN, LEARNT = 4.0, 8.0, 1.0, 0.03
# Part of a sole's half length and width that feedback of the centre of pressure may use, and the
# part with which a step reckons.
USED, RECKONED = 0.9, 0.5
# Duration of the first and of the last shift of the weight, in time constants of the pendulum.
FIRST, LAST = 3.0, 3.0
# Least distance between the middles of feet, as a part of that in the standing pose.
APART = 0.8
# A foothold is fixed for this last part of a swing.
FIXED = 0.2
# A standing robot is pushed when its divergent component is off its target by this part of its
# height, and its velocity by this [m/s].
PUSHED, QUICK = 0.03, 0.08
# How fast the base may be turned where the soles do not suffice [rad/s^2], and up to which tilt
# [rad].
LEAN, LEANT = 20.0, 0.25
# A foot of a robot that holds a push swings when it bears less than this part of the weight and
# the divergent component is beyond the other foot.
LIGHT = 0.06
# A push to the side is stepped for from this far beyond the soles on [m]: a step to the side first
# throws the body there.
BESIDE = 0.05
# How far a step leads back to the way of the walk at most, in widths of the stance.
BACK = 0.15
# Longest step and largest clearance, in heights of the body.
REACH, LIFT = 0.4, 0.06
# How much faster than planned a foot swings when it must land far from its planned place.
HASTE = 1.5
# Time constant of the height of the base [s].
SMOOTH = 0.15
# Longest time that a robot waits to be at rest before its walk ends [s].
LONGEST = 1.0


class BipedWalker(Walker):
    """
    Walks a robot of two soles by a divergent component of motion that is planned step by step.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base and 1-DoF joints.
    config : RobotConfig
        Its two soles and its standing pose.
    settings : WalkSettings or mapping, optional
        Checked settings, or dotted names of `walking.settings.SETTINGS`.

    """

    borne = 0.0     # friction of legs that bear is the feedback's of the divergent component

    def __init__(self, model: RobotModel, config: RobotConfig,
                 settings: WalkSettings | Mapping[str, Any] | None = None):
        self._composite = CompositeBody(config.apply_to(model))
        super().__init__(model, config, settings)

    def reset(self) -> None:
        """Forget everything; the next tick starts from the stance that the robot has."""
        super().reset()
        self._support: int | None = None    # foot that bears, or that is about to bear alone
        self._learnt = np.zeros(2)
        self._ending = self._walk_wanted = self._going = False
        self._ground, self._foot_yaw = 0.0, [0.0, 0.0]

    def update(self, state: BodyState, measurement: Measurement, felt: np.ndarray,
               force: np.ndarray) -> WalkPlan:
        """Return the target of the base and the plan of the legs at an instant."""
        q, v = np.asarray(measurement.position), np.asarray(measurement.velocity)
        if not self._begun:
            self._begin(state, q)
            self._measure_feet(state)
        dt = self._tick(measurement.stamp_ns)
        moving = self._walk_wanted = self.walk and self.settings.gait != 'stand'
        self._choose(self.settings.gait if moving else self._gait_name or self.usual)
        self._both = (self._duty - 0.5) * self._cycle
        if self.state is Walking.STAND:
            if moving:
                self._set_out(state, Walking.STEP)
            elif self._is_pushed(state):
                self._set_out(state, Walking.RECOVER)
        elif moving:
            self.state = Walking.STEP
        elif self.state is Walking.STEP:
            self.state = Walking.STOP
        self._pace(dt)
        for i, leg in enumerate(self._legs):
            leg.since += dt
            if self.state is Walking.STAND:
                self._watch(i, state, bool(felt[i]))
            else:
                leg.loose = False
        if self.state is not Walking.STAND:
            self._look(state, q, v, dt)
            self._advance(state, felt, np.linalg.norm(force, axis=1), dt)
        if self.state is not Walking.STAND:
            return self._follow(state, q, v, dt)
        return self._plan(state, q, v, dt)

    # ---- phases ----------------------------------------------------------------------------

    def _measure_feet(self, state: BodyState) -> None:
        """Take where the soles are under the body, from the standing pose."""
        bodies = body_poses(self.model, self._config.nominal_in(self.model))
        level = _yawed(math.atan2(state.rotation[1, 0], state.rotation[0, 0])).T @ state.rotation
        poses = [link_pose(self.model, bodies, foot.link) for foot in self._feet]
        places = np.array([level @ (pose.p + foot.touching(pose.R, level[2], foot.center))
                           for pose, foot in zip(poses, self._feet)])
        self._beneath = (places - places.mean(axis=0))[:, :2]
        self._turns = [_yawed(math.atan2(R[1, 0], R[0, 0]))
                       for R in (level @ pose.R for pose in poses)]
        self._apart = float(np.hypot(*(self._beneath[0] - self._beneath[1])))

    def _set_out(self, state: BodyState, why: Walking) -> None:
        """Leave the stand: shift the weight for a first step, or hold what a push moves."""
        self.state = why
        self._start(state)
        omega = math.sqrt(GRAVITY / self._com_height)
        self._foot_yaw, self._rise = [self._yaw, self._yaw], float(state.position[2])
        self._ground = float(state.foot_position[:, 2].mean())
        self._from, self._learnt[:], self._light = self._middle(state), 0.0, 0.0
        self._support, self._ending, self._going = 1, why is Walking.RECOVER, False
        self._duration = self._left = (LAST if self._ending else FIRST) / omega

    def _is_pushed(self, state: BodyState) -> bool:
        """Return whether a standing robot is moved by more than its target."""
        place, speed = self._middle(state), np.zeros(2)
        R, turn = state.rotation, np.eye(3)
        if self.led is not None:
            turn = self.led.rotation
            place = (self.led.position + turn @ self._com)[:2]
            speed = (turn @ self.led.twist[:3])[:2]
        off = (state.position + R @ self._com)[:2] - place
        fast = (R @ (state.twist[:3] + np.cross(state.twist[3:], self._com)))[:2] - speed
        off = off + fast / math.sqrt(GRAVITY / self._com_height)
        return bool(self.settings.recovery and np.hypot(*off) > PUSHED * self.height
                    and np.hypot(*fast) > QUICK)

    def _must_step(self, state: BodyState) -> bool:
        """Return whether a robot that stands is pushed further ahead or back than its soles."""
        if not self.settings.recovery:
            return False
        turn = self._heading
        place = turn.T @ (self._xi - self._middle(state))
        ends = np.array([turn.T @ (corner - self._middle(state))
                         for corner in self._soles(state, np.ones(2, bool))])
        low, high = ends.min(axis=0), ends.max(axis=0)
        return bool(place[0] > high[0] or place[0] < low[0]
                    or place[1] > high[1] + BESIDE or place[1] < low[1] - BESIDE)

    def _look(self, state: BodyState, q: np.ndarray, v: np.ndarray, dt: float) -> None:
        """Find the centre of mass, its velocity and its divergent component."""
        M, R = self._composite.mass_matrix(q), state.rotation
        mass = M[0, 0]
        arm = np.array([M[1, 5], M[2, 3], M[0, 4]]) / mass
        self._center = state.position + R @ arm
        momentum = M[:3, :6] @ state.twist + M[:3, 6:] @ v
        self._drift = R @ momentum / mass
        bearing = [i for i, leg in enumerate(self._legs) if leg.swing is None]
        ground = float(state.foot_position[bearing, 2].mean())
        self._ground += min(1.0, dt / (0.3 * SMOOTH)) * (ground - self._ground)
        self._omega = math.sqrt(GRAVITY / max(self._center[2] - self._ground, 0.3 * self.height))
        self._xi = self._center[:2] + self._drift[:2] / self._omega

    def _advance(self, state: BodyState, felt: np.ndarray, force: np.ndarray, dt: float) -> None:
        """Go through double and single support."""
        assert self._support is not None
        self._yaw += self._velocity[2] * dt
        foot = next((i for i, leg in enumerate(self._legs) if leg.swing is not None), None)
        if foot is None:
            self._left -= dt
            if self._ending:
                self._hold(state, force, dt)
            elif self._left <= 0.0:
                self._swing_foot(1 - self._support, state)
            return
        leg = self._legs[foot]
        self._part += dt * self._hurry / self._swing_time
        self._left = max(1.0 - self._part, 0.0) * self._swing_time / self._hurry
        leg.over = leg.over + dt if self._part >= 1.0 else 0.0
        if felt[foot] and ((self._part > EARLY and force[foot] > FIRM * self._weight)
                           or leg.over > 0.0
                           or (self._part > NEARLY and state.foot_position[foot, 2]
                               - self._ground < NEAR * self.height)):
            self._put_down(foot, state)

    def _hold(self, state: BodyState, force: np.ndarray, dt: float) -> None:
        """Stand between both feet; step when that does not hold the body."""
        light = int(np.argmin(force))
        bearing = state.foot_position[1 - light]
        over = (self._xi - bearing[:2]) @ (bearing - state.foot_position[light])[:2] > 0.0
        self._light = (self._light + dt if over and force[light] < LIGHT * self._weight else 0.0)
        if self.settings.recovery and self._light > SETTLED:
            self._support, self._ending = 1 - light, False
            self._swing_foot(light, state)
        elif self._must_step(state):
            # With the foot of the side to which the body falls.
            across = (self._xi - self._middle(state)) @ (
                state.foot_position[0] - state.foot_position[1])[:2]
            self._support = 1 if across >= 0.0 else 0
            self._from, self._ending = self._middle(state), False
            self._duration = self._left = 0.5 * self._both
        elif self._left <= 0.0 and (math.hypot(*self._drift[:2]) < 0.5 * SLOW
                                    or self._left < -LONGEST):
            self.state, self._support = Walking.STAND, None
            self._velocity[:] = 0.0
            self._reference = state.position[:2] + (state.rotation @ self._com)[:2]
            self._sway = self._reference.copy()

    def _swing_foot(self, foot: int, state: BodyState) -> None:
        """Let a foot swing."""
        self._lift(foot, state)
        self._legs[foot].swing = SwingPath(
            state.foot_position[foot], min(self.settings.clearance, LIFT) * self.height)
        self._part, self._left, self._hurry, self._going = 0.0, self._swing_time, 1.0, True
        self._lift_yaw = self._foot_yaw[foot]

    def _put_down(self, foot: int, state: BodyState) -> None:
        """Let a foot that has landed take over the weight."""
        self._from = state.foot_position[self._support, :2].copy()
        self._land(foot, state, 0.0)
        self._support, self._duration = foot, self._both
        # A foot that lands a little early keeps the time of its step.
        self._left = self._both + min(self._left, 0.25 * self._swing_time)
        ahead = (state.foot_position[foot] - state.foot_position[1 - foot])[:2]
        beside = self._heading @ (self._beneath[foot] - self._beneath[1 - foot])
        # A walk ends with the feet beside each other and the weight between them.
        still = not self._steps_on() if self.state is not Walking.RECOVER else (
            not self._walk_wanted and not self._must_step(state))
        if still and float(np.hypot(*(ahead - beside))) < 0.25 * self._apart:
            self._ending = True
            self._duration = self._left = LAST / self._omega

    # ---- the plan --------------------------------------------------------------------------

    @property
    def _heading(self) -> np.ndarray:
        """Rotation about the vertical by the heading of the walk, (2, 2)."""
        return _yawed(self._yaw)[:2, :2]

    @property
    def _travel(self) -> np.ndarray:
        """Velocity of the centre of mass, axes of the heading, (2,); that of the base is asked."""
        vx, vy, turning = self._velocity.tolist()
        ahead, left = self._shift.tolist()
        return np.array([vx - turning * left, vy + turning * ahead])

    def _beside(self, foot: int, other: np.ndarray, wait: float, back: float) -> np.ndarray:
        """
        Return where a foot is planned to land when the other stands at a place.

        ``wait`` is the time until then; the step leads back to the way of the walk by up to
        ``back`` [m].
        """
        yaw = self._yaw + self._velocity[2] * wait
        turn = _yawed(yaw)[:2, :2]
        step = self._beneath[foot] - self._beneath[1 - foot] + self._travel * (
            self._swing_time + self._both)
        if back:
            way = self._reference + self._heading @ self._travel * (wait + 0.5 * self._both)
            off = turn.T @ (way - other) - 0.5 * step
            step = step + np.clip(off, -back, back)
        side = math.copysign(1.0, self._beneath[foot, 1] - self._beneath[1 - foot, 1])
        step[1] = side * max(side * step[1], APART * self._apart)
        return other + turn @ step

    def _shifts(self, state: BodyState, goal: np.ndarray | None) -> list[Shift]:
        """Return the planned way of the centre of pressure from now on."""
        assert self._support is not None
        support = self._support
        here = state.foot_position[support, :2]
        left = max(self._left, 0.0)
        if goal is None:
            end = self._middle(state) if self._ending else here
            done = max(1.0 - left / self._duration, 0.0)
            start = self._from + done * (end - self._from)
            early = max(left - self._duration, 0.0)
            shifts = [Shift(start, start, early), Shift(start, end, left - early)]
            if self._ending:
                return shifts
            shifts.append(Shift(here, here, self._swing_time))
            wait = left + self._swing_time
        else:
            shifts, wait = [Shift(here, here, left)], left
        for step in range(AHEAD):
            foot = 1 - support
            place = (goal if goal is not None and step == 0
                     else self._beside(foot, here, wait, BACK * self._apart * (step == 0)))
            shifts.append(Shift(here, place, self._both))
            shifts.append(Shift(place, place, self._swing_time))
            support, here = foot, place
            wait += self._both + self._swing_time
        return shifts

    def _follow(self, state: BodyState, q: np.ndarray, v: np.ndarray, dt: float) -> WalkPlan:
        """Return the target of the base, the wanted centre of pressure and the swinging foot."""
        if self._going:
            self._reference = self._reference + self._heading @ self._travel * dt
        lead, leash = self._reference - self._center[:2], self.settings.leash * self.height
        self._reference = self._center[:2] + lead * min(1.0, leash / max(
            float(np.hypot(*lead)), 1e-9))
        omega, bearing = self._omega, np.array([leg.swing is None for leg in self._legs])
        foot = -1 if bearing.all() else int(np.argmin(bearing))
        goal = None if foot < 0 else self._planned(state, foot)
        shifts = self._shifts(state, goal)
        error = self._xi - divergent_start(shifts, omega)
        if goal is not None and self._part <= 1.0 - FIXED:
            moved_to = self._corrected(state, foot, goal, error)
            error = error - step_share(omega, self._left, self._both) * (moved_to - goal)
            goal = moved_to
        learnt = self._learnt + LEARN * dt * error
        self._learnt = np.minimum(np.maximum(learnt, -LEARNT), LEARNT)
        gain = 1.0 + (FIRMLY if self._ending else HOLD) / omega
        point = shifts[0].start + gain * error + self._learnt
        turn = _yawed(self._yaw)
        off = math.acos(min(float(state.rotation[2, 2]), 1.0))
        lean = LEAN * max(1.0 - off / LEANT, 0.0) * (self.state is Walking.RECOVER)
        pressure = Pressure(point, self._soles(state, bearing), self._center, self._ground, lean)
        self._rise += min(1.0, dt / SMOOTH) * (self._ground + self.height - self._rise)
        along = state.rotation @ state.twist[:3]
        velocity = turn.T @ np.array([along[0], along[1], 0.0])
        packed = np.concatenate([turn.ravel(), state.position[:2], [self._rise], velocity,
                                 [0.0, 0.0, self._velocity[2]], np.zeros(6)])
        moved = self._unmoved.copy()
        most = np.where(bearing, np.inf, 0.0)
        if goal is not None:
            body = np.concatenate([state.rotation.ravel(), state.position, state.twist])
            self._move_foot(foot, body, q, v, goal, moved, dt)
        extra = self._against_friction(moved, v, dt) if self.walking else None
        return WalkPlan(BodyTarget(packed), LegPlan(bearing, most, moved, True, pressure, extra))

    def _planned(self, state: BodyState, foot: int) -> np.ndarray:
        """Return where the swinging foot is planned to land, (2,)."""
        leg = self._legs[foot]
        assert leg.goal is not None
        if self._part > 1.0 - FIXED:
            return leg.goal[:2]
        return self._beside(foot, state.foot_position[1 - foot, :2], self._left,
                            BACK * self._apart)

    def _corrected(self, state: BodyState, foot: int, planned: np.ndarray, error: np.ndarray
                   ) -> np.ndarray:
        """Return where the swinging foot is to land, (2,), and set how fast it goes there."""
        here, turn = state.foot_position[1 - foot, :2], self._heading
        front, back, left, right = self._feet[1 - foot].edges
        reach = 0.5 * RECKONED * np.array([front - back, left - right])
        off = step_correction(error @ turn, self._omega, self._left, self._both, reach)
        x, y = ((planned - here) @ turn + off).tolist()
        most = REACH * self.height
        side = math.copysign(1.0, self._beneath[foot, 1] - self._beneath[1 - foot, 1])
        y = side * min(max(side * y, APART * self._apart), self._apart + most)
        x = min(max(x, -most), most)
        far = min(math.hypot(*off.tolist()) / (0.1 * self.height), 1.0)
        self._hurry = 1.0 + far * (HASTE - 1.0)
        return here + turn @ (x, y)

    def _soles(self, state: BodyState, bearing: np.ndarray) -> np.ndarray:
        """Return the polygon in which the centre of pressure may be, (k, 2) counterclockwise."""
        found = []
        for i in np.flatnonzero(bearing):
            front, back, left, right = self._feet[i].shrunk(1.0 - USED).edges
            x, y = 0.5 * (front - back), 0.5 * (left - right)
            corners = np.array([[x, y], [-x, y], [-x, -y], [x, -y]])
            turn = (_yawed(self._foot_yaw[i]) @ self._turns[i])[:2, :2]
            found.append(state.foot_position[i, :2] + corners @ turn.T)
        if len(found) == 1:
            return found[0]
        return convex_hull(np.vstack(found))

    def _move_foot(self, foot: int, body: np.ndarray, q: np.ndarray, v: np.ndarray,
                   goal: np.ndarray, moved: np.ndarray, dt: float) -> None:
        """Fill the accelerations of the swinging leg's joints."""
        s, leg = self.settings, self._legs[foot]
        assert leg.swing is not None
        leg.goal = np.array([goal[0], goal[1], self._ground - PRESS * self.height])
        motion = leg.swing.advance(leg.goal, self._part, self._left,
                                   self._swing_time / self._hurry, dt)
        if leg.over > 0.0:
            lower(motion, s.lowering * self.height, leg.over)
        x = min(self._part, 1.0)
        turned = self._yaw + self._velocity[2] * self._left - self._lift_yaw
        self._foot_yaw[foot] = self._lift_yaw + turned * x ** 3 * (10.0 - 15.0 * x + 6.0 * x * x)
        gains = (s.foot_frequency ** 2, 2.0 * s.foot_frequency)
        self.away = self._swinging([foot]).accelerations(
            body, q, v, [motion], _yawed(self._foot_yaw[foot]) @ self._turns[foot], gains, 0.05,
            moved)


def _yawed(angle: float) -> np.ndarray:
    """Return the rotation about the vertical by an angle."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def make_walker(model: RobotModel, config: RobotConfig,
                settings: WalkSettings | Mapping[str, Any] | None = None) -> Walker:
    """
    Make the walker that suits a robot.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base and 1-DoF joints.
    config : RobotConfig
        Its feet and its standing pose.
    settings : WalkSettings or mapping, optional
        Checked settings, or dotted names of `walking.settings.SETTINGS`.

    Returns
    -------
    Walker
        A BipedWalker for two soles, each on a leg of six joints; else a Walker.

    """
    model = config.apply_to(model)
    steps = len(config.feet) == 2 and all(
        len(foot.outline) == 4 and len(model.chain(model.frame(foot.link).body)) >= 6
        for foot in config.feet)
    return (BipedWalker if steps else Walker)(model, config, settings)
