# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors of computed ground reactions against measured ones, and how both recordings fit."""
from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import minimize_scalar

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.reactions import GaitReactions
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import SoleMotion, runs
from legged_dynamics.people.trials.plates import Plates

# A foot counts as loaded from this true vertical force on [N].
LOADED = 20.0


@dataclass(frozen=True)
class FootErrors:
    """
    Root mean square errors over the samples in which a foot is truly loaded [N].

    Samples of all feet count together.

    Attributes
    ----------
    vertical : float
        Of the vertical force.
    single, double : float
        Of the vertical force while one foot is loaded, and while several are; NaN if that never
        happens.
    fore_aft, sideways : float
        Of the horizontal force along the world's x and y.
    total : float
        Of the sum of all vertical forces: the error of the motion itself.
    pull : float
        Smallest computed vertical force of any foot at any time; a foot pulls where it is
        negative.
    agreement : float
        Part of the samples of all feet in which contact agrees with the truth.
    count : int
        Number of loaded samples, over all feet.

    """

    vertical: float
    single: float
    double: float
    fore_aft: float
    sideways: float
    total: float
    pull: float
    agreement: float
    count: int


def foot_errors(reactions: GaitReactions, plates: Plates, loaded: float = LOADED) -> FootErrors:
    """Return the errors of ground reactions; feet count from ``loaded`` [N] true force."""
    truth = plates.world_force(reactions.foot_rotation)
    on = (np.nan_to_num(truth[..., 2]) > loaded) & plates.valid[:, None]
    error = reactions.force - truth
    several = on & (on.sum(axis=1) > 1)[:, None]
    alone, valid = on & ~several, plates.valid
    agree = (on == reactions.contact)[valid]
    return FootErrors(
        _rms(error[on][:, 2]), _rms(error[alone][:, 2]), _rms(error[several][:, 2]),
        _rms(error[on][:, 0]), _rms(error[on][:, 1]), _rms(error[valid].sum(axis=1)[:, 2]),
        float(reactions.force[..., 2].min()), float(agree.mean()) if agree.size else np.nan,
        int(on.sum()))


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values ** 2))) if len(values) else np.nan


# -------------------------------------------------------------------------------------------------
# Differences between the recording and its force plates: clock, heading, level, mass.
#
# The motion determines the sum of all forces without any assumption on how the feet share it.
# Compared with the sum of the plates, it gives the lag of their clock (from all three components),
# the angle between their axes (horizontal forces), a tilt (mean horizontal force) and the mass.
# Without plates, the plane on which the soles rest tells whether z is up. Nothing is corrected.


@dataclass(frozen=True)
class AlignmentSettings:
    """When plates and motion differ; by recordings of three laboratories (docs/people.md)."""

    largest_lag: float = 0.05  # [s]: that is looked for
    significance: float = 2.6  # [standard deviation]: of a lag, by chance once in 100 recordings
    # Correlation time of the difference of each component of the forces; with it the deviation
    # of the lag is its scatter between trials of one laboratory.
    mismatch_memory: float = 0.02  # [s]
    curvature_shift: float = 0.01  # [s]: by which the curvature of the mismatch is taken
    smoothing: float = 0.02  # [s]: of the plates, for they are compared with low-passed poses
    # Smallest differences that are reported.
    reported_lag: float = 0.002  # [s]
    reported_angle: float = math.radians(1.0)  # [rad]
    reported_mass: float = 0.02  # Of the mass
    least_change: float = 0.03  # [weight]: variation of the vertical force, for a lag
    least_level: float = 0.03  # [weight]: horizontal force, for an angle
    slope_distance: float = 0.5  # [leg length]: between places of rest, for a slope
    largest_slope: float = math.radians(8.0)  # [rad]


ALIGNMENT = AlignmentSettings()


@dataclass(frozen=True)
class BodyMass:
    """
    The mass that forces were computed with, as an uncertain value.

    Attributes
    ----------
    value, deviation : float [kg]
        The mass and its standard deviation.
    model : float [kg]
        Mass of the model.
    source : str
        'model', 'scale', 'plates', or 'robot' for one with a YAML.

    """

    value: float
    deviation: float
    model: float
    source: str


@dataclass(frozen=True)
class Alignment:
    """Differences between plates and motion; NaN where they cannot be determined."""

    lag: float  # [s]: how much later than the motion the plates are
    heading: float  # [rad]: angle about up from the motion's axes to those of the plates
    tilt: float  # [rad]: angle between the plates' up and the motion's
    # Mass of the person or robot by the plates, as a multiple of the model's: their mean force
    # over that which the motion requires
    mass: float
    lag_deviation: float = np.nan  # [s]: standard deviation of the lag
    mass_deviation: float = np.nan  # Standard deviation of `mass`

    @property
    def late(self) -> bool:
        """Whether the clocks differ significantly, and by more than is worth reporting."""
        return abs(self.lag) > max(ALIGNMENT.reported_lag,
                                   ALIGNMENT.significance * self.lag_deviation)


