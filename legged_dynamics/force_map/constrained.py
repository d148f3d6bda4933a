# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
ConstrainedForceMap: forces under any set of feet of any robot, by its joint torques.

Feet that stay where they are constrain the accelerations; the equations of motion with these
constraints are solved for the contact forces (KKT system). It is no choice among forces, as in the
ground-force problem: the torques determine them. Where contacts are redundant the smallest forces
are taken, with a proximal term.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.dynamics.composite_body import (
    branch_ends,
    composite_inertias,
    eliminate_branches,
    fill_mass_matrix,
    substitute,
)
from legged_dynamics.dynamics.jacobians import (
    N_GEOMETRY,
    N_INDEX,
    SIZE,
    START,
    FeetTable,
    contact_bias,
    contact_jacobians,
    contact_map,
    contact_points,
    feet_table,
)
from legged_dynamics.dynamics.kinematics import (
    FORCE,
    N_RIGID_BODY,
    forward_kinematics,
    place_inertial_wrenches,
    place_inertias,
)
from legged_dynamics.dynamics.motion import GRAVITY, UP, fill, input_views, state_vector
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    body_wrenches,
    joint_efforts,
    subtract_external_wrenches,
)
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.force_map.affine import (
    ContactForceMap,
    ContactLayout,
    Redundancy,
    column_names,
    velocity_rows,
)
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.joint_order import refuse_following_legs
from legged_dynamics.model.parts import N_CONSTANTS, N_TOPOLOGY, Tree
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import rotate_back, scale
from legged_dynamics.spatial.jit import as_python, lean_kernel
from legged_dynamics.spatial.layout import get3, get9, put3
from legged_dynamics.spatial.rotations import check_normal, check_rotation

# -------------------------------------------------------------------------------------------------
# The KKT system of feet on the ground, as one kernel.
#
# Feet that stay where they are, ``J a + Jdot v = a_c``, and the equations of motion
# ``M a + h = B tau + Q_ext + J^T lambda`` give (checked against `FootForceMap`)
#
#     G = J M^-1 J^T,    lambda = l_0 + D tau,
#     D = -G^-1 J M^-1 B,    l_0 = G^-1 (J M^-1 (h - Q_ext) - Jdot v + a_c).
#
# With ``M = L^T D L`` and ``K = L^-T [-B, h - Q_ext, J^T]`` all products are one: ``Y^T D^-1 K``
# for the last block Y of K holds ``-J M^-1 B``, ``J M^-1 (h - Q_ext)`` and G side by side.
#
# Accelerations are *proper* ones (less gravity), so a foot at rest has ``a_c = -g`` and gravity
# appears nowhere else, unless the base is fixed, when it is in h and in ``Jdot v`` as well.


# A pivot of G below this fraction of its diagonal means that the contacts are redundant.
PIVOT_TOLERANCE = 1e-10
# Return codes of the kernel.
SOLVED, REDUNDANT, NOT_FINITE, NOT_POSITIVE = range(4)

# The table of integers: a row of sizes, then a row a body and a row a foot, then three rows: the
# ends of branches, the rows of M that have a motor, and the ends of branches of G, of which it has
# none.
N_POSITIONS, N_BODIES, N_BASE, N_VELOCITIES, N_FEET, N_CONTACTS, N_COLUMNS = range(7)
N_SIZES = 7
# Rows of the table of floats that are vectors: joint positions; velocities; angular velocity of
# the base in base axes, R_WB, gravity and the ground's normal in world axes; and, not inputs, the
# base's motion, joint accelerations of zero, the contacts' acceleration, Jdot v.
Q, V, WORLD, BASE, STILL, TARGET, BIAS = range(7)
N_VECTORS = 7
N_WORLD = 18


