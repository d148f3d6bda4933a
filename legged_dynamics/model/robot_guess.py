# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A robot's YAML, guessed from its URDF: feet, IMU, standing pose, and what remains to be measured.

Feet are the ends of limbs that reach down alike, or links with a usual name; soles are the convex
hulls of their collision shapes. The YAML says where each value comes from.
"""
from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.model.actuators import (
    ARMATURE_DEVIATION,
    FRICTION_DEVIATION,
    LOAD_DEVIATION,
    KnownMotor,
    known_motor,
)
from legged_dynamics.model.feet import FlatFoot, Foot, FootFrame, LineFoot, PointFoot
from legged_dynamics.model.parts import PARENT, Q_START
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.shapes import Looks, Shape
from legged_dynamics.model.standing import body_poses, foot_loads, half_bent_position, link_pose
from legged_dynamics.parameter_file import WIDTH, rounded, written_line, written_lines
from legged_dynamics.spatial.frames import GRAVITY, Transform

# -------------------------------------------------------------------------------------------------
# Links that are feet, and their contact areas, guessed from the URDF.


# Usual names of feet, best first; of limbs and links that are none; and of links that are fixed to
# feet.
FOOT_NAMES = (r'sole', r'foot|feet|paw|hoof', r'(^|_)(contact|toe|tip)', r'toe|wheel',
              r'ankle.*roll|ankle')
NOT_LEGS = r'hand|wrist|finger|thumb|grip|head|neck|camera|lidar|velodyne|end_effector'
ARMS = r'(^|_|\b|left|right)arm|elbow|shoulder|torso'
HANDS = r'(^|_)(hand|palm|gripper)(_|$)'
WHEELS = r'wheel|caster'        # of a leg, or of a chassis
NOT_FEET = r'imu|camera|sensor|fsr|dh_frame|cop|optical|force|(^|_)ft(_|$)|rotor|motor'
# Soles of unknown size: those of a person, in metres.
UNKNOWN_SOLE = (0.13, -0.07, 0.04, -0.04)
# Largest distance of a link's frame from the contact area; beyond it the foot gets a frame [m].
NEAR = 0.004
# Feet of two limbs nearer than that are one: the limbs close a loop [m].
TOGETHER = 0.03


class FootGuess(NamedTuple):
    """A foot."""

    foot: Foot  # Link, kind and measures
    frame: FootFrame | None  # Where the foot is, if not at the origin of its link
    why: str  # What the link was chosen by
    measured_by: str  # What its measures were taken from; empty when they are not known


def _guess_feet(model: RobotModel, shapes: Mapping[str, Sequence[Shape]],
                links: Sequence[str] = ()) -> list[FootGuess]:
    """Return the feet, or an empty list where nothing tells."""
    chosen = dict.fromkeys(links, 'given')
    if not chosen and not re.search(HANDS, model.base_link, re.IGNORECASE):
        chosen = _by_name(model) or _by_place(model, shapes)
    for link in chosen:
        model.frame(link)
    return [_measured(model, shapes, link, why, len(chosen)) for link, why in chosen.items()]


def _ends(model: RobotModel) -> list[int]:
    """Return the bodies that nothing hangs on and that are no arm's or head's."""
    parents = {int(parent) for parent in model.tree.topology[1:, 0]}
    return [body for body in range(1, model.n_bodies) if body not in parents
            and not _has(model, body, NOT_LEGS)
            and not (len(model.chain(body)) < 3 and _has(model, body, WHEELS))]


def _has(model: RobotModel, body: int, pattern: str) -> bool:
    """Tell whether a name on a limb fits a pattern."""
    joints = [model.joints[b - 1] for b in model.chain(body)]
    # Of a joint 'torso_to_thigh' the second name counts.
    return any(re.search(pattern, name.rpartition('_to_')[2], re.IGNORECASE)
               for joint in joints for name in (joint.name, joint.child))


def _by_name(model: RobotModel) -> dict[str, str]:
    """Return the best-named link of each limb, if two or more share a kind of name."""
    limbs: dict[int, list[str]] = {}
    for end in _ends(model):
        chain = model.chain(end)
        # A toe may follow the foot: a link fixed to the body before the last may be the sole.
        limbs[end] = [name for name, frame in model.frames.items()
                      if frame.body in chain[-2:]
                      and not re.search(f'{NOT_FEET}|{NOT_LEGS}', name, re.IGNORECASE)]
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
                                                     -len(name)))] = 'found by name'
        if len(found) >= min(2, len(limbs)):
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
    if len(groups) == 1 and len(next(iter(groups.values()))) == 1 and _rails_of(model):
        return dict.fromkeys(next(iter(groups.values())), 'as the end of the only limb')
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
    ankle = _has_ankle(model, link, count)
    near: list[Shape] = []      # in the frame of the foot's link
    for name in [link, *(name for name in shapes if name != link)]:
        if name in model.frames and model.frames[name].body == body:
            to_link = pose.inverse() @ model.frames[name].pose
            near += [Shape(shape.kind, shape.size, to_link @ shape.pose) for shape in shapes[name]]
        # A leg with an ankle stands on no ball: it may be one of a sole's corners.
        if near and name == link and not (ankle and {one.kind for one in near} == {'sphere'}):
            break
    up = link_pose(model, body_poses(model, _resting_position(model)), link).R[2]
    solid = [shape for shape in near if shape.size.any()]
    if not solid or (ankle and len(solid) < 3 and all(one.kind == 'sphere' for one in solid)):
        return FootGuess(FlatFoot(link, *UNKNOWN_SOLE) if ankle else PointFoot(
            link, 0.5 * UNKNOWN_SOLE[2]), None, why, '')
    heights = [shape.lowest(up) for shape in solid]
    lowest = min(heights)
    touching = [shape for shape, height in zip(solid, heights) if height < lowest + 0.01]
    balls = [shape for shape in touching if shape.kind in ('sphere', 'capsule')]
    boxes = [shape for shape in touching if shape.kind == 'box' and _lies_flat(shape)]
    flat = boxes or [shape for shape in touching if shape.kind == 'cylinder' and not balls
                     and ankle and abs(shape.pose.R[2, 2]) < 0.5]
    if up[2] > 0.9 and (flat or len(balls) >= 3):
        corners = (np.concatenate([shape.corners for shape in flat]) if flat else
                   np.array([shape.pose.p - [0, 0, shape.size[0]] for shape in balls]))
        if flat:
            corners = corners[corners[:, 2] < corners[:, 2].min() + 0.01]
        source = 'its collision box' if boxes else f'its {len(balls)} collision spheres'
        return _flat(link, corners, 'sole', why, source if boxes or balls else '')
    hinge = pose.inverse().p        # of the joint that the foot hangs on, in the foot's link
    shape = (balls or touching)[0]
    if up[2] > 0.9 and not balls and _is_blade(shape, hinge):
        return _flat(link, shape.corners, 'blade', why,
                     f'its collision {shape.kind}, which is narrow')
    center, radius = _tip(shape, hinge)
    end = '' if shape.kind == 'sphere' else 'the end of '
    return _placed(link, 'ball', np.round(center, 6), lambda at: PointFoot(at, min(radius, 0.99)),
                   why, f'{end}its collision {shape.kind}')


def _tip(shape: Shape, hinge: np.ndarray) -> tuple[np.ndarray, float]:
    """Return centre and radius of the end of a shape that is farthest from a point."""
    longest = int(np.argmax(shape.size))
    radius = float(np.delete(shape.size, longest).min())
    along = shape.pose.R[:, longest] * max(float(shape.size[longest]) - radius, 0.0)
    ends = [shape.pose.p + along, shape.pose.p - along]
    return max(ends, key=lambda end: float(np.linalg.norm(end - hinge))), radius


def _is_blade(shape: Shape, hinge: np.ndarray) -> bool:
    """Tell a foot that is long and narrow, below its hinge, from the end of a shin."""
    longest = int(np.argmax(shape.size))
    axis, half = shape.pose.R[:, longest], float(shape.size[longest])
    others = np.delete(shape.size, longest)
    off = hinge - shape.pose.p
    along = float(off @ axis)
    aside = float(np.linalg.norm(off - along * axis))
    return bool(abs(axis[0]) > 0.9 and half > 2.0 * others.max() and abs(along) < half
                and aside > others.max())


def _lies_flat(box: Shape) -> bool:
    """Tell a sole from the end of a shin: longer and broader than high, and no rod."""
    length, breadth, height = np.ptp(box.corners, axis=0)
    return bool(height < length and height < 1.5 * breadth and breadth > 0.25 * length)


def _placed(link: str, kind: str, place: Sequence[float] | np.ndarray,
            foot: Callable[[str], Foot], why: str, source: str) -> FootGuess:
    """Return a foot at a place of its link [m], with a frame of its own where that is not near."""
    if np.linalg.norm(place) < NEAR:
        return FootGuess(foot(link), None, why, source)
    name = f'{link}_{kind}'
    frame = FootFrame(name, link, Transform(np.eye(3), np.array(place)))
    return FootGuess(foot(name), frame, why, source)


def _flat(link: str, corners: np.ndarray, kind: str, why: str, source: str) -> FootGuess:
    """Return a sole, or a blade along its middle, as large as a shape with these corners."""
    front, left, _ = np.round(corners.max(axis=0), 4).tolist()
    back, right, height = np.round(corners.min(axis=0), 4).tolist()
    if kind == 'sole':
        return _placed(link, kind, [0.0, 0.0, height],
                       lambda at: FlatFoot(at, front, back, left, right), why, source)
    return _placed(link, kind, [0.0, round(0.5 * (left + right), 4), height],
                   lambda at: LineFoot(at, front, back), why, source)


def _has_ankle(model: RobotModel, link: str, count: int) -> bool:
    """Tell two legs that stand on soles from more legs, or legs without an ankle, on points."""
    chain = model.chain(model.frame(link).body) or [1]      # a foot on the base hangs on none
    return count == 2 and (len(chain) >= 5 or 'ankle' in model.joints[chain[-1] - 1].name.lower())


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
    """What could be guessed."""

    feet: list[FootGuess]  # Guessed feet
    imu_link: str  # Empty where nothing tells
    said: list[str]  # Each guess and its source, in words
    measure: list[str]  # What a person must measure or check
    doubts: list[str]  # Why it cannot be the robot, or not stand so
    position: np.ndarray  # (nq,) [rad or m]: standing pose
    rails: tuple[str, ...]  # Rails of a test stand; then the base is fixed
    passive: tuple[str, ...]  # Joints without a motor, rails included
    motors: dict[str, KnownMotor]  # What is known of joints' motors
    limited: bool  # Whether all motors have an effort limit that may be believed


def _rails_of(model: RobotModel) -> tuple[str, ...]:
    """Return a test stand's rails: sliding joints between a root without mass and the robot."""
    found: list[str] = []
    if model.body_inertia(0).mass > 0.0:
        return ()
    children = model.tree.topology[1:, PARENT].tolist()
    for body, joint in enumerate(model.joints, start=1):
        if (joint.kind != 'prismatic' or children[body - 1] != len(found)
                or children.count(len(found)) != 1):
            break
        found.append(joint.name)
    return tuple(found)


