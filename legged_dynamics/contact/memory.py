# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the kernels of contact inverse dynamics work on, and where things lie in it.

One table of integers and one of floats, which `carve` cuts into their parts by rows: the same
text inside a kernel and from Python. Rows of one width cost nothing to cut; the results are an
array of their own, so that one copy takes them all.

The kernels share their arguments:

==========================  ===================================================================
``q``, ``v``, ``a``         (nq,), (nv,), (nv,): joint states; of batches (n, .)
``base``                    (9,): angular velocity, angular and proper acceleration, base axes
``effort``                  (nv,) measured torques; empty where there are none
``integers``, ``floats``    tables that :func:`carve` cuts up
``results``                 wrenches (6 nf) and efforts (nv), then the report, see RESIDUAL
``tree``, ``feet``          `Tree` and `FeetTable`; ``index`` is the integers of the latter
``settings``                (., ) row at NORMAL, EASE, LENGTH
``bodies``, ``states``      body table and feet's states, base axes
``external``                (nb, 6 and more): wrenches on bodies, in their axes
``narrow, wide, lists``     tables of a `Program`
``standing``, ``normal``    of batches: (n, nf) flags of feet in contact; (n, 3) normals
``guess``                   of batches: (n, nf, 6) wrenches in the feet's axes
==========================  ===================================================================
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import N_FOOT_STATE, N_INDEX, FeetTable
from legged_dynamics.dynamics.kinematics import N_BODY_STATE
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import N_TOPOLOGY, Tree
from legged_dynamics.spatial.jit import part

# The first two rows of the integers: sizes, then what is special about a call.
BODIES, POSITIONS, VELOCITIES, FEET = range(4)
LOADED, GUESSED, FLOATING = range(3)
# Column of the feet's rows of integers, behind those of a FeetTable: 1 for a foot on the ground.
STANDING = N_INDEX
# Columns of the feet's states, behind those of contact_points: force and moment at the contact
# point in base axes, and the guess, which is in the foot's frame.
CONTACT_FORCE, CONTACT_MOMENT = N_FOOT_STATE, N_FOOT_STATE + 3
GUESS = N_FOOT_STATE + 6
# Columns of Memory.settings: the ground's normal in base axes, how much a force gives for a
# multiplier of one (a moment gives 1), and the length that makes moments of residuals forces.
NORMAL, EASE, LENGTH = 0, 3, 4
# Places in the results, from behind (before them stand wrenches and efforts): what the feet leave
# of the wrench on the base, rank and number of the contact coordinates, how a program ended.
RESIDUAL, RANK, UNKNOWNS, OUTCOME, KKT = -10, -4, -3, -2, -1
N_REPORT = 10
# What a kernel returns.
DONE, MISFIT, NOT_UNIT, NOT_FINITE, NOT_SOLVED = 0, -1, -2, -3, -4


class Memory(NamedTuple):
    """Everything a tick works on, as rows of one integer and one float table."""

    tree: Tree
    feet: FeetTable             # and STANDING behind its integers
    settings: np.ndarray
    bodies: np.ndarray          # (nb, N_BODY_STATE)
    states: np.ndarray          # (nf, N_FOOT_STATE and what is behind)
    external: np.ndarray        # (nb, 6 and more) wrenches on bodies, in their axes


@part
def carve(integers, floats):
    """Cut the two tables into the parts of a `Memory`."""
    nb, nf = integers[0, BODIES], integers[0, FEET]
    tree = Tree(integers[2:2 + nb], floats[1:1 + nb])
    feet = FeetTable(integers[2 + nb:], floats[1 + nb:1 + nb + nf])
    at = 1 + nb + nf
    return Memory(tree, feet, floats[0], floats[at:at + nb], floats[at + nb:at + nb + nf],
                  floats[at + nb + nf:])


def allocate(model: RobotModel, table: FeetTable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return integers, floats and results for a robot on its feet, with its constants in."""
    nb, nf = model.n_bodies, len(table.index)
    integers = np.zeros((2 + nb + nf, max(N_TOPOLOGY, N_INDEX + 1)), np.int64)
    integers[0, :4] = nb, model.nq, model.nv, nf
    integers[1, FLOATING] = model.floating
    floats = np.zeros((1 + 3 * nb + 2 * nf, N_BODY_STATE))
    memory = carve(integers, floats)
    memory.tree.topology[:, :N_TOPOLOGY] = model.tree.topology
    memory.tree.constants[:, :model.tree.constants.shape[1]] = model.tree.constants
    memory.feet.index[:, :N_INDEX] = table.index
    memory.feet.geometry[:, :table.geometry.shape[1]] = table.geometry
    return integers, floats, np.zeros(6 * nf + model.nv + N_REPORT)
