# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Tables of OpenSim (.mot, .sto), and the coordinates in them as poses of a model.

Coordinates are those that OpenSim's inverse kinematics writes. Angles are in degrees or radians,
as the header states or, without that, as the values show.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import MeasurementError, OutputError, reraised
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.people.opensim import OpenSimModel
from legged_dynamics.people.trials.csv_motion import Poses, rising
from legged_dynamics.recordings.file_formats import read_text
from legged_dynamics.spatial.rotations import quaternion_from_rotation

# -------------------------------------------------------------------------------------------------
# OpenSim's tables (.sto, .mot): a header up to ``endheader``, column names, and rows.


@dataclass(frozen=True, eq=False)
class Storage:
    """A table of OpenSim."""

    names: tuple[str, ...]  # Names of the k columns, `time` the first
    values: np.ndarray  # (n, k): the rows
    # Whether angles are in degrees; None when the header does not state it
    in_degrees: bool | None
    version: str = ''  # Of the format, by the header


def read_storage(path: str | Path) -> Storage:
    """Return a .sto or .mot file; MeasurementError names the line."""
    lines = read_text(Path(path)).splitlines()
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
    return Storage(names, rows, stated in ('yes', 'true') if stated else None,
                   header.get('version', ''))


def write_storage(path: str | Path, title: str, names: Sequence[str], values: np.ndarray,
                  in_degrees: bool = False) -> None:
    """Write a table (n, k) as OpenSim reads it; the first column is `time`."""
    head = [title, 'version=1', f'nRows={len(values)}', f'nColumns={len(names)}',
            f'inDegrees={"yes" if in_degrees else "no"}', 'endheader', '\t'.join(names)]
    rows = ['\t'.join(f'{value:.9g}' for value in row) for row in values]
    with reraised(OutputError, f'cannot write {path}'):
        Path(path).write_text('\n'.join([*head, *rows]) + '\n', encoding='utf-8')


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CoordinateSettings:
    """Which columns of a table are angles, and which may be missing."""

    largest_angle: float = 4.0 * math.pi  # [rad]: change; a larger one is no angle in radians
    # Joints that carry less (toes, the foot below the ankle, hands) may be without a column: their
    # motion adds little force.
    light_part: float = 0.02  # [mass of the body]


COORDINATE = CoordinateSettings()
LOADS = ('force_v', 'force_p', '_vx', '_px', 'torque')


def read_coordinates(path: str | Path
                     ) -> tuple[dict[str, np.ndarray], np.ndarray, Storage, list[str]]:
    """
    Return coordinates as they are written, time [s], the table, and other columns' names.

    From a .mot or .sto file, also of states (``/jointset/hip_r/hip_flexion_r/value``).
    """
    table = read_storage(path)
    time = rising(path, table.values[:, 0])
    found, others, names = {}, [], table.names[1:]
    for name, values in zip(names, table.values[:, 1:].T):
        *path_to, last = name.strip('/').split('/')
        if path_to and last != 'value':
            others.append(name)
        else:
            found[path_to[-1] if path_to else last] = values
    if sum(any(part in name for part in LOADS) for name in names) > len(names) / 2:
        raise MeasurementError(f'{path}: these are forces, not a motion; give them with --loads, '
                               'and the table of coordinates that inverse kinematics writes as '
                               'the motion')
    if sum(name.endswith(('_moment', '_force')) for name in names) > len(names) / 2:
        raise MeasurementError(f'{path}: these are moments of inverse dynamics, not a motion; '
                               'give the table of coordinates that inverse kinematics writes')
    if not found:
        raise MeasurementError(f'{path}: expected columns of coordinates, got '
                               f'{", ".join(names[:5])}')
    return found, time, table, others


def in_radians(found: Mapping[str, np.ndarray], degrees: bool,
               osim: OpenSimModel) -> dict[str, np.ndarray]:
    """Return coordinates of a table in radians and metres, coupled ones as the model has them."""
    values = {name: np.radians(column) if degrees and osim.rotational(name) else column
              for name, column in found.items()}
    # A kneecap's angle follows the knee's, but some programs write another unit or zero.
    for coupling in osim.document.couplings:
        if coupling.dependent in osim.coordinates and {*coupling.independent} <= values.keys():
            values[coupling.dependent] = coupling.function.evaluate(
                np.stack([values[name] for name in coupling.independent], axis=1))
    return values


