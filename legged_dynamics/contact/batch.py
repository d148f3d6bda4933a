# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ContactBatch: the ground reactions of many instants, and the call that finds them."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from legged_dynamics.contact.batch_tick import batch_tick, program_batch
from legged_dynamics.contact.conditions import Conditions
from legged_dynamics.contact.inputs import refuse
from legged_dynamics.contact.lanes import BODY_BLOCK, LANES
from legged_dynamics.contact.memory import (
    KKT,
    OUTCOME,
    RANK,
    RESIDUAL,
)
from legged_dynamics.contact.solution import ContactSolution
from legged_dynamics.exceptions import MeasurementError


class ContactBatch:
    """
    Ground reactions and joint efforts of n instants: views of one array.

    Attributes
    ----------
    wrench : (n, nf, 6) array [N, N m]
    joint_effort : (n, nv) array [N m or N]
    root_residual : (n, 6) array [N, N m]
    rank : (n,) int array
    feasible : (n,) bool array
    kkt_residual : (n,) array
        Each as `ContactSolution` has it; ``batch[i]`` is the solution of one instant.

    """

    def __init__(self, data: np.ndarray, shape: tuple[int, bool]):
        self._data, self._shape = data, shape
        feet = shape[0]
        self.wrench = data[:, :6 * feet].reshape(len(data), feet, 6)
        self.joint_effort = data[:, 6 * feet:RESIDUAL]
        self.root_residual = data[:, RESIDUAL:RESIDUAL + 6]
        self.rank = data[:, RANK].astype(int)
        self.feasible = data[:, OUTCOME] == 0.0
        self.kkt_residual = data[:, KKT]

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, i: int) -> ContactSolution:
        return ContactSolution(self._data[i], self._shape)


def solve_batch(conditions: Conditions, program: tuple[np.ndarray, ...] | None,
                motion: Sequence[np.ndarray], effort: np.ndarray | None,
                in_contact: np.ndarray | None, guess: np.ndarray | None,
                ground_normal: np.ndarray | None) -> np.ndarray:
    """
    Return the results of all samples, one a row.

    Parameters
    ----------
    conditions : Conditions
        Whose memory is used; what is given for each sample is left as the last one had it.
    program : tuple of arrays, optional
        Without it, the closed form.
    motion : sequence of arrays
        (n, nq) positions, (n, nv) velocities and accelerations, (n, 9) motions of the base.
    effort, in_contact, guess, ground_normal : arrays, optional
        (n, nv), (n, nf), (n, nf, 6), and (n, 3) or (3,).

    Raises
    ------
    MeasurementError
        When a shape does not fit, or a sample is not finite; the message says which.

    """
    model, feet = conditions.model, len(conditions.memory.feet.index)
    n = len(motion[0])
    q, v, a, base = (_samples(table, (n, size), what) for table, size, what in zip(
        motion, (model.nq, model.nv, model.nv, 9),
        ('joint positions', 'joint velocities', 'joint accelerations', 'motions of the base')))
    standing = (np.zeros((0, feet), np.int64) if in_contact is None else
                _samples(np.asarray(in_contact, bool), (n, feet), 'flags').astype(np.int64))
    normal = np.zeros((0, 3))
    if ground_normal is not None:
        normal = _samples(np.broadcast_to(ground_normal, (n, 3)) if np.ndim(ground_normal) == 1
                          else ground_normal, (n, 3), 'ground normals')
    guesses = np.zeros((0, 6 * feet))
    if guess is not None:
        guesses = _samples(guess, (n, feet, 6), 'guesses')
        if not np.isfinite(guesses).all():
            raise MeasurementError('expected finite guesses')
        guesses = conditions.use_guess(guesses).reshape(n, 6 * feet)
    results = np.zeros((n, conditions.results.size))
    arrays = conditions.integers, conditions.floats, results
    if program is None:
        inputs = np.zeros((model.nq + 3 * model.nv + 15) * LANES)
        lanes = np.zeros(model.n_bodies * BODY_BLOCK)
        failure, at = batch_tick(q, v, a, base, standing, normal, guesses, *arrays, inputs, lanes)
    else:
        measured = (np.zeros((n, 0)) if effort is None
                    else _samples(effort, (n, model.nv), 'joint torques'))
        failure, at = program_batch(q, v, a, base, measured, standing, normal, guesses, *arrays,
                                    *program)
    if failure:
        refuse(failure, f'sample {at}: ')
    return results


def _samples(table: np.ndarray, shape: tuple[int, ...], what: str) -> np.ndarray:
    array = np.asarray(table)
    array = np.require(array, bool if array.dtype == bool else float, ['C', 'W'])
    if array.shape != shape:
        raise MeasurementError(f'expected {what} of shape {shape}, got {array.shape}')
    return array
