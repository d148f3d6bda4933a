# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Proofs that no forces carry a load, in words and numbers that can be checked by hand."""
from __future__ import annotations

import numpy as np

from legged_dynamics.stickybot.allocation.allocation import (
    Allocation,
    AllocationStatus,
    Infeasibility,
    no_answer,
)
from legged_dynamics.stickybot.allocation.force_program import (
    RELAXED,
    force_multipliers,
    make_force_memory,
    solve_balance,
    solve_forces,
)
from legged_dynamics.stickybot.allocation.force_sets import ForceSets


def unreachable(grasp: np.ndarray, wrench: np.ndarray) -> Allocation:
    """Return the certificate of a load that the feet cannot make with any forces."""
    missing = wrench - grasp @ np.linalg.lstsq(grasp, wrench, rcond=1e-9)[0]
    direction = missing / np.abs(missing).max()
    proof = Infeasibility(direction, float(direction @ wrench), 0.0,
                          f'with the feet where they are, no forces make any of the combination '
                          f'{_words(direction)}, and the load asks for '
                          f'{direction @ wrench:.4g}. Set another foot, away from the line of '
                          'those on the wall.')
    return no_answer(grasp.shape[1] // 2, AllocationStatus.INFEASIBLE, proof)


def certificate(grasp: np.ndarray, wrench: np.ndarray, sets: ForceSets) -> Infeasibility | None:
    """
    Return a proof that no forces in the sets make the load, or None when there is none.

    The multipliers of the relaxed program name a direction of the load's space. The proof does
    not lean on the solver: the most that the sets make of that direction is summed exactly.
    """
    n, columns = sets.n_feet, grasp.shape[1]
    basis, least = np.zeros((columns + 1, columns)), np.zeros(columns)
    rank, _ = solve_balance(grasp, wrench, basis, least)
    memory, forces, pull = make_force_memory(n + 1), np.zeros(2 * n), np.zeros(2 * n)
    code, excess = solve_forces(RELAXED, least[:2 * n].copy(), basis[:, :2 * n].copy(), rank,
                                columns - rank, sets.table, np.ones(n), np.zeros(columns), 0.0,
                                memory.program, forces)
    if code < 0 or excess <= 0.0:
        return None
    force_multipliers(RELAXED, sets.table, memory.program, pull)
    # A multiple that is free to choose takes no part in the proof: its column must vanish.
    target = np.concatenate([pull, np.zeros(columns - 2 * n)])
    direction = np.linalg.lstsq(grasp.T, target, rcond=None)[0]
    direction /= max(float(np.abs(direction).max()), 1e-300)
    available = float(sets.support((grasp[:, :2 * n].T @ direction).reshape(-1, 2)).sum())
    demanded = float(direction @ wrench)
    if not demanded > available:
        return None
    over = [str(i) for i in np.flatnonzero(~sets.contains(forces.reshape(-1, 2)))]
    return Infeasibility(
        direction, demanded, available,
        f'of the combination {_words(direction)} the feet make at most {available:.4g} N within '
        f'their limits, and the load asks for {demanded:.4g} N. Spread as evenly as possible, '
        f'the load is {excess:.4g} N beyond the limits of feet {", ".join(over) or "(none)"}.')


def _words(direction: np.ndarray) -> str:
    return (f'{direction[0]:.3g} * force x + {direction[1]:.3g} * force y + '
            f'{direction[2]:.3g}/m * moment')
