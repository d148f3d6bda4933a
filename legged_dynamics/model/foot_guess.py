# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which links of a robot are its feet, and what they are like, guessed from its URDF."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.model.feet import FlatFoot, Foot, FootFrame, PointFoot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.shapes import Shape
from legged_dynamics.model.standing import body_poses, link_pose
from legged_dynamics.spatial.frames import Transform

# What people call what stands on the ground, best first; what carries other things; and what may
# be fixed to a foot without being one.
FOOT_NAMES = (r'sole', r'foot|feet|paw|hoof', r'(^|_)(contact|toe|tip)', r'toe|wheel',
              r'ankle.*roll|ankle')
NOT_LEGS = r'hand|wrist|finger|thumb|grip|head|neck|camera|lidar|velodyne|end_effector'
ARMS = r'(^|_|\b|left|right)arm|elbow|shoulder|torso'
NOT_FEET = r'imu|camera|sensor|fsr|dh_frame|cop|optical|force|(^|_)ft(_|$)|rotor|motor'
# Soles when nothing tells: those of a person, in metres.
UNKNOWN_SOLE = (0.13, -0.07, 0.04, -0.04)
# A foot's frame may be this far off what touches the ground before it gets a frame of its own [m].
NEAR = 0.004


class FootGuess(NamedTuple):
    """
    A foot.

    Attributes
    ----------
    foot : Foot
        Link, kind and measures.
    frame : FootFrame or None
        Where the foot is, if not at the origin of its link.
    why : str
        What the link was chosen by.
    measured_by : str
        What its measures were taken from; empty when they are not known.

    """

    foot: Foot
    frame: FootFrame | None
    why: str
    measured_by: str


def guess_feet(model: RobotModel, shapes: Mapping[str, Sequence[Shape]],
               links: Sequence[str] = ()) -> list[FootGuess]:
    """
    Return the feet, or an empty list where nothing tells.

    Parameters
    ----------
    model : RobotModel
        The robot.
    shapes : mapping of str to sequence of Shape
        Of its links.
    links : sequence of str
        The feet where they are known; then only their measures are guessed.

    Raises
    ------
    UnknownNameError
        When one of the links is not in the model.

    """
    chosen = dict.fromkeys(links, 'given') or _by_name(model) or _by_place(model, shapes)
    for link in chosen:
        model.frame(link)
    return [_measured(model, shapes, link, why, len(chosen)) for link, why in chosen.items()]


def _ends(model: RobotModel) -> list[int]:
    """Return the bodies that nothing hangs on and that are no arm's or head's."""
    parents = {int(parent) for parent in model.tree.topology[1:, 0]}
    return [body for body in range(1, model.n_bodies) if body not in parents
            and not _has(model, body, NOT_LEGS)]


def _has(model: RobotModel, body: int, pattern: str) -> bool:
    """Tell whether a name on a limb fits a pattern."""
    joints = [model.joints[b - 1] for b in model.chain(body)]
    return any(re.search(pattern, name, re.IGNORECASE)
               for joint in joints for name in (joint.name, joint.child))


def _by_name(model: RobotModel) -> dict[str, str]:
    """Return the best named link of each limb, if they are two or more of one kind of name."""
    limbs: dict[int, list[str]] = {}
    for end in _ends(model):
        chain = model.chain(end)
        # A toe may hang on a foot: what is fixed to the body before the last may be the sole.
        limbs[end] = [name for name, frame in model.frames.items()
                      if frame.body in chain[-2:] and not re.search(NOT_FEET, name, re.IGNORECASE)]
    for pattern in FOOT_NAMES:
        found = {}
        for end, names in limbs.items():
            # Some call a leg's hip a shoulder; that is forgiven where there is a foot.
            if pattern not in FOOT_NAMES[:2] and _has(model, end, ARMS):
                continue
            fitting = [name for name in names if re.search(pattern, name, re.IGNORECASE)]
            if fitting:
                # The last one of the limb, and of two there the one that hangs lowest on it.
                found[max(fitting, key=lambda name: (model.frames[name].body, name in names,
                                                     -len(name)))] = 'by its name'
        if len(found) >= 2:
            return found
    return {}


def _by_place(model: RobotModel, shapes: Mapping[str, Sequence[Shape]]) -> dict[str, str]:
    """Return the ends of equally long limbs that reach lowest."""
    poses = body_poses(model, resting_position(model))
    groups: dict[int, dict[str, float]] = {}
    for end in _ends(model):
        if _has(model, end, ARMS):
            continue
        links = [name for name, frame in model.frames.items() if frame.body == end]
        lowest = {}
        for link in links:
            pose = link_pose(model, poses, link)
            points = [pose.p, *(corner for shape in shapes.get(link, ())
                                for corner in map(pose.point, shape.corners))]
            lowest[link] = min(point[2] for point in points)
        link = min(lowest, key=lambda name: lowest[name])
        groups.setdefault(len(model.chain(end)), {})[link] = lowest[link]
    # Four limbs alike and more are legs however they are held; of two or three it takes that they
    # reach down alike.
    standing = [group for length, group in groups.items() if length >= 2 and (len(group) >= 4 or (
        len(group) >= 2 and max(group.values()) < 0.0
        and np.ptp(list(group.values())) < 0.2 * -min(group.values())))]
    if not standing:
        return {}
    lowest_group = min(standing, key=lambda group: min(group.values()))
    return dict.fromkeys(lowest_group, 'as the end of a limb that reaches lowest')


