# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of the climbing controller."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from legged_dynamics.schema import Setting, checked

REDUCTIONS = ('off', 'full', 'turning')

SETTINGS = (
    Setting('control.rate', 500.0, 'Hz', 'Rate of measurements and commands.', 50.0, 5000.0),
    Setting('control.reduction', 'full', '',
            "Reaction-force reduction: off, by all of a hip's rest position, or by its angle "
            'alone.', choices=REDUCTIONS),
    Setting('control.speed', 0.0, 'm/s',
            'Speed along the body under reduction; 0: what the plain gait reaches, which is '
            'rehearsed in simulation when the controller is built.', -1.0, 1.0),
    Setting('control.start_time', 0.5, 's', 'Time to come up to speed.', 0.0, 60.0),
    Setting('control.natural_frequency', 20.0, 'rad/s',
            'Of the body about its reference under full reduction.', 1.0, 200.0),
    Setting('control.turning_frequency', 12.0, 'rad/s', 'The same under reduction by angle.',
            1.0, 200.0),
    Setting('control.damping_ratio', 1.0, '', 'Of the body about its reference.', 0.1, 5.0),
    Setting('control.leash', 0.01, 'm',
            'How far the reference may run ahead of the body.', 1e-4, 1.0),
    Setting('control.handover', 0.1, 's',
            'Time in which a foot takes up or gives away its load.', 1e-3, 10.0),
    Setting('control.least_share', 0.02, '',
            'Load of a foot about to be lifted, relative to one in full support.', 1e-3, 1.0),
    Setting('control.smoothness', 1e-6, '',
            'Weight of even loads against the least maximum, where that leaves a choice.',
            0.0, 1.0),
    Setting('control.turning_time', 0.02, 's',
            'Time constant of the loads under reduction by angle.', 1e-3, 10.0),
    Setting('control.largest_offset', 0.01, 'm',
            "Limit of what the reduction adds to a hip's rest position.", 0.0, 1.0),
    Setting('control.largest_turn', 0.3, 'rad',
            'Limit of what the reduction adds to a rest angle.', 0.0, 3.0),
    Setting('control.slip_speed', 0.15, 'm/s',
            'A foot that seems to move faster than this does not hold.', 1e-3, 10.0),
    Setting('control.slip_distance', 0.004, 'm',
            'A foot that seems to have moved this far does not hold.', 1e-4, 1.0),
    Setting('control.slip_time', 0.006, 's', 'How long it must seem so.', 0.0, 1.0),
    Setting('control.replant_time', 0.08, 's', 'How long a lost foot is off the wall.',
            1e-3, 10.0),
    Setting('control.max_gap', 0.05, 's',
            'Over a longer gap between measurements the gait stands still.', 1e-3, 10.0),
)


@dataclass(frozen=True)
class ControlSettings:
    """Checked settings; the table `SETTINGS` documents each with unit and range."""

    rate: float
    reduction: str
    speed: float
    start_time: float
    natural_frequency: float
    turning_frequency: float
    damping_ratio: float
    leash: float
    handover: float
    least_share: float
    smoothness: float
    turning_time: float
    largest_offset: float
    largest_turn: float
    slip_speed: float
    slip_distance: float
    slip_time: float
    replant_time: float
    max_gap: float

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any] | None = None) -> ControlSettings:
        """
        Build from dotted parameter names.

        Raises
        ------
        ConfigurationError
            When a key is unknown, or a value has the wrong type or is out of range.

        """
        # The fields stand in the order of the table.
        return cls(*checked(values or {}, SETTINGS).values())
