# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Inverse dynamics of many trials: one data set (Parquet), a table and a report.

Each trial is a job for a worker process, on this machine or on a Dask cluster, as for the bags of
a fleet (:mod:`legged_dynamics.reports.fleet`); what was done already, with the same options and
files, is not done again. A trial that cannot be read is named and does not stop the others.
"""
from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.gait.stance_detection import runs
from legged_dynamics.model import ModelWarning
from legged_dynamics.reports.fleet import data_set as schema
from legged_dynamics.reports.fleet.data_set import WRENCH, XYZ, DataSet, RecordingWriter
from legged_dynamics.reports.fleet.report import counted
from legged_dynamics.reports.fleet.summarise import Outcome
from legged_dynamics.reports.page import Table, command_line, versions
from legged_dynamics.reports.section import Listing, Part, Report, ReportSection
from legged_dynamics.trials.accuracy import FootErrors
from legged_dynamics.trials.analysis import GaitResult, analyse_gait
from legged_dynamics.trials.folder import TrialFiles
from legged_dynamics.trials.report import doubts
from legged_dynamics.trials.subject import GaitOptions

RECORDED, TOGETHER = 'as recorded', 'together'
# Notes on the page at most, those of most trials first.
MOST_NOTES = 12
_DIGEST = 8


def trials_data(out: Path) -> DataSet:
    """
    Return the data set of trials below a folder.

    Parameters
    ----------
    out : Path
        Folder of the batch's results.

    Returns
    -------
    DataSet
        Of `data_set.TRIAL_TABLES`, partitioned by person.

    """
    return DataSet(out, schema.TRIAL_TABLES, ('person',))


@dataclass(frozen=True)
class TrialJob:
    """
    One trial to be analysed; plain data, since it is sent to a worker.

    Attributes
    ----------
    recording : str
        Its name in the data set.
    files : TrialFiles
        Motion, model and measured forces.
    options : GaitOptions
        With the trial's model and forces.
    bytes, modified : int
        Size of the files [B] and time of the last change [ns].
    digest : str
        Of the options and the version of the package.
    out : Path
        Folder of the batch's results.
    series : bool
        Whether time series are kept.

    """

    recording: str
    files: TrialFiles
    options: GaitOptions
    bytes: int
    modified: int
    digest: str
    out: Path
    series: bool = True

    @property
    def path(self) -> Path:
        """The motion."""
        return self.files.motion


def jobs_of(trials: Iterable[TrialFiles], options: GaitOptions, out: Path,
            series: bool = True) -> tuple[list[TrialJob], list[Outcome]]:
    """
    Return a job for each trial, and an outcome for each that has no model.

    Parameters
    ----------
    trials : iterable of TrialFiles
        As `find_trials` returns them.
    options : GaitOptions
        For all of them; a model or forces in them hold for every trial.
    out : Path
        Folder of the batch's results.
    series : bool
        Whether time series are kept.

    Returns
    -------
    jobs : list of TrialJob
    failed : list of Outcome
        Trials that cannot be analysed, and why.

    """
    jobs, failed = [], []
    for trial in trials:
        mark = hashlib.sha256(os.fsencode(trial.motion)).hexdigest()[:_DIGEST]
        name = f'{trial.name}-{mark}'
        if trial.model is None and not options.urdf:
            failed.append(Outcome(name, str(trial.motion), False, 0.0, trial.doubt))
            continue
        own = replace(options, urdf=options.urdf or str(trial.model),
                      loads=options.loads or str(trial.loads or ''), compare=False)
        states = [Path(path).stat() for path in (trial.motion, own.urdf, own.loads)
                  if path and Path(path).is_file()]
        jobs.append(TrialJob(
            name, trial, own, sum(state.st_size for state in states),
            max(state.st_mtime_ns for state in states), _digest(own, series), out.resolve(),
            series))
    return jobs, failed


def _digest(options: GaitOptions, series: bool) -> str:
    """Return a digest of the options and of the package's version."""
    said = [(field.name, repr(getattr(options, field.name))) for field in fields(options)]
    return hashlib.sha256(repr((said, series, versions().split(',')[0])).encode()
                          ).hexdigest()[:16]


# -------------------------------------------------------------------------------------------------
# One trial, on a worker.


