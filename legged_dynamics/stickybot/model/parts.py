# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a climbing robot is made of: a body, limbs of straight links on compliant hips, a wall."""
from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError, ModelError


def _at_least(value: float, bound: float, what: str, unit: str, *, above: bool = False) -> None:
    if not math.isfinite(value) or value < bound or (above and value == bound):
        relation = 'above' if above else 'of at least'
        raise ModelError(f'expected {what} {relation} {bound:g} {unit}, got {value!r}')


@dataclass(frozen=True)
class Body:
    """
    The robot's trunk, in the plane of the wall.

    Attributes
    ----------
    mass : float [kg]
    inertia : float [kg m^2]
        About the centre of mass, about the wall's normal.
    height : float [m]
        Distance of the whole robot's centre of mass from the wall. The planar equations do not
        need it; it makes the feet's normal loads.

    """

    mass: float
    inertia: float
    height: float = 0.0

    def __post_init__(self) -> None:
        _at_least(self.mass, 0.0, 'a body mass', 'kg', above=True)
        _at_least(self.inertia, 0.0, 'a body inertia', 'kg m^2', above=True)
        _at_least(self.height, 0.0, 'a height over the wall', 'm')


@dataclass(frozen=True)
class Link:
    """
    A straight link, and the joint at its end nearer to the foot.

    Attributes
    ----------
    length, mass : float [m, kg]
    inertia : float [kg m^2]
        About the link's centre of mass; a uniform rod's unless given.
    center : float [m]
        Distance of the centre of mass from the foot's end; half the length unless given.
    stiffness, damping : float [N m/rad, N m s/rad]
        Servo of the joint, which holds a rest angle. A limb's first link turns freely about its
        foot and has neither.

    """

    length: float
    mass: float
    inertia: float = math.nan
    center: float = math.nan
    stiffness: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        _at_least(self.length, 0.0, 'a link length', 'm', above=True)
        _at_least(self.mass, 0.0, 'a link mass', 'kg', above=True)
        if math.isnan(self.inertia):
            object.__setattr__(self, 'inertia', self.mass * self.length ** 2 / 12.0)
        if math.isnan(self.center):
            object.__setattr__(self, 'center', self.length / 2.0)
        _at_least(self.inertia, 0.0, 'a link inertia', 'kg m^2')
        if self.inertia == 0.0 and self.center == 0.0:
            raise ModelError('expected a link that resists turning about its joint, got one with '
                             'all its mass on the joint: give it an inertia or a centre')
        _at_least(self.stiffness, 0.0, 'a joint stiffness', 'N m/rad')
        _at_least(self.damping, 0.0, 'a joint damping', 'N m s/rad')


def _hip_matrix(values: object, what: str, definite: bool) -> np.ndarray:
    """Return a hip's 3 x 3 stiffness or damping from three values or nine."""
    matrix = np.array(values, dtype=float)
    if matrix.shape == (3,):
        matrix = np.diag(matrix)
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
        raise ModelError(f'expected {what} as 3 values (x, y, angle) or a 3 x 3 matrix, '
                         f'got {values!r}')
    scale = np.abs(matrix).max(initial=0.0)
    smallest = np.linalg.eigvalsh((matrix + matrix.T) / 2.0)[0]
    if np.abs(matrix - matrix.T).max() > 1e-9 * scale or smallest < -1e-12 * scale or (
            definite and smallest <= 0.0):
        kind = 'definite' if definite else 'semidefinite'
        raise ModelError(f'expected {what} to be symmetric and positive {kind}, got '
                         f'{matrix.tolist()}')
    matrix.setflags(write=False)
    return matrix


