# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints of the climbing robot by name, its URDF, and the body's angle from the IMU."""
import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from climbers import proposed, random_climber

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import RobotModel
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_rpy
from legged_dynamics.stickybot import (
    ClimbingSimulation,
    RestPosition,
    StickybotController,
    accelerations,
)
from legged_dynamics.stickybot.control.odometry import BodyAngle
from legged_dynamics.stickybot.model.joints import LimbJoints, urdf


@pytest.mark.parametrize('seed, options, step', [(1, {}, 1), (2, {'links': (1, 4)}, 1),
                                                 (2, {'links': (1, 4)}, -1)])
def test_joint_states_and_measurements_are_the_same_thing(seed, options, step):
    """In the order of the limbs, and in any other."""
    model, state, rest = random_climber(seed, **options)
    limbs = LimbJoints(model, LimbJoints(model).names[::step])
    said = ClimbingSimulation(model, rest, state).measure()
    position = limbs.positions(said.hip, said.joint)
    velocity = np.zeros(len(limbs.names))
    velocity[limbs.hip], velocity[limbs.inner] = said.hip_rate, said.joint_rate
    read = limbs.measurement(7, position, velocity, said.body_angle, said.body_rate, position)
    for name in ('hip', 'hip_rate', 'joint', 'joint_rate', 'body_angle', 'body_rate'):
        np.testing.assert_allclose(getattr(read, name), getattr(said, name), atol=1e-15)
    np.testing.assert_array_equal(read.effort, position[limbs.hip])
    np.testing.assert_array_equal(read.joint_effort, position[limbs.inner])
    angle, rate = state.pose[2], state.velocity[2]
    np.testing.assert_allclose(limbs.link_angles(position, angle), state.joint, atol=1e-14)
    np.testing.assert_allclose(limbs.link_rates(velocity, rate), state.joint_velocity, atol=1e-14)
    R = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    np.testing.assert_allclose(limbs.foot_positions(position) @ R.T + state.pose[:2], state.foot,
                               atol=1e-14)


def test_names_follow_the_limb_to_its_foot_as_in_the_urdf():
    model = proposed(stickybot__link_length=[0.05, 0.03, 0.02],
                     stickybot__link_mass=[0.01, 0.006, 0.004],
                     stickybot__joint_stiffness=[20.0, 10.0], stickybot__bends=[0.4, 0.1]).model()
    limbs = LimbJoints(model)
    assert limbs.names[:5] == ('left_fore_hip_x', 'left_fore_hip_y', 'left_fore_hip',
                               'left_fore_joint_2', 'left_fore_joint_1')
    assert limbs.inner[:2].tolist() == [4, 3]
    robot = RobotModel.from_urdf(urdf(model))
    assert robot.joint_names == limbs.names
    assert robot.total_mass == pytest.approx(model.mass)
    assert robot.warnings == ()
    # Pinocchio puts the feet of the URDF where the model has them.
    twin = pin.buildModelFromXML(urdf(model))
    data = twin.createData()
    position = np.random.default_rng(3).normal(0.0, 0.2, len(limbs.names))
    q = np.empty(twin.nq)
    for name, value in zip(limbs.names, position):
        q[twin.joints[twin.getJointId(name)].idx_q] = value
    pin.framesForwardKinematics(twin, data, q)
    feet = [data.oMf[twin.getFrameId(foot)] for foot in limbs.feet]
    np.testing.assert_allclose([foot.translation[:2] for foot in feet],
                               limbs.foot_positions(position), atol=1e-8)
    angles = limbs.foot_angles(position, 0.0)
    np.testing.assert_allclose([foot.rotation[:2, 0] for foot in feet],
                               np.stack([np.cos(angles), np.sin(angles)], axis=1), atol=1e-8)
    np.testing.assert_allclose([foot.translation[2] for foot in feet], -0.02)


