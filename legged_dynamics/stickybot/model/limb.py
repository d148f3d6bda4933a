# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One limb: mass matrix, bias force, the pose of its end, and the spring at its hip.

Karpick, *StickyBot model*, has one rod per limb (58)-(62); here a limb is a chain of n links from
the foot, and the foot's own position is among the coordinates. A foot on the wall locks those two
coordinates; the reaction is then the force in their two equations, (23)-(25) for any number of
links.

Coordinates ``z`` are the body's pose (x, y, angle), then for each limb its foot's position (x, y)
and its joint angles: the first link's angle from the wall's x axis, then each link's angle against
the one before it. ``v`` is their rate. Rest positions ``u`` have the same order without the body:
for each limb the hip's r (x, y, angle), then the rest angles of the inner joints.

The kernels of this package share their arguments:

========================  =====================================================================
``machine``               a `Machine`; ``index`` and ``constants`` are its two arrays
``work``                  workspace of one limb, from `make_workspace`; scratch
``attached``              (N,) array of bool: feet on the wall
``z``, ``v``, ``zdd``     (nz,) coordinates, rates [m/s, rad/s], accelerations; wall axes
``u``, ``ud``             (nz - 3,) rest positions and their rates
``x``                     `Coordinates`: z, v, u and ud of one instant
``forces``                (N, FORCE.width) array of the forces at and in the limbs
``i``                     number of a limb
``pads``                  (N, PAD.width) array, see `adhesion`
``step``                  a `Stepper`, see `dynamics`
========================  =====================================================================
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from legged_dynamics.spatial.algebra import add, dot, load3, load9, rotate, subtract
from legged_dynamics.spatial.jit import kernel
from legged_dynamics.spatial.layout import offsets

# -------------------------------------------------------------------------------------------------
# The robot as two flat arrays.
#
# Every array that a kernel takes out of a tuple costs two atomic reference counts, as much as a
# limb's kinematics; hence two arrays and one workspace.


class LimbIndex(NamedTuple):
    """Columns of ``Machine.index``, a row a limb."""

    n_links: int = 1
    start: int = 1          # first of the limb's coordinates in z
    hip: int = 1            # where the HIP constants begin
    links: int = 1          # where the LINK constants begin, foot to hip, LINK.width each
    width: int = 0


class BodyConstants(NamedTuple):
    """At the front of ``Machine.constants``."""

    mass: int = 1           # kg
    inertia: int = 1        # kg m^2, about the centre of mass and the wall's normal
    gravity_x: int = 1      # m/s^2, wall axes
    gravity_y: int = 1
    width: int = 0


class HipConstants(NamedTuple):
    """From ``index[i, LIMB.hip]`` on; matrices (x, y, angle) by rows, body axes."""

    stiffness: int = 9      # N/m, N m/rad
    damping: int = 9        # N s/m, N m s/rad
    width: int = 0


class LinkConstants(NamedTuple):
    """From ``index[i, LIMB.links] + k LINK.width`` on, link k from the foot."""

    length: int = 1         # m
    center: int = 1         # m, from the end at the foot to the centre of mass
    mass: int = 1           # kg
    inertia: int = 1        # kg m^2, about the centre of mass
    stiffness: int = 1      # N m/rad, of the servo at its end towards the foot
    damping: int = 1        # N m s/rad
    width: int = 0


class ForceColumns(NamedTuple):
    """Columns of the (N, FORCE.width) array that the kernels fill, a row a limb; wall axes."""

    hip: int = 3            # N, N m: force and moment of the limb on the body
    reaction: int = 2       # N, of the wall on the foot
    body_moment: int = 1    # N m, of the hip's force and moment about the body's centre of mass
    power: int = 1          # W, put in by the limb's actuators
    loss: int = 1           # W, lost in its dampers
    width: int = 0


class WorkColumns(NamedTuple):
    """
    Columns of the (s + 1, WORK.mass_matrix + 2 s) workspace of one limb; wall axes.

    s = 2 + the largest number of links. Row j < s belongs to the limb's coordinate j; behind the
    last column stand row j of the mass matrix and space to factor it. Row s is the limb's end.
    """

    joint: int = 2          # m, position of joint j - 2
    jacobian: int = 2       # of the limb's end; the third row is 1 for every joint
    bias: int = 1           # N or N m: Coriolis and weight
    solution: int = 1       # force, then acceleration
    mass_matrix: int = 0


