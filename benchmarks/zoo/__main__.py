# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Record the zoo and score estimators on it: `python -m benchmarks.zoo --help`."""
from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.zoo.cache import kept_scores, place, recording
from benchmarks.zoo.estimators import Estimator, shipped
from benchmarks.zoo.noise_page import flags, other_noise, standing, varied
from benchmarks.zoo.page import page
from benchmarks.zoo.peers import observer, static
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import ENVIRONMENT, MissingRobot
from benchmarks.zoo.scenarios import SCENARIOS
from benchmarks.zoo.scoring import score
from benchmarks.zoo.sensors import HeardRecording, Sensors, heard
from benchmarks.zoo.tables import markdown, over_draws, seeds
from legged_dynamics.exceptions import SimulationError

OURS = ('ours', 'true contacts')
ESTIMATORS: dict[str, Estimator] = {
    'ours': shipped(), 'true contacts': shipped(true_contact=True), 'static': static,
    'observer': observer(250.0)}
STANDING = {'observer': ('observer 60', observer(60.0))}   # what a peer is where nobody steps


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    if options.example_robot_data:
        os.environ[ENVIRONMENT] = options.example_robot_data
    names = [name for name in SCENARIOS
             if not options.scenarios or name.startswith(tuple(options.scenarios))]
    if options.list or not names:
        print('\n'.join(SCENARIOS))
        return 0 if names else 2
    rows: list[dict] = []
    failed = made = 0
    for name in names:
        try:
            kept = _as_heard(recording(name, options.rate, anew=options.record), options)
        except MissingRobot as error:
            print(f'{name}: skipped: {error}', file=sys.stderr)
            continue
        except SimulationError as error:
            failed += 1
            print(f'{name}: {error}', file=sys.stderr)
            continue
        made += 1
        print(f'{name}: {len(kept)} samples', file=sys.stderr, flush=True)
        for row in [] if options.record else _scores(kept, options):
            rows.append(row)
            if not options.page:
                print(markdown([row], header=len(rows) == 1), flush=True)
    if not made:
        return 2
    varied_rows = list(_varied(names, options)) if options.page else []
    if options.page:
        def again(kept: Recording, estimators: Sequence[str], draws: int) -> list[dict]:
            usual = _parser().parse_args(['--draws', str(draws), '--estimators', *estimators])
            return list(_scores(kept, usual))
        sections = [standing(names, again), other_noise(names, again)]
        print(page(rows, varied_rows, _how(options), sections))
    _write(options.json, json.dumps(rows, indent=1) + '\n')
    _write(options.markdown, markdown(rows) + '\n')
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python -m benchmarks.zoo', description=__doc__)
    parser.add_argument('scenarios', nargs='*', metavar='SCENARIO',
                        help='names, or beginnings of names; all if none is given')
    parser.add_argument('--list', action='store_true', help='list the scenarios and stop')
    parser.add_argument('--record', action='store_true', help='only make the recordings, anew')
    parser.add_argument('--estimators', nargs='+', choices=ESTIMATORS, metavar='NAME',
                        default=['ours', 'observer'],
                        help=f'which to score: {", ".join(ESTIMATORS)}')
    parser.add_argument('--rate', type=float, default=500.0, help='samples a second')
    parser.add_argument('--draws', type=int, default=1, metavar='N',
                        help='draws of the noise; figures are then their median, and the worst')
    parser.add_argument('--noise', type=float, default=1.0, metavar='FACTOR',
                        help='of all noise of the sensors')
    parser.add_argument('--stated', type=float, metavar='FACTOR',
                        help='of all noise that the configuration states; 0: none, the defaults; '
                        'if not given, what --noise is')
    parser.add_argument('--exact', action='store_true', help='sensors without noise')
    parser.add_argument('--no-effort', action='store_true', help='joint torques are not measured')
    parser.add_argument('--no-imu', action='store_true', help='there is no IMU')
    parser.add_argument('--slow-accelerometer', action='store_true',
                        help='an accelerometer of 150 Hz bandwidth')
    parser.add_argument('--example-robot-data', metavar='FOLDER',
                        help='where the package of that name is installed')
    parser.add_argument('--json', metavar='FILE', help='write all figures there')
    parser.add_argument('--page', action='store_true', help='print all tables as one page')
    parser.add_argument('--markdown', metavar='FILE', help='write the table there')
    return parser


def _as_heard(kept: Recording, options: argparse.Namespace) -> Recording:
    stated = options.noise if options.stated is None else options.stated
    if options.noise == stated == 1.0:
        return kept
    return heard(kept, Sensors(f'x {options.noise:g}', options.noise, stated=stated or None))


def _scores(kept: Recording, options: argparse.Namespace) -> Iterator[dict]:
    """Yield a row for each output of each estimator."""
    measured = {'noise': not options.exact, 'effort': not options.no_effort,
                'imu': not options.no_imu, 'slow_accelerometer': options.slow_accelerometer}
    for name in options.estimators:
        key, estimator = name, ESTIMATORS[name]
        if name in STANDING and kept.contact.all():
            key, estimator = STANDING[name]
        if isinstance(kept, HeardRecording):
            key = f'{key} {kept.sensors}'
        path = place(SCENARIOS[kept.name], options.rate)
        draws: dict[str, list[dict]] = {}
        for seed in seeds(options.draws):
            drawn = measured if seed is None else {**measured, 'seed': seed}

            def make(estimator: Estimator = estimator, drawn: dict = drawn) -> list[dict]:
                return [found.as_dict() for found in score(kept, estimator, **drawn).values()]
            for row in make() if name in OURS else kept_scores(path, key, drawn, make):
                draws.setdefault(row['output'], []).append(row)
        for scores in draws.values():
            yield {'scenario': kept.name, 'estimator': name, **over_draws(scores)}


def _varied(names: list[str], options: argparse.Namespace) -> Iterator[dict]:
    """Yield rows of the runs with other rates and sensors."""
    for variant, kept in varied(names):
        print(f'{kept.name}, {variant.title}', file=sys.stderr, flush=True)
        changed = argparse.Namespace(**vars(options))
        changed.rate, changed.estimators = variant.rate, ['ours']
        changed.no_imu = not variant.measured.get('imu', True)
        changed.slow_accelerometer = variant.measured.get('slow_accelerometer', False)
        said = flags(kept, variant)
        for row in _scores(kept, changed):
            yield {'variant': variant.title, 'says': said, **row}


def _write(file: str | None, text: str) -> None:
    if file:
        Path(file).write_text(text, encoding='utf-8')


def _how(options: argparse.Namespace) -> str:
    """Return what was different from the usual, for the page."""
    said = {'exact': 'Here the sensors were exact.', 'no_effort': 'Here torque was not measured.',
            'no_imu': 'Here there was no IMU.',
            'slow_accelerometer': 'Here the accelerometer had a bandwidth of 150 Hz.'}
    noise = (f' Here noise was x {options.noise:g}, stated x '
             f'{options.noise if options.stated is None else options.stated:g}.'
             if options.noise != 1.0 or options.stated is not None else '')
    drawn = (f' Figures are the median of {options.draws} draws of the noise, the worst in '
             'brackets.' if options.draws > 1 else '')
    changed = ''.join(f' {words}' for key, words in said.items() if getattr(options, key))
    return changed + noise + drawn


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    sys.exit(main())