def _passive_joints(model: RobotModel, looks: Looks, rails: Sequence[str],
                    said: list[str]) -> tuple[str, ...]:
    """Return joints without a motor: rails, and those without a limit where others have one."""
    free = [joint for joint in model.joints if joint.mimic is None and joint.name not in rails]
    strong = [joint for joint in free if 0.0 < joint.effort < math.inf]
    weak = [joint.name for joint in free if strong and not 0.0 < joint.effort < math.inf]
    driven = set(looks.driven)
    without = [joint.name for joint in free if driven & {one.name for one in free}
               and joint.name not in driven]
    for names, why in ((weak, 'without an effort limit, where others have one'),
                       (without, 'without a transmission, where others have one')):
        if names:
            said.append(f'{len(names)} passive joints, {why}: {", ".join(names[:8])}')
    return (*rails, *dict.fromkeys([*weak, *without]))


# An effort limit of more than so many times what holds the robot at a leg's length is no limit.
BELIEVED = 30.0
# Deviation of the friction of a motor that is not known, as a share of the effort limit.
UNKNOWN_FRICTION = 0.03
# A centre of mass so far from the feet means that the robot cannot stand [m].
CANNOT_STAND = 0.02
# Feet that are below the base by less than that part of their way from it are beside it.
LEVEL = 0.2


