# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walks a component through its life where there is no ROS 2 lifecycle to do it."""
from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.middleware.node import StandaloneNode
from legged_dynamics.middleware.parameters import StandaloneDialect
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

        Parameters
        ----------
        wanted : callable, optional
            Returns whether the node is still wanted; asked while it compiles and
            waits.

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
    """
    Log an exception (with its place when it is a defect), and tell the component.

    Parameters
    ----------
    component : Component
        Component whose callback raised.
    logger : Logger
        Logger to write to.
    error : Exception
        Exception that a callback raised.

    """
    if isinstance(error, LeggedDynamicsError):
        logger.error(str(error), throttle_duration_sec=1.0)
    else:
        text = ''.join(traceback.format_exception(error)).strip()
        logger.error(f'a callback failed: {text}', throttle_duration_sec=1.0)
    try:
        component.on_fault(error)
    except Exception as second:
        logger.error(f'on_fault itself failed: {second!r}', throttle_duration_sec=1.0)


# -------------------------------------------------------------------------------------------------
# Ctrl-C, a closed terminal and SIGTERM as a request to stop, and to stop at once.


# All by which people and launchers end a process. Only SIGKILL ends a node without its safe end.
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# Signals nearer to the first one are the same request [s].
SAME = 1.0


@contextmanager
def stopped_by_signals(stop: Callable[[], object]) -> Iterator[None]:
    """
    Call ``stop`` on the first signal that asks to stop, and again on one that comes later.

    A launcher sends SIGINT on top of the terminal's: what comes within a second changes nothing.
    One who asks again after that does not want to wait for a robot that is being brought down.
    After the first, signals stay ignored when the context is left, for the process is ending.

    Parameters
    ----------
    stop : callable
        Called without arguments at the first signal.

    """
    previous = {number: signal.getsignal(number) for number in STOPPING}
    previous = {number: handler for number, handler in previous.items()
                if not (number == signal.SIGHUP and handler is signal.SIG_IGN)}     # nohup
    stopped: list[float] = []

    def on_signal(number: int, frame: object) -> None:
        now = time.monotonic()
        if not stopped or now - stopped[0] > SAME:
            stopped.append(now)
            stop()

    for number in previous:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in previous.items():
            # A handler of Python's would be taken off at the very end; this one is not.
            signal.signal(number, signal.SIG_IGN if stopped else handler)
