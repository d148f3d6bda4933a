# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mass matrix, forward and inverse dynamics, against Pinocchio's Python calls."""
from __future__ import annotations

import numpy as np
import pinocchio as pin

from benchmarks.timing import bare_quadruped, microseconds
from legged_dynamics.dynamics import (
    ArticulatedBody,
    BaseMotion,
    CompositeBody,
    Motion,
    inverse_dynamics,
)
from legged_dynamics.dynamics.kinematics import body_workspace
from legged_dynamics.dynamics.newton_euler import newton_euler

title = 'Rigid-body dynamics, quadruped of 18 DoF'


def rows() -> list[dict]:
    """Return one row an algorithm; peers are checked to agree before they are timed."""
    model, urdf = bare_quadruped()
    twin = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer())
    data = twin.createData()
    rng = np.random.default_rng(0)
    q = np.tile([0.1, 0.7, -1.2], 4) + 0.1 * rng.normal(size=12)
    v, effort, w = rng.normal(size=12), 10.0 * rng.normal(size=12), rng.normal(size=3)
    order = [list(twin.names)[2:].index(name) for name in model.joint_names]
    state, rate, efforts = np.zeros(19), np.zeros(18), np.zeros(18)
    state[6], rate[3:6] = 1.0, w
    for i, k in enumerate(order):
        state[7 + k], rate[6 + k], efforts[6 + k] = q[i], v[i], effort[i]
    rows_of = [*range(6), *(6 + k for k in order)]

    composite, articulated, base = CompositeBody(model), ArticulatedBody(model), BaseMotion(w)
    M = composite.mass_matrix(q)
    assert np.abs(M - pin.crba(twin, data, state)[np.ix_(rows_of, rows_of)]).max() < 1e-12
    found = articulated.forward_dynamics(q, v, effort, base)
    theirs = pin.aba(twin, data, state, rate, efforts)
    np.testing.assert_allclose(found.joint_acceleration, theirs[rows_of[6:]], rtol=1e-10,
                               atol=1e-10)
    acceleration = theirs[rows_of[6:]]
    motion = Motion(q, v, acceleration, found.base_motion(w))
    np.testing.assert_allclose(inverse_dynamics(model, motion).joint_effort, effort, atol=1e-10)
    bodies, tau, packed = body_workspace(model), np.zeros(12), motion.base.packed()

    mass = microseconds(lambda: composite.mass_matrix(q), lambda: pin.crba(twin, data, state))
    forward = microseconds(lambda: articulated.forward_dynamics(q, v, effort, base),
                           lambda: pin.aba(twin, data, state, rate, efforts))
    inverse = microseconds(
        lambda: newton_euler(model.tree, q, v, acceleration, packed, bodies, tau),
        lambda: inverse_dynamics(model, motion), lambda: pin.rnea(twin, data, state, rate, theirs))
    return [
        {'name': 'mass matrix (`CompositeBody`)', 'ours_us': mass[0], 'peer': '`pin.crba`',
         'peer_us': mass[1], 'note': 'inputs checked; both reuse their memory'},
        {'name': 'forward dynamics (`ArticulatedBody`)', 'ours_us': forward[0],
         'peer': '`pin.aba`', 'peer_us': forward[1],
         'note': 'inputs checked; ours returns a copy'},
        {'name': 'inverse dynamics, kernel', 'ours_us': inverse[0], 'peer': '`pin.rnea`',
         'peer_us': inverse[2], 'note': 'unchecked'},
        {'name': 'inverse dynamics, `inverse_dynamics`', 'ours_us': inverse[1],
         'peer': '`pin.rnea`', 'peer_us': inverse[2], 'note': 'inputs checked, memory allocated'},
    ]
