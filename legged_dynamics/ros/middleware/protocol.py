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
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable


def stamp_ns(stamp: Any) -> int:
    """
    Convert a Time or Duration message to nanoseconds.

    Parameters
    ----------
    stamp : object
        Time or Duration message.

    Returns
    -------
    int
        Nanoseconds.

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
        """
        Count the subscriptions that match now.

        Returns
        -------
        int
            Number of subscriptions.

        """


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
        """
        Read the clock.

        Returns
        -------
        Time
            Present time of the node.

        """


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

        Returns
        -------
        bool
            Whether the line was logged, and not throttled.

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


@runtime_checkable
class Node(Protocol):
    """What a component may ask of its node."""

    def get_name(self) -> str:
        """
        Tell the node's name after remapping.

        Returns
        -------
        str
            Name without namespace.

        """

    def get_namespace(self) -> str:
        """
        Tell the node's namespace after remapping.

        Returns
        -------
        str
            Namespace; '/' for none.

        """

    @property
    def bus_name(self) -> str:
        """What tells the bus from others of the machine; '' where it ends with the process."""

    def get_logger(self) -> Logger:
        """
        Give the node's logger.

        Returns
        -------
        Logger
            Writes lines with the node's name.

        """

    def get_clock(self) -> Clock:
        """
        Give the node's clock.

        Returns
        -------
        Clock
            Follows /clock where the node uses simulated time.

        """

    def create_publisher(self, msg_type: Any, topic: str, qos_profile: Any) -> Publisher:
        """
        Open a publisher; the topic is relative, private ('~/x') or absolute.

        Parameters
        ----------
        msg_type : object
            Class of the messages, from the dialect's `message`.
        topic : str
            Name of the topic, as given or fully resolved.
        qos_profile : QoSProfile or int
            Quality of service, or the depth of a reliable queue.

        Returns
        -------
        Publisher
            Open until it is destroyed.

        """

    def create_subscription(self, msg_type: Any, topic: str, callback: Callable[[Any], None],
                            qos_profile: Any) -> Any:
        """
        Subscribe to a topic; one callback of a node runs at a time.

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

        Returns
        -------
        object
            Handle to be given to `destroy_subscription`.

        """

    def create_timer(self, timer_period_sec: float, callback: Callable[[], None]) -> Timer:
        """
        Start a timer.

        Parameters
        ----------
        timer_period_sec : float
            Period of the timer [s].
        callback : callable
            Called without arguments at each period.

        Returns
        -------
        Timer
            Runs until it is cancelled.

        """

    def resolve_topic_name(self, topic: str) -> str:
        """
        Expand and remap a topic's name.

        Parameters
        ----------
        topic : str
            Relative, private ('~/x') or absolute name.

        Returns
        -------
        str
            Full name.

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

    def publications(self, topic: str) -> list[Publication]:
        """
        Return the publishers of others on a topic now, whatever their type and quality of service.

        Parameters
        ----------
        topic : str
            Name of the topic, as this node would give it.

        Returns
        -------
        list of Publication
            One for each publisher.

        """

    def destroy_publisher(self, publisher: Any) -> Any:
        """
        Take a publisher off the bus.

        Parameters
        ----------
        publisher : object
            Publisher that this node created.

        Returns
        -------
        object
            True where it was this node's; rclpy decides.

        """

    def destroy_subscription(self, subscription: Any) -> Any:
        """
        Take a subscription off the bus.

        Parameters
        ----------
        subscription : object
            Subscription that this node created.

        Returns
        -------
        object
            True where it was this node's; rclpy decides.

        """

    def destroy_timer(self, timer: Any) -> Any:
        """
        Stop and forget a timer.

        Parameters
        ----------
        timer : object
            Timer that this node created.

        Returns
        -------
        object
            True where it was this node's; rclpy decides.

        """

    def declare_parameter(self, name: str, value: Any = None, descriptor: Any = None) -> Parameter:
        """
        Declare a parameter with its default, or with its type and no value.

        Parameters
        ----------
        name : str
            Name of the parameter.
        value : object, optional
            Default value, which also fixes the type.
        descriptor : object, optional
            Description, range and mutability of the parameter.

        Returns
        -------
        Parameter
            Name and value, with the override applied.

        """

    def has_parameter(self, name: str) -> bool:
        """
        Tell whether a parameter is declared.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        bool
            Whether it is.

        """

    def get_parameter(self, name: str) -> Parameter:
        """
        Look up a declared parameter.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        Parameter
            Its name and present value.

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
        Make the profile of commands and results, of which none may be lost.

        Parameters
        ----------
        depth : int, optional
            How many messages the queue keeps.

        Returns
        -------
        object
            Profile: reliable, volatile, keep last.

        """

    def best_effort(self, depth: int = 10) -> Any:
        """
        Make the profile of streams, of which the newest counts.

        Parameters
        ----------
        depth : int, optional
            How many messages the queue keeps.

        Returns
        -------
        object
            Profile: best effort, volatile, keep last.

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
        Look up the class of a message.

        Parameters
        ----------
        name : str
            ROS type, e.g. ``sensor_msgs/msg/Imu``.

        Returns
        -------
        type
            Class whose instances the backend's publishers send.

        """

    def service(self, name: str) -> Any:
        """
        Look up the class of a service.

        None where there are no services; elsewhere nodes have `create_service`, as rclpy's.

        Parameters
        ----------
        name : str
            ROS type of the service, e.g. ``std_srvs/srv/Trigger``.

        Returns
        -------
        type or None
            Class of the service; None where the backend has no services.

        """

    def parameter_descriptor(self, description: str = '',
                             range: tuple[float | None, float | None] | None = None,
                             read_only: bool = False, constraints: str = '') -> Any:
        """
        Describe a parameter for ``declare_parameter``; a bound of None is no bound.

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

        Returns
        -------
        object
            Descriptor of the backend.

        """

    def set_parameters_result(self, successful: bool, reason: str = '') -> Any:
        """
        Make the answer of an on-set-parameters callback.

        Parameters
        ----------
        successful : bool
            Whether the change is accepted.
        reason : str, optional
            Why it is rejected; empty otherwise.

        Returns
        -------
        object
            Result of the backend.

        """


class Diagnosed(Protocol):
    """What diagnostics ask of a node and of its parts; `ros/nodes/diagnostics.py` publishes it."""

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """
        Judge how everything is; called ten times a second.

        Parameters
        ----------
        now : int [ns]
            Present time.

        Returns
        -------
        dict of str to (str, str)
            Level (OK, WARN, ERROR or STALE) and message of each status.

        """
        return {}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """
        Return key figures; called for each message published.

        Parameters
        ----------
        now : int [ns]
            Present time.

        Returns
        -------
        dict of str to dict
            Values by name, of any status of `judge`.

        """
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
        Bring outputs to where they can be stopped.

        Called again and again, while callbacks run, before the component is deactivated by a
        signal or a request.

        Returns
        -------
        bool
            Whether outputs are where they can be stopped.

        """
        return True

    def deactivate(self) -> None:
        """Stop working, leaving every output safe."""

    def cleanup(self) -> None:
        """Release everything that configure made."""

    def fixed(self, name: str) -> str:
        """
        Say why a parameter cannot be changed now.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        str
            The reason; empty where it can be changed.

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
