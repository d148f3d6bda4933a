# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How much each tuned number matters: `python -m benchmarks sensitivity [NAME=FOLDER ...]`.

Each number in the frozen settings of the modules of `people`, and each of `GaitSettings`, is
multiplied by 0.7 and by 1.3, by itself. Cases are trials with force plates in the folders given
(`benchmarks/people.py` says what a trial is), else the sample walk of the package, as it is and
with 1 mm of white noise. An error is the root mean square over the trials of a group,
of the vertical force, the same in double support, fore-aft or sideways. The table has the
largest change of any of them, and that of the stated standard deviations. Exit code 2 where
nothing was varied.
"""
from __future__ import annotations

import argparse
import dataclasses
import os
import pkgutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

# One process an analysis: threads of the linear algebra would wait for each other.
os.environ.update({'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'})

import numpy as np

from benchmarks.people import trials_of, with_noise
from legged_dynamics import people
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.model.robot_model import ModelWarning
from legged_dynamics.pages.page import Table
from legged_dynamics.people.gait.settings import SETTINGS
from legged_dynamics.people.trials import analysis
from legged_dynamics.people.trials.subject import GaitOptions

FACTORS = (0.7, 1.3)
# A change [%] below the first counts as none, below the second as small.
NONE, SMALL = 0.1, 1.0
NOISE = 1.0         # [mm] of the noisy sample
MEASURES = ('vertical', 'double', 'fore_aft', 'sideways')
KERNELS = 'contact/contact_evidence.py'


class Case(NamedTuple):
    """One trial of a group."""

    group: str
    source: Path
    options: GaitOptions


class Number(NamedTuple):
    """A number of a frozen settings class, or of `GaitSettings` where `holder` is empty."""

    name: str           # of its file and field
    holder: str         # name of the instance in the module
    path: tuple[str, ...]
    value: Any          # a number, or a tuple of numbers, which are multiplied together


def modules() -> list[Any]:
    """Return all modules of `people`."""
    return [import_module(found.name) for found in
            pkgutil.walk_packages(people.__path__, f'{people.__name__}.')]


def numbers() -> Iterator[Number]:
    """Yield what is varied, of each module in the order of its fields."""
    for module in modules():
        place = module.__name__.removeprefix(f'{people.__name__}.').replace('.', '/')
        for name, value in vars(module).items():
            if (name.isupper() and dataclasses.is_dataclass(value)
                    and type(value).__module__ == module.__name__):
                for path, number in leaves(value):
                    yield Number(f'{place}: {".".join(path)}', name, path, number)
    for setting in SETTINGS:
        if isinstance(setting.default, float):
            yield Number(f'GaitSettings: {setting.name}', '', (setting.name,), setting.default)


def leaves(settings: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the place and value of each number of frozen settings."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if dataclasses.is_dataclass(value):
            for path, number in leaves(value):
                yield (field.name, *path), number
        elif np.any(value) and type(value) in (float, int, tuple):
            yield (field.name,), value


def changed(settings: Any, path: Sequence[str], factor: float) -> Any:
    """Return frozen settings with one of their numbers multiplied; whole ones stay whole."""
    value = getattr(settings, path[0])
    if len(path) > 1:
        new = changed(value, path[1:], factor)
    elif isinstance(value, tuple):
        new = tuple(factor * each for each in value)
    else:
        new = type(value)(round(factor * value) if isinstance(value, int) else factor * value)
    return dataclasses.replace(settings, **{path[0]: new})


def varied(number: Number, factor: float, cases: Sequence[Case]) -> dict[str, float] | str:
    """Return the measures with one number multiplied, or why there are none."""
    with ExitStack() as stack:
        settings: dict[str, Any] = {}
        if number.holder:
            everywhere = modules()
            home = next(module for module in everywhere if module.__name__.endswith(
                number.name.partition(':')[0].replace('/', '.')))
            old = getattr(home, number.holder)
            new = changed(old, number.path, factor)
            for module in everywhere:
                if getattr(module, number.holder, None) is old:
                    stack.enter_context(mock.patch.object(module, number.holder, new))
        else:
            settings = {number.path[0]: factor * number.value}
        try:
            return measured(cases, settings, fresh=number.name.startswith('trials/'))
        except (LeggedDynamicsError, ArithmeticError, ValueError) as error:
            return f'{type(error).__name__}: {error}'


def _job(job: tuple[Number, float, Sequence[Case]]) -> dict[str, float] | str:
    return varied(*job)


_READ: dict[tuple[Path, str], Any] = {}


def _read_once(source: Path, options: GaitOptions) -> Any:
    key = source, options.urdf
    if key not in _READ:
        _READ[key] = READ(source, options)
    return _READ[key]


READ = analysis.read_trial


def measured(cases: Sequence[Case], settings: dict[str, Any],
             fresh: bool = False) -> dict[str, float]:
    """Return the rms over each group's trials, by group and measure; `fresh`: read anew."""
    found: dict[str, list[float]] = {}
    for case in cases:
        with mock.patch.object(analysis, 'read_trial', READ if fresh else _read_once):
            result, _ = analysis.analyse_gait(
                case.source, dataclasses.replace(case.options, settings=settings))
        for name in MEASURES if result.errors else ():
            value = getattr(result.errors[result.method], name)
            if np.isfinite(value):
                found.setdefault(f'{case.group}, {name.replace("_", "-")}', []).append(value)
        found.setdefault(f'{case.group}, bars', []).append(
            float(np.sqrt(np.mean(result.reactions.deviation ** 2))))
    return {name: float(np.sqrt(np.mean(np.square(values)))) for name, values in found.items()}


