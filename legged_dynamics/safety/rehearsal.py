# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The kernels of guard and watchdog, compiled before a robot waits for them."""
from __future__ import annotations

import numpy as np

from legged_dynamics.safety.envelope import bound, brake, posture
from legged_dynamics.safety.joint_watch import JointWatch


def compile_kernels(table: np.ndarray, watch: JointWatch) -> None:
    """
    Run every kernel between a command and the motors once, on joints at rest.

    Parameters
    ----------
    table : array
        Limits of the joints, as `joint_limits.limit_table` makes them.
    watch : JointWatch
        Of the same joints; reset afterwards.

    """
    n = len(table)
    still, effort, state = np.zeros(n), np.zeros(n), np.zeros((2, n))
    bound(table, np.full((2, n), np.nan), still, 0.0, effort, np.zeros(n, np.int64))
    brake(table, still, still, effort)
    posture(table, state, still, still, 1.0, effort)
    watch.check(0, still, still)
    watch.reset()
