# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
TrajectoryReader: a long MultiDOFJointTrajectory out of its bytes, a few points at a time.

To make objects of thousands of points at once takes longer than a robot can wait.
"""
from __future__ import annotations

import struct

import numpy as np

from legged_dynamics.exceptions import MeasurementError

# Encapsulation header, from behind which alignment counts; bytes of a transform and of a twist.
HEADER, TRANSFORM, TWIST = 4, 56, 48
UNIT_TOLERANCE = 1e-3


class TrajectoryReader:
    """
    Reads the points of a trajectory of one body.

    Parameters
    ----------
    cdr : bytes
        The serialised message, encapsulation header included.

    Attributes
    ----------
    frame_id : str
    count : int
        Points in all.
    left : int
        Points not yet read.

    Raises
    ------
    MeasurementError
        When these bytes are no such message, or one without points.

    """

    def __init__(self, cdr: bytes):
        self._cdr, self._order = cdr, '<' if cdr[1:2] == b'\x01' else '>'
        self._at, self._before = HEADER + 8, -1.0       # behind the stamp
        self.frame_id = self._text()
        for _ in range(self._number()):
            self._text()                                # joint names say nothing of a body
        self.count = self.left = self._number()
        if not self.count:
            raise MeasurementError('trajectory: expected points, got none')

    def read(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return times (k,) [s], positions (k, 3) [m], quaternions xyzw (k, 4) of the next points.

        Raises
        ------
        MeasurementError
            When a point has not exactly one transform, times do not rise from zero or above, a
            value is not finite, a quaternion is none, or the message ends too early.

        """
        k = min(most, self.left)
        times, poses = np.empty(k), np.empty((k, 7))
        for i in range(k):
            number = self._number()
            if number != 1:
                raise MeasurementError('trajectory: expected one transform (of the base) in '
                                       f'point {self.count - self.left + i}, got {number}')
            poses[i] = self._take('7d', 8, TRANSFORM)
            for _ in range(2):                          # velocities, accelerations
                twists = self._number()
                if twists:
                    self._at = self._aligned(8) + TWIST * twists
            seconds, nanoseconds = self._take('iI', 4, 8)
            times[i] = seconds + 1e-9 * nanoseconds
            if times[i] <= self._before or times[i] < 0.0:
                raise MeasurementError('trajectory: expected time_from_start to rise from zero or '
                                       f'above, got {times[i]} s after {self._before} s')
            self._before = times[i]
        self.left -= k
        if not np.isfinite(poses).all():
            raise MeasurementError(f'trajectory: expected finite poses, got {poses.tolist()}')
        lengths = np.linalg.norm(poses[:, 3:], axis=1)
        if (np.abs(lengths - 1.0) > UNIT_TOLERANCE).any():
            raise MeasurementError('trajectory: expected unit quaternions, got lengths '
                                   f'{lengths.tolist()}')
        return times, poses[:, :3], poses[:, 3:] / lengths[:, None]

    def _aligned(self, size: int) -> int:
        return self._at + (HEADER - self._at) % size

    def _take(self, form: str, alignment: int, size: int) -> tuple:
        at = self._aligned(alignment)
        self._at = at + size
        try:
            return struct.unpack_from(self._order + form, self._cdr, at)
        except struct.error as error:
            raise MeasurementError('trajectory: the message ends after '
                                   f'{len(self._cdr)} bytes: {error}') from error

    def _number(self) -> int:
        return int(self._take('I', 4, 4)[0])

    def _text(self) -> str:
        length = self._number()
        text = self._take(f'{length}s', 1, length)[0]
        return text.rstrip(b'\x00').decode(errors='replace')
