# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Poses of the links of a standing robot, shares of its feet, and where else it may touch the ground.

Nothing here is compiled. A link touches the ground with balls that its collision shapes lie on. A
body without shapes is guessed from its joints: a limb reaches from its own joint to the next
ones, a base encloses its joints, as thick as its inertia says.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import parts as layout
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.shapes import Shape
from legged_dynamics.spatial.frames import GRAVITY, Transform
from legged_dynamics.spatial.rotations import rotation_from_quaternion

# Radius of a limb whose shape is not known, as a share of its length.
SLENDER = 0.1


class TouchPoints(NamedTuple):
    """Balls that enclose the shapes of a body."""

    link: str  # Name of the body's first link
    body: int  # Its number
    points: np.ndarray  # (n, 3) [m]: centres, in the body's frame
    radius: np.ndarray  # (n,) [m]
    guessed: bool  # Whether the description has no shape of it


def touch_points(model: RobotModel, left_out: Callable[[int, np.ndarray], bool]
                 ) -> list[TouchPoints]:
    """
    Return each body's possible contact points, the base first, without empty ones.

    ``left_out`` takes a body and a point in its frame [m]: whether it is part of a foot.
    """
    found = []
    for body in range(model.n_bodies):
        link = model.joints[body - 1].child if body else model.base_link
        balls = [ball for name, frame in model.frames.items() if frame.body == body
                 for shape in model.shapes.get(name, ()) for ball in _balls(shape, frame.pose)]
        for guessed in (False, True):
            balls = [ball for ball in (_guessed_balls(model, body) if guessed else balls)
                     if not left_out(body, ball[0])]
            if balls:
                found.append(TouchPoints(link, body, np.array([p for p, _ in balls]),
                                         np.array([r for _, r in balls]), guessed))
                break
    return found


def _balls(shape: Shape, pose: Transform) -> list[tuple[np.ndarray, float]]:
    """Return centres and radii of balls that a shape lies on, in the frame that `pose` is in."""
    if not shape.size.any():
        return []
    if shape.kind == 'box':
        return [(pose.point(corner), 0.0) for corner in shape.corners]
    radius, half = float(shape.size[0]), float(shape.size[2])
    reach = 0.0 if shape.kind == 'sphere' else max(half - radius, 0.0)
    return [(pose.point(shape.pose.point(np.array([0.0, 0.0, side]))), radius)
            for side in {-reach, reach}]


def _guessed_balls(model: RobotModel, body: int) -> list[tuple[np.ndarray, float]]:
    next_joints = model.tree.constants[1:][model.tree.topology[1:, layout.PARENT] == body,
                                           layout.P_TREE:layout.P_TREE + 3]
    if body:
        places = [np.zeros(3), *next_joints]
        length = max(float(np.linalg.norm(place)) for place in places)
        return [(place, SLENDER * length) for place in places]
    if not len(next_joints):
        return []
    inertia = model.body_inertia(0)
    # Half the height of the box of even density that has this inertia.
    xx, yy, zz = np.diag(inertia.about_com)
    half = float(np.sqrt(max(1.5 * (xx + yy - zz) / max(inertia.mass, 1e-9), 0.0)))
    low, high = np.min(next_joints, axis=0), np.max(next_joints, axis=0)
    return [(np.array([x, y, inertia.com[2] + side]), 0.0) for x in (low[0], high[0])
            for y in (low[1], high[1]) for side in (-half, half)]


SMALL_WEIGHT = 1e-7     # changes loads by about its square
UP = np.array([0.0, 0.0, 1.0])


def body_poses(model: RobotModel, position: np.ndarray) -> list[Transform]:
    """Return each body's pose in the base frame, the base first."""
    R, p = body_frames(model, position)
    return [Transform(*pose) for pose in zip(R, p)]


def body_frames(model: RobotModel, position: np.ndarray, chain: Iterable[int] | None = None
                ) -> tuple[np.ndarray, np.ndarray]:
    """
    Return each body's rotation (n, 3, 3) and origin (n, 3) [m] in the base, base first.

    Of others than those of ``chain``, where one is given, nothing is known.
    """
    q = np.asarray(position, float)
    if q.shape != (model.nq,) or not np.isfinite(q).all():
        raise MeasurementError(f'expected {model.nq} finite joint positions, got {q.tolist()}')
    rotation, origin = np.empty((model.n_bodies, 3, 3)), np.empty((model.n_bodies, 3))
    rotation[0], origin[0] = np.eye(3), 0.0
    for body in range(1, model.n_bodies) if chain is None else chain:
        constants = model.tree.constants[body]
        parent, kind, start = (int(model.tree.topology[body, k]) for k in (
            layout.PARENT, layout.JOINT, layout.Q_START))
        R = rotation[parent] @ constants[layout.R_TREE:layout.R_TREE + 9].reshape(3, 3)
        p = rotation[parent] @ constants[layout.P_TREE:layout.P_TREE + 3] + origin[parent]
        if kind == layout.PRISMATIC:
            p = p + R[:, 2] * q[start]
        elif kind == layout.REVOLUTE:
            c, s = math.cos(q[start]), math.sin(q[start])
            R = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        else:
            R = R @ rotation_from_quaternion(q[start:start + 4])
        rotation[body], origin[body] = R, p
    return rotation, origin


