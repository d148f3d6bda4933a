# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs a component as a process: the one place that chooses between ROS 2 and Cyclone DDS."""
from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

from legged_dynamics.exceptions import LeggedDynamicsError, MiddlewareError
from legged_dynamics.ros.middleware.lifecycle import (
    COMPILING,
    Process,
    compilation,
    exit_code,
    report_fault,
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
    try:
        with _process(component_class, sys.argv[1:] if argv is None else argv) as process:
            return _live(component_class, *process)
    except SystemExit as request:
        return request.code if isinstance(request.code, int) else int(bool(request.code))
    except LeggedDynamicsError as error:
        print(f'{component_class.default_name}: {error}', file=sys.stderr)
        return exit_code(error)


def _live(component_class: type[Component], host: Any, signals: Sequence[bool],
          spin: Callable[[float], object]) -> int:
    """Take a component through its life."""
    logger = host.node.get_logger()
    with compilation(component_class, logger) as compiles:
        while compiles() and not signals:
            host.busy = COMPILING
            spin(_LONGEST_WAIT_S)
        host.busy = ''
    try:
        if host.autostart and not signals:
            host.start(lambda: not signals)
    except LeggedDynamicsError as error:
        logger.error(f'cannot start: {error}')
        return exit_code(error)
    except Exception as error:
        report_fault(host.component, logger, error)
        return 1
    # the compiler's objects are here to stay; scanning them would stall callbacks
    gc.collect()
    gc.freeze()
    while not signals or (len(signals) == 1 and not host.leave()):
        spin(_LONGEST_WAIT_S)
    return 0


def _process(component_class: type[Component],
             argv: Sequence[str]) -> AbstractContextManager[Process]:
    """Return the process of a component on the backend that is chosen."""
    if choose_backend() == 'cyclonedds':
        from legged_dynamics.ros.middleware.cyclone import cyclone_process
        return cyclone_process(component_class, argv)
    try:
        from legged_dynamics.ros.middleware.ros2_node import ros2_process
    except ImportError as error:
        raise MiddlewareError(f'rclpy is there but cannot be used: {error}; source the ROS 2 '
                              f'installation (rclpy 7.1.4 or later), or set {CHOICE}=cyclonedds'
                              ) from error
    return ros2_process(component_class, argv)


# A component that looks at the bus now and then: joint states come 500 times a second, a picture
# is drawn 30 times. A process that woke for each of them would spend more on waking than on
# drawing. Its subscriptions keep the last message, which is taken when it is time; what came
# before is thrown away by the middleware, unseen.
_POLL_S = 1e-3


def run_polled(component_class: type[Component], argv: Sequence[str],
               work: Callable[[Any], None]) -> int:
    """
    Run a component until Ctrl-C or SIGTERM, calling ``work``; return the exit code.

    ``work`` takes the component after it got the newest messages, and sleeps until the
    next.
    """
    with _process(component_class, argv) as (host, signals, spin):
        host.start(lambda: not signals)
        while not signals:
            spin(_POLL_S)
            work(host.component)
    return 0
