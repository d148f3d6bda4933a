# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Stage 4, force propagation (3.24)-(3.27): from the wrench on the body to joint torques."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.algebra import dot, load3, load9, scale, store3
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.workspace.planar.robot import PlanarRobot
from legged_dynamics.workspace.planar.se2 import outboard_wrench
from legged_dynamics.workspace.planar.velocity_propagation import MOTION, LinkMotion


@lean_kernel
def propagate_force(parent, links, force, shares, wrenches, torque):
    """
    Fill wrenches on the links, from inboard, and joint torques: (3.24)-(3.27).

    Parameters
    ----------
    parent : (n,) int array
        Inboard link of each link.
    links : (n, MOTION.width) array
        Of stage 1.
    force : (3,) array [N, N, N m]
        Wanted on the body, its axes.
    shares : (legs,) array
        Part of it that each leg takes.
    wrenches : (n, 3) array
        Filled, link axes.
    torque : (n - 1,) array [N m]
        Filled.

    """
    leg = 0
    for i in range(1, parent.shape[0]):
        if parent[i] == 0:
            F = scale(shares[leg], load3(force, 0))                          # (3.24)
            leg += 1
        else:
            F = scale(-1.0, load3(wrenches[parent[i]], 0))                   # (3.27)
        F = scale(-1.0, outboard_wrench(load9(links[i], MOTION.adjoint), F))        # (3.25)
        store3(wrenches[i], 0, F)
        torque[i - 1] = dot(load3(links[i], MOTION.hinge), F)                       # (3.26)


def force_propagation(robot: PlanarRobot, motion: LinkMotion, force: np.ndarray,
                      shares: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """
    Run stage 4: return torques that put a wrench on the body, as if every link were at rest.

    They are ``tau = J_b^T F`` for the share F of each leg.

    Parameters
    ----------
    robot : PlanarRobot
        The links.
    motion : LinkMotion
        Of stage 1.
    force : (3,) array
        ``F_1`` in the body's axes [N, N m].
    shares : (n_legs,) sequence of float
        Part of the force that each leg gives, one half each in the paper (3.24); their sum is one.

    Returns
    -------
    torque : (n_joints,) array [N m]
    wrenches : (n, 3) array
        ``F_io`` (3.25): wrench on each link from its inboard link, in the link's axes [N, N m];
        zero for the body. The ground must put the opposite of a foot's on that foot.

    Raises
    ------
    ConfigurationError
        When there is not one share a leg, or their sum is not one, or a shape does not fit.

    """
    try:
        weights, force = np.array(shares, float), np.array(force, float)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f'expected numbers for force and shares: {error}') from error
    if force.shape != (3,):
        raise ConfigurationError('expected a force of three components [N, N m], got an array of '
                                 f'shape {force.shape}')
    if motion.links.shape != (robot.n_links, MOTION.width):
        raise ConfigurationError(f'expected the motion of {robot.n_links} links, got that of '
                                 f'{len(motion.links)}')
    if weights.shape != (len(robot.feet),) or not abs(weights.sum() - 1.0) < 1e-9:
        raise ConfigurationError(f'expected {len(robot.feet)} shares with a sum of one, '
                                 f'got {weights.tolist()}')
    wrenches, torque = np.zeros((robot.n_links, 3)), np.empty(robot.n_joints)
    propagate_force(robot.parent, motion.links, force, weights, wrenches, torque)
    return torque, wrenches
