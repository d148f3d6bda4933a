# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node that commands motors: settings, robot and guarded efforts put together."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.model import RobotModel
from legged_dynamics.nodes.effort_output import EffortOutput, settings_of
from legged_dynamics.nodes.robot_component import RobotComponent
from legged_dynamics.nodes.robot_input import Commands
from legged_dynamics.schema import Setting


class ControllerNode(Component):
    """
    A RobotComponent and an EffortOutput, whose lifecycle is the node's.

    A subclass sets `default_name` and `settings`, calls :meth:`open` when it configures, and hands
    over what takes the robot and what answers a measurement.

    Parameters
    ----------
    node, dialect
        As `Component` has them.
    accept : callable, optional
        As `RobotComponent` has it.
    failed, settled : callable
        As `EffortOutput` has them.

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
        """Take in the robot as `RobotComponent.listen` does; no commanded joint is guessed."""
        self.common.listen(described, measured, self.efforts.screen,
                           self.efforts.commanded_joints)

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
        """Show a failure of a callback, and do not go on from it."""
        self.efforts.fault(error)

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return level and message of inputs and control at a time [ns]."""
        return self.efforts.judge(now)

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return key figures of inputs and control at a time [ns]."""
        return self.efforts.details(now)
