# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Body control once through, for its kernels to be compiled before a robot waits for them."""
from __future__ import annotations

import numpy as np

from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.leg_odometry import LegOdometry
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.nodes.body_targets import BodyTargets
from legged_dynamics.workspace import AskedForce, BodyTarget, WorkspaceController


def rehearse(controller: WorkspaceController, estimator: GroundReactionEstimator,
             odometry: LegOdometry, targets: BodyTargets, position: np.ndarray) -> None:
    """Run every kernel of control once, at joints (nj,) [rad or m] at rest, to compile it."""
    still = np.zeros(len(position))
    for k in range(estimator.delay + 3):
        nothing = Measurement(k * 2_000_000, position, still, still, np.zeros(3),
                              np.array([0.0, 0.0, 9.81]), np.array([0.0, 0.0, 0.0, 1.0]))
        estimator.update(nothing)
        state = odometry.update(nothing)
        here = BodyTarget.of(state.position, state.rotation)
        command = controller.update(state, nothing, here, {
            0: AskedForce(np.array([0.0, 0.0, 1.0]))} if k == 1 else {})
    targets.rehearse(state, position)
    controller.margins(command, state, position)
