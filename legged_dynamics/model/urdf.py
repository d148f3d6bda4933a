# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""URDF in, links and joints out; the parsing itself is urdf_parser_py's, the one ROS uses."""
from __future__ import annotations

import contextlib
import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.model.parts import Inertia, Joint
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_rpy


def read_urdf(source: str | Path) -> tuple[str, dict[str, Inertia], list[Joint]]:
    """
    Read a URDF file, or URDF text, into a name, links and joints.

    Links without an ``<inertial>`` are massless. A joint limit is kept where it is stated; a
    limit of zero effort is kept as zero, for that is what the hardware would be told.

    Raises
    ------
    ModelError
        When the file is missing, or the text is not URDF.

    """
    text, origin = _text_of(source)
    robot = _parse(text, origin)
    links = {link.name: _inertia(link) for link in robot.links}
    if len(links) != len(robot.links):
        raise ModelError(f'{origin}: expected each link name once')
    return robot.name, links, [_joint(joint, origin) for joint in robot.joints]


def _text_of(source: str | Path) -> tuple[str, str]:
    if isinstance(source, str) and '<' in source:
        return source, 'robot description'
    path = Path(source)
    try:
        return path.read_text(encoding='utf-8'), str(path)
    except OSError as error:
        raise ModelError(f'cannot read the URDF {path}: {error}') from error


def _parse(text: str, origin: str) -> Any:
    if 'xmlns:xacro' in text or '<xacro:' in text:
        raise ModelError(f'{origin}: expected URDF, got xacro. Expand it first: '
                         '`xacro robot.xacro > robot.urdf`.')
    from urdf_parser_py.urdf import URDF
    try:
        # The parser prints a line for every extension tag (<mujoco>, <gazebo> ...) it skips.
        with contextlib.redirect_stderr(io.StringIO()):
            robot = URDF.from_xml_string(text.encode('utf-8'))
    except Exception as error:      # it raises whatever lxml, float() and assert raise
        detail = ' '.join(str(error).split()) or type(error).__name__
        raise ModelError(f'{origin}: this is not a URDF that can be parsed: {detail}') from error
    return robot


def _transform(origin: Any) -> Transform:
    if origin is None:
        return Transform.identity()
    return Transform(rotation_from_rpy(origin.rpy or (0.0, 0.0, 0.0)),
                     np.array(origin.xyz or (0.0, 0.0, 0.0), float))


def _inertia(link: Any) -> Inertia:
    if link.inertial is None:
        return Inertia()
    pose = _transform(link.inertial.origin)
    moments = np.zeros((3, 3))
    if link.inertial.inertia is not None:
        moments = np.array(link.inertial.inertia.to_matrix(), float)
    return Inertia(float(link.inertial.mass or 0.0), pose.p, pose.R @ moments @ pose.R.T)


def _joint(joint: Any, origin: str) -> Joint:
    limit, dynamics = joint.limit, joint.dynamics
    if joint.type == 'planar':
        raise ModelError(f'{origin}: joint {joint.name!r} is of type planar, which is not '
                         'supported. Write it as two prismatic joints and a revolute one.')
    rotates = joint.type == 'continuous' or limit is None
    return Joint(
        name=joint.name, kind=joint.type, parent=joint.parent, child=joint.child,
        placement=_transform(joint.origin),
        axis=np.array(joint.axis if joint.axis is not None else (1.0, 0.0, 0.0), float),
        lower=-math.inf if rotates else float(limit.lower or 0.0),
        upper=math.inf if rotates else float(limit.upper or 0.0),
        effort=math.inf if limit is None else float(limit.effort),
        velocity=math.inf if limit is None else float(limit.velocity),
        damping=float(dynamics.damping or 0.0) if dynamics is not None else 0.0,
        friction=float(dynamics.friction or 0.0) if dynamics is not None else 0.0,
    )
