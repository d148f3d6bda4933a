# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the sensors of a robot read at one instant: the same records from bus, bag and simulation.

Messages are read into a JointSample, an ImuSample and, where feet have contact switches, a
SwitchSample (`conversions.reading`), and those are paired into a Measurement
(`estimation.measurement.MeasurementSynchronizer`).
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from legged_dynamics.model.joint_order import JointOrder


class JointSample(NamedTuple):
    """
    Joint states, in the model's joint order.

    Attributes
    ----------
    stamp_ns : int [ns]
    position, velocity : (nj,) array [rad or m, rad/s or m/s]
        Always finite.
    effort : (nj,) array or None [N m or N]
        None when there is none; NaN for a joint whose effort is not known.
    names : tuple of str
        Joints of the message that the sample was read from, in the driver's order; empty for a
        sample that comes from no message.

    """

    stamp_ns: int
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray | None = None
    names: tuple[str, ...] = ()


class ImuSample(NamedTuple):
    """A reading of the IMU, in its own axes."""

    stamp_ns: int  # [ns]
    angular_velocity: np.ndarray  # (3,) [rad/s]
    # (3,) [m/s^2]: proper acceleration: +g along up at rest (REP-145)
    linear_acceleration: np.ndarray
    # (4,): quaternion xyzw of unit length; None when the IMU has no orientation
    orientation: np.ndarray | None = None


class SwitchSample(NamedTuple):
    """A reading of the feet's contact switches."""

    stamp_ns: int  # [ns]
    closed: np.ndarray  # (nf,): states in the order of the feet: 1 closed, 0 open, NaN not known


@dataclass(frozen=True, eq=False, slots=True)
class Measurement:
    """
    Joint states, and the IMU's reading at the same instant.

    Attributes
    ----------
    stamp_ns : int [ns]
    position, velocity : (nj,) array [rad, rad/s or m, m/s]
        Positions and velocities in the model's joint order.
    effort : (nj,) array [N m or N] or None
        What the joints deliver; NaN for a joint whose effort is not known.
    angular_velocity : (3,) array [rad/s] or None
        Gyro, in the IMU's axes.
    linear_acceleration : (3,) array [m/s^2] or None
        Accelerometer, in the IMU's axes: proper acceleration, +9.81 along up at rest.
    orientation : (4,) array or None
        Quaternion (x, y, z, w) of the IMU in a gravity-aligned world.
    switches : (nf,) array or None
        Contact switches of the feet, in their order: 1 closed, 0 open, NaN not known.

    """

    stamp_ns: int
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray | None = None
    angular_velocity: np.ndarray | None = None
    linear_acceleration: np.ndarray | None = None
    orientation: np.ndarray | None = None
    switches: np.ndarray | None = None

    def ordered(self, order: JointOrder) -> Measurement:
        """Return the measurement with its joints in another order."""
        return replace(self, position=order(self.position), velocity=order(self.velocity),
                       effort=None if self.effort is None else order(self.effort))
