# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
The wrench that a motion requires, without the errors of a body that is seen by markers.

**Noise.** Each component of the wrench about the centre of mass is smoothed by itself, but for the
vertical force, and the moment of pitch in motions with flight, which change too fast: its third
derivative is taken for white, the intensity :math:`q` is that of greatest likelihood (Whittle's,
over the cosine transform; Whittle 1953), and the estimate is the smoothing spline

.. math:: \min_F \sum_t \frac{(F_t - F^m_t)^2}{N / \Delta t}
          + \sum_t \frac{(\Delta^3 F_t)^2}{q \Delta t^5}

(Whittaker 1923; Wahba 1990, section 1.3). The spectral density :math:`N` of the noise is that of
the recording at frequencies which gait does not reach, and `motion.noise` at least. Where white
noise of the poses is seen, `without_pose_noise` takes the place of this, except for the vertical
force of motions with flight, which have a law of their own.

**Landing.** When a foot lands, the leg stops within 30 ms, in running twice as fast. Markers on
skin, and a model of rigid segments, show the force that follows as through a low-pass of 5 to 8
Hz, which also smears it over the time before; what is lost grows with the speed
(`motion.landing`, compared with force plates). It is added as a curve over time that changes
neither the momentum nor the path of the body: for walking as measured, for running the second
derivative of a Gaussian.

**Flight.** In flight the force is zero. What the motion requires there, often a tenth of the
weight, is an error of the body's momentum, so as much is missing or surplus during stance. The
force is changed by the least amount that makes flight free of force, leaves the path of the centre
of mass where it was recorded, within `motion.path_error`, and bends the force in stance no faster
than the noise allows. In running, markers also give way under the load: they move further than
the mass, as if on springs of the frequency `motion.yielding`,

