# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Inertias that some distribution of mass has, whatever the numbers: log-Cholesky parameters.

The pseudo-inertia ``P = [[S, h], [h^T, m]]`` (second moments of mass S, first h, mass m) of a body
is positive definite, and only then do masses make it. With ``P_0 = L_0 L_0^T`` of the description,
L_0 upper triangular, the body is ``P = L_0 U U^T L_0^T`` with (Rucker and Wensing 2022)

    U = e^a [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]]

so that all ten parameters (a, d1, d2, d3, s12, s23, s13, t1, t2, t3) are zero for the body as
described, have no unit, and mean the same for a trunk and for a toe: 2a is the log of the mass's
factor, t the shift of the centre of mass in radii of gyration.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.model.parts import Inertia

STEP = 1e-6
# A body described flat or as a point is given this part of its size in thickness.
THINNEST = 1e-3
MASS, SHAPE, SHIFT = slice(0, 1), slice(1, 7), slice(7, 10)


class LogCholesky:
    """
    The ten parameters of one body.

    Parameters
    ----------
    inertia : Inertia
        As described, in the body's frame.

    """

    def __init__(self, inertia: Inertia):
        about, c, m = inertia.about_com, inertia.com, inertia.mass
        second = 0.5 * np.trace(about) * np.eye(3) - about
        size, axes = np.linalg.eigh(second)
        least = max(THINNEST * float(size[-1]), 1e-9 * m)
        second = axes @ np.diag(np.maximum(size, least)) @ axes.T
        P = np.zeros((4, 4))
        P[:3, :3] = second + m * np.outer(c, c)
        P[:3, 3] = P[3, :3] = m * c
        P[3, 3] = m
        self._root = np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]
        self.radius = np.sqrt(np.maximum(np.diag(second), 0.0) / m)

    def _pseudo_inertia(self, theta: np.ndarray) -> np.ndarray:
        a, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
        U = np.exp(a) * np.array([[np.exp(d1), s12, s13, t1], [0.0, np.exp(d2), s23, t2],
                                  [0.0, 0.0, np.exp(d3), t3], [0.0, 0.0, 0.0, 1.0]])
        root = self._root @ U
        return root @ root.T

    def parameters(self, theta: np.ndarray) -> np.ndarray:
        """Return what the regressor multiplies: mass, first moment, inertia about the origin."""
        P = self._pseudo_inertia(theta)
        about = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
        return np.concatenate([[P[3, 3]], P[:3, 3], about[np.triu_indices(3)]])

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Return the (10, 10) derivative of :meth:`parameters`."""
        return np.stack([(self.parameters(theta + e) - self.parameters(theta - e)) / (2.0 * STEP)
                         for e in STEP * np.eye(10)], axis=1)

    def inertia(self, theta: np.ndarray) -> Inertia:
        """Return the inertia, in the body's frame."""
        P = self._pseudo_inertia(theta)
        m, c = P[3, 3], P[:3, 3] / P[3, 3]
        second = P[:3, :3] - m * np.outer(c, c)
        return Inertia(float(m), c, np.trace(second) * np.eye(3) - second)
