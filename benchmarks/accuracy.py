# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How accurate the estimator is on simulated robots, as one table: `python -m benchmarks accuracy`.

Runs of the zoo (`python -m benchmarks.zoo --list`): those on which settings were chosen, and those
that were only looked at afterwards. The robot of a URDF is described by `new-robot` and nothing
else, and trots or steps. The definitions are in docs/accuracy.md.
"""
from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from benchmarks.actuators import DEFECTS, add_described, made_run
from benchmarks.zoo.cache import place, recording
from benchmarks.zoo.estimators import shipped
from benchmarks.zoo.peers import observer
from benchmarks.zoo.robots import MissingRobot
from benchmarks.zoo.scenarios import SCENARIOS
from benchmarks.zoo.scoring import PHASES, score
from benchmarks.zoo.tables import markdown
from legged_dynamics.exceptions import SimulationError

CHOSEN_ON = ('go2-trot', 'hyq-trot', 'anymal_class-trot', 'hexapod-tripod', 'talos-steps',
             'biped-steps', 'go2-stand')
LOOKED_AT_LAST = ('a1-trot', 'laikago-walk', 'anymal_b-trot', 'go2-bound', 'go2-trot-slip',
                  'go2-stairs', 'romeo-steps', 'bolt-steps', 'go2-belly', 'go2-dead')
# By their makers' URDFs; on them a foot was seen to stay down that had risen.
CHANGED_BY = ('R1-step', 'T1_locomotion-step', 'zq_sa01-step', 'H2-step')
PEER_RATE = 250.0       # gain of the momentum observer [1/s]
RATE = 500.0            # samples a second


def row(name: str) -> dict[str, object]:
    """Return the figures of a run, the momentum observer's last."""
    described = name.endswith('.urdf')
    kept = (made_run(add_described(Path(name)), DEFECTS[0], RATE) if described
            else recording(name, RATE))
    late, newest = (found.as_dict() for found in score(kept, shipped()).values())
    peer = next(iter(score(kept, observer(PEER_RATE)).values()))
    return {
        'run': kept.name,
        'settings chosen on it': 'yes' if kept.name in CHOSEN_ON + CHANGED_BY else 'no',
        'live, 2 ms late': late['on_line'], 'newest sample': newest['on_line'],
        'off line': late['zero_phase'], 'e/sigma': late['normalised'],
        'in 95 % bars': late['inside'],
        **{f'in bars, {phase}': late.get(f'inside_{phase}', math.nan) for phase in PHASES},
        'contact, %': late.get('agreement', math.nan),
        'observer: live': peer.on_line, 'observer: off line': peer.zero_phase}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where a run could not be made, 2 where none could."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks accuracy', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('runs', nargs='*', metavar='RUN',
                        help="of the zoo, or makers' URDFs; default: these: "
                        + ', '.join(CHOSEN_ON + LOOKED_AT_LAST))
    names = parser.parse_args(arguments).runs or CHOSEN_ON + LOOKED_AT_LAST
    if unknown := [name for name in names
                   if name not in SCENARIOS and not name.endswith('.urdf')]:
        parser.error(f'expected runs of the zoo, got {", ".join(unknown)}')
    rows = []
    warnings.simplefilter('ignore')
    for name in names:
        try:
            rows.append(row(name))
        except (MissingRobot, SimulationError) as error:
            print(f'{name}: not measured: {error}', file=sys.stderr)
        else:
            if name in SCENARIOS:
                print(place(SCENARIOS[name], RATE).name, file=sys.stderr, flush=True)
    if rows:
        print(markdown(rows, columns={key: key for key in rows[0]}))
    return 2 if not rows else int(len(rows) < len(names))
