# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Signals that come late are continued along their slope to the time that they should be of."""
from __future__ import annotations

import numpy as np


class LateSignal:
    """
    A signal that is older than the sample it comes with, as behind a low-pass.

    ``x(t) = y(t) + late dy/dt`` to first order, with the slope between the last two samples: what
    a low-pass has smoothed becomes as noisy as it was before.

    Attributes
    ----------
    late : float
        How late it comes [s]; 0: it is left as it is.

    """

    def __init__(self) -> None:
        self.late = 0.0
        self.reset()

    def reset(self) -> None:
        """Forget the last sample."""
        self._last: np.ndarray | None = None

    def correct(self, values: np.ndarray, dt: float) -> None:
        """
        Continue a sample along its slope.

        Parameters
        ----------
        values : (n,) array
            The sample; written.
        dt : float [s]
            Time since the last one; 0 for the first.

        """
        now = values.copy()
        if self._last is not None and dt > 0.0:
            ahead = (now - self._last) * (self.late / dt)
            np.add(values, ahead, out=values, where=np.isfinite(ahead))
        self._last = now
