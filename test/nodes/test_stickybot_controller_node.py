# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The climbing controller's node on the MuJoCo wall: hangs, climbs, recovers, ends safely."""
from types import SimpleNamespace

import numpy as np
import pytest
from loopback_climber import DIALECT, FEET, NODE, NUMBERS, RATES, WRENCH, YAML, LoopbackClimber

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.ros.nodes.stickybot_controller import CHECKS, StickybotControllerNode
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.spatial.rotations import rotation_from_quaternion, rotation_from_rpy

OK, WARN, ERROR = 0, 1, 2
WEIGHT = 0.37 * 9.81


def drop(message):
    return None


def test_hangs_until_told_to_climb_and_stops_with_all_feet_on_the_wall():
    climber = LoopbackClimber()
    rest = climber.watch('sensor_msgs/msg/JointState', f'{NODE}/rest')
    poses = climber.watch('nav_msgs/msg/Odometry', f'{NODE}/odom')
    markers = climber.watch('visualization_msgs/msg/MarkerArray', f'{NODE}/markers')
    wrenches = [climber.watch(WRENCH, f'{NODE}/{foot}/wrench') for foot in FEET]
    contacts = [climber.watch('std_msgs/msg/Bool', f'{NODE}/{foot}/contact') for foot in FEET]
    climber.run(1.0)
    assert abs(climber.height) < 3e-3
    assert all(message.data[0] == 1.0 for message in climber.grips)
    # Hanging, the reduction has made the four forces one.
    sizes = np.linalg.norm(climber.truths[-1].feet.wrench[:, :2], axis=1)
    np.testing.assert_allclose(sizes, WEIGHT / 4, rtol=0.05)
    start, first = climber.height, len(climber.truths)
    climber.set('walk', True)
    climber.run(2.5)
    # Up to speed after half a second.
    assert climber.height - start == pytest.approx(0.04 * 2.0, rel=0.2)
    assert all(climber.status(part)[0] == OK for part in ('control', 'feet', 'wall'))

    truth = {t.stamp_ns: t for t in climber.truths[first:]}
    for i, foot in enumerate(FEET):
        assert wrenches[i][-1].header.frame_id == foot
        errors = [convert.read_wrench(m)[1] - truth[stamp].feet.wrench[i] for m in wrenches[i]
                  if (stamp := convert.stamp_ns(m.header.stamp)) in truth]
        assert np.sqrt(np.mean(np.square(errors)[:, :2])) < 0.02 * WEIGHT
        assert np.sqrt(np.mean(np.square(errors)[:, 2])) < 0.02 * WEIGHT
        assert np.abs(np.array(errors)[:, 3:]).max() < 1e-6     # a point foot takes no moment
        assert 0.5 < np.mean([m.data for m in contacts[i][first:]]) < 0.8
    there = poses[-1].pose.pose
    found = [there.position.x, there.position.y, there.position.z]
    np.testing.assert_allclose(found, climber.truths[-1].base_position, atol=0.004)
    found = [getattr(there.orientation, name) for name in 'xyzw']
    np.testing.assert_allclose(found, climber.truths[-1].base_orientation, atol=0.01)

    assert rest[-1].name == list(climber.robot.plant.joints)
    # The springs' rest positions and rates are the efforts, joint for joint.
    limbs = climber.robot.plant.limbs
    before, last = np.array(rest[-2].position), np.array(rest[-1].position)
    np.testing.assert_allclose(rest[-1].velocity, (last - before) * 250.0, atol=1e-12)
    np.testing.assert_allclose(rest[-1].effort, limbs.efforts(
        (before + last) / 2, np.array(rest[-1].velocity)), atol=1e-12)
    np.testing.assert_allclose(climber.last()[0], rest[-1].effort)
    arrows = [m for m in markers[-1].markers if m.ns == 'reaction' and m.action == 0]
    assert len(arrows) >= 2
    assert arrows[0].points[0].z == pytest.approx(-0.02)
    climber.set('walk', False)
    climber.run(0.7)
    height = climber.height
    climber.run(0.3)
    assert climber.height == pytest.approx(height, abs=2e-4)
    assert climber.robot.feet.attached.all()


