# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Whether joint states can be true: each sample against the one before it and against physics.

A position that jumps further than its velocities explain leaves an offset behind; until a jump
back has taken it away (a spike), the joint is not believed, however long it stays. A slow
disagreement of position and velocity adds up in a leaky sum. Values that repeat themselves to the
last bit mean a frozen sensor only where the same joint, when still, was seen to be noisy.
"""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from legged_dynamics.safety.joint_limits import BELIEVED, TOLERANCE, VELOCITY
from legged_dynamics.spatial.jit import lean_kernel

# Rows of the memory.
Q, V, OFFSET, DRIFT, SEEN = 0, 1, 2, 3, 4
LIVELY_Q, LIVELY_V, STUCK_Q, STUCK_V, COUNT_Q, COUNT_V = 5, 6, 7, 8, 9, 10
N_MEMORY = 11
# Kinds of faults.
PLAUSIBLE, TOO_FAST, JUMPED, DISAGREE, FROZEN_Q, FROZEN_V = range(6)
LEAK = 0.1              # s, of the sum of position less integrated velocity
GAP = 0.03              # s between samples from which nothing is added to it
DRIFTED = 2.5           # tolerances of a reading that the sum may reach
START_TIME = 0.3        # s from rest to the velocity limit: what a joint may do between samples
SEEN_TIME = 0.006       # s over which the velocity is taken from positions
QUIET = 0.05            # rad/s or m/s: a joint slower than this counts as still
# Weight of a still sample, and from when on a joint's noise counts as known: after 460 of them.
LEARNT, LIVELY = 0.005, 0.9
REPEATED = 5            # samples that are frozen at the least


@lean_kernel
def watch_joints(limits, memory, position, velocity, dt, frozen, found):
    """
    Compare a sample with the one before; ``found`` gets kind and joint of the worst fault.

    Parameters
    ----------
    limits : (nj, .) array
        At the columns of :mod:`~legged_dynamics.safety.joint_limits`.
    memory : (., nj) array
        At the rows of this module; changed.
    position, velocity : (nj,) array
        The new sample.
    dt : float [s]
        Since the last one.
    frozen : float [s]
        After which a sensor that repeats itself counts as frozen; 0 for never.
    found : (2,) int array
        Filled.

    """
    found[0], found[1] = PLAUSIBLE, 0
    for j in range(len(position)):
        q, v = position[j], velocity[j]
        fault = PLAUSIBLE
        if not abs(v) <= limits[j, BELIEVED]:
            fault = TOO_FAST
            v = memory[V, j]
        before = memory[V, j]
        moved = q - memory[Q, j]
        excess = moved - 0.5 * (before + v) * dt
        allowed = (limits[j, TOLERANCE] + 0.5 * abs(v - before) * dt
                   + limits[j, VELOCITY] / START_TIME * dt * dt)
        if abs(excess) > allowed:
            memory[OFFSET, j] += excess
            if abs(memory[OFFSET, j]) <= allowed:
                memory[OFFSET, j] = 0.0
        else:
            # Nobody knows what the velocity was in a gap.
            told = excess if dt <= GAP else 0.0
            memory[DRIFT, j] = (memory[DRIFT, j] + told) * math.exp(-dt / LEAK)
            share = 1.0 - math.exp(-dt / SEEN_TIME)
            if dt > 0.0:
                memory[SEEN, j] += share * (moved / dt - memory[SEEN, j])
        if memory[OFFSET, j] != 0.0:
            fault = JUMPED
        elif fault == PLAUSIBLE and abs(memory[DRIFT, j]) > DRIFTED * limits[j, TOLERANCE]:
            fault = DISAGREE
        still = abs(v) < QUIET
        for field in range(2):
            same = velocity[j] == memory[V, j] if field else q == memory[Q, j]
            if same:
                memory[STUCK_Q + field, j] += dt
                memory[COUNT_Q + field, j] += 1.0
                if (frozen > 0.0 and memory[STUCK_Q + field, j] >= frozen
                        and memory[COUNT_Q + field, j] >= REPEATED
                        and memory[LIVELY_Q + field, j] > LIVELY and fault == PLAUSIBLE):
                    fault = FROZEN_V if field else FROZEN_Q
            else:
                if still:
                    # What repeated itself counts now that it is over.
                    kept = (1.0 - LEARNT) ** memory[COUNT_Q + field, j]
                    memory[LIVELY_Q + field, j] *= kept
                    memory[LIVELY_Q + field, j] += LEARNT * (1.0 - memory[LIVELY_Q + field, j])
                memory[STUCK_Q + field, j] = 0.0
                memory[COUNT_Q + field, j] = 0.0
        memory[Q, j] = q
        if math.isfinite(velocity[j]) and abs(velocity[j]) <= limits[j, BELIEVED]:
            memory[V, j] = velocity[j]
        if fault > 0 and found[0] == PLAUSIBLE:
            found[0], found[1] = fault, j


class JointWatch:
    """
    Judges the joint states of one robot, sample by sample.

    Parameters
    ----------
    joints : sequence of str
        In command order.
    limits : (nj, 13) array
        Of `legged_dynamics.safety.joint_limits`.
    frozen : float [s]
        How long a sensor may repeat itself; 0 does not watch that.

    """

    def __init__(self, joints: Sequence[str], limits: np.ndarray, frozen: float):
        self._joints, self._limits, self._frozen = tuple(joints), limits, frozen
        self._memory = np.zeros((N_MEMORY, len(self._joints)))
        self._found = np.zeros(2, np.int64)
        self.reset()

    def reset(self) -> None:
        """Forget the last sample; what is known of the sensors' noise stays."""
        self._memory[[OFFSET, DRIFT, SEEN, STUCK_Q, STUCK_V, COUNT_Q, COUNT_V]] = 0.0
        self._stamp_ns: int | None = None

    @property
    def seen_velocity(self) -> np.ndarray:
        """Velocities by the change of the positions, (nj,) [rad/s or m/s]; a view."""
        return self._memory[SEEN]

    def check(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray) -> str:
        """
        Return why a sample cannot be true, or an empty string.

        Parameters
        ----------
        stamp_ns : int [ns]
            Of the sample.
        position, velocity : (nj,) array [rad, rad/s or m, m/s]
            In command order.

        """
        memory, first = self._memory, self._stamp_ns is None
        if first:
            memory[Q], self._stamp_ns = position, stamp_ns
            usable = np.abs(velocity) <= self._limits[:, BELIEVED]
            memory[V] = np.where(usable, velocity, 0.0)
            memory[SEEN] = 0.0
        dt = max(stamp_ns - self._stamp_ns, 0) * 1e-9   # type: ignore[operator]
        self._stamp_ns = max(stamp_ns, self._stamp_ns)  # type: ignore[type-var]
        watch_joints(self._limits, memory, position, velocity, dt, self._frozen, self._found)
        fault, j = self._found.tolist()
        return self._text(fault, j, velocity) if fault else ''

    def restamp(self) -> None:
        """Take the next stamp for what it is: the clock of the stamps was set."""
        self._stamp_ns = None

    def _text(self, fault: int, j: int, velocity: np.ndarray) -> str:
        name, limits = self._joints[j], self._limits[j]
        if fault == TOO_FAST:
            return (f'{name} is said to move at {velocity[j]:.4g} /s; its velocity limit is '
                    f'{limits[VELOCITY]:g}')
        if fault == JUMPED:
            return (f'the position of {name} jumped by {self._memory[OFFSET, j]:+.3g}, further '
                    'than its velocity explains')
        if fault == DISAGREE:
            return f'position and velocity of {name} do not agree: one of them is wrong'
        field = 'position' if fault == FROZEN_Q else 'velocity'
        return f'the {field} of {name} is frozen: it repeats itself to the last bit'
