# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
URDF in, links and joints out.

Read are links with their inertials, and joints with their axes, limits, dynamics and mimics; only
those can refuse a file. What a robot looks like, collides with or is driven by, comments and other
programs' tags are passed over. The rules are those of ROS's C++ parser, urdfdom; where it would
refuse and there is still one sensible meaning, there is a note.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.model.description_text import checked_text, read_description_file
from legged_dynamics.model.parts import Inertia, Joint, Mimic
from legged_dynamics.model.xml_elements import Element, Wanted, read_elements
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_rpy

URDF_KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
# Masses, lengths and the like above this are no robot's, and their products overflow.
LARGEST = 1e12
# A humanoid with hands has 150. Each takes a tenth of a millisecond, and a node waits for it.
MAX_LINKS = 2000

_NOTHING: Wanted = {}
_WANTED: Wanted = {
    'link': {'inertial': {'origin': _NOTHING, 'mass': _NOTHING, 'inertia': _NOTHING}},
    'joint': dict.fromkeys(('parent', 'child', 'origin', 'axis', 'limit', 'dynamics', 'mimic'),
                           _NOTHING),
}
_OTHER_FORMATS = {
    'sdf': 'SDF, the format of Gazebo. Most SDF robots come from a URDF: take that',
    'model': 'SDF, the format of Gazebo. Most SDF robots come from a URDF: take that',
    'world': 'SDF, the format of Gazebo. Most SDF robots come from a URDF: take that',
    'mujoco': 'MJCF, the format of MuJoCo. Most MJCF robots come from a URDF: take that',
    'mujocoinclude': 'MJCF, the format of MuJoCo. Most MJCF robots come from a URDF: take that',
    'COLLADA': 'a COLLADA mesh',
    'osim': 'OpenSim', 'OpenSimDocument': 'a model of OpenSim',
    'html': 'a web page; the download went wrong',
    'launch': 'a launch file', 'package': 'a package manifest',
}


class Description(NamedTuple):
    """
    What a URDF says.

    Attributes
    ----------
    name : str
    links : dict of str to Inertia
    joints : list of Joint
    notes : list of str
        What is odd about it.

    """

    name: str
    links: dict[str, Inertia]
    joints: list[Joint]
    notes: list[str]


def read_urdf(source: str | Path) -> Description:
    """
    Read a URDF file, or URDF text.

    Links without an ``<inertial>`` are massless. A joint limit is kept where it is stated; a
    limit of zero effort is kept as zero, for that is what the hardware would be told.

    Raises
    ------
    ModelError
        When the file is missing, or the text is not URDF.

    """
    if isinstance(source, str) and '<' in source:
        return parse_urdf(source)
    return parse_urdf(read_description_file(source), str(source))


def parse_urdf(text: str, origin: str = 'robot description') -> Description:
    """
    Read the XML of a URDF; a path is refused, and nothing is opened.

    Raises
    ------
    ModelError
        When the text is not URDF.

    """
    robot = read_elements(checked_text(text, origin), _WANTED, origin)
    _check_format(robot, origin)
    if len(robot.children) > 2 * MAX_LINKS:
        raise ModelError(f'{origin}: expected at most {MAX_LINKS} links and as many joints, got '
                         f'{len(robot.children)} of both')
    notes: list[str] = []
    links: dict[str, Inertia] = {}
    for link in robot.all('link'):
        name = _name(link, origin)
        if name in links:
            raise ModelError(f'{origin}: expected each link name once, got {name!r} again '
                             f'(line {link.line})')
        links[name] = _inertia(link, f'{origin}: link {name!r}')
    joints = [_joint(joint, origin, notes) for joint in robot.all('joint')]
    return Description(robot.attributes.get('name', '') or 'robot', links, joints, notes)


def _check_format(robot: Element, origin: str) -> None:
    prefixes = {'xacro'} | {name.partition(':')[2] for name, value in robot.attributes.items()
                            if name.startswith('xmlns:') and 'xacro' in value.lower()}
    if robot.tag.partition(':')[0] in prefixes or _has_xacro(robot, prefixes):
        raise ModelError(f'{origin}: expected URDF, got xacro. Expand it first: '
                         '`xacro robot.xacro > robot.urdf`.')
    if robot.tag != 'robot':
        known = _OTHER_FORMATS.get(robot.tag, f'XML whose root is <{robot.tag[:60]}>')
        raise ModelError(f'{origin}: expected URDF, whose root is <robot>, got {known}.')
    if not robot.all('link'):
        other = sorted(robot.skipped & {'sdf', 'model', 'world', 'worldbody'})
        if other:
            raise ModelError(f'{origin}: expected URDF, got <{other[0]}> inside <robot>: that is '
                             'another format in the clothes of a URDF.')
        raise ModelError(f'{origin}: expected at least one <link> in <robot>, got none')


def _has_xacro(element: Element, prefixes: set[str]) -> bool:
    """Tell whether what we read would still have to be computed by xacro."""
    return (any(tag.partition(':')[0] in prefixes for tag in element.skipped if ':' in tag)
            or any('${' in value or '$(' in value for value in element.attributes.values())
            or any(_has_xacro(child, prefixes) for child in element.children))


