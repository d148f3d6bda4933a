# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Sections of a recording to be solved over time: motion, contacts, external wrenches, checks.

From a motion to the frames of a problem, and from its solution to wrenches and efforts: both ways
run the same Newton-Euler passes as a single tick, and store nothing of the bodies in
between: running them twice costs less than a table of joint Jacobians.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion, checked_rows
from legged_dynamics.contact.tick import (
    CONTACT_FORCE,
    CONTACT_MOMENT,
    LENGTH,
    RESIDUAL,
    STANDING,
    base_wrench,
    carried,
    carve,
    relieve_feet,
    report_residual,
    support,
)
from legged_dynamics.dynamics.jacobians import (
    AXES,
    BODY,
    CONTACT,
    FOOT_ROTATION,
    IN_FOOT,
    SIZE,
    START,
    contact_points,
    moment_axes,
)
from legged_dynamics.dynamics.kinematics import OMEGA, POSITION, VELOCITY, forward_kinematics
from legged_dynamics.dynamics.motion import GRAVITY, UP
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    body_wrenches,
    inertial_wrenches,
    joint_efforts,
    subtract_external_wrenches,
)
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.model.parts import JOINT, Q_START, SPHERICAL, V_START
from legged_dynamics.model.robot_model import POSITION_SIZE, VELOCITY_SIZE, RobotModel
from legged_dynamics.spatial.algebra import (
    IDENTITY,
    ZERO,
    add,
    compose,
    cross,
    dot,
    rotate,
    rotate_back,
    subtract,
    transpose,
)
from legged_dynamics.spatial.jit import lean_kernel, part
from legged_dynamics.spatial.layout import get3, get9, put3, put9

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation  # slow to import

# Return code of kernels when every frame is finite; otherwise the first frame that is not.
FINITE = -1


class MotionArrays(NamedTuple):
    """
    A motion as kernels take it, T frames.

    Attributes
    ----------
    position : (T, nq) array [rad or m]
        Positions of the joints.
    velocity, acceleration : (T, nv) array [rad/s, rad/s^2 or m/s, m/s^2]
        Velocities and accelerations of the joints.
    base : (T, 9) array [rad/s, rad/s^2, m/s^2]
        Angular velocity and acceleration, proper acceleration of the base, in its axes.
    rotation : (T, 9) array
        R_WB.
    base_velocity : (T, 3) array, or (0, 3) [m/s]
        Velocity of the base's origin over ground, in world axes.

    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    base: np.ndarray
    rotation: np.ndarray
    base_velocity: np.ndarray


class Section(NamedTuple):
    """A motion under given conditions, with the memory of a tick, which is written to."""

    motion: MotionArrays
    normal: tuple[float, float, float]      # of the ground, world axes
    external: np.ndarray    # (T or 0, nb, 6) [N, N m]: wrenches on bodies, in their axes
    in_world: bool          # whether contact coordinates are in world axes, and not the feet's
    integers: np.ndarray    # as `contact.tick.allocate` makes them
    floats: np.ndarray
    results: np.ndarray


@part
def _enter(section, memory, standing, t):
    """Set the contacts of frame t, run the outward pass, and return the required wrench."""
    motion, external = section.motion, section.external
    for i in range(standing.shape[1]):
        memory.feet.index[i, STANDING] = standing[t, i]
    forward_kinematics(memory.tree, motion.position[t], motion.velocity[t],
                       motion.acceleration[t], motion.base[t], memory.bodies)
    inertial_wrenches(memory.tree, memory.bodies)
    if external.shape[0] > 0:
        subtract_external_wrenches(external[t], memory.bodies)
    contact_points(memory.feet, memory.bodies,
                   rotate_back(get9(motion.rotation, t, 0), section.normal), memory.states)
    return base_wrench(memory.bodies)


@part
def _contact_speed(memory, i, base_velocity):
    """Return the square of the speed over ground of a foot's contact point, base axes."""
    b, point = memory.feet.index[i, BODY], get3(memory.states, i, CONTACT)
    v = add(get3(memory.bodies, b, VELOCITY),
            cross(get3(memory.bodies, b, OMEGA),
                  subtract(point, get3(memory.bodies, b, POSITION))))
    v = add(v, base_velocity)
    return dot(v, v)


