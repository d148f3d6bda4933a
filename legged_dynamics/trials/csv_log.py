# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A log of joints in a CSV file as a bag, for robots and test stands without ROS.

Columns: ``time`` [s]; of each joint its position, velocity and torque under its name in the URDF
with a usual prefix (``q_HFE``, ``v_HFE``, ``tau_HFE``); and, where a force sensor was logged,
three columns of force a foot, in world axes. Other columns are ignored. Velocities that the log
lacks are differences of the positions.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from legged_dynamics import conversions
from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.middleware.parameters import StandaloneDialect
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.trials.csv_motion import TIME, CsvColumns

# Prefixes of columns, by what they hold; an empty one is the joint's name alone.
PREFIXES = {
    'position': ('q_', 'position_', 'pos_', ''),
    'velocity': ('v_', 'dq_', 'qd_', 'velocity_', 'vel_'),
    'effort': ('tau_', 'effort_', 'torque_')}
# A stamp of 0 stands for no stamp in ROS, so the log's first instant is this long after 1970 [ns].
START_NS = 1_000_000_000
JOINT_STATES = '/joint_states'


def truth_topic(foot: str) -> str:
    """
    Return the topic that a foot's measured force gets in the bag.

    Parameters
    ----------
    foot : str
        Link of the foot.

    Returns
    -------
    str

    """
    return f'/ground_truth/{foot}/wrench'


def write_bag_of_csv(path: Path, bag: Path, joints: Sequence[str],
                     forces: Mapping[str, Sequence[str]]) -> float:
    """
    Write a bag with the joint states and measured forces of a CSV log.

    Parameters
    ----------
    path : Path
        The log.
    bag : Path
        Folder to make.
    joints : sequence of str
        Joints of the robot; those that the log lacks are left out.
    forces : mapping of str to sequence of str
        Names of the columns with the measured force of a foot along the world's x, y and z [N].

    Returns
    -------
    float [Hz]
        Rate of the log.

    Raises
    ------
    BagError
        When the log has no joint of the robot, or too few lines.
    ConfigurationError
        When a foot's force has not three columns.
    MeasurementError
        When the file cannot be read, or lacks a column.

    """
    log = CsvColumns(path)
    time = log[TIME]
    if len(time) < 3:
        raise BagError(f'{path}: expected at least 3 lines of numbers, got {len(time)}')
    columns = {what: {joint: name for joint in joints
                      if (name := _column(log.names, joint, prefixes))}
               for what, prefixes in PREFIXES.items()}
    names = [joint for joint in joints if joint in columns['position']]
    if not names:
        raise BagError(f'{path} has no positions of joints; expected columns such as '
                       f'q_{joints[0]}, v_{joints[0]}, tau_{joints[0]}, got '
                       f'{", ".join(log.names[:12])}')
    for foot, axes in forces.items():
        if len(axes) != 3:
            raise ConfigurationError(f'--truth {foot}: expected three columns (x, y and z of the '
                                     f'force in world axes), got {", ".join(axes)}')
    stamps = START_NS + np.round((time - time[0]) * 1e9).astype(np.int64)
    position = log[[columns['position'][name] for name in names]].reshape(len(time), -1)
    velocity, effort = (_values(log, columns[what], names) for what in ('velocity', 'effort'))
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


def _column(names: Sequence[str], joint: str, prefixes: Sequence[str]) -> str:
    """Return the first column that a joint's name with one of the prefixes has, or nothing."""
    return next((prefix + joint for prefix in prefixes if prefix + joint in names), '')


def _values(log: CsvColumns, columns: Mapping[str, str], names: Sequence[str]) -> np.ndarray:
    """Return a quantity of all joints, NaN where the log lacks it, (n, joints)."""
    missing = np.full(len(log), np.nan)
    return np.column_stack([log[columns[name]] if name in columns else missing
                            for name in names])
