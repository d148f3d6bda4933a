# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Whether a change of structure changed a result: digests of the bits of all that is computed.

    python -m benchmarks digests --write before.json
    python -m benchmarks digests --compare before.json
    python -m benchmarks digests demo zoo/hexapod-tripod

Each case (`benchmarks/digest_cases.py`) runs a part of the package on inputs that are the same
each time, and gives arrays by name. Digests hold on one machine with one set of packages: another
numpy or C library rounds otherwise.
"""
from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

# Read when numpy and numba are loaded. How many threads share a sum of the linear algebra changes
# its rounding.
os.environ.update({
    'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'})

import numpy as np

SAME = 1e-9     # of the largest value of an array: a difference beyond it fails
WORST = 3       # arrays named of a case that differs

Arrays = Mapping[str, np.ndarray]


def digest(arrays: Arrays) -> str:
    """Return the first 16 hex digits of the sha256 over names, shapes and bytes, by name."""
    made = hashlib.sha256()
    for name in sorted(arrays):
        values = arrays[name]
        made.update(f'{name} {values.dtype.str} {values.shape} '.encode())
        made.update(np.ascontiguousarray(values).tobytes())
    return made.hexdigest()[:16]


def plain(found: Mapping[str, object]) -> dict[str, np.ndarray]:
    """Return numbers as float64 and texts as texts, which compare alike or not."""
    arrays = {}
    for name, values in found.items():
        array = np.asarray(values)
        arrays[name] = array if array.dtype.kind == 'U' else array.astype(float)
    return arrays


def difference(before: np.ndarray, now: np.ndarray) -> tuple[float, float]:
    """
    Return the largest difference of two arrays, and that as a part of their largest value.

    Infinite where shapes, texts, or what is finite differ.
    """
    if before.shape != now.shape or before.dtype.kind != now.dtype.kind:
        return np.inf, np.inf
    if now.dtype.kind == 'U':
        return (0.0, 0.0) if np.array_equal(before, now) else (np.inf, np.inf)
    known = np.isfinite(before)
    if not np.array_equal(before[~known], now[~known], equal_nan=True):
        return np.inf, np.inf
    if not known.any():
        return 0.0, 0.0
    most = float(np.abs(now[known] - before[known]).max())
    return most, most / float(np.abs(before[known]).max() or 1.0) if most else 0.0


def compared(before: Arrays, now: Arrays) -> tuple[bool, str]:
    """Return whether two runs of a case are the same but for rounding, and in which words."""
    rows = sorted(((*difference(before[name], now[name]), name)
                   for name in now if name in before), key=lambda row: -row[1])
    rows = [row for row in rows if row[0] > 0.0]
    said = [f'{name} by {most:.2g}, {part:.2g} of the largest'
            for most, part, name in rows[:WORST]]
    said += [f'{len(rows) - WORST} more'] * (len(rows) > WORST)
    for words, names in (('no longer there', set(before) - set(now)),
                         ('not there before', set(now) - set(before))):
        said += [f'{words}: {", ".join(sorted(names)[:WORST])} ({len(names)})'] * bool(names)
    sound = set(before) == set(now) and all(part <= SAME for _, part, _ in rows)
    # Bits of zeros and of NaNs differ without a difference.
    return sound, ('differs: ' if said else 'same but for signs of zeros') + '; '.join(said)


def beside(path: Path, name: str) -> Path:
    """Return where the arrays of a case are kept."""
    return path.with_name(f'{path.stem}.{name.replace("/", ".")}.npz')


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases; returns the exit code."""
    from benchmarks.digest_cases import CASES, Skipped

    parser = argparse.ArgumentParser(prog='python -m benchmarks digests',
                                     description=(__doc__ or '').split('\n\n')[0])
    parser.add_argument('cases', nargs='*', metavar='CASE',
                        help=f'of {", ".join(CASES)}, or zoo for all of it; all if none is given')
    parser.add_argument('--write', type=Path, metavar='FILE',
                        help='keep the digests as JSON, and the arrays in .npz files beside it; '
                        'with named cases, the others of FILE stay')
    parser.add_argument('--compare', type=Path, metavar='FILE',
                        help='with what --write kept; exit code 1 where anything differs by more '
                        f"than {SAME:g} of an array's largest value")
    options = parser.parse_args(arguments)
    unknown = [asked for asked in options.cases if not any(
        _meant(name, asked) for name in CASES)]
    if unknown:
        parser.error(f'expected cases out of {", ".join(CASES)}, got {", ".join(unknown)}')
    names = [name for name in CASES if not options.cases
             or any(_meant(name, asked) for asked in options.cases)]
    before = json.loads(options.compare.read_text(encoding='utf-8')) if options.compare else {}
    kept: dict[str, str] = {}
    failed, begin = [], time.monotonic()
    for name in names:
        started = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                arrays = plain(CASES[name]())
        except Skipped as error:
            print(f'{name:34} skipped: {error}', flush=True)
            failed += [name] * (name in before)
            continue
        except Exception as error:      # the other cases are to be told all the same
            traceback.print_exc()
            print(f'{name:34} failed: {type(error).__name__}: {error}', flush=True)
            failed.append(name)
            continue
        kept[name] = digest(arrays)
        samples = max((len(values) for values in arrays.values() if values.ndim), default=0)
        line = (f'{name:34} {kept[name]}  {len(arrays)} arrays, {samples} samples, '
                f'{time.monotonic() - started:.0f} s')
        if options.compare:
            sound, said = _judged(name, kept[name], arrays, before, options.compare)
            failed += [name] * (not sound)
            line += f'  {said}'
        print(line, flush=True)
        if options.write:
            np.savez(beside(options.write, name), **arrays)
    if options.write:
        there = options.cases and options.write.is_file()
        others = json.loads(options.write.read_text(encoding='utf-8')) if there else {}
        options.write.write_text(json.dumps({**others, **kept}, indent=1) + '\n',
                                 encoding='utf-8')
    print(f'{len(kept)} digests in {time.monotonic() - begin:.0f} s'
          + (f'; not the same: {", ".join(failed)}' if failed else ''))
    return 1 if failed else 0 if kept else 2


def _meant(name: str, asked: str) -> bool:
    return name == asked or name.startswith(f'{asked}/')


def _judged(name: str, found: str, arrays: Arrays, before: Mapping[str, str],
            path: Path) -> tuple[bool, str]:
    if name not in before:
        return True, 'not there before'
    if before[name] == found:
        return True, 'same'
    with np.load(beside(path, name)) as stored:
        return compared(stored, arrays)


if __name__ == '__main__':
    sys.exit(main())
