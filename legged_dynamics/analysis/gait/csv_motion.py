# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Motion, contacts and wrenches out of CSV files with stated column names.

========================  =======================================================================
file                      columns
========================  =======================================================================
motion                    time [s]; base_x, base_y, base_z [m], the base's origin in the world,
                          z up; base_qx, base_qy, base_qz, base_qw, its orientation; one column a
                          joint, by the joint's name in the URDF [rad or m]
contacts                  time; one column a foot, by the name of its link, 1 on the ground
wrenches (as a guess)     time; <foot>_fx, _fy, _fz, _mx, _my, _mz, in the foot's axes about its
                          frame's origin [N, N m]: as results are written
========================  =======================================================================

Other columns are left alone. Contacts and wrenches may come at another rate.
"""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from legged_dynamics.analysis.gait.csv_columns import TIME, CsvColumns
from legged_dynamics.analysis.gait.poses import Poses, interpolated
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel

BASE_POSITION = ('base_x', 'base_y', 'base_z')
BASE_QUATERNION = ('base_qx', 'base_qy', 'base_qz', 'base_qw')
COMPONENTS = ('fx', 'fy', 'fz', 'mx', 'my', 'mz')
# A quaternion whose length is off by more than this is something else.
UNIT = 0.01


def read_motion(path: str | Path, model: RobotModel, *, degrees: bool = False,
                missing_at_zero: bool = False) -> tuple[Poses, list[str]]:
    """
    Return the poses in a CSV file, and what is odd about them.

    Parameters
    ----------
    path : str or Path
        The file.
    model : RobotModel
        Whose joints the columns are.
    degrees : bool
        Joint angles are in degrees; lengths stay metres.
    missing_at_zero : bool
        Joints without a column stay at zero, instead of being an error.

    Raises
    ------
    MeasurementError
        When the file cannot be read, columns are missing, or values make no sense.

    """
    table, notes = CsvColumns(path), []
    time, base, xyzw = table.time(), table[BASE_POSITION], table[BASE_QUATERNION]
    length = np.linalg.norm(xyzw, axis=1)
    if (np.abs(length - 1.0) > UNIT).any():
        row = int(np.argmax(np.abs(length - 1.0)))
        raise MeasurementError(
            f'{table.path}: expected unit quaternions in {", ".join(BASE_QUATERNION)} (the scalar '
            f'last), got one of length {length[row]:.3g} at {time[row]:g} s')
    missing = [name for name in model.joint_names if name not in table.names]
    if len(missing) == model.n_joints or (missing and not missing_at_zero):
        joints = ', '.join(missing[:8]) + (f' and {len(missing) - 8} more'
                                           if len(missing) > 8 else '')
        raise MeasurementError(
            f'{table.path}: no column for joint {joints}. The columns are: '
            f'{", ".join(table.names)}. Give them the names in the URDF; joints that do not move '
            'may be left out when that is allowed (--missing-at-zero)')
    if missing:
        notes.append(f'Joints without a column stay at zero: {", ".join(missing)}.')
    position = np.zeros((len(table), model.nq))
    for k, joint in enumerate(model.joints):
        if joint.name in table.names:
            scale = np.pi / 180.0 if degrees and joint.kind != 'prismatic' else 1.0
            position[:, k] = scale * table[joint.name]
    turning = [k for k, joint in enumerate(model.joints) if joint.kind == 'revolute']
    if not degrees and len(turning) and np.abs(position[:, turning]).max() > 2.0 * np.pi:
        name = model.joint_names[turning[int(np.abs(position[:, turning]).max(axis=0).argmax())]]
        notes.append(f'Joint {name} turns by more than a full turn: is the file in degrees?')
    known = {TIME, *BASE_POSITION, *BASE_QUATERNION, *model.joint_names}
    others = [name for name in table.names if name not in known]
    if others:
        notes.append(f'Columns left alone: {", ".join(others)}.')
    return Poses(time, base, xyzw, position), notes


def read_contacts(path: str | Path, feet: Sequence[str], time: np.ndarray) -> np.ndarray:
    """
    Return contact flags out of a CSV file, (n, nf) bool: at each time the last one said.

    Raises
    ------
    MeasurementError
        When the file cannot be read, a foot has no column, a flag is neither 0 nor 1, or it
        begins after the motion.

    """
    table = CsvColumns(path)
    said, flags = table.time(), table[tuple(feet)]
    if not np.isin(flags, (0.0, 1.0)).all():
        row, column = np.argwhere(~np.isin(flags, (0.0, 1.0)))[0]
        raise MeasurementError(f'{table.path}: expected 0 or 1 in column {feet[column]!r}, got '
                               f'{flags[row, column]:g} at {said[row]:g} s')
    half = 0.5 * float(np.median(np.diff(time)))
    if said[0] > time[0] + half:
        raise MeasurementError(f'{table.path}: expected contacts from {time[0]:g} s on, got the '
                               f'first ones at {said[0]:g} s')
    return flags[np.searchsorted(said, time + half, side='right') - 1] > 0.5


def read_wrenches(path: str | Path, feet: Sequence[str], time: np.ndarray) -> np.ndarray:
    """
    Return wrenches out of a CSV file, (n, nf, 6) in foot axes [N, N m], linear in between.

    Raises
    ------
    MeasurementError
        When the file cannot be read, a column is missing, or it does not cover the motion.

    """
    table = CsvColumns(path)
    said = table.time()
    step = float(np.median(np.diff(time)))
    if said[0] > time[0] + step or said[-1] < time[-1] - step:
        raise MeasurementError(f'{table.path}: expected wrenches from {time[0]:g} to '
                               f'{time[-1]:g} s, got them from {said[0]:g} to {said[-1]:g} s')
    names = tuple(f'{foot}_{component}' for foot in feet for component in COMPONENTS)
    return interpolated(said, table[names], time).reshape(len(time), len(feet), 6)
