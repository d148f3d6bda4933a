# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of leg odometry."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from legged_dynamics.schema import Setting, checked

SETTINGS = (
    Setting('odometry.foothold', 1e-3, 'm',
            'How well a standing foot keeps its place, one deviation.', 1e-5, 0.1),
    Setting('odometry.creep', 2e-3, 'm/s',
            "Speed of a standing foot beside what the joints' noise explains, one deviation.",
            1e-5, 1.0),
    Setting('odometry.slip_distance', 0.02, 'm',
            'A standing foot seen further than this from its place has slipped, and gets a new '
            'one.', 1e-3, 1.0),
    Setting('odometry.settling', 10.0, 's',
            'Time over which places of standing feet that disagree are reconciled.', 0.1, 1e4),
    Setting('odometry.acceleration_error', 0.1, 'm/s^2',
            'Error of the accelerometer beside its noise, one deviation: how fast the feet '
            'correct the velocity.', 1e-3, 100.0),
    Setting('odometry.position_rate', 50.0, '1/s',
            'How fast the feet correct the position.', 0.1, 1e4),
    Setting('odometry.heading', 'imu', '',
            'What corrects the heading besides the feet: the orientation of the IMU, or nothing.',
            choices=('imu', 'feet')),
    Setting('odometry.flat_ground', False, '',
            'Whether all feet stand at the height of the ground under the first stance.'),
    Setting('odometry.max_gap', 0.05, 's',
            'After a longer gap between samples all feet get new places.', 1e-4, 10.0),
)


@dataclass(frozen=True)
class OdometrySettings:
    """Checked settings; the table `SETTINGS` documents each with unit and range."""

    foothold: float
    creep: float
    slip_distance: float
    settling: float
    acceleration_error: float
    position_rate: float
    heading: str
    flat_ground: bool
    max_gap: float

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any] | None = None) -> OdometrySettings:
        """
        Build from dotted parameter names.

        Raises
        ------
        ConfigurationError
            When a key is unknown, or a value has the wrong type or is out of range.

        """
        # The fields stand in the order of the table.
        return cls(*checked(values or {}, SETTINGS).values())
