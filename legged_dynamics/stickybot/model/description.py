# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The climbing robot as a URDF: for rviz, for the limits of its motors, for its names.

Body axes are the model's: x to the right, y to the head, z off the wall. Each link's frame lies
at the end towards the hip, its x axis along the link from the foot to the hip; the foot's frame
lies on the wall, with the axes of the first link. Joints read zero at the nominal rest.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from legged_dynamics.stickybot.model.joints import foot_link, joint_names
from legged_dynamics.stickybot.model.parts import Limb, Link
from legged_dynamics.stickybot.model.robot import StickybotModel

BASE, IMU = 'body', 'imu_link'
# What the motors of a 370 g robot deliver: sliding hips [N], turning joints [N m].
EFFORTS = (20.0, 2.5)
TRAVEL = 0.02       # m that a hip slides each way
TURN = 1.5          # rad that a joint turns each way
FASTEST = (2.0, 20.0)
RADIUS = 0.005      # m of a limb, drawn
FOOT_RADIUS = 0.01


def urdf(model: StickybotModel, name: str = 'stickybot',
         efforts: Sequence[float] = EFFORTS) -> str:
    """
    Return the URDF of a robot.

    Parameters
    ----------
    model : StickybotModel
        The robot; its wall is not part of the description.
    name : str
        Of the robot.
    efforts : (2,) sequence of float [N, N m]
        Limits of the motors of sliding and of turning joints.

    """
    lines = [f'<robot name="{name}">', *_body(model)]
    for limb in model.limbs:
        lines += _limb(limb, model.body.height, efforts)
    return '\n'.join(['<?xml version="1.0"?>', *lines, '</robot>', ''])


def _body(model: StickybotModel) -> Iterable[str]:
    hips = np.abs([limb.hip for limb in model.limbs]).max(axis=0)
    size = f'{2.0 * hips[0]:g} {2.0 * hips[1] + 0.04:g} 0.02'
    # A flat body: what it resists about the wall's normal is the sum of the other two.
    yield f'  <link name="{BASE}">'
    yield _inertial(model.body.mass, 0.0, 0.5 * model.body.inertia, model.body.inertia)
    yield f'    <visual><geometry><box size="{size}"/></geometry></visual>'
    yield '  </link>'
    yield f'  <link name="{IMU}"/>'
    yield (f'  <joint name="imu_joint" type="fixed"><parent link="{BASE}"/>'
           f'<child link="{IMU}"/></joint>')


def _limb(limb: Limb, height: float, efforts: Sequence[float]) -> Iterable[str]:
    names, links = joint_names(limb), limb.links
    carriers = [f'{limb.name}_slide_x', f'{limb.name}_slide_y']
    chain = [*carriers, *(f'{limb.name}_link_{k}' for k in range(len(links), 0, -1))]
    kinds = [('prismatic', '1 0 0'), ('prismatic', '0 1 0'), ('revolute', '0 0 1')]
    # An inner joint counts the hip's side against the foot's; seen from the hip it turns back.
    kinds += [('revolute', '0 0 -1')] * (len(links) - 1)
    places = [(*limb.hip, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, limb.rest_angle)]
    places += [(-link.length, 0.0, -bend)
               for link, bend in zip(links[:0:-1], reversed(limb.bends))]
    damping = [*np.diag(limb.damping), *(link.damping for link in links[:0:-1])]
    for k, (joint, child, (kind, axis), (x, y, angle)) in enumerate(
            zip(names, chain, kinds, places)):
        turns = kind == 'revolute'
        yield from _link(child, links[len(chain) - 1 - k] if k >= 2 else None)
        yield f'  <joint name="{joint}" type="{kind}">'
        yield f'    <parent link="{chain[k - 1] if k else BASE}"/><child link="{child}"/>'
        yield f'    <origin xyz="{x:.9g} {y:.9g} 0" rpy="0 0 {angle:.9g}"/><axis xyz="{axis}"/>'
        reach = TURN if turns else TRAVEL
        yield (f'    <limit lower="{-reach:g}" upper="{reach:g}" effort="{efforts[turns]:g}" '
               f'velocity="{FASTEST[turns]:g}"/>')
        yield f'    <dynamics damping="{damping[k]:.9g}"/>'
        yield '  </joint>'
    yield f'  <link name="{foot_link(limb)}">'
    yield f'    <visual><geometry><sphere radius="{FOOT_RADIUS:g}"/></geometry></visual>'
    yield '  </link>'
    yield (f'  <joint name="{limb.name}_foot_joint" type="fixed"><parent link="{chain[-1]}"/>'
           f'<child link="{foot_link(limb)}"/>'
           f'<origin xyz="{-links[0].length:.9g} 0 {-height:.9g}"/></joint>')


def _link(name: str, link: Link | None) -> Iterable[str]:
    if link is None:
        yield f'  <link name="{name}"/>'
        return
    half = link.length / 2.0
    yield f'  <link name="{name}">'
    # A rod resists turning about its own axis little.
    yield _inertial(link.mass, link.center - link.length, 0.01 * link.inertia, link.inertia)
    yield (f'    <visual><origin xyz="{-half:.9g} 0 0" rpy="0 {math.pi / 2:.9g} 0"/><geometry>'
           f'<cylinder radius="{RADIUS:g}" length="{link.length:.9g}"/></geometry></visual>')
    yield '  </link>'


def _inertial(mass: float, x: float, roll: float, yaw: float) -> str:
    """Return an inertial tag of a body that is flat or thin; yaw is about the wall's normal."""
    return (f'    <inertial><origin xyz="{x:.9g} 0 0"/><mass value="{mass:.9g}"/>'
            f'<inertia ixx="{roll:.9g}" iyy="{max(yaw - roll, roll):.9g}" izz="{yaw:.9g}" '
            f'ixy="0" ixz="0" iyz="0"/></inertial>')
