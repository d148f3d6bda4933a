# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The climbing robot: dynamics, force allocation, control, and a second of simulated gait."""
from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.optimize import minimize

from benchmarks.polygon_program import largest_multiple_of_polygons
from benchmarks.timing import microseconds
from legged_dynamics.stickybot import (
    ClimbingSimulation,
    ForceSets,
    Load,
    RestPosition,
    StickybotController,
    StickybotModel,
    StickybotSettings,
    StickybotState,
    accelerations,
    climb,
    largest_acceleration,
    least_maximum,
    load_of,
    unloaded_state,
)

title = 'Climbing robot of four one-link limbs'
AGREEMENT = 1e-6


def rows() -> list[dict]:
    """Return one row a task; peers are checked to agree before they are timed."""
    settings = StickybotSettings.from_parameters({'control.speed': 0.04})
    model = settings.model()
    rng = np.random.default_rng(0)
    calm = unloaded_state(model)
    state = StickybotState(calm.pose, rng.normal(0, 0.05, 3), calm.foot,
                           calm.joint + rng.normal(0, 0.02, 4), rng.normal(0, 0.3, 4))
    return [_dynamics(model, state), *_allocation(model, state), _control(settings),
            *(_second(settings.changed({'control.reduction': way}), way)
              for way in ('off', 'full'))]


def _dynamics(model: StickybotModel, state: StickybotState) -> dict:
    rest = RestPosition(model.rest)
    solve = _pinocchio(model, state)
    ours = accelerations(model, state, rest)
    body, reaction = solve()
    assert np.abs(ours.body - body).max() < AGREEMENT * np.abs(body).max()
    assert np.abs(ours.reaction - reaction).max() < AGREEMENT * np.abs(reaction).max()
    mine, peer = microseconds(lambda: accelerations(model, state, rest), solve)
    return {'name': 'accelerations and wall reactions', 'ours_us': mine,
            'peer': 'Pinocchio + numpy KKT', 'peer_us': peer,
            'note': 'checked public call; the peer only solves, its springs are given'}


def _allocation(model: StickybotModel, state: StickybotState) -> list[dict]:
    load = load_of(model, state, np.array([1.0, 2.0, 5.0]))
    sets = ForceSets.discs([3.0] * 4)
    peer = _slsqp(load)
    assert abs(least_maximum(load).value - peer()) < 1e-5
    ours, scipy_us = microseconds(lambda: least_maximum(load), peer)
    up = np.array([0.0, 1.0, 0.0])
    cone, lines = microseconds(lambda: largest_acceleration(load, up, sets),
                               lambda: largest_multiple_of_polygons(
                                   load, load.per_acceleration * up, sets, 64))
    return [{'name': 'least maximum force, 4 feet', 'ours_us': ours, 'peer': 'scipy SLSQP',
             'peer_us': scipy_us, 'note': 'to a duality gap of 1e-11; SLSQP to 1e-9'},
            {'name': 'largest acceleration, 4 feet', 'ours_us': cone, 'peer': 'HiGHS LP, 64-gons',
             'peer_us': lines, 'note': 'the LP is 0.2 % low'}]


def _control(settings: StickybotSettings) -> dict:
    model = settings.model()
    controller = StickybotController(model, settings.gait(), settings.control())
    simulation = ClimbingSimulation(model)
    first = simulation.measure()
    period = round(1e9 / controller.settings.rate)
    count = [0]

    def update() -> None:
        count[0] += 1
        controller.update(type(first)(count[0] * period, first.hip, first.hip_rate, 0.0, 0.0))

    ours, = microseconds(update)
    return {'name': 'one controller update', 'ours_us': ours,
            'note': 'gait, odometry, estimate, allocation, rest positions'}


def _second(settings: StickybotSettings, way: str) -> dict:
    model, gait, control = settings.model(), settings.gait(), settings.control()
    ours, = microseconds(lambda: climb(model, gait, control, seconds=2.0), batches=5,
                         batch_seconds=0.2)
    return {'name': f'one simulated second of gait, reduction {way}', 'ours_us': ours / 2.0,
            'note': 'robot and controller at 500 Hz'}


