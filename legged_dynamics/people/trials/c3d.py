# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Markers and force plates of C3D files, read by ezc3d (extra `c3d`).

ezc3d believes the sizes that a file states: a damaged one of less than a kilobyte can keep it busy
for ever, or take all memory. So it runs in a process of its own with a limit of both.
"""
from __future__ import annotations

import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import MeasurementError, OutputError, reraised
from legged_dynamics.recordings.file_formats import read_text


@dataclass(frozen=True, eq=False)
class ExternalLoad:
    """A measured force over time, in world axes."""

    name: str  # Of the load or the plate
    body: str  # On which it acts; empty when that is not known
    time: np.ndarray  # (n,) [s]: times of the samples
    force: np.ndarray  # (n, 3) [N]: on the person
    point: np.ndarray  # (n, 3) [m]: where it acts
    moment: np.ndarray  # (n, 3) [N m]: free moment about that point


# -------------------------------------------------------------------------------------------------
# Marker trajectories, and .trc files, in which OpenSim reads them.


UNITS = {'mm': 1e-3, 'cm': 1e-2, 'm': 1.0}


@dataclass(frozen=True, eq=False)
class Markers:
    """Trajectories of k markers."""

    time: np.ndarray  # (n,) [s]: times of the frames
    names: tuple[str, ...]  # Names of the markers
    position: np.ndarray  # (n, k, 3) [m]: in the axes of the file; NaN where a marker was not seen


def write_trc(path: str | Path, time: np.ndarray, names: Sequence[str],
              position: np.ndarray) -> None:
    """Write markers (n, k, 3) [m] as .trc in mm; OpenSim axes, y up, NaN: empty."""
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
    with reraised(OutputError, f'cannot write {path}'):
        path.write_text('\n'.join(lines) + '\n', encoding='utf-8')


def _factor(units: Mapping[str, float], unit: str, expected: str) -> float:
    """Return what a unit is in SI; ``expected`` begins the refusal of one that is not known."""
    if unit not in units:
        raise MeasurementError(f'{expected} out of {", ".join(units)}, got {unit!r}')
    return units[unit]


def read_trc(path: str | Path) -> Markers:
    """Return the markers of a .trc file, in its axes; NaN where missing."""
    lines = read_text(Path(path)).splitlines()
    if len(lines) < 6 or not lines[0].startswith('PathFileType'):
        raise MeasurementError(f'{path}: this is not a .trc file: expected "PathFileType" in its '
                               'first line, and five lines above the frames')
    unit = _factor(UNITS, dict(zip(lines[1].split(), lines[2].split())).get('Units', ''),
                   f'{path}: expected Units')
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
                   unit * np.array(rows, float).reshape(len(rows), len(names), 3))


# -------------------------------------------------------------------------------------------------

FORCE_UNITS = {'N': 1.0, 'kN': 1e3}
MOMENT_UNITS = {'Nmm': 1e-3, 'N.mm': 1e-3, 'Nm': 1.0, 'N.m': 1.0}


@dataclass(frozen=True, eq=False)
class C3dFile:
    """Content of a C3D file."""

    markers: Markers  # In the axes of the laboratory
    # One for each force plate, on the person, in the axes of the laboratory
    loads: list[ExternalLoad]


@dataclass(frozen=True)
class ReadingLimits:
    """
    Of the reading process, beyond what it has when ezc3d is loaded.

    ezc3d takes 20 to 60 bytes for a byte, and less than a second for a megabyte.
    """

    memory: int = 100_000_000  # [bytes]: for any file
    memory_of_byte: int = 100  # [bytes]: for each byte of the file
    time: float = 1.0  # [s]: of the processor, for any file
    time_of_byte: float = 4e-6  # [s]: for each byte of the file
    wall_factor: float = 20.0  # Wall time over processor time, on a busy machine


LIMITS = ReadingLimits()


def read_c3d(path: str | Path, limits: ReadingLimits = LIMITS) -> C3dFile:
    """Return markers and force plates of a C3D file; requires ezc3d."""
    path = Path(path)
    if not path.is_file():
        raise MeasurementError(f'cannot read {path}: there is no such file')
    if importlib.util.find_spec('ezc3d') is None:
        raise ModuleNotFoundError("No module named 'ezc3d'", name='ezc3d')
    content = _read_apart(path, limits)
    rate = float(content['rate'])
    # A recording that was cut begins at its first frame, and ezc3d counts from zero.
    start = float(content['first_frame']) / rate if rate else 0.0
    points = content['points']
    names = tuple(json.loads(str(content['labels'])))[:points.shape[1]]
    unit = _factor(UNITS, str(content['unit']), f'{path}: expected POINT:UNITS')
    position = unit * points[:3].transpose(2, 1, 0)
    position[(content['residuals'].T < 0.0) | (position == 0.0).all(axis=2)] = np.nan
    time = start + np.arange(len(position)) / rate if rate else np.zeros(0)
    fast = float(content['analog_rate']) or rate
    loads = [_plate(path, k, plate, start, fast) for k, plate in enumerate(zip(
        content['plate_units'], *(content[key] for key in _PLATE_VALUES)), start=1)]
    return C3dFile(Markers(time, names, position), loads)


# -------------------------------------------------------------------------------------------------
# ezc3d in a process of its own.


_PLATE_UNITS = ('unit_force', 'unit_moment', 'unit_position')
_PLATE_VALUES = ('force', 'Tz', 'center_of_pressure', 'corners')


def _read_apart(path: Path, limits: ReadingLimits) -> dict[str, np.ndarray]:
    """Return what is needed of a file, as ezc3d reads it in a process of its own."""
    size = path.stat().st_size
    seconds = limits.time + limits.time_of_byte * size
    # no threads: each would take memory for itself
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
                   'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'}
    with tempfile.TemporaryDirectory(prefix='legged_dynamics_c3d_') as folder:
        out = Path(folder) / 'content.npz'
        try:
            done = subprocess.run(
                [sys.executable, '-m', __name__, str(path.resolve()), str(out), str(seconds),
                 str(limits.memory + limits.memory_of_byte * size)],
                stdin=subprocess.DEVNULL, capture_output=True, env=environment,
                timeout=limits.wall_factor * (seconds + 1.0))
        except subprocess.TimeoutExpired as error:
            raise MeasurementError(f'{path}: ezc3d did not come to an end with it; the file is '
                                   'probably damaged') from error
        if done.returncode == 0:
            with np.load(out, allow_pickle=False) as found:
                return dict(found)
    said = done.stderr.decode(errors='replace').strip().splitlines()
    if -done.returncode == signal.SIGPROF:
        reason = f'it takes ezc3d more than {seconds:.2g} s; the file is probably damaged'
    elif done.returncode < 0:
        reason = f'ezc3d ended with {signal.Signals(-done.returncode).name}'
    else:
        reason = said[-1] if said else 'ezc3d gave no reason'
    raise MeasurementError(f'{path}: this is not a C3D file that ezc3d can read: {reason}')


def _limit(seconds: float, most: int) -> None:
    """Limit processor time [s] and further memory [bytes] of this process from now on."""
    status = Path('/proc/self/status')
    if status.exists():
        used = next((1024 * int(line.split()[1]) for line in status.read_text().splitlines()
                     if line.startswith('VmData:')), 0)
        resource.setrlimit(resource.RLIMIT_DATA, (used + most, used + most))
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _main(path: str, out: str, seconds: str, most: str) -> int:
    """Read a file and leave what is needed of it as arrays in another."""
    import ezc3d

    _limit(float(seconds), int(most))
    try:
        file = ezc3d.c3d(path, extract_forceplat_data=True)
        parameters, header = file['parameters']['POINT'], file['header']
        plates = file['data'].get('platform', [])
        found: dict[str, object] = {
            'rate': float(header['points']['frame_rate']),
            'first_frame': float(header['points']['first_frame']),
            'analog_rate': float(header['analogs']['frame_rate']),
            'labels': json.dumps([str(label) for label in parameters['LABELS']['value']]),
            'unit': str((parameters.get('UNITS', {}).get('value') or ['mm'])[0]),
            'points': np.asarray(file['data']['points'], float),
            'residuals': np.asarray(file['data']['meta_points']['residuals'], float)[0],
            'plate_units': np.array([[str(plate[key]) for key in _PLATE_UNITS]
                                     for plate in plates])}
        found |= {key: np.array([plate[key] for plate in plates], float)
                  for key in _PLATE_VALUES}
        np.savez(out, **found)      # type: ignore[arg-type]
    except MemoryError:
        print(f'it needs more than {int(most) / 1e6:.0f} MB, far more than a file of its size '
              'should; it is probably damaged', file=sys.stderr)
        return 1
    except Exception as error:      # whatever ezc3d says of a file it did not expect
        print(f'{type(error).__name__}: {error}'.replace('\n', ' '), file=sys.stderr)
        return 1
    return 0


# -------------------------------------------------------------------------------------------------
# Force plates.


def _plate(path: Path, number: int, plate: tuple[np.ndarray, ...], start: float,
           rate: float) -> ExternalLoad:
    units, *measured, corners = plate
    parts = []
    for unit, known, values in zip(map(str, units), (FORCE_UNITS, MOMENT_UNITS, UNITS), measured):
        parts.append(np.nan_to_num(values.T) * _factor(
            known, unit, f'{path}: force plate {number}: expected a unit'))
    force, free, point = parts
    # Files hold the force on the plate or that on the person, which points up.
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 1])
    if force[:, int(np.argmax(np.abs(normal)))].sum() < 0.0:
        force, free = -force, -free
    return ExternalLoad(f'plate {number}', '', start + np.arange(len(force)) / rate, force, point,
                        free)


if __name__ == '__main__':
    sys.exit(_main(*sys.argv[1:]))
