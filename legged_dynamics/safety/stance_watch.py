# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Plausibility of IMU and encoders by the legs in stance: feet that stand do not move.

They stand on one plane: a joint that has no reading is where its foot is on that of the others.

How feet that have stood all the while rise and sink in the axes of the base tells how the base has
tilted on the ground, two of them about every axis but the line between them. A trot stands on one
diagonal and then on the other, and half a second of it tells both axes. A gyro that says otherwise
drifts, however well it agrees with the orientation of the same IMU. Feet that slip stay level.
A standing foot that creeps away from the others slips, or an encoder of its leg drifts: what the
best rotation between two sets of points leaves (Kabsch, "A solution for the best rotation to
relate two sets of vectors", Acta Cryst. A32, 1976).
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.kinematics import (
    OMEGA,
    POSITION,
    ROTATION,
    VELOCITY,
    body_workspace,
    forward_kinematics,
    frame_poses,
)
from legged_dynamics.model import RobotModel
from legged_dynamics.safety.imu_watch import turn_between


@dataclass(frozen=True)
class StanceSettings:
    """Settings of the comparison of gyro and encoders with standing feet."""

    period_ns: int = 50_000_000  # between looks at the feet
    window_ns: int = 500_000_000  # over which tilts are compared, most of a trot's cycle
    # over which the orientation is, whose noise counts twice in a window of any length
    slow_window_ns: int = 3_000_000_000
    slow: float = 0.2  # part of the gyro's difference from which the orientation is not believed
    looks: int = 2  # in a row that must say the same
    # rad/s; a look says no more than this: a foot that was not down, or a jolt, is gone after it
    jolt: float = 0.2
    level: float = 0.2  # part of the better known axis' weight, below which nothing is said of it
    seen: float = 0.5  # part of the looks that must have seen two feet stand
    feet: int = 3  # fewest that are judged, and that stand where one may creep
    creep: float = 0.012  # m by which a standing foot may have moved against the others


STANCE = StanceSettings()


class StanceWatch:
    """
    Compares IMU and encoders with feet that stand.

    ``turn`` [rad/s]: difference from which the gyro is not believed (`gyro_fault`), 0: not
    checked; ``R_BI``: axes of the IMU in the base; `foot_note`: which foot moves in stance.
    """

    def __init__(self, model: RobotModel, feet: Sequence[str], turn: float,
                 R_BI: np.ndarray | None = None):
        self._model, self._feet = model, tuple(feet)
        self._turn = turn if len(feet) >= STANCE.feet else 0.0      # two soles rock when pushed
        self._R = np.eye(3) if R_BI is None else R_BI
        self.reset()

    def reset(self) -> None:
        """Forget where the feet were."""
        self.gyro_fault = self.foot_note = ''
        # Of each look: seconds, turn by the gyro, the normal equations of the missing tilt, and
        # the turn by the orientation.
        self._looks: deque[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = deque(
            maxlen=STANCE.slow_window_ns // STANCE.period_ns)
        self._turned, self._orientation = np.zeros(3), np.full(4, np.nan)
        self._gyro_ns: int | None = None
        self._last: tuple[int, np.ndarray, np.ndarray, np.ndarray] | None = None
        self._stood = self._stance = np.zeros(len(self._feet), bool)
        self._origin: np.ndarray | None = None
        self._odd = 0

    def imu(self, stamp_ns: int, angular_velocity: np.ndarray,
            orientation: np.ndarray | None = None) -> None:
        """Add a reading in axes of the IMU; ``orientation``: xyzw."""
        if self._gyro_ns is not None and 0 < stamp_ns - self._gyro_ns < STANCE.window_ns:
            seconds = (stamp_ns - self._gyro_ns) * 1e-9
            self._turned = self._turned + self._R @ angular_velocity * seconds
        else:
            self._last = None
        self._gyro_ns = stamp_ns
        self._orientation = np.full(4, np.nan) if orientation is None else orientation

    def joints(self, stamp_ns: int, position: np.ndarray, stance: Sequence[bool] | None) -> None:
        """Add a joint state; ``stance`` is None when not known."""
        standing = np.zeros(len(self._feet), bool) if stance is None else np.array(stance, bool)
        self._stood = self._stood & standing
        if self._last and 0 <= stamp_ns - self._last[0] < STANCE.period_ns:
            return
        if (standing != self._stance).any():
            self._stance, self._origin, self.foot_note = standing, None, ''
        poses = frame_poses(self._model, position, self._feet)
        points = np.array([poses[foot].p for foot in self._feet])
        if self._last and 0 < stamp_ns - self._last[0] < 4 * STANCE.period_ns:
            self._compare(stamp_ns, points)
        else:
            self._looks.clear()
            self._odd, self.gyro_fault = 0, ''
        self._last = stamp_ns, points, self._turned, self._orientation
        self._stood = standing
        if np.count_nonzero(standing) >= STANCE.feet:
            self._judge_feet(points)

    def _compare(self, stamp_ns: int, points: np.ndarray) -> None:
        """Add how far the feet have risen in base axes, beyond what the gyro explains."""
        assert self._last is not None
        before_ns, before, turned, orientation = self._last
        seconds, turn = (stamp_ns - before_ns) * 1e-9, self._turned - turned
        middle = 0.5 * (before + points)[self._stood]
        risen = (points - before)[self._stood] + np.cross(turn, middle)
        if len(middle) < 2:
            middle = risen = np.zeros((1, 3))
        arms, rise = (values - values.mean(axis=0) for values in (middle, risen))
        most = STANCE.jolt * seconds * np.hypot(arms[:, 0], arms[:, 1])
        # arm x tilt, in the base's z
        slopes = np.column_stack([-arms[:, 1], arms[:, 0]])
        self._looks.append((seconds, turn, slopes.T @ slopes,
                            slopes.T @ np.clip(rise[:, 2], -most, most),
                            self._R @ turn_between(orientation, self._orientation)))
        if self._turn > 0.0:
            why = self._drift(STANCE.window_ns) or self._drift(STANCE.slow_window_ns, True)
            self._odd = self._odd + 1 if why else 0
            self.gyro_fault = why if self._odd >= STANCE.looks else ''

    def _drift(self, window_ns: int, slow: bool = False) -> str:
        """Return how the gyro, or slowly the orientation, drifts in a window, or ''."""
        count = window_ns // STANCE.period_ns
        looks = list(self._looks)[-count:]
        if len(looks) < count:
            return ''
        seconds, by_gyro, products, risen, by_imu = (sum(parts) for parts in zip(*looks))
        weights, axes = np.linalg.eigh(products)
        seen = sum(bool(look[2].any()) for look in looks) / count
        known = axes[:, (weights > STANCE.level * weights[1]) & (seen >= STANCE.seen)]
        tilt = known @ np.linalg.solve(known.T @ products @ known, known.T @ risen) * count
        said = by_imu[:2] if slow else by_gyro[:2]
        missing = tilt + known @ known.T @ (by_gyro[:2] - said)
        most = self._turn * (STANCE.slow if slow else 1.0) * seconds
        # Without an orientation it is NaN: nothing is said.
        if not np.linalg.norm(missing) > most:
            return ''
        own, legs = (f'{np.linalg.norm(turn) / seconds:.{3 if slow else 2}f}'
                     for turn in (said, said + missing))
        return (f'the {"orientation" if slow else "gyro"} says that the base tilts at {own} '
                f'rad/s, the legs in stance say {legs}: it drifts')

    def _judge_feet(self, points: np.ndarray) -> None:
        self._origin = points if self._origin is None else self._origin
        standing = np.flatnonzero(self._stance)
        apart = _apart(self._origin[standing], points[standing])
        worst = int(np.argmax(apart))
        if apart[worst] > STANCE.creep:
            self.foot_note = (
                f'{self._feet[standing[worst]]} has moved by {1e3 * apart[worst]:.0f} mm against '
                'the other feet although it stands: it slips, or an encoder of its leg drifts')


def _apart(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return how far points have moved beside turning and moving together [m]."""
    a, b = before - before.mean(axis=0), after - after.mean(axis=0)
    left, _, right = np.linalg.svd(a.T @ b)
    sign = np.diag([1.0, 1.0, math.copysign(1.0, np.linalg.det(left @ right))])
    # b R^T = a: the base has turned by R.
    return np.linalg.norm(b @ (left @ sign @ right).T - a, axis=1)


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ByFeetSettings:
    """Settings of the place of a joint by the feet of all legs."""

    landing_ns: int = 60_000_000  # before which feet of a gait are in the air; 100 is too late
    # least part of the foot's way that is across the plane when the joint moves
    lever: float = 0.2
    step: float = 0.05  # rad or m, the largest correction of a sample
    smooth: float = 0.01  # s over which the velocity is averaged
    gap_ns: int = 50_000_000  # between samples, after which the feet have to land again


BY_FEET = ByFeetSettings()


class JointByFeet:
    """
    Where a joint without a reading is: its foot stands on the plane of at least three others.

    For robots of 1-DoF joints; ``joints``: names in the order of the states.
    """

    def __init__(self, model: RobotModel, joints: Sequence[str], feet: Sequence[str]):
        self._tree, self._bodies = model.tree, body_workspace(model)
        self._order = np.array([model.joint_index(name) for name in joints])
        self._frames = [model.frame(foot) for foot in feet]
        moved = np.array([[j + 1 in model.chain(frame.body) for frame in self._frames]
                          for j in self._order.tolist()])
        told = len(feet) > 3 and model.nq == model.n_joints
        # The foot that each joint moves; -1: none, or several.
        self._foot = np.where(moved.sum(axis=1) == 1, moved.argmax(axis=1), -1) if told else (
            np.full(len(joints), -1))
        self._q, self._v, self._still = np.zeros((3, model.nv))
        self._joint, self._seen_ns = -1, 0
        if told:
            self._points(np.zeros(len(joints)), 0)      # compiles

    def fill(self, ns: int, state: np.ndarray, last: np.ndarray) -> None:
        """Fill the joint that is NaN in a state (2, nj), if it can be told; ``last``: places."""
        j = int(np.isnan(state[0]).argmax())
        if not math.isnan(state[0, j]) or self._foot[j] < 0:
            return
        if j != self._joint or not 0 <= ns - self._seen_ns < BY_FEET.gap_ns:
            self._joint, self._since_ns, self._seen_ns = j, ns, ns
            self._place, self._speed = last[j], 0.0
        places = state[0].copy()
        places[j] = self._place
        points, ways = self._points(places, j)
        others = np.delete(points, self._foot[j], axis=0)
        middle = others.mean(axis=0)
        normal = np.linalg.svd(others - middle)[2][2]
        way = ways[self._foot[j]]
        rise, across = normal @ (points[self._foot[j]] - middle), normal @ way
        if abs(across) < BY_FEET.lever * np.linalg.norm(way):
            return
        step = min(max(-rise / across, -BY_FEET.step), BY_FEET.step)
        dt = (ns - self._seen_ns) * 1e-9
        if dt > 0.0:
            self._speed -= math.expm1(-dt / BY_FEET.smooth) * (step / dt - self._speed)
        self._place, self._seen_ns = self._place + step, ns
        if ns - self._since_ns >= BY_FEET.landing_ns:
            state[:, j] = self._place, self._speed

    def _points(self, places: np.ndarray, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of the feet and their way per turn of a joint, base axes."""
        self._q[self._order], self._v[:] = places, 0.0
        self._v[self._order[j]] = 1.0
        forward_kinematics(self._tree, self._q, self._v, self._still, np.zeros(9), self._bodies)
        points, ways = np.empty((2, len(self._frames), 3))
        for point, way, (body, pose) in zip(points, ways, self._frames):
            row = self._bodies[body]
            arm = row[ROTATION:ROTATION + 9].reshape(3, 3) @ pose.p
            point[:] = row[POSITION:POSITION + 3] + arm
            way[:] = row[VELOCITY:VELOCITY + 3] + np.cross(row[OMEGA:OMEGA + 3], arm)
        return points, ways
