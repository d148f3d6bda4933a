# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The recordings of a batch, and writing each into the data set.

A worker gets a job for each; its memory does not grow with the length of the recording.
"""
from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import Fault, Mode
from legged_dynamics.exceptions import BagError, ConfigurationError, LeggedDynamicsError
from legged_dynamics.recordings.bags import SUFFIXES, BagReader
from legged_dynamics.recordings.fleet import data_set as schema
from legged_dynamics.recordings.fleet.data_set import WRENCH, XYZ, DataSet, RecordingWriter
from legged_dynamics.recordings.fleet.tallies import (
    BaseTally,
    ErrorTally,
    FootTally,
    IntervalTally,
    JointTally,
    Window,
    each_window,
    force_of,
)
from legged_dynamics.recordings.recording import Truth, align_truth
from legged_dynamics.recordings.replay import AnalysisOptions, Preparation, Replay, prepare
from legged_dynamics.recordings.report.accuracy import ON_LINE, unexplained
from legged_dynamics.recordings.report.analysis import reasons_for_doubt
from legged_dynamics.recordings.series import InputStatistics, input_notes
from legged_dynamics.recordings.topics import namespace_of

if TYPE_CHECKING:
    from distributed import Client

DIGEST = 8          # letters of a hash that tell names apart
METADATA = 'metadata.yaml'


class BatchJob(Protocol):
    """A job of a batch: its name in the data set, its file, and what it depends on."""

    @property
    def recording(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def bytes(self) -> int: ...
    @property
    def modified(self) -> int: ...
    @property
    def digest(self) -> str: ...


AnyJob = TypeVar('AnyJob', bound=BatchJob)


@dataclass(frozen=True)
class Job:
    """
    One recording to be analysed; plain data, since it is sent to a worker.

    Attributes
    ----------
    recording : str
        Its name in the data set.
    path : Path
        Absolute.
    folder : str
        Name of the folder that it was found in, from which the robot may get its name.
    bytes, modified : int
        Size [B] and time of the last change [ns].
    options : AnalysisOptions
    digest : str
        Of the options.
    out : Path
        Folder of the batch's results.
    robot_folders : bool
        Whether the folder's name is the robot's.
    series : bool
        Whether time series are kept.

    """

    recording: str
    path: Path
    folder: str
    bytes: int
    modified: int
    options: AnalysisOptions
    digest: str
    out: Path
    robot_folders: bool = False
    series: bool = True


def is_recording(path: Path) -> bool:
    """Return whether a path is a bag's file, or a folder with such a file in it."""
    if path.is_file():
        return path.suffix in SUFFIXES
    return path.is_dir() and ((path / METADATA).is_file() or any(
        entry.suffix in SUFFIXES for entry in path.iterdir()))


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
            robot_folders: bool = False, series: bool = True) -> list[Job]:
    """
    Return a job for each recording, named by folder or file with a hash of the path.

    ``robot_folders``: the folder's name is the robot's; ``series``: keep time series.
    """
    digest = _options_digest(options, robot_folders, series)
    jobs = []
    for path, folder in found.items():
        size, modified = _extent(path)
        mark = hashlib.sha256(os.fsencode(path)).hexdigest()[:DIGEST]
        jobs.append(Job(f'{path.stem}-{mark}', path, folder, size, modified, options, digest,
                        out.resolve(), robot_folders, series))
    return jobs


def _options_digest(options: AnalysisOptions, *more: object) -> str:
    """Return a digest of all inputs but the bag: options, their files and the version."""
    from legged_dynamics.pages.page import versions

    digest = hashlib.sha256(repr((options.robot, options.urdf, options.params_files,
                                  dict(options.truth), options.valid, options.joint_states,
                                  options.imu, options.start, options.end, more)).encode())
    digest.update(versions().split(',')[0].encode())
    for path in (Path(options.robot), Path(options.urdf), *options.params_files):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def still_to_do(jobs: Sequence[AnyJob], there: Mapping[str, Mapping[str, object]]
                ) -> list[AnyJob]:
    """Return the jobs missing in the data set, or whose files or options have changed."""
    return [job for job in jobs if (known := there.get(job.recording)) is None or (
        known['source_bytes'], known['source_modified'], known['options']) != (
        job.bytes, job.modified, job.digest)]


