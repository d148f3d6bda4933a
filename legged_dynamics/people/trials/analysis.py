# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
From a recorded motion to joint torques and foot wrenches, with their errors where there is truth.

`analyse_gait` reads from top to bottom: a recording of any kind is read into one form, put on its
ground, compared with its plates, weighed, freed of noise, its contacts are timed, its load is
shared, and the result is put together.
"""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import EstimatorSettings
from legged_dynamics.exceptions import BagError, ConfigurationError, MeasurementError
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_config import scaled_to
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.people.gait.contact_timing import ContactTiming, contact_timing, given_timing
from legged_dynamics.people.gait.double_support import METHODS, DoubleSupport, check_method
from legged_dynamics.people.gait.flat_feet import FLAT, flat_footed
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.reactions import GaitReactions
from legged_dynamics.people.gait.required_wrench import WrenchSmoother
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import SoleMotion, soles_of
from legged_dynamics.people.trials.accuracy import (
    AUTO,
    Alignment,
    BodyMass,
    FootErrors,
    Plates,
    align,
    alignment_notes,
    balance_notes,
    belt_velocity,
    floor_slope,
    foot_errors,
    found_belt,
    plates_later,
    read_plates,
    slope_notes,
)
from legged_dynamics.people.trials.bag_motion import (
    IMU,
    BagMotion,
    motion_from_imu,
    motion_from_odometry,
)
from legged_dynamics.people.trials.csv_motion import read_contacts, read_motion
from legged_dynamics.people.trials.subject import (
    GaitOptions,
    Subject,
    measured_forces,
    read_trial,
    refuse_no_motion,
    subject_of_bag,
    subject_of_file,
    truth_topics,
)
from legged_dynamics.recordings.bags import SUFFIXES, BagReader, receipts
from legged_dynamics.recordings.file_formats import OPENSIM_TABLE, OSIM, format_of
from legged_dynamics.recordings.topics import input_topics, odometry_topic
from legged_dynamics.resources import share_directory

# -------------------------------------------------------------------------------------------------
# The result of analysing one recording.


@dataclass(frozen=True, eq=False)
class GaitResult:
    """
    A recording and what was computed from it.

    Attributes
    ----------
    source : Path
        Bag, table of coordinates or CSV file.
    model : RobotModel
        Of the robot or person, with the mass that was used.
    feet : tuple of Foot
        Feet that touch the ground.
    start_ns : int
        Stamp at which the motion's time is zero.
    motion : RecordedMotion
        The motion, at an even rate.
    reactions : GaitReactions
        Ground reactions and joint efforts.
    method : str
        Method that shared the load.
    contact_source : str
        Where contacts come from, for people to read.
    plates : Plates or None
        True forces, where the recording has them.
    errors : dict of str to FootErrors
        Errors against the true forces, by method; with the clocks of plates and motion aligned
        where they differ significantly.
    notes : list of str
        What is odd or was assumed.
    dynamics : GaitInverseDynamics
        Inverse dynamics of the motion, which all methods share.
    alignment : Alignment or None
        Differences between plates and motion.
    as_recorded : FootErrors or None
        Errors of the method with the clocks as they were recorded, where they differ.
    ground_velocity : (n, nf, 3) array or None [m/s]
        Velocity of the ground under each foot, in world axes; None for the floor.
    bodies : dict of str to str
        Body that carries a foot, by the foot, where other tools name bodies.
    model_file : str
        File of the model; empty when it was in the recording.
    mass : BodyMass or None
        The mass that was used, and how well it is known.

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
    dynamics: GaitInverseDynamics
    alignment: Alignment | None = None
    as_recorded: FootErrors | None = None
    ground_velocity: np.ndarray | None = None
    bodies: dict[str, str] = field(default_factory=dict)
    model_file: str = ''
    mass: BodyMass | None = None

    @property
    def aligned_plates(self) -> Plates | None:
        """True forces by the clock of the motion."""
        if self.plates is None or self.alignment is None or not self.alignment.late:
            return self.plates
        return plates_later(self.plates, self.motion.time, self.alignment.lag)

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
MODEL = 'model'
SCALE = 'scale'
ROBOT = 'robot'
MASS_SOURCES = {PLATES: 'by the force plates and the model; --mass model: the model alone',
                SCALE: '--mass'}


