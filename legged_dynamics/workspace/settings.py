# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of workspace control, every one of them changeable at run time."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.schema import CheckedSettings, setting


@dataclass(frozen=True, eq=False)
class WorkspaceSettings(CheckedSettings):
    """
    Checked settings, each with its default, unit and range.

    Raises
    ------
    ConfigurationError
        When a gain does not have three values, or an integral gain makes its loop unstable.

    """

    linear_stiffness: list[float] = setting(
        'gains.linear.stiffness', [100.0, 100.0, 100.0], '1/s^2',
        'K_p of position, along x, y, z of the base.', 0.0, 1e4)
    linear_damping: list[float] = setting(
        'gains.linear.damping', [20.0, 20.0, 20.0], '1/s',
        'K_v of position, along x, y, z of the base.', 0.0, 500.0)
    linear_integral: list[float] = setting(
        'gains.linear.integral', [150.0, 150.0, 150.0], '1/s^3',
        'K_i of position; below K_p K_v of its axis.', 0.0, 1e5)
    angular_stiffness: list[float] = setting(
        'gains.angular.stiffness', [150.0, 150.0, 150.0], '1/s^2',
        'K_p of orientation, about x, y, z of the base.', 0.0, 1e4)
    angular_damping: list[float] = setting(
        'gains.angular.damping', [24.0, 24.0, 24.0], '1/s',
        'K_v of orientation, about x, y, z of the base.', 0.0, 500.0)
    angular_integral: list[float] = setting(
        'gains.angular.integral', [350.0, 350.0, 350.0], '1/s^3',
        'K_i of orientation; below K_p K_v of its axis.', 0.0, 1e5)
    linear_windup: float = setting(
        'gains.windup.linear', 2.0, 'm/s^2',
        'Largest acceleration that the integral term may contribute.', 0.0, 100.0)
    angular_windup: float = setting(
        'gains.windup.angular', 30.0, 'rad/s^2',
        'Largest angular acceleration that the integral term may contribute.', 0.0, 1000.0)
    linear_acceleration_limit: float = setting(
        'limits.acceleration.linear', 8.0, 'm/s^2',
        'Largest acceleration that feedback of errors may contribute.', 0.1, 100.0)
    angular_acceleration_limit: float = setting(
        'limits.acceleration.angular', 40.0, 'rad/s^2',
        'Largest angular acceleration that feedback of errors may contribute.', 0.1, 1000.0)
    linear_error_limit: float = setting(
        'limits.error.linear', 0.15, 'm',
        'Beyond this distance from its target the base counts as lost.', 1e-3, 10.0)
    angular_error_limit: float = setting(
        'limits.error.angular', 0.5, 'rad',
        'Beyond this angle from its target the base counts as lost.', 1e-3, 3.0)
    patience: float = setting(
        'limits.patience', 1.0, 's',
        'How long the feet may fail to produce the required wrench before the base counts as '
        'lost.', 0.0, 60.0)
    effort_fraction: float = setting(
        'limits.effort_fraction', 0.95, '',
        'Fraction of the effort limits in the URDF that the division of forces may use.',
        0.05, 1.0)
    dynamics: str = setting(
        'dynamics', 'exact', '',
        "Inertia of the base with the feet fixed: always exact. big_base, the paper's "
        'approximation, was the same to 1e-7.', choices=('exact', 'big_base'))
    division_method: str = setting(
        'division.method', 'friction_cone', '',
        'How the wrench on the base is distributed among the feet.',
        choices=('even', 'least_squares', 'friction_cone'))
    friction: float = setting(
        'division.friction', 0.6, '',
        'Coefficient of friction that the division relies on.', 0.01, 5.0)
    minimum_load: float = setting(
        'division.minimum_load', 0.02, '',
        'Least normal force of a foot in contact, as a fraction of the weight.', 0.0, 0.2)
    force_rate: float = setting(
        'division.force_rate', 2.0, '1/s',
        'How fast a foot force moves to a requested value, and back, in weights of the robot per'
        ' second.', 0.01, 1000.0)
    sole_margin: float = setting(
        'division.sole_margin', 0.1, '',
        'Fraction of a sole, at its edges, in which the centre of pressure must not lie.',
        0.0, 0.9)
    moment_arm: float = setting(
        'division.moment_arm', 0.03, 'm',
        'A moment under a flat foot costs as much as this moment divided by this length as a '
        'force.', 1e-3, 10.0)
    posture_stiffness: float = setting(
        'posture.stiffness', 50.0, '1/s^2',
        'Stiffness that keeps joints that do not move the feet at their positions.', 0.0, 1e4)
    posture_damping: float = setting(
        'posture.damping', 15.0, '1/s', 'Damping of joints that do not move the feet.', 0.0, 500.0)
    singularity_threshold: float = setting(
        'singularity.threshold', 0.03, '',
        'Singular value of a leg, in lengths of the leg, below which the leg counts as stretched'
        ' and its inverse is damped.', 1e-6, 0.5)
    reference_velocity: float = setting(
        'reference.velocity', 0.25, 'm/s', 'Largest speed of the reference.', 1e-3, 10.0)
    reference_acceleration: float = setting(
        'reference.acceleration', 1.0, 'm/s^2',
        'Largest acceleration of the reference.', 1e-3, 50.0)
    reference_angular_velocity: float = setting(
        'reference.angular_velocity', 0.6, 'rad/s',
        'Largest turning rate of the reference.', 1e-3, 50.0)
    reference_angular_acceleration: float = setting(
        'reference.angular_acceleration', 3.0, 'rad/s^2',
        'Largest angular acceleration of the reference.', 1e-3, 500.0)
    reference_jerk: float = setting(
        'reference.jerk', 30.0, 'm/s^3', 'Largest jerk of the reference.', 0.1, 1e4)
    reference_spare: float = setting(
        'reference.spare', 0.25, '',
        'Fraction of the way from the middle of the support polygon to its edge, and of the '
        'friction, that motions must leave unused.', 0.0, 0.9)
    shortest_motion: float = setting(
        'reference.shortest', 0.2, 's', 'Shortest duration of a motion.', 0.01, 100.0)
    reference_stretch: float = setting(
        'reference.stretch', 0.06, '',
        'Smallest singular value of a leg, in lengths of the leg, that a target may require; a '
        'target beyond that is shortened.', 1e-6, 0.5)

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if isinstance(value, list) and len(value) != 3:
                raise ConfigurationError(f'{name}: expected 3 values, for x, y and z, got {value}')
        gains = self.gains
        bound = gains[0] * gains[1]
        if not ((gains[2] < bound) | (gains[2] == 0.0)).all():
            raise ConfigurationError(
                'gains.*.integral: expected values below stiffness times damping, '
                f'{bound.tolist()}, beyond which the loop is unstable, got {gains[2].tolist()}')

    @property
    def gains(self) -> np.ndarray:
        """
        Gains of all axes as the kernels read them, (5, 6); columns: linear x, y, z, angular.

        Rows: stiffness, damping, integral, limit of the integral term, limit of all feedback.
        """
        return np.array([
            [*self.linear_stiffness, *self.angular_stiffness],
            [*self.linear_damping, *self.angular_damping],
            [*self.linear_integral, *self.angular_integral],
            np.repeat([self.linear_windup, self.angular_windup], 3),
            np.repeat([self.linear_acceleration_limit, self.angular_acceleration_limit], 3)])

    def __getitem__(self, name: str) -> Any:
        """Return the value of a dotted name."""
        return self.values[name]


SETTINGS = WorkspaceSettings.table()
