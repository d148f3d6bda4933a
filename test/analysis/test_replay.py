# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The replay of a bag: the same bits twice, and those of the live node."""
from dataclasses import replace

import numpy as np
import pytest
from simulated_bag import DIALECT, FEET, ROBOT, START_NS, messages, walk, write

from legged_dynamics.estimation import Fault, Mode
from legged_dynamics.recordings.replay import AnalysisOptions
from legged_dynamics.recordings.report.analysis import analyse
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.protocol import QoSProfile
from legged_dynamics.ros.nodes.ground_reaction_estimator import GroundReactionNode
from legged_dynamics.schema import read_parameter_file

NODE = '/ground_reaction_estimator'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
COLUMNS = ('stamp_ns', 'latest_ns', 'receipt_ns', 'mode', 'wrench', 'raw_wrench', 'contact',
           'probability',
           'observable', 'center_of_pressure', 'base_residual', 'external_torque',
           'base_rotation', 'foot_rotation', 'foot_position', 'contact_point')
QUIET = AnalysisOptions(report=False, enriched=False, csv=False)


def bits(series):
    return {name: getattr(series, name).values.tobytes() for name in COLUMNS}


def test_twice_the_same_bag_gives_twice_the_same_bits(short_bag):
    first, second = analyse(short_bag), analyse(short_bag)
    assert bits(first.series) == bits(second.series)
    assert len(first.series.stamp_ns) == 199
    for name, other in first.others.items():
        assert (other.wrench.values == second.others[name].wrench.values).all()


def test_the_storage_makes_no_difference(short_bag, tmp_path):
    other = write(tmp_path / 'bag', messages(steps=200), storage='sqlite3')
    assert bits(analyse(short_bag).series) == bits(analyse(other).series)


def live(steps, late=0):
    """Return what the node publishes on the loopback for the same messages, as bag content.

    ``late`` is the number of samples that pass before the node is there.
    """
    bus = LoopbackBus()
    robot = bus.create_node('robot')
    publishers = {topic: robot.create_publisher(DIALECT.message(kind), topic,
                                                DIALECT.qos.reliable(1000))
                  for topic, kind in (('/imu/data', 'sensor_msgs/msg/Imu'),
                                      ('/joint_states', 'sensor_msgs/msg/JointState'))}
    watched, content, samples = {}, [], 0
    for topic, receipt, message in messages(steps=steps):
        if topic in publishers:
            samples += topic == '/imu/data'
            if samples == late + 1 and not watched:
                bus.host(GroundReactionNode, parameters={
                    **read_parameter_file(ROBOT),
                    'robot_description': str(ROBOT.with_suffix('.urdf'))})
                watched = {f'{NODE}/{foot}/wrench': bus.watch(WRENCH, f'{NODE}/{foot}/wrench',
                                                              QoSProfile(depth=1000))
                           for foot in FEET}
            publishers[topic].publish(message)
            bus.step(0.001)     # two messages a sample of 2 ms
        content.append((topic, receipt, message))
        for name, seen in watched.items():
            content += [(name, receipt + 500_000, wrench) for wrench in seen]
            seen.clear()
    return content


@pytest.mark.parametrize('late', [0, 37])
def test_the_live_node_and_the_replay_agree_in_every_bit(tmp_path, late):
    bag = write(tmp_path / 'bag', live(300, late),
                extra_types={f'{NODE}/{foot}/wrench': WRENCH for foot in FEET})
    analysis = analyse(bag)
    assert [entry.foot for entry in analysis.live] == list(FEET)
    for entry in analysis.live:
        assert entry.published == entry.compared == entry.identical == 299 - late
        assert (entry.missing, entry.force, entry.moment) == (0, 0.0, 0.0)
        assert np.isnan(entry.last)
    latency = analysis.latency
    # The joint state was received 0.3 ms, the wrench 0.5 ms after its stamp, which is the same.
    assert np.allclose(latency, 0.5)
    assert len(latency) == 299 - late


def test_a_difference_between_live_and_replay_is_found(tmp_path):
    content = live(60)
    number = next(i for i, (topic, _, _) in enumerate(content)
                  if topic == f'{NODE}/RH_FOOT/wrench' and i > len(content) // 2)
    content[number][2].wrench.force.y += 1e-9
    del content[next(i for i, (topic, _, _) in enumerate(content)
                     if topic == f'{NODE}/LF_FOOT/wrench' and i > len(content) // 2)]
    bag = write(tmp_path / 'bag', content,
                extra_types={f'{NODE}/{foot}/wrench': WRENCH for foot in FEET})
    found = {entry.foot: entry for entry in analyse(bag).live}
    spoilt = found['RH_FOOT']
    assert spoilt.identical == spoilt.compared - 1
    assert spoilt.force == pytest.approx(1e-9, rel=1e-3) and 0.0 < spoilt.last < 0.12
    assert found['LF_FOOT'].missing == 1
    assert found['RF_FOOT'].identical == found['RF_FOOT'].compared == 59


def test_a_part_of_the_bag(walking_bag):
    part = analyse(walking_bag, replace(QUIET, start=0.5, end=1.0))
    stamps = part.series.stamp_ns.values
    assert part.duration == pytest.approx(0.5)
    assert stamps[0] >= START_NS + 500_000_000 and stamps[-1] < START_NS + 1_000_000_000
    assert 240 < len(stamps) <= 250


def test_true_contacts_can_take_the_place_of_detection(walking_bag):
    given = analyse(walking_bag, replace(QUIET, contact=('bag',)))
    assert all(score.agreement == 100.0 for score in given.contacts)
    detected = analyse(walking_bag)
    assert all(score.agreement < 100.0 for score in detected.contacts)


def test_topics_can_take_the_place_of_detection(walking_bag):
    # The left hind foot is said to have the contacts of the right one: they differ while trotting.
    topics = tuple(f'/ground_truth/{foot}/contact'
                   for foot in ('LF_FOOT', 'RF_FOOT', 'RH_FOOT', 'RH_FOOT'))
    scores = analyse(walking_bag, replace(QUIET, contact=topics)).contacts
    # A Bool has no stamp, and arrives just after the joint state it belongs to.
    assert min(scores[i].agreement for i in (0, 1, 3)) > 98.0
    assert scores[2].agreement < 80.0


def test_estimates_lag_behind_and_say_so(short_bag):
    analysis = analyse(short_bag)
    assert analysis.replay.faults[Fault.WARMING_UP] == 1
    assert (analysis.series.mode.values == Mode.FUSED).all()
    assert (analysis.series.stamp_ns.values == [s.stamp_ns for s, _ in walk()[2][:199]]).all()
    receipts = analysis.series.receipt_ns.values - analysis.series.stamp_ns.values
    assert (receipts == 300_000).all()


def test_messages_that_cannot_be_used_are_counted_by_reason(tmp_path):
    content = list(messages(steps=100))
    spoilt = [message for topic, _, message in content if topic == '/joint_states']
    for message in spoilt[40:43]:
        message.position[3] = np.nan
    spoilt[60].name = spoilt[60].name[:-1]
    analysis = analyse(write(tmp_path / 'bag', content))
    assert sorted(analysis.replay.refused.values()) == [1, 3]
    told = ' '.join(analysis.notes)
    assert '3 messages were refused: joint_states: position is not finite: RF_HAA' in told
    assert '1 messages were refused: joint_states: expected' in told or 'missing' in told
    assert np.isfinite(analysis.series.wrench.values).all()
