# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Components on real ROS 2: a lifecycle node that hosts one, and rclpy's dialect."""
from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from functools import cache, wraps
from importlib import import_module
from typing import Any

import rclpy
from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import (
    InvalidParameterTypeException,
    InvalidParameterValueException,
    ParameterException,
)
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, MiddlewareError
from legged_dynamics.middleware.arguments import RosArguments
from legged_dynamics.middleware.lifecycle import report_fault
from legged_dynamics.middleware.messages import full_name
from legged_dynamics.middleware.parameters import ParameterStore
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.middleware.signals import stopped_by_signals

_SUCCESS, _FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
_ERROR = TransitionCallbackReturn.ERROR
_LONGEST_WAIT_S = 0.1  # between looks at whether a signal came
_HUGE = sys.float_info.max


class RclpyQoS:
    """The profiles components use, as rclpy's."""

    sensor_data = qos_profile_sensor_data
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

    @staticmethod
    def reliable(depth: int = 10) -> QoSProfile:
        """Return reliable, volatile, keep last ``depth``."""
        return QoSProfile(depth=depth)

    @staticmethod
    def best_effort(depth: int = 10) -> QoSProfile:
        """Return best effort, volatile, keep last ``depth``."""
        return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)


class RclpyDialect:
    """What a component needs beside an rclpy node."""

    qos = RclpyQoS()
    parameter_type = Parameter.Type

    @staticmethod
    @cache
    def message(name: str) -> Any:
        """Return the class of a message such as 'sensor_msgs/msg/JointState'."""
        package, _, kind = full_name(name).partition('/msg/')
        try:
            return getattr(import_module(f'{package}.msg'), kind)
        except (ImportError, AttributeError) as error:
            raise MiddlewareError(f'ROS 2 has no message {name!r} here: install '
                                  f'ros-$ROS_DISTRO-{package.replace("_", "-")}') from error

    def parameter_descriptor(self, description: str = '',
                             range: tuple[float | None, float | None] | None = None,
                             read_only: bool = False) -> ParameterDescriptor:
        """Return a descriptor for ``declare_parameter``."""
        descriptor = ParameterDescriptor(description=description, read_only=read_only)
        if range is not None:
            low, high = range
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=-_HUGE if low is None else float(low),
                to_value=_HUGE if high is None else float(high))]
        return descriptor

    def set_parameters_result(self, successful: bool, reason: str = '') -> SetParametersResult:
        """Return the answer of an on-set-parameters callback."""
        return SetParametersResult(successful=successful, reason=reason)


