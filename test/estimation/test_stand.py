# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Legs on test stands: a rail, a fixed base, joints without a motor, elastic transmissions."""
import numpy as np
import pytest

from legged_dynamics.dynamics import Motion, inverse_dynamics, mass_matrix
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import Fault, GroundReactionEstimator, Measurement, Mode
from legged_dynamics.estimation.rails import Rails
from legged_dynamics.estimation.transmission import Transmission
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel

LENGTH, RATE = 0.2, 500.0


def inertial(mass, at):
    return (f'<inertial><origin xyz="0 0 {at}"/><mass value="{mass}"/><inertia ixx="1e-3" '
            'iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>')


def hinge(name, parent, child, at):
    return (f'<joint name="{name}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="0 0 {at}"/><axis xyz="0 1 0"/>'
            '<limit lower="-3" upper="3" effort="20" velocity="20"/></joint>')


URDF = ('<robot name="stand"><link name="root"/><joint name="rail" type="prismatic">'
        '<parent link="root"/><child link="body"/><axis xyz="0 0 1"/>'
        '<limit lower="-9" upper="9" effort="1000" velocity="9"/></joint>'
        f'<link name="body">{inertial(2.0, 0.0)}</link>{hinge("hip", "body", "thigh", 0.0)}'
        f'<link name="thigh">{inertial(0.5, -0.1)}</link>{hinge("knee", "thigh", "shin", -LENGTH)}'
        f'<link name="shin">{inertial(0.2, -0.1)}</link>'
        '<joint name="ankle" type="fixed"><parent link="shin"/><child link="foot"/>'
        f'<origin xyz="0 0 {-LENGTH}"/></joint><link name="foot"/></robot>')
YAML = {'robot.base': 'fixed', 'robot.feet': ['foot'], 'robot.joints': ['hip', 'knee'],
        'robot.nominal_position': [0.6, -1.2], 'robot.passive_joints': ['rail'],
        'robot.absent_joints': ['rail'], 'noise.effort': 0.02, 'noise.velocity': 0.002}


def squat(times):
    """Return positions, velocities and accelerations of rail, hip and knee above a still foot."""
    hip = 0.6 + 0.25 * np.sin(9.0 * times)
    q = np.column_stack([2.0 * LENGTH * np.cos(hip), hip, -2.0 * hip])
    v = np.gradient(q, times, axis=0)
    return q, v, np.gradient(v, times, axis=0)


def squatting(sideways=1.5):
    """Return positions, velocities and efforts of a squat, and the force on its foot (n, 3)."""
    model = RobotModel.from_xml(URDF, 'fixed')
    times = np.arange(0.0, 2.0, 1.0 / RATE)
    q, v, a = squat(times)
    efforts, forces = [], []
    for position, velocity, acceleration in zip(q, v, a):
        free = inverse_dynamics(model, Motion(position, velocity, acceleration)).joint_effort
        # Nothing but gravity along the rail: the foot carries what the rail's equation asks for.
        force = np.array([sideways, 0.0, free[0]])
        hip, both = position[1], position[1] + position[2]
        lever = np.array([[-LENGTH * (np.cos(hip) + np.cos(both)), -LENGTH * np.cos(both)],
                          [LENGTH * (np.sin(hip) + np.sin(both)), LENGTH * np.sin(both)]])
        efforts.append(np.concatenate([[0.0], free[1:] - lever.T @ force[[0, 2]]]))
        forces.append(force)
    return q, v, np.array(efforts), np.array(forces)


def estimated(changes, positions, velocities, efforts, settings=None):
    config = RobotConfig.from_parameters({**YAML, **changes})
    estimator = GroundReactionEstimator(RobotModel.from_xml(URDF), config,
                                        {'rate': RATE, **(settings or {})})
    found = []
    for k, row in enumerate(zip(positions, velocities, efforts)):
        found.append(estimator.update(Measurement(1 + round(k * 1e9 / RATE), *row)))
    return estimator, found


def vertical(reactions):
    return np.array([(one.foot_rotation[0] @ one.raw_wrench[0, :3])[2]
                     for one in reactions if one.mode != Mode.UNAVAILABLE])


@pytest.mark.parametrize('torque', ['unknown', 'zero'])
def test_a_leg_on_a_rail_without_encoder_gives_the_force_that_newton_asks_for(torque):
    q, v, effort, force = squatting()
    model = RobotModel.from_xml(URDF)
    unseen = np.zeros_like(q)
    unseen[:, 1:] = q[:, 1:]
    moving = np.zeros_like(v)
    moving[:, 1:] = v[:, 1:]
    estimator, found = estimated({'robot.passive_effort': torque}, unseen, moving, effort)
    assert found[-1].mode == Mode.TORQUE_ONLY and not estimator.model.floating
    late = slice(int(0.5 * RATE), -2)
    error = vertical(found)[late] - force[late, 2][:len(vertical(found)[late])]
    assert np.sqrt(np.mean(error ** 2)) < 0.02 * model.total_mass * GRAVITY
    assert all(one.contact[0] for one in found[int(RATE):])
    quiet = Fault.NO_IMU | Fault.NO_EFFORT | Fault.PARTIAL_EFFORT
    assert not any(one.faults & quiet for one in found[10:])


