# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Clocks that jitter or lose samples, efforts that are cut off or held, topics that are silent."""
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from legged_dynamics.diagnosis.doctor.streams import check_streams
from legged_dynamics.diagnosis.identification.samples import ImuLog, JointLog, SensorLog
from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.recordings.recording import SensorLogWriter
from legged_dynamics.recordings.robot import choose_live_robot
from legged_dynamics.resources import robot_files
from legged_dynamics.ros.nodes import checkup

PERIOD, COUNT = 2_000_000, 4000


@pytest.fixture(scope='module')
def robot():
    """Return model, configuration and a log of joints that swing, each in its own time."""
    yaml, urdf = robot_files('solo_class')
    model, rng = RobotModel.from_urdf(urdf), np.random.default_rng(0)
    stamp = 10 ** 18 + PERIOD * np.arange(COUNT)
    phase = 1e-9 * (stamp - stamp[0])[:, None] * np.linspace(2.0, 5.0, model.n_joints)
    shape = phase.shape
    log = JointLog(stamp, stamp + 300_000, model.joint_names,
                   np.sin(phase) + 1e-4 * rng.standard_normal(shape),
                   np.cos(phase) + 1e-2 * rng.standard_normal(shape),
                   np.sin(phase) + 1e-2 * rng.standard_normal(shape))
    return model, RobotConfig.from_yaml(yaml), log


def found(robot, **changes):
    """Return findings and configuration for a changed log."""
    model, config, log = robot
    findings, config, _ = check_streams(model, config, SensorLog(replace(log, **changes), None))
    return {one.kind: one for one in findings}, config


def test_a_good_stream_is_not_blamed(robot):
    assert found(robot)[0] == {}
    coarse = np.round(robot[2].effort / 0.05) * 0.05      # repeats itself, and its largest value
    assert found(robot, effort=coarse)[0] == {}


def test_stamps_that_jitter_lose_no_samples_but_gaps_do(robot):
    stamp = robot[2].stamp_ns
    shaken = np.sort(stamp + np.random.default_rng(1).normal(0.0, 2e6, COUNT).astype(np.int64))
    assert set(found(robot, stamp_ns=shaken)[0]) == {'stamp_jitter'}
    late = stamp + PERIOD * np.cumsum(np.arange(COUNT) % 50 == 0)
    kinds = found(robot, stamp_ns=late, receipt_ns=late)[0]
    assert set(kinds) == {'lost_samples'} and kinds['lost_samples'].text.startswith('79 gaps')


def test_efforts_that_are_cut_off_are_named_and_left_out(robot):
    model, _, log = robot
    effort = log.effort.copy()
    effort[:, 2] = np.clip(effort[:, 2], -0.8, 0.8)
    kinds, config = found(robot, effort=effort)
    assert kinds['clipped_effort'].subject == (log.names[2],) and not kinds['clipped_effort'].fix
    assert set(kinds) == {'clipped_effort'} and config.sensors.ignore_effort == (log.names[2],)
    # Most of the time at the bound, with nothing read within a per cent below it.
    effort[:, 2] = np.where(log.effort[:, 2] > 0.7, 0.8, log.effort[:, 2])
    effort[[1, 2, 3], 2] = 0.77, 0.771, 0.78
    assert set(found(robot, effort=effort)[0]) == {'clipped_effort'}


def test_efforts_that_stay_the_same_for_a_second_are_named(robot):
    effort = robot[2].effort.copy()
    effort[1000:1500, 3:6] = effort[1000, 3:6]
    kinds = found(robot, effort=effort)[0]
    assert set(kinds) == {'held_effort'} and kinds['held_effort'].subject == robot[2].names[3:6]
    assert 'for 1.0 s, from 2.0 s on' in kinds['held_effort'].text


def test_a_velocity_is_held_only_where_its_joint_moved_otherwise(robot):
    held = robot[2].velocity.copy()
    held[1000:1250, 2] = held[1000, 2]
    kinds = found(robot, velocity=held)[0]
    assert set(kinds) == {'held_velocity'} and kinds['held_velocity'].subject == (
        robot[2].names[2],)
    # An encoder of 14 bits on a joint that stands tells its speed to be zero, all the time.
    position, held[1000:1250, 2] = robot[2].position.copy(), 0.0
    position[1000:1250, 2] = position[1000, 2]
    assert found(robot, velocity=held, position=position)[0] == {}


def clocks(robot, imu_stamp=None, imu_receipt=None, simulated=False, **changes):
    """Return the kinds of findings, with their subjects, of joints and an IMU that work."""
    model, config, log = robot
    noise = np.random.default_rng(1).standard_normal((COUNT, 6))
    imu = ImuLog(log.stamp_ns if imu_stamp is None else imu_stamp,
                 log.receipt_ns if imu_receipt is None else imu_receipt,
                 1e-3 * noise[:, :3], 9.81 + 1e-2 * noise[:, 3:], np.full((COUNT, 4), np.nan))
    said, _, _ = check_streams(model, config, SensorLog(
        replace(log, **changes), imu, simulated=simulated))
    return {one.kind: one.subject for one in said}


def test_one_clock_for_all_is_not_blamed_whichever_stream_was_heard_first(robot):
    assert clocks(robot) == {}
    # The network brought the IMU half a second earlier.
    early = robot[2].stamp_ns - 500_000_000
    assert clocks(robot, early, early + 300_000) == {}


def test_a_clock_of_another_unit_or_pace_is_named_but_a_simulators_is_not(robot):
    stamp = robot[2].stamp_ns
    for factor in (1e-3, 1.1):
        other = stamp[0] + (factor * (stamp - stamp[0])).astype(np.int64)
        assert clocks(robot, stamp_ns=other)['time_base'] == ('joint_states',)
        assert 'time_base' not in clocks(robot, other, simulated=True, stamp_ns=other)


def test_stamps_of_two_clocks_and_stamps_that_stand_still_or_go_back_are_named(robot):
    stamp = robot[2].stamp_ns
    assert clocks(robot, stamp - 10 ** 18)['time_base'] == ('imu', 'joint_states')
    assert 'time_base' not in clocks(robot, stamp - 10 ** 18, simulated=True)
    assert clocks(robot, stamp_ns=np.full(COUNT, stamp[0]))['time_base'] == ('joint_states',)
    back = stamp.copy()
    back[100:102] = back[101], back[100]
    assert clocks(robot, stamp_ns=back) == {'stamps_back': ('joint_states',)}


@pytest.mark.parametrize(('heard', 'missing'), [
    ((), 'robot_description'), (('robot_description',), 'joint_states')])
def test_a_live_doctor_that_hears_nothing_says_of_which_topic(heard, missing):
    """It joins the topics and the clock that it is told to."""
    asked = []

    def run(node, arguments):
        asked.extend(arguments)
        node.writer, node.choice = SensorLogWriter(), None
        if heard:
            node.choice = choose_live_robot(robot_files('solo_class')[1].read_text(), '')
        return 0
    args = SimpleNamespace(robot='', urdf='', joint_states='/quiet', imu='', use_sim_time=True)
    with pytest.raises(MiddlewareError, match=f'nothing came on {missing} .*--network'):
        checkup.live_robot_and_readings(args, print, run)
    assert asked == ['--ros-args', '-r', 'joint_states:=/quiet', '-p', 'use_sim_time:=true']
