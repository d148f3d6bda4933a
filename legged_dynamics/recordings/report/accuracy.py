# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the robot did when, and errors of estimated ground reactions against the true ones.

All feet in contact for some time is standing. A gait is named by the pairs of feet that are in
contact together: diagonal ones when trotting, those of a side when pacing, the two front and the
two hind feet when bounding.

Errors are root mean squares over the feet that are truly in contact, in N and in percent of the
weight, of the force vector (3-D) and of its vertical part. Three treatments are compared:

* zero-phase: the estimate of the sample before and its truth low-passed by one second-order
  Butterworth at 25 Hz, forward and backward, so neither delay nor impacts' bandwidth counts;
* on line: the force as published without delay, against the truth of the newest sample;
* unfiltered: the estimate of the sample before against the raw truth.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.signal import butter, filtfilt

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import Mode
from legged_dynamics.estimation.contact import ContactLevels
from legged_dynamics.estimation.settings import EstimatorSettings
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.recordings.recording import Truth, world_force
from legged_dynamics.recordings.replay import OTHERS
from legged_dynamics.recordings.series import EstimateSeries, ForceSeries

STANDING = 'standing'


@dataclass(frozen=True)
class GaitNameSettings:
    """Which contacts are standing, a gait, or the same change."""

    margin: float = 0.35    # s with all feet down before and after: longer than any double support
    together: float = 0.9    # of the time that contacts of feet agree which step together
    same_change: float = 0.1    # s between a true and an estimated change of contact


GAIT = GaitNameSettings()


@dataclass(frozen=True)
class Behaviour:
    """One behaviour and where it occurs."""

    name: str  # Such as 'standing', 'trotting', 'walking'
    samples: np.ndarray  # (n,)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """First and last sample of each stretch, both included."""
        return [(first, after - 1) for first, after in runs(self.samples)]


def find_behaviours(time: np.ndarray, contact: np.ndarray,
                    position: np.ndarray) -> list[Behaviour]:
    """Return the behaviours, standing first; ``position`` (nf, 2): x forward, y left."""
    standing = standing_samples(time, contact)
    found = [Behaviour(STANDING, standing),
             Behaviour(name_gait(contact[~standing], position), ~standing)]
    return [behaviour for behaviour in found if behaviour.samples.any()]


