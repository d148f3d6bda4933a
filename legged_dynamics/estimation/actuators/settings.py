# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tuned numbers of actuator learning, chosen on the robots of benchmarks/zoo."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LearnerSettings:
    """Tuned numbers of actuator learning; deviations are one standard deviation."""

    # Schedule
    block_time: float = 0.01            # s, of a block
    # Blocks with swinging legs at first, in which one estimate follows on another.
    first_blocks: float = 100.0
    interval: float = 0.5               # s between estimates then, and longer once blocks are few
    settling_time: float = 10.0         # s after which most blocks are left out
    skipped_blocks: int = 3             # of four that are left out then
    memory_time: float = 60.0           # s after which what was learned counts for 1/e

    # Weights of the equations
    # Blocks of the base that count as one, for they share errors; half as many of a joint.
    base_correlation: float = 4.0
    # Squared residual over its variance that loses weight, and that counts for it at most.
    outlier: float = 6.0
    # The same of what the parameters in use leave of a swinging joint: legs that move while a
    # belly bears are no swing, and at 6 a robot on its belly believes false torques.
    misfit_clip: float = 3.0
    spread_rate: float = 0.01           # share by which a block changes the residual variances
    spread_blocks: float = 6.0          # blocks that the first guess of a variance counts for
    acceleration_noise: float = 3.0     # deviations within which an acceleration may be noise
    first_base_residual: float = 0.02   # weights, of the base's equations: first guess
    first_residual: float = 0.01        # torque limits, of the joints' equations, and usual
    torque_model_error: float = 1e-3    # torque limits, known to nobody
    noise_limit: float = 0.6            # largest share of information that is a regressor's noise
    lying_height: float = 0.45          # nominal heights; below, belly or knees may bear the base

    # Prior
    unknown_factor: float = 1.5         # deviations of an unknown parameter, once rejected
    unknown_reading_factor: float = 2.0     # deviations of unknown gain and offset, once rejected
    link_inertia: float = 0.02          # deviation of a leg's inertia about a joint, as a share
    read_delay: float = 2e-4            # s, of torques and of the IMU, read from robots without
    load_mass: float = 0.1              # robot masses, deviation of a load that is not stated
    load_moment: float = 0.05           # mass times leg length, of its first moment
    stiff: float = 0.01                 # rad at the torque limit, by which drives yield
    elastic: float = 0.1                # the same of elastic ones
    imu_tilt: float = 0.05              # rad, of an IMU that is mounted otherwise than stated
    center_of_mass: float = 0.01        # m, least error of the base's
    base_share: float = 5e-4            # least error of its mass and of gravity as read, a share

    # Hypotheses; odds are natural logarithms
    # Deviations by which data reject a stated value, and beyond which it is reported; odds by
    # which stated frictions are rejected.
    rejection: float = 5.0
    imu_delay_rejection: float = 4.0    # deviations, the same of the IMU's delay
    stated_odds: float = 3.0            # of stated armatures, and of right gains before data
    # Share by which motors of one kind differ, and of an armature that wrong masses pass for.
    usual_difference: float = 0.3
    effort_delay_odds: float = 1.0      # of an unknown delay of torques to a small one
    gain_odds: float = 4.0              # of wrong gains to all else, and of a drift of all
    # Of stiff drives to elastic ones: targets held for a sample look like these.
    elastic_odds: float = 15.0
    gain_factor: float = 2.5            # stated deviations of a gain that is wrong
    secondary_weight: float = 0.5       # of loads' deviations once gains are rejected
    # 1/sqrt(s) of time in which a leg swings, random walk of what all gains have in common: faster
    # than magnets warm (0.1 to 0.2 %/K), for it counts only by its odds.
    gain_walk: float = 0.025
    scale_noise: float = 0.007          # sqrt(s), of vertical forces, a share
    load_rejection: float = 3.0         # deviations of a change that is a load's
    mass_deviation: float = 0.04        # error of all masses alike, as a share

    # Doubt about torques
    typical_slip: float = 0.7           # typical motion before any is known: tanh(v / v_friction)
    typical_speed: float = 3.0          # rad/s
    typical_acceleration: float = 50.0  # rad/s^2
    typical_torque: float = 0.3         # torque limits
    moving_speed: float = 0.3           # rad/s, above which a joint's motion is typical
    typical_rate: float = 0.1           # share by which an estimate changes typical motion

    # Delay of velocities
    # Samples from which on it is corrected: differences of positions are late by 0.5.
    velocity_delay: float = 0.75
    velocity_noise_factor: float = 2.5  # noise behind a low-pass over that of slopes of positions

    # Findings
    # Weights, on a foot's force, of friction and of gain: smaller ones are not reported.
    effect: float = 0.005
    armature_effect: float = 0.01
    effort_delay_effect: float = 1e-3   # s, least delay that is reported
    imu_delay_effect: float = 1.5e-3    # s, the same of the IMU
    lever_arm: float = 0.15             # leg lengths, least arm of a joint's torque to a foot


LEARNER = LearnerSettings()
