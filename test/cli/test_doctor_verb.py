# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb doctor on a bag: what it prints, writes and returns."""
from dataclasses import replace

import numpy as np
import pytest
import yaml
from recorded_robots import healthy

from legged_dynamics import cli
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

pytestmark = pytest.mark.slow

DIALECT = StandaloneDialect()


def write_bag(path, bias=0.0):
    """Write a squatting robot at 125 Hz whose accelerometer has the wrong sign; gyro as biased."""
    recorded = healthy()
    joints, imu = recorded.log.joints, recorded.log.imu
    with BagWriter(path) as writer:
        for topic, kind in (('/robot_description', 'std_msgs/msg/String'),
                            ('/joint_states', 'sensor_msgs/msg/JointState'),
                            ('/imu/data', 'sensor_msgs/msg/Imu')):
            writer.add_topic(topic, kind, latched=topic == '/robot_description')
        start = int(joints.receipt_ns[0])
        writer.write_message('/robot_description', start, convert.string(
            DIALECT, robot_files('solo_class')[1].read_text()))
        for k in range(0, len(joints.stamp_ns), 4):
            receipt, stamp = int(joints.receipt_ns[k]), int(joints.stamp_ns[k])
            writer.write_message('/imu/data', receipt, convert.imu(
                DIALECT, stamp, 'imu_link', imu.gyro[k] + bias, -imu.acceleration[k],
                imu.orientation[k]))
            writer.write_message('/joint_states', receipt, convert.joint_state(
                DIALECT, stamp, joints.names, joints.position[k], joints.velocity[k],
                joints.effort[k]))
    return path


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    """Return the bag of a robot."""
    return write_bag(tmp_path_factory.mktemp('doctor') / 'bag')


def test_findings_mends_and_report(bag, tmp_path, capsys):
    fixed, report = tmp_path / 'fixed.yaml', tmp_path / 'doctor.html'
    assert cli.main(['doctor', str(bag), '--fix', str(fixed), '-o', str(report)]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[0].endswith('1 finding')
    assert 'accelerometer_sign; certain' in out and 'accelerometer_scale: -1.0' in out
    values = yaml.safe_load(fixed.read_text())['/**']['ros__parameters']
    assert values['robot']['sensors'] == {'accelerometer_scale': -1.0}
    assert 'accelerometer_sign' in report.read_text() and 'class="chart"' in report.read_text()
    # The corrected YAML is a robot's YAML, and with it nothing is found: here in the squats alone.
    healthy = tmp_path / 'healthy.html'
    assert cli.main(['doctor', str(bag), '--robot', str(fixed), '--start', '11',
                     '-o', str(healthy)]) == 0
    assert 'nothing wrong was found' in capsys.readouterr().out
    column = '<th scope="col">corrected</th>'
    assert column in report.read_text() and column not in healthy.read_text()


def test_identify_says_what_its_figures_are_worth(bag, tmp_path, capsys, monkeypatch):
    from legged_dynamics.diagnosis.identification import identify as module
    # How well is tested elsewhere.
    monkeypatch.setattr(module, 'FIT', replace(module.FIT, passes=1, most=2))
    command = ['identify', str(bag), '--end', '2.5']
    assert cli.main(command) == 1
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert first.startswith('Not to be trusted yet: experimental, and not validated')
    assert second.startswith('No scale: masses and torques')
    assert cli.main([*command, '--trust-effort']) == 3
    out = capsys.readouterr().out
    assert out.startswith('Not to be trusted yet') and 'No scale' not in out
    # The bias of one gyro explains the bag of another, without one, worse.
    biased = write_bag(tmp_path / 'biased', 0.2)
    assert cli.main(['identify', str(biased), '--end', '12', '--trust-effort',
                     '--validate', str(bag)]) == 3
    out = capsys.readouterr().out
    assert 'Not to be trusted' not in out and 'the other bag: force' in out
    assert 'Refused: the other bag is explained worse' in out


def test_a_missing_bag_is_one_line(capsys):
    assert cli.main(['doctor', '/no/such/bag']) == cli.WRONG
    assert np.size(capsys.readouterr().err.splitlines()) == 1
