# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Efforts to LowCmd: torque alone, or damping alone.

A motor of these robots gives ``tau + kp (q - q_measured) + kd (dq - dq_measured)``. Efforts go out
as ``tau`` with ``kp = 0`` and the stated ``kd`` at ``dq = 0``; damping is ``kd`` alone. The robot
goes on obeying the last message, so the last one that is sent must be damping.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.unitree.messages import checksum
from legged_dynamics.unitree.robots import UnitreeRobot

_HEAD, _LOW_LEVEL = (0xFE, 0xEF), 0xFF      # of unitree_go, from Unitree's examples


class LowCmdWriter:
    """
    Makes LowCmd messages of one robot.

    Parameters
    ----------
    robot : UnitreeRobot
        Its entry of the table.
    joints : sequence of str
        Joints that get efforts, in the order of commands.
    make : callable
        Returns an empty LowCmd of the robot's family.
    kd : float
        Damping of every commanded joint while efforts are obeyed [N m s/rad].
    resting_kd : float
        Damping of every joint when they are not [N m s/rad].

    Attributes
    ----------
    mode_machine : int
        What the robot says of itself in LowState; only ``unitree_hg`` has it, and obeys nothing
        else.

    Raises
    ------
    ConfigurationError
        When a joint has no motor.

    """

    def __init__(self, robot: UnitreeRobot, joints: Sequence[str], make: Callable[[], Any],
                 kd: float, resting_kd: float):
        strange = [name for name in joints if name not in robot.joints or not name]
        if strange:
            raise ConfigurationError(f'robot.joints: {robot.name} has no motor of '
                                     f'{", ".join(strange)}')
        self._robot, self._make = robot, make
        self._places = [robot.joints.index(name) for name in joints]
        self._kd, self._resting_kd = kd, resting_kd
        self.mode_machine = 0

    def torque(self, efforts: Sequence[float]) -> Any:
        """
        Return a message that asks for efforts.

        Motors that are not commanded are damped.

        Parameters
        ----------
        efforts : (nj,) sequence of float
            In command order [N m].

        Returns
        -------
        LowCmd
            With its checksum.

        """
        message = self._resting()
        for place, effort in zip(self._places, efforts):
            motor = message.motor_cmd[place]
            motor.tau, motor.kd = float(effort), self._kd
        return self._checked(message)

    def damping(self) -> Any:
        """Return a message that brakes every joint and drives none."""
        return self._checked(self._resting())

    def _resting(self) -> Any:
        robot, message = self._robot, self._make()
        if robot.family == 'unitree_go':
            message.head[0], message.head[1] = _HEAD
            message.level_flag = _LOW_LEVEL
        else:
            message.mode_machine = self.mode_machine
        for place in robot.motors:
            motor = message.motor_cmd[place]
            motor.mode, motor.kd = robot.modes[place], self._resting_kd
        return message

    def _checked(self, message: Any) -> Any:
        message.crc = checksum(message, self._robot.family)
        return message
