# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How long an update of the estimator takes while the robot walks.

    python -m benchmarks.update_times [--runs N]

Runs of the zoo with noisy sensors, with default settings and with learning of the actuators off.
All runs do the same work, and of each update the shortest time counts, so that what else the
machine does is left out as far as it can be; its load is said.
"""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.__main__ import processor
from benchmarks.bench_estimator import update_times
from benchmarks.zoo.cache import recording
from benchmarks.zoo.robots import MissingRobot
from legged_dynamics.estimation import GroundReactionEstimator

SCENARIOS = ('go2-trot', 'hyq-trot', 'hexapod-tripod')
HEAD = ('run', 'actuators', 'mean, us', 'half, us', '99 %, us', '99.9 %, us', 'longest, us')


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 2 where a robot is missing."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.update_times', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--runs', type=int, default=15, metavar='N', help='runs of each row')
    options = parser.parse_args(arguments)
    rows, load = [], [os.getloadavg()[0]]
    for name in SCENARIOS:
        try:
            kept = recording(name)
        except MissingRobot as error:
            print(f'{name}: {error}', file=sys.stderr)
            return 2
        measured = list(kept.measurements())
        for learn, said in ((True, 'learned (the default)'), (False, 'as stated')):
            estimator = GroundReactionEstimator(kept.model, kept.config, {
                'rate': kept.rate, 'actuators.learn': learn})
            taken = update_times(estimator, measured, options.runs)
            load.append(os.getloadavg()[0])
            rows.append((name, said, f'{taken.mean():.0f}', *(
                f'{value:.0f}' for value in np.quantile(taken, (0.5, 0.99, 0.999, 1.0)))))
    print(f'{processor()}, {os.cpu_count()} processors, load {min(load):.1f} to {max(load):.1f}: '
          f'of each update the shortest of {options.runs}.\n')
    for row in (HEAD, ('---', '---', *['---:'] * 5), *rows):
        print(f'| {" | ".join(row)} |')
    return 0


if __name__ == '__main__':
    sys.exit(main())
