# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From a bag or a CSV file to joint torques and foot wrenches, and how good they are."""
from __future__ import annotations

from pathlib import Path

import numpy as np

from legged_dynamics.analysis.bags import SUFFIXES, BagReader
from legged_dynamics.analysis.gait.accuracy import FootErrors, foot_errors
from legged_dynamics.analysis.gait.bag_motion import (
    BagMotion,
    motion_from_imu,
    motion_from_odometry,
)
from legged_dynamics.analysis.gait.csv_motion import read_contacts, read_motion, read_wrenches
from legged_dynamics.analysis.gait.options import GaitOptions
from legged_dynamics.analysis.gait.plates import Plates, read_plates
from legged_dynamics.analysis.gait.result import GaitResult
from legged_dynamics.analysis.gait.subject import (
    Subject,
    subject_of_bag,
    subject_of_file,
    truth_topics,
)
from legged_dynamics.analysis.topics import input_topics, odometry_topic
from legged_dynamics.contact.double_support import METHODS, DoubleSupport
from legged_dynamics.contact.gait_settings import GaitSettings
from legged_dynamics.contact.recorded_motion import RecordedMotion
from legged_dynamics.estimation import EstimatorSettings
from legged_dynamics.exceptions import BagError, ConfigurationError


def analyse_gait(source: str | Path, options: GaitOptions | None = None
                 ) -> tuple[GaitResult, str]:
    """
    Return joint torques and foot wrenches of a recording, and the URDF they were computed with.

    Parameters
    ----------
    source : str or Path
        A bag, or a CSV file (`csv_motion` says with which columns).
    options : GaitOptions, optional
        What the user says.

    Raises
    ------
    LeggedDynamicsError
        When the recording cannot be read or does not fit, or an option is wrong.

    """
    source, options = Path(source), options or GaitOptions()
    if options.method not in METHODS:
        raise ConfigurationError(f'--method: expected one of {", ".join(METHODS)}, '
                                 f'got {options.method!r}')
    if (options.method == 'guess') != bool(options.guess):
        raise ConfigurationError("method 'guess' and a file with wrenches (--guess) go together: "
                                 'give both or neither')
    settings = GaitSettings.from_parameters(options.settings)
    if source.is_file() and source.suffix not in (*SUFFIXES, '.bag'):
        return _of_file(source, options, settings)
    return _of_bag(source, options, settings)


def _of_file(source: Path, options: GaitOptions,
             settings: GaitSettings) -> tuple[GaitResult, str]:
    subject = subject_of_file(options)
    poses, notes = read_motion(source, subject.model, degrees=options.degrees,
                               missing_at_zero=options.missing_at_zero)
    even = poses.evenly()
    if even is not poses:
        notes.append('Times are uneven: resampled evenly, linear in between.')
    motion = RecordedMotion.from_poses(subject.model, even.time, even.base_position,
                                       even.base_quaternion, even.position, options.cutoff)
    return _solved(source, subject, options, settings, BagMotion(0, motion, None), None, notes)


def _of_bag(source: Path, options: GaitOptions,
            settings: GaitSettings) -> tuple[GaitResult, str]:
    with BagReader(source) as bag:
        joints, imu, description = input_topics(bag, options.joint_states, options.imu)
        odometry = odometry_topic(bag, joints, options.odometry)
        subject = subject_of_bag(bag, description, options)
        start, stop = (None if value is None else bag.start_ns + round(value * 1e9)
                       for value in (options.start or None, options.end))
        # A simulator's truth is no input, unless there is nothing else or it is asked for.
        given = odometry and (options.odometry or '/ground_truth/' not in odometry or not imu)
        base = options.base or ('odometry' if given else 'imu')
        if base == 'odometry':
            if not odometry:
                raise BagError(f'{source} has no odometry (nav_msgs/Odometry); the base can be '
                               'taken from an IMU instead (--base imu)')
            found = motion_from_odometry(bag, subject.model, joints, odometry, options.cutoff,
                                         (start, stop))
            notes = [f"The base's motion is that of {odometry}."]
        else:
            if not imu:
                raise BagError(f'{source} has neither odometry (nav_msgs/Odometry) nor an IMU '
                               '(sensor_msgs/Imu): nothing says how the base moves')
            found = motion_from_imu(
                bag, subject.model, subject.config,
                EstimatorSettings.from_parameters(subject.parameters), joints, imu,
                options.cutoff, (start, stop))
            notes = [f"The base's motion is that of {imu}; where it is follows from the feet "
                     'that stand, and drifts.']
        stamps = found.start_ns + np.round(found.motion.time * 1e9).astype(np.int64)
        topics, valid = truth_topics(subject, options, bag.topics)
        plates = read_plates(bag, topics, tuple(foot.link for foot in subject.feet), valid, stamps)
    return _solved(source, subject, options, settings, found, plates, notes)


def _solved(source: Path, subject: Subject, options: GaitOptions, settings: GaitSettings,
            found: BagMotion, plates: Plates | None,
            notes: list[str]) -> tuple[GaitResult, str]:
    motion, feet = found.motion, tuple(foot.link for foot in subject.feet)
    contact, origin = found.contact, 'detected, on line' if found.contact is not None else (
        'detected, off line')
    if options.contact_file is not None:
        contact, origin = (read_contacts(options.contact_file, feet, motion.time),
                           f'taken from {options.contact_file.name}')
    guess = read_wrenches(options.guess, feet, motion.time) if options.guess else None
    solver = DoubleSupport(subject.model, subject.feet, settings)
    reactions = solver.solve(motion, contact, options.method, guess)
    errors: dict[str, FootErrors] = {}
    if plates is not None and plates.valid.any():
        errors[options.method] = foot_errors(reactions, plates)
        for method in METHODS if options.compare else ():
            if method not in errors and method != 'guess':
                errors[method] = foot_errors(solver.solve(motion, reactions.contact, method),
                                             plates)
    if not reactions.supported.all():
        notes.append(f'In {(~reactions.supported).sum()} of {len(motion)} samples something else '
                     'than the feet must bear load (a seat, a hand): what is said of the feet '
                     'is not to be believed there.')
    if options.cutoff is not None:
        notes.append(f'Poses are low-passed at {options.cutoff:g} Hz; the first and last '
                     f'{0.5 / options.cutoff:.2f} s suffer from the ends of the filter.')
    silent = (~reactions.contact.any(axis=1)).sum()
    if silent:
        notes.append(f'No foot is on the ground in {silent} of {len(motion)} samples.')
    result = GaitResult(source, subject.model, subject.feet, found.start_ns, motion, reactions,
                        options.method, origin, plates, errors, [*subject.notes, *notes])
    return result, subject.description
