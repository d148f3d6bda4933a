# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stage 1, velocity propagation (3.5)-(3.9): from the body to the feet.

Gives each link's orientation, body velocity, Coriolis acceleration and load of gravity and spin.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add_scaled,
    load3,
    rotate,
    store3,
    store9,
)
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.layout import offsets
from legged_dynamics.workspace.planar.robot import LINK, PlanarRobot
from legged_dynamics.workspace.planar.se2 import (
    adjoint_of_joint,
    bracket,
    gravity_and_spin,
    hinge,
)
from legged_dynamics.workspace.planar.state import PlanarState


class MotionColumns(NamedTuple):
    """Columns of ``LinkMotion.links``, a row a link, link axes."""

    angle: int = 1          # rad, about +y in the inertial frame
    adjoint: int = 9        # A_ii^io (3.6), by rows
    hinge: int = 3          # H_io
    twist: int = 3          # V_io (3.7) [m/s, rad/s]
    drift: int = 3          # a_i (3.8) [m/s^2, rad/s^2]
    load: int = 3           # b_io (3.9) [N, N m]
    width: int = 0


MOTION = offsets(MotionColumns())


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """
    What the velocity propagation found, one row a link, in link axes.

    Attributes
    ----------
    links : (n, 22) array
        All of it, as the kernels of the later stages read it.

    """

    links: np.ndarray

    @property
    def angle(self) -> np.ndarray:
        """Orientation of each link about +y in the inertial frame, (n,) [rad]."""
        return self.links[:, MOTION.angle]

    @property
    def adjoint(self) -> np.ndarray:
        """``A_ii^io`` (3.6): twists of the inboard link into the link's axes, (n, 3, 3)."""
        return self.links[:, MOTION.adjoint:MOTION.hinge].reshape(-1, 3, 3)

    @property
    def hinge(self) -> np.ndarray:
        """``H_io``: twist of the link at one rad/s of its joint, (n, 3)."""
        return self.links[:, MOTION.hinge:MOTION.twist]

    @property
    def twist(self) -> np.ndarray:
        """``V_io`` (3.7): body velocity of each link, (n, 3) [m/s, rad/s]."""
        return self.links[:, MOTION.twist:MOTION.drift]

    @property
    def drift(self) -> np.ndarray:
        """``a_i`` (3.8): acceleration by motion alone, (n, 3) [m/s^2, rad/s^2]."""
        return self.links[:, MOTION.drift:MOTION.load]

    @property
    def load(self) -> np.ndarray:
        """``b_io`` (3.2), (3.9): gravity and spin, ``M Vdot + b = F``, (n, 3) [N, N m]."""
        return self.links[:, MOTION.load:]


@lean_kernel
def propagate_velocity(parent, constants, pose, twist, position, velocity, gravity, links):
    """
    Fill the rows of all links: (3.1), (3.2) for the body, (3.5)-(3.9) outboard of it.

    Parameters
    ----------
    parent, constants : (n,) int array, (n, LINK.width) array
        Of the PlanarRobot.
    pose, twist : (3,) array [m, m, rad], [m/s, m/s, rad/s]
        Of the body, inertial axes and its own.
    position, velocity : (n - 1,) array [rad, rad/s]
        Of the joints.
    gravity : float [m/s^2]
        Downwards.
    links : (n, MOTION.width) array
        Filled.

    """
    body, V = links[0], load3(twist, 0)
    body[MOTION.angle] = pose[2]
    store9(body, MOTION.adjoint, IDENTITY)
    store3(body, MOTION.hinge, ZERO)
    store3(body, MOTION.twist, V)
    store3(body, MOTION.drift, ZERO)                                         # (3.1)
    load = gravity_and_spin(constants[0, LINK.mass], pose[2], V, gravity)
    store3(body, MOTION.load, load)                                          # (3.2)
    for i in range(1, parent.shape[0]):
        part, link, inner = constants[i], links[i], links[parent[i]]
        link[MOTION.angle] = inner[MOTION.angle] + position[i - 1]           # (3.5), its rotation
        A = adjoint_of_joint(position[i - 1], part[LINK.in_x], part[LINK.in_z],
                             part[LINK.out_x], part[LINK.out_z])
        H = hinge(part[LINK.out_x], part[LINK.out_z])
        carried, rate = rotate(A, load3(inner, MOTION.twist)), velocity[i - 1]
        V = add_scaled(carried, rate, H)                                     # (3.7)
        a = bracket((-rate * H[0], -rate * H[1], -rate * H[2]), carried)     # (3.8)
        store9(link, MOTION.adjoint, A)                                      # (3.6)
        store3(link, MOTION.hinge, H)
        store3(link, MOTION.twist, V)
        store3(link, MOTION.drift, a)
        load = gravity_and_spin(part[LINK.mass], link[MOTION.angle], V, gravity)
        store3(link, MOTION.load, load)                                      # (3.9)


def velocity_propagation(robot: PlanarRobot, state: PlanarState,
                         gravity: float = GRAVITY) -> LinkMotion:
    """
    Run stage 1: orientation, velocity, Coriolis acceleration and load of every link.

    (3.8) is used in closed form, ``a_i = -ad_(H thd) A V_ii``. In (3.9) the multiplier is the
    link's total angular rate; the inboard link's, as printed, errs by some newtons at 1 rad/s.

    Parameters
    ----------
    robot : PlanarRobot
        The links.
    state : PlanarState
        Of body and joints.
    gravity : float
        [m/s^2], downwards.

    Raises
    ------
    MeasurementError
        When the state does not have the robot's number of joints.

    """
    if len(state.position) != robot.n_joints:
        raise MeasurementError(f'expected {robot.n_joints} joint angles, '
                               f'got {len(state.position)}')
    links = np.empty((robot.n_links, MOTION.width))
    propagate_velocity(robot.parent, robot.constants, state.pose, state.twist, state.position,
                       state.velocity, gravity, links)
    return LinkMotion(links)
