# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Marker trajectories as .trc files have them: read, and written."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import MeasurementError, OutputError

UNITS = {'mm': 1e-3, 'cm': 1e-2, 'm': 1.0}


@dataclass(frozen=True, eq=False)
class Markers:
    """
    Trajectories of markers.

    Attributes
    ----------
    time : (n,) array [s]
    names : tuple of str
    position : (n, k, 3) array [m]
        In the axes of the file; NaN where a marker was not seen.

    """

    time: np.ndarray
    names: tuple[str, ...]
    position: np.ndarray


def read_trc(path: str | Path) -> Markers:
    """
    Return the markers in a .trc file.

    Raises
    ------
    MeasurementError
        When it cannot be read or is no such file; the message names the line.

    """
    path = Path(path)
    try:
        lines = path.read_text(encoding='utf-8-sig').splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MeasurementError(f'cannot read {path}: {error}') from error
    if len(lines) < 6 or not lines[0].startswith('PathFileType'):
        raise MeasurementError(f"{path}: expected a .trc file, which begins with 'PathFileType', "
                               f'got {lines[0][:40] if lines else "nothing"!r}')
    header = dict(zip(lines[1].split('\t'), (cell.strip() for cell in lines[2].split('\t'))))
    unit = header.get('Units', '')
    if unit not in UNITS:
        raise MeasurementError(f'{path}, line 3: expected Units out of {", ".join(UNITS)}, got '
                               f'{unit!r}')
    names = tuple(cell.strip() for cell in lines[3].split('\t')[2:] if cell.strip())
    rows, times, width = [], [], 3 * len(names)
    for number, line in enumerate(lines[5:], start=6):
        if not line.strip():
            continue
        cells = line.split('\t')
        try:
            times.append(float(cells[1]))
            values = [float(cell) if cell.strip() else np.nan for cell in cells[2:2 + width]]
        except (IndexError, ValueError) as error:
            raise MeasurementError(f'{path}, line {number}: expected a frame, a time and '
                                   f'{width} coordinates between tabs: {error}') from error
        # Unseen markers at the end of a line are often not even tabs.
        rows.append(values + [np.nan] * (width - len(values)))
    if not rows or not names:
        raise MeasurementError(f'{path}: expected markers and rows, got {len(names)} markers in '
                               f'{len(rows)} rows')
    position = UNITS[unit] * np.array(rows).reshape(len(rows), len(names), 3)
    return Markers(np.array(times), names, position)


def write_trc(path: str | Path, time: np.ndarray, names: Sequence[str],
              position: np.ndarray) -> None:
    """
    Write markers in millimetres, as OpenSim reads them.

    Parameters
    ----------
    path : str or Path
        File to write.
    time : (n,) array [s]
        Evenly spaced.
    names : sequence of str
        Of k markers.
    position : (n, k, 3) array [m]
        In OpenSim's axes, y up; NaN leaves the place empty.

    Raises
    ------
    OutputError
        When the file cannot be written.

    """
    path, n = Path(path), len(time)
    rate = (n - 1) / (time[-1] - time[0]) if n > 1 else 0.0
    axes = [f'{axis}{k}' for k in range(1, len(names) + 1) for axis in 'XYZ']
    lines = [f'PathFileType\t4\t(X/Y/Z)\t{path.name}',
             'DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\t'
             'OrigDataStartFrame\tOrigNumFrames',
             f'{rate:.6g}\t{rate:.6g}\t{n}\t{len(names)}\tmm\t{rate:.6g}\t1\t{n}',
             'Frame#\tTime\t' + '\t\t\t'.join(names) + '\t\t',
             '\t\t' + '\t'.join(axes), '']
    for frame, (at, row) in enumerate(zip(time, 1e3 * position.reshape(n, -1)), start=1):
        cells = ('' if np.isnan(value) else f'{value:.6f}' for value in row)
        lines.append(f'{frame}\t{at:.6f}\t' + '\t'.join(cells))
    try:
        path.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    except OSError as error:
        raise OutputError(f'cannot write {path}: {error}') from error
