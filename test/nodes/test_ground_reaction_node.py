# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The estimator's node under everything that goes wrong on a robot, on the in-process bus."""
import math
import os
from dataclasses import replace

import numpy as np
import pytest
from loopback_robot import DIALECT, FEET, NODE, URDF, LoopbackRobot

from legged_dynamics.estimation import GroundReaction
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotModel
from legged_dynamics.model.standing import body_poses, center_of_mass
from legged_dynamics.ros import conversions as convert
from legged_dynamics.spatial.rotations import rotation_from_quaternion

OK, WARN, ERROR, STALE = range(4)
WEIGHT = 52.13 * 9.81


@pytest.fixture
def robot():
    return LoopbackRobot()


def newest(robot):
    return np.array([convert.read_wrench(topic[-1])[1] for topic in robot.wrenches])


def stands(robot):
    """Whether the newest estimate carries the robot, give or take sensor noise."""
    forces = newest(robot)[:, :3]
    return abs(np.linalg.norm(forces, axis=1).sum() - WEIGHT) < 0.2 * WEIGHT


def all_finite(robot):
    return all(np.isfinite(convert.read_wrench(m)[1]).all()
               for topic in robot.wrenches for m in topic)


def test_standing_robot_is_carried_by_its_feet(robot):
    net = robot.watch('geometry_msgs/msg/WrenchStamped', f'{NODE}/net_wrench')
    centre = robot.watch('geometry_msgs/msg/PointStamped', f'{NODE}/center_of_pressure')
    contacts = [robot.watch('std_msgs/msg/Bool', f'{NODE}/{foot}/contact') for foot in FEET]
    robot.run(200)
    assert stands(robot)
    assert all(topic[-1].data for topic in contacts)
    assert abs(convert.read_wrench(net[-1])[1][2] - WEIGHT) < 0.02 * WEIGHT
    assert net[-1].header.frame_id == 'base'
    assert abs(centre[-1].point.x) < 0.05
    for foot, topic in zip(FEET, robot.wrenches):
        assert topic[-1].header.frame_id == foot
    assert robot.status()['estimate'][0] == OK


def test_every_stamp_is_that_of_a_joint_state_and_none_is_missing(robot):
    sent = []
    robot.run(50, joints=lambda m: sent.append(convert.stamp_ns(m.header.stamp)) or m)
    for topic in robot.wrenches:
        assert [convert.stamp_ns(m.header.stamp) for m in topic] == sent[1:]


def test_what_is_lazy_is_published_while_somebody_listens(robot):
    deviation = robot.watch('geometry_msgs/msg/WrenchStamped', f'{NODE}/LF_FOOT/wrench_stddev')
    probability = robot.watch('std_msgs/msg/Float64', f'{NODE}/LF_FOOT/contact_probability')
    robot.run(20)
    _, spread = convert.read_wrench(deviation[-1])
    assert (spread[:3] > 0.5).all()
    assert (spread[:3] < 0.2 * WEIGHT).all()
    assert 0.5 < probability[-1].data <= 1.0


def test_the_base_is_followed_from_the_first_listener_on(robot):
    robot.run(100)
    odometry = robot.watch('nav_msgs/msg/Odometry', f'{NODE}/odom')
    velocity = robot.watch('geometry_msgs/msg/TwistWithCovarianceStamped', f'{NODE}/base_velocity')
    slip = robot.watch('std_msgs/msg/Float64', f'{NODE}/LF_FOOT/slip_probability')
    robot.run(200)
    assert len(odometry) == len(velocity) == len(slip) == 200
    place, speed = odometry[-1].pose, velocity[-1].twist
    # A standing robot: its height over the feet, no speed beyond what is said of it, no slip.
    assert math.hypot(place.pose.position.x, place.pose.position.y) < 0.01
    assert 0.3 < place.pose.position.z < 0.7
    assert odometry[-1].header.frame_id == 'odom'
    assert velocity[-1].header.frame_id == odometry[-1].child_frame_id == 'base'
    deviation = math.sqrt(speed.covariance[0])
    assert 0.0 < deviation < 0.02
    turned = np.sqrt([odometry[-1].pose.covariance[k] for k in (21, 28, 35)])
    turning = np.sqrt([speed.covariance[k] for k in (21, 28, 35)])
    assert ((turned > 1e-5) & (turned < 0.02)).all()
    assert ((turning > 1e-5) & (turning < 0.1)).all()
    speeds = np.array([[one.twist.twist.linear.x, one.twist.twist.linear.y] for one in velocity])
    assert np.sqrt((speeds[50:] ** 2).mean()) < 3.0 * deviation
    assert slip[-1].data < 0.02


