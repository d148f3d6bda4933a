# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The tables of inverse dynamics over a recording, for terminal and report."""
from __future__ import annotations

import numpy as np

from legged_dynamics.analysis.gait.accuracy import FootErrors
from legged_dynamics.analysis.gait.result import GaitResult
from legged_dynamics.analysis.table import Table
from legged_dynamics.gait.double_support import METHODS


def feet_table(result: GaitResult) -> Table:
    """Return one row a foot: when it stands, and what it bears."""
    r, rows = result.reactions, []
    for i, foot in enumerate(r.feet):
        on = r.contact[:, i]
        force = r.force[on, i]
        steps = int((np.diff(on.astype(int)) > 0).sum())
        rows.append((foot, f'{100.0 * on.mean():.0f}', str(steps),
                     *(('-',) * 3 if not on.any() else (
                         f'{force[:, 2].mean():.0f}', f'{force[:, 2].max():.0f}',
                         f'{np.linalg.norm(force[:, :2], axis=1).max():.0f}'))))
    return Table(f'Feet (weight {result.weight:.0f} N), contacts {result.contact_source}',
                 ('foot', 'on the ground [%]', 'landings', 'mean load [N]', 'largest load [N]',
                  'largest sideways [N]'), rows)


def joints_table(result: GaitResult, most: int = 12) -> Table:
    """Return the joints with the largest torques."""
    effort = result.reactions.joint_effort
    largest = np.abs(effort).max(axis=0)
    rows = []
    for k in np.argsort(-largest, kind='stable')[:most]:
        unit = 'N' if result.model.joints[k].kind == 'prismatic' else 'N m'
        rows.append((result.model.joint_names[k], f'{effort[:, k].min():.1f}',
                     f'{effort[:, k].max():.1f}', f'{np.sqrt((effort[:, k] ** 2).mean()):.1f}',
                     unit))
    return Table('Joint torques, the largest', ('joint', 'least', 'most', 'rms', 'unit'), rows)


def errors_table(result: GaitResult) -> Table:
    """Return the errors against the truth, one row a method; none without truth."""
    rows = []
    for method, e in result.errors.items():
        rows.append((method, *_errors(e), METHODS[method]))
        if method == result.method and result.together is not None and result.alignment:
            lag = 1e3 * result.alignment.lag
            rows.append((f'{method}, {abs(lag):.0f} ms', *_errors(result.together),
                         f'the same, the plates {"earlier" if lag > 0.0 else "later"} by that'))
    first = next(iter(result.errors.values()), None)
    title = '' if first is None else (
        f'Error of each foot while truly loaded, rms [N], {first.count} samples (contact agrees '
        f'in {100.0 * first.agreement:.1f} %; the vertical force of all feet together errs by '
        f'{first.total:.1f} N)')
    return Table(title, ('method', 'vertical', 'alone', 'together', 'along x', 'along y',
                         'least vertical force', ''), rows, [0] if rows else [])


def _errors(e: FootErrors) -> list[str]:
    return [_newtons(value) for value in (e.vertical, e.single, e.double, e.fore_aft, e.sideways,
                                          e.pull)]


def _newtons(value: float) -> str:
    return f'{value:.1f}' if np.isfinite(value) else '-'
