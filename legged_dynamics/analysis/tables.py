# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tables of an analysis, as rows of text: the same on the terminal and in the report."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from legged_dynamics.analysis.accuracy import ON_LINE, UNFILTERED, ZERO_PHASE, ForceError, rms
from legged_dynamics.analysis.analysis import Analysis
from legged_dynamics.analysis.table import Table

TREATMENTS = (ZERO_PHASE, ON_LINE, UNFILTERED)


def tables(analysis: Analysis) -> list[Table]:
    """Return the tables that an analysis has content for, the errors first."""
    found = [
        _errors_by_behaviour(analysis.accuracy.feet), _errors_by_subject(analysis),
        _body(analysis), _contacts(analysis), _inputs(analysis), _live(analysis),
        _latency(analysis)]
    return [table for table in found if table.rows]


def _body(analysis: Analysis) -> Table:
    """Return how the base followed its reference: position and orientation."""
    body, rows = analysis.body, []
    if body is not None:
        for what, values, unit in (('position', 1e3 * body.error, 'mm'),
                                   ('orientation', np.degrees(body.angle), 'deg')):
            rows.append([what, f'{rms(values):.2f} {unit}', f'{values.max():.2f} {unit}'])
    return Table('Body, true pose against the one wanted', ['of', 'rms', 'largest'], rows)


def _errors_by_behaviour(errors: Sequence[ForceError]) -> Table:
    """Return one row an estimate and treatment, two columns a behaviour."""
    subjects = list(dict.fromkeys(error.subject for error in errors))
    by_key = {(error.estimate, error.treatment, error.subject): error for error in errors}
    head = ['estimate, treatment']
    for subject in subjects:
        head += [f'{subject} [N]', '[% of weight]']
    rows: list[Sequence[str]] = []
    first = []
    for estimate in dict.fromkeys(error.estimate for error in errors):
        first.append(len(rows))
        for treatment in TREATMENTS:
            found = [by_key.get((estimate, treatment, subject)) for subject in subjects]
            if any(found):
                cells = [cell for error in found for cell in (_newtons(error), _percent(error))]
                rows.append([f'{estimate}, {treatment}', *cells])
    weight = f' (weight {errors[0].weight:.0f} N)' if errors else ''
    return Table(f'Error per stance foot, 3-D / vertical, rms{weight}', head, rows, [0], first)


def _errors_by_subject(analysis: Analysis) -> Table:
    """Return one row an estimate and subject: the sum over all feet, each foot's support."""
    errors = [*analysis.accuracy.sums, *analysis.accuracy.support]
    by_key = {(error.estimate, error.treatment, error.subject): error for error in errors}
    rows: list[Sequence[str]] = []
    first = []
    for estimate in dict.fromkeys(error.estimate for error in errors):
        first.append(len(rows))
        for subject in dict.fromkeys(error.subject for error in errors):
            found = [by_key.get((estimate, treatment, subject)) for treatment in TREATMENTS]
            count = next((error.count for error in found if error), 0)
            cells = [cell for error in found for cell in (_newtons(error), _percent(error))]
            rows.append([f'{estimate}, {subject}', str(count), *cells])
    head = ['estimate, of', 'samples']
    for treatment in TREATMENTS:
        head += [f'{treatment} [N]', '[%]']
    return Table('Error of the sum over all feet'
                 f'{", and of each foot by support" if analysis.accuracy.support else ""}, '
                 '3-D / vertical, rms', head, rows, [], first)


def _newtons(error: ForceError | None) -> str:
    return '-' if error is None else f'{error.total:.1f} / {error.vertical:.1f}'


def _percent(error: ForceError | None) -> str:
    return ('-' if error is None else
            f'{error.total_percent:.2f} / {error.vertical_percent:.2f}')


def _contacts(analysis: Analysis) -> Table:
    rows = [(score.foot, f'{score.agreement:.1f}', _number(score.touchdown_delay, '+.0f'),
             _number(score.liftoff_delay, '+.0f'), str(score.changes), str(score.unseen))
            for score in analysis.contacts]
    return Table('Contact against the truth',
                 ('foot', 'agreement [%]', 'touchdown seen late by [ms]',
                  'lift-off seen late by [ms]', 'changes', 'unseen'), rows)


def _inputs(analysis: Analysis) -> Table:
    rows = [(entry.topic, str(entry.count), _number(entry.rate, '.1f'),
             _number(entry.received, '.1f'), _number(entry.interval, '.2f'),
             _number(entry.stamp_jitter, '.3f'), _number(entry.receipt_jitter, '.3f'),
             _number(entry.worst_interval, '.1f'), str(entry.gaps), str(entry.backwards))
            for entry in analysis.inputs]
    return Table('Inputs', ('topic', 'messages', 'rate [Hz]', 'received at [Hz]',
                            'usual interval [ms]', 'jitter of stamps [ms]',
                            'of receipt [ms]', 'longest interval [ms]', 'gaps',
                            'not after the last'), rows)


def _live(analysis: Analysis) -> Table:
    rows = [(entry.foot, str(entry.published), str(entry.missing), str(entry.compared),
             str(entry.identical), f'{entry.force:.3g}', f'{entry.moment:.3g}',
             _number(entry.last, '.3f'))
            for entry in analysis.live]
    return Table('Live against replay', (
        'foot', 'published live', 'not published', 'compared', 'identical in every bit',
        'largest difference [N]', '[N m]', 'last one after [s]'), rows)


def _latency(analysis: Analysis) -> Table:
    latency = analysis.latency
    if latency is None:
        return Table('')
    rows = []
    later = [(f"with the filter's delay of {latency.delay} samples", latency.total)]
    for name, values in (('transport and computing', latency.completing),
                         *(later if latency.delay else [])):
        rows.append((name, *(f'{value:.2f}' for value in (
            *np.percentile(values, (50, 95, 99)), values.max()))))
    return Table("Latency of live wrenches, by the recorder's clock [ms]",
                 ('from joint state to wrench', '50 %', '95 %', '99 %', 'largest'), rows)


def _number(value: float, form: str) -> str:
    return format(value, form) if np.isfinite(value) else '-'
