# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The kinds of feet: a ball, a line, a sole, a cylinder.

A kind of foot is a subclass of `Foot` and its name in `KINDS`. The friction cone of a point is
Coulomb's, as a pyramid; the wrench cone of a sole is that of Caron, Pham and Nakamura (2015).
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_about_z

# -------------------------------------------------------------------------------------------------
# Properties of every kind of foot, so that no other code depends on the kind.
#
# A foot's contact coordinates are rows: three components of a force in base axes, then moments
# about its contact point, none or up to three, each about an axis of the base or of the foot's own
# frame. Everything else follows from these rows, from the contact area (`edges`, `radius`,
# `plane`) and from the limits of the contact (`slip_rows`, `press_rows`). Where a foot touches is
# `touching`, and `dynamics.jacobians.touching_point` in kernels; nothing else adds up edges and
# radius. `dynamics.jacobians` makes the table of all rows of a robot.


# Kinds of a contact coordinate.
FORCE, MOMENT = range(2)


class ContactRow(NamedTuple):
    """One contact coordinate of a foot."""

    kind: int  # `FORCE` [N] or `MOMENT` [N m]
    axis: int  # 0 for x, 1 for y, 2 for z
    in_foot: bool = False  # Whether that is an axis of the foot's frame, and not of the base


FORCES = tuple(ContactRow(FORCE, axis) for axis in range(3))


class Foot:
    """
    What every kind of foot says of itself.

    Attributes
    ----------
    link : str
        Link of the foot.
    kind : str
        How a robot's YAML calls it.
    rows : tuple of ContactRow
        Its contact coordinates: the three of a force, then moments about the contact point. Those
        about base axes are all three or none.
    plane : bool
        Whether the contact area lies flat on the ground: the normal is then the z axis of the
        foot's frame, and limits are in that frame's axes. Of another foot they are about the
        ground's normal.
    size : str
        What is to be measured of it, in words.

    """

    def __init_subclass__(cls, **more: object) -> None:
        """Refuse rows that kernels would not understand."""
        super().__init_subclass__(**more)
        forces, moments = cls.rows[:3], cls.rows[3:]
        about_base = sum(not row.in_foot for row in moments)
        if (forces != FORCES or any(row.kind != MOMENT for row in moments)
                or len(set(moments)) != len(moments)
                or about_base not in ((3,) if cls.plane else (0, 3))
                or about_base not in (0, len(moments))):
            raise TypeError(f'{cls.__name__}: expected the rows FORCES, then moments about '
                            'different axes of the foot, or about all three of the base (of a '
                            f'foot with a plane these), got {cls.rows}')

    link: str
    kind: ClassVar[str]
    rows: ClassVar[tuple[ContactRow, ...]]
    plane: ClassVar[bool] = False
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

    def touching(self, R: np.ndarray, up: np.ndarray | Sequence[float],
                 at: np.ndarray | None = None) -> np.ndarray:
        """
        Return where the foot touches.

        Parameters
        ----------
        R : (..., 3, 3) array
            Rotation from the axes of the foot's frame to those of the result.
        up : (3,) array
            Unit normal of the ground, in the axes of the result.
        at : (3,) or (k, 3) array, optional [m]
            Points within `edges`, in the foot's frame; the corners unless given.

        Returns
        -------
        (..., 3) or (..., k, 3) array [m]
            From the origin of the foot's frame.

        """
        return touching_points(self.corners if at is None else at, self.radius, R, up)

    @property
    def moments(self) -> tuple[int, ...]:
        """Axes of its moments: 0 for x."""
        return tuple(row.axis for row in self.rows if row.kind == MOMENT)

    def slip_rows(self, coefficient: float, facets: int) -> np.ndarray:
        """
        Limit the horizontal force by friction.

        Parameters
        ----------
        coefficient : float
            Coefficient of friction.
        facets : int
            Number of facets of the pyramid inside the friction cone.

        Returns
        -------
        (k, n) array
            Rows A of ``A w >= 0``, for the foot's n contact coordinates.

        """
        angles = 2.0 * np.pi * np.arange(facets) / facets
        inner = coefficient * np.cos(np.pi / facets)
        rows = np.column_stack([-np.cos(angles), -np.sin(angles), np.full(facets, inner)])
        return np.pad(rows, ((0, 0), (0, len(self.rows) - 3)))

    def press_rows(self, coefficient: float) -> np.ndarray:
        """
        Return rows A of ``A w >= 0`` that limit the moments about the middle of the foot.

        Parameters
        ----------
        coefficient : float
            Coulomb friction coefficient of the ground, above 0.

        Returns
        -------
        (k, n) array
            One column for each contact coordinate of the foot.

        """
        return np.zeros((0, len(self.rows)))

    def shrunk(self, margin: float) -> Foot:
        """
        Return the foot with a part of its length and width cut off, half of it at either edge.

        Parameters
        ----------
        margin : float
            The part, from 0 to 1.

        Returns
        -------
        Foot

        """
        return self

    def shadow(self, R_WF: np.ndarray, pressed: np.ndarray, least: float
               ) -> tuple[Foot, np.ndarray]:
        """
        Project the foot vertically on the ground.

        Parameters
        ----------
        R_WF : (3, 3) array
            Its orientation.
        pressed : (3,) array [m]
            Place that the projection must contain, from the foot's middle, in world axes.
        least : float [m]
            Least length and width of the projection.

        Returns
        -------
        foot, R : Foot, (3, 3) array
            The projection, and the rotation from its axes to those of the world.

        """
        return self, np.eye(3)

    def rolled(self, more: float) -> Foot:
        """
        Return the foot with a larger radius, if it has one.

        Parameters
        ----------
        more : float
            What is added to the radius [m].

        Returns
        -------
        Foot

        """
        return self

    def described(self) -> str:
        """Return what touches the ground in words, such as "a ball of radius 0.02 m"."""
        raise NotImplementedError


