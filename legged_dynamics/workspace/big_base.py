# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Stage 2 as the paper has it, (3.12)-(3.20): articulated-body inertias with feet as heavy as Earth.

The recursion from the feet to the base is the inboard pass of the articulated-body algorithm:
P is its ``IA``, z its ``pA``, with no joint effort. A foot gets a mass and an inertia ``size``
times the base's (3.14). It must stay free to turn where it carries no moment: a ball's mass sits
in the contact point and has no inertia. No foot has a load of its own (3.15), but for the drift
that keeps the contact point of a moving leg where it is.

With a size of 1e6 it agrees with the exact dynamics to 1e-8 (flat feet) or 1e-7 (ball feet);
larger sizes lose digits.
"""
from __future__ import annotations

import numpy as np

from legged_dynamics.dynamics.articulated_body import (
    BIAS_FORCE,
    BIAS_MOMENT,
    Scratch,
    articulate,
    bias,
    carve,
)
from legged_dynamics.dynamics.articulated_body import G as COUPLING
from legged_dynamics.dynamics.articulated_body import J as ROTATIONAL
from legged_dynamics.dynamics.articulated_body import M as LINEAR
from legged_dynamics.dynamics.jacobians import (
    BODY,
    CONTACT,
    SIZE,
    START,
    foot_moment,
    moment_axis,
)
from legged_dynamics.dynamics.kinematics import POSITION
from legged_dynamics.model.tree import INERTIA, MASS
from legged_dynamics.spatial.algebra import (
    add,
    cross,
    dot,
    load3,
    scale,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.jit import as_python, lean_kernel, part
from legged_dynamics.spatial.layout import length_of
from legged_dynamics.spatial.symmetric import (
    about_origin,
    add6,
    add9,
    add_diagonal,
    full,
    scale6,
)
from legged_dynamics.spatial.table import get3, get6, get9, put3, put6, put9
from legged_dynamics.workspace.stance_arrays import StanceArrays
from legged_dynamics.workspace.workspace_dynamics import to_spatial

BIG_BASE = 1e6      # (3.14): mass of a foot, in masses of the base


@part
def held_inertia(index, states, i, inertia):
    """Return the part of an inertia about the axes of a foot's moments, xx xy xz yy yz zz."""
    own = scale6(0.0, inertia)
    for k in range(index[i, SIZE] - 3):
        a = moment_axis(index, states, i, k)
        for j in range(index[i, SIZE] - 3):
            b = moment_axis(index, states, i, j)
            own = add6(own, scale6(dot(a, symmetric_times(inertia, b)), (
                a[0] * b[0], a[0] * b[1], a[0] * b[2], a[1] * b[1], a[1] * b[2], a[2] * b[2])))
    return own


@part
def add_big_base(tree, feet, states, drift, bodies, size):
    """
    Add the heavy feet of the approximation to the table of a Scratch: (3.14), (3.15).

    Parameters
    ----------
    tree : Tree
        Of the robot.
    feet : FeetTable
        Those in contact.
    states : (nf, N_FOOT_STATE) array
        Their contact points, base axes.
    drift : (nc,) array [m/s^2, rad/s^2]
        ``Jdot v`` of the contacts.
    bodies : array
        Body table of the Scratch, whose articulated inertias and bias wrenches are added to.
    size : float
        Mass of a foot, in masses of the base.

    """
    mass = size * tree.constants[0, MASS]
    inertia = scale6(size, get6(tree.constants, 0, INERTIA))
    for i in range(feet.index.shape[0]):
        b, row = feet.index[i, BODY], feet.index[i, START]
        arm = subtract(get3(states, i, CONTACT), get3(bodies, b, POSITION))
        put6(bodies, b, LINEAR, add_diagonal(get6(bodies, b, LINEAR), mass))
        h = scale(mass, arm)
        put9(bodies, b, COUPLING, add9(get9(bodies, b, COUPLING), (
            0.0, h[2], -h[1], -h[2], 0.0, h[0], h[1], -h[0], 0.0)))
        # About axes in which the foot carries no moment it may turn: no inertia there.
        own = held_inertia(feet.index, states, i, inertia)
        put6(bodies, b, ROTATIONAL, add6(get6(bodies, b, ROTATIONAL),
                                         about_origin(own, mass, arm)))
        # The foot's bias wrench: what its own mass takes to move by Jdot v.
        force = scale(mass, load3(drift, row))
        moment = add(cross(arm, force),
                     symmetric_times(own, foot_moment(feet.index, states, i, drift)))
        put3(bodies, b, BIAS_FORCE, add(get3(bodies, b, BIAS_FORCE), force))
        put3(bodies, b, BIAS_MOMENT, add(get3(bodies, b, BIAS_MOMENT), moment))


@lean_kernel
def reduce_big_base(s, a, size, twist):
    """
    Fill ``inertia`` and ``bias`` by the recursion, after stage 1.

    Parameters
    ----------
    s : StanceArrays
        After stage 1.
    a : Scratch
        Of the articulated-body algorithm; see :func:`articulated_scratch`.
    size : float
        Mass and inertia of a foot, in those of the base.
    twist : (6,) array [m/s, rad/s]
        ``V`` of the base.

    """
    for k in range(9):
        a.base[k] = s.base[k]
    for j in range(s.v.shape[0]):
        a.q[j], a.v[j], a.effort[j] = s.q[j], s.v[j], 0.0
    bias(s.tree, a)                 # (3.12), (3.13)
    add_big_base(s.tree, s.feet, s.states, s.drift, a.bodies, size)     # (3.14), (3.15)
    articulate(s.tree, a)           # (3.16)-(3.20)
    linear, coupling = full(get6(a.bodies, 0, LINEAR)), get9(a.bodies, 0, COUPLING)
    rotational = full(get6(a.bodies, 0, ROTATIONAL))
    for i in range(3):
        s.bias[i], s.bias[3 + i] = a.bodies[0, BIAS_FORCE + i], a.bodies[0, BIAS_MOMENT + i]
        for j in range(3):
            s.inertia[i, j], s.inertia[3 + i, 3 + j] = linear[3 * i + j], rotational[3 * i + j]
            s.inertia[i, 3 + j] = s.inertia[3 + j, i] = coupling[3 * i + j]
    to_spatial(s.inertia, s.bias, twist)


def articulated_scratch(s: StanceArrays) -> Scratch:
    """Return memory for the recursion."""
    nb, nv = s.bodies.shape[0], len(s.v)
    return as_python(carve)(np.zeros(length_of(carve, nb, nv, nv)), nb, nv, nv)
