# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Components on real ROS 2: a lifecycle node that hosts one."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache, partial, wraps
from importlib import import_module
from typing import Any
from uuid import UUID

import rclpy
from rcl_interfaces import msg
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, MiddlewareError
from legged_dynamics.ros.middleware.arguments import Override, RosArguments
from legged_dynamics.ros.middleware.cdr import deserialize, serialize
from legged_dynamics.ros.middleware.discovery import domain_id
from legged_dynamics.ros.middleware.lifecycle import (
    Process,
    exit_code,
    report_fault,
    stopped_by_signals,
)
from legged_dynamics.ros.middleware.messages import DEFINITIONS, full_name, message_class
from legged_dynamics.ros.middleware.parameters import ParameterStore
from legged_dynamics.ros.middleware.protocol import (
    Bounds,
    Component,
    Dialect,
    Publication,
    QoSPresets,
)
from legged_dynamics.schema import Setting

# -------------------------------------------------------------------------------------------------
# rclpy's dialect: its QoS profiles and parameters, and our messages with its classes behind.


_HUGE = sys.float_info.max
# Without rclpy's default warnings: each is one more thing to wait for, at every wake.
QUIET = SubscriptionEventCallbacks(use_default_callbacks=False)


def _profile(depth: int, reliable: bool, latched: bool) -> QoSProfile:
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE)


@cache
def rclpy_class(name: str) -> Any:
    """Return rclpy's class of a message or service; MiddlewareError if not installed."""
    package, folder, kind = (name if '/srv/' in name else full_name(name)).split('/')
    try:
        return getattr(import_module(f'{package}.{folder}'), kind)
    except (ImportError, AttributeError) as error:
        raise MiddlewareError(f'ROS 2 has no {name!r} here: install '
                              f'ros-$ROS_DISTRO-{package.replace("_", "-")}') from error


class RclpyDialect(Dialect):
    """
    The protocol.Dialect of rclpy.

    Messages are the package's own dataclasses, which travel as bytes: filling in and serialising
    rclpy's classes takes several times as long.
    """

    qos = QoSPresets(_profile)

    @staticmethod
    def message(name: str) -> Any:
        """Return the class of a message such as 'sensor_msgs/msg/JointState'."""
        rclpy_class(name)       # says now what is missing
        return message_class(name) if full_name(name) in DEFINITIONS else rclpy_class(name)

    service = staticmethod(rclpy_class)


# -------------------------------------------------------------------------------------------------
# Publishers and subscriptions on rclpy that carry our own messages as bytes.


class RclpyPublisher:
    """
    A publisher of our messages, serialized only for subscribers; ``create`` makes rclpy's.

    Its node's events tell of subscriptions: asking costs as much as a callback for a node with
    many topics.
    """

    def __init__(self, create: Callable[..., Any], kind: Any, topic: str, qos: Any):
        name = kind.ros_type
        self.publisher = create(rclpy_class(name), topic, qos, event_callbacks=(
            PublisherEventCallbacks(use_default_callbacks=False, matched=self._matched)))
        self._name, self._count = name, self.publisher.get_subscription_count()
        self._latched = self.publisher.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL

    def _matched(self, info: Any) -> None:
        self._count = info.current_count

    def get_subscription_count(self) -> int:
        """Return how many subscriptions match now."""
        return self._count

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


def _who(entry: Any) -> str:
    """Name a publisher by its node, or where ROS knows none, as Cyclone's tools name it."""
    if entry.node_name in ('_CREATED_BY_BARE_DDS_APP_', '_NODE_NAME_UNKNOWN_'):
        participant = UUID(bytes=bytes(entry.endpoint_gid[:12]) + b'\0\0\1\xc1')
        return f'a DDS application without a node, participant {participant}'
    return f'{entry.node_namespace.rstrip("/")}/{entry.node_name}'


# -------------------------------------------------------------------------------------------------

_SUCCESS = TransitionCallbackReturn.SUCCESS
_FAILURE = TransitionCallbackReturn.FAILURE
_ERROR = TransitionCallbackReturn.ERROR
_QOS_OVERRIDES = 'qos_overrides.'
# rclpy's default has no durability.
_OVERRIDABLE = (QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY,
                QoSPolicyKind.DURABILITY)
_LEAVING_PERIOD_S = 0.05
_DISCOVERY_S = 2.0          # until nodes that were there before are known
# Until all have acknowledged the last messages of a node that ends [s].
_LONGEST_ACKNOWLEDGEMENT_S = 0.5


