# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Where to step: the linear inverted pendulum, and the ground that the feet have felt.

A body of height h on feet at p obeys ``xdd = omega^2 (x - p)`` with ``omega = sqrt(g / h)``
(Kajita 2001). With a time T between steps, walking at a mean velocity v repeats itself when the
feet land half a step, ``v T / 2``, ahead of where the body is then; the body has the speed
``v (omega T / 2) coth(omega T / 2)`` there. An error e of that speed vanishes within one step when
the foot lands ``e coth(omega T) / omega`` further; for a long T that is the capture point
``e / omega`` (Pratt 2006), and the law as a whole is Raibert's (1986) with the gains of the
pendulum. Where feet swing one after the other, the divergent component of motion is off by what
the centre of pressure cannot take away until the foot lands, and the step takes that
(Englsberger et al. 2015, Khadiv et al. 2020).
"""
from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np

from legged_dynamics.dynamics.jacobians import START
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model.feet import Foot
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.workspace.walking.gaits import Timing
from legged_dynamics.workspace.walking.stance import Pendulum, Stance, turned
from legged_dynamics.workspace.walking.swing import SwingLegs

# A vector across the ground.
Plane = TypeVar('Plane', np.ndarray, complex)


@dataclass(frozen=True)
class FootholdSettings:
    """
    Limits of steps; lengths in heights of the body.

    `reach` at half cuts steps that catch pushes.
    """

    reach: float = 0.55     # longest step from its planned place
    # Of the stance's width: least distance of soles; by the rest a step leads back to the way.
    apart: float = 0.8
    fixed: float = 0.22     # of a swing, from when its foothold stays
    # Depth below the ground at which feet aim, about as well as heights are known: feet that are
    # so near to each other, in widths of the stance, tell no slope.
    press: float = 0.01
    # Of a sole, with which a step reckons until it lands; the rest takes the leg's acceleration.
    reckoned: float = 0.5
    # How much faster than planned a foot goes that must land a tenth of the height further.
    haste: float = 1.5
    # Part of the cycle of a diagonal gait to which it is shortened at high speed and in steps
    # that recover from a push; pushed to the side, small robots tilt more at 0.75.
    shortest: float = 0.65
    # Part by which a trot's stance may be shorter and narrower.
    narrowest: float = 0.24
    # Of an effort's limit: a trot that asks for no more needs no other stance, and a swinging sole
    # is accelerated with that; feedback and the leg's weight have the rest.
    enough: float = 0.5
    # Of a stance made so: how much longer and lower a foot swings.
    eased: float = 1.15


STEPS = FootholdSettings()
# Largest acceleration of a minimum-jerk motion, in its length over its squared duration.
PEAK = 10.0 / math.sqrt(3.0)


class Course(NamedTuple):
    """Where the walk goes, in world axes."""

    body: Pendulum
    place: np.ndarray  # (2,) [m]: of the reference
    travel: np.ndarray  # (2,) [m/s]: commanded
    yaw: float  # rad
    turning: float  # rad/s
    timing: Timing
    capture: float  # part of the velocity error that a step removes


def pendulum_step(velocity: Plane, wanted: Plane, omega: float, step_time: float,
                  capture: float) -> Plane:
    """
    Return the foothold (2,) [m] from the place under the hip at touch-down.

    ``velocity``: at touch-down; ``step_time``: between touch-downs; ``capture``: part of
    the velocity error to remove.
    """
    half = 0.5 * omega * step_time
    steady = half / math.tanh(half)
    gain = (1.0 / math.tanh(2.0 * half) - (1.0 - capture) / math.sinh(2.0 * half)) / omega
    return 0.5 * step_time * wanted + gain * (velocity - steady * wanted)


def fall(place: Plane, velocity: Plane, pressure: Plane, omega: float, time: float
         ) -> tuple[Plane, Plane]:
    """Return an inverted pendulum's place and velocity after a time."""
    c, s, off = math.cosh(omega * time), math.sinh(omega * time), place - pressure
    return pressure + c * off + s / omega * velocity, omega * s * off + c * velocity


