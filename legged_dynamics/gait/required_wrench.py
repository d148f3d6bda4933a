# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
The wrench that a motion requires, without the noise that differentiating the motion brings.

The error of the force that a recorded motion requires is nearly white over the frequencies of
gait: skin and soft tissue move against the bones, and the model's masses are not the person's.
Its size is stated as a part of the weight (`motion.noise`, `motion.impact_noise`), the same along
all axes, while the true force varies much vertically and hardly sideways. So each component of the
wrench about the centre of mass is smoothed by itself: its third derivative is taken for white, the
intensity :math:`q` is that of greatest likelihood (Whittle's, over the cosine transform; Whittle
1953), and the estimate is the smoothing spline

.. math:: \min_F \sum_t \frac{(F_t - F^m_t)^2}{N / \Delta t}
          + \sum_t \frac{(\Delta^3 F_t)^2}{q \Delta t^5}

(Whittaker 1923; Wahba 1990, section 1.3) with the spectral density :math:`N` of the noise.

In flight the force is zero. What the motion requires there, often a tenth of the weight, is an
error of the body's momentum, so the same momentum is missing or surplus during stance. The force
is corrected by the least change, weighed by its size, that makes flight free of force and leaves
the path of the centre of mass where it was recorded, within `motion.path_error`.
"""
from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import solveh_banded

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.gait.settings import GaitSettings

# Derivative that is taken for white.
ORDER = 3
# Band in which the noise is stated, and in which the likelihood is taken [Hz].
BAND, SLOWEST, FASTEST = 8.0, 0.3, 12.0
# Frequencies at which the densities of signal and noise may be equal, as multiples of sqrt(g / l):
# sway is slower, and no muscle changes the force on the ground faster.
EQUAL = np.geomspace(2.0, 18.0, 33)
# Weight of the change of the third derivative at most: a fit with a period of a minute.
STIFFEST = 1e9
# Standard deviation of a force that is corrected: a part of the weight, and of the force itself.
LEAST_CHANGE, CHANGE = 0.02, 0.1
# Time over which errors of the force, and of the path, are correlated [s].
FORCE_MEMORY, PATH_MEMORY = 0.03, 0.3
# Weight of a force of zero in flight, against changes of the order of one.
NO_FORCE = 1e6
# Fewest samples for a smoother of this order.
FEWEST = 12


def without_noise(dynamics: GaitInverseDynamics, contact: np.ndarray,
                  settings: GaitSettings) -> GaitInverseDynamics:
    """
    Return inverse dynamics whose wrench is smoothed and free of force in flight.

    Parameters
    ----------
    dynamics : GaitInverseDynamics
        Inverse dynamics of the recording.
    contact : (n, nf) bool array
        Feet on the ground.
    settings : GaitSettings
        Those named `motion` are used.

    Returns
    -------
    GaitInverseDynamics
        Of the same motion; what was taken away is its `noise`.

    """
    n, arm = len(dynamics.time), dynamics.center_of_mass
    if n < FEWEST:
        return dynamics
    before = dynamics.as_recorded.wrench
    about_center = np.hstack([before[:, :3], before[:, 3:] - np.cross(arm, before[:, :3])])
    scale = dynamics.weight * np.repeat([1.0, dynamics.leg_length], 3)
    density = force_noise(before[:, 2] / dynamics.weight, settings) ** 2 / (2.0 * BAND)
    equal = EQUAL * np.sqrt(GRAVITY / dynamics.leg_length)
    found = np.stack([smoothed(column, dynamics.step, density, equal)
                      for column in (about_center / scale).T], axis=1)
    standing = contact.any(axis=1)
    if not standing.all():
        found[:, :3] = _free_in_flight(found[:, :3], standing, dynamics.step,
                                       settings.path_error)
        found[~standing, 3:] = 0.0
        found[:, 2] = np.maximum(found[:, 2], 0.0)
    found *= scale
    found[:, 3:] += np.cross(arm, found[:, :3])
    return replace(dynamics, wrench=found, noise=before - found)


def force_noise(load: np.ndarray, settings: GaitSettings) -> float:
    """
    Return the stated noise of the required force.

    Parameters
    ----------
    load : (n,) array
        Required vertical force, as a multiple of the weight.
    settings : GaitSettings
        Those named `motion` are used.

    Returns
    -------
    float
        Standard deviation in a band of 8 Hz, as a part of the weight.

    """
    return settings.noise + settings.impact_noise * float(np.std(load))


def smoothed(values: np.ndarray, dt: float, density: float,
             tried: np.ndarray) -> np.ndarray:
    """
    Return the most likely smooth signal in white noise of a stated density.

    Parameters
    ----------
    values : (n,) array
        Signal and noise, evenly spaced.
    dt : float [s]
        Time between samples.
    density : float
        Two-sided spectral density of the noise, the square of the unit of the values per Hz.
    tried : (k,) array [rad/s]
        Frequencies at which the densities of signal and noise may be equal.

    Returns
    -------
    (n,) array

    """
    equal = _likely_equal(values, dt, density, tried)
    return _whittaker(values, min((equal * dt) ** (-2 * ORDER), STIFFEST))


def _likely_equal(values: np.ndarray, dt: float, density: float, tried: np.ndarray) -> float:
    """Return the frequency of equal densities of greatest likelihood (Whittle) [rad/s]."""
    from scipy.fft import dct  # slow to import

    n = len(values)
    power = dct(values - values.mean(), norm='ortho') ** 2 * dt / density
    frequency = np.arange(n) / (2.0 * n * dt)
    used = (frequency > SLOWEST) & (frequency < FASTEST)
    falling = (2.0 * np.pi * frequency[used]) ** (-2 * ORDER)
    expected = tried[:, None] ** (2 * ORDER) * falling + 1.0
    return float(tried[np.argmin((np.log(expected) + power[used] / expected).sum(axis=1))])


def _whittaker(values: np.ndarray, stiffness: float) -> np.ndarray:
    """Return the smoothing spline of evenly spaced values."""
    band = np.zeros((ORDER + 1, len(values)))
    band[ORDER] = 1.0
    _add_differences(band, np.full(len(values) - ORDER, stiffness), ORDER)
    return solveh_banded(band, values)


def _add_differences(band: np.ndarray, weight: np.ndarray, order: int) -> None:
    """Add the square of weighted differences to the upper band of a symmetric matrix."""
    row = np.ones(1)
    for _ in range(order):
        row = np.convolve(row, [1.0, -1.0])
    depth = len(band) - 1
    for i in range(order + 1):
        for j in range(i, order + 1):
            band[depth - (j - i), j:j + len(weight)] += row[i] * row[j] * weight


def _free_in_flight(force: np.ndarray, standing: np.ndarray, dt: float,
                    path_error: float) -> np.ndarray:
    """
    Return forces (n, 3) over the weight that are zero in flight, by the least change.

    The unknown of each axis is the change of the path of the centre of mass over the acceleration
    of gravity, whose second difference is the change of the force.
    """
    inner, changed = standing[1:-1], force.copy()
    for k in range(3):
        size = LEAST_CHANGE + CHANGE * np.abs(force[1:-1, k])
        weight = np.where(inner, dt / (FORCE_MEMORY * size ** 2), NO_FORCE)
        target = np.where(inner, 0.0, -force[1:-1, k])
        band = np.zeros((3, len(force)))
        band[2] = dt / PATH_MEMORY * (GRAVITY / path_error) ** 2
        _add_differences(band, weight / dt ** 4, 2)
        pull = np.convolve(weight * target / dt ** 2, [1.0, -2.0, 1.0])
        path = solveh_banded(band, pull)
        changed[:, k] += np.pad(np.diff(path, 2) / dt ** 2, 1, mode='edge')
    changed[~standing] = 0.0
    return changed
