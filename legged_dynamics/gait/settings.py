# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings for whole recordings: when feet stand, where they press, how they share the load."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from legged_dynamics.schema import Setting, checked

SETTINGS = (
    Setting('stance.touch_down_speed', 0.15, '',
            'Slowest part of the sole below this speed: the foot has landed. A multiple of '
            'sqrt(g leg length), about 0.45 m/s for a person.', 0.0, 10.0),
    Setting('stance.lift_off_speed', 0.3, '',
            'Slowest part of the sole above this speed: the foot has left. In the same unit; '
            'above the first, for toes leave faster than a heel lands.', 0.0, 10.0),
    Setting('stance.clearance', 0.05, '',
            'A foot this far above the lowest standing one is in the air, as a fraction of the '
            'leg length.', 0.0, 10.0),
    Setting('stance.level_clearance', 0.025, '',
            'A level sole this far above where it rests is in the air, in the same unit.', 0.0,
            10.0),
    Setting('stance.flight_load', 0.2, '',
            'Fraction of the weight that the motion asks of the ground below which all feet are '
            'in the air.', 0.0, 1.0),
    Setting('stance.shortest_phase', 0.25, '',
            'No foot stands, and none is in the air, for less than this, as a multiple of '
            'sqrt(leg length / g), about 0.08 s for a person.', 0.0, 10.0),
    Setting('reference.pressure_error', 0.025, 'm',
            'Error of the centre of pressure that the motion gives, one deviation.', 1e-4, 1.0),
    Setting('reference.pressure_memory', 0.05, 's', 'How long that error stays the same.',
            1e-4, 10.0),
    Setting('reference.roll_error', 0.1, 'm',
            'How far from the line about which it rolls a foot presses, one deviation. Large, for '
            'the centre of pressure of all feet has errors of its own, which the path ought to '
            'share and the line does not.', 1e-4, 10.0),
    Setting('reference.roll_speed', 0.015, '',
            'Error of the speed of a sole over the ground, one deviation, as a multiple of '
            'sqrt(g leg length): the slower a foot rolls, the less is known of that line.',
            1e-4, 10.0),
    Setting('reference.longer_sole', 0.2, '',
            'How much further in front than its sole ends a foot may roll over its toes as it '
            'leaves, as a fraction of the length of the sole.', 0.0, 1.0),
    Setting('reference.edge_error', 0.005, 'm',
            'Where on the low edge a foot lands or leaves, one deviation.', 1e-4, 1.0),
    Setting('reference.crossing_time', 0.5, 's',
            'Least time in which the reference is expected to travel the length of the sole.',
            1e-3, 100.0),
    Setting('transfer.planted_cutoff', 2.5, 'Hz',
            'How fast load shifts between feet that stay where they are.', 0.01, 1000.0),
    Setting('transfer.step_cutoff', 2.0, '',
            'How fast load shifts between two steps, as a multiple of one over the time that the '
            'feet share it.', 0.01, 1000.0),
    Setting('transfer.plausible_distance', 0.05, 'm',
            'Centre of pressure further than this outside all soles: something else bears load, '
            'too, a chair or a hand.', 1e-3, 10.0),
    Setting('transfer.impact_arm', 0.1, '',
            'How far from where it is computed what is fast in the force acts, one deviation, as '
            'a fraction of the leg length.', 0.0, 10.0),
    Setting('transfer.uneven_share', 0.15, '',
            'How uneven feet side by side share the load, one deviation, while an impact hides '
            'it.', 1e-3, 1.0),
    Setting('force.pivot_height', 1.3, '',
            'Where the forces of the legs meet, as a multiple of the height of the centre of '
            'mass: above it in whatever walks upright (Maus 2010).', 0.1, 100.0),
    Setting('friction.coefficient', 1.0, '', 'Of the ground.', 1e-2, 100.0),
)


@dataclass(frozen=True)
class GaitSettings:
    """Checked settings; the table `SETTINGS` documents each with unit and range."""

    touch_down_speed: float
    lift_off_speed: float
    clearance: float
    level_clearance: float
    flight_load: float
    shortest_phase: float
    pressure_error: float
    pressure_memory: float
    roll_error: float
    roll_speed: float
    longer_sole: float
    edge_error: float
    crossing_time: float
    planted_cutoff: float
    step_cutoff: float
    plausible_distance: float
    impact_arm: float
    uneven_share: float
    pivot_height: float
    friction: float

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any] | None = None) -> GaitSettings:
        """
        Build from dotted names.

        Raises
        ------
        ConfigurationError
            When a key is unknown, or a value has the wrong type or is out of range.

        """
        # The fields stand in the order of the table.
        return cls(*checked(values or {}, SETTINGS).values())
