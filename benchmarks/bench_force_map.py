# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Force maps and their inverse, against what a user writes with Pinocchio and numpy.

Every peer returns the whole map, D and l_0 of ``lambda = l_0 + D tau``, and is checked to agree.
"""
from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.linalg import lapack

from benchmarks.timing import bare_quadruped, microseconds
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.force_map import (
    ConstrainedForceMap,
    FootForceMap,
    FrictionCone,
    TorqueProgram,
    damped_torques,
    stacked_inequalities,
    standing_on,
)
from legged_dynamics.model import PointFoot
from legged_dynamics.spatial.rotations import rotation_from_quaternion

title = 'Force maps, quadruped of 18 DoF'
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')


class PinocchioMaps:
    """The constrained map in the ways Pinocchio offers, in world axes."""

    def __init__(self, urdf: str, feet: tuple[str, ...], q: np.ndarray, v: np.ndarray):
        self.model = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.q, self.v, self.nv = q, v, self.model.nv
        self.frames = [self.model.getFrameId(foot) for foot in feet]
        self.nc, self.still = 3 * len(feet), np.zeros(self.model.nv)
        self.motors = np.vstack([np.zeros((6, self.nv - 6)), np.eye(self.nv - 6)])
        self.contacts = pin.StdVec_RigidConstraintModel()
        self.contact_data = pin.StdVec_RigidConstraintData()
        for frame in (self.model.frames[i] for i in self.frames):
            contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model,
                                               frame.parentJoint, frame.placement,
                                               pin.LOCAL_WORLD_ALIGNED)
            self.contacts.append(contact)
            self.contact_data.append(contact.createData())
        pin.initConstraintDynamics(self.model, self.data, self.contacts, self.contact_data)
        self.once = pin.ProximalSettings(1e-12, 1e-12, 1)
        self.right = np.zeros((self.nc + self.nv, self.nv - 6), order='F')
        self.right[self.nc + 6:] = np.eye(self.nv - 6)

    def _contacts(self) -> tuple[np.ndarray, np.ndarray]:
        J, drift = np.empty((self.nc, self.nv)), np.empty(self.nc)
        for i, frame in enumerate(self.frames):
            rows = slice(3 * i, 3 * i + 3)
            J[rows] = pin.getFrameJacobian(self.model, self.data, frame,
                                           pin.LOCAL_WORLD_ALIGNED)[:3]
            drift[rows] = pin.getFrameClassicalAcceleration(
                self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED).linear
        return J, drift

    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """computeAllTerms, frame Jacobians, numpy.linalg.solve."""
        model, data = self.model, self.data
        pin.computeAllTerms(model, data, self.q, self.v)
        pin.forwardKinematics(model, data, self.q, self.v, self.still)
        J, drift = self._contacts()
        X = np.linalg.solve(data.M, np.column_stack([J.T, self.motors, data.nle]))
        right = J @ X[:, self.nc:]
        right[:, -1] -= drift
        solved = np.linalg.solve(J @ X[:, :self.nc], right)
        return -solved[:, :-1], solved[:, -1]

    def inverse(self) -> tuple[np.ndarray, np.ndarray]:
        """computeMinverse, and LAPACK's Cholesky solver called directly."""
        model, data = self.model, self.data
        M_inverse = pin.computeMinverse(model, data, self.q)
        pin.computeJointJacobians(model, data)
        pin.nonLinearEffects(model, data, self.q, self.v)
        pin.forwardKinematics(model, data, self.q, self.v, self.still)
        J, drift = self._contacts()
        JM = J @ M_inverse
        right = np.empty((self.nc, self.nv - 5), order='F')
        right[:, :-1] = -JM[:, 6:]
        right[:, -1] = JM @ data.nle - drift
        _, solved, _ = lapack.dposv(JM @ J.T, right)
        return solved[:, :-1], solved[:, -1]

    def constraint(self) -> tuple[np.ndarray, np.ndarray]:
        """ConstraintDynamics for l_0, and a solve with the factor it leaves for D."""
        pin.constraintDynamics(self.model, self.data, self.q, self.v, self.still, self.contacts,
                               self.contact_data, self.once)
        offset = self.data.lambda_c
        return -self.data.constraint_chol.solve(self.right)[:self.nc], offset


def rows() -> list[dict]:
    """Return one row a map and peer."""
    model, urdf = bare_quadruped()
    rng = np.random.default_rng(0)
    q = np.tile([0.1, 0.7, -1.2], 4) + 0.05 * rng.normal(size=12)
    v, w, xyzw = rng.normal(size=12), rng.normal(size=3), np.array([0.05, -0.03, 0.1, 1.0])
    R_WB = rotation_from_quaternion(xyzw)
    names = list(pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer()).names)[2:]
    order = [names.index(name) for name in model.joint_names]
    state, rate = np.zeros(19), np.zeros(18)
    state[3:7], rate[3:6] = xyzw / np.linalg.norm(xyzw), w
    for i, k in enumerate(order):
        state[7 + k], rate[6 + k] = q[i], v[i]

    table = []
    for feet in (FEET, FEET[:1]):
        ours = ConstrainedForceMap(model, [PointFoot(foot) for foot in feet])

        def compute(ours: ConstrainedForceMap = ours):
            return ours.compute(q, v, angular_velocity=w, R_WB=R_WB)
        found, peers = compute().in_axes(R_WB), PinocchioMaps(urdf, feet, state, rate)
        calls = {'`constraintDynamics` + its factor': peers.constraint,
                 '`computeMinverse` + LAPACK': peers.inverse,
                 '`computeAllTerms` + `numpy.linalg.solve`': peers.dense}
        for call in calls.values():
            D, offset = call()
            assert np.abs(D[:, order] - found.matrix).max() < 1e-9
            assert np.abs(offset - found.offset).max() < 1e-8
        times = microseconds(compute, *calls.values())
        table += [{'name': f'constrained map, {len(feet)} feet' if len(feet) > 1 else
                   'constrained map, 1 foot', 'ours_us': times[0], 'peer': f'Pinocchio: {peer}',
                   'peer_us': time, 'note': 'D, l_0, contact points'}
                  for peer, time in zip(calls, times[1:])]

    stance = standing_on(model, FEET[0])
    chain, at = FootForceMap(stance.model, passive=['ground_ball']), stance.state(q, v, R_WB, w)
    np.testing.assert_allclose(chain.compute(*at).offset[:3], found.offset, atol=1e-9)
    table.append({'name': 'chain map, 1 foot',
                  'ours_us': microseconds(lambda: chain.compute(*at))[0],
                  'note': 'Phi recursion, f and n; agrees with the constrained map'})

    standing = ConstrainedForceMap(model, [PointFoot(foot) for foot in FEET]).compute(
        q, np.zeros(12))
    program = TorqueProgram(model.effort_limits, stacked_inequalities(
        [FrictionCone(0.6).inequalities()] * 4))
    wish = np.tile([0.0, 0.0, model.total_mass * GRAVITY / 4.0], 4)
    wish[:3] += 50.0, 0.0, -120.0
    warm = program.solve(standing, wish).active
    times = microseconds(lambda: program.solve(standing, wish, warm_start=warm),
                         lambda: damped_torques(standing, wish))
    return [*table,
            {'name': 'torque program, 4 feet, 12 motors', 'ours_us': times[0],
             'note': f'{len(warm)} constraints active of 60, warm start; no peer installed'},
            {'name': 'damped inverse, 4 feet, 12 motors', 'ours_us': times[1], 'note': 'one SVD'}]