def step_share(omega: float, left: float, shift: float) -> float:
    """Return the divergent component's change now per displacement of this and later steps."""
    # ``exp(-omega t) (1 - exp(-omega T)) / (omega T)``: it lands after t, weight shifts in T.
    spread = -math.expm1(-omega * shift) / (omega * shift) if shift > 0.0 else 1.0
    return math.exp(-omega * left) * spread


def step_correction(error: np.ndarray, omega: float, left: float, shift: float,
                    reach: np.ndarray) -> np.ndarray:
    """Return how far (2,) [m] a step is to land from its planned place."""
    # The CoP, at most ``reach`` from its plan, removes ``d (1 - exp(-omega t))`` until landing.
    rest = np.maximum(np.abs(error) + reach * math.expm1(-omega * left), 0.0)
    return np.sign(error) * rest / step_share(omega, left, shift)


@lean_kernel
def fit_plane(points, spread):
    """
    Return ``a, b, c`` of the plane ``z = a x + b y + c`` nearest to foot places.

    ``spread`` [m]: how far apart feet must be to tell a slope; nearer ones give a height.
    """
    n = points.shape[0]
    x, y, z = 0.0, 0.0, 0.0
    for i in range(n):
        x, y, z = x + points[i, 0] / n, y + points[i, 1] / n, z + points[i, 2] / n
    xx = yy = spread ** 2
    xy, xz, yz = 0.0, 0.0, 0.0
    for i in range(n):
        dx, dy, dz = points[i, 0] - x, points[i, 1] - y, points[i, 2] - z
        xx, yy, xy, xz, yz = (xx + dx * dx, yy + dy * dy, xy + dx * dy, xz + dx * dz,
                              yz + dy * dz)
    det = xx * yy - xy * xy
    a, b = (yy * xz - xy * yz) / det, (xx * yz - xy * xz) / det
    return a, b, z - a * x - b * y


class Floor:
    """The ground as felt: where feet last stood, and the plane through that; level for soles."""

    def __init__(self, places: np.ndarray, width: float, level: bool):
        self.places, self.level = places.copy(), level
        self._spread = STEPS.press * width
        self.plane = (0.0, 0.0, 0.0)
        self.feel(places, np.ones(len(places), bool), 1.0)

    def feel(self, places: np.ndarray, trusted: np.ndarray, part: float) -> None:
        """Take the places of feet that bear; ``part``: of the way to the height of soles."""
        np.copyto(self.places, places, where=trusted[:, None])
        if self.level:
            c, bearing = self.plane[2], places[trusted, 2]
            self.plane = 0.0, 0.0, c + part * (float(bearing.mean()) - c)
        else:
            self.plane = fit_plane(self.places, self._spread)

    def at(self, x: float, y: float) -> float:
        """Return the height of the ground."""
        a, b, c = self.plane
        return a * x + b * y + c


class Reach:
    """
    How far each foot comes from where it stands, within its joints' limits, by direction.

    `far` (nf, k) [m]: in directions all around, as far as ``most`` [m]; `high` (nf,) [m]: how far
    it can be raised where it stands; `tilts` (2,) [s^2]: how far its acceleration ahead and to the
    side moves the pressure under the others; `strong` (2,) [m/s^2]: it with a whole limit.
    """

    WAYS, PARTS = 12, 8     # resolution: directions, and parts of the furthest that are tried

    def __init__(self, legs: SwingLegs, stance: Stance, q: np.ndarray, ends: np.ndarray,
                 most: float, limits: np.ndarray):
        n, self._angles = len(stance.feet), np.linspace(0.0, 2.0 * math.pi, self.WAYS + 1)
        ways = [np.array([math.cos(a), math.sin(a), 0.0]) for a in self._angles]
        self.far = np.column_stack([self._search(legs, stance.feet, q, ends, most * way)
                                    for way in ways])
        self.high = self._search(legs, stance.feet, q, ends, np.array([0.0, 0.0, most]))
        self.high = np.where(self.high > 0.0, self.high, most).reshape(n)
        legs.standing_at(q, stance.feet)
        start, M, h = legs.arrays.feet.index[0, START], stance.mass_matrix, stance.height
        x, y = (M[:, 6:] @ legs.arrays.inverse[:, start:start + 2]).T
        self.tilts = np.abs([x[4] + h * x[0], y[3] - h * y[1]]) / (M[0, 0] * GRAVITY)
        self.strong = 1.0 / (np.abs([x[6:], y[6:]]) / limits).max(axis=1, initial=1e-9)

    @classmethod
    def _search(cls, legs: SwingLegs, feet: np.ndarray, q: np.ndarray, ends: np.ndarray,
                way: np.ndarray) -> np.ndarray:
        """Return how far all feet come along a way at once, from where they are."""
        found, far = np.zeros(len(feet)), np.ones(len(feet), bool)
        for part in np.linspace(1.0 / cls.PARTS, 1.0, cls.PARTS):
            q, reached = legs.standing_at(q, feet + part * way)
            far &= reached & legs.within(q, ends)
            if not far.any():
                break
            found[far] = part
        return found * float(np.linalg.norm(way))

    def part(self, foot: int, off: complex) -> float:
        """Return the part of a displacement (base axes) that the foot can go."""
        most = float(np.interp(cmath.phase(off) % (2.0 * math.pi), self._angles, self.far[foot]))
        return min(1.0, most / abs(off)) if off else 1.0


