# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A person's trial: an OpenSim model with a motion of its own, as subject, motion and plates."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from legged_dynamics.analysis.biomechanics.angle_units import (
    angle_unit,
    without_contradictions,
)
from legged_dynamics.analysis.biomechanics.coordinates import (
    poses_of,
    read_coordinates,
    spans_of,
)
from legged_dynamics.analysis.biomechanics.loads import read_loads
from legged_dynamics.analysis.biomechanics.plate_feet import plates_of, turned_to
from legged_dynamics.analysis.biomechanics.soles import feet_of, sole_frames
from legged_dynamics.analysis.gait.csv_motion import read_motion
from legged_dynamics.analysis.gait.options import GaitOptions
from legged_dynamics.analysis.gait.plates import Plates
from legged_dynamics.analysis.gait.poses import Poses
from legged_dynamics.analysis.gait.subject import Subject
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.gait.ground_demand import GroundDemand
from legged_dynamics.model import PointFoot, RobotConfig, RobotModel
from legged_dynamics.model.foot import Foot
from legged_dynamics.model.opensim import OpenSimModel, read_osim
from legged_dynamics.model.urdf_text import urdf_text
from legged_dynamics.spatial.frames import Transform

MODEL, TABLES = '.osim', ('.mot', '.sto')
# What is given as a motion and is none, and what to do instead.
NO_MOTION = {
    '.osim': 'it is a model; give it with --model, and the coordinates that inverse kinematics '
             'writes (.mot) as the motion',
    '.trc': 'it holds markers; run your inverse kinematics on it (OpenSim: Scale, then Inverse '
            'Kinematics) and give the coordinates it writes (.mot), with --model and the scaled '
            'model',
    '.c3d': 'it holds markers and forces; "legged-dynamics convert" writes both as OpenSim reads '
            'them (.trc, .mot). Run inverse kinematics on the markers, give the coordinates it '
            'writes (.mot) with --model and the scaled model, and this file with --loads',
    '.b3d': "it is AddBiomechanics' own format, which only nimblephysics reads; give the .osim "
            '(--model) and the inverse kinematics (.mot) that come in the same download',
    '.urdf': 'it is a model; give it with --urdf, and a recording as the motion',
    '.xml': 'a motion is a bag, a CSV file, or a table of coordinates (.mot, .sto)',
    '.xlsx': 'save the sheet as CSV',
}


def refuse_no_motion(source: Path) -> None:
    """
    Refuse files that hold no motion, and say what to do.

    Raises
    ------
    MeasurementError
        When the file is of such a kind.

    """
    if source.suffix.lower() in NO_MOTION:
        raise MeasurementError(f'{source} is not a motion: {NO_MOTION[source.suffix.lower()]}')


def read_trial(source: Path, options: GaitOptions) -> tuple[Subject, RecordedMotion, list[str]]:
    """
    Return whose motion a file is, the motion, and what was odd.

    Parameters
    ----------
    source : Path
        A table of coordinates (.mot, .sto), or CSV.
    options : GaitOptions
        With the model.

    Raises
    ------
    LeggedDynamicsError
        When model or motion cannot be read, or do not fit.

    """
    path = Path(options.urdf)
    if path.suffix.lower() != MODEL:
        raise ConfigurationError(
            f'{source} holds coordinates of an OpenSim model, whose root has axes of its own: '
            'give the model with --model MODEL.osim'
            + (f', got {options.urdf!r}' if options.urdf else ''))
    if source.suffix.lower() in TABLES:
        found, time, stated, others = read_coordinates(source)
        osim = read_osim(path)
        degrees, unit = angle_unit(found, stated, osim)
        found, contradicted = without_contradictions(found, degrees, osim)
        osim = read_osim(path, spans_of(found, degrees, osim))
        model = osim.robot()
        poses, notes = poses_of(source, found, time, degrees, osim, model,
                                options.missing_at_zero)
        notes = [*unit, *contradicted, *notes]
        if others:
            notes.append(f'Of the states only coordinates are used; {len(others)} other columns '
                         'are left alone.')
    else:
        osim = read_osim(path)
        model = osim.robot()
        poses, notes = read_motion(source, model, degrees=options.degrees,
                                   missing_at_zero=options.missing_at_zero)
    even = poses.evenly()
    if even is not poses:
        notes.append('Times are uneven: resampled evenly, linear in between.')
    motion = recorded(model, even, options.cutoff)
    return _subject(osim, motion, options), motion, notes


def recorded(model: RobotModel, poses: Poses, cutoff: float | None) -> RecordedMotion:
    """Return the motion of poses."""
    return RecordedMotion.from_poses(model, poses.time, poses.base_position,
                                     poses.base_quaternion, poses.position, cutoff)


def _subject(osim: OpenSimModel, motion: RecordedMotion, options: GaitOptions) -> Subject:
    bodies, notes = feet_of(osim, options.feet), list(osim.notes)
    frames: dict[str, tuple[str, Transform]] = {}
    found: list[Foot]
    if options.point_radius is not None:
        found = [PointFoot(name, options.point_radius) for name in bodies]
    else:
        frames, feet, said = sole_frames(osim, bodies, motion, options.sole)
        found, notes = [*feet], [*notes, *said]
    links, joints = osim.parts(frames)
    config = replace(RobotConfig.from_parameters({}), feet=tuple(found))
    return Subject(osim.robot(frames), config, {}, {}, '', urdf_text(osim.name, links, joints),
                   notes, {frame: body for frame, (body, _) in frames.items()})


def measured_forces(options: GaitOptions, subject: Subject,
                    demand: GroundDemand) -> tuple[Plates, list[str]]:
    """
    Return the truth of each foot from a file of measured forces, and what is odd about it.

    Raises
    ------
    LeggedDynamicsError
        When the file cannot be read, or is of another trial.

    """
    loads, notes = read_loads(options.loads)
    if Path(options.loads).suffix.lower() == '.c3d':
        if not loads:
            raise MeasurementError(f'{options.loads}: expected force plates, got none')
        loads, turned = turned_to(loads, demand)
        notes += [turned] if turned else []
    plates, more = plates_of(loads, demand, subject.bodies)
    return plates, [*notes, *more]