def row(message, names='xyz'):
    return np.array([getattr(message, name) for name in names])


def test_the_map_on_request_turns_the_joints_efforts_into_the_feet_s_forces():
    robot = LoopbackRobot(**{'map.rate': 50.0})
    matrices, offsets = (robot.watch('std_msgs/msg/Float64MultiArray', f'{NODE}/force_map/{name}')
                         for name in ('matrix', 'offset'))
    efforts = {}
    robot.run(400, joints=lambda m: efforts.update({tuple(m.name): np.array(m.effort)}) or m)
    assert len(matrices) == len(offsets) == pytest.approx(40, abs=4)    # of 0.8 s
    rows, columns = (part.label.split() for part in matrices[-1].layout.dim)
    assert rows == [f'{foot}.{axis}' for foot in FEET for axis in 'xyz']
    (names, effort), = efforts.items()
    effort = effort[[names.index(name) for name in columns]]
    D = np.array(matrices[-1].data).reshape(len(rows), len(columns))
    force = (np.array(offsets[-1].data) + D @ effort).reshape(-1, 3)
    np.testing.assert_allclose(force.sum(axis=0), [0.0, 0.0, WEIGHT], atol=0.03 * WEIGHT)
    # The estimator's are in the feet's axes.
    np.testing.assert_allclose(np.linalg.norm(force, axis=1),
                               np.linalg.norm(newest(robot)[:, :3], axis=1), atol=0.03 * WEIGHT)


def test_the_whole_body_s_state_is_that_of_a_body_at_rest_on_its_feet():
    robot = LoopbackRobot(whole_body_state=True)
    robot.run(100)
    states = robot.watch('whole_body_state_msgs/msg/WholeBodyState', f'{NODE}/whole_body_state')
    odometry = robot.watch('nav_msgs/msg/Odometry', f'{NODE}/odom')
    pushes = robot.watch('geometry_msgs/msg/WrenchStamped', f'{NODE}/external_wrench')
    robot.run(100)
    assert len(states) == 100
    state, base = states[-1], odometry[-1].pose.pose
    centroidal, mass = state.centroidal, WEIGHT / 9.81
    assert state.header.frame_id == 'odom'
    assert state.time == pytest.approx(convert.stamp_ns(state.header.stamp) * 1e-9, abs=1e-9)
    # The centre of mass of the model, where odometry has the base.
    model = RobotModel.from_urdf(URDF)
    position = np.array([joint.position for joint in state.joints])
    assert [joint.name for joint in state.joints] == list(model.joint_names)
    in_base = center_of_mass(model, body_poses(model, position))
    R = rotation_from_quaternion(row(base.orientation, 'xyzw'))
    np.testing.assert_allclose(row(centroidal.com_position), row(base.position) + R @ in_base,
                               atol=1e-9)
    np.testing.assert_allclose(row(centroidal.momenta.linear),
                               mass * row(centroidal.com_velocity), rtol=1e-3)
    # At rest the ground's forces and moments about the centre of mass are in equilibrium.
    rates = np.mean([[*row(one.centroidal.momenta_rate.linear),
                      *row(one.centroidal.momenta_rate.angular)] for one in states], axis=0)
    np.testing.assert_allclose(rates[:3], 0.0, atol=0.02 * WEIGHT)
    np.testing.assert_allclose(rates[3:], 0.0, atol=0.02 * WEIGHT * 0.5)
    forces = np.array([row(contact.wrench.force) for contact in state.contacts])
    places = np.array([row(contact.pose.position) for contact in state.contacts])
    push = R @ convert.read_wrench(pushes[-1])[1][:3]
    np.testing.assert_allclose(
        forces.sum(axis=0) + push - (0.0, 0.0, WEIGHT), row(centroidal.momenta_rate.linear),
        atol=1e-3 * WEIGHT)
    assert [contact.name for contact in state.contacts] == list(FEET)
    for contact, place in zip(state.contacts, places):
        assert contact.status == contact.ACTIVE
        assert abs(place[2]) < 0.06 and row(contact.surface_normal)[2] > 0.99
        assert np.abs(row(contact.velocity.linear)).max() < 0.1
    assert places[0, 0] > places[2, 0] and places[0, 1] > places[1, 1]     # fore, left


