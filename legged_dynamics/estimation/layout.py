# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What the estimator's kernel works on: its arrays, and where things lie in them.

The tables of indices and of settings are one-element record arrays: one argument to a compiled
call, with names.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.jacobians import N_GEOMETRY, N_INDEX, FeetTable
from legged_dynamics.dynamics.kinematics import N_BODY_STATE
from legged_dynamics.model.tree import N_CONSTANTS, N_TOPOLOGY, Tree
from legged_dynamics.spatial.jit import kernel

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
MEMORY = ('filled', 'drift', 'drift_known', 'up', 'up_known', 'oriented', 'filter_ready',
          'standing', 'contact_state', 'filter')

SIZES = ('bodies', 'joints', 'feet_count', 'contacts', 'samples', 'mimics')
# Elements are np.record, whose fields are attributes in compiled code and in Python alike.
LAYOUT = np.dtype((np.record, [(name, np.int64) for name in (
    *SIZES, *INPUT, 'input_size', *OUTPUT, 'output_size', *MEMORY, 'memory_size')]))

SETTINGS = np.dtype((np.record, [(name, np.float64) for name in (
    'cutoff', 'force_threshold', 'force_noise', 'force_evidence', 'motion_evidence', 'slip_speed',
    'swing_speed', 'clearance', 'swing_clearance', 'at_rest', 'switching_rate', 'on', 'off',
    'weight', 'prior_force_variance', 'use_base', 'use_torque')]
    + [('imu_body', np.int64), ('R_BI', np.float64, (9,)), ('p_BI', np.float64, (3,))]))


def _place(names: tuple[str, ...], sizes: tuple[int, ...], size_name: str) -> dict[str, int]:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return {**dict(zip(names, starts.tolist())), size_name: int(starts[-1])}


def make_layout(nj: int, nf: int, nc: int, samples: int, mimics: int = 0) -> np.ndarray:
    """
    Return the (1,) record array of indices.

    Parameters
    ----------
    nj, nf, nc : int
        Joints, feet, contact coordinates.
    samples : int
        Length of the window.
    mimics : int
        Joints that follow others.

    """
    places = {
        **dict(zip(SIZES, (nj + 1, nj, nf, nc, samples, mimics))),
        **_place(INPUT, (1, nj, nj, nj, 3, 3, 4, nf), 'input_size'),
        **_place(OUTPUT, (1, 6 * nf, 6 * nf, nf, nf, nf, 15 * nf, 9, 6, 3, 6, nj, nj, nc,
                          nc * nc), 'output_size'),
        **_place(MEMORY, (1, 3, 1, 3, 1, 1, 1, nf, nf, 12 * nf), 'memory_size')}
    layout = np.zeros(1, LAYOUT)
    for name, value in places.items():
        layout[name] = value
    return layout


class Robot(NamedTuple):
    """
    What the kernel needs to know of the robot.

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
    mimics : (nm, 2) int array
        Each joint that follows another, and its master.
    ratio : (nm,) array
        By which it follows.

    """

    tree: Tree
    feet: FeetTable
    variance: np.ndarray
    prior: np.ndarray
    columns: np.ndarray
    mimics: np.ndarray
    ratio: np.ndarray


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


class Arrays(NamedTuple):
    """Everything a tick works on, as views of one integer and one float array."""

    robot: Robot
    scratch: Scratch
    window: np.ndarray          # (samples, input_size), oldest first
    stamps: np.ndarray          # (samples + 1,) int [ns] of its rows, and of the newest to come
    memory: np.ndarray          # (memory_size,)
    row: np.ndarray             # (input_size,), the newest measurement


@kernel
def matrix_at(flat, start, rows, columns):
    """Return a (rows, columns) view of a flat array, and where it ends."""
    end = start + rows * columns
    return flat[start:end].reshape((rows, columns)), end


@kernel
def unpack(layout, integers, floats):
    """
    Cut the two flat arrays into their parts.

    Two arguments to a compiled call instead of twenty; the same text makes the views that fill
    them from Python.
    """
    nb, nj, nf, nc = layout.bodies, layout.joints, layout.feet_count, layout.contacts
    topology, at = matrix_at(integers, 0, nb, N_TOPOLOGY)
    index, at = matrix_at(integers, at, nf, N_INDEX)
    columns, at = matrix_at(integers, at, nj, nc + 1)
    mimics, at = matrix_at(integers, at, layout.mimics, 2)
    active, at = integers[at:at + nc], at + nc
    stamps = integers[at:at + layout.samples + 1]
    constants, at = matrix_at(floats, 0, nb, N_CONSTANTS)
    geometry, at = matrix_at(floats, at, nf, N_GEOMETRY)
    bodies, at = matrix_at(floats, at, nb, N_BODY_STATE)
    jacobian, at = matrix_at(floats, at, nc, nj)
    information, at = matrix_at(floats, at, nc, nc)
    grasp, at = matrix_at(floats, at, 6, nc)
    vectors, at = matrix_at(floats, at, N_VECTORS, max(nj + 3, nc, 9))
    window, at = matrix_at(floats, at, layout.samples, layout.input_size)
    variance, at = floats[at:at + 6 + 2 * nj], at + 6 + 2 * nj
    prior, at = floats[at:at + nc], at + nc
    ratio, at = floats[at:at + layout.mimics], at + layout.mimics
    memory, at = floats[at:at + layout.memory_size], at + layout.memory_size
    row = floats[at:at + layout.input_size]
    robot = Robot(Tree(topology, constants), FeetTable(index, geometry), variance, prior, columns,
                  mimics, ratio)
    scratch = Scratch(bodies, jacobian, information, grasp, vectors, active)
    return Arrays(robot, scratch, window, stamps, memory, row)


def allocate(layout: np.record) -> tuple[np.ndarray, np.ndarray]:
    """Return the integer and the float array that :func:`unpack` cuts up, zero."""
    nb, nj, nf, nc = (int(layout[name]) for name in SIZES[:4])
    nm = int(layout['mimics'])
    integers = (nb * N_TOPOLOGY + nf * N_INDEX + nj * (nc + 1) + 2 * nm + nc
                + int(layout['samples']) + 1)
    floats = (nb * (N_CONSTANTS + N_BODY_STATE) + nf * N_GEOMETRY + nc * nj + nc * nc + 6 * nc
              + N_VECTORS * max(nj + 3, nc, 9) + layout['samples'] * layout['input_size']
              + 6 + 2 * nj + nc + nm + layout['memory_size'] + layout['input_size'])
    return np.zeros(integers, np.int64), np.zeros(int(floats))