@lean_kernel
def gather(section, problem, foot_rotation, speed):
    """
    Fill the problem's points, required wrench, rank and line, and the optional tables.

    ``foot_rotation`` and ``speed`` [m^2/s^2] are filled if not empty. Returns `FINITE` or the
    first non-finite frame.
    """
    memory, motion = carve(section.integers, section.floats), section.motion
    in_world = section.in_world
    for t in range(problem.required.shape[0]):
        f, m = _enter(section, memory, problem.standing, t)
        if not math.isfinite(dot(f, f) + dot(m, m)):
            return t
        R_WB = get9(motion.rotation, t, 0)
        rank, _, _, center, _, line = support(
            memory.feet.index, memory.states, memory.settings[LENGTH])
        if 0 < rank < 6:
            f, m = carried(f, m, center, line, rank, memory.settings[LENGTH])
        elif rank == 0:
            f, m = ZERO, ZERO
        problem.rank[t] = rank
        put3(problem.line, t, 0, _turned(R_WB, center, in_world))
        put3(problem.line, t, 3, _turned(R_WB, line, in_world))
        put3(problem.required, t, 0, _turned(R_WB, f, in_world))
        put3(problem.required, t, 3, _turned(R_WB, m, in_world))
        for i in range(speed.shape[1]):
            put3(problem.points[t], i, 0,
                 _turned(R_WB, get3(memory.states, i, CONTACT), in_world))
            R = get9(memory.states, i, FOOT_ROTATION)
            if foot_rotation.shape[0] > 0:
                put9(foot_rotation[t], i, 0, compose(R_WB, R) if in_world else R)
            if problem.turns.shape[0] > 0:
                put9(problem.turns[t], i, 0, _moment_columns(memory, i, R_WB, R, in_world))
            if speed.shape[0] > 0:
                over_ground = rotate_back(R_WB, get3(motion.base_velocity, t, 0))
                speed[t, i] = _contact_speed(memory, i, over_ground)
    return FINITE


@lean_kernel
def express(section, problem, x, wrench, effort, residual):
    """
    Fill foot wrenches (foot frames), joint efforts and the base residual (base axes).

    Returns `FINITE`, or the first frame with non-finite efforts.
    """
    memory, motion = carve(section.integers, section.floats), section.motion
    in_world, results = section.in_world, section.results
    states, index = memory.states, problem.index
    nf = wrench.shape[1]
    for t in range(x.shape[0]):
        _enter(section, memory, problem.standing, t)
        R_WB = get9(motion.rotation, t, 0)
        for i in range(nf):
            start, R = index[i, START], get9(states, i, FOOT_ROTATION)
            f, m = get3(x, t, start), ZERO
            if index[i, SIZE] > 3:
                m = get3(x, t, start + 3)
            if problem.turns.shape[0] > 0:
                m = rotate(get9(problem.turns[t], i, 0), m)
            put3(states, i, CONTACT_FORCE, rotate_back(R_WB, f) if in_world else rotate(R, f))
            put3(states, i, CONTACT_MOMENT, rotate_back(R_WB, m) if in_world else m)
        relieve_feet(memory.feet.index, states, memory.bodies, results)
        joint_efforts(memory.tree, memory.bodies, effort[t])
        add_joint_physics(memory.tree, motion.position[t], motion.velocity[t],
                          motion.acceleration[t], effort[t])
        if not report_residual(memory.bodies, effort[t], results):
            return t
        for i in range(nf):
            for k in range(6):
                wrench[t, i, k] = results[6 * i + k]
        for k in range(6):
            residual[t, k] = results[RESIDUAL + k]
    return FINITE


