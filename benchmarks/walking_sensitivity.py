# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How much each tuned number of the walker matters: `python -m benchmarks.walking_sensitivity`.

Each number of the frozen settings in `workspace.walking` is multiplied by 0.7 and by 1.3, by
itself, over short walks and pushes. A measure is an error of the velocity, a tilt, a distance or
an effort; its change counts in parts of what is usual, or of `FLOORS` where that is more. Contacts
amplify any change: the last columns have changes beyond those by other seeds of the sensors'
noise. All numbers over all cases take 15 minutes of one core; numbers that are compiled into
kernels are not varied.
"""
from __future__ import annotations

import argparse
import dataclasses
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from multiprocessing import get_context
from typing import Any
from unittest import mock

os.environ.update({'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'})

import numpy as np

from benchmarks.sensitivity import FACTORS, Number, changed, leaves
from benchmarks.walking_robots import Laboratory, Push, Run, bumps, walk
from benchmarks.zoo.robots import biped
from legged_dynamics.pages.page import Table
from legged_dynamics.workspace import walking

SEEDS = (0, 1, 2)
# Least usual value of a measure: m/s or rad/s, deg, m, and parts of the effort limit.
FLOORS = {'velocity': 0.02, 'tilt': 1.0, 'away': 0.05, 'effort': 0.5}


def _still(seed: int, name: str, force: tuple[float, float, float], duration: float) -> Run:
    return walk(Laboratory(name, seed=seed), 'stand', lambda t: (0.0, 0.0, 0.0), 3.5,
                [Push(1.0, duration, force)])


def _walk(gait: str, velocity: tuple[float, float, float], seconds: float, name: Any,
          seed: int, pushes: tuple[Push, ...] = (), **world: Any) -> Run:
    return walk(Laboratory(name() if callable(name) else name, seed=seed, **world), gait,
                lambda t: velocity, seconds, pushes, start=0.5, stop=1.0)


CASES: dict[str, Callable[[int], Run]] = {
    'trot over 4 cm, pushed': lambda seed: _walk(
        'trot', (0.3, 0.05, 0.1), 5.0, 'anymal_class', seed,
        (Push(3.2, 0.2, (0.0, 0.3, 0.0)),), scenery=bumps(0.04)),
    'fast trot': lambda seed: _walk('trot', (0.5, 0.0, 0.0), 3.5, 'solo_class', seed),
    'crawl up 6 deg': lambda seed: _walk('crawl', (0.08, 0.0, 0.1), 5.0, 'anymal_class', seed,
                                         slope=(0.0, 0.105)),
    'quadruped pushed': lambda seed: _still(seed, 'solo_class', (0.0, 0.6, 0.0), 0.3),
    'steps': lambda seed: _walk('steps', (0.1, 0.0, 0.1), 5.0, biped, seed),
    'sole pushed ahead': lambda seed: _still(seed, 'g1', (0.2, 0.0, 0.0), 0.3),
    'sole pushed aside': lambda seed: _still(seed, 'talos', (0.0, 0.2, 0.0), 0.3),
}


def numbers() -> Iterator[Number]:
    """Yield what is varied."""
    for found in pkgutil.iter_modules(walking.__path__, f'{walking.__name__}.'):
        module = import_module(found.name)
        for name, value in vars(module).items():
            if (name.isupper() and dataclasses.is_dataclass(value)
                    and type(value).__module__ == module.__name__):
                place = found.name.rpartition('.')[2]
                for path, number in leaves(value):
                    yield Number(f'{place}: {".".join(path)}', name, path, number)


def measured(titles: Sequence[str], seed: int = 0) -> dict[str, float]:
    """Return the measures of cases; those of a fall are infinite."""
    out: dict[str, float] = {}
    for title in titles:
        found = CASES[title](seed)
        here = found.time > 1.0
        moving = here & (found.wanted != 0.0).any(axis=1)
        values = {
            'tilt': np.degrees(np.hypot(*found.rpy[here, :2].T).max()),
            'effort': np.percentile(found.effort[here], 99),
            'away': np.linalg.norm(found.position[-1] - found.position[0]),
            'velocity': np.sqrt(np.mean((found.velocity - found.wanted)[moving] ** 2))
            if moving.any() else 0.0}
        if moving.any():        # how far it walks is its velocity
            del values['away']
        out |= {f'{title}, {name}': np.inf if found.cause else float(value)
                for name, value in values.items()}
    return out


def varied(job: tuple[Number, float, Sequence[str]]) -> dict[str, float]:
    """Return the measures of cases with one number multiplied."""
    number, factor, titles = job
    modules = [import_module(name) for name in list(sys.modules)
               if name.startswith(walking.__name__)]
    # Another module may have a place in an array of the same name.
    old = next(value for module in modules
               if dataclasses.is_dataclass(value := getattr(module, number.holder, None)))
    new = changed(old, number.path, factor)
    with ExitStack() as stack:
        for module in modules:
            if getattr(module, number.holder, None) is old:
                stack.enter_context(mock.patch.object(module, number.holder, new))
        return measured(titles)


def change(usual: dict[str, float], now: dict[str, float]) -> tuple[float, str]:
    """Return the largest change of a measure [%], and of which."""
    best, where = 0.0, ''
    for name, value in now.items():
        size = max(usual[name], FLOORS[name.rpartition(', ')[2]])
        off = 100.0 * (value - usual[name]) / size
        if abs(off) > abs(best):
            best, where = off, name
    return best, where


def main(arguments: list[str] | None = None) -> int:
    """Vary and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', action='append', metavar='WORD',
                        help='numbers with this word in the name of their file or field')
    parser.add_argument('--cases', action='append', metavar='WORD', default=[],
                        help=f'those with this word of: {"; ".join(CASES)}')
    parser.add_argument('--workers', type=int, default=2, metavar='N', help='default: 2')
    options = parser.parse_args(arguments)
    chosen = [number for number in numbers() if not options.only or any(
        word in number.name for word in options.only)]
    if not chosen:
        parser.error(f'expected --only with a word of a number, got {options.only}')
    titles = [title for title in CASES
              if not options.cases or any(word in title for word in options.cases)]
    if not titles:
        parser.error(f'expected --cases with a word of a case, got {options.cases}')
    usual, *others = (measured(titles, seed) for seed in SEEDS)
    noise = {name: max(abs(other[name] - value) for other in others)
             for name, value in usual.items()}
    found: dict[str, list[tuple[float, str, float, str]]] = {}
    jobs = [(number, factor, titles) for number in chosen for factor in FACTORS]
    with get_context('fork').Pool(max(options.workers, 1)) as pool:
        for (number, factor, _), now in zip(jobs, pool.imap(varied, jobs)):
            loud = {name: value for name, value in now.items()
                    if abs(value - usual[name]) > noise[name]}
            sizes = [(size, f'{where}, x {factor:g}' if where else '-')
                     for size, where in (change(usual, now), change(usual, loud))]
            found.setdefault(number.name, []).append((*sizes[0], *sizes[1]))
            print(number.name, f'x {factor:g}', *sizes, file=sys.stderr, flush=True)
    rows = []
    for number in chosen:
        most = [max((one[k:k + 2] for one in found[number.name]), key=lambda one: abs(one[0]))
                for k in (0, 2)]
        rows.append([number.name, f'{number.value}',
                     *(text for size, where in most for text in (f'{size:+.1f}', where))])
    print(Table('', ('number', 'value', 'largest change [%]', 'of', 'beyond noise [%]', 'of'),
                rows, [0, 1, 3, 5]).markdown)
    return 0


if __name__ == '__main__':
    sys.exit(main())
