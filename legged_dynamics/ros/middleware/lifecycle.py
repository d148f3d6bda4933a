# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A component's life without ROS 2: kernels compiled first, its states, its end by signals."""
from __future__ import annotations

import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, ModelError
from legged_dynamics.ros.middleware.node import StandaloneNode
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.middleware.protocol import Component


class Process(NamedTuple):
    """A process that runs a component, on ROS 2 or on Cyclone DDS."""

    host: Any  # A ComponentHost, or ROS 2's lifecycle node
    signals: list[bool]  # Grows with each stop signal
    spin: Callable[[float], object]  # Run callbacks, for this long [s] at most


class ComponentHost:
    """A component on a node of its own; exceptions of callbacks are logged and reported."""

    autostart, busy = True, ''      # as ROS 2's lifecycle node has them

    def __init__(self, component_class: type[Component], node: StandaloneNode):
        self.node = node
        self.component = component_class(node, StandaloneDialect())
        node.warn_of_undeclared_parameters()
        node.fault_handler = self.on_fault
        self.state = 'unconfigured'

    def start(self, wanted: Callable[[], bool] = lambda: True) -> None:
        """Configure and, while ``wanted()`` is true, activate the component."""
        self.component.configure()
        self.component.configured = True
        self.state = 'inactive'
        if wanted():
            self.component.activate()
            self.state = 'active'

    def leave(self) -> bool:
        """Bring the outputs down; return whether the component may be stopped."""
        try:
            return self.state != 'active' or self.component.leave()
        except Exception as error:
            self.on_fault(error)
            return True

    def stop(self) -> None:
        """Deactivate and clean up as far as there is something to do; faults are logged."""
        ending = [self.component.deactivate, self.component.cleanup]
        for step in ending[('active', 'inactive', 'unconfigured').index(self.state):]:
            try:
                step()
            except Exception as error:
                self.on_fault(error)
        self.component.configured, self.state = False, 'unconfigured'

    def on_fault(self, error: Exception) -> None:
        """Log an exception from a callback, and tell the component."""
        report_fault(self.component, self.node.get_logger(), error)


def exit_code(error: Exception | None) -> int:
    """Return a failed start's exit code: 2 for wrong parameters or description, else 1."""
    return 2 if isinstance(error, (ConfigurationError, ModelError)) else 1


def report_fault(component: Component, logger: Any, error: Exception) -> None:
    """Log an exception (with its place if it is a defect), and tell the component."""
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
    Call ``stop`` on the first stop signal, and again on a later one.

    Signals within `SAME` seconds count once, since launchers repeat the terminal's SIGINT.
    After the first, signals stay ignored when the context is left.
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
            # Python removes its own handlers at the very end of a process, but not this one.
            signal.signal(number, signal.SIG_IGN if stopped else handler)


# -------------------------------------------------------------------------------------------------
# Has kernels compiled before they are needed, by a process of its own.
#
# That process can be ended; and a process that has compiled a kernel's parts by themselves may go
# on with those, so that its results would not be, to the last bit, those of one that loads it.


COMPILING = 'compiling, once; a minute or two'


def _warm(*names: str) -> list[str]:
    """Return the command that compiles and caches nodes' kernels."""
    return [sys.executable, '-m', 'legged_dynamics', 'warm', *names]


def compile_first(*names: str, run: Callable[..., Any] = subprocess.run) -> None:
    """
    Compile and cache the kernels of nodes before this process needs them.

    Progress goes to standard error. Does nothing where kernels cannot be cached on disk; a
    compilation error is raised where the kernel is called.
    """
    from legged_dynamics.spatial.kernel_cache import is_warm
    cold = [name for name in names if not is_warm(name)]
    if cold:
        print('Compiling (once; a minute or two)', file=sys.stderr, flush=True)
        run(_warm(*cold), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)


@contextmanager
def compilation(component_class: type[Component], logger: Any,
                start: Callable[..., Any] = subprocess.Popen) -> Iterator[Callable[[], bool]]:
    """
    Yield what tells whether the compilation that a component still needs is going on.

    In a process of its own, so the node answers requests and signals meanwhile; it ends with the
    context, and says on standard error how far it is. Where kernels cannot be cached on disk, the
    component compiles them itself when configured.
    """
    from legged_dynamics.spatial.kernel_cache import is_warm
    if not component_class.has_kernels or is_warm(component_class.default_name):
        yield lambda: False
        return
    logger.info(COMPILING)
    process = start(_warm(component_class.default_name), stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        yield lambda: process.poll() is None
        if process.poll() is not None:
            logger.info('compiled' if process.returncode == 0 else
                        'compiling ahead failed; compiling while being configured')
    finally:
        process.kill()
        process.wait()
