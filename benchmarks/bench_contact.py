# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact inverse dynamics of single instants, against Pinocchio with numpy, MuJoCo and Nimble.

All rivals take turns in one process; Nimble has one of its own (NIMBLE_PYTHON), where there is
one, and so have cold starts.
"""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

from benchmarks.timing import bare_quadruped, draw_times, microseconds
from legged_dynamics.contact import ContactInverseDynamics, EquationWeights, MotionNoise
from legged_dynamics.dynamics import BaseMotion, Motion
from legged_dynamics.force_map import FrictionCone
from legged_dynamics.model import Inertia, Joint, PointFoot, RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.spatial.frames import Transform

title = 'Contact inverse dynamics, quadruped of 18 DoF on four point feet'
HERE = Path(__file__).resolve().parent
PICTURE = 'contact_tick.png'
SAMPLES = 2000
COLD = """
import sys, time
start = time.perf_counter()
import numpy as np
from legged_dynamics.contact import ContactInverseDynamics
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
yaml, urdf = robot_files('anymal_class')
model = RobotModel.from_urdf(urdf)
solver = ContactInverseDynamics(model, RobotConfig.from_yaml(yaml).feet)
zeros = np.zeros(12)
solver.tick(zeros, zeros, zeros, np.array([0, 0, 0, 0, 0, 0, 0, 0, 9.81]))
print((time.perf_counter() - start) * 1e6)
"""


class PinocchioNumpy:
    """The same answers as one writes them with Pinocchio and numpy, unchecked."""

    def __init__(self, model: pin.Model, feet: tuple[str, ...], radius: float,
                 joints: tuple[str, ...]):
        self.model, self.data, self.radius = model, model.createData(), radius
        self.frames = [model.getFrameId(foot) for foot in feet]
        self.order = [6 + list(model.names)[2:].index(name) for name in joints]
        self.q, self.v, self.a = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        self.q[6] = 1.0
        self.down = np.array([0.0, 0.0, radius])
        self.lever = np.array([[0.0, radius, 0.0], [-radius, 0.0, 0.0], [0.0, 0.0, 0.0]])

    def equations(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, base: np.ndarray
                  ) -> tuple[np.ndarray, np.ndarray]:
        """Return all rows of Newton-Euler and the Jacobian of the contact points."""
        self.q[7:][np.array(self.order) - 6], self.v[self.order] = q, v
        self.a[self.order] = a
        self.v[3:6], self.a[3:6] = base[:3], base[3:6]
        self.a[:3] = base[6:] - [0.0, 0.0, 9.81]
        tau = pin.rnea(self.model, self.data, self.q, self.v, self.a)
        pin.computeJointJacobians(self.model, self.data, self.q)
        pin.updateFramePlacements(self.model, self.data)
        rows = []
        for frame in self.frames:
            J = pin.getFrameJacobian(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
            rows.append(J[:3] - self.lever @ J[3:])
        return tau, np.vstack(rows)

    def tick(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, base: np.ndarray
             ) -> tuple[np.ndarray, np.ndarray]:
        """Return stacked contact forces and joint efforts, of the least norm."""
        tau, J = self.equations(q, v, a, base)
        A = J[:, :6]
        w = A @ np.linalg.solve(A.T @ A, tau[:6])
        return w, tau[6:] - J[:, 6:].T @ w

    def fused(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, base: np.ndarray,
              effort: np.ndarray, weight: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """Return the most probable forces given measured torque, in Pinocchio's joint order."""
        tau, J = self.equations(q, v, a, base)
        tau[6:] -= effort
        return np.linalg.solve((J * weight) @ J.T + prior, J @ (weight * tau))


