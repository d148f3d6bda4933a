# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics: the accelerations of joints and base, by the articulated-body algorithm."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.articulated_body import (
    EXTERNAL,
    articulated_body,
    carve,
)
from legged_dynamics.dynamics.motion import (
    GRAVITY,
    UP,
    BaseMotion,
    fill,
    input_views,
    state_vector,
)
from legged_dynamics.dynamics.newton_euler import body_wrenches
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.jit import as_python
from legged_dynamics.spatial.layout import length_of
from legged_dynamics.spatial.rotations import rotation_from_quaternion

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
        """
        Return the (6,) wrench of the ground on a fixed base, in base axes [N, N m].

        ``[f; m]`` about the base's origin; zero when the base floats.
        """
        return self.data[-6:]

    def base_motion(self, angular_velocity: np.ndarray) -> BaseMotion:
        """
        Return the motion of the base in the form that inverse dynamics takes.

        Parameters
        ----------
        angular_velocity : (3,) array [rad/s]
            Of the base, in base axes.

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
            In the world.

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
        Return the accelerations of a robot, once; see :meth:`ArticulatedBody.forward_dynamics`.

        Parameters
        ----------
        model : RobotModel
            The robot.
        position : (nq,) array [rad or m]
            Joint positions in the model's order.
        velocity : (nv,) array [rad/s or m/s]
            Joint velocities.
        effort : (nv,) array [N m or N]
            Joint efforts.
        base : BaseMotion, optional
            Motion of the base; at rest and level when it is not given.
        external : mapping of str to (6,) array, optional
            Wrenches [f; m] on links, as :meth:`ArticulatedBody.forward_dynamics` takes them.

        Returns
        -------
        ForwardDynamics
            Accelerations of joints and base.

        Raises
        ------
        MeasurementError
            When an input has the wrong shape or is not finite.

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
        if not articulated_body(*self._arguments):
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
    """
    Raise the error that says which input is not finite.

    Parameters
    ----------
    model : RobotModel
        The robot.
    position, velocity, effort : array
        Inputs of the forward dynamics, of nq, nv and nv elements.
    base : BaseMotion or None
        Motion of the base.

    Raises
    ------
    MeasurementError
        When an input is not finite or has the wrong shape.

    """
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
    position : (nq,) array [rad or m]
        Joint positions in the model's order.
    velocity : (nv,) array [rad/s or m/s]
        Joint velocities.
    effort : (nv,) array [N m or N]
        Joint efforts.
    base : BaseMotion, optional
        Motion of the base; at rest and level when it is not given.
    external : mapping of str to (6,) array, optional
        Wrenches [f; m] on links, as :meth:`ArticulatedBody.forward_dynamics` takes them.

    Returns
    -------
    ForwardDynamics
        Accelerations of joints and base.

    Raises
    ------
    MeasurementError
        When an input has the wrong shape or is not finite.

    """
    return ArticulatedBody(model).forward_dynamics(position, velocity, effort, base, external)