def standing_samples(time: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """Return the samples (n,) around which all feet are down for long enough."""
    lifted = np.concatenate([[0], np.cumsum(~contact.all(axis=1))])
    return (lifted[np.searchsorted(time, time + GAIT.margin, side='right')]
            == lifted[np.searchsorted(time, time - GAIT.margin)])


def name_gait(contact: np.ndarray, position: np.ndarray) -> str:
    """Return a gait's name, or 'stepping'; ``position`` (nf, 2) [m]: feet in base axes."""
    n_feet = contact.shape[1]
    if not len(contact) or n_feet not in (2, 4):
        return 'stepping'
    down = contact.astype(float)
    same = (down.T @ down + (1.0 - down).T @ (1.0 - down)) / len(down)
    if n_feet == 2:
        if same[0, 1] > GAIT.together:
            return 'hopping'
        return 'running' if (~contact).all(axis=1).mean() > 0.02 else 'walking'
    front, left = (position > np.median(position, axis=0)).T
    agreement: dict[str, list[float]] = {'trotting': [], 'pacing': [], 'bounding': []}
    for i in range(4):
        for k in range(i):
            kind = ('trotting' if left[i] != left[k] and front[i] != front[k]
                    else 'pacing' if left[i] == left[k] else 'bounding')
            agreement[kind].append(float(same[i, k]))
    means = {kind: float(np.mean(values)) if values else 0.0
             for kind, values in agreement.items()}
    best = max(means, key=lambda kind: means[kind])
    return best if means[best] > GAIT.together - 0.1 else 'walking'


# -------------------------------------------------------------------------------------------------
# Contact detection: agreement with the truth, and delay of each change.


@dataclass(frozen=True)
class ContactScore:
    """
    Contact detection of one foot.

    Attributes
    ----------
    foot : str
    agreement : float [%]
        Part of the samples in which estimate and truth agree.
    touchdown_delay, liftoff_delay : float [ms]
        Median; negative when it was seen early, NaN when there was none.
    changes, unseen : int
        True changes of contact, and those without a matching estimated one.

    """

    foot: str
    agreement: float
    touchdown_delay: float
    liftoff_delay: float
    changes: int
    unseen: int


def score_contacts(time: np.ndarray, feet: tuple[str, ...], estimated: np.ndarray,
                   true: np.ndarray, valid: np.ndarray) -> list[ContactScore]:
    """Return the contact score of each foot, in the samples with a truth."""
    scores = []
    for i, foot in enumerate(feet):
        delays: dict[bool, list[float]] = {True: [], False: []}
        changes = unseen = 0
        seen = _contact_changes(estimated[:, i], np.ones(len(time), bool))
        for at, down in _contact_changes(true[:, i], valid):
            changes += 1
            near = [time[k] - time[at] for k, kind in seen
                    if kind == down and abs(time[k] - time[at]) <= GAIT.same_change]
            if near:
                delays[down].append(1e3 * min(near, key=abs))
            else:
                unseen += 1
        down_late, up_late = (float(np.median(found)) if found else np.nan
                              for found in delays.values())
        scores.append(ContactScore(
            foot, 100.0 * float((estimated[valid, i] == true[valid, i]).mean()),
            down_late, up_late, changes, unseen))
    return scores


def _contact_changes(flags: np.ndarray, valid: np.ndarray) -> list[tuple[int, bool]]:
    """Return the first sample of each new state, and that state."""
    at = np.flatnonzero((flags[1:] != flags[:-1]) & valid[1:] & valid[:-1]) + 1
    return [(int(k), bool(flags[k])) for k in at]


# -------------------------------------------------------------------------------------------------
# Errors of force.


CUTOFF = 25.0       # Hz
ZERO_PHASE = 'zero-phase 25 Hz'
ON_LINE = 'on line'
UNFILTERED = 'unfiltered'


@dataclass(frozen=True)
class ForceError:
    """
    One root mean square error of force.

    Attributes
    ----------
    estimate : str
        Equations that were used: 'fused', 'base only', 'torque only'.
    treatment : str
        'zero-phase 25 Hz', 'on line' or 'unfiltered'.
    subject : str
        Samples that were compared: of a behaviour, of a foot in single support, of the sum of all
        feet.
    count : int
        Number of samples.
    total, vertical : float [N]
        Of the force vector and of its vertical part.
    weight : float [N]

    """

    estimate: str
    treatment: str
    subject: str
    count: int
    total: float
    vertical: float
    weight: float

    @property
    def total_percent(self) -> float:
        """Error of the force vector [% of the weight]."""
        return 100.0 * self.total / self.weight

    @property
    def vertical_percent(self) -> float:
        """Error of the vertical force [% of the weight]."""
        return 100.0 * self.vertical / self.weight


@dataclass(frozen=True)
class Accuracy:
    """All errors of one recording."""

    feet: list[ForceError]  # Per stance foot, by behaviour, treatment and kind of estimate
    support: list[ForceError]  # Of two-footed robots: each foot in single and in double support
    sums: list[ForceError]  # Of the sum over all feet
    # [m]: root mean square distance of the centres of pressure, low-passed; NaN when not known
    center: float
    notes: list[str]


def zero_phase(time: np.ndarray, values: np.ndarray, cutoff: float = CUTOFF) -> np.ndarray:
    """
    Low-pass (n, ...) values forward and backward, second-order Butterworth.

    Sections between gaps are filtered apart; NaN where not finite or too short, all NaN if
    the rate is too low for the cut-off [Hz].
    """
    out = np.full(values.shape, np.nan)
    if len(time) < 3:
        return out
    period = float(np.median(np.diff(time)))
    if _too_slow(period, cutoff):
        return out
    b, a = butter(2, 2.0 * cutoff * period)
    finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
    breaks = np.flatnonzero(np.diff(time) > 1.5 * period) + 1
    for stretch in np.split(np.arange(len(time)), breaks):
        for first, after in runs(finite[stretch]):
            if after - first > 12:      # filtfilt pads with nine samples on either side
                rows = slice(stretch[0] + first, stretch[0] + after)
                out[rows] = filtfilt(b, a, values[rows], axis=0)
    return out


def _too_slow(period: float, cutoff: float = CUTOFF) -> bool:
    """Return whether a sampling period [s] is too long for a low-pass filter [Hz]."""
    return cutoff * period > 0.45


def measure_accuracy(series: EstimateSeries, others: Mapping[str, ForceSeries], truth: Truth,
                     behaviours: Sequence[Behaviour], weight: float) -> Accuracy:
    """Compare estimates with the truth, by behaviour; percentages are of ``weight`` [N]."""
    time, feet = series.time, series.feet
    rotation = series.foot_to_world
    estimates: dict[str, ForceSeries] = {
        main_name(series): series,
        **{name: other.aligned(series.stamp_ns.values) for name, other in others.items()}}
    smooth_truth = zero_phase(time, truth.force)
    result = Accuracy([], [], [], _center_error(series, truth), [])
    if truth.known and _too_slow(series.period):
        result.notes.append(f'The rate of {1.0 / series.period:.0f} Hz is too low for a low-pass '
                            f'at {CUTOFF:.0f} Hz: zero-phase figures are left out.')
    for name, estimate in estimates.items():
        usable = truth.valid & (estimate.mode.values != Mode.UNAVAILABLE)
        if not usable.any():
            continue
        raw = world_force(estimate, rotation, raw=True)
        errors = {ZERO_PHASE: zero_phase(time, raw) - smooth_truth,
                  ON_LINE: world_force(estimate, rotation, raw=False) - truth.force,
                  UNFILTERED: raw - truth.force}
        for treatment, error in errors.items():
            label = (name, treatment, weight)
            for behaviour in behaviours:
                stance = truth.contact & (usable & behaviour.samples)[:, None]
                result.feet.extend(_row(behaviour.name, error[stance], label))
            result.sums.extend(_row('sum of all feet', error[usable].sum(axis=1), label))
            for i, foot in enumerate(feet if len(feet) == 2 else ()):
                alone = usable & truth.contact[:, i] & ~truth.contact[:, 1 - i]
                both = usable & truth.contact.all(axis=1)
                result.support.extend(_row(f'{foot}, single support', error[alone, i], label))
                result.support.extend(_row(f'{foot}, double support', error[both, i], label))
    return result


def main_name(series: ForceSeries) -> str:
    """Return 'fused', 'base only', 'torque only' or 'unavailable', by most samples."""
    modes = series.mode.values
    modes = modes[modes != Mode.UNAVAILABLE]
    if not len(modes):
        return 'unavailable'
    return Mode(int(np.bincount(modes).argmax())).name.lower().replace('_', ' ')


def _row(subject: str, error: np.ndarray, label: tuple[str, str, float]) -> list[ForceError]:
    """Return the error of one subject as a list of one, or of none without finite samples."""
    error = error[np.isfinite(error).all(axis=1)]
    if not len(error):
        return []
    name, treatment, weight = label
    return [ForceError(name, treatment, subject, len(error), rms(np.linalg.norm(error, axis=1)),
                       rms(error[:, 2]), weight)]


def _center_error(series: EstimateSeries, truth: Truth) -> float:
    estimated = zero_phase(series.time, np.einsum(
        'nij,nj->ni', series.base_rotation.values, series.center_of_pressure.values)[:, :2])
    error = estimated - zero_phase(series.time, truth.center_of_pressure[:, :2])
    error = error[truth.valid & np.isfinite(error).all(axis=1)]
    return rms(np.linalg.norm(error, axis=1)) if len(error) else np.nan


def rms(values: np.ndarray) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values ** 2)))


