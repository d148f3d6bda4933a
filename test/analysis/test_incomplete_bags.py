# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bags that lack something, name it otherwise, or do not fit what was asked for: each is said."""
import numpy as np
import pytest
from simulated_bag import DIALECT, FEET, ROBOT, START_NS, TYPES, messages, write
from test_accuracy import find

from legged_dynamics.estimation import Mode
from legged_dynamics.exceptions import BagError, ConfigurationError, LeggedDynamicsError
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.report.accuracy import ZERO_PHASE
from legged_dynamics.recordings.report.analysis import analyse, doubts
from legged_dynamics.recordings.report.report import sections, write_report
from legged_dynamics.ros import conversions as convert

TRUTH = '/ground_truth'


# ---- what is missing -----------------------------------------------------------------------


def draw_all(analysis):
    """Draw all figures, without the time it takes to turn them into pixels."""
    return [figure.draw() for section in sections(analysis) for figure in section.figures]


def analysed(tmp_path, *, without=(), options=None, **spoilt):
    return analyse(write(tmp_path / 'bag', messages(steps=300, **spoilt), without=without),
                   options)


def test_without_imu(tmp_path):
    analysis = analysed(tmp_path, without=['/imu'])
    assert set(analysis.series.mode.values) == {Mode.TORQUE_ONLY}
    assert any('no IMU topic' in note for note in analysis.notes)
    draw_all(analysis)


def test_without_effort(tmp_path):
    analysis = analysed(tmp_path, effort=False)
    assert set(analysis.series.mode.values) == {Mode.BASE_ONLY}
    assert any('No joint torque in 300 samples' in note for note in analysis.notes)
    assert {row.estimate for row in analysis.accuracy.feet} == {'base only'}
    draw_all(analysis)


def test_time_without_estimate_is_a_reason_for_doubt(tmp_path):
    """Without IMU and, after 0.6 s, without torque there is nothing to estimate from."""
    def losing_torque():
        for topic, receipt, message in messages(steps=700):
            if topic == '/joint_states' and receipt > START_NS + 600_000_000:
                message.effort = []
            yield topic, receipt, message

    analysis = analyse(write(tmp_path / 'bag', losing_torque(), without=['/imu']))
    assert analysis.silent == pytest.approx(400 / 700, abs=0.02)
    assert any('no estimate was possible in' in reason for reason in doubts(analysis))


def test_without_orientation(tmp_path):
    analysis = analysed(tmp_path, orientation=False)
    assert any('no orientation in 300 samples' in note for note in analysis.notes)
    assert find(analysis.accuracy.feet, ZERO_PHASE, 'standing').vertical_percent < 0.5


def test_without_truth(tmp_path):
    analysis = analysed(tmp_path, without=[TRUTH])
    assert any('nothing to compare' in note for note in analysis.notes)
    assert not analysis.accuracy.feet and not analysis.contacts
    assert [b.name for b in analysis.behaviours] == ['standing']
    report = write_report(analysis, tmp_path / 'report').read_text()
    assert 'Accuracy' not in report and 'nothing to compare' in report


def test_without_the_truth_of_one_foot(tmp_path):
    analysis = analysed(tmp_path, without=[f'{TRUTH}/RF_FOOT'])
    assert any('no true wrench of RF_FOOT' in note for note in analysis.notes)
    draw_all(analysis)


def test_without_true_flags_contact_is_taken_from_the_true_force(tmp_path):
    without = [f'{TRUTH}/{foot}/contact' for foot in FEET]
    analysis = analysed(tmp_path, without=without)
    assert any('taken from the true vertical force' in note for note in analysis.notes)
    assert find(analysis.accuracy.feet, ZERO_PHASE, 'standing').count > 1000


def test_without_odometry(tmp_path):
    assert analysed(tmp_path, without=[f'{TRUTH}/odom']).accuracy.center < 0.02


def test_without_robot_description_another_urdf_serves(tmp_path):
    without = ['/robot_description']
    bag = write(tmp_path / 'bag', messages(steps=100), without=without)
    with pytest.raises(BagError, match='no robot_description; give the URDF with --urdf'):
        analyse(bag)
    urdf = str(ROBOT.with_suffix('.urdf'))
    given = analyse(bag, AnalysisOptions(urdf=urdf))
    beside = analyse(bag, AnalysisOptions(robot='anymal_class'))
    assert any('which comes with the robot' in note for note in beside.notes)
    assert (given.series.wrench.values == beside.series.wrench.values).all()


def test_without_joint_states(tmp_path):
    with pytest.raises(BagError, match='has no joint states .*; its topics are: /ground_truth'):
        analysed(tmp_path, without=['/joint_states'])


def test_joint_states_of_another_robot(tmp_path):
    content = [(t, r, convert.joint_state(DIALECT, r, ['wheel'], [0.0], [0.0])
                if t == '/joint_states' else m) for t, r, m in messages(steps=20)]
    with pytest.raises(BagError, match='nothing could be estimated .*LF_HAA'):
        analyse(write(tmp_path / 'bag', content))


