# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What goes into the standing force controller and what comes out: settings, forces, efforts."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.stance_dynamics import StanceTerms
from legged_dynamics.schema import Setting

SETTINGS = (
    Setting('standing.frequency', 12.0, 'rad/s', 'Natural frequency of the spring that holds the '
            'body in its place.', 0.1, 100.0),
    Setting('standing.damping_ratio', 0.9, '', 'Damping ratio of that spring.', 0.05, 5.0),
    Setting('standing.joint_damping', 0.5, 'N m s/rad', 'Damping of each joint.', 0.0, 100.0),
    Setting('standing.friction', 0.5, '', 'Friction coefficient that the feet may count on.',
            0.01, 5.0),
    Setting('standing.minimum_load', 0.1, '', 'Least normal force on a foot, as a part of an even '
            'share of the weight.', 0.0, 0.9),
    Setting('standing.torque_fraction', 0.95, '', 'Part of the effort limits that forces may '
            'take; the rest is for damping.', 0.05, 1.0),
    Setting('standing.force_rate', 2.0, '1/s', 'How fast a force goes to what is asked, and back, '
            'in weights of the robot per second.', 0.01, 1000.0),
    Setting('standing.largest_offset', 0.1, 'm', 'The body further than this from its place: let '
            'go, for good.', 1e-3, 10.0),
    Setting('standing.largest_tilt', 0.3, 'rad', 'The body turned by more than this: let go, for '
            'good.', 1e-3, 3.0),
)
AXES = ('world', 'base', 'foot')


@dataclass(frozen=True, eq=False)
class AskedForce:
    """
    A force asked for, of the ground on one foot.

    Attributes
    ----------
    force : (3,) array [N]
    axes : {'world', 'base', 'foot'}
        Axes of its components.

    Raises
    ------
    ConfigurationError
        When it is not three finite numbers, or the axes are none of these.

    """

    force: np.ndarray
    axes: str = 'world'

    def __post_init__(self) -> None:
        force = np.array(self.force, dtype=float)
        if force.shape != (3,) or not np.isfinite(force).all():
            raise ConfigurationError(f'expected a force of three finite numbers, got {self.force}')
        if self.axes not in AXES:
            raise ConfigurationError(f'expected axes {", ".join(AXES)}; got {self.axes!r}')
        object.__setattr__(self, 'force', force)


@dataclass(frozen=True, eq=False)
class StandingCommand:
    """
    Efforts of one sample, and what became of the forces asked for.

    Attributes
    ----------
    effort : (nj,) array or None [N m]
        In the model's joint order; None once the robot was let go.
    force : (nf, 3) array [N]
        What the efforts give each foot, ground on robot, world axes.
    asked : dict of int to (3,) array [N]
        What was asked for, in world axes, by the foot's place.
    clipped : dict of int to str
        Why a foot's force is not as asked, by the foot's place.
    balanced : bool
        Whether the forces are those that hold the body.
    offset, tilt : float [m, rad]
        How far the body is from its place.
    fault : str
        Why the robot was let go, or empty.
    terms : StanceTerms
        Contact points and poses of the feet, in base axes.

    """

    effort: np.ndarray | None
    force: np.ndarray
    asked: dict[int, np.ndarray]
    clipped: dict[int, str]
    balanced: bool
    offset: float
    tilt: float
    fault: str
    terms: StanceTerms
