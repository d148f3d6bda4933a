# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The paper's biped: seven links whose lengths, masses and inertias follow from one stature.

Of the paper's data on the links only the body's mass, the total mass and the starting pose are
known; in that pose the body's centre of mass is 1.05 m above flat soles. With the proportions of
Winter [10] (segment lengths and centres of mass of Drillis and Contini, and of Dempster) that pose
determines the stature, 1.7048 m, and with it all lengths, masses and inertias.

Axes are the paper's: z up, +x to the robot's *back*, +y to its right; angles turn about +y. In the
URDF made from this, x points forward as in REP-103, and the hinges' axes are -y, so that joint
angles and torques are the same numbers.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.reproductions.planar.robot import PlanarRobot, PlanarState, PlanarTarget

JOINTS = ('L_HIP', 'L_KNEE', 'L_ANKLE', 'R_HIP', 'R_KNEE', 'R_ANKLE')

# The crouch: start and target.
START_POSE = np.array([0.0, 1.05, math.radians(-10.0)])
START_LEG = np.radians([40.0, -70.4595, 40.4595])
CROUCH = PlanarTarget(np.array([0.10, 0.95, 0.0]))
BODY_MASS = 45.0                                    # kg, the paper's
TOTAL_MASS = 72.5                                   # kg, the paper's

# Lengths as parts of the stature.
TRUNK = 0.288                                       # head, arms and trunk
THIGH = 0.245
SHANK = 0.246
ANKLE = 0.039
FOOT = 0.152
HIP_WIDTH = 0.191
FOOT_WIDTH = 0.055
HIP_TO_CENTER = 0.626                               # of the trunk
HEEL = 0.06                                         # m behind the ankle
FOOT_CENTER = 0.07 / 1.705                          # ahead of the ankle
# Centre of mass from the upper joint, and radii of gyration about it, as parts of the segment.
LEG_CENTER = 0.433
GYRATION = {'body': 0.496, 'thigh': 0.323, 'shank': 0.302, 'foot': 0.475}
LEG_MASSES = {'thigh': 0.100, 'shank': 0.0465, 'foot': 0.0145}      # as parts of the total


def _stature() -> float:
    """Return the height of the person whose start pose puts the body at 1.05 m [m]."""
    pitch, (hip, knee, _) = START_POSE[2], START_LEG
    return float(START_POSE[1]) / (HIP_TO_CENTER * TRUNK * math.cos(pitch)
                                   + THIGH * math.cos(pitch + hip)
                                   + SHANK * math.cos(pitch + hip + knee) + ANKLE)


@dataclass(frozen=True)
class Biped:
    """
    The biped's figures, all from its stature; masses can be scaled to test a controller.

    Attributes
    ----------
    height : float
        Stature [m].
    body_scale, leg_scale : float
        Factors on mass and inertia of the body, and of every link of the legs.

    Raises
    ------
    ModelError
        When a value is not above zero.

    """

    height: float = _stature()
    body_scale: float = 1.0
    leg_scale: float = 1.0

    def __post_init__(self) -> None:
        if not (self.height > 0.0 and self.body_scale > 0.0 and self.leg_scale > 0.0):
            raise ModelError(f'expected a height and scales above zero, got {self}')

    @property
    def hip_to_center(self) -> float:
        """Height of the body's centre of mass above the hips [m]."""
        return HIP_TO_CENTER * TRUNK * self.height

    @property
    def thigh(self) -> float:
        """Length from hip to knee [m]."""
        return THIGH * self.height

    @property
    def shank(self) -> float:
        """Length from knee to ankle [m]."""
        return SHANK * self.height

    @property
    def ankle(self) -> float:
        """Height of the ankle above the sole [m]."""
        return ANKLE * self.height

    @property
    def foot(self) -> float:
        """Length of the sole [m]."""
        return FOOT * self.height

    @property
    def foot_center(self) -> tuple[float, float]:
        """Centre of mass of a foot, ahead of and below the ankle [m]."""
        return FOOT_CENTER * self.height, self.ankle / 2.0

    @property
    def masses(self) -> dict[str, float]:
        """Mass of each kind of link [kg]."""
        leg = (TOTAL_MASS - BODY_MASS) / 2.0 / sum(LEG_MASSES.values())
        return {'body': self.body_scale * BODY_MASS,
                **{name: self.leg_scale * leg * part for name, part in LEG_MASSES.items()}}

    @property
    def inertias(self) -> dict[str, float]:
        """Inertia about the centre of mass and +y of each kind of link [kg m^2]."""
        lengths = {'body': TRUNK * self.height, 'thigh': self.thigh, 'shank': self.shank,
                   'foot': self.foot}
        return {name: mass * (GYRATION[name] * lengths[name]) ** 2
                for name, mass in self.masses.items()}

    def planar(self) -> PlanarRobot:
        """
        Build the planar model.

        Returns
        -------
        PlanarRobot
            Seven links in the paper's order: body, left leg, right leg.

        """
        kinds = ('body', *('thigh', 'shank', 'foot') * 2)
        thigh, shank = LEG_CENTER * self.thigh, LEG_CENTER * self.shank
        ahead, below = self.foot_center
        inner = [(0.0, -self.hip_to_center), (0.0, thigh - self.thigh),
                 (0.0, shank - self.shank)]
        outer = [(0.0, thigh), (0.0, shank), (ahead, below)]
        return PlanarRobot(
            (-1, 0, 1, 2, 0, 4, 5), [self.masses[kind] for kind in kinds],
            [self.inertias[kind] for kind in kinds],
            np.array([(0.0, 0.0), *inner * 2]), np.array([(0.0, 0.0), *outer * 2]))


