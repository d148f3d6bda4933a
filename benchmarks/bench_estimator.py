# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""One tick of the ground reaction estimator, against the same estimate by Pinocchio and numpy."""
from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np

from benchmarks.timing import microseconds, undisturbed
from legged_dynamics.contact import ContactInverseDynamics
from legged_dynamics.dynamics import BaseMotion, Motion, inverse_dynamics
from legged_dynamics.dynamics.kinematics import body_workspace
from legged_dynamics.dynamics.newton_euler import newton_euler
from legged_dynamics.estimation import GroundReactionEstimator, Measurement
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.spatial.frames import GRAVITY

title = 'Ground reaction estimator, quadruped of 18 DoF on four feet'


class PinocchioNumpy:
    """The fused estimate as one writes it with Pinocchio and numpy, at full bandwidth.

    Central differences, RNEA, frame Jacobians, weighted least squares of base and joint equations
    with covariance. Contact detection, filtering and checks, which ours does too, are left out.
    """

    def __init__(self, urdf: str, feet: tuple[str, ...], joints: tuple[str, ...]):
        import pinocchio as pin
        self.pin = pin
        self.model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.frames = [self.model.getFrameId(foot) for foot in feet]
        self.weight = np.concatenate([[0.04, 0.04, 0.04, 0.1, 0.1, 0.1], np.full(12, 4.0)])
        self.prior = np.eye(12) * 1e-6
        self.history: list = []
        self.gravity = np.array([0, 0, GRAVITY])
        self.order = [list(self.model.names)[2:].index(name) for name in joints]
        self.q, self.v, self.a = (np.zeros(self.model.nq), np.zeros(self.model.nv),
                                  np.zeros(self.model.nv))
        self.q[6] = 1.0
        self.model.gravity = pin.Motion.Zero()

    def update(self, m: Measurement) -> tuple[np.ndarray, np.ndarray]:
        """Return the stacked foot forces in base axes and their covariance."""
        pin, q, v, a = self.pin, self.q, self.v, self.a
        self.history.append(m)
        if len(self.history) < 3:
            return np.zeros(12), self.prior
        last, now, new = self.history
        self.history.pop(0)
        dt = (new.stamp_ns - last.stamp_ns) * 1e-9
        q[7:][self.order] = now.position
        v[6:][self.order] = now.velocity
        v[3:6] = now.angular_velocity
        a[6:][self.order] = (new.velocity - last.velocity) / dt
        a[3:6] = (new.angular_velocity - last.angular_velocity) / dt
        a[:3] = now.linear_acceleration
        b = pin.rnea(self.model, self.data, q, v, a)
        b[6:][self.order] -= now.effort
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        rows = [pin.getFrameJacobian(self.model, self.data, frame,
                                     pin.LOCAL_WORLD_ALIGNED)[:3] for frame in self.frames]
        J = np.vstack(rows)
        information = (J * self.weight) @ J.T + self.prior
        covariance = np.linalg.inv(information)
        return covariance @ (J @ (self.weight * b)), covariance


def measurements(model: RobotModel, config: RobotConfig) -> list[Measurement]:
    """Return measurements of a slowly moving standing robot."""
    rng = np.random.default_rng(0)
    order = [config.joints.index(name) for name in model.joint_names]
    q = np.array(config.nominal_position)[order]
    motion = Motion(q, np.zeros(12), np.zeros(12))
    tau = ContactInverseDynamics(model, config.feet).solve(motion).joint_effort
    return [Measurement(k * 2_000_000, q + 0.01 * rng.normal(size=12), 0.1 * rng.normal(size=12),
                        tau + rng.normal(size=12), 0.01 * rng.normal(size=3),
                        np.array([0, 0, GRAVITY]) + 0.1 * rng.normal(size=3),
                        np.array([0, 0, 0, 1.0])) for k in range(2000)]


def update_times(estimator: GroundReactionEstimator, recorded: list[Measurement],
                 runs: int = 5) -> np.ndarray:
    """Return the time of each update of a run (n,) [us]: the shortest of some, loads aside."""
    taken = []
    for _ in range(runs):
        estimator.reset()
        times = []
        for m in recorded:
            start = time.perf_counter()
            estimator.update(m)
            times.append(time.perf_counter() - start)
        taken.append(times)
    estimator.reset()
    return np.min(taken, axis=0) * 1e6


def rows() -> list[dict]:
    """Time the tick and its parts."""
    yaml, urdf = robot_files('anymal_class')
    config = RobotConfig.from_yaml(yaml)
    model = RobotModel.from_urdf(urdf)
    estimator = GroundReactionEstimator(model, config)
    recorded = measurements(estimator.model, config)
    peer = PinocchioNumpy(urdf.read_text(), estimator.feet, estimator.model.joint_names)
    # Again and again, each time later: nothing is reset within what is timed.
    ours_next = itertools.cycle([replace(m, stamp_ns=m.stamp_ns + again * 2_000_000 * 2000)
                                 for again in range(20) for m in recorded])
    peer_next = itertools.cycle(recorded)
    for _ in range(3):
        estimator.update(next(ours_next))
        peer.update(next(peer_next))

    def ours() -> None:
        m = next(ours_next)
        if m.stamp_ns == 0:
            estimator.reset()
        estimator.update(m)
    longest = float(update_times(estimator, recorded).max())
    pin, q, v = peer.pin, peer.q.copy(), peer.v.copy()
    tick, tick_peer = microseconds(ours, lambda: peer.update(next(peer_next)))
    calm, bare = undisturbed(ours, lambda: pin.rnea(peer.model, peer.data, q, v, v))

    m = recorded[5]
    motion = Motion(m.position, m.velocity, m.velocity, BaseMotion())
    bodies, tau, base = body_workspace(estimator.model), np.zeros(12), motion.base.packed()
    tree = estimator.model.tree
    kernel, public, rnea = microseconds(
        lambda: newton_euler(tree, m.position, m.velocity, m.velocity, base, bodies, tau),
        lambda: inverse_dynamics(estimator.model, motion),
        lambda: pin.rnea(peer.model, peer.data, q, v, v))
    solver = ContactInverseDynamics(estimator.model, config.feet)
    contact, = microseconds(lambda: solver.solve(motion))
    return [
        {'name': '`GroundReactionEstimator.update`, four feet', 'ours_us': tick,
         'peer': 'Pinocchio + numpy', 'peer_us': tick_peer,
         'note': 'ours also detects contact, filters, checks; the peer only estimates'},
        {'name': 'the same, undisturbed', 'ours_us': calm,
         'peer': 'one bare `pin.rnea`', 'peer_us': bare,
         'note': f'{calm / bare:.1f} times as long'},
        {'name': f'the longest of {len(recorded)} updates', 'ours_us': longest,
         'note': 'one step of a new estimate of the actuators'},
        {'name': 'inverse dynamics, kernel', 'ours_us': kernel, 'peer': '`pin.rnea`',
         'peer_us': rnea},
        {'name': 'inverse dynamics, checked call', 'ours_us': public, 'peer': '`pin.rnea`',
         'peer_us': rnea, 'note': 'allocates and checks'},
        {'name': '`ContactInverseDynamics.solve`, four point feet', 'ours_us': contact,
         'note': 'all ranks, closed form'},
    ]
