# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One joint and one body of the Newton-Euler recursion, in base axes: parts of every kernel of it.

What a loop over bodies does at each step stands here once, whether it runs over one sample or
over several side by side.
"""
from __future__ import annotations

from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    cross,
    rotate,
    rotate_back,
    scale,
    symmetric_times,
)
from legged_dynamics.spatial.jit import inlined_part, part


@part
def acceleration_at(w, alpha, a, arm):
    """Return the acceleration of a point at an arm from one that has acceleration a."""
    return add(a, add(cross(alpha, arm), cross(w, cross(w, arm))))


@part
def turn(w, alpha, axis, rate, acceleration):
    """Return angular velocity and acceleration beyond a joint that turns about an axis."""
    spin = scale(rate, axis)
    return add(w, spin), add(alpha, add_scaled(cross(w, spin), acceleration, axis))


@part
def slide(w, a, axis, rate, acceleration):
    """Return the acceleration beyond a joint that slides along an axis."""
    return add(a, add_scaled(scale(2.0, cross(w, scale(rate, axis))), acceleration, axis))


@inlined_part
def inertial_wrench(mass, com, inertia, R, w, alpha, a):
    """
    Return the force and moment about its origin that a body takes to move as it does.

    Centre of mass and inertia about it are in body axes, everything else in base axes.

    Parameters
    ----------
    mass : float [kg]
        Of the body.
    com : tuple of 3 floats [m]
        Centre of mass, body axes.
    inertia : tuple of 6 floats [kg m^2]
        About the centre of mass, body axes: xx, xy, xz, yy, yz, zz.
    R : tuple of 9 floats
        Body axes to base axes.
    w, alpha, a : tuples of 3 floats
        Angular velocity and acceleration, proper acceleration of the origin, base axes.

    """
    arm = rotate(R, com)
    force = scale(mass, acceleration_at(w, alpha, a, arm))
    w_body = rotate_back(R, w)
    moment = add(symmetric_times(inertia, rotate_back(R, alpha)),
                 cross(w_body, symmetric_times(inertia, w_body)))
    return force, add(rotate(R, moment), cross(arm, force))
