# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Energy and momentum of a climber's state with their residuals, and its small motions."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from legged_dynamics.stickybot.model.dynamics import (
    STORED,
    TOTAL,
    accelerate,
    flow,
    free_coordinates,
    jacobians,
    make_stepper,
    nominal_damping,
    stored,
)
from legged_dynamics.stickybot.model.limb import FORCE, Coordinates, make_workspace
from legged_dynamics.stickybot.model.robot import RestPosition, StickybotModel, StickybotState


@dataclass(frozen=True, eq=False)
class Balance:
    """
    What a state stores, and how far its rates miss the three balances.

    Attributes
    ----------
    kinetic, potential : float [J]
        Potential energy is elastic and of gravity.
    momentum : (2,) array [kg m/s]
    angular_momentum : float [kg m^2/s]
        About the origin of the wall's frame.
    center_of_mass : (2,) array [m]
    power_residual : float [W]
        d/dt (T + V) less power in, plus loss.
    force_residual : (2,) array [N]
        d/dt p less the sum of reactions and weight (Newton).
    moment_residual : float [N m]
        d/dt L less the moments of reactions and weight.

    """

    kinetic: float
    potential: float
    momentum: np.ndarray
    angular_momentum: float
    center_of_mass: np.ndarray
    power_residual: float
    force_residual: np.ndarray
    moment_residual: float


def balance(model: StickybotModel, state: StickybotState, rest: RestPosition) -> Balance:
    """
    Return energy and momenta of a state, and the residuals of their balances.

    Parameters
    ----------
    model, state, rest
        As for :func:`accelerations`.

    Returns
    -------
    Balance
        Energy, momenta and residuals.

    Raises
    ------
    MeasurementError
        When the state or the rest positions do not fit the model.

    """
    z, v, attached = state.packed(model)
    u, ud = rest.packed(model)
    machine, work = model.machine, make_workspace(model.machine)
    zdd, forces = np.zeros(model.nz), np.zeros((model.n_limbs, FORCE.width))
    gain = np.zeros(TOTAL.width)
    x = Coordinates(z, v, u, ud)
    accelerate(machine, work, attached, x, zdd, forces)
    flow(machine, z, forces, gain)
    now, rate = np.zeros(STORED.width), np.zeros(STORED.width)
    stored(machine, work, x, zdd, now, rate)
    return Balance(
        now[STORED.kinetic], now[STORED.potential],
        now[STORED.momentum:STORED.momentum + 2], now[STORED.angular_momentum],
        now[STORED.mass_center:STORED.mass_center + 2],
        power_residual=(rate[STORED.kinetic] + rate[STORED.potential]
                        - gain[TOTAL.work] + gain[TOTAL.damped]),
        force_residual=(rate[STORED.momentum:STORED.momentum + 2]
                        - gain[TOTAL.impulse:TOTAL.impulse + 2]),
        moment_residual=rate[STORED.angular_momentum] - gain[TOTAL.angular_impulse])


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

    Returns
    -------
    Modes
        One of each conjugate pair, slowest decay first.

    Raises
    ------
    MeasurementError
        When state or rest positions do not fit the model.

    """
    z, v, attached = state.packed(model)
    u, _ = rest.packed(model)
    step = make_stepper(model)
    zdd, forces, still = (np.zeros(model.nz), np.zeros((model.n_limbs, FORCE.width)),
                          np.zeros(model.nz - 3))
    x = Coordinates(z, v, u, still)
    accelerate(model.machine, step.work, attached, x, zdd, forces)
    jacobians(model.machine, step, attached, x, zdd, forces)
    free = free_coordinates(model, attached)
    n = len(free)
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
