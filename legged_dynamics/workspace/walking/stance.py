# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a walk starts from: the stance that the robot has, and the pendulum that its body is."""
from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.composite_body import CompositeBody, mass_matrix
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import body_poses, center_of_mass, link_pose
from legged_dynamics.spatial.algebra import add, cross, load3, load9, rotate
from legged_dynamics.spatial.jit import lean_kernel


def turned(angle: float) -> np.ndarray:
    """Return the rotation about the vertical by an angle."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def heading_of(R: np.ndarray) -> float:
    """Return the heading of an orientation [rad]."""
    return math.atan2(R[1, 0], R[0, 0])


class Pendulum(NamedTuple):
    """The body as an inverted pendulum, in world axes."""

    place: np.ndarray  # (3,) [m]: centre of mass; points know x and y alone
    speed: np.ndarray  # (3,) [m/s]
    arm: np.ndarray  # (2,) [m]: from the base's origin to the centre of mass
    omega: float  # 1/s

    @property
    def divergent(self) -> np.ndarray:
        """Divergent component of its motion, (2,) [m]."""
        return self.place[:2] + self.speed[:2] / self.omega


@dataclass(frozen=True, eq=False)
class Stance:
    """A robot's standing posture; axes of a level base with the present heading."""

    feet: np.ndarray  # (nf, 3) [m]: places in base axes
    places: np.ndarray  # (nf, 2) [m]: from their middle
    radius: np.ndarray  # (nf,) [m]: of balls
    headings: np.ndarray  # (nf,) [rad]: of the feet's own axes
    com: np.ndarray  # (3,) [m]: centre of mass, base axes
    height: float  # m, of the base's origin over the ground
    omega: float  # 1/s, of the pendulum
    mass_matrix: np.ndarray  # (6 + nv, 6 + nv)

    @classmethod
    def of(cls, model: RobotModel, config: RobotConfig, position: np.ndarray,
           rotation: np.ndarray) -> Stance:
        """Return the stance of joint positions under a base."""
        bodies = body_poses(model, position)
        com = center_of_mass(model, bodies)
        level = turned(heading_of(rotation)).T @ rotation
        poses = [link_pose(model, bodies, foot.link) for foot in config.feet]
        radius = np.array([foot.radius for foot in config.feet])
        # Of balls the centre, of soles the middle.
        feet = np.outer(radius, level[2]) + [
            pose.p + foot.touching(pose.R, level[2], foot.center)
            for pose, foot in zip(poses, config.feet)]
        under = feet @ level.T
        height = float(-(under[:, 2] - radius).mean())
        return cls(feet, under[:, :2] - under[:, :2].mean(axis=0), radius,
                   np.array([heading_of(level @ pose.R) for pose in poses]), com, height,
                   math.sqrt(GRAVITY / (height + float((level @ com)[2]))),
                   mass_matrix(model, position))

    @cached_property
    def width(self) -> float:
        """The larger of length and width [m]."""
        return float(np.ptp(self.places, axis=0).max()) or 0.2

    def pendulum(self, state: BodyState) -> Pendulum:
        """Return the body as a pendulum that has the posture of the stance."""
        motion = np.empty(6)
        move_center(state.rotation, state.position, state.twist, self.com, motion)
        return Pendulum(motion[2:4], motion[4:], motion[:2], self.omega)


def moving_pendulum(composite: CompositeBody, stance: Stance, state: BodyState, q: np.ndarray,
                    v: np.ndarray, ground: float) -> Pendulum:
    """Return the body as a pendulum on a ground, with the momentum of all its links."""
    M, R = composite.mass_matrix(q), state.rotation
    mass = M[0, 0]
    center = state.position + R @ (np.array([M[1, 5], M[2, 3], M[0, 4]]) / mass)
    speed = R @ (M[:3, :6] @ state.twist + M[:3, 6:] @ v) / mass
    high = max(center[2] - ground, 0.3 * stance.height)
    return Pendulum(center, speed, (R @ stance.com)[:2], math.sqrt(GRAVITY / high))


@lean_kernel
def move_center(rotation, position, twist, com, out):
    """Fill ``out`` (6,): CoM from the base, its place and velocity, world x and y."""
    R, c = load9(rotation.reshape(9), 0), load3(com, 0)
    arm, v = rotate(R, c), rotate(R, add(load3(twist, 0), cross(load3(twist, 3), c)))
    for k in range(2):
        out[k], out[2 + k], out[4 + k] = arm[k], position[k] + arm[k], v[k]
