# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node's tick from bytes to bytes, with our message classes and with those of rosbags."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks.bench_estimator import measurements
from benchmarks.timing import microseconds
from legged_dynamics.estimation.estimator import GroundReactionEstimator
from legged_dynamics.estimation.measurement import MeasurementSynchronizer
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cdr import PreparedMessage, deserialize, serialize
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

title = 'Messages (JointState and Imu of ANYmal class in, WrenchStamped out)'

JOINTS, IMU = 'sensor_msgs/msg/JointState', 'sensor_msgs/msg/Imu'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
DIALECT = StandaloneDialect()


class Ours:
    """Our classes and our CDR."""

    def read(self, cdr: bytes, name: str) -> Any:
        """Return the message in some bytes."""
        return deserialize(cdr, name)

    def wrench(self, ns: int, frame: str, wrench: np.ndarray) -> bytes:
        """Return a WrenchStamped's bytes, from scratch."""
        return serialize(convert.wrench_stamped(DIALECT, ns, frame, wrench))


class Rosbags:
    """The classes and the CDR of rosbags' typestore."""

    def __init__(self):
        from rosbags.typesys import Stores, get_typestore
        self.store = get_typestore(Stores.ROS2_JAZZY)
        types = self.store.types
        self._stamped, self._wrench, self._vector, self._header, self._time = (
            types[name] for name in (WRENCH, 'geometry_msgs/msg/Wrench',
                                     'geometry_msgs/msg/Vector3', 'std_msgs/msg/Header',
                                     'builtin_interfaces/msg/Time'))

    def read(self, cdr: bytes, name: str) -> Any:
        """Return the message in some bytes."""
        return self.store.deserialize_cdr(cdr, name)

    def wrench(self, ns: int, frame: str, wrench: np.ndarray) -> bytes:
        """Return a WrenchStamped's bytes, from scratch."""
        fx, fy, fz, mx, my, mz = wrench.tolist()
        sec, nanosec = divmod(ns, 1_000_000_000)
        message = self._stamped(self._header(self._time(sec, nanosec), frame), self._wrench(
            self._vector(fx, fy, fz), self._vector(mx, my, mz)))
        return bytes(self.store.serialize_cdr(message, WRENCH))


class Node:
    """What a node does with a sample: convert, update, and four wrenches out."""

    def __init__(self, cdr: Ours | Rosbags, prepared: bool):
        yaml, urdf = robot_files('anymal_class')
        config, model = RobotConfig.from_yaml(yaml), RobotModel.from_urdf(urdf)
        self._cdr, self._synchronizer = cdr, MeasurementSynchronizer()
        self._estimator = GroundReactionEstimator(model, config)
        self._read = convert.SensorReader(model.joint_names)
        feet = self._estimator.feet
        blank = [convert.wrench_stamped(DIALECT, 0, foot, [0.0] * 6) for foot in feet]
        self._prepared = [PreparedMessage(one) for one in blank] if prepared else None
        self._samples = itertools.cycle(
            (m.stamp_ns,
             serialize(convert.joint_state(DIALECT, m.stamp_ns, model.joint_names, m.position,
                                           m.velocity, m.effort)),
             serialize(convert.imu(DIALECT, m.stamp_ns, '', m.angular_velocity,
                                   m.linear_acceleration, m.orientation)))
            for m in measurements(self._estimator.model, config))

    def tick(self) -> list[bytes]:
        """Take one sample, and return what is published."""
        ns, joints, imu = next(self._samples)
        if not ns:
            self._synchronizer.reset()
            self._estimator.reset()
        pairs = self._synchronizer
        pairs.push_imu(self._read.imu(self._cdr.read(imu, IMU)))
        (measurement,) = pairs.push_joints(self._read.joints(self._cdr.read(joints, JOINTS)))
        reaction = self._estimator.update(measurement)
        if self._prepared is not None:
            return [made(reaction.latest_ns, wrench)
                    for made, wrench in zip(self._prepared, reaction.wrench.tolist())]
        return [self._cdr.wrench(reaction.latest_ns, foot, wrench)
                for foot, wrench in zip(reaction.feet, reaction.wrench)]


def rows() -> list[dict]:
    """Time the parts, and the tick."""
    ours, peer = Ours(), Rosbags()
    rng = np.random.default_rng(0)
    joints = serialize(convert.joint_state(DIALECT, 1, [f'joint_{i}' for i in range(12)],
                                           *rng.normal(size=(3, 12))))
    wrench = rng.normal(size=6)
    assert ours.wrench(7, 'foot', wrench) == peer.wrench(7, 'foot', wrench)
    read = microseconds(*(lambda cdr=cdr: cdr.read(joints, JOINTS) for cdr in (ours, peer)))
    write = microseconds(*(lambda cdr=cdr: cdr.wrench(7, 'foot', wrench) for cdr in (ours, peer)))
    nodes = [Node(ours, True), Node(ours, False), Node(peer, True), Node(peer, False)]
    for node in nodes:
        node.tick()
    tick = microseconds(*(node.tick for node in nodes))
    return [
        {'name': 'JointState of 12 joints out of CDR', 'ours_us': read[0],
         'peer': 'rosbags typestore', 'peer_us': read[1]},
        {'name': 'WrenchStamped built and into CDR', 'ours_us': write[0],
         'peer': 'rosbags typestore', 'peer_us': write[1]},
        {'name': 'tick from bytes to bytes, four wrenches', 'ours_us': tick[1],
         'peer': 'rosbags typestore', 'peer_us': tick[3],
         'note': 'two messages in, `update`, four messages built and serialised'},
        {'name': 'the same, wrenches written into prepared bytes', 'ours_us': tick[0],
         'peer': 'rosbags typestore in', 'peer_us': tick[2], 'note': 'as the node does it'},
    ]