@part
def _moment_columns(memory, i, R_WB, R, in_world):
    """Return a foot's moment axes in the axes of the problem (or the foot), as columns."""
    columns = transpose(moment_axes(memory.feet.index, memory.states, i))
    if memory.feet.index[i, AXES] >= IN_FOOT:
        return compose(R_WB, columns) if in_world else columns
    return IDENTITY if in_world else R


@part
def _turned(R, v, in_world):
    """Return v in world axes where the problem is in them."""
    return rotate(R, v) if in_world else v


# -------------------------------------------------------------------------------------------------
# Motions out of generalised coordinates: base position, base quaternion, joints, one row a frame.
#
# Positions alone are differenced on the manifold, a rotation by the logarithm of what lies between
# two frames. A row of velocities is ``[v; w]`` of the base in its own axes, then the joints; a row
# of accelerations is its derivative component by component, as Pinocchio and Nimble have it.


SCHEMES = {
    'central': 'second order: velocity and acceleration from the frames on either side',
    'forward': 'first order, as Nimble has it: velocity to the next frame, acceleration from '
               'there to the one after',
}
# Columns of the base in a row of positions: position and quaternion.
BASE_POSITIONS = 7
# Columns of the base in a row of velocities.
BASE_VELOCITIES = 6


@dataclass(frozen=True, eq=False)
class GeneralizedMotion(RecordedMotion):
    """
    A motion with the velocity of its base over ground.

    Attributes
    ----------
    base_velocity : (n, 3) array [m/s]
        Velocity of the base's origin, in world axes. Contact points' speeds follow from it.

    """

    base_velocity: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))

    @classmethod
    def from_positions(cls, model: RobotModel, positions: np.ndarray, time_step: float, *,
                       scheme: str = 'central', joint_names: Sequence[str] | None = None
                       ) -> GeneralizedMotion:
        """
        Difference positions.

        Parameters
        ----------
        model : RobotModel
            Robot with a floating base.
        positions : (T, 7 + nq) array [m, -, rad or m]
            ``[p_WB, quaternion x y z w, joints]``, a row a frame.
        time_step : float
            Time from frame to frame. [s]
        scheme : {'central', 'forward'}
            See :data:`SCHEMES`. Forward differences put the root wrench of a 1 Hz motion at
            100 Hz off by tens of newtons, central ones by tenths.
        joint_names : sequence of str, optional
            The order of the joints' columns; the model's by default.

        Returns
        -------
        GeneralizedMotion
            Of T - 2 frames: those from the second to the last but one, or with forward
            differences from the first to the last but two.

        Raises
        ------
        ConfigurationError
            When the scheme or the time step is not one.
        MeasurementError
            When there are fewer than three frames, a shape does not fit or a value is not finite.
        UnknownNameError
            When a joint's name is not in the model.

        """
        if scheme not in SCHEMES:
            raise ConfigurationError(f'expected a scheme of {", ".join(SCHEMES)}; got {scheme!r}')
        p, R, q = _split(model, positions, joint_names)
        dt, n = _step(time_step), len(p)
        if n < 3:
            raise MeasurementError(f'expected 3 frames or more, got {n}: an acceleration takes '
                                   'three positions')
        joint_rate, turn = _joint_differences(model, q) / dt, _turns(R) / dt
        v_world = np.diff(p, axis=0) / dt
        now = slice(1, -1) if scheme == 'central' else slice(0, -2)
        a = np.diff(joint_rate, axis=0) / dt
        alpha = np.diff(turn, axis=0) / dt
        if scheme == 'central':
            v, w, over_ground = ((rate[1:] + rate[:-1]) / 2.0
                                 for rate in (joint_rate, turn, v_world))
            proper = R[now].inv().apply(np.diff(v_world, axis=0) / dt + GRAVITY * UP)
        else:
            v, w, over_ground = joint_rate[:-1], turn[:-1], v_world[:-1]
            # Nimble's velocity is in body axes, and so is what it differences.
            along = R[:-1].inv().apply(v_world)
            proper = (np.diff(along, axis=0) / dt + np.cross(w, along[:-1])
                      + R[now].inv().apply(GRAVITY * UP))
        return cls(dt * np.arange(n)[now], q[now], v, a, p[now], R[now].as_matrix(),
                   np.hstack([w, alpha, proper]), over_ground)

    @classmethod
    def from_states(cls, model: RobotModel, positions: np.ndarray, velocities: np.ndarray,
                    accelerations: np.ndarray, time_step: float, *,
                    joint_names: Sequence[str] | None = None) -> GeneralizedMotion:
        """
        Take positions, velocities and accelerations as they are given.

        Parameters
        ----------
        model : RobotModel
            Robot with a floating base.
        positions : (T, 7 + nq) array [m, -, rad or m]
            As in `from_positions`.
        velocities, accelerations : (T, 6 + nv) array [m/s, rad/s, joints; their derivatives]
            ``[v; w, joints]``, the base's in its own axes; the acceleration is *spatial*.
        time_step : float
            Time from frame to frame. [s]
        joint_names : sequence of str, optional
            The order of the joints' columns; the model's by default.

        Returns
        -------
        GeneralizedMotion
            Of T frames.

        Raises
        ------
        ConfigurationError
            When the time step is not above 0.
        MeasurementError
            When a shape does not fit or a value is not finite.
        UnknownNameError
            When a joint's name is not in the model.

        """
        p, R, q = _split(model, positions, joint_names)
        order = BASE_VELOCITIES + _columns(model, joint_names, VELOCITY_SIZE, V_START)
        shape = len(p), BASE_VELOCITIES + model.nv
        v = checked_rows('velocities', velocities, shape)
        a = checked_rows('accelerations', accelerations, shape)
        linear, w = v[:, :3], v[:, 3:6]
        proper = a[:, :3] + np.cross(w, linear) + R.inv().apply(GRAVITY * UP)
        return cls(_step(time_step) * np.arange(len(p)), q, v[:, order], a[:, order], p,
                   R.as_matrix(), np.hstack([w, a[:, 3:6], proper]), R.apply(linear))


