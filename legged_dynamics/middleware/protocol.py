# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The seam between components and middleware: the few node methods we use, as rclpy spells them.

A real rclpy node satisfies :class:`Node` unchanged; so do the nodes of the Cyclone DDS backend and
of the in-process loopback. What differs between them beside the node (message classes, QoS
profiles, parameter descriptors) a component takes from its :class:`Dialect`.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, runtime_checkable


def stamp_ns(stamp: Any) -> int:
    """
    Return a Time or Duration message in nanoseconds.

    Parameters
    ----------
    stamp : object
        Time or Duration message.

    """
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


class Publisher(Protocol):
    """Sends messages on one topic."""

    def publish(self, msg: Any) -> None:
        """
        Send a message.

        Parameters
        ----------
        msg : object
            Message to publish.

        """

    def publish_raw(self, cdr: bytes) -> None:
        """
        Send a message that is CDR bytes already.

        Parameters
        ----------
        cdr : bytes
            Serialized message: CDR bytes with their encapsulation header.

        """

    def get_subscription_count(self) -> int:
        """Return how many subscriptions match now."""


class Timer(Protocol):
    """Calls back periodically on the node's clock."""

    def cancel(self) -> None:
        """Stop calling back."""


class Time(Protocol):
    """A point in time."""

    @property
    def nanoseconds(self) -> int:
        """Time since the epoch of the clock [ns]."""


class Clock(Protocol):
    """The node's clock: wall time, or simulated time from /clock."""

    def now(self) -> Time:
        """Return the present time."""


class Logger(Protocol):
    """The node's log, as rclpy's; all levels take what :meth:`info` takes."""

    def info(self, message: str, *, throttle_duration_sec: float = 0.0) -> Any:
        """
        Log what a user may want to know.

        Parameters
        ----------
        message : str
            Text to log.
        throttle_duration_sec : float, optional
            Shortest time between two lines from this place in the code [s]; 0 logs
            each.

        """

    def debug(self, message: str, *, throttle_duration_sec: float = 0.0) -> Any:
        """Log for developers."""

    def warning(self, message: str, *, throttle_duration_sec: float = 0.0) -> Any:
        """Log what should not be, but can be lived with."""

    def error(self, message: str, *, throttle_duration_sec: float = 0.0) -> Any:
        """Log what stops something from working."""


class Parameter(Protocol):
    """A declared parameter."""

    @property
    def name(self) -> str:
        """Name, dotted."""

    @property
    def value(self) -> Any:
        """Value: bool, int, float, str or a list of one of these; None when it has none."""


@runtime_checkable
class Node(Protocol):
    """What a component may ask of its node."""

    def get_name(self) -> str:
        """Return the node's name after remapping."""

    def get_namespace(self) -> str:
        """Return the node's namespace, '/' for none."""

    @property
    def bus_name(self) -> str:
        """What tells the bus from others of the machine; '' where it ends with the process."""

    def get_logger(self) -> Logger:
        """Return the node's logger."""

    def get_clock(self) -> Clock:
        """Return the node's clock."""

    def create_publisher(self, msg_type: Any, topic: str, qos_profile: Any) -> Publisher:
        """
        Return a publisher; the topic is relative, private ('~/x') or absolute.

        Parameters
        ----------
        msg_type : object
            Class of the messages, from the dialect's `message`.
        topic : str
            Name of the topic, as given or fully resolved.
        qos_profile : QoSProfile or int
            Quality of service, or the depth of a reliable queue.

        """

    def create_subscription(self, msg_type: Any, topic: str, callback: Callable[[Any], None],
                            qos_profile: Any) -> Any:
        """
        Return a subscription whose callback gets each message; one callback runs at a time.

        Parameters
        ----------
        msg_type : object
            Class of the messages, from the dialect's `message`.
        topic : str
            Name of the topic, as given or fully resolved.
        callback : callable
            Called with each message that arrives.
        qos_profile : QoSProfile or int
            Quality of service, or the depth of a reliable queue.

        """

    def create_timer(self, timer_period_sec: float, callback: Callable[[], None]) -> Timer:
        """
        Return a timer [s].

        Parameters
        ----------
        timer_period_sec : float
            Period of the timer [s].
        callback : callable
            Called without arguments at each period.

        """

    def resolve_topic_name(self, topic: str) -> str:
        """
        Return the full name of a topic, expanded and remapped.

        Parameters
        ----------
        topic : str
            Relative, private ('~/x') or absolute name.

        """

    def other_publishers(self, topic: str) -> list[str]:
        """
        Return who else publishes on a topic now.

        Parameters
        ----------
        topic : str
            Name of the topic, as this node would give it.

        Returns
        -------
        list of str
            Each publisher as the middleware knows it: by node, or by process and machine.

        """

    def destroy_publisher(self, publisher: Any) -> Any:
        """
        Take a publisher off the bus.

        Parameters
        ----------
        publisher : object
            Publisher that this node created.

        """

    def destroy_subscription(self, subscription: Any) -> Any:
        """
        Take a subscription off the bus.

        Parameters
        ----------
        subscription : object
            Subscription that this node created.

        """

    def destroy_timer(self, timer: Any) -> Any:
        """
        Stop and forget a timer.

        Parameters
        ----------
        timer : object
            Timer that this node created.

        """

    def declare_parameter(self, name: str, value: Any = None, descriptor: Any = None) -> Parameter:
        """
        Declare a parameter with its default (or its type) and return it, override applied.

        Parameters
        ----------
        name : str
            Name of the parameter.
        value : object, optional
            Default value, which also fixes the type.
        descriptor : object, optional
            Description, range and mutability of the parameter.

        """

    def has_parameter(self, name: str) -> bool:
        """
        Tell whether a parameter is declared.

        Parameters
        ----------
        name : str
            Name of the parameter.

        """

    def get_parameter(self, name: str) -> Parameter:
        """
        Return a declared parameter.

        Parameters
        ----------
        name : str
            Name of the parameter.

        """

    def add_on_set_parameters_callback(self, callback: Callable[[list[Any]], Any]) -> None:
        """
        Have ``callback(parameters) -> result`` accept or refuse changes at run time.

        Parameters
        ----------
        callback : callable
            Called with the parameters that are about to change; its result accepts or
            rejects them.

        """


