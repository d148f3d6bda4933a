# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Forward dynamics: the accelerations of joints and base, by the articulated-body algorithm.

Featherstone 2008, table 7.1, with two changes of form and none of substance.

* Vectors have base axes and each body's own origin. ``X_i`` is then a shift along the arm from
  parent to child, and ``S_i`` a plain axis.
* The velocity-product terms ``c_i`` and gravity are summed outwards first, as the motion the
  bodies would have if no joint and no base accelerated. ``p_i`` is the wrench that *that* motion
  takes, less the external one. What is left to find are accelerations beyond it, and ``c_i``
  appears in neither later pass.

A joint of three degrees of freedom is one joint with a 3x3 ``d_i``, hence ball joints have no
gimbal lock.
"""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.kinematics import (
    ACCELERATION,
    ALPHA,
    FIRST_MOMENT,
    FORCE,
    MASS,
    MOMENT,
    N_RIGID_BODY,
    POSITION,
    ROTATION,
    SECOND_MOMENT,
    forward_kinematics,
    place_inertial_wrenches,
    place_inertias,
)
from legged_dynamics.dynamics.motion import (
    GRAVITY,
    UP,
    BaseMotion,
    fill,
    input_views,
    state_vector,
)
from legged_dynamics.dynamics.newton_euler import add_joint_physics, body_wrenches
from legged_dynamics.model.parts import (
    ARMATURE,
    JOINT,
    PARENT,
    PRISMATIC,
    SPHERICAL,
    V_START,
    Tree,
)
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import (
    add,
    add_scaled,
    cross,
    dot,
    load3,
    rotate,
    rotate_back,
    scale,
    store3,
    subtract,
    symmetric_times,
    transpose,
    z_axis,
)
from legged_dynamics.spatial.jit import as_python, lean_kernel
from legged_dynamics.spatial.layout import (
    get3,
    get6,
    get9,
    length_of,
    matrix,
    put3,
    put6,
    put9,
    vector,
)
from legged_dynamics.spatial.rotations import rotation_from_quaternion
from legged_dynamics.spatial.symmetric import (
    add6,
    add9,
    add_diagonal,
    add_outer,
    add_outer9,
    general_times_symmetric,
    inverse_symmetric,
    product_with_transpose,
    scale6,
    scale9,
)

# Columns of the body table behind those of dynamics.kinematics. The articulated inertia
# IA_i = [[M, G], [G^T, J]] maps linear and angular acceleration to force and moment; BIAS is
# pA_i, as force and moment; U_i = IA_i S_i likewise; d_i^-1 is one number or a symmetric 3x3; u_i
# is one number or, in base axes, three. EXTERNAL wrenches are in the body's own axes.
M, G, J, BIAS_FORCE, BIAS_MOMENT, U_FORCE, U_MOMENT, D_INVERSE, U_EFFORT = accumulate(
    (N_RIGID_BODY, 6, 9, 6, 3, 3, 3, 3, 6))


EXTERNAL = N_RIGID_BODY + 42
N_ARTICULATED = N_RIGID_BODY + 48


class Scratch(NamedTuple):
    """
    Arrays of one call, all parts of one flat memory: an argument of its own costs 50 ns.

    Attributes
    ----------
    q, v, effort : (nq,), (nv,), (nv,) arrays
        State and motor efforts: inputs.
    base : (9,) array
        Angular velocity, angular and proper acceleration of the base: input. What a floating
        base accelerates at is yet to be found: zero.
    acceleration : (nv,) array
        Accelerations of the joints: result.
    at_base : (12,) array
        Result: proper and angular acceleration of the base, then the wrench on a fixed one.
    physics : (nv,) array
        Efforts that the joints' damping, friction and springs take from the motors'.
    bodies : (nb, N_ARTICULATED) array
        A row a body; its external wrench is an input.
    end : int
        Length of the memory.

    """

    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    base: np.ndarray
    acceleration: np.ndarray
    at_base: np.ndarray
    physics: np.ndarray
    bodies: np.ndarray
    end: int


@lean_kernel
def carve(memory, nb, nq, nv):
    """Return a :class:`Scratch` with views of a flat memory."""
    q, at = vector(memory, 0, nq)
    v, at = vector(memory, at, nv)
    effort, at = vector(memory, at, nv)
    base, at = vector(memory, at, 9)
    acceleration, at = vector(memory, at, nv)
    at_base, at = vector(memory, at, 12)
    physics, at = vector(memory, at, nv)
    bodies, end = matrix(memory, at, nb, N_ARTICULATED)
    return Scratch(q, v, effort, base, acceleration, at_base, physics, bodies, end)


@lean_kernel
def bias(tree, s):
    """
    Run pass 1, outward: fill body poses, velocities, ``I_i`` and ``p_i`` (lines 4-12).

    Joint and floating-base accelerations are zero: a body's acceleration is the sum of the
    ``c_i`` before it, and of gravity on a fixed base.
    """
    bodies = s.bodies
    for i in range(s.v.shape[0]):
        s.acceleration[i] = s.physics[i] = 0.0
    forward_kinematics(tree, s.q, s.v, s.acceleration, s.base, bodies)
    add_joint_physics(tree, s.q, s.v, s.acceleration, s.physics)
    place_inertias(tree, bodies)
    place_inertial_wrenches(bodies)
    for i in range(bodies.shape[0]):
        R, mass, h = get9(bodies, i, ROTATION), bodies[i, MASS], get3(bodies, i, FIRST_MOMENT)
        put6(bodies, i, M, (mass, 0.0, 0.0, mass, 0.0, mass))
        put9(bodies, i, G, (0.0, h[2], -h[1], -h[2], 0.0, h[0], h[1], -h[0], 0.0))
        put6(bodies, i, J, get6(bodies, i, SECOND_MOMENT))
        put3(bodies, i, BIAS_FORCE, subtract(get3(bodies, i, FORCE),
                                             rotate(R, get3(bodies, i, EXTERNAL))))
        put3(bodies, i, BIAS_MOMENT, subtract(get3(bodies, i, MOMENT),
                                              rotate(R, get3(bodies, i, EXTERNAL + 3))))


@lean_kernel
def articulate(tree, s):
    """Run pass 2, inward: fill ``d_i, u_i, IA_i, pA_i`` (lines 13-22)."""
    topology, constants, bodies = tree.topology, tree.constants, s.bodies
    effort, physics = s.effort, s.physics
    for i in range(topology.shape[0] - 1, 0, -1):
        iv, kind, armature = topology[i, V_START], topology[i, JOINT], constants[i, ARMATURE]
        R = get9(bodies, i, ROTATION)
        force, moment = get3(bodies, i, BIAS_FORCE), get3(bodies, i, BIAS_MOMENT)
        m, g, j = get6(bodies, i, M), get9(bodies, i, G), get6(bodies, i, J)
        if kind == SPHERICAL:
            d_inverse = inverse_symmetric(add_diagonal(j, armature))
            net = rotate(R, subtract(load3(effort, iv), load3(physics, iv)))
            u = subtract(net, moment)
            put6(bodies, i, D_INVERSE, d_inverse)
            put3(bodies, i, U_EFFORT, u)
            # With U = [G; J] and d = J + armature, J - J d^-1 J is zero but for the armature.
            b_force = general_times_symmetric(g, d_inverse)
            qdd = symmetric_times(d_inverse, u)
            force, moment = add(force, rotate(g, qdd)), add_scaled(net, -armature, qdd)
            m = add6(m, scale6(-1.0, product_with_transpose(b_force, g)))
            g = scale9(armature, b_force)
            j = add_diagonal(scale6(-armature * armature, d_inverse), armature)
        else:
            axis = z_axis(R)
            if kind == PRISMATIC:
                U_force, U_moment = symmetric_times(m, axis), rotate_back(g, axis)
                d, felt = dot(axis, U_force) + armature, dot(axis, force)
            else:
                U_force, U_moment = rotate(g, axis), symmetric_times(j, axis)
                d, felt = dot(axis, U_moment) + armature, dot(axis, moment)
            u = effort[iv] - physics[iv] - felt
            per_d = 1.0 / d
            put3(bodies, i, U_FORCE, U_force)
            put3(bodies, i, U_MOMENT, U_moment)
            bodies[i, D_INVERSE], bodies[i, U_EFFORT] = per_d, u
            force = add_scaled(force, per_d * u, U_force)
            moment = add_scaled(moment, per_d * u, U_moment)
            m = add_outer(m, -per_d, U_force)
            g = add_outer9(g, -per_d, U_force, U_moment)
            j = add_outer(j, -per_d, U_moment)
        parent = topology[i, PARENT]
        arm = subtract(get3(bodies, i, POSITION), get3(bodies, parent, POSITION))
        _add_to_parent(bodies, parent, arm, m, g, j, force, moment)


@lean_kernel
def _add_to_parent(bodies, i, r, m, g, j, force, moment):
    """
    Shift ``Ia_i`` and ``pa_i`` to the parent's origin and add: ``X_i^T Ia_i X_i``.

    ``i``: the parent; ``r`` [m]: parent origin to child; ``Ia = [[m, g], [g^T, j]]``.
    """
    # G' = G - M S(r) row by row, then J' = J - G^T S(r) + S(r) G'.
    row_0 = subtract((g[0], g[1], g[2]), cross((m[0], m[1], m[2]), r))
    row_1 = subtract((g[3], g[4], g[5]), cross((m[1], m[3], m[4]), r))
    row_2 = subtract((g[6], g[7], g[8]), cross((m[2], m[4], m[5]), r))
    x = cross(r, (g[0] + row_0[0], g[3] + row_1[0], g[6] + row_2[0]))
    y, old_y = cross(r, (row_0[1], row_1[1], row_2[1])), cross(r, (g[1], g[4], g[7]))
    z, old_x = cross(r, (row_0[2], row_1[2], row_2[2])), cross(r, (g[0], g[3], g[6]))
    old_z = cross(r, (g[2], g[5], g[8]))
    put6(bodies, i, J, add6(get6(bodies, i, J), (
        j[0] + x[0], j[1] + old_x[1] + y[0], j[2] + old_x[2] + z[0],
        j[3] + old_y[1] + y[1], j[4] + old_y[2] + z[1], j[5] + old_z[2] + z[2])))
    put6(bodies, i, M, add6(get6(bodies, i, M), m))
    put9(bodies, i, G, add9(get9(bodies, i, G), row_0 + row_1 + row_2))
    put3(bodies, i, BIAS_FORCE, add(get3(bodies, i, BIAS_FORCE), force))
    put3(bodies, i, BIAS_MOMENT, add(get3(bodies, i, BIAS_MOMENT), add(moment, cross(r, force))))


@lean_kernel
def _accelerate_base(bodies, result):
    """Solve ``IA_0 a_0 = -pA_0`` of a floating base, by blocks."""
    m, g, j = get6(bodies, 0, M), get9(bodies, 0, G), get6(bodies, 0, J)
    force, moment = get3(bodies, 0, BIAS_FORCE), get3(bodies, 0, BIAS_MOMENT)
    m_inverse = inverse_symmetric(m)
    carried = general_times_symmetric(transpose(g), m_inverse)
    schur = add6(j, scale6(-1.0, product_with_transpose(carried, transpose(g))))
    alpha = symmetric_times(inverse_symmetric(schur), subtract(rotate(carried, force), moment))
    store3(result, 0, scale(-1.0, symmetric_times(m_inverse, add(force, rotate(g, alpha)))))
    store3(result, 3, alpha)


@lean_kernel
def _accelerate(tree, s, floating):
    """Run pass 3, outward: ``a' = X a_parent``, ``qdd = d^-1 (u - U^T a')`` (lines 23-28)."""
    topology, bodies, qdd = tree.topology, s.bodies, s.acceleration
    for k in range(6):
        s.at_base[k] = 0.0
        s.at_base[6 + k] = 0.0 if floating else bodies[0, BIAS_FORCE + k]
    if floating:
        _accelerate_base(bodies, s.at_base)
    put3(bodies, 0, ACCELERATION, load3(s.at_base, 0))
    put3(bodies, 0, ALPHA, load3(s.at_base, 3))
    for i in range(1, topology.shape[0]):
        parent, kind, iv = topology[i, PARENT], topology[i, JOINT], topology[i, V_START]
        alpha, R = get3(bodies, parent, ALPHA), get9(bodies, i, ROTATION)
        arm = subtract(get3(bodies, i, POSITION), get3(bodies, parent, POSITION))
        a = add(get3(bodies, parent, ACCELERATION), cross(alpha, arm))
        if kind == SPHERICAL:
            felt = add(rotate_back(get9(bodies, i, G), a),
                       symmetric_times(get6(bodies, i, J), alpha))
            rates = symmetric_times(get6(bodies, i, D_INVERSE),
                                    subtract(get3(bodies, i, U_EFFORT), felt))
            alpha = add(alpha, rates)
            store3(qdd, iv, rotate_back(R, rates))
        else:
            U_a = dot(get3(bodies, i, U_FORCE), a) + dot(get3(bodies, i, U_MOMENT), alpha)
            qdd[iv] = bodies[i, D_INVERSE] * (bodies[i, U_EFFORT] - U_a)
            if kind == PRISMATIC:
                a = add_scaled(a, qdd[iv], z_axis(R))
            else:
                alpha = add_scaled(alpha, qdd[iv], z_axis(R))
        put3(bodies, i, ACCELERATION, a)
        put3(bodies, i, ALPHA, alpha)
    if not floating:
        store3(s.at_base, 0, load3(s.base, 6))
        store3(s.at_base, 3, load3(s.base, 3))


@lean_kernel
def _articulated_body(topology, constants, memory, nq, nv, floating):
    """Run forward dynamics in one kernel; return False for a non-finite input."""
    tree = Tree(topology, constants)
    s = carve(memory, topology.shape[0], nq, nv)
    for k in range(nq + 2 * nv + 9):
        if not math.isfinite(memory[k]):
            return False
    bias(tree, s)
    articulate(tree, s)
    _accelerate(tree, s, floating)
    return True


AT_REST = BaseMotion().packed()


@dataclass(frozen=True, eq=False)
class ForwardDynamics:
    """
    How a robot accelerates.

    Attributes
    ----------
    data : (nv + 12,) array
        All results in one array; the properties below are views of it.

    """

    data: np.ndarray

    @property
    def joint_acceleration(self) -> np.ndarray:
        """Return (nv,) accelerations in the model's joint order [rad/s^2 or m/s^2]."""
        return self.data[:-12]

    @property
    def base_acceleration(self) -> np.ndarray:
        """
        Return the (6,) acceleration of the base's origin, in base axes [m/s^2, rad/s^2].

        What an accelerometer there would read (proper acceleration, +9.81 upwards at rest), then
        angular acceleration. Of a fixed base: as given.
        """
        return self.data[-12:-6]

    @property
    def base_wrench(self) -> np.ndarray:
        """Return the (6,) wrench of the ground on a fixed base about B's origin [N, N m], or 0."""
        return self.data[-6:]

    def base_motion(self, angular_velocity: np.ndarray) -> BaseMotion:
        """
        Return the motion of the base in the form that inverse dynamics takes.

        Parameters
        ----------
        angular_velocity : (3,) array [rad/s]
            Angular velocity of the base, in base axes.

        Returns
        -------
        BaseMotion
            With the accelerations of this solution.

        """
        return BaseMotion(np.asarray(angular_velocity, float), self.base_acceleration[3:],
                          self.base_acceleration[:3])

    def spatial_acceleration(self, twist: np.ndarray, xyzw: np.ndarray,
                             gravity: np.ndarray = -GRAVITY * UP) -> np.ndarray:
        """
        Return the base's spatial acceleration, as Pinocchio's free-flyer has it.

        Parameters
        ----------
        twist : (6,) array [m/s, rad/s]
            ``[v; w]`` of the base in base axes.
        xyzw : (4,) array
            Orientation of the base in the world.
        gravity : (3,) array [m/s^2]
            Gravity in the world.

        Returns
        -------
        (6,) array [m/s^2, rad/s^2]
            The component-wise derivative of the twist.

        """
        fallen = rotation_from_quaternion(xyzw).T @ np.asarray(gravity, float)
        linear = self.base_acceleration[:3] + fallen - np.cross(twist[3:], twist[:3])
        return np.concatenate([linear, self.base_acceleration[3:]])


