# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The paper's biped: seven links whose lengths, masses and inertias follow from one stature.

The paper's figures of the links are lost but for the body's mass, the total, and the starting
pose, in which the body's centre of mass stands at 1.05 m on flat soles. With the proportions of
Winter [10] (segment lengths and centres of mass of Drillis and Contini, and of Dempster) that pose
fixes the stature, 1.7048 m, and everything else with it.

Axes are the paper's: z up, +x to the robot's *back*, +y to its right; angles turn about +y. In the
URDF made from this, x points forward as REP-103 asks, and the hinges' axes are -y, so that joint
angles and torques are the same numbers.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.workspace.planar.robot import PlanarRobot
from legged_dynamics.workspace.planar.state import PlanarState, PlanarTarget

JOINTS = ('L_HIP', 'L_KNEE', 'L_ANKLE', 'R_HIP', 'R_KNEE', 'R_ANKLE')

# The crouch: where it starts and what is asked for.
START_POSE = np.array([0.0, 1.05, math.radians(-10.0)])
START_LEG = np.radians([40.0, -70.4595, 40.4595])
CROUCH = PlanarTarget(np.array([0.10, 0.95, 0.0]))
BODY_MASS, TOTAL_MASS = 45.0, 72.5                  # kg, the paper's

# Lengths as parts of the stature.
TRUNK, HIP_TO_CENTER = 0.288, 0.626                 # head, arms and trunk; of the trunk
THIGH, SHANK, ANKLE, FOOT = 0.245, 0.246, 0.039, 0.152
HIP_WIDTH, FOOT_WIDTH = 0.191, 0.055
HEEL = 0.06                                         # m behind the ankle
FOOT_CENTER = 0.07 / 1.705                          # ahead of the ankle
# Centre of mass from the upper joint, and radii of gyration about it, as parts of the segment.
LEG_CENTER = 0.433
GYRATION = {'body': 0.496, 'thigh': 0.323, 'shank': 0.302, 'foot': 0.475}
LEG_MASSES = {'thigh': 0.100, 'shank': 0.0465, 'foot': 0.0145}      # as parts of the total


def stature() -> float:
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

    height: float = stature()
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
        """Return the seven links in the paper's order: body, left leg, right leg."""
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
