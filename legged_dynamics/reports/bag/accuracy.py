# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Errors of estimated ground reactions against the true ones.

Errors are root mean squares over the feet that are truly in contact, in N and in percent of the
weight, of the force vector (3-D) and of its vertical part. Three treatments are compared:

* zero-phase: the estimate of the sample before and its truth low-passed by one second-order
  Butterworth at 25 Hz, forward and backward, so neither delay nor impacts' bandwidth counts;
* on line: the force as published without delay, against the truth of the newest sample;
* unfiltered: the estimate of the sample before against the raw truth.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import butter, filtfilt

from legged_dynamics.estimation import Mode
from legged_dynamics.recordings.series import EstimateSeries, ForceSeries
from legged_dynamics.recordings.truth import Truth, world_force
from legged_dynamics.reports.bag.behaviour import Behaviour

CUTOFF = 25.0       # Hz
ZERO_PHASE, ON_LINE, UNFILTERED = 'zero-phase 25 Hz', 'on line', 'unfiltered'


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
    """
    All errors of one recording.

    Attributes
    ----------
    feet : list of ForceError
        Per stance foot, by behaviour, treatment and kind of estimate.
    support : list of ForceError
        Of two-footed robots: each foot in single and in double support.
    sums : list of ForceError
        Of the sum over all feet.
    center : float [m]
        Root mean square distance of the centres of pressure, low-passed; NaN when not known.
    notes : list of str

    """

    feet: list[ForceError]
    support: list[ForceError]
    sums: list[ForceError]
    center: float
    notes: list[str]


def zero_phase(time: np.ndarray, values: np.ndarray, cutoff: float = CUTOFF) -> np.ndarray:
    """
    Low-pass values forward and backward by a second-order Butterworth filter.

    Stretches are filtered apart where samples are missing or not finite (scipy.signal.filtfilt).

    Parameters
    ----------
    time : (n,) array [s]
        Of each sample, rising.
    values : (n, ...) array
        What to filter, in any unit.
    cutoff : float
        Cut-off frequency of the filter [Hz].

    Returns
    -------
    (n, ...) array
        Filtered values; NaN where they are not finite or a stretch is too short, and all NaN when
        the rate is too low for the cut-off.

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
        edges = np.flatnonzero(np.diff(np.concatenate([[0], finite[stretch], [0]])))
        for first, last in zip(stretch[0] + edges[::2], stretch[0] + edges[1::2]):
            if last - first > 12:       # filtfilt pads with nine samples on either side
                out[first:last] = filtfilt(b, a, values[first:last], axis=0)
    return out


def _too_slow(period: float, cutoff: float = CUTOFF) -> bool:
    """Return whether a sampling period [s] is too long for a low-pass filter [Hz]."""
    return cutoff * period > 0.45


def measure_accuracy(series: EstimateSeries, others: Mapping[str, ForceSeries], truth: Truth,
                     behaviours: Sequence[Behaviour], weight: float) -> Accuracy:
    """
    Compare estimates with the truth.

    Parameters
    ----------
    series : EstimateSeries
        The main estimate.
    others : mapping of str to ForceSeries
        Other estimates of the same samples, by name.
    truth : Truth
        What the bag knows, aligned with the estimates.
    behaviours : sequence of Behaviour
        Parts of the bag that get a column each.
    weight : float [N]
        Of the robot: the percentages are of it.

    """
    time, feet = series.time, series.feet
    rotation = series.foot_to_world
    stamps = series.stamp_ns.values
    estimates: dict[str, ForceSeries] = {
        main_name(series): series,
        **{name: other.aligned(stamps) for name, other in others.items()}}
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
    """
    Name an estimate by the equations that most of its samples use.

    Parameters
    ----------
    series : ForceSeries
        The estimate.

    Returns
    -------
    str
        'fused', 'base only', 'torque only' or 'unavailable'.

    """
    modes = series.mode.values
    modes = modes[modes != Mode.UNAVAILABLE]
    if not len(modes):
        return 'unavailable'
    return {Mode.FUSED: 'fused', Mode.BASE_ONLY: 'base only',
            Mode.TORQUE_ONLY: 'torque only'}[Mode(int(np.bincount(modes).argmax()))]


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
    """
    Return the root mean square.

    Parameters
    ----------
    values : array
        In any unit, at least one.

    Returns
    -------
    float
        In the same unit.

    """
    return float(np.sqrt(np.mean(values ** 2)))
