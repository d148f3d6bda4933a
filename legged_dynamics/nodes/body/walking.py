# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""BodyWalk: velocity commands and gaits from topics and services, for a node that holds a body."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from legged_dynamics.estimation.ground_reaction import GroundReaction
from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, MeasurementError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.nodes.diagnostics import InputMonitor
from legged_dynamics.nodes.robot_component import RobotComponent
from legged_dynamics.schema import CheckedSettings, setting
from legged_dynamics.workspace.walking import (
    Walker,
    Walking,
    WalkPlan,
    WalkSettings,
    make_walker,
)
from legged_dynamics.workspace.walking.settings import SETTINGS as WALK_SETTINGS


@dataclass(frozen=True)
class VelocitySettings(CheckedSettings):
    """Settings of the velocity commands."""

    stamped: bool = setting(
        'cmd_vel.stamped', True, '',
        'Whether cmd_vel is a geometry_msgs/TwistStamped; else it is a Twist.')


SETTINGS = (*WALK_SETTINGS, *VelocitySettings.table())
# After this longer silence of cmd_vel a robot that steps in place stands [s].
REST = 2.0


class BodyWalk:
    """
    Walks a body on ``cmd_vel``, in the gait of the parameter ``gait`` or of ``~/gait``.

    ``~/walk`` and ``~/halt`` are services of std_srvs/Trigger. A robot walks while commands come:
    after `walking.command_timeout` without one it steps in place, and then it stands.

    Parameters
    ----------
    common : RobotComponent
        Of the node; with the parameters `SETTINGS`.
    why_not : callable
        Returns why the robot cannot walk now, or ''.

    Attributes
    ----------
    walker : Walker
        Set once the robot is known.
    monitor : InputMonitor
        Of the velocity commands.

    """

    walker: Walker

    def __init__(self, common: RobotComponent, why_not: Callable[[], str]):
        self._common, self._why_not = common, why_not
        self._parameters, self._now = common.parameters, common.now
        self.monitor = InputMonitor('cmd_vel', 0)
        self._gait: str | None = None
        self._velocity, self._heard_ns, self._fresh = (0.0, 0.0, 0.0), 0, False
        endpoints, qos = common.endpoints, common.dialect.qos.reliable(10)
        stamped = self._parameters['cmd_vel.stamped']
        endpoints.subscription(
            'geometry_msgs/msg/TwistStamped' if stamped else 'geometry_msgs/msg/Twist', 'cmd_vel',
            (lambda message: self._on_velocity(message.twist)) if stamped else self._on_velocity,
            qos)
        endpoints.subscription('std_msgs/msg/String', '~/gait',
                               self._on_gait, qos)
        endpoints.service('std_srvs/srv/Trigger', '~/walk', partial(self._serve, True))
        endpoints.service('std_srvs/srv/Trigger', '~/halt', partial(self._serve, False))

    def build(self, model: RobotModel, config: RobotConfig) -> None:
        """
        Use a robot from now on.

        Parameters
        ----------
        model : RobotModel
            Robot as its URDF describes it.
        config : RobotConfig
            Its configuration.

        """
        self.walker = make_walker(model, config, self._settings(self._parameters))

    def configure(self, values: dict[str, Any]) -> None:
        """
        Use other settings from now on.

        Parameters
        ----------
        values : dict
            All parameters of the node.

        """
        if values['gait'] != self._parameters['gait']:
            self._gait = None       # a changed parameter wins over an earlier request
        self.walker.configure(self._settings(values))

    def reset(self) -> None:
        """Stand, and forget all commands."""
        self._fresh = False
        self.walker.reset()

    def request(self, gait: str) -> tuple[bool, str]:
        """
        Take a gait by its name.

        Parameters
        ----------
        gait : str
            'stand', or a gait of the table.

        Returns
        -------
        tuple of bool and str
            Whether it is taken; what is done, or why not.

        """
        try:
            if why := self._why_not():
                raise ConfigurationError(why)
            before, self._gait = self._gait, gait
            try:
                self.walker.check(gait)
                self.walker.configure(self._settings(self._parameters))
            except LeggedDynamicsError:
                self._gait = before
                raise
            return True, 'standing' if gait == 'stand' else f'{gait}: waits for cmd_vel'
        except LeggedDynamicsError as error:
            self.monitor.refused(self._now(), str(error))
            self._common.node.get_logger().warning(f'gait refused: {error}')
            return False, str(error)

    def step(self, state: BodyState, measurement: Measurement,
             reaction: GroundReaction) -> WalkPlan:
        """
        Return the target of the body and the plan of the legs.

        Parameters
        ----------
        state : BodyState
            Pose, twist and places of the feet.
        measurement : Measurement
            Readings that are answered.
        reaction : GroundReaction
            Newest estimate of the ground's forces.

        Returns
        -------
        WalkPlan

        """
        stamp, walker = measurement.stamp_ns, self.walker
        if self._fresh:
            self._heard_ns, self._fresh = stamp, False
        silence = (stamp - self._heard_ns) * 1e-9 if self._heard_ns else math.inf
        patience = self._parameters['walking.command_timeout']
        walker.command(*(self._velocity if silence <= patience else (0.0, 0.0, 0.0)))
        walker.walk = silence <= patience + REST
        return walker.update(state, measurement, reaction.latest_contact, reaction.wrench[:, :3])

    def judge(self, now: int) -> tuple[str, str]:
        """
        Return how walking does, for the diagnostics.

        Parameters
        ----------
        now : int [ns]
            Present time.

        Returns
        -------
        tuple of str
            Level and message.

        """
        if self.monitor.recent(now):
            return 'WARN', self.monitor.fault
        walker = getattr(self, 'walker', None)
        if walker is None:
            return 'OK', 'no robot yet'
        if walker.lowered:
            feet = ', '.join(self._common.config.feet[i].link for i in walker.lowered)
            return 'WARN', f'no ground under {feet}: lowered'
        return ('WARN' if walker.state is Walking.RECOVER else 'OK'), walker.state.value

    def _settings(self, values: dict[str, Any]) -> WalkSettings:
        found = {setting.name: values[setting.name] for setting in WALK_SETTINGS}
        if self._gait is not None:
            found['gait'] = self._gait
        return WalkSettings.from_parameters(found)

    def _serve(self, walk: bool, request: Any, response: Any) -> Any:
        gait = self._parameters['gait']
        usual = gait if gait != 'stand' else self.walker.usual
        response.success, response.message = self.request(usual if walk else 'stand')
        return response

    def _on_gait(self, message: Any) -> None:
        self.request(message.data)

    def _on_velocity(self, twist: Any) -> None:
        velocity = (twist.linear.x, twist.linear.y, twist.angular.z)
        if not all(math.isfinite(part) for part in velocity):
            error = MeasurementError('cmd_vel: expected finite velocities, got '
                                     f'{velocity}; it is ignored')
            self.monitor.refused(self._now(), str(error))
            return
        self._velocity, self._fresh = velocity, True
        self.monitor.saw(self._now())
