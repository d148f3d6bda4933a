# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Targets for the body: poses and trajectories from topics, into a reference within limits.

A request becomes a generator that plans one piece a control tick, so that no tick waits for a
long trajectory. Poses out of reach are cut short on the way to them (`workspace.reach`).
"""
from __future__ import annotations

import math
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, MeasurementError
from legged_dynamics.model import RobotConfig
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.reading import TrajectoryReader
from legged_dynamics.ros.middleware.protocol import Bounds
from legged_dynamics.ros.nodes.diagnostics import InputMonitor
from legged_dynamics.ros.nodes.robot_component import RobotComponent
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.rotations import rotation_from_quaternion
from legged_dynamics.workspace.controller import WorkspaceController
from legged_dynamics.workspace.reach import ReachLimiter
from legged_dynamics.workspace.reference import BodyPose, ReferenceGenerator
from legged_dynamics.workspace.support import ANYTHING, Support

# Settings of the targets for the body.
SETTINGS = (
    Setting('odom_frame', 'odom', '', 'Name of the frame that body targets are given in.'),
    Setting(
        'reach.linear', 0.25, 'm',
        'Targets further than this from where the body stood at the start are refused.',
        1e-3, 10.0),
    Setting(
        'reach.angular', 0.6, 'rad',
        'Targets turned further than this from where the body stood at the start are refused.',
        1e-3, 3.0),
)
TRAJECTORY = 'trajectory_msgs/msg/MultiDOFJointTrajectory'
# Longest trajectory in points.
LONGEST = 20000
# Points read at a time.
PIECE = 12
# Turn [rad] and distance [m] from the last checked pose within which one is in reach too.
NEAR = np.array(9 * [0.02] + 3 * [0.005])
BLOCK = 256
Job = Generator[None, None, str]


class BodyTargets:
    """
    Reads ``~/body_target`` and ``~/body_trajectory``, and plans the motion there.

    Every target is planned piece by piece, one a control tick, and replaces the one before. Its
    velocities and accelerations are not used: the reference passes smoothly through its poses.

    Parameters
    ----------
    common : RobotComponent
        Common part of the node; with the parameters `SETTINGS`.
    why_not : callable
        Returns why no target can be taken now, or ''.

    Attributes
    ----------
    reference : ReferenceGenerator
        Planned motion of the body.
    state : BodyState
        Where the body is.
    monitor : InputMonitor

    """

    state: BodyState

    def __init__(self, common: RobotComponent, why_not: Callable[[], str]):
        self._node, self._parameters, self._why_not = common.node, common.parameters, why_not
        self._now, endpoints = common.now, common.endpoints
        self.monitor = InputMonitor('targets', 0)
        self.reference = ReferenceGenerator()
        self._job: Job | None = None
        qos = common.dialect.qos.reliable(10)
        endpoints.subscription('geometry_msgs/msg/PoseStamped', '~/body_target',
                               partial(self._request, self._go), qos)
        self._bounds = Bounds(TRAJECTORY, '~/body_trajectory')
        endpoints.raw_subscription(TRAJECTORY, '~/body_trajectory',
                                   lambda cdr, _: self._request(self._follow, cdr), qos)

    def build(self, controller: WorkspaceController, config: RobotConfig) -> None:
        """Use a robot from now on."""
        self._controller = controller
        # Within this margin the guard reduces efforts, so that no pose can be held there.
        self._limiter = ReachLimiter(controller.model, config,
                                     self._parameters['reference.stretch'],
                                     self._parameters['safety.position_margin'])

    def start(self, stamp: int, position: np.ndarray, rotation: np.ndarray) -> None:
        """Stay at a pose in odom_frame; later targets must lie around it."""
        self._job = None
        self._home = BodyPose(np.array(position), np.array(rotation))
        self.reference.rest(stamp, self._home)

    def plan(self, state: BodyState, position: np.ndarray) -> None:
        """Continue planning, by one piece."""
        self.state, self._position = state, position
        if self._job is None:
            return
        try:
            next(self._job)
            return
        except StopIteration as done:
            self.monitor.saw(self._now())
            self._node.get_logger().info(done.value)
        except LeggedDynamicsError as error:
            self.refuse(error)
        self._job = None

    def arrived(self, stamp: int) -> bool:
        """Return whether nothing is being planned and the reference has ended."""
        return self._job is None and stamp >= self.reference.end_ns

    def stay(self, stamp: int) -> None:
        """Keep the body where it is, from a stamp on."""
        self._job = None
        self.reference.rest(stamp, BodyPose(self.state.position, self.state.rotation))

    def move(self, pose: BodyPose, title: str, home: bool = False) -> None:
        """Move to a pose in odom_frame; ``home``: later targets must lie around it."""
        if home:
            self._home = pose
        self._job = self._move(pose, title)

    @property
    def mode(self) -> str:
        """What the body does, in a word or two."""
        moves = self.state.stamp_ns < self.reference.end_ns
        return 'plans' if self._job is not None else 'moves' if moves else 'holds'

    def judge(self, now: int) -> tuple[str, str]:
        """Return level and message of the targets, for the diagnostics."""
        if self.monitor.recent(now):
            return 'WARN', self.monitor.fault
        return 'OK', f'{self.monitor.received} taken'

    def warm(self, state: BodyState, position: np.ndarray) -> None:
        """Plan a target of every kind, to compile the kernels."""
        self.state, self._position = state, position
        here = BodyPose(state.position, state.rotation)
        self.reference.follow(0, [1.0, 2.0], [here, here])
        self.reference.move_to(0, here)
        for _ in self._limiter.search(state, position, here, self._support()):
            pass
        self.start(0, state.position, state.rotation)

    # ---- requests --------------------------------------------------------------------------

    def _support(self) -> Support:
        return self._controller.support(self.state) or ANYTHING

    def _go(self, message: Any) -> Job:
        given = convert.read_pose(message)
        self._check_frame(given.frame_id)
        pose = BodyPose(given.position, rotation_from_quaternion(given.orientation))
        self._check_reach(np.array([*pose.rotation.ravel(), *pose.position]))
        return self._move(pose, 'target taken')

    def _move(self, pose: BodyPose, title: str) -> Job:
        support = self._support()
        goal, part, why = yield from self._limiter.search(self.state, self._position, pose,
                                                          support)
        self.reference.support = support
        took = self.reference.move_to(self.state.stamp_ns, goal)
        return f'{title}, reached in {took:.2f} s{_cut(part, why)}'

    def _follow(self, cdr: bytes) -> Job:
        if why := self._bounds.refuse(len(cdr)):
            raise MeasurementError(why)
        reader = TrajectoryReader(cdr)
        self._check_frame(reader.frame_id)
        if reader.count > LONGEST:
            raise MeasurementError(f'expected a trajectory of at most {LONGEST} points, got '
                                   f'{reader.count}; send it in parts')
        return self._plan_trajectory(reader)

    def _plan_trajectory(self, reader: TrajectoryReader) -> Job:
        n, least, reasons = reader.count, 1.0, set[str]()
        times, knots = np.empty(n), np.empty((n, 12))
        while reader.left:
            first = n - reader.left
            time, position, orientation = reader.read(PIECE)
            here = slice(first, first + len(time))
            times[here], knots[here, 9:] = time, position
            for knot, quaternion in zip(knots[here], orientation):
                knot[:9] = rotation_from_quaternion(quaternion).ravel()
                self._check_reach(knot)
            yield
        if times[0] == 0.0 and n > 1:       # the body is there already
            times, knots = times[1:], knots[1:]
        state, support = self.state, self._support()
        stance, i = self._limiter.stance(state, self._position), 0
        while i < len(knots):
            knot, cut = knots[i], ''
            pose = BodyPose(knot[9:].copy(), knot[:9].reshape(3, 3).copy())
            if self._limiter.what_ends(stance, pose, support):
                goal, part, cut = yield from self._limiter.search(state, self._position, pose,
                                                                  support)
            if cut:
                knot[:9], knot[9:], least = goal.rotation.ravel(), goal.position, min(least, part)
                reasons.add(cut)
            yield
            # Poses near one in reach count as in reach; the last one is always checked.
            i += 1
            while not cut and i < len(knots) - 1:
                far = (np.abs(knots[i:min(i + BLOCK, len(knots) - 1)] - knot) >= NEAR).any(axis=1)
                i += int(far.argmax()) if far.any() else len(far)
                if far.any():
                    break
                yield
        self.reference.support = support
        made = yield from self.reference.planning(times, knots)
        yield
        slower = self.reference.start(self.state.stamp_ns, made)
        took = (self.reference.end_ns - self.state.stamp_ns) * 1e-9
        text = f', {slower:.2f} times slower than asked to keep the limits' * (slower > 1.0)
        return f'trajectory taken, done in {took:.2f} s{text}{_cut(least, " and ".join(reasons))}'

    def _request(self, take: Callable[[Any], Job], message: Any) -> None:
        try:
            if why := self._why_not():
                raise ConfigurationError(why)
            self._job = take(message)
        except LeggedDynamicsError as error:
            self.refuse(error)

    def refuse(self, error: LeggedDynamicsError) -> None:
        """Report in log and diagnostics why a request is refused."""
        self.monitor.refused(self._now(), str(error))
        self._node.get_logger().warning(f'target refused: {error}')

    def _check_reach(self, knot: np.ndarray) -> None:
        home = self._home
        away = math.dist(knot[9:].tolist(), home.position.tolist())
        cosine = 0.5 * (float(home.rotation.ravel() @ knot[:9]) - 1.0)
        turned = math.acos(min(max(cosine, -1.0), 1.0))
        far, angle = self._parameters['reach.linear'], self._parameters['reach.angular']
        if away > far or turned > angle:
            raise ConfigurationError(
                f'expected a target within {far:g} m and {angle:g} rad (reach) of where the body '
                f'stood at the start, position {np.round(home.position, 3).tolist()} m, got one '
                f'{away:.3f} m and {turned:.3f} rad away')

    def _check_frame(self, frame: str) -> None:
        wanted = self._parameters['odom_frame']
        if frame not in ('', wanted):
            raise MeasurementError(f'expected a target in the frame {wanted!r}, got {frame!r}; '
                                   'transform it first')


def _cut(part: float, why: str) -> str:
    return f'; cut short to {100.0 * part:.0f} % of the way, where {why}' * bool(why)
