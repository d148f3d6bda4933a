# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages to arrays and back, and every fault that a message can have."""
import math

import numpy as np
import pytest
from rosbags.typesys import Stores, get_typestore

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.joint_order import Mimics
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.conversions.markers import MarkerMaker, reaction_markers, state_markers
from legged_dynamics.ros.conversions.reading import TrajectoryReader
from legged_dynamics.ros.middleware.cdr import deserialize, serialize
from legged_dynamics.ros.middleware.parameters import StandaloneDialect

DIALECT = StandaloneDialect()
STORE = get_typestore(Stores.ROS2_JAZZY)
JOINTS = ('hip', 'knee', 'ankle')
MARKER = DIALECT.message('visualization_msgs/msg/Marker')


def joint_message(names=JOINTS, **fields):
    values = {'position': [1.0, 2.0, 3.0], 'velocity': [4.0, 5.0, 6.0],
              'effort': [7.0, 8.0, 9.0], **fields}
    return convert.joint_state(DIALECT, 5_000_000_007, names, **values)


def as_ours(message):
    return deserialize(serialize(message), message.ros_type)


def as_rosbags(message):
    return STORE.deserialize_cdr(serialize(message), message.ros_type)


def as_built(message):
    return message


@pytest.mark.parametrize('passed_on', [as_built, as_ours, as_rosbags])
def test_joints_are_matched_by_name(passed_on):
    message = joint_message(names=('ankle', 'extra', 'hip', 'knee'),
                            position=np.array([3.0, math.nan, 1.0, 2.0]),
                            velocity=(6.0, math.nan, 4.0, 5.0), effort=[9.0, 0.0, 7.0, 8.0])
    read = convert.JointStateReader(JOINTS)
    for order in (message, joint_message(), message):
        sample = read(passed_on(order))
        assert sample.stamp_ns == 5_000_000_007
        assert sample.position.tolist() == [1.0, 2.0, 3.0]
        assert sample.velocity.tolist() == [4.0, 5.0, 6.0]
        assert sample.effort.tolist() == [7.0, 8.0, 9.0]


def test_a_sample_does_not_share_memory_with_its_message():
    message = joint_message()
    sample = convert.JointStateReader(JOINTS)(message)
    message.position[0] = 99.0
    assert sample.position[0] == 1.0


def test_effort_may_be_absent_or_partly_unknown():
    read = convert.JointStateReader(JOINTS)
    assert read(joint_message(effort=[])).effort is None
    effort = read(joint_message(effort=[1.0, math.nan, math.inf])).effort
    assert effort[0] == 1.0
    assert np.isnan(effort[1:]).all()
    assert read(joint_message(effort=[math.nan] * 3)).effort.shape == (3,)


def test_joints_that_may_lack_stand_where_it_is_stated_and_followers_follow():
    mimics = Mimics(('ankle',), *(np.array([k]) for k in (2, 1, 2, 1)), np.array([-2.0]),
                    np.array([0.5]), 3)
    read = convert.JointStateReader(JOINTS, {'hip': 0.25}, mimics)
    for names, values in ((('knee',), [2.0]), (('knee', 'ankle'), [2.0, 99.0])):
        sample = read(joint_message(names, position=values, velocity=values, effort=values))
        assert sample.position.tolist() == [0.25, 2.0, -3.5]
        assert sample.velocity.tolist() == [0.0, 2.0, -4.0]
        assert np.isnan(sample.effort[[0, 2]]).all() and sample.effort[1] == 2.0
        assert read.assumed == ('hip',)
    whole = read(joint_message())
    assert whole.position.tolist() == [1.0, 2.0, -3.5] and read.assumed == ()
    with pytest.raises(MeasurementError, match='knee is missing'):
        read(joint_message(('hip',), position=[1.0], velocity=[1.0], effort=[]))


@pytest.mark.parametrize(('fields', 'text'), [
    ({'names': ('hip', 'ankle'), 'position': [1.0, 3.0], 'velocity': [4.0, 6.0], 'effort': []},
     'knee is missing; the message has hip, ankle'),
    ({'names': ()}, 'hip, knee, ankle are missing; the message has no joints'),
    ({'names': ('hip', 'knee', 'knee')}, 'knee is named more than once'),
    ({'position': [1.0, 2.0]}, 'expected 3 values of position, one per name, got 2'),
    ({'velocity': []}, 'expected 3 values of velocity, one per name, got 0'),
    ({'effort': [1.0]}, 'expected 3 values of effort, one per name, got 1'),
    ({'position': [1.0, math.nan, 3.0]}, 'position is not finite: knee = nan'),
    ({'velocity': [math.inf, 5.0, math.nan]}, 'velocity is not finite: hip = inf, ankle = nan'),
])
def test_joint_faults_are_named(fields, text):
    read = convert.JointStateReader(JOINTS)
    with pytest.raises(MeasurementError) as caught:
        read(joint_message(**fields))
    assert text in str(caught.value)
    # and the reader is as good as new
    assert read(joint_message()).position.tolist() == [1.0, 2.0, 3.0]


