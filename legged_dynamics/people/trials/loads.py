# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Measured forces: OpenSim's external loads (.xml, .mot, .sto), and force plates of C3D files.

A load is a force over time, its point of application, and a free moment there, in our axes (z up).
Loads that do not name a foot are assigned to the foot under whose sole they act.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.ndimage import uniform_filter1d

from legged_dynamics.exceptions import MeasurementError, reraised
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.people.opensim.document import text_of
from legged_dynamics.people.opensim.reader import TO_OURS
from legged_dynamics.people.trials.accuracy import LOADED, Plates
from legged_dynamics.people.trials.c3d import ExternalLoad, read_c3d
from legged_dynamics.people.trials.coordinates import Storage, read_storage
from legged_dynamics.people.trials.csv_motion import interpolated
from legged_dynamics.recordings.file_formats import (
    C3D,
    LOADS,
    LOADS_XML,
    OPENSIM_TABLE,
    format_of,
    readable,
)


def read_loads(path: str | Path) -> tuple[list[ExternalLoad], list[str]]:
    """Return the loads in an OpenSim or C3D file, and notes."""
    path, found = Path(path), format_of(path)
    if found not in READERS:
        raise MeasurementError(f'--loads: expected {readable(LOADS)}, got {path}')
    return READERS[found](path)


def _of_xml(path: Path) -> tuple[list[ExternalLoad], list[str]]:
    with reraised(MeasurementError, f'cannot read {path}', (OSError, ElementTree.ParseError)):
        root = ElementTree.parse(path).getroot()
    every = root.find('.//ExternalLoads')
    if every is None:
        raise MeasurementError(f'{path}: expected <ExternalLoads>, got {root.tag}')
    said = text_of(every, 'datafile')
    # The path may be of another computer: then the name is looked for in this folder.
    places = (path.parent / said, path.parent / Path(said.replace('\\', '/')).name)
    data = next((place for place in places if place.is_file()), None)
    if data is None:
        raise MeasurementError(f'{path}: its <datafile> {said!r} is not there; put it beside the '
                               'file, or give the table itself')
    table, found, notes = read_storage(data), [], []
    for force in every.iter('ExternalForce'):
        name = force.get('name', '')
        if text_of(force, 'isDisabled') == 'true' or text_of(force, 'appliesForce') == 'false':
            continue
        for tag in ('force_expressed_in_body', 'point_expressed_in_body'):
            if text_of(force, tag).split('/')[-1] not in ('ground', ''):
                raise MeasurementError(f'{path}: {name!r} is expressed in '
                                       f'{text_of(force, tag)!r}; expected the ground')
        parts = [text_of(force, f'{part}_identifier') for part in ('force', 'point', 'torque')]
        if not parts[1]:
            notes.append(f'{path.name}: {name!r} does not say where it acts, and is left out.')
            continue
        found.append(_load(table, name, text_of(force, 'applied_to_body').split('/')[-1], data,
                           *parts))
    if not found:
        raise MeasurementError(f'{path}: expected at least one ExternalForce with a point, got '
                               'none')
    return found, notes


def _of_table(path: Path) -> tuple[list[ExternalLoad], list[str]]:
    table, found = read_storage(path), []
    for name in table.names:
        match = re.fullmatch(r'(.*force.*?_?)vx', name)
        if match:
            stem = match[1]
            torque = next((other for other in (stem.replace('force', 'torque'), f'{stem}m',
                                               stem.replace('force', 'moment') + 'm')
                           if f'{other}x' in table.names), '')
            found.append(_load(table, stem.rstrip('_'), '', path, f'{stem}v', f'{stem}p', torque))
    if not found:
        raise MeasurementError(f"{path}: expected columns '..force_vx', '..force_px' and so on, "
                               f'got {", ".join(table.names[:8])}; an .xml file of external loads '
                               'names columns that are called otherwise')
    return found, []


READERS = {LOADS_XML: _of_xml, OPENSIM_TABLE: _of_table,
           C3D: lambda path: (read_c3d(path).loads, [])}