.. math:: F^m = F - \ddot F / \omega^2 .
"""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, solveh_banded

from legged_dynamics.contact.over_time.recorded_motion import low_pass, second_difference
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import runs

# -------------------------------------------------------------------------------------------------
# White noise of recorded poses, and what of it reaches the force that the motion requires.
#
# Differentiated twice, white noise of poses has a density that grows with the fourth power of the
# frequency, up to the low-pass of the poses, and is largest in the first and last samples, where
# the low-pass continues the recording. With the low-pass and the differences as one linear map
# :math:`A`, the covariance of the noise of a force is :math:`C = \sigma^2 A A^T + N I / \Delta t`.
# The signal's third derivative is taken for white, of intensity :math:`q`. With third differences
# :math:`D` and :math:`s^2 = q \Delta t^5`, the estimate and the covariance of its error are
#
# .. math:: \hat F = F^m - C D^T (D C D^T + s^2 I)^{-1} D F^m , \quad
#           P = C - C D^T (D C D^T + s^2 I)^{-1} D C
#
# (Wahba 1990, section 1.3). The intensity is not known: the result is the mean over intensities,
# each weighted by its restricted likelihood (Patterson and Thompson 1971) and by what walkers show
# (`usual_intensity`), and what they differ by is part of the deviation.


# Fewest frequencies that tell a noise.
FEWEST_TONES = 6
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
    if used.sum() < FEWEST_TONES:
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


def without_pose_noise(values: np.ndarray, dt: float, cutoff: float, rate: float, white: float,
                       longest: int = POSE_NOISE.longest) -> tuple[np.ndarray, np.ndarray]:
    """
    Return force components without pose noise, and their deviations, (n, k) each.

    Over the weight; NaN, with deviation 0, where the noise is negligible. ``rate``: sqrt(g
    / l); ``white`` [1/Hz]: two-sided density of further white force noise.
    """
    n, size = len(values), min(len(values), longest)
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


# -------------------------------------------------------------------------------------------------
# The wrench, smoothed, with landings and without force in flight.

# Band in which `motion.noise` is stated [Hz].
BAND = 8.0
# Number of frequencies that are tried.
TRIED = 33
# Weight of the change of the third derivative at most: a fit with a period of a minute.
STIFFEST = 1e9
# Weight of a force of zero in flight, against changes of the order of one.
NO_FORCE = 1e6
# Fewest samples for a smoother of this order.
FEWEST = 12


@dataclass(frozen=True)
class WrenchSettings:
    """
    Noise of a force by markers, and what they do not show; l is the leg length.

    By comparison with the force plates of three laboratories (docs/people.md).
    """

    # Densities of signal and noise are equal in between: sway is slower, and no muscle is faster.
    lowest_equal: float = 2.0  # [sqrt(g / l)]
    highest_equal: float = 18.0  # [sqrt(g / l)]
    # Noise is seen where gait does not reach, 12 to 20 Hz for a person.
    lowest_noise: float = 23.0  # [sqrt(g / l)]
    highest_noise: float = 38.0  # [sqrt(g / l)]
    travel_speed: float = 0.1  # [sqrt(g l)]: from which on there is such a direction
    landing_speed: float = 0.25  # [sqrt(g l)]: from which on landings show
    # Landing in running: second derivative of a Gaussian.
    impact_delay: float = 0.12  # [sqrt(l / g)]: after touch-down
    impact_width: float = 0.047  # [sqrt(l / g)]
    # Landing in walking: a cubic spline.
    curve_start: float = -0.4  # [sqrt(l / g)]: first coefficient, after touch-down
    curve_spacing: float = 0.1  # [sqrt(l / g)]
    curve: tuple[float, ...] = (-1.38, 0.585, 0.725, 0.375, -2.34, 3.815, -0.365, -0.055, -1.9,
                                0.545)  # Coefficients
    # Standard deviation of a force that flight changes.
    least_change: float = 0.02  # [weight]
    relative_change: float = 0.1  # Of the force itself
    force_memory: float = 0.03  # [s]: correlation time of errors of the force
    path_memory: float = 0.3  # [s]: of the path of the centre of mass
    # Stance with flight on a side: frequency up to which the force is followed, times the fourth
    # root of the density of its noise [weight^2 sqrt(l / g)].
    stance_cutoff: float = 3.77  # [sqrt(g / l)]


REQUIRED = WrenchSettings()


class WrenchSmoother:
    """The wrench of a recording without noise; smoothed once, whatever the contacts are."""

    def __init__(self, dynamics: GaitInverseDynamics, settings: GaitSettings):
        self._recorded, self._settings = dynamics.as_recorded, settings
        self._short = len(dynamics.time) < FEWEST
        self.noisy = False  # Whether white noise of the poses is seen
        if self._short:
            return
        arm, wrench, dt = dynamics.center_of_mass, self._recorded.wrench, dynamics.step
        about_center = np.hstack([wrench[:, :3], wrench[:, 3:] - np.cross(arm, wrench[:, :3])])
        self._scale = dynamics.weight * np.repeat([1.0, dynamics.leg_length], 3)
        self._values = about_center / self._scale
        self._rate = float(np.sqrt(GRAVITY / dynamics.leg_length))
        self._density = _noise_density(self._values[:, 2], dt, self._rate, settings)
        tried = np.geomspace(REQUIRED.lowest_equal, REQUIRED.highest_equal, TRIED) * self._rate
        self._smooth = np.stack([_smoothed(column, dt, self._density, tried)
                                 for column in self._values.T], axis=1)
        self._smooth[:, 2] = self._values[:, 2]
        self._left = np.zeros((len(arm), 6))
        if dynamics.motion.cutoff is not None:
            mean, self._left = without_pose_noise(self._values, dt, dynamics.motion.cutoff,
                                                  self._rate, settings.noise ** 2 / (2.0 * BAND))
            self._smooth = np.where(np.isnan(mean), self._smooth, mean)
            self.noisy = bool(self._left.any())

    def given(self, contact: np.ndarray) -> GaitInverseDynamics:
        """Return inverse dynamics with landings (n, nf) put right, and no force in flight."""
        dynamics, settings = self._recorded, self._settings
        if self._short:
            return dynamics
        standing, found = contact.any(axis=1), self._smooth.copy()
        if not standing.all():
            found[:, 2] = _bent_least(self._values[:, 2],
                                      _yielding(contact, dynamics.step, settings), 1)
            found[:, 4] = np.where(self._left[:, 4].any(), found[:, 4], self._values[:, 4])
        found[:, 2] += _landings(dynamics, contact, settings)
        if not standing.all():
            found[:, :3] = _free_in_flight(found[:, :3], standing, dynamics.step, self._rate,
                                           self._density, settings.path_error)
            found[~standing, 3:] = 0.0
            found[:, 2] = np.maximum(found[:, 2], 0.0)
        found *= self._scale
        found[:, 3:] += np.cross(dynamics.center_of_mass, found[:, :3])
        return replace(dynamics, wrench=found, noise=dynamics.wrench - found,
                       noise_left=self._left[:, :3] * dynamics.weight)


def _noise_density(load: np.ndarray, dt: float, rate: float, settings: GaitSettings) -> float:
    """Return the noise of the load (n,), two-sided [weights^2/Hz]; `rate` is sqrt(g / leg)."""
    frequency, power = _spectrum(load, dt)
    relative = 2.0 * np.pi * frequency / rate
    seen = power[(relative > REQUIRED.lowest_noise) & (relative < REQUIRED.highest_noise)]
    # The median of a chi-squared of one degree of freedom is 0.455.
    own = float(np.median(seen)) / 0.455 if len(seen) else 0.0
    return own + settings.noise ** 2 / (2.0 * BAND)


def _smoothed(values: np.ndarray, dt: float, density: float,
             tried: np.ndarray) -> np.ndarray:
    """
    Return the most likely smooth signal in white noise of a two-sided density.

    ``tried`` [rad/s]: frequencies at which both may have the same density (Whittle).
    """
    frequency, power = _spectrum(values, dt)
    used = slice(1, int(np.searchsorted(2.0 * np.pi * frequency, tried[-1])))
    falling = (2.0 * np.pi * frequency[used]) ** (-2 * ORDER)
    expected = tried[:, None] ** (2 * ORDER) * falling + 1.0
    equal = tried[np.argmin((np.log(expected) + power[used] / density / expected).sum(axis=1))]
    return _bent_least(values, np.full(len(values) - ORDER,
                                       min((equal * dt) ** (-2 * ORDER), STIFFEST)), ORDER)


def _spectrum(values: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies [Hz] and the two-sided spectral density there."""
    from scipy.fft import dct  # slow to import

    n = len(values)
    return (np.arange(n) / (2.0 * n * dt),
            dct(values - values.mean(), norm='ortho') ** 2 * dt)


