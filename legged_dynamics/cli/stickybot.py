# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verbs ``stickybot`` and ``stickybot-sweep``: the climbing robot; film, report and sweeps."""
from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legged_dynamics.cli.arguments import make_folder
from legged_dynamics.cli.output import ProgressBar, show
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.parameter_file import parse_value
from legged_dynamics.resources import robot_files
from legged_dynamics.ros.middleware.arguments import RosArguments
from legged_dynamics.stickybot import StickybotSettings

if TYPE_CHECKING:
    from legged_dynamics.reproductions.climbing.comparison import Comparison
    from legged_dynamics.reproductions.climbing.sweep import Axis

FILM = 'climb'
FRAME_RATE = 20.0       # 1/s
TITLES = {'off': 'plain', 'turning': 'forces reduced by turning hips', 'full': 'forces reduced'}


def settings_of(args: argparse.Namespace, **more: Any) -> StickybotSettings:
    """Return the settings of the options; ``more``: named space__name, None for unchanged."""
    settings = StickybotSettings.from_yaml(robot_files(args.robot)[0])
    options = {'gait.pattern': args.gait, 'gait.duty': args.duty, 'adhesion.kind': args.pads,
               **{name.replace('__', '.'): value for name, value in more.items()}}
    changes = {name: value for name, value in options.items() if value is not None}
    for text in args.values:
        ros = RosArguments.parse(['--ros-args', '-p', text])
        changes.update({override.name: override.value for override in ros.overrides})
    settings = settings.changed(changes)
    if settings.values['gait.pattern'] == 'wave' and 'gait.duty' not in changes:
        settings = settings.changed({'gait.duty': 1.0 - 0.8 / settings.model().n_limbs})
    return settings


def run(args: argparse.Namespace) -> int:
    """Simulate the climbs, write film and report."""
    from legged_dynamics.reproductions.climbing.comparison import compare
    from legged_dynamics.reproductions.climbing.report import write_climb_report

    begin = time.monotonic()
    slope = None if args.inclination is None else math.radians(args.inclination)
    settings = settings_of(args, stickybot__n_limbs=args.limbs, stickybot__inclination=slope,
                           gait__amplitude=args.amplitude, control__reduction=args.reduction)
    # Without pads the film would not show the margin to detaching.
    if settings.values['adhesion.kind'] == 'none' and args.pads is None:
        settings = settings.changed({'adhesion.kind': 'directional'})
    with ProgressBar('Climbing (the first time, compiling takes half a minute)') as bar:
        comparison = compare(settings, args.duration, bar, plant=args.plant)
    make_folder(args.out)
    films = [] if args.no_film else _film(comparison, args.out)
    report, tables = write_climb_report(comparison, args.out, films[0] if films else None,
                                        f'legged-dynamics {" ".join(sys.argv[1:])}')
    for table in tables:
        show(table)
        print()
    for path in (*films, report):
        print(f'{path.resolve()}')
    print(f'Took {time.monotonic() - begin:.1f} s.')
    return 0


def _film(comparison: Comparison, folder: Path) -> list[Path]:
    """Film the climb that is shown; return the files."""
    from legged_dynamics.reproductions.climbing.animation import ClimbAnimation, write_film

    shown = comparison.shown
    physics = ', by MuJoCo' if shown.plant == 'mujoco' else ''
    animation = ClimbAnimation(
        comparison.model, shown, f'{comparison.settings.gait().pattern} gait, '
        f'{TITLES[shown.reduction]}{physics}', FRAME_RATE)

    def watched():  # type: ignore[no-untyped-def]
        with ProgressBar('Filming') as bar:
            for k, frame in enumerate(animation.frames()):
                bar((k + 1) / animation.n_frames)
                yield frame

    return write_film(watched(), animation.frame_rate, folder, FILM, animation.samples())


# -------------------------------------------------------------------------------------------------
# Verb ``stickybot-sweep``: the climbing robot over ranges of its parameters.


# Settings that the options sweep.
OPTIONS = {'amplitude': 'gait.amplitude', 'stiffness': 'stickybot.stiffness_scale',
           'damping': 'stickybot.damping_ratio', 'inclination': 'stickybot.inclination',
           'limbs': 'stickybot.n_limbs'}


def run_sweep(args: argparse.Namespace) -> int:
    """Sweep and write the results."""
    from legged_dynamics.pages.style import png
    from legged_dynamics.reproductions.climbing.sweep import (
        draw_sweep,
        sweep,
        sweep_table,
        write_sweep,
    )

    begin = time.monotonic()
    settings, axes = settings_of(args), _axes_of(args)
    with ProgressBar('Climbing') as bar:
        done = sweep(settings.values, axes, grid=args.grid, seconds=args.duration,
                     workers=args.workers, progress=bar)
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


def _axes_of(args: argparse.Namespace) -> list[Axis]:
    """Return the parameters to sweep, with their values: those given, or all of `AXES`."""
    from legged_dynamics.reproductions.climbing.sweep import AXES, Axis

    known = {axis.setting: axis for axis in AXES}
    given = {OPTIONS[name]: values for name in OPTIONS
             if (values := getattr(args, name)) is not None}
    axes = [replace(known[setting], values=tuple(values)) for setting, values in given.items()]
    for name, *texts in args.vary:
        if not texts:
            raise ConfigurationError(f'--vary {name}: expected at least one value')
        axes.append(Axis(name, name, tuple(parse_value(text, f'--vary {name}') for text in texts)))
    return axes or list(AXES)
