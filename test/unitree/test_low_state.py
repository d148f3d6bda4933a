# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Samples of LowState messages: order, signs, quaternion, stamps; and efforts as LowCmd."""
import numpy as np
import pytest

from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import RobotConfig
from legged_dynamics.resources import robot_files
from legged_dynamics.ros.middleware.cdr import deserialize, serialize
from legged_dynamics.ros.middleware.messages import message_class
from legged_dynamics.ros.unitree_low_level import (
    ROBOTS,
    LowCmdWriter,
    LowStateReader,
    TickClock,
    checksum,
    low_state,
    robot_named,
    write_foot_forces,
)

MS = 1_000_000
PLACES = {'unitree_go': 20, 'unitree_hg': 35}


def state_of(robot):
    """Return a LowState whose motor k reads k, k/10 and -k."""
    message = low_state(robot.family)
    for k, motor in enumerate(message.motor_state):
        motor.q, motor.dq, motor.tau_est = float(k), k / 10, -float(k)
    message.imu_state.quaternion[:] = type(message.imu_state.quaternion)('f', [.5, .5, -.5, .5])
    message.imu_state.accelerometer[2] = 9.81
    message.tick = 5
    return message


@pytest.mark.parametrize('robot', ROBOTS.values(), ids=lambda robot: robot.name)
def test_every_motor_has_one_joint_of_the_robot_s_yaml(robot):
    config = RobotConfig.from_yaml(robot_files(robot.name)[0])
    named = [name for name in robot.joints if name]
    assert len(set(named)) == len(named) == len(config.joints)
    assert list(config.joints) == named
    assert len(robot.joints) <= PLACES[robot.family]
    assert len(robot.modes) == len(robot.joints)
    feet = {foot.link for foot in config.feet}
    assert set(robot.feet) in (feet, set())


@pytest.mark.parametrize('robot', ROBOTS.values(), ids=lambda robot: robot.name)
def test_values_come_in_the_order_of_the_joints(robot):
    sample = LowStateReader(robot)(state_of(robot), 0)
    places = [k for k, name in enumerate(robot.joints) if name]
    np.testing.assert_allclose(sample.position, places)
    np.testing.assert_allclose(sample.velocity, np.array(places) / 10, atol=1e-6)
    np.testing.assert_allclose(sample.effort, -np.array(places, float))
    np.testing.assert_allclose(sample.orientation, [0.5, -0.5, 0.5, 0.5])   # w was the first
    np.testing.assert_allclose(sample.accelerometer, [0, 0, 9.81], atol=1e-6)


def test_what_is_not_finite_is_refused_and_no_orientation_is_none():
    robot = robot_named('Go2')
    message = state_of(robot)
    message.imu_state.quaternion[:] = type(message.imu_state.quaternion)('f', [0] * 4)
    assert LowStateReader(robot)(message, 0).orientation is None
    message.motor_state[3].tau_est = float('nan')
    with pytest.raises(MeasurementError, match='finite'):
        LowStateReader(robot)(message, 0)


@pytest.mark.parametrize('name', ['go2', 'g1'])
def test_a_message_that_is_damaged_anywhere_is_refused(name):
    robot, rng = robot_named(name), np.random.default_rng(2)
    kind = f'{robot.family}/msg/LowState'
    message, read = state_of(robot), LowStateReader(robot)
    assert read(message, 0) is not None             # who makes no checksums is believed
    message.tick, message.crc = 6, 0
    message.crc = checksum(message, robot.family)
    assert read(message, 2 * MS) is not None
    whole = serialize(message, kind)
    refused = 0
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[rng.integers(4, len(damaged))] ^= 1 << rng.integers(8)
        if serialize(deserialize(bytes(damaged), kind), kind) != whole:     # no padding
            with pytest.raises(MeasurementError, match='checksum'):
                read(deserialize(bytes(damaged), kind), 4 * MS)
            refused += 1
    assert refused > 40
    message.crc, message.tick = 0, 7
    with pytest.raises(MeasurementError, match='checksum'):     # this one makes checksums
        read(message, 6 * MS)


def test_jitter_of_arrival_does_not_reach_the_stamps():
    clock, rng = TickClock(), np.random.default_rng(0)
    # a robot's clock that is 40 ppm slow; messages take 1 to 9 ms
    stamps = [clock(1000 + 2 * k, round(2e6 * k * (1 + 40e-6) + 1e6 + 8e6 * rng.random()))
              for k in range(5000)]
    late = np.diff(stamps[500:]) * 1e-6
    assert abs(late - 2.0).max() < 0.1
    truth = 2e6 * np.arange(500, 5000) * (1 + 40e-6)
    assert np.abs(np.array(stamps[500:]) - truth).max() < 3e6


def test_a_tick_wraps_restarts_repeats_and_stands_still():
    clock = TickClock()
    first, second = clock(2**32 - 1, 0), clock(1, 2 * MS)
    assert second - first == 2 * MS
    assert clock(1, 3 * MS) is None
    assert clock(0, 900 * MS) == 900 * MS
    still = TickClock()
    assert [still(0, k * MS) for k in (1, 3, 4)] == [1 * MS, 3 * MS, 4 * MS]


def test_foot_forces_are_written_in_the_robot_s_order():
    robot = robot_named('go2')
    message = state_of(robot)
    forces = {'FL_foot': 41.4, 'FR_foot': 35.6, 'RL_foot': 0.0, 'RR_foot': 1e6}
    write_foot_forces(message, robot, forces, False)
    assert list(message.foot_force_est) == [36, 41, 32767, 0]
    assert list(message.foot_force) == [0] * 4
    assert message.crc == checksum(message, 'unitree_go')
    write_foot_forces(message, robot, forces, True)
    assert list(message.foot_force) == [36, 41, 32767, 0]


@pytest.mark.parametrize('name', ['go2', 'h1', 'g1'])
def test_a_command_is_torque_alone_and_its_end_is_damping_alone(name):
    robot = robot_named(name)
    joints = [joint for joint in robot.joints if joint][2::-1]      # three, in another order
    writer = LowCmdWriter(robot, joints, message_class(f'{robot.family}/msg/LowCmd'), 0.5, 3.0)
    writer.mode_machine = 5
    message = writer.torque([1.0, 2.0, 3.0])
    taus = {joint: motor.tau for joint, motor in zip(robot.joints, message.motor_cmd)}
    assert [taus[joint] for joint in joints] == [1.0, 2.0, 3.0]
    for joint, motor, mode in zip(robot.joints, message.motor_cmd, robot.modes):
        assert motor.kp == motor.dq == motor.q == 0.0
        assert motor.kd == (0.5 if joint in joints else 3.0 if joint else 0.0)
        assert motor.mode == (mode if joint else 0)
    assert message.crc == checksum(message, robot.family)
    assert getattr(message, 'mode_machine', 5) == 5
    for joint, motor in zip(robot.joints, writer.damping().motor_cmd):
        assert motor.tau == motor.kp == 0.0
        assert motor.kd == (3.0 if joint else 0.0)
    with pytest.raises(ConfigurationError, match='no motor'):
        LowCmdWriter(robot, ['tail_joint'], message_class(f'{robot.family}/msg/LowCmd'), 0.0, 1.0)


def test_unknown_robots_are_refused_with_the_known_ones():
    assert robot_named('H1-2').name == 'h1_2'
    with pytest.raises(ConfigurationError, match='go2'):
        robot_named('spot')
