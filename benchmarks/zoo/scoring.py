# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One way to score every estimator: errors of force, honesty of sigma, contact, pushes."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
from scipy.signal import butter, filtfilt

from benchmarks.zoo.contact_events import ContactScore, contact_score
from benchmarks.zoo.estimators import Estimator, Output
from benchmarks.zoo.recording import CUTOFF, Recording

LOADED = 0.10       # of the weight: a foot that bears this must not be reported in the air
BAR = 1.96          # sigmas of a 95 % bar
MISSING = float('nan')
CHANGE = 0.1        # s after a change of a foot's contact
PHASES = ('swing', 'single', 'double', 'change')


@dataclass(frozen=True)
class Coverage:
    """
    How honest sigma is in a phase. NaN where the phase does not occur.

    Attributes
    ----------
    normalised : float
        rms of error / sigma over all axes of foot-samples.
    inside : float
        % of the errors within 1.96 sigma.

    """

    normalised: float = MISSING
    inside: float = MISSING


@dataclass(frozen=True)
class Score:
    """
    How good one output of an estimator was in one recording. NaN: not given, or never.

    Errors of force are the root mean square of the 3-D error's length over all samples and feet
    that are truly on the ground, in % of the weight.

    Attributes
    ----------
    output : str
    delay_ms : float
        By which the output describes the past.
    zero_phase : float
        At the stamp; estimate and truth each through a second-order 25 Hz Butterworth filter
        forwards and backwards over the whole recording, the truth before it is sampled.
    zero_phase_sampled : float
        The same, the truth sampled first: with the error of sampling blows.
    raw : float
        At the stamp, unfiltered.
    on_line : float
        When it comes out: against the truth of the newest measurement, unfiltered.
    on_line_slow : float
        The same, the truth of the newest measurement and the estimate both through one forward
        25 Hz filter.
    normalised : float
        rms of error / sigma over all axes, at the stamp (on line, for an output without delay).
    inside : float
        % of the errors within 1.96 sigma.
    sigma_zero : float
        % of loaded foot-samples with a sigma below 1e-6 of the weight.
    worst : float
        99.9th percentile of the error at the stamp, % of the weight.
    external : float
        rms of the error of the external force at the stamp, % of the weight.
    external_normalised : float
    push : float
        rms error of the external force while pushed, % of the push's rms.
    contact : ContactScore or None
    phases : dict of str to Coverage
        ``swing``: of feet that are up; ``single``: that stand alone; ``double``: with others;
        ``change``: in the first 0.1 s after a change of the foot's contact. As a dict:
        ``normalised_swing``, ``inside_swing``, ...

    """

    output: str
    delay_ms: float = MISSING
    zero_phase: float = MISSING
    zero_phase_sampled: float = MISSING
    raw: float = MISSING
    on_line: float = MISSING
    on_line_slow: float = MISSING
    normalised: float = MISSING
    inside: float = MISSING
    sigma_zero: float = MISSING
    worst: float = MISSING
    external: float = MISSING
    external_normalised: float = MISSING
    push: float = MISSING
    contact: ContactScore | None = None
    phases: Mapping[str, Coverage] = field(default_factory=dict)

    def as_dict(self) -> dict:
        """Return plain numbers by name."""
        flat = asdict(self)
        flat.update(flat.pop('contact') or {})
        for phase, found in flat.pop('phases').items():
            flat |= {f'{name}_{phase}': value for name, value in found.items()}
        return flat


def score(recording: Recording, estimator: Estimator, **measured: bool) -> dict[str, Score]:
    """
    Run an estimator over a recording and score each of its outputs.

    Parameters
    ----------
    recording : Recording
    estimator : Estimator
    **measured
        How `Recording.measurements` makes the sensors: noise, effort, imu, slow_accelerometer,
        seed.

    """
    collected: dict[str, list[Output | None]] = {}
    count = 0
    for outputs in estimator(recording, recording.measurements(**measured)):
        for name in outputs:
            collected.setdefault(name, [None] * count)
        for name, rows in collected.items():
            rows.append(outputs.get(name))
        count += 1
    return {name: score_output(recording, name, rows) for name, rows in collected.items()}