def set_back(message):
    message.header.stamp = convert.time_message(
        DIALECT, convert.stamp_ns(message.header.stamp) - 3600 * 10**9)
    return message


def test_markers_go_on_when_the_clock_of_the_stamps_is_set_back(robot):
    markers = robot.watch('visualization_msgs/msg/MarkerArray', f'{NODE}/markers')
    robot.run(100)
    before = len(robot.wrenches[0])
    robot.run(300, set_back, set_back)
    assert len(robot.wrenches[0]) > before + 100        # the estimate has gone on
    markers.clear()
    robot.run(100, set_back, set_back)
    assert 5 <= len(markers) <= 8


def test_markers_draw_an_arrow_for_each_loaded_foot(robot):
    markers = robot.watch('visualization_msgs/msg/MarkerArray', f'{NODE}/markers')
    robot.run(100)
    assert 5 <= len(markers) <= 8       # 30 Hz for 0.2 s
    arrows = [m for m in markers[-1].markers if m.ns == 'reaction']
    assert len(arrows) == 4
    start, end = arrows[0].points
    assert end.z - start.z == pytest.approx(WEIGHT / 4 / 500.0, rel=0.3)


def test_external_torque_names_its_joints(robot):
    torque = robot.watch('sensor_msgs/msg/JointState', f'{NODE}/external_torque')

    def without_knee(m):
        m.effort[2] = math.nan
        return m
    robot.run(20, joints=without_knee)
    assert 'LF_KFE' not in torque[-1].name
    assert len(torque[-1].name) == len(torque[-1].effort) == 11
    assert np.isfinite(torque[-1].effort).all()


def spoil(field, index, value):
    def change(m):
        values = list(getattr(m, field))
        values[index] = value
        setattr(m, field, values)
        return m
    return change


def drop_joint(m):
    m.name, m.position = m.name[:-1], m.position[:-1]
    m.velocity, m.effort = m.velocity[:-1], m.effort[:-1]
    return m


def shorten(m):
    m.position = m.position[:-2]
    return m


@pytest.mark.parametrize(('change', 'part', 'level', 'message'), [
    (spoil('position', 3, math.nan), 'joint_states', WARN, 'position is not finite: RF_HAA = nan'),
    (spoil('velocity', 0, math.inf), 'joint_states', WARN, 'velocity is not finite'),
    (drop_joint, 'joint_states', WARN, 'RH_KFE is missing'),
    (shorten, 'joint_states', WARN, 'expected 12 values of position, one per name, got 10'),
])
def test_unusable_joint_states_are_named_refused_and_recovered_from(robot, change, part, level,
                                                                    message):
    robot.run(100)
    before = len(robot.wrenches[0])
    robot.run(400, joints=change)
    assert len(robot.wrenches[0]) <= before + 1     # the last good sample waits for its successor
    found = robot.status()
    assert found[part][0] == level
    assert message in found[part][1]
    assert found['estimate'][0] == ERROR
    robot.run(1100)
    assert all_finite(robot)
    assert stands(robot)
    assert {level for level, _ in robot.status().values()} == {OK}


