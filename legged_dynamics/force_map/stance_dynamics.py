# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""StanceDynamics: what a motion takes of joints and ground, and where the feet feel the ground."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    N_FOOT_STATE,
    contact_jacobians,
    contact_points,
    feet_table,
)
from legged_dynamics.dynamics.kinematics import FORCE, body_workspace
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.model.foot import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.algebra import load3
from legged_dynamics.spatial.jit import lean_kernel


@lean_kernel
def stance_terms(tree, feet, q, v, a, base, bodies, states, tau, jacobian):
    """
    Fill joint efforts, contact points and Jacobians; ``base`` is (12,): motion and normal.

    Parameters
    ----------
    tree : Tree
        Of the robot.
    feet : FeetTable
        Those in contact.
    q, v, a : (nq,), (nv,), (nv,) array
        Joint states.
    base : (12,) array
        Angular velocity, angular and proper acceleration of the base, and the ground's normal, in
        base axes.
    bodies, states : arrays
        Filled: body table, and the feet's frames and contact points, base axes.
    tau : (nv,) array [N m or N]
        Filled: efforts without ground reactions.
    jacobian : (nc, nv) array
        Filled.

    """
    newton_euler(tree, q, v, a, base, bodies, tau)
    contact_points(feet, bodies, load3(base, 9), states)
    contact_jacobians(tree, feet, bodies, states, jacobian)


@dataclass(frozen=True, eq=False)
class StanceTerms:
    """
    Terms of the equations of motion of one instant, in base axes.

    ``joint_effort = effort + jacobian^T f`` and ``base_wrench = sum of [f; p x f]``.

    Attributes
    ----------
    joint_effort : (nv,) array [N m or N]
        What the motion takes of the joints while nothing touches the feet.
    base_wrench : (6,) array [N, N m]
        ``[f; m]`` that the ground must exert on all feet together, about the base's origin.
    jacobian : (nc, nv) array
        Of the contacts, joint part.
    contact_points : (nf, 3) array [m]
    foot_positions : (nf, 3) array [m]
    foot_rotations : (nf, 3, 3) array
        ``R_BF``.

    """

    joint_effort: np.ndarray
    base_wrench: np.ndarray
    jacobian: np.ndarray
    contact_points: np.ndarray
    foot_positions: np.ndarray
    foot_rotations: np.ndarray


class StanceDynamics:
    """
    Inverse dynamics of a robot and of its contacts, in one call and in memory of its own.

    Parameters
    ----------
    model : RobotModel
        With a floating base.
    feet : sequence of Foot
        All that stand.

    Raises
    ------
    UnknownNameError
        When a foot is not in the model.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot]):
        self.model, self.feet = model, tuple(feet)
        table = feet_table(model, feet)
        tree = type(model.tree)(*(array.copy() for array in model.tree))
        self._fixed = (tree, table)
        self._still = np.zeros(model.nv)
        self._base = np.zeros(12)
        self._bodies = body_workspace(model)
        self._n_contacts = table.size

    def compute(self, position: np.ndarray, velocity: np.ndarray, angular_velocity: np.ndarray,
                angular_acceleration: np.ndarray, proper_acceleration: np.ndarray,
                ground_normal: np.ndarray) -> StanceTerms:
        """
        Return the terms of one instant, the joints' accelerations being zero; nothing is checked.

        Parameters
        ----------
        position, velocity : (nq,) and (nv,) float array [rad or m, rad/s or m/s]
            Of the joints, in the model's order.
        angular_velocity, angular_acceleration, proper_acceleration : (3,) array
            Of the base's origin, in base axes; see
            :class:`~legged_dynamics.dynamics.motion.BaseMotion`.
        ground_normal : (3,) array
            Unit vector in base axes.

        """
        base = self._base
        base[:3], base[3:6], base[6:9] = (angular_velocity, angular_acceleration,
                                          proper_acceleration)
        base[9:] = ground_normal
        tau, states = np.zeros(self.model.nv), np.zeros((len(self.feet), N_FOOT_STATE))
        jacobian = np.zeros((self._n_contacts, self.model.nv))
        stance_terms(*self._fixed, position, velocity, self._still, base, self._bodies, states,
                     tau, jacobian)
        return StanceTerms(
            tau, self._bodies[0, FORCE:FORCE + 6].copy(), jacobian,
            states[:, CONTACT:CONTACT + 3], states[:, FOOT_POSITION:FOOT_POSITION + 3],
            states[:, FOOT_ROTATION:FOOT_ROTATION + 9].reshape(-1, 3, 3))