def test_efforts_of_motors_move_the_springs_rest_positions():
    model, state, rest = random_climber(5)
    limbs = LimbJoints(model)
    u, ud = rest.packed(model)
    rate = np.zeros(len(limbs.names))
    rate[limbs.hip], rate[limbs.inner] = ud[model.hip_columns], ud[model.inner_columns]
    effort = limbs.efforts(limbs.positions(rest.hip, model.bends if rest.joint is None
                                           else rest.joint), rate)
    controller = StickybotController(model, settings={'control.speed': 0.04,
                                                      'control.reduction': 'off'})
    said = replace(ClimbingSimulation(model, rest, state).measure(), effort=effort[limbs.hip],
                   joint_effort=effort[limbs.inner])
    # What the controller makes of the efforts: rest positions at rest that do the same.
    moved = RestPosition(controller._acting(said)[0][model.hip_columns],
                         joint=controller._acting(said)[0][model.inner_columns])
    ours, theirs = accelerations(model, state, moved), accelerations(model, state, rest)
    np.testing.assert_allclose(ours.hip_force, theirs.hip_force, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.reaction, theirs.reaction, rtol=1e-9, atol=1e-8)


def test_measured_efforts_and_not_the_commanded_ones_make_the_estimate():
    settings = proposed(control__speed=0.04)
    model = settings.model()
    controller = StickybotController(model, settings.gait(), settings.control(), walking=False)
    simulation = ClimbingSimulation(model)
    for _ in range(100):        # commands are not obeyed: the rest positions stay nominal
        said = replace(simulation.measure(), effort=np.zeros((4, 3)))
        command = controller.update(said)
        np.testing.assert_allclose(command.reaction, simulation.reaction, atol=1e-6)
        simulation.step(replace(command, rest=model.rest), 0.002)
    assert np.abs(command.rest - model.rest).max() > 1e-5
    with pytest.raises(MeasurementError, match='expected finite joint states, efforts'):
        controller.update(replace(simulation.measure(), effort=np.full((4, 3), np.nan)))


def imu(stamp_ns, lean, phi, rate, R_BI, orientation=True):
    """Return what an IMU says of a resting body on a wall, apart from its rate."""
    R_WI = rotation_from_rpy([lean, 0.0, 0.0]) @ rotation_from_rpy([0.0, 0.0, phi]) @ R_BI
    none = np.zeros(0)
    return Measurement(stamp_ns, none, none, None, R_BI.T @ [0.0, 0.0, rate],
                       R_WI.T @ [0.0, 0.0, 9.81],
                       quaternion_from_rotation(R_WI) if orientation else None)


@pytest.mark.parametrize('orientation', [True, False])
@pytest.mark.parametrize('lean', [0.2, math.pi / 2, 2.9])
def test_angle_of_the_body_from_gravity(lean, orientation):
    R_BI = rotation_from_rpy([0.3, -1.2, 2.0])
    for phi in (-3.0, -0.4, 0.0, 1.7):
        angle = BodyAngle(R_BI)
        assert angle.update(imu(0, lean, phi, 0.7, R_BI, orientation))
        assert angle.angle == pytest.approx(phi, abs=1e-9)
        assert angle.rate == pytest.approx(0.7)
        assert angle.inclination == pytest.approx(lean)


def test_angle_without_orientation_waits_for_gravity_and_follows_a_turn():
    angle, phi = BodyAngle(np.eye(3)), 0.1
    falling = replace(imu(0, 1.5, phi, 0.0, np.eye(3), False), linear_acceleration=np.ones(3))
    assert not angle.update(falling)
    for k in range(500):
        angle.update(imu(2_000_000 * k, 1.5, phi, 0.8, np.eye(3), orientation=False))
        phi += 0.8 * 0.002
    assert angle.angle == pytest.approx(phi - 0.0016, abs=2e-3)


@pytest.mark.parametrize('lean', [0.0, math.pi])
def test_on_floor_and_ceiling_rates_are_summed(lean):
    angle = BodyAngle(np.eye(3))
    for k in range(501):
        angle.update(imu(2_000_000 * k, lean, 2.0, 0.5, np.eye(3)))
    assert angle.angle == pytest.approx(0.5, abs=1e-6)
    angle.reset()
    assert angle.angle == 0.0
    assert not angle.update(Measurement(0, np.zeros(0), np.zeros(0)))
