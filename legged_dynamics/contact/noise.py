# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stated noise, and how an answer moves when each of its sources is off by one standard deviation.

The steps are the standard deviations themselves: central differences over the range that matters.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from legged_dynamics.contact.memory import Memory
from legged_dynamics.dynamics.motion import Motion
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import (
    COM,
    INERTIA,
    JOINT,
    MASS,
    Q_START,
    SPHERICAL,
    V_START,
)

STEPS_OF_BASE = ('angular_velocity', 'angular_acceleration', 'proper_acceleration')


@dataclass(frozen=True)
class MotionNoise:
    """
    One standard deviation of what is measured, independent in every component, and of the model.

    Attributes
    ----------
    position, velocity, acceleration : float or (nv,) array [rad, rad/s, rad/s^2 or m, ...]
        Of the joints.
    angular_velocity, angular_acceleration, proper_acceleration : float or (3,) array
        Of the base [rad/s, rad/s^2, m/s^2].
    effort : float or (nv,) array [N m or N]
        Of measured joint torque.
    mass, inertia : float
        Of each body, as a fraction.
    center_of_mass : float [m]
        Of each body, in each direction.

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
    """
    Return the motion with one component after the other off by a standard deviation.

    Returns
    -------
    tuple of arrays
        (2 k, nq), (2 k, nv), (2 k, nv), (2 k, 9): k components up, then the same down.

    """
    q, v, a, base = (np.asarray(x, float) for x in (
        motion.position, motion.velocity, motion.acceleration, motion.base.packed()))
    steps = [noise.of(name, model.nv) for name in ('position', 'velocity', 'acceleration')]
    of_base = np.concatenate([noise.of(name, 3) for name in STEPS_OF_BASE])
    samples = []
    for sign in (1.0, -1.0):
        for j in np.flatnonzero(steps[0]):
            samples.append((_turned(model, q, j, sign * steps[0][j]), v, a, base))
        for j in np.flatnonzero(steps[1]):
            samples.append((q, _off(v, j, sign * steps[1][j]), a, base))
        for j in np.flatnonzero(steps[2]):
            samples.append((q, v, _off(a, j, sign * steps[2][j]), base))
        for j in np.flatnonzero(of_base):
            samples.append((q, v, a, _off(base, j, sign * of_base[j])))
    sizes = model.nq, model.nv, model.nv, 9
    return tuple(np.array([sample[i] for sample in samples]).reshape(-1, size)
                 for i, size in enumerate(sizes))


def shifted_models(memory: Memory, noise: MotionNoise, answer: Callable[[], np.ndarray]
                   ) -> np.ndarray:
    """
    Return the answers, (k, n), to k errors of the model: halves of up less down.

    The constants in a kernel's memory are changed for the while.
    """
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


def _off(values: np.ndarray, j: int, step: float) -> np.ndarray:
    moved = values.copy()
    moved[j] += step
    return moved


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
