# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Damping of the hips: the design rule of source 003, and what the coupled robot makes of it.

The rule takes each axis of each hip for itself, with 1/N of the body's mass or inertia on it::

    b_xy = 2 zeta sqrt(m_cg k_xy / N)         b_phi = 2 zeta sqrt(I_cg k_phi / N)       (36), (37)

The hips couple through the body and the limbs, so that zeta = 1 is nominal: the body's bending
of k_phi over a limb's length, for one, is damped by about half of it.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.stickybot.model.dynamics import accelerate
from legged_dynamics.stickybot.model.jacobian import free_coordinates, jacobians, make_stepper
from legged_dynamics.stickybot.model.machine import FORCE
from legged_dynamics.stickybot.model.parts import Body
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.model.state import RestPosition, StickybotState


def nominal_damping(body: Body, stiffness: np.ndarray, n_limbs: int, ratio: float = 1.0
                    ) -> np.ndarray:
    """
    Return hip damping by (36) and (37), (3,) [N s/m, N s/m, N m s/rad].

    Parameters
    ----------
    body : Body
        Mass and inertia to be damped.
    stiffness : (3,) array [N/m, N/m, N m/rad]
        Of one hip, or the diagonal of its matrix.
    n_limbs : int
        How many hips share the body.
    ratio : float
        Nominal damping ratio zeta; the source has 1.

    Raises
    ------
    ConfigurationError
        When the ratio or a stiffness is negative, or there is no limb.

    """
    k = np.asarray(stiffness, dtype=float)
    if k.shape != (3,) or not (k >= 0.0).all() or n_limbs < 1 or not ratio >= 0.0:
        raise ConfigurationError(
            'expected 3 stiffnesses of at least 0, at least one limb and a ratio of at least 0, '
            f'got {stiffness!r}, {n_limbs!r} and {ratio!r}')
    return 2.0 * ratio * np.sqrt(np.array([body.mass, body.mass, body.inertia]) * k / n_limbs)


@dataclass(frozen=True, eq=False)
class Modes:
    """
    Small motions about a state.

    Attributes
    ----------
    eigenvalues : (m,) complex array [1/s]
        One of each conjugate pair, slowest decay first.
    frequency : (m,) array [rad/s]
        Magnitude of the eigenvalue: of a lightly damped mode, its natural frequency.
    damping_ratio : (m,) array
        ``-Re / |eigenvalue|``: 1 for a mode that does not oscillate.
    shape : (m, nz) complex array
        Motion of the coordinates z, largest entry 1 (metres and radians alike).
    nominal : float
        Damping ratio that the design rule (36), (37) would name for these hips, the largest
        of all axes and limbs.

    """

    eigenvalues: np.ndarray
    frequency: np.ndarray
    damping_ratio: np.ndarray
    shape: np.ndarray
    nominal: float

    @property
    def stable(self) -> bool:
        """Whether no mode grows, to rounding."""
        return bool((self.eigenvalues.real <= 1e-6 * np.abs(self.eigenvalues).max()).all())


def modes(model: StickybotModel, state: StickybotState, rest: RestPosition) -> Modes:
    """
    Return the true modes of the coupled robot with its feet as they are.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    state : StickybotState
        Linearised about; an equilibrium for the modes to mean what they say.
    rest : RestPosition
        Held still.

    Raises
    ------
    MeasurementError
        When state or rest positions do not fit the model.

    """
    z, v, attached = state.packed(model)
    u, _ = rest.packed(model)
    step = make_stepper(model.machine)
    zdd, forces, still = (np.zeros(model.nz), np.zeros((model.n_limbs, FORCE.width)),
                          np.zeros(model.nz - 3))
    accelerate(model.machine, step.work, attached, z, v, u, still, zdd, forces)
    jacobians(model.machine, step, attached, z, v, u, still, zdd, forces)
    n = free_coordinates(model.machine, attached, step.free)
    free = step.free[:n]
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = step.by_position[np.ix_(free, free)], \
        step.by_velocity[np.ix_(free, free)]
    values, vectors = np.linalg.eig(A)
    keep = np.flatnonzero(values.imag >= 0.0)
    keep = keep[np.argsort(-values[keep].real)]
    values, size = values[keep], np.abs(values[keep])
    shape = np.zeros((len(keep), model.nz), complex)
    shape[:, free] = vectors[:n, keep].T
    for row in shape:
        row /= row[np.argmax(np.abs(row))]
    ratio = np.where(size > 0.0, -values.real / np.maximum(size, 1e-300), math.nan)
    return Modes(values, size, ratio, shape, _nominal_ratio(model))


def _nominal_ratio(model: StickybotModel) -> float:
    ratios = [0.0]
    for limb in model.limbs:
        critical = nominal_damping(model.body, np.diag(limb.stiffness), model.n_limbs)
        ratios += (np.diag(limb.damping) / critical).tolist()
    return max(ratios)