def _slsqp(load: Load):  # type: ignore[no-untyped-def]
    grasp, wrench = load.grasp, load.wrench
    start = np.append(np.linalg.lstsq(grasp, wrench, rcond=None)[0], 10.0)
    constraints = [
        {'type': 'eq', 'fun': lambda x: grasp @ x[:-1] - wrench,
         'jac': lambda x: np.column_stack([grasp, np.zeros(3)])},
        {'type': 'ineq', 'fun': lambda x: x[-1] ** 2 - (x[:-1].reshape(-1, 2) ** 2).sum(1)}]
    gradient = np.append(np.zeros(len(start) - 1), 1.0)
    return lambda: minimize(lambda x: x[-1], start, jac=lambda x: gradient, method='SLSQP',
                            constraints=constraints, options={'ftol': 1e-9}).fun


def _pinocchio(model: StickybotModel, state: StickybotState):  # type: ignore[no-untyped-def]
    """Return a call that solves the constrained dynamics of the same robot."""
    twin, here = pin.Model(), pin.SE3.Identity()
    twin.gravity.linear = np.array([*model.wall.in_plane, 0.0])

    def planar(parent: int) -> int:
        for kind in (pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()):
            parent = twin.addJoint(parent, kind, here, f'joint {twin.njoints}')
        return parent

    body = planar(0)
    twin.appendBodyToJoint(body, pin.Inertia(model.body.mass, np.zeros(3),
                                             model.body.inertia * np.eye(3)), here)
    frames, q, v, tau = [], [*state.pose], [*state.velocity], [0.0, 0.0, 0.0]
    c, s = np.cos(state.pose[2]), np.sin(state.pose[2])
    R = np.array([[c, -s], [s, c]])
    for i, limb in enumerate(model.limbs):
        rod, joint = limb.links[0], planar(body)
        twin.appendBodyToJoint(joint, pin.Inertia(
            rod.mass, np.array([rod.center - rod.length, 0, 0]), rod.inertia * np.eye(3)), here)
        foot = pin.SE3(np.eye(3), np.array([-rod.length, 0.0, 0.0]))
        frames.append(twin.addFrame(pin.Frame(limb.name, joint, 0, foot, pin.FrameType.OP_FRAME)))
        turn, rate = state.joint[i], state.joint_velocity[i]
        along = rod.length * np.array([np.cos(turn), np.sin(turn)])
        d = R.T @ (state.foot[i] + along - state.pose[:2])
        dd = (R.T @ (rate * np.array([-along[1], along[0]]) - state.velocity[:2])
              - state.velocity[2] * np.array([-d[1], d[0]]))
        place = np.array([*d, turn - state.pose[2]])
        speed = np.array([*dd, rate - state.velocity[2]])
        q, v = [*q, *place], [*v, *speed]
        tau += (-limb.stiffness @ (place - limb.rest) - limb.damping @ speed).tolist()
    q, v, tau = np.array(q), np.array(v), np.array(tau)
    data, n, k = twin.createData(), twin.nv, 2 * len(frames)

    def solve() -> tuple[np.ndarray, np.ndarray]:
        pin.computeAllTerms(twin, data, q, v)
        pin.forwardKinematics(twin, data, q, v, np.zeros(n))
        pin.updateFramePlacements(twin, data)
        kkt, right = np.zeros((n + k, n + k)), np.empty(n + k)
        kkt[:n, :n] = data.M
        right[:n] = tau - data.nle
        for i, frame in enumerate(frames):
            rows = slice(n + 2 * i, n + 2 * i + 2)
            kkt[rows, :n] = pin.getFrameJacobian(twin, data, frame,
                                                 pin.LOCAL_WORLD_ALIGNED)[:2]
            right[rows] = -pin.getFrameClassicalAcceleration(
                twin, data, frame, pin.LOCAL_WORLD_ALIGNED).linear[:2]
        kkt[:n, n:] = kkt[n:, :n].T
        found = np.linalg.solve(kkt, right)
        return found[:3], -found[n:].reshape(-1, 2)

    return solve