def start_state() -> PlanarState:
    """Return the paper's initial state: knees bent, body leaning by 10 degrees, at rest."""
    return PlanarState(START_POSE, np.zeros(3), np.tile(START_LEG, 2), np.zeros(6))


# -------------------------------------------------------------------------------------------------
# The biped as URDF: legs side by side, soles with a width.
#
# Hip width, width of the soles, inertia about the other axes, shapes and limits are those of
# Winter [10] or stated here. ``config/robots/biped.urdf`` is the output of ``python -c
# "from legged_dynamics.reproductions.planar import *; print(biped_urdf(Biped()), end='')"``.


# Radii of the limbs as parts of the stature; links are round about their long axis.
RADIUS = {'body': 0.085, 'thigh': 0.045, 'shank': 0.032}
HEAD = 0.06
SOLE_THICKNESS = 0.02                               # m, of the box that touches the ground
# Lower, upper [rad], effort [N m], velocity [rad/s]: about what a strong person's joints do.
LIMITS = {'HIP': (-0.7, 2.2, 200.0, 12.0), 'KNEE': (-2.6, 0.02, 250.0, 12.0),
          'ANKLE': (-0.9, 1.2, 150.0, 12.0)}
HINGE_AXIS = '0 -1 0'                               # the paper's +y


def biped_urdf(biped: Biped) -> str:
    """Return the URDF of a biped; joint angles and torques are those of its planar model."""
    return '\n'.join([_HEAD.format(height=biped.height), *_body(biped),
                      *_leg(biped, 'L', 1.0), *_leg(biped, 'R', -1.0), '</robot>', ''])


def sole(biped: Biped) -> tuple[float, float, float, float]:
    """Return a sole's edges [m] from below the ankle, positive to the front and left."""
    half = FOOT_WIDTH * biped.height / 2.0
    return biped.foot - HEEL, -HEEL, half, -half


_HEAD = """\
<?xml version="1.0"?>
<!-- Copyright 2026 legged_dynamics maintainers -->
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!--
  The biped of Wendlandt and Sastry, "Recursive Workspace Control of Multibody Systems: A Planar
  Biped Example", as a person of {height:.4f} m. Made from the planar model by
  legged_dynamics.reproductions.planar.biped; change that, not this.

  x forward, y left, z up. The paper's +x is backward and its +y to the right, so hinges turn about
  -y and angles have the paper's signs: hips and ankles bend with positive, knees with negative
  angles.
-->
<robot name="biped">
  <material name="shell"><color rgba="0.75 0.78 0.82 1"/></material>
  <material name="dark"><color rgba="0.25 0.25 0.28 1"/></material>
  <material name="rubber"><color rgba="0.08 0.08 0.08 1"/></material>
"""


def _number(value: float) -> str:
    return f'{value + 0.0:.12g}'


def _xyz(*values: float) -> str:
    return ' '.join(_number(value) for value in values)


def _inertial(mass: float, center: str, about: tuple[float, float, float]) -> list[str]:
    ixx, iyy, izz = (_number(value) for value in about)
    return ['    <inertial>', f'      <origin xyz="{center}" rpy="0 0 0"/>',
            f'      <mass value="{_number(mass)}"/>',
            f'      <inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/>',
            '    </inertial>']


def _shape(kind: str, center: str, geometry: str, material: str = '') -> list[str]:
    color = [f'      <material name="{material}"/>'] if material else []
    return [f'    <{kind}>', f'      <origin xyz="{center}" rpy="0 0 0"/>',
            f'      <geometry>{geometry}</geometry>', *color, f'    </{kind}>']


