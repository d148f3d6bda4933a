# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The climbing robot as two flat arrays, which is all a kernel sees of it.

Coordinates ``z`` are the body's pose (x, y, angle), then for each limb its foot's position (x, y)
and its joint angles: the first link's angle from the wall's x axis, then each link's angle against
the one before it. ``v`` is their rate. Rest positions ``u`` stand in the same order without the
body: for each limb the hip's r (x, y, angle), then the rest angles of the inner joints.

Two arrays and one workspace: every array that a kernel takes out of a tuple costs it two atomic
reference counts, which is as much as a limb's kinematics.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Columns of Machine.index: number of links, first coordinate, and where the limb's hip and its
# first link stand among the constants.
N_LINKS, START, LIMB, LINKS = range(4)
N_INDEX = 4
# Entries of Machine.constants: the body's, at the front ...
BODY_MASS, BODY_INERTIA, GRAVITY_X, GRAVITY_Y = range(4)
N_BODY = 4
# ... a hip's stiffness and damping, row-major, from index[i, LIMB] on ...
STIFFNESS, DAMPING = 0, 9
N_LIMB = 18
# ... and a link's, from index[i, LINKS] + N_LINK k on.
LENGTH, CENTER, MASS, INERTIA, JOINT_STIFFNESS, JOINT_DAMPING = range(6)
N_LINK = 6

# Columns of the (N, N_FORCE) array of forces that the kernels fill, one row per limb: hip force
# and moment of limb on body, and reaction of wall on foot, in wall axes; the hip force's moment
# about the body's centre of mass; power of the limb's actuators, and power lost in its dampers.
HIP, REACTION, BODY_MOMENT, POWER, LOSS = 0, 3, 5, 6, 7
N_FORCE = 8

# Columns of the (s + 1, N_WORK + 2 s) workspace of one limb, s = 2 + the largest number of links.
# Row j < s belongs to the limb's coordinate j: joint position (of joint j - 2), Jacobian of the
# limb's end (its third row is 1 for every joint), bias force, and the solution; then row j of the
# mass matrix, and room to factor it. The last row describes the limb's end.
JOINT, JACOBIAN, BIAS, SOLUTION = 0, 2, 4, 5
N_WORK = 6
# Entries of that last row: pose and velocity of the limb's end, and the acceleration that it has
# when no coordinate accelerates.
POSE, VELOCITY, DRIFT = 0, 3, 6


class Machine(NamedTuple):
    """
    Constants of a robot of N limbs with nl links in all.

    Attributes
    ----------
    index : (N, 4) int array
    constants : (4 + 18 N + 6 nl,) array
        In SI units.

    """

    index: np.ndarray
    constants: np.ndarray


def make_workspace(machine: Machine) -> np.ndarray:
    """Return room for the limb with the most links."""
    s = 2 + int(machine.index[:, N_LINKS].max())
    return np.zeros((s + 1, N_WORK + 2 * s))