@pytest.mark.parametrize(('change', 'message'), [
    (spoil('effort', 5, math.nan), 'some joints have no effort'),
    (lambda m: setattr(m, 'effort', []) or m, 'no joint effort is measured'),
])
def test_missing_effort_is_said_and_lived_with(robot, change, message):
    robot.run(100)
    robot.run(200, joints=change)
    assert all_finite(robot)
    assert stands(robot)
    level, text = robot.status()['estimate']
    assert (level, message in text) == (WARN, True)


def test_contact_inverse_dynamics_carries_the_weight_whatever_the_motors_say():
    forces = []
    for effort in (1.0, -3.0):
        robot = LoopbackRobot(fusion='base_only')
        robot.run(200, joints=lambda m, effort=effort: scaled(m, effort))
        assert stands(robot)
        forces.append(newest(robot))
    np.testing.assert_array_equal(*forces)


def scaled(message, effort):
    message.effort = [effort * value for value in message.effort]
    return message


def test_reordered_joints_give_the_same_estimate():
    plain, shuffled = LoopbackRobot(), LoopbackRobot()
    order = np.random.default_rng(0).permutation(12)

    def shuffle(m):
        m.name = [m.name[i] for i in order]
        for field in ('position', 'velocity', 'effort'):
            setattr(m, field, [getattr(m, field)[i] for i in order])
        return m
    plain.run(20)
    shuffled.run(20, joints=shuffle)
    np.testing.assert_array_equal(newest(plain), newest(shuffled))


def test_the_imu_stops_and_comes_back(robot):
    robot.run(100)
    before = len(robot.wrenches[0])
    robot.run(600, imu=lambda m: None)
    assert len(robot.wrenches[0]) - before == pytest.approx(590, abs=15)
    assert all_finite(robot)
    assert stands(robot)
    found = robot.status()
    assert found['imu'] == (ERROR, found['imu'][1])
    assert 'nothing received for' in found['imu'][1]
    assert 'no IMU reading' in found['estimate'][1]
    robot.run(1100)
    assert {level for level, _ in robot.status().values()} == {OK}


def test_an_imu_full_of_nan_is_as_good_as_none(robot):
    def nan(m):
        m.angular_velocity.x = math.nan
        return m
    robot.run(400, imu=nan)
    assert all_finite(robot)
    assert stands(robot)
    assert 'angular_velocity is not finite' in robot.status()['imu'][1]


def test_the_simulator_dies_and_starts_again(robot):
    robot.run(100)
    robot.bus.step(3.0)
    found = robot.status()
    assert (found['joint_states'][0], found['imu'][0], found['estimate'][0]) == (ERROR,) * 3
    robot.sent = 0
    robot.run(1100)
    assert stands(robot)
    assert {level for level, _ in robot.status().values()} == {OK}


def test_time_jumps_back(robot):
    robot.run(100)

    def earlier(m):
        m.header.stamp = convert.time_message(DIALECT,
                                              convert.stamp_ns(m.header.stamp) - 900_000_000)
        return m
    before = len(robot.wrenches[0])
    robot.run(100, imu=earlier, joints=earlier)
    assert len(robot.wrenches[0]) - before == pytest.approx(98, abs=3)
    assert 'time jumped back' in robot.status()['estimate'][1]
    assert stands(robot)


def test_the_description_comes_by_parameter_too():
    robot = LoopbackRobot(description='parameter')
    robot.run(20)
    assert stands(robot)


def test_without_a_description_the_node_waits_and_says_so():
    robot = LoopbackRobot(description='none')
    robot.run(50)
    assert not robot.wrenches[0]
    assert robot.status()['estimate'] == (WARN, 'waiting for robot_description')
    robot.describe('<robot name="broken">')
    robot.run(50)
    level, message = robot.status()['estimate']
    assert level == ERROR
    assert 'not a URDF that can be parsed' in message
    robot.describe(robot.urdf)
    robot.run(600)
    assert stands(robot)
    assert robot.status()['estimate'][0] == OK