def _load(table: Storage, name: str, body: str, path: Path, force: str, point: str,
          torque: str) -> ExternalLoad:
    place = {other: k for k, other in enumerate(table.names)}

    def columns(stem: str) -> np.ndarray:
        missing = [f'{stem}{axis}' for axis in 'xyz' if f'{stem}{axis}' not in place]
        if missing:
            raise MeasurementError(f'{path}: no column {", ".join(missing)} for the load '
                                   f'{name!r}; the columns are: {", ".join(table.names)}')
        values = table.values[:, [place[f'{stem}{axis}'] for axis in 'xyz']]
        return np.nan_to_num(values) @ TO_OURS.T

    moment = columns(torque) if torque else np.zeros((len(table.values), 3))
    return ExternalLoad(name, body, table.values[:, 0], columns(force), columns(point), moment)


# -------------------------------------------------------------------------------------------------
# The true force on each foot: which foot is on which plate, and when that is known.


@dataclass(frozen=True)
class StepSettings:
    """Which foot is on which plate, chosen by the size of feet."""

    largest_distance: float = 0.10  # [m]: from a sole to the centre of pressure of its plate
    # Plates count where they measure this part of the force that the motion requires.
    measured_part: float = 0.75
    averaging_time: float = 0.1  # [s]: of that part


STEP = StepSettings()


def plates_of(loads: Sequence[ExternalLoad], dynamics: GaitInverseDynamics,
              bodies: Mapping[str, str]) -> tuple[Plates, list[str]]:
    """
    Return the true force on each foot at the motion's instants, and notes.

    By a load's body, else by step to the nearest sole. Not measured: steps off all soles,
    and instants with clearly less force than required, since a foot is beside the plates.
    """
    time, n, nf = dynamics.time, len(dynamics.time), len(dynamics.feet)
    force, moment = np.zeros((n, nf, 3)), np.zeros((n, nf, 3))
    inside, lost, notes = np.ones(n, bool), np.zeros(n, bool), []
    step = dynamics.step
    for load in loads:
        inside &= (time >= load.time[0] - step) & (time <= load.time[-1] + step)
        f, p, m = (_sampled(load, values, time, step, values is load.point)
                   for values in (load.force, load.point, load.moment))
        about_origin = m + np.cross(p, f)
        on = f[:, 2] > LOADED
        owner = [i for i, foot in enumerate(dynamics.feet)
                 if load.body in (foot.link, bodies.get(foot.link, ''))]
        if load.body and not owner:
            notes.append(f'Load {load.name!r} acts on {load.body}, which is not a foot: instants '
                         'in which it does are not compared.')
            lost |= on
            continue
        if owner:
            force[:, owner[0]] += f
            moment[:, owner[0]] += about_origin
            continue
        for run in (np.arange(*ends) for ends in runs(on)):
            nearest = _nearest(dynamics, run, p[run], f[run, 2])
            if nearest is None:
                lost[run] = True
            else:
                force[run, nearest] += f[run]
                moment[run, nearest] += about_origin[run]
    if not inside.any():
        first, last = min(load.time[0] for load in loads), max(load.time[-1] for load in loads)
        raise MeasurementError(f'expected forces from {time[0]:g} to {time[-1]:g} s, as the '
                               f'motion has it, got them from {first:g} to {last:g} s: are they '
                               'of the same trial?')
    if lost.any():
        notes.append(f'In {100.0 * lost.mean():.0f} % of the samples a plate is loaded beside all '
                     'soles, or by two feet: these are not compared.')
    size = max(round(STEP.averaging_time / step), 1)
    required, measured = (uniform_filter1d(values, size, mode='nearest')
                    for values in (dynamics.wrench[:, 2], force[..., 2].sum(axis=1)))
    short = measured < STEP.measured_part * required - 0.05 * dynamics.weight
    if (short & inside).any():
        notes.append(f'In {100.0 * (short & inside).mean():.0f} % of the samples the plates bear '
                     'clearly less than the motion asks for: a foot is beside them, and these are '
                     'not compared.')
    return Plates(force, inside & ~lost & ~short, moment), notes


