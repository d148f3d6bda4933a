# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ContactBatch: the ground reactions of many instants, and the call that finds them.

One kernel runs the tick of `contact.tick` or `program_tick` on each, warm started by the last.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from legged_dynamics.contact.conditions import Conditions, refuse
from legged_dynamics.contact.program_tick import solve_sample_within
from legged_dynamics.contact.solution import ContactSolution
from legged_dynamics.contact.tick import (
    DONE,
    GUESS,
    KKT,
    NORMAL,
    OUTCOME,
    RANK,
    RESIDUAL,
    STANDING,
    carve,
    solve_sample,
)
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.spatial.algebra import store3
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3
from legged_dynamics.spatial.packed import opened


class Samples(NamedTuple):
    """Inputs of n ticks, a row each; a table of no rows leaves what is set already."""

    q: np.ndarray           # (n, nq)
    v: np.ndarray           # (n, nv)
    a: np.ndarray           # (n, nv)
    base: np.ndarray        # (n, 9)
    effort: np.ndarray      # (n, nv), or (n, 0)
    standing: np.ndarray    # (n or 0, nf) int
    normal: np.ndarray      # (n or 0, 3), base axes
    guess: np.ndarray       # (n or 0, 6 nf), the feet's axes


@part
def _set_sample(samples, t, memory):
    """Set the conditions of sample ``t``."""
    feet, settings, states = memory.feet, memory.settings, memory.states
    for i in range(feet.index.shape[0]):
        if samples.standing.shape[0] > 0:
            feet.index[i, STANDING] = samples.standing[t, i]
        for c in range(6 if samples.guess.shape[0] > 0 else 0):
            states[i, GUESS + c] = samples.guess[t, 6 * i + c]
    if samples.normal.shape[0] > 0:
        store3(settings, NORMAL, get3(samples.normal, t, 0))


@lean_kernel
def _each(samples, integers, floats, results):
    """Run `solve_sample` on each; return the status, and the number of a bad sample."""
    memory = carve(integers, floats)
    for t in range(samples.q.shape[0]):
        _set_sample(samples, t, memory)
        status = solve_sample(integers, memory, samples.q[t], samples.v[t], samples.a[t],
                              samples.base[t], results[t])
        if status != DONE:
            return status, t
    return DONE, 0


@lean_kernel
def _each_within(samples, program, results):
    """Run `solve_sample_within` on each; return the status, and the number of a bad sample."""
    p = opened(program)
    memory = carve(p.integers, p.floats)
    for t in range(samples.q.shape[0]):
        _set_sample(samples, t, memory)
        status = solve_sample_within(p, memory, samples.q[t], samples.v[t], samples.a[t],
                                     samples.base[t], samples.effort[t])
        if status != DONE:
            return status, t
        for k in range(results.shape[1]):
            results[t, k] = p.results[k]
    return DONE, 0


# -------------------------------------------------------------------------------------------------
# What is called from Python.


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

    Parameters
    ----------
    data : (n, 6 nf + nv + N_REPORT) array
        Results of a tick, one a row.
    shape : int, bool
        Number of feet, and whether the base floats.

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


def solve_batch(conditions: Conditions, program: Any,
                motion: Sequence[np.ndarray], effort: np.ndarray | None,
                in_contact: np.ndarray | None, guess: np.ndarray | None,
                ground_normal: np.ndarray | None) -> np.ndarray:
    """
    Return the results of all samples, (n, 6 nf + nv + N_REPORT): see `contact.tick`.

    ``motion``: q, v, a and base (n, 9); ``guess`` (n, nf, 6) in foot frames;
    ``ground_normal`` (n, 3) or (3,) in base axes. Without ``program``: the closed form.
    """
    model, feet = conditions.model, len(conditions.memory.feet.index)
    n = len(motion[0])
    q, v, a, base = (_samples(table, (n, size), what) for table, size, what in zip(
        motion, (model.nq, model.nv, model.nv, 9),
        ('joint positions', 'joint velocities', 'joint accelerations', 'motions of the base')))
    if in_contact is not None:
        in_contact = np.asarray(in_contact, bool)
    standing = _samples(in_contact, (n, feet), 'flags').astype(np.int64)
    if np.ndim(ground_normal) == 1:
        ground_normal = np.broadcast_to(ground_normal, (n, 3))
    normal = _samples(ground_normal, (n, 3), 'ground normals')
    guesses = _samples(guess, (n, feet, 6), 'guesses')
    if not np.isfinite(guesses).all():
        raise MeasurementError('expected finite guesses')
    if guess is not None:
        guesses = conditions.use_guess(guesses)
    guesses = guesses.reshape(len(guesses), 6 * feet)
    results = np.zeros((n, conditions.results.size))
    measured = (np.zeros((n, 0)) if effort is None
                else _samples(effort, (n, model.nv), 'joint torques'))
    samples = Samples(q, v, a, base, measured, standing, normal, guesses)
    if program is None:
        failure, at = _each(samples, conditions.integers, conditions.floats, results)
    else:
        failure, at = _each_within(samples, program, results)
    if failure:
        refuse(failure, f'sample {at}: ')
    return results


def _samples(table: np.ndarray | None, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Return a table of a shape as kernels take it, without rows where there is none."""
    if table is None:
        return np.zeros((0, *shape[1:]))
    array = np.asarray(table)
    array = np.require(array, bool if array.dtype == bool else float, ['C', 'W'])
    if array.shape != shape:
        raise MeasurementError(f'expected {what} of shape {shape}, got {array.shape}')
    return array
