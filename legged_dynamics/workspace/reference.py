# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ReferenceGenerator: from desired poses to a smooth motion within limits.

Planning runs in pieces of some hundred microseconds, so that control ticks can run in between:
:meth:`ReferenceGenerator.planning` yields after each piece.

The motion between two poses is a quintic of position and of exponential coordinates. Between given
ends of position, velocity and acceleration the quintic has the least integral of squared jerk
(Flash and Hogan 1985). From rest to rest over a distance d in a time T its speed peaks at ``15/8
d/T`` and its acceleration at ``10/sqrt(3) d/T^2``. Orientation is ``R_0 exp(phi(t))`` with phi
quintic: a turn about one axis from rest to rest.
"""
from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.algebra import (
    add_scaled,
    compose,
    cross,
    dot,
    load3,
    load9,
    norm,
    rotate_back,
    scale,
    store3,
    store9,
    subtract,
    transpose,
)
from legged_dynamics.spatial.exponential import rotation_exp, rotation_log, turn_rates
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.spatial.rotations import rotation_vector
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.settings import WorkspaceSettings
from legged_dynamics.workspace.support import ANYTHING, support_excess
from legged_dynamics.workspace.workspace_dynamics import POSE

PEAK_SPEED = 15.0 / 8.0
PEAK_ACCELERATION = 10.0 / math.sqrt(3.0)


class SegmentColumns(NamedTuple):
    """A segment in one row."""

    rotation: int = 9       # the first
    powers: int = 36        # coefficients, (6 powers of time, 6 coordinates)
    duration: int = 1       # s
    width: int = 0


SEGMENT = offsets(SegmentColumns())
# Instants at which a segment is checked against the limits.
SAMPLES = 32
# A motion that the ground cannot support even this many times slower is not limited by its speed.
MOST = 100.0
# Part of a margin that may be missing [m].
NOTHING = 1e-6


@part
def _powers_at(segment, t, order):
    """Return derivatives of that order of position and exponential coordinates."""
    p, phi = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(5, order - 1, -1):
        factor = 1.0
        for i in range(order):
            factor *= k - i
        p = add_scaled(scale(factor, load3(segment, SEGMENT.powers + 6 * k)), t, p)
        phi = add_scaled(scale(factor, load3(segment, SEGMENT.powers + 6 * k + 3)), t, phi)
    return p, phi


@lean_kernel
def _sample_segment(segment, t, target):
    """Fill a target at one instant of a segment; before and after the segment it is at rest."""
    resting = t < 0.0 or t >= segment[SEGMENT.duration]
    t = min(max(t, 0.0), segment[SEGMENT.duration])
    p, phi = _powers_at(segment, t, 0)
    R = compose(load9(segment, SEGMENT.rotation), rotation_exp(phi))
    store9(target, POSE.rotation, R)
    store3(target, POSE.position, p)
    for k in range(POSE.twist, POSE.acceleration + 6):
        target[k] = 0.0
    if resting:
        return
    # The target has twist and acceleration in the axes of the moving base, component-wise.
    velocity, rate = _powers_at(segment, t, 1)
    acceleration, bend = _powers_at(segment, t, 2)
    w, alpha = turn_rates(phi, rate, bend)
    v = rotate_back(R, velocity)
    store3(target, POSE.twist, v)
    store3(target, POSE.twist + 3, w)
    store3(target, POSE.acceleration, add_scaled(rotate_back(R, acceleration), -1.0, cross(w, v)))
    store3(target, POSE.acceleration + 3, alpha)


@part
def _fill_segment(R_start, start, end, T, row):
    """Fill a segment; see :func:`segment` for the arguments."""
    store9(row, SEGMENT.rotation, R_start)
    row[SEGMENT.duration] = T
    for k in range(6):
        # The lower three powers are the start; the upper three meet the end in position, velocity
        # and acceleration: what is left of each after the lower ones, in closed form.
        c0, c1, c2 = start[0, k], start[1, k], 0.5 * start[2, k]
        gap = end[0, k] - (c0 + T * (c1 + T * c2))
        slope = T * (end[1, k] - (c1 + 2.0 * T * c2))
        bend = T * T * (end[2, k] - 2.0 * c2)
        row[SEGMENT.powers + k], row[SEGMENT.powers + 6 + k] = c0, c1
        row[SEGMENT.powers + 12 + k] = c2
        row[SEGMENT.powers + 18 + k] = (10.0 * gap - 4.0 * slope + 0.5 * bend) / T ** 3
        row[SEGMENT.powers + 24 + k] = (-15.0 * gap + 7.0 * slope - bend) / T ** 4
        row[SEGMENT.powers + 30 + k] = (6.0 * gap - 3.0 * slope + 0.5 * bend) / T ** 5


@part
def _coordinate_rates(phi, w, alpha):
    """Return rate and acceleration of exponential coordinates for angular ones, w and alpha."""
    zero = (0.0, 0.0, 0.0)
    # turn_rates is linear in the rate: its columns by unit vectors, inverted by cross products.
    x, _ = turn_rates(phi, (1.0, 0.0, 0.0), zero)
    y, _ = turn_rates(phi, (0.0, 1.0, 0.0), zero)
    z, _ = turn_rates(phi, (0.0, 0.0, 1.0), zero)
    yz, zx, xy = cross(y, z), cross(z, x), cross(x, y)
    part = 1.0 / dot(x, yz)
    rate = (part * dot(yz, w), part * dot(zx, w), part * dot(xy, w))
    _, drift = turn_rates(phi, rate, zero)
    # What is left of alpha after the part that the rate alone makes.
    rest = subtract(alpha, drift)
    return rate, (part * dot(yz, rest), part * dot(zx, rest), part * dot(xy, rest))


@lean_kernel
def _pass_knots(knots, steps, rates, first, last):
    """
    Fill rates (n, 12) at knots from first to last - 1: velocity and acceleration.

    Between two slopes of the same sign the rate is their harmonic mean, which overshoots neither,
    and the acceleration the smaller of those on either side; else both are zero.
    """
    n = knots.shape[0]
    for i in range(first, min(last, n - 1)):
        for start in range(2):
            if start == 0:
                before = subtract(load3(knots[i], 9), load3(knots[i - 1], 9))
                after = subtract(load3(knots[i + 1], 9), load3(knots[i], 9))
            else:
                R = transpose(load9(knots[i], 0))
                before = scale(-1.0, rotation_log(compose(R, load9(knots[i - 1], 0))))
                after = rotation_log(compose(R, load9(knots[i + 1], 0)))
            before, after = scale(1.0 / steps[i], before), scale(1.0 / steps[i + 1], after)
            store3(rates[i], 3 * start, before)
            store3(rates[i], 6 + 3 * start, after)
        for k in range(6):
            a, b = rates[i, k], rates[i, 6 + k]
            rate = 2.0 * a * b / (a + b) if a * b > 0.0 else 0.0
            left, right = 2.0 * (rate - a) / steps[i], 2.0 * (b - rate) / steps[i + 1]
            rates[i, k], rates[i, 6 + k] = rate, 0.0
            if left * right > 0.0:
                rates[i, 6 + k] = min(left, right) if left > 0.0 else max(left, right)


@lean_kernel
def _join_knots(knots, steps, rates, rows, first, last, ends):
    """
    Fill the segments that end at knots from first to last - 1.

    ``knots`` (n, 12): rotation by rows, position; ``steps`` (n,) [s]: time from the knot
    before.
    """
    for i in range(first, last):
        R = load9(knots[i - 1], 0)
        turn = rotation_log(compose(transpose(R), load9(knots[i], 0)))
        for k in range(6):
            ends[0, 0, k] = knots[i - 1, 9 + k] if k < 3 else 0.0
            ends[0, 1, k], ends[0, 2, k] = rates[i - 1, k], rates[i - 1, 6 + k]
            ends[1, 0, k] = knots[i, 9 + k] if k < 3 else turn[k - 3]
            ends[1, 1, k], ends[1, 2, k] = rates[i, k], rates[i, 6 + k]
        rate, bend = _coordinate_rates(turn, load3(rates[i], 3), load3(rates[i], 9))
        store3(ends[1, 1], 3, rate)
        store3(ends[1, 2], 3, bend)
        _fill_segment(R, ends[0], ends[1], steps[i], rows[i])


@part
def _too_much(support, target, slower):
    """Return whether a motion, slowed down by a factor, exceeds the limits of the ground."""
    margin, friction = support_excess(support, target, slower)
    return margin > NOTHING or friction > NOTHING


@lean_kernel
def _needed_stretch(rows, first, last, samples, limits, support, slower, target):
    """
    Return the factor, at least ``slower``, on segment times to keep the limits.

    ``limits`` (5,): speed, acceleration, turning rate and acceleration, jerk; each segment
    is checked at ``samples`` instants.
    """
    for i in range(first, last):
        for k in range(samples + 1):
            t = min(k / samples, 1.0 - 1e-9) * rows[i, SEGMENT.duration]
            _sample_segment(rows[i], t, target)
            v, w = load3(target, POSE.twist), load3(target, POSE.twist + 3)
            turning, a = cross(w, v), load3(target, POSE.acceleration)
            a = (a[0] + turning[0], a[1] + turning[1], a[2] + turning[2])
            jerk, _ = _powers_at(rows[i], t, 3)
            slower = max(slower, norm(v) / limits[0], math.sqrt(norm(a) / limits[1]),
                         norm(w) / limits[2],
                         math.sqrt(norm(load3(target, POSE.acceleration + 3)) / limits[3]),
                         (norm(jerk) / limits[4]) ** (1.0 / 3.0))
            if _too_much(support, target, slower) and not _too_much(support, target, MOST):
                while _too_much(support, target, slower):
                    slower *= 1.03
    return slower


@lean_kernel
def _join(R_start, start, end, T, row):
    _fill_segment(load9(R_start, 0), start, end, T, row)


def _segment(R_start: np.ndarray, start: np.ndarray, end: np.ndarray,
            duration: float) -> np.ndarray:
    """
    Return a segment's row for `_sample_segment`.

    Start, end (3, 6): position, exponential coordinates from R_start, with two derivatives.
    """
    row = np.empty(SEGMENT.width)
    _join(R_start.ravel(), start, end, duration, row)
    return row


# -------------------------------------------------------------------------------------------------
# Poses of the base and planned trajectories.


Result = TypeVar('Result')


def run(work: Generator[None, None, Result]) -> Result:
    """Run a generator that yields after each piece to its end; return its result."""
    try:
        while True:
            next(work)
    except StopIteration as done:
        return done.value


@dataclass(frozen=True, eq=False)
class BodyPose:
    """
    A pose of the base.

    Attributes
    ----------
    position : (3,) array [m]
        ``p_WB``.
    rotation : (3, 3) array
        ``R_WB``.

    """

    position: np.ndarray
    rotation: np.ndarray


@dataclass(frozen=True, eq=False)
class TrajectoryPlan:
    """
    A planned trajectory that has not started.

    Attributes
    ----------
    asked : float [s]
        Duration that was requested.
    first_step : float [s]
        Duration of the way to the first pose.
    first, first_rates : (12,) array
        First pose, and velocity and acceleration there.
    rows : (n, 46) array
        Segments; the second is the way to the first pose, which is made at the start.
    ends_ns : (n - 1,) int array [ns]
        End of each segment, counted from the first pose.

    """

    asked: float
    first_step: float
    first: np.ndarray
    first_rates: np.ndarray
    rows: np.ndarray
    ends_ns: np.ndarray


# Factor by which a duration is lengthened until the limits hold.
LONGER = 1.15
TRIES = 60
# Knots that are planned at a time.
PIECE = 64


class ReferenceGenerator:
    """
    Moves a target pose by minimum jerk, within limits of velocity, acceleration and the ground.

    A new pose or trajectory may be set at any time: the motion continues from the pose, twist and
    acceleration that the reference has then.

    Parameters
    ----------
    settings : WorkspaceSettings, optional
        Those called ``reference.*``.

    Attributes
    ----------
    settings : WorkspaceSettings
        May be replaced at any time; motions under way do not change.
    support : Support
        Motions that the ground allows; without limits at first.

    """

    def __init__(self, settings: WorkspaceSettings | None = None):
        self.settings = settings or WorkspaceSettings.from_parameters()
        self.support = ANYTHING
        self.rest(0, BodyPose(np.zeros(3), np.eye(3)))

    @property
    def end_ns(self) -> int:
        """When the motion comes to rest [ns]."""
        return int(self._starts[-1]) + round(self._segments[-1][SEGMENT.duration] * 1e9)

    @property
    def goal(self) -> BodyPose:
        """Where the motion comes to rest."""
        target = self.at(self.end_ns)
        return BodyPose(target.position, target.rotation)

    def at(self, stamp_ns: int) -> BodyTarget:
        """
        Return the target at an instant.

        Parameters
        ----------
        stamp_ns : int [ns]
            The instant.

        Returns
        -------
        BodyTarget

        """
        index = max(bisect_right(self._starts, stamp_ns) - 1, 0)
        row, start = np.empty(24), int(self._starts[index])
        _sample_segment(self._segments[index], (stamp_ns - start) * 1e-9, row)
        return BodyTarget(row)

    def rest(self, stamp_ns: int, pose: BodyPose) -> None:
        """Rest at ``pose`` from ``stamp_ns`` on; the reference jumps there."""
        still = np.zeros((3, 6))
        still[0, :3] = pose.position
        self._go([stamp_ns], [_segment(pose.rotation, still, still, 1e-9)])

    def hold(self, stamp_ns: int) -> None:
        """Come to rest as soon as the limits allow, beginning at ``stamp_ns``."""
        now, limits = self.at(stamp_ns), self._limits()
        v, w = now.rotation @ now.twist[:3], now.twist[3:]
        T = max(1.5 * np.linalg.norm(v) / limits[1], 1.5 * np.linalg.norm(w) / limits[3],
                self.settings.shortest_motion)
        self._go([stamp_ns], [self._from_now(now, now.position + 0.5 * T * v, 0.5 * T * w, T)])

    def move_to(self, stamp_ns: int, pose: BodyPose) -> float:
        """
        Move to a pose as fast as the limits allow, and rest there.

        Parameters
        ----------
        stamp_ns : int [ns]
            Start of the motion: now.
        pose : BodyPose
            Goal of the motion.

        Returns
        -------
        float
            The duration [s].

        Raises
        ------
        ConfigurationError
            When the pose is not finite or its rotation is not a rotation matrix.

        """
        BodyTarget.of(pose.position, pose.rotation)
        now, limits = self.at(stamp_ns), self._limits()
        phi = rotation_vector(now.rotation.T @ pose.rotation)
        linear = float(np.linalg.norm(pose.position - now.position))
        angular = float(np.linalg.norm(phi))
        T = max(PEAK_SPEED * linear / limits[0], math.sqrt(PEAK_ACCELERATION * linear / limits[1]),
                PEAK_SPEED * angular / limits[2],
                math.sqrt(PEAK_ACCELERATION * angular / limits[3]),
                self.settings.shortest_motion)
        best, least = None, math.inf
        for _ in range(TRIES):
            made = self._from_now(now, pose.position, phi, T)
            slower = self._slower(made[None], 0, 1, SAMPLES, 1.0)
            if slower < least:
                best, least = made, slower
            if slower <= 1.0 + 1e-6:
                break
            T *= min(max(slower, 1.02), LONGER)
        assert best is not None
        self._go([stamp_ns], [best])
        return float(best[SEGMENT.duration])

    def follow(self, stamp_ns: int, times: Sequence[float], poses: Sequence[BodyPose]) -> float:
        """
        Move through poses at given times, and rest at the last.

        Parameters
        ----------
        stamp_ns : int [ns]
            Present time, from which the times count.
        times : sequence of float [s]
            When each pose is to be passed; above zero, and rising.
        poses : sequence of BodyPose
            Where they go.

        Returns
        -------
        float
            By how much the whole was stretched to keep the limits: 1 or more.

        Raises
        ------
        ConfigurationError
            When there are no poses or not as many as times, times do not rise, or a pose is not
            finite.

        """
        if not len(poses) or len(times) != len(poses):
            raise ConfigurationError(f'expected as many times as poses, one at least; got '
                                     f'{len(times)} and {len(poses)}')
        knots = np.array([BodyTarget.of(pose.position, pose.rotation).packed[:12]
                          for pose in poses])
        return self.start(stamp_ns, run(self.planning(times, knots)))

    def planning(self, times: Sequence[float], knots: np.ndarray
                 ) -> Generator[None, None, TrajectoryPlan]:
        """
        Yield while a trajectory is planned; return what :meth:`start` takes.

        Parameters
        ----------
        times : sequence of float [s]
            When each pose is to be passed; above zero, and rising.
        knots : (n, 12) array
            Rotations by rows and positions, finite.

        Returns
        -------
        TrajectoryPlan
            As the result of the generator.

        Raises
        ------
        ConfigurationError
            When times do not rise.

        """
        steps = np.diff(np.concatenate([[0.0], np.asarray(times, float)]))
        if not (np.isfinite(steps).all() and (steps > 0.0).all()):
            raise ConfigurationError(f'expected rising times above 0 s, got {list(times)}')
        n, scratch, target = len(knots) + 1, np.zeros((2, 3, 6)), np.empty(24)
        # Until the start is known, the first knot stands in for it.
        knots = np.vstack([knots[:1], knots])
        knots[0] = self.at(self.end_ns).packed[:12]
        steps, rates = np.concatenate([[0.0], steps]), np.zeros((n, 12))
        rows, slower = np.zeros((n, SEGMENT.width)), 1.0
        samples, limits = max(4, SAMPLES // n), self._limits()
        limits[4] = np.inf      # the jerk of a trajectory is that of its points
        for first in range(1, n, PIECE):
            _pass_knots(knots, steps, rates, first, min(first + PIECE, n))
            yield
        for first in range(1, n, PIECE):
            _join_knots(knots, steps, rates, rows, first, min(first + PIECE, n), scratch)
            # The first and the last segment are stretched separately.
            slower = _needed_stretch(rows, max(first, 2), min(first + PIECE, n - 1), samples,
                                     limits, self.support, slower, target)
            yield
        slower = 1.0 if slower <= 1.0 + 1e-6 else slower
        for k in range(1, 6):
            rows[:, SEGMENT.powers + 6 * k:SEGMENT.powers + 6 * k + 6] /= slower ** k
            yield
        rows[:, SEGMENT.duration] *= slower
        rates[:, :6] /= slower
        rates[:, 6:] /= slower ** 2
        if n > 2:       # coming to rest at the end must not slow down the whole way
            rows[-1] = yield from self._between(knots[-2:], rates[-2:], rows[-1, SEGMENT.duration])
        # Usually the body still rests there at the start; then this is the first segment.
        first = yield from self._between(knots[:2], rates[:2], steps[1] * slower)
        ends = np.concatenate([[0.0], np.cumsum(rows[2:, SEGMENT.duration])])
        yield
        return TrajectoryPlan(float(np.sum(steps)), first[SEGMENT.duration], knots[1], rates[1],
                              rows, np.round(ends * 1e9).astype(np.int64))

    def start(self, stamp_ns: int, plan: TrajectoryPlan) -> float:
        """
        Follow a planned trajectory from now on.

        Parameters
        ----------
        stamp_ns : int [ns]
            Now.
        plan : TrajectoryPlan
            Plan of :meth:`planning`.

        Returns
        -------
        float
            Factor by which the whole was stretched to keep the limits, 1 or more.

        """
        now, rows = self.at(stamp_ns), plan.rows[1:]
        rates = np.array([_start_of(now)[1:].ravel(), plan.first_rates])
        rows[0] = run(self._between(np.array([now.packed[:12], plan.first]), rates,
                                    plan.first_step))
        starts = np.empty(len(rows), np.int64)
        starts[0], starts[1:] = stamp_ns, (stamp_ns + round(rows[0, SEGMENT.duration] * 1e9)
                                           + plan.ends_ns[:-1])
        self._go(starts, rows)
        total = float(rows[0, SEGMENT.duration]) + 1e-9 * int(plan.ends_ns[-1])
        return total / plan.asked if total > plan.asked * (1.0 + 1e-6) else 1.0

    def _between(self, knots: np.ndarray, rates: np.ndarray,
                 duration: float) -> Generator[None, None, np.ndarray]:
        """Yield while the segment between two knots is stretched to the limits; return it."""
        row, scratch = np.empty((2, SEGMENT.width)), np.zeros((2, 3, 6))
        best, least = row[1], math.inf
        for _ in range(TRIES):
            _join_knots(knots, np.array([0.0, duration]), rates, row, 1, 2, scratch)
            slower = self._slower(row, 1, 2, SAMPLES, 1.0)
            if slower < least:
                best, least = row[1].copy(), slower
            if slower <= 1.0 + 1e-6:
                break
            duration *= min(max(slower, 1.02), 2.0)
            yield
        return best

    # ---- segments --------------------------------------------------------------------------

    def _go(self, starts: Sequence[int] | np.ndarray, segments: Sequence[np.ndarray]) -> None:
        self._starts, self._segments = starts, segments

    def _limits(self) -> np.ndarray:
        s = self.settings
        return np.array([s.reference_velocity, s.reference_acceleration,
                         s.reference_angular_velocity, s.reference_angular_acceleration,
                         s.reference_jerk])

    def _slower(self, rows: np.ndarray, first: int, last: int, samples: int,
                slower: float) -> float:
        return _needed_stretch(rows, first, last, samples, self._limits(), self.support, slower,
                               np.empty(24))

    @staticmethod
    def _from_now(now: BodyTarget, position: np.ndarray, phi: np.ndarray,
                  duration: float) -> np.ndarray:
        """Return the segment from a moving target to rest."""
        end = np.zeros((3, 6))
        end[0] = [*position, *phi]
        return _segment(now.rotation, _start_of(now), end, duration)


def _start_of(now: BodyTarget) -> np.ndarray:
    """Return position and exponential coordinates of a moving target, with derivatives."""
    R, v, w = now.rotation, now.twist[:3], now.twist[3:]
    start = np.zeros((3, 6))
    start[0, :3] = now.position
    start[1] = [*(R @ v), *w]
    start[2] = [*(R @ (now.acceleration[:3] + np.cross(w, v))), *now.acceleration[3:]]
    return start
