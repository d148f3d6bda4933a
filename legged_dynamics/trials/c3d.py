# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Markers and force plates of C3D files, read by ezc3d (extra `c3d`)."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import MeasurementError, OutputError

# -------------------------------------------------------------------------------------------------
# One measured force over time, its point of application, and the free moment there.


@dataclass(frozen=True, eq=False)
class ExternalLoad:
    """
    A measured force over time.

    Attributes
    ----------
    name : str
        Of the load or the plate.
    body : str
        Body on which it acts; empty when that is not known.
    time : (n,) array [s]
        Times of the samples.
    force, point, moment : (n, 3) array [N, m, N m]
        Force on the person, point of application, and free moment about that point, in world axes.

    """

    name: str
    body: str
    time: np.ndarray
    force: np.ndarray
    point: np.ndarray
    moment: np.ndarray


# -------------------------------------------------------------------------------------------------
# Marker trajectories, and .trc files, in which OpenSim reads them.


UNITS = {'mm': 1e-3, 'cm': 1e-2, 'm': 1.0}


@dataclass(frozen=True, eq=False)
class Markers:
    """
    Trajectories of k markers.

    Attributes
    ----------
    time : (n,) array [s]
        Times of the frames.
    names : tuple of str
        Names of the markers.
    position : (n, k, 3) array [m]
        In the axes of the file; NaN where a marker was not seen.

    """

    time: np.ndarray
    names: tuple[str, ...]
    position: np.ndarray


def write_trc(path: str | Path, time: np.ndarray, names: Sequence[str],
              position: np.ndarray) -> None:
    """
    Write markers in millimetres, as OpenSim reads them.

    Parameters
    ----------
    path : str or Path
        File to write.
    time : (n,) array [s]
        Times of the frames, evenly spaced.
    names : sequence of str
        Names of the k markers.
    position : (n, k, 3) array [m]
        In OpenSim's axes, y up; NaN leaves the cell empty.

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


def read_trc(path: str | Path) -> Markers:
    """
    Read markers of a .trc file.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Markers
        In the axes of the file; cells that are empty or missing at a row's end are NaN.

    Raises
    ------
    MeasurementError
        When it cannot be read, or is not such a file; the message names the line.

    """
    path = Path(path)
    try:
        lines = path.read_text(encoding='utf-8-sig').splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MeasurementError(f'cannot read {path}: {error}') from error
    if len(lines) < 6 or not lines[0].startswith('PathFileType'):
        raise MeasurementError(f'{path}: this is not a .trc file: expected "PathFileType" in its '
                               'first line, and five lines above the frames')
    header = dict(zip(lines[1].split(), lines[2].split()))
    unit = header.get('Units', '')
    if unit not in UNITS:
        raise MeasurementError(f'{path}: expected Units out of {", ".join(UNITS)}, got {unit!r}')
    names = tuple(cell.strip() for cell in lines[3].split('\t')[2:] if cell.strip())
    rows, time = [], []
    for number, line in enumerate(lines[5:], start=6):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split('\t')][:2 + 3 * len(names)]
        cells += [''] * (2 + 3 * len(names) - len(cells))
        try:
            time.append(float(cells[1]))
            rows.append([float(cell or 'nan') for cell in cells[2:]])
        except ValueError as error:
            raise MeasurementError(f'{path}, line {number}: {error}') from error
    return Markers(np.array(time), names,
                   UNITS[unit] * np.array(rows, float).reshape(len(rows), len(names), 3))


# -------------------------------------------------------------------------------------------------

FORCE_UNITS = {'N': 1.0, 'kN': 1e3}
MOMENT_UNITS = {'Nmm': 1e-3, 'N.mm': 1e-3, 'Nm': 1.0, 'N.m': 1.0}


@dataclass(frozen=True, eq=False)
class C3dFile:
    """
    Content of a C3D file.

    Attributes
    ----------
    markers : Markers
        In the axes of the laboratory.
    loads : list of ExternalLoad
        One for each force plate, on the person, in the axes of the laboratory.

    """

    markers: Markers
    loads: list[ExternalLoad]


def read_c3d(path: str | Path) -> C3dFile:
    """
    Read markers and force plates.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    C3dFile

    Raises
    ------
    MeasurementError
        When the file cannot be read, or its units are not known.
    ModuleNotFoundError
        Without ezc3d.

    """
    import ezc3d

    path = Path(path)
    if not path.is_file():
        raise MeasurementError(f'cannot read {path}: there is no such file')
    try:
        file = ezc3d.c3d(str(path), extract_forceplat_data=True)
    except (OSError, RuntimeError, ValueError, KeyError, IndexError) as error:
        raise MeasurementError(f'{path}: this is not a C3D file that ezc3d can read: {error}'
                               ) from error
    header, parameters = file['header'], file['parameters']
    rate = float(header['points']['frame_rate'])
    # A recording that was cut begins at its first frame, and ezc3d counts from zero.
    start = header['points']['first_frame'] / rate if rate else 0.0
    points = np.asarray(file['data']['points'], float)
    names = tuple(parameters['POINT']['LABELS']['value'])[:points.shape[1]]
    unit = (parameters['POINT'].get('UNITS', {}).get('value') or ['mm'])[0]
    if unit not in UNITS:
        raise MeasurementError(f'{path}: expected POINT:UNITS out of {", ".join(UNITS)}, got '
                               f'{unit!r}')
    position = UNITS[unit] * points[:3].transpose(2, 1, 0)
    unseen = np.asarray(file['data']['meta_points']['residuals'], float)[0].T < 0.0
    position[unseen | (position == 0.0).all(axis=2)] = np.nan
    time = start + np.arange(len(position)) / rate if rate else np.zeros(0)
    fast = float(header['analogs']['frame_rate']) or rate
    loads = [_plate(path, k, plate, start, fast)
             for k, plate in enumerate(file['data'].get('platform', []), start=1)]
    return C3dFile(Markers(time, names, position), loads)


def _plate(path: Path, number: int, plate: Any, start: float, rate: float) -> ExternalLoad:
    units = [plate[f'unit_{what}'] for what in ('force', 'moment', 'position')]
    for unit, known in zip(units, (FORCE_UNITS, MOMENT_UNITS, UNITS)):
        if unit not in known:
            raise MeasurementError(f'{path}: force plate {number}: expected a unit out of '
                                   f'{", ".join(known)}, got {unit!r}')
    force = FORCE_UNITS[units[0]] * np.nan_to_num(np.asarray(plate['force'], float).T)
    free = MOMENT_UNITS[units[1]] * np.nan_to_num(np.asarray(plate['Tz'], float).T)
    point = UNITS[units[2]] * np.nan_to_num(
        np.asarray(plate['center_of_pressure'], float).T)
    corners = np.asarray(plate['corners'], float)
    # Files hold the force on the plate or that on the person, which points up.
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 1])
    up = int(np.argmax(np.abs(normal)))
    if force[:, up].sum() < 0.0:
        force, free = -force, -free
    return ExternalLoad(f'plate {number}', '', start + np.arange(len(force)) / rate, force, point,
                        free)
