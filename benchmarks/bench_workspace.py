# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A tick of workspace control, stage by stage, against Pinocchio with a QP library.

The peer does the same job as briefly as its libraries allow: dynamics and Jacobians by Pinocchio,
joint accelerations by numpy, the feet's forces by quadprog's Goldfarb-Idnani within the same
pyramids and effort limits. Its efforts are checked to agree.
"""
from __future__ import annotations

import math
import time
import timeit
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pinocchio as pin
import quadprog
from scipy.spatial.transform import Rotation

from benchmarks.timing import microseconds
from benchmarks.walking_robots import Laboratory, walk
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import BodyState, LegOdometry, Measurement
from legged_dynamics.estimation.leg_odometry import OdometryFault
from legged_dynamics.force_map.friction_cone import FrictionCone
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.rotations import rotation_from_vector, skew
from legged_dynamics.workspace import (
    AskedForce,
    BodyPose,
    BodyTarget,
    ReferenceGenerator,
    WorkspaceController,
)
from legged_dynamics.workspace import control_tick as codes
from legged_dynamics.workspace.control_tick import find_dynamics, find_efforts, find_forces
from legged_dynamics.workspace.force_division import FACETS, FRICTION_CONE, friction_cone
from legged_dynamics.workspace.propagation import invert_legs, propagate_velocity
from legged_dynamics.workspace.walking import make_walker
from legged_dynamics.workspace.walking.walker import Walker

title = 'Workspace control, quadruped of 18 DoF on four point feet'
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
SETTLED = 300       # ticks until a force is there
PLAIN = {'robot.foot_radius': 0.0, 'robot.joint_friction': [0.0], 'robot.joint_damping': [0.0],
         'robot.armature': [0.0]}


class Peer:
    """The tick as one writes it with Pinocchio, numpy and quadprog, in world axes."""

    def __init__(self, urdf: str, settings: dict, limits: np.ndarray):
        self.model = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.frames = [self.model.getFrameId(foot) for foot in FEET]
        self.still, self.limits = np.zeros(self.model.nv), limits
        self.stiffness, self.damping = (np.concatenate([
            settings[f'gains.linear.{name}'], settings[f'gains.angular.{name}']])
            for name in ('stiffness', 'damping'))
        weight = GRAVITY * pin.computeTotalMass(self.model)
        A, b = FrictionCone(settings['division.friction'], facets=FACETS,
                            minimum=settings['division.minimum_load'] * weight).inequalities()
        self.A, self.b, self.H = np.kron(np.eye(4), A), np.tile(b, 4), np.eye(12)

    def tick(self, q: np.ndarray, v: np.ndarray, goal: BodyTarget) -> np.ndarray:
        """Return joint efforts in Pinocchio's order, for a target at rest."""
        model, data = self.model, self.data
        R = pin.Quaternion(q[3:7]).matrix()
        pin.computeAllTerms(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, self.still)
        J, drift, points = np.empty((12, 18)), np.empty(12), np.empty((4, 3))
        for i, frame in enumerate(self.frames):
            rows = slice(3 * i, 3 * i + 3)
            J[rows] = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)[:3]
            drift[rows] = pin.getFrameClassicalAcceleration(model, data, frame,
                                                            pin.LOCAL_WORLD_ALIGNED).linear
            points[i] = data.oMf[frame].translation - q[:3]
        error = np.concatenate([R.T @ (q[:3] - goal.position), pin.log3(goal.rotation.T @ R)])
        wanted = -self.damping * v[:6] - self.stiffness * error
        joints = -np.linalg.solve(J[:, 6:], J[:, :6] @ wanted + drift)
        taken = data.M @ np.concatenate([wanted, joints]) + data.nle
        force = R @ taken[:3]
        grasp = np.zeros((6, 12))
        for i, point in enumerate(points):
            grasp[:3, 3 * i:3 * i + 3] = np.eye(3)
            grasp[3:, 3 * i:3 * i + 3] = skew(point)
        torques = J[:, 6:].T
        C = np.vstack([grasp, self.A, torques, -torques])
        d = np.concatenate([force, R @ taken[3:6], self.b, taken[6:] - self.limits,
                            -taken[6:] - self.limits])
        forces = quadprog.solve_qp(self.H, np.tile(force / 4.0, 4), C.T, d, 6)[0]
        return taken[6:] - torques @ forces


def body_state(R: np.ndarray, twist: np.ndarray) -> BodyState:
    """Return a state on four feet."""
    return BodyState(0, np.array([0.0, 0.0, 0.5]), R, twist, np.ones(4, bool), np.zeros((4, 3)),
                     np.zeros(4), 0.0, 0, 0, OdometryFault.NONE)