def align(dynamics: GaitInverseDynamics, plates: Plates,
          settings: GaitSettings | None = None) -> Alignment:
    """Return the differences of clock, place and mass between plates and motion."""
    force, weight = dynamics.wrench[:, :3], dynamics.weight
    truth = plates.world_force(dynamics.foot_rotation).sum(axis=1)
    valid = plates.valid & np.isfinite(truth).all(axis=1)
    if valid.sum() < 10:
        return Alignment(np.nan, np.nan, np.nan, np.nan)
    lag = deviation = np.nan
    if force[valid, 2].std() > ALIGNMENT.least_change * weight:
        # The motion is low-passed, so the plates are smoothed before they are compared.
        smooth = gaussian_filter1d(truth[valid], ALIGNMENT.smoothing / dynamics.step, axis=0)
        inner = valid & (dynamics.time > dynamics.time[0] + ALIGNMENT.largest_lag) & (
            dynamics.time < dynamics.time[-1] - ALIGNMENT.largest_lag)

        def mismatch(shift: float) -> float:
            at = dynamics.time + shift
            return float(sum(np.var((force[:, k] - np.interp(
                at, dynamics.time[valid], smooth[:, k]))[inner]) for k in range(3)))

        if inner.sum() > 10:
            coarse = np.linspace(-ALIGNMENT.largest_lag, ALIGNMENT.largest_lag, 41)
            best = coarse[int(np.argmin([mismatch(shift) for shift in coarse]))]
            step = coarse[1] - coarse[0]
            lag = float(minimize_scalar(mismatch, bounds=(best - step, best + step),
                                        method='bounded').x)
            # Least squares: the variance of an estimate is twice the mismatch over its curvature,
            # by the number of independent samples.
            least = mismatch(lag)
            shift = ALIGNMENT.curvature_shift
            curvature = (mismatch(lag - shift) + mismatch(lag + shift) - 2.0 * least) / shift ** 2
            independent = max(3.0 * inner.sum() * dynamics.step / ALIGNMENT.mismatch_memory, 1.0)
            deviation = float(np.sqrt(2.0 * least / (independent * max(curvature, 1e-9))))
    later = plates_later(plates, dynamics.time, 0.0 if np.isnan(lag) else lag)
    truth = later.world_force(dynamics.foot_rotation).sum(axis=1)
    valid = later.valid & np.isfinite(truth).all(axis=1)
    f, p = force[valid], truth[valid]
    mass = mass_deviation = np.nan
    if len(f) > 10 and f[:, 2].sum() > 0.0:
        mass = float(p[:, 2].sum() / f[:, 2].sum())
        stated = settings or GaitSettings()
        speed = stated.speed_error * np.sqrt(GRAVITY * dynamics.leg_length)
        ends = 2 * sum(1 for _ in runs(valid))
        mass_deviation = float(np.hypot(stated.scale_error, np.sqrt(ends) * speed / (
            GRAVITY * len(f) * dynamics.step)))
    heading = np.nan
    if len(f):
        # Without their means, which a tilt shifts.
        u, v = (values[:, :2] - values[:, :2].mean(axis=0) for values in (f, p))
        level = min(np.sqrt(np.mean(values ** 2)) for values in (u, v))
        if level > ALIGNMENT.least_level * weight:
            cross = float(np.sum(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]))
            along = float(np.sum(u * v))
            # Only forces that agree except for a rotation determine an angle.
            if np.hypot(cross, along) > 0.8 * np.sum(np.hypot(*u.T) * np.hypot(*v.T)):
                heading = float(np.arctan2(cross, along))
    tilt = (float(np.linalg.norm((p - f)[:, :2].mean(axis=0)) / p[:, 2].mean())
            if len(p) and p[:, 2].mean() > 0.0 else np.nan)
    return Alignment(lag, heading, tilt, mass, deviation, mass_deviation)


def plates_later(plates: Plates, time: np.ndarray, lag: float) -> Plates:
    """Return the forces of plates whose clock is ``lag`` [s] late, at the motion's times."""
    step = float(np.median(np.diff(time)))
    shift = lag / step
    whole = int(np.floor(shift))
    part = shift - whole

    def shifted(values: np.ndarray, by: int) -> np.ndarray:
        index = np.arange(len(values)) + by
        inside = (index >= 0) & (index < len(values))
        moved = values[index.clip(0, len(values) - 1)]
        if values.dtype == bool:
            return moved & inside
        return np.where(inside[:, None, None], moved, np.nan)

    def between(values: np.ndarray) -> np.ndarray:
        found = (1.0 - part) * shifted(values, whole)
        return found + part * shifted(values, whole + 1) if part > 1e-9 else found

    force, valid = between(plates.force), shifted(plates.valid, whole)
    if part > 1e-9:
        valid = valid & shifted(plates.valid, whole + 1)
    return replace(plates, force=force, valid=valid & np.isfinite(force).all(axis=(1, 2)),
                   moment=None if plates.moment is None else between(plates.moment))


