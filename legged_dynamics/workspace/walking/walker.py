# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Walker: a velocity in, a target of the base and a plan of the legs out.

Its parts, each with frozen settings and a small state: gaits (:mod:`gaits`), the contact schedule
(:mod:`schedule`), footholds (:mod:`footholds`), swings (:mod:`swing`), the reference of the body
(:mod:`reference`) and the supervisor (:mod:`supervisor`). They are the same for two, four and six
feet. Two soles, each on a leg of six joints, are controlled by the centre of pressure under them;
a robot on points follows a moving target and falls like a pendulum from foothold to foothold.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.dynamics.composite_body import CompositeBody
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.leg_odometry import SETTLED, BodyState
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.controller import LegPlan, WorkspaceController
from legged_dynamics.workspace.walking.divergent import PressurePlan, divergent_start
from legged_dynamics.workspace.walking.footholds import (
    STEPS,
    Course,
    Floor,
    Footholds,
    Reach,
    easiest_stance,
    fall,
    step_share,
)
from legged_dynamics.workspace.walking.gaits import GAITS, Timing, fastest, offsets_of, part_walked
from legged_dynamics.workspace.walking.reference import REFERENCE, BodyReference, PressureReference
from legged_dynamics.workspace.walking.schedule import ContactSchedule
from legged_dynamics.workspace.walking.settings import WalkSettings
from legged_dynamics.workspace.walking.stance import Pendulum, Stance, moving_pendulum, turned
from legged_dynamics.workspace.walking.supervisor import (
    SUPERVISOR,
    PushWatch,
    Supervisor,
    Walking,
    must_step,
)
from legged_dynamics.workspace.walking.swing import SwingControl

