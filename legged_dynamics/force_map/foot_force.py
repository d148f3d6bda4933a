# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""FootForceMap: the force under a robot that stands on one passive ball foot, by its torques."""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from legged_dynamics.dynamics.composite_body import joint_axis
from legged_dynamics.dynamics.forward_dynamics import (
    BIAS_FORCE,
    D_INVERSE,
    EXTERNAL,
    U_FORCE,
    U_MOMENT,
    G,
    J,
    articulate,
    bias,
    carve,
    refuse,
)
from legged_dynamics.dynamics.kinematics import (
    OMEGA,
    POSITION,
    ROTATION,
    body_workspace,
    forward_kinematics,
)
from legged_dynamics.dynamics.motion import GRAVITY, UP, fill, input_views, state_vector
from legged_dynamics.dynamics.newton_euler import body_wrenches
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.affine import ForceMap, column_names, velocity_rows
from legged_dynamics.model.assembly import read_inertia
from legged_dynamics.model.parts import (
    JOINT,
    P_TREE,
    PARENT,
    PRISMATIC,
    Q_START,
    R_TREE,
    SPHERICAL,
    V_START,
    Inertia,
    Joint,
    Tree,
)
from legged_dynamics.model.robot_model import POSITION_SIZE, VELOCITY_SIZE, RobotModel
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    cross,
    dot,
    rotate_back,
    subtract,
    symmetric_times,
)
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.jit import as_python, lean_kernel
from legged_dynamics.spatial.layout import get3, get6, get9, length_of, put3
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_quaternion

# -------------------------------------------------------------------------------------------------
# A robot as seen from the foot it stands on: the same bodies, joined to the ground by a ball.
#
# Joints between foot and base are reversed: parent and child change places and the axis its sign,
# so that positions and velocities stay what they were. All other joints stay as they are.


GROUND = 'ground'
BALL = 'ground_ball'


