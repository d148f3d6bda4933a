# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact inverse dynamics over time: cost against the number of frames and SciPy's sparse LU.

Both go from positions, velocities and accelerations to wrenches and joint efforts. The peer is
what a user writes: Pinocchio for each frame's dynamics, one sparse KKT system assembled by whole
arrays, SuperLU. Its answers are checked to agree.
"""
from __future__ import annotations

from functools import partial

import numpy as np
import pinocchio as pin
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve
from scipy.spatial.transform import Rotation

from benchmarks.timing import bare_quadruped, draw_times, microseconds
from legged_dynamics.contact import (
    ContactInverseDynamicsOverTime,
    ContactLimits,
    GeneralizedMotion,
    OverTimeWeights,
)
from legged_dynamics.force_map import FrictionCone
from legged_dynamics.model import FlatFoot, PointFoot, RobotModel
from legged_dynamics.spatial.frames import GRAVITY

title = 'Contact inverse dynamics over time, quadruped of 18 DoF, four feet'
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
FRAMES = (1_000, 10_000, 100_000)
PICTURE = 'over_time.png'
KINDS = {'6-D contacts': [FlatFoot(foot, 0.05, -0.05, 0.03, -0.03) for foot in FEET],
         '3-D contacts': [PointFoot(foot, 0.03) for foot in FEET]}


def sway(model: RobotModel, frames: int, step: float = 0.01) -> GeneralizedMotion:
    """Return a motion of a standing quadruped."""
    rng = np.random.default_rng(0)
    t = step * np.arange(frames + 2)[:, None]
    joints = np.tile([0.0, 0.7, -1.2], 4) + 0.05 * np.sin(
        2.0 * np.pi * rng.uniform(0.5, 2.0, 12) * t + rng.uniform(0.0, 6.0, 12))
    turn = Rotation.from_rotvec(0.05 * np.sin(6.0 * t + [0.0, 2.0, 4.0])).as_quat()
    rows = np.hstack([0.02 * np.sin(7.0 * t + [0.0, 1.0, 2.0]), turn, joints])
    return GeneralizedMotion.from_positions(model, rows, step)


class PinocchioAndScipy:
    """The same answer as a user would get it."""

    def __init__(self, urdf: str, feet: list, motion: GeneralizedMotion, joint_names: tuple,
                 weights: OverTimeWeights):
        self.model = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer())
        self.data, self.weights = self.model.createData(), weights
        self.frames = [self.model.getFrameId(foot.link) for foot in feet]
        self.size = 6 if isinstance(feet[0], FlatFoot) else 3
        self.radius = 0.0 if self.size == 6 else feet[0].radius
        order = [joint_names.index(name) for name in list(self.model.names)[2:]]
        R, w = motion.base_rotation, motion.base_motion
        # Gravity is in the base's proper acceleration, and is put back by an upright model's.
        twist, rate = np.zeros((2, len(motion), 6))
        twist[:, 3:], rate[:, 3:] = w[:, :3], w[:, 3:6]
        rate[:, :3] = w[:, 6:] + np.einsum('tji,j->ti', R, [0.0, 0.0, -GRAVITY])
        self.q = np.hstack([np.zeros((len(R), 3)), Rotation.from_matrix(R).as_quat(),
                            motion.position[:, order]])
        self.v = np.hstack([twist, motion.velocity[:, order]])
        self.a = np.hstack([rate, motion.acceleration[:, order]])

    def assemble(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return demands (world axes), joint efforts, contact points and Jacobians."""
        T, nf = len(self.q), len(self.frames)
        tau, points = np.empty((T, self.model.nv)), np.empty((T, nf, 3))
        J, demand = np.empty((T, nf, self.size, self.model.nv - 6)), np.empty((T, 6))
        for t in range(T):
            tau[t] = pin.rnea(self.model, self.data, self.q[t], self.v[t], self.a[t])
            pin.computeJointJacobians(self.model, self.data, self.q[t])
            pin.updateFramePlacements(self.model, self.data)
            for i, frame in enumerate(self.frames):
                points[t, i] = self.data.oMf[frame].translation
                jacobian = pin.getFrameJacobian(self.model, self.data, frame,
                                                pin.LOCAL_WORLD_ALIGNED)[:, 6:]
                if self.radius:
                    x, y, _ = jacobian[3:]
                    jacobian[0] -= self.radius * y
                    jacobian[1] += self.radius * x
                J[t, i] = jacobian[:self.size]
            R = self.data.oMi[1].rotation
            demand[t, :3], demand[t, 3:] = R @ tau[t, :3], R @ tau[t, 3:6]
        points[..., 2] -= self.radius
        return demand, tau[:, 6:], points, J

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return contact coordinates (T, nf, size) in world axes and joint efforts."""
        demand, tau, points, J = self.assemble()
        T, nf, size = len(points), points.shape[1], self.size
        nc, weights = nf * size, self.weights
        small = weights.minimum_moment + weights.ridge
        own = np.tile([small * weights.length_scale ** 2] * 3 + [small] * (size - 3), nf)
        change = weights.smoothing * np.tile([weights.comparison_length ** 2] * 3
                                             + [1.0] * (size - 3), nf)
        links = np.zeros((T, 1))
        links[1:] += 1.0
        links[:-1] += 1.0
        off = sp.diags(np.tile(-change, T - 1), nc, shape=(T * nc, T * nc))
        H = sp.diags((own + links * change).ravel()) + off + off.T
        grasp = np.zeros((T, 6, nf, 6))
        x, y, z = np.moveaxis(points, 2, 0)
        for k in range(6):
            grasp[:, k, :, k] = 1.0
        grasp[:, 3, :, 1], grasp[:, 3, :, 2], grasp[:, 4, :, 0] = -z, y, z
        grasp[:, 4, :, 2], grasp[:, 5, :, 0], grasp[:, 5, :, 1] = -x, -y, x
        blocks = grasp[..., :size].reshape(T, 6, nc)
        row = np.broadcast_to(np.arange(6 * T).reshape(T, 6, 1), blocks.shape)
        column = np.broadcast_to(np.arange(T * nc).reshape(T, 1, nc), blocks.shape)
        A = sp.csc_matrix((blocks.ravel(), (row.ravel(), column.ravel())), (6 * T, T * nc))
        A.eliminate_zeros()
        K = sp.bmat([[H, A.T], [A, None]], format='csc')
        w = spsolve(K, np.concatenate([np.zeros(T * nc), demand.ravel()]))[:T * nc]
        w = w.reshape(T, nf, size)
        return w, tau - np.einsum('tfkj,tfk->tj', J, w)

    def check(self, wrench: np.ndarray) -> None:
        """Compare the sizes of forces (T, nf, 6), which axes do not change."""
        theirs = np.linalg.norm(self.solve()[0][..., :3], axis=2)
        ours = np.linalg.norm(wrench[..., :3], axis=2)
        assert np.abs(ours - theirs).max() < 1e-8 * ours.max()


def rows() -> list[dict]:
    """Return rows for each kind of contact, and draw the picture."""
    model, urdf = bare_quadruped()
    found, curves, weights = [], {}, OverTimeWeights()
    for kind, feet in KINDS.items():
        solver = ContactInverseDynamicsOverTime(model, feet)
        ours, theirs = curves.setdefault(kind, []), curves.setdefault(f'{kind}, scipy sparse', [])
        for T in (100, 300, *FRAMES):
            motion = sway(model, T)
            calls = [partial(solver.solve, motion, weights=weights)]
            if T <= FRAMES[0]:
                peer = PinocchioAndScipy(urdf, feet, motion, model.joint_names, weights)
                peer.check(solver.solve(motion, weights=weights).wrench)
                calls.append(peer.solve)
            times = microseconds(*calls, batches=9 if T < FRAMES[-1] else 3)
            ours.append((T, times[0]))
            if len(times) > 1:
                theirs.append((T, times[1]))
            if T == FRAMES[0]:
                found.append({'name': f'{kind}, T = {T}', 'ours_us': times[0],
                              'peer': 'Pinocchio + scipy `spsolve`', 'peer_us': times[1],
                              'note': 'from q, v, a to wrenches and efforts'})
            if T >= FRAMES[0]:
                found.append({'name': f'{kind}, T = {T}, a frame', 'ours_us': times[0] / T,
                              'note': f'{times[0] / 1e3:.1f} ms in all'})
    solver = ContactInverseDynamicsOverTime(model, KINDS['3-D contacts'])
    motion = sway(model, FRAMES[0])
    for shape in ('pyramid', 'round'):
        call = partial(solver.solve, motion, limits=ContactLimits(FrictionCone(0.2), shape))
        found.append({'name': f'3-D contacts in cones ({shape}), T = {FRAMES[0]}',
                      'ours_us': microseconds(call, batches=3)[0],
                      'note': f'interior point, {call().iterations} iterations'})
    draw_times({name: [(T, time / 1e3) for T, time in points] for name, points in curves.items()},
               lambda name: 'scipy' not in name, 'frames', 'time [ms]', PICTURE)
    return found
