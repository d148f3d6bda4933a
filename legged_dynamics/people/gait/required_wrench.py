# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
The wrench that a motion requires, without the errors of a body that is seen by markers.

**Noise.** Each component of the wrench about the centre of mass is smoothed by itself: its third
derivative is taken for white, the intensity :math:`q` is that of greatest likelihood (Whittle's,
over the cosine transform; Whittle 1953), and the estimate is the smoothing spline

.. math:: \min_F \sum_t \frac{(F_t - F^m_t)^2}{N / \Delta t}
          + \sum_t \frac{(\Delta^3 F_t)^2}{q \Delta t^5}

(Whittaker 1923; Wahba 1990, section 1.3). The spectral density :math:`N` of the noise is that of
the recording at frequencies which gait does not reach, and `motion.noise` at least; sideways it
is larger. Where white noise of the poses is seen, `pose_noise` takes the place of this, except
for the vertical force of motions with flight, which have a law of their own.

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
from scipy.linalg import solveh_banded

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.pose_noise import ORDER, without_pose_noise
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import runs

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

    # The likelihood of a spectrum is taken over this band.
    lowest_likely: float = 0.3  # [Hz]
    highest_likely: float = 12.0  # [Hz]
    # Densities of signal and noise are equal in between: sway is slower, and no muscle is faster.
    lowest_equal: float = 2.0  # [sqrt(g / l)]
    highest_equal: float = 18.0  # [sqrt(g / l)]
    # Noise is seen where gait does not reach, 12 to 20 Hz for a person.
    lowest_noise: float = 23.0  # [sqrt(g / l)]
    highest_noise: float = 38.0  # [sqrt(g / l)]
    sideways_noise: float = 6.0  # Density across the direction of travel over vertical
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
    # Stance with flight on a side: frequency up to which the force is followed.
    stance_cutoff: float = 15.0  # [sqrt(g / l)]: at this noise
    stance_noise: float = 4e-3  # [weight^2 sqrt(l / g)]
    least_cutoff: float = 9.0  # [sqrt(g / l)]
    largest_cutoff: float = 90.0  # [sqrt(g / l)]


REQUIRED = WrenchSettings()


def without_noise(dynamics: GaitInverseDynamics, contact: np.ndarray,
                  settings: GaitSettings) -> GaitInverseDynamics:
    """Return inverse dynamics with a smoothed wrench and no force in flight."""
    n, arm = len(dynamics.time), dynamics.center_of_mass
    if n < FEWEST:
        return dynamics
    before = dynamics.as_recorded.wrench
    about_center = np.hstack([before[:, :3], before[:, 3:] - np.cross(arm, before[:, :3])])
    scale = dynamics.weight * np.repeat([1.0, dynamics.leg_length], 3)
    values, rate = about_center / scale, np.sqrt(GRAVITY / dynamics.leg_length)
    density = _noise_density(values[:, 2], dynamics.step, rate, settings)
    standing = contact.any(axis=1)
    axes, sway = _travel(dynamics)
    values[:, :2] = values[:, :2] @ axes
    densities = np.full(6, density)
    densities[1] += (sway - 1.0) * (density - _least_density(settings))
    tried = np.geomspace(REQUIRED.lowest_equal, REQUIRED.highest_equal, TRIED) * rate
    found = np.stack([_smoothed(column, dynamics.step, each, tried)
                      for column, each in zip(values.T, densities)], axis=1)
    left, cutoff = np.zeros((n, 6)), dynamics.motion.cutoff
    if cutoff is not None:
        mean, left = without_pose_noise(values, dynamics.step, cutoff, rate,
                                        _least_density(settings))
        found = np.where(np.isnan(mean), found, mean)
    found[:, :2] = found[:, :2] @ axes.T
    left[:, :2] = np.sqrt(left[:, :2] ** 2 @ axes.T ** 2)
    if not standing.all():
        found[:, 2] = _bent_least(values[:, 2], _yielding(contact, dynamics.step, settings), 1)
    found[:, 2] += _landings(dynamics, contact, settings)
    if not standing.all():
        found[:, :3] = _free_in_flight(found[:, :3], standing, dynamics.step, rate, density,
                                       settings.path_error)
        found[~standing, 3:] = 0.0
        found[:, 2] = np.maximum(found[:, 2], 0.0)
    found *= scale
    found[:, 3:] += np.cross(arm, found[:, :3])
    return replace(dynamics, wrench=found, noise=before - found,
                   noise_left=left[:, :3] * dynamics.weight)