def _name(element: Element, origin: str) -> str:
    name = element.attributes.get('name', '')
    if not name:
        raise ModelError(f'{origin}: the <{element.tag}> in line {element.line} has no name')
    return name


def _transform(parent: Element, where: str) -> Transform:
    origin = parent.first('origin')
    if origin is None:
        return Transform.identity()
    xyz = origin.vector('xyz', (0.0, 0.0, 0.0), where)
    rpy = origin.vector('rpy', (0.0, 0.0, 0.0), where)
    for name, values in (('xyz', xyz), ('rpy', rpy)):
        for value in values:
            _sane(value, f'{where}: {name} of <origin> (line {origin.line})')
    return Transform(rotation_from_rpy(np.array(rpy)), np.array(xyz))


def _sane(value: float, what: str) -> float:
    if abs(value) > LARGEST:
        raise ModelError(f'{what}: expected a magnitude up to {LARGEST:g}, got {value:g}')
    return value


def _inertia(link: Element, where: str) -> Inertia:
    inertial = link.first('inertial')
    if inertial is None:
        return Inertia()
    mass, moments = inertial.first('mass'), inertial.first('inertia')
    if mass is None or moments is None:
        missing = '<mass>' if mass is None else '<inertia>'
        raise ModelError(f'{where}: its <inertial> (line {inertial.line}) has no {missing}')
    pose = _transform(inertial, where)
    xx, yy, zz, xy, xz, yz = (
        _sane(moments.number(name, None, where), f'{where}: {name} of <inertia>')
        for name in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'))
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    kilograms = _sane(mass.number('value', None, where), f'{where}: value of <mass>')
    return Inertia(kilograms, pose.p, pose.R @ about_com @ pose.R.T)


def _joint(joint: Element, origin: str, notes: list[str]) -> Joint:
    name = _name(joint, origin)
    where = f'{origin}: joint {name!r}'
    kind = joint.attributes.get('type', '')
    if kind not in URDF_KINDS:
        raise ModelError(f'{where}: expected a type of {", ".join(URDF_KINDS)}; got {kind!r} '
                         f'(line {joint.line})')
    if kind == 'planar':
        raise ModelError(f'{where} is of type planar, which is not supported. Write it as two '
                         'prismatic joints and a revolute one.')
    parent, child = (_end(joint, role, where) for role in ('parent', 'child'))
    placement = _transform(joint, where)
    moves = kind not in ('fixed', 'floating')
    if not moves:
        return Joint(name, kind, parent, child, placement)
    axis = joint.first('axis')
    direction = (1.0, 0.0, 0.0) if axis is None else axis.vector('xyz', (1.0, 0.0, 0.0), where)
    if max(abs(value) for value in direction) > LARGEST:
        raise ModelError(f'{where}: expected an axis of about unit length, got {direction}')
    physics: dict[str, Any] = _physics(joint, kind, where, notes)
    return Joint(name, kind, parent, child, placement, np.array(direction),
                 mimic=_mimic(joint, where), **physics)


def _end(joint: Element, role: str, where: str) -> str:
    element = joint.first(role)
    link = '' if element is None else element.attributes.get('link', '')
    if not link:
        raise ModelError(f'{where} (line {joint.line}) has no <{role} link="...">')
    return link


def _physics(joint: Element, kind: str, where: str, notes: list[str]) -> dict[str, float]:
    """Return limits and friction; a limit that is not stated is infinite."""
    found: dict[str, float] = {}
    limit, dynamics = joint.first('limit'), joint.first('dynamics')
    if limit is None and kind != 'continuous':
        notes.append(f'joint {joint.attributes["name"]!r} is {kind} and has no <limit>, which '
                     "ROS's own parser refuses; taken as without limits")
    if limit is not None:
        for name in ('effort', 'velocity'):
            if name in limit.attributes:
                found[name] = limit.number(name, None, where)
            else:
                notes.append(f'joint {joint.attributes["name"]!r}: its <limit> has no {name}, '
                             "which ROS's own parser refuses; taken as infinite")
        lower, upper = (limit.number(name, 0.0, where) for name in ('lower', 'upper'))
        if kind != 'continuous':
            found |= {'lower': lower, 'upper': upper}
    if dynamics is not None:
        for name in ('damping', 'friction'):
            found[name] = _sane(dynamics.number(name, 0.0, where),
                                f'{where}: {name} of <dynamics>')
    return found


def _mimic(joint: Element, where: str) -> Mimic | None:
    mimic = joint.first('mimic')
    if mimic is None:
        return None
    master = mimic.attributes.get('joint', '')
    if not master:
        raise ModelError(f'{where}: its <mimic> (line {mimic.line}) names no joint')
    return Mimic(master, *(_sane(mimic.number(name, default, where), f'{where}: {name}')
                           for name, default in (('multiplier', 1.0), ('offset', 0.0))))