def score_output(recording: Recording, name: str, rows: list[Output | None]) -> Score:
    """Score one output; `rows` has one entry for each measurement, in order."""
    known = [k for k, row in enumerate(rows) if row is not None]
    if not known:
        return Score(name)
    first = known[0]
    # From the first estimate on, an output that is not there is an error: it counts as zero.
    rows = [row or Output(float(recording.stamp_ns[k]), np.zeros_like(rows[first].force))
            for k, row in enumerate(rows[first:], start=first)]
    time = recording.stamp_ns[first:len(rows) + first].astype(float)
    stamp = np.array([row.stamp_ns for row in rows])
    force = np.array([row.force for row in rows])
    weight = recording.weight
    begin, end = (recording.stamp_ns[0] + 1e9 * t for t in recording.scored)
    scored = (time > begin) & (time < end)
    truth_now = recording.force_B[first:first + len(rows)]
    truth = _at(recording, recording.force_B, stamp)
    stance_now = recording.contact[first:first + len(rows)] & scored[:, None]
    stance = _nearest(recording, recording.contact, stamp) & scored[:, None]
    delay = float(np.median(time - stamp))
    error = force - truth
    smooth = _zero_phase(force, recording.rate)
    sampled = smooth - _zero_phase(truth, recording.rate)
    smooth = sampled if recording.smooth_force_B is None else (
        smooth - _at(recording, recording.smooth_force_B, stamp))
    slow = _forward(force, recording.rate) - _forward(truth_now, recording.rate)
    values = {
        'delay_ms': delay * 1e-6,
        'zero_phase': _rms(smooth, stance, weight),
        'zero_phase_sampled': _rms(sampled, stance, weight), 'raw': _rms(error, stance, weight),
        'on_line': _rms(force - truth_now, stance_now, weight),
        'on_line_slow': _rms(slow, stance_now, weight),
        'worst': (float(np.percentile(np.linalg.norm(error, axis=2)[stance], 99.9)) / weight * 100
                  if stance.any() else MISSING)}
    sigma = _sigma(rows, error.shape[1])
    if sigma is not None:
        values.update(_honesty(sigma, error, stance, weight,
                               _at(recording, recording.normal_force, stamp)))
    values.update(_external(recording, rows, stamp, scored))
    contact = None
    if all(row.contact is not None for row in rows[1:]):
        flags = np.array([np.zeros(len(recording.feet), bool) if row.contact is None
                          else row.contact for row in rows])
        contact = contact_score(recording, flags, stamp, scored, LOADED * weight)
    phases = {} if sigma is None else {
        phase: _coverage(error, sigma, chosen & scored[:, None], weight)
        for phase, chosen in _phases(recording, stamp).items()}
    return Score(name, contact=contact, phases=phases, **values)


def _at(recording: Recording, values: np.ndarray, stamp: np.ndarray) -> np.ndarray:
    """Return the truth at stamps, between samples by a straight line."""
    t = recording.stamp_ns.astype(float)
    place = np.clip(np.searchsorted(t, stamp, side='right') - 1, 0, len(t) - 2)
    share = np.clip((stamp - t[place]) / (t[place + 1] - t[place]), 0.0, 1.0)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    return (1.0 - share) * values[place] + share * values[place + 1]


def _nearest(recording: Recording, values: np.ndarray, stamp: np.ndarray) -> np.ndarray:
    t = recording.stamp_ns.astype(float)
    place = np.clip(np.searchsorted(t, stamp - 0.5e9 / recording.rate, side='left'), 0, len(t) - 1)
    return values[place]


def _zero_phase(x: np.ndarray, rate: float) -> np.ndarray:
    return filtfilt(*butter(2, CUTOFF, fs=rate), x, axis=0)


