# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a robot is made of: inertias and joints, as a description file states them."""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import skew

REVOLUTE_KINDS = ('revolute', 'continuous')
JOINT_KINDS = (*REVOLUTE_KINDS, 'prismatic', 'spherical', 'fixed', 'floating')


@dataclass(frozen=True, eq=False)
class Inertia:
    """
    Mass distribution of a rigid body.

    Attributes
    ----------
    mass : float [kg]
        Mass of the body.
    com : (3,) array [m]
        Centre of mass in the body's frame.
    about_com : (3, 3) array [kg m^2]
        Rotational inertia about the centre of mass, in the body's axes.

    """

    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    about_com: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def seen_from(self, T_AB: Transform) -> Inertia:
        """
        Return the inertia in the coordinates of another frame.

        Parameters
        ----------
        T_AB : Transform
            Pose of this inertia's frame B in the wanted frame A.

        Returns
        -------
        Inertia
            The same body in A.

        """
        return Inertia(self.mass, T_AB.point(self.com), T_AB.R @ self.about_com @ T_AB.R.T)

    def __add__(self, other: Inertia) -> Inertia:
        """Return the inertia of both bodies, welded, given in one frame."""
        mass = self.mass + other.mass
        if mass == 0.0:
            return Inertia(0.0, self.com, self.about_com + other.about_com)
        com = (self.mass * self.com + other.mass * other.com) / mass
        about_com = np.zeros((3, 3))
        for part in (self, other):
            arm = skew(part.com - com)
            about_com += part.about_com - part.mass * arm @ arm
        return Inertia(mass, com, about_com)

    def flaw(self) -> str | None:
        """
        Check the inertia against physics.

        Returns
        -------
        str or None
            What is impossible; None for an inertia that a body can have.

        """
        moments = np.linalg.eigvalsh(self.about_com)
        # The second term: rounding of the inertia of a body of this mass and a millimetre's size.
        slack = max(1e-6 * moments[-1], 1e-9 * self.mass, 1e-18)
        said = f'principal moments {np.array2string(moments, precision=4)} kg m^2'
        if moments[0] < -slack:
            return f'{said} include a negative one'
        if moments[0] + moments[1] < moments[2] - slack:
            return f'{said} break the triangle inequality, so no distribution of mass has them'
        return None


class Mimic(NamedTuple):
    """What makes a joint follow another: ``position = multiplier * master + offset``."""

    joint: str  # The master
    multiplier: float = 1.0  # Position for one unit of the other joint's
    offset: float = 0.0  # [rad or m]: position when the other joint is at zero


@dataclass(frozen=True, eq=False)
class Joint:
    """
    A joint between two links.

    Attributes
    ----------
    name, kind, parent, child : str
        Kind is one of `JOINT_KINDS`; parent and child are link names.
    placement : Transform
        Pose of the child link's frame in the parent link's frame at position zero.
    axis : (3,) array
        Unit vector in the child's frame (of a revolute, continuous or prismatic joint).
    lower, upper : float [rad or m]
        Position limits; infinite where there are none.
    effort : float [N m or N]
        Effort limit; infinite where the description states none.
    velocity : float [rad/s or m/s]
        Velocity limit.
    armature : float [kg m^2 or kg]
        Inertia of the rotor as felt at the joint.
    damping : float [N m s/rad or N s/m]
        Viscous friction.
    friction : float [N m or N]
        Coulomb friction.
    stiffness : float [N m/rad or N/m]
        Spring that pulls the joint to `rest`.
    rest : float [rad or m]
        Position at which the spring is relaxed.
    mimic : Mimic or None
        The joint it follows, if it is not driven by itself.

    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Transform = field(default_factory=Transform.identity)
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    lower: float = -math.inf
    upper: float = math.inf
    effort: float = math.inf
    velocity: float = math.inf
    armature: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    mimic: Mimic | None = None

    @property
    def unit(self) -> str:
        """Unit of its position: 'rad' or 'm'."""
        return 'm' if self.kind == 'prismatic' else 'rad'

    @property
    def mistaken_unit(self) -> str:
        """What a position far outside of its limits may be in."""
        return 'millimetres' if self.kind == 'prismatic' else 'degrees'

    def allows(self, position: float) -> bool:
        """
        Tell whether a ``position`` [rad or m] is within the limits.

        They are shown with three digits, which people copy: that is within, too.
        """
        if self.kind == 'spherical' or not self.lower < self.upper:
            return True
        return (min(self.lower, float(f'{self.lower:.3g}')) <= position
                <= max(self.upper, float(f'{self.upper:.3g}')))


# -------------------------------------------------------------------------------------------------
# The kinematic tree as two flat arrays, from which kernels read everything about a robot.
#
# Body 0 is the base. Body i > 0 is moved by joint i, whose frame is the body's frame: z lies along
# the joint's axis. Parents come before children. There are two arrays and not twenty because each
# array argument of a compiled call costs 50 ns.


REVOLUTE, PRISMATIC, SPHERICAL = range(3)

# Columns of Tree.topology.
PARENT, JOINT, Q_START, V_START = range(4)
N_TOPOLOGY = 4

# Columns of Tree.constants: placement of the body's frame in its parent's at q = 0, the body's
# inertia about its centre of mass (xx xy xz yy yz zz, body axes), and the joint's own physics.
R_TREE, P_TREE, MASS, COM, INERTIA = accumulate((0, 9, 3, 1, 3))
ARMATURE, DAMPING, FRICTION, STIFFNESS, REST = range(22, 27)
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
