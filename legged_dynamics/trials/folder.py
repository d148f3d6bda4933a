# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Trials in a folder: each motion with the model and the measured forces that belong to it.

Folders are taken as they come from a laboratory, from OpenCap (``OpenSimData/Kinematics``,
``OpenSimData/Model``, ``ForceData``) or from Pose2Sim (``kinematics``). A motion is a table of
coordinates; its model is the nearest one in the folders above it; its forces have its name.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.recordings.file_formats import (
    C3D,
    LOADS_XML,
    OPENSIM_TABLE,
    FileFormat,
    format_of,
)
from legged_dynamics.trials.coordinates import LOADS

# Endings that say what a file of a trial holds, and are no part of the trial's name.
_MOTION = re.compile(r'[_-](ik|kinematics|coordinates|coordinates_updated)$', re.I)
_FORCES = re.compile(r'[_-](grf|grfs|forces?|loads|external_?loads|grf_move|fp)$', re.I)
# Files of ours and of OpenSim's tools that hold results, and no recording.
_RESULTS = {'inverse_dynamics.sto', 'external_loads.mot'}
_ENDS_OF_RESULTS = ('_moment', '_force', '_beta')
# What is taken of several files of forces: XML names the body that each acts on.
_ORDER_OF_LOADS = (LOADS_XML, OPENSIM_TABLE, C3D)


@dataclass(frozen=True)
class TrialFiles:
    """
    The files of one trial.

    Attributes
    ----------
    name : str
        Of the motion, without ending.
    person : str
        Folder of the person: the one right below the folder that was given, or that folder.
    motion : Path
        Table of coordinates.
    model : Path or None
        OpenSim model; None when there is none, or several that fit alike.
    loads : Path or None
        Measured forces.
    doubt : str
        Why there is no model; empty when there is one.

    """

    name: str
    person: str
    motion: Path
    model: Path | None
    loads: Path | None
    doubt: str = ''


def find_trials(places: Iterable[Path]) -> list[TrialFiles]:
    """
    Return the trials below some folders.

    Parameters
    ----------
    places : iterable of Path
        Folders with motions at any depth, or motions.

    Returns
    -------
    list of TrialFiles
        In the order of their paths, each motion once.

    Raises
    ------
    ConfigurationError
        When a place does not exist, or holds no motion.

    """
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
            person = inside[0] if len(inside) > 1 and not _is_layout(inside[0]) else top.name
            if motion not in found:
                found[motion] = _trial(motion, top, person)
    return [found[motion] for motion in sorted(found)]


def _is_layout(name: str) -> bool:
    """Return whether a folder is named after its content, and not after a person."""
    return name.lower() in ('opensimdata', 'kinematics', 'ik', 'inversekinematics', 'mocap')


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


def _trial(motion: Path, top: Path, person: str) -> TrialFiles:
    name = _MOTION.sub('', motion.stem)
    model, doubt = _model_of(motion, top)
    return TrialFiles(name, person, motion, model, _loads_of(motion, name, top), doubt)


def _folders(motion: Path, top: Path) -> Iterator[list[Path]]:
    """Yield the motion's folder, then each above it with the folders right in it, up to `top`."""
    yield [motion.parent]
    folder = motion.parent
    while True:
        yield [folder, *(entry for entry in sorted(folder.iterdir()) if entry.is_dir()
                         and not entry.name.startswith('.'))]
        if folder == top or folder == folder.parent:
            return
        folder = folder.parent


def _model_of(motion: Path, top: Path) -> tuple[Path | None, str]:
    for folders in _folders(motion, top):
        models = [entry for folder in folders for entry in sorted(folder.iterdir())
                  if entry.suffix.lower() == '.osim']
        if len(models) == 1:
            return models[0], ''
        if models:
            # Of several, the one named as the motion is, or else the scaled one.
            shared = [_shared(model.stem, motion.stem) for model in models]
            best = [model for model, length in zip(models, shared) if length == max(shared)]
            scaled = [model for model in models if 'scaled' in model.stem.lower()]
            for chosen in (best if max(shared) > 2 else [], scaled):
                if len(chosen) == 1:
                    return chosen[0], ''
            return None, (f'several models fit ({", ".join(model.name for model in models)}): '
                          'give one with --model')
    return None, 'there is no OpenSim model (.osim) beside it or above: give one with --model'


def _shared(one: str, other: str) -> int:
    """Return how many first letters two names share."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other))))


def _loads_of(motion: Path, name: str, top: Path) -> Path | None:
    for folders in _folders(motion, top):
        found: dict[FileFormat, Path] = {}
        for entry in (entry for folder in folders for entry in sorted(folder.iterdir())):
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
