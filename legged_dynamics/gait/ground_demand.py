# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What a recorded motion asks of the ground, and where the feet are meanwhile, in world axes.

One pass of Newton-Euler over the recording. The wrench is what all feet together must bear; how
they share it is for others to say.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    FOOT_POSITION,
    FOOT_ROTATION,
    N_FOOT_STATE,
    contact_points,
    feet_table,
    lean_on_lowest_part,
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
    newton_euler,
    relieve_bodies,
)
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.tree import COM, MASS
from legged_dynamics.spatial.frames import Transform

# -------------------------------------------------------------------------------------------------
# The front of a sole that bends: where a model has a toe joint, the toes rest while the heel
# rises.
#
# A hinge that crosses the foot, inside its sole, with nothing behind it, is a toe joint. What of
# the sole is in front of it moves with the toes.


# A toe joint's axis is this much across the foot (cosine), and it is in the front of the sole.
ACROSS, FRONT_PART = 0.7, 0.3


class Toe(NamedTuple):
    """
    The toes of one foot.

    Attributes
    ----------
    body : int
        That they are.
    pose : Transform
        Of the foot's frame in that body while the joint is at zero.
    start : float [m]
        Where along x of the foot's frame they begin.

    """

    body: int
    pose: Transform
    start: float


def toes_of(model: RobotModel, feet: Sequence[Foot]) -> list[Toe | None]:
    """Return the toes of each foot; None where the sole does not bend."""
    parents = [model.frame(joint.parent).body for joint in model.joints]
    found: list[Toe | None] = []
    for foot in feet:
        body, pose = model.frame(foot.link)
        (front, back, *_), toes = foot.edges, None
        for k, joint in enumerate(model.joints):
            if (front == back or parents[k] != body or k + 1 in parents
                    or joint.kind not in ('revolute', 'continuous')):
                continue
            in_foot = pose.inverse() @ model.frame(joint.parent).pose @ joint.placement
            across = abs(float((in_foot.R @ joint.axis)[1]))
            start = float(in_foot.p[0])
            least = back + (1.0 - FRONT_PART - 0.2) * (front - back)
            if across > ACROSS and least < start < front:
                toes = Toe(k + 1, model.frame(joint.child).pose @ in_foot.inverse(), start)
        found.append(toes)
    return found


def bent(points: np.ndarray, grid: np.ndarray, toe: Toe, R_WT: np.ndarray,
         p_WT: np.ndarray) -> np.ndarray:
    """
    Return the sole's points with those of the toes where the toes are.

    Parameters
    ----------
    points : (n, k, 3) array [m]
        Of the stiff sole, in the world.
    grid : (k, 3) array [m]
        The same in the foot's frame.
    toe : Toe
        The toes.
    R_WT, p_WT : (n, 3, 3), (n, 3) array [m]
        Of the toes' body.

    """
    moved = points.copy()
    front = grid[:, 0] > toe.start
    in_toe = grid[front] @ toe.pose.R.T + toe.pose.p
    moved[:, front] = p_WT[:, None] + np.einsum('nij,kj->nki', R_WT, in_toe)
    return moved


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GroundDemand:
    """
    Sum of the ground's forces, and the feet, at n instants; arms are from the base's origin.

    Attributes
    ----------
    time : (n,) array [s]
    feet : tuple of Foot
    weight : float [N]
    wrench : (n, 6) array [N, N m]
        ``[f; m]`` that the ground must exert, about the base's origin, in world axes.
    base_position : (n, 3) array [m]
        p_WB.
    foot_arm : (n, nf, 3) array [m]
        From the base's origin to each foot's, in world axes.
    foot_rotation : (n, nf, 3, 3) array
        R_WF.
    low_point : (n, nf, 3) array [m]
        Lowest part of the sole (bottom of the ball), in the foot's frame.
    center_of_mass : (n, 3) array [m]
        From the base's origin, in world axes.
    ground_velocity : (n, nf, 3) array [m/s]
        Of what is under each foot, in world axes: zero but for the belts of a treadmill.
    toes : tuple
        A foot's toes with their R_WT (n, 3, 3) and p_WT (n, 3) [m]; None where the sole is stiff.

    """

    time: np.ndarray
    feet: tuple[Foot, ...]
    weight: float
    wrench: np.ndarray
    base_position: np.ndarray
    foot_arm: np.ndarray
    foot_rotation: np.ndarray
    low_point: np.ndarray
    center_of_mass: np.ndarray
    ground_velocity: np.ndarray
    toes: tuple[tuple[Toe, np.ndarray, np.ndarray] | None, ...] = ()

    @property
    def step(self) -> float:
        """Time between instants [s]."""
        return float((self.time[-1] - self.time[0]) / (len(self.time) - 1))

    @cached_property
    def leg_length(self) -> float:
        """Longest distance between the base and a foot in the recording [m]."""
        return float(np.linalg.norm(self.foot_arm, axis=2).max())

    @cached_property
    def load(self) -> np.ndarray:
        """(n,) vertical force that the motion asks for, as a multiple of the weight."""
        return self.wrench[:, 2] / self.weight

    def points(self, in_foot: np.ndarray) -> np.ndarray:
        """Return (n, nf, 3) points given in the feet's frames as arms from the base's origin."""
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

    def sole_points(self, per_side: int = 5) -> list[np.ndarray]:
        """Return, a foot, (n, k, 3) points of the sole in the world, all where it may touch."""
        found = []
        for i, foot in enumerate(self.feet):
            origin = self.base_position + self.foot_arm[:, i]
            front, back, left, right = foot.edges
            x = np.linspace(back, front, per_side if front > back else 1)
            y = np.linspace(right, left, 3 if left > right else 1)
            grid = np.array([[a, b, 0.0] for a in x for b in y])
            points = origin[:, None] + grid @ self.foot_rotation[:, i].swapaxes(1, 2)
            points -= [0.0, 0.0, foot.radius]
            toes = self.toes[i] if self.toes else None
            found.append(points if toes is None else bent(points, grid, *toes))
        return found


