# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot's behaviour: schedule, commands, noise switch, repeatability."""
from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest
from simulated_recordings import NAMES, ROBOTS, make_robot

from legged_dynamics.exceptions import ConfigurationError, SimulationError
from legged_dynamics.simulation import Plant, Schedule, SimulatedRobot


def run(robot, seconds):
    for _ in range(round(seconds * 1e9 / robot.period_ns)):
        robot.step()


def test_schedule_is_walked_without_falling(recorded):
    speed = np.array([truth.base_velocity[0] for truth in recorded.truths])
    contact = np.array([truth.feet.contact for truth in recorded.truths])
    gait = recorded.robot.plant.gait
    assert not recorded.fallen
    assert sum(truth.feet.stray for truth in recorded.truths) == 0
    assert speed[1500:2250].mean() == pytest.approx(gait.speed, rel=0.15)
    assert abs(speed[-100:]).max() < 0.02
    # Diagonal pairs: at least two feet down, and each foot off the ground for part of a cycle.
    trotting = contact[1000:2250]
    assert trotting.sum(axis=1).min() >= 2
    np.testing.assert_allclose(trotting.mean(axis=0), gait.duty, atol=0.08)
    both = trotting[trotting.sum(axis=1) == 2]
    assert (both[:, 0] == both[:, 3]).all() and (both[:, 1] == both[:, 2]).all()


def test_motors_stay_within_limits_and_landings_are_soft(recorded):
    robot = recorded.robot
    effort = np.array([truth.effort for truth in recorded.truths])
    force = np.array([truth.feet.wrench[:, :3] for truth in recorded.truths])
    weight = 9.81 * robot.model.body_mass.sum()
    assert np.abs(effort).max() < 0.9 * robot.model.actuator_ctrlrange[:, 1].max()
    assert np.linalg.norm(force, axis=2).max() < 0.8 * weight


def test_stamps_count_sensor_periods():
    robot = make_robot('anymal_class', start_ns=7)
    run(robot, 0.01)
    assert robot.period_ns == 2_000_000
    assert robot.stamp_ns == robot.read().stamp_ns == robot.truth().stamp_ns == 10_000_007
    assert robot.data.time == pytest.approx(0.01)


def test_command_replaces_the_controller_until_it_is_stale():
    robot = make_robot('anymal_class', noise=False)
    run(robot, 0.1)
    command = robot.read().effort + np.linspace(-1.0, 1.0, 12)
    robot.command_effort(command)
    obeyed = 0
    while robot.commanded:
        robot.step()
        if not robot.commanded:
            break
        np.testing.assert_array_equal(robot.read().effort, command)
        obeyed += 1
    # Obeyed up to an age of 20 ms: the step that begins at that age still is.
    assert obeyed == 11
    assert robot.command_timeouts == 1
    run(robot, 1.0)
    assert not robot.fallen
    assert robot.command_timeouts == 1


def test_repeated_commands_stay_in_force_and_none_hands_back():
    robot = make_robot('anymal_class', noise=False)
    standing = robot.read().effort
    for _ in range(50):
        robot.command_effort(standing)
        robot.step()
    assert robot.commanded
    robot.command_effort(None)
    run(robot, 1.0)
    assert not robot.commanded
    assert robot.command_timeouts == 0
    assert not robot.fallen


def turn(robot, quaternion_wxyz):
    """Turn the robot about its base's origin and let its controller start over."""
    robot.data.qpos[3:7] = quaternion_wxyz
    mujoco.mj_forward(robot.model, robot.data)
    robot.command_effort(np.zeros(12))
    robot.command_effort(None)


