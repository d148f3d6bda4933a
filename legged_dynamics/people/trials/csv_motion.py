# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Motion and contacts out of CSV files with given column names.

========================  =======================================================================
file                      columns
========================  =======================================================================
motion                    time [s]; base_x, base_y, base_z [m], the base's origin in the world,
                          z up; base_qx, base_qy, base_qz, base_qw, its orientation; one column
                          for each joint, by its name in the URDF [rad or m]
contacts                  time; one column for each foot, by its link's name, 1 on the ground
========================  =======================================================================

Other columns are ignored. Contacts may come at another rate.
"""
from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.exceptions import BagError, ConfigurationError, MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.file_formats import read_text
from legged_dynamics.recordings.series import INTERVAL
from legged_dynamics.ros import conversions
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

# -------------------------------------------------------------------------------------------------
# Recorded poses, resampled to an even rate where they are not.


@dataclass(frozen=True)
class SamplingSettings:
    """Which intervals between samples are even, as parts of their median."""

    jitter: float = 0.02  # Largest difference from the median of even ones
    gap: float = 5.5  # A longer one is a gap, which is not interpolated


SAMPLING = SamplingSettings()


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of a robot or a person over time, as they were recorded."""

    time: np.ndarray  # (n,) [s]: increasing
    base_position: np.ndarray  # (n, 3) [m]: p_WB
    base_quaternion: np.ndarray  # (n, 4): orientation of the base in the world, x, y, z, w
    position: np.ndarray  # (n, nq) [rad or m]: joints in the model's order

    def evenly(self) -> Poses:
        """Return the poses on an even grid of times; themselves where they are on one."""
        grid = even_grid(self.time)
        if grid is self.time:
            return self
        return Poses(grid, interpolated(self.time, self.base_position, grid),
                     slerped(self.time, self.base_quaternion, grid),
                     interpolated(self.time, self.position, grid))

    def motion(self, model: RobotModel, cutoff: float | None) -> tuple[RecordedMotion, list[str]]:
        """
        Return the evenly sampled motion of these poses, and a note if resampled.

        ``cutoff`` [Hz]: low-pass before differentiating. Raises MeasurementError for long gaps.
        """
        even = self.evenly()
        notes = [] if even is self else [
            'Times are uneven: resampled evenly, linear in between.']
        return RecordedMotion.from_poses(model, even.time, even.base_position,
                                         even.base_quaternion, even.position, cutoff), notes


def even_grid(time: np.ndarray) -> np.ndarray:
    """Return evenly spaced times over the same span; MeasurementError for long gaps."""
    if len(time) < 3:
        raise MeasurementError(f'expected three samples or more, got {len(time)}')
    steps = np.diff(time)
    step = float(np.median(steps))
    if step <= 0.0:
        raise MeasurementError('expected rising times, got most of them not after the one before')
    worst = int(np.argmax(steps))
    if steps[worst] > SAMPLING.gap * step:
        raise MeasurementError(
            f'there is a gap of {steps[worst]:.3g} s after {time[worst]:.6g} s in samples that '
            f'come every {step:.3g} s: analyse the parts before and after it by themselves')
    if (np.abs(steps - step) <= SAMPLING.jitter * step).all():
        return time
    return time[0] + step * np.arange(int((time[-1] - time[0]) / step + 1e-6) + 1)