def _split(model: RobotModel, positions: np.ndarray, joint_names: Sequence[str] | None
           ) -> tuple[np.ndarray, Rotation, np.ndarray]:
    """Return base positions, base rotations, and joints in the model's order."""
    from scipy.spatial.transform import Rotation
    order = BASE_POSITIONS + _columns(model, joint_names, POSITION_SIZE, Q_START)
    rows = checked_rows('positions', positions, (None, BASE_POSITIONS + model.nq))
    length = np.linalg.norm(rows[:, 3:7], axis=1)
    if not (length > 1e-9).all():
        raise MeasurementError('expected quaternions of non-zero length, got zero in frame '
                               f'{int(np.argmin(length))}')
    return rows[:, :3], Rotation.from_quat(rows[:, 3:7]), rows[:, order]


def _columns(model: RobotModel, joint_names: Sequence[str] | None, sizes: dict[int, int],
             start: int) -> np.ndarray:
    """Return for each of the model's coordinates which of the caller's joint columns it is."""
    names = model.joint_names if joint_names is None else tuple(joint_names)
    codes = {name: int(model.tree.topology[body, JOINT])
             for body, name in enumerate(model.joint_names, start=1)}
    missing = [name for name in model.joint_names if name not in names]
    for name in names:
        if name not in codes:
            raise UnknownNameError('joint', name, model.joint_names)
    if missing or len(names) != len(codes):
        raise MeasurementError(f'expected each joint once in joint_names; {len(names)} were '
                               f'given, without {missing}')
    at, first = {}, 0
    for name in names:
        at[name], first = first, first + sizes[codes[name]]
    return np.array([at[name] + k for name in model.joint_names
                     for k in range(sizes[codes[name]])], dtype=int)


def _step(time_step: float) -> float:
    if not (np.isfinite(time_step) and time_step > 0.0):
        raise ConfigurationError(f'expected a time step above 0 s, got {time_step}')
    return float(time_step)


def _turns(R: Rotation) -> np.ndarray:
    """Return the rotation vectors from each frame to the next, in the axes of both."""
    return (R[:-1].inv() * R[1:]).as_rotvec()


