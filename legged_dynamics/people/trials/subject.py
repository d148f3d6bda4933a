# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot or person of a recording: model, feet, and the topics that its YAML names."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.model.feet import Foot
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.robot import NODE, RobotChoice, choose_robot, read_model, recognise
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file

# -------------------------------------------------------------------------------------------------
# Options of inverse dynamics over a recording.


# Default low-pass of recorded poses [Hz]: slow human movement is filtered at 6, walking at 10.
CUTOFF = 10.0
DETECTED = 'detected'
# Edges of a sole that is not described [m]: front, back, left, right.
SOLE = (0.13, -0.1, 0.04, -0.04)


@dataclass(frozen=True)
class GaitOptions:
    """
    Options; by default everything is found in a bag.

    Attributes
    ----------
    urdf : str
        Path of a URDF, or of an OpenSim model (.osim); empty: from the bag.
    robot : str
        Name of a robot that comes with the package, or path of a YAML; empty: recognised by its
        URDF, unless feet are given.
    feet : tuple of str
        Links of the feet; empty: those of the robot's YAML.
    sole : tuple of float or None [m]
        Front, back, left and right edge of the given feet, in their frames; None: `SOLE`, or for
        an OpenSim model by its bones and the recording.
    point_radius : float or None [m]
        The given feet are balls of this radius, and not soles.
    method : str
        One of `gait.double_support.METHODS`.
    cutoff : float or None [Hz]
        Low-pass before differentiating; None for none.
    contact : str
        'detected', or path of a CSV file.
    guess : str
        Path of a CSV file with wrenches, for the method 'guess'.
    settings : mapping
        Values by the names of `gait.settings.SETTINGS`.
    degrees, missing_at_zero : bool
        Whether angles in a CSV file are in degrees, and whether joints without a column stay at
        zero. Tables of OpenSim state their unit.
    joint_states, imu, odometry : str
        Topics of a bag; empty: found by type and name.
    base : {'', 'both', 'odometry', 'imu'}
        Source of the base's motion. 'both': its pose by odometry, its rotation and acceleration by
        an IMU; empty: both where the IMU has less noise than the odometry, else odometry where
        there is one.
    truth : mapping of str to str
        Topic of the true wrench, by foot, in addition to those in the YAML.
    valid : str
        Bool topic that is true while the truth is complete; empty: that of the YAML.
    start, end : float or None [s]
        Range of a bag, from its beginning.
    loads : str
        Path of measured forces: external loads of OpenSim or a C3D file.
    mass : str
        Total mass [kg], 'plates' for that by force plates alone, 'model' for the model's, or empty
        for the model's corrected by force plates where there are any (of a robot with a YAML: not
        corrected).
    belt_speed : tuple of str
        Speed of a treadmill's belts, as `plates.parse_belts` takes them; 'auto': found by the
        soles.
    compare : bool
        Whether the other methods are compared with the truth as well.

    """

    urdf: str = ''
    robot: str = ''
    feet: tuple[str, ...] = ()
    sole: tuple[float, float, float, float] | None = None
    point_radius: float | None = None
    method: str = 'travelling'
    cutoff: float | None = CUTOFF
    contact: str = DETECTED
    guess: str = ''
    settings: Mapping[str, Any] = field(default_factory=dict)
    degrees: bool = False
    missing_at_zero: bool = False
    joint_states: str = ''
    imu: str = ''
    odometry: str = ''
    base: str = ''
    truth: Mapping[str, str] = field(default_factory=dict)
    valid: str = ''
    start: float | None = None
    end: float | None = None
    loads: str = ''
    mass: str = ''
    belt_speed: tuple[str, ...] = ('auto',)
    compare: bool = True

    @property
    def contact_file(self) -> Path | None:
        """Path of the contact file, if contact comes from one."""
        return None if self.contact == DETECTED else Path(self.contact)


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Subject:
    """A robot or a person."""

    model: RobotModel  # Its model
    config: RobotConfig  # Its configuration, with the feet
    parameters: dict[str, Any]  # Of the YAML; empty without one
    truth: dict[str, str]  # Topic of the true wrench, by foot
    valid: str  # Topic of the flag that is true while the truth is complete
    description: str  # Text of the URDF
    notes: list[str]  # What was assumed
    # Body that carries a foot, by the foot, as files of forces may name it
    bodies: dict[str, str] = field(default_factory=dict)

    @property
    def feet(self) -> tuple[Foot, ...]:
        """Feet that touch the ground."""
        return self.config.feet