@dataclass(frozen=True, eq=False)
class Stance:
    """
    A robot standing on one foot.

    Attributes
    ----------
    robot : RobotModel
        The original, with a floating base.
    model : RobotModel
        Robot of the same bodies on a fixed base, the ground, whose origin is the foot's and whose
        axes are the world's. Its first joint, ``'ground_ball'``, is passive. Other joints keep
        their names, and links their names and frames.
    foot : str
        The link it stands on.

    """

    robot: RobotModel
    model: RobotModel
    foot: str
    _reversed: frozenset[str]

    def state(self, position: np.ndarray, velocity: np.ndarray, R_WB: np.ndarray,
              angular_velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """
        Return (nq,) positions and (nv,) velocities of `model`, from those of the robot.

        ``position`` (nq,) [rad or m]: joint positions in the robot's order. ``velocity`` (nv,)
        [rad/s or m/s]: joint velocities in the robot's order. ``R_WB`` (3, 3): orientation of the
        base in the world. ``angular_velocity`` (3,) [rad/s]: angular velocity of the base, in base
        axes. Returns (nq,) array, (nv,) array. Raises MeasurementError when an input does not fit
        the robot or is not finite.
        """
        robot = self.robot
        q = state_vector(position, robot.nq, 'joint positions')
        v = state_vector(velocity, robot.nv, 'joint velocities')
        base = np.zeros(9)
        base[:3] = state_vector(angular_velocity, 3, "rates of the base's rotation")
        bodies = body_workspace(robot)
        forward_kinematics(robot.tree, q, v, np.zeros(robot.nv), base, bodies)
        body, pose = robot.frame(self.foot)
        R_BF = bodies[body, ROTATION:ROTATION + 9].reshape(3, 3) @ pose.R
        new_q, new_v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        new_q[:4] = quaternion_from_rotation(np.asarray(R_WB, float) @ R_BF)
        new_v[:3] = R_BF.T @ bodies[body, OMEGA:OMEGA + 3]
        for turned, here, there, *_ in self._joints():
            new_q[there] = q[here]
            if turned:
                new_q[there] *= [-1.0, -1.0, -1.0, 1.0]
        return new_q, self._moved(q, v, new_v)

    def efforts(self, position: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """Return the robot's ``effort`` at its ``position`` as that (nv,) of `model`'s joints."""
        return self._moved(np.asarray(position, float), np.asarray(effort, float),
                           np.zeros(self.model.nv))

    def robot_efforts(self, position: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """Return `model`'s ``effort`` as that (nv,) of the robot's joints at its ``position``."""
        return self._moved(np.asarray(position, float), np.asarray(effort, float),
                           np.zeros(self.robot.nv), back=True)

    def _moved(self, q: np.ndarray, values: np.ndarray, out: np.ndarray, back: bool = False
               ) -> np.ndarray:
        """Put velocities or efforts in the other model's order and axes."""
        for turned, q_at, _, here, there in self._joints():
            source, target = (there, here) if back else (here, there)
            out[target] = values[source]
            if turned:
                R = rotation_from_quaternion(q[q_at])
                out[target] = -(R.T if back else R) @ values[source]
        return out

    def _joints(self) -> Iterator[tuple[bool, slice, slice, slice, slice]]:
        """Return of each joint: is it a reversed ball; positions, velocities, here and there."""
        for name in self.robot.joint_names:
            rows = [model.tree.topology[model.joint_index(name) + 1]
                    for model in (self.robot, self.model)]
            kind = int(rows[0][JOINT])
            (q, new_q), (v, new_v) = (
                [slice(row[start], row[start] + sizes[kind]) for row in rows]
                for start, sizes in ((Q_START, POSITION_SIZE), (V_START, VELOCITY_SIZE)))
            yield kind == SPHERICAL and name in self._reversed, q, new_q, v, new_v


def standing_on(robot: RobotModel, foot: str) -> Stance:
    """
    Return the robot as seen from a foot: a ball on the ground at that link's origin.

    Parameters
    ----------
    robot : RobotModel
        Robot with a floating base.
    foot : str
        Link whose origin stays where it is. (A ball of some radius rolls about the point below
        its centre: ConstrainedForceMap has that.)

    Returns
    -------
    Stance

    Raises
    ------
    ConfigurationError
        When the robot's base is fixed.
    UnknownNameError
        When there is no such link.

    """
    if not robot.floating:
        raise ConfigurationError('expected a robot with a floating base, got a fixed one')
    foot_body, foot_pose = robot.frame(foot)
    path = [0, *robot.chain(foot_body)]
    constants = robot.tree.constants
    placed = [Transform(row[R_TREE:R_TREE + 9].reshape(3, 3), row[P_TREE:P_TREE + 3])
              if body else Transform.identity() for body, row in enumerate(constants)]
    # Pose of each new link's frame in the old body's.
    new_frame = [Transform.identity() for _ in constants]
    new_frame[foot_body] = foot_pose
    for inner, outer in pairwise(path):
        new_frame[inner] = placed[outer]

    names = [f'{link}@stance' for link in
             (robot.base_link, *(joint.child for joint in robot.joints))]
    links = {GROUND: Inertia()}
    for body, row in enumerate(constants):
        links[names[body]] = read_inertia(row).seen_from(new_frame[body].inverse())

    joints = [Joint(BALL, 'spherical', GROUND, names[foot_body])]
    for inner, outer in reversed(list(pairwise(path))):
        joints.append(replace(robot.joints[outer - 1], parent=names[outer], child=names[inner],
                              placement=new_frame[outer].inverse(), axis=np.array([0, 0, -1.0])))
    for body in range(1, robot.n_bodies):
        if body not in path:
            parent = int(robot.tree.topology[body, PARENT])
            joints.append(replace(
                robot.joints[body - 1], parent=names[parent], child=names[body],
                placement=new_frame[parent].inverse() @ placed[body],
                axis=np.array([0.0, 0.0, 1.0])))
    for link, (body, pose) in robot.frames.items():
        links[link] = Inertia()
        joints.append(Joint(f'{link}@weld', 'fixed', names[body], link,
                            new_frame[body].inverse() @ pose))
    model = RobotModel(f'{robot.name} on {foot}', links, joints, base='fixed')
    walked_back = frozenset(robot.joints[body - 1].name for body in path[1:])
    return Stance(robot, model, foot, walked_back)


# -------------------------------------------------------------------------------------------------
# Foot force of a robot that stands on one foot, from one articulated-body sweep
# (Navarro Heredia, equations 1 to 14).
#
# The ground is the fixed base F0 and the foot is the first joint. With ``b_i = IA_i S_i / d_i``
# and ``A_i = 1 - b_i S_i^T``, the wrench that the ground exerts through that joint is
#
#     [f_1]_0 = k_0 + sum_i Phi_{i-1} X_i^T b_i tau_i,    Phi_i = Phi_{i-1} X_i^T A_i,  Phi_0 = 1
#
# (equation 10), along a chain or a tree. ``k_0`` is what pass 2 leaves at the ground when no
# listed torque acts: gravity, motion, external forces and the joints' own friction are in it. Each
# factor ``A_i`` takes one column off Phi, so the whole map costs O(n).


@lean_kernel
def _propagate_map(tree, bodies, phi, D):
    """
    Pass 3, outwards: a column of D for each joint velocity; Phi of each body along the way.

    ``phi`` is (nb, 36): row k of a body's Phi, at 6 k, weighs the force and moment on it.
    """
    topology = tree.topology
    for k in range(36):
        phi[0, k] = 1.0 if k % 7 == 0 else 0.0
    for i in range(1, topology.shape[0]):
        parent, kind, iv = topology[i, PARENT], topology[i, JOINT], topology[i, V_START]
        arm = subtract(get3(bodies, i, POSITION), get3(bodies, parent, POSITION))
        for k in range(6):
            on_moment = get3(phi, parent, 6 * k + 3)
            on_force = add(get3(phi, parent, 6 * k), cross(on_moment, arm))
            if kind == SPHERICAL:
                # b_i = [G; J] d^-1 in base axes, where S_i is the identity on rotation.
                U = add(rotate_back(get9(bodies, i, G), on_force),
                        symmetric_times(get6(bodies, i, J), on_moment))
                column = symmetric_times(get6(bodies, i, D_INVERSE), U)
                put3(D, k, iv, rotate_back(get9(bodies, i, ROTATION), column))
                on_moment = subtract(on_moment, column)
            else:
                U = dot(on_force, get3(bodies, i, U_FORCE))
                U += dot(on_moment, get3(bodies, i, U_MOMENT))
                D[k, iv] = U * bodies[i, D_INVERSE]
                axis = joint_axis(bodies, i, kind, 0)
                if kind == PRISMATIC:
                    on_force = add_scaled(on_force, -D[k, iv], axis)
                else:
                    on_moment = add_scaled(on_moment, -D[k, iv], axis)
            put3(phi, i, 6 * k, on_force)
            put3(phi, i, 6 * k + 3, on_moment)


@lean_kernel
def _foot_chain(topology, constants, memory, nq, nv, start):
    """
    Fill D and k_0 behind the articulated body's memory; False for a non-finite input.

    From ``start`` on: (6, nv) D, force then moment about the ground's origin; (6,) k_0;
    (nb, 36) scratch. Memory as for `forward_dynamics.carve`.
    """
    tree, nb = Tree(topology, constants), topology.shape[0]
    s = carve(memory, nb, nq, nv)
    for k in range(nq + 2 * nv + 9):
        if not math.isfinite(memory[k]):
            return False
    D = memory[start:start + 6 * nv].reshape((6, nv))
    end = start + 6 * nv + 6
    bias(tree, s)
    s.bodies[0, BIAS_FORCE:BIAS_FORCE + 6] = 0.0    # without the weight of the ground itself
    articulate(tree, s)
    for k in range(6):
        memory[end - 6 + k] = s.bodies[0, BIAS_FORCE + k]
    _propagate_map(tree, s.bodies, memory[end:end + 36 * nb].reshape((nb, 36)), D)
    return True


# -------------------------------------------------------------------------------------------------
# The interface.


@dataclass(frozen=True, eq=False)
class FootForce:
    """
    The ground's force and moment on the foot at one state, by torques; in ground axes.

    Attributes
    ----------
    force : ForceMap
        ``f_F = k_0f + D_f tau`` (3 rows, N).
    moment : ForceMap
        ``n_F = k_0n + D_n tau`` (3 rows, N m), about the ground's origin: zero for a passive ball
        at that origin, whatever the torques.
    offset : (6,) array [N, N m]
        ``k_0 = [f; n]``.
    joint_map : (6, nv) array
        Columns of every joint of the model, passive ones too, in joint coordinates.
    hip_axes : (3, 3) array
        Axes of the hip's joint coordinates as columns, E. Empty, (3, 0), without a hip.

    """

    force: ForceMap
    moment: ForceMap
    offset: np.ndarray
    joint_map: np.ndarray
    hip_axes: np.ndarray
    _rows: np.ndarray       # joint velocities behind the columns

    def joint_efforts(self, torque: np.ndarray) -> np.ndarray:
        """
        Return the joint efforts (nv,) of torques of the map's columns, 0 without a column.

        A hip torque m_H becomes ``E^T m_H`` at the hip's joints.
        """
        torque = np.asarray(torque, float)
        values, hip = torque.copy(), self.hip_axes.shape[1]
        values[:hip] = self.hip_axes.T @ torque[:hip]
        efforts = np.zeros(self.joint_map.shape[1])
        efforts[self._rows] = values
        return efforts


class FootForceMap:
    """
    The map from hip, knee and ankle torques to the force under one foot.

    Navarro Heredia, *Force to torque: articulated body mapping analysis*, equations (13) and (14).

    The model stands on its foot: a fixed base (the ground, origin at the foot point) with one
    joint on it, which is the foot; a spherical joint, or gimbal rings. From there on it may be a
    chain or a tree, of any joints. :func:`~legged_dynamics.force_map.foot_force.standing_on` makes
    such a model of any robot.

    Parameters
    ----------
    model : RobotModel
        Robot with a fixed base.
    hip : str or sequence of str, optional
        A spherical joint, or three revolute ones with a common centre. Its columns come first
        and are the *physical* torque m_H [N m] on the body beyond it, in ground axes; what each
        gimbal ring takes of it stays inside.
    passive : sequence of str
        Joints that get no column: the foot, as a rule.

    Attributes
    ----------
    columns : tuple of str
        ``hip.x, hip.y, hip.z`` first, then every other joint that is not passive, in the model's
        order; a spherical one has three, in its own axes.

    Raises
    ------
    ConfigurationError
        When the base floats, more or less than one joint is on the ground, or the hip is not one
        ball.
    UnknownNameError
        When a joint is not in the model.

    """

    def __init__(self, model: RobotModel, hip: str | Sequence[str] | None = None,
                 passive: Sequence[str] = ()):
        if model.floating:
            raise ConfigurationError(
                "expected a model that stands on its foot (base='fixed'), got a floating base. "
                'standing_on(model, foot) makes one; ConstrainedForceMap takes several feet.')
        model.require_inertia('force map of a leg')
        feet = int((model.tree.topology[1:, PARENT] == 0).sum())
        if feet != 1:
            raise ConfigurationError(f'expected one joint on the ground (the foot), got {feet}')
        self.model = model
        self._hip = _hip_bodies(model, (hip,) if isinstance(hip, str) else tuple(hip or ()))
        left_out = {model.joint_index(name) + 1 for name in passive}
        both = left_out.intersection(self._hip)
        if both:
            raise ConfigurationError(f'joint {model.joints[min(both) - 1].name!r} cannot be both '
                                     'hip and passive')
        others = [body for body in range(1, model.n_bodies)
                  if body not in left_out and body not in self._hip]
        self._rows = np.concatenate([velocity_rows(model, self._hip),
                                     velocity_rows(model, others)])
        hip_columns = ('hip.x', 'hip.y', 'hip.z') if self._hip else ()
        self.columns = hip_columns + column_names(model, others)

        nb, nq, nv = model.n_bodies, model.nq, model.nv
        start = length_of(carve, nb, nq, nv)
        memory = np.zeros(start + 6 * nv + 6 + 36 * nb)
        self._s = as_python(carve)(memory, nb, nq, nv)
        self._inputs = input_views(self._s.q, self._s.v, self._s.effort, self._s.base[6:])
        self._D = memory[start:start + 6 * nv].reshape(6, nv)
        self._k = memory[start + 6 * nv:start + 6 * nv + 6]
        self._zero, self._loaded = np.zeros(nv), False
        self._arguments = (model.tree.topology.copy(), model.tree.constants.copy(), memory, nq,
                           nv, start)

    def compute(self, position: np.ndarray, velocity: np.ndarray | None = None, *,
                effort: np.ndarray | None = None, gravity: np.ndarray = -GRAVITY * UP,
                external: Mapping[str, np.ndarray] | None = None) -> FootForce:
        """
        Return the map at one state.

        Parameters
        ----------
        position : (nq,) array [rad or m]
            Joint positions in the model's order.
        velocity : (nv,) array, optional [rad/s or m/s]
            Zero by default.
        effort : (nv,) array, optional [N m or N]
            Efforts in addition to the columns' (of a stiff foot, of a spring), for k_0. Values of
            joints that have columns are ignored.
        gravity : (3,) array [m/s^2]
            Gravity in ground axes.
        external : mapping of link name to (6,) array [N, N m], optional
            Wrenches ``[f; m]`` on links, in link axes about the link's origin.

        Returns
        -------
        FootForce

        Raises
        ------
        MeasurementError
            When an input does not fit the model or is not finite.
        UnknownNameError
            When a link with an external wrench is not in the model.

        """
        s, model = self._s, self.model
        velocity = self._zero if velocity is None else velocity
        effort = self._zero if effort is None else effort
        q, v, tau, up = self._inputs
        try:
            q[:], v[:], tau[:], up[:] = position, velocity, effort, gravity
        except (TypeError, ValueError):
            fill(q, position, 'joint positions')
            fill(v, velocity, 'joint velocities')
            fill(tau, effort, 'joint efforts')
            fill(up, gravity, 'components of gravity')
        s.effort[self._rows] = 0.0
        s.base[6:] *= -1.0
        if external or self._loaded:
            body_wrenches(model, external, s.bodies[:, EXTERNAL:EXTERNAL + 6])
            self._loaded = bool(external)
        if not _foot_chain(*self._arguments):
            refuse(model, position, velocity, effort, None)
            state_vector(gravity, 3, 'components of gravity')
        joint_map, k = self._D.copy(), self._k.copy()
        E = self._hip_axes()
        matrix = joint_map[:, self._rows]
        if self._hip:
            matrix[:, :3] = matrix[:, :3] @ E.T
        return FootForce(ForceMap(k[:3], matrix[:3], self.columns),
                         ForceMap(k[3:], matrix[3:], self.columns), k, joint_map, E, self._rows)

    def _hip_axes(self) -> np.ndarray:
        R = [self._s.bodies[b, ROTATION:ROTATION + 9].reshape(3, 3) for b in self._hip]
        if len(R) == 1:
            return R[0].copy()
        return np.column_stack([r[:, 2] for r in R]) if R else np.zeros((3, 0))


def _hip_bodies(model: RobotModel, names: Sequence[str]) -> list[int]:
    """Return the bodies moved by the hip's joints, checked to be one ball."""
    bodies = [model.joint_index(name) + 1 for name in names]
    topology, constants = model.tree
    kinds = [int(topology[b, JOINT]) for b in bodies]
    if not bodies or kinds == [SPHERICAL]:
        return bodies
    chained = all(topology[b, PARENT] == a for a, b in pairwise(bodies))
    if len(bodies) != 3 or SPHERICAL in kinds or PRISMATIC in kinds or not chained:
        raise ConfigurationError('expected as hip one spherical joint, or three revolute ones of '
                                 f'which each hangs on the one before, got {", ".join(names)}')
    if np.abs(constants[bodies[1:], P_TREE:P_TREE + 3]).max() > 1e-9:
        raise ConfigurationError(f'expected the axes of the hip ({", ".join(names)}) to meet in '
                                 'one point, and they do not: give the joints columns of their '
                                 'own, without a hip')
    return bodies
