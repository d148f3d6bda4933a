# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What no averaging takes away: the covariance that lasting errors leave in the forces.

Offsets and scales of torque sensors, dry friction at rest, the accelerometer's bias and what the
model of the base leaves out stay as they are for seconds. A filter that takes its errors for new
in every tick averages them away on paper alone. The forces settle where the weighted least squares
of all equations put them, so these errors leave what least squares says:

    P_lasting = (J R_j^-1 J^T + A^T R_b^-1 A + P_0^-1)^-1

with the lasting variances R. A foot in the air carries nothing, whatever its joints say.
"""
from __future__ import annotations

from legged_dynamics.dynamics.jacobians import SIZE, START
from legged_dynamics.estimation.fusion import add_base_information, joint_information
from legged_dynamics.estimation.layout import BASE_WEIGHTS, BEYOND, LASTING_WEIGHTS, VECTOR
from legged_dynamics.optimization.cholesky import factorize, invert_factorized
from legged_dynamics.spatial.jit import part


@part
def keep_lasting(tracking, vectors, joints, n):
    """Note the lasting weights of the equations."""
    steady, wander, rows = tracking.steady[0], tracking.steady[1], tracking.rows
    for j in range(rows.shape[0] - 6):
        vectors[LASTING_WEIGHTS, j] = 0.0
    for k in range(6):
        vectors[BASE_WEIGHTS, k] = 0.0
    for r in range(joints):
        vectors[LASTING_WEIGHTS, rows[r] - 6] = 1.0 / (steady[r] + wander[r])
    for r in range(joints, n):
        vectors[BASE_WEIGHTS, rows[r]] = steady[r] + wander[r]


@part
def lasting_covariance(robot, scratch, tracking, probability, nc):
    """Fill ``scratch.information`` with the (nc, nc) covariance; False where it has none."""
    feet, vectors, P = robot.feet, scratch.vectors, tracking.covariance
    information = scratch.information
    for j in range(robot.columns.shape[0]):
        vectors[BEYOND, j] = 0.0
    joint_information(robot.columns, scratch.jacobian, vectors[BEYOND], vectors[LASTING_WEIGHTS],
                      robot.prior, information, vectors[VECTOR])
    if vectors[BASE_WEIGHTS, 0] > 0.0:
        for k in range(6):      # a push that is not known is an error of the base's equation
            vectors[BASE_WEIGHTS, k] = 1.0 / (vectors[BASE_WEIGHTS, k] + P[nc + k, nc + k])
        add_base_information(scratch.grasp, vectors[BEYOND], vectors[BASE_WEIGHTS], information,
                             vectors[VECTOR])
    if not factorize(information, nc):
        return False
    invert_factorized(information, nc)
    for i in range(feet.index.shape[0]):
        s, end = feet.index[i, START], feet.index[i, START] + feet.index[i, SIZE]
        for r in range(s, end):
            for c in range(nc):
                information[r, c] *= probability[i]
                information[c, r] *= probability[i]
    return True
