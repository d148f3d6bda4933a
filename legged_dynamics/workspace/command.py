# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""WorkspaceCommand: the result of one tick of workspace control."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntFlag
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.workspace import control_tick as codes


class WorkspaceFault(IntFlag):
    """Why the base does not follow its target, or not fully."""

    NONE = 0
    FOOT_LOST = 1       # fewer feet are in contact than the robot has
    NO_STANCE = 2       # too few to hold the base: no efforts
    UNBALANCED = codes.UNBALANCED       # the ground cannot provide the required wrench
    EFFORT_LIMIT = codes.EFFORT_LIMIT   # an effort was cut to its limit
    ACCELERATION_LIMIT = codes.ACCELERATION_LIMIT   # the feedback reached its limit
    SINGULAR = codes.SINGULAR           # a leg is stretched: damped
    LOST = codes.LOST   # too far off target, or unbalanced for too long: no efforts


FAULT_TEXTS = {
    WorkspaceFault.FOOT_LOST: 'a foot does not stand; the others carry the body',
    WorkspaceFault.NO_STANCE: 'too few feet stand to hold the body',
    WorkspaceFault.UNBALANCED: 'the ground cannot give what the motion takes, within friction, '
                               'soles and efforts',
    WorkspaceFault.EFFORT_LIMIT: 'an effort was cut to its limit',
    WorkspaceFault.ACCELERATION_LIMIT: 'the errors ask for more acceleration than is allowed',
    WorkspaceFault.SINGULAR: 'a leg is stretched; it is damped',
}
# Without efforts: the robot should go limp.
LIMP = WorkspaceFault.NO_STANCE | WorkspaceFault.LOST


class WorkspaceCommand(NamedTuple):
    """
    Joint efforts, and the forces and errors behind them. Arrays are read-only.

    Attributes
    ----------
    stamp_ns : int [ns]
        Stamp of the measurement that it answers.
    faults : WorkspaceFault
        What limits the motion.
    contact : (nf,) array of bool
        Feet that count as in contact.
    n_joints : int
        Number of joints.
    data : array
        All results in one row; the properties below are views of it.
    asked : mapping of int to (3,) array [N]
        Requested forces in world axes, by the foot's number.
    clipped : mapping of int to str
        Why a foot does not get its requested force, by the foot's number.

    """

    stamp_ns: int
    faults: WorkspaceFault
    contact: np.ndarray
    n_joints: int
    data: np.ndarray
    asked: Mapping[int, np.ndarray] = MappingProxyType({})
    clipped: Mapping[int, str] = MappingProxyType({})

    @property
    def usable(self) -> bool:
        """Whether there are efforts that hold the base; else the robot should go limp."""
        return not self.faults & LIMP

    @property
    def effort(self) -> np.ndarray:
        """Joint efforts (nj,) [N m or N], model's order, within limits; zero if not `usable`."""
        return self.data[codes.OUTPUT.effort:codes.OUTPUT.effort + self.n_joints]

    @property
    def foot_wrench(self) -> np.ndarray:
        """
        Desired wrench ``[f; m]`` of the ground on each foot, (nf, 6) [N, N m].

        In the foot's axes about its link's origin; zero for a foot that is not in contact.
        """
        start = codes.OUTPUT.effort + self.n_joints
        return self.data[start:start + 6 * len(self.contact)].reshape(-1, 6)

    @property
    def stretch(self) -> np.ndarray:
        """Least singular value (nf,) [leg lengths]: 0 at a straight knee, NaN in the air."""
        return self.data[codes.OUTPUT.effort + self.n_joints + 6 * len(self.contact):]

    @property
    def error(self) -> np.ndarray:
        """``e`` (3.21): pose less target in base axes, (6,) [m, rad]."""
        return self.data[:6]

    @property
    def rate(self) -> np.ndarray:
        """``V_err`` (3.22) in base axes, (6,) [m/s, rad/s]."""
        return self.data[6:12]

    @property
    def acceleration(self) -> np.ndarray:
        """Desired ``Vdot``, (6,) [m/s^2, rad/s^2]."""
        return self.data[12:18]

    @property
    def body_force(self) -> np.ndarray:
        """``F``: desired wrench on the base in its axes (3.23), (6,) [N, N m]."""
        return self.data[codes.OUTPUT.force:codes.OUTPUT.net]

    @property
    def net_wrench(self) -> np.ndarray:
        """``W``: wrench of all feet together on the base, in its axes, (6,) [N, N m]."""
        return self.data[codes.OUTPUT.net:codes.OUTPUT.missing]

    @property
    def unbalanced(self) -> np.ndarray:
        """Part of `net_wrench` that the feet's wrenches miss, (6,) [N, N m]."""
        return self.data[codes.OUTPUT.missing:codes.OUTPUT.inertia]

    @property
    def inertia(self) -> np.ndarray:
        """``Lambda``: inertia of the base with the feet fixed, (6, 6)."""
        return self.data[codes.OUTPUT.inertia:codes.OUTPUT.bias].reshape(6, 6)

    @property
    def bias(self) -> np.ndarray:
        """``mu``, (6,) [N, N m]."""
        return self.data[codes.OUTPUT.bias:codes.OUTPUT.effort]


# -------------------------------------------------------------------------------------------------
# Target of the base.


_PARTS = (('rotation', (3, 3)), ('position', (3,)), ('twist', (6,)), ('acceleration', (6,)))


@dataclass(frozen=True, eq=False, slots=True)
class BodyTarget:
    """
    Desired motion of the base: ``g_d``, ``V_d``, ``Vdot_d`` of (3.21)-(3.23).

    Attributes
    ----------
    packed : (24,) array
        Rotation by rows, position, twist, acceleration; not checked. Use :meth:`of`, which checks.

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
            ``p_WB``, position of the base's origin in the world.
        rotation : (3, 3) array
            ``R_WB``.
        twist : (6,) array [m/s, rad/s], optional
            ``[v; w]`` in the axes of the *desired* base; zero by default.
        acceleration : (6,) array [m/s^2, rad/s^2], optional
            Component-wise derivative of that twist; zero by default.

        Returns
        -------
        BodyTarget

        Raises
        ------
        ConfigurationError
            When a shape is wrong, a value is not finite, or the rotation is not a rotation matrix
            (to 1e-6).

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
