# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A bag as snapshots, run through the live estimator again, and a slider over them."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.analysis.bags import BagMessage, BagReader
from legged_dynamics.analysis.replay import Replay, ReplayPlan
from legged_dynamics.analysis.robot import RobotChoice, choose_robot
from legged_dynamics.analysis.topics import TopicChoice, input_topics, odometry_topic
from legged_dynamics.estimation import EstimatorSettings, GroundReaction
from legged_dynamics.estimation.synchronizer import IMU_TIMEOUT
from legged_dynamics.exceptions import BagError
from legged_dynamics.middleware.conversions import SensorReader
from legged_dynamics.spatial.rotations import rotation_from_quaternion
from legged_dynamics.view.show import Pace, Show
from legged_dynamics.view.snapshot import Forces, Snapshot


@dataclass(frozen=True)
class RecordedView:
    """
    A bag, ready to be shown.

    Attributes
    ----------
    robot : RobotChoice
    snapshots : list of Snapshot
        In the order of time.

    """

    robot: RobotChoice
    snapshots: list[Snapshot]

    @property
    def time(self) -> np.ndarray:
        """Of each snapshot from the first one on, (n,) [s]."""
        stamps = np.array([snapshot.stamp_ns for snapshot in self.snapshots])
        return (stamps - stamps[0]) * 1e-9


def read_view(path: Path, robot: str = '', urdf: str = '', odometry: str = '',
              rate: float = 30.0,
              progress: Callable[[float], None] | None = None) -> RecordedView:
    """
    Replay a bag through the live estimator and keep a picture of it now and then.

    Parameters
    ----------
    path : Path
        Of the bag: a folder or a file.
    robot, urdf : str
        As `analysis.robot.choose_robot` has them.
    odometry : str
        Topic with the pose of the base; found by name when empty, and where there is none the
        robot stays on the feet that stand.
    rate : float [Hz]
        Snapshots per second of the bag.
    progress : callable, optional
        Gets the part done, from 0 to 1.

    Raises
    ------
    LeggedDynamicsError
        When the bag cannot be read, or has nothing to estimate from.

    """
    with BagReader(path) as bag:
        joints, imu, description = input_topics(bag)
        choice = choose_robot(bag, description, robot, urdf)
        topic = odometry_topic(bag, joints, odometry)
        plan = ReplayPlan(choice.model, choice.config,
                          EstimatorSettings.from_parameters(choice.parameters), IMU_TIMEOUT,
                          TopicChoice(joints, imu), others=False)
        taker = _Taker(bag, choice, joints, topic, rate)
        Replay(plan).run(bag, sink=taker.hear, on_estimate=taker.take, progress=progress)
    if not taker.snapshots:
        raise BagError(f'{path}: nothing could be estimated from its joint states; '
                       '"legged-dynamics analyze" says why')
    return RecordedView(choice, taker.snapshots)


class _Taker:
    """Keeps snapshots while a bag is replayed."""

    def __init__(self, bag: BagReader, choice: RobotChoice, joints: str, odometry: str,
                 rate: float):
        self.snapshots: list[Snapshot] = []
        self._bag, self._topics, self._period = bag, (joints, odometry), 1e9 / rate
        self._newest: dict[str, BagMessage] = {}
        model = choice.config.apply_to(choice.model)
        self._read = SensorReader(model.joint_names, choice.config.sensors,
                                  choice.config.spare(model), model.mimics)
        self._due = -np.inf

    def hear(self, message: BagMessage) -> None:
        """Remember what a snapshot may need."""
        if message.topic in self._topics:
            self._newest[message.topic] = message

    def take(self, reaction: GroundReaction, _receipt_ns: int) -> None:
        """Keep a snapshot when one is due."""
        ns = reaction.latest_ns
        # A stamp far below the one due means that time was set back.
        if self._due - 2e9 < ns < self._due:
            return
        self._due = ns + self._period
        sample = self._read.joints(self._bag.decode(self._newest[self._topics[0]]))
        rotation, base = reaction.base_rotation, None
        if self._topics[1] in self._newest:
            rotation, base = pose_of(self._bag.decode(self._newest[self._topics[1]]))
        self.snapshots.append(Snapshot(ns, sample.position, sample.effort, rotation, base,
                                       Forces.of(reaction)))


def pose_of(odometry: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return R_WB, (3, 3), and p_WB, (3,) [m], of a nav_msgs/Odometry."""
    p, q = odometry.pose.pose.position, odometry.pose.pose.orientation
    return rotation_from_quaternion(np.array([q.x, q.y, q.z, q.w])), np.array([p.x, p.y, p.z])


class Player:
    """
    Shows a recording, with a slider over its time.

    Parameters
    ----------
    show : Show
    recorded : RecordedView

    """

    def __init__(self, show: Show, recorded: RecordedView):
        self._show, self._snapshots, self._time = show, recorded.snapshots, recorded.time
        end = float(self._time[-1])
        gui = show.server.gui
        self.slider = gui.add_slider('time [s]', 0.0, max(end, 1e-3), 0.01, 0.0, order=-2.0)
        self.playing = gui.add_checkbox('play', True, order=-1.0)
        self.speed = gui.add_slider('speed', 0.1, 2.0, 0.1, 1.0, order=-0.5)
        self._drawn = -1

    def advance(self, seconds: float) -> None:
        """Show what is due after that much wall time; at the end it starts again."""
        at, end = float(self.slider.value), float(self._time[-1])
        if self.playing.value and end > 0.0:
            at = at + seconds * float(self.speed.value)
            self.slider.value = at = at if at <= end else 0.0
        index = max(int(np.searchsorted(self._time, at, side='right')) - 1, 0)
        if index != self._drawn:
            self._show.draw(self._snapshots[index])
            self._drawn = index


def play(show: Show, recorded: RecordedView, rate: float,
         going: Callable[[], bool] = lambda: True) -> None:
    """Show a recording again and again, at a rate of pictures [Hz]."""
    player, pace, last = Player(show, recorded), Pace(rate, time.monotonic, time.sleep), None
    while going():
        now = time.monotonic()
        player.advance(0.0 if last is None else now - last)
        last = now
        pace.wait()
