# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What every kind of foot says of itself, so that nothing else asks which kind it is.

A foot's contact coordinates are rows: three components of a force in base axes, then moments about
its contact point, none or up to three, each about an axis of the base or of the foot's own frame.
All else follows from these rows, from where the foot touches (`center`, `corners`, `edges`,
`radius`, `plane`) and from what the ground can give (`slip_rows`, `press_rows`). The kinds are in
`model.feet`; `dynamics.jacobians` makes the table of all rows of a robot.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

# Kinds of a contact coordinate.
FORCE, MOMENT = 0, 1


class ContactRow(NamedTuple):
    """
    One contact coordinate of a foot.

    Attributes
    ----------
    kind : int
        `FORCE` [N] or `MOMENT` [N m].
    axis : int
        0 for x, 1 for y, 2 for z.
    in_foot : bool
        Whether that is an axis of the foot's frame, and not of the base.

    """

    kind: int
    axis: int
    in_foot: bool = False


FORCES = tuple(ContactRow(FORCE, axis) for axis in range(3))


class Foot:
    """
    What every kind of foot says of itself.

    Attributes
    ----------
    link : str
        Of the foot.
    kind : str
        How a robot's YAML calls it.
    rows : tuple of ContactRow
        Its contact coordinates: the three of a force, then moments about the contact point. Those
        about base axes are all three or none.
    plane : bool
        Whether what touches lies on the ground: the ground's normal is then the z axis of the
        foot's frame, and limits are in that frame's axes. Of another foot they are about the
        ground's normal.
    round : bool
        Whether what touches is a ball, of whatever radius.
    size : str
        What is to be measured of it, in words.

    """

    link: str
    kind: ClassVar[str]
    rows: ClassVar[tuple[ContactRow, ...]]
    plane: ClassVar[bool] = False
    round: ClassVar[bool] = False
    size: ClassVar[str]

    @property
    def radius(self) -> float:
        """How far below the frame's origin the foot touches, along the ground's normal [m]."""
        return 0.0

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """Front, back, left and right of what touches, in the foot's frame [m]."""
        return 0.0, 0.0, 0.0, 0.0

    @property
    def center(self) -> np.ndarray:
        """Middle of what touches in the foot's frame, (3,) [m]."""
        front, back, left, right = self.edges
        return np.array([(front + back) / 2.0, (left + right) / 2.0, 0.0])

    @property
    def corners(self) -> np.ndarray:
        """Corners of what touches in the foot's frame, (k, 3) [m]: one, two or four."""
        return corners_of(self.edges)

    @property
    def outline(self) -> np.ndarray:
        """The corners in the order around what touches, (k, 3) [m]."""
        return self.corners[[0, 1, 3, 2]] if len(self.corners) == 4 else self.corners

    @property
    def moments(self) -> tuple[int, ...]:
        """Axes of its moments: 0 for x."""
        return tuple(row.axis for row in self.rows if row.kind == MOMENT)

    def slip_rows(self, coefficient: float, facets: int) -> np.ndarray:
        """
        Return (k, n) rows A of ``A w >= 0``: what sideways force friction bears.

        Parameters
        ----------
        coefficient : float
            Of friction.
        facets : int
            Of the pyramid that stands for the cone, inside it.

        """
        angles = 2.0 * np.pi * np.arange(facets) / facets
        inner = coefficient * np.cos(np.pi / facets)
        rows = np.column_stack([-np.cos(angles), -np.sin(angles), np.full(facets, inner)])
        return np.pad(rows, ((0, 0), (0, len(self.rows) - 3)))

    def press_rows(self, coefficient: float) -> np.ndarray:
        """Return (k, n) rows A of ``A w >= 0``: moments about the middle that pressure bears."""
        return np.zeros((0, len(self.rows)))

    def shrunk(self, margin: float) -> Foot:
        """Return the foot without a part of its length and width, half of it at either edge."""
        return self

    def shadow(self, R_WF: np.ndarray, pressed: np.ndarray, least: float
               ) -> tuple[Foot, np.ndarray]:
        """
        Return the foot as it is seen from above, and its heading, (3, 3).

        Parameters
        ----------
        R_WF : (3, 3) array
            Its orientation.
        pressed : (3,) array [m]
            A place that it is to hold, from its middle in world axes.
        least : float [m]
            So long and wide it is at least.

        """
        return self, np.eye(3)

    def rolled(self, more: float) -> Foot:
        """Return the foot with a radius larger by so much [m], should it have one."""
        return self

    def described(self) -> str:
        """Return what touches the ground, in words."""
        raise NotImplementedError


def corners_of(edges: Sequence[float]) -> np.ndarray:
    """Return the corners between front, back, left and right edge, (k, 3) [m]: 1, 2 or 4."""
    front, back, left, right = map(float, edges)
    return np.array([[x, y, 0.0] for x in dict.fromkeys((front, back))
                     for y in dict.fromkeys((left, right))])


def as_wrenches(foot: Foot, rows: np.ndarray) -> np.ndarray:
    """Return (k, 6) rows on ``[f; m]`` from (k, n) rows on a foot's contact coordinates."""
    wrenches = np.zeros((len(rows), 6))
    wrenches[:, [3 * row.kind + row.axis for row in foot.rows]] = rows
    return wrenches
