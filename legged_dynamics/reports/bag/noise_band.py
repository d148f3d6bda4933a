# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How large the residual at the base may be by the stated noise of the sensors alone.

Accelerations are differences of noisy velocities, so white noise of standard deviation sigma gives
sqrt(2) sigma / dt, and what it does at the base is a column of the mass matrix M (Featherstone
2008, section 6.2). With the accelerometer at p, whose reading is moved to the base by the gyro's
slope, and the model's error of mass,

    C = 2 / dt^2 (sum over joints of sigma_j^2 M_j M_j^T + sigma_g^2 G G^T) + sigma_a^2 M_v M_v^T,
    G = M_w + M_v x p  (row by row),

and the length of an error with this covariance stays below the 95 % quantile of a scaled
chi-square with the same mean and variance (Welch 1938). Contacts, impacts and a wrong model are
not in it: what lies above the band is theirs.
"""
from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from legged_dynamics.dynamics.composite_body import CompositeBody
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.reports.bag.analysis import Analysis

# Poses that the band is a mean of.
POSES = 50
QUANTILE = 0.95


def residual_bands(analysis: Analysis) -> tuple[float, float]:
    """
    Return the length of base force and moment that noise stays below in 95 % of the samples.

    Parameters
    ----------
    analysis : Analysis
        What was found.

    Returns
    -------
    float
        Of the force [N]; NaN where the rate is not known, or the base is fixed.
    float
        Of the moment [N m].

    """
    config, series = analysis.robot.config, analysis.series
    model, noise = config.apply_to(analysis.robot.model), config.noise
    positions = series.position.values
    positions = positions[np.isfinite(positions).all(axis=1)]
    if (not model.floating or not np.isfinite(series.period) or not len(positions)
            or positions.shape[1] != model.nq):
        return np.nan, np.nan
    velocity = _of_joints(noise.velocity, noise.joint_velocity, config.joints,
                          model.joint_names)
    mass = CompositeBody(model)
    imu = model.frame(config.imu_link or model.base_link)
    place = imu.pose.p if imu.body == 0 else np.zeros(3)
    rate = np.sqrt(2.0) / series.period
    covariance = np.zeros((6, 6))
    chosen = positions[::max(len(positions) // POSES, 1)]
    for position in chosen:
        M = mass.mass_matrix(position)[:6]
        errors = np.hstack([
            noise.accelerometer * M[:, :3], rate * velocity * M[:, 6:],
            rate * noise.gyro * (M[:, 3:6] + np.cross(M[:, :3], place))])
        covariance += errors @ errors.T / len(chosen)
    covariance[:3, :3] += np.eye(3) / 3.0 * (noise.mass * model.total_mass * GRAVITY) ** 2
    return _quantile(covariance[:3, :3]), _quantile(covariance[3:, 3:])


def _of_joints(one: float, each: tuple[float, ...], order: tuple[str, ...],
               names: tuple[str, ...]) -> np.ndarray:
    """Return the deviation of each joint, in the model's order."""
    stated = dict(zip(order or names, each)) if each else {}
    return np.array([stated.get(name, one) for name in names])


def _quantile(covariance: np.ndarray) -> float:
    """Return what the length of a Gaussian vector stays below in 95 % of the cases."""
    trace, squares = np.trace(covariance), np.sum(covariance ** 2)
    if trace <= 0.0:
        return 0.0
    freedom = trace ** 2 / squares
    return float(np.sqrt(chi2.ppf(QUANTILE, freedom) * trace / freedom))