def touching_points(at: np.ndarray, radius: float, R: np.ndarray,
                    up: np.ndarray | Sequence[float]) -> np.ndarray:
    """Return `Foot.touching` of points in the foot's frame, given its radius [m]."""
    return at @ np.swapaxes(R, -1, -2) - radius * np.asarray(up, float)


def corners_of(edges: Sequence[float]) -> np.ndarray:
    """Return the 1, 2 or 4 corners (k, 3) [m] of four edges (front, back, left, right)."""
    front, back, left, right = map(float, edges)
    return np.array([[x, y, 0.0] for x in dict.fromkeys((front, back))
                     for y in dict.fromkeys((left, right))])


def as_wrenches(foot: Foot, rows: np.ndarray) -> np.ndarray:
    """Return rows on a foot's ``[f; m]`` (k, 6), given rows on its contact coordinates."""
    wrenches = np.zeros((len(rows), 6))
    wrenches[:, [3 * row.kind + row.axis for row in foot.rows]] = rows
    return wrenches


# -------------------------------------------------------------------------------------------------
# The kinds of feet.


@dataclass(frozen=True)
class PointFoot(Foot):
    """
    A ball that touches the ground in one point and so carries a force and no moment.

    The contact point is the bottom of the ball: the frame's origin less the radius along the
    ground's normal. Taking the ball's centre instead costs about 0.8 % of the weight.

    Attributes
    ----------
    link : str
        Link whose frame lies at the ball's centre.
    radius : float [m]
        Radius of the ball; 0 for a point.

    """

    link: str
    radius: float = 0.0
    kind: ClassVar[str] = 'point'
    rows: ClassVar[tuple[ContactRow, ...]] = FORCES
    size: ClassVar[str] = 'its radius'

    def __post_init__(self) -> None:
        _check_radius(self)

    def rolled(self, more: float) -> PointFoot:
        """Return the foot with a larger radius."""
        return replace(self, radius=max(self.radius + more, 0.0))

    def described(self) -> str:
        """Return what touches the ground, in words."""
        return f'a ball of radius {self.radius:g} m'


