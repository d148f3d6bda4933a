# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""OpenSim's tables (.sto, .mot): a header up to ``endheader``, column names, and rows."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import MeasurementError, OutputError


@dataclass(frozen=True, eq=False)
class Storage:
    """
    A table of OpenSim.

    Attributes
    ----------
    names : tuple of str
        Of the columns, `time` the first.
    values : (n, k) array
    in_degrees : bool or None
        Whether angles are in degrees; None when the header does not say.

    """

    names: tuple[str, ...]
    values: np.ndarray
    in_degrees: bool | None


def read_storage(path: str | Path) -> Storage:
    """
    Return the table in a .sto or .mot file.

    Raises
    ------
    MeasurementError
        When it cannot be read, has no header, or a row has not one number a column; the message
        names the line.

    """
    path = Path(path)
    try:
        lines = path.read_text(encoding='utf-8-sig').splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MeasurementError(f'cannot read {path}: {error}') from error
    end = next((k for k, line in enumerate(lines) if line.strip().lower() == 'endheader'), None)
    if end is None:
        raise MeasurementError(f"{path}: expected OpenSim's header, which ends with a line "
                               '"endheader", got none; a plain table is read as CSV')
    header = {key.strip().lower(): value.strip() for key, _, value in
              (line.partition('=') for line in lines[:end])}
    below = [(number, line) for number, line in enumerate(lines[end + 1:], start=end + 2)
             if line.strip()]
    if len(below) < 2:
        raise MeasurementError(f'{path}: expected column names and rows below the header')
    names = tuple(below[0][1].split())
    if names[0].lower() != 'time':
        raise MeasurementError(f"{path}, line {below[0][0]}: expected the column 'time' first, "
                               f'got {names[0]!r}')
    rows = np.empty((len(below) - 1, len(names)))
    for row, (number, line) in zip(rows, below[1:]):
        cells = line.split()
        if len(cells) != len(names):
            raise MeasurementError(f'{path}, line {number}: expected {len(names)} values, one a '
                                   f'column, got {len(cells)}')
        try:
            row[:] = [float(cell) for cell in cells]
        except ValueError as error:
            raise MeasurementError(f'{path}, line {number}: {error}') from error
    stated = header.get('indegrees', '').lower()
    return Storage(names, rows, stated in ('yes', 'true') if stated else None)


def write_storage(path: str | Path, title: str, names: Sequence[str], values: np.ndarray,
                  in_degrees: bool = False) -> None:
    """
    Write a table as OpenSim reads it.

    Raises
    ------
    OutputError
        When the file cannot be written.

    """
    head = [title, 'version=1', f'nRows={len(values)}', f'nColumns={len(names)}',
            f'inDegrees={"yes" if in_degrees else "no"}', 'endheader', '\t'.join(names)]
    rows = ['\t'.join(f'{value:.9g}' for value in row) for row in values]
    try:
        Path(path).write_text('\n'.join([*head, *rows]) + '\n', encoding='utf-8')
    except OSError as error:
        raise OutputError(f'cannot write {path}: {error}') from error