def _noise_density(load: np.ndarray, dt: float, rate: float, settings: GaitSettings) -> float:
    """
    Return the two-sided density of the noise of the load (n,), in squared weights per Hz.

    From the recording itself; `rate` is sqrt(g / l) with the leg length l.
    """
    frequency, power = _spectrum(load, dt)
    relative = 2.0 * np.pi * frequency / rate
    seen = power[(relative > REQUIRED.lowest_noise) & (relative < REQUIRED.highest_noise)]
    # The median of a chi-squared of one degree of freedom is 0.455.
    own = float(np.median(seen)) / 0.455 if len(seen) else 0.0
    return own + _least_density(settings)


def _least_density(settings: GaitSettings) -> float:
    return settings.noise ** 2 / (2.0 * BAND)


def _smoothed(values: np.ndarray, dt: float, density: float,
             tried: np.ndarray) -> np.ndarray:
    """Return the most likely smooth signal in white noise of a two-sided density."""
    equal = _likely_equal(values, dt, density, tried)
    return _bent_least(values, np.full(len(values) - ORDER,
                                       min((equal * dt) ** (-2 * ORDER), STIFFEST)), ORDER)


def _likely_equal(values: np.ndarray, dt: float, density: float, tried: np.ndarray) -> float:
    """Return the frequency of equal densities of greatest likelihood (Whittle) [rad/s]."""
    frequency, power = _spectrum(values, dt)
    used = (frequency > REQUIRED.lowest_likely) & (frequency < REQUIRED.highest_likely)
    falling = (2.0 * np.pi * frequency[used]) ** (-2 * ORDER)
    expected = tried[:, None] ** (2 * ORDER) * falling + 1.0
    return float(tried[np.argmin((np.log(expected) + power[used] / density / expected)
                                 .sum(axis=1))])


def _spectrum(values: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies [Hz] and the two-sided spectral density there."""
    from scipy.fft import dct  # slow to import

    n = len(values)
    return (np.arange(n) / (2.0 * n * dt),
            dct(values - values.mean(), norm='ortho') ** 2 * dt)


def _travel(dynamics: GaitInverseDynamics) -> tuple[np.ndarray, float]:
    """Return horizontal axes along and across the direction of travel, and the latter's noise."""
    moved = dynamics.base_position[-1] - dynamics.base_position[0]
    speed = moved / (dynamics.time[-1] - dynamics.time[0])
    x, y = (speed - dynamics.ground_velocity.mean(axis=(0, 1)))[:2]
    size = float(np.hypot(x, y))
    if size < REQUIRED.travel_speed * np.sqrt(GRAVITY * dynamics.leg_length):
        return np.eye(2), 1.0
    return np.array([[x, -y], [y, x]]) / size, REQUIRED.sideways_noise


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
    row = np.ones(1)
    for _ in range(order):
        row = np.convolve(row, [1.0, -1.0])
    depth = len(band) - 1
    for i in range(order + 1):
        for j in range(i, order + 1):
            band[depth - (j - i), j:j + len(weight)] += row[i] * row[j] * weight


def _free_in_flight(force: np.ndarray, standing: np.ndarray, dt: float, rate: float,
                    density: float, path_error: float) -> np.ndarray:
    """Return forces (n, 3) over the weight that are zero in flight, by the least change."""
    inner, changed = standing[1:-1], force.copy()
    followed = np.clip(
        REQUIRED.stance_cutoff * (REQUIRED.stance_noise / (density * rate)) ** 0.25,
        REQUIRED.least_cutoff, REQUIRED.largest_cutoff)
    bends = (inner[2:] & inner[1:-1] & inner[:-2]) * dt / (
        REQUIRED.force_memory * REQUIRED.relative_change ** 2)
    bends = bends / (followed * rate * dt) ** 4
    for k in range(3):
        size = REQUIRED.least_change + REQUIRED.relative_change * np.abs(force[1:-1, k])
        weight = np.where(inner, dt / (REQUIRED.force_memory * size ** 2), NO_FORCE)
        target = np.where(inner, 0.0, -force[1:-1, k])
        changed[:, k] += on_path(target, weight, dt, path_error,
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
    path = solveh_banded(band, pull / dt ** 2)
    return np.pad(np.diff(path, 2) / dt ** 2, 1, mode='edge')
