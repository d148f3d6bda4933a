# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings for whole recordings: stance detection, centre of pressure, load transfer."""
from __future__ import annotations

from dataclasses import dataclass

from legged_dynamics.schema import CheckedSettings, setting


@dataclass(frozen=True)
class GaitSettings(CheckedSettings):
    """Checked settings, each with its default, unit and range."""

    noise: float = setting(
        'motion.noise', 0.01, '',
        'Least standard deviation of the noise of the force that the motion requires, as a part '
        'of the weight, in a band of 8 Hz. What the recording itself shows is added.', 1e-4, 1.0)
    landing: float = setting(
        'motion.landing', 0.2, '',
        'Force, as a part of the weight, that markers and rigid segments do not show when a foot '
        'lands, by how much the speed exceeds a quarter of sqrt(g leg length).',
        0.0, 2.0)
    yielding: float = setting(
        'motion.yielding', 12.0, 'Hz',
        'Frequency of the springs on which markers seem to sit in running.', 1.0, 1000.0)
    path_error: float = setting(
        'motion.path_error', 0.01, 'm',
        'Standard deviation of the path of the centre of mass.', 1e-4, 1.0)
    touch_down_speed: float = setting(
        'stance.touch_down_speed', 0.15, '',
        'A sole rests while all of it is below three tenths of this speed, a multiple of sqrt(g '
        'leg length), about 0.45 m/s for a person.', 0.0, 10.0)
    lift_off_speed: float = setting(
        'stance.lift_off_speed', 0.6, '',
        'The parts of a sole that may touch the ground are below this speed, a multiple of sqrt(g '
        'leg length).', 0.0, 10.0)
    clearance: float = setting(
        'stance.clearance', 0.1, '',
        'Standard deviation of the height of a swinging foot, as a fraction of the leg length.',
        1e-3, 10.0)
    flight_load: float = setting(
        'stance.flight_load', 0.2, '',
        'Flight: the vertical force that the motion requires is below this fraction of the '
        'weight.', 0.0, 1.0)
    shortest_phase: float = setting(
        'stance.shortest_phase', 0.25, '',
        'Shortest stance or swing phase, as a multiple of sqrt(leg length / g), about 0.08 s for '
        'a person; phases last twice that or longer as a rule.', 1e-3, 10.0)
    pressure_error: float = setting(
        'reference.pressure_error', 0.025, 'm',
        'Standard deviation of the centre of pressure computed from the motion.', 1e-4, 1.0)
    pressure_memory: float = setting(
        'reference.pressure_memory', 0.05, 's', 'Time over which that error is correlated.',
        1e-4, 10.0)
    roll_error: float = setting(
        'reference.roll_error', 0.1, 'm',
        'Standard deviation of the distance between the centre of pressure of a foot and the '
        'line about which it rolls. Large, because the centre of pressure of all feet has errors '
        'of its own, which the path should share and the line does not have.', 1e-4, 10.0)
    roll_speed: float = setting(
        'reference.roll_speed', 0.015, '',
        'Standard deviation of the speed of a sole over the ground, as a multiple of sqrt(g leg '
        'length). The slower a foot rolls, the less certain that line is.', 1e-4, 10.0)
    longer_sole: float = setting(
        'reference.longer_sole', 0.2, '',
        'How far beyond the front edge of its sole a foot may roll over its toes at toe-off, as '
        'a fraction of the length of the sole.', 0.0, 1.0)
    edge_error: float = setting(
        'reference.edge_error', 0.005, 'm',
        'Standard deviation of the centre of pressure from the lowest edge at touch-down and '
        'toe-off.', 1e-4, 1.0)
    crossing_time: float = setting(
        'reference.crossing_time', 0.5, 's',
        'Shortest time in which the centre of pressure is expected to travel the length of the '
        'sole.', 1e-3, 100.0)
    planted_cutoff: float = setting(
        'transfer.planted_cutoff', 2.5, 'Hz',
        'Cut-off frequency of load transfer between feet that stay in place.', 0.01, 1000.0)
    step_cutoff: float = setting(
        'transfer.step_cutoff', 0.5, '',
        'Cut-off frequency of load transfer between two steps, times the duration of the double '
        'support.', 0.01, 1000.0)
    plausible_distance: float = setting(
        'transfer.plausible_distance', 0.05, 'm',
        'A centre of pressure twice as far as this outside all soles is not that of the feet: '
        'while several stay in place, a chair or a hand carries load; while they step, soles, '
        'base pose or masses are off.', 1e-3, 10.0)
    uneven_share: float = setting(
        'transfer.uneven_share', 0.15, '',
        'Standard deviation of the difference from an even share between feet side by side.',
        1e-3, 1.0)
    sum_error: float = setting(
        'error.sum', 0.004, '',
        'Standard deviation of the sum of all forces on a body at rest, as a part of the weight.',
        0.0, 1.0)
    sum_moving: float = setting(
        'error.sum_moving', 0.2, '',
        'What is added to it, as a part of the rms deviation of the vertical force from the '
        'weight.', 0.0, 1.0)
    mass_error: float = setting(
        'error.mass', 0.067, '',
        'Standard deviation of the mass, as a part of it, where only the model states it, by '
        'three laboratories; with a YAML, that which it states (noise.mass).', 0.0, 1.0)
    scale_error: float = setting(
        'error.scale', 0.01, '',
        'The same where the mass is from a scale, and the least that force plates leave.',
        1e-4, 1.0)
    speed_error: float = setting(
        'error.speed', 0.015, '',
        'Standard deviation of the vertical speed of the centre of mass at the ends of what force '
        'plates measured, as a multiple of sqrt(g leg length): over a short time the mean force '
        'says less of the mass.', 1e-4, 1.0)
    center_error: float = setting(
        'error.center_of_mass', 0.0, 'm',
        'Stated standard deviation of the centre of mass of the model, in addition to what people '
        'show; of a robot, that of its noise, with error.odometry.', 0.0, 1.0)
    odometry_error: float = setting(
        'error.odometry', 0.04, 'm',
        'Standard deviation of the centre of pressure of a robot that knows its base by its own '
        'sensors, or odometry: base pose and mass distribution; 0 where its pose is measured from '
        'outside.', 0.0, 1.0)
    rate_error: float = setting(
        'error.rate', 0.05, '',
        'Standard deviation of the share in the middle of a step from a load that passes over at '
        'a constant rate.', 0.0, 0.5)
    pivot_height: float = setting(
        'force.pivot_height', 1.3, '',
        'Height of the virtual pivot point, where the lines of the leg forces meet, as a '
        'multiple of the height of the centre of mass (Maus 2010).', 0.1, 100.0)
    friction: float = setting('friction.coefficient', 1.0, '',
                              'Coulomb friction coefficient of the ground.', 1e-2, 100.0)


SETTINGS = GaitSettings.table()
