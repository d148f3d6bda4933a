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

The kernels of this package share their arguments:

========================  =====================================================================
``machine``               a `Machine`; ``index`` and ``constants`` are its two arrays
``work``                  workspace of one limb, from `make_workspace`; scratch
``attached``              (N,) array of bool: feet on the wall
``z``, ``v``, ``zdd``     (nz,) coordinates, rates [m/s, rad/s], accelerations; wall axes
``u``, ``ud``             (nz - 3,) rest positions and their rates
``forces``                (N, FORCE.width) array of the forces at and in the limbs
``i``                     number of a limb
``pads``                  (N, PAD.width) array, see `adhesion`
``step``                  a `Stepper`, see `jacobian`
========================  =====================================================================
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from legged_dynamics.spatial.layout import offsets


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


LIMB, BODY, HIP, LINK = (offsets(LimbIndex()), offsets(BodyConstants()), offsets(HipConstants()),
                         offsets(LinkConstants()))
FORCE, WORK, END = offsets(ForceColumns()), offsets(WorkColumns()), offsets(EndColumns())


class Machine(NamedTuple):
    """
    Constants of a robot of N limbs with nl links in all.

    Attributes
    ----------
    index : (N, 4) int array
        At the columns `LIMB`.
    constants : (4 + 18 N + 6 nl,) array
        Those of the body, of N hips and of nl links; at `BODY`, `HIP`, `LINK`.

    """

    index: np.ndarray
    constants: np.ndarray


def make_workspace(machine: Machine) -> np.ndarray:
    """Return a workspace that fits the limb with the most links."""
    s = 2 + int(machine.index[:, LIMB.n_links].max())
    return np.zeros((s + 1, WORK.mass_matrix + 2 * s))
