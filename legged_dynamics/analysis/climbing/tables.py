# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a comparison of climbs found, as tables."""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.analysis.climbing.comparison import (
    MUJOCO,
    Attempt,
    Comparison,
    residuals_of,
)
from legged_dynamics.analysis.climbing.mode_shapes import NamedMode
from legged_dynamics.analysis.climbing.questions import Answers, Sharing, Strength
from legged_dynamics.analysis.table import Table
from legged_dynamics.stickybot import Allocation, AllocationStatus

MOST_MODES = 14


def climb_table(comparison: Comparison) -> Table:
    """Return one row a climb: speed, forces, energy."""
    rows: list[tuple[str, ...]] = []
    first = []
    groups: dict[tuple[str, bool], list[Attempt]] = {}
    for attempt in comparison.attempts:
        groups.setdefault((attempt.plant, attempt.pads is not None), []).append(attempt)
    for (plant, limited), group in groups.items():
        first.append(len(rows))
        plain = next((attempt for attempt in group if attempt.reduction == 'off'), None)
        where = f'{"MuJoCo, " if plant == MUJOCO else ""}' \
                f'{"on pads" if limited else "feet unlimited"}'
        rows += [(f'{attempt.name}, {where}', *_climb_cells(comparison, attempt, plain))
                 for attempt in group]
    return Table('Climbs', ('climb', 'speed [cm/s]', 'peak |F| [N]', 'vs plain [%]',
                            'mean |F| [N]', 'work [J]', 'dampers [J]', 'touchdown [mJ]',
                            'cost of transport', 'let go'), rows, (), first)


def _climb_cells(comparison: Comparison, attempt: Attempt, plain: Attempt | None) -> list[str]:
    done = attempt.climb
    if done is None:
        return ['not possible', *['-'] * 8]
    if attempt.fell:
        return [f'falls at {attempt.first_failure:.2f} s', *['-'] * 7, str(done.failures)]
    against = '-'
    if plain is not None and plain is not attempt and plain.climb is not None and not plain.fell:
        against = f'{100.0 * (done.peak / plain.climb.peak - 1.0):+.1f}'
    weight, energy = comparison.model.mass * comparison.model.wall.gravity, done.energy
    cost = energy.work / (weight * abs(done.rise)) if weight * done.rise else math.nan
    return [f'{100.0 * done.speed:.3f}', f'{done.peak:.3f}', against, f'{done.mean:.3f}',
            _number(energy.work, '.4f'), _number(energy.damped, '.4f'),
            _number(1e3 * energy.struck, '.3f'),
            _number(cost, '.2f'), str(done.failures)]


def balance_table(comparison: Comparison) -> Table:
    """Return how far energy, momentum and angular momentum are off."""
    found = [attempt for attempt in map(comparison.attempt, ('off', 'full'))
             if attempt is not None]
    columns = []
    for attempt in found:
        assert attempt.climb is not None
        assert attempt.climb.trace is not None
        now, energy = residuals_of(comparison.model, attempt.climb.trace), attempt.climb.energy
        columns.append((energy.energy_residual, now.power, now.force, now.moment,
                        max(map(abs, energy.momentum_residual)),
                        abs(energy.angular_momentum_residual)))
    seconds = f'over {comparison.seconds:g} s'
    names = (f'energy, {seconds} [J]', 'power, largest of all samples [W]',
             'Newton: momentum, largest of all samples [N]',
             'angular momentum, largest of all samples [N m]', f'momentum, {seconds} [N s]',
             f'angular momentum, {seconds} [N m s]')
    return Table('Residuals of the balances', ('balance', *(attempt.name for attempt in found)),
                 [(name, *(f'{column[k]:.1e}' for column in columns))
                  for k, name in enumerate(names)])


def mode_table(modes: list[NamedMode], nominal: float) -> Table:
    """Return the true modes beside the nominal damping ratio, the least damped first."""
    rows: list[tuple[str, ...]] = []
    for mode in sorted(modes, key=lambda mode: (mode.damping_ratio, abs(mode.eigenvalue))):
        swing = f' ± {mode.eigenvalue.imag:.1f} i' if mode.eigenvalue.imag else ''
        row = (mode.name, f'{mode.eigenvalue.real:.1f}{swing}', f'{abs(mode.eigenvalue):.1f}',
               f'{mode.damping_ratio:.3f}', f'{nominal:.3f}')
        if row not in rows:
            rows.append(row)
    left = len(rows) - MOST_MODES
    rows = rows[:MOST_MODES]
    if left > 0:
        rows.append((f'... and {left} more, all better damped', '', '', '', ''))
    return Table('Modes at rest on all feet', (
        'what moves', 'eigenvalue [1/s]', 'frequency [rad/s]', 'damping ratio', 'nominal'), rows)


def sharing_table(answers: Answers) -> Table:
    """Return the answers to question (a)."""
    return Table('Largest force |F| of any foot [N]', (
        'state', 'as it is', 'least squares', 'least maximum',
        'hips move by', 'rest angles alone, settled', 'rest angles alone, this instant',
        'all equal, this instant'), [_sharing_row(case) for case in answers.sharing])


def _sharing_row(case: Sharing) -> tuple[str, ...]:
    move = '-'
    if case.rest_change is not None:
        move = (f'{1e3 * np.abs(case.rest_change[:, :2]).max():.2f} mm, '
                f'{1e3 * np.abs(case.rest_change[:, 2]).max():.2f} mrad')
    squares = float(np.hypot(*case.squares.forces.T).max())
    return (case.name, f'{case.peak:.3f}', _number(squares, '.3f'),
            _number(case.even.value, '.3f'), move,
            '-' if case.turned is None else f'{case.turned.peak:.3f}',
            _number(case.frozen_peak, '.3f'),
            f'{case.frozen_equal[0]:.3f}' if case.frozen_equal else 'none')


def strength_table(answers: Answers) -> Table:
    """Return the answers to question (b)."""
    return Table('Largest acceleration of the body for a limit on |F|', (
        'each foot holds', 'up [m/s²]', 'down [m/s²]', 'aside [m/s²]', 'turning [rad/s²]',
        'up, on the feet of a stride [m/s²]', 'turning by rest angles, this instant [rad/s²]'),
        [_strength_row(row) for row in answers.strength])


def _strength_row(row: Strength) -> tuple[str, ...]:
    low, high = row.turning_range
    return (row.name, *(_reached(found) for found in row.along.values()),
            f'{low:.0f} to {high:.0f}' if math.isfinite(low) else '-')


def _reached(found: Allocation) -> str:
    if found.status is not AllocationStatus.OPTIMAL:
        return 'does not hold'
    return f'{found.value:.2f}' if found.value >= 0.0 else f'sinks at {-found.value:.2f}'


def _number(value: float, form: str) -> str:
    return format(value, form) if math.isfinite(value) else '-'
