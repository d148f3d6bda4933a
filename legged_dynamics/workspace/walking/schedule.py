# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact schedule: when feet are to lift and to land, and what they are felt to do.

A clock runs through the gait's cycle. A foot lifts when its phase reaches the duty and the others
bear. It stands again when it is felt to bear: earlier or later than planned. The clock waits for
feet that are late, and a step that must go far is hastened by a faster clock.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.estimation.leg_odometry import SETTLED, BodyState
from legged_dynamics.workspace.walking.footholds import STEPS, Floor
from legged_dynamics.workspace.walking.gaits import Timing
from legged_dynamics.workspace.walking.settings import WalkSettings
from legged_dynamics.workspace.walking.stance import Stance
from legged_dynamics.workspace.walking.swing import SwingPath, directions


@dataclass(frozen=True)
class ContactSettings:
    """
    When a touch counts as ground; chosen on tiles, slopes and pushed robots in simulation.

    Less of `firm` lands feet on spikes of the estimate in mid-air, more lands them late on steps
    up.
    """

    # Of the weight, less may be friction of the leg's joints. More than this upward is ground for
    # a foot on its way down, more across the ground is an edge, which the foot climbs; with this a
    # foot that is to bear and is in the air is lowered.
    firm: float = 0.12
    adrift: float = 0.01    # m that a foot which is to bear and is not felt has moved in the air


CONTACT = ContactSettings()


@dataclass
class Leg:
    """One leg's place in the gait."""

    swing: SwingPath | None = None
    since: float = 0.0          # s in swing or in stance
    part: float = 0.0           # of its swing
    over: float = 0.0           # s beyond the planned touch-down
    firm: float = 0.0           # s of a firm touch before it
    turn: np.ndarray = field(default_factory=lambda: np.eye(3))     # foot's axes to base's
    goal: np.ndarray | None = None
    early: bool = False         # stands before its planned touch-down
    loose: bool = False         # is to bear, but does not: it is lowered


