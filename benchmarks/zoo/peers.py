# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Peers: what an engineer writes in an afternoon with Pinocchio and numpy."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.zoo.estimators import Estimator, Output, Outputs
from benchmarks.zoo.recording import Recording
from legged_dynamics.estimation import Measurement
from legged_dynamics.model import FlatFoot

THRESHOLD = 0.04       # of the weight: normal force of a foot that is down
SPEED_NOISE = 0.02     # m/s, of the base velocity that the observer is given


class Twin:
    """
    The robot in Pinocchio: dynamics of the legs and Jacobians of the contact points.

    Joint physics (armature, damping, dry friction) are the configuration's.
    """

    def __init__(self, recording: Recording):
        import pinocchio as pin
        self.pin = pin
        self.model = pin.buildModelFromXML(recording.urdf, pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.config = recording.config
        ids = [self.model.getJointId(name) for name in recording.joints]
        self.iq = np.array([self.model.joints[i].idx_q for i in ids])
        self.iv = np.array([self.model.joints[i].idx_v for i in ids])
        self.frames = [self.model.getFrameId(foot) for foot in recording.feet]
        self.rows = 6 if isinstance(self.config.feet[0], FlatFoot) else 3
        model = self.config.apply_to(recording.model)
        self.armature = np.array([j.armature for j in model.joints])
        self.damping = np.array([j.damping for j in model.joints])
        self.friction = np.array([j.friction for j in model.joints])
        armature = np.zeros(self.model.nv)
        armature[self.iv] = self.armature
        self.model.armature = armature
        moving = {frame: self.model.frames[frame].parentJoint for frame in self.frames}
        self.legs = []
        for frame in self.frames:
            chain, joint = [], moving[frame]
            while joint > 1:
                chain.append(self.model.joints[joint].idx_v)
                joint = self.model.parents[joint]
            self.legs.append(np.array(sorted(chain)))
        self.q, self.v = pin.neutral(self.model), np.zeros(self.model.nv)
        self.weight = recording.weight

    def read(self, m: Measurement, R_WB: np.ndarray, velocity: np.ndarray) -> None:
        """Take a state; the base's velocity is [linear; angular] in B."""
        self.R = R_WB
        self.q[3:7] = Rotation.from_matrix(R_WB).as_quat()
        self.q[self.iq] = m.position
        self.v[:6] = velocity
        self.v[self.iv] = m.velocity
        self.pin.computeJointJacobians(self.model, self.data, self.q)
        self.pin.updateFramePlacements(self.model, self.data)

    def effort(self, m: Measurement) -> np.ndarray:
        """Return the generalised force of the drives and their losses, (nv,)."""
        tau = np.zeros(self.model.nv)
        tau[self.iv] = (m.effort - self.damping * m.velocity
                        - self.friction * np.tanh(m.velocity / 0.05))
        return tau

    def forces(self, torque: np.ndarray) -> np.ndarray:
        """Return forces in B whose `J^T f` is a (nv,) torque in each leg, (nf, 3)."""
        found = np.zeros((len(self.frames), 3))
        for i, (frame, leg) in enumerate(zip(self.frames, self.legs)):
            J = self.pin.getFrameJacobian(self.model, self.data, frame,
                                          self.pin.LOCAL_WORLD_ALIGNED)[:self.rows, leg].copy()
            if self.rows == 3:
                arm = np.array([0.0, 0.0, -self.config.feet[i].radius])
                full = self.pin.getFrameJacobian(self.model, self.data, frame,
                                                 self.pin.LOCAL_WORLD_ALIGNED)[3:, leg]
                J += np.cross(full.T, arm).T
            # Least squares, a little damped: a straight knee must not blow up.
            J_T = J.T
            force = np.linalg.solve(J_T.T @ J_T + 1e-8 * np.eye(self.rows), J_T.T @ torque[leg])
            found[i] = self.R.T @ force[:3]
        return found

    def output(self, stamp: float, force: np.ndarray) -> Output:
        """Return an output with contacts by a threshold on the vertical force."""
        vertical = force @ self.R[2]
        return Output(stamp, force, vertical > THRESHOLD * self.weight)


def _mount(recording: Recording) -> np.ndarray:
    return recording.imu_rotation[0].T @ recording.base_rotation[0]


def static(recording: Recording, measurements: Iterator[Measurement]) -> Iterator[Outputs]:
    """Static `J^-T (tau - g)` of each leg."""
    twin, R_IB = Twin(recording), _mount(recording)
    for m in measurements:
        if m.effort is None or m.orientation is None:
            yield {}        # without torque or tilt it knows nothing
            continue
        twin.read(m, Rotation.from_quat(m.orientation).as_matrix() @ R_IB, np.zeros(6))
        twin.pin.computeGeneralizedGravity(twin.model, twin.data, twin.q)
        yield {'raw': twin.output(m.stamp_ns, twin.forces(twin.data.g - twin.effort(m)))}


def observer(gain: float = 250.0) -> Estimator:
    """
    Return the first-order generalised-momentum observer, per leg.

    ``r = K (p - integral(tau + C^T v - g + r))``; it is given the true base velocity with noise of
    0.02 m/s a sample.

    Parameters
    ----------
    gain : float [1/s]

    """
    def run(recording: Recording, measurements: Iterator[Measurement]) -> Iterator[Outputs]:
        twin, R_IB = Twin(recording), _mount(recording)
        rng = np.random.default_rng(recording.seed + 7)
        residual = integral = start = None
        dt = 1.0 / recording.rate
        pin = twin.pin
        for k, m in enumerate(measurements):
            if m.effort is None or m.orientation is None:
                yield {}
                continue
            velocity = np.concatenate([
                recording.base_twist[k, :3] + SPEED_NOISE * rng.standard_normal(3),
                R_IB.T @ m.angular_velocity])
            twin.read(m, Rotation.from_quat(m.orientation).as_matrix() @ R_IB, velocity)
            M = pin.crba(twin.model, twin.data, twin.q)
            M = np.triu(M) + np.triu(M, 1).T
            momentum = M @ twin.v
            C = pin.computeCoriolisMatrix(twin.model, twin.data, twin.q, twin.v)
            g = pin.computeGeneralizedGravity(twin.model, twin.data, twin.q)
            rate = twin.effort(m) + C.T @ twin.v - g
            if residual is None:
                integral = np.zeros(twin.model.nv)
                residual, start = g - twin.effort(m), momentum
                integral -= residual / gain
            else:
                # Implicit in r: stable at any gain.
                integral = integral + dt * rate
                residual = (gain * (momentum - start - integral)) / (1.0 + gain * dt)
                integral = integral + dt * residual
            pin.computeJointJacobians(twin.model, twin.data, twin.q)
            pin.updateFramePlacements(twin.model, twin.data)
            yield {'raw': twin.output(m.stamp_ns, twin.forces(residual))}
    return run
