# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the estimator's kernel works on: its arrays, and where things lie in them.

The tables of indices and of settings are one-element record arrays: one argument to a compiled
call, with names.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import FeetTable
from legged_dynamics.model.tree import Tree

# What a tick used; the values of ground_reaction.Mode.
UNAVAILABLE, TORQUE_ONLY, BASE_ONLY, FUSED = range(4)
# What the kernel returns when a row of the window cannot be used.
NOT_FINITE = -1
# Bits of what was wrong with the input; the values of ground_reaction.Fault.
WARMING_UP, TIME_JUMPED_BACK, GAP = 1, 2, 4
NO_EFFORT, PARTIAL_EFFORT, NO_IMU, NO_ORIENTATION = 8, 16, 32, 64

INPUT = ('time', 'position', 'velocity', 'effort', 'gyro', 'acceleration', 'orientation',
         'given_contact')
OUTPUT = ('faults', 'wrench', 'raw_wrench', 'contact', 'probability', 'observable', 'feet',
          'base_rotation', 'net_wrench', 'center_of_pressure', 'base_residual',
          'external_torque', 'joint_acceleration', 'coordinates', 'covariance_root')
MEMORY = ('filled', 'head', 'last_time', 'up', 'up_known', 'oriented', 'filter_ready',
          'log_odds', 'contact_state', 'filter')

LAYOUT = np.dtype([(name, np.int64) for name in (
    *INPUT, 'input_size', *OUTPUT, 'output_size', *MEMORY, 'memory_size')])

SETTINGS = np.dtype([(name, np.float64) for name in (
    'cutoff', 'force_threshold', 'force_noise', 'force_evidence', 'motion_evidence', 'slip_speed',
    'swing_speed', 'clearance', 'swing_clearance', 'switching_rate', 'on', 'off', 'weight',
    'prior_force_variance', 'use_base', 'use_torque')]
    + [('R_BI', np.float64, (9,)), ('p_BI', np.float64, (3,))])


def _place(names: tuple[str, ...], sizes: tuple[int, ...], size_name: str) -> dict[str, int]:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return {**dict(zip(names, starts.tolist())), size_name: int(starts[-1])}


def make_layout(nj: int, nf: int, nc: int) -> np.ndarray:
    """Return the (1,) record array of indices for nj joints, nf feet, nc contact coordinates."""
    places = {
        **_place(INPUT, (1, nj, nj, nj, 3, 3, 4, nf), 'input_size'),
        **_place(OUTPUT, (1, 6 * nf, 6 * nf, nf, nf, nf, 15 * nf, 9, 6, 3, 6, nj, nj, nc,
                         nc * nc),
                 'output_size'),
        **_place(MEMORY, (1, 1, 1, 3, 1, 1, 1, nf, nf, 12 * nf), 'memory_size')}
    layout = np.zeros(1, LAYOUT)
    for name, value in places.items():
        layout[name] = value
    return layout


class Robot(NamedTuple):
    """What the kernel needs to know of the robot.

    Attributes
    ----------
    tree : Tree
    feet : FeetTable
    variance : (6 + 2 nv,) array
        Of the base's equations, the joints', and the joints' without an IMU.
    prior : (nc,) array
        Inverse variance of each contact coordinate before measuring.
    columns : (nv, nc + 1) int array
        Contact coordinates each joint bears on, behind their number.
    """

    tree: Tree
    feet: FeetTable
    variance: np.ndarray
    prior: np.ndarray
    columns: np.ndarray


class Scratch(NamedTuple):
    """Arrays the kernel works in; nothing in them outlives a tick."""

    bodies: np.ndarray          # (nb, N_BODY_STATE)
    jacobian: np.ndarray        # (nc, nv), zero where no joint bears on a foot
    information: np.ndarray     # (nc, nc)
    grasp: np.ndarray           # (6, nc)
    vectors: np.ndarray         # (rows, max(nv, nc, 9))
    active: np.ndarray          # (nc,) int


# Rows of Scratch.vectors.
TAU, ACCEL, RESIDUAL, WEIGHTS, VECTOR, BASE, BASE_WEIGHTS = range(7)
N_VECTORS = 7
