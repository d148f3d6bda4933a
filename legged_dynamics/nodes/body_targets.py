# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where users want the body: poses, trajectories and postures, into a reference within limits."""
from __future__ import annotations

import math
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import numpy as np

from legged_dynamics.estimation.body_state import BodyState
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, MeasurementError
from legged_dynamics.middleware import conversions as convert
from legged_dynamics.model import RobotConfig
from legged_dynamics.nodes.diagnostics import InputMonitor
from legged_dynamics.nodes.effort_controller import EffortController
from legged_dynamics.nodes.endpoints import Endpoints
from legged_dynamics.schema import Setting
from legged_dynamics.spatial.rotations import rotation_from_quaternion
from legged_dynamics.workspace.controller import WorkspaceController
from legged_dynamics.workspace.posture import Phase, Posture
from legged_dynamics.workspace.reach import ReachLimiter
from legged_dynamics.workspace.reference import BodyPose, ReferenceGenerator
from legged_dynamics.workspace.support import ANYTHING, Support

SETTINGS = (
    Setting('odom_frame', 'odom', '', 'Name of the frame that body targets are given in.'),
    Setting('reach.linear', 0.25, 'm',
            'Targets further than this from where the body stood at the start are refused.',
            1e-3, 10.0),
    Setting('reach.angular', 0.6, 'rad',
            'Targets turned further than this from where the body stood at the start are refused.',
            1e-3, 3.0),
)
POSTURES = ('stand', 'sit', 'damping', 'zero')
# Longer trajectories are refused; poses of a message that are read at a time, and poses nearer to
# the last one that was looked at that are taken to be in reach as well [m, rad].
LONGEST, PIECE, NEAR, NEAR_TURN = 20000, 12, 0.005, 0.02
Job = Generator[None, None, str]


