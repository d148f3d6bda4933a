# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Joint efforts that hold a wrench at rest (source 001, force mappings).

A robot that stands still and exerts the wrench ``g = [f; m]`` **on the environment** at its end
effector E does so with the joint efforts ``Q = G + J^T g``: by virtual work ``g^T J dq`` is what
the wrench does on the environment and G is what gravity alone takes. The same contact seen from
the other side, the wrench **on the robot**, is ``-g`` and ``Q = G - J^T g``. The two are one sign
apart, so here the sign is in the functions' names.

Wrench and Jacobian must belong to one point and have the same axes. At the same point, in base
axes or in the end effector's, the efforts are the same; between points, J goes with
:func:`J_v` and g with its transpose. A moving arm takes inverse dynamics.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.frames import Transform


def J_v(T_AB: Transform) -> np.ndarray:
    """
    Return the (6, 6) velocity Jacobian between two frames of one rigid body.

    ``v_B = J_v v_A`` for twists and ``g_A = J_v^T g_B`` for wrenches; B has the pose ``T_AB``
    in A. (In the source's symbols ``J_v = (S R)^T``: the ``S R`` it prints is the wrench's map.)
    """
    return T_AB.twist_matrix


def jacobian_at_frame(J_A: np.ndarray, T_AB: Transform) -> np.ndarray:
    """
    Return the Jacobian of frame B, given that of a frame A on the same body.

    Parameters
    ----------
    J_A : (6, n) array
        Twist ``[v; w]`` of the body at A's origin, in A's axes, per joint velocity.
    T_AB : Transform
        Pose of B in A.

    Returns
    -------
    (6, n) array
        At B's origin, in B's axes.

    """
    return J_v(T_AB) @ _jacobian(J_A, (6,))


def jacobian_in_axes(J: np.ndarray, R: np.ndarray) -> np.ndarray:
    """
    Return a Jacobian in other axes, at the same point.

    Parameters
    ----------
    J : (6, n) or (3, n) array
        Rows ``[v; w]``, or ``v`` alone, or in the plane ``[vx, vy, wz]``.
    R : (3, 3) array
        Rotation from the Jacobian's axes into the wanted ones: ``R_E0`` turns a Jacobian in base
        axes into one in the end effector's. In the plane, about z.

    """
    J = _jacobian(J, (3, 6))
    R = np.asarray(R, float)
    return np.concatenate([R @ J[k:k + 3] for k in range(0, len(J), 3)])


def efforts_for_wrench_on_environment(J: np.ndarray, wrench: np.ndarray,
                                      gravity_efforts: np.ndarray | float = 0.0, *,
                                      R: np.ndarray | None = None) -> np.ndarray:
    """
    Return the efforts with which a robot at rest exerts a wrench: ``Q = G + J^T g``.

    Parameters
    ----------
    J : (6, n) or (3, n) array
        Jacobian of the end effector: rows ``[v; w]``, or ``v``, or in the plane ``[vx, vy, wz]``.
    wrench : (6,) or (3,) array [N, N m]
        ``g``, exerted **by the robot on the environment**, at the Jacobian's point: ``[f; m]``,
        or ``f``, or in the plane ``[fx, fy, mz]``.
    gravity_efforts : (n,) array, optional [N m or N]
        ``G``: efforts that hold the robot alone, as inverse dynamics at rest give them.
    R : (3, 3) array, optional
        Rotation from the wrench's axes into the Jacobian's, when they differ: ``R_0E`` for a
        Jacobian in base axes and a wrench in the end effector's.

    Returns
    -------
    (n,) array [N m or N]

    Raises
    ------
    ConfigurationError
        When shapes do not fit each other.

    """
    J = _jacobian(J, (3, 6))
    g = np.asarray(wrench, float)
    if g.shape != (len(J),):
        raise ConfigurationError(f'expected a wrench of {len(J)} components, as many as the '
                                 f'Jacobian has rows; got shape {g.shape}')
    if R is not None:
        g = (g.reshape(-1, 3) @ np.asarray(R, float).T).ravel()
    held = np.asarray(gravity_efforts, float)
    if held.shape not in ((), (J.shape[1],)):
        raise ConfigurationError(f'expected {J.shape[1]} gravity efforts, one a joint; got shape '
                                 f'{held.shape}')
    return held + J.T @ g


def efforts_for_wrench_on_robot(J: np.ndarray, wrench: np.ndarray,
                                gravity_efforts: np.ndarray | float = 0.0, *,
                                R: np.ndarray | None = None) -> np.ndarray:
    """
    Return the efforts with which a robot at rest bears a wrench: ``Q = G - J^T g``.

    As :func:`efforts_for_wrench_on_environment`, but ``g`` is exerted **by the environment on
    the robot**, as ground reactions are everywhere in this package.
    """
    return efforts_for_wrench_on_environment(J, -np.asarray(wrench, float), gravity_efforts, R=R)


def _jacobian(J: np.ndarray, rows: tuple[int, ...]) -> np.ndarray:
    J = np.asarray(J, float)
    if J.ndim != 2 or len(J) not in rows:
        raise ConfigurationError(f'expected a Jacobian of {" or ".join(map(str, rows))} rows, '
                                 f'got shape {J.shape}')
    return J
