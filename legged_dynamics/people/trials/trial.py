# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A person's trial: an OpenSim model with a motion of its own, and measured forces."""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import PointFoot, RobotConfig
from legged_dynamics.model.feet import FlatFoot, Foot
from legged_dynamics.model.urdf import urdf_text
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.opensim import OpenSimModel, read_osim
from legged_dynamics.people.trials.coordinates import (
    angle_unit,
    degrees_by_version,
    poses_of,
    read_coordinates,
    spans_of,
    without_contradictions,
)
from legged_dynamics.people.trials.csv_motion import read_motion
from legged_dynamics.people.trials.loads import plates_of, read_loads, turned_to
from legged_dynamics.people.trials.plates import Plates
from legged_dynamics.people.trials.subject import GaitOptions, Subject
from legged_dynamics.recordings.file_formats import C3D, MOTION, OPENSIM_TABLE, OSIM, format_of
from legged_dynamics.spatial.frames import Transform

# -------------------------------------------------------------------------------------------------
# Soles of a person's model.
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
        found, time, stated, others = read_coordinates(source)
        degrees, unit = angle_unit(found, stated, osim, degrees_by_version(source))
        found, contradicted = without_contradictions(found, degrees, osim)
        osim = osim.fitted(spans_of(found, degrees, osim))
        model = osim.robot()
        poses, notes = poses_of(source, found, time, degrees, osim, model,
                                options.missing_at_zero)
        notes = [*unit, *contradicted, *notes]
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
    links, joints = osim.parts(frames)
    config = replace(RobotConfig.from_parameters({}), feet=tuple(found))
    return Subject(osim.robot(frames), config, {}, {}, '', urdf_text(osim.name, links, joints),
                   notes, {frame: body for frame, (body, _) in frames.items()})


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