def summarise_trial(job: TrialJob) -> Outcome:
    """
    Analyse a trial and write its rows.

    Parameters
    ----------
    job : TrialJob
        The trial and its options.

    Returns
    -------
    Outcome
        Whether it is in the data set, or why it is not.

    Raises
    ------
    OutputError
        When the data set cannot be written.

    """
    begin = time.process_time()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always', ModelWarning)
            result, _ = analyse_gait(job.path, job.options)
    except LeggedDynamicsError as error:
        return Outcome(job.recording, str(job.path), False, time.process_time() - begin,
                       ' '.join(str(error).split()))
    reasons = doubts(result)
    notes = [*result.notes, *dict.fromkeys(str(warning.message) for warning in said)]
    with RecordingWriter(trials_data(job.out), (job.files.person,), job.recording) as out:
        out.add_rows(schema.TRIAL_FEET, _foot_rows(result))
        out.add_rows(schema.TRIAL_ERRORS, _error_rows(result))
        if job.series:
            out.add(schema.TRIAL_FOOT_SERIES, _foot_series(result))
            out.add(schema.TRIAL_JOINT_SERIES, _joint_series(result))
        lag = result.alignment.lag if result.alignment else np.nan
        out.add_rows(schema.TRIALS, [{
            'trial': job.files.name, 'path': str(job.path), 'model': job.options.urdf,
            'loads': job.options.loads, 'duration': float(np.ptp(result.motion.time)),
            'samples': len(result.motion), 'mass': result.model.total_mass,
            'weight': result.weight, 'method': result.method, 'trusted': not reasons,
            'doubts': reasons, 'notes': notes,
            'unsupported': float((~result.reactions.supported).mean()), 'lag': lag,
            'cpu': time.process_time() - begin, 'written': datetime.now(timezone.utc),
            'source_bytes': job.bytes, 'source_modified': job.modified, 'options': job.digest}])
    return Outcome(job.recording, str(job.path), not reasons,
                   time.process_time() - begin)


def _foot_rows(result: GaitResult) -> list[dict[str, Any]]:
    r, rows = result.reactions, []
    for i, foot in enumerate(r.feet):
        on, force = r.contact[:, i], r.force[:, i, 2]
        rows.append({'foot': foot, 'duty': float(on.mean()),
                     'load': float(force[on].mean()) if on.any() else 0.0,
                     'peak': float(force.max()),
                     'stances': sum(first > 0 for first, _ in runs(on))})
    return rows


def _error_rows(result: GaitResult) -> list[dict[str, Any]]:
    found: dict[str, FootErrors | None] = {RECORDED: result.errors.get(result.method),
                                           TOGETHER: result.together}
    return [{'clocks': clocks, 'samples': error.count, 'vertical': error.vertical,
             'single': error.single, 'double': error.double, 'fore_aft': error.fore_aft,
             'sideways': error.sideways, 'total': error.total, 'agreement': error.agreement}
            for clocks, error in found.items() if error is not None]


def _foot_series(result: GaitResult) -> dict[str, Any]:
    r = result.reactions
    n, feet = len(r.time), len(r.feet)

    def flat(values: np.ndarray) -> np.ndarray:
        return np.asarray(values, np.float32).reshape(n * feet, -1)

    columns: dict[str, Any] = {
        'time': np.repeat(result.motion.time, feet), 'foot': list(r.feet) * n,
        'contact': r.contact.reshape(-1)}
    for prefix, values, axes in (('', r.wrench, WRENCH), ('world_', r.force, WRENCH[:3]),
                                 ('center_of_pressure_', r.center_of_pressure, XYZ)):
        rows = flat(values)
        columns |= {prefix + axis: rows[:, k] for k, axis in enumerate(axes)}
    return columns


def _joint_series(result: GaitResult) -> dict[str, Any]:
    motion, names = result.motion, list(result.model.joint_names)

    def flat(values: np.ndarray) -> np.ndarray:
        return np.asarray(values, np.float32).reshape(-1)

    return {'time': np.repeat(motion.time, len(names)), 'joint': names * len(motion),
            'position': flat(motion.position), 'velocity': flat(motion.velocity),
            'effort': flat(result.reactions.joint_effort)}


# -------------------------------------------------------------------------------------------------
# All of them.


def trials_table(data: DataSet) -> Table:
    """
    Return what came out of each trial.

    Parameters
    ----------
    data : DataSet
        As `trials_data` returns it.

    Returns
    -------
    Table
        A row a trial, sorted by person and name.

    """
    errors = {(row['recording'], row['clocks']): row
              for row in data.read(schema.TRIAL_ERRORS).to_pylist()}
    rows = []
    for row in sorted(data.read(schema.TRIALS).to_pylist(),
                      key=lambda row: (row['person'], row['trial'])):
        recorded = errors.get((row['recording'], RECORDED))
        together = errors.get((row['recording'], TOGETHER), recorded)
        rows.append((
            row['person'], row['trial'], f'{row["duration"]:.1f}', f'{row["mass"]:.1f}',
            *('-' if error is None else f'{error["vertical"]:.1f}'
              for error in (recorded, together)),
            *('-' if together is None or not np.isfinite(together[name])
              else f'{together[name]:.1f}' for name in ('double', 'total')),
            '-' if recorded is None or not np.isfinite(row['lag'])
            else f'{1e3 * row["lag"]:+.0f}',
            'yes' if row['trusted'] else 'no'))
    return Table('Trials', (
        'person', 'trial', 'duration [s]', 'mass [kg]', 'error [N]', 'clocks together [N]',
        'several feet [N]', 'sum of all feet [N]', 'plates late [ms]', 'trusted'), rows)


