# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which joint velocities, and what names, the columns of a force map have."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from legged_dynamics.model.robot_model import VELOCITY_SIZE, RobotModel
from legged_dynamics.model.tree import JOINT, SPHERICAL, V_START


def velocity_rows(model: RobotModel, bodies: Sequence[int]) -> np.ndarray:
    """Return the indices, among joint velocities, of the joints that move these bodies."""
    topology = model.tree.topology
    return np.array([int(topology[b, V_START]) + k for b in bodies
                     for k in range(VELOCITY_SIZE[int(topology[b, JOINT])])], dtype=np.int64)


def column_names(model: RobotModel, bodies: Sequence[int]) -> tuple[str, ...]:
    """Return a name for each of them: the joint's, with ``.x .y .z`` for a spherical one."""
    names: list[str] = []
    for b in bodies:
        name = model.joints[b - 1].name
        spherical = int(model.tree.topology[b, JOINT]) == SPHERICAL
        names.extend(f'{name}.{axis}' for axis in 'xyz') if spherical else names.append(name)
    return tuple(names)