@dataclass(frozen=True)
class LineFoot(Foot):
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
    kind: ClassVar[str] = 'line'
    size: ClassVar[str] = 'the ends of its line'
    rows: ClassVar[tuple[ContactRow, ...]] = (*FORCES, ContactRow(MOMENT, 1, in_foot=True))

    def __post_init__(self) -> None:
        if not self.front > self.back:
            raise ConfigurationError(f'foot {self.link!r}: expected a line with front > back, got '
                                     f'front {self.front}, back {self.back}')

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """Front, back, left and right of what touches, in the foot's frame [m]."""
        return self.front, self.back, 0.0, 0.0

    def press_rows(self, coefficient: float) -> np.ndarray:
        """Return rows that keep the centre of pressure between the ends of the line."""
        half = 0.5 * (self.front - self.back)
        return np.array([[0.0, 0.0, half, s] for s in (1.0, -1.0)])

    def shrunk(self, margin: float) -> LineFoot:
        """Return the line with a part of its length cut off, half of it at either end."""
        x = 0.5 * margin * (self.front - self.back)
        return replace(self, front=self.front - x, back=self.back + x)

    def shadow(self, R_WF: np.ndarray, pressed: np.ndarray, least: float
               ) -> tuple[LineFoot, np.ndarray]:
        """Return the vertical projection of the line on the ground, and its heading."""
        turned, along = _heading(R_WF), float(np.linalg.norm(R_WF[:2, 0]))
        high, low = _ends(along * (self.front - self.back), turned[:, 0] @ pressed, least)
        return replace(self, front=high, back=low), turned

    def described(self) -> str:
        """Return what touches the ground, in words."""
        return f'a line from {self.back:g} to {self.front:g} m'


@dataclass(frozen=True)
class CylinderFoot(LineFoot):
    """
    A cylinder that touches the ground along a line and rolls about its axis.

    A round skid or a roller. It carries what a line carries, and touches below its axis by the
    radius, along the ground's normal.

    Attributes
    ----------
    link : str
        Link in whose frame the cylinder's axis lies on the x axis; z up, away from the ground.
    front, back : float [m]
        Largest and smallest x.
    radius : float [m]
        Radius of the cylinder.

    """

    radius: float = 0.0         # type: ignore[misc]
    kind: ClassVar[str] = 'cylinder'
    size: ClassVar[str] = 'its radius and the ends of its axis'

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_radius(self)

    def rolled(self, more: float) -> CylinderFoot:
        """Return the foot with a larger radius."""
        return replace(self, radius=max(self.radius + more, 0.0))

    def described(self) -> str:
        """Return what touches the ground, in words."""
        return f'a cylinder of radius {self.radius:g} m from {self.back:g} to {self.front:g} m'