class ContactSchedule:
    """
    Clock of the gait, and all legs' places in it.

    `held` [s]: time before the clock runs, infinite while all feet are to stay; `haste`: speed of
    the clock; `landed`: feet that have landed in this tick.
    """

    def __init__(self, stance: Stance, weight: float, timing: Timing, floor: Floor):
        self._stance, self._weight, self._floor = stance, weight, floor
        self._soles = floor.level
        self.timing, self.legs = timing, [Leg() for _ in stance.feet]
        self.clock, self.held, self.haste = 0.0, math.inf, 1.0
        self.landed: list[int] = []
        self._waited = self._rough = 0.0
        self._ran = False

    def start(self, hold: float, first: int | None = None) -> None:
        """Begin a walk after a time of standing: the first foot is about to lift then."""
        offset = self.timing.offsets.max() if first is None else self.timing.offsets[first]
        self.clock = float((self.timing.duty - offset) % 1.0) - 1e-3
        self.held, self.haste = hold, 1.0

    # ---- what it says ----------------------------------------------------------------------

    @property
    def swinging(self) -> list[int]:
        """Numbers of the feet in the air."""
        return [i for i, leg in enumerate(self.legs) if leg.swing is not None]

    @property
    def bearing(self) -> np.ndarray:
        """Which feet stand, (nf,) of bool."""
        return np.array([leg.swing is None for leg in self.legs])

    @property
    def trusted(self) -> np.ndarray:
        """Feet whose places tell where the body is: those that have borne for a while."""
        settled = [leg.swing is None and leg.since >= SETTLED and not leg.loose
                   for leg in self.legs]
        return np.array(settled) if any(settled) else self.bearing

    def left(self, foot: int) -> float:
        """Return the time until the planned touch-down of a swinging foot [s]."""
        return max(1.0 - self.legs[foot].part, 0.0) * self.timing.swing_time / self.haste

    def until_lift(self) -> np.ndarray:
        """Return the time until each standing foot is to lift, (nf,) [s]."""
        t = self.timing
        phase = (self.clock + t.offsets) % 1.0
        # Feet in the air, and those that landed early, lift after their next stance.
        whole = [leg.early or leg.swing is not None for leg in self.legs]
        away = np.where(whole & (phase >= t.duty), 1.0 + t.duty - phase, t.duty - phase)
        return np.maximum(away, 0.0) * t.cycle / self.haste + max(self.held, 0.0)

    def loads(self, ramp: float, dt: float, lifting: bool) -> np.ndarray:
        """Return the largest normal force of each foot: it grows after touch-down (nf,) [N]."""
        t, most = self.timing, [math.inf] * len(self.legs)
        for i, (leg, offset) in enumerate(zip(self.legs, t.offsets.tolist())):
            part = 0.0 if leg.swing is not None else CONTACT.firm if leg.loose else 1.0
            if part == 1.0 and not self._soles:
                if leg.since < ramp and self._ran:
                    part = (leg.since + dt) / ramp
                left = (t.duty - (self.clock + offset) % 1.0) * t.cycle
                if 0.0 < left < ramp and lifting:
                    part = min(part, (left + dt) / ramp)
            if part < 1.0:
                most[i] = part * self._weight
        return np.array(most)

    # ---- a tick ----------------------------------------------------------------------------

    def advance(self, dt: float, stepping: bool, lifting: bool, state: BodyState,
                felt: Sequence[bool], force: np.ndarray, settings: WalkSettings) -> None:
        """Move the clock; let legs lift and land."""
        t, legs = self.timing, self.legs
        self.landed = []
        # Swings stay higher for a cycle after a foothold off the plane of the others.
        self._rough *= max(1.0 - dt / t.cycle, 0.0)
        late = any(leg.over > 0.0 and leg.swing is not None for leg in legs)
        if stepping:
            if self.held > 0.0:
                self.held -= dt
            elif late and (self._soles or self._waited < t.swing_time):
                self._waited += dt
            else:
                self.clock = (self.clock + dt * self.haste / t.cycle) % 1.0
        if not late:
            self._waited = 0.0
        for i, (leg, offset) in enumerate(zip(legs, t.offsets.tolist())):
            phase = (self.clock + offset) % 1.0
            leg.since += dt
            if leg.swing is not None:
                self._feel(i, state, felt[i], force[i], dt, settings)
                continue
            self._watch(i, state, felt[i], stepping)
            if phase < t.duty:
                leg.early = False
            elif lifting and self.held <= 0.0 and not leg.early and self._may_lift(i):
                self._lift(i, state)

    def _feel(self, foot: int, state: BodyState, felt: bool, force: np.ndarray, dt: float,
              settings: WalkSettings) -> None:
        """Follow a swinging foot: it may run into an edge, or land."""
        leg, c, height = self.legs[foot], CONTACT, self._stance.height
        assert leg.swing is not None
        leg.part += dt * self.haste / self.timing.swing_time
        leg.over = leg.over + dt if leg.part >= 1.0 else 0.0
        up, across = directions(state.up, leg.turn, force)
        firm = leg.part > 1.0 - leg.part and felt and up > max(c.firm * self._weight, across)
        leg.firm = leg.firm + dt if firm else 0.0
        nearly = leg.part > 1.0 - STEPS.fixed
        if across > max(c.firm * self._weight, up) and leg.since > SETTLED and not nearly:
            leg.swing.rise(settings.lowering * height * dt, 2.0 * settings.clearance * height)
        # From when its foothold stays any touch is the ground, planned or late.
        if felt and (nearly or leg.firm > SETTLED):
            x, y, z = state.foot_position[foot].tolist()
            self._land(foot, z - self._floor.at(x, y), settings)

    def _may_lift(self, foot: int) -> bool:
        """Return whether the other feet can bear the body."""
        t = self.timing
        down = [i for i, leg in enumerate(self.legs) if leg.swing is None and i != foot]
        if self._soles:
            return bool(down)
        # A foot of the same beat lifts together with this one.
        return sum(self.legs[i].early or (self.clock + t.offsets[i]) % 1.0 < t.duty
                   for i in down) >= 2

    def _lift(self, foot: int, state: BodyState) -> None:
        leg = self.legs[foot]
        start = state.foot_position[foot] + [0.0, 0.0, self._stance.radius[foot]]
        leg.swing = SwingPath(start, self.timing.clearance + self._rough)
        leg.since = leg.part = leg.over = leg.firm = 0.0
        leg.goal = start

    def _land(self, foot: int, off: float, settings: WalkSettings) -> None:
        leg, t = self.legs[foot], self.timing
        leg.early = (self.clock + t.offsets[foot]) % 1.0 >= t.duty
        most = 2.0 * settings.clearance * self._stance.height
        self._rough = max(self._rough, min(abs(off), most))
        leg.swing, leg.goal, leg.since, leg.over = None, None, 0.0, 0.0
        self._ran = True
        self.landed.append(foot)
        # A foot that lands a little early keeps the time of its step, others begin the next one.
        ahead = (1.0 - STEPS.fixed - leg.part) * t.swing_time
        if leg.early and ahead > 0.0 and self._soles:
            self.clock = (self.clock + ahead / t.cycle) % 1.0
        self.haste = 1.0

    def _watch(self, foot: int, state: BodyState, felt: bool, stepping: bool) -> None:
        """Notice that a foot that is to bear is in the air, and that it bears again."""
        leg = self.legs[foot]
        if stepping and self._soles:
            leg.loose = False
        elif felt and leg.loose:
            leg.loose, leg.since = False, 0.0
        elif (not felt and not leg.loose and leg.since > 2.0 * SETTLED
              and state.foot_offset[foot] > CONTACT.adrift):
            others = sum(one.swing is None for one in self.legs) - 1
            if others < 2 or not self._ran or not stepping:
                leg.loose = True
                return
            # It is lowered like a foot that lands late, against the friction of its joints too.
            self._lift(foot, state)
            leg.since, leg.part = self.timing.swing_time, 1.0
