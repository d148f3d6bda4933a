# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robot or person of a recording: model, feet, and the topics that its YAML names."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.urdf import urdf_text
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.opensim import OpenSimModel, read_osim
from legged_dynamics.people.trials.accuracy import Plates
from legged_dynamics.people.trials.coordinates import (
    angle_unit,
    in_radians,
    poses_of,
    read_coordinates,
)
from legged_dynamics.people.trials.csv_motion import read_motion
from legged_dynamics.people.trials.loads import plates_of, read_loads, turned_to
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.file_formats import C3D, MOTION, OPENSIM_TABLE, OSIM, format_of
from legged_dynamics.recordings.robot import (
    RobotChoice,
    choose_live_robot,
    choose_robot,
    read_model,
)
from legged_dynamics.resources import robot_files
from legged_dynamics.spatial.frames import Transform

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
        for the model's corrected by force plates where there are any (not where a YAML
        states noise.mass).
    belt_speed : tuple of str
        Speed of a treadmill's belt [m/s], or FOOT=SPEED for each foot; 'auto': found by the soles.
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
    return _chosen(choose_robot(bag, description, options.robot, options.urdf), options)


def subject_of_file(options: GaitOptions) -> Subject:
    """Return the robot or person of a CSV file, by the options alone."""
    urdf = (Path(options.urdf) if options.urdf
            else robot_files(options.robot)[1] if options.robot else None)
    if urdf is None:
        raise ConfigurationError('a CSV file does not say whose motion it is: give the URDF with '
                                 '--urdf, or with --robot one that comes with the package')
    if options.feet and not options.robot:
        return _bare(urdf, options)
    choice = choose_live_robot(urdf, options.robot)
    if not options.robot:
        choice.notes.append(f'The robot was recognised by its URDF: {choice.name}.')
    return _chosen(choice, options)


def _chosen(choice: RobotChoice, options: GaitOptions) -> Subject:
    config = choice.config
    if options.feet:
        config = _with_feet(config, options)
    if not config.feet:
        raise ConfigurationError(f'{choice.name}: its YAML names no feet; give their links with '
                                 '--feet')
    return Subject(config.apply_to(choice.model), config, choice.parameters, choice.truth,
                   choice.valid, choice.urdf, list(choice.notes))


def _bare(urdf: str | Path, options: GaitOptions) -> Subject:
    """Return a subject without a YAML, by its URDF and the given feet."""
    model, notes = read_model(urdf)
    if not options.point_radius:
        front, back, left, right = options.sole or SOLE
        notes.append(f'Each sole is taken as {back:g} to {front:g} m along x and {right:g} to '
                     f'{left:g} m along y of its link, whose frame is taken to lie in the sole '
                     '(--sole).')
    notes.append('Without a YAML it is taken for a robot, which passes its load on less evenly '
                 'than people do (of a person: analysis.model_error: false in a YAML).')
    config = _with_feet(RobotConfig.from_parameters({}), options)
    return Subject(model, config, {}, {}, '', urdf.read_text(encoding='utf-8')
                   if isinstance(urdf, Path) else urdf, notes)


def _with_feet(config: RobotConfig, options: GaitOptions) -> RobotConfig:
    feet: list[Foot] = [FlatFoot(link, *(options.sole or SOLE)) if options.point_radius is None
                        else PointFoot(link, options.point_radius) for link in options.feet]
    return replace(config, feet=tuple(feet))


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


# -------------------------------------------------------------------------------------------------
# A person's trial: an OpenSim model with a motion of its own, and measured forces.
#
# Models of people have bones and no soles. The length of the sole is in proportion to the distance
# from the heel's frame to the toe joint; its plane is the floor in the foot's frame, while the
# foot rests on it.


FEET = re.compile(r'(calcn|calcaneus|hindfoot|foot)', re.IGNORECASE)
TOES = re.compile(r'toe|mtp', re.IGNORECASE)