def test_a_rate_other_than_the_stated_one_is_told(tmp_path):
    slow = [(t, r, m) for t, r, m in messages(steps=300)
            if not t.startswith(('/joint', '/imu')) or (r // 2_000_000) % 5 == 0]
    analysis = analyse(write(tmp_path / 'bag', slow))
    assert any('come every 10 ms (100 Hz), but the estimator is set to 500 Hz' in note
               for note in analysis.notes)


# ---- which topic is what -------------------------------------------------------------------


def renamed(names, steps=100):
    """Return content with topics renamed, and the types of the new ones."""
    content = [(names.get(t, t), r, m) for t, r, m in messages(steps=steps)]
    return content, {new: TYPES[old] for old, new in names.items()}


def test_a_robot_in_a_namespace_is_found(tmp_path):
    names = {name: f'/spot{name}' for name in TYPES}
    content, types = renamed(names)
    analysis = analyse(write(tmp_path / 'bag', content, extra_types=types))
    assert analysis.topics.joint_states == '/spot/joint_states'
    assert analysis.topics.wrench_truth['LF_FOOT'] == '/spot/ground_truth/LF_FOOT/wrench'
    assert analysis.truth.known and analysis.topics.odometry == '/spot/ground_truth/odom'


def test_an_imu_of_any_name_is_found_and_several_are_asked_about(tmp_path):
    content, types = renamed({'/imu/data': '/sensors/vectornav'})
    analysis = analyse(write(tmp_path / 'one', content, extra_types=types))
    assert analysis.topics.imu == '/sensors/vectornav'
    twice = [*content, *((('/sensors/spare', r, m)) for t, r, m in content
                         if t == '/sensors/vectornav')]
    bag = write(tmp_path / 'two', sorted(twice, key=lambda c: c[1]),
                extra_types={**types, '/sensors/spare': TYPES['/imu/data']})
    with pytest.raises(BagError, match='several topics .*spare, .*vectornav; choose .* --imu'):
        analyse(bag)
    chosen = analyse(bag, AnalysisOptions(imu='sensors/vectornav'))
    assert (chosen.series.wrench.values == analysis.series.wrench.values).all()


def test_truth_on_a_topic_of_any_name(tmp_path):
    names = {f'{TRUTH}/{foot}/wrench': f'/ati/{foot}' for foot in FEET}
    content, types = renamed(names, steps=300)
    bag = write(tmp_path / 'bag', content, extra_types=types)
    assert not analyse(bag).truth.known
    analysis = analyse(bag, AnalysisOptions(truth={foot: f'/ati/{foot}' for foot in FEET}))
    assert find(analysis.accuracy.feet, ZERO_PHASE, 'standing').total_percent < 0.5


@pytest.mark.parametrize(('options', 'said'), [
    ({'truth': {'LF_FOOT': '/none'}}, 'expected a topic /none .* there is none'),
    ({'truth': {'LF_FOOT': '/imu/data'}}, 'that is a sensor_msgs/msg/Imu'),
    ({'truth': {'PAW': '/imu/data'}}, "expected a foot .*got 'PAW'"),
    ({'joint_states': '/imu/data'}, 'expected a topic /imu/data with sensor_msgs/msg/JointState'),
    ({'imu': '/gyro'}, 'there is none; topics of that type are: /imu/data'),
    ({'contact': ('/a', '/b')}, r'expected "detected", "bag" or 4 topics'),
    ({'contact': 4 * ('/imu/data',)}, 'expected a topic with std_msgs/msg/Bool, got /imu/data'),
    ({'valid': '/imu/data'}, 'expected a topic /imu/data with std_msgs/msg/Bool'),
    ({'robot': 'no_such_robot'}, 'expected a robot that comes with the package'),
    ({'urdf': '/no/such.urdf'}, 'cannot read the URDF'),
    ({'start': 100.0}, 'there is nothing from 100 s on'),
], ids=lambda value: str(value)[:30])
def test_wrong_options_are_told(short_bag, options, said):
    with pytest.raises(LeggedDynamicsError, match=said):
        analyse(short_bag, AnalysisOptions(**options))


@pytest.mark.parametrize('options', [{'start': -1.0}, {'start': 2.0, 'end': 1.0}, {'end': 0.0}])
def test_wrong_ranges_are_told(options):
    with pytest.raises(ConfigurationError, match='expected a range'):
        AnalysisOptions(**options)


def test_a_misspelt_key_in_the_yaml_is_told(short_bag, tmp_path):
    path = tmp_path / 'my_robot.yaml'
    path.write_text(ROBOT.read_text() + '\n    analysis: {contact_forse: 20.0}\n')
    with pytest.raises(ConfigurationError, match=r'contact_forse .*mean analysis\.contact'):
        analyse(short_bag, AnalysisOptions(robot=str(path)))


def test_a_robot_that_fits_no_yaml_is_told(tmp_path):
    content = [(t, r, convert.string(DIALECT, m.data.replace('LF_FOOT', 'PAW'))
                if t == '/robot_description' else m) for t, r, m in messages(steps=20)]
    with pytest.raises(ConfigurationError, match='none of the robots .* with --robot'):
        analyse(write(tmp_path / 'bag', content))


def test_parameters_of_the_live_estimator_are_taken(short_bag, tmp_path):
    path = tmp_path / 'tuned.yaml'
    path.write_text('ground_reaction_estimator:\n  ros__parameters:\n'
                    '    force_filter: {cutoff: 20.0}\n')
    plain = analyse(short_bag)
    tuned = analyse(short_bag, AnalysisOptions(params_files=(path,)))
    assert (plain.settings.force_cutoff, tuned.settings.force_cutoff) == (0.0, 20.0)
    assert (tuned.series.raw_wrench.values == plain.series.raw_wrench.values).all()
    assert not np.allclose(plain.series.wrench.values, tuned.series.wrench.values, atol=0.1)
