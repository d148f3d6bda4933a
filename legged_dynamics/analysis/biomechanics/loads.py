# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Measured forces: OpenSim's external loads (.xml, .mot, .sto), and force plates of C3D files.

A load is a force, where it acts, and a free moment there, over time, in our axes (z up).
"""
from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from legged_dynamics.analysis.biomechanics.c3d import read_c3d
from legged_dynamics.analysis.biomechanics.load import ExternalLoad
from legged_dynamics.analysis.biomechanics.storage import Storage, read_storage
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.opensim.joints import TO_OURS


def read_loads(path: str | Path) -> tuple[list[ExternalLoad], list[str]]:
    """
    Return the loads in a file, by its suffix, and what is odd about them.

    Raises
    ------
    MeasurementError
        When it cannot be read, or holds no forces.

    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == '.xml':
        return _of_xml(path)
    if suffix in ('.mot', '.sto'):
        return _of_table(path), []
    if suffix == '.c3d':
        return read_c3d(path).loads, []
    raise MeasurementError(f'--loads: expected external loads of OpenSim (.xml, .mot, .sto) or '
                           f'force plates (.c3d), got {path}')


def _of_xml(path: Path) -> tuple[list[ExternalLoad], list[str]]:
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise MeasurementError(f'cannot read {path}: {error}') from error
    every = root.find('.//ExternalLoads')
    if every is None:
        raise MeasurementError(f'{path}: expected <ExternalLoads>, got {root.tag}')
    said = (every.findtext('datafile') or '').strip()
    data = path.parent / said
    if not said or not data.is_file():
        # People move files; the name alone is looked for beside this one.
        data = path.parent / Path(said.replace('\\', '/')).name
    if not said or not data.is_file():
        raise MeasurementError(f'{path}: its <datafile> {said!r} is not there; put it beside the '
                               'file, or give the table itself')
    table, found, notes = read_storage(data), [], []
    for force in every.iter('ExternalForce'):
        name = force.get('name', '')
        if _text(force, 'isDisabled') == 'true' or _text(force, 'appliesForce') == 'false':
            continue
        for tag in ('force_expressed_in_body', 'point_expressed_in_body'):
            if _text(force, tag).split('/')[-1] not in ('ground', ''):
                raise MeasurementError(f'{path}: {name!r} is expressed in {_text(force, tag)!r}; '
                                       'expected the ground')
        parts = {part: _text(force, f'{part}_identifier') for part in ('force', 'point', 'torque')}
        if not parts['point']:
            notes.append(f'{path.name}: {name!r} does not say where it acts, and is left out.')
            continue
        found.append(_load(table, name, _text(force, 'applied_to_body').split('/')[-1],
                           parts['force'], parts['point'], parts['torque'], data))
    if not found:
        raise MeasurementError(f'{path}: expected at least one ExternalForce with a point, got '
                               'none')
    return found, notes


def _of_table(path: Path) -> list[ExternalLoad]:
    table, found = read_storage(path), []
    for name in table.names:
        match = re.fullmatch(r'(.*force.*?_?)vx', name)
        if match:
            stem = match[1]
            torque = next((other[:-1] for other in table.names if other.endswith('x')
                           and other[:-1] in _torques(stem)), '')
            found.append(_load(table, stem.rstrip('_'), '', f'{stem}v', f'{stem}p', torque, path))
    if not found:
        raise MeasurementError(f"{path}: expected columns '..force_vx', '..force_px' and so on, "
                               f'got {", ".join(table.names[:8])}; an .xml file of external loads '
                               'names columns that are called otherwise')
    return found


def _torques(stem: str) -> tuple[str, ...]:
    """Return what the columns of the free moment may be called."""
    named = stem.replace('force', 'torque')
    moment = stem.replace('force', 'moment')
    return (named, f'{named}_', named.rstrip('_'), f'{named}m', moment, f'{stem}m',
            f'{stem}t', f'{stem}torque_')


def _load(table: Storage, name: str, body: str, force: str, point: str, torque: str,
          path: Path) -> ExternalLoad:
    place = {other: k for k, other in enumerate(table.names)}

    def columns(stem: str) -> np.ndarray:
        missing = [f'{stem}{axis}' for axis in 'xyz' if f'{stem}{axis}' not in place]
        if missing:
            raise MeasurementError(f'{path}: no column {", ".join(missing)} for the load '
                                   f'{name!r}; the columns are: {", ".join(table.names)}')
        values = table.values[:, [place[f'{stem}{axis}'] for axis in 'xyz']]
        return np.nan_to_num(values) @ TO_OURS.T

    moment = columns(torque) if torque else np.zeros((len(table.values), 3))
    return ExternalLoad(name, body, table.values[:, 0], columns(force), columns(point), moment)


def _text(element: ElementTree.Element, tag: str) -> str:
    return (element.findtext(tag) or '').strip()