class _ComponentNode(LifecycleNode):
    """
    A lifecycle node whose transitions are those of the component it hosts.

    Exceptions of its callbacks are logged and reported to it, failed requests refused; the
    node goes on. Methods as in `node.StandaloneNode`. `autostart`: whether to activate
    itself; `busy`: what prevents configuring now.
    """

    def __init__(self, component_class: type[Component], **options: Any):
        self.component: Component | None = None
        self.busy = ''
        self.fault: Exception | None = None     # why the last transition was refused
        self._acknowledged_by = 0.0
        self._leaving_timer: Any = None
        self._at_once = False
        self._name_timer: Any = None
        self._given_qos: dict[str, Override] = {}
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        super().__init__(component_class.default_name, **options)
        for service in self.services:
            service.callback = self._answered(service.callback)
        self.autostart = self.declare(Setting(
            'autostart', True, '',
            'Configure and activate at the start; off when a manager does it.'), read_only=True)
        self.component = component_class(self, RclpyDialect())
        self._name_timer = self.create_timer(_DISCOVERY_S, self._look_for_same_name)

    # ---- what components ask of a node -------------------------------------------------------

    def declare(self, setting: Setting, read_only: bool = False) -> Any:
        """Declare a setting as a parameter, which checks it; return its value."""
        default, low, high = setting.default, setting.lower, setting.upper
        descriptor = msg.ParameterDescriptor(description=setting.text, read_only=read_only,
                                             dynamic_typing=True)
        if (low, high) != (None, None):
            low, high = -_HUGE if low is None else low, _HUGE if high is None else high
            if type(default) is int:
                descriptor.integer_range = [msg.IntegerRange(
                    from_value=int(max(low, -2.0**62)), to_value=int(min(high, 2.0**62)))]
            else:
                descriptor.floating_point_range = [msg.FloatingPointRange(
                    from_value=float(low), to_value=float(high))]
        try:
            value = self.declare_parameter(setting.name, None if default == [] else default,
                                           descriptor).value
        except ParameterException as error:
            raise ConfigurationError(f'parameter {setting.name!r}: {error}') from error
        return setting.check(default if value is None else value)

    def follow(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Have ``change`` take new values by name; it refuses by an exception."""
        def answer(parameters: list[Parameter]) -> msg.SetParametersResult:
            try:
                change({one.name: one.value for one in parameters})
            except Exception as error:
                if not isinstance(error, ConfigurationError):
                    self._report(error)
                return msg.SetParametersResult(successful=False, reason=str(error))
            return msg.SetParametersResult(successful=True)
        self.add_on_set_parameters_callback(answer)

    def create_publisher(self, msg_type: Any, topic: str, qos_profile: Any, **options: Any) -> Any:
        """Create a publisher; one of our own messages sends bytes."""
        if not hasattr(msg_type, 'ros_type'):
            return super().create_publisher(msg_type, topic, qos_profile, **options)
        return RclpyPublisher(partial(self._with_overrides, super().create_publisher), msg_type,
                              topic, copy(qos_profile))

    def create_subscription(self, msg_type: Any, topic: str, callback: Callable[..., None],
                            qos_profile: Any, **options: Any) -> Any:
        """Create a subscription whose callback cannot end the process."""
        name = getattr(msg_type, 'ros_type', None)
        if name is None:
            return super().create_subscription(msg_type, topic, self._guarded(callback),
                                               qos_profile, **options)
        bounds = Bounds(name, topic)

        def take(cdr: bytes) -> None:
            if why := bounds.refuse(len(cdr)):
                self.get_logger().warning(why, throttle_duration_sec=1.0)
            else:
                callback(deserialize(cdr, name))
        made = self._take_raw(name, topic, take, qos_profile)
        made.bounds = bounds
        return made

    def create_raw_subscription(self, name: str, topic: str,
                                callback: Callable[[bytes, int], None], qos_profile: Any) -> Any:
        """Create a subscription whose callback gets CDR bytes and receipt time [ns]."""
        return self._take_raw(name, topic, lambda cdr: callback(cdr, time.time_ns()), qos_profile)

    def _take_raw(self, name: str, topic: str, take: Callable[[bytes], None], qos: Any) -> Any:
        return self._with_overrides(
            super().create_subscription, rclpy_class(name), topic, self._guarded(take), copy(qos),
            event_callbacks=QUIET, raw=True)

    def create_service(self, srv_type: Any, srv_name: str, callback: Callable[[Any, Any], Any],
                       **options: Any) -> Any:
        """Create a service whose callback cannot end the process."""
        return super().create_service(srv_type, srv_name, self._answered(callback), **options)

    def create_timer(self, timer_period_sec: float, callback: Callable[..., None],
                     *args: Any, **kwargs: Any) -> Any:
        """Create a timer whose callback cannot end the process."""
        if not (self.has_parameter('use_sim_time') and self.get_parameter('use_sim_time').value):
            # rclpy's own choice is the wall's clock: set back by an hour, it stops timers for one.
            kwargs.setdefault('clock', self._steady)
        return super().create_timer(timer_period_sec, self._guarded(callback), *args, **kwargs)

    def now_ns(self) -> int:
        """Return the node's time [ns]."""
        clock = self.get_clock()
        # rclpy's own way makes three objects, and ROS time without /clock is the system's.
        return clock.now().nanoseconds if clock.ros_time_is_active else time.time_ns()

    @property
    def bus_name(self) -> str:
        """What tells the bus from others of the machine."""
        return f'domain {domain_id()}'

    def publications(self, topic: str) -> list[Publication]:
        """Return the publishers of others on a topic now."""
        own = f'{self.get_namespace().rstrip("/")}/{self.get_name()}'
        found = [Publication(
            _who(entry), entry.topic_type,
            entry.qos_profile.reliability == ReliabilityPolicy.RELIABLE,
            entry.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL)
            for entry in self.get_publishers_info_by_topic(self.resolve_topic_name(topic))]
        mine = next((one for one in found if one.who == own), None)
        if mine is not None:
            found.remove(mine)
        return found

    def destroy_publisher(self, publisher: Any) -> Any:
        """Take a publisher off the bus, once subscribers have acknowledged its last messages."""
        if isinstance(publisher, RclpyPublisher):
            left = self._acknowledged_by - time.monotonic()
            if left > 0.0 and publisher.get_subscription_count():
                publisher.wait_for_acks(left)
            publisher = publisher.publisher
        return super().destroy_publisher(publisher)

    # ---- lifecycle -------------------------------------------------------------------------

    @property
    def node(self) -> _ComponentNode:
        """Itself, as of a `lifecycle.ComponentHost`."""
        return self

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure the component."""
        if self.busy:
            self.get_logger().warning(f'cannot configure yet: {self.busy}')
            return _FAILURE
        return self._transition('configure', _FAILURE)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Activate the component."""
        self._forget_leaving()
        return self._transition('activate', _FAILURE)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate the component, once its outputs are down or if asked again."""
        if not self._is_down('deactivated once the robot is down; ask again to have it at once',
                             self.trigger_deactivate):
            return _FAILURE
        return self._transition('deactivate', _ERROR)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Clean the component up."""
        return self._transition('cleanup', _ERROR)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the component from any state to its safe end, in its own time if it has to."""
        if state.label != 'active' or self._at_once or self._is_down(
                'the component stops as soon as the robot is down', lambda: self._end('active')):
            self._end(state.label)
        return _SUCCESS

    def _is_down(self, otherwise: str, then: Callable[[], object]) -> bool:
        """Return whether the outputs are down, or asked for again; else do ``then`` later."""
        if self._leaving_timer is not None or self.leave():
            self._forget_leaving()
            return True
        self.get_logger().warning(otherwise)

        def go_on() -> None:
            if self.leave():
                then()
        self._leaving_timer = self.create_timer(
            _LEAVING_PERIOD_S, go_on, clock=self._steady)       # simulated time may stop
        return False

    def _end(self, label: str) -> None:
        self._forget_leaving()
        if label == 'active':
            self._transition('deactivate', _ERROR)
        if label in ('active', 'inactive'):
            self._transition('cleanup', _ERROR)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make the component safe after a transition that failed half-way."""
        for step in ('deactivate', 'cleanup'):
            self._transition(step, _ERROR)
        return _SUCCESS

    def start(self, wanted: Callable[[], bool] = lambda: True) -> bool:
        """Configure and, while ``wanted()`` is true, activate; SystemExit on failure."""
        for trigger in (self.trigger_configure, self.trigger_activate):
            if wanted() and trigger() != _SUCCESS:
                raise SystemExit(exit_code(self.fault))
        return True

    def leave(self) -> bool:
        """Have the component bring its outputs down; return whether it may be stopped."""
        try:
            return self.component is None or self.component.leave()
        except Exception as error:
            self._report(error)
            return True

    def _forget_leaving(self) -> None:
        if self._leaving_timer is not None:
            self.destroy_timer(self._leaving_timer)
        self._leaving_timer = None

    def stop(self) -> None:
        """Deactivate, clean up and finalize as far as there is something to do, at once."""
        self._at_once = True
        try:
            self.trigger_shutdown()
        except Exception as error:
            # rclpy says so when a manager has finalized the node already
            self.get_logger().debug(f'no shutdown transition: {error}')
            if self._leaving_timer is not None:
                self._end('active')

    def warn_of_undeclared_parameters(self, arguments: RosArguments) -> None:
        """Warn of unknown parameters given for this node; of QoS ones, once active."""
        overrides = arguments.overrides_for(self.get_fully_qualified_name())
        self._given_qos = {name: override for name, override in overrides.items()
                           if name.startswith(_QOS_OVERRIDES)}
        unknown = {name: override for name, override in overrides.items()
                   if not (name in self._given_qos or self.has_parameter(name))}
        ParameterStore(unknown).warn_of_undeclared(self.get_logger())

    def _warn_of_idle_qos(self) -> None:
        for name, override in self._given_qos.items():      # declared by who joins the topic
            if not (override.is_for_all or self.has_parameter(name)):
                self.get_logger().warning(
                    f'parameter {name!r} from {override.source} has had no effect so far: no '
                    'topic of this node has taken it')
        self._given_qos = {}

    def _transition(self, step: str, on_failure: Any) -> TransitionCallbackReturn:
        assert self.component is not None
        if step == 'cleanup':
            self._acknowledged_by = time.monotonic() + _LONGEST_ACKNOWLEDGEMENT_S
        try:
            getattr(self.component, step)()
        except LeggedDynamicsError as error:
            self.fault = error
            self.get_logger().error(f'cannot {step}: {error}')
            return on_failure
        except Exception as error:
            self._report(error)
            return on_failure
        self.component.configured = step != 'cleanup'
        if step == 'activate':
            self._warn_of_idle_qos()
        return _SUCCESS

    def _look_for_same_name(self) -> None:
        """Say once when another node has this node's name: requests reach either of them."""
        self.destroy_timer(self._name_timer)
        own = (self.get_name(), self.get_namespace())
        count = self.get_node_names_and_namespaces().count(own)
        if count > 1:
            self.get_logger().warning(
                f'{count} nodes are called {self.get_fully_qualified_name()}: parameters and '
                'transitions may reach any of them, and their messages get mixed up. End the '
                'others, or give this one a name or namespace of its own (-r __node:=, -r __ns:=)')

    # ---- nothing that comes from outside ends the node ---------------------------------------

    def _with_overrides(self, create: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Join a topic with the QoS that `qos_overrides.<topic>...` parameters give."""
        try:
            return create(*args, **options,
                          qos_overriding_options=QoSOverridingOptions(_OVERRIDABLE))
        except (RuntimeError, ParameterException) as error:
            if isinstance(error, RuntimeError) and 'QoS override' not in str(error):
                raise
            raise ConfigurationError(f'qos_overrides of {args[1]}: {error}') from error

    def _guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        @wraps(callback)
        def guarded(*args: Any) -> None:
            try:
                callback(*args)
            except Exception as error:
                self._report(error)
        return guarded

    def _answered(self, callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Answer a request that cannot be fulfilled with the empty response: a refusal."""
        @wraps(callback)
        def answered(request: Any, response: Any) -> Any:
            try:
                return callback(request, response)
            except Exception as error:
                self.get_logger().warning(f'refused a {type(request).__name__}: {error}')
                return response
        return answered

    def _report(self, error: Exception) -> None:
        if self.component is not None:
            report_fault(self.component, self.get_logger(), error)


# -------------------------------------------------------------------------------------------------
# Runs a component as a process on real ROS 2.


class Spinner:
    """Runs callbacks by events; another executor builds a wait set at every wake."""

    def __init__(self, context: Any = None):
        self.executor = EventsExecutor(context=context)

    def spin(self, seconds: float) -> None:
        """Run callbacks for so long; leaving and entering it costs as much as a callback."""
        self.executor.spin_until_future_complete(Future(), seconds)


@contextmanager
def ros2_process(component_class: type[Component], argv: Sequence[str]) -> Iterator[Process]:
    """Yield a component's node; it is stopped and taken off the bus at the end."""
    arguments, signals = RosArguments.parse(argv), list[bool]()
    with stopped_by_signals(lambda: signals.append(True)):
        rclpy.init(args=['node', *argv], signal_handler_options=SignalHandlerOptions.NO)
        node = None
        try:
            node = _ComponentNode(component_class)
            node.warn_of_undeclared_parameters(arguments)
            spinner = Spinner()
            spinner.executor.add_node(node)

            def spin(seconds: float) -> None:
                try:
                    spinner.spin(seconds)
                except ExternalShutdownException:
                    pass
                except Exception as error:  # a malformed request, say: the node goes on
                    node._report(error)
                if not rclpy.ok():          # shut down from outside: at once
                    signals.extend((True, True))
            yield Process(node, signals, spin)
        finally:
            if node is not None:
                node.stop()
                node.destroy_node()
            rclpy.try_shutdown()
