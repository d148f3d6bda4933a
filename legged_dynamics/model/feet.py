# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Feet: where and how a robot touches the ground.

The contact coordinates of a foot are three components of a force, then a moment about each of its
`moments`: axes of its frame, 0 for x. What else a kind of foot is asked is `center`, `corners` and
`edges`; what the ground can give it is in `force_map.friction_cone`, and how kernels read its
coordinates in `dynamics.jacobians`.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.frames import Transform


@dataclass(frozen=True)
class PointFoot:
    """
    A ball that touches the ground in one point and so carries a force and no moment.

    The contact point is the bottom of the ball: the frame's origin less the radius along the
    ground's normal. Taking the ball's centre instead costs about 0.8 % of the weight.

    Attributes
    ----------
    link : str
        Link whose frame lies at the ball's centre.
    radius : float [m]

    """

    link: str
    radius: float = 0.0
    moments: ClassVar[tuple[int, ...]] = ()
    center: ClassVar[np.ndarray] = np.zeros(3)
    corners: ClassVar[np.ndarray] = np.zeros((1, 3))
    edges: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not 0.0 <= self.radius < 1.0:
            raise ConfigurationError(f'foot {self.link!r}: expected a radius from 0 to 1 m, '
                                     f'got {self.radius}')


@dataclass(frozen=True)
class LineFoot:
    """
    An edge that touches the ground along a line and so carries a force and one moment.

    A blade, a skid, or the tread of a wheel across its axle's direction. Where along the line the
    ground presses is the moment about the horizontal across it; the moment about the normal, that
    of friction along the line, is left out as a ball's is.

    Attributes
    ----------
    link : str
        Link in whose frame the line lies on the x axis; z up, away from the ground.
    front, back : float [m]
        Largest and smallest x.

    """

    link: str
    front: float
    back: float
    moments: ClassVar[tuple[int, ...]] = (1,)
    radius: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if not self.front > self.back:
            raise ConfigurationError(f'foot {self.link!r}: expected a line with front > back, got '
                                     f'front {self.front}, back {self.back}')

    @property
    def center(self) -> np.ndarray:
        """Middle of the line in the foot's frame, (3,) [m]."""
        return np.array([(self.front + self.back) / 2.0, 0.0, 0.0])

    @property
    def corners(self) -> np.ndarray:
        """Ends of the line in the foot's frame, (2, 3) [m]."""
        return np.array([[self.front, 0.0, 0.0], [self.back, 0.0, 0.0]])

    @property
    def edges(self) -> tuple[float, ...]:
        """Front, back, left and right of what touches, (4,) [m]."""
        return self.front, self.back, 0.0, 0.0


@dataclass(frozen=True)
class FlatFoot:
    """
    A sole that lies on the ground and so carries a force and a moment.

    Attributes
    ----------
    link : str
        Link whose frame lies in the plane of the sole: x forward, z up.
    front, back, left, right : float [m]
        Edges of the sole rectangle in that frame: largest and smallest x, largest and smallest y.

    """

    link: str
    front: float
    back: float
    left: float
    right: float
    moments: ClassVar[tuple[int, ...]] = (0, 1, 2)
    radius: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if not (self.front > self.back and self.left > self.right):
            raise ConfigurationError(
                f'foot {self.link!r}: expected a sole with front > back and left > right, got '
                f'front {self.front}, back {self.back}, left {self.left}, right {self.right}')

    @property
    def center(self) -> np.ndarray:
        """Middle of the sole in the foot's frame, (3,) [m]."""
        return np.array([(self.front + self.back) / 2.0, (self.left + self.right) / 2.0, 0.0])

    @property
    def corners(self) -> np.ndarray:
        """Corners of the sole in the foot's frame, (4, 3) [m]."""
        return np.array([[x, y, 0.0] for x in (self.front, self.back)
                         for y in (self.left, self.right)])

    @property
    def edges(self) -> tuple[float, ...]:
        """Front, back, left and right of what touches, (4,) [m]."""
        return self.front, self.back, self.left, self.right


Foot = PointFoot | LineFoot | FlatFoot


def as_wrenches(foot: Foot, rows: np.ndarray) -> np.ndarray:
    """Return (k, 6) rows on ``[f; m]`` from (k, n) rows on a foot's contact coordinates."""
    wrenches = np.zeros((len(rows), 6))
    wrenches[:, :3] = rows[:, :3]
    wrenches[:, [3 + axis for axis in foot.moments]] = rows[:, 3:]
    return wrenches


def refuse_lines(feet: Iterable[Foot], what: str) -> None:
    """
    Refuse line feet where only balls and soles are understood.

    Raises
    ------
    ConfigurationError
        When there is one.

    """
    lines = [foot.link for foot in feet if isinstance(foot, LineFoot)]
    if lines:
        raise ConfigurationError(f'{what}: expected point and flat feet, got the line feet '
                                 f'{", ".join(lines)}; take a PointFoot at the middle, or a '
                                 'FlatFoot as wide as the edge')


class FootFrame(NamedTuple):
    """
    The frame of a foot that is no link of the URDF.

    Attributes
    ----------
    name : str
        Of the foot.
    parent : str
        Link it is fixed to.
    pose : Transform
        Of the foot in that link.

    """

    name: str
    parent: str
    pose: Transform