def _joint_differences(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """Return how far the joints move from each frame to the next, (T - 1, nv)."""
    from scipy.spatial.transform import Rotation
    differences = np.zeros((len(q) - 1, model.nv))
    for kind, iq, iv in model.tree.topology[1:, [JOINT, Q_START, V_START]]:
        if kind == SPHERICAL:
            differences[:, iv:iv + 3] = _turns(Rotation.from_quat(q[:, iq:iq + 4]))
        else:
            differences[:, iv] = np.diff(q[:, iq])
    return differences


# -------------------------------------------------------------------------------------------------
# A section of a recording, and its parts as kernels take them.


@dataclass(frozen=True, eq=False)
class Stretch:
    """
    Successive frames of a recording.

    Attributes
    ----------
    motion : RecordedMotion
        Evenly spaced; the last frame of one stretch is followed by the first of the next.
    in_contact : (nf,) or (T, nf) array of bool, optional
        Feet on the ground; all by default.
    external : mapping of link name to (6,) or (T, 6) array, optional [N, N m]
        Wrenches ``[f; m]`` on the robot apart from gravity and ground, in the link's axes about
        its origin.

    """

    motion: RecordedMotion
    in_contact: np.ndarray | Sequence[bool] | None = None
    external: Mapping[str, np.ndarray] | None = None


def frames_of(model: RobotModel, motion: RecordedMotion, with_speed: bool) -> MotionArrays:
    """Return a motion as the kernels take it; ``with_speed`` includes the base velocity."""
    m = motion.checked(model)
    return MotionArrays(m.position, m.velocity, m.acceleration, m.base_motion,
                        m.base_rotation.reshape(-1, 9),
                        _base_velocity(motion) if with_speed else np.zeros((0, 3)))


def _base_velocity(motion: RecordedMotion) -> np.ndarray:
    if isinstance(motion, GeneralizedMotion):
        return np.ascontiguousarray(motion.base_velocity, dtype=float)
    return np.gradient(np.asarray(motion.base_position, float), motion.step, axis=0)


def standing_of(in_contact: object, T: int, nf: int) -> np.ndarray:
    """Return contact flags as integers (T, nf), 1 on the ground; all by default."""
    if in_contact is None:
        return np.ones((T, nf), np.int64)
    flags = np.asarray(in_contact, dtype=bool)
    if flags.shape not in ((nf,), (T, nf)):
        raise MeasurementError(f'expected contact flags of shape ({nf},) or ({T}, {nf}), got '
                               f'{flags.shape}')
    return np.ascontiguousarray(np.broadcast_to(flags, (T, nf)), dtype=np.int64)


def external_of(model: RobotModel, external: Mapping[str, np.ndarray] | None, T: int
                ) -> np.ndarray:
    """
    Return external wrenches by body (T, nb, 6) in body axes; (0, nb, 6) without any.

    ``external`` maps link names to (6,) or (T, 6), in link axes about the link's origin.
    """
    if not external:
        return np.zeros((0, model.n_bodies, 6))
    wrenches = np.zeros((T, model.n_bodies, 6))
    for link, values in external.items():
        rows = np.asarray(values, dtype=float)
        if rows.shape == (6,):
            wrenches += body_wrenches(model, {link: rows})
            continue
        if rows.shape != (T, 6) or not np.isfinite(rows).all():
            raise MeasurementError(f'expected finite wrenches on link {link!r} of shape (6,) or '
                                   f'({T}, 6), got {rows.shape}')
        body, pose = model.frame(link)
        wrenches[:, body] += rows @ pose.wrench_matrix.T
    return wrenches


def unit_normal(normal: Sequence[float]) -> tuple[float, float, float]:
    """Return the ground normal (world axes) as three floats, checked to be a unit vector."""
    n = np.asarray(normal, dtype=float)
    if n.shape != (3,) or not abs(np.linalg.norm(n) - 1.0) < 1e-6:
        raise MeasurementError(f'expected a unit ground normal in world axes, got {normal}')
    return float(n[0]), float(n[1]), float(n[2])
