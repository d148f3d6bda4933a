# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scores as tables for people."""
from __future__ import annotations

import math

COLUMNS = {
    'scenario': 'scenario', 'estimator': 'estimator', 'output': 'output', 'delay_ms': 'delay',
    'zero_phase': 'zero phase', 'raw': 'raw', 'on_line': 'on line', 'normalised': 'e/sigma',
    'inside': 'in 95 %', 'sigma_zero': 'sigma 0', 'agreement': 'contact',
    'touch_down_ms': 'down', 'lift_off_ms': 'up', 'unseen': 'unseen', 'false': 'false',
    'longest_up_ms': 'called up', 'push': 'push'}

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
