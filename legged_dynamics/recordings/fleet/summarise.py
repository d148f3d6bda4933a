# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The recordings of a batch, and the rows of each: what the report of one bag says, as tables."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import Fault, Mode
from legged_dynamics.exceptions import BagError
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.recordings.bags import METADATA, SUFFIXES
from legged_dynamics.recordings.fleet import data_set as schema
from legged_dynamics.recordings.fleet.batch import Job, JobRows, name_of, source_of
from legged_dynamics.recordings.fleet.data_set import DataSet
from legged_dynamics.recordings.recording import world_force
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.report.accuracy import STANDING, main_name
from legged_dynamics.recordings.report.analysis import Analysis, analyse, doubts
from legged_dynamics.recordings.series import WRENCH, XYZ, EstimateSeries, columns_of
from legged_dynamics.recordings.topics import namespace_of


def find_recordings(places: Iterable[Path]) -> dict[Path, str]:
    """Return all recordings below some places, with the name of the folder of each."""
    found: dict[Path, str] = {}
    for place in places:
        if not place.exists():
            raise BagError(f'there is no folder and no bag at {place}')
        root = place.resolve()
        below = list(_below(root))
        if not below:
            raise BagError(f'{place} holds no recording (a folder with {METADATA}, or files '
                           f'ending in {" or ".join(SUFFIXES)})')
        for path in below:
            inside = path.relative_to(root).parts
            found.setdefault(path, inside[0] if len(inside) > 1 else
                             root.name if path != root else root.parent.name)
    return found


def _below(root: Path) -> Iterator[Path]:
    """Yield recordings in a folder, sorted; folders of results are not looked into."""
    if root.is_file() or (root / METADATA).is_file():
        yield root
        return
    entries = sorted(root.iterdir())
    files = [entry for entry in entries if entry.is_file() and entry.suffix in SUFFIXES]
    if len(files) == 1 and not any((entry / METADATA).is_file() for entry in entries
                                   if entry.is_dir()):
        yield root          # a bag that was never closed: its folder is the recording
    else:
        yield from files
    for entry in entries:
        if entry.is_dir() and not entry.name.startswith('.') and not entry.is_symlink():
            yield from _below(entry)


def jobs_of(found: dict[Path, str], options: AnalysisOptions, out: Path, *,
            robot_folders: bool = False, series: bool = True) -> list[RecordingJob]:
    """
    Return a job for each recording, named by folder or file with a hash of the path.

    ``robot_folders``: the folder's name is the robot's; ``series``: keep time series.
    """
    # Which files are written of one bag is all the same here.
    options = replace(options, report=False, enriched=False, csv=False, storage='')
    files = [path.read_bytes() for path in (
        Path(options.robot), Path(options.urdf), *options.params_files) if path.is_file()]
    jobs = []
    for path, folder in found.items():
        own = [path] if path.is_file() else [one for one in path.iterdir() if one.is_file()]
        jobs.append(RecordingJob(
            name_of(path.stem, path), path, options,
            source_of(own, options, files, robot_folders, series), out.resolve(), series,
            folder if robot_folders else ''))
    return jobs