def interpolated(time: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return values (m, k) at other times, interpolated, constant beyond the ends."""
    return np.stack([np.interp(at, time, column) for column in values.T], axis=1)


def slerped(time: np.ndarray, xyzw: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return unit quaternions xyzw at other times by slerp, constant beyond the ends."""
    length = np.linalg.norm(xyzw, axis=1)
    if not (length > 1e-9).all():
        raise MeasurementError('expected quaternions of non-zero length, got zero at '
                               f'{time[length <= 1e-9][0]:g} s')
    return Slerp(time, Rotation.from_quat(xyzw))(np.clip(at, time[0], time[-1])).as_quat()


# -------------------------------------------------------------------------------------------------
# A CSV file by the names of its columns; errors name line and column.


TIME = 'time'


class CsvColumns:
    """
    A CSV file: a line of column names, then lines of numbers; # begins a comment.

    Only columns that are read must hold numbers.
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
        """Return number and cells of each line that is neither empty nor a comment."""
        text = read_text(self.path)
        delimiter = max(',;\t', key=text.lstrip().split('\n', 1)[0].count)
        return [(number, cells) for number, cells
                in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), start=1)
                if any(cell.strip() for cell in cells) and not cells[0].lstrip().startswith('#')]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def __getitem__(self, names: str | Sequence[str]) -> np.ndarray:
        """Return one column (n,) or several (n, k); MeasurementError if invalid."""
        wanted = [names] if isinstance(names, str) else names
        missing = [self._hint(name, wanted) for name in wanted if name not in self.names]
        if missing:
            raise MeasurementError(f'{self.path}: column {", ".join(missing)} missing; the '
                                   f'columns are: {", ".join(self.names)}')
        values = np.stack([self._column(name) for name in wanted], axis=1)
        return values[:, 0] if isinstance(names, str) else values

    def _hint(self, name: str, wanted: Sequence[str]) -> str:
        others = {other.lower(): other for other in self.names if other not in wanted}
        close = get_close_matches(name.lower(), others, n=1)
        return f'{name!r} (did you mean {others[close[0]]!r}?)' if close else repr(name)

    def _column(self, name: str) -> np.ndarray:
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
        """Return the column `time` (n,) [s]; MeasurementError unless samples can come so."""
        time = rising(self.path, self[TIME])
        for wrong in INTERVAL.doubt(np.median(np.diff(time))) if len(time) > 2 else ():
            raise MeasurementError(f'{self.path}: {wrong}. Write seconds')
        return time


def rising(path: str | Path, time: np.ndarray) -> np.ndarray:
    """Return the times of a file; MeasurementError unless they increase."""
    back = np.flatnonzero(np.diff(time) <= 0.0)
    if len(back):
        raise MeasurementError(f'{path}: expected rising times, got {time[back[0] + 1]:g} s after '
                               f'{time[back[0]]:g} s ({len(back)} such places)')
    return time


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# -------------------------------------------------------------------------------------------------

BASE_POSITION = ('base_x', 'base_y', 'base_z')
BASE_QUATERNION = ('base_qx', 'base_qy', 'base_qz', 'base_qw')
# Largest error of a quaternion's length.
UNIT = 0.01


def read_motion(path: str | Path, model: RobotModel, *, degrees: bool = False,
                missing_at_zero: bool = False) -> tuple[Poses, list[str]]:
    """
    Return poses of a CSV file, lengths in m, and notes.

    ``missing_at_zero``: joints without a column stay at zero, else MeasurementError.
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
    known = {TIME, *BASE_POSITION, *BASE_QUATERNION, *model.joint_names}
    others = [name for name in table.names if name not in known]
    if others:
        notes.append(f'Columns left alone: {", ".join(others)}.')
    return Poses(time, base, xyzw, position), notes


def read_contacts(path: str | Path, feet: Sequence[str], time: np.ndarray) -> np.ndarray:
    """Return contact flags (n, nf) of a CSV file, the last up to each instant."""
    table = CsvColumns(path)
    stamps, flags = rising(path, table[TIME]), table[tuple(feet)]
    if not np.isin(flags, (0.0, 1.0)).all():
        row, column = np.argwhere(~np.isin(flags, (0.0, 1.0)))[0]
        raise MeasurementError(f'{table.path}: expected 0 or 1 in column {feet[column]!r}, got '
                               f'{flags[row, column]:g} at {stamps[row]:g} s')
    half = 0.5 * float(np.median(np.diff(time)))
    if stamps[0] > time[0] + half:
        raise MeasurementError(f'{table.path}: expected contacts from {time[0]:g} s on, got the '
                               f'first ones at {stamps[0]:g} s')
    return flags[np.searchsorted(stamps, time + half, side='right') - 1] > 0.5


# -------------------------------------------------------------------------------------------------
# A log of joints in a CSV file as a bag, for robots and test stands without ROS.
#
# Columns: ``time`` [s]; of each joint its position, velocity and torque under its name in the URDF
# with a prefix (``q_HFE``, ``v_HFE``, ``tau_HFE``); and, where a force sensor was logged,
# three columns of force a foot, in world axes. Other columns are ignored. Velocities that the log
# lacks are differences of the positions.


# A stamp of 0 stands for no stamp in ROS, so the log's first instant is this long after 1970 [ns].
START_NS = 1_000_000_000
JOINT_STATES = '/joint_states'


def truth_topic(foot: str) -> str:
    """Return the topic of a foot's measured force in the bag."""
    return f'/ground_truth/{foot}/wrench'


def write_bag_of_csv(path: Path, bag: Path, joints: Sequence[str],
                     forces: Mapping[str, Sequence[str]]) -> float:
    """
    Write a bag of a CSV log's joint states and measured forces; return its rate [Hz].

    ``forces``: a foot's columns along world x, y, z [N]; joints not in the log are left
    out.
    """
    log = CsvColumns(path)
    time = log.time()
    if len(time) < 3:
        raise BagError(f'{path}: expected at least 3 lines of numbers, got {len(time)}')
    names = [joint for joint in joints if f'q_{joint}' in log.names]
    if not names:
        raise BagError(f'{path} has no positions of joints; expected columns such as '
                       f'q_{joints[0]}, v_{joints[0]}, tau_{joints[0]}, got '
                       f'{", ".join(log.names[:12])}')
    for foot, axes in forces.items():
        if len(axes) != 3:
            raise ConfigurationError(f'--truth {foot}: expected three columns (x, y and z of the '
                                     f'force in world axes), got {", ".join(axes)}')
    stamps = START_NS + np.round((time - time[0]) * 1e9).astype(np.int64)
    # (n, joints) each, NaN where the log has none
    position, velocity, effort = (np.column_stack([
        log[prefix + name] if prefix + name in log.names else np.full(len(time), np.nan)
        for name in names]) for prefix in ('q_', 'v_', 'tau_'))
    steps = np.diff(time)
    differences = np.vstack([np.zeros(len(names)), np.diff(position, axis=0) / steps[:, None]])
    velocity = np.where(np.isnan(velocity).all(axis=0), differences, velocity)
    measured = {foot: log[list(axes)] for foot, axes in forces.items()}
    dialect = StandaloneDialect()
    with BagWriter(bag) as writer:
        writer.add_topic(JOINT_STATES, 'sensor_msgs/msg/JointState')
        for foot in measured:
            writer.add_topic(truth_topic(foot), 'geometry_msgs/msg/WrenchStamped')
        for i, stamp in enumerate(stamps.tolist()):
            writer.write_message(JOINT_STATES, stamp, conversions.joint_state(
                dialect, stamp, names, position[i], velocity[i], effort[i]))
            for foot, force in measured.items():
                writer.write_message(truth_topic(foot), stamp, conversions.wrench_stamped(
                    dialect, stamp, 'world', np.concatenate([force[i], np.zeros(3)])))
    return float(1.0 / np.median(steps))