class QoS(Protocol):
    """The QoS profiles that components use."""

    @property
    def sensor_data(self) -> Any:
        """Best effort, keep last 5: matches every publisher."""

    @property
    def latched(self) -> Any:
        """Reliable, transient local, keep last 1: late subscriptions get the last message."""

    def reliable(self, depth: int = 10) -> Any:
        """
        Return reliable, volatile, keep last ``depth``.

        Parameters
        ----------
        depth : int, optional
            How many messages the queue keeps.

        """

    def best_effort(self, depth: int = 10) -> Any:
        """
        Return best effort, volatile, keep last ``depth``.

        Parameters
        ----------
        depth : int, optional
            How many messages the queue keeps.

        """


class Dialect(Protocol):
    """
    What differs between the backends beside the node.

    Attributes
    ----------
    parameter_type : Enum
        BOOL, INTEGER, DOUBLE, STRING, BOOL_ARRAY, INTEGER_ARRAY, DOUBLE_ARRAY, STRING_ARRAY: given
        in place of a default, they declare a parameter that has a type but no value.

    """

    parameter_type: Any

    @property
    def qos(self) -> QoS:
        """Profiles for publishers and subscriptions."""

    def message(self, name: str) -> Any:
        """
        Return the class of a message such as 'sensor_msgs/msg/JointState'.

        Parameters
        ----------
        name : str
            ROS type, e.g. ``sensor_msgs/msg/Imu``.

        """

    def service(self, name: str) -> Any:
        """
        Return the class of a service such as 'std_srvs/srv/Trigger'.

        None where there are no services; elsewhere nodes have `create_service`, as rclpy's.

        Parameters
        ----------
        name : str
            ROS type of the service, e.g. ``std_srvs/srv/Trigger``.

        """

    def parameter_descriptor(self, description: str = '',
                             range: tuple[float | None, float | None] | None = None,
                             read_only: bool = False, constraints: str = '') -> Any:
        """
        Return a descriptor for ``declare_parameter``; a bound of None is no bound.

        Parameters
        ----------
        description : str, optional
            What the parameter does, for people.
        range : tuple[float, float], optional
            Least and largest value; None where there is no bound.
        read_only : bool, optional
            Whether the parameter can only be set at start-up.
        constraints : str, optional
            Further constraints, in words.

        """

    def set_parameters_result(self, successful: bool, reason: str = '') -> Any:
        """
        Return the answer of an on-set-parameters callback.

        Parameters
        ----------
        successful : bool
            Whether the change is accepted.
        reason : str, optional
            Why it is rejected; empty otherwise.

        """


class Component:
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
    node : Node
        Handle to the bus.
    dialect : Dialect
        Message classes, QoS profiles and descriptors of the backend.
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

    def __init__(self, node: Node, dialect: Dialect):
        self.node = node
        self.dialect = dialect

    def configure(self) -> None:
        """Read parameters and create publishers, subscriptions and timers."""

    def activate(self) -> None:
        """Start working."""

    def leave(self) -> bool:
        """
        Bring outputs to where they can be stopped; return whether they are there.

        Called again and again, while callbacks run, before the component is deactivated by a
        signal or a request.
        """
        return True

    def deactivate(self) -> None:
        """Stop working, leaving every output safe."""

    def cleanup(self) -> None:
        """Release everything that configure made."""

    def fixed(self, name: str) -> str:
        """
        Return why a parameter cannot be changed now, or ''.

        Parameters
        ----------
        name : str
            Name of the parameter.

        """
        if not self.configured or name.startswith(self.live):
            return ''
        return (f'parameter {name!r} is read when the node is configured: deactivate it and clean '
                'it up first, or restart it')

    def on_fault(self, error: Exception) -> None:
        """
        Take note of an exception that one of the callbacks let through.

        Parameters
        ----------
        error : Exception
            Exception that a callback raised.

        """
