# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recorded poses, resampled to an even rate where they are not."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel


@dataclass(frozen=True)
class SamplingSettings:
    """Which intervals between samples are even, as parts of their median."""

    jitter: float = 0.02  # Largest difference from the median of even ones
    gap: float = 5.5  # A longer one is a gap, which is not interpolated


SAMPLING = SamplingSettings()


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of a robot or a person over time, as they were recorded."""

    time: np.ndarray  # (n,) [s]: increasing
    base_position: np.ndarray  # (n, 3) [m]: p_WB
    base_quaternion: np.ndarray  # (n, 4): orientation of the base in the world, x, y, z, w
    position: np.ndarray  # (n, nq) [rad or m]: joints in the model's order

    def evenly(self) -> Poses:
        """Return the poses on an even grid of times; themselves where they are on one."""
        grid = even_grid(self.time)
        if grid is self.time:
            return self
        return Poses(grid, interpolated(self.time, self.base_position, grid),
                     slerped(self.time, self.base_quaternion, grid),
                     interpolated(self.time, self.position, grid))

    def motion(self, model: RobotModel, cutoff: float | None) -> tuple[RecordedMotion, list[str]]:
        """
        Return the evenly sampled motion of these poses, and a note if resampled.

        ``cutoff`` [Hz]: low-pass before differentiating. Raises MeasurementError for long gaps.
        """
        even = self.evenly()
        notes = [] if even is self else [
            'Times are uneven: resampled evenly, linear in between.']
        return RecordedMotion.from_poses(model, even.time, even.base_position,
                                         even.base_quaternion, even.position, cutoff), notes


def even_grid(time: np.ndarray) -> np.ndarray:
    """Return evenly spaced times over the same span; MeasurementError for long gaps."""
    if len(time) < 3:
        raise MeasurementError(f'expected three samples or more, got {len(time)}')
    steps = np.diff(time)
    step = float(np.median(steps))
    if step <= 0.0:
        raise MeasurementError('expected rising times, got most of them not after the one before')
    worst = int(np.argmax(steps))
    if steps[worst] > SAMPLING.gap * step:
        raise MeasurementError(
            f'there is a gap of {steps[worst]:.3g} s after {time[worst]:.6g} s in samples that '
            f'come every {step:.3g} s: analyse the parts before and after it by themselves')
    if (np.abs(steps - step) <= SAMPLING.jitter * step).all():
        return time
    return time[0] + step * np.arange(int((time[-1] - time[0]) / step + 1e-6) + 1)


def interpolated(time: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return values (m, k) at other times, interpolated, constant beyond the ends."""
    return np.stack([np.interp(at, time, column) for column in values.T], axis=1)


def slerped(time: np.ndarray, xyzw: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return unit quaternions xyzw at other times by slerp, constant beyond the ends."""
    length = np.linalg.norm(xyzw, axis=1)
    if not (length > 1e-9).all():
        raise MeasurementError('expected quaternions of non-zero length, got zero at '
                               f'{time[length <= 1e-9][0]:g} s')
    return Slerp(time, Rotation.from_quat(xyzw))(np.clip(at, time[0], time[-1])).as_quat()