@pytest.mark.parametrize('foot', ['right_fore_foot', 'left_hind_foot'])
def test_a_foot_that_lets_go_is_planted_again_and_reported(foot):
    climber = LoopbackClimber(walk=True)
    # Right fore and left hind carry alone from 0.1 s to 0.5 s of a period, then on to 0.6 s.
    climber.run(2.3)
    height, i = climber.height, FEET.index(foot)
    while not climber.robot.feet.attached[i]:
        climber.run(0.02)
    climber.robot.release(foot)
    climber.run(0.3)
    level, text = climber.status('feet')
    assert level == WARN
    assert f'{foot[:-5]} no longer holds, by what the hips and the body show; it is' in text
    lost = [m.data for m in climber.events if 'no longer holds' in m.data]
    assert [foot[:-5] in line for line in lost] == [True]
    after = [m.data for m in climber.events][[m.data for m in climber.events].index(lost[0]):]
    assert any(f'{foot[:-5]} was planted on the wall' in line for line in after)
    climber.run(2.0)
    assert climber.height > height + 0.05
    assert climber.status('feet')[0] == OK


def test_the_plain_gait_is_slowed_to_what_its_pads_hold():
    climber = LoopbackClimber(pads='disc', walk=True, **{'control.reduction': 'off'})
    gait = climber.host.component._controller.gait
    assert 0.02 < gait.amplitude < 0.14
    climber.run(3.0)
    assert not climber.robot.take_notes()
    assert climber.height > 0.03


def test_a_gait_that_no_pad_holds_is_refused():
    climber = LoopbackClimber(pads='directional', walk=True, **{'control.reduction': 'off'})
    climber.run(1.5)
    level, text = climber.status('feet')
    assert level == ERROR
    assert 'hanging still' in text
    assert climber.robot.feet.attached.all()


def test_while_measurements_are_late_the_gait_stands_still_and_then_goes_on():
    climber = LoopbackClimber(pads='directional', walk=True)
    climber.run(1.75)
    assert climber.last()[1].min() == 0.0
    height = climber.height
    for _ in range(3):
        feet = climber.last()[1]
        climber.run(0.04, imu=drop, joints=drop)
        climber.run(0.008)
        np.testing.assert_array_equal(climber.last()[1], feet)
        climber.run(0.4)
    climber.run(1.0)
    assert not climber.robot.take_notes()
    assert climber.height > height + 0.02


def test_measurements_that_come_old_move_no_hip():
    """A gait that answers them would step by where the body was."""
    climber, queues = LoopbackClimber(walk=True), ([], [])

    def later(queue):
        def change(message):
            queue.append(message)
            return queue.pop(0) if len(queue) > 0.15 * RATES['control.rate'] else None
        return change
    climber.run(1.75)
    climber.run(0.2, *map(later, queues))
    count = len(climber.efforts)
    climber.run(0.1, *map(later, queues))
    sent = np.array([message.data for message in climber.efforts[count:]])
    assert len(sent) == 25
    assert np.ptp(sent, axis=0).max() == 0.0


@pytest.mark.parametrize('reduction', ['full', 'turning'])
@pytest.mark.parametrize('at_once', [False, True], ids=['lost', 'at once'])
def test_a_stall_of_a_third_of_a_second_takes_no_foot_off_the_wall(reduction, at_once):
    """Feet as far apart as in a stride squeeze each other where the hips' motors fall silent."""
    climber = LoopbackClimber(pads='directional', walk=True, **{'control.reduction': reduction})
    climber.run(1.75)
    height, waiting = climber.height, []
    for gap in (0.15, 0.3):
        climber.run(gap, imu=waiting.append, joints=waiting.append)
        for message in waiting if at_once else ():
            (climber.imu if hasattr(message, 'angular_velocity') else climber.joints).publish(
                message)
        waiting.clear()
        climber.run(1.0)
    assert not climber.robot.take_notes()
    assert climber.height > height + 0.02


def test_a_robot_off_its_wall_says_so_and_commands_all_feet_to_hold():
    climber = LoopbackClimber(walk=True)
    climber.run(1.75)
    for _ in range(30):
        for foot, on in zip(FEET, climber.robot.feet.attached):
            if on:
                climber.robot.release(foot)
        climber.run(0.004)
    climber.run(0.1)
    assert climber.robot.fallen
    assert any('it has left the wall' in message.data for message in climber.events)
    level, text = climber.status('wall')
    assert level == ERROR
    assert text.startswith('it has left the wall')


@pytest.mark.parametrize(('gravity', 'felt', 'falls'), [
    (9.81, [0.0] * 20, True),
    (9.81, [0.0] * 5 + [9.81] + [0.0] * 5, False),      # two jolts, neither of which lasts
    (1.62, [1.0] * 20, False)])     # on the moon weight is less than a jolt here
def test_who_feels_no_weight_for_a_while_has_left_the_wall(gravity, felt, falls):
    node = LoopbackClimber().host.component
    node._climber = SimpleNamespace(wall=SimpleNamespace(gravity=gravity))
    node._left, node._falling = False, 0.0
    for value in felt:
        node._watch_fall(SimpleNamespace(stamp_ns=0, linear_acceleration=np.array(
            [0.0, value, 0.0])))
    assert node._left == falls
    assert len(felt) * node._period > CHECKS.fall_time


