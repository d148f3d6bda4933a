# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""PlanarRobot: a body on legs of three hinges each, in the x-z plane, with its feet as leaves."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import MeasurementError, ModelError
from legged_dynamics.spatial.jit import part
from legged_dynamics.spatial.layout import offsets

JOINTS_PER_LEG = 3


class LinkConstants(NamedTuple):
    """Columns of ``PlanarRobot.constants``, a row a link; link axes from the centre of mass."""

    mass: int = 1           # kg
    inertia: int = 1        # kg m^2, about the centre of mass and +y
    in_x: int = 1           # m, the link's joint in the frame of the inboard link
    in_z: int = 1
    out_x: int = 1          # m, and in its own
    out_z: int = 1
    width: int = 0


LINK = offsets(LinkConstants())


class PlanarRobot:
    """
    Links in the paper's order, inboard before outboard; link frames stand at centres of mass.

    Joint i is the one inboard of link i; the body, link 0 here and 1 in the paper, has none. So
    arrays over joints begin with the joint of link 1.

    Parameters
    ----------
    parent : (n,) sequence of int
        Inboard link of each link; -1 for the body.
    mass, inertia : (n,) sequence of float
        Mass [kg], inertia about the centre of mass and +y [kg m^2].
    joint_in_inboard, joint_in_outboard : (n, 2) array
        Where a link's joint stands in the frames of the inboard link and of the link itself, at
        (x, z) [m]; the body's row means nothing.

    Attributes
    ----------
    parent : (n,) int array
    constants : (n, 6) array
        Constants at the columns `LINK`.
    feet : tuple of int
        Links without a link outboard of them.

    Raises
    ------
    ModelError
        When the links do not form legs of three joints on one body, or a mass is not positive.

    """

    def __init__(self, parent: Sequence[int], mass: Sequence[float], inertia: Sequence[float],
                 joint_in_inboard: np.ndarray, joint_in_outboard: np.ndarray):
        n = len(parent)
        self.parent = np.array(parent, dtype=np.int64)
        self.constants = np.zeros((n, LINK.width))
        self.constants[:, LINK.mass] = mass
        self.constants[:, LINK.inertia] = inertia
        self.constants[:, LINK.in_x:LINK.in_z + 1] = joint_in_inboard
        self.constants[:, LINK.out_x:LINK.out_z + 1] = joint_in_outboard
        if not (self.constants[:, :LINK.in_x] > 0.0).all():
            raise ModelError('expected every link to have a mass and an inertia above zero, got '
                             f'{self.constants[:, :LINK.in_x].tolist()}')
        if n < 1 or self.parent[0] != -1 or not all(
                0 <= self.parent[i] < i for i in range(1, n)):
            raise ModelError('expected the body first, with -1 for its parent, and every other '
                             f'link after its inboard one, got parents {list(parent)}')
        self.feet = tuple(i for i in range(1, n) if i not in self.parent)
        self._check_legs()
        self.parent.setflags(write=False)
        self.constants.setflags(write=False)

    def _check_legs(self) -> None:
        legs = [self.leg(foot) for foot in self.feet]
        links = [link for leg in legs for link in leg]
        if not legs or len(set(links)) < len(links) or any(
                len(leg) != JOINTS_PER_LEG for leg in legs):
            raise ModelError(f'expected legs of {JOINTS_PER_LEG} joints each that share no link, '
                             f'got legs {legs}')

    def leg(self, foot: int) -> list[int]:
        """
        Return the links of a leg, from the body's first to the foot.

        ``foot``: number of the foot's link.
        """
        links = []
        while foot > 0:
            links.append(int(foot))
            foot = self.parent[foot]
        return links[::-1]

    @property
    def n_links(self) -> int:
        """Return the number of links, body included."""
        return len(self.parent)

    @property
    def n_joints(self) -> int:
        """Return the number of joints."""
        return len(self.parent) - 1

    @property
    def mass(self) -> np.ndarray:
        """Mass of each link, (n,) [kg]."""
        return self.constants[:, LINK.mass]

    @property
    def inertia(self) -> np.ndarray:
        """Inertia of each link about its centre of mass and +y, (n,) [kg m^2]."""
        return self.constants[:, LINK.inertia]


# -------------------------------------------------------------------------------------------------
# State of body and joints, and the target of the body.


