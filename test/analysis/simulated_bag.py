# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bags of a simulated robot, as its node would have published them; simulated once for all."""
from functools import cache

from robots import CONFIG

from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.simulation import Schedule, SimulatedRobot

ROBOT = CONFIG / 'robots' / 'anymal_class.yaml'
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
START_NS = 1_700_000_000_000_000_000
PERIOD_NS = 2_000_000
DIALECT = StandaloneDialect()
TYPES = {
    '/robot_description': 'std_msgs/msg/String',
    '/joint_states': 'sensor_msgs/msg/JointState',
    '/imu/data': 'sensor_msgs/msg/Imu',
    '/ground_truth/odom': 'nav_msgs/msg/Odometry',
    **{f'/ground_truth/{foot}/wrench': 'geometry_msgs/msg/WrenchStamped' for foot in FEET},
    **{f'/ground_truth/{foot}/contact': 'std_msgs/msg/Bool' for foot in FEET}}


@cache
def walk(schedule='stand 1.2, trot_forward 1.6, stand 1'):
    """Return (urdf, list of (sample, truth)) of a robot on a schedule."""
    plan = Schedule.from_text(schedule)
    robot = SimulatedRobot.from_files(ROBOT, schedule=plan, start_ns=START_NS)
    steps = []
    for _ in range(round(plan.duration * 1e9 / robot.period_ns)):
        robot.step()
        steps.append((robot.read(), robot.truth()))
    return robot.urdf, robot.plant, steps


def messages(steps=None, *, effort=True, orientation=True, recording=None):
    """Yield (topic, receipt, message) in the order of publishing; ``recording`` as of `walk`."""
    urdf, plant, recorded = recording or walk()
    yield '/robot_description', START_NS, convert.string(DIALECT, urdf)
    for s, truth in recorded if steps is None else recorded[:steps]:
        ns, receipt = s.stamp_ns, s.stamp_ns + 300_000
        yield '/imu/data', receipt, convert.imu(
            DIALECT, ns, 'imu_link', s.angular_velocity, s.linear_acceleration,
            s.orientation if orientation else None)
        yield '/joint_states', receipt, convert.joint_state(
            DIALECT, ns, plant.joints, s.position, s.velocity, s.effort if effort else ())
        for i, foot in enumerate(FEET):
            yield f'/ground_truth/{foot}/wrench', receipt, convert.wrench_stamped(
                DIALECT, ns, foot, truth.feet.wrench[i])
            yield f'/ground_truth/{foot}/contact', receipt, convert.boolean(
                DIALECT, truth.feet.contact[i])
        yield '/ground_truth/odom', receipt, convert.odometry(
            DIALECT, ns, 'world', 'base', truth.base_position, truth.base_orientation,
            truth.base_velocity[:3], truth.base_velocity[3:])


def write(path, content, *, without=(), storage='mcap', extra_types=()):
    """Write (topic, receipt, message) into a bag, some topics left out, and return its path."""
    types = {**TYPES, **dict(extra_types)}
    with BagWriter(path, storage) as writer:
        for topic, kind in types.items():
            if not any(topic.startswith(prefix) for prefix in without):
                writer.add_topic(topic, kind, latched=topic == '/robot_description')
        for topic, receipt, message in content:
            if not any(topic.startswith(prefix) for prefix in without):
                writer.write_message(topic, receipt, message)
    return path
