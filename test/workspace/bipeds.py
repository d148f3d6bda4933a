# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The biped in Pinocchio, and states of it, for the tests of the planar recursion."""
from functools import cache

import numpy as np
import pinocchio as pin

from legged_dynamics.reproductions.planar import (
    Biped,
    PlanarState,
    biped_urdf,
    velocity_propagation,
    workspace_dynamics,
)

BIPED = Biped()
ROBOT = BIPED.planar()
LINKS = ('base', 'L_THIGH', 'L_SHANK', 'L_FOOT', 'R_THIGH', 'R_SHANK', 'R_FOOT')
SOLES = ('L_SOLE', 'R_SOLE')
# From the URDF's components to the paper's: x and the turning are reversed.
TO_PAPER = np.array([-1.0, 1.0, -1.0])
PLANE = [0, 2, 4]       # rows of a spatial vector that stay in the plane


@cache
def twin():
    """Return Pinocchio's model of the biped's URDF."""
    return pin.buildModelFromXML(biped_urdf(BIPED), pin.JointModelFreeFlyer())


def coordinates(state):
    """Return Pinocchio's q and v of a planar state."""
    turn = -state.pose[2]
    q = np.concatenate([[-state.pose[0], 0.0, state.pose[1]],
                        [0.0, np.sin(turn / 2.0), 0.0, np.cos(turn / 2.0)], state.position])
    x, z, w = TO_PAPER * state.twist
    return q, np.concatenate([[x, 0.0, z, 0.0, w, 0.0], state.velocity])


def moving_state(seed, standing=True, rate=1.0):
    """Return a random state with bent knees, whose feet stand still unless told otherwise."""
    rng = np.random.default_rng(seed)
    leg = np.array([0.7, -1.2, 0.7])
    position = np.concatenate([leg + rng.uniform(-0.3, 0.3, 3) for _ in range(2)])
    pose, twist = np.array([0.0, 1.0, 0.0]) + rng.uniform(-0.4, 0.4, 3), rate * rng.normal(size=3)
    state = PlanarState(pose, twist, position, rate * rng.normal(size=6))
    if not standing:
        return state
    rates = workspace_dynamics(ROBOT, velocity_propagation(ROBOT, state)).rates
    return PlanarState(pose, twist, position, rates[1:] @ twist)


def held_acceleration(state, torque):
    """Return the body's Vdot, paper's axes, with both soles held, by Pinocchio's M, h and J."""
    model = twin()
    data, (q, v) = model.createData(), coordinates(state)
    M = pin.crba(model, data, q)
    h = pin.nonLinearEffects(model, data, q, v)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    pin.computeJointJacobians(model, data, q)
    rows, drift = [], []
    for sole in SOLES:
        frame = model.getFrameId(sole)
        rows.append(pin.getFrameJacobian(model, data, frame, pin.LOCAL))
        drift.append(pin.getFrameAcceleration(model, data, frame, pin.LOCAL).vector)
    J, n = np.vstack(rows), model.nv
    # Two rigid soles hold some directions twice; least squares does not mind.
    system = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.concatenate([np.concatenate([np.zeros(6), torque]) - h, -np.concatenate(drift)])
    solution = np.linalg.lstsq(system, right, rcond=1e-12)[0]
    assert np.abs(system @ solution - right).max() < 1e-8
    assert len(solution) == n + len(J)
    return TO_PAPER * solution[PLANE]
