# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A robot's YAML, guessed from its URDF: feet, IMU, standing pose, and what remains to be measured.

Feet are the ends of limbs that reach down alike, or links with a usual name; soles are the convex
hulls of their collision shapes. The YAML says where each value comes from.
"""
from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.model.feet import FlatFoot, Foot, FootFrame, PointFoot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.shapes import Looks, Shape
from legged_dynamics.model.standing import body_poses, link_pose
from legged_dynamics.spatial.frames import Transform

# -------------------------------------------------------------------------------------------------
# Links that are feet, and their contact areas, guessed from the URDF.


# Usual names of feet, best first; of limbs and links that are none; and of links that are fixed to
# feet.
FOOT_NAMES = (r'sole', r'foot|feet|paw|hoof', r'(^|_)(contact|toe|tip)', r'toe|wheel',
              r'ankle.*roll|ankle')
NOT_LEGS = r'hand|wrist|finger|thumb|grip|head|neck|camera|lidar|velodyne|end_effector'
ARMS = r'(^|_|\b|left|right)arm|elbow|shoulder|torso'
NOT_FEET = r'imu|camera|sensor|fsr|dh_frame|cop|optical|force|(^|_)ft(_|$)|rotor|motor'
# Soles of unknown size: those of a person, in metres.
UNKNOWN_SOLE = (0.13, -0.07, 0.04, -0.04)
# Largest distance of a link's frame from the contact area; beyond it the foot gets a frame [m].
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


def _guess_feet(model: RobotModel, shapes: Mapping[str, Sequence[Shape]],
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
        # A toe may follow the foot: a link fixed to the body before the last may be the sole.
        limbs[end] = [name for name, frame in model.frames.items()
                      if frame.body in chain[-2:] and not re.search(NOT_FEET, name, re.IGNORECASE)]
    for pattern in FOOT_NAMES:
        found = {}
        for end, names in limbs.items():
            # Some URDFs call a leg's hip a shoulder; this is accepted where there is a foot.
            if pattern not in FOOT_NAMES[:2] and _has(model, end, ARMS):
                continue
            fitting = [name for name in names if re.search(pattern, name, re.IGNORECASE)]
            if fitting:
                # The last link of the limb with such a name, and of two the lowest.
                found[max(fitting, key=lambda name: (model.frames[name].body, name in names,
                                                     -len(name)))] = 'by its name'
        if len(found) >= 2:
            return found
    return {}


def _by_place(model: RobotModel, shapes: Mapping[str, Sequence[Shape]]) -> dict[str, str]:
    """Return the ends of equally long limbs that reach lowest."""
    poses = body_poses(model, _resting_position(model))
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
    # Four or more similar limbs are legs in any pose; two or three are legs if they reach equally
    # far down.
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
    return link_pose(model, body_poses(model, _resting_position(model)), link).R[2]


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


def _resting_position(model: RobotModel) -> np.ndarray:
    """Return zero joint positions, moved into the limits where zero is outside, (nq,)."""
    q = np.zeros(model.nq)
    for joint, row in zip(model.joints, model.tree.topology[1:]):
        start = int(row[2])
        if joint.kind == 'spherical':
            q[start + 3] = 1.0
        elif joint.lower < joint.upper:
            q[start] = np.clip(0.0, joint.lower, joint.upper)
    return model.mimics.positions(q)


# -------------------------------------------------------------------------------------------------

IMU_NAMES = r'imu|gyro|acceleromet|inertial_?(sensor|unit)|xsens|microstrain|vectornav|vn_?100'


class RobotGuess(NamedTuple):
    """
    What could be guessed.

    Attributes
    ----------
    feet : list of FootGuess
        Guessed feet.
    imu_link : str
        Empty where nothing tells.
    said : list of str
        Each guess and its source, in words.
    measure : list of str
        What a person must measure or check.

    """

    feet: list[FootGuess]
    imu_link: str
    said: list[str]
    measure: list[str]


def guess_robot(model: RobotModel, looks: Looks, feet: Sequence[str] = (),
                imu_link: str = '') -> RobotGuess:
    """
    Return what a robot's description tells of its feet and its IMU.

    Parameters
    ----------
    model : RobotModel
        The robot.
    looks : Looks
        Its shapes and sensors.
    feet : sequence of str
        Links of the feet where they are known.
    imu_link : str
        Link of the IMU where it is known.

    Raises
    ------
    UnknownNameError
        When a link is not in the model.

    """
    guessed = _guess_feet(model, looks.shapes, feet)
    said, measure = [], []
    if guessed:
        said.append(f'{len(guessed)} feet, {guessed[0].why}: '
                    f'{", ".join(guess.foot.link for guess in guessed)}')
    else:
        measure.append('feet: nothing tells which links they are; name them with --feet')
    for guess in guessed:
        said.append(_said_of(guess))
        if not guess.measured_by:
            what = guess.foot.size
            heads = any(joint.child == guess.foot.link for joint in model.joints)
            place = ', where on the link it is (foot_parents, foot_frames)' if heads else ''
            measure.append(f'foot {guess.foot.link}: {what}{place}, and whether it is a sole or a '
                           'ball; the URDF does not say')
    if imu_link:
        model.frame(imu_link)
        said.append(f'IMU on {imu_link}, given')
    else:
        imu_link = _guess_imu(model, looks, said, measure)
    unlimited = [joint.name for joint in model.joints if not math.isfinite(joint.effort)]
    if unlimited:
        measure.append(f'noise.effort: {len(unlimited)} joints have no effort limit to take a '
                       f'percentage of, {unlimited[0]} first')
    measure.append('nominal_position: how the robot stands; armature and joint_friction: rotor '
                   'inertia times the gear ratio squared, and what it takes to turn a joint by '
                   'hand')
    return RobotGuess(guessed, imu_link, said, measure)


def _said_of(guess: FootGuess) -> str:
    foot = guess.foot
    by = f', from {guess.measured_by}' if guess.measured_by else ': NOT KNOWN, only a beginning'
    where = (f', fixed to {guess.frame.parent} at {np.round(guess.frame.pose.p, 4).tolist()} m'
             if guess.frame is not None else '')
    return f'foot {foot.link}: {foot.described()}{where}{by}'


def _guess_imu(model: RobotModel, looks: Looks, said: list[str], measure: list[str]) -> str:
    hinted = [link for link in looks.imu_links if link in model.frames]
    named = [link for link in model.frames if re.search(IMU_NAMES, link, re.IGNORECASE)]
    found = [*dict.fromkeys([*hinted, *named])]
    if not found:
        measure.append(f'imu_link: no link is named like one; {model.base_link} is taken')
        return ''

    def rank(link: str) -> tuple[bool, int, bool, bool, int]:
        return ('gyro' in link.lower(), len(model.chain(model.frames[link].body)),
                link not in hinted, not re.search('imu', link, re.IGNORECASE), len(link))
    best = min(found, key=rank)
    joints = len(model.chain(model.frames[best].body))
    away = f', with {joints} joints between it and the base' if joints else ''
    others = [link for link in found if link != best]
    beside = f'; others are {", ".join(others[:4])}' if others else ''
    by = ' and its simulated sensor' if best in hinted else ''
    said.append(f'IMU on {best}, by its name{by}{away}{beside}')
    measure.append(f'imu_link: that the axes of {best} are those the IMU reports in')
    return best


def robot_yaml(model: RobotModel, guess: RobotGuess, source: str) -> str:
    """
    Return the commented YAML of a guess.

    Parameters
    ----------
    model : RobotModel
        The robot.
    guess : RobotGuess
        What is known of it.
    source : str
        Name of the URDF, for the comment.

    """
    feet = [one.foot for one in guess.feet]
    lines = [f'# Written from {source} by `legged-dynamics new-robot`. Check what says CHECK.',
             '/**:', '  ros__parameters:', '    robot:']
    if feet:
        lines.append(f'      feet: {_list([foot.link for foot in feet])}    # URDF links, or '
                     'foot_frames below')
        lines += _kinds(guess)
    else:
        lines.append('      # feet: [left_foot, right_foot]    # CHECK: could not be guessed')
    lines.append(f'      imu_link: {_word(guess.imu_link)}    # URDF link whose axes the IMU '
                 'reports in' if guess.imu_link else
                 '      # imu_link: imu_link    # CHECK: not found; the base link is taken')
    lines.append('      # Order of commands; nominal_position and values per joint are in it.')
    joints = [joint.name for joint in model.joints if joint.mimic is None
              and joint.kind != 'spherical']
    lines += _wrapped('joints', [_word(name) for name in joints])
    rest = dict(zip(model.joint_names, _resting_position(model))) if len(
        model.joint_names) == model.nq else {}
    lines.append('      # rad, in the order of `joints`. CHECK: how the robot stands.')
    lines += _wrapped('nominal_position', [f'{rest.get(name, 0.0):.4g}' if '.' in
                                           f'{rest.get(name, 0.0):.4g}' else
                                           f'{rest.get(name, 0.0):.1f}' for name in joints])
    lines += ['      armature: [0.0]         # kg m^2, >= 0. CHECK: rotor inertia times gear '
              'ratio squared; one, or one per joint',
              '      joint_damping: [0.0]    # N m s/rad, >= 0: one, or one per joint',
              '      joint_friction: [0.0]   # N m, >= 0. CHECK: one, or one per joint',
              '    noise:                     # one standard deviation per sample. CHECK',
              '      position: 3.0e-4         # rad, >= 0',
              '      velocity: 0.03           # rad/s, >= 0']
    limited = all(math.isfinite(joint.effort) for joint in model.joints)
    lines += (['      effort: 0.0              # N m, >= 0: beside the percentage',
               '      effort_percent: 1.0      # % of each effort limit, >= 0'] if limited else
              ['      effort: 0.5              # N m, >= 0'])
    lines += ['      gyro: 0.005              # rad/s, >= 0',
              '      accelerometer: 0.05      # m/s^2, >= 0',
              '      orientation: 0.003       # rad, >= 0',
              '      gyro_bias: 0.003         # rad/s, >= 0',
              '      accelerometer_bias: 0.05 # m/s^2, >= 0']
    return '\n'.join(lines) + '\n'


def _kinds(guess: RobotGuess) -> list[str]:
    feet = [one.foot for one in guess.feet]
    check = '' if all(one.measured_by for one in guess.feet) else ' CHECK'
    kinds = [foot.kind for foot in feet]
    lines = []
    if len(set(kinds)) == 1:
        lines.append(f'      foot_type: {kinds[0]}')
    else:
        lines.append(f'      foot_types: {_list(kinds)}')
    radii = [foot.radius for foot in feet]
    soles = [(0.1, -0.1, 0.05, -0.05) if foot.round else foot.edges for foot in feet]
    if any(foot.round for foot in feet):
        lines.append(f'      foot_radius: {_number(radii[0])}    # m, >= 0.{check}'
                     if len(set(radii)) == 1 else
                     f'      foot_radii: {_numbers(radii)}    # m, >= 0.{check}')
    if not all(foot.round for foot in feet):
        note = f'    # m: front, back, left, right edge in the foot frame.{check}'
        if len(set(soles)) == 1:
            lines.append(f'      sole: {_numbers(soles[0])}{note}')
        else:
            values = [value for sole in soles for value in sole]
            lines.append(f'      soles: {_numbers(values)}{note}')
    if any(one.frame is not None for one in guess.feet):
        parents = [one.foot.link if one.frame is None else one.frame.parent for one in guess.feet]
        poses = [[0.0] * 6 if one.frame is None else [*one.frame.pose.p.tolist(), 0.0, 0.0, 0.0]
                 for one in guess.feet]
        lines += [f'      foot_parents: {_list(parents)}',
                  '      # m, rad: x, y, z, roll, pitch, yaw of each foot on its parent',
                  f'      foot_frames: {_numbers([value for pose in poses for value in pose])}']
    return lines


def _number(value: float) -> str:
    text = f'{value:.6g}'
    return text if '.' in text else f'{value:.1f}'


def _numbers(values: Sequence[float]) -> str:
    return f'[{", ".join(map(_number, values))}]'


def _word(name: str) -> str:
    """Return a name as YAML reads it as that string."""
    plain = re.fullmatch(r'[A-Za-z_][A-Za-z0-9_]+', name) and name.lower() not in (
        'yes', 'no', 'true', 'false', 'on', 'off', 'inf', 'nan')
    return name if plain else json.dumps(name)


def _list(names: Sequence[str]) -> str:
    return f'[{", ".join(map(_word, names))}]'


def _wrapped(key: str, words: Sequence[str], width: int = 96) -> list[str]:
    """Return a list over several lines."""
    if not words:
        return []
    lines, line = [], f'      {key}: ['
    for i, word in enumerate(words):
        word += ']' if i == len(words) - 1 else ', '
        if len(line) + len(word) > width:
            lines.append(line.rstrip())
            line = '               '
        line += word
    return [*lines, line]