# Largest speed by default, as a part of that of a shallow wave, sqrt(g h): what the lowest robot
# of the table of gaits (solo_class) walks.
FROUDE = 0.52


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
    walk : bool
        Whether to walk in the gait of the settings; else the robot comes to a stand.
    rest : bool
        Whether to sit once the robot stands: it takes no walk and steps for no push then.
    age : float [s]
        From a sensor's stamp to its effort at the motor. Beyond half of what the gait bears the
        robot slows down and begins no walk, beyond three quarters it stops.
    led : BodyTarget, optional
        Target of the base that others move while the robot stands; None when nobody does.

    """

    led: BodyTarget | None = None
    age = 0.0

    def __init__(self, model: RobotModel, config: RobotConfig,
                 settings: WalkSettings | Mapping[str, Any] | None = None):
        self.model, self._config, feet = config.apply_to(model), config, config.feet
        self._weight = self.model.total_mass * GRAVITY
        # Whether the centre of pressure under two soles moves the body.
        self._composite = CompositeBody(self.model) if len(feet) == 2 and all(
            len(foot.outline) == 4
            and len(self.model.chain(self.model.frame(foot.link).body)) >= 6
            for foot in feet) else None
        self._unmoved, self._body = np.full(self.model.nv, np.nan), np.zeros(18)
        self._narrowing: np.ndarray | None = None
        self._reach: Reach | None = None
        self.configure(settings)
        self.reset()

    def configure(self, settings: WalkSettings | Mapping[str, Any] | None = None) -> None:
        """Use checked settings, or dotted names (defaults unless given), from the next tick on."""
        if not isinstance(settings, WalkSettings):
            settings = WalkSettings.from_parameters(settings)
        self.settings = settings

    def check(self, gait: str) -> None:
        """Raise ConfigurationError unless the robot has feet and legs for a gait of `GAITS`."""
        n = len(self._config.feet)
        offsets_of(gait, self._stance.places if self._stance else np.array(
            [[-float(i // 2), 1.0 - 2.0 * (i % 2)] for i in range(n)]))
        if n == 2 and self._composite is None and gait != 'stand':
            raise ConfigurationError(f'{gait}: expected two soles, each on a leg of six joints; '
                                     'such a robot can only stand')

    def reset(self) -> None:
        """Forget everything; the next tick starts from the stance that the robot has."""
        self.walk, self.rest = True, False
        self._supervisor = Supervisor()
        self._newest: int | None = None
        self._wanted, self.velocity = np.zeros((2, 3))
        self._stance: Stance | None = None

    @property
    def state(self) -> Walking:
        """What the legs do."""
        return self._supervisor.state

    @property
    def height(self) -> float:
        """Height of the base's origin over the ground [m]; 0 before the first tick."""
        return self._stance.height if self._stance else 0.0

    @property
    def gait(self) -> str:
        """Gait that is walked, or would be."""
        return self.settings.gait if self.settings.gait != 'stand' else self.usual

    @property
    def usual(self) -> str:
        """Gait for those who do not choose one."""
        return 'steps' if len(self._config.feet) == 2 else 'trot'

    @property
    def fastest(self) -> tuple[float, float, float]:
        """Largest velocity ahead, to the left [m/s] and of turning [rad/s], each by itself."""
        ahead, left, turning = fastest(self.gait)
        most = self.settings.speed or min(
            ahead, FROUDE * math.sqrt(GRAVITY * self.height) if self.height else math.inf)
        return most, left * most / ahead, self.settings.turning or turning

    @property
    def walking(self) -> bool:
        """Whether legs step, or are about to."""
        return self.state not in (Walking.STAND, Walking.SIT)

    @property
    def lowered(self) -> list[int]:
        """Numbers of feet that are to bear and are in the air."""
        return [i for i, leg in enumerate(self._schedule.legs) if leg.loose] if (
            self._stance) else []

    @property
    def trusted(self) -> np.ndarray:
        """Feet whose places tell where the body is, (nf,) of bool: those that bear for a while."""
        return self._schedule.trusted if self._stance else np.ones(len(self._config.feet), bool)

    @property
    def planned(self) -> np.ndarray:
        """Feet that are to bear, by the plan alone, (nf,) of bool."""
        return np.array([leg.swing is None or leg.part >= 1.0 for leg in self._schedule.legs])

    @property
    def _late(self) -> float:
        """Age of the loop, as a part of what the gait bears."""
        return self.age / GAITS[self.gait].delay

    @property
    def troubles(self) -> str:
        """What slows the robot down, for people; empty for nothing."""
        found = []
        if self._late > 0.5:
            found.append(f'efforts come {1e3 * self.age:.0f} ms after their sensors, {self.gait} '
                         f'bears {1e3 * GAITS[self.gait].delay:.0f} ms: '
                         + ('slower' if self._late < 0.75 else 'it stops'))
        if self._stance and self._footholds.shortened and self.walking:
            feet = ', '.join(self._config.feet[i].link for i in sorted(self._footholds.shortened))
            found.append(f'steps of {feet} shortened to their reach')
        return '; '.join(found)

    def command(self, ahead: float, left: float, turning: float) -> float:
        """
        Ask for a velocity of the base, own axes [m/s, rad/s]; return the part that is walked.

        Within `fastest`, and among the combinations of axes that the gait has been tried with.
        """
        x, y, yaw = self.fastest
        part = part_walked(self.gait, (ahead / x, left / y, turning / yaw))
        self._wanted[:] = ahead * part, left * part, turning * part
        return part

    def warm(self, state: BodyState, measurement: Measurement,
             controller: WorkspaceController) -> None:
        """Run a step once from a stance, the controller's too: compile kernels, make arrays."""
        self.reset()
        n = len(self._config.feet)
        still = self.update(state, measurement, np.ones(n, bool), np.zeros((n, 3)))
        q, v = np.asarray(measurement.position), np.asarray(measurement.velocity)
        members = list(range(n // 2)) or [0]
        goals, moved = np.zeros((len(members), 18)), self._unmoved.copy()
        goals[:, :3], goals[:, 9:] = state.foot_position[members], state.rotation.ravel()
        self._swing.move(members, self._packed(state), q, v, goals, 1.0, moved)
        down = np.ones(n, bool)
        down[members] = False
        controller.update(state, measurement, still.target,
                          legs=LegPlan(down, still.legs.most, moved))
        controller.reset()
        self.reset()

    # ---- start -----------------------------------------------------------------------------

    def _begin(self, state: BodyState, position: np.ndarray) -> None:
        """Take the stance that the robot has, and make the parts for it."""
        feet, soles = self._config.feet, self._composite is not None
        if soles:
            position = self._config.nominal_in(self.model)
        stance = self._stance = Stance.of(self.model, self._config, position, state.rotation)
        self._swing = SwingControl(self.model, feet, np.diag(stance.mass_matrix)[6:].copy(), soles)
        limits = np.where(self.model.effort_limits > 0.0, self.model.effort_limits, np.inf)
        if self._narrowing is None:
            flat = any(foot.moments for foot in feet)
            self._narrowing = np.zeros(2) if flat else easiest_stance(
                self._swing.legs(range(len(feet))), stance, position, self._weight, limits)
        if self._reach is None:
            self._reach = Reach(self._swing.legs(range(len(feet))), stance, position,
                                self._swing.ends, STEPS.reach * stance.height, limits)
        self._footholds = Footholds(stance, feet, soles, self._reach)
        self._floor = Floor(state.foot_position, stance.width, soles)
        self._pushes = PushWatch(stance, feet, soles)
        self._gait_timing = self._timing(self.usual)
        self._schedule = ContactSchedule(stance, self._weight, self._gait_timing, self._floor)
        self._reference = PressureReference(stance, feet) if soles else BodyReference(
            stance, PressurePlan(REFERENCE.sway))

    def _timing(self, gait: str, haste: float = 1.0) -> Timing:
        """Return the timing of a gait; with haste, in a part of its cycle."""
        assert self._stance and self._narrowing is not None and self._reach
        row, s, stance = GAITS[gait], self.settings, self._stance
        eased = self._narrowing if row.order == 'diagonal' else np.zeros(2)
        # Legs that bear near their limits also swing slower and lower, and stand as long.
        ease = STEPS.eased if eased.any() else 1.0
        longer = row.duty + ease * (1.0 - row.duty)
        offsets = offsets_of(gait, stance.places)
        return Timing(gait, offsets, s.duty or row.duty / longer,
                      haste * (s.cycle or longer * row.cycle / stance.omega),
                      stance.places * (1.0 - eased),
                      min(min(s.clearance, row.clearance) / ease * stance.height,
                          float(self._reach.high.min())),
                      row.order == 'wave' or len(stance.feet) == 2,
                      len({round(offset, 6) for offset in offsets.tolist()}))

    # ---- a tick ----------------------------------------------------------------------------

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
        if self._stance is None:
            self._begin(state, q)
        assert self._stance is not None
        stamp, schedule, floor = measurement.stamp_ns, self._schedule, self._floor
        dt = 0.0 if self._newest is None else min(max((stamp - self._newest) * 1e-9, 0.0), 0.02)
        self._newest = stamp
        body = self._stance.pendulum(state) if self._composite is None else moving_pendulum(
            self._composite, self._stance, state, q, v, floor.plane[2])
        self._supervise(state, body, force, dt)
        self._pace(dt)
        lifting = self._lifting(state, body)
        schedule.advance(dt, self.walking, lifting, state, felt.tolist(), force, self.settings)
        floor.feel(state.foot_position, schedule.trusted, min(1.0, dt / SETTLED))
        # A body that a push throws over falls while its feet may not bear yet.
        ramp = 0.0 if self.state is Walking.RECOVER else self.settings.ramp
        most = schedule.loads(ramp, dt, lifting)
        if not self.walking:
            target = self.led or BodyTarget(np.concatenate([self._packed(state)[:12],
                                                            np.zeros(12)]))
            return WalkPlan(target, LegPlan(schedule.bearing, most, self._unmoved, False))
        return self._plan(state, body, q, v, most, dt)

    def _packed(self, state: BodyState) -> np.ndarray:
        """Return pose and twist of the base as kernels read them, (18,)."""
        body = self._body
        body[:9], body[9:12], body[12:] = state.rotation.reshape(9), state.position, state.twist
        return body

    # ---- supervision -----------------------------------------------------------------------

    def _supervise(self, state: BodyState, body: Pendulum, force: np.ndarray, dt: float) -> None:
        """Take at most one transition, and prepare for what follows."""
        schedule, plan, soles = self._schedule, self._reference.plan, self._composite is not None
        late = self._late > (0.75 if self.state is Walking.WALK else 0.5)
        asked = self.walk and self.settings.gait != 'stand' and not (self.rest or late)
        recovers = self.settings.recovery and (soles or len(self._config.feet) > 2)
        held = math.isinf(schedule.held)
        settled = held and plan.left <= 0.0 and (
            math.hypot(*body.speed[:2].tolist()) < 0.5 * SUPERVISOR.slow
            or plan.left < -REFERENCE.shift / body.omega)
        before = self._supervisor.step({
            'asked to sit': lambda: self.rest, 'asked to rise': lambda: not self.rest,
            'asked to walk': lambda: asked, 'asked to stop': lambda: not asked,
            'pushed': lambda: recovers and self._pushes.pushed(state, body, self.led, dt),
            'at rest': lambda: settled if soles else self._pushes.rests(
                state, schedule.timing.cycle, dt),
            'stands still': lambda: settled if soles else not (
                schedule.swinging or self._lifting(state, body))})
        if before is not None:
            self._enter(before, state, body)
        elif soles and held and self.walking:
            self._hold(state, body, np.linalg.norm(force, axis=1), dt)

    def _enter(self, before: Walking, state: BodyState, body: Pendulum) -> None:
        """Prepare for the present state."""
        schedule, now = self._schedule, self.state
        if now is Walking.STAND:
            self._pushes.reset()
            self.velocity[:] = 0.0
        elif now is Walking.WALK:
            schedule.timing = self._gait_timing = self._timing(self.settings.gait)
        elif now is Walking.RECOVER:
            schedule.timing = self._timing(self.usual, 1.0 if self._composite else STEPS.shortest)
        if before is not Walking.STAND or now is Walking.SIT:
            return
        self._pushes.reset()
        self._reference.start(state, body, self._floor)
        shift = REFERENCE.shift / body.omega if schedule.timing.single else 0.0
        self._reference.plan.begin(state.foot_position[:, :2].mean(axis=0), shift)
        # A robot on soles first holds what a push moves.
        schedule.start(math.inf if self._composite and now is Walking.RECOVER else shift)

    def _hold(self, state: BodyState, body: Pendulum, force: np.ndarray, dt: float) -> None:
        """Stand between both soles; step when that does not hold the body, or to walk."""
        schedule, reference = self._schedule, self._reference
        assert isinstance(reference, PressureReference)
        middle, first, wait = state.foot_position[:, :2].mean(axis=0), None, 0.0
        if self.settings.recovery:
            first = self._pushes.unloaded(state, body, force, self._weight, dt, SETTLED)
            coming, off = self._pushes.coming(body, dt), reference.plan.start - middle
            if reference.plan.left > 0.0 and math.hypot(*off.tolist()) > self._beside:
                coming = body.divergent     # the weight moves back from the last step, as planned
            if first is None and must_step(reference.soles(state, schedule.bearing), middle,
                                           coming, reference.yaw, SUPERVISOR.kept * self.height):
                # With the foot of the side to which the body falls.
                across = (body.divergent - middle) @ (
                    state.foot_position[0] - state.foot_position[1])[:2]
                first, wait = int(across < 0.0), 0.5 * schedule.timing.shift_time
        if first is None and self.state is Walking.WALK and reference.plan.left <= 0.0:
            first, wait = 0, REFERENCE.shift / body.omega
        if first is not None:
            schedule.start(wait, first)
            reference.plan.begin(middle, wait)

    def _lifting(self, state: BodyState, body: Pendulum) -> bool:
        """Return whether feet are to lift: also to stop, until the body is slow."""
        if self.state is Walking.HALT and self._composite is None:
            if self._late > 0.5:    # steps would disturb a body that its feet can hold
                return self._pushes.leaves(state, body.divergent)
            return bool(np.abs(self.velocity).max() > SUPERVISOR.slow
                        or math.hypot(*state.twist[:2].tolist()) > SUPERVISOR.fast)
        return self.walking

    def _pace(self, dt: float) -> None:
        """Let the velocity approach the one that is asked for."""
        x, y, turning = self.velocity.tolist()
        # A body that would set off before its feet could only catch up in haste.
        wanted, usual = (0.0, 0.0, 0.0), self._gait_timing
        walks = self.state is Walking.WALK and (
            self._composite is not None or self._schedule.held <= 0.0)
        # Steps of diagonal gaits on points become quicker with speed.
        hurries = walks and GAITS[usual.gait].order == 'diagonal' and not (
            self._composite or self.settings.cycle)
        least = usual.cycle * (STEPS.shortest if hurries else 1.0)
        if walks:
            ahead, left, turn = self._wanted.tolist()
            part = min(1.0, self._footholds.cycle_for((ahead, left, turn), usual) / least)
            part *= min(max(3.0 - 4.0 * self._late, 0.0), 1.0)
            wanted = ahead * part, left * part, turn * part
        step = self.settings.acceleration * dt
        gap, faster = (wanted[0] - x, wanted[1] - y), wanted[2] - turning
        far = math.hypot(*gap)
        part = min(1.0, step / far) if far else 0.0
        self.velocity[:] = (x + gap[0] * part, y + gap[1] * part,
                            turning + min(max(faster, -3.0 * step), 3.0 * step))
        if hurries:
            cycle = min(max(self._footholds.cycle_for(self.velocity.tolist(), usual), least),
                        usual.cycle)
            if cycle != self._schedule.timing.cycle:
                self._schedule.timing = usual._replace(cycle=cycle)

    @property
    def _beside(self) -> float:
        """Distance of a foot from its place beside the other at which it counts as there [m]."""
        assert self._stance is not None
        return 0.25 * self._stance.width

    # ---- the plan --------------------------------------------------------------------------

    def _plan(self, state: BodyState, body: Pendulum, q: np.ndarray, v: np.ndarray,
              most: np.ndarray, dt: float) -> WalkPlan:
        """Return target and legs of a robot that steps."""
        schedule, reference, s = self._schedule, self._reference, self.settings
        vx, vy, turning = self.velocity.tolist()
        reference.yaw += turning * dt
        c, sine = math.cos(reference.yaw), math.sin(reference.yaw)
        # The command is the base's velocity; footholds and reference are of the centre of mass.
        arm = body.arm.tolist()
        speed = np.array([c * vx - sine * vy - turning * arm[1],
                          sine * vx + c * vy + turning * arm[0]])
        bearing, pressure = schedule.bearing, None
        if self._composite is not None:
            target, pressure = self._press(state, body, speed, dt)
        else:
            target = self._lead(state, body, speed, dt)
        moved = self._unmoved.copy()
        if schedule.swinging:
            self._move_legs(state, q, v, self._course(body, speed), target, moved, dt)
        points, calm = pressure is None, self.state in (Walking.WALK, Walking.HALT)
        falling = points and len(bearing) == 4 and GAITS[schedule.timing.gait].order == 'diagonal'
        return WalkPlan(target, LegPlan(
            bearing, most, moved, True, pressure, self._swing.against_friction(moved, v, dt),
            s.effort_fraction if points and calm else 1.0, falling))

    def _course(self, body: Pendulum, speed: np.ndarray) -> Course:
        """Return where the walk goes now."""
        reference = self._reference
        return Course(body, reference.place, speed, reference.yaw, float(self.velocity[2]),
                      self._schedule.timing, self.settings.capture)

    def _coming(self, state: BodyState, course: Course, goal: np.ndarray | None) -> list:
        """Return the plan of the centre of pressure where feet swing one after the other."""
        schedule, plan, places = self._schedule, self._reference.plan, state.foot_position[:, :2]
        for foot in schedule.landed:
            left = float(schedule.until_lift().min())
            plan.begin(plan.rest(places, foot), min(course.timing.shift_time, left), left)
        return plan.shifts(schedule, places, goal, lambda foot, where, wait: (
            self._footholds.planned(foot, where, wait, course)))

    def _goal(self, state: BodyState, course: Course, foot: int) -> np.ndarray:
        """Return where a foot that swings alone is planned to land, (2,)."""
        leg = self._schedule.legs[foot]
        if leg.part > 1.0 - STEPS.fixed and leg.goal is not None:
            return leg.goal[:2]
        return self._footholds.planned(foot, state.foot_position[:, :2],
                                       self._schedule.left(foot), course)

    def _lead(self, state: BodyState, body: Pendulum, speed: np.ndarray, dt: float) -> BodyTarget:
        """Return the target of a body on points."""
        reference, schedule = self._reference, self._schedule
        assert isinstance(reference, BodyReference)
        if self.state is Walking.HALT and not schedule.swinging:
            reference.place = body.place + body.speed * (REFERENCE.rests / body.omega)
        dcm = pressure = None
        if schedule.timing.single:
            reference.plan.left -= dt
            if max(leg.since for leg in schedule.legs) > schedule.timing.cycle:
                # Way from which a foot that has not stepped yet keeps the body is not made up for.
                gap = speed @ (reference.place - reference.sway) / max(speed @ speed, 1e-9)
                reference.place = reference.place - max(gap, 0.0) * speed
            goal = next((schedule.legs[i].goal for i in schedule.swinging), None)
            shifts = self._coming(state, self._course(body, speed),
                                  None if goal is None else goal[:2])
            dcm, pressure = divergent_start(shifts, body.omega), shifts[0].start
        drive, pull = reference.follow(body, speed, dcm, pressure,
                                       self.settings.leash * self.height, dt)
        return reference.target(state, body, drive, pull, float(self.velocity[2]), self._floor, dt)

    def _press(self, state: BodyState, body: Pendulum, speed: np.ndarray, dt: float
               ) -> tuple[BodyTarget, Any]:
        """Return the target of a body on soles, and where the ground is to press."""
        reference, schedule, ground = self._reference, self._schedule, self._floor.plane[2]
        assert isinstance(reference, PressureReference)
        if schedule.held <= 0.0:
            reference.follow(body, speed, self.settings.leash * self.height, dt)
        reference.plan.left -= dt
        foot, course = next(iter(schedule.swinging), None), self._course(body, speed)
        goal = None if foot is None else self._goal(state, course, foot)
        self._end_walk(state, body)
        shifts = self._coming(state, course, goal)
        error = body.divergent - divergent_start(shifts, body.omega)
        if foot is not None and schedule.legs[foot].part <= 1.0 - STEPS.fixed:
            left, path = schedule.left(foot), schedule.legs[foot].swing
            assert path is not None
            moved_to, schedule.haste = self._footholds.corrected(
                foot, goal, error, state.foot_position[:, :2], left, path.lifted, course)
            error = error - step_share(body.omega, left, course.timing.shift_time) * (
                moved_to - goal)
            goal = moved_to
        if foot is not None:
            schedule.legs[foot].goal = self._footholds.aim(foot, goal, self._floor)
        reference.learn(error, dt)
        pressure = reference.pressure(state, body, shifts[0].start, error, schedule.bearing,
                                      ground)
        return reference.target(state, float(self.velocity[2]), ground,
                                min(1.0, dt * body.omega)), pressure

    def _end_walk(self, state: BodyState, body: Pendulum) -> None:
        """Let both soles stay where a walk ends: with the feet beside each other."""
        schedule, reference = self._schedule, self._reference
        assert isinstance(reference, PressureReference) and self._stance is not None
        if not schedule.landed or self.state is Walking.WALK:
            return
        foot, places = schedule.landed[0], state.foot_position[:, :2]
        middle = places.mean(axis=0)
        hips = self._stance.places @ turned(reference.yaw)[:2, :2].T
        off = places[foot] - places[1 - foot] - (hips[foot] - hips[1 - foot])
        slow = np.abs(self.velocity).max() <= SUPERVISOR.slow
        if self.state is Walking.RECOVER:
            slow = not must_step(reference.soles(state, schedule.bearing), middle,
                                 body.divergent, reference.yaw, SUPERVISOR.kept * self.height)
        if slow and math.hypot(*off.tolist()) < self._beside:
            schedule.held = math.inf
            reference.plan.begin(places[1 - foot].copy(), REFERENCE.shift / body.omega)
            schedule.landed = []

    def _move_legs(self, state: BodyState, q: np.ndarray, v: np.ndarray, course: Course,
                   target: BodyTarget, moved: np.ndarray, dt: float) -> None:
        """Fill accelerations of the swinging legs' joints."""
        schedule, reference, members = self._schedule, self._reference, self._schedule.swinging
        goals = np.empty((len(members), 18))
        goals[:, 9:] = target.rotation.ravel()
        for i, goal in zip(members, goals):
            leg, left = schedule.legs[i], schedule.left(i)
            if leg.part < 1.0 - STEPS.fixed:
                leg.goal = self._foothold(i, state, left, course)
            assert leg.swing is not None and leg.goal is not None
            goal[:9] = leg.swing.advance(leg.goal, leg.part, left,
                                         course.timing.swing_time / schedule.haste, dt)
            if leg.over > 0.0:
                speed = self.settings.lowering * self.height    # no ground was met in time
                goal[2] -= speed * leg.over
                goal[3:9] = 0.0, 0.0, -speed, 0.0, 0.0, 0.0
            if isinstance(reference, PressureReference):
                goal[9:] = reference.turn_sole(i, leg.part, left, course.turning).ravel()
        turns = self._swing.move(members, self._packed(state), q, v, goals,
                                 self.settings.foot_frequency, moved)
        for i, turn in zip(members, turns):
            schedule.legs[i].turn = turn

    def _foothold(self, foot: int, state: BodyState, left: float, course: Course) -> np.ndarray:
        """Return where a foot is to land, (3,)."""
        leg, body = self._schedule.legs[foot], course.body
        if self._composite is not None:
            assert leg.goal is not None
            wanted = complex(*leg.goal[:2].tolist())
        else:
            wanted = self._wanted_foothold(foot, state, left, course)
        base = complex(*state.position[:2].tolist()) + left * complex(*body.speed[:2].tolist())
        place = self._footholds.reachable(foot, wanted, base,
                                          course.yaw + course.turning * left)
        return self._footholds.aim(foot, (place.real, place.imag), self._floor)

    def _wanted_foothold(self, foot: int, state: BodyState, left: float, course: Course
                         ) -> complex:
        """Return where a foot on points would land with legs of any length."""
        reference, body = self._reference, course.body
        assert isinstance(reference, BodyReference)
        if course.timing.single:
            return complex(*self._footholds.caught(
                self._goal(state, course, foot), reference.error(body), left, course).tolist())
        # Across the ground as complex numbers: of two elements arrays are slow.
        here, pace = complex(*body.place.tolist()), complex(*body.speed.tolist())
        then = here + pace * left, pace
        if self.state is Walking.RECOVER and (bearing := self._schedule.bearing).any():
            middle = complex(*self._floor.places[bearing, :2].mean(axis=0).tolist())
            then = fall(here, pace, middle, body.omega, left)
        return self._footholds.under_hip(foot, then, left, course)


# Another name of it.
make_walker = Walker
