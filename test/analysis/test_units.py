# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings in other units than rad, m, s and N m: what motion and gravity prove, is said."""
import numpy as np
import pytest
from simulated_bag import messages, write
from test_gait_files import BASE, FEET, WALK, write_table, write_walk

from legged_dynamics.cli import DOUBTFUL, WRONG, main
from legged_dynamics.model import Joint, RobotConfig, RobotModel
from legged_dynamics.recordings.report.analysis import analyse, doubts
from legged_dynamics.recordings.series import INTERVAL, recording_doubts
from legged_dynamics.resources import robot_files

DEGREE, RPM = 180.0 / np.pi, 30.0 / np.pi
TIME = np.arange(0.0, 3.0, 2e-3)
ANGLE, RATE = 0.6 + 0.4 * np.sin(5.0 * TIME), 2.0 * np.cos(5.0 * TIME)
HINGE = Joint('knee', 'revolute', 'thigh', 'shank', lower=-1.5, upper=1.5)
ENDLESS = Joint('knee', 'revolute', 'thigh', 'shank')
WHEEL = Joint('knee', 'continuous', 'thigh', 'shank')
SLIDE = Joint('leg', 'prismatic', 'thigh', 'shank', lower=0.0, upper=1.2)


def found(joint, position=ANGLE, velocity=RATE, time=TIME):
    return '; '.join(recording_doubts([joint], time, position[:, None], velocity[:, None]))


# ---- joint states --------------------------------------------------------------------------


@pytest.mark.parametrize('joint, position, rate, said', [
    (HINGE, DEGREE, DEGREE, 'beyond the limits in the URDF of knee [rad, not degrees] is 55.8'),
    (HINGE, DEGREE, 1.0, '(positions in degrees?)'),
    (ENDLESS, DEGREE, DEGREE, 'knee [rad, not degrees]'),
    (WHEEL, DEGREE, 1.0, '(positions in degrees?)'),
    (WHEEL, 1.0, DEGREE, '(velocities in degrees/s?)'),
    (WHEEL, 1.0, RPM, '(velocities in turns a minute?)'),
    (WHEEL, 1.0, 5.0, 'by the velocity of knee is 0.2, expected 0.333 to 3'),
    (WHEEL, 1.0, -1.0, '(velocities of the opposite sign?)'),
    (SLIDE, 1e3, 1e3, 'leg [m, not millimetres]'),
    (SLIDE, 1e3, 1.0, '(positions in mm?)'), (SLIDE, 1.0, 1e3, '(velocities in mm/s?)')])
def test_units_that_limits_or_velocities_disprove(joint, position, rate, said):
    assert said in found(joint, position * ANGLE, rate * RATE)


@pytest.mark.parametrize('joint', [HINGE, ENDLESS, WHEEL, SLIDE])
def test_right_units_pass_with_noise_filters_gaps_and_encoders_that_turned_once(joint):
    rng = np.random.default_rng(1)
    noisy = ANGLE + 3e-4 * rng.standard_normal(len(TIME))
    rates = RATE + 0.3 * rng.standard_normal(len(TIME))
    late = np.interp(TIME - 0.03, TIME, RATE)
    assert not found(joint) and not found(joint, noisy, rates) and not found(joint, ANGLE, late)
    assert not found(joint, ANGLE, np.nan * RATE)
    kept = (TIME < 1.0) | (TIME > 1.5)
    assert not found(joint, ANGLE[kept], RATE[kept], TIME[kept])
    assert joint is SLIDE or not found(joint, ANGLE + 2.0 * np.pi)


@pytest.mark.parametrize('samples', [100, 500, 1500])
def test_noise_and_creep_at_rest_tell_no_unit(samples):
    """A velocity's bias is not its unit, nor are noises as large as the motion."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        still = 0.6 + 1e-3 * TIME + 3e-4 * rng.standard_normal(len(TIME))
        rates = 0.03 + 0.5 * rng.standard_normal(len(TIME))
        assert not found(HINGE, still[:samples], rates[:samples], TIME[:samples])


def test_joints_that_are_wrong_alike_are_counted():
    joints, rows = [HINGE] * 3, np.tile(ANGLE[:, None], 3)
    (said,) = recording_doubts(joints, TIME, DEGREE * rows, np.zeros_like(rows))
    assert said.endswith('and so of 2 more')


def test_wheels_turn_on_and_fast_legs_may_swing():
    """Nothing is too fast: at 30 rad/s a leg is in rad as well."""
    turned = 30.0 * TIME + 0.1 * np.sin(40.0 * TIME)
    rate = 30.0 + 4.0 * np.cos(40.0 * TIME)
    assert not found(WHEEL, turned, rate)
    assert not found(WHEEL, (turned + np.pi) % (2.0 * np.pi) - np.pi, rate)
    assert not found(HINGE, np.sin(30.0 * TIME), 30.0 * np.cos(30.0 * TIME))


@pytest.mark.parametrize('load, said', [
    (1.0, ''), (0.0, ''), (1.6, ''), (1e3, '(torques in N mm?)'),
    (30.0, 'over the weight is 3'), (-1.0, 'is -1')])
def test_feet_bear_about_the_weight_in_the_mean(load, said):
    """Momentum cannot grow for seconds, however hard single steps are."""
    loads = load * (1.0 + 2.0 * np.sin(8.0 * TIME))
    got = '; '.join(recording_doubts([], TIME, np.zeros((len(TIME), 0)),
                                     np.zeros((len(TIME), 0)), loads))
    assert said in got if said else not got


@pytest.mark.parametrize('rate', [50.0, 500.0, 5000.0])
@pytest.mark.parametrize('unit, factor', [
    ('milliseconds', 1e3), ('microseconds', 1e6), ('nanoseconds', 1e9)])
def test_times_that_cannot_be_seconds_name_their_unit(rate, unit, factor):
    assert not INTERVAL.doubt(1.0 / rate)
    wrong = INTERVAL.doubt(factor / rate)
    assert (unit in wrong[0]) if factor / rate > INTERVAL.most else not wrong


# ---- bags ----------------------------------------------------------------------------------


def changed(**factors):
    """Yield half of a second's stand, then a trot, with fields of joint states multiplied."""
    for topic, receipt, message in messages(steps=700):
        if topic == '/joint_states':
            for name, factor in factors.items():
                setattr(message, name, [factor * value for value in getattr(message, name)])
        yield topic, receipt, message


