# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``reproduce``: repeat the experiment of a paper and compare."""
from __future__ import annotations

import argparse
from pathlib import Path


def run(args: argparse.Namespace) -> int:
    """Run, print the tables, write the report."""
    from legged_dynamics.cli.output import ProgressBar, show
    from legged_dynamics.reproductions.climbing.animation import write_film
    from legged_dynamics.reproductions.planar_biped import (
        FILM_RATE,
        RUNS,
        crouch,
        film_pictures,
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
    with ProgressBar('Drawing the film') as bar:
        pictures = list(film_pictures(done[1].trace, bar))
        films = write_film(pictures, FILM_RATE, out, 'crouch', pictures[::20])
    for found in tables:
        show(found)
        print()
    for found in tables[1:]:
        (out / 'robustness.md').write_text(found.markdown, encoding='utf-8')
    for path in (*films, report):
        print(f'{"Report" if path is report else "Film"}: {path.resolve()}')
    return 0
