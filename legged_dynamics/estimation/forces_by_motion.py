# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces where no torque is measured: contact comes first, and from motion alone."""
from __future__ import annotations

from legged_dynamics.dynamics.kinematics import FORCE
from legged_dynamics.estimation.contact_detection import detect_contact
from legged_dynamics.estimation.fusion import (
    add_base_information,
    joint_information,
    solve_standing,
)
from legged_dynamics.estimation.layout import BASE, BASE_WEIGHTS, RESIDUAL, VECTOR, WEIGHTS
from legged_dynamics.spatial.algebra import dot, load3
from legged_dynamics.spatial.jit import part


@part
def standing_forces(robot, layout, settings, scratch, row, states, memory, R_WB, imu, dt, out):
    """Find contact and forces from motion alone, where no torque is measured."""
    feet, nc, vectors = robot.feet, layout.contacts, scratch.vectors
    up = (R_WB[6], R_WB[7], R_WB[8])
    load = dot(up, load3(scratch.bodies[0], FORCE)) / settings.weight
    for j in range(robot.columns.shape[0]):
        vectors[WEIGHTS, j] = 0.0
    joint_information(robot.columns, scratch.jacobian, vectors[RESIDUAL], vectors[WEIGHTS],
                      robot.prior, scratch.information, vectors[VECTOR])
    detect_contact(feet, layout, settings, scratch, states, row, memory, R_WB,
                   load3(vectors[BASE], 6), imu, load if imu else 1.0, dt, out)
    if imu and settings.use_base > 0.5:
        for k in range(6):
            vectors[BASE_WEIGHTS, k] = 1.0 / robot.variance[k]
        add_base_information(scratch.grasp, scratch.bodies[0, FORCE:FORCE + 6],
                             vectors[BASE_WEIGHTS], scratch.information, vectors[VECTOR])
    solve_standing(feet, out[layout.contact:], scratch.information, vectors[VECTOR],
                   scratch.active, out[layout.coordinates:layout.coordinates + nc],
                   out[layout.covariance:])
    for k in range(nc):
        out[layout.latest_coordinates + k] = out[layout.coordinates + k]
    for k in range(nc * nc):
        out[layout.latest_covariance + k] = out[layout.covariance + k]
    for i in range(feet.index.shape[0]):
        out[layout.latest_contact + i] = out[layout.contact + i]
