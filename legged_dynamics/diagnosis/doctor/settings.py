# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Tuned numbers of the examination of a recording.

Chosen by hand from what healthy robots leave, checked on planted faults (docs/doctor_measured.md):
no healthy robot may have a finding. Prior odds and evidence are natural logarithms (nats).
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class ToleranceSettings:
    """Residuals that noise and modelling errors of a healthy robot leave, for each evidence."""

    t_degrees: float = 4.0      # degrees of freedom of the Student-t distribution of blocks
    block: float = 0.4          # s, correlation time of the errors of a moving robot
    force: float = 0.02         # of the weight: force of the base's equations
    moment: float = 0.02        # of weight times height: moment of the base's equations
    effort: float = 0.02        # of the weight on one foot times height: joint torques
    pull: float = 0.05          # of the weight: force of a foot that pulls at the ground
    slip: float = 0.08          # of the weight: tangential force beyond the friction cone
    friction: float = 1.0       # coefficient of the friction cone
    speed: float = 0.005        # heights/s by which standing feet differ
    joint_speed: float = 0.03   # of the joints' speed: feet differ by that much more
    rate: float = 0.02          # rad/s of a velocity against its position's derivative
    relative_rate: float = 0.10  # of the velocity, or turning rate: the same for fast ones
    level: float = 0.02         # of the height: unevenness of the ground
    attitude: float = 0.03      # rad, orientation against accelerometer
    gravity: float = 0.02       # of g: mean length of the measured acceleration
    turning: float = 0.03       # rad/s, gyro against the derivative of the orientation
    joint_limit: float = 0.1    # rad beyond a position limit of the URDF
    standing_load: float = 0.25  # of a foot's share of the weight: least load of a standing foot
    landing: float = 0.09       # s before and after in which a standing foot is loaded, too
    widening: float = 3.0       # of the tolerances of speed where no effort tells standing feet
    swing_square: float = 25.0  # squared residual at which a foot swings, where no effort tells
    below: float = 0.3          # of the height: deviation of the feet's height below the base


@dataclass(frozen=True)
class PriorSettings:
    """Logarithms of the prior odds against a fault [nats]."""

    single: float = 9.0         # any single fault: one robot in e^9 = 8000 has it
    frequent: float = 5.0       # a kind of parametric fault that many robots have
    short_recording: float = 8.0    # in addition, where a model's errors repeat few times
    shortest: float = 10.0      # s of recording below which it counts as short
    variant: float = 1.0        # in addition: efforts alone, or one of many orders and units
    unusual: float = 2.0        # in addition: order or axes that no usual mistake makes
    orientation: float = 6.0    # in addition: an orientation that fits nothing


@dataclass(frozen=True)
class StreamSettings:
    """Rates, clocks and readings of healthy sensors and drivers."""

    repetition: float = 0.5     # largest probability that a working sensor repeats a reading
    jitter: float = 0.02        # of the period: scatter of a healthy clock's stamps
    least_rate: float = 100.0   # Hz that the dynamics of swinging legs need
    held: float = 0.3           # s: shortest stretch of equal readings that counts as a gap
    held_ratio: float = 5       # of the joint's usual stretches: the same
    clipped: int = 20           # samples at the largest effort, to the last bit
    clipped_part: float = 0.3   # of all samples near the largest effort
    clipped_range: float = 0.95  # of the largest effort: from here on a sample is near it
    clipped_resolution: float = 0.01    # of the largest effort: coarser steps are no clipping
    clipped_times: int = 3      # separate times at which the largest effort was reached


@dataclass(frozen=True)
class CheckupSettings:
    """Motions that count as done exercises of a check-up."""

    standing_time: float = 2.0  # s of standing
    standing_motion: float = 0.04   # rad, largest motion of a standing robot within the window
    lift_motion: float = 0.15   # rad, smallest motion of a lifted leg
    lift_ratio: float = 3.0     # of the motion of any other leg: only one leg was lifted
    squats: int = 2             # down and up again
    squat_motion: float = 0.2   # rad, motion of most legs in a squat
    leaning_time: float = 6.0   # s of leaning
    time_limit: float = 60.0    # s after which an exercise is skipped
    window: float = 1.5         # s over which motion is measured


