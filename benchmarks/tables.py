# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Measure the tables of the documents anew: `python -m benchmarks tables [--only WORD] [--list]`.

A table that a command makes stands between `BEGIN` and `END` in its page, under the line that
says when, at which commit and by which command it was measured. The command is run by the shell
in the repository's folder, and what it prints, which is Markdown, replaces what stands there. Its
exit code is 0 or 1 where something was measured; else the old table stays, with its old line.
"""
from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = '<!-- measured -->', '<!-- end of measured -->'
# When and at which commit all rows were measured, and the command that makes them.
MEASURED = re.compile(
    r'Measured on (?P<date>\d{4}-\d\d-\d\d) at (?P<commit>[0-9a-f]{8})'
    r'(?: by `(?P<command>[^`]+)`)?\.')
ROW = re.compile(r'^\|( *:?-+:? *\|)+$', re.MULTILINE)      # below the head of a table


class Block(NamedTuple):
    """What stands between two marks of a page."""

    page: Path
    text: str           # with its marks
    date: str
    commit: str
    command: str


def blocks(docs: Path = ROOT / 'docs') -> Iterator[Block]:
    """Yield what commands have made; a mark without its line or its end is a ValueError."""
    for page in sorted(docs.rglob('*.md')):
        first, *rest = page.read_text(encoding='utf-8').split(BEGIN + '\n')
        for part in rest:
            inside, end, _ = part.partition(END)
            said = MEASURED.match(inside)
            if not end or said is None or not said['command']:
                raise ValueError(f'{page}: expected after {BEGIN} a line "Measured on DATE at '
                                 f'COMMIT by `COMMAND`." and {END}, got {inside[:80]!r}')
            yield Block(page, f'{BEGIN}\n{inside}{END}', said['date'], said['commit'],
                        said['command'])


def make(block: Block, commit: str, root: Path) -> bool:
    """Run the command of a table and write it; return whether there is a new one."""
    folder = f'{Path(sys.executable).parent}{os.pathsep}'
    done = subprocess.run(
        block.command, shell=True, cwd=root, check=False, text=True, stdout=subprocess.PIPE,
        env={'PYTHONPATH': str(ROOT), **os.environ, 'PATH': folder + os.environ.get('PATH', '')})
    if done.returncode not in (0, 1) or not ROW.search(done.stdout):
        return False
    line = f'Measured on {date.today()} at {commit} by `{block.command}`.'
    page = block.page.read_text(encoding='utf-8')
    block.page.write_text(page.replace(
        block.text, f'{BEGIN}\n{line}\n\n{done.stdout.strip()}\n\n{END}'), encoding='utf-8')
    return True


def version(root: Path = ROOT) -> str:
    """Return the commit that is measured; an error where files differ from it."""
    def git(*words: str) -> str:
        return subprocess.run(['git', *words], cwd=root, check=True, text=True,
                              capture_output=True).stdout.strip()
    if changed := git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!docs'):
        sys.exit(f'expected files as they were committed, for a table says of which commit it is; '
                 f'commit first:\n{changed}')
    return git('rev-parse', '--short=8', 'HEAD')


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Make the tables; return 1 where one could not be made, 2 where none was asked for."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks tables', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--only', action='append', metavar='WORD',
                        help='tables with this word in their page or command')
    parser.add_argument('--list', action='store_true', help='only say what there is, oldest first')
    options = parser.parse_args(arguments)
    chosen = [block for block in blocks(root / 'docs') if not options.only or any(
        word in f'{block.page.name} {block.command}' for word in options.only)]
    if options.list:
        for block in sorted(chosen, key=lambda block: block.date):
            print(block.date, block.commit, block.page.name, block.command)
        return 0 if chosen else 2
    commit, old = version(root), []
    for block in chosen:
        print(f'{block.page.name}: {block.command}', flush=True)
        if not make(block, commit, root):
            old.append(block)
    for block in old:
        print(f'not made, still of {block.commit}: {block.page.name}: {block.command}')
    print(f'tables: {len(chosen) - len(old)} of {len(chosen)} measured at {commit}')
    return 2 if not chosen else int(bool(old))


if __name__ == '__main__':
    sys.exit(main())
