# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Runs a component that looks at the bus now and then, and not at every message.

A picture is drawn 30 times a second, and joint states come 500 times: a process that woke for
each of them would spend more on waking than on drawing. The component's subscriptions keep the
last message, and that is taken when it is time; what came before is thrown away by the
middleware, unseen.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from legged_dynamics.exceptions import MiddlewareError
from legged_dynamics.middleware.lifecycle import ComponentHost
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.middleware.runner import CHOICE, choose_backend
from legged_dynamics.middleware.signals import stopped_by_signals

_ROS_SPIN_S = 1e-3
_ROS_CALLBACKS = 20         # of an older executor, which runs one at a time


def run_polled(component_class: type[Component], argv: Sequence[str],
               work: Callable[[Any], None]) -> int:
    """
    Run a component until Ctrl-C or SIGTERM and return the process's exit code.

    Parameters
    ----------
    component_class : type
        Subclass of Component.
    argv : sequence of str
        Command line without the program's name, ``--ros-args`` included.
    work : callable
        Called again and again with the component, after it has got the newest messages; it
        sleeps until it wants the next ones.

    Raises
    ------
    LeggedDynamicsError
        When the bus cannot be joined or the arguments are wrong, and what `work` raises.

    """
    if choose_backend() == 'cyclonedds':
        return _on_cyclone(component_class, argv, work)
    try:
        import rclpy  # noqa: F401
    except ImportError as error:
        raise MiddlewareError(f'rclpy is there but cannot be used: {error}; source the ROS 2 '
                              f'installation, or set {CHOICE}=cyclonedds') from error
    return _on_ros2(component_class, argv, work)


def _on_cyclone(component_class: type[Component], argv: Sequence[str],
                work: Callable[[Any], None]) -> int:
    from legged_dynamics.middleware.cyclone import CycloneBus

    bus = CycloneBus()
    with stopped_by_signals(bus.stop):
        host = None
        try:
            host = ComponentHost(component_class, bus.create_node(component_class.default_name,
                                                                  argv))
            host.start()
            while not bus.stopping:
                bus.spin_once(0.0)
                work(host.component)
        finally:
            if host is not None:
                host.stop()
            bus.close()
    return 0


def _on_ros2(component_class: type[Component], argv: Sequence[str],
             work: Callable[[Any], None]) -> int:
    import rclpy

    from legged_dynamics.middleware.ros2 import ros2_process

    with ros2_process(component_class, argv) as (node, spinner, stopping):
        if not node.start(lambda: not stopping):
            return 1
        while not stopping and rclpy.ok():
            for _ in range(_ROS_CALLBACKS if spinner.one_at_a_time else 1):
                spinner.spin(_ROS_SPIN_S)
            work(node.component)
    return 0
