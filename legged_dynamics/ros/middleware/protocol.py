# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The seam between components and middleware.

A component's node has the methods of `node.StandaloneNode`, spelled as rclpy spells them, whatever
the backend, but for parameters, which are declared from `Setting`s (`parameters.py`). What differs
beside the node (message classes, QoS profiles, services) a component takes from its
:class:`Dialect`.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

from legged_dynamics.exceptions import ConfigurationError, MiddlewareError


def stamp_ns(stamp: Any) -> int:
    """Return a Time or Duration message in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


class Publication(NamedTuple):
    """
    A publisher of another node or process.

    Attributes
    ----------
    who : str
        The publisher as the middleware knows it: by node, or by process and machine.
    kind : str
        ROS type of its messages.
    reliable, latched : bool
        What it offers: reliable or best effort, transient local or volatile.

    """

    who: str
    kind: str
    reliable: bool
    latched: bool


class Dialect(Protocol):
    """What differs between the backends beside the node."""

    qos: QoSPresets

    def message(self, name: str) -> Any:
        """Return the class of a message, as the backend's publishers send it."""

    def service(self, name: str) -> Any:
        """Return the class of a service; None where the backend has no services."""


class Diagnosed(Protocol):
    """What diagnostics ask of a node and of its parts; `ros/nodes/diagnostics.py` publishes it."""

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return level (OK, WARN, ERROR, STALE) and message by status, ten times a second."""
        return {}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return key figures by status and name; called for each message published."""
        return {}


class Component(Diagnosed):
    """
    A node's work, written once for every backend.

    The constructor declares parameters and nothing else. ``configure`` creates what the component
    needs, ``activate`` starts it, ``deactivate`` brings its outputs to a safe state and stops it,
    ``cleanup`` releases what ``configure`` made; each raises a ``LeggedDynamicsError`` when it
    cannot. On ROS 2 they are bound to the lifecycle transitions; elsewhere the runner walks
    through them. ``on_fault`` is told of every exception that a callback let through.

    Attributes
    ----------
    default_name : str
        Node name when none is given.
    node : StandaloneNode or an rclpy node with its methods
        Handle to the bus.
    dialect : Dialect
        Message classes, QoS profiles and services of the backend.
    has_kernels : bool
        Whether kernels are to be compiled before it is configured; ``legged-dynamics warm`` knows
        it by its `default_name` then.
    live : tuple of str
        Beginnings of the names of parameters that act at any time; others are read at configure.
    configured : bool
        Whether ``configure`` has succeeded, and ``cleanup`` not since; kept by its host.

    """

    default_name = 'component'
    has_kernels = False
    live: ClassVar[tuple[str, ...]] = ()
    configured = False

    def __init__(self, node: Any, dialect: Dialect):
        self.node = node
        self.dialect = dialect

    def configure(self) -> None:
        """Read parameters and create publishers, subscriptions and timers."""

    def activate(self) -> None:
        """Start working."""

    def leave(self) -> bool:
        """Bring outputs down, called repeatedly; return whether they can be stopped."""
        return True

    def deactivate(self) -> None:
        """Stop working, leaving every output safe."""

    def cleanup(self) -> None:
        """Release everything that configure made."""

    def fixed(self, name: str) -> str:
        """Return why a parameter cannot be changed now, or an empty string."""
        if not self.configured or name.startswith(self.live):
            return ''
        return (f'parameter {name!r} is read when the node is configured: deactivate it and clean '
                'it up first, or restart it')

    def on_fault(self, error: Exception) -> None:
        """Handle an exception from one of the callbacks."""


# -------------------------------------------------------------------------------------------------
# Quality of service in ROS 2's terms, for the backends that have no rclpy to ask.


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
    """Profiles as ``dialect.qos`` offers them; ``make`` takes depth, reliable and latched."""

    def __init__(self, make: Callable[[int, bool, bool], Any] = QoSProfile):
        self._make = make
        self.sensor_data, self.latched = make(5, False, False), make(1, True, True)

    def reliable(self, depth: int = 10) -> Any:
        """Return ROS 2's default profile: reliable, volatile, keep last."""
        return self._make(depth, True, False)

    def best_effort(self, depth: int = 10) -> Any:
        """Return the profile for streams: best effort, volatile, keep last."""
        return self._make(depth, False, False)


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
        field, meanings = _POLICIES.get(policy, ('', {}))
        if policy == 'depth' and type(value) is int and value > 0:
            changes['depth'] = value
        elif value in tuple(meanings):
            changes |= {field: meanings[value]} if field else {}
        else:
            raise ConfigurationError(
                f'parameter {name!r}: expected one of {", ".join(meanings)}, got {value!r}'
                if meanings else f'parameter {name!r}: expected a depth from 1 on, or one of '
                f'{", ".join(_POLICIES)}, got {policy} {value!r}')
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
