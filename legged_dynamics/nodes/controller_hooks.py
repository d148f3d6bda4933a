# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a node that commands motors may say for itself; see EffortController."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.middleware.protocol import Component
from legged_dynamics.model import RobotConfig, RobotModel


class ControllerHooks(Component):
    """Hooks of an EffortController; all but :meth:`control` do nothing until overridden."""

    def build(self, model: RobotModel, config: RobotConfig) -> None:
        """
        Make the numerics, and publishers that need the robot's names.

        Parameters
        ----------
        model : RobotModel
            With the configured joint physics.
        config : RobotConfig
            Feet, IMU mount, command order.

        Raises
        ------
        LeggedDynamicsError
            When the robot does not fit; the node then waits for another description.

        """

    def changing(self, values: dict[str, Any]) -> None:
        """
        Take other parameters at run time; `parameters` still has those before.

        Parameters
        ----------
        values : dict
            All parameters as they are to be, each within its range.

        Raises
        ------
        ConfigurationError
            When they do not go together; nothing is changed then.

        """

    def open(self) -> None:
        """Open topics that do not depend on the robot; called on configure."""

    def reset(self) -> None:
        """Forget the past; called on activate and when the robot is known."""

    def control(self, measurement: Measurement) -> np.ndarray | None:
        """
        Return (nj,) efforts in the model's joint order [N m or N], or None when there are none.

        As long as nothing was commanded, None leaves the motors to whoever has them.

        Raises
        ------
        LeggedDynamicsError
            When the measurement cannot be used; shown in the diagnostics.

        """
        raise NotImplementedError

    def reason(self) -> str:
        """Return why :meth:`control` has just returned None, for the diagnostics."""
        return 'no command'

    def commanded(self, measurement: Measurement, effort: np.ndarray) -> None:
        """
        Publish what belongs to the command that has just gone out.

        Parameters
        ----------
        measurement : Measurement
            What it answers.
        effort : (nj,) array [N m or N]
            In the model's joint order, after the guard.

        """

    def grips(self) -> tuple[Sequence[str], Sequence[float]]:
        """Return feet that were told to hold on or to let go, beside the efforts, and how."""
        return (), ()

    def settled(self) -> bool:
        """
        Bring the robot to where motors can be let go; return whether it is there, or cannot be.

        Called again and again while commands go out, when `safety.stop` is 'sit'.
        """
        return True

    def failed(self) -> None:
        """Answer a fault beside the efforts, which the guard has held or made safe."""

    def judge(self, now: int) -> dict[str, tuple[str, str]]:
        """Return further diagnostics, level and message by name, at a time [ns]."""
        return {}

    def details(self, now: int) -> dict[str, dict[str, Any]]:
        """Return further values by name of diagnostic, at a time [ns]."""
        return {}
