# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A batch: jobs for worker processes on this machine, whose rows make one data set.

What the data set holds of the same files and options is not done again. A job that fails, or
whose process dies, is named and stops no other.
"""
from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from datetime import datetime, timezone
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.pages.page import versions
from legged_dynamics.recordings.fleet.data_set import DataSet, Rows, TableSchema

DIGEST = 8          # letters of a hash that tell names apart


class Source(NamedTuple):
    """What a job's rows depend on; the summary has a column of each."""

    source_bytes: int
    source_modified: int    # ns
    options: str


def source_of(files: Iterable[Path], *inputs: object) -> Source:
    """Return size and last change of a job's files, and a digest of all else and the version."""
    states = [path.stat() for path in files]
    digest = hashlib.sha256(repr((inputs, versions().split(',')[0])).encode())
    return Source(sum(state.st_size for state in states),
                  max((state.st_mtime_ns for state in states), default=0),
                  digest.hexdigest()[:16])


def name_of(stem: str, path: Path) -> str:
    """Return the name of a recording in the data set, which is that of no other path."""
    return f'{stem}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:DIGEST]}'


# What a job found: its partition of the data set, its row of the first table, and rows of others.
JobRows = tuple[tuple[str, ...], Mapping[str, Any], Mapping[TableSchema, Rows]]


@dataclass(frozen=True)
class Job:
    """One recording to be analysed; plain data, since it is sent to a worker."""

    recording: str  # Its name in the data set
    path: Path
    options: Any
    source: Source
    out: Path  # Folder of the batch's results
    series: bool  # Whether time series are kept

    @property
    def data(self) -> DataSet:
        """Return the data set that it belongs to."""
        raise NotImplementedError

    def rows(self) -> JobRows:
        """Do the work; its time counts as that of the analysis."""
        raise NotImplementedError


class Outcome(NamedTuple):
    """Result of a job: it is in the data set, or why not."""

    recording: str
    path: str
    error: str = ''


def do(job: Job) -> Outcome:
    """Do a job and write its rows; what is wrong with its files is in the outcome."""
    begin, error = time.process_time(), ''
    try:
        partition, summary, tables = job.rows()
        about = {**job.source._asdict(), 'path': str(job.path),
                 'cpu': time.process_time() - begin, 'written': datetime.now(timezone.utc)}
        job.data.write(partition, job.recording, {
            **tables, job.data.tables[0]: [{**summary, **about}]})
    except LeggedDynamicsError as failure:
        error = ' '.join(str(failure).split())
    return Outcome(job.recording, str(job.path), error)


def run_batch(jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
    """Do jobs and yield each outcome; none stops the others."""
    for job, result in each_result(do, jobs, workers):
        yield result if isinstance(result, Outcome) else Outcome(
            job.recording, str(job.path), f'{type(result).__name__}: {result}')


AnyJob = TypeVar('AnyJob')


def each_result(work: Callable[[AnyJob], Any], jobs: Sequence[AnyJob],
                workers: int) -> Iterator[tuple[AnyJob, Any]]:
    """
    Yield each job with its result or exception, in the order of completion.

    A worker is a pool of one process, so that a process that dies takes only its own job along.
    """
    idle: SimpleQueue[ProcessPoolExecutor] = SimpleQueue()
    for _ in range(workers):
        idle.put(_worker())

    def one(job: AnyJob) -> Any:
        pool = idle.get()
        try:
            return pool.submit(work, job).result()
        except BrokenProcessPool:
            pool = _worker()
            raise ChildProcessError('its process was ended, as for want of memory; the same '
                                    'command with fewer --workers tries it again') from None
        finally:
            idle.put(pool)

    try:
        with ThreadPoolExecutor(workers) as threads:
            futures = {threads.submit(one, job): job for job in jobs}
            try:
                for future in as_completed(list(futures)):
                    error = future.exception()
                    yield futures.pop(future), future.result() if error is None else error
            except BaseException:       # Ctrl-C: nobody waits for what is under way
                threads.shutdown(wait=False, cancel_futures=True)
                for process in active_children():
                    process.terminate()
                raise
    finally:
        while not idle.empty():
            idle.get().shutdown()


def _worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context('spawn'), _prepare)


def _prepare() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the parent; end when it ends."""
    def wait() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=wait, daemon=True).start()
