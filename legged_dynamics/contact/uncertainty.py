# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Error bars of ground reactions, and the directions in which none can be given.

The solution is linearised in every error; its covariance is the sum of squares of the changes that
each source of noise causes. Motion alone says nothing of forces that cancel on the base (squeeze
between feet): those directions are left out of the covariance and listed. With measured torque a
direction is left out when the knowledge of it comes from the prior.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from legged_dynamics.contact.tick import Memory
from legged_dynamics.dynamics.motion import Motion
from legged_dynamics.exceptions import ConfigurationError, index_of
from legged_dynamics.model.parts import COM, INERTIA, JOINT, MASS, Q_START, SPHERICAL, V_START
from legged_dynamics.model.robot_model import RobotModel

# -------------------------------------------------------------------------------------------------
# Stated noise, and how a solution changes when a source of it is off by one standard deviation.
#
# The steps of the central differences are the standard deviations themselves.


STEPS_OF_BASE = ('angular_velocity', 'angular_acceleration', 'proper_acceleration')


@dataclass(frozen=True)
class MotionNoise:
    """
    Standard deviations of measurements, independent in every component, and of the model.

    Attributes
    ----------
    position, velocity, acceleration : float or (nv,) array [rad, rad/s, rad/s^2 or m, ...]
        Standard deviations of joint positions, velocities and accelerations.
    angular_velocity, angular_acceleration, proper_acceleration : float or (3,) array
        Standard deviations of the motion of the base [rad/s, rad/s^2, m/s^2].
    effort : float or (nv,) array [N m or N]
        Standard deviation of measured joint torque.
    mass, inertia : float
        Standard deviations of mass and inertia of each body, as a fraction.
    center_of_mass : float [m]
        Standard deviation of the centre of mass of each body, in each direction.

    """

    position: float | np.ndarray = 0.0
    velocity: float | np.ndarray = 0.0
    acceleration: float | np.ndarray = 0.0
    angular_velocity: float | np.ndarray = 0.0
    angular_acceleration: float | np.ndarray = 0.0
    proper_acceleration: float | np.ndarray = 0.0
    effort: float | np.ndarray = 0.0
    mass: float = 0.0
    center_of_mass: float = 0.0
    inertia: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = np.asarray(getattr(self, field.name), float)
            if not (np.isfinite(value).all() and (value >= 0.0).all()):
                raise ConfigurationError(f'{field.name}: expected standard deviations of at '
                                         f'least 0, got {value.tolist()}')

    def of(self, name: str, size: int) -> np.ndarray:
        """
        Return a standard deviation as one value a component.

        Parameters
        ----------
        name : str
            Name of the attribute.
        size : int
            Number of components.

        Returns
        -------
        (size,) array

        Raises
        ------
        ConfigurationError
            When there are several values, and not as many as components.

        """
        value = np.asarray(getattr(self, name), float)
        if value.ndim and value.shape != (size,):
            raise ConfigurationError(f'{name}: expected one value or {size}, got shape '
                                     f'{value.shape}')
        return np.broadcast_to(value, (size,))


def shifted_motions(model: RobotModel, motion: Motion, noise: MotionNoise
                    ) -> tuple[np.ndarray, ...]:
    """Return (q, v, a, base), (2 k, n) each: k noisy components shifted up, then down."""
    q, v, a, base = (np.asarray(x, float) for x in (
        motion.position, motion.velocity, motion.acceleration, motion.base.packed()))
    steps = [noise.of(name, model.nv) for name in ('position', 'velocity', 'acceleration')]
    of_base = np.concatenate([noise.of(name, 3) for name in STEPS_OF_BASE])
    samples = []
    for sign in (1.0, -1.0):
        for part, deviation in enumerate([*steps, of_base]):
            for j in np.flatnonzero(deviation):
                moved, step = [q, v, a, base], sign * deviation[j]
                if part == 0:
                    moved[0] = _turned(model, q, j, step)
                else:
                    moved[part] = moved[part].copy()
                    moved[part][j] += step
                samples.append(moved)
    return tuple(np.array([sample[i] for sample in samples]).reshape(-1, size)
                 for i, size in enumerate((model.nq, model.nv, model.nv, 9)))


def shifted_models(memory: Memory, noise: MotionNoise, answer: Callable[[], np.ndarray]
                   ) -> np.ndarray:
    """Return a solution's changes (k, n) with model errors: half of up minus down."""
    constants = memory.tree.constants
    found = []
    for body in range(len(constants)):
        row = constants[body]
        kept = row.copy()
        shifts: list[tuple[slice, float | np.ndarray]] = []
        if kept[MASS] > 0.0 and noise.mass:
            shifts += [(slice(MASS, MASS + 1), noise.mass * kept[MASS])]
        if kept[MASS] > 0.0 and noise.center_of_mass:
            shifts += [(slice(COM + k, COM + k + 1), noise.center_of_mass) for k in range(3)]
        if noise.inertia and kept[INERTIA:INERTIA + 6].any():
            shifts += [(slice(INERTIA, INERTIA + 6), noise.inertia * kept[INERTIA:INERTIA + 6])]
        for place, step in shifts:
            pair = []
            for sign in (1.0, -1.0):
                row[place] += sign * step
                pair.append(answer())
                row[:] = kept
            found.append((pair[0] - pair[1]) / 2.0)
    return np.array(found) if found else np.zeros((0, answer().size))


def _turned(model: RobotModel, q: np.ndarray, j: int, step: float) -> np.ndarray:
    """Move joint velocity j's coordinate by a step; a ball turns about its own axis."""
    topology = model.tree.topology
    body = int(np.searchsorted(topology[1:, V_START], j, side='right'))
    start, moved = int(topology[body, Q_START]), q.copy()
    if topology[body, JOINT] != SPHERICAL:
        moved[start] += step
        return moved
    half = np.zeros(3)
    half[j - topology[body, V_START]] = step / 2.0
    xyz, w = q[start:start + 3], q[start + 3]
    moved[start:start + 3] = xyz + w * half + np.cross(xyz, half)
    moved[start + 3] = w - xyz @ half
    return moved


@dataclass(frozen=True, eq=False)
class WrenchUncertainty:
    """
    How well the wrenches of one instant are known.

    Attributes
    ----------
    feet : tuple of str
        Links of the feet.
    covariance : (6 nf, 6 nf) array [N^2, N^2 m, N^2 m^2]
        Covariance of the wrenches ``[f; m]`` in the feet's frames, foot after foot, within the
        directions that are observed.
    unobservable : (6 nf, k) array
        The other directions: combinations of wrenches that nothing measured depends on.
    observable : (nf, 6) bool array
        Components that have no part in unobservable directions.
    standard_deviation : (nf, 6) array [N, N m]
        Standard deviation of each component; infinite for those that are not observable.

    """

    feet: tuple[str, ...]
    covariance: np.ndarray
    unobservable: np.ndarray
    observable: np.ndarray
    standard_deviation: np.ndarray

    def covariance_of(self, foot: str) -> np.ndarray:
        """
        Return the covariance of one foot's wrench, within the observed directions.

        Parameters
        ----------
        foot : str
            Link of the foot.

        Returns
        -------
        (6, 6) array [N^2, N^2 m, N^2 m^2]

        Raises
        ------
        UnknownNameError
            When there is no such foot.

        """
        i = 6 * index_of('foot', foot, self.feet)
        return self.covariance[i:i + 6, i:i + 6]