def verdict_of(data: DataSet, failed: Sequence[Outcome]) -> str:
    """
    Return what came out of all trials, in a sentence or two.

    Parameters
    ----------
    data : DataSet
        As `trials_data` returns it.
    failed : sequence of Outcome
        Trials that could not be analysed.

    Returns
    -------
    str

    """
    rows = data.read(schema.TRIALS, ('recording', 'person', 'trusted', 'weight')).to_pylist()
    if not rows:
        return 'No trial could be analysed.'
    people = len({row['person'] for row in rows})
    said = (f'{counted(len(rows), "trial")} of {people} {"person" if people == 1 else "people"}; '
            f'{sum(row["trusted"] for row in rows)} deserve trust.')
    if failed:
        said += f' {counted(len(failed), "trial")} could not be analysed.'
    weights = {row['recording']: row['weight'] for row in rows}
    errors = data.read(schema.TRIAL_ERRORS).to_pylist()
    for clocks, what in ((RECORDED, 'as recorded'), (TOGETHER, 'with the clocks put together')):
        own = {row['recording']: row['vertical'] for row in errors if row['clocks'] == RECORDED}
        if clocks == TOGETHER:
            shifted = {row['recording']: row['vertical'] for row in errors
                       if row['clocks'] == TOGETHER}
            if not shifted:
                continue
            own |= shifted
        if own:
            share = np.mean([own[name] / weights[name] for name in own])
            said += (f' Against the plates of {counted(len(own), "trial")}, {what}, the vertical '
                     f'force on a loaded foot errs by {np.mean(list(own.values())):.0f} N rms, '
                     f'{100.0 * share:.1f} % of the weight.')
    return said


def write_trials_report(data: DataSet, failed: Sequence[Outcome], out: Path) -> Path:
    """
    Write the page of all trials.

    Parameters
    ----------
    data : DataSet
        As `trials_data` returns it.
    failed : sequence of Outcome
        Trials that could not be analysed.
    out : Path
        Folder of the batch's results.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    OutputError
        When it cannot be written.

    """
    table = trials_table(data)
    sections = [ReportSection('Trials', [
        'Errors are root mean squares of the vertical force on a foot that is truly loaded, '
        'against force plates; "several feet" while more than one is.', table])]
    if failed:
        sections.append(ReportSection('Trials that could not be analysed', [
            Listing([f'{outcome.path}: {outcome.error}' for outcome in failed])]))
    for column, heading in (('doubts', 'Why some do not deserve trust'),
                            ('notes', 'What to know')):
        found: dict[str, list[str]] = {}
        for row in data.read(schema.TRIALS, ('trial', 'person', column)).to_pylist():
            for text in row[column]:
                found.setdefault(text, []).append(f'{row["person"]}/{row["trial"]}')
        if found:
            said = [f'{text} ({", ".join(names[:6])}{", ..." if len(names) > 6 else ""})'
                    for text, names in sorted(found.items(), key=lambda item: -len(item[1]))]
            parts: list[Part] = [Listing(said[:MOST_NOTES])]
            if len(said) > MOST_NOTES:
                parts.append(f'{len(said) - MOST_NOTES} more are in the column {column} of the '
                             'table trials.')
            sections.append(ReportSection(heading, parts))
    sections.append(ReportSection('Data', [
        f'Summaries, errors and time series are a Parquet data set in {schema.FOLDER}/ beside '
        'this page, a folder a table, partitioned by person; for example '
        f"pandas.read_parquet('{schema.FOLDER}/trial_foot_series')."]))
    judged = data.read(schema.TRIAL_ERRORS, ('recording',)).num_rows > 0
    return Report(
        'Inverse dynamics of many trials', counted(len(table.rows), 'trial') + '.', sections,
        command_line('legged-dynamics inverse-dynamics DIR'), verdict_of(data, failed), judged,
        warnings=[f'{counted(len(failed), "trial")} could not be analysed: see below.']
        if failed else ()).write(out)