def test_base_twist_is_in_base_axes():
    robot = make_robot('anymal_class')
    turn(robot, [0.5, 0.5, 0.5, 0.5])  # x to y, y to z, z to x
    robot.data.qvel[:6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    mujoco.mj_forward(robot.model, robot.data)
    truth = robot.truth()
    np.testing.assert_allclose(truth.base_orientation, [0.5, 0.5, 0.5, 0.5])
    np.testing.assert_allclose(truth.base_velocity, [2.0, 3.0, 1.0, 4.0, 5.0, 6.0])


def test_robot_walks_where_it_looks():
    robot = make_robot('anymal_class', 'trot_forward 10', noise=False)
    turn(robot, [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    run(robot, 3.0)
    x, y, _ = robot.truth().base_position
    assert y > 0.5
    assert abs(x) < 0.05
    assert robot.truth().base_velocity[0] > 0.2


@pytest.mark.parametrize('name', NAMES)
def test_controller_catches_a_robot_that_was_let_go(name):
    robot = make_robot(name, noise=False)
    height = robot.truth().base_position[2]
    robot.command_effort(np.zeros(12))
    run(robot, 0.02)
    robot.command_effort(np.zeros(12))
    run(robot, 0.04)
    assert robot.command_timeouts == 1
    run(robot, 2.5)
    assert robot.truth().base_position[2] == pytest.approx(height, rel=0.02)
    assert np.abs(robot.truth().velocity).max() < 0.02


def test_commands_are_cut_to_the_motors_limits():
    robot = make_robot('solo_class', noise=False)
    robot.command_effort(np.full(12, 100.0))
    robot.step()
    np.testing.assert_allclose(robot.read().effort, 2.7)


@pytest.mark.parametrize(('command', 'message'), [
    (np.zeros(11), r'expected 12 efforts \(one per joint, in command order\), got shape \(11,\)'),
    ([0.0] * 4 + [np.nan] + [0.0] * 7, 'got NaN or infinity for RF_HFE'),
])
def test_bad_commands_are_refused(command, message):
    robot = make_robot('anymal_class')
    with pytest.raises(SimulationError, match=message):
        robot.command_effort(command)
    assert not robot.commanded


def test_same_seed_same_readings():
    first, again, other = (make_robot('solo_class', 'stand 0.2, trot_forward 10', seed=seed)
                           for seed in (3, 3, 4))
    for robot in (first, again, other):
        run(robot, 1.0)
    samples = [dataclasses.astuple(robot.read()) for robot in (first, again, other)]
    for left, right in zip(samples[0], samples[1]):
        np.testing.assert_array_equal(left, right)
    assert (samples[0][1] != samples[2][1]).all()
    # The seed is that of the sensors: the motion is the same.
    np.testing.assert_array_equal(first.truth().position, other.truth().position)


def test_noise_can_be_switched_off():
    robot = make_robot('anymal_class', noise=False)
    for reading, exact in zip(dataclasses.astuple(robot.read()),
                              dataclasses.astuple(robot.exact())):
        np.testing.assert_array_equal(reading, exact)


def test_schedule_text_and_times():
    schedule = Schedule.from_text('stand 4, trot_forward 12, stand 4')
    assert [schedule.at(t) for t in (0.0, 3.99, 4.0, 15.9, 16.1, 99.0)] == [
        'stand', 'stand', 'trot_forward', 'trot_forward', 'stand', 'stand']
    assert schedule.duration == 20.0
    assert str(schedule) == 'stand 4, trot_forward 12, stand 4'


@pytest.mark.parametrize(('text', 'message'), [
    ('gallop 3', 'The behaviours are: stand, squat, lift_legs, trot_in_place, trot_forward'),
    ('stand', 'expected "<behaviour> <seconds>, ..."'),
    ('stand -1', 'expected a duration above 0 s, got -1'),
])
def test_bad_schedules_are_refused(text, message):
    with pytest.raises(ConfigurationError, match=message):
        Schedule.from_text(text)


def test_divergence_is_reported():
    plant = Plant.from_files(ROBOTS / 'anymal_class.yaml')
    robot = SimulatedRobot(plant)
    robot.data.qvel[:] = 1e200
    with pytest.raises(SimulationError, match='the physics diverged'):
        run(robot, 0.1)


def test_timestep_must_divide_the_sensor_period():
    plant = Plant.from_files(ROBOTS / 'anymal_class.yaml')
    with pytest.raises(ConfigurationError, match='expected a whole number of steps'):
        SimulatedRobot(dataclasses.replace(plant, timestep=7e-4))


def test_description_names_mass_and_schedule():
    text = make_robot('solo_class').describe()
    assert text.startswith('solo_class: 2.50 kg, 12 motors up to 2.7 N m, 4 feet')
    assert 'stand 100' in text