class BodyTargets:
    """
    Hears ``~/body_target``, ``~/body_trajectory`` and ``~/posture``; what cannot be is refused.

    Every wish is planned piece by piece, one a control tick, and replaces the one before. Its
    velocities and accelerations are not used: the reference passes smoothly through its poses.

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
    restart : callable
        Has the body's state begin anew where the robot is.

    Attributes
    ----------
    reference : ReferenceGenerator
        Where the body is wanted.
    posture : Posture
    monitor : InputMonitor

    """

    posture: Posture

    def __init__(self, component: EffortController, endpoints: Endpoints,
                 parameters: dict[str, Any], present: Callable[[], int | None],
                 restart: Callable[[], None]):
        self._node, self._parameters, self._present = component.node, parameters, present
        self._restart, self._now = restart, component.now
        self.monitor = InputMonitor('targets', 0)
        self.reference = ReferenceGenerator()
        self._job: Job | None = None
        qos = component.dialect.qos.reliable(10)
        for kind, topic, take in (
                ('geometry_msgs/msg/PoseStamped', '~/body_target', self._go),
                ('trajectory_msgs/msg/MultiDOFJointTrajectory', '~/body_trajectory', self._follow),
                ('std_msgs/msg/String', '~/posture', self._take_posture)):
            endpoints.subscription(kind, topic, partial(self._wish, take), qos)

    def build(self, controller: WorkspaceController, config: RobotConfig) -> None:
        """Take a robot."""
        self._controller = controller
        self._limiter = ReachLimiter(controller.model, config,
                                     self._parameters['reference.stretch'])
        self.posture = Posture(controller.model, config)

    def start(self, stamp: int, position: np.ndarray, rotation: np.ndarray) -> None:
        """Stay at a pose from a stamp [ns] on; targets must lie around it."""
        self._job = None
        self._home = BodyPose(np.array(position), np.array(rotation))
        self.reference.rest(stamp, self._home)

    def plan(self, state: BodyState, position: np.ndarray) -> None:
        """Go on planning, by one piece; joints (nj,) [rad or m] and body are where they are."""
        self._state, self._position = state, position
        if self._job is None:
            return
        try:
            next(self._job)
        except StopIteration as done:
            self._job = None
            self.monitor.saw(self._now())
            self._node.get_logger().info(done.value)
        except LeggedDynamicsError as error:
            self._refuse(error)

    def go_on(self, stamp: int, error: np.ndarray) -> None:
        """Let the posture take its next step, at an error (6,) of the body's pose."""
        before = self.posture.phase
        if before is Phase.HOLD:
            return
        arrived = self._job is None and stamp >= self.reference.end_ns
        phase = self.posture.step(stamp, error, self._state.rotation, arrived)
        if phase is before:
            return
        if phase is Phase.FADE:
            self._job = None
            self.reference.rest(stamp, BodyPose(self._state.position, self._state.rotation))
        elif phase is Phase.RISE:
            self._home = self.posture.standing(self._state)
            self._job = self._move(self._home, 'standing up')

    @property
    def mode(self) -> str:
        """What the body does, in a word or two."""
        if self.posture.active:
            return self.posture.phase.value
        if self._job is not None:
            return 'plans'
        return 'moves' if self._state.stamp_ns < self.reference.end_ns else 'holds'

    def judge(self, now: int) -> tuple[str, str]:
        """Return level and message at a time [ns]."""
        if self.monitor.recent(now):
            return 'WARN', self.monitor.fault
        return 'OK', f'{self.monitor.received} taken'

    def rehearse(self, state: BodyState, position: np.ndarray) -> None:
        """Plan something of every kind, for its kernels to be compiled."""
        self._state, self._position = state, position
        here = BodyPose(state.position, state.rotation)
        self.reference.follow(0, [1.0, 2.0], [here, here])
        self.reference.move_to(0, here)
        for _ in self._limiter.search(state, position, here, self._support()):
            pass
        self.start(0, state.position, state.rotation)

    # ---- wishes ----------------------------------------------------------------------------

    def _support(self) -> Support:
        return self._controller.support(self._state) or ANYTHING

    def _go(self, message: Any) -> Job:
        pose = convert.read_pose(message)
        self._check_frame(pose.frame_id)
        return self._move(self._pose(pose.position, pose.orientation), 'target taken')

    def _move(self, pose: BodyPose, title: str) -> Job:
        support = self._support()
        goal, part, why = yield from self._limiter.search(self._state, self._position, pose,
                                                          support)
        self.reference.support = support
        took = self.reference.move_to(self._state.stamp_ns, goal)
        return f'{title}, reached in {took:.2f} s{_cut(part, why)}'

    def _follow(self, message: Any) -> Job:
        self._check_frame(message.header.frame_id)
        if len(message.points) > LONGEST:
            raise MeasurementError(f'expected a trajectory of at most {LONGEST} points, got '
                                   f'{len(message.points)}; send it in parts')
        return self._plan_trajectory(message)

    def _plan_trajectory(self, message: Any) -> Job:
        # Taken off the end as they are read: to free thousands at once would take milliseconds.
        points, least, reasons = list(message.points)[::-1], 1.0, set[str]()
        n = max(len(points), 1)
        times, knots = np.empty(n), np.empty((n, 12))
        for first in range(0, n, PIECE):
            message.points = [points.pop() for _ in range(min(PIECE, len(points)))]
            wanted = convert.read_body_trajectory(message)
            here = slice(first, first + len(wanted.time))
            times[here], knots[here, 9:] = wanted.time, wanted.position
            for knot, orientation in zip(knots[here], wanted.orientation):
                knot[:9] = rotation_from_quaternion(orientation).ravel()
                self._check_reach(knot)
            yield
        if times[0] == 0.0 and n > 1:       # where it is at once is where it is anyhow
            times, knots = times[1:], knots[1:]
        state, support = self._state, self._support()
        stance, looked = self._limiter.stance(state, self._position), np.full(12, np.inf)
        for i, knot in enumerate(knots):
            away = np.abs(knot - looked)
            if away[9:].max() < NEAR and away[:9].max() < NEAR_TURN and i < len(knots) - 1:
                continue
            pose, looked = _pose_of(knot), knot
            if self._limiter.what_ends(stance, pose, support):
                goal, part, why = yield from self._limiter.search(state, self._position, pose,
                                                                  support)
                if why:
                    knot[:9], knot[9:] = goal.rotation.ravel(), goal.position
                    least, looked = min(least, part), np.full(12, np.inf)
                    reasons.add(why)
            yield
        self.reference.support = support
        made = yield from self.reference.planning(times, knots)
        yield
        slower = self.reference.start(self._state.stamp_ns, made)
        took = (self.reference.end_ns - self._state.stamp_ns) * 1e-9
        text = f', {slower:.2f} times slower than asked to keep the limits' * (slower > 1.0)
        return f'trajectory taken, done in {took:.2f} s{text}{_cut(least, " and ".join(reasons))}'

    def _take_posture(self, message: Any) -> Job:
        posture, stamp = self.posture, self._state.stamp_ns
        if message.data not in POSTURES:
            raise ConfigurationError(f'expected a posture among {", ".join(POSTURES)}, got '
                                     f'{message.data!r}')
        if message.data == 'stand':
            posture.standing(self._state)
            if posture.loose:
                self._restart()
                posture.begin(Phase.LOAD, stamp)
            else:
                posture.begin(Phase.RISE, stamp)
                self._home = posture.standing(self._state)
                return self._move(self._home, 'standing up')
        elif message.data == 'sit':
            if not posture.loose:
                posture.begin(Phase.SINK, stamp)
                return self._move(posture.below(self._state), 'sitting down')
        else:
            posture.damped = message.data == 'damping'
            if posture.phase is not Phase.REST:
                posture.begin(Phase.FADE, stamp)
        return _done(f'{message.data}: taken')

    def _wish(self, take: Callable[[Any], Job], message: Any) -> None:
        try:
            if self._present() is None:
                raise ConfigurationError('the body is not under control')
            if self.posture.active and take != self._take_posture:
                raise ConfigurationError(f'the body {self.posture.phase.value}; ask it to stand '
                                         'first')
            self._job = take(message)
        except LeggedDynamicsError as error:
            self._refuse(error)

    def _refuse(self, error: LeggedDynamicsError) -> None:
        self._job = None
        self.monitor.refused(self._now(), str(error))
        self._node.get_logger().warning(f'target refused: {error}')

    def _pose(self, position: np.ndarray, orientation: np.ndarray) -> BodyPose:
        """Return a pose if it lies within reach."""
        rotation = rotation_from_quaternion(orientation)
        self._check_reach(np.array([*rotation.ravel(), *position]))
        return BodyPose(position, rotation)

    def _check_reach(self, knot: np.ndarray) -> None:
        away = math.dist(knot[9:].tolist(), self._home.position.tolist())
        cosine = 0.5 * (float(self._home.rotation.ravel() @ knot[:9]) - 1.0)
        turned = math.acos(min(max(cosine, -1.0), 1.0))
        most = self._parameters['reach.linear'], self._parameters['reach.angular']
        if away > most[0] or turned > most[1]:
            raise ConfigurationError(
                f'expected a target within {most[0]:g} m and {most[1]:g} rad (reach) of where the '
                f'body stood at the start, position {np.round(self._home.position, 3).tolist()} m,'
                f' got one {away:.3f} m and {turned:.3f} rad away')

    def _check_frame(self, frame: str) -> None:
        wanted = self._parameters['odom_frame']
        if frame not in ('', wanted):
            raise MeasurementError(f'expected a target in the frame {wanted!r}, got {frame!r}; '
                                   'transform it first')


def _pose_of(knot: np.ndarray) -> BodyPose:
    return BodyPose(knot[9:].copy(), knot[:9].reshape(3, 3).copy())


def _done(text: str) -> Job:
    return text
    yield


def _cut(part: float, why: str) -> str:
    return f'; cut short to {100.0 * part:.0f} % of the way, where {why}' * bool(why)