def ground_demand(model: RobotModel, feet: Sequence[Foot], motion: RecordedMotion,
                  ground_velocity: np.ndarray | None = None) -> GroundDemand:
    """
    Return what a motion asks of the ground.

    Parameters
    ----------
    model : RobotModel
        The robot.
    feet : sequence of Foot
        Where it touches the ground.
    motion : RecordedMotion
        What it does.
    ground_velocity : (n, nf, 3) array, optional [m/s]
        Of what is under each foot, in world axes; at rest by default.

    Raises
    ------
    MeasurementError
        When the motion does not fit the model, or the velocities do not fit the motion.
    UnknownNameError
        When a foot is not in the model.

    """
    motion = motion.checked(model)
    table, n, nf = feet_table(model, feet), len(motion), len(feet)
    bodies, tau = body_workspace(model), np.zeros(model.nv)
    moving = np.zeros((n, nf, 3)) if ground_velocity is None else np.array(ground_velocity, float)
    if moving.shape != (n, nf, 3) or not np.isfinite(moving).all():
        raise MeasurementError(f'expected finite velocities of the ground of shape ({n}, {nf}, 3),'
                               f' got {moving.shape}')
    states = np.zeros((nf, N_FOOT_STATE))
    mass, com = model.tree.constants[:, MASS], model.tree.constants[:, COM:COM + 3]
    b, found = np.zeros((n, 6)), np.zeros((n, nf, N_FOOT_STATE))
    center = np.zeros((n, 3))
    toes = toes_of(model, feet)
    bend = np.array([toe.body for toe in toes if toe is not None], dtype=int)
    toe_R, toe_p = np.zeros((n, len(bend), 3, 3)), np.zeros((n, len(bend), 3))
    for i in range(n):
        newton_euler(model.tree, motion.position[i], motion.velocity[i], motion.acceleration[i],
                     motion.base_motion[i], bodies, tau)
        up = tuple(motion.base_rotation[i, 2].tolist())
        contact_points(table, bodies, up, states)
        lean_on_lowest_part(table, up, states)
        b[i], found[i] = bodies[0, FORCE:FORCE + 6], states
        R = bodies[:, ROTATION:ROTATION + 9].reshape(-1, 3, 3)
        toe_R[i], toe_p[i] = R[bend], bodies[bend, POSITION:POSITION + 3]
        center[i] = mass @ (bodies[:, POSITION:POSITION + 3] + np.einsum('bij,bj->bi', R, com))
    R_WB = motion.base_rotation
    R_BF = found[..., FOOT_ROTATION:FOOT_ROTATION + 9].reshape(n, nf, 3, 3)
    p_BF = found[..., FOOT_POSITION:FOOT_POSITION + 3]
    low = np.einsum('nfji,nfj->nfi', R_BF, found[..., CONTACT:CONTACT + 3] - p_BF)
    in_world = iter(range(len(bend)))
    placed = tuple(None if toe is None else (
        toe, R_WB @ toe_R[:, k], motion.base_position + np.einsum('nij,nj->ni', R_WB, toe_p[:, k]))
        for toe, k in ((toe, -1 if toe is None else next(in_world)) for toe in toes))
    return GroundDemand(
        motion.time, tuple(feet), model.total_mass * GRAVITY,
        np.hstack([np.einsum('nij,nj->ni', R_WB, b[:, :3]),
                   np.einsum('nij,nj->ni', R_WB, b[:, 3:])]),
        motion.base_position, np.einsum('nij,nfj->nfi', R_WB, p_BF),
        np.einsum('nij,nfjk->nfik', R_WB, R_BF), low,
        np.einsum('nij,nj->ni', R_WB, center / model.total_mass), moving, placed)


def efforts_under(model: RobotModel, feet: Sequence[Foot], motion: RecordedMotion,
                  wrench: np.ndarray) -> np.ndarray:
    """
    Return the joint efforts of a motion under given ground reactions, (n, nv) [N m or N].

    Parameters
    ----------
    model : RobotModel
        The robot.
    feet : sequence of Foot
        Where it touches the ground.
    motion : RecordedMotion
        What it does.
    wrench : (n, nf, 6) array [N, N m]
        ``[f; m]`` in each foot's axes about its frame's origin.

    """
    n, tree = len(motion), model.tree
    on_bodies = np.zeros((n, model.n_bodies, 6))
    for i, foot in enumerate(feet):
        body, pose = model.frame(foot.link)
        f = wrench[:, i, :3] @ pose.R.T
        on_bodies[:, body, :3] += f
        on_bodies[:, body, 3:] += wrench[:, i, 3:] @ pose.R.T + np.cross(pose.p, f)
    bodies, efforts = body_workspace(model), np.zeros((n, model.nv))
    for i in range(n):
        q, v, a = motion.position[i], motion.velocity[i], motion.acceleration[i]
        forward_kinematics(tree, q, v, a, motion.base_motion[i], bodies)
        inertial_wrenches(tree, bodies)
        relieve_bodies(on_bodies[i], bodies)
        joint_efforts(tree, bodies, efforts[i])
        add_joint_physics(tree, q, v, a, efforts[i])
    return efforts