def test_huge_but_finite_values_are_no_fault():
    sample = convert.JointStateReader(JOINTS)(joint_message(position=[1e200, -1e200, 0.0]))
    assert sample.position.tolist() == [1e200, -1e200, 0.0]


def imu_message(**fields):
    values = {'angular_velocity': (0.1, 0.2, 0.3), 'linear_acceleration': (0.0, 0.0, 9.81),
              'orientation': (0.0, 0.0, 0.6, 0.8), **fields}
    return convert.imu(DIALECT, 1_500_000_000, 'imu_link', **values)


@pytest.mark.parametrize('passed_on', [as_built, as_ours, as_rosbags])
def test_imu(passed_on):
    message = imu_message(variances=(0.1, 0.2, 0.3))
    sample = convert.read_imu(passed_on(message))
    assert sample.stamp_ns == 1_500_000_000
    assert sample.angular_velocity.tolist() == [0.1, 0.2, 0.3]
    assert sample.linear_acceleration.tolist() == [0.0, 0.0, 9.81]
    assert np.allclose(sample.orientation, [0.0, 0.0, 0.6, 0.8], atol=1e-15)
    assert as_ours(message).linear_acceleration_covariance[8] == 0.3
    assert convert.read_imu(passed_on(imu_message(orientation=None))).orientation is None


def test_a_covariance_of_zero_means_unknown_not_absent():
    assert convert.read_imu(imu_message(variances=(0.0, 0.0, 0.0))).orientation is not None


@pytest.mark.parametrize(('fields', 'text'), [
    ({'angular_velocity': (0.0, math.nan, 0.0)}, 'angular_velocity is not finite: [0.0, nan'),
    ({'linear_acceleration': (0.0, 0.0, math.inf)}, 'linear_acceleration is not finite'),
    ({'orientation': (0.0, 0.0, 0.0, 0.0)}, 'length 0; an IMU without orientation sets'),
    ({'orientation': (math.nan, 0.0, 0.0, 1.0)}, 'expected an orientation of length 1'),
    ({'variances': (0.0, -1.0, 0.0)}, 'does not measure angular_velocity'),
    ({'variances': (0.0, 0.0, -1.0)}, 'does not measure linear_acceleration'),
])
def test_imu_faults_are_named(fields, text):
    with pytest.raises(MeasurementError) as caught:
        convert.read_imu(imu_message(**fields))
    assert text in str(caught.value)


def test_command_faults_are_named():
    message = convert.command(DIALECT, np.array([1.0, 2.0, 3.0]))
    assert convert.read_command(as_ours(message), JOINTS).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(MeasurementError, match='expected 3 values.*got 2'):
        convert.read_command(convert.command(DIALECT, [1.0, 2.0]), JOINTS)
    with pytest.raises(MeasurementError, match='knee is not finite'):
        convert.read_command(convert.command(DIALECT, [1.0, math.nan, 2.0]), JOINTS)


@pytest.mark.parametrize('ns', [0, 1, 999_999_999, 1_000_000_000, 1_795_226_184_748_434_001])
def test_stamps_are_exact(ns):
    assert convert.stamp_ns(convert.time_message(DIALECT, ns)) == ns


def test_durations():
    assert convert.stamp_ns(convert.duration_message(DIALECT, 0.2)) == 200_000_000
    before = convert.duration_message(DIALECT, -0.25)
    assert (before.sec, before.nanosec) == (-1, 750_000_000)


