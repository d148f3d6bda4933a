# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of walking, every one of them changeable at run time."""
from __future__ import annotations

from dataclasses import dataclass

from legged_dynamics.schema import CheckedSettings, setting
from legged_dynamics.workspace.walking.gaits import GAITS


@dataclass(frozen=True)
class WalkSettings(CheckedSettings):
    """Checked settings, each with its default, unit and range."""

    gait: str = setting(
        'gait', 'stand', '', 'What the legs do: stand, or one of the gaits.',
        choices=tuple(GAITS))
    cycle: float = setting(
        'walking.cycle', 0.0, 's',
        'Duration of a cycle of the gait; 0 takes it from the height of the body.', 0.0, 10.0)
    duty: float = setting(
        'walking.duty', 0.0, '',
        "Part of the cycle in which a foot stands; 0 takes the gait's.", 0.0, 0.95)
    clearance: float = setting(
        'walking.clearance', 0.17, '',
        'Height over the ground at which a foot swings, in heights of the body.', 0.01, 0.5)
    speed: float = setting(
        'walking.speed', 0.0, 'm/s',
        'Largest speed ahead, and in proportion to the side; 0 takes what the gait has been tried '
        'with.', 0.0, 5.0)
    turning: float = setting(
        'walking.turning', 0.0, 'rad/s',
        'Largest turning rate; 0 takes what the gait has been tried with.', 0.0, 5.0)
    acceleration: float = setting(
        'walking.acceleration', 0.6, 'm/s^2', 'How fast the commanded velocity may change.',
        0.01, 20.0)
    capture: float = setting(
        'walking.capture', 0.8, '',
        'Part of the error of the velocity that one step takes away, as far as a pendulum is '
        'concerned.', 0.0, 1.5)
    foot_frequency: float = setting(
        'walking.foot_frequency', 36.0, 'rad/s',
        'Natural frequency of the spring that holds a swinging foot on its path.', 1.0, 200.0)
    ramp: float = setting(
        'walking.ramp', 0.045, 's',
        'Time in which the largest force of a foot grows to twice its share after a touch-down, '
        'and shrinks before a lift-off.', 0.0, 1.0)
    lowering: float = setting(
        'walking.lowering', 2.5, '1/s',
        'How fast a foot is lowered where no ground was met, in heights of the body.', 0.01, 10.0)
    effort_fraction: float = setting(
        'walking.effort_fraction', 0.8, '',
        'Fraction of the effort limits that is used while the robot walks; steps against a push '
        'may use what limits.effort_fraction allows.', 0.05, 1.0)
    recovery: bool = setting(
        'walking.recovery', True, '',
        'Whether a standing robot steps when a push takes its capture point out of the support.')
    command_timeout: float = setting(
        'walking.command_timeout', 0.5, 's',
        'After this silence of cmd_vel the robot steps in place, and then stands.', 0.01, 60.0)
    leash: float = setting(
        'walking.leash', 0.12, '',
        'How far the reference may run ahead of the body, in heights of the body.', 0.0, 1.0)


SETTINGS = WalkSettings.table()
