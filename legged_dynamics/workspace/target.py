# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""BodyTarget: where the base is wanted, and how it is to move there."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError

_PARTS = (('rotation', (3, 3)), ('position', (3,)), ('twist', (6,)), ('acceleration', (6,)))


@dataclass(frozen=True, eq=False, slots=True)
class BodyTarget:
    """
    Wanted pose, twist and acceleration of the base: ``g_d``, ``V_d``, ``Vdot_d`` of (3.21)-(3.23).

    Attributes
    ----------
    packed : (24,) array
        Rotation by rows, position, twist, acceleration; taken as it is. Use :meth:`of`, which
        checks.

    """

    packed: np.ndarray

    @classmethod
    def of(cls, position: np.ndarray, rotation: np.ndarray, twist: np.ndarray | None = None,
           acceleration: np.ndarray | None = None) -> BodyTarget:
        """
        Return a checked target.

        Parameters
        ----------
        position : (3,) array [m]
            ``p_WB``, of the base's origin in the world.
        rotation : (3, 3) array
            ``R_WB``.
        twist : (6,) array [m/s, rad/s], optional
            ``[v; w]`` in the axes of the *wanted* base; zero by default.
        acceleration : (6,) array [m/s^2, rad/s^2], optional
            Component-wise derivative of that twist; zero by default.

        Raises
        ------
        ConfigurationError
            When a shape is wrong, a value is not finite, or the rotation is none (to 1e-6).

        """
        zero = np.zeros(6)
        given = (rotation, position, zero if twist is None else twist,
                 zero if acceleration is None else acceleration)
        rows = []
        for (name, shape), values in zip(_PARTS, given):
            array = np.array(values, dtype=float)
            if array.shape != shape or not np.isfinite(array).all():
                raise ConfigurationError(f'{name}: expected a finite array of shape {shape}, got '
                                         f'{array.tolist()}')
            rows.append(array.ravel())
        R = rows[0].reshape(3, 3)
        if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0:
            raise ConfigurationError('rotation: expected an orthonormal, right-handed matrix, got '
                                     f'{R.tolist()}')
        packed = np.concatenate(rows)
        packed.setflags(write=False)
        return cls(packed)

    @property
    def rotation(self) -> np.ndarray:
        """``R_WB``, (3, 3)."""
        return self.packed[:9].reshape(3, 3)

    @property
    def position(self) -> np.ndarray:
        """``p_WB``, (3,) [m]."""
        return self.packed[9:12]

    @property
    def twist(self) -> np.ndarray:
        """``[v; w]`` in the wanted base's axes, (6,) [m/s, rad/s]."""
        return self.packed[12:18]

    @property
    def acceleration(self) -> np.ndarray:
        """Component-wise derivative of the twist, (6,) [m/s^2, rad/s^2]."""
        return self.packed[18:]