def _solid(center: str, geometry: str, material: str) -> list[str]:
    return _shape('visual', center, geometry, material) + _shape('collision', center, geometry)


def _fixed(name: str, parent: str, child: str, origin: str) -> list[str]:
    return [f'  <joint name="{name}" type="fixed">', f'    <origin xyz="{origin}" rpy="0 0 0"/>',
            f'    <parent link="{parent}"/>', f'    <child link="{child}"/>', '  </joint>', '']


def _hinge(side: str, joint: str, parent: str, child: str, origin: str) -> list[str]:
    lower, upper, effort, velocity = LIMITS[joint]
    return [f'  <joint name="{side}_{joint}" type="revolute">',
            f'    <origin xyz="{origin}" rpy="0 0 0"/>', f'    <parent link="{parent}"/>',
            f'    <child link="{child}"/>', f'    <axis xyz="{HINGE_AXIS}"/>',
            f'    <limit lower="{lower:g}" upper="{upper:g}" effort="{effort:g}" '
            f'velocity="{velocity:g}"/>', '  </joint>', '']


def _cylinder(radius: float, length: float) -> str:
    return f'<cylinder radius="{_number(radius)}" length="{_number(length)}"/>'


def _round(mass: float, across: float, radius: float) -> tuple[float, float, float]:
    return across, across, mass * radius ** 2 / 2.0


def _body(biped: Biped) -> list[str]:
    mass, radius = biped.masses['body'], RADIUS['body'] * biped.height
    trunk, hips = TRUNK * biped.height, -biped.hip_to_center
    head = HEAD * biped.height
    return ['  <link name="base">',
            *_inertial(mass, '0 0 0', _round(mass, biped.inertias['body'], radius)),
            *_solid(_xyz(0, 0, hips + trunk / 2.0), _cylinder(radius, trunk), 'dark'),
            *_shape('visual', _xyz(0, 0, hips + trunk + 1.6 * head),
                    f'<sphere radius="{_number(head)}"/>', 'shell'),
            '  </link>', '', '  <link name="imu_link"/>',
            *_fixed('imu_mount', 'base', 'imu_link', '-0.05 0 0.1')]


def _leg(biped: Biped, side: str, left: float) -> list[str]:
    lines, parent, origin = [], 'base', _xyz(
        0, left * HIP_WIDTH * biped.height / 2.0, -biped.hip_to_center)
    for kind, joint, length in (('thigh', 'HIP', biped.thigh), ('shank', 'KNEE', biped.shank)):
        link, mass = f'{side}_{kind.upper()}', biped.masses[kind]
        radius = RADIUS[kind] * biped.height
        center = LEG_CENTER * length
        lines += [f'  <link name="{link}">',
                  *_inertial(mass, _xyz(0, 0, -center),
                             _round(mass, biped.inertias[kind], radius)),
                  *_solid(_xyz(0, 0, -length / 2.0), _cylinder(radius, length), 'shell'),
                  '  </link>', '', *_hinge(side, joint, parent, link, origin)]
        parent, origin = link, _xyz(0, 0, -length)
    return lines + _foot(biped, side, parent, origin)


def _foot(biped: Biped, side: str, shank: str, ankle: str) -> list[str]:
    mass, across = biped.masses['foot'], biped.inertias['foot']
    ahead, below = biped.foot_center
    front, back, left, right = sole(biped)
    length, width, middle = front - back, left - right, (front + back) / 2.0
    link, box = f'{side}_FOOT', '<box size="{} {} {}"/>'
    along = mass * (width ** 2 + biped.ankle ** 2) / 12.0
    return [f'  <link name="{link}">',
            *_inertial(mass, _xyz(ahead, 0, -below), (along, across, across)),
            *_shape('visual', _xyz(middle, 0, (SOLE_THICKNESS - biped.ankle) / 2.0), box.format(
                _number(length), _number(0.8 * width), _number(biped.ankle - SOLE_THICKNESS)),
                'shell'),
            '  </link>', '', *_hinge(side, 'ANKLE', shank, link, ankle),
            f'  <link name="{side}_SOLE">',
            *_solid(_xyz(middle, 0, SOLE_THICKNESS / 2.0), box.format(
                _number(length), _number(width), _number(SOLE_THICKNESS)), 'rubber'),
            '  </link>', *_fixed(f'{side}_SOLE_MOUNT', link, f'{side}_SOLE',
                                 _xyz(0, 0, -biped.ankle))]