class ArticulatedBody:
    """
    Forward dynamics of one robot, computed in memory of its own.

    Parameters
    ----------
    model : RobotModel
        The robot; later changes of its inertias are not seen.

    """

    def __init__(self, model: RobotModel):
        model.require_inertia('forward dynamics')
        self.model = model
        sizes = model.n_bodies, model.nq, model.nv
        memory = np.zeros(length_of(carve, *sizes))
        s = as_python(carve)(memory, *sizes)
        self._q, self._v, self._effort, self._base, self._w = input_views(
            s.q, s.v, s.effort, s.base, s.base[:3])
        self._default_base = np.zeros(9) if model.floating else AT_REST
        self._external = s.bodies[:, EXTERNAL:EXTERNAL + 6]
        self._loaded = False
        start = model.nq + 2 * model.nv + 9
        self._result = memory[start:start + model.nv + 12]
        # Writable copies: a read-only array costs 35 ns more to hand to a kernel.
        self._arguments = (model.tree.topology.copy(), model.tree.constants.copy(), memory,
                           model.nq, model.nv, model.floating)

    def forward_dynamics(self, position: np.ndarray, velocity: np.ndarray, effort: np.ndarray,
                         base: BaseMotion | None = None,
                         external: Mapping[str, np.ndarray] | None = None) -> ForwardDynamics:
        """
        Return the accelerations that efforts and external wrenches cause.

        Parameters
        ----------
        position : (nq,) array [rad or m]
            Joint positions in the model's order.
        velocity : (nv,) array [rad/s or m/s]
            Joint velocities in the model's order.
        effort : (nv,) array [N m or N]
            Efforts of the motors; the joints' own damping, friction and springs are taken off.
        base : BaseMotion, optional
            Motion of the base. Of a floating one only the angular velocity is read. A fixed base
            moves as given: at rest, z upwards, by default; ``BaseMotion.at_rest(gravity=...)`` for
            any gravity.
        external : mapping of link name to (6,) array [N, N m], optional
            Wrenches ``[f; m]`` on links, in link axes about the link's origin.

        Returns
        -------
        ForwardDynamics
            Accelerations of joints and base.

        Raises
        ------
        MeasurementError
            When an input does not fit the model or is not finite.
        UnknownNameError
            When a link with an external wrench is not in the model.

        """
        try:
            self._q[:], self._v[:], self._effort[:] = position, velocity, effort
        except (TypeError, ValueError):
            fill(self._q, position, 'joint positions')
            fill(self._v, velocity, 'joint velocities')
            fill(self._effort, effort, 'joint efforts')
        if base is not None:
            self._set_base(base)
        else:
            self._base[:] = self._default_base
        if external or self._loaded:
            body_wrenches(self.model, external, self._external)
            self._loaded = bool(external)
        if not _articulated_body(*self._arguments):
            refuse(self.model, position, velocity, effort, base)
        return ForwardDynamics(self._result.copy())

    def _set_base(self, base: BaseMotion) -> None:
        try:
            self._w[:] = base.angular_velocity
        except (TypeError, ValueError):
            fill(self._w, base.angular_velocity, "components of the base's angular velocity")
        if not self.model.floating:
            fill(self._base[3:6], base.angular_acceleration,
                 "components of the base's angular acceleration")
            fill(self._base[6:], base.proper_acceleration,
                 "components of the base's proper acceleration")


