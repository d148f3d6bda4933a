# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quality of service in ROS 2's terms, for the backends that have no rclpy to ask."""
from __future__ import annotations

from dataclasses import dataclass

from legged_dynamics.exceptions import MiddlewareError


@dataclass(frozen=True)
class QoSProfile:
    """
    What a publisher offers or a subscription asks for; the defaults are rclpy's.

    Attributes
    ----------
    depth : int
        Messages kept per publisher or subscription (keep last).
    reliable : bool
        Reliable, or best effort.
    latched : bool
        Transient local: late subscriptions get the last ``depth`` messages. Else volatile.

    """

    depth: int = 10
    reliable: bool = True
    latched: bool = False

    def __post_init__(self):
        if self.depth < 1:
            raise MiddlewareError(f'expected a QoS depth of at least 1, got {self.depth}')

    def serves(self, request: QoSProfile) -> bool:
        """Tell whether a publisher with this profile matches a subscription with ``request``."""
        return (self.reliable or not request.reliable) and (self.latched or not request.latched)


class QoSPresets:
    """The profiles components use, as ``dialect.qos`` offers them."""

    sensor_data = QoSProfile(depth=5, reliable=False)
    latched = QoSProfile(depth=1, latched=True)

    @staticmethod
    def reliable(depth: int = 10) -> QoSProfile:
        """Return reliable, volatile, keep last ``depth``: ROS 2's default profile."""
        return QoSProfile(depth=depth)

    @staticmethod
    def best_effort(depth: int = 10) -> QoSProfile:
        """Return best effort, volatile, keep last ``depth``."""
        return QoSProfile(depth=depth, reliable=False)


def as_profile(qos: QoSProfile | int) -> QoSProfile:
    """Return a profile; a bare number is a depth, as in rclpy."""
    return QoSProfile(depth=qos) if isinstance(qos, int) else qos