def _extent(path: Path) -> tuple[int, int]:
    """Return size and last change of a recording's files."""
    files = [path] if path.is_file() else [entry for entry in path.iterdir() if entry.is_file()]
    states = [entry.stat() for entry in files]
    return sum(state.st_size for state in states), max(
        (state.st_mtime_ns for state in states), default=0)


# -------------------------------------------------------------------------------------------------
# Time series of a piece of a recording, as columns of the tables.


def _foot_rows(window: Window, force: np.ndarray, truth: Truth) -> dict[str, Any]:
    """Return the rows of a piece's own samples, a foot after the other within each sample."""
    import pyarrow as pa

    series, own = window.series, slice(window.first, window.last)
    n, feet = window.last - window.first, series.feet

    def flat(values: np.ndarray) -> np.ndarray:
        return values[own].reshape(n * len(feet), *values.shape[2:])

    names = pa.DictionaryArray.from_arrays(np.tile(np.arange(len(feet), dtype=np.int32), n),
                                           list(feet)).cast(pa.string())
    columns = {**_times(window, len(feet)), 'foot': names,
               'contact': flat(series.contact.values),
               'contact_probability': _single(flat(series.probability.values)),
               'observable': flat(series.observable.values)}
    for prefix, values, axes in (('', series.published, WRENCH),
                                 ('raw_', series.raw_wrench.values, WRENCH),
                                 ('world_', force, WRENCH[:3])):
        rows = _single(flat(values))
        columns |= {prefix + axis: rows[:, k] for k, axis in enumerate(axes)}
    true = _single(flat(truth.force))
    unknown = ~np.isfinite(true).all(axis=1)
    columns['true_contact'] = pa.array(flat(truth.contact), mask=unknown)
    columns |= {f'true_{axis}': pa.array(np.ascontiguousarray(true[:, k]), mask=unknown)
                for k, axis in enumerate(WRENCH[:3])}
    return columns


def _base_rows(window: Window) -> dict[str, Any]:
    """Return the rows of a piece's own samples."""
    import pyarrow as pa

    series, own = window.series, slice(window.first, window.last)
    modes = [Mode(mode).name.lower() for mode in range(max(Mode) + 1)]
    columns = {**_times(window, 1),
               'mode': pa.DictionaryArray.from_arrays(
                   series.mode.values[own].astype(np.int32), modes).cast(pa.string()),
               'mass_error': _single(series.mass_error.values[own])}
    quaternion = Rotation.from_matrix(series.base_rotation.values[own]).as_quat()
    for prefix, values, axes in (
            ('center_of_pressure', series.center_of_pressure.values[own], XYZ),
            ('residual', series.base_residual.values[own], WRENCH),
            ('orientation', quaternion, (*XYZ, 'w'))):
        rows = _single(values)
        columns |= {f'{prefix}_{axis}': rows[:, k] for k, axis in enumerate(axes)}
    torque = _single(series.external_torque.values[own])
    columns['external_torque'] = pa.ListArray.from_arrays(
        np.arange(0, torque.size + 1, max(torque.shape[1], 1), dtype=np.int32), torque.ravel())
    return columns


def _times(window: Window, repeat: int) -> dict[str, np.ndarray]:
    stamps = window.series.stamp_ns.values[window.first:window.last]
    return {'stamp_ns': np.repeat(stamps, repeat),
            'time': np.repeat((stamps - window.start_ns) * 1e-9, repeat)}


def _single(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, np.float32)


# -------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """Result of a job: whether the recording is in the data set, or why not."""

    recording: str
    path: str
    trusted: bool = True
    cpu: float = 0.0
    error: str = ''


def summarise(job: Job) -> Outcome:
    """
    Analyse a recording and write its rows; return the outcome.

    Faults of the recording are in the outcome; only what a retry may fix (disk, memory,
    machine) is raised.
    """
    begin = time.process_time()
    try:
        with BagReader(job.path) as bag:
            ready = prepare(bag, job.options)
            day = _instant(bag.start_ns).date().isoformat()
            with RecordingWriter(DataSet(job.out), (_robot_name(job, ready), day),
                                 job.recording) as out:
                trusted = _Summary(job, bag, ready, out).write(begin)
    except LeggedDynamicsError as error:
        return Outcome(job.recording, str(job.path), False, time.process_time() - begin,
                       ' '.join(str(error).split()))
    return Outcome(job.recording, str(job.path), trusted, time.process_time() - begin)


