# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A compliant-hip climbing robot on its wall: parts, model, state, measurements, commands."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, ModelError, index_of
from legged_dynamics.stickybot.model.limb import (
    BODY,
    HIP,
    LIMB,
    LINK,
    Machine,
    limb_terms,
    make_workspace,
)

# -------------------------------------------------------------------------------------------------
# What the robot is made of: a body, limbs of straight links on compliant hips, a wall.


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
        object.__setattr__(self, 'stiffness', _hip_matrix(self.stiffness, 'a hip stiffness', True))
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
        """+1 when the foot lies to the left of the hip, -1 when to the right."""
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


# -------------------------------------------------------------------------------------------------
# StickybotModel: the robot, checked once and then read-only.


class StickybotModel:
    """
    A body with N limbs of one or more links each, in the plane of a wall.

    Parameters
    ----------
    body : Body
        The trunk.
    limbs : sequence of Limb
        The limbs, in the order of all results.
    wall : Wall, optional
        A vertical one unless given.

    Attributes
    ----------
    limb_names : tuple of str
    n_limbs, n_joints, n_inner_joints : int
        Joints are counted with the feet, inner joints without them.
    nz : int
        Number of coordinates: 3 for the body, then 2 + links for each limb.
    foot_columns : (N, 2) int array
        Where the feet's positions stand among the coordinates.
    joint_columns : (nq,) int array
        Where the links' angles stand.
    inner_columns : (nq - N,) int array
        Where the inner joints' rest angles stand among the rest positions.
    hip_columns : (N, 3) int array
        Where the hips' rest positions stand among them.
    mass : float [kg]
    machine : Machine

    Raises
    ------
    ModelError
        When there is no limb, or two limbs have one name.

    """

    def __init__(self, body: Body, limbs: Sequence[Limb], wall: Wall | None = None):
        self.body = body
        self.limbs = tuple(limbs)
        self.wall = wall or Wall()
        self.limb_names = tuple(limb.name for limb in self.limbs)
        if not self.limbs:
            raise ModelError('expected at least one limb, got none')
        if len(set(self.limb_names)) != len(self.limbs):
            raise ModelError(f'expected limbs of different names, got {self.limb_names}')
        self.n_limbs = len(self.limbs)
        counts = np.array([len(limb.links) for limb in self.limbs])
        self.n_joints = int(counts.sum())
        self.n_inner_joints = self.n_joints - self.n_limbs
        self.nz = 3 + 2 * self.n_limbs + self.n_joints
        self.mass = body.mass + sum(limb.mass for limb in self.limbs)
        self.machine = self._machine(counts)
        starts = self.machine.index[:, LIMB.start]
        self.foot_columns = starts[:, None] + np.arange(2)
        self.joint_columns = np.concatenate(
            [start + 2 + np.arange(n) for start, n in zip(starts, counts)])
        self.hip_columns = starts[:, None] - 3 + np.arange(3)
        self.inner_columns = np.concatenate(
            [start + np.arange(n - 1) for start, n in zip(starts, counts)])
        self.joint_starts = np.concatenate([[0], np.cumsum(counts)])

    def _machine(self, counts: np.ndarray) -> Machine:
        index = np.zeros((self.n_limbs, LIMB.width), dtype=np.int64)
        ahead = np.concatenate([[0], np.cumsum(counts)[:-1]])
        index[:, LIMB.n_links] = counts
        index[:, LIMB.start] = 3 + ahead + 2 * np.arange(self.n_limbs)
        index[:, LIMB.hip] = BODY.width + HIP.width * np.arange(self.n_limbs)
        index[:, LIMB.links] = BODY.width + HIP.width * self.n_limbs + LINK.width * ahead
        parts = [np.array([self.body.mass, self.body.inertia, *self.wall.in_plane])]
        parts += [matrix.ravel() for limb in self.limbs
                  for matrix in (limb.stiffness, limb.damping)]
        parts += [np.array([link.length, link.center, link.mass, link.inertia, link.stiffness,
                            link.damping]) for limb in self.limbs for link in limb.links]
        constants = np.concatenate(parts)
        for array in (index, constants):
            array.setflags(write=False)
        return Machine(index, constants)

    def limb_index(self, name: str) -> int:
        """Return the number of a limb; UnknownNameError when there is none of that ``name``."""
        return index_of('limb', name, self.limb_names)

    @property
    def rest(self) -> np.ndarray:
        """Nominal rest positions r of the hips, (N, 3)."""
        return np.array([limb.rest for limb in self.limbs])

    @property
    def bends(self) -> np.ndarray:
        """Nominal rest angles of the inner joints, (nq - N,) [rad]."""
        return np.array([bend for limb in self.limbs for bend in limb.bends])

    @property
    def sides(self) -> np.ndarray:
        """+1 for limbs whose feet lie to the left, -1 for the others, (N,)."""
        return np.array([limb.side for limb in self.limbs])


