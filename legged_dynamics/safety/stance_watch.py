# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Plausibility of IMU and encoders by the legs in stance: feet that stand do not move.

Feet on the ground are corners of a rigid body. How that has turned in the axes of the base tells
how the base has turned on the ground (the best rotation between two sets of points; Kabsch, "A
solution for the best rotation to relate two sets of vectors", Acta Cryst. A32, 1976). A gyro that
says otherwise for half a second drifts, however well it agrees with the orientation of the same
IMU. A standing foot that creeps away from the others slips, or an encoder of its leg drifts.
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.model import RobotModel


@dataclass(frozen=True)
class StanceSettings:
    """Settings of the comparison of gyro and encoders with standing feet."""

    period_ns: int = 50_000_000  # between looks at the feet
    window_ns: int = 500_000_000  # over which rotations are compared
    feet: int = 3  # points of a body that tell its rotation
    looks: int = 2  # in a row that must say the same
    rigid: float = 0.004  # m; feet that moved further against each other tell no rotation
    creep: float = 0.012  # m by which a standing foot may have moved against the others


STANCE = StanceSettings()


class StanceWatch:
    """
    Compares gyro and encoders with feet that stand.

    ``turn`` [rad/s]: difference from which the gyro is not believed (`gyro_fault`), 0: not
    checked; `foot_note`: which foot moves in stance.
    """

    def __init__(self, model: RobotModel, feet: Sequence[str], turn: float):
        self._model, self._feet, self._turn = model, tuple(feet), turn
        self.reset()

    def reset(self) -> None:
        """Forget where the feet were."""
        self.gyro_fault = self.foot_note = ''
        self._looks: deque[tuple[int, np.ndarray, np.ndarray]] = deque(
            maxlen=STANCE.window_ns // STANCE.period_ns + 1)
        self._turned = np.zeros(3)
        self._gyro_ns: int | None = None
        self._stance: tuple[bool, ...] = ()
        self._origin: np.ndarray | None = None
        self._odd = 0

    def gyro(self, stamp_ns: int, angular_velocity: np.ndarray) -> None:
        """Add a gyro reading, base angular velocity in base axes."""
        if self._gyro_ns is not None and 0 < stamp_ns - self._gyro_ns < STANCE.window_ns:
            self._turned = self._turned + angular_velocity * ((stamp_ns - self._gyro_ns) * 1e-9)
        else:
            self._looks.clear()
        self._gyro_ns = stamp_ns

    def joints(self, stamp_ns: int, position: np.ndarray, stance: Sequence[bool] | None) -> None:
        """Add a joint state; ``stance`` is None when not known."""
        if self._looks and 0 <= stamp_ns - self._looks[-1][0] < STANCE.period_ns:
            return
        standing = tuple(bool(one) for one in stance) if stance is not None else ()
        if sum(standing) < STANCE.feet or standing != self._stance:
            self._looks.clear()
            self._stance, self._origin, self._odd = standing, None, 0
            self.gyro_fault = self.foot_note = ''
            if sum(standing) < STANCE.feet:
                return
        poses = frame_poses(self._model, position, self._feet)
        points = np.array([poses[foot].p for foot, stands in zip(self._feet, standing) if stands])
        if self._looks and not 0 < stamp_ns - self._looks[-1][0] < 4 * STANCE.period_ns:
            self._looks.clear()
        self._looks.append((stamp_ns, points, self._turned))
        self._origin = points if self._origin is None else self._origin
        self._judge_feet(points)
        if len(self._looks) == self._looks.maxlen:
            self._judge_gyro()

    def _judge_gyro(self) -> None:
        (began, before, turned), (ended, after, turned_since) = self._looks[0], self._looks[-1]
        legs, apart = _turn(before, after)
        if self._turn <= 0.0 or float(np.max(apart)) > STANCE.rigid:
            return
        seconds = (ended - began) * 1e-9
        by_gyro = (turned_since - turned) / seconds
        error = float(np.linalg.norm(by_gyro - legs / seconds))
        self._odd = self._odd + 1 if error > self._turn else 0
        self.gyro_fault = '' if self._odd < STANCE.looks else (
            f'the gyro says that the base turns at {np.linalg.norm(by_gyro):.2f} rad/s, the legs '
            f'in stance say {np.linalg.norm(legs) / seconds:.2f}: it drifts')

    def _judge_feet(self, points: np.ndarray) -> None:
        assert self._origin is not None
        _, apart = _turn(self._origin, points)
        worst = int(np.argmax(apart))
        if apart[worst] > STANCE.creep:
            foot = [name for name, stands in zip(self._feet, self._stance) if stands][worst]
            self.foot_note = (f'{foot} has moved by {1e3 * apart[worst]:.0f} mm against the other '
                              'feet although it stands: it slips, or an encoder of its leg drifts')


def _turn(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation vector of the base between two sets of points, and what remains [m]."""
    a, b = before - before.mean(axis=0), after - after.mean(axis=0)
    left, _, right = np.linalg.svd(a.T @ b)
    sign = np.diag([1.0, 1.0, math.copysign(1.0, np.linalg.det(left @ right))])
    R = left @ sign @ right         # b R^T = a: the base has turned by R
    apart = np.linalg.norm(b @ R.T - a, axis=1)
    vector = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return vector, apart
