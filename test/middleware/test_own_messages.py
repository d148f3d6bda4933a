# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""legged_dynamics_msgs: its .msg files are the table, and the node publishes what it estimates."""
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from loopback_robot import FEET, NODE, LoopbackRobot

from legged_dynamics.ros.conversions.markers import CONTACTS, PACKAGE, REACTION, REACTIONS
from legged_dynamics.ros.middleware.cdr import deserialize, serialize
from legged_dynamics.ros.middleware.messages import DEFINITIONS

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / PACKAGE


@pytest.mark.parametrize('full_name', [CONTACTS, REACTION, REACTIONS])
def test_the_files_have_the_fields_of_the_table(full_name):
    name = full_name.rpartition('/')[2]
    lines = (FOLDER / 'msg' / f'{name}.msg').read_text().splitlines()
    fields = [' '.join(line.partition('#')[0].split()) for line in lines]
    assert [line for line in fields if line] == [
        line.strip() for line in DEFINITIONS[full_name].splitlines()]
    assert f'"msg/{name}.msg"' in (FOLDER / 'CMakeLists.txt').read_text()


def test_both_packages_have_one_version():
    versions = [ElementTree.parse(folder / 'package.xml').getroot().findtext('version')
                for folder in (ROOT, FOLDER)]
    assert versions[0] == versions[1]


def test_the_node_publishes_them_with_the_stamp_of_the_joint_state():
    robot = LoopbackRobot()
    contacts = robot.watch(CONTACTS, f'{NODE}/contacts')
    reactions = robot.watch(REACTIONS, f'{NODE}/foot_reactions')
    robot.run(100)
    assert list(contacts[-1].feet) == list(FEET)
    assert all(contacts[-1].contact) and min(contacts[-1].probability) > 0.5
    message = reactions[-1]
    assert message.header.frame_id == 'base'
    assert message.header.stamp == robot.wrenches[0][-1].header.stamp
    for foot, topic, one in zip(FEET, robot.wrenches, message.feet):
        assert one.foot == foot and one.contact and one.observable
        assert one.wrench == topic[-1].wrench
        assert 0.0 < one.deviation.force.z < 0.2 * message.net_wrench.force.z
    assert sum(one.base_force.z for one in message.feet) == pytest.approx(
        message.net_wrench.force.z, rel=0.02)
    again = deserialize(serialize(message, REACTIONS), REACTIONS)
    assert np.isfinite(again.net_wrench.force.z) and again.feet[0].foot == FEET[0]