def in_mujoco(urdf: str, base: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the robot on a free joint, its shapes untouched by anything."""
    spec = mujoco.MjSpec.from_string(urdf)
    spec.compiler.fusestatic = False
    spec.body(base).add_freejoint(align=mujoco.mjtAlignFree.mjALIGNFREE_FALSE)
    model = spec.compile()
    return model, mujoco.MjData(model)


def rows() -> list[dict]:
    """Return one row a call, and draw the picture."""
    config = RobotConfig.from_yaml(robot_files('anymal_class')[0])
    model, urdf = bare_quadruped()
    rng = np.random.default_rng(0)
    pose = dict(zip(config.joints, config.nominal_position))
    q = np.array([pose[name] for name in model.joint_names]) + 0.05 * rng.normal(size=12)
    v, a = rng.normal(size=12), rng.normal(size=12)
    base = np.concatenate([0.1 * rng.normal(size=6), [0.3, -0.2, 9.9]])
    steep = np.concatenate([np.zeros(6), [4.0, 2.0, 9.0]])
    lost = np.concatenate([np.zeros(6), [9.0, 0.0, 9.0]])
    state = q, v, a, base
    still = q, np.zeros(12), np.zeros(12)

    solver = ContactInverseDynamics(model, config.feet)
    cone = ContactInverseDynamics(model, config.feet, friction=FrictionCone(0.6))
    weights = EquationWeights(np.full(6, 25.0), np.full(12, 0.25))
    fused = ContactInverseDynamics(model, config.feet, weights=weights)
    twin = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer())
    peer = PinocchioNumpy(twin, tuple(foot.link for foot in config.feet), config.feet[0].radius,
                          model.joint_names)
    found, (forces, efforts) = solver.tick(*state), peer.tick(*state)
    size = np.abs(efforts).max()
    np.testing.assert_allclose(np.linalg.norm(found.wrench[:, :3], axis=1),
                               np.linalg.norm(forces.reshape(4, 3), axis=1), atol=1e-9 * size)
    order = np.array(peer.order) - 6
    np.testing.assert_allclose(found.joint_effort, efforts[order], atol=1e-9 * size)
    effort = found.joint_effort + rng.normal(size=12)
    theirs = np.empty(12)
    theirs[order] = effort
    weight = np.concatenate([np.full(6, 0.04), np.full(12, 4.0)])
    prior = np.eye(12) * 1e-6
    ours, other = fused.tick(*state, effort), peer.fused(*state, theirs, weight, prior)
    np.testing.assert_allclose(np.linalg.norm(ours.wrench[:, :3], axis=1),
                               np.linalg.norm(other.reshape(4, 3), axis=1), rtol=1e-7)
    assert cone.tick(*still, steep).kkt_residual > 0.0 and cone.tick(*still, steep).feasible
    assert not cone.tick(*still, lost).feasible

    mj, data = in_mujoco(Path(urdf).read_text(), config.base_link or model.base_link)
    twin_data = twin.createData()
    rnea = partial(pin.rnea, twin, twin_data, peer.q.copy(), peer.v.copy(), peer.a.copy())
    motion = Motion(q, v, a, BaseMotion(base[:3], base[3:6], base[6:]))
    stance, normal = np.array([True, False, False, True]), np.array([0.0, 0.0, 1.0])
    many = [np.tile(x, (SAMPLES, 1)) for x in state]
    noise = MotionNoise(velocity=0.01, acceleration=1.0, proper_acceleration=0.1, effort=0.5,
                        mass=0.01)
    tick, bare, simple, inverse = microseconds(
        lambda: solver.tick(*state), rnea, lambda: peer.tick(*state),
        lambda: mujoco.mj_inverse(mj, data))
    both, trot, seen = microseconds(
        lambda: solver.solve(motion), lambda: solver.tick(*state, in_contact=stance),
        lambda: solver.tick(*state, in_contact=stance, ground_normal=normal))
    measured, fused_peer = microseconds(
        lambda: fused.tick(*state, effort),
        lambda: peer.fused(*state, theirs, weight, prior))
    free, active, soft = microseconds(
        lambda: cone.tick(*still, base), lambda: cone.tick(*still, steep),
        lambda: cone.tick(*still, lost))
    batch, cones = (t / SAMPLES for t in microseconds(
        lambda: solver.batch(*many), lambda: cone.batch(*many)))
    bars, = microseconds(lambda: fused.uncertainty(motion, noise, effort=effort))
    found = [
        {'name': '`tick`', 'ours_us': tick, 'peer': 'one bare `pin.rnea`', 'peer_us': bare,
         'note': 'ours: wrenches, joint efforts, residual, rank; checked'},
        {'name': '`tick`', 'ours_us': tick, 'peer': 'Pinocchio + numpy', 'peer_us': simple,
         'note': 'agrees to 1e-9'},
        {'name': '`tick`', 'ours_us': tick, 'peer': '`mj_inverse`', 'peer_us': inverse,
         'note': 'MuJoCo: no contacts in it, so no wrenches'},
        *nimble(tick, urdf, [foot.link for foot in config.feet]),
        {'name': '`tick`, two feet down', 'ours_us': trot, 'note': 'rank 5, least squares'},
        {'name': '`tick`, two feet down, ground normal', 'ours_us': seen},
        {'name': '`solve`', 'ours_us': both},
        {'name': '`tick` with measured torque', 'ours_us': measured,
         'peer': 'Pinocchio + numpy', 'peer_us': fused_peer, 'note': 'agrees to 1e-7'},
        {'name': '`tick` within friction cones', 'ours_us': free, 'note': 'none active'},
        {'name': '`tick` within friction cones', 'ours_us': active,
         'note': 'pyramids of 8 facets, some active; warm started'},
        {'name': '`tick` within friction cones', 'ours_us': soft,
         'note': 'infeasible: solved twice'},
        {'name': '`batch`, a sample', 'ours_us': batch, 'peer': 'one bare `pin.rnea`',
         'peer_us': bare, 'note': f'{SAMPLES} samples, one thread'},
        {'name': '`batch` within friction cones, a sample', 'ours_us': cones},
        {'name': '`uncertainty` with measured torque', 'ours_us': bars,
         'note': '60 sources of noise'},
        *starts()]
    draw()
    return found


def nimble(ours: float, urdf: str, feet: list[str]) -> list[dict]:
    """Return Nimble's row, where NIMBLE_PYTHON names a Python that has it."""
    python = os.environ.get('NIMBLE_PYTHON')
    if not python:
        return []
    lines = subprocess.run([python, str(HERE / 'nimble_tick.py'), urdf, *feet], check=True,
                           capture_output=True, text=True).stdout.split()
    return [{'name': '`tick`', 'ours_us': ours, 'peer': f'Nimble, {what}',
             'peer_us': float(value), 'note': 'in a process of its own, state set each time'}
            for what, value in zip(('least moments', 'nearest guess'), lines)]


def starts() -> list[dict]:
    """Return how long a fresh process takes to its first answer: imports, robot, kernels."""
    found = []
    with tempfile.TemporaryDirectory() as cache:
        for what in ('nothing compiled yet', 'kernels on disk'):
            environment = {**os.environ, 'NUMBA_CACHE_DIR': cache}
            done = subprocess.run([sys.executable, '-c', COLD], check=True, capture_output=True,
                                  text=True, env=environment)
            found.append({'name': f'first `tick` of a process, {what}',
                          'ours_us': float(done.stdout), 'note': 'imports and URDF included'})
    return found


def legs(joints: int) -> tuple[RobotModel, pin.Model, list[PointFoot]]:
    """Return a robot of four legs with so many joints each, and its twin."""
    body = Inertia(1.0, np.zeros(3), 0.01 * np.eye(3))
    links, parts = {'base': Inertia(20.0, np.zeros(3), np.eye(3))}, []
    twin = pin.Model()
    root = twin.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), 'root')
    twin.appendBodyToJoint(root, pin.Inertia(20.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    for leg in range(4):
        parent, above = 'base', root
        for k in range(joints):
            name, place = f'leg{leg}_{k}', np.array([0.3 * (-1) ** leg, 0.2 * (-1) ** (leg // 2),
                                                     0.0] if k == 0 else [0.0, 0.0, -0.1])
            axis = np.eye(3)[k % 2]
            links[name] = body
            parts.append(Joint(name, 'revolute', parent, name, Transform(np.eye(3), place), axis))
            above = twin.addJoint(above, pin.JointModelRevoluteUnaligned(axis),
                                  pin.SE3(np.eye(3), place), name)
            twin.appendBodyToJoint(above, pin.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)),
                                   pin.SE3.Identity())
            twin.addFrame(pin.Frame(name, above, pin.SE3.Identity(), pin.FrameType.BODY))
            parent = name
    return RobotModel('legs', links, parts), twin, [
        PointFoot(f'leg{leg}_{joints - 1}', 0.02) for leg in range(4)]


def draw() -> None:
    """Draw the cost of a tick against the number of joints."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for joints in (1, 2, 3, 4, 6, 8, 12, 16):
        model, twin, feet = legs(joints)
        solver, n = ContactInverseDynamics(model, feet), 4 * joints
        peer = PinocchioNumpy(twin, tuple(foot.link for foot in feet), 0.02, model.joint_names)
        rng = np.random.default_rng(joints)
        state = *(rng.normal(size=n) for _ in range(3)), np.array([0.0] * 8 + [9.81])
        many = [np.tile(x, (500, 1)) for x in state]
        calls = {'tick': partial(solver.tick, *state),
                 'batch, a sample': partial(solver.batch, *many),
                 'pin.rnea': partial(pin.rnea, twin, twin.createData(), peer.q, peer.v, peer.a),
                 'Pinocchio + numpy': partial(peer.tick, *state)}
        for (name, _), value in zip(calls.items(), microseconds(*calls.values(), batches=7)):
            curves.setdefault(name, []).append((n, value / (500 if 'batch' in name else 1)))
    draw_times(curves, lambda name: name in ('tick', 'batch, a sample'), 'joints, four feet',
               'time [us]', PICTURE)


if __name__ == '__main__':
    begin = time.perf_counter()
    for row in rows():
        print(row)
    print(f'{time.perf_counter() - begin:.0f} s')
