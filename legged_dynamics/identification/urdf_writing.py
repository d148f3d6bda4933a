# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A URDF with the inertias that were identified, everything else as it was."""
from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from legged_dynamics.model.parts import Inertia
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.frames import Transform


def with_inertias(urdf: str, described: RobotModel, identified: RobotModel) -> str:
    """
    Return the URDF's text with a body's inertia in the link that heads it.

    Links welded to it lose theirs, which is in the body's now: the equations see bodies alone.

    Parameters
    ----------
    urdf : str
        The XML.
    described, identified : RobotModel
        Of that URDF, and with other inertias.

    """
    root = ElementTree.fromstring(urdf)
    heads = [described.base_link, *(joint.child for joint in described.joints)]
    links = {link.get('name'): link for link in root.findall('link')}
    for body, head in enumerate(heads):
        new = identified.body_inertia(body)
        pose = described.frame(head).pose       # of the link in the body, whose z is the axis
        for name, frame in described.frames.items():
            inertial = links[name].find('inertial') if name in links else None
            if frame.body == body and inertial is not None:
                links[name].remove(inertial)
        links[head].insert(0, _inertial(new.seen_from(Transform(pose.R, pose.p).inverse())))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding='unicode') + '\n'


def _inertial(inertia: Inertia) -> ElementTree.Element:
    part = ElementTree.Element('inertial')
    ElementTree.SubElement(part, 'origin', xyz=' '.join(f'{x:.9g}' for x in inertia.com),
                           rpy='0 0 0')
    ElementTree.SubElement(part, 'mass', value=f'{inertia.mass:.9g}')
    I_c = inertia.about_com
    ElementTree.SubElement(part, 'inertia', {
        f'i{"xyz"[i]}{"xyz"[k]}': f'{I_c[i, k]:.9g}' for i, k in zip(*np.triu_indices(3))})
    return part