@dataclass(frozen=True, eq=False)
class Limb:
    """
    A serial limb from a foot that turns freely on the wall to a compliant hip.

    Attributes
    ----------
    name : str
    links : tuple of Link
        From the foot to the hip; one link is Karpick's rod.
    hip : (2,) array [m]
        Rest position of the limb's end in body axes, from the body's centre of mass.
    rest_angle : float [rad]
        Rest angle of the last link against the body, foot to hip, from the body's x axis.
    stiffness : (3, 3) array [N/m, N/m, N m/rad]
        Hip stiffness K in body axes (x, y, angle); three values make it diagonal.
    damping : (3, 3) array [N s/m, N s/m, N m s/rad]
        Hip damping B, likewise.
    bends : tuple of float [rad]
        Rest angles of the inner joints, one fewer than there are links; straight unless given.

    """

    name: str
    links: tuple[Link, ...]
    hip: np.ndarray
    rest_angle: float
    stiffness: np.ndarray
    damping: np.ndarray = field(default_factory=lambda: np.zeros(3))
    bends: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.name:
            raise ModelError('expected a name for every limb, got an empty one')
        try:
            self._check()
        except ModelError as error:
            raise ModelError(f'limb {self.name!r}: {error}') from error

    def _check(self) -> None:
        links = tuple(self.links)
        if not links:
            raise ModelError('expected at least one link, got none')
        if links[0].stiffness or links[0].damping:
            raise ModelError('expected no stiffness or damping in the first link, whose joint is '
                             f'the foot and turns freely, got {links[0]}')
        hip = np.array(self.hip, dtype=float)
        if hip.shape != (2,) or not np.isfinite(hip).all():
            raise ModelError(f'expected a hip position (x, y), got {self.hip!r}')
        hip.setflags(write=False)
        if not math.isfinite(self.rest_angle):
            raise ModelError(f'expected a finite rest angle, got {self.rest_angle!r}')
        bends = tuple(map(float, self.bends)) or (0.0,) * (len(links) - 1)
        if len(bends) != len(links) - 1 or not all(map(math.isfinite, bends)):
            raise ModelError(f'expected {len(links) - 1} finite rest angles of inner joints, '
                             f'got {self.bends!r}')
        object.__setattr__(self, 'links', links)
        object.__setattr__(self, 'hip', hip)
        object.__setattr__(self, 'bends', bends)
        object.__setattr__(self, 'stiffness',
                           _hip_matrix(self.stiffness, 'a hip stiffness', True))
        object.__setattr__(self, 'damping', _hip_matrix(self.damping, 'a hip damping', False))

    @property
    def mass(self) -> float:
        """Sum of the links' masses [kg]."""
        return sum(link.mass for link in self.links)

    @property
    def rest(self) -> np.ndarray:
        """Rest position ``r`` of the hip, (3,): x, y [m], angle [rad]."""
        return np.array([*self.hip, self.rest_angle])

    @property
    def side(self) -> float:
        """
        +1 when the foot lies to the left of the hip, -1 to the right of it.

        Turning by ``+side`` against the body carries the body towards +y.
        """
        return 1.0 if math.cos(self.rest_angle) >= 0.0 else -1.0


@dataclass(frozen=True)
class Wall:
    """
    The plane that the robot climbs; its y axis points up the slope.

    Attributes
    ----------
    inclination : float [rad]
        0 a floor, pi/2 a vertical wall, between pi/2 and pi an overhang, pi a ceiling.
    gravity : float [m/s^2]

    """

    inclination: float = math.pi / 2.0
    gravity: float = GRAVITY

    def __post_init__(self) -> None:
        if not 0.0 <= self.inclination <= math.pi + 1e-12:
            raise ConfigurationError('expected a wall inclination from 0 (floor) to pi (ceiling) '
                                     f'rad, got {self.inclination!r}')
        if not (math.isfinite(self.gravity) and self.gravity >= 0.0):
            raise ConfigurationError(f'expected a gravity of at least 0, got {self.gravity!r}')

    @property
    def in_plane(self) -> np.ndarray:
        """Gravity in the wall's plane, (2,) [m/s^2]."""
        return np.array([0.0, -self.gravity * math.sin(self.inclination)])

    @property
    def normal(self) -> float:
        """Gravity along the outward normal [m/s^2]: negative presses the robot to the wall."""
        return -self.gravity * math.cos(self.inclination)
