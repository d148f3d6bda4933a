# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact inverse dynamics over time as one sparse KKT system, and motions to try it on."""
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from scipy.spatial.transform import Rotation

from legged_dynamics.contact import GeneralizedMotion, OverTimeWeights
from legged_dynamics.dynamics import frame_poses, inverse_dynamics
from legged_dynamics.force_map import Outcome, contact_inequalities, solve_quadratic_program
from legged_dynamics.model import FlatFoot, LineFoot
from legged_dynamics.spatial.rotations import skew


def swinging(model, frames, seed=0, step=0.01, pose=0.0, base=0.3, joints=0.5):
    """Return positions that swing around a pose, two frames more than asked for."""
    rng = np.random.default_rng(seed)
    t = step * np.arange(frames + 2)[:, None]

    def wave(n, size):
        return size * rng.uniform(0.5, 1.0, n) * np.sin(2.0 * np.pi * rng.uniform(0.5, 2.0, n) * t
                                                        + rng.uniform(0.0, 6.0, n))
    turn = Rotation.from_rotvec(wave(3, base)).as_quat()
    return np.hstack([wave(3, base / 3.0), turn, pose + wave(model.nq, joints)])


def swing(model, frames, seed=0, step=0.01, **sizes):
    """Return a motion of so many frames."""
    return GeneralizedMotion.from_positions(model, swinging(model, frames, seed, step, **sizes),
                                            step)


def parts_of(motion, places):
    """Return a motion cut in front of frames."""
    names = [name for name in motion.__dataclass_fields__ if name != 'cutoff']
    return [type(motion)(**{name: getattr(motion, name)[a:b] for name in names})
            for a, b in zip([0, *places], [*places, len(motion)])]


def balances(model, feet, motion, axes='world'):
    """Return for each frame b, and for each foot A and what turns coordinates into wrenches."""
    rows = []
    for t in range(len(motion)):
        instant = motion.instant(t)
        R_WB = motion.base_rotation[t]
        b = inverse_dynamics(model, instant).base_wrench
        poses, maps = frame_poses(model, instant.position), []
        for foot in feet:
            pose, flat = poses[foot.link], isinstance(foot, FlatFoot)
            line = isinstance(foot, LineFoot)
            arm = (pose.R @ foot.center if flat or line else -foot.radius * R_WB[2])
            R = R_WB.T if axes == 'world' else pose.R
            columns = 6 if flat else 3
            A = np.vstack([np.hstack([R, np.zeros((3, 3))]),
                           np.hstack([skew(pose.p + arm) @ R, R])])[:, :columns]
            in_foot = np.vstack([np.hstack([pose.R.T @ R, np.zeros((3, 3))]),
                                 np.hstack([pose.R.T @ skew(arm) @ R, pose.R.T @ R])])[:, :columns]
            if line:        # and a moment about its own y axis
                A = np.column_stack([A, np.append(np.zeros(3), pose.R[:, 1])])
                in_foot = np.column_stack([in_foot, np.eye(6)[4]])
            maps.append((A, in_foot))
        rows.append((b, maps))
    return rows


def projected(A, b, length=0.1):
    """Return what of b the columns of A reach, nearest by the norm that scales moments."""
    scale = np.array([1.0, 1.0, 1.0, *[1.0 / length] * 3])
    if A.shape[1] == 0:
        return np.zeros(6), np.zeros((0, 0))
    U, s, _ = np.linalg.svd(scale[:, None] * A, full_matrices=False)
    U = U[:, s > 1e-7 * s[0]]
    return (U @ (U.T @ (scale * b))) / scale, U.T * scale


class Reference:
    """
    The whole problem as one: ``min x^T H x`` subject to ``A x = b``.

    x holds the contact coordinates of feet that stand, frame after frame; `place` says where.
    """

    def __init__(self, model, feet, motion, standing, weights=None, axes='world'):
        weights = weights or OverTimeWeights()
        self.rows, self.shape = balances(model, feet, motion, axes), np.shape(standing)
        self.feet, self.place, n = feet, {}, 0
        for t, i in zip(*np.nonzero(standing)):
            size = self.rows[t][1][i][0].shape[1]
            self.place[int(t), int(i)] = slice(n, n + size)
            n += size
        H = sp.lil_matrix((n, n))
        kinds = np.array([1.0] * 3 + [0.0] * 3)
        small = (weights.minimum_moment + weights.ridge) * np.where(
            kinds, weights.length_scale ** 2, 1.0)
        change = weights.smoothing * np.where(kinds, weights.comparison_length ** 2, 1.0)
        for (t, i), at in self.place.items():
            for k, c in enumerate(range(at.start, at.stop)):
                H[c, c] += small[k]
                for other in (t - 1, t + 1):
                    if (other, i) in self.place:
                        H[c, c] += change[k]
                        H[c, self.place[other, i].start + k] -= change[k]
                    elif 0 <= other < self.shape[0]:
                        H[c, c] += change[k] * weights.transition
        A, b = [], []
        for t in range(self.shape[0]):
            down = np.flatnonzero(standing[t])
            if len(down):
                grasp = np.hstack([self.rows[t][1][i][0] for i in down])
                _, U = projected(grasp, self.rows[t][0])
                A.append(U @ grasp)
                b.append(U @ self.rows[t][0])
        self.H, self.A, self.b = H, sp.block_diag(A), np.concatenate(b)

    def wrenches(self, x):
        """Return (T, nf, 6) wrenches in the feet's frames."""
        wrench = np.zeros((*self.shape, 6))
        for (t, i), at in self.place.items():
            wrench[t, i] = self.rows[t][1][i][1] @ x[at]
        return wrench

    def answer(self):
        """Return the wrenches by one sparse solve."""
        K = sp.bmat([[self.H, self.A.T], [self.A, None]]).tocsc()
        n = self.H.shape[0]
        return self.wrenches(spsolve(K, np.concatenate([np.zeros(n), self.b]))[:n])

    def answer_within(self, cone):
        """Return the wrenches within friction pyramids, by one dense program."""
        C = np.zeros((0, self.H.shape[0]))
        for (t, i), at in self.place.items():
            foot, turn = self.feet[i], self.rows[t][1][i][1][:3, :3]
            A, _ = contact_inequalities(cone, foot, np.eye(3))
            if isinstance(foot, FlatFoot):
                A = np.hstack([A[:, :3] @ turn, A[:, 3:] @ turn])
            wide = np.zeros((len(A), C.shape[1]))
            wide[:, at] = A
            C = np.vstack([C, wide])
        found = solve_quadratic_program(
            self.H.toarray(), np.zeros(C.shape[1]), np.vstack([self.A.toarray(), C]),
            np.concatenate([self.b, np.zeros(len(C))]), n_equalities=len(self.b))
        assert found.outcome is Outcome.SOLVED
        return self.wrenches(found.x), (C @ found.x).min()