@dataclass(frozen=True)
class SoleShape:
    """A sole in proportion to the distance from the heel's frame to the toe joint."""

    heel_to_toe: float = 0.19  # [m]: of a man of 1.75 m, for models without a toe joint
    # Edges from the middle of the sole; the front reaches to where the toes push off.
    front: float = 0.68  # [heel to toe]
    back: float = -0.53  # [heel to toe]
    side: float = 0.21  # [heel to toe]
    largest_tilt: float = 0.35  # [rad]: of the sole against the foot's own axes
    largest_depth: float = 0.12  # [m]: below the foot's frame


SHAPE = SoleShape()


def _feet_of(osim: OpenSimModel, bodies: Sequence[str] = ()) -> list[str]:
    """Return the bodies of the feet: those given, or found by name."""
    known = [name for name in osim.links if not name.endswith('_link')]
    missing = [name for name in bodies if name not in osim.links]
    if missing:
        raise ConfigurationError(f'--feet: expected bodies of the model ({", ".join(known)}), got '
                                 f'{", ".join(missing)}')
    found = list(bodies) or [name for name in known
                             if FEET.search(name) and osim.links[name].mass > 0.0]
    if not found:
        raise ConfigurationError('no body of the model is called as feet are (calcn, foot); name '
                                 f'those that stand on the ground with --feet: {", ".join(known)}')
    return found


def _sole_frames(osim: OpenSimModel, feet: Sequence[str], dynamics: GaitInverseDynamics,
                sole: tuple[float, float, float, float] | None
                ) -> tuple[dict[str, tuple[str, Transform]], list[FlatFoot], list[str]]:
    """
    Return frames in the soles, the feet, and notes on what was assumed.

    ``sole`` [m]: front, back, left and right edge given by the user, in foot frames.
    """
    dynamics = dynamics.with_feet(
        dynamics.model, [FlatFoot(name, 0.1, -0.1, 0.04, -0.04) for name in feet])
    frames, found, notes = {}, [], []
    for i, name in enumerate(feet):
        ball = next((joint.placement.p[0] for joint in osim.joints if joint.parent == name
                     and TOES.search(joint.name + joint.child)), SHAPE.heel_to_toe)
        plane = _plane(dynamics.foot_rotation[:, i],
                       dynamics.base_position + dynamics.foot_arm[:, i], dynamics.step)
        middle = 0.0 if sole else 0.5 * ball
        if plane is None:
            R, depth = np.eye(3), 0.0
            notes.append(f'{name} never rests: its sole is taken to lie in its own x and y.')
        else:
            R, depth = plane
        frame = f'sole_{name.rsplit("_", 1)[-1]}' if '_' in name else f'sole_{name}'
        if frame in frames or frame in osim.links:
            frame = f'{name}_sole'
        up = R[:, 2]
        x = R @ np.array([1.0, 0.0, 0.0])
        frames[frame] = (name, Transform(R, middle * x - depth * up))
        side = SHAPE.side * ball
        edges = sole or (SHAPE.front * ball, SHAPE.back * ball, side, -side)
        found.append(FlatFoot(frame, *edges))
        notes.append(f'{frame}: {edges[1]:.3f} to {edges[0]:.3f} m along x and {edges[3]:.3f} to '
                     f'{edges[2]:.3f} m along y of a frame {1e3 * middle:.0f} mm in front of '
                     f'{name} and {1e3 * depth:.0f} mm below it, turned by '
                     f'{np.degrees(np.arccos(np.clip((np.trace(R) - 1.0) / 2.0, -1.0, 1.0))):.1f} '
                     f'deg{"" if plane is None else ", where the floor is while it rests"} '
                     '(--feet, --sole).')
    return frames, found, notes


