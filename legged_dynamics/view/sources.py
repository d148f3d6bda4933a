# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a robot, from a bag or from the bus, and how they are played."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.estimation import EstimatorSettings, GroundReaction
from legged_dynamics.estimation.measurement import IMU_TIMEOUT
from legged_dynamics.exceptions import BagError, LeggedDynamicsError, MeasurementError
from legged_dynamics.recordings.bags import BagMessage, BagReader
from legged_dynamics.recordings.replay import Replay, ReplayPlan
from legged_dynamics.recordings.robot import RobotChoice, choose_live_robot, choose_robot
from legged_dynamics.recordings.topics import TopicChoice, input_topics, odometry_topic
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions import markers
from legged_dynamics.ros.conversions.reading import SampleReader
from legged_dynamics.ros.middleware.protocol import Component
from legged_dynamics.ros.middleware.runner import run_polled
from legged_dynamics.ros.nodes.description import when_described
from legged_dynamics.ros.nodes.diagnostics import Endpoints
from legged_dynamics.spatial.rotations import rotation_from_quaternion
from legged_dynamics.view.figure import Forces, ForcesReader, Snapshot
from legged_dynamics.view.show import FrameTimer, Show

# -------------------------------------------------------------------------------------------------
# From a bag: the live estimator's replay as snapshots, and a slider over their time.


@dataclass(frozen=True)
class RecordedView:
    """
    A bag, ready to be shown.

    Attributes
    ----------
    robot : RobotChoice
        Robot of the bag.
    snapshots : list of Snapshot
        In the order of time.

    """

    robot: RobotChoice
    snapshots: list[Snapshot]

    @property
    def time(self) -> np.ndarray:
        """(n,) array of the times of the snapshots, from the first one on [s]."""
        stamps = np.array([snapshot.stamp_ns for snapshot in self.snapshots])
        return (stamps - stamps[0]) * 1e-9


def read_view(path: Path, robot: str = '', urdf: str = '', odometry: str = '',
              rate: float = 30.0,
              progress: Callable[[float], None] | None = None) -> RecordedView:
    """
    Replay a bag through the live estimator and keep snapshots at a rate.

    Parameters
    ----------
    path : Path
        Folder or file of the bag.
    robot, urdf : str
        As :func:`legged_dynamics.recordings.robot.choose_robot` has them.
    odometry : str
        Topic with the pose of the base; found by name when empty, and where there is none the
        robot stays on the feet in contact.
    rate : float [Hz]
        Snapshots per second of the bag.
    progress : callable, optional
        Called with the part done, from 0 to 1.

    Returns
    -------
    RecordedView

    Raises
    ------
    LeggedDynamicsError
        When the bag cannot be read, or has nothing to estimate from.

    """
    snapshots: list[Snapshot] = []
    poses: list[BagMessage] = []        # the newest of the base
    with BagReader(path) as bag:
        joints, imu, description = input_topics(bag)
        choice = choose_robot(bag, description, robot, urdf)
        topic = odometry_topic(bag, joints, odometry)
        plan = ReplayPlan(choice.model, choice.config,
                          EstimatorSettings.from_parameters(choice.parameters), IMU_TIMEOUT,
                          TopicChoice(joints, imu), others=False)
        replay = Replay(plan)

        def hear(message: BagMessage) -> None:
            if message.topic == topic:
                poses[:] = [message]

        def take(reaction: GroundReaction, _receipt_ns: int) -> None:
            ns, sample = reaction.latest_ns, replay.newest
            due = snapshots[-1].stamp_ns + 1e9 / rate if snapshots else -np.inf
            # A stamp far below the one due means that time was set back.
            if sample is None or due - 2e9 < ns < due:
                return
            rotation, base = (_pose_of(bag.decode(poses[0])) if poses
                              else (reaction.base_rotation, None))
            snapshots.append(Snapshot(ns, sample.position, sample.effort, rotation, base,
                                      Forces.of(reaction)))
        replay.run(bag, sink=hear, on_estimate=take, progress=progress)
    if not snapshots:
        raise BagError(f'{path}: nothing could be estimated from its joint states; '
                       '"legged-dynamics analyze" says why')
    return RecordedView(choice, snapshots)


