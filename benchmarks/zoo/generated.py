# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots generated in code: any number of three-joint legs around a body; a biped with soles."""
from __future__ import annotations

import numpy as np


def _inertial(mass: float, size: tuple[float, float, float], at: str = '0 0 0') -> str:
    x, y, z = size
    return (f'<inertial><origin xyz="{at}"/><mass value="{mass}"/><inertia '
            f'ixx="{mass * (y * y + z * z) / 12}" iyy="{mass * (x * x + z * z) / 12}" '
            f'izz="{mass * (x * x + y * y) / 12}" ixy="0" ixz="0" iyz="0"/></inertial>')


def _joint(name: str, parent: str, child: str, xyz: str, axis: str, effort: float,
           rpy: str = '0 0 0') -> str:
    return (f'<joint name="{name}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            f'<limit lower="-3" upper="3" effort="{effort}" velocity="20"/></joint>')


def _fixed(name: str, parent: str, child: str, xyz: str, rpy: str = '0 0 0') -> str:
    return (f'<joint name="{name}" type="fixed"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/></joint>')


def spider(legs: int, mass: float, effort: float, radius: float = 0.15, coxa: float = 0.05,
           femur: float = 0.12, tibia: float = 0.15) -> str:
    """
    Return the URDF of a round body with legs all around it: yaw at the hip, then two pitches.

    Legs ``leg0`` and on are numbered counter-clockwise from the front left. At zero joint angles
    they stretch straight outwards.
    """
    leg_mass = 0.35 * mass / legs
    text = [f'<link name="body">{_inertial(0.65 * mass, (2 * radius, 2 * radius, 0.08))}</link>',
            '<link name="imu"/>', _fixed('imu_mount', 'body', 'imu', '0.02 -0.01 0.03',
                                         '0 0 1.5707963267948966')]
    for i in range(legs):
        angle = 2.0 * np.pi * (i + 0.5) / legs
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        n = f'leg{i}'
        text += [
            *(f'<link name="{n}_{part}">'
              f'{_inertial(share * leg_mass, (length, wide, wide), f"{length / 2} 0 0")}</link>'
              for part, share, length, wide in (('coxa', 0.3, coxa, 0.04),
                                                ('femur', 0.45, femur, 0.03),
                                                ('tibia', 0.22, tibia, 0.02))),
            f'<link name="{n}_foot">{_inertial(0.03 * leg_mass, (.02, .02, .02))}</link>',
            _joint(f'{n}_yaw', 'body', f'{n}_coxa', f'{x} {y} 0', '0 0 1', effort, f'0 0 {angle}'),
            _joint(f'{n}_hip', f'{n}_coxa', f'{n}_femur', f'{coxa} 0 0', '0 1 0', effort),
            _joint(f'{n}_knee', f'{n}_femur', f'{n}_tibia', f'{femur} 0 0', '0 1 0', effort),
            _fixed(f'{n}_foot_mount', f'{n}_tibia', f'{n}_foot', f'{tibia} 0 0')]
    return f'<robot name="spider{legs}">{"".join(text)}</robot>'


def walker(mass: float = 40.0, effort: float = 150.0, thigh: float = 0.35, shank: float = 0.35,
           width: float = 0.1) -> str:
    """Return the URDF of a biped of two six-joint legs with soles, z of all frames up."""
    text = [f'<link name="pelvis">{_inertial(0.6 * mass, (.2, .3, .5), "0 0 0.2")}</link>',
            '<link name="imu"/>', _fixed('imu_mount', 'pelvis', 'imu', '0.03 0 0.15')]
    m = 0.2 * mass
    for side, y in (('left', width), ('right', -width)):
        s = side
        text += [
            f'<link name="{s}_yaw_link">{_inertial(0.1 * m, (.08, .08, .08))}</link>',
            f'<link name="{s}_roll_link">{_inertial(0.1 * m, (.08, .08, .08))}</link>',
            f'<link name="{s}_thigh">{_inertial(0.4 * m, (.1, .1, thigh), f"0 0 {-thigh / 2}")}'
            '</link>',
            f'<link name="{s}_shank">{_inertial(0.25 * m, (.08, .08, shank), f"0 0 {-shank / 2}")}'
            '</link>',
            f'<link name="{s}_ankle">{_inertial(0.05 * m, (.05, .05, .05))}</link>',
            f'<link name="{s}_foot">{_inertial(0.1 * m, (.2, .1, .04), "0.02 0 -0.04")}</link>',
            f'<link name="{s}_sole"/>',
            _joint(f'{s}_hip_yaw', 'pelvis', f'{s}_yaw_link', f'0 {y} -0.1', '0 0 1', effort),
            _joint(f'{s}_hip_roll', f'{s}_yaw_link', f'{s}_roll_link', '0 0 0', '1 0 0', effort),
            _joint(f'{s}_hip_pitch', f'{s}_roll_link', f'{s}_thigh', '0 0 0', '0 1 0', effort),
            _joint(f'{s}_knee', f'{s}_thigh', f'{s}_shank', f'0 0 {-thigh}', '0 1 0', effort),
            _joint(f'{s}_ankle_pitch', f'{s}_shank', f'{s}_ankle', f'0 0 {-shank}', '0 1 0',
                   effort),
            _joint(f'{s}_ankle_roll', f'{s}_ankle', f'{s}_foot', '0 0 0', '1 0 0', effort),
            _fixed(f'{s}_sole_mount', f'{s}_foot', f'{s}_sole', '0 0 -0.06')]
    return f'<robot name="walker">{"".join(text)}</robot>'