@pytest.mark.parametrize('text', ['/dev/zero', '{pipe}', '{urdf}', '', 'x' * 100])
def test_a_path_on_the_topic_is_never_opened(tmp_path, text):
    os.mkfifo(tmp_path / 'pipe')            # to open it would wait for ever
    robot = LoopbackRobot(description='none')
    robot.describe(text.format(pipe=tmp_path / 'pipe', urdf=URDF))
    robot.run(100)
    level, message = robot.status()['estimate']
    assert level == ERROR and 'robot_description: robot description: expected the XML' in message
    assert not robot.wrenches[0]


def test_joints_far_from_the_feet_may_be_missing_and_are_said_once():
    head = ('<link name="head"><inertial><mass value="0.5"/><inertia ixx="0.001" iyy="0.001" '
            'izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="neck" '
            'type="revolute"><parent link="base"/><child link="head"/><axis xyz="0 1 0"/>'
            '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>')
    robot = LoopbackRobot(description='none')
    robot.describe(robot.urdf.replace('</robot>', head))
    robot.run(100)
    assert stands(robot)
    assert robot.status()['estimate'][0] == OK      # its effort is not missed either
    told = [record.message for record in robot.bus.logs if 'taken as standing' in record.message]
    assert len(told) == 1 and 'neck at 0' in told[0]


def test_feet_that_are_no_links_are_published_as_frames():
    values = {'robot.feet': ['LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_tip'],
              'robot.foot_parents': ['LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT'],
              'robot.foot_frames': [0.0] * 18 + [0.01, 0.02, 0.03, 0.0, 0.0, 0.0]}
    robot = LoopbackRobot(**values)
    frames = robot.bus.watch('tf2_msgs/msg/TFMessage', '/tf_static', DIALECT.qos.latched)
    wrench = robot.watch('geometry_msgs/msg/WrenchStamped', f'{NODE}/RH_tip/wrench')
    robot.run(20)
    (transform,) = frames[-1].transforms
    assert (transform.header.frame_id, transform.child_frame_id) == ('RH_FOOT', 'RH_tip')
    at = transform.transform.translation
    assert (at.x, at.y, at.z) == (0.01, 0.02, 0.03)
    assert wrench[-1].header.frame_id == 'RH_tip'


def test_a_pushed_link_has_a_frame_where_it_is_pushed():
    robot = LoopbackRobot(**{'external.link': 'LF_THIGH', 'external.point': [0.0, 0.05, -0.1]})
    wrench = robot.watch('geometry_msgs/msg/WrenchStamped', f'{NODE}/external_wrench')
    deviation = robot.watch('geometry_msgs/msg/WrenchStamped', f'{NODE}/external_wrench_stddev')
    frames = robot.bus.watch('tf2_msgs/msg/TFMessage', '/tf_static', DIALECT.qos.latched)
    robot.run(20)
    at = frames[-1].transforms[0]
    assert wrench[-1].header.frame_id == deviation[-1].header.frame_id == at.child_frame_id
    assert at.header.frame_id == 'LF_THIGH' and at.child_frame_id == 'LF_THIGH/external_point'
    place = at.transform.translation
    assert (place.x, place.y, place.z) == (0.0, 0.05, -0.1)
    assert (convert.read_wrench(deviation[-1])[1] > 0.0).all()


def test_a_deactivated_node_is_silent_and_goes_on_afterwards(robot):
    robot.run(50)
    robot.host.component.deactivate()
    before = len(robot.wrenches[0])
    robot.run(50)
    assert len(robot.wrenches[0]) == before
    robot.host.component.activate()
    robot.run(50)
    assert len(robot.wrenches[0]) - before == 49
    robot.host.stop()
    robot.run(10)       # nobody there any more, and nothing breaks


def test_normals_for_other_feet_than_there_are_are_refused():
    with pytest.raises(ConfigurationError, match='expected 12 values, 3 for each of 4 feet'):
        LoopbackRobot(**{'ground.normals': [0.0, 0.0, 1.0]})


def test_a_wrong_parameter_is_refused_by_name():
    from legged_dynamics.exceptions import ConfigurationError
    with pytest.raises(ConfigurationError, match='fusion'):
        LoopbackRobot(fusion='everything')


