# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ReferenceGenerator: from desired poses to a smooth motion within limits.

Planning runs in pieces of some hundred microseconds, so that control ticks can run in between:
:meth:`ReferenceGenerator.planning` yields after each piece.
"""
from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Generator, Sequence

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.rotations import rotation_vector
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.minimum_jerk import (
    PEAK_ACCELERATION,
    PEAK_SPEED,
    SAMPLES,
    SEGMENT,
    BodyPose,
    TrajectoryPlan,
    join_knots,
    needed_stretch,
    pass_knots,
    run,
    sample_segment,
    segment,
)
from legged_dynamics.workspace.settings import WorkspaceSettings
from legged_dynamics.workspace.support import ANYTHING

# Factor by which a duration is lengthened until the limits hold, and the largest number of trials.
LONGER, TRIES = 1.15, 60
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
        sample_segment(self._segments[index], (stamp_ns - start) * 1e-9, row)
        return BodyTarget(row)

    def rest(self, stamp_ns: int, pose: BodyPose) -> None:
        """
        Rest at a pose from now on; the reference jumps there.

        Parameters
        ----------
        stamp_ns : int [ns]
            Now.
        pose : BodyPose
            Where to rest.

        """
        still = np.zeros((3, 6))
        still[0, :3] = pose.position
        self._go([stamp_ns], [segment(pose.rotation, still, still, 1e-9)])

    def hold(self, stamp_ns: int) -> None:
        """
        Come to rest as soon as the limits allow.

        Parameters
        ----------
        stamp_ns : int [ns]
            Now.

        """
        now, limits = self.at(stamp_ns), self._limits()
        v, w = now.rotation @ now.twist[:3], now.twist[3:]
        T = max(1.5 * np.linalg.norm(v) / limits[1], 1.5 * np.linalg.norm(w) / limits[3],
                self.settings.shortest_motion)
        self._go([stamp_ns], [self._from_now(now, now.position + 0.5 * T * v, 0.5 * T * w, T)])

    def move_to(self, stamp_ns: int, pose: BodyPose, duration: float | None = None) -> float:
        """
        Move to a pose and rest there.

        Parameters
        ----------
        stamp_ns : int [ns]
            Start of the motion: now.
        pose : BodyPose
            Goal of the motion.
        duration : float, optional [s]
            Least duration; the shortest that the limits allow by default.

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
                self.settings.shortest_motion, duration or 0.0)
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
            From which the times count: now.
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
        rows, slower = np.empty((n, SEGMENT.width)), 1.0
        samples, limits = max(4, SAMPLES // n), self._limits()
        limits[4] = np.inf      # the jerk of a trajectory is that of its points
        for first in range(1, n, PIECE):
            pass_knots(knots, steps, rates, first, min(first + PIECE, n))
            yield
        for first in range(1, n, PIECE):
            join_knots(knots, steps, rates, rows, first, min(first + PIECE, n), scratch)
            # The first and the last segment are stretched separately.
            slower = needed_stretch(rows, max(first, 2), min(first + PIECE, n - 1), samples,
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
            Of :meth:`planning`.

        Returns
        -------
        float
            Factor by which the whole was stretched to keep the limits, 1 or more.

        """
        now, rows = self.at(stamp_ns), plan.rows[1:]
        R, v, w = now.rotation, now.twist[:3], now.twist[3:]
        rates = np.array([*(R @ v), *w, *(R @ (now.acceleration[:3] + np.cross(w, v))),
                          *now.acceleration[3:]])
        rows[0] = run(self._between(np.array([now.packed[:12], plan.first]),
                                    np.array([rates, plan.first_rates]), plan.first_step))
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
            join_knots(knots, np.array([0.0, duration]), rates, row, 1, 2, scratch)
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
        return needed_stretch(rows, first, last, samples, self._limits(), self.support, slower,
                              np.empty(24))

    @staticmethod
    def _from_now(now: BodyTarget, position: np.ndarray, phi: np.ndarray,
                  duration: float) -> np.ndarray:
        """Return the segment from a moving target to rest."""
        end = np.zeros((3, 6))
        end[0] = [*position, *phi]
        return segment(now.rotation, _start_of(now), end, duration)


def _start_of(now: BodyTarget) -> np.ndarray:
    """Return position and exponential coordinates of a moving target, with derivatives."""
    R, v, w = now.rotation, now.twist[:3], now.twist[3:]
    start = np.zeros((3, 6))
    start[0, :3] = now.position
    start[1] = [*(R @ v), *w]
    start[2] = [*(R @ (now.acceleration[:3] + np.cross(w, v))), *now.acceleration[3:]]
    return start