@dataclass(frozen=True)
class FlatFoot(Foot):
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
    kind: ClassVar[str] = 'flat'
    size: ClassVar[str] = 'the edges of its sole'
    rows: ClassVar[tuple[ContactRow, ...]] = (*FORCES, *(ContactRow(MOMENT, k) for k in range(3)))
    plane: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (self.front > self.back and self.left > self.right):
            raise ConfigurationError(
                f'foot {self.link!r}: expected a sole with front > back and left > right, got '
                f'front {self.front}, back {self.back}, left {self.left}, right {self.right}')

    @property
    def edges(self) -> tuple[float, float, float, float]:
        """Front, back, left and right of what touches, in the foot's frame [m]."""
        return self.front, self.back, self.left, self.right

    def slip_rows(self, coefficient: float, facets: int) -> np.ndarray:
        """Return rows of friction pyramids of four facets under the corners."""
        return np.array([[sx, 0, coefficient, 0, 0, 0] for sx in (1, -1)]
                        + [[0, sy, coefficient, 0, 0, 0] for sy in (1, -1)], float)

    def press_rows(self, coefficient: float) -> np.ndarray:
        """
        Return rows for the centre of pressure, and for torsion by friction.

        The sum of forces within friction pyramids at the four corners, in closed form (Caron, Pham
        and Nakamura 2015).
        """
        mu, x, y = coefficient, (self.front - self.back) / 2, (self.left - self.right) / 2
        rows = [[0, 0, y, s, 0, 0] for s in (1, -1)] + [[0, 0, x, 0, s, 0] for s in (1, -1)]
        # |mz| stays within mu (x + y) fz - |y fx +- mu mx| - |x fy +- mu my|, - for mz < 0.
        rows += [[s * y, t * x, mu * (x + y), -s * u * mu, -t * u * mu, u]
                 for u in (1, -1) for s in (1, -1) for t in (1, -1)]
        return np.array(rows, dtype=float)

    def shrunk(self, margin: float) -> FlatFoot:
        """Return the sole with a part of its length and width cut off, half at either edge."""
        x, y = 0.5 * margin * (self.front - self.back), 0.5 * margin * (self.left - self.right)
        return replace(self, front=self.front - x, back=self.back + x, left=self.left - y,
                       right=self.right + y)

    def shadow(self, R_WF: np.ndarray, pressed: np.ndarray, least: float
               ) -> tuple[FlatFoot, np.ndarray]:
        """Return the vertical projection of the sole on the ground, and its heading."""
        turned, (x, y) = _heading(R_WF), np.linalg.norm(R_WF[:2, :2], axis=0)
        front, back = _ends(x * (self.front - self.back), turned[:, 0] @ pressed, least)
        left, right = _ends(y * (self.left - self.right), turned[:, 1] @ pressed, least)
        return FlatFoot(self.link, front, back, left, right), turned

    def described(self) -> str:
        """Return what touches the ground, in words."""
        return (f'a sole from {self.back:g} to {self.front:g} m and {self.right:g} to '
                f'{self.left:g} m')


def _check_radius(foot: Foot) -> None:
    if not 0.0 <= foot.radius < 1.0:
        raise ConfigurationError(f'foot {foot.link!r}: expected a radius from 0 to 1 m, '
                                 f'got {foot.radius}')


def _heading(R_WF: np.ndarray) -> np.ndarray:
    """Return the rotation about the vertical of a foot's frame in the world, (3, 3)."""
    x, y = np.linalg.norm(R_WF[:2, 0]), np.linalg.norm(R_WF[:2, 1])
    return rotation_about_z(np.arctan2(R_WF[1, 0], R_WF[0, 0]) if x >= y
                            else np.arctan2(-R_WF[0, 1], R_WF[1, 1]))


def _ends(length: float, at: float, least: float) -> tuple[float, float]:
    """Return both ends of an interval about 0 that contains a place, with a least length [m]."""
    half = max(length, least) / 2.0
    # Toes that bend are in front of the projection of a rigid sole.
    return max(half, at + least / 2.0), min(-half, at - least / 2.0)


# All kinds, by the name that a robot's YAML has for them.
KINDS: dict[str, Any] = {foot.kind: foot for foot in (PointFoot, LineFoot, FlatFoot, CylinderFoot)}


def foot_of_kind(kind: str, link: str, radius: float, edges: Sequence[float]) -> Foot:
    """Return a foot of one of the `KINDS`; ``edges``: front, back, left, right [m]."""
    front, back, left, right = edges
    has = {'radius': radius, 'front': front, 'back': back, 'left': left, 'right': right}
    chosen = KINDS[kind]
    return chosen(link, **{name: has[name] for name in chosen.__dataclass_fields__ if name in has})


class FootFrame(NamedTuple):
    """The frame of a foot that is no link of the URDF."""

    name: str  # Name of the foot
    parent: str  # Link it is fixed to
    pose: Transform  # Pose of the foot in that link