def _actuators(model: RobotModel, looks: Looks, passive: Sequence[str], leg: float,
               said: list[str], measure: list[str]) -> tuple[dict[str, KnownMotor], bool]:
    """Return the known motors, and whether effort limits may be believed; say what is not."""
    names = [model.name, *dict.fromkeys(looks.meshes)]
    driven = [joint for joint in model.joints if joint.mimic is None
              and joint.kind != 'spherical' and joint.name not in passive]
    motors = {joint.name: motor for joint in driven
              if (motor := known_motor(names, joint.name)) is not None}
    for source in dict.fromkeys(motor.source for motor in motors.values()):
        of = [motor for motor in motors.values() if motor.source == source]
        friction = ' and friction' if all(motor.friction for motor in of) else ''
        said.append(f'rotor inertia{friction} of {len(of)} joints: {source}')
    weight = GRAVITY * model.total_mass
    limits = np.array([joint.effort for joint in driven], float)
    believed = bool(len(limits) and np.isfinite(limits).all() and (limits > 0.0).all()
                    and limits.max() < BELIEVED * weight * leg)
    if len(limits) and np.isfinite(limits).all() and not believed:
        measure.append(f'effort limits: {limits.max():g} N m is more than the robot can need; '
                       'noise.effort is not a percentage of them')
    unlimited = [joint.name for joint in driven if not math.isfinite(joint.effort)]
    if unlimited:
        measure.append(f'noise.effort: {len(unlimited)} joints have no effort limit to take a '
                       f'percentage of, {unlimited[0]} first')
    unknown = [joint.name for joint in driven if joint.name not in motors]
    frictionless = [name for name, motor in motors.items() if not motor.friction]
    if unknown or frictionless:
        limit = float(np.median(limits)) if believed else 0.3 * weight * leg
        force = UNKNOWN_FRICTION * limit / max(leg, 1e-3)
        what = ('armature and joint_friction' if unknown else 'joint_friction')
        measure.append(
            f'{what} of {"the other " if unknown and motors else ""}'
            f'{len(unknown) or len(frictionless)} joints, {(unknown or frictionless)[0]}'
            ' first: rotor inertia times the gear ratio squared, and what it takes to turn a '
            f'joint by hand. Friction of {100 * UNKNOWN_FRICTION:g} % of an effort limit, as such '
            f'motors may have, is an error of {force:.2g} N a foot ({100 * force / weight:.2g} % '
            'of the weight) until it is known or learned')
    return motors, believed