def finite_vector(values: object, what: str, length: int | None = None) -> np.ndarray:
    """Return values as a read-only finite vector, or raise MeasurementError."""
    array = np.array(values, dtype=float)
    if array.ndim != 1 or (length is not None and len(array) != length) or not np.isfinite(
            array).all():
        size = 'a finite vector' if length is None else f'{length} finite values'
        raise MeasurementError(f'{what}: expected {size}, got {array.tolist()}')
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class PlanarState:
    """
    Pose and twist of the body, angles and rates of the joints.

    Attributes
    ----------
    pose : (3,) array
        x, z of the body's centre of mass in the inertial frame [m], angle about +y [rad].
    twist : (3,) array
        Body velocity V_1: (v_x, v_z) in the body's axes [m/s], angular rate [rad/s].
    position, velocity : (n_joints,) array
        Joint angles [rad] and rates [rad/s], in the robot's order.

    Raises
    ------
    MeasurementError
        When a value is not finite, or lengths do not fit.

    """

    pose: np.ndarray
    twist: np.ndarray
    position: np.ndarray
    velocity: np.ndarray

    def __post_init__(self) -> None:
        for name, length in (('pose', 3), ('twist', 3), ('position', None),
                             ('velocity', len(self.position))):
            object.__setattr__(self, name, finite_vector(getattr(self, name), name, length))


@dataclass(frozen=True, eq=False)
class PlanarTarget:
    """
    Wanted pose, twist and acceleration of the body: x_1^d, V_1^bd and Vdot_1^bd of (3.21)-(3.23).

    Attributes
    ----------
    pose : (3,) array
        x, z [m], angle [rad].
    twist, acceleration : (3,) array
        Body velocity, and its component derivative, in the body's axes [m/s, rad/s and per s].

    Raises
    ------
    MeasurementError
        When a value is not finite, or lengths do not fit.

    """

    pose: np.ndarray
    twist: np.ndarray = field(default_factory=lambda: np.zeros(3))
    acceleration: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        for name in ('pose', 'twist', 'acceleration'):
            object.__setattr__(self, name, finite_vector(getattr(self, name), name, 3))


# -------------------------------------------------------------------------------------------------
# Planar rotations, twists and wrenches for kernels, (3.3)-(3.4), (3.10).
#
# z is up and angles turn about +y, right-handed, so ``R(t) = [[cos t, sin t], [-sin t, cos t]]``
# and the plane's cross product is ``y x (x, z) = (z, -x)``. A twist is ``(v_x, v_z, w)``, a wrench
# ``(f_x, f_z, m)``; 3x3 matrices are row-major 9-tuples, as in `spatial.algebra`.


@part
def adjoint_of_joint(angle, in_x, in_z, out_x, out_z):
    """
    Return ``Ad_g`` (3.10), by rows: inboard twists to outboard axes.

    ``g``: -angle, ``p = r_out - R(-angle) r_in``; joint positions in each link's frame.
    """
    c, s = math.cos(angle), math.sin(angle)
    p_x = out_x - (c * in_x - s * in_z)
    p_z = out_z - (s * in_x + c * in_z)
    return c, -s, -p_z, s, c, p_x, 0.0, 0.0, 1.0


@part
def hinge(out_x, out_z):
    """Return ``H``: the outboard link's twist, in its frame, at a joint rate of 1 rad/s."""
    return -out_z, out_x, 1.0


@part
def bracket(V, U):
    """Return ``ad_V U`` with ``ad_V = [[0, w, -v_z], [-w, 0, v_x], [0, 0, 0]]``."""
    return V[2] * U[1] - V[1] * U[2], V[0] * U[2] - V[2] * U[0], 0.0


@part
def inboard(A, U):
    """Return ``A^-1 U``: an outboard twist in inboard axes."""
    x, z = U[0] - A[2] * U[2], U[1] - A[5] * U[2]
    return A[0] * x + A[3] * z, A[1] * x + A[4] * z, U[2]


@part
def outboard_wrench(A, F):
    """Return ``(A^-1)^T F``: an inboard wrench in outboard axes."""
    x, z = A[0] * F[0] + A[1] * F[1], A[3] * F[0] + A[4] * F[1]
    return x, z, F[2] - A[2] * x - A[5] * z


@part
def gravity_and_spin(mass, angle, V, gravity):
    """Return b of ``M Vdot + b = F``, link axes: (3.9) with its total rate, ``V[2]``."""
    c, s = math.cos(angle), math.sin(angle)
    return (mass * (V[2] * V[1] - gravity * s), mass * (gravity * c - V[2] * V[0]), 0.0)
