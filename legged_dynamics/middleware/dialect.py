# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The dialect of the backends without rclpy: our message classes, profiles and descriptors."""
from __future__ import annotations

from legged_dynamics.middleware.messages import message_class
from legged_dynamics.middleware.parameters import (
    ParameterDescriptor,
    ParameterType,
    SetParametersResult,
)
from legged_dynamics.middleware.qos import QoSPresets


class StandaloneDialect:
    """What a component needs beside a node of the loopback or of Cyclone DDS."""

    qos = QoSPresets()
    parameter_type = ParameterType
    message = staticmethod(message_class)

    def service(self, name: str) -> None:
        """Return None: there are no services here but those of parameters."""

    def parameter_descriptor(self, description: str = '',
                             range: tuple[float | None, float | None] | None = None,
                             read_only: bool = False, constraints: str = ''
                             ) -> ParameterDescriptor:
        """Return a descriptor for ``declare_parameter``."""
        lower, upper = range or (None, None)
        return ParameterDescriptor(description, lower, upper, read_only, constraints)

    def set_parameters_result(self, successful: bool, reason: str = '') -> SetParametersResult:
        """Return the answer of an on-set-parameters callback."""
        return SetParametersResult(successful, reason)
