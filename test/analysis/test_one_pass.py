# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A report of detected or given contacts decodes each joint state once."""
from collections import Counter
from dataclasses import replace

import pytest
from simulated_bag import FEET, messages, write
from test_replay import QUIET, live

from legged_dynamics.recordings.bags import BagReader
from legged_dynamics.recordings.report.analysis import analyse

STEPS = 300
CONTACTS = tuple(f'/ground_truth/{foot}/contact' for foot in FEET)
WRENCH = 'geometry_msgs/msg/WrenchStamped'


@pytest.fixture
def decoded(monkeypatch):
    """Count the messages that are decoded, by topic."""
    count, decode = Counter(), BagReader.decode

    def counting(bag, message):
        count[message.topic] += 1
        return decode(bag, message)
    monkeypatch.setattr(BagReader, 'decode', counting)
    return count


@pytest.mark.parametrize('options', [{}, {'contact': CONTACTS}], ids=str)
@pytest.mark.parametrize('enriched', [False, True], ids=['plain', 'enriched'])
def test_inputs_are_decoded_once(tmp_path, decoded, options, enriched):
    bag = write(tmp_path / 'bag', messages(steps=STEPS))
    analyse(bag, replace(QUIET, **options), enriched=tmp_path / 'copy' if enriched else None)
    assert decoded['/joint_states'] == decoded['/imu/data'] == STEPS
    assert decoded['/ground_truth/odom'] == STEPS


@pytest.mark.parametrize('late', [0, 37])
def test_the_start_of_the_live_estimator_costs_a_look_at_the_beginning(tmp_path, decoded, late):
    topics = {f'/ground_reaction_estimator/{foot}/wrench': WRENCH for foot in FEET}
    bag = write(tmp_path / 'bag', live(STEPS, late), extra_types=topics)
    analysis = analyse(bag, QUIET)
    assert all(entry.compared == entry.identical > 0 for entry in analysis.live)
    assert STEPS < decoded['/joint_states'] <= STEPS + late + 10


def test_only_joint_states_near_the_first_live_wrench_are_looked_at(tmp_path, decoded):
    topics = {f'/ground_reaction_estimator/{foot}/wrench': WRENCH for foot in FEET}

    def unlike(content):        # the live estimator's stamps are none of the bag's
        for topic, receipt, message in content:
            if topic in topics:
                message.header.stamp.nanosec += 1
            late = 20_000_000_000 if receipt > first + 300_000_000 else 0
            yield topic, receipt + late, message
    content = live(STEPS)
    first = content[0][1]
    bag = write(tmp_path / 'bag', unlike(content), extra_types=topics)
    analyse(bag, QUIET)
    assert STEPS < decoded['/joint_states'] < 1.6 * STEPS
