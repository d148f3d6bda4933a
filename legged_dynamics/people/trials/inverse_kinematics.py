# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Coordinates from markers, by OpenSim's own inverse kinematics (extra `opensim`).

Markers of a .c3d or .trc file are turned to OpenSim's axes (y up), every marker that the model has
as well is followed with equal weight, and the coordinates are written as OpenSim's tool does. The
model must be scaled to the person and carry the marker set of the laboratory.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.people.trials.c3d import read_c3d, read_trc, write_trc
from legged_dynamics.people.trials.coordinates import read_storage
from legged_dynamics.recordings.file_formats import C3D, format_of

if TYPE_CHECKING:
    from collections.abc import Sequence

# Fewer markers cannot determine the pose of a person.
LEAST_MARKERS = 6
# Markers that miss the model's by more than this, rms over trial and markers, are doubtful [m]
# (OpenSim's documentation asks for less than 2 cm rms).
LARGEST_ERROR = 0.02


def inverse_kinematics(source: Path, model: str | Path, folder: Path) -> tuple[Path, list[str]]:
    """
    Compute coordinates from markers (.c3d, .trc) with OpenSim; return their path and notes.

    Writes ``<name>.trc``, ``<name>_ik.mot`` and marker errors to ``folder``.
    """
    if find_spec('opensim') is None:
        raise ConfigurationError(
            'inverse kinematics of markers needs OpenSim, which is not installed: pip install '
            '".[opensim]"; or run it yourself, and give the coordinates it writes '
            '(.mot)')
    is_c3d = format_of(source) is C3D
    markers = read_c3d(source).markers if is_c3d else read_trc(source)
    if len(markers.time) < 2 or not np.isfinite(markers.position).any():
        raise MeasurementError(f'{source}: expected markers over time, got none')
    # People are taller than they are wide and deep; a .trc file is in OpenSim's axes.
    extent = np.nanmax(markers.position, axis=1) - np.nanmin(markers.position, axis=1)
    axis = int(np.argmax(np.nanmedian(extent, axis=0))) if is_c3d else 1
    # Rows: OpenSim's axes. Any level axis may be forward, for the root of the model is free.
    forward = np.eye(3)[(axis + 1) % 3 if axis == 2 else (axis + 2) % 3]
    turn = np.array([forward, np.eye(3)[axis], np.cross(forward, np.eye(3)[axis])])
    folder.mkdir(parents=True, exist_ok=True)
    trc, coordinates = folder / f'{source.stem}.trc', folder / f'{source.stem}_ik.mot'
    write_trc(trc, markers.time, markers.names, markers.position @ turn.T)
    answer = _run_tool({'model': str(Path(model).resolve()), 'markers': str(trc.resolve()),
                        'coordinates': str(coordinates.resolve()), 'name': source.stem,
                        'names': markers.names, 'start': float(markers.time[0]),
                        'end': float(markers.time[-1]), 'least': LEAST_MARKERS}, folder)
    own = answer.get('own', [])
    shared = [name for name in markers.names if name in own]
    if 'own' in answer and len(shared) < LEAST_MARKERS:
        raise ConfigurationError(
            f'{source} and {model}: expected at least {LEAST_MARKERS} markers of the same name, '
            f'got {len(shared)}; the recording has {_some(markers.names)}, the model '
            f'{_some(sorted(own))}. Give the scaled model that has the marker set of the '
            'laboratory')
    if answer.get('error') or not coordinates.is_file():
        raise MeasurementError(f'OpenSim cannot follow the markers of {source} with {model}: '
                               f'{answer.get("error") or "it wrote no coordinates"}')
    left = [name for name in markers.names if name not in own]
    return coordinates, [
        f'Coordinates are by the inverse kinematics of OpenSim {answer["version"]}, with '
        f'{len(shared)} markers of equal weight; the upright axis of the laboratory is '
        f'{"xyz"[axis]}.', *[f'Markers that the model has not: {_some(left)}.'] * bool(left),
        _error_of(folder / f'{source.stem}_ik_marker_errors.sto')]


def _run_tool(task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run OpenSim's tool in its own process, against crashes; return its answer."""
    done = subprocess.run([sys.executable, '-m', __name__], input=json.dumps(task), text=True,
                          capture_output=True, cwd=folder, check=False,
                          env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})
    (folder / 'opensim.log').unlink(missing_ok=True)
    try:
        return dict(json.loads(done.stdout.strip().splitlines()[-1]))
    except (IndexError, ValueError):
        return {'error': f'OpenSim ended with code {done.returncode}'}


def _tool(task: dict[str, Any]) -> dict[str, Any]:
    """Follow markers with OpenSim, in the process that `_run_tool` started."""
    import opensim

    opensim.Logger.setLevelString('Off')
    answer: dict[str, Any] = {'version': opensim.GetVersion()}
    try:
        model = opensim.Model(task['model'])
        model.initSystem()
        markers = model.getMarkerSet()
        own = [markers.get(k).getName() for k in range(markers.getSize())]
        answer['own'] = own
        shared = [name for name in task['names'] if name in own]
        if len(shared) < task['least']:
            return answer
        tool = opensim.InverseKinematicsTool()
        tool.setModel(model)
        tool.setName(task['name'])
        tool.set_marker_file(task['markers'])
        tool.set_results_directory(str(Path(task['coordinates']).parent))
        tool.set_output_motion_file(task['coordinates'])
        tool.setStartTime(task['start'])
        tool.setEndTime(task['end'])
        for name in shared:
            follow = opensim.IKMarkerTask()
            follow.setName(name)
            follow.setApply(True)
            follow.setWeight(1.0)
            tool.upd_IKTaskSet().cloneAndAppend(follow)
        if not tool.run():
            answer['error'] = 'gaps of many markers at once are the usual cause'
    except RuntimeError as error:
        answer['error'] = ' '.join(str(error).split('\n')[0].split())
    return answer


def _error_of(path: Path) -> str:
    """Return a note on the distance between markers and model."""
    if not path.is_file():
        return 'OpenSim did not say how far the markers are from those of the model.'
    table = read_storage(path)
    rms = float(np.sqrt(np.mean(table.values[:, table.names.index('marker_error_RMS')] ** 2)))
    return f'Markers are {1e3 * rms:.0f} mm rms from those of the model' + (
        '.' if rms <= LARGEST_ERROR else f': more than the {1e3 * LARGEST_ERROR:.0f} mm of a good '
        'fit. Is the model scaled to this person?')


def _some(names: Sequence[str]) -> str:
    return ', '.join(names[:8]) + (', ...' if len(names) > 8 else '') if names else 'none'


if __name__ == '__main__':
    print(json.dumps(_tool(json.load(sys.stdin))))
