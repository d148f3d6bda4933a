# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What every node of a robot is made with: settings, topics, robot, sensors, diagnostics."""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.estimation.settings import nominal_position
from legged_dynamics.middleware.parameters import declare_settings, follow_settings
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.robot_config import SETTINGS as ROBOT_SETTINGS
from legged_dynamics.nodes.description import SETTINGS as DESCRIPTION_SETTINGS
from legged_dynamics.nodes.diagnostics import DiagnosticsPublisher, Endpoints
from legged_dynamics.nodes.input_screen import InputScreen, SteadyClock
from legged_dynamics.nodes.robot_input import Commands, RobotInput
from legged_dynamics.schema import Setting

# -------------------------------------------------------------------------------------------------
# What the sensors of a robot that stands still say: kernels are compiled with that.


PERIOD_NS = 2_000_000
# More samples than any estimate lags behind what it needs, so that there is one.
SAMPLES = 6


def standing_still(model: RobotModel, config: RobotConfig,
                   samples: int = SAMPLES) -> Iterator[Measurement]:
    """
    Return what a robot's sensors say in its nominal pose, on level ground, without torque.

    Parameters
    ----------
    model : RobotModel
        Whose joints they are.
    config : RobotConfig
        With the nominal pose.
    samples : int
        How many. The first has no orientation, so that tilt from the accelerometer is used too.

    """
    position = nominal_position(model, config)
    still = np.zeros(len(position))
    for k in range(samples):
        yield Measurement(k * PERIOD_NS, position, still, still, np.zeros(3),
                          np.array([0.0, 0.0, GRAVITY]),
                          np.array([0.0, 0.0, 0.0, 1.0]) if k else None)


# -------------------------------------------------------------------------------------------------


# Parameters of a node that has to know the robot.
ROBOT = (*DESCRIPTION_SETTINGS, *ROBOT_SETTINGS)


class RobotComponent:
    """
    The common part of nodes: a node makes one in its constructor and calls it from its own steps.

    Nothing is to be overridden. QoS of what goes through `endpoints` can be changed by parameters
    `qos_overrides.<topic>...`, as on any ROS 2 node.

    Parameters
    ----------
    component : Component
        The node.
    settings : iterable of Setting
        Its parameters; declared at once.
    accept : callable, optional
        Takes all values as they are to be, before they are; refuses by a ConfigurationError.
    steady : bool
        Whether `now` is monotonic, for nodes that act on ages; else it is the node's clock.

    Attributes
    ----------
    node, dialect
        The component's.
    parameters : dict
        Values by dotted name, kept up to date at run time.
    endpoints : Endpoints
        For publishers, subscriptions and timers; closed by :meth:`close`.
    now : callable
        Returns the time of ages and diagnostics [ns].
    config : RobotConfig
        Of the parameters at :meth:`configure`, where they have `ROBOT`.
    input : RobotInput
        From :meth:`listen` on.

    Raises
    ------
    ConfigurationError
        When a parameter has a wrong type or is out of range.

    """

    config: RobotConfig
    input: RobotInput

    def __init__(self, component: Component, settings: Iterable[Setting],
                 accept: Callable[[dict[str, Any]], object] | None = None, *,
                 steady: bool = False):
        self.component, table = component, tuple(settings)
        self.node, self.dialect = node, dialect = component.node, component.dialect
        self.now: Callable[[], int] = (SteadyClock(node) if steady else
                                       lambda: node.get_clock().now().nanoseconds)
        self.parameters = declare_settings(node, dialect, table)
        self._knows_robot = {setting.name for setting in ROBOT} <= set(self.parameters)
        self._accept = accept
        follow_settings(node, dialect, table, self.parameters, self._check, component.fixed)
        self.endpoints = Endpoints(component)

    def _check(self, values: dict[str, Any]) -> RobotConfig | None:
        config = RobotConfig.from_parameters(_of_robot(values)) if self._knows_robot else None
        if self._accept is not None:
            self._accept(values)
        return config

    def values(self, table: Iterable[Setting]) -> dict[str, Any]:
        """Return the present values of a table of settings."""
        return {setting.name: self.parameters[setting.name] for setting in table}

    def configure(self, judge: Callable[[int], dict[str, tuple[str, str]]],
                  details: Callable[[int], dict[str, dict[str, Any]]]) -> None:
        """
        Read the parameters and publish diagnostics from now on.

        Parameters
        ----------
        judge, details : callable
            As `DiagnosticsPublisher` has them.

        Raises
        ------
        ConfigurationError
            When the parameters do not go together.

        """
        self.close()        # of what an attempt that failed has left
        config = self._check(self.parameters)
        if config is not None:
            self.config = config
        DiagnosticsPublisher(self.component, self.endpoints, judge, details, self.now)

    def listen(self, described: Callable[[RobotModel], None],
               measured: Callable[[Measurement], Commands | None],
               screen: InputScreen | None = None,
               needed: Callable[[RobotModel], Container[str]] = lambda model: ()) -> None:
        """
        Take in description and sensors; measurements are made while `input` is started.

        Parameters
        ----------
        described, measured, screen, needed
            As `RobotInput` has them.

        Raises
        ------
        LeggedDynamicsError
            When the description given by parameter cannot be used.

        """
        self.input = RobotInput(self.component, self.endpoints, self.parameters, self.config,
                                self.now, described, measured, screen, needed)
        self.input.join()

    def rehearse(self, model: RobotModel, work: Callable[[Measurement], object]) -> None:
        """Have kernels compiled now, and not while a robot waits: work with one that stands."""
        for measurement in standing_still(model, self.config):
            work(measurement)

    def close(self) -> None:
        """Leave all topics."""
        self.endpoints.close()


def _of_robot(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items()
            if name.startswith(('robot.', 'noise.'))}