def turned_to(loads: Sequence[ExternalLoad], dynamics: GaitInverseDynamics
              ) -> tuple[list[ExternalLoad], str]:
    """
    Return loads in the axes of the motion, and a note on the rotation.

    Of all rotations by quarter turns, the one with loads where the soles are.
    """
    from scipy.spatial.transform import Rotation  # slow to import

    turns = sorted(Rotation.create_group('O').as_matrix(), key=lambda R: -float(np.trace(R)))
    best, least = turns[0], np.inf
    for R in turns:
        misses, weight = 0.0, 0.0
        for load in loads:
            f, p = (_sampled(load, values @ R.T, dynamics.time, dynamics.step,
                             values is load.point)
                    for values in (load.force, load.point))
            on = np.flatnonzero(f[:, 2] > LOADED)
            if len(on):
                away = np.min([_distance_to_sole(dynamics, i, on, p[on])
                               for i in range(len(dynamics.feet))], axis=0)
                misses += float(np.sum(f[on, 2] * np.minimum(away, 1.0)))
                weight += float(np.sum(f[on, 2]))
        mean = misses / weight if weight > 0.1 * dynamics.weight else np.inf
        if mean < 0.5 * least:
            best, least = R, mean
    if least > STEP.largest_distance:
        raise MeasurementError('the force plates press '
                               + ('nowhere while the motion lasts' if np.isinf(least) else
                                  f'{least:.2f} m beside the soles on average')
                               + ': expected plates and motion of the same trial, in axes that '
                               'differ by quarter turns at most')
    if np.allclose(best, np.eye(3)):
        return list(loads), ''
    moved = [replace(load, force=load.force @ best.T, point=load.point @ best.T,
                     moment=load.moment @ best.T) for load in loads]
    axes = ', '.join(f'{name} is their {"-" if row.min() < -0.5 else ""}'
                     f'{"xyz"[int(np.argmax(np.abs(row)))]}' for name, row in zip('xyz', best))
    return moved, f'The axes of the force plates were turned to those of the motion: {axes}.'


def _sampled(load: ExternalLoad, values: np.ndarray, time: np.ndarray, step: float,
             by_force: bool = False) -> np.ndarray:
    """Return values of a load at the motion's times, averaged where its rate is higher."""
    size = max(round(step / float(np.median(np.diff(load.time)))), 1)
    if size > 1:
        # The point has no meaning without load, and must not be averaged into the steps.
        weight = 1.0 + 1e6 * by_force * np.linalg.norm(load.force, axis=1)[:, None]
        values = uniform_filter1d(values * weight, size, axis=0, mode='nearest') / (
            uniform_filter1d(weight, size, axis=0, mode='nearest'))
    return interpolated(load.time, values, time)


def _nearest(dynamics: GaitInverseDynamics, run: np.ndarray, point: np.ndarray,
             weight: np.ndarray) -> int | None:
    """Return the foot to which a step belongs, or None when no sole is near."""
    away = [np.average(_distance_to_sole(dynamics, i, run, point), weights=weight)
            for i in range(len(dynamics.feet))]
    best = int(np.argmin(away))
    return best if away[best] < STEP.largest_distance else None


def _distance_to_sole(dynamics: GaitInverseDynamics, i: int, samples: np.ndarray,
                      point: np.ndarray) -> np.ndarray:
    """Return the distance of points from one sole, (k,) [m]; near heights count as 0."""
    origin = (dynamics.base_position + dynamics.foot_arm[:, i])[samples]
    local = np.einsum('nji,nj->ni', dynamics.foot_rotation[samples, i], point - origin)
    foot = dynamics.feet[i]
    if len(foot.corners) == 1:
        return np.linalg.norm((point - origin)[:, :2], axis=1)
    front, back, left, right = foot.edges
    x = local[:, 0] - np.clip(local[:, 0], back, front)
    y = local[:, 1] - np.clip(local[:, 1], right, left)
    # A foot that swings over a plate is far above it.
    above = np.maximum(np.abs(local[:, 2]) - STEP.largest_distance, 0.0)
    return np.sqrt(x ** 2 + y ** 2 + above ** 2)
