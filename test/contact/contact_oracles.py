# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What contact inverse dynamics must answer, worked out with plain numpy and dense matrices."""
import numpy as np
from robots import random_robot, random_state
from scipy.linalg import block_diag

from legged_dynamics.dynamics import BaseMotion, Motion, frame_poses, inverse_dynamics
from legged_dynamics.dynamics.jacobians import frame_jacobian
from legged_dynamics.model import FlatFoot, LineFoot, PointFoot
from legged_dynamics.spatial.rotations import skew

UP = np.array([0.0, 0.0, 1.0])
LENGTH = 0.1


def motion_of(model, seed, scale=1.0):
    """Return a motion at random."""
    q, v, a, xyzw, twist, acceleration = random_state(model, seed)
    return Motion(q, v, scale * a, BaseMotion.from_twist(twist, scale * acceleration, xyzw))


def four_feet(kinds, seed=11):
    """Return a random robot of eight joints with feet on its last links; kinds like 'plfp'."""
    model = random_robot(seed, 8)
    make = {'p': lambda link: PointFoot(link, 0.02), 'l': lambda link: LineFoot(link, 0.1, -0.06),
            'f': lambda link: FlatFoot(link, 0.1, -0.06, 0.05, -0.03)}
    return model, [make[kind](f'link{i}') for i, kind in zip((4, 5, 6, 7), kinds)]


def moment_axes(foot, R):
    """Return the axes of a foot's moments in base axes, (3, 0), (3, 1) or (3, 3)."""
    if isinstance(foot, LineFoot):
        return R[:, 1:2]        # across the line
    return np.eye(3) if isinstance(foot, FlatFoot) else np.zeros((3, 0))


class Contacts:
    """Feet as they stand: points, frames and dense maps, in base axes about contact points."""

    def __init__(self, model, feet, motion, down=None, normal=UP, references=None):
        poses = frame_poses(model, motion.position)
        self.down = np.ones(len(feet), bool) if down is None else np.asarray(down, bool)
        self.feet, self.columns, self.pose, self.arm = feet, [], [], []
        grasp, jacobian, n = [np.zeros((6, 0))], [np.zeros((0, model.nv))], 0
        for i, foot in enumerate(feet):
            pose = poses[foot.link]
            axes = moment_axes(foot, pose.R)
            size, turned = 3 + axes.shape[1], block_diag(np.eye(3), axes)
            inside = -foot.radius * np.asarray(normal) if size == 3 else pose.R @ (
                foot.center if references is None else references[i])
            p = pose.p + inside
            block = np.block([[np.eye(3), np.zeros((3, 3))], [skew(p), np.eye(3)]]) @ turned
            J = frame_jacobian(model, motion.position, foot.link)[:, 6:]
            J = turned.T @ np.vstack([J[:3] - skew(inside) @ J[3:], J[3:]])
            self.pose.append(pose)
            self.arm.append(inside)
            on = bool(self.down[i])
            self.columns.append(slice(n, n + size if on else n))
            if on:
                grasp.append(block)
                jacobian.append(J)
                n += size
        self.grasp, self.jacobian, self.n = np.hstack(grasp), np.vstack(jacobian), n
        self.moments = np.zeros(n, bool)
        for columns in self.columns:
            self.moments[columns.start + 3:columns.stop] = True

    def wrenches(self, w):
        """Return (nf, 6) wrenches in the feet's frames of contact coordinates."""
        found = np.zeros((len(self.feet), 6))
        for i, (pose, arm, columns) in enumerate(zip(self.pose, self.arm, self.columns)):
            if self.down[i]:
                force = w[columns][:3]
                moment = np.cross(arm, force) + moment_axes(self.feet[i], pose.R) @ w[columns][3:]
                found[i] = np.concatenate([pose.R.T @ force, pose.R.T @ moment])
        return found

    def coordinates(self, wrenches):
        """Return the contact coordinates of wrenches in the feet's frames."""
        w = np.zeros(self.n)
        for i, (pose, arm, columns) in enumerate(zip(self.pose, self.arm, self.columns)):
            if self.down[i]:
                force, moment = pose.R @ wrenches[i][:3], pose.R @ wrenches[i][3:]
                axes = moment_axes(self.feet[i], pose.R)
                w[columns] = np.concatenate([force, axes.T @ (moment - np.cross(arm, force))])
        return w


def nearest(A, b, guess, weight):
    """Return the least-squares solution of A w = b with the least weighed distance, and rank."""
    rows = np.array([1.0, 1.0, 1.0, *[1.0 / LENGTH] * 3])
    scale = 1.0 / np.sqrt(weight)
    U, s, Vt = np.linalg.svd(rows[:, None] * A * scale, full_matrices=False)
    rank = int((s > 1e-7 * s[0]).sum()) if s.size else 0
    y = Vt[:rank].T @ ((U[:, :rank].T @ (rows * (b - A @ guess))) / s[:rank])
    return guess + scale * y, rank


def expected(model, feet, motion, down=None, normal=UP, references=None, guess=None,
             base_wrench=None):
    """Return wrenches, joint efforts, residual and rank by singular values."""
    free = inverse_dynamics(model, motion)
    at = Contacts(model, feet, motion, down, normal, references)
    b = free.base_wrench if base_wrench is None else base_wrench
    weight = np.where(at.moments, 1.0, 1.0 if guess is not None else LENGTH ** 2)
    start = np.zeros(at.n) if guess is None else at.coordinates(guess)
    w, rank = nearest(at.grasp, b, start, weight)
    return at.wrenches(w), free.joint_effort - at.jacobian.T @ w, b - at.grasp @ w, rank
