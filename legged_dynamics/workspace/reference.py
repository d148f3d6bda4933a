# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ReferenceGenerator: from the poses somebody wants to a smooth motion within limits."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.rotations import rotation_vector, skew
from legged_dynamics.workspace.minimum_jerk import (
    PEAK_ACCELERATION,
    PEAK_SPEED,
    sample_segment,
    segment,
    segment_peaks,
)
from legged_dynamics.workspace.settings import WorkspaceSettings
from legged_dynamics.workspace.target import BodyTarget

# A duration is lengthened by this until the limits hold, at most so often.
LONGER, TRIES = 1.15, 60


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


class ReferenceGenerator:
    """
    Moves a target pose by minimum jerk, within limits of velocity and acceleration.

    A new pose or trajectory may come at any time: the motion goes on from the pose, twist and
    acceleration that the reference has then.

    Parameters
    ----------
    settings : WorkspaceSettings, optional
        Those called ``reference.*``.

    Attributes
    ----------
    settings : WorkspaceSettings
        May be replaced at any time; motions under way stay as they are.

    """

    def __init__(self, settings: WorkspaceSettings | None = None):
        self.settings = settings or WorkspaceSettings.from_parameters()
        self.rest(0, BodyPose(np.zeros(3), np.eye(3)))

    @property
    def end_ns(self) -> int:
        """When the motion comes to rest [ns]."""
        return self._starts[-1] + round(self._segments[-1][-1] * 1e9)

    @property
    def goal(self) -> BodyPose:
        """Where the motion comes to rest."""
        target = self.at(self.end_ns)
        return BodyPose(target.position, target.rotation)

    def at(self, stamp_ns: int) -> BodyTarget:
        """Return the target at a time [ns]."""
        index = len(self._starts) - 1
        while index > 0 and stamp_ns < self._starts[index]:
            index -= 1
        row = np.empty(24)
        sample_segment(self._segments[index], (stamp_ns - self._starts[index]) * 1e-9, row)
        return BodyTarget(row)

    def rest(self, stamp_ns: int, pose: BodyPose) -> None:
        """Stay at a pose from now on, at once."""
        still = np.zeros((3, 6))
        still[0, :3] = pose.position
        self._starts, self._segments = [stamp_ns], [segment(pose.rotation, still, still, 1e-9)]

    def hold(self, stamp_ns: int) -> None:
        """Come to rest as soon as the limits allow."""
        now, limits = self.at(stamp_ns), self._limits()
        v, w = now.rotation @ now.twist[:3], now.twist[3:]
        T = max(1.5 * np.linalg.norm(v) / limits[1], 1.5 * np.linalg.norm(w) / limits[3],
                self.settings['reference.shortest'])
        self._starts, self._segments = [stamp_ns], [self._from_now(
            now, now.position + 0.5 * T * v, 0.5 * T * w, T)]

    def move_to(self, stamp_ns: int, pose: BodyPose, duration: float | None = None) -> float:
        """
        Move to a pose and rest there.

        Parameters
        ----------
        stamp_ns : int [ns]
            When the motion begins: now.
        pose : BodyPose
            Where to.
        duration : float, optional [s]
            As long as the limits take by default, and at least.

        Returns
        -------
        float
            The duration [s].

        Raises
        ------
        ConfigurationError
            When the pose is not finite or its rotation is none.

        """
        BodyTarget.of(pose.position, pose.rotation)
        now, limits = self.at(stamp_ns), self._limits()
        phi = rotation_vector(now.rotation.T @ pose.rotation)
        linear = float(np.linalg.norm(pose.position - now.position))
        angular = float(np.linalg.norm(phi))
        T = max(PEAK_SPEED * linear / limits[0], math.sqrt(PEAK_ACCELERATION * linear / limits[1]),
                PEAK_SPEED * angular / limits[2],
                math.sqrt(PEAK_ACCELERATION * angular / limits[3]),
                self.settings['reference.shortest'], duration or 0.0)
        best, least = None, math.inf
        for _ in range(TRIES):
            made = self._from_now(now, pose.position, phi, T)
            excess = self._excess([made])
            if excess < least:
                best, least = made, excess
            if excess <= 1.0 + 1e-6:
                break
            T *= LONGER
        assert best is not None
        self._starts, self._segments = [stamp_ns], [best]
        return float(best[-1])

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
            By how much all times were stretched to keep the limits: 1 or more.

        Raises
        ------
        ConfigurationError
            When there are no poses or not as many as times, times do not rise, or a pose is not
            finite.

        """
        if not len(poses) or len(times) != len(poses):
            raise ConfigurationError(f'expected as many times as poses, one at least; got '
                                     f'{len(times)} and {len(poses)}')
        steps = np.diff(np.concatenate([[0.0], np.asarray(times, float)]))
        if not (np.isfinite(steps).all() and (steps > 0.0).all()):
            raise ConfigurationError(f'expected rising times above 0 s, got {list(times)}')
        for pose in poses:
            BodyTarget.of(pose.position, pose.rotation)
        now, stretch = self.at(stamp_ns), 1.0
        for _ in range(TRIES):
            made = self._through(now, stretch * steps, poses)
            excess = self._excess(made)
            if excess <= 1.0 + 1e-6:
                break
            stretch *= max(min(excess, LONGER), 1.02)
        ends = np.cumsum([0.0, *(row[-1] for row in made[:-1])])
        self._starts = [stamp_ns + round(end * 1e9) for end in ends]
        self._segments = made
        return stretch

    # ---- how it is made --------------------------------------------------------------------

    def _limits(self) -> tuple[float, float, float, float]:
        s = self.settings
        return (s['reference.velocity'], s['reference.acceleration'],
                s['reference.angular_velocity'], s['reference.angular_acceleration'])

    def _excess(self, segments: Sequence[np.ndarray]) -> float:
        """Return by how much a motion would have to be slowed down: at most 1 if not at all."""
        peaks, worst, limits = np.empty(4), 0.0, self._limits()
        for row in segments:
            segment_peaks(row, np.empty(24), peaks)
            worst = max(worst, peaks[0] / limits[0], math.sqrt(peaks[1] / limits[1]),
                        peaks[2] / limits[2], math.sqrt(peaks[3] / limits[3]))
        return worst

    @staticmethod
    def _from_now(now: BodyTarget, position: np.ndarray, phi: np.ndarray,
                  duration: float) -> np.ndarray:
        """Return the segment from a moving target to rest."""
        end = np.zeros((3, 6))
        end[0] = [*position, *phi]
        return segment(now.rotation, _start_of(now), end, duration)

    @staticmethod
    def _through(now: BodyTarget, steps: np.ndarray,
                 poses: Sequence[BodyPose]) -> list[np.ndarray]:
        rotations = [now.rotation, *(pose.rotation for pose in poses)]
        positions = [now.position, *(pose.position for pose in poses)]
        turns = [rotation_vector(a.T @ b) for a, b in pairwise(rotations)]
        slopes = [np.concatenate([b - a, turn]) / T for (a, b), turn, T in zip(
            pairwise(positions), turns, steps)]
        rates = [*(_gentle(a, b) for a, b in pairwise(slopes)), np.zeros(6)]
        start, made = _start_of(now), []
        for i, (T, turn, rate) in enumerate(zip(steps, turns, rates)):
            end = np.zeros((3, 6))
            end[0] = [*positions[i + 1], *turn]
            end[1, :3] = rate[:3]
            end[1:, 3:] = _coordinates(turn, rate[3:])
            made.append(segment(rotations[i], start, end, T))
            start = np.zeros((3, 6))
            start[0, :3], start[1] = positions[i + 1], rate
        return made


def _start_of(now: BodyTarget) -> np.ndarray:
    """Return position and exponential coordinates of a moving target, with derivatives."""
    R, v, w = now.rotation, now.twist[:3], now.twist[3:]
    start = np.zeros((3, 6))
    start[0, :3] = now.position
    start[1] = [*(R @ v), *w]
    start[2] = [*(R @ (now.acceleration[:3] + np.cross(w, v))), *now.acceleration[3:]]
    return start


def _gentle(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return a rate at a pose between two slopes that overshoots neither: the harmonic mean."""
    same = before * after > 0.0
    total = np.where(same, before + after, 1.0)
    return np.where(same, 2.0 * before * after / total, 0.0)


def _coordinates(phi: np.ndarray, w: np.ndarray) -> np.ndarray:
    """
    Return rate and acceleration of exponential coordinates at a turn of constant rate w, (2, 3).

    With ``w = J_r(phi) rate`` for the right Jacobian J_r of the rotation group.
    """
    rate = np.linalg.solve(_right_jacobian(phi), w)
    step = 1e-5
    ahead = np.linalg.solve(_right_jacobian(phi + step * rate), w)
    behind = np.linalg.solve(_right_jacobian(phi - step * rate), w)
    return np.array([rate, (ahead - behind) / (2.0 * step)])


def _right_jacobian(phi: np.ndarray) -> np.ndarray:
    t, S = float(np.linalg.norm(phi)), skew(phi)
    if t < 1e-4:
        return np.eye(3) - 0.5 * S + S @ S / 6.0
    return (np.eye(3) - (1.0 - math.cos(t)) / t ** 2 * S
            + (t - math.sin(t)) / t ** 3 * S @ S)
