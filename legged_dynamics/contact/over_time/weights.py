# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a solution over time is to be like, of all those that explain the motion."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError


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
        r: always there, so that a motion in which nothing else decides has one answer.
    transition : float
        What part of the smoothing holds where a foot lands or leaves: there its wrench is drawn
        towards the zero that it has in the air. 0 lets it jump.
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

        The cost is in the coordinates of ``ContactInverseDynamicsOverTime.like_nimble``. The
        ridge is there too, and too small to be seen.
        """
        return cls(smoothing, minimum_torque, magnitude, velocity_penalty, previous, ridge=1e-12,
                   comparison_length=1.0)

    def smoothing_diagonal(self) -> np.ndarray:
        """Return the weight of changes of force and moment, and the part of it at transitions."""
        return np.array([self.smoothing * self.comparison_length ** 2, self.smoothing,
                         self.transition])

    def costs(self, shape: tuple[int, int], squared_speed: np.ndarray | None) -> np.ndarray:
        """
        Return the weights of force and moment, (T, nf, 2), without smoothing and previous.

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
