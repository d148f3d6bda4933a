# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Rigid bodies in base axes, each about its own origin: their inertia, and what motion takes.

Turned into base axes once, an inertia serves bias forces, articulated and composite inertias.
"""
from __future__ import annotations

from legged_dynamics.dynamics.kinematics import (
    ACCELERATION,
    ALPHA,
    FORCE,
    MOMENT,
    N_BODY_STATE,
    OMEGA,
    ROTATION,
)
from legged_dynamics.model.parts import COM, INERTIA
from legged_dynamics.model.parts import MASS as TREE_MASS
from legged_dynamics.spatial.algebra import add, cross, rotate, scale, symmetric_times
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.layout import get3, get6, get9, put3, put6
from legged_dynamics.spatial.symmetric import about_origin, rotate_symmetric

# Columns of the body table behind those of dynamics.kinematics: mass, mass times centre of mass,
# inertia about the body's origin.
MASS, FIRST_MOMENT, SECOND_MOMENT = N_BODY_STATE, N_BODY_STATE + 1, N_BODY_STATE + 4
N_RIGID_BODY = N_BODY_STATE + 10


@lean_kernel
def place_inertias(tree, bodies):
    """
    Fill every body's inertia about its origin, in base axes.

    Parameters
    ----------
    tree : Tree
        Structure and constants of the robot.
    bodies : (nb, at least N_RIGID_BODY) array
        With the rotations of the bodies; mass, first and second moment are filled.

    """
    constants = tree.constants
    for i in range(bodies.shape[0]):
        R, mass = get9(bodies, i, ROTATION), constants[i, TREE_MASS]
        com = rotate(R, get3(constants, i, COM))
        inertia = rotate_symmetric(R, get6(constants, i, INERTIA))
        bodies[i, MASS] = mass
        put3(bodies, i, FIRST_MOMENT, scale(mass, com))
        put6(bodies, i, SECOND_MOMENT, about_origin(inertia, mass, com))


@lean_kernel
def place_inertial_wrenches(bodies):
    """
    Fill the wrench ``I a + v x* I v`` that each body's motion requires.

    Parameters
    ----------
    bodies : (nb, at least N_RIGID_BODY) array
        With inertias and motion of the bodies; FORCE and MOMENT are filled.

    """
    for i in range(bodies.shape[0]):
        h, inertia = get3(bodies, i, FIRST_MOMENT), get6(bodies, i, SECOND_MOMENT)
        w, alpha, a = get3(bodies, i, OMEGA), get3(bodies, i, ALPHA), get3(bodies, i, ACCELERATION)
        put3(bodies, i, FORCE, add(scale(bodies[i, MASS], a),
                                   add(cross(alpha, h), cross(w, cross(w, h)))))
        put3(bodies, i, MOMENT, add(cross(h, a), add(symmetric_times(inertia, alpha),
                                                     cross(w, symmetric_times(inertia, w)))))
