# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the planar recursion starts from: the state of body and joints, and what is wanted."""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.exceptions import MeasurementError


def finite_vector(values: object, what: str, length: int | None = None) -> np.ndarray:
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
