# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The file formats that the package reads, and for what; the command line and errors quote it.

A new format is a row of :data:`FORMATS`, and a reader where files of its use are read: bags in
:mod:`.bags`, motions in `trials.analysis`, measured forces in `trials.loads`, models in
:mod:`.robot` and `model.opensim`. docs/biomechanics.md lists them for users.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from legged_dynamics.exceptions import ConfigurationError, MeasurementError, reraised

# Uses of a file.
MOTION = 'motion'
MODEL = 'model'
LOADS = 'loads'
CONVERT = 'convert'


@dataclass(frozen=True, eq=False)
class FileFormat:
    """One format."""

    suffixes: tuple[str, ...]  # With their dots, in lower case
    # What a file holds, for each use that it has (`MOTION`, `MODEL`, `LOADS`, `CONVERT`)
    uses: Mapping[str, str] = field(default_factory=dict)
    advice: str = ''  # What to do when it is given as a motion and holds none


BAG = FileFormat(('.mcap', '.db3'), {MOTION: 'rosbag2 recording'})
OPENSIM_TABLE = FileFormat(('.mot', '.sto'), {
    MOTION: 'coordinates of an OpenSim model', LOADS: 'external loads of OpenSim'})
CSV = FileFormat(('.csv',), {MOTION: 'poses of base and joints'})
URDF = FileFormat(('.urdf',), {MODEL: 'robot model'}, (
    'it is a model; give it with --urdf, and a recording as the motion'))
OSIM = FileFormat(('.osim',), {MODEL: 'OpenSim model', CONVERT: 'OpenSim model'}, (
    'it is a model; give it with --model, and the coordinates that inverse kinematics writes '
    '(.mot) as the motion'))
LOADS_XML = FileFormat(('.xml',), {LOADS: 'external loads of OpenSim'}, (
    'a motion is a bag, a CSV file, or a table of coordinates (.mot, .sto)'))
C3D = FileFormat(('.c3d',), {LOADS: 'force plates', CONVERT: 'markers and force plates'}, (
    'it holds markers and forces. Run inverse kinematics on the markers ("legged-dynamics '
    'inverse-dynamics" does with OpenSim), give the coordinates it writes (.mot) with the scaled '
    'model, and this file as the loads; "legged-dynamics convert" writes markers and forces as '
    'OpenSim reads them (.trc, .mot)'))
TRC = FileFormat(('.trc',), {}, (
    'it holds markers. Run inverse kinematics on it ("legged-dynamics inverse-dynamics" does with '
    'OpenSim), and give the coordinates it writes (.mot) with the scaled model'))
FORMATS = (
    BAG, OPENSIM_TABLE, CSV, URDF, OSIM, LOADS_XML, C3D, TRC,
    FileFormat(('.b3d',), advice=(
        "it is AddBiomechanics' own format, which only nimblephysics reads; give the .osim "
        '(--model) and the inverse kinematics (.mot) that come in the same download')),
    FileFormat(('.xlsx',), advice='save the sheet as CSV'),
    FileFormat(('.parquet',), advice=(
        'tables of results are written as Parquet, and motions are not read from it; save the '
        'motion as CSV')),
)
_BY_SUFFIX = {suffix: found for found in FORMATS for suffix in found.suffixes}


def format_of(path: str | Path) -> FileFormat | None:
    """Return a file's format by its suffix, or None."""
    return _BY_SUFFIX.get(Path(path).suffix.lower())


def readable(use: str) -> str:
    """Return the formats read for a use, with suffixes, as a phrase for help and errors."""
    kinds: dict[str, list[str]] = {}
    for found in FORMATS:
        if use in found.uses:
            kinds.setdefault(found.uses[use], []).extend(found.suffixes)
    phrases = [f'{what} ({", ".join(suffixes)})' for what, suffixes in kinds.items()]
    return ' or '.join([', '.join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def read_text(path: Path) -> str:
    """Return the text of a file, with its ends of lines as they are."""
    with (reraised(MeasurementError, f'cannot read {path}', (OSError, UnicodeDecodeError)),
          path.open(newline='', encoding='utf-8-sig') as file):
        return file.read()


def check_range(start: float | None, end: float | None) -> None:
    """Refuse a part of a bag [s] that ends before it starts, or starts before the bag."""
    if (start or 0.0) < 0.0 or (end is not None and end <= (start or 0.0)):
        raise ConfigurationError('expected a range from 0 s on with its end after its start, got '
                                 f'{start or 0.0:g} to {end} s')


# How a bag is given on the command line.
BAG_PATH = f'folder, {" or ".join(BAG.suffixes)} file'
# Of an mcap file, unpacked [bytes]; recorders write chunks of about one megabyte.
LARGEST_CHUNK = 64_000_000


@dataclass(frozen=True)
class BagTopic:
    """
    A topic of a bag.

    Attributes
    ----------
    name, type : str
        Such as '/joint_states', 'sensor_msgs/msg/JointState'.
    count : int
        Number of messages in the bag.
    latched : bool
        Whether its publisher kept the last message for late subscriptions.
    definition, type_hash : str
        Text and RIHS01 hash of the message definition; empty when the bag has none.

    """

    name: str
    type: str
    count: int
    latched: bool = False
    definition: str = field(default='', repr=False)
    type_hash: str = field(default='', repr=False)
