# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Record the zoo and score estimators on it: `python -m benchmarks.zoo --help`."""
from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from pathlib import Path

from benchmarks.zoo.cache import recording
from benchmarks.zoo.estimators import Estimator, shipped
from benchmarks.zoo.peers import observer, static
from benchmarks.zoo.robots import ENVIRONMENT, MissingRobot
from benchmarks.zoo.scenarios import SCENARIOS
from benchmarks.zoo.scoring import run
from benchmarks.zoo.tables import markdown
from legged_dynamics.exceptions import SimulationError

ESTIMATORS: dict[str, Estimator] = {
    'ours': shipped(), 'true contacts': shipped(true_contact=True), 'observer': observer(250.0),
    'observer 60': observer(60.0), 'static': static}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.zoo', description=__doc__)
    parser.add_argument('scenarios', nargs='*', metavar='SCENARIO',
                        help='names, or beginnings of names; all if none is given')
    parser.add_argument('--list', action='store_true', help='list the scenarios and stop')
    parser.add_argument('--record', action='store_true', help='only make the recordings, anew')
    parser.add_argument('--estimators', nargs='+', choices=ESTIMATORS, default=['ours', 'observer'],
                        help='which to score')
    parser.add_argument('--rate', type=float, default=500.0, help='samples a second')
    parser.add_argument('--exact', action='store_true', help='sensors without noise')
    parser.add_argument('--no-effort', action='store_true', help='joint torques are not measured')
    parser.add_argument('--no-imu', action='store_true', help='there is no IMU')
    parser.add_argument('--slow-accelerometer', action='store_true',
                        help='an accelerometer of 150 Hz bandwidth')
    parser.add_argument('--example-robot-data', metavar='FOLDER',
                        help='where the package of that name is installed')
    parser.add_argument('--json', metavar='FILE', help='write all figures there')
    parser.add_argument('--markdown', metavar='FILE', help='write the table there')
    options = parser.parse_args(arguments)
    if options.example_robot_data:
        os.environ[ENVIRONMENT] = options.example_robot_data
    names = [name for name in SCENARIOS
             if not options.scenarios or name.startswith(tuple(options.scenarios))]
    if options.list or not names:
        print('\n'.join(SCENARIOS))
        return 0 if names else 2
    measured = {'noise': not options.exact, 'effort': not options.no_effort,
                'imu': not options.no_imu, 'slow_accelerometer': options.slow_accelerometer}
    rows, failed = [], 0
    for name in names:
        try:
            kept = recording(name, options.rate, anew=options.record)
        except MissingRobot as error:
            print(f'{name}: skipped: {error}', file=sys.stderr)
            continue
        except SimulationError as error:
            failed += 1
            print(f'{name}: {error}', file=sys.stderr)
            continue
        print(f'{name}: {len(kept)} samples', file=sys.stderr, flush=True)
        if options.record:
            continue
        for estimator, found in run(kept, {e: ESTIMATORS[e] for e in options.estimators},
                                    **measured):
            rows.append({'scenario': name, 'estimator': estimator, **found.as_dict()})
            print(markdown(rows[-1:], header=len(rows) == 1), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + '\n', encoding='utf-8')
    if options.markdown:
        Path(options.markdown).write_text(markdown(rows) + '\n', encoding='utf-8')
    return 1 if failed else 0


if __name__ == '__main__':
    warnings.simplefilter('ignore')
    sys.exit(main())
