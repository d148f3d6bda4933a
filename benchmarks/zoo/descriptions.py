# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""URDFs made ready for estimator and simulator: no meshes, feet as shapes, other joints welded."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

import numpy as np

from legged_dynamics.model import FlatFoot, PointFoot
from legged_dynamics.spatial.rotations import rotation_from_vector

NEGLIGIBLE = 1e-4     # kg: placeholders that URDFs give to frames
SOLE_HEIGHT = 0.02    # m


def prepared(urdf: str, feet: Sequence[PointFoot | FlatFoot],
             welded: Mapping[str, float] | None = None, keep: Sequence[str] = (),
             extra: str = '') -> str:
    """
    Return a URDF without meshes whose feet are balls and boxes.

    Parameters
    ----------
    urdf : str
        The XML.
    feet : sequence of PointFoot or FlatFoot
        Get a sphere about their frame, or a box whose bottom lies in the frame's xy plane.
    welded : mapping of str to float, optional
        Angle [rad] at which a joint that is not kept is welded; zero if not named.
    keep : sequence of str
        Prefixes of the joints that go on moving; empty for all.
    extra : str
        More links and joints, XML.

    """
    root = ElementTree.fromstring(urdf)
    for element in ElementTree.fromstring(f'<more>{extra}</more>'):
        root.append(element)
    shapes = {foot.link: foot for foot in feet}
    for link in root.findall('link'):
        for part in ('visual', 'collision', 'contact'):
            for element in link.findall(part):
                link.remove(element)
        mass = link.find('inertial/mass')
        if mass is not None and float(mass.get('value', 0)) < NEGLIGIBLE:
            link.remove(link.find('inertial'))
        if link.get('name') in shapes:
            link.append(_shape(shapes[link.get('name')]))
    for joint in root.findall('joint'):
        name = joint.get('name', '')
        if joint.get('type') != 'fixed' and keep and not name.startswith(tuple(keep)):
            _weld(joint, (welded or {}).get(name, 0.0))
    for junk in ('transmission', 'gazebo', 'mujoco', 'material'):
        for element in root.findall(junk):
            root.remove(element)
    return ElementTree.tostring(root, encoding='unicode')


def scaled(urdf: str, factor: float) -> str:
    """Return the URDF with all masses and inertias times a factor."""
    root = ElementTree.fromstring(urdf)
    for inertial in root.iter('inertial'):
        mass = inertial.find('mass')
        mass.set('value', repr(factor * float(mass.get('value'))))
        tensor = inertial.find('inertia')
        for key, value in tensor.attrib.items():
            tensor.set(key, repr(factor * float(value)))
    return ElementTree.tostring(root, encoding='unicode')


def _shape(foot: PointFoot | FlatFoot) -> ElementTree.Element:
    if isinstance(foot, PointFoot):
        text = f'<geometry><sphere radius="{foot.radius}"/></geometry>'
    else:
        x, y, _ = foot.center
        text = (f'<origin xyz="{x} {y} {SOLE_HEIGHT / 2}"/><geometry><box size="'
                f'{foot.front - foot.back} {foot.left - foot.right} {SOLE_HEIGHT}"/></geometry>')
    return ElementTree.fromstring(f'<collision>{text}</collision>')


def _weld(joint: ElementTree.Element, angle: float) -> None:
    joint.set('type', 'fixed')
    axis = joint.find('axis')
    along = np.array([float(x) for x in axis.get('xyz').split()]) if axis is not None else \
        np.array([1.0, 0.0, 0.0])
    for part in ('axis', 'limit', 'dynamics', 'safety_controller', 'mimic', 'calibration'):
        for element in joint.findall(part):
            joint.remove(element)
    if angle == 0.0:
        return
    origin = joint.find('origin')
    if origin is None:
        origin = ElementTree.SubElement(joint, 'origin')
    rpy = [float(x) for x in origin.get('rpy', '0 0 0').split()]
    R = rotation_of_rpy(rpy) @ rotation_from_vector(angle * along / np.linalg.norm(along))
    origin.set('rpy', ' '.join(repr(float(x)) for x in rpy_of_rotation(R)))


def rotation_of_rpy(rpy: Sequence[float]) -> np.ndarray:
    """Return the rotation matrix of URDF's roll, pitch, yaw."""
    x, y, z = (rotation_from_vector(angle * axis) for angle, axis in zip(rpy, np.eye(3)))
    return z @ y @ x


def rpy_of_rotation(R: np.ndarray) -> np.ndarray:
    """Return URDF's roll, pitch, yaw of a rotation matrix."""
    level = np.hypot(R[0, 0], R[1, 0])
    return np.array([np.arctan2(R[2, 1], R[2, 2]), np.arctan2(-R[2, 0], level),
                     np.arctan2(R[1, 0], R[0, 0])])
