# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A robot as seen from the foot it stands on: the same bodies, joined to the ground by a ball joint.

Joints between foot and base are reversed: parent and child change places and the axis its sign,
so that positions and velocities stay what they were. All other joints stay as they are.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

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
from legged_dynamics.dynamics.kinematics import (
    FORCE,
    OMEGA,
    ROTATION,
    body_workspace,
    forward_kinematics,
)
from legged_dynamics.dynamics.motion import state_vector
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.parts import (
    COM,
    INERTIA,
    JOINT,
    MASS,
    P_TREE,
    PARENT,
    Q_START,
    R_TREE,
    SPHERICAL,
    V_START,
    Inertia,
    Joint,
)
from legged_dynamics.model.robot_model import POSITION_SIZE, VELOCITY_SIZE, RobotModel
from legged_dynamics.spatial.algebra import load3
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_quaternion

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
        for here, there, spherical, name in self._pairs(Q_START, POSITION_SIZE):
            new_q[there] = q[here]
            if spherical and name in self._reversed:
                new_q[there] *= [-1.0, -1.0, -1.0, 1.0]
        return new_q, self._moved(q, v, new_v)

    def efforts(self, position: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """
        Return the efforts of `model`'s joints, from those of the robot's.

        ``position`` (nq,) [rad or m]: joint positions in the robot's order. ``effort`` (nv,) [N m
        or N]: efforts in the robot's order. Returns (nv,) array [N m or N].
        """
        return self._moved(np.asarray(position, float), np.asarray(effort, float),
                           np.zeros(self.model.nv))

    def robot_efforts(self, position: np.ndarray, effort: np.ndarray) -> np.ndarray:
        """
        Return the efforts of the robot's joints, from those of `model`'s.

        ``position`` (nq,) [rad or m]: joint positions in the robot's order. ``effort`` (nv,) [N m
        or N]: efforts in the order of `model`. Returns (nv,) array [N m or N].
        """
        effort = np.asarray(effort, float)
        back = np.zeros(self.robot.nv)
        for (here, there, spherical, name), (q_at, *_) in zip(
                self._pairs(V_START, VELOCITY_SIZE), self._pairs(Q_START, POSITION_SIZE)):
            back[here] = effort[there]
            if spherical and name in self._reversed:
                back[here] = -rotation_from_quaternion(position[q_at]).T @ effort[there]
        return back

    def _moved(self, q: np.ndarray, values: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Put velocities or efforts in the other model's order and axes."""
        for (here, there, spherical, name), (q_at, *_) in zip(
                self._pairs(V_START, VELOCITY_SIZE), self._pairs(Q_START, POSITION_SIZE)):
            out[there] = values[here]
            if spherical and name in self._reversed:
                out[there] = -rotation_from_quaternion(q[q_at]) @ values[here]
        return out

    def _pairs(self, column: int, sizes: dict[int, int]
               ) -> Sequence[tuple[slice, slice, bool, str]]:
        """Return, joint by joint, the places of its values in the robot and in `model`."""
        pairs = []
        for name in self.robot.joint_names:
            row = self.robot.tree.topology[self.robot.joint_index(name) + 1]
            other = self.model.tree.topology[self.model.joint_index(name) + 1]
            size = sizes[int(row[JOINT])]
            pairs.append((slice(row[column], row[column] + size),
                          slice(other[column], other[column] + size),
                          int(row[JOINT]) == SPHERICAL, name))
        return pairs


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
        moments = np.zeros((3, 3))
        moments[np.triu_indices(3)] = row[INERTIA:INERTIA + 6]
        own = Inertia(row[MASS], row[COM:COM + 3], moments + np.triu(moments, 1).T)
        links[names[body]] = own.seen_from(new_frame[body].inverse())

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
# StanceDynamics: inverse dynamics of a motion, and contact points and Jacobians of the feet.


@lean_kernel
def _stance_terms(tree, feet, joints, base, bodies, states, tau, jacobian):
    """Fill the last four; ``base`` (12,) is `newton_euler`'s and the ground normal, base axes."""
    newton_euler(tree, joints[0], joints[1], joints[2], base, bodies, tau)
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
        That the motion requires of the joints without forces on the feet.
    base_wrench : (6,) array [N, N m]
        ``[f; m]`` that the ground must exert on all feet together, about the base's origin.
    jacobian : (nc, nv) array
        Jacobian of the contacts, joint part.
    contact_points : (nf, 3) array [m]
        Where the feet touch the ground.
    foot_positions : (nf, 3) array [m]
        Origins of the feet's frames.
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
        Robot with a floating base.
    feet : sequence of Foot
        Those on the ground.

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

        Of the joints in the model's order, of the base's origin and ground in base axes (3,); see
        :class:`~legged_dynamics.dynamics.motion.BaseMotion`.
        """
        base = self._base
        base[:3], base[3:6], base[6:9] = (angular_velocity, angular_acceleration,
                                          proper_acceleration)
        base[9:] = ground_normal
        tau, states = np.zeros(self.model.nv), np.zeros((len(self.feet), N_FOOT_STATE))
        jacobian = np.zeros((self._n_contacts, self.model.nv))
        _stance_terms(*self._fixed, (position, velocity, self._still), base, self._bodies, states,
                      tau, jacobian)
        return StanceTerms(
            tau, self._bodies[0, FORCE:FORCE + 6].copy(), jacobian,
            states[:, CONTACT:CONTACT + 3], states[:, FOOT_POSITION:FOOT_POSITION + 3],
            states[:, FOOT_ROTATION:FOOT_ROTATION + 9].reshape(-1, 3, 3))
