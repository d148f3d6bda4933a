# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The crouch where the robot is not what the controller believes, measured on MuJoCo contact."""
from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from legged_dynamics.analysis.crouch.closed_loop import Loop
from legged_dynamics.analysis.crouch.figures import UNITS
from legged_dynamics.analysis.crouch.runs import LANDING, Crouch, Run, crouch
from legged_dynamics.analysis.table import Table
from legged_dynamics.workspace.planar import Biped

INTEGRAL = 1.0          # 1/s^3
LONG = 20.0             # s, for the integral term to do its work
PUSH = 50.0             # N
LOST = 0.05             # m: whose sole went so far does not stand as the controller believes

CASES = (
    Run('as modelled'),
    *(Run(f'body {100 * abs(scale - 1):.0f} % {"heavier" if scale > 1 else "lighter"}',
          biped=Biped(body_scale=scale)) for scale in (0.95, 0.98, 1.02, 1.05)),
    *(Run(f'legs {100 * abs(scale - 1):.0f} % {"heavier" if scale > 1 else "lighter"}',
          biped=Biped(leg_scale=scale)) for scale in (0.9, 1.1)),
    *(Run(f'friction {friction:g}', plant={'floor_friction': friction})
      for friction in (0.3, 1.0, 3.0)),
    *(Run(f'controller at {rate:g} Hz', loop=Loop(rate=rate))
      for rate in (20.0, 50.0, 200.0, 500.0, 1000.0)),
    *(Run(f'pushed {way} by {PUSH:g} N for 0.2 s', loop=Loop(push=push)) for way, push in (
        ('forward', (-PUSH, 0.0, 0.0)), ('backward', (PUSH, 0.0, 0.0)),
        ('down', (0.0, -PUSH, 0.0)))),
    *(Run(f'{1e3 * delay:g} ms of delay', loop=Loop(delay=delay))
      for delay in (0.01, 0.02, 0.03, 0.05)),
    Run('noisy sensors, leg odometry', plant={'noisy': True}),
    Run('dropped from 1 cm, controlled in the air', plant={'drop_height': 0.01, 'standing': 0.0}),
    Run('dropped from 1 cm, controlled from the landing on',
        plant={'drop_height': 0.01, 'standing': LANDING}),
    Run('dropped from 1 cm, restitution 0.5',
        plant={'drop_height': 0.01, 'standing': 0.0, 'restitution': 0.5}),
)
# Where a case begins a group in the table.
FIRST = ('body', 'friction', 'controller', 'pushed', '10 ms', 'noisy', 'dropped')


def with_integral(run: Run) -> Run:
    """Return the same run with the integral term and the time that it needs."""
    return replace(run, integral=INTEGRAL, loop=replace(run.loop, duration=LONG))


def measure(cases: Sequence[Run] = CASES, workers: int | None = None,
            progress: Callable[[float], None] | None = None) -> list[tuple[Crouch, Crouch]]:
    """
    Run every case with the paper's gains and with the integral term, in parallel on the cores.

    Parameters
    ----------
    cases : sequence of Run
        With the paper's gains.
    workers : int, optional
        Processes; as many as there are cores unless given. With 1, this process does it all.
    progress : callable, optional
        Called with the part done.

    """
    runs = [run for case in cases for run in (case, with_integral(case))]
    done = []
    for finished in _each(runs, (os.cpu_count() or 1) if workers is None else workers):
        done.append(finished)
        if progress is not None:
            progress(len(done) / len(runs))
    return list(zip(done[::2], done[1::2]))


def _each(runs: Sequence[Run], workers: int) -> Iterator[Crouch]:
    if workers == 1:
        yield from map(crouch, runs)
        return
    # A fresh interpreter per worker: a forked one would share the parent's threads and locks.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context('spawn')) as pool:
        yield from pool.map(crouch, runs)


def table(pairs: Sequence[tuple[Crouch, Crouch]]) -> Table:
    """Return the measured table: errors, slip and the least load of a foot."""
    rows = [(plain.run.name, *_cells(plain), _least_load(plain), *_cells(integral))
            for plain, integral in pairs]
    first = [next(i for i, row in enumerate(rows) if row[0].startswith(name)) for name in FIRST
             if any(row[0].startswith(name) for row in rows)]
    return Table('Robustness', (
        'case', 'x [cm]', 'z [cm]', 'angle [deg]', 'slip [mm]', 'least load of a foot [N]',
        'with integral: x [cm]', 'z [cm]', 'angle [deg]', 'slip [mm]'), rows, [0], first)


def _cells(crouch: Crouch) -> list[str]:
    if crouch.trace.fallen:
        return [f'falls at {crouch.trace.time[-1]:.1f} s', *['-'] * 3]
    if crouch.slip > LOST:
        return ['loses its footing', *['-'] * 3]
    return [*(_short(value) for value in UNITS * crouch.error), f'{1e3 * crouch.slip:.2f}']


def _short(value: float) -> str:
    return f'{value:+.2f}' if abs(value) >= 0.1 else f'{value:+.1e}'


def _least_load(crouch: Crouch) -> str:
    trace = crouch.trace
    settled = trace.ground[trace.time >= crouch.run.slip_start, :, 3]
    return f'{settled.min():.0f}' if settled.size else '-'
