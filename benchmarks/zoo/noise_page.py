# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sections of the documentation's page: several draws of the noise, and other noise."""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from benchmarks.zoo.bound import bound
from benchmarks.zoo.cache import recording
from benchmarks.zoo.draws import WORST
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.scenarios import SCENARIOS
from benchmarks.zoo.sensors import NAMES, OTHERS, heard
from benchmarks.zoo.tables import markdown
from legged_dynamics.estimation import Fault, GroundReactionEstimator

DRAWS = 10
# Of a run, of some estimators, over so many draws: rows as `Score.as_dict` gives them.
Scores = Callable[[Recording, Sequence[str], int], list[dict]]
STANDING = f"""## Standing, over {DRAWS} draws of the noise

Gain and offset of torques last, so one draw says little of a robot that stands: median, and the
worst in brackets. **Bound**: the Cramer-Rao bound of the whole run, for an estimator that knows
contacts, motion and all deviations exactly and whose forces are constant over 0.1 s; unknown are
gain and offset of each torque and the bias of the accelerometer. Nobody is below it in the mean.
"""
OTHER = """## Other noise

**Stated**: what the configuration says of it. The estimator follows what it sees of the white
noise of velocities and torques; the rest it has to believe. Medians of two draws.
"""


def standing(names: Sequence[str], scores: Scores) -> str:
    """Return the section on standing runs among these, empty without any."""
    table = []
    for name in names:
        if SCENARIOS[name].stepping or SCENARIOS[name].push:
            continue
        kept = recording(name)
        print(f'{name}, {DRAWS} draws', file=sys.stderr, flush=True)
        rows = scores(kept, ('ours', 'observer'), DRAWS)
        ours = next(row for row in rows if row['estimator'] == 'ours')
        theirs = next(row for row in rows if row['estimator'] == 'observer')
        table.append({
            'scenario': name, 'bound': bound(kept), 'ours, zero phase': _both(ours, 'zero_phase'),
            'observer, zero phase': _both(theirs, 'zero_phase'),
            'e/sigma': _both(ours, 'normalised'), 'in 95 %': ours['inside'],
            'on line': min(row['on_line'] for row in rows if row['estimator'] == 'ours'),
            'observer, on line': theirs['on_line']})
    return f'{STANDING}\n{_table(table)}\n' if table else ''


def other_noise(names: Sequence[str], scores: Scores) -> str:
    """Return the section on other noise, on some of these runs; empty without any."""
    table = []
    for name in NAMES:
        for sensors in OTHERS if name in names else ():
            print(f'{name}, {sensors.title}', file=sys.stderr, flush=True)
            made = heard(recording(name), sensors)
            first, last = scores(made, ('ours',), 2)
            table.append({
                'scenario': name, 'noise': sensors.title, 'zero phase': first['zero_phase'],
                'e/sigma': first['normalised'], 'in 95 %': first['inside'],
                'on line': last['on_line'], 'e/sigma, on line': last['normalised'],
                'contact': first['agreement'], 'says': _says(made)})
    return f'{OTHER}\n{_table(table)}\n' if table else ''


def _says(made: Recording) -> str:
    """Return the faults at the end of the run, in words."""
    estimator = GroundReactionEstimator(made.model, made.config, {'rate': made.rate})
    faults = Fault.NONE
    for measurement in made.measurements():
        faults = estimator.update(measurement).faults
    return '' if faults is Fault.NONE else str(faults.name)


def _both(row: dict, key: str) -> str:
    return f'{row[key]:.2f} ({row[key + WORST]:.2f})'


def _table(table: list[dict]) -> str:
    return markdown(table, columns={key: key for key in table[0]})