def refuse(model: RobotModel, position: np.ndarray, velocity: np.ndarray, effort: np.ndarray,
           base: BaseMotion | None) -> None:
    """Raise the MeasurementError for the input that is not finite or has a wrong shape."""
    state_vector(position, model.nq, 'joint positions')
    state_vector(velocity, model.nv, 'joint velocities')
    state_vector(effort, model.nv, 'joint efforts')
    if base is not None:
        state_vector(base.packed(), 9, "components of the base's motion")


def forward_dynamics(model: RobotModel, position: np.ndarray, velocity: np.ndarray,
                     effort: np.ndarray, base: BaseMotion | None = None,
                     external: Mapping[str, np.ndarray] | None = None) -> ForwardDynamics:
    """
    Return the accelerations of a robot, once; see :meth:`ArticulatedBody.forward_dynamics`.

    Parameters
    ----------
    model : RobotModel
        The robot.
    position, velocity, effort : (nq,), (nv,), (nv,) array
        Positions, velocities and efforts of the joints, in the model's order [rad or m, rad/s or
        m/s, N m or N].
    base : BaseMotion, optional
        Motion of the base; at rest and level when it is not given.
    external : mapping of link name to (6,) array [N, N m], optional
        Wrenches on links, as the method takes them.

    Returns
    -------
    ForwardDynamics
        Accelerations of joints and base.

    Raises
    ------
    MeasurementError, UnknownNameError
        As the method raises them.

    """
    return ArticulatedBody(model).forward_dynamics(position, velocity, effort, base, external)
