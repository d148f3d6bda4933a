# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service in ROS 2's terms, for the backends that have no rclpy to ask."""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from legged_dynamics.exceptions import ConfigurationError, MiddlewareError


@dataclass(frozen=True)
class QoSProfile:
    """What a publisher offers or a subscription asks for; the defaults are rclpy's."""

    depth: int = 10  # Messages kept per publisher or subscription (keep last)
    reliable: bool = True  # Reliable, or best effort
    # Transient local: late subscriptions get the last ``depth`` messages. Else volatile.
    latched: bool = False

    def __post_init__(self):
        if self.depth < 1:
            raise MiddlewareError(f'expected a QoS depth of at least 1, got {self.depth}')

    def serves(self, request: QoSProfile) -> bool:
        """Return whether a publisher with this profile matches a subscription's."""
        return (self.reliable or not request.reliable) and (self.latched or not request.latched)


class QoSPresets:
    """The protocol.QoS of the loopback and of Cyclone DDS, as ``dialect.qos`` offers it."""

    sensor_data = QoSProfile(depth=5, reliable=False)
    latched = QoSProfile(depth=1, latched=True)

    @staticmethod
    def reliable(depth: int = 10) -> QoSProfile:
        """Return ROS 2's default profile: reliable, volatile, keep last."""
        return QoSProfile(depth=depth)

    @staticmethod
    def best_effort(depth: int = 10) -> QoSProfile:
        """Return the profile for streams: best effort, volatile, keep last."""
        return QoSProfile(depth=depth, reliable=False)


def as_profile(qos: QoSProfile | int) -> QoSProfile:
    """Return a number as a profile of that depth, as rclpy does; a profile unchanged."""
    return QoSProfile(depth=qos) if isinstance(qos, int) else qos


def overridden(profile: QoSProfile, prefix: str, values: Mapping[str, Any]) -> QoSProfile:
    """Return the profile with the policies of parameters below ``prefix``, as in rclpy."""
    changes: dict[str, Any] = {}
    for name, value in values.items():
        policy = name.removeprefix(prefix)
        if policy == name:
            continue
        if policy == 'depth':
            if type(value) is not int or value < 1:
                raise ConfigurationError(f'parameter {name!r}: expected a depth from 1 on, '
                                         f'got {value!r}')
            changes['depth'] = value
        elif policy in _POLICIES:
            field, meanings = _POLICIES[policy]
            if value not in meanings:
                raise ConfigurationError(f'parameter {name!r}: expected one of '
                                         f'{", ".join(meanings)}, got {value!r}')
            if field:
                changes[field] = meanings[value]
        else:
            raise ConfigurationError(f'parameter {name!r}: expected one of the policies depth, '
                                     f'{", ".join(_POLICIES)}, got {policy!r}')
    return replace(profile, **changes)


_POLICIES: dict[str, tuple[str, dict[str, bool]]] = {
    'reliability': ('reliable', {'reliable': True, 'best_effort': False}),
    'durability': ('latched', {'transient_local': True, 'volatile': False}),
    'history': ('', {'keep_last': True}),
}


# -------------------------------------------------------------------------------------------------
# How large and how frequent messages may be; what is more is dropped before it is decoded.


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

    At most FASTEST (T + LONGEST_PAUSE) in any time T: a sender at FASTEST loses none when
    its listener pauses for LONGEST_PAUSE. `largest` [bytes]; `dropped`: too large or too
    many.
    """

    def __init__(self, name: str, topic: str, clock: Callable[[], int] = time.monotonic_ns):
        self.largest = LARGEST.get(name, LARGEST_OTHER)
        self.dropped = 0
        self._name, self._topic, self._clock = name, topic, clock
        self._most = FASTEST * LONGEST_PAUSE
        self._credit, self._since = self._most, clock()

    def refuse(self, size: int) -> str:
        """Return why a message of ``size`` bytes is not to be decoded, or ''."""
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
