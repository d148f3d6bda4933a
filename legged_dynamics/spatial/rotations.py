# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rotations in the forms users meet: matrix, ROS quaternion, roll-pitch-yaw, axis-angle."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from transforms3d.euler import euler2mat

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def _scipy() -> type[Rotation]:
    """Return scipy's rotations, imported on first use: the import takes a quarter of a second."""
    from scipy.spatial.transform import Rotation
    return Rotation


def check_rotation(R: object, what: str = 'a rotation matrix',
                   error: type[LeggedDynamicsError] = ConfigurationError) -> np.ndarray:
    """Return R as floats, or raise ``error`` unless it is a rotation to 1e-6."""
    try:
        array = np.asarray(R, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3, 3):
        raise error(f'expected {what} of shape (3, 3), got one of {np.shape(R)}')
    a, b, c = array.tolist()
    # In plain floats: a numpy expression takes five times as long.
    misfit = max(abs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1.0),
                 abs(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] - 1.0),
                 abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]),
                 abs(a[1] * b[2] - a[2] * b[1] - c[0]), abs(a[2] * b[0] - a[0] * b[2] - c[1]),
                 abs(a[0] * b[1] - a[1] * b[0] - c[2]))
    if not misfit < 1e-6:
        raise error(f'expected {what}, orthonormal and right-handed, got {array.tolist()}')
    return array


def check_normal(normal: object,
                 error: type[LeggedDynamicsError] = ConfigurationError) -> np.ndarray:
    """Return a normal (3,), or raise ``error`` unless of length 1 to 1e-6."""
    try:
        array = np.asarray(normal, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not abs(math.sqrt(array @ array) - 1.0) < 1e-6:
        raise error(f'expected a unit normal of three components, got {normal!r}')
    return array


def skew(v: np.ndarray) -> np.ndarray:
    """
    Return the matrix S(v) of the vector product: S(v) u = v x u.

    Parameters
    ----------
    v : (..., 3) array
        Vectors.

    Returns
    -------
    (..., 3, 3) array
        Skew-symmetric matrices.

    """
    x, y, z = np.moveaxis(np.asarray(v, float), -1, 0)
    zero = np.zeros_like(x)
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*np.shape(v), 3)


def rotation_from_rpy(rpy: np.ndarray) -> np.ndarray:
    """
    Return the rotation of URDF's roll, pitch and yaw.

    Parameters
    ----------
    rpy : (3,) array [rad]
        Roll, pitch and yaw about the fixed x, y and z axes, in this order.

    Returns
    -------
    (3, 3) array
        Rz(yaw) Ry(pitch) Rx(roll).

    """
    return euler2mat(*rpy, axes='sxyz')


def rotation_from_quaternion(xyzw: np.ndarray) -> np.ndarray:
    """
    Convert a quaternion in ROS order to a rotation matrix.

    Parameters
    ----------
    xyzw : (4,) array
        Quaternion, scalar last; normalised here.

    Returns
    -------
    (3, 3) array
        Rotation matrix.

    Raises
    ------
    ConfigurationError
        When the quaternion has zero length or is not finite: it names no rotation.

    """
    xyzw = np.asarray(xyzw, float)
    length = np.linalg.norm(xyzw)
    if xyzw.shape != (4,) or not np.isfinite(length) or length < 1e-9:
        raise ConfigurationError(f'expected a quaternion (x, y, z, w) of non-zero length, '
                                 f'got {xyzw.tolist()}')
    return _scipy().from_quat(xyzw).as_matrix()


def quaternion_from_rotation(R: np.ndarray) -> np.ndarray:
    """
    Return the quaternion of a rotation.

    Parameters
    ----------
    R : (3, 3) array
        Rotation matrix.

    Returns
    -------
    (4,) array
        (x, y, z, w) of unit length, w >= 0.

    Raises
    ------
    ConfigurationError
        When R is not a rotation.

    """
    # As Python on plain floats: scipy takes ten times as long.
    from legged_dynamics.spatial.exponential import _quaternion_of_rotation
    xyzw = np.array(_quaternion_of_rotation(check_rotation(R).ravel().tolist()))
    return xyzw if xyzw[3] >= 0.0 else -xyzw


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """
    Return log(R), the rotation vector of a rotation.

    Parameters
    ----------
    R : (3, 3) array
        Rotation matrix.

    Returns
    -------
    (3,) array [rad]
        Axis times angle, of length up to pi.

    Raises
    ------
    ConfigurationError
        When R is not a rotation.

    """
    return _scipy().from_matrix(check_rotation(R)).as_rotvec()


def rotation_from_vector(rotvec: np.ndarray) -> np.ndarray:
    """
    Return exp(rotvec), the rotation about an axis by the vector's length.

    Parameters
    ----------
    rotvec : (3,) array [rad]
        Axis times angle.

    Returns
    -------
    (3, 3) array
        Rotation matrix.

    """
    return _scipy().from_rotvec(rotvec).as_matrix()


def rotation_about_z(angle: float) -> np.ndarray:
    """Return the rotation about z (3, 3) by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_to_z(axis: np.ndarray) -> np.ndarray:
    """
    Return a rotation whose z axis is the given unit vector: the shortest turn.

    It is exactly the identity for z itself, and the half turn about x for -z, where the shortest
    rotation is not unique.

    Parameters
    ----------
    axis : (3,) array
        Unit vector.

    Returns
    -------
    (3, 3) array
        Rotation with ``axis`` as its third column.

    """
    x, y, z = axis
    if z < -1.0 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    return np.array([[1.0 - x * x / (1.0 + z), -x * y / (1.0 + z), x],
                     [-x * y / (1.0 + z), 1.0 - y * y / (1.0 + z), y],
                     [-x, -y, z]])
