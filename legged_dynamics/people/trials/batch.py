# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Inverse dynamics of many trials: one data set (Parquet), a table and a report.

Each trial is a job as the bags of a fleet are (:mod:`legged_dynamics.recordings.fleet.batch`).
"""
from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import ModelWarning
from legged_dynamics.pages.page import Table, command_line, shown
from legged_dynamics.pages.section import Listing, Part, Report, ReportSection
from legged_dynamics.people.gait.stance_detection import runs
from legged_dynamics.people.trials.analysis import GaitResult, analyse_gait
from legged_dynamics.people.trials.coordinates import LOADS
from legged_dynamics.people.trials.report import doubts
from legged_dynamics.people.trials.subject import GaitOptions
from legged_dynamics.recordings.file_formats import (
    C3D,
    LOADS_XML,
    OPENSIM_TABLE,
    FileFormat,
    format_of,
)
from legged_dynamics.recordings.fleet import data_set as schema
from legged_dynamics.recordings.fleet.batch import Job, JobRows, Outcome, name_of, source_of
from legged_dynamics.recordings.fleet.data_set import DataSet
from legged_dynamics.recordings.fleet.report import counted, data_section, failed_sections, warned
from legged_dynamics.recordings.series import WRENCH, XYZ, columns_of

# -------------------------------------------------------------------------------------------------
# Trials in a folder: each motion with the model and the measured forces that belong to it.
#
# Folders are taken as they come from a laboratory, from OpenCap (``OpenSimData/Kinematics``,
# ``OpenSimData/Model``, ``ForceData``) or from Pose2Sim (``kinematics``). A motion is a table of
# coordinates; its model is the nearest one in the folders above it; its forces have its name.


# Endings that say what a file of a trial holds, and are no part of the trial's name.
_MOTION = re.compile(r'[_-](ik|kinematics|coordinates|coordinates_updated)$', re.I)
_FORCES = re.compile(r'[_-](grf|grfs|forces?|loads|external_?loads|grf_move|fp)$', re.I)
# Files of ours and of OpenSim's tools that hold results, and no recording.
_RESULTS = {'inverse_dynamics.sto', 'external_loads.mot'}
_ENDS_OF_RESULTS = ('_moment', '_force', '_beta')
# Folders that are named after what is in them, and not after a person.
_CONTENTS = {'opensimdata', 'kinematics', 'ik', 'inversekinematics', 'mocap'}
# What is taken of several files of forces: XML names the body that each acts on.
_ORDER_OF_LOADS = (LOADS_XML, OPENSIM_TABLE, C3D)


@dataclass(frozen=True)
class TrialFiles:
    """The files of one trial."""

    name: str  # Of the motion, without ending
    # Folder of the person: the one right below the folder that was given, or that folder
    person: str
    motion: Path  # Table of coordinates
    model: Path | None  # OpenSim model; None when there is none, or several that fit alike
    loads: Path | None  # Measured forces
    doubt: str = ''  # Why there is no model; empty when there is one


def find_trials(places: Iterable[Path]) -> list[TrialFiles]:
    """Return the trials below some folders, in path order."""
    found: dict[Path, TrialFiles] = {}
    for place in places:
        if not place.exists():
            raise ConfigurationError(f'there is no folder and no file at {place}')
        root = place.resolve()
        motions = [root] if root.is_file() else list(_motions(root))
        if not motions:
            raise ConfigurationError(
                f'{place} holds no motion: expected tables of coordinates (.mot, .sto) as '
                "OpenSim's inverse kinematics writes them, at any depth")
        top = root.parent if root.is_file() else root
        for motion in motions:
            inside = motion.relative_to(top).parts
            named = len(inside) > 1 and inside[0].lower() not in _CONTENTS
            if motion not in found:
                name, (model, doubt) = _MOTION.sub('', motion.stem), _model_of(motion, top)
                found[motion] = TrialFiles(name, inside[0] if named else top.name, motion, model,
                                           _loads_of(motion, name, top), doubt)
    return [found[motion] for motion in sorted(found)]


def _motions(root: Path) -> Iterator[Path]:
    """Yield the tables of coordinates below a folder; folders with our results are left out."""
    entries = sorted(root.iterdir())
    if any(entry.name == 'inverse_dynamics.csv' for entry in entries):
        return
    for entry in entries:
        if entry.is_dir():
            if not entry.name.startswith('.') and not entry.is_symlink():
                yield from _motions(entry)
        elif format_of(entry) is OPENSIM_TABLE and entry.name not in _RESULTS \
                and _holds_coordinates(entry):
            yield entry


def _holds_coordinates(path: Path) -> bool:
    """Return whether a table holds coordinates, by its name and those of its columns."""
    if _FORCES.search(path.stem):
        return False
    try:
        with path.open(encoding='utf-8-sig', errors='replace') as file:
            for line in file:
                if line.strip().lower() == 'endheader':
                    break
            names = next((line.split() for line in file if line.strip()), [])[1:]
    except OSError:
        return False
    others = sum(name.endswith(_ENDS_OF_RESULTS) or any(part in name for part in LOADS)
                 for name in names)
    return bool(names) and others <= len(names) / 2


def _near(motion: Path, top: Path) -> Iterator[list[Path]]:
    """Yield what is in the motion's folder, then in each above it and right in those, to `top`."""
    yield sorted(motion.parent.iterdir())
    for folder in motion.parents:
        entries = sorted(folder.iterdir())
        yield entries + [inside for entry in entries if entry.is_dir()
                         and not entry.name.startswith('.') for inside in sorted(entry.iterdir())]
        if folder == top:
            return