def _cases(groups: Sequence[str], most: int, noisy: Path) -> list[Case]:
    sample, options = analysis.sample_walk(GaitOptions(compare=False))
    if not groups:
        return [Case('sample', sample, options), Case('noisy sample', noisy, options)]
    cases: list[Case] = []
    for word in groups:
        name, _, folder = word.partition('=')
        trials = trials_of(Path(folder))
        if not trials:
            sys.exit(f'expected NAME=FOLDER with trials in it, got {word!r}')
        cases += [Case(name, *trial) for trial in trials[::max(-(-len(trials) // most), 1)]]
    return cases


def _largest(usual: dict[str, float], found: Sequence[dict[str, float] | str],
             bars: bool) -> tuple[float, str]:
    """Return the largest change [%], with its sign, and where it is."""
    best, where = 0.0, '-'
    for factor, now in zip(FACTORS, found):
        if isinstance(now, str):        # it makes an analysis impossible
            return np.inf, now
        for name, before in usual.items():
            change = 100.0 * (now.get(name, np.nan) / before - 1.0)
            if name.endswith(', bars') == bars and abs(change) > abs(best):
                best, where = change, f'{name.removesuffix(", bars")}, x {factor:g}'
    return best, where


def _effect(size: float) -> str:
    return 'none' if size < NONE else f'below {SMALL:g} %' if size < SMALL else 'yes'


def row(number: Number, usual: dict[str, float],
        found: Sequence[dict[str, float] | str]) -> tuple[float, list[str]]:
    """Return the size of the effect of a number [%], and its row of the table."""
    (error, where), (bars, _) = (_largest(usual, found, which) for which in (False, True))
    size = max(abs(error), abs(bars))
    value = 'curve' if isinstance(number.value, tuple) else f'{number.value:g}'
    return size, [number.name, value, f'{error:+.1f}', where if abs(error) >= NONE else '-',
                  f'{bars:+.1f}', _effect(size)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Vary and print; return the exit code."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks sensitivity', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('groups', nargs='*', metavar='NAME=FOLDER', help='trials with plates')
    parser.add_argument('--only', action='append', metavar='WORD',
                        help='numbers with this word in the name of their file or field')
    parser.add_argument('--most', type=int, default=6, metavar='N',
                        help='trials of a group at most, evenly over the folder; default: 6')
    parser.add_argument('--workers', type=int, default=2, metavar='N', help='default: 2')
    options = parser.parse_args(arguments)
    warnings.simplefilter('ignore', ModelWarning)
    chosen = [number for number in numbers() if not options.only or any(
        word in number.name for word in options.only)]
    if not chosen:
        print(f'expected --only with a word of a number, such as {next(numbers()).name!r}, got '
              f'{options.only}', file=sys.stderr)
        return 2
    sample, _ = analysis.sample_walk()
    noise = with_noise(sample, NOISE)
    cases = _cases(options.groups, max(options.most, 1), next(noise))
    usual = measured(cases, {})
    jobs = [(number, factor, cases) for number in chosen for factor in FACTORS]
    # Forked, so that what was read is there.
    with get_context('fork').Pool(max(options.workers, 1)) as pool:
        answers = []
        for job, answer in zip(jobs, pool.imap(_job, jobs)):
            print(job[0].name, job[1], answer, file=sys.stderr, flush=True)
            answers.append(answer)
    noise.close()
    found = [row(number, usual, answers[2 * k:2 * k + 2]) for k, number in enumerate(chosen)]
    found.sort(key=lambda pair: -pair[0])
    counts = [sum(size < limit for size, _ in found) for limit in (NONE, SMALL)]
    table = Table('', ('number', 'value', 'largest change of an error [%]', 'where',
                       'of error bars [%]', 'effect'), [cells for _, cells in found], [0, 3, 5])
    print(f'{len(cases)} trials. {len(found)} numbers times 0.7 and 1.3; of them {counts[0]} '
          f'change no error and no error bar by {NONE:g} %, {counts[1]} by less than '
          f'{SMALL:g} %.\n\n{table.markdown.rstrip()}\n\nNot varied: numbers that are compiled '
          f'into kernels (`{KERNELS}`), and what is zero.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
