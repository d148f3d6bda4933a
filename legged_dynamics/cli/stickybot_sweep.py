# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``stickybot-sweep``: the climbing robot over ranges of its parameters."""
from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legged_dynamics.cli.stickybot import add_robot_options, settings_of

if TYPE_CHECKING:
    from legged_dynamics.analysis.climbing.sweep import Axis

# Options, and the settings that they sweep.
OPTIONS = {'amplitude': 'gait.amplitude', 'stiffness': 'stickybot.stiffness_scale',
           'damping': 'stickybot.damping_ratio', 'inclination': 'stickybot.inclination',
           'limbs': 'stickybot.n_limbs'}


def add_sweep_parser(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        'stickybot-sweep', help='the climbing robot over ranges of its parameters; table, plots',
        description='Climbs with and without reduction of the reaction forces for many values of '
        'amplitude, stiffness, damping, inclination and number of limbs, in parallel on the '
        'cores, and writes a table (Markdown), all numbers (CSV) and plots. Without options, all '
        'five are swept, one at a time.')
    parser.add_argument('-o', '--out', type=Path, metavar='DIR', default=Path('stickybot_sweep'),
                        help='where table and plots go (default: %(default)s)')
    parser.add_argument('--duration', type=float, default=4.0, metavar='S',
                        help='of each climb [s] (default: %(default)g)')
    parser.add_argument('--grid', action='store_true',
                        help='all combinations of what is swept, not one at a time')
    parser.add_argument('--workers', type=int, metavar='N',
                        help='processes; default: as many as there are cores')
    swept = parser.add_argument_group('what is swept')
    swept.add_argument('--amplitude', nargs='+', type=float, metavar='RAD')
    swept.add_argument('--stiffness', nargs='+', type=float, metavar='FACTOR',
                       help='of the hips, times their own')
    swept.add_argument('--damping', nargs='+', type=float, metavar='RATIO',
                       help='nominal damping ratio')
    swept.add_argument('--inclination', nargs='+', type=float, metavar='DEG')
    swept.add_argument('--limbs', nargs='+', type=int, metavar='N')
    swept.add_argument('--vary', nargs='+', action='append', default=[],
                       metavar=('NAME', 'VALUE'), help='any other setting; may be repeated')
    add_robot_options(parser)
    parser.set_defaults(run=run_sweep)


def run_sweep(args: argparse.Namespace) -> int:
    """Sweep, and write what came of it."""
    from legged_dynamics.analysis.climbing.plots.sweep import draw_sweep
    from legged_dynamics.analysis.climbing.sweep import sweep, sweep_table, write_sweep
    from legged_dynamics.analysis.plots.style import png
    from legged_dynamics.cli.progress import ProgressBar, show

    begin = time.monotonic()
    settings, axes = settings_of(args), axes_of(args)
    bar = ProgressBar('Climbing')
    try:
        done = sweep(settings.values, axes, grid=args.grid, seconds=args.duration,
                     workers=args.workers, progress=bar)
    finally:
        bar.close()
    files = write_sweep(done, args.out, f'legged-dynamics {" ".join(sys.argv[1:])}')
    figure = draw_sweep(done)
    if figure is not None:
        files.append(args.out / 'sweep.png')
        files[-1].write_bytes(png(figure))
    show(sweep_table(done))
    print()
    for path in files:
        print(path.resolve())
    print(f'{len(done.points)} points took {time.monotonic() - begin:.1f} s.')
    return 0


def axes_of(args: argparse.Namespace) -> list[Axis]:
    """
    Return what is to be swept: what was given, or all that is known.

    Raises
    ------
    ConfigurationError
        When --vary has no value.

    """
    from dataclasses import replace

    from legged_dynamics.analysis.climbing.sweep import AXES, Axis
    from legged_dynamics.exceptions import ConfigurationError
    from legged_dynamics.parameter_file import parse_value

    known = {axis.setting: axis for axis in AXES}
    given = {OPTIONS[name]: values for name in OPTIONS
             if (values := getattr(args, name)) is not None}
    axes = [replace(known[setting], values=tuple(values)) for setting, values in given.items()]
    for name, *texts in args.vary:
        if not texts:
            raise ConfigurationError(f'--vary {name}: expected at least one value')
        axes.append(Axis(name, name, tuple(parse_value(text, f'--vary {name}') for text in texts)))
    return axes or list(AXES)