def guess_robot(model: RobotModel, looks: Looks, feet: Sequence[str] = (),
                imu_link: str = '') -> RobotGuess:
    """Return what a robot's description tells of its feet and its IMU."""
    guessed = _guess_feet(model, looks.shapes, feet)
    said, measure, doubts = [], [], list[str]()
    if guessed:
        count = f'{len(guessed)} feet' if len(guessed) > 1 else 'one foot'
        said.append(f'{count}, {guessed[0].why}: '
                    f'{", ".join(guess.foot.link for guess in guessed)}')
    else:
        doubts.append('feet: nothing tells which links they are; name them with --feet')
    for guess in guessed:
        said.append(_said_of(guess))
        if not guess.measured_by:
            what = guess.foot.size
            heads = any(joint.child == guess.foot.link for joint in model.joints)
            place = ', where on the link it is (foot_parents, foot_frames)' if heads else ''
            measure.append(f'foot {guess.foot.link}: {what}{place}, and whether it is a sole or a '
                           'ball; the URDF does not say')
    rails = _rails_of(model)
    if imu_link:
        model.frame(imu_link)
        said.append(f'IMU on {imu_link}, given')
    elif not rails:     # a fixed base needs none
        imu_link = _guess_imu(model, looks, said, measure)
    if rails:
        said.append(f'a fixed base with {len(rails)} rail{"s" if len(rails) > 1 else ""} '
                    f'({", ".join(rails)}), as the first link {model.base_link} has no mass')
        measure.append('passive_effort: unknown as it is; zero where nothing but gravity acts '
                       'along the rail, no spring, no hand and little friction. absent_joints: '
                       'take a rail out whose position and velocity are in joint_states')
    sliding = [joint.name for joint in model.joints[len(rails):] if joint.unit == 'm']
    said += [f'{len(sliding)} sliding joints, all in m, N and kg: {", ".join(sliding[:8])}'
             ] * bool(sliding)
    passive = _passive_joints(model, looks, rails, said)
    position = _standing(model, guessed, passive, bool(rails), doubts)
    leg = _leg_length(model, guessed, position)
    measure.append('nominal_position: how the robot stands; it is a guess with bent legs'
                   if guessed else 'nominal_position: how the robot stands')
    return RobotGuess(guessed, imu_link, said, measure, doubts, position, rails, passive,
                      *_actuators(model, looks, passive, leg, said, measure))