def _plane(R_WF: np.ndarray, p_WF: np.ndarray, step: float) -> tuple[np.ndarray, float] | None:
    """Return the floor in the frame of a resting foot: R_F,sole, and the distance below it."""
    ends = [p_WF + R_WF[:, :, 0] * x for x in (0.0, SHAPE.heel_to_toe)]
    speed = np.max([np.linalg.norm(np.gradient(at, step, axis=0), axis=1) for at in ends], axis=0)
    height = p_WF[:, 2]
    tilt = np.arccos(np.clip(R_WF[:, 2, 2], -1.0, 1.0))
    slow = speed < max(0.1, 1.5 * float(np.percentile(speed, 5)))
    rests = slow & (tilt < SHAPE.largest_tilt) & (height < np.percentile(height, 20) + 0.03)
    if rests.sum() < 3:
        return None
    up = np.median(R_WF[rests, 2, :], axis=0)        # the world's up in the foot's axes
    up /= np.linalg.norm(up)
    x = np.array([1.0, 0.0, 0.0]) - up[0] * up
    x /= np.linalg.norm(x)
    R = np.column_stack([x, np.cross(up, x), up])
    depth = float(np.median(height[rests]))
    # In a laboratory the floor is at z = 0, unless the foot rests far from there.
    return R, depth if 0.0 <= depth <= SHAPE.largest_depth else 0.0


# -------------------------------------------------------------------------------------------------


def refuse_no_motion(source: Path) -> None:
    """Raise MeasurementError, with advice, for a file format that holds no motion."""
    found = format_of(source)
    if found is not None and MOTION not in found.uses:
        raise MeasurementError(f'{source} is not a motion: {found.advice}')


def read_trial(source: Path, options: GaitOptions
               ) -> tuple[Subject, GaitInverseDynamics, list[str]]:
    """Return a person's model and motion (.mot, .sto or CSV), feet at rest, and notes."""
    path = Path(options.urdf)
    if format_of(path) is not OSIM:
        raise ConfigurationError(
            f'{source} holds coordinates of an OpenSim model, whose root has axes of its own: '
            'give the model with --model MODEL.osim'
            + (f', got {options.urdf!r}' if options.urdf else ''))
    osim = read_osim(path)
    if format_of(source) is OPENSIM_TABLE:
        written, time, table, others = read_coordinates(source)
        # Motion files of version 0 are in degrees.
        degrees, unit = angle_unit(written, table.in_degrees, osim, (
            source.suffix.lower() == '.mot' and table.version in ('', '0')))
        found = in_radians(written, degrees, osim)
        osim = osim.fitted({name: (float(values.min()), float(values.max()))
                            for name, values in found.items() if name in osim.coordinates})
        model = osim.robot()
        poses, notes = poses_of(source, found, time, degrees, osim, model, options.missing_at_zero)
        notes = [*unit, *notes]
        if others:
            notes.append(f'Of the states only coordinates are used; {len(others)} other columns '
                         'are left alone.')
    else:
        model = osim.robot()
        poses, notes = read_motion(source, model, degrees=options.degrees,
                                   missing_at_zero=options.missing_at_zero)
    motion, uneven = poses.motion(model, options.cutoff)
    dynamics = GaitInverseDynamics.of(model, (), motion)
    subject = _subject(osim, dynamics, options)
    return subject, dynamics.with_feet(subject.model, subject.feet), [*notes, *uneven]


def _subject(osim: OpenSimModel, dynamics: GaitInverseDynamics, options: GaitOptions) -> Subject:
    bodies, notes = _feet_of(osim, options.feet), list(osim.notes)
    frames: dict[str, tuple[str, Transform]] = {}
    found: list[Foot]
    if options.point_radius is not None:
        found = [PointFoot(name, options.point_radius) for name in bodies]
    else:
        frames, feet, said = _sole_frames(osim, bodies, dynamics, options.sole)
        found, notes = [*feet], [*notes, *said]
    config = replace(RobotConfig.from_parameters({}), feet=tuple(found))
    return Subject(osim.robot(frames), config, {'analysis.model_error': False}, {}, '',
                   urdf_text(osim.name, *osim.parts(frames)), notes,
                   {frame: body for frame, (body, _) in frames.items()})


def measured_forces(options: GaitOptions, subject: Subject,
                    dynamics: GaitInverseDynamics) -> tuple[Plates, list[str]]:
    """Return the true force on each foot from a file of measured forces, and notes."""
    loads, notes = read_loads(options.loads)
    if format_of(options.loads) is C3D:
        if not loads:
            raise MeasurementError(f'{options.loads}: expected force plates, got none')
        loads, turned = turned_to(loads, dynamics)
        notes += [turned] if turned else []
    plates, more = plates_of(loads, dynamics, subject.bodies)
    return plates, [*notes, *more]