def poses_of(path: str | Path, found: dict[str, np.ndarray], time: np.ndarray, in_degrees: bool,
             osim: OpenSimModel, model: RobotModel,
             missing_at_zero: bool = False) -> tuple[Poses, list[str]]:
    """
    Return a model's poses by its coordinates [rad or m], and notes.

    ``in_degrees``: as they were written; ``missing_at_zero``: coordinates without a column take
    their default, else MeasurementError.
    """
    values = {name: column for name, column in found.items() if name in osim.coordinates}
    wanted = [*osim.root_coordinates, *model.joint_names]
    missing = [name for name in wanted if name not in values]
    notes = []
    heavy = [name for name in missing if name in osim.root_coordinates
             or _carried(model, name) > COORDINATE.light_part * model.total_mass]
    if len(missing) == len(wanted) or (heavy and not missing_at_zero):
        hints = []
        for name in heavy[:6]:
            close = get_close_matches(name, [other for other in found if other not in values], n=1)
            hints.append(f'{name} (did you mean {close[0]}?)' if close else name)
        more = f' and {len(heavy) - 6} more' if len(heavy) > 6 else ''
        raise MeasurementError(
            f'{path}: no column for coordinate {", ".join(hints)}{more}. The columns are: '
            f'{", ".join(found)}. Give the model that inverse kinematics was run with; '
            'coordinates that do not move may be left out when that is allowed '
            '(--missing-at-zero); those of toes and hands always')
    if missing:
        notes.append(f'Coordinates without a column stay at their default: {", ".join(missing)}.')
    for name, column in values.items():
        if not np.isfinite(column).all():
            row = int(np.flatnonzero(~np.isfinite(column))[0])
            raise MeasurementError(f'{path}: column {name} is not finite at {time[row]:g} s; fill '
                                   'gaps before')
        if osim.rotational(name) and np.ptp(column) > COORDINATE.largest_angle and not in_degrees:
            raise MeasurementError(
                f'{path}: the header says radians (inDegrees=no), and {name} goes from '
                f'{column.min():.3g} to {column.max():.3g}: if these are degrees, write '
                'inDegrees=yes into the header')
    others = [name for name in found if name not in osim.coordinates]
    if others:
        notes.append(f'Columns left alone: {", ".join(others)}.')
    n = len(time)
    position = np.empty((n, model.nq))
    for k, joint in enumerate(model.joints):
        column = values.get(joint.name, osim.coordinates[joint.name].default)
        position[:, k] = osim.scale.get(joint.name, 1.0) * column
    R, p = osim.base_pose({name: values[name] for name in osim.root_coordinates
                           if name in values})
    R, p = np.broadcast_to(R, (n, 3, 3)), np.broadcast_to(p, (n, 3))
    xyzw = np.array([quaternion_from_rotation(part) for part in R])
    return Poses(time, np.array(p), xyzw, position), notes


def _carried(model: RobotModel, name: str) -> float:
    """Return the mass that a joint carries, with all bodies beyond it [kg]."""
    own = model.joint_index(name) + 1
    return sum(model.body_inertia(body).mass for body in range(own, model.n_bodies)
               if own in model.chain(body))


# -------------------------------------------------------------------------------------------------
# The unit of angles in a table.
#
# OpenSim's header states the unit (``inDegrees``). Tables of SIMM and of the format's version 0
# have no such line, and are in degrees; tables that other programs write without it may be in
# either.


@dataclass(frozen=True)
class UnitSettings:
    """By which angles are recognised as degrees or radians."""

    # No joint of a body turns further: a larger angle is in degrees.
    largest_turn: float = 2.0 * math.pi  # [rad]
    largest_root_turn: float = 8.0 * math.pi  # [rad]: of the root, which turns with the body
    # As radians that would be a movement; smaller changes may be degrees of one who stands still.
    movement: float = 0.1  # [rad]


UNITS = UnitSettings()


def angle_unit(found: Mapping[str, np.ndarray], stated: bool | None,
               osim: OpenSimModel, otherwise: bool = False) -> tuple[bool, list[str]]:
    """
    Return whether angles are in degrees, and a note where the values decided it.

    ``stated``: by the header, or None; ``otherwise``: if undecided, true for SIMM and
    version 0 .mot files, as in OpenSim.
    """
    if stated is not None:
        return stated, []
    followers = {coupling.dependent for coupling in osim.document.couplings}
    angles = {name: values[np.isfinite(values)] for name, values in found.items()
              if osim.rotational(name) and name not in followers}
    degrees = any(np.abs(values).max(initial=0.0) > (
        UNITS.largest_root_turn if name in osim.root_coordinates else UNITS.largest_turn)
        for name, values in angles.items())
    unsaid = 'The header does not say the unit of angles (inDegrees);'
    if degrees:
        return True, [f'{unsaid} values are too large for radians, so they are taken for '
                      'degrees.']
    if otherwise and not any((np.abs(values - values[:1]) > UNITS.movement).any()
                             for values in angles.values()):
        return True, [f'{unsaid} motion files of this version are in degrees, and the values do '
                      'not contradict.']
    return False, [f'{unsaid} values may be radians, so they are taken for radians.']