def _standing(model: RobotModel, feet: Sequence[FootGuess], passive: Sequence[str], held: bool,
              doubts: list[str]) -> np.ndarray:
    """Return a standing pose, and say where the feet cannot carry the robot in it."""
    rest = _resting_position(model)
    if not feet:
        return rest
    framed = model.with_frames({one.frame.name: (one.frame.parent, one.frame.pose)
                                for one in feet if one.frame is not None})
    links = [one.foot for one in feet]
    position = half_bent_position(framed, links, rest, passive)
    if held:
        return position
    poses = body_poses(framed, position)
    places = np.array([link_pose(framed, poses, foot.link).p for foot in links])
    fall = foot_loads(framed, links, poses)[1]
    away = _legs(framed, [foot.link for foot in links], position).mean(axis=0)
    if away[2] > -LEVEL * np.abs(away).max():
        axis = int(np.abs(away).argmax())
        doubts.append(
            f'base: the feet are {"-" if away[axis] < 0.0 else "+"}{"xyz"[axis]} of the hips in '
            f'axes of {model.base_link}, whose z must point up (REP 103). Put a link above it '
            'that is fixed to it and turned, or the guess of the feet is wrong')
    elif fall > CANNOT_STAND:
        doubts.append(
            f'feet: on {", ".join(foot.link for foot in links)} the robot cannot stand, with '
            f'the base level its centre of mass is {fall:.2f} m outside of them. The guess of '
            'the feet is probably wrong: name their links with --feet, or correct kind and '
            'measures in the YAML')
    for i, j in zip(*np.triu_indices(len(links), 1)):
        if np.linalg.norm(places[i] - places[j]) < TOGETHER:
            doubts.append(
                f'feet: {links[i].link} and {links[j].link} are at one place. Where their limbs '
                'are one leg with a closed loop, which a URDF cannot describe, forces of the '
                'leg are wrong: describe it as a chain')
    return position