class Footholds:
    """
    Where feet are to land; ``feet``: soles, of which edges take part of an error away.

    `shortened`: feet whose last step was out of reach.
    """

    def __init__(self, stance: Stance, feet: Sequence[Foot], soles: bool, reach: Reach):
        self._stance, self._soles, self._limits = stance, soles, reach
        self._furthest = float(np.hypot(*stance.places.T).max())
        self.shortened: set[int] = set()
        self._reach = 0.5 * STEPS.reckoned * np.array(
            [np.ptp(foot.corners, axis=0)[:2] for foot in feet])
        # Largest accelerations of a sole [m/s^2]: they take the rest of the other one, and part of
        # the leg's efforts.
        self._swift = np.minimum((1.0 / STEPS.reckoned - 1.0) * self._reach.min(axis=0)
                                 / reach.tilts, STEPS.enough * reach.strong)
        self._pull = (1.0 - STEPS.apart) * stance.width if soles else math.inf

    def cycle_for(self, velocity: Sequence[float], timing: Timing) -> float:
        """Return the cycle in which no foot goes further in a stance than the body is high [s]."""
        ahead, left, turning = velocity
        way = (math.hypot(ahead, left) + abs(turning) * self._furthest) * timing.duty
        return self._stance.height / way if way else math.inf

    def under_hip(self, foot: int, then: tuple[complex, complex], left: float, course: Course
                  ) -> complex:
        """
        Return where a foot lands beside others of its beat, as a complex number.

        ``then``: place and velocity of the centre of mass at touch-down, after ``left`` [s].
        """
        turning, step_time = course.turning, course.timing.step_time
        hip = cmath.rect(1.0, course.yaw + turning * left) * complex(
            *course.timing.hips[foot].tolist())
        hip += 0.5j * turning * step_time * hip
        return then[0] + hip + self._within(pendulum_step(
            then[1], complex(*course.travel.tolist()), self._stance.omega, step_time,
            course.capture))

    def planned(self, foot: int, places: np.ndarray, wait: float, course: Course) -> np.ndarray:
        """
        Return where a foot that swings alone is planned to land after a wait, (2,).

        It lands beside the others (``places``) as in the stance, half a cycle further, and leads
        back to the way of the walk.
        """
        timing, travel = course.timing, course.travel
        middle = wait + 0.5 * timing.stance_time
        turn = turned(course.yaw + course.turning * (middle if not self._soles else wait))[:2, :2]
        hip = timing.hips[foot]
        on_way = course.place + middle * travel + turn @ hip
        if math.isinf(self._pull):
            return on_way
        beside, start = hip - timing.hips[1 - foot], places[1 - foot]
        step = beside + turn.T @ travel * (0.5 * timing.cycle)
        step = step + np.clip(turn.T @ (on_way - start) - step, -self._pull, self._pull)
        side = math.copysign(1.0, beside[1])
        step[1] = side * max(side * step[1], STEPS.apart * side * beside[1])
        return start + turn @ step

    def caught(self, planned: np.ndarray, error: np.ndarray, left: float, course: Course
               ) -> np.ndarray:
        """Return where a foot on a point that swings alone lands to catch the body, (2,)."""
        share = math.exp(min(course.body.omega * left, 1.0)) * course.capture
        off = self._within(complex(*(error * share)))
        return planned + np.array([off.real, off.imag])

    def corrected(self, foot: int, planned: np.ndarray, error: np.ndarray, places: np.ndarray,
                  left: float, lifted: np.ndarray, course: Course) -> tuple[np.ndarray, float]:
        """
        Return where and how hastily a sole is to land, (2,), so that an error is taken away.

        No further from where it ``lifted`` (2,) than it can be accelerated: a leg that is swung
        faster throws the body on, which asks for a longer step. The next step takes the rest.
        """
        timing, s, height = course.timing, STEPS, self._stance.height
        turn, here = turned(course.yaw)[:2, :2], places[1 - foot]
        off = step_correction(error @ turn, course.body.omega, left, timing.shift_time,
                              self._reach[foot])
        x, y = ((planned - here) @ turn + off).tolist()
        most, beside = s.reach * height, float(timing.hips[foot, 1] - timing.hips[1 - foot, 1])
        side = math.copysign(1.0, beside)
        y = side * min(max(side * y, s.apart * side * beside), side * beside + most)
        haste = 1.0 + min(math.hypot(*off.tolist()) / (0.1 * height), 1.0) * (s.haste - 1.0)
        way = here + turn @ (min(max(x, -most), most), y) - lifted
        furthest = self._swift / PEAK * (timing.swing_time / haste) ** 2
        return lifted + way / max(1.0, math.hypot(*(turn.T @ way / furthest).tolist())), haste

    def reachable(self, foot: int, place: complex, base: complex, yaw: float) -> complex:
        """Return a foothold, shortened to what the leg reaches from the base at touch-down."""
        turn, stands = cmath.rect(1.0, yaw), complex(*self._stance.feet[foot, :2].tolist())
        off = (place - base) / turn - stands
        part = self._limits.part(foot, off)
        (self.shortened.add if part < 1.0 else self.shortened.discard)(foot)
        return place if part == 1.0 else base + turn * (stands + part * off)

    def aim(self, foot: int, place: Sequence[float] | np.ndarray, floor: Floor) -> np.ndarray:
        """Return where the reference of a foot ends, (3,): just below the ground."""
        x, y = float(place[0]), float(place[1])
        return np.array([x, y, floor.at(x, y) + self._stance.radius[foot]
                         - STEPS.press * self._stance.height])

    def _within(self, step: complex) -> complex:
        """Keep a step within the reach of a leg."""
        most, size = STEPS.reach * self._stance.height, abs(step)
        return step * (most / size) if size > most else step


def easiest_stance(legs: SwingLegs, stance: Stance, q: np.ndarray, weight: float,
                   limits: np.ndarray) -> np.ndarray:
    """
    Return by which parts a stance is made shorter and narrower to trot on, (2,).

    Two of four feet carry twice as much as in a stand. The efforts for that, at the ends of a
    step too, fall when the feet are nearer to their hips; a narrow stance is easier to upset.
    """
    s, found = STEPS, np.zeros(2)
    if not np.isfinite(limits).all():
        return found
    middle, best, step = stance.feet.mean(axis=0), math.inf, 0.25 * s.reach * stance.height
    force, parts = 2.0 * weight / len(stance.feet), (0.0, 0.5 * s.narrowest, s.narrowest)
    for short, narrow in product(parts, repeat=2):
        scale, worst, near = np.array([1.0 - short, 1.0 - narrow, 1.0]), s.enough, q
        price = short * short + narrow * narrow
        for way in (0.0, -step, step):
            if worst + price < best:
                effort, near = legs.effort_at(
                    near, middle + (stance.feet - middle) * scale + [way, 0.0, 0.0], force, limits)
                worst = max(worst, effort)
        if worst + price < best - 1e-9:
            best, found = worst + price, np.array([short, narrow])
    return found