@pytest.mark.parametrize('wrench', [np.arange(1.0, 7.0), [1, 2, 3, 4, 5, 6]])
def test_wrench(wrench):
    stamp, values = convert.read_wrench(as_ours(
        convert.wrench_stamped(DIALECT, 42, 'LF_FOOT', wrench)))
    assert stamp == 42
    assert values.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_small_messages():
    assert as_ours(convert.boolean(DIALECT, np.True_)).data is True
    assert as_ours(convert.float64(DIALECT, np.float32(0.5))).data == 0.5
    assert as_ours(convert.string(DIALECT, '<robot/>')).data == '<robot/>'
    assert convert.stamp_ns(as_ours(convert.clock(DIALECT, 7)).clock) == 7
    place = as_ours(convert.point_stamped(DIALECT, 3, 'base', np.array([1.0, 2.0, 3.0])))
    assert (place.header.frame_id, place.point.z) == ('base', 3.0)
    odom = as_ours(convert.odometry(DIALECT, 9, 'world', 'base', (1, 2, 3), (0, 0, 0, 1),
                                    (4, 5, 6), (7, 8, 9)))
    assert (odom.child_frame_id, odom.pose.pose.position.y) == ('base', 2.0)
    assert (odom.twist.twist.linear.x, odom.twist.twist.angular.z) == (4.0, 9.0)


def test_diagnostics():
    status = convert.diagnostic_status(DIALECT, 'WARN', 'estimator', 'IMU is late',
                                       {'age [s]': 0.123456789, 'joints': 12})
    message = convert.diagnostics(DIALECT, 11, [status])
    for passed_on in (as_ours, as_rosbags):
        read = passed_on(message).status[0]
        assert convert.diagnostic_level(read) == 1
        assert read.message == 'IMU is late'
        assert [(pair.key, pair.value) for pair in read.values] == [
            ('age [s]', '0.123457'), ('joints', '12')]


FEET = ('LF', 'RF', 'LH', 'RH')
POINTS = np.array([[0.3, 0.2, -0.5], [0.3, -0.2, -0.5], [-0.3, 0.2, -0.5], [-0.3, -0.2, -0.5]])
FORCES = np.array([[0.0, 0.0, 100.0], [0.0, 0.0, 50.0], [30.0, 40.0, 0.0], [0.0, 0.0, 10.0]])


def markers_by_key(**options):
    contact = options.pop('contact', (True, True, False, True))
    make = MarkerMaker(DIALECT, 5, 'base', options.pop('newtons_per_meter', 500.0), 0.5)
    message = make.array(reaction_markers(make, POINTS, FORCES, contact, **options))
    return {(marker.ns, marker.id): marker for marker in as_ours(message).markers}


def test_an_arrow_stands_on_the_contact_point_along_the_force():
    found = markers_by_key(newtons_per_meter=200.0)
    arrow = found['reaction', 0]
    start, end = arrow.points
    assert (arrow.type, arrow.action) == (MARKER.ARROW, MARKER.ADD)
    assert (start.x, start.y, start.z) == (0.3, 0.2, -0.5)
    assert (end.x, end.y, end.z) == (0.3, 0.2, -0.5 + 100.0 / 200.0)
    assert convert.stamp_ns(arrow.lifetime) == 500_000_000
    assert arrow.header.frame_id == 'base'


def test_a_foot_in_the_air_and_a_missing_pressure_point_are_deleted():
    found = markers_by_key(names=FEET, center_of_pressure=np.full(3, math.nan))
    for key in (('reaction', 2), ('reaction_text', 2), ('center_of_pressure', 0)):
        assert found[key].action == MARKER.DELETE
    assert found['reaction_text', 1].text == 'RF 50 N'
    assert len(found) == 4 + 4 + 2


def test_color_tells_a_guess_from_a_measurement():
    found = markers_by_key(observable=(True, False, True, True))
    assert found['reaction', 0].color != found['reaction', 1].color


def test_support_polygon_is_closed_and_center_of_pressure_shown():
    found = markers_by_key(center_of_pressure=np.array([0.1, 0.0, -0.5]))
    line = found['support_polygon', 0]
    assert len(line.points) == 4
    assert line.points[0] == line.points[-1]
    assert found['center_of_pressure', 0].pose.position.x == 0.1
    airborne = markers_by_key(contact=(False,) * 4)
    assert airborne['support_polygon', 0].action == MARKER.DELETE


def trajectory(points):
    transform = DIALECT.message('geometry_msgs/msg/Transform')
    twist = DIALECT.message('geometry_msgs/msg/Twist')
    point = DIALECT.message('trajectory_msgs/msg/MultiDOFJointTrajectoryPoint')
    made = []
    for seconds, height, speed in points:
        pose, moving = transform(), twist()
        pose.translation.z = height
        moving.linear.x, moving.angular.z = speed, 2.0 * speed
        made.append(point(transforms=[pose], velocities=[moving],
                          time_from_start=convert.duration_message(DIALECT, seconds)))
    return DIALECT.message('trajectory_msgs/msg/MultiDOFJointTrajectory')(
        header=convert.header(DIALECT, 7, 'odom'), points=made)


