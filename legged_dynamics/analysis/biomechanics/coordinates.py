# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coordinates over time, as OpenSim's inverse kinematics writes them, as poses of a model."""
from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import numpy as np

from legged_dynamics.analysis.biomechanics.storage import Storage, read_storage
from legged_dynamics.analysis.gait.poses import Poses
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.opensim import OpenSimModel
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.rotations import quaternion_from_rotation

# An angle that changes by more than this is no angle in radians.
LARGEST_ANGLE = 4.0 * np.pi
LOADS = ('force_v', 'force_p', '_vx', '_px', 'torque')


def read_coordinates(path: str | Path
                     ) -> tuple[dict[str, np.ndarray], np.ndarray, bool | None, list[str]]:
    """
    Return coordinates by name, times, whether angles are in degrees, and names of other columns.

    The unit is None where the header does not state it (`angle_units.angle_unit`). Values are as
    they stand in the .mot or .sto file. Tables of states are read, too
    (``/jointset/hip_r/hip_flexion_r/value``).

    Raises
    ------
    MeasurementError
        When it is not a table of coordinates.

    """
    table = read_storage(path)
    time = table.values[:, 0]
    back = np.flatnonzero(np.diff(time) <= 0.0)
    if len(back):
        raise MeasurementError(f'{path}: expected rising times, got {time[back[0] + 1]:g} s after '
                               f'{time[back[0]]:g} s ({len(back)} such places)')
    found, others = {}, []
    for name, values in zip(table.names[1:], table.values[:, 1:].T):
        parts = name.strip('/').split('/')
        if len(parts) > 1:
            if parts[-1] == 'value':
                found[parts[-2]] = values
            else:
                others.append(name)
        else:
            found[name] = values
    _refuse_others(Path(path), table, found)
    return found, time, table.in_degrees, others


def _refuse_others(path: Path, table: Storage, found: dict[str, np.ndarray]) -> None:
    """Refuse tables that hold something else than coordinates."""
    names = table.names[1:]
    if sum(any(part in name for part in LOADS) for name in names) > len(names) / 2:
        raise MeasurementError(f'{path}: these are forces, not a motion; give them with --loads, '
                               'and the table of coordinates that inverse kinematics writes as '
                               'the motion')
    ends = sum(name.endswith(('_moment', '_force')) for name in names)
    if ends > len(names) / 2:
        raise MeasurementError(f'{path}: these are moments of inverse dynamics, not a motion; '
                               'give the table of coordinates that inverse kinematics writes')
    if not found:
        raise MeasurementError(f'{path}: expected columns of coordinates, got '
                               f'{", ".join(names[:5])}')


def spans_of(found: dict[str, np.ndarray], in_degrees: bool,
             osim: OpenSimModel) -> dict[str, tuple[float, float]]:
    """Return the least and the largest value of each coordinate of a model [rad or m]."""
    spans = {}
    for name in osim.coordinates:
        if name in found:
            values = _radians(found[name], name, in_degrees, osim)
            spans[name] = (float(values.min()), float(values.max()))
    return spans


def poses_of(path: str | Path, found: dict[str, np.ndarray], time: np.ndarray, in_degrees: bool,
             osim: OpenSimModel, model: RobotModel,
             missing_at_zero: bool = False) -> tuple[Poses, list[str]]:
    """
    Return the poses that coordinates tell.

    Parameters
    ----------
    path : str or Path
        Of the table, for errors.
    found : dict of str to (n,) array
        Coordinates as they stand there.
    time : (n,) array [s]
        Their times.
    in_degrees : bool
        Whether its angles are in degrees.
    osim : OpenSimModel
        Whose coordinates they are.
    model : RobotModel
        Made of it.
    missing_at_zero : bool
        Coordinates that are not there have their default, instead of being an error.

    Raises
    ------
    MeasurementError
        When coordinates are missing, not finite, or in another unit than the header says.

    """
    values = {name: _radians(column, name, in_degrees, osim)
              for name, column in found.items() if name in osim.coordinates}
    followers = set(model.mimics.joints)
    wanted = [*osim.root_coordinates, *(name for name in model.joint_names
                                        if name not in followers)]
    missing = [name for name in wanted if name not in values]
    notes = []
    if len(missing) == len(wanted) or (missing and not missing_at_zero):
        hints = []
        for name in missing[:6]:
            close = get_close_matches(name, [other for other in found if other not in values], n=1)
            hints.append(f'{name} (did you mean {close[0]}?)' if close else name)
        more = f' and {len(missing) - 6} more' if len(missing) > 6 else ''
        raise MeasurementError(
            f'{path}: no column for coordinate {", ".join(hints)}{more}. The columns are: '
            f'{", ".join(found)}. Give the model that inverse kinematics was run with; '
            'coordinates that do not move may be left out when that is allowed '
            '(--missing-at-zero)')
    if missing:
        notes.append(f'Coordinates without a column stay at their default: {", ".join(missing)}.')
    for name, column in values.items():
        if not np.isfinite(column).all():
            row = int(np.flatnonzero(~np.isfinite(column))[0])
            raise MeasurementError(f'{path}: column {name} is not finite at {time[row]:g} s; fill '
                                   'gaps before')
        if osim.rotational(name) and np.ptp(column) > LARGEST_ANGLE and not in_degrees:
            raise MeasurementError(
                f'{path}: the header says radians (inDegrees=no), and {name} goes from '
                f'{column.min():.3g} to {column.max():.3g}: if these are degrees, write '
                'inDegrees=yes into the header')
    turning = [np.ptp(values[name]) for name in wanted if name in values
               and osim.rotational(name)]
    if in_degrees and turning and max(turning) < np.radians(2.0):
        notes.append('The header says degrees (inDegrees=yes), and no angle changes by 2 degrees: '
                     'are they radians?')
    others = [name for name in found if name not in osim.coordinates]
    if others:
        notes.append(f'Columns left alone: {", ".join(others)}.')
    n = len(time)
    position = np.empty((n, model.nq))
    for k, joint in enumerate(model.joints):
        default = osim.coordinates[joint.name].default if joint.name in osim.coordinates else 0.0
        column = values.get(joint.name, np.full(n, default))
        position[:, k] = osim.scale.get(joint.name, 1.0) * column
    given = [k for k, name in enumerate(model.joint_names) if name in values]
    followed = np.array([model.mimics.positions(row) for row in position])
    followed[:, given] = position[:, given]
    R, p = osim.base_pose({name: values[name] for name in osim.root_coordinates
                           if name in values})
    R, p = np.broadcast_to(R, (n, 3, 3)), np.broadcast_to(p, (n, 3))
    xyzw = np.array([quaternion_from_rotation(part) for part in R])
    return Poses(time, np.array(p), xyzw, followed), notes


def _radians(values: np.ndarray, name: str, in_degrees: bool, osim: OpenSimModel) -> np.ndarray:
    return np.radians(values) if in_degrees and osim.rotational(name) else np.asarray(values)