def link_pose(model: RobotModel, bodies: Sequence[Transform], link: str) -> Transform:
    """Return the pose of a link in the base."""
    body, pose = model.frame(link)
    return bodies[body] @ pose


def center_of_mass(model: RobotModel, bodies: Sequence[Transform]) -> np.ndarray:
    """Return the robot's centre of mass in the base (3,) [m]."""
    mass = model.tree.constants[:, layout.MASS]
    places = np.array([pose.point(constants[layout.COM:layout.COM + 3])
                       for pose, constants in zip(bodies, model.tree.constants)])
    return mass @ places / mass.sum()


def foot_loads(model: RobotModel, feet: Sequence[Foot], bodies: Sequence[Transform]
               ) -> tuple[np.ndarray, float]:
    """Return each foot's share of the weight (nf,), and the CoM's distance to support [m]."""
    _, owner, share, fall = _corner_loads(model, feet, bodies)
    return np.bincount(owner, share, len(feet)), fall


def _corner_loads(model: RobotModel, feet: Sequence[Foot], bodies: Sequence[Transform]
                  ) -> tuple[np.ndarray, list[int], np.ndarray, float]:
    """Return corners in the base (k, 3) [m], whose they are, their shares, and the fall [m]."""
    corners, owner = [], []
    for i, foot in enumerate(feet):
        pose = link_pose(model, bodies, foot.link)
        corners += [pose.p + place for place in foot.touching(pose.R, UP)]
        owner += [i] * len(foot.corners)
    points = np.array(corners)
    A = np.vstack([np.ones(len(points)), (points[:, :2] - center_of_mass(model, bodies)[:2]).T])
    # Balance of force and moments, base level, by non-negative least squares (Lawson and Hanson
    # 1974); of all solutions the shortest, thanks to a small weight on their length.
    wanted = np.concatenate([[1.0, 0.0, 0.0], np.zeros(len(points))])
    from scipy.optimize import nnls  # slow to import
    share = nnls(np.vstack([A, SMALL_WEIGHT * np.eye(len(points))]), wanted)[0]
    return points, owner, share, float(np.linalg.norm((A @ share)[1:]) / max(share.sum(), 1e-9))


def standing_efforts(model: RobotModel, feet: Sequence[Foot], position: np.ndarray
                     ) -> dict[str, float]:
    """
    Return joint efforts that hold the robot still, base level, by vertical foot forces.

    By joint name, with the loads of :func:`foot_loads` and by virtual work; without spherical
    joints, and those of mimic joints in their masters'.
    """
    bodies = body_poses(model, position)
    points, owner, share, _ = _corner_loads(model, feet, bodies)
    # What pulls each body down [kg], and where: its mass, and less what its feet carry.
    constants, topology = model.tree.constants, model.tree.topology
    mass = constants[:, layout.MASS]
    at = [pose.point(row[layout.COM:layout.COM + 3]) for pose, row in zip(bodies, constants)]
    standing = [model.frame(feet[foot].link).body for foot in owner]
    weights = [*zip(range(model.n_bodies), mass, at), *zip(standing, -mass.sum() * share, points)]
    effort = np.zeros(model.nv)
    for hanging, kilograms, place in weights:
        for body in model.chain(hanging):
            pose, kind = bodies[body], topology[body, layout.JOINT]
            if kind != layout.SPHERICAL:
                axis = pose.R[:, 2]
                rise = axis if kind == layout.PRISMATIC else np.cross(axis, place - pose.p)
                effort[topology[body, layout.V_START]] += GRAVITY * kilograms * rise[2]
    for row, values in zip(topology[1:], constants[1:]):
        if row[layout.JOINT] != layout.SPHERICAL:
            effort[row[layout.V_START]] += values[layout.STIFFNESS] * (
                position[row[layout.Q_START]] - values[layout.REST])
    mimics = model.mimics
    free = dict(zip(mimics.free.tolist(), mimics.matrix().T @ effort))
    return {joint.name: float(free[start])
            for joint, row in zip(model.joints, topology[1:])
            if joint.kind != 'spherical' and (start := int(row[layout.V_START])) in free}


# -------------------------------------------------------------------------------------------------
# A standing pose with bent legs in which all feet carry alike, found from a robot's kinematics.
#
# Each leg is stretched downwards as far as it goes, and then bent to a share of that by non-linear
# least squares over its joints, away from their limits: the foot below its hip, soles level, all
# else near its resting position. The feet are then moved together until the centre of mass is
# above their middle.


# Height of the standing base over the stretched leg's, with several legs.
BENT = 0.8
# The same with one or two legs, which stand straighter.
BENT_BIPED = 0.93
# A foot stands at most so far beside the place below its hip, in lengths of the stretched leg:
# several legs keep the sideways place that they have at rest.
BESIDE = 0.25
# Weight of a joint's distance from its resting position [m/rad].
NEAR_REST = 0.003
# Weight of a level sole [m].
LEVEL = 0.2
# Limits beyond this are none [rad].
TURN = np.pi
# Times that the feet are moved below the centre of mass.
MOVES = 20
# Distance from below it that is near enough, as a part of the height.
ENOUGH = 1e-3
# Share of a joint's range that stays free at either limit, where its rest does not need it.
FREE = 0.08