# -------------------------------------------------------------------------------------------------
# What makes a result doubtful although nothing proves it wrong: the amber part of the verdict.
#
# Force at the base that no foot and no joint explains; and sums over all feet that differ between
# the estimates by motion alone and by torque alone, beyond what the stated noise allows. Without a
# truth these are the only signs of wrong masses, signs, friction or torques.


@dataclass(frozen=True)
class CautionSettings:
    """Bounds beyond which a result is doubtful although nothing proves it wrong."""

    unexplained: float = 0.02    # of the weight: slow force left unexplained at the base
    deviations: float = 2.0    # of what is stated: sums by motion and by torque may differ by
    margin: float = 0.01    # of the weight: what those deviations do not cover
    slow: float = 3.0    # Hz: only what is slower counts, neither noise nor impacts


CAUTION = CautionSettings()


@dataclass(frozen=True)
class SlowSums:
    """How far the vertical sums over all feet by motion and by torque differ."""

    # Root mean square of the slow difference between motion alone and torque alone, as a part of
    # the weight; NaN where one is missing
    apart: float
    allowed: float  # Largest one that the stated noise explains, as a part of the weight


def compare_slow_sums(series: EstimateSeries, others: Mapping[str, ForceSeries],
                      model: RobotModel, config: RobotConfig,
                      settings: EstimatorSettings) -> SlowSums:
    """Compare the total foot force by the base's equations and by torque."""
    weight, rotation = model.total_mass * GRAVITY, series.foot_to_world
    stamps = series.stamp_ns.values
    vertical = {name: world_force(other.aligned(stamps), rotation, raw=True)[:, :, 2].sum(axis=1)
                for name, other in others.items() if len(other.stamp_ns)}
    apart = np.nan
    if len(vertical) == len(OTHERS):
        slow = zero_phase(series.time, np.subtract(*vertical.values()), CAUTION.slow)
        slow = slow[np.isfinite(slow)]
        apart = rms(slow) / weight if len(slow) else np.nan
    return SlowSums(float(apart), _allowed(model, config, settings))