def floor_slope(dynamics: GaitInverseDynamics, moved: SoleMotion,
                contact: np.ndarray) -> tuple[float, float]:
    """Return the floor's slope along x and y from resting soles; NaN if undetermined."""
    places = []
    for i in range(len(dynamics.feet)):
        rests = contact[:, i] & (moved.roll_rate[:, i] == 0.0)
        at = dynamics.points(dynamics.low_point)[:, i] + dynamics.base_position
        places.append(np.column_stack([at[rests, :2], moved.floor[rests, i]]))
    seen = np.vstack(places)
    seen = seen[np.isfinite(seen).all(axis=1)]
    if len(seen) < 10:
        return np.nan, np.nan
    # Two places may be the steps of a stair; a slope needs more of them.
    spots = np.unique(np.round(seen[:, :2] / (0.25 * dynamics.leg_length)), axis=0)
    A = np.column_stack([seen[:, :2] - seen[:, :2].mean(axis=0), np.ones(len(seen))])
    slope = np.linalg.lstsq(A, seen[:, 2], rcond=None)[0]
    wide = np.ptp(seen[:, :2], axis=0) > ALIGNMENT.slope_distance * dynamics.leg_length
    known = wide & (len(spots) > 2) & (np.abs(slope[:2]) < np.tan(ALIGNMENT.largest_slope))
    x, y = np.where(known, slope[:2], np.nan)
    return float(x), float(y)


def alignment_notes(alignment: Alignment) -> list[str]:
    """Return notes on significant differences between plates and motion."""
    found, a = [], alignment
    if a.late:
        found.append(f'The clock of the plates is {1e3 * abs(a.lag):.0f} ± '
                     f'{1e3 * a.lag_deviation:.0f} ms '
                     f'{"behind" if a.lag > 0.0 else "ahead of"} that of the motion, by the sum '
                     'of all forces. Curves and errors are compared with the clocks aligned; the '
                     'table of errors also lists them as recorded.')
    if abs(a.heading) > 4.0 * ALIGNMENT.reported_angle:
        found.append(f'The horizontal axes of the plates are turned by '
                     f'{np.degrees(a.heading):+.1f} deg about up against those of the motion.')
    if a.tilt > ALIGNMENT.reported_angle:
        found.append(f'The up of plates and motion differ by {np.degrees(a.tilt):.1f} deg: the '
                     'plates have a mean horizontal force that the motion has not. One of the two '
                     'is not level.')
    if abs(a.mass - 1.0) > ALIGNMENT.reported_mass:
        found.append(f'The plates say {100.0 * (a.mass - 1.0):+.1f} % of the mass of the model. '
                     'Motion alone cannot tell; --mass KG takes it from a scale.')
    return found


def balance_notes(reactions: GaitReactions, dynamics: GaitInverseDynamics,
                  settings: GaitSettings) -> list[str]:
    """Return notes on what feet cannot bear: a seat's or a hand's load, or a wrong input."""
    found, count = [], len(reactions.time)
    borne = ~reactions.supported
    if borne.any():
        found.append(f'In {borne.sum()} of {count} samples something else than the feet must '
                     'bear load (a seat, a hand): what is said of the feet is not to be believed '
                     'there.')
    missing = reactions.supported & ~reactions.inside_soles
    if missing.any():
        rest = (reactions.root_residual - dynamics.noise)[missing, 3:]
        found.append(f'In {missing.sum()} of {count} samples the centre of pressure leaves the '
                     f'stated soles by more than {2.0 * settings.plausible_distance:.2f} m, and '
                     f'{np.sqrt((rest ** 2).sum(axis=1).mean()):.0f} N m rms remain that no foot '
                     'can give: the soles (--sole), the pose of the base or the masses are '
                     'other than stated.')
    return found


def slope_notes(slope: tuple[float, float]) -> list[str]:
    """Return notes on the floor's slope, one per axis; empty for a level floor."""
    return [f'The soles rest on a plane that rises by {np.degrees(np.arctan(part)):+.1f} deg '
            f'along {axis}: the ground does, or the z axis of the recording is not up. An error '
            'of one degree moves the centre of pressure by 2 % of the height of the centre of '
            'mass.'
            for part, axis in zip(slope, 'xy') if abs(np.arctan(part)) > ALIGNMENT.reported_angle]
