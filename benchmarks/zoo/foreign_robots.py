# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots that the estimator was not made on: other makers, other links, arms."""
from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np

from benchmarks.zoo.robots import ROBOTS, ZooRobot, _read, _robot

UNITREE = ('FR', 'FL', 'RR', 'RL')
PRODUCTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


def _unitree(thigh: float, calf: float) -> dict[str, dict[str, float]]:
    return {leg: {f'{leg}_hip_joint': 0.0, f'{leg}_thigh_joint': thigh, f'{leg}_calf_joint': calf}
            for leg in UNITREE}


def _anymal() -> dict[str, dict[str, float]]:
    return {leg: {f'{leg}_HAA': -0.1 if leg[0] == 'L' else 0.1,
                  f'{leg}_HFE': 0.7 if leg[1] == 'F' else -0.7,
                  f'{leg}_KFE': -1.1 if leg[1] == 'F' else 1.1}
            for leg in ('LF', 'RF', 'LH', 'RH')}


def _with_effort(urdf: str, effort: float) -> str:
    """Return a URDF whose efforts say what the drives give, where it says 1000 N m."""
    return re.sub(r'effort="1000(\.0*)?"', f'effort="{effort}"', urdf)


def _balanced(urdf: str) -> str:
    """Return a URDF whose inertias are those of bodies: MuJoCo refuses what cannot be one."""
    root = ElementTree.fromstring(urdf)
    for tensor in root.iter('inertia'):
        xx, xy, xz, yy, yz, zz = (float(tensor.get(key, '0')) for key in PRODUCTS)
        principal = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if 2.0 * principal[2] > principal.sum():
            for key in PRODUCTS:
                tensor.set(key, repr(float(principal[2]) if key[1] == key[2] else 0.0))
    return ElementTree.tostring(root, encoding='unicode')


def a1() -> ZooRobot:
    """Unitree's 14 kg quadruped."""
    legs = _unitree(0.8, -1.6)
    return _robot('a1', _read('a1_description/urdf/a1.urdf'), legs, [f'{i}_foot' for i in legs],
                  imu='imu_link', base='base', effort=0.4, armature=0.01, damping=0.1,
                  friction=0.1, radius=0.02)


def laikago() -> ZooRobot:
    """Unitree's 25 kg quadruped; no IMU in its description."""
    legs = _unitree(0.7, -1.4)
    return _robot('laikago', _read('laikago_description/urdf/laikago.urdf'), legs,
                  [f'{i}_foot' for i in legs], imu='trunk', base='trunk', effort=0.5,
                  armature=0.02, damping=0.1, friction=0.2, radius=0.0265)


def anymal_b() -> ZooRobot:
    """ANYbotics' 30 kg quadruped with knees that face each other."""
    legs = _anymal()
    return _robot('anymal_b', _read('anymal_b_simple_description/robots/anymal.urdf'), legs,
                  [f'{i}_FOOT' for i in legs], imu='imu_link', base='base', effort=0.8,
                  armature=0.05, damping=0.3, friction=0.3, radius=0.031)


def anymal_arm() -> ZooRobot:
    """The same with a six-joint arm of 5 kg."""
    legs = _anymal()
    legs['arm'] = {f'j2s6s200_joint_{i + 1}': angle for i, angle in enumerate(
        (4.712, 3.665, 1.047, 0.0, 2.094, 0.0))}
    return _robot('anymal_arm', _read('anymal_b_simple_description/robots/anymal-kinova.urdf'),
                  legs, [f'{i}_FOOT' for i in legs if i != 'arm'], imu='imu_link', base='base',
                  effort=0.8, armature=0.05, damping=0.3, friction=0.3, radius=0.031)


def anymal_c() -> ZooRobot:
    """ANYbotics' 52 kg quadruped."""
    legs = _anymal()
    urdf = _balanced(_read('anymal_c_simple_description/urdf/anymal.urdf'))
    return _robot('anymal_c', urdf, legs, [f'{i}_FOOT' for i in legs], imu='imu_link',
                  base='base', effort=0.8, armature=0.05, damping=0.3, friction=0.3, radius=0.03)


def bolt() -> ZooRobot:
    """A biped of 1.3 kg with three-joint legs and points for feet: it cannot stand still."""
    legs = {leg: {f'{leg}_HAA': -0.15 if leg == 'FL' else 0.15, f'{leg}_HFE': 0.5,
                  f'{leg}_KFE': -1.0} for leg in ('FL', 'FR')}
    return _robot('bolt', _with_effort(_read('bolt_description/robots/bolt.urdf'), 2.7), legs,
                  [f'{i}_FOOT' for i in legs], imu='base_link', base='base_link', effort=0.03,
                  armature=5e-4, damping=0.005, friction=0.01, radius=0.014)


def romeo() -> ZooRobot:
    """A humanoid of 41 kg, upper body welded."""
    names = ('HipYaw', 'HipRoll', 'HipPitch', 'KneePitch', 'AnklePitch', 'AnkleRoll')
    legs = {side: {f'{side}{joint}': angle for joint, angle in
                   zip(names, (0.0, 0.0, -0.35, 0.7, -0.35, 0.0))} for side in ('L', 'R')}
    urdf = re.sub(r'<limit effort="(46.6|38.17|25.76|9.2)"', '<limit effort="80"',
                  _read('romeo_description/urdf/romeo_small.urdf'))
    return _robot('romeo', _balanced(urdf), legs, ['l_sole', 'r_sole'], imu='base_link',
                  base='base_link', effort=1.0, armature=0.05, damping=0.5, friction=0.3,
                  sole=[0.13, -0.07, 0.05, -0.05],
                  keep=[f'{side}{joint}' for side in 'LR' for joint in ('Hip', 'Knee', 'Ankle')],
                  welded={'LShoulderPitch': 1.5, 'RShoulderPitch': 1.5, 'LElbowRoll': -0.5,
                          'RElbowRoll': 0.5})


ALL: dict[str, Callable[[], ZooRobot]] = {
    make.__name__: make for make in (a1, laikago, anymal_b, anymal_arm, anymal_c, bolt, romeo)}
ROBOTS.update(ALL)