def test_contact_switches_are_heard_and_wrong_ones_are_named():
    robot = LoopbackRobot(**{'contact.switch_missed': 1e-6})
    probability = robot.watch('std_msgs/msg/Float64', f'{NODE}/LF_FOOT/contact_probability')
    switches = robot.bus.create_node('driver').create_publisher(
        DIALECT.message('sensor_msgs/msg/JointState'), 'foot_switches', DIALECT.qos.reliable(10))

    def say(names, closed):
        switches.publish(convert.joint_state(DIALECT, robot.bus.now_ns, names, closed))
    robot.run(50)
    assert 'foot_switches' not in robot.status()
    before = probability[-1].data
    say(['LF_FOOT'], [0.0])
    robot.run(5)
    assert probability[-1].data < before        # though it bears load: such a switch does not err
    say(['NO_FOOT'], [1.0])
    robot.run(60)
    level, text = robot.status()['foot_switches']
    assert level == WARN and 'got NO_FOOT' in text


def test_a_contact_that_stays_uncertain_is_named(robot, monkeypatch):
    """Without torque, a probability of one half for longer than a moment is a finding."""
    node, uncertain = robot.host.component, [False]

    def probability(reaction):
        told = np.ones(len(reaction.feet))
        told[1] = 0.5 if uncertain[0] else 1.0
        return told

    monkeypatch.setattr(GroundReaction, 'contact_probability', property(probability))
    robot.run(50)

    def run(count):
        robot.run(count, joints=lambda m: replace(m, effort=[]))
        return node._estimate_values()['contact in doubt'], robot.status()['estimate'][1]

    assert run(100)[0] == 'none'
    uncertain[0] = True
    assert run(5)[0] == 'none'          # a landing is no finding
    values, text = run(600)
    assert values == 'RF_FOOT' and 'contact of RF_FOOT is in doubt' in text
    uncertain[0] = False
    assert run(1000)[0] == 'none'


def gazebo_contacts(ns, *collisions):
    kind = DIALECT.message('ros_gz_interfaces/msg/Contacts')
    made = kind(header=convert.header(DIALECT, ns))
    for name in collisions:
        contact = DIALECT.message('ros_gz_interfaces/msg/Contact')()
        contact.collision1.name, contact.collision2.name = name, 'ground::link::collision'
        made.contacts.append(contact)
    return made


def test_contacts_of_a_simulator_name_the_feet_that_touch():
    read = convert.ContactReader(FEET, memory=0.02)
    sample = read(gazebo_contacts(1_000_000_000, 'robot::LF_FOOT::collision',
                                  'robot::RH_SHANK::RH_SHANK_fixed_joint_lump__RH_FOOT_collision'))
    assert sample.closed.tolist() == [1.0, 0.0, 0.0, 1.0] and sample.stamp_ns == 1_000_000_000
    # One that is no longer named is open after a while, and at once another's name counts.
    assert read(gazebo_contacts(1_010_000_000, 'robot::RF_FOOT::collision')).closed.tolist() == [
        1.0, 1.0, 0.0, 1.0]
    assert read(gazebo_contacts(1_025_000_000, 'robot::LH_FOOT_2::c', 'ALH_FOOT')).closed.tolist(
        ) == [0.0, 1.0, 1.0, 0.0]


def test_contacts_of_a_simulator_are_evidence_of_contact():
    def probability(*collisions):
        robot = LoopbackRobot(**{'contacts.topics': ['/contact_sensors'],
                                 'contact.switch_missed': 1e-6})
        heard = robot.watch('std_msgs/msg/Float64', f'{NODE}/LF_FOOT/contact_probability')
        hand = robot.bus.create_node('gazebo').create_publisher(
            DIALECT.message('ros_gz_interfaces/msg/Contacts'), '/contact_sensors', 10)

        def told(message):
            hand.publish(gazebo_contacts(convert.stamp_ns(message.header.stamp), *collisions))
            return message
        robot.run(100, imu=told)
        return heard[-1].data
    assert probability('robot::LF_FOOT::c') > probability('robot::RF_FOOT::c')