def _landings(dynamics: GaitInverseDynamics, contact: np.ndarray,
              settings: GaitSettings) -> np.ndarray:
    """
    Return the vertical force that landings do not show, (n,) over the weight.

    It acts at the centre of mass: the moment about it agrees better with force plates as it is.
    """
    from scipy.interpolate import BSpline  # slow to import

    # Three more knots on either side, where it begins and ends in zero.
    knots = REQUIRED.curve_start + REQUIRED.curve_spacing * np.arange(-5, len(REQUIRED.curve) + 5)
    walked = BSpline(knots, np.pad(REQUIRED.curve, 3), 3, extrapolate=False)
    unit, dt = np.sqrt(dynamics.leg_length / GRAVITY), dynamics.step
    sample, found = np.arange(len(contact)), np.zeros(len(contact))
    moving = dynamics.center_velocity[:, :2]
    for i in range(contact.shape[1]):
        others = np.delete(contact, i, axis=1).any(axis=1)
        for k in np.flatnonzero(contact[1:, i] & ~contact[:-1, i]) + 1:
            near = np.abs(sample - k) * dt < unit
            speed = np.linalg.norm(np.median(
                moving[near] - dynamics.ground_velocity[near, i, :2], axis=0))
            size = settings.landing * (speed / np.sqrt(GRAVITY * dynamics.leg_length)
                                       - REQUIRED.landing_speed)
            phase = (sample - k + 0.5) * dt / unit
            if size <= 0.0:
                continue
            if others[k - 1:k + 1].all():
                found += size * np.nan_to_num(walked(phase))
            elif not (contact[k - 1].any() or others[k]):
                square = ((phase - REQUIRED.impact_delay) / REQUIRED.impact_width) ** 2
                found += size * (1.0 - square) * np.exp(-0.5 * square)
    return found


