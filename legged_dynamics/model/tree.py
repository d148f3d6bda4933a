# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The kinematic tree as two flat arrays, from which kernels read everything about a robot.

Body 0 is the base. Body i > 0 is moved by joint i, whose frame is the body's frame: z lies along
the joint's axis. Parents come before children. There are two arrays and not twenty because each
array argument of a compiled call costs 50 ns.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

REVOLUTE, PRISMATIC, SPHERICAL = 0, 1, 2

# Columns of Tree.topology.
PARENT, JOINT, Q_START, V_START = 0, 1, 2, 3
N_TOPOLOGY = 4

# Columns of Tree.constants: placement of the body's frame in its parent's at q = 0, the body's
# inertia about its centre of mass (xx xy xz yy yz zz, body axes), and the joint's own physics.
R_TREE, P_TREE, MASS, COM, INERTIA = 0, 9, 12, 13, 16
ARMATURE, DAMPING, FRICTION, STIFFNESS, REST = 22, 23, 24, 25, 26
N_CONSTANTS = 27


class Tree(NamedTuple):
    """
    Arrays of a kinematic tree of nb bodies.

    Attributes
    ----------
    topology : (nb, 4) int array
        Parent body, joint type, first position index, first velocity index.
    constants : (nb, 27) float array
        Placement, inertia and joint physics, at the columns this module names. SI units.

    """

    topology: np.ndarray
    constants: np.ndarray
