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

# Intervals are even when they differ from their median by less than this part of it.
JITTER = 0.02
# An interval longer than this many medians is a gap, which is not interpolated.
GAP = 5.5


@dataclass(frozen=True, eq=False)
class Poses:
    """
    Poses of a robot or a person over time, as they were recorded.

    Attributes
    ----------
    time : (n,) array [s]
        Increasing.
    base_position : (n, 3) array [m]
        p_WB.
    base_quaternion : (n, 4) array
        Orientation of the base in the world, x, y, z, w.
    position : (n, nq) array [rad or m]
        Joints in the model's order.

    """

    time: np.ndarray
    base_position: np.ndarray
    base_quaternion: np.ndarray
    position: np.ndarray

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
        Return the motion of these poses at an even rate, and a note where they were resampled.

        Parameters
        ----------
        model : RobotModel
            Whose joints they are.
        cutoff : float or None [Hz]
            Low-pass before differentiating; None for none.

        Returns
        -------
        RecordedMotion
        list of str

        Raises
        ------
        MeasurementError
            When there is a gap too long to interpolate over, or the recording is too short or too
            slow for the cut-off.

        """
        even = self.evenly()
        notes = [] if even is self else [
            'Times are uneven: resampled evenly, linear in between.']
        return RecordedMotion.from_poses(model, even.time, even.base_position,
                                         even.base_quaternion, even.position, cutoff), notes


def even_grid(time: np.ndarray) -> np.ndarray:
    """
    Return evenly spaced times over the span of others.

    Parameters
    ----------
    time : (n,) array [s]
        Increasing.

    Returns
    -------
    (m,) array [s]
        The same array where it is even already.

    Raises
    ------
    MeasurementError
        When there are too few times, or there is a gap too long to interpolate over.

    """
    if len(time) < 3:
        raise MeasurementError(f'expected three samples or more, got {len(time)}')
    steps = np.diff(time)
    step = float(np.median(steps))
    if step <= 0.0:
        raise MeasurementError('expected rising times, got most of them not after the one before')
    worst = int(np.argmax(steps))
    if steps[worst] > GAP * step:
        raise MeasurementError(
            f'there is a gap of {steps[worst]:.3g} s after {time[worst]:.6g} s in samples that '
            f'come every {step:.3g} s: analyse the parts before and after it by themselves')
    if (np.abs(steps - step) <= JITTER * step).all():
        return time
    return time[0] + step * np.arange(int((time[-1] - time[0]) / step + 1e-6) + 1)


def interpolated(time: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """
    Return values at other times, linearly interpolated and constant beyond the ends.

    Parameters
    ----------
    time : (n,) array [s]
        Increasing.
    values : (n, k) array
        At these times.
    at : (m,) array [s]
        Other times.

    Returns
    -------
    (m, k) array

    """
    return np.stack([np.interp(at, time, column) for column in values.T], axis=1)


def slerped(time: np.ndarray, xyzw: np.ndarray, at: np.ndarray) -> np.ndarray:
    """
    Return unit quaternions at other times, by spherical linear interpolation.

    Parameters
    ----------
    time : (n,) array [s]
        Increasing.
    xyzw : (n, 4) array
        Quaternions at these times, the scalar last.
    at : (m,) array [s]
        Other times; those beyond the ends count as the ends.

    Returns
    -------
    (m, 4) array

    Raises
    ------
    MeasurementError
        When a quaternion is zero.

    """
    length = np.linalg.norm(xyzw, axis=1)
    if not (length > 1e-9).all():
        raise MeasurementError('expected quaternions of non-zero length, got zero at '
                               f'{time[length <= 1e-9][0]:g} s')
    return Slerp(time, Rotation.from_quat(xyzw))(np.clip(at, time[0], time[-1])).as_quat()