def _robot_name(job: Job, ready: Preparation) -> str:
    """Return the robot's name: its folder's if so asked, its namespace, or its model's."""
    space = namespace_of(ready.topics.joint_states).strip('/').replace('/', '_')
    return (job.folder if job.robot_folders else space) or ready.robot.name


class _Summary:
    """Computes and writes the tables of one recording."""

    def __init__(self, job: Job, bag: BagReader, ready: Preparation, out: RecordingWriter):
        self._job, self._bag, self._ready, self._out = job, bag, ready, out
        self._weight = ready.robot.model.total_mass * GRAVITY
        n = len(ready.feet)
        self._feet, self._errors = FootTally(n), ErrorTally(n, self._weight)
        self._base, self._joints = BaseTally(), JointTally(ready.robot.model.n_joints)
        self._unexplained: list[float] = []
        topics = ready.topics
        self._inputs = [IntervalTally(topics.joint_states)]
        if topics.imu:
            self._inputs.append(IntervalTally(topics.imu))

    def write(self, begin: float) -> bool:
        """Read the whole bag and write all tables."""
        replay = each_window(self._bag, self._ready, self._take)
        self._note_inputs(replay)
        if not self._base.samples:
            reasons = '; '.join(replay.refused) or 'the estimator was given too few samples'
            raise BagError(f'nothing could be estimated from {self._bag.path}: {reasons}')
        inputs = [tally.statistics() for tally in self._inputs]
        errors = self._errors.errors(self._base.estimate)
        on_line = [error for error in errors if error.treatment == ON_LINE
                   and error.subject in ('standing', self._errors.gait)]
        row = self._base.row()
        doubts = reasons_for_doubt(on_line, self._feet.agreement.tolist(),
                                   float(np.quantile(self._unexplained, 0.75)),
                                   float(row['silent']), inputs)
        feet = self._feet.rows(self._ready.feet)
        if replay.faults[Fault.NO_ORIENTATION] or not self._ready.topics.imu:
            for foot in feet:       # without heading, turning cannot be told from slip
                foot['slip'] = foot['slip_largest'] = np.nan
        out, joints = self._out, self._ready.robot.model.joint_names
        out.add_rows(schema.FEET, feet)
        out.add_rows(schema.JOINTS, self._joints.rows(joints))
        out.add_rows(schema.INPUTS, (
            {**vars(entry), 'messages': entry.count, 'lost': entry.lost,
             'longest': entry.worst_interval} for entry in inputs))
        out.add_rows(schema.ERRORS, (
            {'subject': error.subject, 'treatment': error.treatment, 'samples': error.count,
             'total': error.total, 'vertical': error.vertical} for error in errors))
        out.add_rows(schema.SUMMARY, [{**self._about(replay, inputs), **row, 'doubts': doubts,
                                       'trusted': not doubts,
                                       'residual_share': float(row['residual']) / self._weight,
                                       'cpu': time.process_time() - begin}])
        return not doubts

    def _take(self, window: Window, replay: Replay) -> None:
        self._note_inputs(replay)
        truth = align_truth(window.series, window.recording, self._weight,
                            self._ready.robot.contact_force)
        self._unexplained.append(unexplained(window.series, self._weight))
        force = force_of(window.series)
        standing = self._errors.add(window, truth)
        self._feet.add(window, force, truth)
        self._joints.add(window)
        self._base.add(window, standing)
        if self._job.series:
            self._out.add(schema.FOOT_SERIES, _foot_rows(window, force, truth))
            self._out.add(schema.BASE_SERIES, _base_rows(window))

    def _note_inputs(self, replay: Replay) -> None:
        for tally, times in zip(self._inputs, (replay.joints, replay.imu)):
            tally.take(times)

    def _about(self, replay: Replay, inputs: list[InputStatistics]) -> dict[str, Any]:
        job, ready, faults = self._job, self._ready, replay.faults
        return {
            'path': str(job.path), 'model': ready.robot.name,
            'start': _instant(self._bag.start_ns), 'duration': ready.duration,
            'messages': self._bag.message_count, 'weight': self._weight,
            'joints': list(ready.robot.model.joint_names), 'gait': self._errors.gait,
            'notes': [*ready.robot.notes, *ready.topics.missing,
                      *input_notes(faults, replay.refused, ready.plan.settings, inputs,
                                   replay.findings, replay.off_feet)],
            'without_effort': faults[Fault.NO_EFFORT], 'without_imu': faults[Fault.NO_IMU],
            'restarts': faults[Fault.GAP] + faults[Fault.TIME_JUMPED_BACK],
            'refused': sum(replay.refused.values()),
            'written': datetime.now(timezone.utc), 'source_bytes': job.bytes,
            'source_modified': job.modified, 'options': job.digest}


