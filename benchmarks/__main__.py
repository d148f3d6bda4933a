# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Run all benchmarks of calls, or those named, and print their tables.

``accuracy``, ``digests``, ``sensitivity``, ``structure`` and ``tables`` are run by name only:
they score the estimator, compare results, vary tuned numbers, measure the package's size, and make
the documents' tables. Each is in the file of its name in `benchmarks/`.
"""
from __future__ import annotations

import importlib
import platform
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OTHERS = ('accuracy', 'digests', 'sensitivity', 'structure', 'tables')


def processor() -> str:
    """Return the processor's name."""
    try:
        lines = Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines()
        return next(line.split(':')[1].strip() for line in lines if line.startswith('model name'))
    except (OSError, StopIteration):
        return platform.processor() or 'unknown processor'


def table(rows: list[dict]) -> str:
    """Return a Markdown table of benchmark rows."""
    lines = ['| what | ours, us | peer | peer, us | peer / ours | note |',
             '|---|---:|---|---:|---:|---|']
    for row in rows:
        ours, peer = row['ours_us'], row.get('peer_us')
        cells = [row['name'], f'{ours:.2f}', row.get('peer', ''),
                 f'{peer:.2f}' if peer else '', f'{peer / ours:.1f}' if peer else '',
                 row.get('note', '')]
        lines.append(f'| {" | ".join(cells)} |')
    return '\n'.join(lines)


def main(names: list[str]) -> int:
    """Run the benchmarks; returns the exit code."""
    if names and names[0] in OTHERS:
        return importlib.import_module(f'benchmarks.{names[0]}').main(names[1:]) or 0
    files = sorted(path.stem for path in HERE.glob('bench_*.py'))
    chosen = [name for name in files if not names or name.removeprefix('bench_') in names]
    if not chosen:
        print(f'expected one of: {", ".join(name.removeprefix("bench_") for name in files)}, '
              f'{" or ".join(OTHERS)}', file=sys.stderr)
        return 2
    print(f'{processor()}, Python {platform.python_version()}. Each number is the median of '
          'batches of calls from Python; rivals take turns in one process.')
    for name in chosen:
        module = importlib.import_module(f'benchmarks.{name}')
        print(f'{module.title} ...', file=sys.stderr, flush=True)
        print(f'\n## {module.title}\n\n{table(module.rows())}', flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
