# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings for whole recordings: when feet stand, where they press, how they share the load."""
from __future__ import annotations

from dataclasses import dataclass

from legged_dynamics.schema import CheckedSettings, setting


@dataclass(frozen=True)
class GaitSettings(CheckedSettings):
    """Checked settings, each with its default, unit and range."""

    touch_down_speed: float = setting(
        'stance.touch_down_speed', 0.15, '',
        'Slowest part of the sole below this speed: the foot has landed. A multiple of sqrt(g '
        'leg length), about 0.45 m/s for a person.', 0.0, 10.0)
    lift_off_speed: float = setting(
        'stance.lift_off_speed', 0.6, '',
        'Slowest part of the sole above this speed: the foot has left. In the same unit; above '
        'the first, for toes leave faster than a heel lands.', 0.0, 10.0)
    clearance: float = setting(
        'stance.clearance', 0.05, '',
        'A foot this far above the lowest standing one is in the air, as a fraction of the leg '
        'length.', 0.0, 10.0)
    level_clearance: float = setting(
        'stance.level_clearance', 0.025, '',
        'A level sole this far above where it rests is in the air, in the same unit.', 0.0, 10.0)
    flight_load: float = setting(
        'stance.flight_load', 0.2, '',
        'Fraction of the weight that the motion asks of the ground below which all feet are in '
        'the air.', 0.0, 1.0)
    shortest_phase: float = setting(
        'stance.shortest_phase', 0.25, '',
        'No foot stands, and none is in the air, for less than this, as a multiple of sqrt(leg '
        'length / g), about 0.08 s for a person.', 0.0, 10.0)
    pressure_error: float = setting(
        'reference.pressure_error', 0.025, 'm',
        'Error of the centre of pressure that the motion gives, one deviation.', 1e-4, 1.0)
    pressure_memory: float = setting(
        'reference.pressure_memory', 0.05, 's', 'How long that error stays the same.', 1e-4, 10.0)
    roll_error: float = setting(
        'reference.roll_error', 0.1, 'm',
        'How far from the line about which it rolls a foot presses, one deviation. Large, for '
        'the centre of pressure of all feet has errors of its own, which the path ought to share '
        'and the line does not.', 1e-4, 10.0)
    roll_speed: float = setting(
        'reference.roll_speed', 0.015, '',
        'Error of the speed of a sole over the ground, one deviation, as a multiple of sqrt(g '
        'leg length): the slower a foot rolls, the less is known of that line.', 1e-4, 10.0)
    longer_sole: float = setting(
        'reference.longer_sole', 0.2, '',
        'How much further in front than its sole ends a foot may roll over its toes as it '
        'leaves, as a fraction of the length of the sole.', 0.0, 1.0)
    edge_error: float = setting(
        'reference.edge_error', 0.005, 'm',
        'Where on the low edge a foot lands or leaves, one deviation.', 1e-4, 1.0)
    crossing_time: float = setting(
        'reference.crossing_time', 0.5, 's',
        'Least time in which the reference is expected to travel the length of the sole.', 1e-3,
        100.0)
    planted_cutoff: float = setting(
        'transfer.planted_cutoff', 2.5, 'Hz',
        'How fast load shifts between feet that stay where they are.', 0.01, 1000.0)
    step_cutoff: float = setting(
        'transfer.step_cutoff', 2.0, '',
        'How fast load shifts between two steps, as a multiple of one over the time that the '
        'feet share it.', 0.01, 1000.0)
    plausible_distance: float = setting(
        'transfer.plausible_distance', 0.05, 'm',
        'Centre of pressure further than this outside all soles: something else bears load, too, '
        'a chair or a hand.', 1e-3, 10.0)
    impact_arm: float = setting(
        'transfer.impact_arm', 0.1, '',
        'How far from where it is computed what is fast in the force acts, one deviation, as a '
        'fraction of the leg length.', 0.0, 10.0)
    uneven_share: float = setting(
        'transfer.uneven_share', 0.15, '',
        'How uneven feet side by side share the load, one deviation, while an impact hides it.',
        1e-3, 1.0)
    pivot_height: float = setting(
        'force.pivot_height', 1.3, '',
        'Where the forces of the legs meet, as a multiple of the height of the centre of mass: '
        'above it in whatever walks upright (Maus 2010).', 0.1, 100.0)
    friction: float = setting('friction.coefficient', 1.0, '', 'Of the ground.', 1e-2, 100.0)


SETTINGS = GaitSettings.table()
