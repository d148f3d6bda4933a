# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs a component as a process on real ROS 2."""
from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from legged_dynamics.middleware.arguments import RosArguments
from legged_dynamics.middleware.compiling import Compilation
from legged_dynamics.middleware.lifecycle import report_fault, stopped_by_signals
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.middleware.ros2_node import ComponentNode

_LONGEST_WAIT_S = 0.1       # between looks at whether a signal came


class Spinner:
    """
    Runs callbacks with the executor that costs least.

    rclpy has an event-driven executor since 7.1.4 (Jazzy); an older one builds a new wait set at
    every wake, which at 500 Hz takes half a core.

    Parameters
    ----------
    context : rclpy.context.Context, optional
        The default one when None.

    Attributes
    ----------
    executor : rclpy executor
        To add nodes to.
    one_at_a_time : bool
        Whether a spin runs one callback at most.

    """

    def __init__(self, context: Any = None):
        try:
            from rclpy.experimental import EventsExecutor
            self.executor, self.one_at_a_time = EventsExecutor(context=context), False
        except ImportError:
            self.executor = SingleThreadedExecutor(context=context)
            self.one_at_a_time = True

    def spin(self, seconds: float = _LONGEST_WAIT_S) -> None:
        """
        Run callbacks for so long [s]; with an older executor, one of them at most.

        Parameters
        ----------
        seconds : float, optional
            Longest time to wait [s].

        """
        if self.one_at_a_time:
            self.executor.spin_once(timeout_sec=seconds)
        else:       # leaving and entering it costs as much as a callback: not at every wake
            self.executor.spin_until_future_complete(Future(), seconds)


@contextmanager
def ros2_process(component_class: type[Component], argv: Sequence[str]
                 ) -> Iterator[tuple[ComponentNode, Spinner, list[bool]]]:
    """
    Have a component's node in a process that rclpy and signals are set up for.

    The list gets an element with each signal to stop. At the end the node has ended safely.

    Parameters
    ----------
    component_class : type[Component]
        Class of the component to run.
    argv : sequence of str
        Command line arguments, with ROS arguments behind ``--ros-args``.

    """
    stopping: list[bool] = []
    with stopped_by_signals(lambda: stopping.append(True)):
        rclpy.init(args=['node', *argv], signal_handler_options=SignalHandlerOptions.NO)
        node = None
        try:
            node = ComponentNode(component_class)
            spinner = Spinner()
            spinner.executor.add_node(node)
            yield node, spinner, stopping
        finally:
            if node is not None:
                node.stop()
                node.destroy_node()
            rclpy.try_shutdown()


def run_on_ros2(component_class: type[Component], argv: Sequence[str]) -> int:
    """
    Run a component as a ROS 2 lifecycle node; see ``runner.run``.

    Parameters
    ----------
    component_class : type[Component]
        Class of the component to run.
    argv : sequence of str
        Command line arguments, with ROS arguments behind ``--ros-args``.

    Raises
    ------
    LeggedDynamicsError
        When an argument is malformed, or a parameter has a wrong type or is out of range.

    """
    arguments = RosArguments.parse(argv)
    try:
        with ros2_process(component_class, argv) as (node, spinner, stopping):
            node.warn_of_undeclared_parameters(arguments)

            def spin(going: Callable[[], bool]) -> None:
                while going() and not stopping and rclpy.ok():
                    _spin(spinner, node)
            with Compilation(component_class, node.get_logger()) as compilation:
                def compiling() -> bool:
                    done, node.busy = compilation.done, compilation.state
                    return not done
                spin(compiling)
                node.busy = ''
            if not stopping and node.autostart and not node.start(lambda: not stopping):
                return 1
            # the compiler's objects are here to stay; scanning them would stall callbacks
            gc.collect()
            gc.freeze()
            spin(lambda: True)
            while len(stopping) == 1 and rclpy.ok() and not node.leave():
                _spin(spinner, node)
    except SystemExit as request:
        return request.code if isinstance(request.code, int) else int(bool(request.code))
    return 0


def _spin(spinner: Spinner, node: ComponentNode) -> None:
    try:
        spinner.spin()
    except ExternalShutdownException:
        pass                    # rclpy.ok() says so, too
    except Exception as error:  # a malformed request, say: the node goes on
        if node.component is not None:
            report_fault(node.component, node.get_logger(), error)
