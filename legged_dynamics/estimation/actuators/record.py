# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What was learned, kept in a file from start to start."""
from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import yaml

from legged_dynamics.exceptions import ConfigurationError, OutputError


class Record:
    """A file of theta with deviations, the date, and the time that it rests on; '' is none."""

    def __init__(self, file: str):
        self._file = file
        self.exists = bool(file) and Path(file).is_file()

    def write(self, names: Sequence[str], theta: np.ndarray, deviation: np.ndarray,
              seconds: float) -> None:
        """Write what was learned; OutputError when the file cannot be written."""
        if not self._file:
            return
        known = {'written': datetime.now(timezone.utc).isoformat(timespec='seconds'),
                 'seconds': round(seconds, 1), 'parameters': dict(zip(names, (
                     [float(value), float(sigma)] for value, sigma in zip(theta, deviation))))}
        try:
            Path(self._file).write_text(yaml.safe_dump(known, sort_keys=False), encoding='utf-8')
        except OSError as error:
            raise OutputError(f'actuators.file: {self._file} cannot be written: {error}') from None

    def read(self, names: Sequence[str]) -> np.ndarray:
        """Return theta and its deviation, (n, 2); ConfigurationError for another robot's file."""
        try:
            kept = yaml.safe_load(Path(self._file).read_text(encoding='utf-8'))['parameters']
            return np.array([kept[name] for name in names], float).reshape(-1, 2)
        except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError):
            raise ConfigurationError(
                f'actuators.file: {self._file} does not hold what was learned of this robot; '
                'delete it, or name another file') from None
