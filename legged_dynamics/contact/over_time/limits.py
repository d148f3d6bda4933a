# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Cost and limits of a solution over time: what is preferred, and what the ground can exert.

A limit is a constraint on contact coordinates in world axes: ``G x - d`` must lie in a cone. Each
linear row must be at least zero, and the three round rows of a foot ``(mu f_n, f_x, f_y)`` in the
second-order cone. The rows are in world axes; of a foot with a plane in its own, where the sole
does not move.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from legged_dynamics.contact.program import one_cone_a_foot
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.force_map.friction_cone import FrictionCone, contact_inequalities
from legged_dynamics.model.feet import Foot, as_wrenches
from legged_dynamics.spatial.rotations import rotation_to_z, skew

SHAPES = ('pyramid', 'round')


@dataclass(frozen=True, eq=False)
class ContactLimits:
    """
    No pull, no slip, no pressure outside the sole.

    Attributes
    ----------
    friction : FrictionCone, or a sequence of one a foot
        Friction and least and greatest load. Normals are those of the ground, for point feet, and
        of the soles; a cone's own is not read.
    shape : {'pyramid', 'round'}
        A cone is a pyramid inside the round one, with the cone's facets; a flat foot carries what
        pyramids of four facets under the corners of its sole can. Or the force of every foot lies
        in the second-order cone, and moments as with the pyramid.
    residual_weight : float
        How many times more a newton of root residual costs than one of contact force. Residuals
        are large only where limits are active: elsewhere they decrease with this weight.

    """

    friction: FrictionCone | Sequence[FrictionCone] = field(
        default_factory=lambda: FrictionCone(0.6))
    shape: str = 'pyramid'
    residual_weight: float = 1e4

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise ConfigurationError(f'expected a shape of {", ".join(SHAPES)}; got '
                                     f'{self.shape!r}')
        if not 1e2 <= self.residual_weight <= 1e10:
            raise ConfigurationError('expected a residual weight from 1e2 to 1e10, got '
                                     f'{self.residual_weight}')

    def rows(self, feet: Sequence[Foot], references: np.ndarray, normal: np.ndarray) -> ConeRows:
        """
        Return the constraints of every foot.

        Parameters
        ----------
        feet : sequence of Foot
            Feet in the solver's order.
        references : (nf, 3) array [m]
            Where a flat foot's moment is taken, in its frame.
        normal : (3,) array
            Unit normal of the ground, in world axes.

        Returns
        -------
        ConeRows

        Raises
        ------
        ConfigurationError
            When there are several cones, and not one for each foot, or the moment of a line is
            not about its middle.

        """
        linear, bounds, rounded = [], [], []
        for foot, cone, reference in zip(feet, one_cone_a_foot(self.friction, len(feet)),
                                         references):
            if not foot.plane:
                cone = replace(cone, normal=normal)
            A, b = contact_inequalities(cone, foot, np.eye(3))
            off = reference - foot.center
            if foot.plane:      # and so in one frame with its moments
                A[:, :3] += as_wrenches(foot, A)[:, 3:] @ skew(off)
            elif foot.moments and off.any():
                raise ConfigurationError(
                    f'foot {foot.link!r}: limits over time expect its moment about the middle of '
                    f"what touches, reference='sole'; got {off.tolist()} m from there")
            if self.shape == 'round':
                sides = len(foot.slip_rows(cone.coefficient, cone.facets))
                A, b = A[sides:], b[sides:]
            linear.append(np.pad(A, ((0, 0), (0, 6 - A.shape[1]))))
            bounds.append(b)
            x, y, up = rotation_to_z(cone.normal).T
            rounded.append(np.pad([cone.coefficient * up, x, y], ((0, 0), (0, 3))))
        most = max(len(b) for b in bounds)
        return ConeRows(
            np.array([np.pad(A, ((0, most - len(A)), (0, 0))) for A in linear]),
            np.array([np.pad(b, (0, most - len(b))) for b in bounds]),
            np.array([np.arange(most) < len(b) for b in bounds]),
            np.array(rounded) if self.shape == 'round' else None,
            np.array([foot.plane for foot in feet]))


@dataclass(frozen=True, eq=False)
class ConeRows:
    """Constraints of nf feet, padded to k rows and six columns ``[f; m]`` each."""

    linear: np.ndarray  # (nf, k, 6): G of the linear rows
    bound: np.ndarray  # (nf, k): d
    present: np.ndarray  # (nf, k): false for rows that only pad
    rounded: np.ndarray | None  # (nf, 3, 6) or None: G of the round rows, whose d is zero
    own: np.ndarray  # (nf,): feet whose rows are in their own axes


# -------------------------------------------------------------------------------------------------
# The cost: which solution to choose among all those that explain the motion.