class Scratch(NamedTuple):
    """
    Memory of one call, as views of a table of integers and one of floats.

    Each is a block of rows, so that cutting it out costs nothing; some have spare columns.
    """

    tree: Tree  # Tree of the robot
    feet: FeetTable  # Those in contact
    ends: np.ndarray  # (n,): see :func:`~legged_dynamics.dynamics.composite_body.branch_ends`
    actuated: np.ndarray  # (na,): row of the mass matrix of each column of the map
    no_branches: np.ndarray  # (nc,): the number nc
    vectors: np.ndarray  # (N_VECTORS, .): vectors at the rows this module names
    external: np.ndarray  # (nb, 6): external wrenches in body axes: input
    # (nc, na + 1 + nc): result: D, l_0, and scratch. When redundant: right-hand sides, and G.
    system: np.ndarray
    states: np.ndarray  # (nf, N_FOOT_STATE): foot frames and contact points: result
    bodies: np.ndarray  # (nb, N_RIGID_BODY): bodies at the columns of dynamics.kinematics
    K: np.ndarray  # (n, na + 1 + nc + n): [-B, h - Q_ext, J^T, M], eliminated in place


@lean_kernel
def _unpack(integers, floats):
    """Cut the two tables into their parts: two arguments to the kernel and not twenty."""
    nb, nf, nc = integers[0, N_BODIES], integers[0, N_FEET], integers[0, N_CONTACTS]
    n = integers[0, N_BASE] + integers[0, N_VELOCITIES]
    feet = 1 + nb
    ends = feet + nf
    external = N_VECTORS
    constants = external + nb
    geometry = constants + nb
    system = geometry + nf
    states = system + nc
    bodies = states + nf
    K = bodies + nb
    return Scratch(Tree(integers[1:feet], floats[constants:geometry]),
                   FeetTable(integers[feet:ends], floats[geometry:system]),
                   integers[ends, :n], integers[ends + 1, :integers[0, N_COLUMNS]],
                   integers[ends + 2, :nc],
                   floats[:N_VECTORS], floats[external:constants], floats[system:states],
                   floats[states:bodies], floats[bodies:K], floats[K:K + n])


