# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is too large or too frequent is left unread; what a pause has piled up is not."""
import pytest

from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.messages import message_class
from legged_dynamics.ros.middleware.protocol import (
    FASTEST,
    LARGEST,
    LONGEST_PAUSE,
    Bounds,
    QoSProfile,
)

KIND, TOPIC = 'geometry_msgs/msg/WrenchStamped', '/estimator/LF_FOOT/wrench'
SECOND = 1_000_000_000


class Listener:
    """Bounds with a clock that stands still until it is moved."""

    def __init__(self):
        self.now = 0
        self.bounds = Bounds(KIND, TOPIC, lambda: self.now)

    def read(self, count, rate=None):
        """Return how many of so many messages are read: sent at a rate [Hz], or found at once."""
        found = 0
        for _ in range(count):
            self.now += round(SECOND / rate) if rate else 0
            found += not self.bounds.refuse(100)
        return found


@pytest.mark.parametrize('rate', [500.0, 1000.0, FASTEST])
def test_a_listener_that_was_stopped_reads_all_that_was_sent_meanwhile(rate):
    listener = Listener()
    assert listener.read(round(3 * rate), rate) == round(3 * rate)
    for _ in range(2):
        listener.now += round(LONGEST_PAUSE * SECOND)
        assert listener.read(round(LONGEST_PAUSE * rate)) == round(LONGEST_PAUSE * rate)
        assert listener.read(round(3 * rate), rate) == round(3 * rate)
    assert listener.bounds.dropped == 0


@pytest.mark.parametrize('seconds', [1, 5])
def test_a_flood_is_bounded_in_any_time(seconds):
    listener = Listener()
    listener.now += 100 * SECOND        # silence is not saved up for long
    flood = 25_000
    found = listener.read(seconds * flood, flood)
    assert FASTEST * seconds <= found <= FASTEST * (seconds + LONGEST_PAUSE)
    assert listener.bounds.dropped == seconds * flood - found


def test_what_is_left_unread_is_told_with_its_topic():
    listener = Listener()
    assert listener.bounds.refuse(LARGEST[KIND]) == ''
    assert f'{LARGEST[KIND] + 1} bytes on {TOPIC}' in listener.bounds.refuse(LARGEST[KIND] + 1)
    listener.read(round(FASTEST * LONGEST_PAUSE))
    assert f'{KIND} a second on {TOPIC}: the rest' in listener.bounds.refuse(100)
    assert listener.bounds.dropped == 3


def test_a_message_that_is_too_large_is_never_decoded():
    bus, heard = LoopbackBus(), []
    node = bus.create_node('node')
    node.create_subscription(message_class(KIND), TOPIC, heard.append, QoSProfile(10))
    publisher = node.create_publisher(message_class(KIND), TOPIC, QoSProfile(10))
    for size in (10, LARGEST[KIND] + 100, 10):
        message = message_class(KIND)()
        message.header.frame_id = 'x' * size
        publisher.publish(message)
    bus.spin()
    assert [len(message.header.frame_id) for message in heard] == [10, 10]
    assert 'was left unread' in bus.logs[-1].message
