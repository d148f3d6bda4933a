# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Inverse dynamics of a recorded motion: the wrench that it requires, and where the feet are.

One pass of the recursive Newton-Euler algorithm over the recording (Featherstone 2008, section
5.3). The base's equation gives the sum of all ground reactions, without any assumption on how the
feet share it; given the wrench on each foot, the joints' equations give their efforts. A recording
is computed once, and handed to every method that is compared on it.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion, even_step
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    N_FOOT_STATE,
    contact_points,
    feet_table,
    move_to_lowest_edge,
)
from legged_dynamics.dynamics.kinematics import (
    FORCE,
    POSITION,
    ROTATION,
    body_workspace,
    forward_kinematics,
)
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import (
    add_joint_physics,
    inertial_wrenches,
    joint_efforts,
    subtract_external_wrenches,
)
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.parts import COM, MASS
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import UP

# Columns of a body's pose in the kernels' workspace: rotation and position.
POSE = slice(ROTATION, POSITION + 3)
WRENCH = slice(FORCE, FORCE + 6)


@dataclass(frozen=True, eq=False)
class GaitInverseDynamics:
    """
    Inverse dynamics of n instants with nf feet; made by :meth:`of`.

    Arms are vectors from the base's origin.

    Attributes
    ----------
    model : RobotModel
    feet : tuple of Foot
    motion : RecordedMotion
    body_pose : (n, nb, 12) array [-, m]
        Rotation (by rows) and position of every body, in base axes from the base's origin.
    body_wrench : (n, nb, 6) array [N, N m]
        ``[f; m]`` that accelerates each body as it moves, gravity included, about the body's
        origin in base axes.
    wrench : (n, 6) array [N, N m]
        ``[f; m]`` that the motion requires of the ground, about the base's origin, in world axes.
    center_of_mass : (n, 3) array [m]
        Arm to the centre of mass, in world axes.
    foot_arm : (n, nf, 3) array [m]
        Arm to each foot's frame, in world axes.
    foot_rotation : (n, nf, 3, 3) array
        R_WF.
    low_point : (n, nf, 3) array [m]
        Lowest part of the sole (bottom of the ball), in the foot's frame.
    ground_velocity : (n, nf, 3) array [m/s]
        Velocity of the ground under each foot, in world axes: zero but for treadmill belts.
    noise : (n, 6) array [N, N m]
        What was taken from `wrench` for noise of the motion; zero unless it was smoothed
        (`required_wrench`).
    noise_left : (n, 3) array [N]
        Standard deviation of the error that noise of the poses leaves in the force, in world axes;
        zero where none is seen.

    """

    model: RobotModel
    feet: tuple[Foot, ...]
    motion: RecordedMotion
    body_pose: np.ndarray
    body_wrench: np.ndarray
    wrench: np.ndarray
    center_of_mass: np.ndarray
    foot_arm: np.ndarray
    foot_rotation: np.ndarray
    low_point: np.ndarray
    ground_velocity: np.ndarray
    noise: np.ndarray = field(default_factory=lambda: np.zeros((1, 6)))
    noise_left: np.ndarray = field(default_factory=lambda: np.zeros((1, 3)))

    @classmethod
    def of(cls, model: RobotModel, feet: Sequence[Foot], motion: RecordedMotion,
           ground_velocity: np.ndarray | None = None) -> GaitInverseDynamics:
        """
        Compute the inverse dynamics of a motion.

        Parameters
        ----------
        model : RobotModel
            The robot or person.
        feet : sequence of Foot
            Where it touches the ground.
        motion : RecordedMotion
            How it moves.
        ground_velocity : (n, nf, 3) array, optional [m/s]
            Velocity of the ground under each foot, in world axes; at rest by default.

        Returns
        -------
        GaitInverseDynamics

        Raises
        ------
        MeasurementError
            When the motion does not fit the model, or the velocities do not fit the motion.
        UnknownNameError
            When a foot is not in the model.

        """
        motion = motion.checked(model)
        even_step(motion.time)
        feet_table(model, feet)         # refuses feet that the model does not have
        n, nb, tree = len(motion), model.n_bodies, model.tree
        bodies, tau = body_workspace(model), np.zeros(model.nv)
        mass, com = tree.constants[:, MASS], tree.constants[:, COM:COM + 3]
        pose, inertial = np.zeros((n, nb, 12)), np.zeros((n, nb, 6))
        base, center = np.zeros((n, 6)), np.zeros((n, 3))
        for i in range(n):
            forward_kinematics(tree, motion.position[i], motion.velocity[i],
                               motion.acceleration[i], motion.base_motion[i], bodies)
            inertial_wrenches(tree, bodies)
            pose[i], inertial[i] = bodies[:, POSE], bodies[:, WRENCH]
            joint_efforts(tree, bodies, tau)
            base[i] = bodies[0, WRENCH]
            R = bodies[:, ROTATION:ROTATION + 9].reshape(-1, 3, 3)
            center[i] = mass @ (bodies[:, POSITION:POSITION + 3] + np.einsum('bij,bj->bi', R, com))
        R_WB = motion.base_rotation
        wrench = np.hstack([np.einsum('nij,nj->ni', R_WB, base[:, :3]),
                            np.einsum('nij,nj->ni', R_WB, base[:, 3:])])
        center = np.einsum('nij,nj->ni', R_WB, center / model.total_mass)
        none = np.zeros((n, 0, 3))
        return cls(model, (), motion, pose, inertial, wrench, center, none, none[..., None], none,
                   none).with_feet(model, feet, ground_velocity)

    def with_feet(self, model: RobotModel, feet: Sequence[Foot],
                  ground_velocity: np.ndarray | None = None) -> GaitInverseDynamics:
        """
        Return the same motion on other feet, without computing its dynamics again.

        ``model``: of the same bodies, with further frames without mass, as soles are;
        ``ground_velocity`` as in `of`. ConfigurationError for other bodies or joints.
        """
        if not all(np.array_equal(*tables) for tables in zip(model.tree, self.model.tree)):
            raise ConfigurationError('expected a model of the same bodies and joints, got others: '
                                     'compute its inverse dynamics anew')
        motion, n, nf = self.motion, len(self.motion), len(feet)
        table, bodies = feet_table(model, feet), body_workspace(model)
        states, found = np.zeros((nf, N_FOOT_STATE)), np.zeros((n, nf, N_FOOT_STATE))
        for i in range(n):
            bodies[:, POSE] = self.body_pose[i]
            up = tuple(motion.base_rotation[i, 2].tolist())
            contact_points(table, bodies, up, states)
            move_to_lowest_edge(table, up, states)
            found[i] = states
        R_WB = motion.base_rotation
        R_BF = found[..., FOOT_ROTATION:FOOT_ROTATION + 9].reshape(n, nf, 3, 3)
        p_BF = found[..., FOOT_POSITION:FOOT_POSITION + 3]
        placed = replace(
            self, model=model, feet=tuple(feet),
            foot_arm=np.einsum('nij,nfj->nfi', R_WB, p_BF),
            foot_rotation=np.einsum('nij,nfjk->nfik', R_WB, R_BF),
            low_point=np.einsum('nfji,nfj->nfi', R_BF, found[..., CONTACT:CONTACT + 3] - p_BF))
        return placed.on_ground(ground_velocity)

    def on_ground(self, ground_velocity: np.ndarray | None) -> GaitInverseDynamics:
        """
        Return the same motion over a ground that moves, as the belts of a treadmill do.

        ``ground_velocity`` (n, nf, 3) [m/s] under each foot, world axes; None: at rest.
        """
        n, nf = self.foot_arm.shape[:2]
        moving = (np.zeros((n, nf, 3)) if ground_velocity is None
                  else np.array(ground_velocity, float))
        if moving.shape != (n, nf, 3) or not np.isfinite(moving).all():
            raise MeasurementError('expected finite velocities of the ground of shape '
                                   f'({n}, {nf}, 3), got {moving.shape}')
        return replace(self, ground_velocity=moving)

    def with_mass(self, model: RobotModel) -> GaitInverseDynamics:
        """Return the same of a model whose masses and inertias are all scaled alike."""
        factor = model.total_mass / self.model.total_mass
        return replace(self, model=model, body_wrench=factor * self.body_wrench,
                       wrench=factor * self.wrench, noise=factor * self.noise,
                       noise_left=factor * self.noise_left)

    @property
    def as_recorded(self) -> GaitInverseDynamics:
        """The same, with the wrench that the motion requires before it was smoothed."""
        return replace(self, wrench=self.wrench + self.noise, noise=np.zeros((1, 6)),
                       noise_left=np.zeros((1, 3)))

    @property
    def time(self) -> np.ndarray:
        """(n,) times of the instants [s]."""
        return self.motion.time

    @property
    def base_position(self) -> np.ndarray:
        """(n, 3) p_WB [m]."""
        return self.motion.base_position

    @property
    def weight(self) -> float:
        """Weight of the model [N]."""
        return self.model.total_mass * GRAVITY

    @property
    def step(self) -> float:
        """Time between instants [s]."""
        return float((self.time[-1] - self.time[0]) / (len(self.time) - 1))

    @cached_property
    def leg_length(self) -> float:
        """Longest distance between the base and a foot in the recording [m]."""
        return float(np.linalg.norm(self.foot_arm, axis=2).max())

    @cached_property
    def center_velocity(self) -> np.ndarray:
        """(n, 3) velocity of the centre of mass, in world axes [m/s]."""
        return np.gradient(self.base_position + self.center_of_mass, self.step, axis=0)

    @cached_property
    def load(self) -> np.ndarray:
        """(n,) vertical force that the motion requires, as a multiple of the weight."""
        return self.wrench[:, 2] / self.weight

    def points(self, in_foot: np.ndarray) -> np.ndarray:
        """Return points (n, nf, 3) [m] in the feet's frames as arms in world axes."""
        return self.foot_arm + np.einsum('nfij,nfj->nfi', self.foot_rotation, in_foot)

    def pressure_in_feet(self) -> np.ndarray:
        """
        Return where the motion's centre of pressure lies in each foot, (n, nf, 2) [m].

        It is where the wrench's axis of no tipping moment meets the plane of the sole. NaN
        without load, and where the sole is upright.
        """
        R, arm = self.foot_rotation, self.foot_arm
        f = np.einsum('nfji,nj->nfi', R, self.wrench[:, :3])
        m = np.einsum('nfji,nfj->nfi', R, self.wrench[:, None, 3:]
                      - np.cross(arm, self.wrench[:, None, :3]))
        pressed = (self.load > 1e-3)[:, None] & (f[..., 2] > 1e-3 * self.weight)
        normal = np.where(pressed, f[..., 2], np.nan)
        return np.stack([-m[..., 1] / normal, m[..., 0] / normal], axis=-1)

    def sole_points(self) -> list[np.ndarray]:
        """Return points of each sole, (n, k, 3) [m], world, over all that may touch the ground."""
        found = []
        for i, foot in enumerate(self.feet):
            origin = self.base_position + self.foot_arm[:, i]
            front, back, left, right = foot.edges
            x = np.linspace(back, front, 5 if front > back else 1)
            y = np.linspace(right, left, 3 if left > right else 1)
            grid = np.array([[a, b, 0.0] for a in x for b in y])
            found.append(origin[:, None] + foot.touching(self.foot_rotation[:, i], UP, grid))
        return found

    def joint_efforts(self, wrench: np.ndarray) -> np.ndarray:
        """
        Return the joint efforts of the motion under given ground reactions.

        Parameters
        ----------
        wrench : (n, nf, 6) array [N, N m]
            ``[f; m]`` of the ground on each foot, in the foot's axes about its frame's origin.

        Returns
        -------
        (n, nv) array [N m or N]

        """
        model, motion, n = self.model, self.motion, len(self.motion)
        on_bodies = np.zeros((n, model.n_bodies, 6))
        for i, foot in enumerate(self.feet):
            body, pose = model.frame(foot.link)
            f = wrench[:, i, :3] @ pose.R.T
            on_bodies[:, body, :3] += f
            on_bodies[:, body, 3:] += wrench[:, i, 3:] @ pose.R.T + np.cross(pose.p, f)
        bodies, efforts = body_workspace(model), np.zeros((n, model.nv))
        for i in range(n):
            bodies[:, POSE], bodies[:, WRENCH] = self.body_pose[i], self.body_wrench[i]
            subtract_external_wrenches(on_bodies[i], bodies)
            joint_efforts(model.tree, bodies, efforts[i])
            add_joint_physics(model.tree, motion.position[i], motion.velocity[i],
                              motion.acceleration[i], efforts[i])
        return efforts

    def link_positions(self, links: Sequence[str]) -> np.ndarray:
        """Return where the origins of k links are in the world, (n, k, 3) [m]."""
        frames = [self.model.frame(link) for link in links]
        at = np.empty((len(self.motion), len(links), 3))
        for i, poses in enumerate(self.body_pose):
            R, p = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]
            in_base = np.array([p[body] + R[body] @ pose.p for body, pose in frames])
            at[i] = self.base_position[i] + in_base @ self.motion.base_rotation[i].T
        return at
