# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tuned numbers of the estimator's kernels, which get them by name."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FilterSettings:
    """
    Tuned numbers, chosen on the robots of benchmarks/zoo and on bags of real ones.

    W: the robot's weight; deviations are one standard deviation; a rate is the deviation of a
    random walk after a second, natural time is sqrt(l / g).
    """

    # Deviations beyond which a value is more than its error, and a moment an outlier.
    significant: float = 2.0

    # Equations' errors
    offset_share: float = 0.3           # offset of torques over their stated noise
    # Coulomb's law is no better than that: friction grows and falls with speed, load, warmth.
    unsure_friction: float = 0.25       # variance of sliding friction over its square
    brief_doubt: float = 0.1            # of variance by unknown actuators that changes each sample
    base_force: float = 0.002           # W, error of the base's model
    base_moment: float = 0.0005         # W m, the same
    slope_time: float = 0.006           # s, mean of torques' slopes
    # Share by which a median changes in a sample, tenfold at first.
    step: float = 0.003
    noise_band: float = 1.1             # of bounds about the medians, which jitter by some percent
    least_noise_share: float = 0.5      # of stated noise, which may cover what is not white
    repeats: float = 0.3                # share of equal samples of a signal in steps
    width_growth: float = 1.2           # of a step's width in a sample, at most
    # Log-likelihood ratio of a torque that is frozen, by samples that are the same to the bit.
    frozen_evidence: float = 20.0
    steady_samples: float = 50.0        # over which stamps, and changes of their steps, are means
    scatter: float = 0.15               # of a step, its mean change: stamps are of receipt
    lost: float = 3.0                   # mean changes by which a stamp tells of lost samples

    # Walk of forces, with torque
    # s, mean of forces by whose distance they move; a rate lasts twice as long.
    recent: float = 0.02
    explained: float = 6.0              # variances of the forces within which that is noise
    slowest_rate: float = 0.005         # W, of a robot at rest
    fastest_rate: float = 1.5           # W
    swinging_rate: float = 6.7          # W, of a foot in the air, which may land
    impact: float = 12.0                # squared normalised innovation of a foot (3 dof)
    # Errors of velocities come back with the opposite sign.
    covariance_share: float = 0.25      # of the filter's covariance
    # Of the squared innovation that is process noise then, and of that noise within a tick.
    impact_share: float = 0.5

    # Squared normalised innovation of the accelerometer that contradicts all forces; an impact's
    # is smaller.
    surprise: float = 40.0
    surprise_force: float = 0.5         # W, of an unknown foot then

    # Contact by force
    unmoved: float = 0.75               # thresholds that a foot that has not risen may be lighter
    landed: float = 2.0                 # the same just after landing, which may unload it
    landing_time: float = 0.3           # natural times of that
    air_force: float = 0.005            # W, of a foot in the air, and least error of it
    largest_evidence: float = 12.0      # log-likelihood ratio of a sample
    swing_evidence: float = 3.0         # of a foot that swings for certain, torques in doubt
    largest_noise: float = 0.02         # W, error of a foot in the air; doubt counts half there

    # Contact by motion
    lost_time: float = 0.02             # s in which no foot seems to stand: velocity is lost
    step_memory: float = 10.0           # natural times in which steps are forgotten
    slip_time: float = 0.17             # s, of a standing point foot's speed and of noise's scale
    most_steps: float = 1.5             # changes of contact of a foot in a natural time
    mean_off: float = 0.4               # lower threshold of a mean of probabilities
    least_kept: float = 0.05            # bound of probabilities that a sample can turn
    least_load: float = 0.03            # even shares from which a sole tells of the base's motion
    speed_time: float = 0.03            # s, mean of a foot's speed
    place_time: float = 0.5             # natural times in which a foot's place follows it
    rise_error: float = 0.03            # m/s, of a standing robot's rise by feet and accelerometer
    rise_share: float = 0.1             # and of the velocity
    hanging_speed: float = 0.2          # m/s, of a robot that hangs
    standing_known: float = 1.0         # s until it is known, and in which a doubt of it goes
    rise_time: float = 5.0              # s, of the observer of difference and mean error
    # s, of the difference of velocities; m/s^2, by tilt and bias, which last as long.
    rise_correlation: float = 0.1
    largest_rise_bias: float = 0.3

    # Walk of forces, without torque
    landing_rate: float = 3.0           # W after one natural time, of a foot that may land
    surest: float = 0.99                # probability of contact: any foot may have landed
    # Natural times in which load becomes even, and pressure crosses the sole twice.
    even_time: float = 3.0
    uneven_share: float = 0.5           # even shares by which feet differ
    sideways: float = 0.15              # of load, and of twist by the sole: half of its friction
    straying: float = 0.03              # natural times in which what is sideways decays
    # Variance of a centre of pressure over the product of its distances from two edges: even along
    # a sole, which rolls; across it balance keeps it in the inner half.
    pressure_along: float = 1.0 / 3.0
    pressure_across: float = 1.0 / 12.0
    edge: float = 0.14                  # sizes of the sole, least root of that product
    first_load_rate: float = 2.0        # W after one natural time, of standing feet's load
    slowest_load_rate: float = 0.2
    fastest_load_rate: float = 10.0
    fastest_sole_rate: float = 1.0      # over a sole load passes while the body moves across it
    load_rate_learning: float = 60.0    # 1/s
    least_scale: float = 0.1            # of the base equations' stated noise
    largest_scale: float = 4.0
    most_learned: float = 3.0           # of the squared deviations of moments in one sample
    load_noise: float = 0.04            # W, error of a foot's load by other causes

    # Ground
    unevenness: float = 0.02            # of the feet's distance, places off the plane
    normal_time: float = 0.3            # s
    resting: float = 0.3                # rad/s, fastest turn of a sole at rest
    least_bearing: float = 1e-3         # how firmly a foot without load holds its place
    ground_settled: float = 0.5         # s from the start in which the robot may settle
    steepest: float = 0.57              # horizontal part of the normal: 35 degrees
    unloaded: float = 0.02              # W, below which there is no centre of pressure

    # Pushes and the mass of the base
    external_time: float = 0.5          # s in which an expected external wrench decays
    large_push: float = 0.3             # W, near a foot where neither joints nor base measure it
    push_rate: float = 0.45             # W, walk of the wrench during a push
    push_level: float = 1.3             # deviations of a sample, of a mean that is a push
    push_samples: float = 4.5           # of that mean
    # Deviations of slow errors that are a push, and that a sample counts for at most.
    slow_level: float = 2.5
    beyond_time: float = 0.1            # s, mean of what the filter does not follow
    unsure_push: float = 0.1            # W, slow errors at which a sample counts half
    mass_time: float = 5.0              # s in which mass is forgotten
    pushed_share: float = 0.2           # weight of a sample during a push
    # Noise that is in the acceleration and in the right side alike would look like a mass.
    # s, mean of that acceleration; the model's own mass counts for as much measuring.
    steady_time: float = 0.05
    carried: float = 0.8                # W that feet bear while mass is estimated


TUNED = FilterSettings()