def _forward(x: np.ndarray, rate: float) -> np.ndarray:
    from scipy.signal import lfilter
    b, a = butter(2, CUTOFF, fs=rate)
    return lfilter(b, a, x - x[0], axis=0) + x[0]


def _rms(error: np.ndarray, stance: np.ndarray, weight: float) -> float:
    if not stance.any():
        return MISSING
    return float(np.sqrt((error[stance] ** 2).sum(axis=1).mean())) / weight * 100.0


def _sigma(rows: list[Output], n_feet: int) -> np.ndarray | None:
    """Return the deviations (n, nf, 3) that are given, or None."""
    if any(row.covariance is None for row in rows[1:]):
        return None
    variance = np.array([np.zeros((n_feet, 3)) if row.covariance is None else
                         np.diagonal(row.covariance, axis1=1, axis2=2) for row in rows])
    return np.sqrt(np.maximum(variance, 0.0))


def _phases(recording: Recording, stamp: np.ndarray) -> dict[str, np.ndarray]:
    """Return the foot-samples (n, nf) of each phase."""
    down = _nearest(recording, recording.contact, stamp)
    count = down.sum(axis=1)[:, None]
    changed = np.zeros_like(recording.contact, dtype=float)
    changed[1:] = recording.contact[1:] != recording.contact[:-1]
    lasts = np.ones(round(CHANGE * recording.rate))
    after = np.stack([np.convolve(column, lasts)[:len(column)] > 0.0 for column in changed.T], 1)
    return {'swing': ~down, 'single': down & (count == 1), 'double': down & (count > 1),
            'change': _nearest(recording, after, stamp)}


def _coverage(error: np.ndarray, sigma: np.ndarray, chosen: np.ndarray,
              weight: float) -> Coverage:
    sound = chosen & ~(sigma < 1e-6 * weight).any(axis=2)
    if not sound.any():
        return Coverage()
    # A sigma of zero has no ratio, and holds nothing but no error.
    ratio, inside = error[sound] / sigma[sound], np.abs(error[chosen]) <= BAR * sigma[chosen]
    return Coverage(float(np.sqrt((ratio ** 2).mean())), 100.0 * float(inside.mean()))


def _honesty(sigma: np.ndarray, error: np.ndarray, stance: np.ndarray, weight: float,
             normal: np.ndarray) -> dict[str, float]:
    zero = (sigma < 1e-6 * weight).any(axis=2)
    loaded, found = stance & (normal > 0.02 * weight), _coverage(error, sigma, stance, weight)
    return {'normalised': found.normalised, 'inside': found.inside,
            'sigma_zero': 100.0 * float(zero[loaded].mean()) if loaded.any() else MISSING}


def _external(recording: Recording, rows: list[Output], stamp: np.ndarray,
              scored: np.ndarray) -> dict[str, float]:
    if any(row.external is None for row in rows[1:]):
        return {}
    given = np.array([np.zeros(6) if row.external is None else row.external for row in rows])
    truth = _at(recording, recording.external_wrench, stamp)
    error = (given - truth)[:, :3]
    found = {'external': float(np.sqrt((error[scored] ** 2).sum(axis=1).mean()))
             / recording.weight * 100.0}
    size = np.linalg.norm(truth[:, :3], axis=1)
    pushed = scored & (size > 0.5 * size.max()) if size.max() > 0.0 else np.zeros(len(size), bool)
    if pushed.any():
        found['push'] = 100.0 * float(np.sqrt((error[pushed] ** 2).sum(axis=1).mean()
                                              / (truth[pushed, :3] ** 2).sum(axis=1).mean()))
    if all(row.external_sigma is not None for row in rows[1:]):
        sigma = np.array([np.full(6, np.inf) if row.external_sigma is None else row.external_sigma
                          for row in rows])[:, :3]
        found['external_normalised'] = float(np.sqrt(((error / sigma)[scored] ** 2).mean()))
    return found