def _model_of(motion: Path, top: Path) -> tuple[Path | None, str]:
    for entries in _near(motion, top):
        models = [entry for entry in entries if entry.suffix.lower() == '.osim']
        if len(models) == 1:
            return models[0], ''
        if models:
            # Of several, the one named as the motion is, or else the scaled one.
            shared = [len(os.path.commonprefix([model.stem, motion.stem]))     # noqa: RUF071
                      for model in models]
            best = [model for model, length in zip(models, shared) if length == max(shared)]
            scaled = [model for model in models if 'scaled' in model.stem.lower()]
            for chosen in (best if max(shared) > 2 else [], scaled):
                if len(chosen) == 1:
                    return chosen[0], ''
            return None, (f'several models fit ({", ".join(model.name for model in models)}): '
                          'give one with --model')
    return None, 'there is no OpenSim model (.osim) beside it or above: give one with --model'


def _loads_of(motion: Path, name: str, top: Path) -> Path | None:
    for entries in _near(motion, top):
        found: dict[FileFormat, Path] = {}
        for entry in entries:
            kind = format_of(entry)
            if kind in _ORDER_OF_LOADS and entry != motion and entry.is_file():
                bare = _FORCES.sub('', entry.stem)
                # A table or XML file of forces says so in its name; a C3D file has the trial's.
                if bare == name and (bare != entry.stem or kind is C3D):
                    found.setdefault(kind, entry)
        for kind in _ORDER_OF_LOADS:
            if kind in found:
                return found[kind]
    return None


# -------------------------------------------------------------------------------------------------


RECORDED = 'as recorded'
TOGETHER = 'together'
# Notes on the page at most, those of most trials first.
MOST_NOTES = 12


def trials_data(out: Path) -> DataSet:
    """Return the data set of trials below a folder, partitioned by person."""
    return DataSet(out, schema.TRIAL_TABLES, ('person',))


