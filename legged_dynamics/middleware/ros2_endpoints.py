# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Publishers and subscriptions on rclpy that carry our own messages as bytes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy

from legged_dynamics.middleware.cdr import deserialize, serialize
from legged_dynamics.middleware.ros2_dialect import rclpy_class

try:    # not in Humble
    from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
except ImportError:
    from rclpy.qos_event import PublisherEventCallbacks, SubscriptionEventCallbacks


def quiet_publisher_events() -> PublisherEventCallbacks:
    """Return no event callbacks: each default one is something more to wait for, at every wake."""
    return PublisherEventCallbacks(use_default_callbacks=False)


def quiet_subscription_events() -> SubscriptionEventCallbacks:
    """Return no event callbacks."""
    return SubscriptionEventCallbacks(use_default_callbacks=False)


class RclpyPublisher:
    """
    Sends our messages; what nobody would get is not even serialised.

    Parameters
    ----------
    publisher : rclpy.publisher.Publisher
        Of the message's rclpy class.
    name : str
        The message's ROS name.

    """

    def __init__(self, publisher: Any, name: str):
        self.publisher, self._name = publisher, name
        self._latched = publisher.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        self.get_subscription_count = publisher.get_subscription_count

    def publish(self, msg: Any) -> None:
        """Send a message."""
        if self._latched or self.get_subscription_count():
            self.publisher.publish(serialize(msg, self._name))

    def publish_raw(self, cdr: bytes) -> None:
        """Send a message that is CDR bytes already."""
        self.publisher.publish(cdr)

    def wait_for_acks(self, seconds: float) -> bool:
        """Wait until all reliable subscriptions have everything; False when time ran out."""
        return self.publisher.wait_for_all_acked(Duration(seconds=seconds))


class RclpySubscription:
    """
    Takes our messages to a callback.

    Attributes
    ----------
    subscription : rclpy.subscription.Subscription
        Once it is made.

    """

    def __init__(self, name: str, callback: Callable[[Any], None]):
        self._name, self._callback = name, callback
        self.subscription: Any = None

    def take(self, cdr: bytes) -> None:
        """Hand the message in these bytes to the callback."""
        self._callback(deserialize(cdr, self._name))

    def get_publisher_count(self) -> int:
        """Return how many publishers match now."""
        return self.subscription.get_publisher_count()


class NativePublishers:
    """
    Lets a plain rclpy node publish our messages.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Any):
        self._node = node

    def create_publisher(self, msg_type: Any, topic: str, qos_profile: Any) -> RclpyPublisher:
        """Return a publisher of one of our messages."""
        return RclpyPublisher(self._node.create_publisher(
            rclpy_class(msg_type.ros_type), topic, qos_profile,
            event_callbacks=quiet_publisher_events()), msg_type.ros_type)
