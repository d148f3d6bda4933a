# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walks a component through its life where there is no ROS 2 lifecycle to do it."""
from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.middleware.dialect import StandaloneDialect
from legged_dynamics.middleware.node import StandaloneNode
from legged_dynamics.middleware.protocol import Component, Logger


class ComponentHost:
    """
    A component on a node of its own.

    Parameters
    ----------
    component_class : type
        Subclass of Component.
    node : StandaloneNode
        Its node; exceptions of its callbacks are logged and told to the component from now on.

    Raises
    ------
    LeggedDynamicsError
        When a parameter has a wrong type or is out of range.

    """

    def __init__(self, component_class: type[Component], node: StandaloneNode):
        self.node = node
        self.component = component_class(node, StandaloneDialect())
        node.warn_of_undeclared_parameters()
        node.fault_handler = self.on_fault
        self.state = 'unconfigured'

    def start(self, wanted: Callable[[], bool] = lambda: True) -> None:
        """
        Configure and, while that is still wanted, activate.

        Raises
        ------
        LeggedDynamicsError
            When the component cannot do either.

        """
        self.component.configure()
        self.component.configured = True
        self.state = 'inactive'
        if wanted():
            self.component.activate()
            self.state = 'active'

    def leave(self) -> bool:
        """Have the component bring its outputs down; return whether it may be stopped."""
        try:
            return self.state != 'active' or self.component.leave()
        except Exception as error:
            self.on_fault(error)
            return True

    def stop(self) -> None:
        """Deactivate and clean up as far as there is something to do; faults are logged."""
        if self.state == 'active':
            self._try(self.component.deactivate)
            self.state = 'inactive'
        if self.state == 'inactive':
            self._try(self.component.cleanup)
            self.component.configured = False
            self.state = 'unconfigured'

    def on_fault(self, error: Exception) -> None:
        """Log an exception that a callback let through, and tell the component."""
        report_fault(self.component, self.node.get_logger(), error)

    def _try(self, step: Any) -> None:
        try:
            step()
        except Exception as error:
            self.on_fault(error)


def report_fault(component: Component, logger: Logger, error: Exception) -> None:
    """Log an exception (with its place when it is a defect), and tell the component."""
    if isinstance(error, LeggedDynamicsError):
        logger.error(str(error), throttle_duration_sec=1.0)
    else:
        text = ''.join(traceback.format_exception(error)).strip()
        logger.error(f'a callback failed: {text}', throttle_duration_sec=1.0)
    try:
        component.on_fault(error)
    except Exception as second:
        logger.error(f'on_fault itself failed: {second!r}', throttle_duration_sec=1.0)
