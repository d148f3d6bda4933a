# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot against physics and against Pinocchio's model of the same URDF."""
from __future__ import annotations

import numpy as np
import pinocchio

GRAVITY = 9.81
# MuJoCo's solver stops at this accuracy; Pinocchio's recursion adds only round-off.
CLOSURE = 1e-6


def total_force(oracle, truth):
    feet = oracle.placements(truth, oracle.plant.feet)
    return sum(foot.rotation @ wrench[:3] for foot, wrench in zip(feet, truth.feet.wrench))


def test_at_rest_the_feet_carry_the_weight(recorded, oracle):
    for truth in recorded.truths[200:500:25]:
        weight = oracle.mass * GRAVITY
        np.testing.assert_allclose(total_force(oracle, truth), [0.0, 0.0, weight],
                                   atol=1e-3 * weight)
        assert truth.feet.contact.all()


def test_at_rest_the_imu_reads_plus_g_upwards(recorded):
    for sample in recorded.samples[200:500:25]:
        np.testing.assert_allclose(sample.linear_acceleration, [0.0, 0.0, GRAVITY], atol=5e-3)
        np.testing.assert_allclose(sample.angular_velocity, 0.0, atol=1e-3)


def test_truth_closes_the_equations_of_motion(recorded, oracle):
    """M qdd + armature qdd + damping qd + h = effort + friction + J^T f, base rows included."""
    model, plant = oracle.model, oracle.plant
    frames = [model.frames[model.getFrameId(foot)] for foot in plant.feet]
    for truth in recorded.truths[::7]:
        external = [pinocchio.Force.Zero() for _ in range(model.njoints)]
        for frame, wrench in zip(frames, truth.feet.wrench):
            external[frame.parentJoint] += frame.placement.act(pinocchio.Force(wrench))
        generalised = pinocchio.rnea(model, oracle.data, *oracle.state(truth), external)
        joints = generalised[oracle.dofs] + plant.armature * truth.acceleration
        joints += plant.joint_damping * truth.velocity
        scale = max(1.0, np.abs(truth.effort).max(), np.abs(truth.feet.wrench).max())
        np.testing.assert_allclose(joints, truth.effort + truth.friction, atol=CLOSURE * scale)
        np.testing.assert_allclose(generalised[:6], 0.0, atol=CLOSURE * scale)


def test_forces_change_the_momentum(recorded, oracle):
    times = np.array([truth.stamp_ns for truth in recorded.truths]) * 1e-9
    momentum = np.array([np.array(pinocchio.computeCentroidalMomentum(
        oracle.model, oracle.data, *oracle.state(truth)[:2]).linear)
        for truth in recorded.truths])
    weight = oracle.mass * GRAVITY
    force = np.array([total_force(oracle, truth) for truth in recorded.truths])
    force[:, 2] -= weight
    step = np.diff(times)[:, None]
    impulse = np.cumsum(0.5 * step * (force[1:] + force[:-1]), axis=0)
    # Touch-downs last a few samples only, so the sum carries their discretisation.
    np.testing.assert_allclose(momentum[1:] - momentum[0], impulse, atol=5e-3 * weight)
    rate = (momentum[2:] - momentum[:-2]) / (times[2:] - times[:-2])[:, None]
    change = np.abs(np.diff(force, axis=0)).max(axis=1)
    calm = (change[1:] < 0.02 * weight) & (change[:-1] < 0.02 * weight)
    assert calm.mean() > 0.9
    error = (rate - force[1:-1])[calm] / weight
    assert np.sqrt((error ** 2).mean(axis=0)).max() < 4e-3


def test_frames_are_those_of_the_urdf(recorded, oracle):
    robot, truth = recorded.robot, recorded.truths[-1]
    links = [*robot.plant.feet, robot.plant.imu_link]
    for name, placement in zip(links, oracle.placements(truth, links)):
        site = robot.data.site(name)
        np.testing.assert_allclose(site.xpos, placement.translation, atol=1e-9)
        np.testing.assert_allclose(site.xmat.reshape(3, 3), placement.rotation, atol=1e-9)


def test_imu_agrees_with_the_motion_of_the_base(recorded, oracle):
    model, data = oracle.model, oracle.data
    imu = model.getFrameId(oracle.plant.imu_link)
    for truth, sample in list(zip(recorded.truths, recorded.samples))[::53]:
        q, v, a = oracle.state(truth)
        pinocchio.forwardKinematics(model, data, q, v, a)
        pinocchio.updateFramePlacements(model, data)
        R_WI = data.oMf[imu].rotation
        velocity = pinocchio.getFrameVelocity(model, data, imu)
        classical = pinocchio.getFrameClassicalAcceleration(model, data, imu).linear
        np.testing.assert_allclose(sample.angular_velocity, velocity.angular, atol=1e-9)
        np.testing.assert_allclose(sample.linear_acceleration,
                                   classical + R_WI.T @ [0.0, 0.0, GRAVITY], atol=1e-7)
        quaternion = pinocchio.Quaternion(R_WI).coeffs()
        assert abs(sample.orientation @ quaternion) > 1.0 - 1e-9


def test_contact_points_are_below_the_feet(recorded, oracle):
    radius = oracle.plant.foot_radius
    for truth in recorded.truths[::53]:
        feet = oracle.placements(truth, oracle.plant.feet)
        for foot, touching, point in zip(feet, truth.feet.contact, truth.feet.point):
            if touching:
                below = foot.translation - [0.0, 0.0, radius]
                np.testing.assert_allclose(point, below, atol=0.05 * radius)
            else:
                assert np.isnan(point).all()