class _Leg:
    """One leg: its joints, and where its foot is by their positions."""

    def __init__(self, model: RobotModel, foot: Foot, rest: np.ndarray, fixed: Sequence[str]):
        body, self._pose = model.frame(foot.link)
        self._foot, self._rest = foot, rest
        chain = model.chain(body)
        self._model, self._chain, self._body = model, chain, body
        moving = [b for b in chain if model.joints[b - 1].name not in fixed
                  and model.joints[b - 1].kind != 'spherical'
                  and model.joints[b - 1].mimic is None]
        self.places = [int(model.tree.topology[b, layout.Q_START]) for b in moving]
        limits = np.array([[model.joints[b - 1].lower, model.joints[b - 1].upper]
                           for b in moving]).reshape(-1, 2)
        limits[~(limits[:, 0] < limits[:, 1])] = -TURN, TURN
        self._middle = rest[self.places]
        limits = np.clip(limits, -TURN, TURN)
        margin = FREE * np.diff(limits, axis=1) * [1.0, -1.0]
        within = np.stack([np.minimum(limits[:, 0] + margin[:, 0], self._middle),
                           np.maximum(limits[:, 1] + margin[:, 1], self._middle)], axis=1)
        self._limits = np.clip(within, limits[:, :1], limits[:, 1:])
        self.hip = body_poses(model, rest)[moving[0]].p if moving else np.zeros(3)

    def place(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the foot's rotation (3, 3) and origin (3,) [m] in the base, at positions."""
        every = self._rest.copy()
        every[self.places] = q
        R, p = (part[self._body] for part in body_frames(self._model, every, self._chain))
        return R @ self._pose.R, R @ self._pose.p + p

    def reach(self, target: np.ndarray, weight: Sequence[float],
              near: np.ndarray | None = None) -> np.ndarray:
        """Return joint positions that bring the foot near a place, (n,), `near` to others."""
        low, high = self._limits.T
        n, foot = len(self.places), self._foot
        turns = 0.5 * (-1.0) ** np.arange(n)
        from scipy.optimize import least_squares  # slow to import
        best = None
        starts = (0.5 * (low + high), self._middle + turns, self._middle - turns)
        for start in starts if near is None else (near,):
            def errors(q: np.ndarray) -> np.ndarray:
                R, p = self.place(q)
                # What is long or wide lies level; a ball, and an edge about itself, need not.
                tilt = LEVEL * R[2, :2] * (np.ptp(foot.corners, axis=0)[:2] > 0.0)
                return np.concatenate([weight * (p - target), tilt,
                                       NEAR_REST * (q - self._middle)])
            found = least_squares(errors, np.clip(start, low + 1e-6, high - 1e-6),
                                  bounds=(low, high))
            if best is None or found.cost < best.cost - 1e-7:
                best = found
        assert best is not None
        return best.x


def half_bent_position(model: RobotModel, feet: Sequence[Foot], rest: np.ndarray,
                       fixed: Sequence[str] = ()) -> np.ndarray:
    """
    Return joint positions (nq,) of a robot standing on bent legs, base level.

    ``rest``: positions of joints without a foot, and those that legs stay near to.
    """
    legs = [_Leg(model, foot, rest, fixed) for foot in feet]
    legs = [leg for leg in legs if leg.places]
    q = rest.copy()
    if not legs:
        return q
    bent = BENT if len(legs) > 2 else BENT_BIPED
    targets = []
    for leg in legs:
        start = leg.place(rest[leg.places])[1]
        path = 2.0 * float(np.linalg.norm(start - leg.hip)) + 0.1
        straight = leg.place(leg.reach(leg.hip - [0.0, 0.0, path], (0.1, 0.0, 1.0)))[1]
        long = leg.hip[2] - straight[2]
        aside = (float(np.clip(start[1] - straight[1], -BESIDE * long, BESIDE * long))
                 if len(legs) > 2 else 0.0)
        targets.append(np.array([leg.hip[0], straight[1] + aside, leg.hip[2] - bent * long]))
    depth = max(target[2] for target in targets)    # no leg is straighter than that
    for move in range(MOVES):
        for leg, target in zip(legs, targets):
            target[2] = depth
            # Knees that bend one way and then the other would move the centre of mass about.
            q[leg.places] = leg.reach(target, (1.0, 1.0, 1.0),
                                      near=q[leg.places] if move else None)
        q = model.mimics.positions(q)
        bodies = body_poses(model, q)
        poses = [link_pose(model, bodies, foot.link) for foot in feet]
        middle = np.mean([(pose.p + foot.touching(pose.R, UP, foot.center))[:2]
                          for pose, foot in zip(poses, feet)], axis=0)
        off = center_of_mass(model, bodies)[:2] - middle
        if np.linalg.norm(off) < ENOUGH * abs(depth):
            break
        for target in targets:
            target[:2] += off
    return q
