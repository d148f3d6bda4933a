# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What a watchdog has sent last, in a file that outlives it.

Hardware holds the last command for ever. A watchdog that is killed leaves it there, and the next
one cannot ask the motors what they were told. The efforts are therefore written to a small file
that is mapped into memory (a copy of some numbers for each command; the kernel keeps the pages
when the process is killed), with a flag that is cleared when nothing is sent any more. A watchdog
that finds the flag set, and motors that deliver these efforts, takes the robot over.
"""
from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

# A motor delivers what it was told within this part of its effort limit.
SAME_EFFORT = 0.1
# Below this part of the limits motors count as free of torque.
NO_EFFORT = 0.02


class LastEfforts:
    """
    Efforts that went out last, and whether the motors still have them.

    Parameters
    ----------
    path : Path
        File, made where there is none or one of another length.
    count : int
        Number of joints.

    Attributes
    ----------
    left : (nj,) array or None [N m or N]
        What a watchdog that did not end in order has sent last.

    """

    def __init__(self, path: Path, count: int):
        size = 8 * (count + 1)
        known = path.is_file() and path.stat().st_size == size
        self._map = np.memmap(path, np.float64, 'r+' if known else 'w+', shape=(count + 1,))
        values = np.array(self._map[1:])
        usable = known and self._map[0] == 1.0 and bool(np.isfinite(values).all())
        self.left = values if usable else None

    def note(self, efforts: np.ndarray) -> None:
        """
        Note what is sent now.

        Parameters
        ----------
        efforts : (nj,) array [N m or N]
            In command order.

        """
        self._map[1:] = efforts
        self._map[0] = 1.0

    def clear(self) -> None:
        """Note that nothing is sent any more, and zero was the last."""
        self._map[0] = 0.0
        self.left = None


def place_of(name: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """
    Return the file of a watchdog's last efforts, in a folder that only this user can write.

    Parameters
    ----------
    name : str
        What tells watchdogs of this machine apart: domain, node, joints.
    environ : mapping of str to str, optional
        Environment with XDG_RUNTIME_DIR; without that, the folder of temporary files is used.

    Returns
    -------
    Path or None
        None where no such folder can be had.

    """
    parent = Path(environ.get('XDG_RUNTIME_DIR') or tempfile.gettempdir())
    folder = parent / f'legged_dynamics-{os.getuid()}'
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    if status.st_uid != os.getuid() or status.st_mode & 0o022 or folder.is_symlink():
        return None
    return folder / f'last_efforts_{hashlib.sha256(name.encode()).hexdigest()[:16]}'
