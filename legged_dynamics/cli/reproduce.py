# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``reproduce``: repeat the experiment of a paper and compare."""
from __future__ import annotations

import argparse
from pathlib import Path

from legged_dynamics.cli.arguments import Verb, argument, switch

PAPERS = ('biped',)
MARKDOWN = 'robustness.md'


def _run(args: argparse.Namespace) -> int:
    """Run, print the tables, write the report."""
    from legged_dynamics.cli.output import ProgressBar, show
    from legged_dynamics.reproductions.planar_biped import (
        RUNS,
        crouch,
        final_values,
        measure,
        table,
        write_report,
    )

    done = []
    with ProgressBar('Crouching') as bar:
        for index, one in enumerate(RUNS):
            bar(index / len(RUNS))
            done.append(crouch(one))
    tables = [final_values(done)]
    if args.robustness:
        with ProgressBar('Crouching under other conditions') as bar:
            tables.append(table(measure(progress=bar)))
    out = args.out or Path(f'{args.paper}_reproduced')
    report = write_report(done, out, tables[1:])
    for found in tables:
        show(found)
        print()
    for found in tables[1:]:
        (out / MARKDOWN).write_text(found.markdown, encoding='utf-8')
    print(f'Report: {report.resolve()}')
    return 0


VERBS = (Verb(
    'reproduce', _run, 'run what a paper reports and compare',
    'biped: recursive workspace control of a planar biped (Wendlandt and Sastry). Crouches for '
    "10 s on pinned feet and on MuJoCo contact, and writes the table of final values beside the "
    "paper's and its figures 4 to 7 as a report.", (
        argument('paper', 'PAPER', f'one of {", ".join(PAPERS)}', choices=PAPERS),
        argument('-o --out', 'DIR', 'where to write; default: PAPER_reproduced in the present '
                 'folder', Path),
        switch('--robustness', 'also crouch with wrong masses, other friction and rates, pushes, '
               f'delay and noise, in parallel; adds {MARKDOWN}'))),)