@dataclass(frozen=True)
class SearchSettings:
    """Search of one fault after the other."""

    most_findings: int = 8      # a robot with more is another robot than the URDF's
    most_corrections: int = 12  # a large fault takes more than one
    # Odds of 20 [nats]: with less it is no finding; explanations as close are both named.
    least: float = 3.0
    large: float = 60.0         # nats: a larger parametric fault is judged by all evidence
    compared: int = 12          # parametric faults that are judged so
    remainder: float = 0.05     # of the largest evidence, left by its linear correction


class Deviation(NamedTuple):
    """Standard deviations of one parameter of healthy and of faulty robots."""

    healthy: float
    faulty: float | None = None     # None: no fault of its own
    odds: float = PriorSettings.frequent    # nats, log of the prior odds against the fault


# Friction, damping, offsets of effort, rotor inertia: parts of the effort limit; lengths: of the
# height; mass, gain, changes of acceleration, drift from first to last: of themselves; elasticity:
# rad at the effort limit; play: rad; else SI units.
DEVIATIONS = {
    'effort_scale': Deviation(0.0, 0.3),
    'effort_scale_joint': Deviation(0.02, 0.15, 4.0),     # a robot has many torque constants
    'friction': Deviation(0.004, 0.05),
    'damping': Deviation(0.001, 0.005),
    'effort_offset': Deviation(0.003),
    'armature': Deviation(4e-5, 8e-4),
    'effort_delay': Deviation(5e-4, 5e-3),
    'velocity_delay': Deviation(5e-4, 5e-3),
    'position_offset': Deviation(0.006, 0.1),
    'imu_mount': Deviation(0.004, 0.1),
    'center_of_mass': Deviation(0.006, 0.1),
    'total_mass': Deviation(0.002, 0.2),
    'clock_offset': Deviation(5e-4, 0.02),
    'effort_drift': Deviation(0.02, 0.15),
    'elasticity': Deviation(0.002, 0.05),
    'play': Deviation(0.001, 0.02),
    'accelerometer_gain': Deviation(1e-6, 0.03),
    'foot_radius': Deviation(0.01, 0.05)}


@dataclass(frozen=True)
class ParametricFaultSettings:
    """Linear model of the faults that have a size."""

    signal_cutoff: float = 40.0     # Hz, low-pass of the signals
    residual_cutoff: float = 8.0    # Hz, low-pass of the residuals
    clearance: float = 0.06     # of the height: a foot so far above the others is in the air
    ground_load: float = 0.5    # of a foot's share of the weight: a foot so loaded is not
    swing_force: float = 0.003  # of the weight: force of the ground on a foot in the air
    stance_force: float = 5.0   # of the weight: force of the ground on a standing foot
    least_noise: float = 0.04   # tolerances: 0.1 % of the weight
    least_noise_soles: float = 0.12     # tolerances: 0.3 % of the weight, for flat feet
    largest_correlation: float = 0.98   # of noise from sample to sample
    noise_iterations: int = 6   # of weights and correlation
    firm: float = 0.02          # of the effort limit: torque at which play is taken up
    jitter: float = 2.0         # of the stamps' jitter: deviation of a delay
    drift_degree: int = 3       # of the polynomial of a drifting gain over time
    resting: float = 3.0        # s that a joint rests, with the same friction
    presliding: float = 0.003   # rad that a joint turns before dry friction is full
    stop: float = 0.02          # rad from a limit of the URDF, where an end stop bears torque
    swing_speed: float = 2.0    # rad/s of a swinging leg, at which viscous friction is stated
    stated_armature: float = 0.1    # of a stated rotor inertia: its deviation
    stated_friction: float = 0.3    # of stated dry friction: its deviation, at swing_speed, too
    wrong_armature: float = 0.6     # of a stated rotor inertia: its smallest fault
    com_height: float = 0.02    # of the height: sampled accelerometers miss landings
    friction_spread: float = 0.015  # of the effort limit, from joint to joint
    damping_spread: float = 0.003   # of the effort limit per rad/s, from joint to joint
    # Readings of torques, as parts of themselves, where a gear ratio is left out.
    gear_readings: tuple[float, ...] = (0.2, 0.14, 0.1, 0.07, 0.05, 0.03)
    largest_mass_error: float = 0.3     # of the mass: what is off by more is another robot
    least_scale_error: float = 0.04     # of masses and torques: how well they are known


TOLERANCES = ToleranceSettings()
PRIOR = PriorSettings()
STREAMS = StreamSettings()
CHECKUP = CheckupSettings()
SEARCH = SearchSettings()
PARAMETRIC = ParametricFaultSettings()
