# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""From a bag or a CSV file to joint torques and foot wrenches, and how good they are."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import EstimatorSettings
from legged_dynamics.exceptions import BagError, ConfigurationError
from legged_dynamics.gait.double_support import METHODS, DoubleSupport
from legged_dynamics.gait.ground_demand import ground_demand
from legged_dynamics.gait.load_transfer import GaitReactions
from legged_dynamics.gait.settings import GaitSettings
from legged_dynamics.gait.stance_detection import soles_of
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_config import scaled_to
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.recordings.bags import SUFFIXES, BagReader
from legged_dynamics.recordings.topics import input_topics, odometry_topic
from legged_dynamics.resources import share_directory
from legged_dynamics.trials.accuracy import (
    SAID_LAG,
    Alignment,
    FootErrors,
    align,
    floor_slope,
    foot_errors,
    plates_later,
    slope_words,
    words,
)
from legged_dynamics.trials.bag_motion import (
    BagMotion,
    motion_from_imu,
    motion_from_odometry,
    speed_topic,
)
from legged_dynamics.trials.coordinates import read_coordinates
from legged_dynamics.trials.csv_motion import CsvColumns, read_contacts, read_motion, read_wrenches
from legged_dynamics.trials.plates import (
    AUTO,
    Plates,
    belt_velocity,
    found_belt,
    parse_belts,
    read_plates,
)
from legged_dynamics.trials.subject import (
    GaitOptions,
    Subject,
    subject_of_bag,
    subject_of_file,
    truth_topics,
)
from legged_dynamics.trials.trial import (
    MODEL,
    TABLES,
    measured_forces,
    read_trial,
    refuse_no_motion,
)

# -------------------------------------------------------------------------------------------------
# Everything that is known of one recording once it has been analysed.


@dataclass(frozen=True, eq=False)
class GaitResult:
    """
    A recording, what was computed from it, and what is known beside it.

    Attributes
    ----------
    source : Path
        Bag or CSV file.
    model : RobotModel
    feet : tuple of Foot
    start_ns : int
        Stamp at which the motion's time is zero.
    motion : RecordedMotion
    reactions : GaitReactions
    method : str
        Which one shared the load.
    contact_source : str
        Where contact comes from, for people to read.
    plates : Plates or None
        The truth, where the recording has it.
    errors : dict of str to FootErrors
        Against the truth, by method.
    notes : list of str
        What is odd or was assumed.
    alignment : Alignment or None
        How plates and motion fit together.
    together : FootErrors or None
        Errors of the method with the clocks of plates and motion put together, where they are not.
    ground_velocity : (n, nf, 3) array or None [m/s]
        Of what is under each foot, in world axes; None for the floor.
    bodies : dict of str to str
        Body that carries a foot, by the foot, where other tools name bodies.
    model_file : str
        That the model was read from; empty when the recording had it.

    """

    source: Path
    model: RobotModel
    feet: tuple[Foot, ...]
    start_ns: int
    motion: RecordedMotion
    reactions: GaitReactions
    method: str
    contact_source: str
    plates: Plates | None
    errors: dict[str, FootErrors]
    notes: list[str]
    alignment: Alignment | None = None
    together: FootErrors | None = None
    ground_velocity: np.ndarray | None = None
    bodies: dict[str, str] = field(default_factory=dict)
    model_file: str = ''

    @property
    def stamps(self) -> np.ndarray:
        """(n,) stamps [ns]."""
        return self.start_ns + np.round(self.motion.time * 1e9).astype(np.int64)

    @property
    def weight(self) -> float:
        """Weight of the model [N]."""
        return self.model.total_mass * GRAVITY


# -------------------------------------------------------------------------------------------------

PLATES = 'plates'
# Times [s] and values of a column or a topic, by its name.
Series = Callable[[str], tuple[np.ndarray, np.ndarray]]