def _leg_length(model: RobotModel, feet: Sequence[FootGuess], position: np.ndarray) -> float:
    """Return how far the feet are below the hips [m]."""
    if not feet:
        return 0.5
    legs = _legs(model, [one.foot.link if one.frame is None else one.frame.parent
                         for one in feet], position)
    return max(float(np.abs(legs[:, 2]).max()), 0.05)


def _legs(model: RobotModel, links: Sequence[str], position: np.ndarray) -> np.ndarray:
    """Return the ways from hips to feet [m], (n, 3): base axes; a base may be on the ground."""
    poses = body_poses(model, position)
    return np.array([link_pose(model, poses, link).p - poses[[
        0, *model.chain(model.frame(link).body)][:2][-1]].p for link in links])


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


Row = tuple[str, Any, str]      # of YAML: key, value and comment


def robot_yaml(model: RobotModel, guess: RobotGuess, source: str) -> str:
    """Return the commented YAML of a guess; ``source`` names the URDF."""
    joints = [joint.name for joint in model.joints if joint.mimic is None
              and joint.kind != 'spherical' and joint.name not in guess.rails]
    starts = [int(row[Q_START]) for row in model.tree.topology[1:]]
    where = {joint.name: float(guess.position[start])
             for joint, start in zip(model.joints, starts)}
    rows: list[Row] = _foot_rows(guess.feet) if guess.feet else [
        ('# feet', ['left_foot', 'right_foot'], 'CHECK: could not be guessed')]
    if guess.imu_link:
        rows.append(('imu_link', guess.imu_link, 'URDF link whose axes the IMU reports in'))
    elif not guess.rails:
        rows.append(('# imu_link', 'imu_link', 'CHECK: not found; the base link is taken'))
    if guess.rails:
        rows.append(('base', 'fixed', 'the root of the URDF is fixed to the ground'))
    rows += [('joints', joints, 'order of commands; nominal_position and values per joint are in '
              'it'),
             ('nominal_position', [round(where[name], 3) for name in joints],
              'rad, in the order of `joints`. CHECK: how the robot stands')]
    if guess.passive:
        rows += [('passive_joints', list(guess.passive), 'without a motor'),
                 ('passive_effort', 'unknown', 'or zero. CHECK')]
    if guess.rails:
        rows.append(('absent_joints', list(guess.rails), 'CHECK: rails that joint_states does not '
                     'have'))
    rows += _actuator_rows(guess, joints)
    return '\n'.join([
        f'# Written from {source} by `legged-dynamics new-robot`. Check what says CHECK.',
        '/**:', '  ros__parameters:', '    robot:', *_lines(rows),
        '    noise:    # one standard deviation per sample. CHECK',
        *_lines(_noise_rows(model, guess, joints)), ''])


def _lines(rows: Sequence[Row]) -> list[str]:
    """Return rows as YAML: a comment that has no room beside its value stands above it."""
    lines = []
    for key, value, note in rows:
        value = rounded(value)
        line = f'      {written_line(key, value)}'
        if note and len(line) + len(note) + 6 <= WIDTH:
            lines.append(f'{line}    # {note}')
            continue
        lines += [f'      # {note}'] if note else []
        lines += written_lines(key, value, 6) if isinstance(value, list) else [line]
    return lines


def _alike(one: str, each: str, values: Sequence[Any], note: str) -> Row:
    """Return the row of what all feet have alike, or of every foot's."""
    same = all(value == values[0] for value in values)
    return (one, values[0], note) if same else (each, np.ravel(values).tolist(), note)