class ComponentNode(LifecycleNode):
    """
    A lifecycle node whose transitions are those of the component it hosts.

    Exceptions of the component's callbacks are logged and told to the component; the node goes on.

    Parameters
    ----------
    component_class : type
        Subclass of Component.

    Raises
    ------
    ConfigurationError
        When a parameter has a wrong type or is out of range.

    """

    def __init__(self, component_class: type[Component]):
        self.component: Component | None = None
        super().__init__(component_class.default_name)
        self.autostart = self.declare_parameter('autostart', True, ParameterDescriptor(
            description='Configure and activate at the start; off when a manager does it.',
            read_only=True)).value
        self.component = component_class(self, RclpyDialect())

    def declare_parameter(self, name: str, value: Any = None, descriptor: Any = None,
                          ignore_override: bool = False) -> Any:
        """Declare a parameter; rclpy's errors become ConfigurationErrors."""
        descriptor = descriptor or ParameterDescriptor()
        if type(value) is int and descriptor.floating_point_range:
            bounds = descriptor.floating_point_range[0]
            descriptor.floating_point_range = []
            descriptor.integer_range = [IntegerRange(
                from_value=int(max(bounds.from_value, -2.0**62)),
                to_value=int(min(bounds.to_value, 2.0**62)))]
        try:
            return super().declare_parameter(name, value, descriptor, ignore_override)
        except (ParameterException, InvalidParameterTypeException,
                InvalidParameterValueException) as error:
            about = f' ({descriptor.description})' if descriptor.description else ''
            raise ConfigurationError(f'parameter {name!r}: {error}{about}') from error

    def create_subscription(self, msg_type: Any, topic: str, callback: Callable[..., None],
                            qos_profile: Any, **kwargs: Any) -> Any:
        """Create a subscription whose callback cannot end the process."""
        return super().create_subscription(msg_type, topic, self._guarded(callback), qos_profile,
                                           **kwargs)

    def create_timer(self, timer_period_sec: float, callback: Callable[..., None],
                     *args: Any, **kwargs: Any) -> Any:
        """Create a timer whose callback cannot end the process."""
        return super().create_timer(timer_period_sec, self._guarded(callback), *args, **kwargs)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Configure the component."""
        return self._transition('configure', _FAILURE)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Activate the component."""
        return self._transition('activate', _FAILURE)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Deactivate the component."""
        return self._transition('deactivate', _ERROR)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Clean the component up."""
        return self._transition('cleanup', _ERROR)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bring the component from any state to its safe end."""
        if state.label == 'active':
            self._transition('deactivate', _ERROR)
        if state.label in ('active', 'inactive'):
            self._transition('cleanup', _ERROR)
        return _SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Make the component safe after a transition that failed half-way."""
        for step in ('deactivate', 'cleanup'):
            self._transition(step, _ERROR)
        return _SUCCESS

    def start(self) -> bool:
        """Configure and activate; False when the component cannot (the log says why)."""
        return (self.trigger_configure() == _SUCCESS
                and self.trigger_activate() == _SUCCESS)

    def stop(self) -> None:
        """Deactivate, clean up and finalize as far as there is something to do."""
        try:
            self.trigger_shutdown()
        except Exception as error:
            # rclpy says so when a manager has finalized the node already
            self.get_logger().debug(f'no shutdown transition: {error}')

    def warn_of_undeclared_parameters(self, arguments: RosArguments) -> None:
        """Warn of parameters given for this node that it does not have."""
        overrides = arguments.overrides_for(self.get_fully_qualified_name())
        unknown = {name: override for name, override in overrides.items()
                   if not self.has_parameter(name)}
        for stranger in arguments.strangers_to(self.get_fully_qualified_name()):
            self.get_logger().warning(stranger)
        ParameterStore(unknown).warn_of_undeclared(
            self.get_logger(), getattr(self, '_parameters', ()))

    def _transition(self, step: str, on_failure: Any) -> TransitionCallbackReturn:
        assert self.component is not None
        try:
            getattr(self.component, step)()
        except LeggedDynamicsError as error:
            self.get_logger().error(f'cannot {step}: {error}')
            return on_failure
        except Exception as error:
            report_fault(self.component, self.get_logger(), error)
            return on_failure
        return _SUCCESS

    def _guarded(self, callback: Callable[..., None]) -> Callable[..., None]:
        @wraps(callback)
        def guarded(*args: Any) -> None:
            try:
                callback(*args)
            except Exception as error:
                if self.component is None:
                    raise
                report_fault(self.component, self.get_logger(), error)
        return guarded


def run_on_ros2(component_class: type[Component], argv: Sequence[str]) -> int:
    """
    Run a component as a ROS 2 lifecycle node; see ``runner.run``.

    Raises
    ------
    LeggedDynamicsError
        When an argument is malformed, or a parameter has a wrong type or is out of range.

    """
    arguments = RosArguments.parse(argv)
    rclpy.init(args=['node', *argv], signal_handler_options=SignalHandlerOptions.NO)
    stopping = []
    node = None
    try:
        with stopped_by_signals(lambda: stopping.append(True)):
            node = ComponentNode(component_class)
            node.warn_of_undeclared_parameters(arguments)
            if node.autostart and not node.start():
                return 1
            executor = SingleThreadedExecutor()
            executor.add_node(node)
            gc.collect()
            gc.freeze()
            while not stopping and rclpy.ok():
                executor.spin_once(timeout_sec=_LONGEST_WAIT_S)
    except ExternalShutdownException:
        pass
    except SystemExit as request:
        return request.code if isinstance(request.code, int) else int(bool(request.code))
    finally:
        if node is not None:
            node.stop()
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