class EndColumns(NamedTuple):
    """Columns of the workspace's last row: the limb's end (x, y, angle), wall axes."""

    pose: int = 3           # m, rad
    velocity: int = 3       # m/s, rad/s
    drift: int = 3          # m/s^2, rad/s^2: acceleration while no coordinate accelerates


LIMB = offsets(LimbIndex())
BODY = offsets(BodyConstants())
HIP = offsets(HipConstants())
LINK = offsets(LinkConstants())
FORCE = offsets(ForceColumns())
WORK = offsets(WorkColumns())
END = offsets(EndColumns())


class Machine(NamedTuple):
    """Constants of a robot of N limbs with nl links in all."""

    index: np.ndarray  # (N, 4): at the columns `LIMB`
    # (4 + 18 N + 6 nl,): those of the body, of N hips and of nl links; at `BODY`, `HIP`, `LINK`
    constants: np.ndarray


class Coordinates(NamedTuple):
    """Coordinates and rest positions of one instant, with their rates."""

    z: np.ndarray
    v: np.ndarray
    u: np.ndarray
    ud: np.ndarray


def make_workspace(machine: Machine) -> np.ndarray:
    """Return a workspace for the limb with the most links; see `WorkColumns`."""
    s = 2 + int(machine.index[:, LIMB.n_links].max())
    return np.zeros((s + 1, WORK.mass_matrix + 2 * s))


# -------------------------------------------------------------------------------------------------
# Kernels of one limb.


@kernel
def limb_terms(index, constants, work, i, z, v):
    """
    Fill ``work`` with the terms of limb i; of the mass matrix the lower triangle.

    ``mass zdd + bias = -jacobian^T [F; m] + servo torques + [F_r; 0]``, [F; m]: hip on
    body, F_r: wall on foot.
    """
    n, start, link = index[i, LIMB.n_links], index[i, LIMB.start], index[i, LIMB.links]
    gx, gy = constants[BODY.gravity_x], constants[BODY.gravity_y]
    end = work.shape[0] - 1
    for j in range(n + 2):
        work[j, WORK.bias] = 0.0
        for k in range(j + 1):
            work[j, WORK.mass_matrix + k] = 0.0
    # Link by link from the foot outwards: position, velocity, and the acceleration that the
    # centripetal terms alone give (the drift).
    px, py, vx, vy = z[start], z[start + 1], v[start], v[start + 1]
    ax, ay, angle, rate = 0.0, 0.0, 0.0, 0.0
    for k in range(2, n + 2):
        angle += z[start + k]
        rate += v[start + k]
        c, s = math.cos(angle), math.sin(angle)
        work[k, WORK.joint], work[k, WORK.joint + 1] = px, py
        m, r, turn = constants[link + LINK.mass], constants[link + LINK.center], rate * rate
        inertia, length = constants[link + LINK.inertia], constants[link + LINK.length]
        cx, cy = px + r * c, py + r * s
        # What link k's mass takes while no coordinate accelerates: d'Alembert, weight included.
        fx, fy = m * (ax - turn * r * c - gx), m * (ay - turn * r * s - gy)
        work[0, WORK.mass_matrix] += m
        work[1, WORK.mass_matrix + 1] += m
        work[0, WORK.bias] += fx
        work[1, WORK.bias] += fy
        # Composite of link k in the rows of all joints before it: column j of its Jacobian is the
        # arm from joint j, turned by a quarter.
        for j in range(2, k + 1):
            jx, jy = work[j, WORK.joint + 1] - cy, cx - work[j, WORK.joint]
            work[j, WORK.bias] += jx * fx + jy * fy
            work[j, WORK.mass_matrix] += m * jx
            work[j, WORK.mass_matrix + 1] += m * jy
            for b in range(2, j + 1):
                work[j, WORK.mass_matrix + b] += inertia + m * (jx * (work[b, WORK.joint + 1] - cy)
                                                                + jy * (cx - work[b, WORK.joint]))
        px += length * c
        py += length * s
        vx -= rate * length * s
        vy += rate * length * c
        ax -= turn * length * c
        ay -= turn * length * s
        link += LINK.width
    work[0, WORK.jacobian], work[0, WORK.jacobian + 1] = 1.0, 0.0
    work[1, WORK.jacobian], work[1, WORK.jacobian + 1] = 0.0, 1.0
    for j in range(2, n + 2):
        work[j, WORK.jacobian] = work[j, WORK.joint + 1] - py
        work[j, WORK.jacobian + 1] = px - work[j, WORK.joint]
    work[end, END.pose], work[end, END.pose + 1], work[end, END.pose + 2] = px, py, angle
    work[end, END.velocity], work[end, END.velocity + 1] = vx, vy
    work[end, END.velocity + 2] = rate
    work[end, END.drift], work[end, END.drift + 1], work[end, END.drift + 2] = ax, ay, 0.0


