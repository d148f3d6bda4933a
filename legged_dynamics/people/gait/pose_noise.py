# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
White noise of recorded poses, and what of it reaches the force that the motion requires.

Differentiated twice, white noise of poses has a density that grows with the fourth power of the
frequency, up to the low-pass of the poses, and is largest in the first and last samples, where the
low-pass continues the recording. With the low-pass and the differences as one linear map
:math:`A`, the covariance of the noise of a force is :math:`C = \sigma^2 A A^T + N I / \Delta t`.
The signal's third derivative is taken for white, of intensity :math:`q`. With third differences
:math:`D` and :math:`s^2 = q \Delta t^5`, the estimate and the covariance of its error are

.. math:: \hat F = F^m - C D^T (D C D^T + s^2 I)^{-1} D F^m , \quad
          P = C - C D^T (D C D^T + s^2 I)^{-1} D C

(Wahba 1990, section 1.3). The intensity is not known: the result is the mean over intensities,
each weighted by its restricted likelihood (Patterson and Thompson 1971) and by what walkers show
(`usual_intensity`), and what they differ by is part of the deviation.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from legged_dynamics.contact.over_time.recorded_motion import low_pass, second_difference
from legged_dynamics.dynamics.motion import GRAVITY

# Fewest frequencies that tell a noise.
FEWEST = 6
# Derivative that is taken for white.
ORDER = 3
# Its intensities that are tried [weight^2 (g / l)^(5/2)].
INTENSITY = np.geomspace(3e-2, 3e5, 36)


@dataclass(frozen=True)
class PoseNoiseSettings:
    """White noise of poses; intensities of walkers are those of docs/people.md."""

    # Where it is seen: 20 to 36 Hz for a person.
    lowest_noise: float = 38.0  # [sqrt(g / l)]
    highest_noise: float = 69.0  # [sqrt(g / l)]
    # Less is taken for soft tissue: a quarter of a millimetre in walking.
    least_deviation: float = 0.03  # [weight]: of the force
    longest: int = 500  # Samples that are treated at once
    usual_intensity: float = 300.0  # [weight^2 (g / l)^(5/2)]: of walkers
    decades: float = 0.7  # Standard deviation of its decimal logarithm


POSE_NOISE = PoseNoiseSettings()


def response(n: int, dt: float, cutoff: float) -> np.ndarray:
    """Return A (n, n) [1/m]: column k is force over weight by a 1 m error in sample k."""
    return second_difference(low_pass(np.eye(n), dt, cutoff), dt) / GRAVITY


def seen_variance(values: np.ndarray, dt: float, A: np.ndarray, rate: float) -> np.ndarray:
    """
    Return the white noise variance of the poses (k,) [m^2], from high frequencies.

    ``values``: force over weight; ``rate``: sqrt(g / l), l: leg length. Zero with too few
    samples.
    """
    from scipy.fft import dct  # slow to import

    # Differences keep the ends of the recording from leaking into high frequencies.
    seen, unit = (np.diff(columns, ORDER, axis=0) for columns in (values, A))
    frequency = np.pi * np.arange(len(seen)) / (len(seen) * dt)
    used = (frequency > POSE_NOISE.lowest_noise * rate) & (
        frequency < POSE_NOISE.highest_noise * rate)
    if used.sum() < FEWEST:
        return np.zeros(values.shape[1])
    expected = (dct(unit, axis=0, norm='ortho')[used] ** 2).sum(axis=1, keepdims=True)
    return np.mean(dct(seen, axis=0, norm='ortho')[used] ** 2 / expected, axis=0)


def smoothed(values: np.ndarray, dt: float, noise: np.ndarray,
             rate: float) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the smooth signal in noise of covariance C, and its standard deviation.

    ``values`` (n,): force over weight; ``rate`` [rad/s]: sqrt(g / l) with the leg length l.
    """
    DC = np.diff(noise, ORDER, axis=0)
    level, axes = eigh(np.diff(DC, ORDER, axis=1))
    seen, gain = axes.T @ np.diff(values, ORDER), DC.T @ axes
    total = level + (INTENSITY * rate ** 5 * dt ** 5)[:, None]
    signal = values - (seen / total) @ gain.T
    variance = np.diag(noise) - (1.0 / total) @ (gain ** 2).T
    unlikely = (np.log(total) + seen ** 2 / total).sum(axis=1) + (
        np.log10(INTENSITY / POSE_NOISE.usual_intensity) / POSE_NOISE.decades) ** 2
    weight = np.exp(-0.5 * (unlikely - unlikely.min()))
    weight /= weight.sum()
    mean = weight @ signal
    return mean, np.sqrt((weight @ (variance + (signal - mean) ** 2)).clip(0.0))


def without_pose_noise(values: np.ndarray, dt: float, cutoff: float, rate: float,
                       white: float) -> tuple[np.ndarray, np.ndarray]:
    """
    Return force components without pose noise, and their deviations, (n, k) each.

    Over the weight; NaN, with deviation 0, where the noise is negligible. ``rate``: sqrt(g
    / l); ``white`` [1/Hz]: two-sided density of further white force noise.
    """
    n, size = len(values), min(len(values), POSE_NOISE.longest)
    # Blocks of a long recording overlap by half, and are faded into each other.
    starts = sorted({*range(0, n - size, max(size // 2, 1)), n - size})
    fade = np.minimum(np.arange(1, size + 1), np.arange(size, 0, -1))[:, None].astype(float)
    A = response(size, dt, cutoff)
    blocks = [values[first:first + size] for first in starts]
    variance = np.mean([seen_variance(block, dt, A, rate) for block in blocks], axis=0)
    passed = (A ** 2).sum(axis=1)[size // 4:size - size // 4].mean()
    noisy = np.flatnonzero(variance * passed > POSE_NOISE.least_deviation ** 2)
    total, mean, left = np.zeros((n, 1)), np.zeros(values.shape), np.zeros(values.shape)
    noise = A @ A.T if len(noisy) else A
    for first, block in zip(starts, blocks):
        part = slice(first, first + size)
        total[part] += fade
        for k in noisy:
            found = smoothed(block[:, k], dt, variance[k] * noise + white / dt * np.eye(size),
                             rate)
            mean[part, k] += fade[:, 0] * found[0]
            left[part, k] += fade[:, 0] * found[1]
    mean[:, np.setdiff1d(np.arange(values.shape[1]), noisy)] = np.nan
    return mean / total, left / total