def analyse_gait(source: str | Path, options: GaitOptions | None = None
                 ) -> tuple[GaitResult, str]:
    """
    Return joint torques and foot wrenches of a recording.

    Parameters
    ----------
    source : str or Path
        A bag, a CSV file (`csv_motion` lists its columns), or a table of coordinates as OpenSim's
        inverse kinematics writes it (.mot, .sto).
    options : GaitOptions, optional
        Options of the user.

    Returns
    -------
    GaitResult
    str
        Text of the URDF they were computed with.

    Raises
    ------
    LeggedDynamicsError
        When the recording cannot be read or does not fit, or an option is wrong.

    """
    source, options = Path(source), options or GaitOptions()
    check_method(options.method)
    settings = GaitSettings.from_parameters(options.settings)
    trial = _with_plates(_on_belt(_read(source, options), options), options, settings)
    trial = _with_mass(trial, options, settings)
    trial = _shared(*_in_contact(trial, options, settings), options, settings)
    return _result(trial, options), trial.subject.description


@dataclass(frozen=True, eq=False)
class _Trial:
    """What is known of one recording; each step of `analyse_gait` adds to it."""

    source: Path
    subject: Subject
    dynamics: GaitInverseDynamics  # Of its motion
    notes: list[str]  # What was odd or was assumed
    start_ns: int = 0  # Stamp at which the motion's time is zero
    # (n, nf) or None: feet on the ground, where the recording's IMU was needed to find them
    contact: np.ndarray | None = None
    plates: Plates | None = None  # True forces
    belt: np.ndarray | None = None  # (n, nf, 3) [m/s]: velocity of the ground; None for the floor
    alignment: Alignment | None = None  # Of the plates, where they measure
    mass: BodyMass | None = None
    reactions: GaitReactions | None = None  # By the chosen method
    errors: dict[str, FootErrors] = field(default_factory=dict)  # Of all, where forces are known
    as_recorded: FootErrors | None = None

    @property
    def feet(self) -> tuple[str, ...]:
        return tuple(foot.link for foot in self.subject.feet)

    def noting(self, *notes: str, **changed: Any) -> _Trial:
        return replace(self, notes=[*self.notes, *notes], **changed)


def _read(source: Path, options: GaitOptions) -> _Trial:
    """Return the motion of a recording of any kind, and whose it is."""
    refuse_no_motion(source)
    if not source.is_file() or source.suffix in (*SUFFIXES, '.bag'):
        return _of_bag(source, options)
    if format_of(source) is OPENSIM_TABLE or format_of(options.urdf) is OSIM:
        return _Trial(source, *read_trial(source, options))
    subject = subject_of_file(options)
    poses, notes = read_motion(source, subject.model, degrees=options.degrees,
                               missing_at_zero=options.missing_at_zero)
    motion, uneven = poses.motion(subject.model, options.cutoff)
    return _Trial(source, subject, GaitInverseDynamics.of(subject.model, subject.feet, motion),
                  [*notes, *uneven])


_BOTH = "The base's pose is that of {}, its rotation and acceleration are those of {}"


def _shaking(found: BagMotion) -> float:
    """Return how much the base's acceleration changes from sample to sample [m/s^2]."""
    return float(np.std(np.diff(found.motion.base_motion[:, 6:], axis=0)))


