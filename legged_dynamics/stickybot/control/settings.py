# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of the climbing controller."""
from __future__ import annotations

from dataclasses import dataclass

from legged_dynamics.schema import CheckedSettings, setting

REDUCTIONS = ('off', 'full', 'turning')


@dataclass(frozen=True)
class ControlSettings(CheckedSettings):
    """Checked settings, each with its default, unit and range."""

    rate: float = setting(
        'control.rate', 500.0, 'Hz', 'Rate of measurements and commands.', 50.0, 5000.0)
    reduction: str = setting(
        'control.reduction', 'full', '',
        "Reaction-force reduction: off, by all of a hip's rest position, or by its angle alone.",
        choices=REDUCTIONS)
    speed: float = setting(
        'control.speed', 0.0, 'm/s',
        'Speed along the body under reduction; 0: what the plain gait reaches, which is '
        'rehearsed in simulation when the controller is built.', -1.0, 1.0)
    start_time: float = setting(
        'control.start_time', 0.5, 's', 'Time to come up to speed.', 0.0, 60.0)
    natural_frequency: float = setting(
        'control.natural_frequency', 20.0, 'rad/s',
        'Of the body about its reference under full reduction.', 1.0, 200.0)
    turning_frequency: float = setting(
        'control.turning_frequency', 12.0, 'rad/s', 'The same under reduction by angle.', 1.0,
        200.0)
    damping_ratio: float = setting(
        'control.damping_ratio', 1.0, '', 'Of the body about its reference.', 0.1, 5.0)
    leash: float = setting(
        'control.leash', 0.01, 'm', 'How far the reference may run ahead of the body.', 1e-4, 1.0)
    handover: float = setting(
        'control.handover', 0.1, 's', 'Time in which a foot takes up or gives away its load.',
        1e-3, 10.0)
    least_share: float = setting(
        'control.least_share', 0.02, '',
        'Load of a foot about to be lifted, relative to one in full support.', 1e-3, 1.0)
    smoothness: float = setting(
        'control.smoothness', 1e-6, '',
        'Weight of even loads against the least maximum, where that leaves a choice.', 0.0, 1.0)
    turning_time: float = setting(
        'control.turning_time', 0.02, 's', 'Time constant of the loads under reduction by angle.',
        1e-3, 10.0)
    largest_offset: float = setting(
        'control.largest_offset', 0.01, 'm',
        "Limit of what the reduction adds to a hip's rest position.", 0.0, 1.0)
    largest_turn: float = setting(
        'control.largest_turn', 0.3, 'rad', 'Limit of what the reduction adds to a rest angle.',
        0.0, 3.0)
    slip_speed: float = setting(
        'control.slip_speed', 0.15, 'm/s',
        'A foot that seems to move faster than this does not hold.', 1e-3, 10.0)
    slip_distance: float = setting(
        'control.slip_distance', 0.004, 'm',
        'A foot that seems to have moved this far does not hold.', 1e-4, 1.0)
    slip_time: float = setting(
        'control.slip_time', 0.006, 's', 'How long it must seem so.', 0.0, 1.0)
    replant_time: float = setting(
        'control.replant_time', 0.08, 's', 'How long a lost foot is off the wall.', 1e-3, 10.0)
    max_gap: float = setting(
        'control.max_gap', 0.05, 's',
        'Over a longer gap between measurements the gait stands still.', 1e-3, 10.0)


SETTINGS = ControlSettings.table()
