# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Conditions of a call: feet in contact, the ground's normal, a guess, external wrenches.

They are written into the memory of the kernels before a call, and reset after it.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from legged_dynamics.contact.tick import (
    EASE,
    GUESS,
    GUESSED,
    LENGTH,
    LOADED,
    NORMAL,
    NOT_SOLVED,
    NOT_UNIT,
    STANDING,
    allocate,
    carve,
)
from legged_dynamics.dynamics.jacobians import REFERENCE, SIZE, FeetTable
from legged_dynamics.dynamics.motion import BaseMotion, state_vector
from legged_dynamics.dynamics.newton_euler import body_wrenches
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.robot_model import RobotModel

UP = (0.0, 0.0, 1.0)


class Conditions:
    """
    Memory of the kernels, with the conditions of a call in it.

    Arrays are made by `contact.tick.allocate`; ``memory`` has views of them. ``altered``:
    whether any condition is not the default; ``length_scale`` [m]: moment weighted like a
    force of 1 N.
    """

    def __init__(self, model: RobotModel, table: FeetTable, length_scale: float):
        if len(table.index) and not model.floating:
            raise ConfigurationError(
                'contact inverse dynamics needs a floating base, got a model with a fixed one, '
                'whose motion tells nothing of its feet. Leave the feet out and give the '
                'wrenches that are known as external.')
        if not length_scale > 0.0:
            raise ConfigurationError(f'expected a length scale above 0 m, got {length_scale}')
        self.model = model
        self.integers, self.floats, self.results = allocate(model, table)
        self.memory = carve(self.integers, self.floats)
        self.ease = length_scale ** -2
        self._references = table.geometry[:, REFERENCE:REFERENCE + 3].copy()
        self._standing = self.memory.feet.index[:, STANDING]
        self._normal = self.memory.settings[NORMAL:NORMAL + 3]
        self.memory.settings[LENGTH] = length_scale
        self.altered = self._lifted = self._tilted = self._special = True
        self.set()

    def set(self, in_contact: Sequence[bool] | None = None,
            ground_normal: Sequence[float] | None = None, guess: np.ndarray | None = None,
            center_of_pressure: np.ndarray | None = None,
            external: Mapping[str, np.ndarray] | None = None) -> None:
        """
        Set the conditions of a call; omitted ones get their defaults.

        ``ground_normal`` in base axes; ``guess`` (nf, 6), ``center_of_pressure`` (nf, 3) [m] in
        foot frames, NaN for the default; ``external`` (6,) in link axes about its origin.
        """
        self.altered = True
        if in_contact is not None or self._lifted:
            self._set_standing(in_contact)
        if ground_normal is not None or self._tilted:
            self._set_normal(ground_normal)
        if self._special or guess is not None or center_of_pressure is not None or external:
            self._set_special(guess, center_of_pressure, external)
        self.altered = self._lifted or self._tilted or self._special

    def set_for_samples(self, center_of_pressure: np.ndarray | None,
                        external: Mapping[str, np.ndarray] | None) -> None:
        """Set the conditions shared by all samples of a batch, as in `set`."""
        self.set(None, None, None, center_of_pressure, external)
        self.altered = self._lifted = self._tilted = True

    def _set_standing(self, in_contact: Sequence[bool] | None) -> None:
        """Set which feet are on the ground; by default all."""
        self._lifted = in_contact is not None
        flags = np.asarray(True if in_contact is None else in_contact, bool)
        if self._lifted and flags.shape != self._standing.shape:
            raise MeasurementError(f'expected {self._standing.size} contact flags, got shape '
                                   f'{flags.shape}')
        self._standing[:] = flags

    def _set_normal(self, ground_normal: Sequence[float] | None) -> None:
        """Set the ground's normal in base axes; the kernel checks that it is a unit vector."""
        self._tilted = ground_normal is not None
        normal = UP if ground_normal is None else ground_normal
        if len(normal) != 3:
            raise MeasurementError(f'expected a unit ground normal in base axes, got {normal}')
        self._normal[:] = normal

    def _set_special(self, guess: np.ndarray | None, center_of_pressure: np.ndarray | None,
                    external: Mapping[str, np.ndarray] | None) -> None:
        """Set guess, centres of pressure and external wrenches; by default none."""
        memory, nf, references = self.memory, self._standing.size, self._references
        self._special = True
        if center_of_pressure is not None:
            points = _table(center_of_pressure, (nf, 3), 'centres of pressure', finite=False)
            pressed = memory.feet.index[:, SIZE, None] > 3
            references = np.where(np.isfinite(points) & pressed, points, references)
        memory.feet.geometry[:, REFERENCE:REFERENCE + 3] = references
        self._pressed = center_of_pressure is not None
        self.integers[1, GUESSED] = 0
        memory.settings[EASE] = self.ease
        if guess is not None:
            memory.states[:, GUESS:GUESS + 6] = self.use_guess(_table(guess, (nf, 6), 'guess'))
        self.integers[1, LOADED] = bool(external)
        if external:
            body_wrenches(self.model, external, memory.external[:, :6])
        self._special = guess is not None or center_of_pressure is not None or bool(external)

    def use_guess(self, guess: np.ndarray) -> np.ndarray:
        """Make the solution stay near a guess (..., nf, 6), foot frames; return it."""
        self.altered = self._special = True
        self.integers[1, GUESSED] = 1
        if not self._pressed:
            self.memory.settings[EASE] = 1.0
            return guess
        # A force at the centre of pressure: no moment about it.
        references = self.memory.feet.geometry[:, REFERENCE:REFERENCE + 3]
        return np.concatenate([guess[..., :3], np.cross(references, guess[..., :3])], axis=-1)