def _allocate(sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the two tables that :func:`_unpack` cuts up, zero but for the sizes."""
    nq, nb, n_base, nv, nf, nc, na = sizes
    n = n_base + nv
    integers = np.zeros((1 + nb + nf + 3, max(N_SIZES, N_TOPOLOGY, N_INDEX, n, na, nc)), np.int64)
    integers[0, :N_SIZES] = sizes
    integers[-1, :nc] = nc
    rows = N_VECTORS + 3 * nb + 2 * nf + nc + n
    return integers, np.zeros((rows, max(nq, N_WORLD, na + 1 + nc + n, N_RIGID_BODY,
                                         N_CONSTANTS)))


@lean_kernel
def _set_contact_motion(feet, vectors, floating):
    """Fill the base's motion, and the acceleration -g of feet at rest, in base axes."""
    R_WB = get9(vectors, WORLD, 3)
    up = rotate_back(R_WB, scale(-1.0, get3(vectors, WORLD, 12)))
    put3(vectors, BASE, 0, get3(vectors, WORLD, 0))
    put3(vectors, BASE, 6, (0.0, 0.0, 0.0) if floating else up)
    for i in range(feet.index.shape[0]):
        put3(vectors, TARGET, feet.index[i, START], up)


@lean_kernel
def _equations_of_motion(tree, vectors, external, bodies, n_base, M, bias):
    """
    Fill the mass matrix M and ``bias`` = h - Q_ext.

    ``tree, vectors, external, bodies`` as in `Scratch`; ``n_base``: base velocities, 6 or
    0.
    """
    q, v, still = vectors[Q], vectors[V], vectors[STILL]
    forward_kinematics(tree, q, v, still, vectors[BASE], bodies)
    place_inertias(tree, bodies)
    place_inertial_wrenches(bodies)
    subtract_external_wrenches(external, bodies)
    joint_efforts(tree, bodies, bias[n_base:])
    add_joint_physics(tree, q, v, still, bias[n_base:])
    for k in range(n_base):
        bias[k] = bodies[0, FORCE + k]
    composite_inertias(tree, bodies)
    fill_mass_matrix(tree, bodies, n_base, M)


@lean_kernel
def _fill_system(K, n_right, width, vectors, system):
    """
    Fill ``system = [X, G]``, X being the right-hand sides of D and l_0.

    That is ``Y^T D^-1 [B, h, Y]`` from ``K = [B, h, Y, D L]``, and in l_0 ``a_c - Jdot v``.
    """
    system[:, :] = 0.0
    n = K.shape[0]
    for k in range(0, n - n % 3, 3):
        for i in range(system.shape[0]):
            c = n_right + i
            x, y, z = K[k, c], K[k + 1, c], K[k + 2, c]
            if x != 0.0 or y != 0.0 or z != 0.0:
                x *= K[k, width + k]
                y *= K[k + 1, width + k + 1]
                z *= K[k + 2, width + k + 2]
                for j in range(width):
                    system[i, j] += x * K[k, j] + y * K[k + 1, j] + z * K[k + 2, j]
    for k in range(n - n % 3, n):
        for i in range(system.shape[0]):
            x = K[k, n_right + i] * K[k, width + k]
            for j in range(width):
                system[i, j] += x * K[k, j]
    for i in range(system.shape[0]):
        system[i, n_right - 1] += vectors[TARGET, i] - vectors[BIAS, i]


@lean_kernel
def _finite_input(vectors):
    """Return whether all inputs are finite; external wrenches have been checked before."""
    for row in range(WORLD + 1):
        for k in range(vectors.shape[1]):
            if not math.isfinite(vectors[row, k]):
                return False
    return True


@lean_kernel
def _contact_dynamics(integers, floats):
    """Fill ``system`` with [D, l_0]; when redundant, with the equations to be solved."""
    s = _unpack(integers, floats)
    tree, feet, vectors, states, bodies = s.tree, s.feet, s.vectors, s.states, s.bodies
    K, system = s.K, s.system
    n_base, nc, na = integers[0, N_BASE], integers[0, N_CONTACTS], integers[0, N_COLUMNS]
    n_right, width = na + 1, na + 1 + nc
    if not _finite_input(vectors):
        return NOT_FINITE
    normal = rotate_back(get9(vectors, WORLD, 3), get3(vectors, WORLD, 15))
    _set_contact_motion(feet, vectors, n_base == 6)
    K[:, :] = 0.0
    _equations_of_motion(tree, vectors, s.external, bodies, n_base, K[:, width:], K[:, na])
    contact_points(feet, bodies, normal, states)
    contact_bias(feet, bodies, states, normal, vectors[BIAS])
    if n_base == 6:
        contact_map(feet, states, K[:6, n_right:])
    contact_jacobians(tree, feet, bodies, states, K[n_base:, n_right:].T)
    for c in range(na):
        K[s.actuated[c], c] = -1.0
    if not eliminate_branches(K, s.ends, width, 0.0):
        return NOT_POSITIVE
    _fill_system(K, n_right, width, vectors, system)
    if not eliminate_branches(system, s.no_branches, n_right, PIVOT_TOLERANCE):
        _fill_system(K, n_right, width, vectors, system)
        return REDUNDANT
    substitute(system, s.no_branches, n_right)
    return SOLVED


# -------------------------------------------------------------------------------------------------
# The interface.


# The proximal term of a redundant contact set, as a fraction of the largest eigenvalue of G.
PROXIMAL = 1e-7
_STILL = np.zeros(3)
_LEVEL = np.eye(3)
_DOWN = -GRAVITY * UP
# Eigenvalues of G below this fraction of the largest count as zero.
RANK_TOLERANCE = 1e-10


class ConstrainedForceMap:
    """
    The map from joint torques to the forces under several feet (KKT form).

    Feet in contact are taken to stay where they are: a point foot's ball rolls without slipping,
    a flat foot neither slips nor tilts. Limits of the ground's forces are not considered: see
    :mod:`legged_dynamics.force_map.inversion` for cones and limits.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base, or a fixed one.
    feet : sequence of Foot
        All that may touch the ground.
    actuated : sequence of str, optional
        Joints with a motor, which give the columns; all by default.

    Attributes
    ----------
    columns : tuple of str
        Names of the actuated joints, in the model's order; a spherical one has three columns, in
        its own axes.

    Raises
    ------
    ConfigurationError
        When there is no foot.
    UnknownNameError
        When a joint or a foot is not in the model.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot],
                 actuated: Sequence[str] | None = None):
        if not feet:
            raise ConfigurationError('expected at least one foot, got none')
        model.require_inertia('constrained force map')
        for foot in feet:
            refuse_following_legs(model.joints, model.chain(model.frame(foot.link).body),
                                  'constrained force map')
        self.model, self.feet = model, tuple(feet)
        names = model.joint_names if actuated is None else actuated
        bodies = sorted(model.joint_index(name) + 1 for name in names)
        self.columns = column_names(model, bodies)
        self.velocity_rows = velocity_rows(model, bodies)
        self._all = (True,) * len(self.feet)
        self._full = _Workspace(self, self._all)
        self._workspaces = {self._all: self._full}

    def compute(self, position: np.ndarray, velocity: np.ndarray, *,
                angular_velocity: np.ndarray | None = None, R_WB: np.ndarray | None = None,
                in_contact: Sequence[bool] | None = None,
                external: Mapping[str, np.ndarray] | None = None,
                gravity: np.ndarray = _DOWN, ground_normal: np.ndarray = UP
                ) -> ContactForceMap:
        """
        Return the map at one state.

        Parameters
        ----------
        position : (nq,) array [rad or m]
            Joint positions in the model's order.
        velocity : (nv,) array [rad/s or m/s]
            Joint velocities in the model's order.
        angular_velocity : (3,) array, optional [rad/s]
            Angular velocity of the base, in base axes; zero by default.
        R_WB : (3, 3) array, optional
            Orientation of the base in the world; level by default.
        in_contact : (nf,) sequence of bool, optional
            Feet on the ground; all by default.
        external : mapping of link name to (6,) array [N, N m], optional
            Wrenches ``[f; m]`` on links other than the ground's, in link axes about the link's
            origin.
        gravity : (3,) array [m/s^2]
            Gravity in world axes; 9.81 downwards by default.
        ground_normal : (3,) array
            Unit normal of the ground in world axes; it places the contact point of a ball.

        Returns
        -------
        ContactForceMap

        Raises
        ------
        MeasurementError
            When an input does not fit the model or is not finite, R_WB is not a rotation, or the
            ground's normal is no unit vector.
        UnknownNameError
            When a link with an external wrench is not in the model.

        """
        work = self._full if in_contact is None else self._workspace(in_contact)
        w = _STILL if angular_velocity is None else angular_velocity
        R = _LEVEL if R_WB is None else check_rotation(
            R_WB, 'the base orientation R_WB', MeasurementError)
        q_view, v_view, w_view, R_view = work.inputs
        try:
            q_view[:] = position        # type: ignore[call-overload]
            v_view[:] = velocity        # type: ignore[call-overload]
            w_view[:] = w               # type: ignore[call-overload]
            R_view[:] = R.ravel()       # type: ignore[call-overload]
        except (TypeError, ValueError, AttributeError):
            fill(q_view, position, 'joint positions')
            fill(v_view, velocity, 'joint velocities')
            fill(w_view, w, "rates of the base's rotation")
            fill(R_view, R, 'elements of R_WB')
        if gravity is not _DOWN or ground_normal is not UP or work.tilted:
            fill(work.gravity, gravity, 'components of gravity')
            fill(work.normal, check_normal(ground_normal, MeasurementError),
                 'components of the ground normal')
            work.tilted = gravity is not _DOWN or ground_normal is not UP
        if external or work.loaded:
            body_wrenches(self.model, external, work.scratch.external[:, :6])
            work.loaded = bool(external)
        integers, floats = work.arguments
        outcome = _contact_dynamics(integers, floats)
        if not outcome:
            return ContactForceMap(work.layout, work.rows.copy(), None)
        if outcome == NOT_FINITE:
            state_vector(position, self.model.nq, 'joint positions')
            state_vector(velocity, self.model.nv, 'joint velocities')
            state_vector(work.scratch.vectors[WORLD, :N_WORLD], N_WORLD,
                         'values of angular velocity, R_WB, gravity and ground normal')
        if outcome == NOT_POSITIVE:
            raise MeasurementError('the mass matrix is singular in this pose: a part that moves '
                                   'has neither mass nor inertia')
        data, nc, na = work.rows.copy(), work.layout.n_rows, len(self.columns)
        data[:nc, :na + 1], redundancy = _proximal_solution(
            data[:nc, :na + 1], data[:nc, na + 1:na + 1 + nc])
        return ContactForceMap(work.layout, data, redundancy)

    def _workspace(self, in_contact: Sequence[bool]) -> _Workspace:
        on = tuple(map(bool, in_contact))
        work = self._workspaces.get(on)
        if work is None:
            if len(on) != len(self.feet):
                raise MeasurementError(f'expected {len(self.feet)} contact flags, got {len(on)}')
            work = self._workspaces[on] = _Workspace(self, on)
        return work


class _Workspace:
    """Memory and constants for one set of feet in contact."""

    def __init__(self, owner: ConstrainedForceMap, on: tuple[bool, ...]):
        model = owner.model
        feet = [foot for foot, there in zip(owner.feet, on) if there]
        table = feet_table(model, feet)
        in_base = np.flatnonzero(~table.rows.in_foot & (table.rows.axis == 0)).tolist()
        self.layout = ContactLayout(
            owner.columns, tuple(foot.link for foot in feet),
            tuple(slice(int(start), int(start + size))
                  for start, size in table.index[:, [START, SIZE]]),
            tuple(slice(row, row + 3) for row in in_base))
        n_base, na = 6 if model.floating else 0, len(owner.columns)
        self.arguments = _allocate((model.nq, model.n_bodies, n_base, model.nv, len(feet),
                                   table.size, na))
        s = self.scratch = as_python(_unpack)(*self.arguments)
        s.tree.topology[:, :N_TOPOLOGY], s.tree.constants[:, :N_CONSTANTS] = model.tree
        s.feet.index[:, :N_INDEX], s.feet.geometry[:, :N_GEOMETRY] = table
        s.ends[:] = branch_ends(model)
        s.actuated[:] = owner.velocity_rows + n_base
        world = s.vectors[WORLD]
        *self.inputs, self.gravity, self.normal = input_views(
            s.vectors[Q, :model.nq], s.vectors[V, :model.nv], world[:3], world[3:12],
            world[12:15], world[15:18])
        start = N_VECTORS + 2 * model.n_bodies + len(feet)
        self.rows = self.arguments[1][start:start + table.size + len(feet)]
        self.loaded, self.tilted = False, True     # so that the first call fills all


def _proximal_solution(right: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, Redundancy]:
    """Minimise ``|G x - r|^2 + proximal^2 |x|^2`` for each column r."""
    eigenvalues, U = np.linalg.eigh(G)
    if not eigenvalues[-1] > 0.0:       # feet on a base that cannot move
        return np.zeros_like(right), Redundancy(0, 0.0)
    proximal = PROXIMAL * eigenvalues[-1]
    gain = eigenvalues / (eigenvalues ** 2 + proximal ** 2)
    rank = int((eigenvalues > RANK_TOLERANCE * eigenvalues[-1]).sum())
    return (U * gain) @ (U.T @ right), Redundancy(rank, float(proximal))