def test_wall_and_body_are_transforms_and_pads_have_margins():
    climber = LoopbackClimber(pads='directional', walk=True)
    frames = climber.watch('tf2_msgs/msg/TFMessage', '/tf')
    margins = [climber.watch('std_msgs/msg/Float64', f'{NODE}/{foot}/margin') for foot in FEET]
    climber.run(1.75)
    wall, body = frames[-1].transforms
    assert [(t.header.frame_id, t.child_frame_id) for t in (wall, body)] == [
        ('world', 'wall'), ('wall', 'body')]
    there = body.transform.translation
    np.testing.assert_allclose([there.x, there.y, there.z], [*climber.robot.state.pose[:2], 0.02],
                               atol=0.004)
    # A foot off the wall uses nothing of its pad.
    off = np.flatnonzero(~climber.robot.feet.attached)
    assert len(off)
    assert all(margins[i][-1].data == pytest.approx(1.0) for i in off)
    assert all(0.0 < margins[i][-1].data < 1.0 for i in np.flatnonzero(
        climber.robot.feet.attached))


def test_pose_of_a_body_that_has_turned():
    climber = LoopbackClimber(**{'stickybot.inclination': 1.2})
    poses = climber.watch('nav_msgs/msg/Odometry', f'{NODE}/odom')
    pose, velocity = np.array([0.1, 0.4, 2.0]), np.array([0.3, -0.2, 0.7])
    climber.host.component._wall._publish_pose(5, pose, velocity)
    climber.bus.spin()
    there, twist = poses[-1].pose.pose, poses[-1].twist.twist
    R_WA, R_AB = rotation_from_rpy([1.2, 0.0, 0.0]), rotation_from_rpy([0.0, 0.0, 2.0])
    np.testing.assert_allclose([there.position.x, there.position.y, there.position.z],
                               R_WA @ [0.1, 0.4, 0.02])
    found = rotation_from_quaternion([getattr(there.orientation, name) for name in 'xyzw'])
    np.testing.assert_allclose(found, R_WA @ R_AB, atol=1e-12)
    np.testing.assert_allclose([twist.linear.x, twist.linear.y, twist.linear.z],
                               R_AB.T @ [0.3, -0.2, 0.0])
    assert twist.angular.z == 0.7


def spoil_effort(message):
    message.effort = [float('nan')] * 12
    return message


def without_orientation(message):
    message.orientation_covariance[0] = -1.0
    return message


@pytest.mark.parametrize('change', [{'joints': spoil_effort}, {'imu': without_orientation}])
def test_climbs_without_measured_efforts_and_without_an_orientation(change):
    climber = LoopbackClimber(walk=True)
    climber.run(2.6, **change)
    assert climber.height > 0.05
    assert not climber.robot.take_notes()
    assert all('no longer' not in message.data for message in climber.events)


@pytest.mark.parametrize('silent', [{'imu': drop}, {'joints': drop}])
def test_silence_leaves_the_robot_hanging_on_all_feet(silent):
    climber = LoopbackClimber(walk=True)
    climber.run(1.75)
    assert not climber.robot.feet.attached.all()
    held = climber.last()[0]
    climber.run(0.08, **silent)
    assert np.abs(climber.last()[0] - held).max() < 1.0
    climber.run(1.2, **silent)
    efforts, grips = climber.last()
    np.testing.assert_allclose(efforts, held, atol=0.1 * np.abs(held).max())
    np.testing.assert_array_equal(grips, 1.0)
    assert climber.robot.feet.attached.all()
    assert climber.status('control')[0] == ERROR
    height = climber.height
    climber.run(3.0)
    assert climber.height > height + 0.04
    assert climber.status('control')[0] == OK


def test_the_last_word_is_the_last_effort_and_hold_on():
    climber = LoopbackClimber(walk=True)
    # Blending in takes 0.5 s, the gait's first pose another 0.5 s.
    climber.run(0.95)
    assert all(min(message.data) == 1.0 for message in climber.grips)
    climber.run(0.8)
    held = climber.last()[0]
    assert climber.last()[1].min() == 0.0
    climber.host.component.deactivate()
    efforts, grips = climber.last()
    np.testing.assert_allclose(efforts, held, atol=0.1 * np.abs(held).max())
    np.testing.assert_array_equal(grips, 1.0)
    count = len(climber.efforts), len(climber.grips)
    climber.run(0.2)
    assert (len(climber.efforts), len(climber.grips)) == count
    climber.host.component.activate()
    climber.run(0.2)
    assert len(climber.efforts) > count[0]