def _foot_rows(guesses: Sequence[FootGuess]) -> list[Row]:
    feet = [one.foot for one in guesses]
    check = '' if all(one.measured_by for one in guesses) else ' CHECK'
    radii = [foot.radius for foot in feet]
    long = [len(foot.corners) > 1 for foot in feet]
    rows: list[Row] = [('feet', [foot.link for foot in feet], 'URDF links, or foot_frames below'),
                       _alike('foot_type', 'foot_types', [foot.kind for foot in feet], '')]
    if any(radii) or not all(long):
        rows.append(_alike('foot_radius', 'foot_radii', radii, f'm, >= 0.{check}'))
    if any(long):
        rows.append(_alike('sole', 'soles', [
            list(foot.edges) if is_long else [0.1, -0.1, 0.05, -0.05]
            for foot, is_long in zip(feet, long)],
            f'm: front, back, left, right edge in the foot frame.{check}'))
    if any(one.frame is not None for one in guesses):
        frames = [one.frame or FootFrame('', one.foot.link, Transform(np.eye(3), np.zeros(3)))
                  for one in guesses]
        rows += [('foot_parents', [frame.parent for frame in frames], ''),
                 ('foot_frames', [value for frame in frames
                                  for value in (*frame.pose.p.tolist(), 0.0, 0.0, 0.0)],
                  'm, rad: x, y, z, roll, pitch, yaw of each foot on its parent')]
    return rows


def _actuator_rows(guess: RobotGuess, joints: Sequence[str]) -> list[Row]:
    """Return rotor inertia and friction of the joints, and how far they may be believed."""
    motors = [guess.motors.get(name) for name in joints]
    known = [motor for motor in motors if motor is not None]
    check = '' if len(known) == len(set(joints) - set(guess.passive)) else ' CHECK; 0: not known'

    def row(key: str, column: str, note: str, share: float = 1.0) -> Row:
        values = [share * getattr(motor, column) if motor else 0.0 for motor in motors] or [0.0]
        return key, values[:1] if len(set(values)) == 1 else values, note
    rows = [row('armature', 'armature', 'kg m^2, >= 0: rotor inertia times gear ratio squared; '
                f'one, or one per joint.{check}'),
            row('joint_damping', 'damping', f'N m s/rad, >= 0: one, or one per joint.{check}'),
            row('joint_friction', 'friction', f'N m, >= 0: one, or one per joint.{check}')]
    if known and all(motors) and all(motor.friction for motor in known):
        rows += [row('armature_deviation', 'armature', 'kg m^2: of samples of one motor',
                     ARMATURE_DEVIATION),
                 row('joint_friction_deviation', 'friction', 'N m: likewise', FRICTION_DEVIATION)]
    if any(motor.load_friction for motor in known):
        rows += [row('load_friction', 'load_friction', 'share of the torque that transmissions '
                     'lose'),
                 row('load_friction_deviation', 'load_friction', 'its deviation', LOAD_DEVIATION)]
    cutoff = max([motor.cutoff for motor in known], default=0.0)
    if cutoff:
        rows.append(('transmission_cutoff', cutoff, 'Hz: up to there links follow their motors '
                     'through belts'))
    return rows


def _noise_rows(model: RobotModel, guess: RobotGuess, joints: Sequence[str]) -> list[Row]:
    motors = guess.motors.values()
    limit = max([motor.limit for motor in motors], default=0.0)
    rows: list[Row] = [('position', 3e-4, 'rad, >= 0'), ('velocity', 0.03, 'rad/s, >= 0')]
    if guess.limited and not limit:
        rows += [('effort', 0.0, 'N m, >= 0, added to the percentage'),
                 ('effort_percent', 1.0, '% of each effort limit, >= 0')]
    else:       # without limits, by the mass
        rows.append(('effort', 0.01 * limit or rounded(min(0.5, 0.02 * model.total_mass), 2),
                     'N m, >= 0'))
    if motors and len(motors) == len(set(joints) - set(guess.passive)):
        rows.append(('effort_gain', max(motor.gain for motor in motors),
                     'error of the scale of torques, one deviation'))
    return [*rows, ('gyro', 0.005, 'rad/s, >= 0'), ('accelerometer', 0.05, 'm/s^2, >= 0'),
            ('orientation', 0.003, 'rad, >= 0'), ('gyro_bias', 0.003, 'rad/s, >= 0'),
            ('accelerometer_bias', 0.05, 'm/s^2, >= 0')]