def _of_bag(source: Path, options: GaitOptions) -> _Trial:
    with BagReader(source) as bag:
        joints, imu, description = input_topics(bag, options.joint_states, options.imu)
        odometry = odometry_topic(bag, joints, options.odometry)
        subject = subject_of_bag(bag, description, options)
        span = receipts(bag, options.start or None, options.end)
        # A simulator's true odometry is used only if it is named, or if there is no IMU.
        given = odometry and (options.odometry or '/ground_truth/' not in odometry or not imu)
        base = options.base or (('both' if imu else 'odometry') if given else 'imu')
        if base != 'imu' and not odometry:
            raise BagError(f'{source} has no odometry (nav_msgs/Odometry); the base can be '
                           'taken from an IMU instead (--base imu)')
        if base != 'odometry' and not imu:
            raise BagError(f'{source} has no IMU (sensor_msgs/Imu)'
                           + ('; the base can be taken from odometry alone (--base odometry)'
                              if odometry else ' and no odometry (nav_msgs/Odometry): nothing '
                              'says how the base moves'))

        def with_imu(odometry: str) -> BagMotion:
            return motion_from_imu(bag, subject.model, subject.config,
                                   EstimatorSettings.from_parameters(subject.parameters), joints,
                                   imu, options.cutoff, span, odometry)

        if base == 'imu':
            found, note = with_imu(''), (f"The base's motion is that of {imu}; where it is "
                                         'follows from the feet that stand, and drifts.')
        elif base == 'both' and options.base:
            found, note = with_imu(odometry), _BOTH.format(odometry, imu)
        else:
            found = motion_from_odometry(bag, subject.model, subject.config, joints, odometry,
                                         options.cutoff, span)
            note = f"The base's motion is that of {odometry}."
            if base == 'both':
                try:
                    felt = with_imu(odometry)
                    if _shaking(felt) < IMU.noise_ratio * _shaking(found):
                        found, note = felt, _BOTH.format(odometry, imu) + (
                            ', which has less noise (--base odometry: without the IMU).')
                except (MeasurementError, ConfigurationError) as error:
                    note += f' {imu} is not used: {error}'
        stamps = found.start_ns + np.round(found.motion.time * 1e9).astype(np.int64)
        topics, valid = truth_topics(subject, options, bag.topics)
        dynamics = GaitInverseDynamics.of(subject.model, subject.feet, found.motion)
        plates = read_plates(bag, topics, valid, stamps, dynamics)
    return _Trial(source, subject, dynamics, [note], found.start_ns, found.contact, plates)


def _on_belt(trial: _Trial, options: GaitOptions) -> _Trial:
    """Return the trial on the ground that moves under it, where it is a treadmill."""
    dynamics, feet, notes = trial.dynamics, trial.feet, []
    velocity = None
    if tuple(options.belt_speed) == (AUTO,):
        common = found_belt(dynamics)
        if common is not None:
            velocity = np.tile(common, (len(dynamics.time), len(feet), 1))
            notes = [f'The soles on the ground all move at {np.linalg.norm(common):.2f} m/s: '
                     'taken for the belt of a treadmill (--belt-speed 0 if it is none).']
    else:
        velocity = belt_velocity(options.belt_speed, feet, dynamics.motion.base_rotation)
        speeds = np.linalg.norm(velocity[0], axis=1)
        velocity = velocity if velocity.any() else None
        notes = ['The ground under the feet runs backward: ' + ', '.join(
            f'{foot} {speed:.2f} m/s' for foot, speed in zip(feet, speeds)) + '.'] * (
                velocity is not None)
    return trial.noting(*notes, belt=velocity, dynamics=dynamics.on_ground(velocity))


def _with_plates(trial: _Trial, options: GaitOptions, settings: GaitSettings) -> _Trial:
    """Return the trial with its measured forces, and how their clock and axes differ."""
    if options.loads:
        plates, notes = measured_forces(options, trial.subject, trial.dynamics)
        trial = trial.noting(*notes, plates=plates)
    if trial.plates is None or not trial.plates.valid.any():
        return trial
    return replace(trial, alignment=align(trial.dynamics, trial.plates, settings))