@pytest.mark.parametrize('passed_on', [as_built, as_ours, as_rosbags])
def test_poses_of_a_body(passed_on):
    half = math.sqrt(0.5)
    pose = convert.read_pose(passed_on(convert.pose_stamped(
        DIALECT, 5, 'odom', [1.0, 2.0, 3.0], [0.0, 0.0, half, half])))
    assert (pose.stamp_ns, pose.frame_id, pose.position.tolist()) == (5, 'odom', [1.0, 2.0, 3.0])
    assert pose.orientation.tolist() == pytest.approx([0.0, 0.0, half, half])
    tf = passed_on(convert.transforms(DIALECT, 9, 'odom', 'base', [1, 2, 3], [0, 0, 0, 1]))
    assert tf.transforms[0].child_frame_id == 'base'
    assert tf.transforms[0].transform.translation.y == 2.0


def test_the_least_margin_of_a_body_colours_what_rviz_shows():
    def colors(**margins):
        made = state_markers(
            MarkerMaker(DIALECT, 5, 'base', 200.0),
            np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9]]),
            np.tile([0.0, 0.0, 100.0], (4, 1)), [True, True, True, False], 'holds', margins)
        found = {(marker.ns, marker.id): marker for marker in made.markers}
        assert found['given', 3].action == MARKER.DELETE
        assert found['given', 1].points[1].z == pytest.approx(0.5)
        assert len(found['support', 0].points) == 4
        assert found['margins', 0].text.startswith('holds')
        worst = found['worst_margin', 0].color
        return worst.r > worst.g, found['given', 0].color.r > found['given', 0].color.g
    assert colors(friction=0.9, effort=0.8, joint=1.0) == (False, False)
    assert colors(friction=0.9, effort=0.0) == (True, False)
    assert colors(friction=0.01, effort=0.8) == (True, True)
    assert colors() == (False, False)


@pytest.mark.parametrize('twists', [0, 1, 2])
@pytest.mark.parametrize('frame', ['', 'odom', 'map_of_1'])       # alignment differs
def test_a_trajectory_is_read_from_its_bytes_a_few_points_at_a_time(twists, frame):
    message = trajectory([(0.1 * k, 0.5 + 0.01 * k, 0.1) for k in range(7)])
    message.header.frame_id, message.joint_names = frame, ['base']
    for k, point in enumerate(message.points):
        point.velocities = point.velocities * (twists if k % 2 else 0)
        point.accelerations = point.velocities[:1]
    reader = TrajectoryReader(serialize(message))
    assert (reader.frame_id, reader.count, reader.left) == (frame, 7, 7)
    read = [reader.read(3) for _ in range(3)]
    assert [len(times) for times, _, _ in read] == [3, 3, 1] and not reader.left
    times, positions, turns = (np.concatenate(parts) for parts in zip(*read))
    assert times == pytest.approx(0.1 * np.arange(7))
    assert positions[:, 2] == pytest.approx(0.5 + 0.01 * np.arange(7))
    assert (turns == [0.0, 0.0, 0.0, 1.0]).all()


@pytest.mark.parametrize(('spoil', 'message'), [
    (lambda m: m.points.clear(), 'expected points'),
    (lambda m: m.points[0].transforms.clear(), 'one transform .* in point 0, got 0'),
    (lambda m: setattr(m.points[1], 'time_from_start', m.points[0].time_from_start), 'to rise'),
    (lambda m: setattr(m.points[0].transforms[0].translation, 'x', math.nan), 'finite'),
    (lambda m: setattr(m.points[0].transforms[0].rotation, 'w', 0.5), 'unit quaternions'),
])
def test_a_broken_trajectory_is_refused(spoil, message):
    broken = trajectory([(0.0, 0.5, 0.0), (1.5, 0.4, 0.1)])
    spoil(broken)
    with pytest.raises(MeasurementError, match=message):
        TrajectoryReader(serialize(broken)).read(10)


def test_a_trajectory_that_was_cut_off_is_refused():
    whole = serialize(trajectory([(0.0, 0.5, 0.0), (1.5, 0.4, 0.1)]))
    for length in range(len(whole)):
        with pytest.raises(MeasurementError):
            TrajectoryReader(whole[:length]).read(10)