def subject_of_bag(bag: BagReader, description: str, options: GaitOptions) -> Subject:
    """Return the robot or person of a bag; ``description``: topic, or empty."""
    text = (Path(options.urdf) if options.urdf
            else bag.first(description).data if description else '')
    if options.feet and text and not options.robot:
        return _bare(text, options)
    choice = choose_robot(bag, description, options.robot, options.urdf)
    return _chosen(choice, text or robot_files(options.robot)[1], options)


def subject_of_file(options: GaitOptions) -> Subject:
    """Return the robot or person of a CSV file, by the options alone."""
    yaml, beside = robot_files(options.robot) if options.robot else (None, None)
    urdf = Path(options.urdf) if options.urdf else beside
    if urdf is None:
        raise ConfigurationError('a CSV file does not say whose motion it is: give the URDF with '
                                 '--urdf, or with --robot one that comes with the package')
    if options.feet and yaml is None:
        return _bare(urdf, options)
    model, notes = read_model(urdf)
    if yaml is None:
        yaml = recognise(model)
        notes.append(f'The robot was recognised by its URDF: {yaml.stem}.')
    parameters = read_parameter_file(yaml, NODE)
    config = replace(RobotConfig.from_parameters(parameters), source=str(yaml))
    choice = RobotChoice(yaml.stem, model, config, parameters, {}, '', None, notes)
    return _chosen(choice, urdf, options)


def _chosen(choice: RobotChoice, urdf: str | Path | None, options: GaitOptions) -> Subject:
    config, notes = choice.config, list(choice.notes)
    if options.feet:
        config = _with_feet(config, options)
    if not config.feet:
        raise ConfigurationError(f'{choice.name}: its YAML names no feet; give their links with '
                                 '--feet')
    return Subject(config.apply_to(choice.model), config, choice.parameters, choice.truth,
                   choice.valid, _text(urdf), notes)


def _bare(urdf: str | Path, options: GaitOptions) -> Subject:
    """Return a subject without a YAML, by its URDF and the given feet."""
    model, notes = read_model(urdf)
    if not options.point_radius:
        front, back, left, right = options.sole or SOLE
        notes.append(f'Each sole is taken as {back:g} to {front:g} m along x and {right:g} to '
                     f'{left:g} m along y of its link, whose frame is taken to lie in the sole '
                     '(--sole).')
    config = _with_feet(RobotConfig.from_parameters({}), options)
    for foot in config.feet:
        model.frame(foot.link)
    return Subject(model, config, {}, {}, '', _text(urdf), notes)


def _with_feet(config: RobotConfig, options: GaitOptions) -> RobotConfig:
    feet: list[Foot] = [FlatFoot(link, *(options.sole or SOLE)) if options.point_radius is None
                        else PointFoot(link, options.point_radius) for link in options.feet]
    return replace(config, feet=tuple(feet))


def _text(urdf: str | Path | None) -> str:
    return urdf.read_text(encoding='utf-8') if isinstance(urdf, Path) else urdf or ''


def truth_topics(subject: Subject, options: GaitOptions, topics: Mapping[str, Any]
                 ) -> tuple[dict[str, str], str]:
    """
    Return the true wrench topic by foot, and that of the completeness flag or ''.

    Topics of a robot's YAML that this recording lacks are left out.
    """
    feet = [foot.link for foot in subject.feet]
    for foot in options.truth:
        if foot not in feet:
            raise ConfigurationError(f'--truth: expected a foot ({", ".join(feet)}), got {foot!r}')
    truth = {foot: name for foot, name in subject.truth.items() if name in topics}
    valid = options.valid or (subject.valid if subject.valid in topics else '')
    for foot in feet:
        if f'/ground_truth/{foot}/wrench' in topics:
            truth.setdefault(foot, f'/ground_truth/{foot}/wrench')
    return {**truth, **options.truth}, valid
