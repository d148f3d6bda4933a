# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The recordings of a batch, and the job that a worker gets for each."""
from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from legged_dynamics.exceptions import BagError
from legged_dynamics.recordings.bags import SUFFIXES
from legged_dynamics.recordings.replay import AnalysisOptions

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
