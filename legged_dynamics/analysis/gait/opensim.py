# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
OpenSim's tables (.sto, .mot): read, and written as external loads and joint moments.

A table has header lines up to ``endheader``, among them ``inDegrees``, then a line of column names
and rows. OpenSim's ground has y up and z to the right; ours z up and y to the left. External loads
are the force of the ground, where it presses, and the free moment there, all in the ground's axes.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from legged_dynamics.analysis.gait.result import GaitResult
from legged_dynamics.exceptions import MeasurementError, OutputError

LOADS, LOADS_XML, MOMENTS = 'external_loads.mot', 'external_loads.xml', 'inverse_dynamics.sto'
# Rows: OpenSim's x, y, z in our axes.
TO_OPENSIM = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class Storage:
    """
    A table of OpenSim.

    Attributes
    ----------
    names : tuple of str
        Of the columns, `time` the first.
    values : (n, k) array
    in_degrees : bool
        Whether angles are in degrees.

    """

    names: tuple[str, ...]
    values: np.ndarray
    in_degrees: bool


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
    return Storage(names, rows, header.get('indegrees', 'no').lower() in ('yes', 'true'))


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


def write_opensim(result: GaitResult, folder: Path) -> list[Path]:
    """
    Write external loads with the file that applies them, and joint moments; return the paths.

    The loads act on the bodies named as the feet's links: in a model that calls them otherwise,
    change `applied_to_body` in the XML file.

    Raises
    ------
    OutputError
        When a file cannot be written.

    """
    r, time = result.reactions, result.motion.time[:, None]
    names, columns = ['time'], [time]
    moment = np.einsum('nfij,nfj->nfi', r.foot_rotation, r.wrench[..., 3:])
    pressed = np.isfinite(r.center_of_pressure).all(axis=2)
    for i, foot in enumerate(r.feet):
        on = pressed[:, i, None]
        force = np.where(on, r.force[:, i], 0.0)
        point = np.where(on, r.center_of_pressure[:, i], 0.0)
        free = np.where(on, moment[:, i] + np.cross(r.foot_position[:, i] - point, force), 0.0)
        for part, values in (('force_v', force), ('force_p', point), ('torque_', free)):
            names += [f'{foot}_{part}{axis}' for axis in 'xyz']
            columns.append(values @ TO_OPENSIM.T)
    loads = folder / LOADS
    write_storage(loads, loads.name, names, np.hstack(columns))
    moments = folder / MOMENTS
    units = ['force' if joint.kind == 'prismatic' else 'moment' for joint in result.model.joints]
    write_storage(moments, 'Inverse Dynamics Generalized Forces',
                  ['time', *(f'{name}_{unit}' for name, unit in zip(result.model.joint_names,
                                                                    units))],
                  np.hstack([time, r.joint_effort]))
    applied = folder / LOADS_XML
    document = ElementTree.Element('OpenSimDocument', Version='40000')
    every = ElementTree.SubElement(document, 'ExternalLoads', name='legged_dynamics')
    objects = ElementTree.SubElement(every, 'objects')
    for foot in r.feet:
        load = ElementTree.SubElement(objects, 'ExternalForce', name=foot)
        for tag, text in (('applied_to_body', foot), ('force_expressed_in_body', 'ground'),
                          ('point_expressed_in_body', 'ground'),
                          ('force_identifier', f'{foot}_force_v'),
                          ('point_identifier', f'{foot}_force_p'),
                          ('torque_identifier', f'{foot}_torque_')):
            ElementTree.SubElement(load, tag).text = text
    ElementTree.SubElement(every, 'datafile').text = LOADS
    ElementTree.indent(document)
    try:
        ElementTree.ElementTree(document).write(applied, encoding='utf-8', xml_declaration=True)
    except OSError as error:
        raise OutputError(f'cannot write {applied}: {error}') from error
    return [loads, applied, moments]
