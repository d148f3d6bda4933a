# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Links and joints as the text of a URDF."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from legged_dynamics.model.parts import Inertia, Joint
from legged_dynamics.spatial.frames import Transform

# URDF requires limits; these represent unlimited joints.
UNLIMITED = {'effort': 1e6, 'velocity': 1e3, 'turn': 2.0 * np.pi, 'slide': 1e3}


def urdf_text(name: str, links: Mapping[str, Inertia], joints: Sequence[Joint]) -> str:
    """
    Return the URDF of links and joints.

    Parameters
    ----------
    name : str
        Of the robot.
    links : mapping of str to Inertia
        Links without mass get no ``<inertial>``.
    joints : sequence of Joint
        Of kinds that URDF has; properties that it cannot express (armature, springs) are omitted.

    """
    robot = Element('robot', name=name)
    for link, inertia in links.items():
        element = SubElement(robot, 'link', name=link)
        if inertia.mass > 0.0:
            inertial = SubElement(element, 'inertial')
            SubElement(inertial, 'origin', xyz=_words(inertia.com), rpy='0 0 0')
            SubElement(inertial, 'mass', value=_word(inertia.mass))
            moment = inertia.about_com
            SubElement(inertial, 'inertia', {f'i{a}{b}': _word(moment['xyz'.index(a), 'xyz'.index(
                b)]) for a, b in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')})
    for joint in joints:
        element = SubElement(robot, 'joint', name=joint.name, type=joint.kind)
        SubElement(element, 'parent', link=joint.parent)
        SubElement(element, 'child', link=joint.child)
        SubElement(element, 'origin', xyz=_words(joint.placement.p), rpy=_words(
            _rpy(joint.placement)))
        if joint.kind in ('fixed', 'floating'):
            continue
        SubElement(element, 'axis', xyz=_words(joint.axis))
        wide = UNLIMITED['slide' if joint.kind == 'prismatic' else 'turn']
        limits = {'lower': joint.lower if isfinite(joint.lower) else -wide,
                  'upper': joint.upper if isfinite(joint.upper) else wide,
                  'effort': joint.effort if isfinite(joint.effort) else UNLIMITED['effort'],
                  'velocity': (joint.velocity if isfinite(joint.velocity)
                               else UNLIMITED['velocity'])}
        SubElement(element, 'limit', {key: _word(value) for key, value in limits.items()})
        if joint.damping or joint.friction:
            SubElement(element, 'dynamics', damping=_word(joint.damping),
                       friction=_word(joint.friction))
        if joint.mimic is not None:
            SubElement(element, 'mimic', joint=joint.mimic.joint,
                       multiplier=_word(joint.mimic.multiplier),
                       offset=_word(joint.mimic.offset))
    indent(robot)
    return f'<?xml version="1.0"?>\n{tostring(robot, encoding="unicode")}\n'


def _rpy(pose: Transform) -> np.ndarray:
    from scipy.spatial.transform import Rotation  # slow to import

    return Rotation.from_matrix(pose.R).as_euler('xyz')


def _words(values: np.ndarray) -> str:
    return ' '.join(_word(value) for value in values)


def _word(value: float) -> str:
    return f'{float(value):.12g}'