@kernel
def limb_mass(machine, i, z):
    """Return limb i's mass [kg] and its first moment (x, y) [kg m] in the wall's axes."""
    index, constants = machine.index, machine.constants
    start, link = index[i, LIMB.start], index[i, LIMB.links]
    x, y, angle, mass, sx, sy = z[start], z[start + 1], 0.0, 0.0, 0.0, 0.0
    for k in range(index[i, LIMB.n_links]):
        angle += z[start + 2 + k]
        c, s, m = math.cos(angle), math.sin(angle), constants[link + LINK.mass]
        r, length = constants[link + LINK.center], constants[link + LINK.length]
        mass += m
        sx += m * (x + r * c)
        sy += m * (y + r * s)
        x += length * c
        y += length * s
        link += LINK.width
    return mass, sx, sy


@kernel
def hip_deflection(c, s, z, v, work):
    """Return d (x, y, angle) and its rate: the limb's end from the body, body axes (19)."""
    end = work.shape[0] - 1
    dx, dy = work[end, END.pose] - z[0], work[end, END.pose + 1] - z[1]
    wx, wy = work[end, END.velocity] - v[0], work[end, END.velocity + 1] - v[1]
    # Seen from turning axes the rate has the term -w x d.
    x, y = c * dx + s * dy, c * dy - s * dx
    return (x, y, work[end, END.pose + 2] - z[2], c * wx + s * wy + v[2] * y,
            c * wy - s * wx - v[2] * x, work[end, END.velocity + 2] - v[2])


@kernel
def hip_force(constants, limb, deflection, rest, u, ud):
    """
    Return the hip's force on the body (body axes), actuator power and damper loss.

    ``F = K (d - r) + B (ddot - rdot)`` (38); the actuators that move r deliver
    ``-F . rdot``. ``limb``, ``rest``: offsets of its constants and rest position.
    """
    moved = load3(ud, rest)
    slip = subtract(deflection[3:], moved)
    damping = rotate(load9(constants, limb + HIP.damping), slip)
    spring = rotate(load9(constants, limb + HIP.stiffness),
                    subtract(deflection[:3], load3(u, rest)))
    force = add(spring, damping)
    return force, -dot(force, moved), dot(damping, slip)


@kernel
def servo_torque(constants, link, at, z, v, u, ud):
    """
    Return an inner joint servo's torque, actuator power and damper loss.

    ``link``: offset of the link's constants; ``at``: index of the joint's coordinate.
    """
    slip = v[at] - ud[at - 3]
    torque = (-constants[link + LINK.stiffness] * (z[at] - u[at - 3])
              - constants[link + LINK.damping] * slip)
    return torque, torque * ud[at - 3], constants[link + LINK.damping] * slip * slip


@kernel
def hip_deflections(machine, work, z, v, out):
    """Fill every limb's d (x, y, angle) and rate (N, 6), which hip sensors measure."""
    c, s = math.cos(z[2]), math.sin(z[2])
    for i in range(out.shape[0]):
        limb_terms(machine.index, machine.constants, work, i, z, v)
        deflection = hip_deflection(c, s, z, v, work)
        for j in range(6):
            out[i, j] = deflection[j]
