# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Where one frame stands in another, and what that does to twists and wrenches.

Force mappings (Corke 2011, section 8.3): ``g = [f; m]`` and ``v = [v; w]`` are linear
first, taken at their frame's origin and in its axes; ``p_AB`` is the origin of B in A, in A's
axes. Then ``g_A = S(p_AB) R_AB g_B`` and ``v_B = J_v v_A`` with ``J_v = (S R)^T``, so that power
``g^T v`` is the same in both frames.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.rotations import skew

GRAVITY = 9.81      # m/s^2


def _array(values: object, shape: tuple[int, ...], what: str) -> np.ndarray:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f'expected {what} as a finite array of shape {shape}: '
                                 f'{error}') from error
    if array.shape != shape or not np.isfinite(array).all():
        raise ConfigurationError(f'expected {what} as a finite array of shape {shape}, '
                                 f'got shape {array.shape}: {array.tolist()}')
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class Transform:
    """
    Pose of frame B in frame A.

    Attributes
    ----------
    R : (3, 3) array
        ``R_AB``: rotates components in B into components in A.
    p : (3,) array [m]
        ``p_AB``: origin of B, in A.

    Raises
    ------
    ConfigurationError
        When a shape is wrong, a value is not finite, or R is not a rotation (to 1e-6).

    """

    R: np.ndarray
    p: np.ndarray

    def __post_init__(self) -> None:
        R = _array(self.R, (3, 3), 'a rotation matrix')
        if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
            raise ConfigurationError('expected an orthonormal, right-handed rotation matrix, '
                                     f'got {R.tolist()}')
        object.__setattr__(self, 'R', R)
        object.__setattr__(self, 'p', _array(self.p, (3,), 'a position'))

    @classmethod
    def identity(cls) -> Transform:
        """Return the pose of a frame in itself."""
        return cls(np.eye(3), np.zeros(3))

    def __matmul__(self, other: Transform) -> Transform:
        """Return the pose of C in A from B in A (self) and C in B (other)."""
        return Transform(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> Transform:
        """Return the pose of A in B."""
        return Transform(self.R.T, -self.R.T @ self.p)

    def point(self, p_B: np.ndarray) -> np.ndarray:
        """
        Return the coordinates in A of a point given in B.

        Parameters
        ----------
        p_B : (3,) array
            Point in frame B [m].

        Returns
        -------
        (3,) array [m]
            The same point in frame A.

        """
        return self.R @ p_B + self.p

    @property
    def wrench_matrix(self) -> np.ndarray:
        """Return the (6, 6) matrix ``S R``, with ``g_A = S R g_B`` and ``v_B = (S R)^T v_A``."""
        X = np.zeros((6, 6))
        X[:3, :3] = X[3:, 3:] = self.R
        X[3:, :3] = skew(self.p) @ self.R
        return X


def wrench_in_frame(g_B: np.ndarray, T_AB: Transform) -> np.ndarray:
    """
    Return at A's origin, in A's axes, the wrench known in frame B.

    The same wrench on the same body, seen elsewhere: ``f_A = R f_B``,
    ``m_A = R m_B + p x R f_B``.

    Parameters
    ----------
    g_B : (6,) array [N, N m]
        Wrench ``[f; m]`` in B's axes about B's origin.
    T_AB : Transform
        Pose of B in A.

    Returns
    -------
    (6,) array [N, N m]

    Raises
    ------
    ConfigurationError
        When it is not six finite numbers.

    """
    g_B = _array(g_B, (6,), 'a wrench [f; m]')
    f_A = T_AB.R @ g_B[:3]
    return np.concatenate([f_A, T_AB.R @ g_B[3:] + np.cross(T_AB.p, f_A)])


def twist_in_frame(v_A: np.ndarray, T_AB: Transform) -> np.ndarray:
    """
    Return at B's origin, in B's axes, the twist of a body known in frame A.

    A and B are fixed to the body: ``v_B = R^T (v_A + w_A x p)``, ``w_B = R^T w_A``.

    Parameters
    ----------
    v_A : (6,) array [m/s, rad/s]
        Twist ``[v; w]`` in A's axes at A's origin.
    T_AB : Transform
        Pose of B in A.

    Returns
    -------
    (6,) array [m/s, rad/s]

    Raises
    ------
    ConfigurationError
        When it is not six finite numbers.

    """
    v_A = _array(v_A, (6,), 'a twist [v; w]')
    w_A = v_A[3:]
    return np.concatenate([T_AB.R.T @ (v_A[:3] + np.cross(w_A, T_AB.p)), T_AB.R.T @ w_A])
