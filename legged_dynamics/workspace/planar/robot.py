# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""PlanarRobot: a body on legs of three hinges each, in the x-z plane, with its feet as leaves."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.exceptions import ModelError
from legged_dynamics.spatial.layout import offsets

JOINTS_PER_LEG = 3


class LinkConstants(NamedTuple):
    """Columns of ``PlanarRobot.constants``, a row a link; link axes from the centre of mass."""

    mass: int = 1           # kg
    inertia: int = 1        # kg m^2, about the centre of mass and +y
    in_x: int = 1           # m, the link's joint in the frame of the inboard link
    in_z: int = 1
    out_x: int = 1          # m, and in its own
    out_z: int = 1
    width: int = 0


LINK = offsets(LinkConstants())


class PlanarRobot:
    """
    Links in the paper's order, inboard before outboard; link frames stand at centres of mass.

    Joint i is the one inboard of link i; the body, link 0 here and 1 in the paper, has none. So
    arrays over joints begin with the joint of link 1.

    Parameters
    ----------
    parent : (n,) sequence of int
        Inboard link of each link; -1 for the body.
    mass, inertia : (n,) sequence of float
        Mass [kg], inertia about the centre of mass and +y [kg m^2].
    joint_in_inboard, joint_in_outboard : (n, 2) array
        Where a link's joint stands in the frames of the inboard link and of the link itself, at
        (x, z) [m]; the body's row means nothing.

    Attributes
    ----------
    parent : (n,) int array
    constants : (n, 6) array
        At the columns `LINK`.
    feet : tuple of int
        Links without a link outboard of them.

    Raises
    ------
    ModelError
        When the links do not form legs of three joints on one body, or a mass is not positive.

    """

    def __init__(self, parent: Sequence[int], mass: Sequence[float], inertia: Sequence[float],
                 joint_in_inboard: np.ndarray, joint_in_outboard: np.ndarray):
        n = len(parent)
        self.parent = np.array(parent, dtype=np.int64)
        self.constants = np.zeros((n, LINK.width))
        self.constants[:, LINK.mass] = mass
        self.constants[:, LINK.inertia] = inertia
        self.constants[:, LINK.in_x:LINK.in_z + 1] = joint_in_inboard
        self.constants[:, LINK.out_x:LINK.out_z + 1] = joint_in_outboard
        if not (self.constants[:, :LINK.in_x] > 0.0).all():
            raise ModelError('expected every link to have a mass and an inertia above zero, got '
                             f'{self.constants[:, :LINK.in_x].tolist()}')
        if n < 1 or self.parent[0] != -1 or not all(
                0 <= self.parent[i] < i for i in range(1, n)):
            raise ModelError('expected the body first, with -1 for its parent, and every other '
                             f'link after its inboard one, got parents {list(parent)}')
        self.feet = tuple(i for i in range(1, n) if i not in self.parent)
        self._check_legs()
        self.parent.setflags(write=False)
        self.constants.setflags(write=False)

    def _check_legs(self) -> None:
        legs = [self.leg(foot) for foot in self.feet]
        links = [link for leg in legs for link in leg]
        if not legs or len(set(links)) < len(links) or any(
                len(leg) != JOINTS_PER_LEG for leg in legs):
            raise ModelError(f'expected legs of {JOINTS_PER_LEG} joints each that share no link, '
                             f'got legs {legs}')

    def leg(self, foot: int) -> list[int]:
        """Return the links from the body's first to the foot."""
        links = []
        while foot > 0:
            links.append(int(foot))
            foot = self.parent[foot]
        return links[::-1]

    @property
    def n_links(self) -> int:
        """Return the number of links, body included."""
        return len(self.parent)

    @property
    def n_joints(self) -> int:
        """Return the number of joints."""
        return len(self.parent) - 1

    @property
    def mass(self) -> np.ndarray:
        """Mass of each link, (n,) [kg]."""
        return self.constants[:, LINK.mass]

    @property
    def inertia(self) -> np.ndarray:
        """Inertia of each link about its centre of mass and +y, (n,) [kg m^2]."""
        return self.constants[:, LINK.inertia]
