# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where users want the body: poses and trajectories, into a reference that moves within limits."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, MeasurementError
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.nodes.diagnostics import InputMonitor
from legged_dynamics.nodes.effort_controller import EffortController
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.rotations import rotation_from_quaternion, rotation_vector
from legged_dynamics.workspace.reference import BodyPose, ReferenceGenerator

SETTINGS = (
    Setting('odom_frame', 'odom', '', 'Name of the frame that body targets are given in.'),
    Setting('reach.linear', 0.25, 'm',
            'Targets further than this from where the body stood at the start are refused.',
            1e-3, 10.0),
    Setting('reach.angular', 0.6, 'rad',
            'Targets turned further than this from where the body stood at the start are refused.',
            1e-3, 3.0),
)


class BodyTargets:
    """
    Hears ``~/body_target`` and ``~/body_trajectory``; what cannot be is refused and said.

    Velocities and accelerations in a trajectory are not used: the reference passes smoothly
    through its poses.

    Parameters
    ----------
    component : EffortController
        On whose node the subscriptions live.
    endpoints : Endpoints
        Of the component.
    parameters : dict
        With `SETTINGS`, followed at run time.
    present : callable
        Returns the stamp [ns] from which a wish is to hold; None while the body is not under
        control.
    furthest : callable
        Returns the furthest pose on the way to one that the legs can reach, and the part of the
        way, up to 1.

    Attributes
    ----------
    reference : ReferenceGenerator
        Where the body is wanted.
    monitor : InputMonitor

    """

    def __init__(self, component: EffortController, endpoints: Endpoints,
                 parameters: dict[str, Any],
                 present: Callable[[], int | None],
                 furthest: Callable[[BodyPose], tuple[BodyPose, float]]):
        self._node, self._parameters, self._present = component.node, parameters, present
        self._furthest, self._now = furthest, component.now
        self.monitor = InputMonitor('targets', 0)
        self.reference = ReferenceGenerator()
        qos = component.dialect.qos.reliable(10)
        endpoints.subscription('geometry_msgs/msg/PoseStamped', '~/body_target',
                               lambda message: self._wish(self._go, message), qos)
        endpoints.subscription('trajectory_msgs/msg/MultiDOFJointTrajectory', '~/body_trajectory',
                               lambda message: self._wish(self._follow, message), qos)

    def start(self, stamp: int, position: np.ndarray, rotation: np.ndarray) -> None:
        """Stay at a pose from a stamp [ns] on; targets must lie around it."""
        self._home = BodyPose(np.array(position), np.array(rotation))
        self.reference.rest(stamp, self._home)

    def judge(self, now: int) -> tuple[str, str]:
        """Return level and message at a time [ns]."""
        if self.monitor.recent(now):
            return 'WARN', self.monitor.fault
        return 'OK', f'{self.monitor.received} taken'

    def _go(self, stamp: int, message: Any) -> str:
        pose = convert.read_pose(message)
        self._check_frame(pose.frame_id)
        goal, part = self._furthest(self._pose(pose.position, pose.orientation))
        took = self.reference.move_to(stamp, goal)
        return f'target taken, reached in {took:.2f} s{_cut(part)}'

    def _follow(self, stamp: int, message: Any) -> str:
        wanted = convert.read_body_trajectory(message)
        self._check_frame(wanted.frame_id)
        goals, parts = zip(*(self._furthest(self._pose(position, orientation))
                             for position, orientation in zip(wanted.position,
                                                              wanted.orientation)))
        stretch = self.reference.follow(stamp, wanted.time, goals)
        slower = f', {stretch:.2f} times slower than asked to keep the limits' * (stretch > 1.0)
        return (f'trajectory taken, done in {stretch * wanted.time[-1]:.2f} s{slower}'
                f'{_cut(min(parts))}')

    def _wish(self, take: Callable[[int, Any], str], message: Any) -> None:
        now, stamp = self._now(), self._present()
        try:
            if stamp is None:
                raise ConfigurationError('the body is not under control')
            text = take(stamp, message)
        except LeggedDynamicsError as error:
            self.monitor.refused(now, str(error))
            self._node.get_logger().warning(f'target refused: {error}')
            return
        self.monitor.saw(now)
        self._node.get_logger().info(text)

    def _pose(self, position: np.ndarray, orientation: np.ndarray) -> BodyPose:
        """Return a pose if it lies within reach."""
        rotation = rotation_from_quaternion(orientation)
        away = float(np.linalg.norm(position - self._home.position))
        turned = float(np.linalg.norm(rotation_vector(self._home.rotation.T @ rotation)))
        most = self._parameters['reach.linear'], self._parameters['reach.angular']
        if away > most[0] or turned > most[1]:
            raise ConfigurationError(
                f'expected a target within {most[0]:g} m and {most[1]:g} rad (reach) of where the '
                f'body stood at the start, position {np.round(self._home.position, 3).tolist()} m,'
                f' got one {away:.3f} m and {turned:.3f} rad away')
        return BodyPose(position, rotation)

    def _check_frame(self, frame: str) -> None:
        wanted = self._parameters['odom_frame']
        if frame not in ('', wanted):
            raise MeasurementError(f'expected a target in the frame {wanted!r}, got {frame!r}; '
                                   'transform it first')


def _cut(part: float) -> str:
    return f'; cut short to {100.0 * part:.0f} % of the way, where a leg ends' * (part < 1.0)
