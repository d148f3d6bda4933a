# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of workspace control, every one of them changeable at run time."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.schema import Setting, checked

SETTINGS = (
    Setting('gains.linear.stiffness', [100.0, 100.0, 100.0], '1/s^2',
            'K_p of position, along x, y, z of the base.', 0.0, 1e4),
    Setting('gains.linear.damping', [20.0, 20.0, 20.0], '1/s',
            'K_v of position, along x, y, z of the base.', 0.0, 500.0),
    Setting('gains.linear.integral', [150.0, 150.0, 150.0], '1/s^3',
            'K_i of position; below K_p K_v of its axis.', 0.0, 1e5),
    Setting('gains.angular.stiffness', [150.0, 150.0, 150.0], '1/s^2',
            'K_p of orientation, about x, y, z of the base.', 0.0, 1e4),
    Setting('gains.angular.damping', [24.0, 24.0, 24.0], '1/s',
            'K_v of orientation, about x, y, z of the base.', 0.0, 500.0),
    Setting('gains.angular.integral', [200.0, 200.0, 200.0], '1/s^3',
            'K_i of orientation; below K_p K_v of its axis.', 0.0, 1e5),
    Setting('gains.windup.linear', 2.0, 'm/s^2',
            'Largest acceleration that the integral term may ask for.', 0.0, 100.0),
    Setting('gains.windup.angular', 4.0, 'rad/s^2',
            'Largest angular acceleration that the integral term may ask for.', 0.0, 1000.0),
    Setting('limits.acceleration.linear', 8.0, 'm/s^2',
            'Largest acceleration that errors may ask for.', 0.1, 100.0),
    Setting('limits.acceleration.angular', 40.0, 'rad/s^2',
            'Largest angular acceleration that errors may ask for.', 0.1, 1000.0),
    Setting('limits.error.linear', 0.15, 'm',
            'Further off its target than this the base counts as lost.', 1e-3, 10.0),
    Setting('limits.error.angular', 0.5, 'rad',
            'Turned further off its target than this the base counts as lost.', 1e-3, 3.0),
    Setting('limits.patience', 1.0, 's',
            'How long the ground may fail to give what the motion takes before the base counts '
            'as lost.', 0.0, 60.0),
    Setting('limits.effort_fraction', 0.95, '',
            'Part of the effort limits in the URDF that the division of forces may use.',
            0.05, 1.0),
    Setting('dynamics', 'exact', '',
            'Inertia of the base with the feet held; big_base is the approximation of the paper, '
            'and goes with the even division.', choices=('exact', 'big_base')),
    Setting('division.method', 'friction_cone', '',
            'How the feet share the wrench on the base.',
            choices=('even', 'least_squares', 'friction_cone')),
    Setting('division.friction', 0.6, '', 'Coefficient of friction to rely on.', 0.01, 5.0),
    Setting('division.minimum_load', 0.02, '',
            'Least normal force of a foot in contact, as a fraction of the weight.', 0.0, 0.2),
    Setting('division.force_rate', 2.0, '1/s', 'How fast a force goes to what is asked, and back, '
            'in weights of the robot per second.', 0.01, 1000.0),
    Setting('division.sole_margin', 0.1, '', 'Part of a sole, at its edges, that the pressure is '
            'kept off.', 0.0, 0.9),
    Setting('division.moment_arm', 0.03, 'm',
            'A moment under a flat foot counts as much as a force this much shorter.',
            1e-3, 10.0),
    Setting('posture.stiffness', 50.0, '1/s^2',
            'Pull of joints that the feet leave free to where they were.', 0.0, 1e4),
    Setting('posture.damping', 15.0, '1/s', 'Damping of joints that the feet leave free.',
            0.0, 500.0),
    Setting('singularity.threshold', 0.03, '',
            'Singular value of a leg, in lengths of the leg, below which it counts as stretched '
            'and is damped.', 1e-6, 0.5),
    Setting('reference.velocity', 0.25, 'm/s', 'Largest speed of the reference.', 1e-3, 10.0),
    Setting('reference.acceleration', 1.0, 'm/s^2', 'Largest acceleration of the reference.',
            1e-3, 50.0),
    Setting('reference.angular_velocity', 0.6, 'rad/s', 'Largest turning rate of the reference.',
            1e-3, 50.0),
    Setting('reference.angular_acceleration', 3.0, 'rad/s^2',
            'Largest angular acceleration of the reference.', 1e-3, 500.0),
    Setting('reference.jerk', 30.0, 'm/s^3', 'Largest jerk of the reference.', 0.1, 1e4),
    Setting('reference.spare', 0.25, '', 'Part of the way from the middle of the support polygon '
            'to its edge, and of the friction, that motions leave free.', 0.0, 0.9),
    Setting('reference.shortest', 0.2, 's', 'Shortest duration of a motion.', 0.01, 100.0),
    Setting('reference.stretch', 0.06, '',
            'Singular value of a leg, in lengths of the leg, that a target may come down to; what '
            'is further is cut short.', 1e-6, 0.5),
)


@dataclass(frozen=True, eq=False)
class WorkspaceSettings:
    """
    Checked settings; the table `SETTINGS` documents each with unit and range.

    Attributes
    ----------
    values : dict
        By dotted name.
    gains : (5, 6) array
        Rows: stiffness, damping, integral, limit of the integral term, limit of all feedback.

    Raises
    ------
    ConfigurationError
        When a key is unknown, a value has the wrong type or is out of range, or an integral gain
        makes its loop unstable.

    """

    values: dict[str, Any]
    gains: np.ndarray

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any] | None = None) -> WorkspaceSettings:
        """Build from dotted parameter names."""
        found = checked(values or {}, SETTINGS)
        gains = np.zeros((5, 6))
        for row, name in enumerate(('stiffness', 'damping', 'integral')):
            for start, part in ((0, 'linear'), (3, 'angular')):
                three = found[f'gains.{part}.{name}']
                if len(three) != 3:
                    raise ConfigurationError(f'gains.{part}.{name}: expected 3 values, for x, y '
                                             f'and z, got {three}')
                gains[row, start:start + 3] = three
        for start, part in ((0, 'linear'), (3, 'angular')):
            gains[3, start:start + 3] = found[f'gains.windup.{part}']
            gains[4, start:start + 3] = found[f'limits.acceleration.{part}']
        bound = gains[0] * gains[1]
        if not ((gains[2] < bound) | (gains[2] == 0.0)).all():
            raise ConfigurationError(
                'gains.*.integral: expected values below stiffness times damping, '
                f'{bound.tolist()}, beyond which the loop is unstable, got {gains[2].tolist()}')
        if found['dynamics'] == 'big_base' and found['division.method'] != 'even':
            raise ConfigurationError("dynamics: 'big_base' goes with division.method 'even', got "
                                     f"{found['division.method']!r}")
        gains.setflags(write=False)
        return cls(found, gains)

    def __getitem__(self, name: str) -> Any:
        """Return the value of a dotted name."""
        return self.values[name]