def _with_mass(trial: _Trial, options: GaitOptions, settings: GaitSettings) -> _Trial:
    """Return the trial with the mass that is given or measured, spread as in the model."""
    mass = _mass(trial.subject, options, trial.alignment, settings)
    if mass.value == mass.model:
        return replace(trial, mass=mass)
    dynamics = trial.dynamics.with_mass(scaled_to(trial.subject.model, mass.value))
    return trial.noting(
        f'The mass is {mass.value:.2f} kg ({MASS_SOURCES[mass.source]}), and not the '
        f'{mass.model:.2f} kg of the model, spread as there.', mass=mass, dynamics=dynamics,
        alignment=trial.alignment and align(dynamics, cast(Plates, trial.plates), settings))


def _in_contact(trial: _Trial, options: GaitOptions, settings: GaitSettings
                ) -> tuple[_Trial, ContactTiming, SoleMotion]:
    """Return the trial without noise, which feet are down when, and how soles move."""
    recorded, given, contact = trial.dynamics, options.contact_file is not None, trial.contact
    if options.contact_file is not None:
        contact = read_contacts(options.contact_file, trial.feet, recorded.time)
    smoother, moved = WrenchSmoother(recorded, settings), soles_of(recorded, settings)

    def timed(dynamics: GaitInverseDynamics) -> ContactTiming:
        return given_timing(contact, dynamics, flat=flat_footed(dynamics, contact, settings, moved)
                            ) if given else contact_timing(dynamics, settings, moved, contact)

    # Noise of the poses looks like flight where the load is small.
    standing = np.ones(recorded.foot_arm.shape[:2], bool)
    timing = timed(smoother.given(standing) if smoother.noisy else recorded)
    dynamics = smoother.given(timing.contact)
    if not given:       # the smoothed centre of pressure times steps better
        timing = timed(dynamics)
    alignment = trial.alignment
    if smoother.noisy and alignment is not None:        # their clock shows better without it
        alignment = align(dynamics, cast(Plates, trial.plates), settings)
    return replace(trial, dynamics=dynamics, alignment=alignment), timing, moved


def _shared(trial: _Trial, timing: ContactTiming, moved: SoleMotion, options: GaitOptions,
            settings: GaitSettings) -> _Trial:
    """Return the trial with forces by the chosen method, compared with others."""
    dynamics, mass, subject = trial.dynamics, cast(BodyMass, trial.mass), trial.subject
    stated = replace(settings, mass_error=mass.deviation / mass.value)
    if subject.parameters.get('analysis.model_error', True):
        # Nor does a robot pass its load on as people do: by what a humanoid shows.
        stated = replace(stated, rate_error=max(settings.rate_error, FLAT.landed_error),
                         center_error=float(np.linalg.norm((
            settings.center_error, subject.config.noise.center_of_mass, settings.odometry_error))))
    solver = DoubleSupport(dynamics.model, subject.feet, stated)
    reactions = solver.share(dynamics, timing, options.method, moved, by_markers=True)
    notes = slope_notes(floor_slope(dynamics, moved, reactions.contact))
    errors: dict[str, FootErrors] = {}
    as_recorded, plates, alignment = None, trial.plates, trial.alignment
    if plates is not None and alignment is not None:
        notes += alignment_notes(alignment)
        if alignment.late:
            as_recorded = foot_errors(reactions, plates)
            plates = plates_later(plates, dynamics.time, alignment.lag)
        errors[options.method] = foot_errors(reactions, plates)
        for method in METHODS if options.compare else ():
            if method not in errors:
                errors[method] = foot_errors(
                    solver.share(dynamics, timing, method, moved=moved), plates)
    return trial.noting(*notes, *balance_notes(reactions, dynamics, settings),
                        reactions=reactions, errors=errors, as_recorded=as_recorded)