def _instant(ns: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=ns // 1000)


# -------------------------------------------------------------------------------------------------
# A batch on Dask: on the processors of this machine, or on a cluster given by its address.


RETRIES = 2         # after a first attempt that failed for a reason outside the recording
_ANSWER = 10.0      # s that a scheduler has to answer
# Processes on this machine do start; they may be slow where it is busy.
_UNHURRIED = {f'distributed.comm.timeouts.{what}': '300s' for what in ('connect', 'tcp')}


@contextmanager
def cluster(workers: int, scheduler: str = '') -> Iterator[Client]:
    """Yield a connected Dask client, of local workers or a running scheduler."""
    import dask
    from distributed import Client, LocalCluster

    if not scheduler:
        # No access from outside, no dashboard; one thread each, since a replay is mostly Python.
        with dask.config.set(_UNHURRIED), LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, host='127.0.0.1',
                dashboard_address=None, silence_logs=logging.CRITICAL, **_own_access()) as local, \
                Client(local) as client:
            yield client
        return
    try:
        client = Client(scheduler, timeout=_ANSWER)
    except (OSError, TimeoutError, ValueError) as error:
        raise ConfigurationError(f'no Dask scheduler answers at {scheduler!r}: {error}; start one '
                                 'with "dask scheduler", or leave out --scheduler') from error
    with client:
        if not client.scheduler_info()['workers']:
            raise ConfigurationError(f'the Dask scheduler at {scheduler} has no workers; start '
                                     f'some with "dask worker {scheduler} --nthreads 1"')
        yield client


def _own_access() -> dict[str, Any]:
    """
    Return options that keep a cluster on the loopback to whoever has started it.

    A scheduler runs any code that it is sent, and other users of the machine reach the loopback,
    too. It asks everybody for a certificate, made for this run and never written to a file.
    """
    from distributed.security import Security

    try:
        return {'security': Security.temporary(), 'protocol': 'tls://'}
    except ImportError:
        logging.getLogger(__name__).warning(
            "other users of this machine can reach the batch's workers while it runs; "
            "pip install '.[fleet]' (cryptography is missing) to prevent that")
        return {}


def check_workers(client: Client, out: Path, recordings: Sequence[Path]) -> None:
    """Raise ConfigurationError for workers with another version or without the files."""
    from legged_dynamics.pages.page import versions

    ours = versions().split(',')[0]
    for worker, (theirs, sees, writes) in client.run(_probe, out, recordings[0]).items():
        if theirs != ours:
            raise ConfigurationError(f'worker {worker} has {theirs}, this machine {ours}; install '
                                     'the same on both')
        if not sees:
            raise ConfigurationError(f'worker {worker} does not see {recordings[0]}; recordings '
                                     'must be under the same path on all machines')
        if not writes:
            raise ConfigurationError(f'worker {worker} cannot write to {out}, which must be under '
                                     'the same path on all machines')


def _probe(out: Path, recording: Path) -> tuple[str, bool, bool]:
    import os

    from legged_dynamics.pages.page import versions

    return versions().split(',')[0], recording.exists(), os.access(out, os.W_OK)


def run_batch(client: Client, jobs: Sequence[AnyJob], done: Callable[[Outcome], None],
              work: Callable[[AnyJob], Outcome]) -> None:
    """Analyse recordings, passing each outcome to ``done``; none stops the others."""
    for job, result in each_result(client, work, jobs):
        done(result if isinstance(result, Outcome) else Outcome(
            job.recording, str(job.path), False, 0.0, f'{type(result).__name__}: {result}'))


def each_result(client: Client, work: Callable[[Any], Any],
                jobs: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield each job with its result or last exception, in the order of completion."""
    from distributed import as_completed

    futures = {client.submit(work, job, pure=False, retries=RETRIES): job for job in jobs}
    for future in as_completed(list(futures)):
        job = futures.pop(future)
        error = future.exception()
        yield job, future.result() if error is None else error
        future.release()
