# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ConstrainedForceMap: the forces under any set of feet of any robot, by its joint torques."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from legged_dynamics.dynamics.branch_elimination import branch_ends
from legged_dynamics.dynamics.external import body_wrenches
from legged_dynamics.dynamics.jacobians import (
    N_GEOMETRY,
    N_INDEX,
    SIZE,
    START,
    feet_table,
)
from legged_dynamics.dynamics.motion import GRAVITY, UP, fill, input_views, state_vector
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.force_map.columns import column_names, velocity_rows
from legged_dynamics.force_map.contact_dynamics import (
    N_VECTORS,
    N_WORLD,
    NOT_FINITE,
    NOT_POSITIVE,
    WORLD,
    Q,
    V,
    allocate,
    contact_dynamics,
    unpack,
)
from legged_dynamics.force_map.contact_force_map import ContactForceMap, ContactLayout, Redundancy
from legged_dynamics.model.foot import Foot
from legged_dynamics.model.mimic import refuse_following_legs
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import N_CONSTANTS, N_TOPOLOGY
from legged_dynamics.spatial.jit import as_python
from legged_dynamics.spatial.rotations import check_normal, check_rotation

# The proximal term of a redundant contact set, as a fraction of the largest eigenvalue of G.
PROXIMAL = 1e-7
_STILL, _LEVEL, _DOWN = np.zeros(3), np.eye(3), -GRAVITY * UP
# Eigenvalues of G below this fraction of the largest count as zero.
RANK_TOLERANCE = 1e-10


class ConstrainedForceMap:
    """
    The map from joint torques to the forces under several feet (KKT form of source 000).

    Feet in contact are taken to stay where they are: a point foot's ball rolls without slipping,
    a flat foot neither slips nor tilts. Nothing is said about what the ground can give: see
    :mod:`legged_dynamics.force_map.inversion` for cones and limits.

    Parameters
    ----------
    model : RobotModel
        With a floating base, or a fixed one.
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
            Of the base, in base axes; zero by default.
        R_WB : (3, 3) array, optional
            Orientation of the base in the world; level by default.
        in_contact : (nf,) sequence of bool, optional
            Feet on the ground; all by default.
        external : mapping of link name to (6,) array [N, N m], optional
            Wrenches ``[f; m]`` on links other than the ground's, in link axes about the link's
            origin.
        gravity : (3,) array [m/s^2]
            In world axes; 9.81 downwards by default.
        ground_normal : (3,) array
            Unit normal of the ground in world axes; it places the contact point of a ball.

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
        outcome = contact_dynamics(integers, floats)
        if not outcome:
            return ContactForceMap(work.layout, work.rows.copy(), None)
        if outcome == NOT_FINITE:
            _refuse(self.model, position, velocity, work.scratch.vectors[WORLD, :N_WORLD])
        if outcome == NOT_POSITIVE:
            raise MeasurementError('the mass matrix is singular in this pose: a part that moves '
                                   'has neither mass nor inertia')
        return work.redundant_result()

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
        self.layout = ContactLayout(
            owner.columns, tuple(foot.link for foot in feet),
            tuple(slice(int(start), int(start + size))
                  for start, size in table.index[:, [START, SIZE]]))
        n_base, na = 6 if model.floating else 0, len(owner.columns)
        self.arguments = allocate((model.nq, model.n_bodies, n_base, model.nv, len(feet),
                                   table.size, na))
        s = self.scratch = as_python(unpack)(*self.arguments)
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

    def redundant_result(self) -> ContactForceMap:
        data = self.rows.copy()
        nc, na = self.layout.n_rows, len(self.layout.columns)
        solution, redundancy = _proximal_solution(data[:nc, :na + 1],
                                                  data[:nc, na + 1:na + 1 + nc])
        data[:nc, :na + 1] = solution
        return ContactForceMap(self.layout, data, redundancy)


def _proximal_solution(right: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, Redundancy]:
    """Minimise ``|G x - r|^2 + proximal^2 |x|^2`` for each column r."""
    eigenvalues, U = np.linalg.eigh(G)
    if not eigenvalues[-1] > 0.0:       # feet on a base that cannot move
        return np.zeros_like(right), Redundancy(0, 0.0)
    proximal = PROXIMAL * eigenvalues[-1]
    gain = eigenvalues / (eigenvalues ** 2 + proximal ** 2)
    rank = int((eigenvalues > RANK_TOLERANCE * eigenvalues[-1]).sum())
    return (U * gain) @ (U.T @ right), Redundancy(rank, float(proximal))


def _refuse(model: RobotModel, position: np.ndarray, velocity: np.ndarray,
            world: np.ndarray) -> None:
    """Raise the error that says which input is not finite."""
    state_vector(position, model.nq, 'joint positions')
    state_vector(velocity, model.nv, 'joint velocities')
    state_vector(world, 18, 'values of angular velocity, R_WB, gravity and ground normal')