def analyse_gait(source: str | Path, options: GaitOptions | None = None
                 ) -> tuple[GaitResult, str]:
    """
    Return joint torques and foot wrenches of a recording, and the URDF they were computed with.

    Parameters
    ----------
    source : str or Path
        A bag, a CSV file (`csv_motion` says with which columns), or a table of coordinates as
        OpenSim's inverse kinematics writes it (.mot, .sto).
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
    refuse_no_motion(source)
    if source.is_file() and source.suffix not in (*SUFFIXES, '.bag'):
        if source.suffix.lower() in TABLES or Path(options.urdf).suffix.lower() == MODEL:
            subject, motion, notes = read_trial(source, options)
            return _solved(source, subject, options, settings, BagMotion(0, motion, None), None,
                           notes, _columns_of(source))
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
    return _solved(source, subject, options, settings, BagMotion(0, motion, None), None, notes,
                   _columns_of(source))


def _columns_of(source: Path) -> Series:
    """Return what looks up a column of a file."""
    def column(name: str) -> tuple[np.ndarray, np.ndarray]:
        if source.suffix.lower() in TABLES:
            found, time, _, _ = read_coordinates(source)
            if name not in found:
                raise ConfigurationError(f'{source}: there is no column {name!r}; the columns '
                                         f'are: {", ".join(found)}')
            return time, found[name]
        table = CsvColumns(source)
        return table.time(), table[name]

    return column


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
            found = motion_from_odometry(bag, subject.model, subject.config, joints, odometry,
                                         options.cutoff, (start, stop))
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

    def topic(name: str) -> tuple[np.ndarray, np.ndarray]:
        with BagReader(source) as again:
            return speed_topic(again, name, found.start_ns)

    return _solved(source, subject, options, settings, found, plates, notes, topic)


def _solved(source: Path, subject: Subject, options: GaitOptions, settings: GaitSettings,
            found: BagMotion, plates: Plates | None, notes: list[str],
            series: Series) -> tuple[GaitResult, str]:
    motion, feet = found.motion, tuple(foot.link for foot in subject.feet)
    contact, origin = found.contact, 'detected, on line' if found.contact is not None else (
        'detected, off line')
    if options.contact_file is not None:
        contact, origin = (read_contacts(options.contact_file, feet, motion.time),
                           f'taken from {options.contact_file.name}')
    guess = read_wrenches(options.guess, feet, motion.time) if options.guess else None
    belt, said = _belt(subject, motion, options, series)
    demand = ground_demand(subject.model, subject.feet, motion, belt)
    if options.loads:
        plates, more = measured_forces(options, subject, demand)
        said += more
    measured = plates is not None and plates.valid.any()
    alignment = align(demand, plates) if plates is not None and measured else None
    model = _weighed(subject.model, options, alignment)
    if model is not subject.model:
        said.append(f'The mass of the model is {model.total_mass:.2f} kg (--mass), and not the '
                    f'{subject.model.total_mass:.2f} kg of its URDF, spread as there.')
        demand = ground_demand(model, subject.feet, motion, belt)
        alignment = align(demand, plates) if plates is not None and measured else None
    solver = DoubleSupport(model, subject.feet, settings)
    reactions = solver.solve(motion, contact, options.method, guess, belt)
    said += slope_words(floor_slope(demand, soles_of(demand, settings), reactions.contact))
    errors: dict[str, FootErrors] = {}
    together = None
    if plates is not None and alignment is not None:
        said += words(alignment)
        errors[options.method] = foot_errors(reactions, plates)
        if abs(alignment.lag) > SAID_LAG:
            together = foot_errors(reactions, plates_later(plates, motion.time, alignment.lag))
        for method in METHODS if options.compare else ():
            if method not in errors and method != 'guess':
                errors[method] = foot_errors(
                    solver.solve(motion, reactions.contact, method, ground_velocity=belt), plates)
    notes += said
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
    result = GaitResult(source, model, subject.feet, found.start_ns, motion, reactions,
                        options.method, origin, plates, errors, [*subject.notes, *notes],
                        alignment, together, belt, subject.bodies, options.urdf)
    return result, subject.description


def _belt(subject: Subject, motion: RecordedMotion, options: GaitOptions,
          series: Series) -> tuple[np.ndarray | None, list[str]]:
    """Return the velocity of what is under the feet, None for the floor, and what to say of it."""
    feet = [foot.link for foot in subject.feet]
    if tuple(options.belt_speed) == (AUTO,):
        common = found_belt(ground_demand(subject.model, subject.feet, motion))
        if common is None:
            return None, []
        return np.tile(common, (len(motion), len(feet), 1)), [
            f'The soles on the ground all move at {np.linalg.norm(common):.2f} m/s: taken for the '
            'belt of a treadmill (--belt-speed 0 if it is none).']
    belts = parse_belts(options.belt_speed, feet)
    velocity = belt_velocity(belts, feet, motion.time, motion.base_rotation, series)
    if not velocity.any():
        return None, []
    return velocity, ['The ground under the feet runs backward: '
                      + ', '.join(f'{foot} {np.linalg.norm(velocity[:, i], axis=1).mean():.2f} m/s'
                                  for i, foot in enumerate(feet)) + ' on average.']


def _weighed(model: RobotModel, options: GaitOptions, alignment: Alignment | None) -> RobotModel:
    if not options.mass:
        return model
    if options.mass == PLATES:
        if alignment is None or not np.isfinite(alignment.mass):
            raise ConfigurationError('--mass plates: expected a recording with force plates (see '
                                     '--truth), got none; give the mass in kg')
        return scaled_to(model, alignment.mass * model.total_mass)
    try:
        return scaled_to(model, float(options.mass))
    except ValueError:
        raise ConfigurationError(f'--mass: expected kilograms or {PLATES!r}, got '
                                 f'{options.mass!r}') from None


# -------------------------------------------------------------------------------------------------
# The recording that comes with the package: a made-up walker, in the files of OpenSim.


ORIGIN = ('This is the sample, which nobody walked: a body of textbook masses is led along, and '
          'how its feet share the load was chosen, not measured. Errors on it show that the '
          'method works, and nothing of people.')


def sample_walk(options: GaitOptions | None = None) -> tuple[Path, GaitOptions]:
    """
    Return the sample's motion, and options with its model and its true forces.

    Nobody walked it: `benchmarks/made_walk.py` says how it was made. In double support its truth
    was chosen, so errors on it say that a method works, and nothing of people.

    Parameters
    ----------
    options : GaitOptions, optional
        What the user says; a model or forces of its own are kept.

    """
    folder, options = share_directory() / 'config' / 'sample', options or GaitOptions()
    return folder / 'walk.mot', replace(
        options, urdf=options.urdf or str(folder / 'walker.osim'),
        loads=options.loads or str(folder / 'walk_forces.xml'))