@pytest.mark.parametrize('without', [['/imu', '/ground_truth'], ['/ground_truth']])
@pytest.mark.parametrize('factors, said', [
    ({}, ''), ({'position': DEGREE, 'velocity': DEGREE}, 'not degrees'),
    ({'velocity': RPM}, 'turns a minute'), ({'effort': 1e3}, 'the mean load of all feet')])
def test_a_bag_in_other_units_is_not_trusted(tmp_path, factors, said, without):
    got = doubts(analyse(write(tmp_path / 'bag', changed(**factors), without=without)))
    assert any(said in one for one in got) if said else not got, got


def test_a_bag_whose_time_goes_back_is_not_trusted(tmp_path):
    def twice():
        yield from messages(steps=600)
        for topic, receipt, message in list(messages(steps=600))[1:]:
            yield topic, receipt + 2_000_000_000, message
    (said,) = doubts(analyse(write(tmp_path / 'bag', twice(), without=['/ground_truth'])))
    assert said.startswith('time goes back 1 times')


# ---- CSV files -----------------------------------------------------------------------------

YAML, URDF = robot_files('anymal_class')
JOINTS = RobotConfig.from_yaml(YAML).apply_to(RobotModel.from_urdf(URDF)).joint_names


def log(folder, *, time=TIME, angle=ANGLE, rate=RATE):
    """Write a log in which all joints move alike."""
    columns = {'time': time}
    for name in JOINTS:
        columns |= {f'q_{name}': angle, f'v_{name}': rate, f'tau_{name}': np.ones(len(time))}
    return write_table(folder / 'log.csv', list(columns), list(columns.values()))


BACK = np.where(np.arange(len(TIME)) < 700, TIME, TIME - 0.2)


@pytest.mark.parametrize('spoilt, code, said', [
    ({'angle': DEGREE * ANGLE, 'rate': DEGREE * RATE}, DOUBTFUL, '[rad, not degrees]'),
    ({'rate': DEGREE * RATE}, DOUBTFUL, 'velocities in degrees/s'),
    ({'time': 1e3 * TIME}, WRONG, '(milliseconds?)'),
    ({'time': 1e9 * TIME}, WRONG, '(nanoseconds?)'), ({'time': BACK}, WRONG, 'rising times')])
def test_a_log_that_cannot_be_right_says_so_first(tmp_path, capsys, spoilt, code, said):
    path, out = log(tmp_path, **spoilt), tmp_path / 'out'
    assert main(['analyze', str(path), '--urdf', str(URDF), '--robot', str(YAML), '--no-report',
                 '-o', str(out)]) == code
    shown = capsys.readouterr()
    first = shown.out.splitlines()[0] if code == DOUBTFUL else shown.err
    assert said in first and (code == DOUBTFUL or f'{path}: ' in first)


@pytest.mark.parametrize('spoilt, code, said', [
    ({}, 0, ''), ({'joints': 1e3 * WALK.position}, DOUBTFUL, '[m, not millimetres]'),
    ({'time': 1e3 * WALK.time}, WRONG, '(milliseconds?)'),
    ({'base': 1e3 * WALK.base}, DOUBTFUL, 'Not to be trusted')])
def test_a_motion_that_cannot_be_right_says_so_first(tmp_path, capsys, spoilt, code, said):
    urdf = write_walk(tmp_path)[1]
    path = write_table(tmp_path / 'walk.csv', ['time', *BASE, *WALK.model.joint_names], [
        spoilt.get('time', WALK.time), spoilt.get('base', WALK.base),
        np.tile([0.0, 0.0, 0.0, 1.0], (len(WALK.time), 1)), spoilt.get('joints', WALK.position)])
    assert main(['inverse-dynamics', str(path), '--urdf', str(urdf), '--feet', *FEET, '-o',
                 str(tmp_path / 'out'), '--no-report', '--no-bag']) == code
    shown = capsys.readouterr()
    assert said in (shown.err or shown.out.splitlines()[0])