def _measured(model: RobotModel, shapes: Mapping[str, Sequence[Shape]], link: str, why: str,
              count: int) -> FootGuess:
    """Return a foot with radius or sole from the shapes on its body."""
    body, pose = model.frame(link)
    near: list[Shape] = []      # in the frame of the foot's link
    for name in [link, *(name for name in shapes if name != link)]:
        if name in model.frames and model.frames[name].body == body:
            to_link = pose.inverse() @ model.frames[name].pose
            near += [Shape(shape.kind, shape.size, to_link @ shape.pose)
                     for shape in shapes[name]]
        if near and name == link:
            break
    up = _up_in(model, link)
    solid = [shape for shape in near if shape.size.any()]
    if not solid:
        return _unknown(model, link, why, count)
    heights = [_reach_down(shape, up) for shape in solid]
    lowest = min(heights)
    touching = [shape for shape, height in zip(solid, heights) if height < lowest + 0.01]
    balls = [shape for shape in touching if shape.kind in ('sphere', 'capsule')]
    boxes = [shape for shape in touching if shape.kind == 'box' and _lies_flat(shape)]
    if up[2] > 0.9 and (boxes or len(balls) >= 3):
        corners = (boxes[0].corners if boxes else
                   np.array([shape.pose.p - [0, 0, shape.size[0]] for shape in balls]))
        if boxes:
            corners = corners[corners[:, 2] < corners[:, 2].min() + 0.01]
        source = 'its collision box' if boxes else f'its {len(balls)} collision spheres'
        return _sole(link, corners, why, source)
    hinge = pose.inverse().p        # of the joint that the foot hangs on, in the foot's link
    shape = (balls or touching)[0]
    center, radius = _tip(shape, hinge)
    end = '' if shape.kind == 'sphere' else 'the end of '
    return _ball(link, center, min(radius, 0.99), why, f'{end}its collision {shape.kind}')


def _tip(shape: Shape, hinge: np.ndarray) -> tuple[np.ndarray, float]:
    """Return centre and radius of the end of a shape that is farthest from a point."""
    longest = int(np.argmax(shape.size))
    radius = float(np.delete(shape.size, longest).min())
    along = shape.pose.R[:, longest] * max(float(shape.size[longest]) - radius, 0.0)
    ends = [shape.pose.p + along, shape.pose.p - along]
    return max(ends, key=lambda end: float(np.linalg.norm(end - hinge))), radius


def _lies_flat(box: Shape) -> bool:
    """Tell a sole from the end of a shin: longer and broader than high, and no rod."""
    length, breadth, height = np.ptp(box.corners, axis=0)
    return bool(height < length and height < 1.5 * breadth and breadth > 0.25 * length)


def _reach_down(shape: Shape, up: np.ndarray) -> float:
    if shape.kind == 'sphere':
        return float(shape.pose.p @ up - shape.size[0])
    return float((shape.corners @ up).min())


def _up_in(model: RobotModel, link: str) -> np.ndarray:
    """Return the base's z in a link's axes, in the resting pose."""
    return link_pose(model, body_poses(model, resting_position(model)), link).R[2]


def _ball(link: str, center: np.ndarray, radius: float, why: str, source: str) -> FootGuess:
    if np.linalg.norm(center) < NEAR:
        return FootGuess(PointFoot(link, radius), None, why, source)
    name = f'{link}_ball'
    frame = FootFrame(name, link, Transform(np.eye(3), np.round(center, 6)))
    return FootGuess(PointFoot(name, radius), frame, why, source)


def _sole(link: str, corners: np.ndarray, why: str, source: str) -> FootGuess:
    front, left = np.round(corners[:, :2].max(axis=0), 4).tolist()
    back, right = np.round(corners[:, :2].min(axis=0), 4).tolist()
    height = float(np.round(corners[:, 2].min(), 4))
    if abs(height) < NEAR:
        return FootGuess(FlatFoot(link, front, back, left, right), None, why, source)
    name = f'{link}_sole'
    frame = FootFrame(name, link, Transform(np.eye(3), np.array([0.0, 0.0, height])))
    return FootGuess(FlatFoot(name, front, back, left, right), frame, why, source)


def _unknown(model: RobotModel, link: str, why: str, count: int) -> FootGuess:
    # Two legs with an ankle stand on soles; more legs, or legs without an ankle, on points.
    if count == 2 and len(model.chain(model.frame(link).body)) >= 5:
        return FootGuess(FlatFoot(link, *UNKNOWN_SOLE), None, why, '')
    return FootGuess(PointFoot(link, 0.0), None, why, '')


def resting_position(model: RobotModel) -> np.ndarray:
    """Return zero joint positions, moved into the limits where zero is outside, (nq,)."""
    q = np.zeros(model.nq)
    for joint, row in zip(model.joints, model.tree.topology[1:]):
        start = int(row[2])
        if joint.kind == 'spherical':
            q[start + 3] = 1.0
        elif joint.lower < joint.upper:
            q[start] = np.clip(0.0, joint.lower, joint.upper)
    return model.mimics.positions(q)