def _result(trial: _Trial, options: GaitOptions) -> GaitResult:
    """Return what a report is made of."""
    subject, dynamics = trial.subject, trial.dynamics
    reactions = cast(GaitReactions, trial.reactions)
    notes, contact = [*subject.notes, *trial.notes], reactions.contact
    if options.cutoff is not None:
        notes.append(f'Poses are low-passed at {options.cutoff:g} Hz; the first and last '
                     f'{0.5 / options.cutoff:.2f} s suffer from the ends of the filter.')
    taken = np.sqrt(np.mean(dynamics.noise[:, :3] ** 2, axis=0))
    notes.append(f'Of the force that the motion requires, {taken[2]:.0f} N rms vertically, '
                 f'{taken[0]:.0f} along x and {taken[1]:.0f} along y were taken for noise of the '
                 'motion (settings motion.*); the root residual holds them.')
    silent = (~contact.any(axis=1)).sum()
    if silent:
        notes.append(f'No foot is on the ground in {silent} of {len(contact)} samples.')
    origin = (f'taken from {options.contact_file.name}' if options.contact_file else
              'detected, off line' if trial.contact is None else 'detected, on line')
    return GaitResult(
        trial.source, dynamics.model, subject.feet, trial.start_ns, dynamics.motion,
        reactions, options.method, origin, trial.plates, trial.errors, notes, dynamics,
        trial.alignment, trial.as_recorded, trial.belt, subject.bodies, options.urdf, trial.mass)


def _mass(subject: Subject, options: GaitOptions, alignment: Alignment | None,
          settings: GaitSettings) -> BodyMass:
    """Return the mass: as given, or the model's, which force plates correct for a person."""
    model, wanted = subject.model.total_mass, options.mass
    known = alignment is not None and np.isfinite(alignment.mass)
    if wanted == PLATES and not known:
        raise ConfigurationError('--mass plates: expected a recording with force plates (see '
                                 '--truth), got none; give the mass in kg')
    if wanted not in ('', PLATES, MODEL):
        try:
            given = scaled_to(subject.model, float(wanted)).total_mass
        except ValueError:
            raise ConfigurationError(f'--mass: expected kilograms, {PLATES!r} or {MODEL!r}, got '
                                     f'{wanted!r}') from None
        return BodyMass(given, settings.scale_error * given, model, SCALE)
    if 'noise.mass' in subject.parameters and not wanted:
        return BodyMass(model, model * subject.config.noise.mass, model, ROBOT)
    if wanted == MODEL or alignment is None or not known:
        return BodyMass(model, settings.mass_error * model, model, MODEL)
    ratio, variance = alignment.mass, alignment.mass_deviation ** 2
    if wanted != PLATES:        # two sources, weighed by their precision
        prior = settings.mass_error ** 2
        ratio = (variance + prior * ratio) / (variance + prior)
        variance = variance * prior / (variance + prior)
    return BodyMass(ratio * model, float(np.sqrt(variance)) * model, model, PLATES)


# -------------------------------------------------------------------------------------------------
# The sample that comes with the package: a synthetic walk, in files of OpenSim.


ORIGIN = ('This is the sample, which nobody walked: a body of textbook masses is led along, and '
          'how its feet share the load was chosen, not measured. Errors on it show that the '
          'method works, and nothing of people.')


def sample_walk(options: GaitOptions | None = None) -> tuple[Path, GaitOptions]:
    """
    Return the sample's motion, and options with its model and its true forces.

    The walk is synthetic; `benchmarks/made_walk.py` makes it. The load sharing in double support
    was chosen, so errors on it show that a method works, and nothing about people.

    Parameters
    ----------
    options : GaitOptions, optional
        Options of the user; a model or forces of its own are kept.

    Returns
    -------
    Path
    GaitOptions

    """
    folder, options = share_directory() / 'config' / 'sample', options or GaitOptions()
    return folder / 'walk.mot', replace(
        options, urdf=options.urdf or str(folder / 'walker.osim'),
        loads=options.loads or str(folder / 'walk_forces.xml'))