def _yielding(contact: np.ndarray, dt: float, settings: GaitSettings) -> np.ndarray:
    """Return the weight of changes of the force, (n - 1,), where feet land one at a time."""
    one = np.zeros(len(contact), bool)
    flying = ~contact.any(axis=1)
    for first, end in runs(~flying):
        one[first:end] = contact[first:end].sum(axis=1).max() == 1
    for first, end in runs(flying):
        one[first:end] = (first == 0 or one[first - 1]) and (end == len(one) or one[end])
    return np.where(one[1:] & one[:-1], 1.0, 0.0) / (2.0 * np.pi * settings.yielding * dt) ** 2


def _bent_least(values: np.ndarray, weight: np.ndarray, order: int) -> np.ndarray:
    """Return values whose weighted differences, and distance from those given, are least."""
    band = np.zeros((order + 1, len(values)))
    band[order] = 1.0
    _add_differences(band, weight, order)
    return solveh_banded(band, values)


def _add_differences(band: np.ndarray, weight: np.ndarray, order: int) -> None:
    """Add the square of weighted differences to the upper band of a symmetric matrix."""
    row = np.poly(np.ones(order))
    depth = len(band) - 1
    for i in range(order + 1):
        for j in range(i, order + 1):
            band[depth - (j - i), j:j + len(weight)] += row[i] * row[j] * weight


def _free_in_flight(force: np.ndarray, standing: np.ndarray, dt: float, rate: float,
                    density: float, path_error: float) -> np.ndarray:
    """Return forces (n, 3) over the weight that are zero in flight, by the least change."""
    inner, changed = standing[1:-1], force.copy()
    followed = REQUIRED.stance_cutoff / (density * rate) ** 0.25
    bends = (inner[2:] & inner[1:-1] & inner[:-2]) * dt / (
        REQUIRED.force_memory * REQUIRED.relative_change ** 2)
    bends = bends / (followed * rate * dt) ** 4
    for k in range(3):
        size = REQUIRED.least_change + REQUIRED.relative_change * np.abs(force[1:-1, k])
        weight = np.where(inner, dt / (REQUIRED.force_memory * size ** 2), NO_FORCE)
        changed[:, k] += on_path(np.where(inner, 0.0, -force[1:-1, k]), weight, dt, path_error,
                                 (bends, np.diff(force[1:-1, k], 2)))
    changed[~standing] = 0.0
    return changed


def on_path(target: np.ndarray, weight: np.ndarray, dt: float, path_error: float,
            bends: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """
    Return the force change (n,) nearest to a target that keeps the body on its path.

    The unknown is the CoM path change over g; its second difference is the force change.
    ``path_error`` [m]: deviation; ``bends``: weights of the force's second difference.
    """
    band = np.zeros((5, len(target) + 2))
    band[4] = dt / REQUIRED.path_memory * (GRAVITY / path_error) ** 2
    _add_differences(band, weight / dt ** 4, 2)
    pull = np.convolve(weight * target, [1.0, -2.0, 1.0])
    if bends is not None:
        _add_differences(band, bends[0] / dt ** 4, 4)
        pull -= np.convolve(bends[0] * bends[1], [1.0, -4.0, 6.0, -4.0, 1.0])
    return np.pad(np.diff(solveh_banded(band, pull / dt ** 2), 2) / dt ** 2, 1, mode='edge')
