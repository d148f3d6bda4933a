# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A recorded climb is analysed by the forces of its wall."""
import numpy as np
import pytest

from legged_dynamics.cli import main
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.report import climb as recording
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

DIALECT = StandaloneDialect()
NODE = '/stickybot_controller'
STEP = 4_000_000    # ns


@pytest.fixture
def bag(tmp_path):
    """Two feet hold 2 N along the wall in turn, one pulls by 0.5 N; 0.04 m/s up."""
    path = tmp_path / 'climb'
    with BagWriter(path) as writer:
        wrench, odometry = 'geometry_msgs/msg/WrenchStamped', 'nav_msgs/msg/Odometry'
        for foot in ('left_foot', 'right_foot'):
            writer.add_topic(f'/ground_truth/{foot}/wrench', wrench)
            writer.add_topic(f'{NODE}/{foot}/wrench', wrench)
            writer.add_topic(f'{NODE}/{foot}/margin', 'std_msgs/msg/Float64')
        writer.add_topic('/ground_truth/odom', odometry)
        writer.add_topic('/adhesion_controller/commands', 'std_msgs/msg/Float64MultiArray')
        writer.add_topic(f'{NODE}/events', 'std_msgs/msg/String')
        for k in range(100):
            ns = 10 ** 9 + k * STEP
            for i, foot in enumerate(('left_foot', 'right_foot')):
                on = (k // 25) % 2 == i
                force = np.array([0.0, 2.0, -0.5 * (i == 0), 0.0, 0.0, 0.0]) * on
                for topic, error in ((f'/ground_truth/{foot}/wrench', 0.0),
                                     (f'{NODE}/{foot}/wrench', 0.1)):
                    writer.write_message(topic, ns, convert.wrench_stamped(
                        DIALECT, ns, foot, force + error * (np.arange(6) == 0)))
                writer.write_message(f'{NODE}/{foot}/margin', ns,
                                     convert.float64(DIALECT, 0.6 - 0.2 * i))
            writer.write_message('/ground_truth/odom', ns, convert.odometry(
                DIALECT, ns, 'world', 'body', np.array([0.0, 0.0, 0.04 * k * STEP * 1e-9]),
                [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]))
            writer.write_message('/adhesion_controller/commands', ns,
                                 convert.command(DIALECT, np.ones(2)))
        writer.write_message(f'{NODE}/events', ns, convert.string(
            DIALECT, '1.3000 s: foot left no longer holds, by what the hips and the body show'))
    return path


def test_forces_errors_margins_and_speed_are_those_of_the_messages(bag):
    with BagReader(bag) as reader:
        assert recording.is_climb(reader)
        climb = recording.read_climb(reader)
    assert climb.speed == pytest.approx(0.04)
    left, right = (dict(zip(recording.climb_table(climb).head, row))
                   for row in recording.climb_table(climb).rows)
    assert left['foot'] == 'left'
    assert left['on the wall [% of time]'] == right['on the wall [% of time]'] == '50'
    assert left['peak in the plane [N]'] == '2.00'
    assert left['largest pull off the wall [N]'] == '0.50'
    # 0.1 N of two components, root mean square of both.
    assert float(left["controller's error in the plane, rms [N]"]) == pytest.approx(
        0.1 / np.sqrt(2.0), abs=1e-3)
    assert left['along the normal, rms [N]'] == '0.000'
    assert (left['least margin of the pad [%]'], right['least margin of the pad [%]']) == (
        '60', '40')


def test_analyze_says_how_the_climb_went_and_writes_its_report(bag, tmp_path, capsys):
    assert main(['analyze', str(bag), '-o', str(tmp_path / 'out')]) == 0
    said = capsys.readouterr().out
    assert 'A climb: 4.00 cm/s' in said
    assert 'feet lost: 1, first: 1.3000 s: foot left' in said
    assert 'trot' not in said
    assert 'Forces of the wall' in (tmp_path / 'out' / 'report.html').read_text()
