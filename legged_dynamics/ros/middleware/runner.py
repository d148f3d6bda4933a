# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs a component as a process: the one place that chooses between ROS 2 and Cyclone DDS."""
from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from legged_dynamics.exceptions import LeggedDynamicsError, MiddlewareError
from legged_dynamics.ros.middleware.lifecycle import (
    Compilation,
    ComponentHost,
    exit_code,
    report_fault,
    stopped_by_signals,
)
from legged_dynamics.ros.middleware.protocol import Component

BACKENDS = ('rclpy', 'cyclonedds')
CHOICE = 'LEGGED_DYNAMICS_MIDDLEWARE'
_LONGEST_WAIT_S = 0.1       # between looks at whether a signal came


def choose_backend(environ: Mapping[str, str] = os.environ,
                   find: Callable[[str], object] = find_spec) -> str:
    """Return 'rclpy' or 'cyclonedds': as the environment says, else rclpy if installed."""
    wanted = environ.get(CHOICE, '')
    if wanted and wanted not in BACKENDS:
        raise MiddlewareError(f'expected {CHOICE} to be one of {", ".join(BACKENDS)}, '
                              f'got {wanted!r}')
    for backend in (wanted,) if wanted else BACKENDS:
        if find(backend) is not None:
            return backend
    missing = f'{wanted} cannot' if wanted else 'neither rclpy nor cyclonedds can'
    raise MiddlewareError(f'{missing} be imported: source a ROS 2 installation, or '
                          'pip install ".[dds]"')


def run(component_class: type[Component], argv: Sequence[str] | None = None) -> int:
    """Run a component until Ctrl-C or SIGTERM; return the exit code."""
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        if choose_backend() == 'cyclonedds':
            return _run_on_cyclone(component_class, argv)
        return _ros2_backend().run_on_ros2(component_class, argv)
    except SystemExit as request:
        return request.code if isinstance(request.code, int) else int(bool(request.code))
    except LeggedDynamicsError as error:
        print(f'{component_class.default_name}: {error}', file=sys.stderr)
        return exit_code(error)


def _ros2_backend() -> ModuleType:
    """Return the module of the backend on rclpy; a MiddlewareError where it cannot be used."""
    try:
        from legged_dynamics.ros.middleware import ros2_node
    except ImportError as error:
        raise MiddlewareError(f'rclpy is there but cannot be used: {error}; source the ROS 2 '
                              f'installation, or set {CHOICE}=cyclonedds') from error
    return ros2_node


@contextmanager
def _cyclone_process(component_class: type[Component], argv: Sequence[str]
                     ) -> Iterator[tuple[Any, ComponentHost]]:
    """Yield the bus and a component's host on it; both are closed at the end."""
    from legged_dynamics.ros.middleware.cyclone import CycloneBus

    bus, host = CycloneBus(), None
    with stopped_by_signals(bus.stop):
        try:
            host = ComponentHost(component_class, bus.create_node(component_class.default_name,
                                                                  argv))
            yield bus, host
        finally:
            if host is not None:
                host.stop()
            bus.close()


def _run_on_cyclone(component_class: type[Component], argv: Sequence[str]) -> int:
    """Run a component on Cyclone DDS; see ``run``."""
    with _cyclone_process(component_class, argv) as (bus, host):
        logger = host.node.get_logger()
        with Compilation(component_class, logger) as compilation:
            while not (compilation.done or bus.stopping):
                bus.spin_once(_LONGEST_WAIT_S)
        if bus.stopping:
            return 0
        try:
            host.start(lambda: not bus.stopping)
        except LeggedDynamicsError as error:
            logger.error(f'cannot start: {error}')
            return exit_code(error)
        except Exception as error:
            report_fault(host.component, logger, error)
            return 1
        # the compiler's objects are here to stay; scanning them would stall callbacks
        gc.collect()
        gc.freeze()
        bus.spin()
        bus.go_on()
        while not (bus.stopping or host.leave()):
            bus.spin_once(_LONGEST_WAIT_S)
        return 0


# -------------------------------------------------------------------------------------------------
# Runs a component that looks at the bus now and then, and not at every message.
#
# A picture is drawn 30 times a second, and joint states come 500 times: a process that woke for
# each of them would spend more on waking than on drawing. The component's subscriptions keep the
# last message, and that is taken when it is time; what came before is thrown away by the
# middleware, unseen.


_ROS_SPIN_S = 1e-3
_ROS_CALLBACKS = 20         # of an older executor, which runs one at a time


def run_polled(component_class: type[Component], argv: Sequence[str],
               work: Callable[[Any], None]) -> int:
    """
    Run a component until Ctrl-C or SIGTERM, calling ``work``; return the exit code.

    ``work`` takes the component after it got the newest messages, and sleeps until the
    next.
    """
    if choose_backend() == 'cyclonedds':
        with _cyclone_process(component_class, argv) as (bus, host):
            host.start()
            while not bus.stopping:
                bus.spin_once(0.0)
                work(host.component)
        return 0
    ros2 = _ros2_backend()
    with ros2.ros2_process(component_class, argv) as (node, spinner, stopping):
        if not node.start(lambda: not stopping):
            return exit_code(node.fault)
        while not stopping and ros2.rclpy.ok():
            for _ in range(1 if ros2.EVENTS else _ROS_CALLBACKS):
                spinner.spin(_ROS_SPIN_S)
            work(node.component)
    return 0
