# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How large and how frequent messages may be; what is more is dropped before it is decoded."""
from __future__ import annotations

import time
from collections.abc import Callable

MEGABYTE = 1_000_000
# Bytes of a message; far beyond what robots send.
LARGEST = {
    'sensor_msgs/msg/JointState': 64_000,
    'sensor_msgs/msg/Imu': 4_000,
    'std_msgs/msg/Float64MultiArray': 64_000,
    'geometry_msgs/msg/WrenchStamped': 4_000,
    'geometry_msgs/msg/PoseStamped': 4_000,
    'trajectory_msgs/msg/MultiDOFJointTrajectory': 8 * MEGABYTE,
    'std_msgs/msg/String': 8 * MEGABYTE,        # robot_description
}
LARGEST_OTHER = MEGABYTE
FASTEST = 4_000.0       # messages a second on one topic; more than any control loop sends
# s; a node that was not run so long finds in its queues what came meanwhile, and reads it at once:
# that is no flood.
LONGEST_PAUSE = 2.0


class Bounds:
    """
    Decides whether a message of one subscription is to be decoded.

    In any time T at most FASTEST (T + LONGEST_PAUSE) messages are. A sender at FASTEST loses none
    when its listener pauses for LONGEST_PAUSE, a slower one none when it pauses for longer.

    Parameters
    ----------
    name : str
        The message's ROS name.
    topic : str
        Where it comes, for what is said.
    clock : callable
        Monotonic time [ns].

    Attributes
    ----------
    largest : int
        Bytes.
    dropped : int
        Messages that were too large or too many.

    """

    def __init__(self, name: str, topic: str, clock: Callable[[], int] = time.monotonic_ns):
        self.largest = LARGEST.get(name, LARGEST_OTHER)
        self.dropped = 0
        self._name, self._topic, self._clock = name, topic, clock
        self._most = FASTEST * LONGEST_PAUSE
        self._credit, self._since = self._most, clock()

    def refuse(self, size: int) -> str:
        """Return why a message of a size [bytes] is not to be decoded, or an empty string."""
        if size > self.largest:
            self.dropped += 1
            return (f'a {self._name} of {size} bytes on {self._topic} was left unread: expected '
                    f'at most {self.largest}')
        now = self._clock()
        self._credit = min(self._credit + (now - self._since) * 1e-9 * FASTEST, self._most)
        self._since = now
        if self._credit < 1.0:
            self.dropped += 1
            return (f'more than {FASTEST:g} {self._name} a second on {self._topic}: the rest is '
                    'left unread')
        self._credit -= 1.0
        return ''