# -------------------------------------------------------------------------------------------------
# State of the robot, and rest positions of its hips and joints.


def fitting(values: object, shape: tuple[int, ...], what: str) -> np.ndarray:
    """Return values as a finite float array of a shape, or raise MeasurementError."""
    array = np.array(values, dtype=float)
    if array.shape != shape:
        raise MeasurementError(f'expected {what} of shape {shape}, got shape {array.shape}')
    if not np.isfinite(array).all():
        raise MeasurementError(f'expected finite {what}, got {array.tolist()}')
    return array


@dataclass(frozen=True, eq=False)
class StickybotState:
    """
    Pose and motion of body and limbs in wall axes (x right, y up the slope).

    Attributes
    ----------
    pose : (3,) array [m, m, rad]
        Position of the body's centre of mass and the body's angle.
    velocity : (3,) array [m/s, m/s, rad/s]
    foot : (N, 2) array [m]
    joint : (nq,) array [rad]
        For each limb its first link's angle from the wall's x axis, foot to hip, then each
        further link's angle against the one before it.
    joint_velocity : (nq,) array [rad/s]
    foot_velocity : (N, 2) array [m/s], optional
        At rest unless given; a foot on the wall rests.
    attached : (N,) array of bool, optional
        Feet on the wall; all unless given.

    """

    pose: np.ndarray
    velocity: np.ndarray
    foot: np.ndarray
    joint: np.ndarray
    joint_velocity: np.ndarray
    foot_velocity: np.ndarray | None = None
    attached: np.ndarray | None = None

    def packed(self, model: StickybotModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return z, v (nz,) and which feet are attached (N,), as kernels take them.

        Raises MeasurementError when an array does not fit the model, is not finite, or a foot on
        the wall moves.
        """
        n = model.n_limbs
        z, v = np.zeros(model.nz), np.zeros(model.nz)
        z[:3] = fitting(self.pose, (3,), 'a body pose')
        v[:3] = fitting(self.velocity, (3,), 'a body velocity')
        z[model.foot_columns] = fitting(self.foot, (n, 2), 'foot positions')
        z[model.joint_columns] = fitting(self.joint, (model.n_joints,), 'joint angles')
        v[model.joint_columns] = fitting(self.joint_velocity, (model.n_joints,), 'joint rates')
        attached = np.ones(n, bool) if self.attached is None else np.array(self.attached, bool)
        if attached.shape != (n,):
            raise MeasurementError(f'expected {n} flags of attached feet, got shape '
                                   f'{attached.shape}')
        if self.foot_velocity is not None:
            v[model.foot_columns] = fitting(self.foot_velocity, (n, 2), 'foot velocities')
            if np.any(v[model.foot_columns][attached]):
                raise MeasurementError('expected feet on the wall to rest, got the velocities '
                                       f'{v[model.foot_columns][attached].tolist()} m/s')
        return z, v, attached

    @classmethod
    def unpacked(cls, model: StickybotModel, z: np.ndarray, v: np.ndarray, attached: np.ndarray
                 ) -> StickybotState:
        """Return the state of coordinates z, rates v (nz,) and which feet are attached (N,)."""
        return cls(z[:3].copy(), v[:3].copy(), z[model.foot_columns], z[model.joint_columns],
                   v[model.joint_columns], v[model.foot_columns], attached.copy())


@dataclass(frozen=True, eq=False)
class RestPosition:
    """
    Rest positions of hips and inner joints, which the actuators set.

    Attributes
    ----------
    hip : (N, 3) array [m, m, rad]
        ``r``: rest position of each limb's end in body axes, and its angle against the body.
    hip_rate : (N, 3) array [m/s, m/s, rad/s], optional
        Zero unless given.
    joint, joint_rate : (nq - N,) array [rad, rad/s], optional
        Of the inner joints, limb after limb; the model's bends and zero unless given.

    """

    hip: np.ndarray
    hip_rate: np.ndarray | None = None
    joint: np.ndarray | None = None
    joint_rate: np.ndarray | None = None

    def packed(self, model: StickybotModel) -> tuple[np.ndarray, np.ndarray]:
        """
        Return u and its rate ud, (nz - 3,), as kernels take them.

        Raises MeasurementError when an array does not fit the model or is not finite.
        """
        n, inner = model.n_limbs, model.n_inner_joints
        u, ud = np.zeros(model.nz - 3), np.zeros(model.nz - 3)
        u[model.hip_columns] = fitting(self.hip, (n, 3), 'hip rest positions')
        u[model.inner_columns] = (model.bends if self.joint is None else
                                  fitting(self.joint, (inner,), 'joint rest angles'))
        if self.hip_rate is not None:
            ud[model.hip_columns] = fitting(self.hip_rate, (n, 3), 'rates of hip rest positions')
        if self.joint_rate is not None:
            ud[model.inner_columns] = fitting(self.joint_rate, (inner,),
                                              'rates of joint rest angles')
        return u, ud

    @classmethod
    def nominal(cls, model: StickybotModel) -> RestPosition:
        """Return the model's own rest positions."""
        return cls(model.rest)


def unloaded_state(model: StickybotModel, pose: np.ndarray | None = None,
                   rest: RestPosition | None = None) -> StickybotState:
    """
    Return the state at rest in which no spring is deflected, all feet on the wall.

    Parameters
    ----------
    model : StickybotModel
        The robot on its wall.
    pose : (3,) array, optional [m, m, rad]
        The origin unless given.
    rest : RestPosition, optional
        The model's own unless given.

    Returns
    -------
    StickybotState
        At rest.

    """
    z = np.zeros(model.nz)
    z[:3] = np.zeros(3) if pose is None else fitting(pose, (3,), 'a body pose')
    u, _ = (rest or RestPosition.nominal(model)).packed(model)
    for i in range(model.n_limbs):
        relax_limb(model, i, z, u)
    return StickybotState.unpacked(model, z, np.zeros(model.nz), np.ones(model.n_limbs, bool))


def relax_limb(model: StickybotModel, i: int, z: np.ndarray, u: np.ndarray) -> None:
    """Place limb i in ``z`` where its springs are relaxed, by the body's pose and ``u``."""
    n, start = model.machine.index[i, LIMB.n_links], model.machine.index[i, LIMB.start]
    c, s = np.cos(z[2]), np.sin(z[2])
    x, y, angle = u[start - 3:start]
    bends, work = u[start:start + n - 1], make_workspace(model.machine)
    z[start:start + 2] = 0.0
    z[start + 2] = z[2] + angle - bends.sum()
    z[start + 3:start + 2 + n] = bends
    limb_terms(*model.machine, work, i, z, np.zeros(model.nz))
    z[start:start + 2] = z[:2] + np.array([c * x - s * y, s * x + c * y]) - work[-1, :2]


# -------------------------------------------------------------------------------------------------
# Measurements, commands and events.


@dataclass(frozen=True, eq=False, slots=True)
class StickybotMeasurement:
    """
    Joint states of hips and limbs, and the body's attitude, at one instant.

    Attributes
    ----------
    stamp_ns : int [ns]
    hip : (N, 3) array [m, m, rad]
        Joint positions of the hips: where each limb ends, in body axes from the body's centre of
        mass, and the last link's angle against the body.
    hip_rate : (N, 3) array [m/s, m/s, rad/s]
    body_angle : float [rad]
        From the direction of gravity in the plane of the wall: 0 with the head up the slope. On a
        floor, where gravity has no such direction, from integrated rates.
    body_rate : float [rad/s]
        Gyro, about the wall's normal.
    joint, joint_rate : (nq - N,) array [rad, rad/s]
        Inner joints of limbs with several links, limb after limb.
    attached : (N,) array of bool or None
        Feet that hold on the wall, when something measures it.
    effort : (N, 3) array or None [N, N, N m]
        What motors at the hips deliver beside springs about their nominal rest positions, limb
        against body, when it is measured; otherwise the last command counts as fulfilled.
    joint_effort : (nq - N,) array or None [N m]
        The same of the inner joints.

    """

    stamp_ns: int
    hip: np.ndarray
    hip_rate: np.ndarray
    body_angle: float
    body_rate: float
    joint: np.ndarray = field(default_factory=lambda: np.zeros(0))
    joint_rate: np.ndarray = field(default_factory=lambda: np.zeros(0))
    attached: np.ndarray | None = None
    effort: np.ndarray | None = None
    joint_effort: np.ndarray | None = None


class FootEventKind(Enum):
    """What happened to a foot."""

    TOUCHED_DOWN = 'was planted on the wall'
    LIFTED_OFF = 'was taken off the wall'
    SLIPPED = 'let go: its shear force left what the pad holds'
    PEELED = 'let go: it was pulled off the wall harder than the pad holds'
    LOST = 'no longer holds, by what the hips and the body show'


@dataclass(frozen=True)
class FootEvent:
    """
    One event of one foot.

    Attributes
    ----------
    stamp_ns : int [ns]
    limb : str
    kind : FootEventKind

    """

    stamp_ns: int
    limb: str
    kind: FootEventKind

    def __str__(self) -> str:
        return f'{self.stamp_ns * 1e-9:.4f} s: foot {self.limb} {self.kind.value}'


@dataclass(frozen=True, eq=False, slots=True)
class StickybotCommand:
    """
    What the actuators are to do until the next command.

    Attributes
    ----------
    stamp_ns : int [ns]
        Of the measurement that it answers.
    rest : (N, 3) array [m, m, rad]
        Rest positions of the hips, to be reached one control period later; in between they move
        evenly.
    attach : (N,) array of bool
        Feet that are to hold on the wall.
    joint_rest : (nq - N,) array [rad]
        Rest angles of the inner joints, likewise.
    reaction : (N, 2) array [N] or None
        Force of the wall on each foot now, wall axes, as estimated from the springs.
    planned : (N, 2) array [N] or None
        What the reduction makes of it.
    pose, velocity : (3,) array or None
        Of the body on the wall, by the feet's odometry.
    normal : (N,) array [N] or None
        The wall's push on each foot, by statics; negative where the foot pulls.
    pad_use : (N,) array or None
        Share of its pad's limit that each foot uses, above 1 it lets go; None without limits.
    pad_angle : (N,) array or None [rad]
        Directions of the pads in wall axes; None without limits.
    pads_kept : bool
        False when the load, now or in the gait's next phase, is more than the pads surely hold.
    events : tuple of FootEvent
        What happened to feet at this instant.

    """

    stamp_ns: int
    rest: np.ndarray
    attach: np.ndarray
    joint_rest: np.ndarray = field(default_factory=lambda: np.zeros(0))
    reaction: np.ndarray | None = None
    planned: np.ndarray | None = None
    pose: np.ndarray | None = None
    velocity: np.ndarray | None = None
    normal: np.ndarray | None = None
    pad_use: np.ndarray | None = None
    pad_angle: np.ndarray | None = None
    pads_kept: bool = True
    events: tuple[FootEvent, ...] = ()
