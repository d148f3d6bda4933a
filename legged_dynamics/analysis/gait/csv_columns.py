# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Numbers by named columns out of a CSV file, and errors that say where the file is wrong."""
from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import MeasurementError

TIME = 'time'


class CsvColumns:
    """
    A CSV file: a line of column names, numbers below; lines that begin with # are left out.

    Only the columns that are asked for have to hold numbers.

    Parameters
    ----------
    path : str or Path

    Attributes
    ----------
    path : Path
    names : tuple of str

    Raises
    ------
    MeasurementError
        When the file cannot be read, has no names or repeated ones, or a line has not one value
        for each.

    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        lines = self._lines()
        if not lines:
            raise MeasurementError(f'{self.path} is empty: expected a line of column names and '
                                   'numbers below it')
        (_, head), self._rows = lines[0], lines[1:]
        self.names = tuple(name.strip() for name in head)
        if all(_number(name) is not None for name in self.names):
            raise MeasurementError(f'{self.path}: expected column names in the first line, got '
                                   f'numbers: {", ".join(self.names[:5])}')
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise MeasurementError(f'{self.path}: column {", ".join(map(repr, twice))} stands '
                                   'there more than once')
        if not self._rows:
            raise MeasurementError(f'{self.path} has column names and no numbers below them')
        for line, cells in self._rows:
            if len(cells) != len(self.names):
                raise MeasurementError(f'{self.path}, line {line}: expected {len(self.names)} '
                                       f'values, one a column, got {len(cells)}')

    def _lines(self) -> list[tuple[int, list[str]]]:
        """Return number and cells of each line that says something."""
        try:
            with self.path.open(newline='', encoding='utf-8-sig') as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise MeasurementError(f'cannot read {self.path}: {error}') from error
        first = text.lstrip().split('\n', 1)[0]
        delimiter = max(',;\t', key=first.count)
        return [(number, cells) for number, cells
                in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), start=1)
                if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith('#')]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __getitem__(self, names: str | Sequence[str]) -> np.ndarray:
        """
        Return one column, (n,), or several, (n, k).

        Raises
        ------
        MeasurementError
            When one is missing, or holds something that is no finite number; the message names
            the columns there are, or line and column.

        """
        if isinstance(names, str):
            return self._column(names)
        missing = [name for name in names if name not in self.names]
        if missing:
            raise MeasurementError(f'{self.path}: column '
                                   f'{", ".join(self._hint(name, names) for name in missing)} '
                                   f'missing; the columns are: {", ".join(self.names)}')
        return np.stack([self._column(name) for name in names], axis=1)

    def _hint(self, name: str, wanted: Sequence[str]) -> str:
        others = {other.lower(): other for other in self.names if other not in wanted}
        close = get_close_matches(name.lower(), others, n=1)
        return f'{name!r} (did you mean {others[close[0]]!r}?)' if close else repr(name)

    def _column(self, name: str) -> np.ndarray:
        if name not in self.names:
            raise MeasurementError(f'{self.path}: column {self._hint(name, [name])} missing; the '
                                   f'columns are: {", ".join(self.names)}')
        k, values = self.names.index(name), np.empty(len(self._rows))
        for row, (line, cells) in enumerate(self._rows):
            number = _number(cells[k])
            if number is None or not math.isfinite(number):
                got = repr(cells[k].strip()) if cells[k].strip() else 'nothing'
                raise MeasurementError(f'{self.path}, line {line}, column {name!r}: expected a '
                                       f'finite number, got {got}; fill gaps before')
            values[row] = number
        return values

    def time(self) -> np.ndarray:
        """
        Return the column `time`, (n,) [s].

        Raises
        ------
        MeasurementError
            When there is none, or it does not rise.

        """
        time = self[TIME]
        back = np.flatnonzero(np.diff(time) <= 0.0)
        if len(back):
            row = back[0]
            raise MeasurementError(f'{self.path}: expected rising times, got {time[row + 1]:g} s '
                                   f'after {time[row]:g} s ({len(back)} such places)')
        return time


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
