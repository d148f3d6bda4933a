# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Signals that come late are continued along their slope to the time that they should be of."""
from __future__ import annotations

from collections import deque

import numpy as np

LONGEST = 20        # samples that a slope is taken over at most


class LateSignal:
    """
    A signal that is older than the sample it comes with, as behind a low-pass.

    ``x(t) = y(t) + late dy/dt`` to first order, with the mean slope of the last `late` seconds: of
    a shorter time it would be noisier.

    Attributes
    ----------
    late : float
        How late it comes [s]; 0: it is left as it is.

    """

    def __init__(self) -> None:
        self.late = 0.0
        self._past: deque[np.ndarray] = deque(maxlen=LONGEST)

    def reset(self) -> None:
        """Forget all samples."""
        self._past.clear()

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
        if self._past and dt > 0.0:
            steps = min(max(round(self.late / dt), 1), len(self._past))
            ahead = (now - self._past[-steps]) * (self.late / (steps * dt))
            np.add(values, ahead, out=values, where=np.isfinite(ahead))
        self._past.append(now)