def test_the_rail_of_a_leg_that_stands_still_is_at_rest():
    """Gravity is borne: the rail falls with -g t where the foot is in the air, else not at all."""
    config = RobotConfig.from_parameters(YAML)
    rail = RobotModel.from_xml(URDF, 'fixed').joint_index('rail')
    for contact, speed in ((1.0, 0.0), (0.0, -0.5 * GRAVITY)):
        part = Rails(config.apply_to(RobotModel.from_xml(URDF, 'fixed')), config)
        for k in range(round(0.5 * RATE) + 1):
            position, velocity = np.array([0.0, 0.6, -1.2]), np.zeros(3)
            part.advance(position, velocity, np.zeros((2, 3)), np.array([contact]),
                         1.0 / RATE if k else 0.0)
        assert velocity[rail] == pytest.approx(speed, abs=0.01)


def test_a_measured_rail_is_used_as_it_is():
    q, v, effort, force = squatting()
    found = estimated({'robot.absent_joints': []}, q, v, effort)[1]
    late = slice(int(0.5 * RATE), -2)
    got = vertical(found)[late]
    assert np.sqrt(np.mean((got - force[late, 2][:len(got)]) ** 2)) < 0.4


def test_a_hand_that_holds_the_robot_does_not_go_into_the_foot():
    """Torques of a foot that carries nothing, the rail held: no weight is invented."""
    q = squat(np.arange(0.0, 0.1, 1.0 / RATE))[0]
    model = RobotModel.from_xml(URDF, 'fixed')
    rest = q[0]
    free = inverse_dynamics(model, Motion(rest, np.zeros(3), np.zeros(3))).joint_effort
    n = int(RATE)
    noise = 1e-3 * np.random.default_rng(0).standard_normal((n, 3))
    effort = np.tile([0.0, *free[1:]], (n, 1)) + noise
    found = estimated({}, np.tile(rest, (n, 1)), np.zeros((n, 3)), effort)[1]
    # Whether the rail falls or is held cannot be known, and the links that it moves weigh 7 N.
    assert abs(vertical(found)[-1]) < 0.1 * 0.7 * GRAVITY
    assert not found[-1].contact[0]


@pytest.mark.parametrize('seed', range(4))
def test_a_foot_that_pulls_and_then_pushes_has_no_force_that_nothing_brings_forth(seed):
    """A leg is held for seconds, in poses by chance, and its foot is pulled and pushed."""
    rng = np.random.default_rng(seed)
    model = RobotModel.from_xml(URDF, 'fixed')
    weight, times = model.total_mass * GRAVITY, np.arange(0.0, 3.0, 1.0 / RATE)
    hip = rng.uniform(0.1, 1.2)
    q, lever = np.array([0.0, hip, -2.0 * hip]), LENGTH * np.array(
        [[-2.0 * np.cos(hip), -np.cos(hip)], [0.0, -np.sin(hip)]])
    free = inverse_dynamics(model, Motion(q, np.zeros(3), np.zeros(3))).joint_effort
    force = weight * rng.uniform(0.3, 2.0) * np.sin(
        2.0 * np.pi * rng.uniform(0.4, 1.0) * times - rng.uniform(0.0, 3.0))
    effort = np.zeros((len(times), 3))
    effort[:, 1:] = free[1:] - force[:, None] * lever[1]
    effort[:, 1:] += 0.02 * rng.standard_normal((len(times), 2))
    found = estimated({}, np.tile(q, (len(times), 1)), np.zeros_like(effort), effort)[1]
    # Whether the rail is held or falls is not known, and the links that it moves weigh 7 N.
    most = np.abs(force).max() + 0.7 * GRAVITY
    for one in found:
        if one.mode != Mode.UNAVAILABLE:
            for wrench, latest in ((one.raw_wrench, False), (one.wrench, True)):
                deviation = np.sqrt(np.diag(one.covariance_of('foot', latest=latest)))[:3]
                assert (np.abs(wrench[0, :3]) < most + 3.0 * np.minimum(deviation, weight)).all()


def test_an_absent_joint_that_carries_a_foot_must_be_a_rail():
    with pytest.raises(ConfigurationError, match='carries the foot'):
        RobotConfig.from_parameters({**YAML, 'robot.passive_joints': []}).apply_to(
            RobotModel.from_xml(URDF))
    with pytest.raises(ConfigurationError, match='carries the foot'):
        RobotConfig.from_parameters({**YAML, 'robot.base': 'floating'}).apply_to(
            RobotModel.from_xml(URDF))


def test_a_rotor_that_swings_against_its_belt_moves_no_link():
    """Above the cut-off the motor's torque goes into the rotor alone: J a = tau (Newton)."""
    armature, turns = 1e-3, 2.0 * np.pi * 40.0
    model = RobotModel.from_xml(URDF).with_joint_physics(armature={'knee': armature})
    joint = model.joint_index('knee')
    pose = np.array([0.0, 0.6, -1.2])
    part = Transmission(model, 2.0, [joint], pose)
    left, speed = [], []
    for k in range(4000):
        t = k / 4000.0
        velocity, effort = np.zeros(3), np.zeros(3)
        velocity[joint] = np.sin(turns * t)
        effort[joint] = armature * turns * np.cos(turns * t)
        part.advance(velocity, effort, 1.0 / 4000.0 if k else 0.0)
        left.append(effort[joint])
        speed.append(velocity[joint])
    late = slice(2000, None)
    assert np.std(speed[late]) < 0.1 * np.sqrt(0.5)
    assert np.std(left[late]) < 0.45 * armature * turns * np.sqrt(0.5)
    # Where the link follows by any share of the swing, its inertia takes a torque of that share.
    inertia = mass_matrix(RobotModel.from_xml(URDF, 'fixed'), pose)[joint, joint]
    most = inertia * turns * np.sqrt(0.5)
    assert 0.4 * most < np.sqrt(part.variance[0]) < 0.6 * most