def test_time_set_back_begins_anew():
    climber = LoopbackClimber(noise=False)
    climber.run(0.6)
    climber.robot.delay(-500_000_000)
    climber.run(0.12)
    assert 'before the last sample' in climber.status('joint_states')[1]
    climber.run(0.4)        # its clock goes on from there, and is believed
    assert np.abs(climber.last()[0]).max() > 0.01
    climber.robot.delay(500_000_000)
    climber.run(0.4)
    climber.run(2.6)        # a fault is shown for 2 s
    assert climber.status('control')[0] == OK
    assert np.abs(climber.last()[0]).max() > 0.01


def test_a_wall_that_leans_otherwise_is_told():
    climber = LoopbackClimber(**{'stickybot.inclination': 1.2})
    climber.run(1.2)
    level, text = climber.status('wall')
    assert level == WARN
    assert 'leans by 1.57 rad, not by 1.20' in text


@pytest.mark.parametrize(('change', 'message'), [
    (lambda text: text.replace('"left_fore_hip"', '"port_hip"'),
     "expected the name of a joint, got 'left_fore_hip'"),
    (lambda text: text.replace('mass value="0.29"', 'mass value="0.5"'),
     'expected a robot of 0.370 kg by the parameters stickybot.*, got 0.580 kg'),
    (lambda text: text.replace('effort="2.5"', 'effort="0"'), 'effort limit above zero')])
def test_another_robot_is_refused_and_the_node_waits(change, message):
    urdf = YAML.with_suffix('.urdf').read_text()
    climber = LoopbackClimber(urdf=change(urdf))
    climber.run(0.3)
    assert not climber.efforts
    level, text = climber.status('control')
    assert level == ERROR
    assert message in text
    climber.describe(urdf)
    climber.run(0.2)
    assert climber.efforts


def test_wrong_parameters_are_told_at_once():
    values = {**read_parameter_file(YAML), **RATES}
    bus = LoopbackBus()
    with pytest.raises(ConfigurationError, match=r'gait.pattern: expected one of'):
        bus.host(StickybotControllerNode, parameters={**values, 'gait.pattern': 'trot'})
    with pytest.raises(ConfigurationError, match='stickybot.hip_x: expected 4 values'):
        bus.host(StickybotControllerNode, parameters={**values, 'stickybot.hip_x': [0.1]})


def test_the_simulator_is_the_robot_that_its_parameters_say():
    bus = LoopbackBus()
    values = {**read_parameter_file(YAML), **RATES, 'simulation.fault.foot': 'left_hind_foot',
              'simulation.fault.time': 0.1}
    host = bus.host(SimulatedRobotNode, parameters=values)
    contact = bus.watch('std_msgs/msg/Bool', '/ground_truth/left_hind_foot/contact')
    status = bus.watch('diagnostic_msgs/msg/DiagnosticArray', '/diagnostics')
    node = bus.create_node('controller')
    send = {topic: node.create_publisher(DIALECT.message(NUMBERS), topic, DIALECT.qos.reliable(1))
            for topic in ('effort_controller/commands', 'adhesion_controller/commands')}
    bus.step(0.2)
    assert contact[0].data
    assert not contact[-1].data
    assert any('left_hind no longer holds' in s.message for m in status for s in m.status)
    for hold in ([1, 1, 0, 1], [1, 1, 1, 1]):
        send['effort_controller/commands'].publish(convert.command(DIALECT, np.zeros(12)))
        send['adhesion_controller/commands'].publish(convert.command(DIALECT, hold))
        bus.step(0.02)
    assert contact[-1].data
    send['adhesion_controller/commands'].publish(convert.command(DIALECT, [1.0, 0.0]))
    bus.step(0.15)
    assert any('expected 4 values, one each for left_fore_foot' in s.message
               for m in status for s in m.status)
    assert host.component.parameters['simulation.kind'] == 'climber'


@pytest.mark.parametrize('lost', ['imu', 'joints'])
def test_where_sensors_fall_silent_the_hips_keep_their_efforts_and_the_climb_goes_on(lost):
    climber = LoopbackClimber(pads='directional', walk=True)
    climber.run(1.75)
    before, height = climber.last()[0], climber.height
    climber.run(2.5, **{lost: drop})
    efforts, grips = climber.last()
    assert grips.min() == 1.0
    np.testing.assert_allclose(efforts, before, atol=0.1 * np.abs(before).max())
    assert climber.robot.feet.attached.sum() >= 2
    climber.run(3.0)
    assert not climber.robot.take_notes()
    assert climber.height > height + 0.04
