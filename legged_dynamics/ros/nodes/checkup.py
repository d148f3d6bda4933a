# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A live checkup: gives instructions for the robot to follow, and records its sensors."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from legged_dynamics.diagnosis.doctor.checkup import Checkup
from legged_dynamics.diagnosis.identification.samples import SensorLog
from legged_dynamics.exceptions import MeasurementError, MiddlewareError
from legged_dynamics.model import JointOrder
from legged_dynamics.recordings.recording import SensorLogWriter
from legged_dynamics.recordings.robot import RobotChoice, choose_live_robot
from legged_dynamics.ros.conversions import stamp_ns
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.middleware.runner import run
from legged_dynamics.ros.nodes.description import when_described
from legged_dynamics.ros.nodes.lock_step import answers_of
from legged_dynamics.ros.nodes.robot_component import RobotComponent


class CheckupNode(Component):
    """Records joint states and IMU through a checkup, then ends the process's spinning."""

    default_name = 'legged_dynamics_doctor'
    robot, urdf = '', ''
    say: Callable[[str], None] = staticmethod(print)
    choice: RobotChoice | None = None
    writer: SensorLogWriter

    def __init__(self, node: Any, dialect: Any):
        super().__init__(node, dialect)
        self.common = RobotComponent(self, ())

    def configure(self) -> None:
        """Join the topics."""
        cls = type(self)
        cls.writer, cls.choice = SensorLogWriter(), None
        self._checkup: Checkup | None = None
        self._order: JointOrder | None = None
        self._first = 0
        endpoints, qos = self.common.endpoints, self.dialect.qos.best_effort(1000)
        # In lock-step, the simulator waits for this node, too.
        self._answer = answers_of(self, endpoints)
        when_described(self, endpoints, cls.urdf, self._described)
        endpoints.subscription('sensor_msgs/msg/JointState', 'joint_states', self._joints, qos)
        endpoints.subscription('sensor_msgs/msg/Imu', 'imu/data', self._imu, qos)

    def cleanup(self) -> None:
        """Leave all topics."""
        self.common.close()

    def _described(self, urdf: str) -> None:
        cls = type(self)
        cls.choice = choose_live_robot(urdf, cls.robot)
        self._checkup = Checkup(cls.choice.model, cls.choice.config)
        cls.say(self._checkup.instruction)

    def _imu(self, message: Any) -> None:
        type(self).writer.take(message, self.common.now())

    def _joints(self, message: Any) -> None:
        cls, now = type(self), self.common.now()
        cls.writer.take(message, now)
        self._answer(stamp_ns(message.header.stamp))
        if self._checkup is None or cls.choice is None:
            return
        if self._order is None:
            try:
                self._order = JointOrder(message.name, cls.choice.model.joint_names)
            except MeasurementError:
                raise SystemExit(0) from None       # the names are the finding
        self._first = self._first or now        # 0 until the clock is heard
        position = self._order(np.asarray(message.position, float))
        if self._checkup.update((now - self._first) * 1e-9, position):
            cls.say(self._checkup.instruction)
            for asked, moved in list(self._checkup.moved.items())[-1:]:
                if asked != moved:
                    cls.say(f'  (the joints of {moved} moved)')
        if self._checkup.done:
            raise SystemExit(0)


def live_robot_and_readings(args: argparse.Namespace, say: Callable[[str], None],
                            run: Callable[..., int] = run) -> tuple[RobotChoice, SensorLog]:
    """Run a checkup of a running robot; return the robot and its sensor readings."""
    class Node(CheckupNode):
        robot, urdf = args.robot, args.urdf
    Node.say = staticmethod(say)        # type: ignore[method-assign]
    remaps = [f'{there}:={name}' for there, name in (('joint_states', args.joint_states),
                                                     ('imu/data', args.imu)) if name]
    words = [word for remap in remaps for word in ('-r', remap)]
    if args.use_sim_time:
        words += ['-p', 'use_sim_time:=true']
    code = run(Node, ['--ros-args', *words] if words else [])
    if Node.choice is None or not Node.writer.count:
        missing = 'robot_description' if Node.choice is None else 'joint_states'
        raise MiddlewareError(f'nothing came on {missing} (exit code {code}); is the driver up, '
                              'on the same ROS_DOMAIN_ID, on this machine (or give --network)?')
    return Node.choice, Node.writer.log()
