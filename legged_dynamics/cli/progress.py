# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error, only where somebody watches."""
from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 40
PERIOD = 0.1        # s between drawings


class ProgressBar:
    """
    Draws a bar while called with the part done; silent when the stream is no terminal.

    Parameters
    ----------
    title : str
    stream : file, optional
        Standard error when None.

    """

    def __init__(self, title: str, stream: TextIO | None = None):
        self._title = title
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._begin = time.monotonic()
        self._last = -PERIOD

    def __call__(self, part: float) -> None:
        """Show the part done, from 0 to 1."""
        now = time.monotonic()
        if not self._shown or (part < 1.0 and now - self._last < PERIOD):
            return
        self._last = now
        full = round(min(max(part, 0.0), 1.0) * WIDTH)
        self._stream.write(f'\r{self._title} [{"#" * full}{"." * (WIDTH - full)}] '
                           f'{100.0 * part:3.0f} %  {now - self._begin:.1f} s')
        self._stream.flush()

    def close(self) -> None:
        """Wipe the bar off."""
        if self._shown:
            self._stream.write('\r\033[K')
            self._stream.flush()