@dataclass(frozen=True)
class TrialJob(Job):
    """One trial; its options name the model and the forces."""

    files: TrialFiles

    @property
    def data(self) -> DataSet:
        """Return the data set of trials."""
        return trials_data(self.out)

    def rows(self) -> JobRows:
        """Return what the report of the trial says."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always', ModelWarning)
            result, _ = analyse_gait(self.path, self.options)
        tables: dict[schema.TableSchema, schema.Rows] = {
            schema.TRIAL_FEET: _foot_rows(result), schema.TRIAL_ERRORS: _error_rows(result)}
        if self.series:
            tables |= {schema.TRIAL_FOOT_SERIES: _foot_series(result),
                       schema.TRIAL_JOINT_SERIES: _joint_series(result)}
        reasons = doubts(result)
        return (self.files.person,), {
            'trial': self.files.name, 'model': self.options.urdf, 'loads': self.options.loads,
            'duration': float(np.ptp(result.motion.time)), 'samples': len(result.motion),
            'mass': result.model.total_mass, 'weight': result.weight, 'method': result.method,
            'trusted': not reasons, 'doubts': reasons,
            'notes': [*result.notes, *dict.fromkeys(str(warning.message) for warning in said)],
            'unsupported': float((~result.reactions.supported).mean()),
            'lag': result.alignment.lag if result.alignment else np.nan}, tables


def jobs_of(trials: Iterable[TrialFiles], options: GaitOptions, out: Path,
            series: bool = True) -> tuple[list[TrialJob], list[Outcome]]:
    """Return a job for each trial, and an outcome for each that has no model."""
    jobs, failed = [], []
    for trial in trials:
        name = name_of(trial.name, trial.motion)
        if trial.model is None and not options.urdf:
            failed.append(Outcome(name, str(trial.motion), trial.doubt))
            continue
        own = replace(options, urdf=options.urdf or str(trial.model),
                      loads=options.loads or str(trial.loads or ''), compare=False)
        files = [Path(path) for path in (trial.motion, own.urdf, own.loads)
                 if path and Path(path).is_file()]
        jobs.append(TrialJob(name, trial.motion, own, source_of(files, own, series),
                             out.resolve(), series, trial))
    return jobs, failed


# -------------------------------------------------------------------------------------------------
# Rows of the tables.


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
    error, recorded = result.errors.get(result.method), result.as_recorded
    found = {RECORDED: error} if recorded is None else {RECORDED: recorded, TOGETHER: error}
    return [{**vars(error), 'clocks': clocks, 'samples': error.count}
            for clocks, error in found.items() if error is not None]


def _foot_series(result: GaitResult) -> dict[str, Any]:
    r = result.reactions
    n, feet = len(r.time), len(r.feet)

    def flat(values: np.ndarray) -> np.ndarray:
        return values.reshape(n * feet, -1)

    return {
        'time': np.repeat(result.motion.time, feet), 'foot': list(r.feet) * n,
        'contact': r.contact.reshape(-1), **columns_of('', flat(r.wrench), WRENCH),
        **columns_of('world_', flat(r.force), WRENCH[:3]),
        **columns_of('center_of_pressure_', flat(r.center_of_pressure), XYZ)}


def _joint_series(result: GaitResult) -> dict[str, Any]:
    motion, names = result.motion, list(result.model.joint_names)
    return {'time': np.repeat(motion.time, len(names)), 'joint': names * len(motion),
            'position': motion.position.reshape(-1), 'velocity': motion.velocity.reshape(-1),
            'effort': result.reactions.joint_effort.reshape(-1)}


# -------------------------------------------------------------------------------------------------
# All of them.


def read_trials(data: DataSet) -> pd.DataFrame:
    """
    Return a row a trial by person and name, with its errors against plates.

    They are those with the clocks put together where they could be; `recorded`: as recorded.
    """
    trials = data.read(schema.TRIALS).to_pandas().sort_values(['person', 'trial'])
    errors = data.read(schema.TRIAL_ERRORS, (
        'recording', 'clocks', 'vertical', 'double', 'total')).to_pandas().set_index('recording')
    recorded = errors[errors['clocks'] == RECORDED]
    best = errors[errors['clocks'] == TOGETHER].combine_first(recorded)
    return trials.join(best, on='recording').join(
        recorded['vertical'].rename('recorded'), on='recording')


def trials_table(trials: pd.DataFrame) -> Table:
    """Return a table with a row per trial."""
    return Table('Trials', (
        'person', 'trial', 'duration [s]', 'mass [kg]', 'error [N]', 'as recorded [N]',
        'several feet [N]', 'sum of all feet [N]', 'plates late [ms]', 'trusted'), [
        (row['person'], row['trial'],
         *(shown(row[name], '.1f') for name in (
             'duration', 'mass', 'vertical', 'recorded', 'double', 'total')),
         shown(1e3 * row['lag'], '+.0f'), 'yes' if row['trusted'] else 'no')
        for _, row in trials.iterrows()])


def verdict_of(trials: pd.DataFrame, failed: Sequence[Outcome]) -> str:
    """Return the outcome of all trials in a sentence or two."""
    if trials.empty:
        return 'No trial could be analysed.'
    people = trials['person'].nunique()
    said = (f'{counted(len(trials), "trial")} of {people} '
            f'{"person" if people == 1 else "people"}; {trials["trusted"].sum()} deserve trust.')
    if failed:
        said += f' {counted(len(failed), "trial")} could not be analysed.'
    together = (trials['clocks'] == TOGETHER).any()
    for name, what in ((('vertical', ', with the clocks put together'),
                        ('recorded', ', as recorded')) if together else (('vertical', ''),)):
        own = trials.dropna(subset=name)
        if len(own):
            share = (own[name] / own['weight']).mean()
            said += (f' Against the plates of {counted(len(own), "trial")}{what}, the vertical '
                     f'force on a loaded foot errs by {own[name].mean():.0f} N rms, '
                     f'{100.0 * share:.1f} % of the weight.')
    return said


def write_trials_report(trials: pd.DataFrame, failed: Sequence[Outcome], out: Path) -> Path:
    """Write the page of all trials; return its path."""
    sections = [ReportSection('Trials', [
        'Errors are root mean squares of the vertical force on a foot that is truly loaded, '
        'against force plates; "several feet" while more than one is.', trials_table(trials)]),
        *failed_sections(failed, 'trial')]
    for column, heading in (('doubts', 'Why some do not deserve trust'),
                            ('notes', 'What to know')):
        each = trials.assign(name=trials['person'] + '/' + trials['trial']).explode(column)
        found = each.groupby(column)['name'].agg(list).sort_values(
            key=lambda names: -names.str.len(), kind='stable')
        said = [f'{text} ({", ".join(names[:6])}{", ..." if len(names) > 6 else ""})'
                for text, names in found.items()]
        if said:
            parts: list[Part] = [Listing(said[:MOST_NOTES])]
            if len(said) > MOST_NOTES:
                parts.append(f'{len(said) - MOST_NOTES} more are in the column {column} of the '
                             'table trials.')
            sections.append(ReportSection(heading, parts))
    sections.append(data_section('Summaries, errors and time series', 'person',
                                 'trial_foot_series'))
    return Report(
        'Inverse dynamics of many trials', counted(len(trials), 'trial') + '.', sections,
        command_line('legged-dynamics inverse-dynamics DIR'), verdict_of(trials, failed),
        bool(trials['vertical'].notna().any()), warnings=warned(failed, 'trial')).write(out)
