# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""rclpy's dialect: its QoS profiles and parameters, and our messages with its classes behind."""
from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.middleware.definitions import DEFINITIONS
from legged_dynamics.middleware.messages import full_name, message_class

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


@cache
def rclpy_class(name: str) -> Any:
    """
    Return rclpy's own class of a message or service such as 'sensor_msgs/msg/JointState'.

    Raises
    ------
    MiddlewareError
        When its package is not installed.

    """
    package, folder, kind = (name if '/srv/' in name else full_name(name)).split('/')
    try:
        return getattr(import_module(f'{package}.{folder}'), kind)
    except (ImportError, AttributeError) as error:
        raise MiddlewareError(f'ROS 2 has no {name!r} here: install '
                              f'ros-$ROS_DISTRO-{package.replace("_", "-")}') from error


class RclpyDialect:
    """
    What a component needs beside an rclpy node.

    Messages are the package's own dataclasses, which travel as bytes: filling in and serialising
    rclpy's classes takes several times as long.
    """

    qos = RclpyQoS()
    parameter_type = Parameter.Type

    @staticmethod
    def message(name: str) -> Any:
        """Return the class of a message such as 'sensor_msgs/msg/JointState'."""
        rclpy_class(name)       # says now what is missing
        return message_class(name) if full_name(name) in DEFINITIONS else rclpy_class(name)

    service = staticmethod(rclpy_class)

    def parameter_descriptor(self, description: str = '',
                             range: tuple[float | None, float | None] | None = None,
                             read_only: bool = False, constraints: str = ''
                             ) -> ParameterDescriptor:
        """Return a descriptor for ``declare_parameter``."""
        descriptor = ParameterDescriptor(description=description, read_only=read_only,
                                         additional_constraints=constraints)
        if range is not None:
            low, high = range
            descriptor.floating_point_range = [FloatingPointRange(
                from_value=-_HUGE if low is None else float(low),
                to_value=_HUGE if high is None else float(high))]
        return descriptor

    def set_parameters_result(self, successful: bool, reason: str = '') -> SetParametersResult:
        """Return the answer of an on-set-parameters callback."""
        return SetParametersResult(successful=successful, reason=reason)
