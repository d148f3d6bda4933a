# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A batch on Dask: on the processors of this machine, or on a cluster given by its address."""
from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.reports.fleet.job import Job
from legged_dynamics.reports.fleet.summarise import Outcome, summarise

if TYPE_CHECKING:
    from distributed import Client

RETRIES = 2         # after a first attempt that failed for a reason outside the recording
_ANSWER = 10.0      # s that a scheduler has to answer
# Processes on this machine do start; they may be slow where it is busy.
_UNHURRIED = {f'distributed.comm.timeouts.{what}': '300s' for what in ('connect', 'tcp')}


@contextmanager
def cluster(workers: int, scheduler: str = '') -> Iterator[Client]:
    """
    Hold a Dask client.

    Parameters
    ----------
    workers : int
        Processes on this machine, where no scheduler is given.
    scheduler : str
        Address of a running one, such as tcp://10.0.0.1:8786.

    Yields
    ------
    Client
        Connected; it is closed at the end.

    Raises
    ------
    ConfigurationError
        When nothing answers at that address, or no worker is there.

    """
    import dask
    from distributed import Client, LocalCluster

    if not scheduler:
        # No access from outside, no dashboard; one thread each, since a replay is mostly Python.
        with dask.config.set(_UNHURRIED), LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, host='127.0.0.1',
                dashboard_address=None, silence_logs=logging.CRITICAL) as local, \
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


def check_workers(client: Client, out: Path, recordings: Sequence[Path]) -> None:
    """
    Refuse workers that have another version of the package, or do not see the files.

    Parameters
    ----------
    client : Client
        Of a cluster.
    out : Path
        Folder of the batch's results.
    recordings : sequence of Path
        What is to be analysed; the first is looked for.

    Raises
    ------
    ConfigurationError
        What is different on which worker.

    """
    from legged_dynamics.reports.page import versions

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

    from legged_dynamics.reports.page import versions

    return versions().split(',')[0], recording.exists(), os.access(out, os.W_OK)


def run_batch(client: Client, jobs: Sequence[Job], done: Callable[[Outcome], None]) -> None:
    """
    Analyse recordings; none of them stops the others.

    Parameters
    ----------
    client : Client
        Of a cluster.
    jobs : sequence of Job
        One a recording.
    done : callable
        Gets each outcome as it comes.

    """
    for job, result in each_result(client, summarise, jobs):
        done(result if isinstance(result, Outcome) else Outcome(
            job.recording, str(job.path), False, 0.0, f'{type(result).__name__}: {result}'))


def each_result(client: Client, work: Callable[[Any], Any],
                jobs: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """
    Yield each job with its result, in the order in which they are done.

    Parameters
    ----------
    client : Client
        Of a cluster.
    work : callable
        Gets a job and returns its result, on a worker.
    jobs : sequence
        Jobs that can be pickled.

    Yields
    ------
    tuple
        The job, and its result or the exception of its last attempt.

    """
    from distributed import as_completed

    futures = {client.submit(work, job, pure=False, retries=RETRIES): job for job in jobs}
    for future in as_completed(list(futures)):
        job = futures.pop(future)
        error = future.exception()
        yield job, future.result() if error is None else error
        future.release()
