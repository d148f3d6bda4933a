# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ControllerNode: the common part of nodes that command motors, and their parameters."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from legged_dynamics.middleware.protocol import Component
from legged_dynamics.model import RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.nodes.effort_output import EffortOutput
from legged_dynamics.nodes.robot_component import ROBOT, RobotComponent
from legged_dynamics.nodes.robot_input import SETTINGS as INPUT_SETTINGS
from legged_dynamics.nodes.robot_input import Commands
from legged_dynamics.safety.settings import SETTINGS as SAFETY_SETTINGS
from legged_dynamics.schema import Setting

# Queue of inputs: a controller that has fallen behind answers the newest joint states.
DEPTH = 5


def settings_of(defaults: Mapping[str, Any], *tables: Sequence[Setting]) -> tuple[Setting, ...]:
    """
    Return the parameters of a node that commands motors.

    Parameters
    ----------
    defaults : mapping
        Defaults that differ in this node, by name.
    *tables : sequence of Setting
        Its own parameters.

    Returns
    -------
    tuple of Setting
        Those of robot, inputs and safety, then its own.

    """
    own = {'input_depth': DEPTH, **defaults}
    return tuple(replace(setting, default=own.get(setting.name, setting.default))
                 for table in (ROBOT, INPUT_SETTINGS, SAFETY_SETTINGS, *tables)
                 for setting in table)


class ControllerNode(Component):
    """
    A RobotComponent and an EffortOutput, whose lifecycle is the node's.

    A subclass sets `default_name` and `settings`, and calls :meth:`open` and :meth:`listen` when
    it is configured, the latter with what builds the controller and what answers a measurement.

    Parameters
    ----------
    node : Node
        Handle to the bus, as `Component` takes it.
    dialect : Dialect
        Messages and QoS of the backend, as `Component` takes it.
    accept : callable, optional
        Takes all parameters as they would be after a change, and refuses them by a
        ConfigurationError.
    failed, settled : callable
        As `EffortOutput` takes them.

    Attributes
    ----------
    settings : tuple of Setting
        All parameters of the node: :func:`settings_of`.
    common : RobotComponent
    efforts : EffortOutput
    parameters : dict
        Values by dotted name.

    """

    has_kernels = True
    settings: ClassVar[tuple[Setting, ...]] = settings_of({})

    def __init__(self, node: Any, dialect: Any,
                 accept: Callable[[dict[str, Any]], object] | None = None,
                 failed: Callable[[], None] = lambda: None,
                 settled: Callable[[], bool] = lambda: True):
        super().__init__(node, dialect)
        self.common = RobotComponent(self, self.settings, accept, steady=True)
        self.parameters = self.common.parameters
        self.efforts = EffortOutput(self.common, failed, settled)

    def open(self) -> None:
        """Read the parameters and join the topics of diagnostics and efforts."""
        self.common.configure(self.judge, self.details)
        self.efforts.configure()

    def listen(self, described: Callable[[RobotModel], None],
               measured: Callable[[Measurement], Commands | None]) -> None:
        """
        Subscribe to description and sensors.

        Parameters
        ----------
        described, measured : callable
            Build the controller of a RobotModel, and answer a Measurement; as
            `EffortOutput.listen` takes them.

        """
        self.efforts.listen(described, measured)

    def activate(self) -> None:
        """Start commanding, blended in from what the motors deliver."""
        self.efforts.start()

    def leave(self) -> bool:
        """Bring the robot down as `safety.stop` says; return whether that is done."""
        return self.efforts.leave()

    def deactivate(self) -> None:
        """Stop commanding; the last message is zero."""
        self.efforts.stop()

    def cleanup(self) -> None:
        """Leave all topics."""
        self.efforts.close()
        self.common.close()

    def on_fault(self, error: Exception) -> None:
        """
        Report a failed callback in the diagnostics, and let the guard bridge it.

        Parameters
        ----------
        error : Exception
            What the callback raised.

        """
        self.efforts.fault(error)

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """
        Return how inputs and control do, for the diagnostics.

        Parameters
        ----------
        now : int [ns]
            Present time.

        Returns
        -------
        dict
            Level and message by name.

        """
        return self.efforts.judge(now)

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """
        Return key figures of inputs and control, for the diagnostics.

        Parameters
        ----------
        now : int [ns]
            Present time.

        Returns
        -------
        dict
            Values by name, for each name of :meth:`judge`.

        """
        return self.efforts.details(now)