def _allowed(model: RobotModel, config: RobotConfig, settings: EstimatorSettings) -> float:
    """Return how far sums may differ by what the YAML states, as a part of the weight."""
    noise = config.noise
    # What the low-pass leaves of white noise.
    white = np.sqrt(2.0 * CAUTION.slow / settings.rate)
    slow = replace(noise, effort=white * noise.effort, effort_percent=white * noise.effort_percent,
                   joint_effort=tuple(white * value for value in noise.joint_effort))
    quiet = replace(config, noise=slow)
    levels = np.array([level[2] for level in ContactLevels(
        quiet.apply_to(model), quiet, settings).of()])
    gain = noise.effort_gain / np.sqrt(max(len(config.feet), 1))
    deviation = np.sqrt(np.sum(levels ** 2) + gain ** 2 + noise.mass ** 2
                        + (noise.accelerometer_bias / GRAVITY) ** 2)
    return float(CAUTION.deviations * deviation + CAUTION.margin)


def unexplained(series: EstimateSeries, weight: float) -> float:
    """
    Return the slow part of the base force that nothing explains, over the weight.

    RMS of a second, upper quartile of all seconds, so that neither a short push nor a long
    stand decides; 0 where the base's equations are not used.
    """
    force = zero_phase(series.time, series.base_residual.values[:, :3], CAUTION.slow)
    known = np.isfinite(force).all(axis=1)
    if not known.any():
        return 0.0
    squares, second = (force[known] ** 2).sum(axis=1), np.floor(series.time[known]).astype(int)
    each = np.unique(second, return_inverse=True)[1]
    means = np.bincount(each, squares) / np.bincount(each)
    return float(np.quantile(np.sqrt(means), 0.75)) / weight


def cautions(residual: float, sums: SlowSums, bag: str, wrong: bool = False) -> list[str]:
    """
    Return why a result is doubtful, and last the command that finds the cause.

    ``residual`` is from :func:`unexplained`; ``wrong``: known to be wrong, so the command
    is named anyway.
    """
    found = []
    if residual > CAUTION.unexplained:
        found.append(f'{100.0 * residual:.1f} % of the weight remain unexplained at the base '
                     f'(below {CAUTION.slow:g} Hz); {100.0 * CAUTION.unexplained:.0f} % is the '
                     'most that a right model leaves.')
    if sums.apart > sums.allowed:
        found.append('The sums of all feet by motion and by torque differ by '
                     f'{100.0 * sums.apart:.1f} % of the weight, rms, where the stated noise '
                     f'allows {100.0 * sums.allowed:.1f} %.')
    if found or wrong:
        found.append('If nobody pushed or held the robot, friction, gains or delay of the '
                     'torques, masses or the IMU may be wrong. '
                     f'Next: legged-dynamics doctor {bag}, with the same --robot and --urdf')
    return found