@dataclass(frozen=True, eq=False)
class OverTimeWeights:
    r"""
    Weights of the cost over frames t and feet i, with ``|w|_l^2 = |m|^2 + l^2 |f|^2``.

    .. math::

        \sum_t \sum_i a\,|w_{ti}|_L^2 + s\,|w_{t+1,i} - w_{ti}|_\ell^2
            + \left(p(v_{ti}^2) + c_{ti}\right) |w_{ti}|_\ell^2 + r\,|w_{ti}|_L^2
            \; + \; b \sum_i |w_{0i} - w^{prev}_i|_\ell^2

    Weights are per frame, not per second: at twice the rate the same smoothness takes four times
    the weight. Moments are about each foot's reference. A point foot has only forces.

    Attributes
    ----------
    smoothing : float
        s: of changes from frame to frame.
    minimum_moment : float
        a: of contact moments (Nimble's minTorqueWeight). Not of joint torques.
    magnitude : float, or (nf,) or (T, nf) array
        c: of a foot's wrench as a whole.
    velocity_penalty : callable, optional
        p: takes an array of squared speeds of the contact points over ground [m^2/s^2] and
        returns weights of the same shape (or one number).
    previous : float
        b: of the first frame's difference from the wrenches given as `previous`.
    ridge : float
        r: a small weight on all wrenches, so that the solution is always unique.
    transition : float
        Part of the smoothing that applies where a foot lands or leaves: there its wrench is
        drawn towards zero, its wrench in the air. With 0 it may jump.
    length_scale : float [m]
        L: 1 N of force weighs as much as L newton metres.
    comparison_length : float [m]
        l: the same in the other terms. Nimble compares the bare numbers, which is 1 m.

    """

    smoothing: float = 1.0
    minimum_moment: float = 1.0
    magnitude: float | np.ndarray = 0.0
    velocity_penalty: Callable[[np.ndarray], np.ndarray | float] | None = None
    previous: float = 0.0
    ridge: float = 1e-6
    transition: float = 1.0
    length_scale: float = 0.1
    comparison_length: float = 0.1

    def __post_init__(self) -> None:
        for name in ('smoothing', 'minimum_moment', 'previous', 'transition'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0.0):
                raise ConfigurationError(f'expected {name} of 0 or more, got {value}')
        for name in ('ridge', 'length_scale', 'comparison_length'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise ConfigurationError(f'expected {name} above 0, got {value}')
        magnitude = np.array(self.magnitude, dtype=float)
        if magnitude.ndim > 2 or not (np.isfinite(magnitude) & (magnitude >= 0.0)).all():
            raise ConfigurationError('expected magnitude weights of 0 or more: one, one a foot, '
                                     f'or one a frame and foot; got shape {magnitude.shape}')

    @classmethod
    def like_nimble(cls, smoothing: float, minimum_torque: float,
                    velocity_penalty: Callable[[np.ndarray], np.ndarray | float] | None = None,
                    previous: float = 0.0, magnitude: float | np.ndarray = 0.0
                    ) -> OverTimeWeights:
        """
        Return Nimble's cost, under its names and in its order of arguments.

        The cost is in the coordinates of ``ContactInverseDynamicsOverTime.like_nimble``. The ridge
        is kept, and too small to be seen.

        Parameters
        ----------
        smoothing : float
            Weight of changes from frame to frame.
        minimum_torque : float
            Weight of contact moments, not of joint torques.
        velocity_penalty : callable, optional
            As the attribute of that name.
        previous : float
            Weight of the difference from the wrenches given as `previous`.
        magnitude : float, or (nf,) or (T, nf) array
            Weight of a foot's wrench as a whole.

        Returns
        -------
        OverTimeWeights

        """
        return cls(smoothing, minimum_torque, magnitude, velocity_penalty, previous, ridge=1e-12,
                   comparison_length=1.0)

    def smoothing_diagonal(self) -> np.ndarray:
        """Return (3,): weights of changes of forces and of moments, and the part at a landing."""
        return np.array([self.smoothing * self.comparison_length ** 2, self.smoothing,
                         self.transition])

    def costs(self, shape: tuple[int, int], squared_speed: np.ndarray | None) -> np.ndarray:
        """
        Return the weights of force and moment, without smoothing and previous wrenches.

        Parameters
        ----------
        shape : int, int
            Numbers of frames and feet, T and nf.
        squared_speed : (T, nf) array, optional [m^2/s^2]
            Squared speeds of the contact points over ground.

        Returns
        -------
        (T, nf, 2) array

        Raises
        ------
        MeasurementError
            When the magnitude's shape does not fit, or the velocity penalty returns a weight
            below zero or of another shape.

        """
        whole = self._spread(self.magnitude, shape, 'the magnitude weights')
        if self.velocity_penalty is not None and squared_speed is not None:
            whole = whole + self._spread(self.velocity_penalty(squared_speed), shape,
                                         'what the velocity penalty returns')
        always = self.minimum_moment + self.ridge
        return np.stack([whole * self.comparison_length ** 2 + always * self.length_scale ** 2,
                         whole + always], axis=-1)

    @staticmethod
    def _spread(values: object, shape: tuple[int, int], what: str) -> np.ndarray:
        try:
            array = np.broadcast_to(np.asarray(values, dtype=float), shape)
        except ValueError:
            raise MeasurementError(f'expected {what} to fit {shape[0]} frames and {shape[1]} feet,'
                                   f' got shape {np.shape(values)}') from None
        if not (np.isfinite(array) & (array >= 0.0)).all():
            raise MeasurementError(f'expected {what} to be 0 or more')
        return array
