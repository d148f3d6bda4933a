# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ExternalLoad: one measured force over time, where it acts, and the free moment there."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ExternalLoad:
    """
    One force over time.

    Attributes
    ----------
    name : str
    body : str
        That it acts on; empty when nothing says.
    time : (n,) array [s]
    force, point, moment : (n, 3) array [N, m, N m]
        On the person, in world axes; the moment about the point.

    """

    name: str
    body: str
    time: np.ndarray
    force: np.ndarray
    point: np.ndarray
    moment: np.ndarray