def _pose_of(odometry: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return R_WB and p_WB [m] of an Odometry."""
    p, q = odometry.pose.pose.position, odometry.pose.pose.orientation
    return rotation_from_quaternion(np.array([q.x, q.y, q.z, q.w])), np.array([p.x, p.y, p.z])


class Player:
    """
    Shows a recording, with a slider over its time.

    Parameters
    ----------
    show : Show
        Page to show it on.
    recorded : RecordedView
        Recording with at least one snapshot.
    at : float [s]
        Where it begins; above zero it stands still there until it is played.

    """

    def __init__(self, show: Show, recorded: RecordedView, at: float = 0.0):
        self.show, self.snapshots, self.time = show, recorded.snapshots, recorded.time
        self._rows = show.curves(self.snapshots, self.time.tolist())
        end = float(self.time[-1])
        gui = show.server.gui
        self.slider = gui.add_slider('time [s]', 0.0, max(end, 1e-3), 0.01,
                                     min(max(at, 0.0), end), order=-2.0)
        self.playing = gui.add_checkbox('play', at <= 0.0, order=-1.0)
        self.speed = gui.add_slider('speed', 0.1, 2.0, 0.1, 1.0, order=-0.5)
        self._drawn, self._still = -1, False

    def advance(self, seconds: float) -> None:
        """
        Show the snapshot that is due; after the last, the recording starts again.

        Parameters
        ----------
        seconds : float [s]
            Wall time since the last call.

        """
        at, end = float(self.slider.value), float(self.time[-1])
        if self.playing.value and end > 0.0:
            at = at + seconds * float(self.speed.value)
            self.slider.value = at = at if at <= end else 0.0
        index = max(int(np.searchsorted(self.time, at, side='right')) - 1, 0)
        still = not self.playing.value
        # When it is paused the curves catch up with the scene.
        if index != self._drawn or still > self._still:
            self.show.draw(self.snapshots[index], float(self.time[index]), still, self._rows)
        self._drawn, self._still = index, still


def play(show: Show, recorded: RecordedView, rate: float,
         going: Callable[[], bool] = lambda: True, at: float = 0.0) -> None:
    """
    Show a recording repeatedly while ``going()``, from ``at`` [s].

    Above zero it is paused there at first; ``rate`` [Hz]: most pictures a second.
    """
    player, last = Player(show, recorded, at), None
    timer = FrameTimer(rate, time.monotonic, time.sleep)
    while going():
        now = time.monotonic()
        player.advance(0.0 if last is None else now - last)
        last = now
        timer.wait()


# -------------------------------------------------------------------------------------------------
# From the bus.

_ARRAY = 'foot_reactions'
REACTIONS = f'ground_reaction_estimator/{_ARRAY}'
PACKED = 'ground_reaction_estimator/reactions'      # on ROS 2 without legged_dynamics_msgs
_BESIDE = {'external_wrench': 'geometry_msgs/msg/WrenchStamped',
           'external_wrench_stddev': 'geometry_msgs/msg/WrenchStamped',
           'center_of_pressure': 'geometry_msgs/msg/PointStamped'}
# Estimates that are older than the joints by more than this belong to another time.
_STALE_NS = 500_000_000


@dataclass(frozen=True)
class LiveOptions:
    """
    Robot and topics of the live view.

    Attributes
    ----------
    robot : str
        As :func:`legged_dynamics.recordings.robot.choose_robot` has it.
    urdf : str
        Path or XML; empty: the topic ``robot_description``.
    joint_states, imu, reactions : str
        Topics; the usual ones when empty.
    odometry : str
        Topic with the pose of the base; empty: the robot stays on the feet in contact.

    """

    robot: str = ''
    urdf: str = ''
    joint_states: str = ''
    imu: str = ''
    reactions: str = ''
    odometry: str = ''


class ViewNode(Component):
    """
    Keeps the newest joint state, IMU reading, estimate and odometry; publishes nothing.

    Its subscriptions keep one message.

    Attributes
    ----------
    robot : RobotChoice or None
        None until the description has come.
    wrong : str
        Why there is no picture.

    """

    default_name = 'legged_dynamics_view'
    options = LiveOptions()

    def configure(self) -> None:
        """Join the topics."""
        options, qos = type(self).options, self.dialect.qos.best_effort(1)
        self.robot: RobotChoice | None = None
        self.wrong = 'waiting for robot_description'
        self._newest: dict[str, Any] = {}
        self._endpoints = Endpoints(self)
        when_described(self, self._endpoints, options.urdf, self._described)

        def keep(kind: str, topic: str, name: str) -> None:
            self._endpoints.subscription(
                kind, topic, lambda message: self._newest.__setitem__(name, message), qos)
        keep('sensor_msgs/msg/JointState', options.joint_states or 'joint_states', 'joints')
        keep('sensor_msgs/msg/Imu', options.imu or 'imu/data', 'imu')
        topic = options.reactions or (REACTIONS if markers.installed(self.dialect) else PACKED)
        if topic.rpartition('/')[2] == _ARRAY:
            keep(markers.REACTIONS, topic, 'reactions')
            for name, kind in _BESIDE.items():
                keep(kind, topic.removesuffix(_ARRAY) + name, name)
        else:
            keep('sensor_msgs/msg/JointState', topic, 'reactions')
        if options.odometry:
            keep('nav_msgs/msg/Odometry', options.odometry, 'odometry')

    def cleanup(self) -> None:
        """Leave all topics."""
        self._endpoints.close()

    def _described(self, urdf: str) -> None:
        try:
            robot = choose_live_robot(urdf, type(self).options.robot)
        except LeggedDynamicsError as error:
            self.wrong = f'robot_description: {error}'
            return
        self.robot, config = robot, robot.config
        model = config.apply_to(robot.model)
        self._read = SampleReader(robot.model, config)
        self._forces = ForcesReader(tuple(foot.link for foot in config.feet))
        self._mount = model.frame(config.imu_link_in(model))
        self._rotation, self._base = np.eye(3), model.base_link
        self.wrong = 'waiting for joint_states'

    def snapshot(self) -> Snapshot | None:
        """Return the present snapshot; None, and set `wrong`, where too little is known."""
        newest = self._newest
        if self.robot is None or 'joints' not in newest:
            return None
        try:
            joints = self._read.joints(newest['joints'])
            if 'imu' in newest:
                orientation = self._read.imu(newest['imu']).orientation
                # An IMU on a leg, or without orientation, says nothing of the base by itself.
                if orientation is not None and self._mount.body == 0:
                    self._rotation = rotation_from_quaternion(orientation) @ self._mount.pose.R.T
        except MeasurementError as error:
            self.wrong = str(error)
            return None
        self.wrong, base = '', None
        if 'odometry' in newest:
            self._rotation, base = _pose_of(newest['odometry'])
        forces = self._forces(newest['reactions']) if 'reactions' in newest else None
        if forces is not None and abs(forces.stamp_ns - joints.stamp_ns) > _STALE_NS:
            forces = None
        return Snapshot(joints.stamp_ns, joints.position, joints.effort, self._rotation, base,
                        self._with_the_rest(forces))

    def _with_the_rest(self, forces: Forces | None) -> Forces | None:
        """Add push and centre of pressure of the same time, where they are told in base axes."""
        if forces is None:
            return None
        rest = {name: message for name in _BESIDE if (message := self._newest.get(name))
                and message.header.frame_id == self._base and 10 * abs(
                    convert.stamp_ns(message.header.stamp) - forces.stamp_ns) <= _STALE_NS}
        if 'center_of_pressure' in rest:
            at = rest['center_of_pressure'].point
            forces = replace(forces, center_of_pressure=np.array([at.x, at.y, at.z]))
        if len(rest.keys() & {'external_wrench', 'external_wrench_stddev'}) == 2:
            external, deviation = (convert.read_wrench(rest[name])[1]
                                   for name in ('external_wrench', 'external_wrench_stddev'))
            forces = replace(forces, external=external, external_deviation=deviation)
        return forces


def follow(options: LiveOptions, open_show: Callable[[RobotChoice], Show], rate: float,
           say: Callable[[str], None] = print) -> int:
    """Show the robot on the bus until Ctrl-C; return the exit code."""
    node = type('Node', (ViewNode,), {'options': options})
    timer, said = FrameTimer(rate, time.monotonic, time.sleep), ['']
    shows: list[Show] = []

    def work(node: ViewNode) -> None:
        snapshot = node.snapshot()
        if snapshot is not None:
            if not shows and node.robot is not None:
                shows.append(open_show(node.robot))
            shows[0].draw(snapshot)
        elif node.wrong != said[0]:
            said[0] = node.wrong
            say(node.wrong)
        timer.wait()
    return run_polled(node, [], work)