def stage_calls(controller: WorkspaceController, state: BodyState) -> dict[str, Callable]:
    """Return what each stage of the last tick costs, by name."""
    feet = controller._stances[state.contact.tobytes()]
    s, memory, inputs, held = feet.arrays, feet.memory, controller._inputs.all, controller._held
    packed, kept, program = feet.packed
    chosen, moved = controller._chosen, controller._unmoved
    parameters, gains = chosen.parameters, chosen.gains
    out, up = np.zeros(codes.OUTPUT.effort + 12 + 28), tuple(state.rotation[2])
    first, inverse = lean_kernel(propagate_velocity), lean_kernel(invert_legs)
    threshold = float(parameters[codes.PARAMETER.threshold])
    find_dynamics(packed, parameters, held, moved, inputs)
    find_forces(packed, kept, FRICTION_CONE, gains, np.zeros(6), inputs, 0.0, out)
    at = codes.OUTPUT
    even, free = memory.shares.copy(), out[at.effort:at.effort + 12].copy()
    wrench = out[at.net:at.missing].copy()

    def divide() -> None:
        memory.shares[:] = even
        friction_cone(packed, program, inputs[:9], wrench, free, memory.limits, memory.weights,
                      memory.shares)

    def finish() -> None:
        out[codes.OUTPUT.effort:codes.OUTPUT.effort + 12] = free
        find_efforts(packed, kept, FRICTION_CONE, 0, parameters, out)
    return {
        'stage 1: velocity propagation, loads, contact Jacobians': lambda: first(s, up),
        'stage 2, of which: singular values and inverses of the legs':
            lambda: inverse(s, threshold),
        'stages 1 and 2: exact workspace dynamics':
            lambda: find_dynamics(packed, parameters, held, moved, inputs),
        'stage 3: errors, wanted acceleration, force, inverse dynamics':
            lambda: find_forces(packed, kept, FRICTION_CONE, gains, np.zeros(6), inputs, 0.0,
                                out),
        'force division: QP of 12 unknowns, 66 constraints': divide,
        'stage 4: propagation to joint efforts, report': finish}


def rows() -> list[dict]:
    """Return the row of the whole tick, of its stages, and of what runs beside it."""
    yaml, urdf = robot_files('anymal_class')
    config = RobotConfig.from_parameters({**read_parameter_file(yaml), **PLAIN})
    model = RobotModel.from_urdf(str(urdf))
    settings = {'gains.linear.integral': [0.0] * 3, 'gains.angular.integral': [0.0] * 3}
    controller = WorkspaceController(model, config, settings)
    rng = np.random.default_rng(0)
    order = [config.joints.index(name) for name in model.joint_names]
    q = np.array(config.nominal_position)[order] + 0.05 * rng.normal(size=12)
    v, twist = 0.2 * rng.normal(size=12), 0.05 * rng.normal(size=6)
    R = rotation_from_vector(np.array([0.05, -0.03, 0.2]))
    goal = BodyTarget.of(np.array([0.01, 0.0, 0.49]), R @ rotation_from_vector([0.01, 0.02, 0.0]))
    state = body_state(R, twist)
    measurement = Measurement(0, q, v, None, np.zeros(3), R.T @ [0.0, 0.0, GRAVITY],
                              Rotation.from_matrix(R).as_quat())
    command = controller.update(state, measurement, goal)

    limits = controller.settings['limits.effort_fraction'] * model.effort_limits
    names = list(pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer()).names)[2:]
    places = [names.index(name) for name in model.joint_names]
    peer = Peer(str(urdf), controller.settings.values, limits)
    peer_q, peer_v = np.zeros(19), np.zeros(18)
    peer_q[:3], peer_q[3:7] = state.position, Rotation.from_matrix(R).as_quat()
    peer_v[:6] = twist
    for i, k in enumerate(places):
        peer_q[7 + k], peer_v[6 + k] = q[i], v[i]
    # Theirs is the component-wise derivative of the twist, as ours.
    efforts = peer.tick(peer_q, peer_v, goal)[places]
    assert not command.faults
    assert np.abs(efforts - command.effort).max() < 1e-6, (efforts, command.effort)

    ours, theirs = microseconds(lambda: controller.update(state, measurement, goal),
                                lambda: peer.tick(peer_q, peer_v, goal))
    table = [{'name': 'the whole tick, friction-cone division', 'ours_us': ours,
              'peer': 'Pinocchio + numpy + quadprog', 'peer_us': theirs,
              'note': 'same efforts to 1e-6 N m'}]
    wishing = WorkspaceController(model, config, settings)
    asked = _settled(wishing, state, measurement, goal)
    last = replace(measurement, stamp_ns=SETTLED * 2_000_000)
    ours, theirs = microseconds(lambda: wishing.update(state, last, goal, asked),
                                lambda: peer.tick(peer_q, peer_v, goal))
    table.append({'name': 'the whole tick, one foot asked for a force', 'ours_us': ours,
                  'peer': 'Pinocchio + numpy + quadprog', 'peer_us': theirs,
                  'note': 'the peer asks nobody'})
    for name, call in stage_calls(controller, state).items():
        table.append({'name': name, 'ours_us': microseconds(call)[0], 'note': 'called by itself'})
    for method in ('even', 'least_squares'):
        other = WorkspaceController(model, config, {'division.method': method})

        def update(other: WorkspaceController = other) -> object:
            return other.update(state, measurement, goal)
        table.append({'name': f'the whole tick, {method.replace("_", " ")} division',
                      'ours_us': microseconds(update)[0]})
    table.append(_walking(lambda: pin.rnea(peer.model, peer.data, peer_q, peer_v, peer_v)))
    table.append({'name': 'leg odometry, one sample', 'ours_us': _odometry(model, config, q, R),
                  'note': 'pose and twist of the base from joints and IMU'})
    reference = ReferenceGenerator()
    reference.rest(0, BodyPose(np.zeros(3), np.eye(3)))
    reference.move_to(0, BodyPose(np.array([0.0, 0.0, 0.1]), R))
    table.append({'name': 'reference, one sample',
                  'ours_us': microseconds(lambda: reference.at(300_000_000))[0]})
    return table