def move_references(table: FeetTable, reference: str | np.ndarray) -> None:
    """
    Set in place the points about which the feet's moments are taken.

    'sole': its middle; 'frame': the foot frame's origin; (nf, 3): points in foot frames
    [m].
    """
    references = table.geometry[:, REFERENCE:REFERENCE + 3]
    if isinstance(reference, str):
        if reference not in ('sole', 'frame'):
            raise ConfigurationError(f"expected reference 'sole' or 'frame', got {reference!r}")
        if reference == 'frame':
            references[:] = 0.0
        return
    points = np.asarray(reference, float)
    if points.shape != references.shape or not np.isfinite(points).all():
        raise ConfigurationError("expected reference 'sole', 'frame' or finite points of shape "
                                 f'{references.shape}, got shape {points.shape}')
    pressed = table.index[:, SIZE] > 3
    references[pressed] = points[pressed]


def _table(values: np.ndarray, shape: tuple[int, int], what: str, finite: bool = True
           ) -> np.ndarray:
    array = np.asarray(values, float)
    if array.shape != shape or (finite and not np.isfinite(array).all()):
        raise MeasurementError(f'expected a finite {what} of shape {shape}, '
                               f'got shape {array.shape}')
    return array


# -------------------------------------------------------------------------------------------------
# Inputs of a call: converted to arrays that kernels take, or refused.


def as_inputs(model: RobotModel, position: np.ndarray, velocity: np.ndarray,
              acceleration: np.ndarray, base: np.ndarray | BaseMotion,
              effort: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """Return the checked inputs of a tick as arrays (q, v, a, base, effort or None)."""
    packed = base.packed() if isinstance(base, BaseMotion) else base
    inputs = [state_vector(position, model.nq, 'joint positions'),
              state_vector(velocity, model.nv, 'joint velocities'),
              state_vector(acceleration, model.nv, 'joint accelerations'),
              state_vector(packed, 9, "components of the base's motion")]
    measured = None if effort is None else np.array(effort, float)
    if measured is not None and measured.shape != (model.nv,):
        raise MeasurementError(f'expected {model.nv} joint torques, got an array of shape '
                               f'{measured.shape}')
    return (*(a if a.flags.writeable else a.copy() for a in inputs), measured)


def refuse(failure: int, where: str = '') -> None:
    """Raise the MeasurementError for a kernel's return code; ``where`` begins its message."""
    reasons = {NOT_UNIT: 'expected a unit ground normal in base axes, got one of another length',
               NOT_SOLVED: 'found no admissible forces in as many steps as are allowed; the '
                           'motion, or a limit, is out of all proportion'}
    raise MeasurementError(where + reasons.get(failure, 'expected finite joint states and base '
                                               'motion, and finite forces from them'))
