# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What came out of an analysis, in a sentence, and why one should not believe it."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from legged_dynamics.analysis.accuracy import ON_LINE, ZERO_PHASE, ForceError, rms
from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.inputs import InputStatistics
from legged_dynamics.estimation import Mode

# Of the weight, of the time, of the messages: beyond these the result is not to be trusted.
LARGEST_ERROR, LEAST_AGREEMENT = 15.0, 80.0
LARGEST_RESIDUAL, MOST_SILENT, MOST_LOST = 0.25, 0.2, 0.1
# Exit code of a command whose result does not deserve trust.
DOUBTFUL = 3


def doubts(analysis: Analysis) -> list[str]:
    """Return why the result does not deserve trust; nothing when it does."""
    errors = [error for error in analysis.accuracy.feet if error.treatment == ON_LINE]
    main = [error for error in errors if error.estimate == errors[0].estimate]
    silent = analysis.series.mode_counts().get(Mode.UNAVAILABLE, 0)
    return reasons_for_doubt(
        main, [score.agreement for score in analysis.contacts], base_residual(analysis),
        silent / len(analysis.series.stamp_ns), analysis.inputs)


def reasons_for_doubt(main: Sequence[ForceError], agreements: Sequence[float], residual: float,
                      silent: float, inputs: Sequence[InputStatistics]) -> list[str]:
    """
    Return why a result does not deserve trust.

    Parameters
    ----------
    main : sequence of ForceError
        On-line errors of the main estimate against the truth; empty without truth.
    agreements : sequence of float [%]
        Of contacts with the true ones, by foot; empty without truth.
    residual : float
        Force left unexplained at the base, as a part of the weight, rms.
    silent : float
        Part of the time without estimate.
    inputs : sequence of InputStatistics
        Joint states and IMU.

    """
    found = []
    worst = max(main, key=lambda error: error.vertical_percent, default=None)
    if worst is not None and worst.vertical_percent > LARGEST_ERROR:
        found.append(f'the error of a foot in contact is {worst.vertical_percent:.0f} % of the '
                     f'weight ({worst.subject})')
    agree = [value for value in agreements if np.isfinite(value)]
    if agree and np.mean(agree) < LEAST_AGREEMENT:
        found.append(f'contacts agree with the truth in only {np.mean(agree):.0f} % of the time')
    if residual > LARGEST_RESIDUAL:
        found.append(f'{100.0 * residual:.0f} % of the weight remain unexplained at the base: '
                     'mass, signs or contacts are wrong')
    if silent > MOST_SILENT:
        found.append(f'no estimate was possible in {100.0 * silent:.0f} % of the time')
    for entry in inputs:
        lost = 1.0 - entry.rate * entry.interval * 1e-3
        if lost > MOST_LOST:
            found.append(f'{100.0 * lost:.0f} % of the messages on {entry.topic} are missing')
    return found


def verdict(analysis: Analysis) -> tuple[str, bool]:
    """Return a sentence on what came out, and whether there is a truth behind it."""
    errors = [error for error in analysis.accuracy.feet if error.treatment == ZERO_PHASE]
    main = [error for error in errors if error.estimate == errors[0].estimate]
    if main:
        parts = [f'{error.vertical:.1f} N or {error.vertical_percent:.1f} % of the weight while '
                 f'{error.subject}' for error in main]
        return (f'Error of the vertical force on a foot in contact, against the truth: '
                f'{_joined(parts)} (rms, both low-passed at 25 Hz without delay).', True)
    return ('There is nothing to compare with in this bag. What the estimate leaves unexplained '
            f'at the base is {100.0 * base_residual(analysis):.1f} % of the weight, rms; that is '
            'no measure of how feet share the load.', False)


def base_residual(analysis: Analysis) -> float:
    """Return the rms force that the estimate leaves unexplained, as a part of the weight."""
    force = np.linalg.norm(analysis.series.base_residual.values[:, :3], axis=1)
    force = force[np.isfinite(force)]
    return float(rms(force) / analysis.weight) if len(force) else 0.0


def distrust(reasons: list[str]) -> str:
    """Return the sentence for a banner and for the first line of a terminal."""
    return f'Not to be trusted: {"; ".join(reasons)}.'


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f'{", ".join(parts[:-1])}, and {parts[-1]}'
