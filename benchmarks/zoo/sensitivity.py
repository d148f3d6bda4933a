# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How much each tuned number of the estimator matters: `python -m benchmarks.zoo.sensitivity`.

Each number of the frozen settings of `estimation` (kernels take them as arguments) is multiplied
by 0.7 and by 1.3, by itself, on a few runs of the zoo: as they are, without torque, and with an
armature that the YAML leaves out. The table has the largest change of an error (zero phase, on
line), of the error bars' rms, and of contact.
"""
from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import get_context
from typing import Any
from unittest import mock

os.environ.update({'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'})

import numpy as np

from benchmarks.sensitivity import FACTORS, NONE, SMALL, Number, changed, leaves
from benchmarks.zoo.cache import recording
from benchmarks.zoo.estimators import Output, shipped
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import MissingRobot
from benchmarks.zoo.scoring import score_output
from legged_dynamics.estimation import contact, estimator
from legged_dynamics.estimation.actuators import findings, hypotheses, learner
from legged_dynamics.pages.page import Table

SCENARIOS = ('anymal_class-trot', 'biped-steps', 'hexapod-tripod-push')
HOLDERS = {'TUNED': (estimator, contact, hypotheses, findings), 'LEVELS': (contact,),
           'LEARNER': (learner,)}

Case = tuple[str, Recording, dict[str, bool]]


def numbers() -> list[Number]:
    """Return what is varied."""
    return [Number(f'{name}.{".".join(path)}', name, path, value)
            for name, (home, *_) in HOLDERS.items()
            for path, value in leaves(getattr(home, name))]


def cases(names: Sequence[str]) -> list[Case]:
    """Return the runs: as they are, without torque, and with an armature nobody states."""
    found: list[Case] = []
    for name in names:
        try:
            kept = recording(name)
        except MissingRobot as error:
            print(f'{name}: {error}', file=sys.stderr)
            continue
        found += [(name, kept, {}), (f'{name} without torque', kept, {'effort': False})]
        parameters = {key: value for key, value in kept.parameters.items()
                      if not key.endswith('armature')}
        if parameters != kept.parameters:
            found.append((f'{name} without armature', replace(kept, parameters=parameters), {}))
    return found


def measured(runs: Sequence[Case]) -> dict[str, float]:
    """Return the measures of each run, by their names."""
    found: dict[str, float] = {}
    for name, kept, sensors in runs:
        rows: dict[str, list[Output | None]] = {'raw': [], 'latest': []}
        for outputs in shipped()(kept, kept.measurements(**sensors)):
            for output, at in rows.items():
                at.append(outputs.get(output))
        raw, latest = (score_output(kept, output, at) for output, at in rows.items())
        bars = [np.trace(row.covariance, axis1=1, axis2=2) for row in rows['raw'] if row]
        found |= {f'{name}, zero phase': raw.zero_phase, f'{name}, on line': latest.on_line,
                  f'{name}, bars': float(np.sqrt(np.mean(bars)))}
        if raw.contact is not None:
            found[f'{name}, contact'] = raw.contact.agreement
    return found


def _job(job: tuple[Number, float, Sequence[Case]]) -> dict[str, float] | str:
    number, factor, runs = job
    home, *others = HOLDERS[number.holder]
    new = changed(getattr(home, number.holder), number.path, factor)
    with ExitStack() as stack:
        for module in (home, *others):
            stack.enter_context(mock.patch.object(module, number.holder, new))
        try:
            return measured(runs)
        except (ArithmeticError, ValueError) as error:
            return f'{type(error).__name__}: {error}'


def row(number: Number, usual: dict[str, float],
        found: Sequence[dict[str, float] | str]) -> tuple[float, list[Any]]:
    """Return the largest change [%; of contact: points], and the row of the table."""
    largest: dict[str, tuple[float, str]] = {}
    for factor, now in zip(FACTORS, found):
        if isinstance(now, str):
            return np.inf, [number.name, f'{number.value:g}', now, '-', '-', '-']
        for name, before in usual.items():
            kind = name.rpartition(', ')[2]
            kind = kind if kind in ('bars', 'contact') else 'error'
            change = now[name] - before if kind == 'contact' else (
                100.0 * (now[name] / before - 1.0))
            if abs(change) >= abs(largest.get(kind, (0.0, ''))[0]):
                largest[kind] = change, f'{name}, x {factor:g}'
    size = max(abs(change) for change, _ in largest.values())
    error, where = largest['error']
    return size, [number.name, f'{number.value:g}', f'{error:+.1f}',
                  where if abs(error) >= NONE else '-', f'{largest["bars"][0]:+.1f}',
                  f'{largest.get("contact", (0.0, ""))[0]:+.2f}']


def main(arguments: Sequence[str] | None = None) -> int:
    """Vary and print; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.zoo.sensitivity',
                                     description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('scenarios', nargs='*', default=SCENARIOS, metavar='SCENARIO')
    parser.add_argument('--only', action='append', metavar='WORD', help='in the name of a number')
    parser.add_argument('--workers', type=int, default=2, metavar='N', help='default: 2')
    options = parser.parse_args(arguments)
    warnings.simplefilter('ignore')
    chosen = [number for number in numbers() if not options.only or any(
        word in number.name for word in options.only)]
    runs = cases(options.scenarios) if chosen else []
    if not chosen or not runs:
        print('expected names of scenarios, and --only with a word of a number', file=sys.stderr)
        return 2
    usual = measured(runs)
    jobs = [(number, factor, runs) for number in chosen for factor in FACTORS]
    with get_context('fork').Pool(max(options.workers, 1)) as pool:     # what was read is there
        answers = pool.map(_job, jobs, chunksize=1)
    found = sorted((row(number, usual, answers[2 * k:2 * k + 2])
                    for k, number in enumerate(chosen)), key=lambda pair: -pair[0])
    counts = [sum(size < limit for size, _ in found) for limit in (NONE, SMALL)]
    table = Table('', ('number', 'value', 'largest change of an error [%]', 'where',
                       'of error bars [%]', 'of contact [points]'),
                  [cells for _, cells in found], [0, 3])
    print(f'{len(runs)} runs: {", ".join(name for name, *_ in runs)}. {len(found)} numbers times '
          f'0.7 and 1.3; of them {counts[0]} change nothing by {NONE:g} %, {counts[1]} nothing by '
          f'{SMALL:g} %.\n\n{table.markdown.rstrip()}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
