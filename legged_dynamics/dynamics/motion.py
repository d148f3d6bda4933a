# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How a robot moves, without its velocity over ground: joints, and the base as an IMU sees it."""
from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.frames import GRAVITY
from legged_dynamics.spatial.rotations import check_rotation, rotation_from_quaternion

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class BaseMotion:
    """
    Motion of the base as a gyro and an accelerometer at its origin tell it, in base axes.

    Neither position nor velocity over ground enters a body's dynamics, and gravity enters only
    through the proper acceleration (acceleration less gravity: at rest it is 9.81 m/s^2, *up*).

    Attributes
    ----------
    angular_velocity : (3,) array [rad/s]
        Angular velocity in base axes.
    angular_acceleration : (3,) array [rad/s^2]
        Angular acceleration in base axes.
    proper_acceleration : (3,) array [m/s^2]
        Proper acceleration of the base's origin.

    """

    angular_velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    angular_acceleration: np.ndarray = field(default_factory=lambda: np.zeros(3))
    proper_acceleration: np.ndarray = field(default_factory=lambda: GRAVITY * UP)

    @classmethod
    def at_rest(cls, R_WB: np.ndarray | None = None,
                gravity: np.ndarray = -GRAVITY * UP) -> BaseMotion:
        """
        Return the motion of a base that stands still.

        Parameters
        ----------
        R_WB : (3, 3) array, optional
            Orientation, from base to world axes; level when it is not given.
        gravity : (3,) array [m/s^2]
            Acceleration of free fall, in world axes.

        Returns
        -------
        BaseMotion
            With the proper acceleration that an accelerometer at rest measures.

        Raises
        ------
        ConfigurationError
            When R_WB is not a rotation.

        """
        up = -np.asarray(gravity, float)
        return cls(proper_acceleration=up if R_WB is None else
                   check_rotation(R_WB, 'the base orientation R_WB').T @ up)

    @classmethod
    def from_twist(cls, twist: np.ndarray, acceleration: np.ndarray, xyzw: np.ndarray,
                   gravity: np.ndarray = -GRAVITY * UP) -> BaseMotion:
        """
        Convert from a free-flyer's velocity and acceleration, as Pinocchio gives them.

        Parameters
        ----------
        twist : (6,) array [m/s, rad/s]
            ``[v; w]`` of the base in base axes.
        acceleration : (6,) array [m/s^2, rad/s^2]
            *Spatial* acceleration, the component-wise derivative of the twist.
        xyzw : (4,) array
            Orientation of the base in the world.
        gravity : (3,) array [m/s^2]
            Gravity in the world.

        Returns
        -------
        BaseMotion
            The same motion, as gyro and accelerometer would measure it.

        """
        twist, acceleration = np.asarray(twist, float), np.asarray(acceleration, float)
        R_WB = rotation_from_quaternion(xyzw)
        classical = acceleration[:3] + np.cross(twist[3:], twist[:3])
        return cls(twist[3:].copy(), acceleration[3:].copy(),
                   classical - R_WB.T @ np.asarray(gravity, float))

    def packed(self) -> np.ndarray:
        """Return (9,) angular velocity, angular and proper acceleration, as kernels read them."""
        return np.concatenate([self.angular_velocity, self.angular_acceleration,
                               self.proper_acceleration])


@dataclass(frozen=True, eq=False)
class Motion:
    """
    One instant of a robot's motion.

    Attributes
    ----------
    position : (nq,) array [rad or m]
        Joint positions in the model's order (base not included).
    velocity, acceleration : (nv,) array [rad/s, rad/s^2 or m/s, m/s^2]
        Velocities and accelerations of the joints, in the model's order.
    base : BaseMotion
        Motion of the base.

    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    base: BaseMotion = field(default_factory=BaseMotion)

    def checked(self, model: RobotModel) -> Motion:
        """
        Return the motion as float arrays that fit a model.

        Parameters
        ----------
        model : RobotModel
            The robot.

        Returns
        -------
        Motion
            With contiguous arrays.

        Raises
        ------
        MeasurementError
            When a shape does not fit or a value is not finite.

        """
        return Motion(state_vector(self.position, model.nq, 'joint positions'),
                      state_vector(self.velocity, model.nv, 'joint velocities'),
                      state_vector(self.acceleration, model.nv, 'joint accelerations'), self.base)


def state_vector(values: object, size: int, what: str) -> np.ndarray:
    """Return values as a finite contiguous float array (size,), or raise MeasurementError."""
    array = np.ascontiguousarray(values, dtype=float)
    if array.shape != (size,):
        raise MeasurementError(f"expected {size} {what} in the model's joint order, "
                               f'got an array of shape {array.shape}')
    if not math.isfinite(array.sum()) and not np.isfinite(array).all():
        raise MeasurementError(f'expected finite {what}, got {array.tolist()}')
    return array


def input_views(*arrays: np.ndarray) -> tuple[memoryview, ...]:
    """Return flat views of a kernel's memory: ``view[:] = array`` takes 90 ns, `fill` converts."""
    return tuple(memoryview(array.reshape(-1)) for array in arrays)


def fill(view: memoryview, values: object, what: str) -> None:
    """Copy values, checked in number only, into a kernel's memory."""
    try:
        array = np.ascontiguousarray(values, dtype=float)
    except (TypeError, ValueError):
        raise MeasurementError(f'expected {len(view)} {what}, got {values!r:.200}') from None
    if array.size != len(view) or np.ndim(values) == 0:
        raise MeasurementError(f'expected {len(view)} {what}, got an array of shape '
                               f'{np.shape(values)}')
    view[:] = array.reshape(-1)
