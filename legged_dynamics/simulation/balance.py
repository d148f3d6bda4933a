# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shares the force and moment that keep a base on its reference among the feet on the ground."""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.simulation.leg_kinematics import LegKinematics, rotation_vector

# Natural frequencies times sqrt(height / g), which makes them the same for robots of any size.
TILT_FREQUENCY, HEIGHT_FREQUENCY, PLANE_FREQUENCY = 3.0, 3.0, 1.0
DAMPING_RATIO = 0.8
MISS = 1e-3  # how readily the demanded wrench is missed to keep forces small


class ForceSharing:
    """
    Weighted least squares for foot forces.

    With ``A`` the map from foot forces to force and moment about the centre of mass and ``W`` the
    feet's loads, ``f = W A^T (A W A^T + MISS S)^-1 F`` is the minimiser of
    ``|A f - F|^2_(S^-1) + MISS |f|^2_(W^-1)``. It stays finite for two feet, which cannot give a
    moment about the line through them: that moment is missed.

    Parameters
    ----------
    mass : float
        Of the robot [kg].
    inertia : (3, 3) array
        Of the robot, base axes [kg m^2].
    time_unit : float
        sqrt(height / g) [s].
    friction : float
        Largest ratio of tangential to normal force asked of a foot.

    """

    def __init__(self, mass: float, inertia: np.ndarray, time_unit: float, friction: float):
        self._mass = mass
        self._inertia = inertia
        self._friction = friction
        linear = np.array([PLANE_FREQUENCY, PLANE_FREQUENCY, HEIGHT_FREQUENCY]) / time_unit
        self._stiffness = linear ** 2
        self._damping = 2.0 * DAMPING_RATIO * linear
        tilt = TILT_FREQUENCY / time_unit
        self._tilt_stiffness, self._tilt_damping = tilt ** 2, 2.0 * DAMPING_RATIO * tilt
        length = GRAVITY * time_unit ** 2
        self._miss = np.diag(MISS * np.array([1.0, 1.0, 1.0, *[length ** 2] * 3]))

    def solve(self, legs: LegKinematics, position: np.ndarray, velocity: np.ndarray,
              R_ref: np.ndarray, load: np.ndarray) -> np.ndarray:
        """
        Return the forces the feet should get from the ground, (nf, 3) array, world axes [N].

        Parameters
        ----------
        legs : LegKinematics
            Present state.
        position, velocity : (3,) array
            Reference of the base's origin, world axes [m, m/s].
        R_ref : (3, 3) array
            Reference of the base's axes.
        load : (nf,) array
            Share of its full load that each foot may carry, 0 to 1.

        """
        demand, R = np.empty(6), legs.R_WB
        demand[:3] = self._mass * (self._stiffness * (position - legs.base_position)
                                   + self._damping * (velocity - legs.base_velocity))
        demand[2] += self._mass * GRAVITY
        angular = self._tilt_stiffness * rotation_vector(R.T @ R_ref)
        angular -= self._tilt_damping * (legs.angular_velocity @ R)
        demand[3:] = R @ (self._inertia @ angular)
        A = self._map(legs.foot_position - legs.centre_of_mass)
        WA_T = np.repeat(load, 3)[:, None] * A.T
        force = (WA_T @ np.linalg.solve(A @ WA_T + self._miss, demand)).reshape(-1, 3)
        return self._within_friction(force)

    @staticmethod
    def _map(arm: np.ndarray) -> np.ndarray:
        """Return the (6, 3 nf) map from forces at arms (nf, 3) to force and moment."""
        A = np.zeros((2, 3, len(arm), 3))
        for axis, (after, last) in enumerate(((1, 2), (2, 0), (0, 1))):
            A[0, axis, :, axis] = 1.0
            A[1, axis, :, last] = arm[:, after]
            A[1, axis, :, after] = -arm[:, last]
        return A.reshape(6, -1)

    def _within_friction(self, force: np.ndarray) -> np.ndarray:
        """Cut pulling normal forces to zero and tangential ones to the friction cone."""
        for foot, (x, y, z) in enumerate(force.tolist()):
            most, tangential = self._friction * max(z, 0.0), math.hypot(x, y)
            if z < 0.0:
                force[foot, 2] = 0.0
            if tangential > most:
                force[foot, :2] *= most / tangential
        return force
