# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A URDF as physics needs it: one link a moving body, primitive feet, and nothing else.

Makers' URDFs have meshes, materials twice, rotors and lidars without mass or inertia, and joints
to the world; MuJoCo refuses some and mistakes others. `physics_text` writes the robot anew from
the `RobotModel` that the estimator uses: links that fixed joints connect are one body, moving
bodies without mass get a negligible one, and base, IMU and feet are frames of their own.
"""
from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement

import mujoco
import numpy as np

from legged_dynamics.model.feet import Foot
from legged_dynamics.model.parts import Inertia, Joint
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.urdf import urdf_text

# Of a body that has none: as a part of the robot's mass, and the radius of gyration [m].
LEAST_MASS, LEAST_RADIUS = 1e-6, 0.02
THICKNESS = 0.01        # m, of a sole


def readable(urdf: str, config: RobotConfig) -> bool:
    """
    Return whether MuJoCo takes a URDF as it is.

    Parameters
    ----------
    urdf : str
        URDF text.
    config : RobotConfig
        Feet.

    Returns
    -------
    bool
        True where it compiles, every foot is a link with a shape, and no joint leads to the world.

    """
    if config.foot_frames or '<mesh' in urdf:
        return False
    try:
        spec = mujoco.MjSpec.from_string(urdf)
        spec.compiler.fusestatic = False
        shaped = {body.name for body in spec.bodies if list(body.geoms)}
        free = any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)
        first = spec.worldbody.first_body()
        spec.compile()
    except ValueError:
        return False
    return (not free and all(foot.link in shaped for foot in config.feet)
            and first is not None and first.name == config.base_link)


def physics_text(model: RobotModel, config: RobotConfig) -> str:
    """
    Return a robot's URDF with what physics needs alone.

    Parameters
    ----------
    model : RobotModel
        As its URDF has it.
    config : RobotConfig
        Feet, base and IMU.

    Returns
    -------
    str
        URDF text.

    Raises
    ------
    UnknownNameError
        When a foot or the IMU is not in the model.

    """
    frames = model.with_frames({frame.name: (frame.parent, frame.pose)
                                for frame in config.foot_frames})
    base = config.base_link or model.base_link
    # The free body has the name of the base, which may be fixed to the root of the URDF.
    names = [base if model.frame(base).body == 0 else model.base_link,
             *(joint.child for joint in model.joints)]
    # A body's axes in the model are its joint's; here they are its link's again.
    to_link = [model.frame(name).pose.inverse() for name in names]
    links = {name: _with_mass(model.body_inertia(body).seen_from(to_link[body]),
                              model.total_mass) for body, name in enumerate(names)}
    joints = []
    for joint in model.joints:
        body, pose = model.frame(joint.parent)
        joints.append(replace(joint, parent=names[body], mimic=None,
                              placement=to_link[body] @ pose @ joint.placement))
    for name in dict.fromkeys([base, config.imu_link or model.base_link,
                               *(foot.link for foot in config.feet)]):
        if name in links:
            continue
        body, pose = frames.frame(name)
        links[name] = Inertia()
        joints.append(Joint(f'{name}_frame', 'fixed', names[body], name, to_link[body] @ pose,
                            np.array([1.0, 0.0, 0.0])))
    root = ElementTree.fromstring(urdf_text(model.name, links, joints))
    for foot in config.feet:
        _add_shape(next(link for link in root.iter('link') if link.get('name') == foot.link),
                   foot)
    return ElementTree.tostring(root, encoding='unicode')


def _with_mass(inertia: Inertia, total: float) -> Inertia:
    least = LEAST_MASS * total
    moments = np.linalg.eigvalsh(inertia.about_com)
    if inertia.mass >= least and moments[0] > 0.0 and moments[2] <= moments[0] + moments[1]:
        return inertia
    mass = max(inertia.mass, least)
    # The nearest inertia that a distribution of mass has: MuJoCo refuses others.
    values, axes = np.linalg.eigh(inertia.about_com)
    values = np.maximum(values, mass * LEAST_RADIUS ** 2 * 1e-3)
    values[2] = min(values[2], values[0] + values[1])
    return Inertia(mass, inertia.com, (axes * values) @ axes.T)


def _add_shape(link: ElementTree.Element, foot: Foot) -> None:
    collision = SubElement(link, 'collision')
    if foot.round:
        SubElement(SubElement(collision, 'geometry'), 'sphere', radius=f'{foot.radius:g}')
        return
    front, back, left, right = foot.edges
    SubElement(collision, 'origin', rpy='0 0 0', xyz=f'{(front + back) / 2:g} '
               f'{(left + right) / 2:g} {THICKNESS / 2:g}')
    SubElement(SubElement(collision, 'geometry'), 'box',
               size=f'{front - back:g} {max(left - right, 1e-3):g} {THICKNESS:g}')
