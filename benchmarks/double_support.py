# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
All methods for double support on recordings with force plates: the tables of the document.

``python -m benchmarks.double_support [FOLDER]`` looks for bags one or two levels below the folder
(default: human_gait in the folder that LEGGED_DYNAMICS_DATA names), prints the tables and writes
them to docs/double_support.md.
"""
from __future__ import annotations

import os
import sys
from datetime import date
from pathlib import Path

from benchmarks.gait_evaluation import (
    DETECTED,
    GIVEN,
    detail_table,
    evaluate,
    evaluation_table,
)
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.trials.subject import GaitOptions

DOCUMENT = Path(__file__).resolve().parent.parent / 'docs' / 'double_support.md'
BEGIN, END = '<!-- measured: begin -->', '<!-- measured: end -->'
# As recorded, and the same without the low-pass of whoever published them.
KINDS = {'bag': 'As published, low-passed', 'bag_unfiltered': 'Not filtered before'}


def main(words: list[str]) -> int:
    """Evaluate, print, write; returns the exit code."""
    folder = Path(words[0] if words else
                  Path(os.environ.get('LEGGED_DYNAMICS_DATA', '.')) / 'human_gait')
    text = [BEGIN, f'Measured on {date.today()} by `python -m benchmarks.double_support`; poses '
            f'low-passed at {GaitOptions().cutoff:g} Hz.']
    for kind, heading in KINDS.items():
        bags = sorted(path.parent for path in folder.glob(f'*/{kind}/metadata.yaml'))
        found = []
        for bag in bags:
            print(f'{bag} ...', file=sys.stderr, flush=True)
            try:
                found.append(evaluate(bag, bag.parent.name))
            except LeggedDynamicsError as error:
                print(f'left out: {error}', file=sys.stderr)
        if not found:
            continue
        tables = [evaluation_table(found, DETECTED), evaluation_table(found, GIVEN),
                  detail_table(found)]
        for table in tables:
            print(f'\n{table.text}')
            text += [f'\n{heading}. {table.title}:\n', table.markdown.rstrip()]
    if len(text) == 2:
        print(f'expected bags with force plates below {folder}, found none', file=sys.stderr)
        return 2
    page = DOCUMENT.read_text(encoding='utf-8')
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    DOCUMENT.write_text(before + '\n'.join([*text, END]) + after, encoding='utf-8')
    print(f'\nwritten to {DOCUMENT}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