@dataclass(frozen=True)
class RecordingJob(Job):
    """One recording of a robot."""

    robot: str = ''     # Its name; empty: by its namespace or model

    @property
    def data(self) -> DataSet:
        """Return the data set of the fleet."""
        return DataSet(self.out)

    def rows(self) -> JobRows:
        """Return what the report of the recording says."""
        analysis = analyse(self.path, self.options, compare=False)
        force = world_force(analysis.series, analysis.series.foot_to_world, raw=False)
        space = namespace_of(analysis.topics.joint_states).strip('/').replace('/', '_')
        tables: dict[schema.TableSchema, schema.Rows] = {
            schema.FEET: _feet(analysis, force), schema.JOINTS: _joints(analysis.series),
            schema.INPUTS: [{**vars(entry), 'messages': entry.count, 'lost': entry.lost,
                             'longest': entry.worst_interval} for entry in analysis.inputs],
            schema.ERRORS: [{**vars(error), 'samples': error.count} for error in (
                *analysis.accuracy.feet, *analysis.accuracy.sums)]}
        if self.series:
            tables |= {schema.FOOT_SERIES: _foot_series(analysis, force),
                       schema.BASE_SERIES: _base_series(analysis.series)}
        start = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(
            microseconds=analysis.start_ns // 1000)
        return ((self.robot or space or analysis.robot.name, start.date().isoformat()),
                {'start': start, **_summary(analysis)}, tables)


# -------------------------------------------------------------------------------------------------
# Rows of the tables.


def _mean(values: np.ndarray) -> np.ndarray:
    """Return the mean over the samples of what is known; NaN where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(count, total / np.maximum(count, 1), np.nan)[()]


def _rms(values: np.ndarray) -> np.ndarray:
    return np.sqrt(_mean(values ** 2))


def _summary(analysis: Analysis) -> dict[str, Any]:
    series, faults, reasons = analysis.series, analysis.replay.faults, doubts(analysis)
    doing = {behaviour.name: behaviour.samples for behaviour in analysis.behaviours}
    standing = doing.pop(STANDING, np.zeros(len(series.stamp_ns), bool))
    wrench = series.base_residual.values
    force = np.linalg.norm(wrench[:, :3], axis=1)
    residual = _rms(force)
    second = series.time.astype(int)
    squares = np.bincount(second, np.nan_to_num(force) ** 2) / np.maximum(np.bincount(second), 1)
    gravity = np.linalg.norm(series.linear_acceleration.values[standing], axis=1)
    return {
        'model': analysis.robot.name, 'duration': analysis.duration,
        'messages': analysis.message_count, 'samples': len(second), 'weight': analysis.weight,
        'joints': list(series.joints), 'estimate': main_name(series), 'silent': analysis.silent,
        'standing': standing.mean(), 'gait': ''.join(doing), 'trusted': not reasons,
        'doubts': reasons, 'notes': analysis.notes, 'residual': residual,
        'residual_share': residual / analysis.weight,
        **columns_of('residual_mean_', _mean(wrench), WRENCH),
        'worst_at': float(squares.argmax()) if squares.any() else np.nan,
        'mass_error': series.mass_error.values[-1],
        **columns_of('gyro_bias_', _mean(series.angular_velocity.values[standing]), XYZ),
        'gravity_error': _mean(gravity) - GRAVITY,
        'without_effort': faults[Fault.NO_EFFORT], 'without_imu': faults[Fault.NO_IMU],
        'restarts': faults[Fault.GAP] + faults[Fault.TIME_JUMPED_BACK],
        'refused': analysis.replay.refused.total()}


def _feet(analysis: Analysis, force: np.ndarray) -> dict[str, Any]:
    series, vertical = analysis.series, force[:, :, 2]
    contact = series.contact.values
    impulse = np.nansum(vertical, axis=0)
    columns: dict[str, Any] = {
        'foot': list(series.feet), 'duty': contact.mean(axis=0),
        'load': _mean(np.where(contact, vertical, np.nan)),
        'load_share': impulse / (impulse.sum() if impulse.sum() > 0.0 else np.nan),
        'peak': np.fmax.reduce(vertical, axis=0),
        'observable': _mean(np.where(contact, series.observable.values, np.nan)),
        'steps': (contact[1:] & ~contact[:-1]).sum(axis=0)}
    # Without heading, turning cannot be told from slip.
    turns = not analysis.replay.faults[Fault.NO_ORIENTATION] and analysis.topics.imu
    columns['slip'], columns['slip_largest'] = slip_of(series) if turns else np.full(
        (2, len(series.feet)), np.nan)
    columns['agreement'] = (np.array([score.agreement for score in analysis.contacts])
                            if analysis.contacts else np.full(len(series.feet), np.nan))
    return columns


def slip_of(series: EstimateSeries) -> np.ndarray:
    """
    Return how far each foot slides in a stance, in the mean and at most (2, nf) [m].

    The material point of a foot that touches the ground does not move while the foot rests or
    rolls. In level axes that travel with the base, its step from one sample to the next is minus
    the step of the base, the same for all feet on the ground. The difference of a foot from their
    mean is slip; with two feet down, each gets half of it. NaN without a stance of another foot.
    """
    R_WF, contact = series.foot_to_world, series.contact.values
    p_W, c_W = (np.einsum('nij,nfj->nfi', series.base_rotation.values, points.values)
                for points in (series.foot_position, series.contact_point))
    in_foot = np.einsum('nfji,nfj->nfi', R_WF, c_W - p_W)[:-1]
    step = p_W[1:] + np.einsum('nfij,nfj->nfi', R_WF[1:], in_foot) - c_W[:-1]
    step[:, :, 2] = 0.0         # level axes: feet leave uneven ground by their heights
    down = contact[:-1] & contact[1:]
    count = down.sum(axis=1)
    base = np.einsum('nf,nfi->ni', down.astype(float), step) / np.maximum(count, 1)[:, None]
    slid = np.where((down & (count > 1)[:, None])[:, :, None], step - base[:, None], 0.0)
    found = np.full((2, len(series.feet)), np.nan)
    for i in range(len(series.feet)):
        ways = [np.linalg.norm(slid[first:end, i].sum(axis=0))
                for first, end in runs(down[:, i]) if (count[first:end] > 1).any()]
        if ways:
            found[:, i] = np.mean(ways), max(ways)
    return found


def _joints(series: EstimateSeries) -> dict[str, Any]:
    effort, rest = series.effort.values, series.external_torque.values
    return {'joint': list(series.joints), 'effort': _rms(effort),
            'measured': np.isfinite(effort).mean(axis=0), 'residual': _rms(rest),
            'residual_mean': _mean(rest)}


def _foot_series(analysis: Analysis, force: np.ndarray) -> dict[str, Any]:
    """Return an estimate's feet one after the other; the schema makes it single precision."""
    series, truth = analysis.series, analysis.truth
    n, feet = len(series.stamp_ns), len(series.feet)

    def flat(values: np.ndarray) -> np.ndarray:
        return values.reshape(-1, *values.shape[2:])

    true = flat(truth.force)
    unknown = ~np.isfinite(true).all(axis=1)
    return {
        'stamp_ns': np.repeat(series.stamp_ns.values, feet), 'time': np.repeat(series.time, feet),
        'foot': list(series.feet) * n, 'contact': flat(series.contact.values),
        'contact_probability': flat(series.probability.values),
        'observable': flat(series.observable.values),
        **columns_of('', flat(series.published), WRENCH),
        **columns_of('raw_', flat(series.raw_wrench.values), WRENCH),
        **columns_of('world_', flat(force), WRENCH[:3]),
        'true_contact': np.ma.array(flat(truth.contact), mask=unknown),
        **columns_of('true_', np.ma.array(true, mask=np.repeat(unknown[:, None], 3, axis=1)),
                   WRENCH[:3])}


def _base_series(series: EstimateSeries) -> dict[str, Any]:
    modes = np.array([mode.name.lower() for mode in Mode])
    quaternion = Rotation.from_matrix(series.base_rotation.values).as_quat()
    return {
        'stamp_ns': series.stamp_ns.values, 'time': series.time,
        'mode': modes[series.mode.values],
        **columns_of('center_of_pressure_', series.center_of_pressure.values, XYZ),
        **columns_of('residual_', series.base_residual.values, WRENCH),
        'mass_error': series.mass_error.values,
        **columns_of('orientation_', quaternion, (*XYZ, 'w')),
        'external_torque': list(series.external_torque.values)}
