# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scores as tables for people."""
from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from benchmarks.zoo.scoring import PHASES

COLUMNS = {
    'scenario': 'scenario', 'estimator': 'estimator', 'output': 'output', 'delay_ms': 'delay',
    'zero_phase': 'zero phase', 'raw': 'raw', 'on_line': 'on line', 'normalised': 'e/sigma',
    'inside': 'in 95 %', 'sigma_zero': 'sigma 0', 'agreement': 'contact',
    'touch_down_ms': 'down', 'lift_off_ms': 'up', 'unseen': 'unseen', 'false': 'false',
    'longest_up_ms': 'called up', 'push': 'push'}

# Of the same, by phase: see `scoring.Score.phases`.
PHASE_COLUMNS = {
    'scenario': 'scenario', 'output': 'output', **{
        f'{key}_{phase}': f'{phase}: {title}' for phase in PHASES
        for key, title in (('normalised', 'e/sigma'), ('inside', 'in 95 %'))}}


def markdown(rows: list[dict], header: bool = True, columns: dict[str, str] = COLUMNS) -> str:
    """Return a Markdown table; figures that do not exist are left out."""
    text = [isinstance(rows[0].get(key), str) for key in columns] if rows else []
    lines = [f'| {" | ".join(columns.values())} |',
             f'|{"|".join("---" if left else "---:" for left in text)}|']
    lines = lines if header else []
    return '\n'.join([*lines, *(f'| {" | ".join(_cell(row.get(key)) for key in columns)} |'
                                for row in rows)])


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ''
    return f'{value:.2f}' if isinstance(value, float) and abs(value) < 10 else (
        f'{value:.1f}' if isinstance(value, float) else str(value))


# -------------------------------------------------------------------------------------------------
# Several draws of a run's noise: gain and offset of torques last, so that one says little.


# What is worst of a score: the smallest, or what is furthest from a value; else the largest.
SMALLEST = ('agreement', 'agreement_on_line')
BEST = {'inside': 95.0}
RATIOS = ('normalised', 'external_normalised')      # to one, by which factor ever
WORST = '_worst'


def seeds(count: int) -> list[int | None]:
    """Return seeds of the noise: the recording's own, then others."""
    return [None, *range(1, count)]


def over_draws(scores: Sequence[dict]) -> dict:
    """
    Return the median of each figure, and the worst under its name with ``_worst`` behind it.

    Parameters
    ----------
    scores : sequence of dict
        Of one output of one estimator in one run, as `Score.as_dict` gives them, one a draw.

    """
    found = dict(scores[0])
    if len(scores) == 1:
        return found
    for name, first in scores[0].items():
        values = [s[name] for s in scores if isinstance(s.get(name), (int, float))]
        values = [v for v in values if not math.isnan(v)]
        if isinstance(first, (int, float)) and values:
            found[name] = float(median(values))
            found[name + WORST] = _worst(name, values)
    return found


def _worst(name: str, values: list[float]) -> float:
    if name in SMALLEST:
        return min(values)
    kind = name.partition('_')[0]       # of a phase, behind it
    if kind in BEST:
        return max(values, key=lambda v: abs(v - BEST[kind]))
    if name in RATIOS or kind in RATIOS:
        return max(values, key=lambda v: abs(math.log(v)) if v > 0.0 else math.inf)
    return max(values, key=abs)
