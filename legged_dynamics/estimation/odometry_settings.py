# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of leg odometry."""
from __future__ import annotations

from dataclasses import dataclass

from legged_dynamics.schema import CheckedSettings, setting


@dataclass(frozen=True)
class OdometrySettings(CheckedSettings):
    """Checked settings, each with its default, unit and range."""

    foothold: float = setting(
        'odometry.foothold', 1e-3, 'm', 'How well a standing foot keeps its place, one deviation.',
        1e-5, 0.1)
    creep: float = setting(
        'odometry.creep', 2e-3, 'm/s',
        "Speed of a standing foot beside what the joints' noise explains, one deviation.", 1e-5,
        1.0)
    slip_distance: float = setting(
        'odometry.slip_distance', 0.02, 'm',
        'A standing foot seen further than this from its place has slipped, and gets a new one.',
        1e-3, 1.0)
    settling: float = setting(
        'odometry.settling', 10.0, 's',
        'Time over which places of standing feet that disagree are reconciled.', 0.1, 1e4)
    acceleration_error: float = setting(
        'odometry.acceleration_error', 0.1, 'm/s^2',
        'Error of the accelerometer beside its noise, one deviation: how fast the feet correct '
        'the velocity.', 1e-3, 100.0)
    position_rate: float = setting(
        'odometry.position_rate', 50.0, '1/s', 'How fast the feet correct the position.', 0.1, 1e4)
    heading: str = setting(
        'odometry.heading', 'imu', '',
        'What corrects the heading besides the feet: the orientation of the IMU, or nothing.',
        choices=('imu', 'feet'))
    flat_ground: bool = setting(
        'odometry.flat_ground', False, '',
        'Whether all feet stand at the height of the ground under the first stance.')
    max_gap: float = setting(
        'odometry.max_gap', 0.05, 's',
        'After a longer gap between samples all feet get new places.', 1e-4, 10.0)


SETTINGS = OdometrySettings.table()