def _settled(controller: WorkspaceController, state: BodyState, measurement: Measurement,
             goal: BodyTarget) -> dict[int, AskedForce]:
    """Ask the first foot for some newtons more than it has, until it has them."""
    controller.update(state, measurement, goal)
    asked = {0: AskedForce(controller.forces()[0] + [0.0, 0.0, 20.0])}
    for k in range(SETTLED):
        command = controller.update(state, replace(measurement, stamp_ns=(k + 1) * 2_000_000),
                                    goal, asked)
    assert not command.clipped
    return asked


def _walking(rnea: Callable) -> dict:
    """Return the row of walker and controller in a trot; of each tick the fastest of nine."""
    lab, calls, walked = Laboratory('anymal_class'), [], Walker.update

    def recorded(walker: Walker, *inputs: Any) -> Any:
        calls.append((walker.walk, inputs))
        return walked(walker, *inputs)
    velocity = 0.3, 0.05, 0.1
    with patch.object(Walker, 'update', recorded):
        walk(lab, 'trot', lambda t: velocity, 3.5, stop=0.0)
    walker = make_walker(lab.known, lab.config, {'gait': 'trot'})
    controller, runs, bare = WorkspaceController(lab.known, lab.config), [], math.inf
    for _ in range(9):
        bare = min(bare, *timeit.repeat(rnea, repeat=50, number=20))
        walker.reset()
        controller.reset()
        times = []
        for walker.walk, inputs in calls:
            walker.command(*velocity)
            start = time.perf_counter()
            plan = walker.update(*inputs)
            between = time.perf_counter()
            controller.update(*inputs[:2], plan.target, legs=plan.legs)
            times.append((between - start, time.perf_counter() - between))
        runs.append(times)
    of_walker, of_controller = 1e6 * np.min(runs, axis=0)[-1000:].mean(axis=0)
    both, bare = float(of_walker + of_controller), bare * 5e4
    return {'name': 'a tick of a trot, mean of 2 s', 'ours_us': both,
            'peer': 'one bare `pin.rnea`', 'peer_us': bare,
            'note': f'{both / bare:.0f} times as long; walker {of_walker:.0f}, controller '
                    f'{of_controller:.0f}'}


def _odometry(model: RobotModel, config: RobotConfig, q: np.ndarray, R: np.ndarray) -> float:
    odometry, still = LegOdometry(model, config), np.zeros(12)
    stamp = [0]
    mount = model.frame(config.imu_link).pose.R
    gravity, xyzw = mount.T @ R.T @ [0.0, 0.0, GRAVITY], Rotation.from_matrix(R @ mount).as_quat()

    def update() -> None:
        stamp[0] += 2_000_000
        odometry.update(Measurement(stamp[0], q, still, None, np.zeros(3), gravity, xyzw))
    return microseconds(update)[0]
