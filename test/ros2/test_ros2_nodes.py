# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The package's nodes on real ROS 2: in lock-step with the simulated robot, parameters, names."""
import numpy as np
import pytest

pytest.importorskip('rclpy', reason='no ROS 2 here (rclpy cannot be imported)')
from rcl_interfaces.msg import ParameterType
from ros_bench import NATIVE
from std_srvs.srv import Trigger

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.resources import robot_files
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.cdr import serialize
from legged_dynamics.ros.middleware.protocol import FASTEST, LONGEST_PAUSE
from legged_dynamics.ros.nodes.foot_force_controller import FootForceController
from legged_dynamics.ros.nodes.ground_reaction_estimator import GroundReactionNode
from legged_dynamics.ros.nodes.reaction_relay import ReactionRelay
from legged_dynamics.ros.nodes.simulated_robot import SimulatedRobotNode
from legged_dynamics.ros.nodes.stickybot_controller import StickybotControllerNode
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.schema import read_parameter_file

pytestmark = pytest.mark.dds
ROBOT, URDF = robot_files('anymal_class')
VALUES = {**read_parameter_file(ROBOT), 'robot_description': str(URDF)}
WALL, WALL_URDF = robot_files('stickybot')
# tf2_msgs is not among the packages of the tests.
WALL_VALUES = {**read_parameter_file(WALL), 'robot_description': str(WALL_URDF),
               'publish_tf': False}
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
WRENCH, STATUS = 'geometry_msgs/msg/WrenchStamped', 'diagnostic_msgs/msg/DiagnosticArray'
WEIGHT = 52.13 * 9.81
ESTIMATOR = '/ground_reaction_estimator'
RELAY_VALUES = {'relay.output': '/filled', 'relay.output_type': 'geometry_msgs/msg/PolygonStamped',
                'relay.fields': ['header = header'], 'relay.names': ['LF_FOOT'],
                'relay.input': 'ground_reaction_estimator/reactions'}
NODES = {GroundReactionNode: VALUES, FootForceController: VALUES, WorkspaceControllerNode: VALUES,
         StickybotControllerNode: WALL_VALUES, SimulatedRobotNode: VALUES,
         ReactionRelay: RELAY_VALUES}


def simulate(bench, answers, values=VALUES, duration=0.4, **more):
    """Return a simulated robot's node in lock-step."""
    return bench.host(SimulatedRobotNode, {
        **values, 'schedule': 'stand 100', 'lock_step.answers': answers, 'lock_step.speed': 0.0,
        'lock_step.duration': duration, **more})


@pytest.mark.parametrize('node', NODES, ids=lambda node: node.default_name)
def test_every_node_goes_round_its_life_twice(bench, node):
    made, name = bench.host(node, NODES[node], start=False), f'/{node.default_name}'
    for _ in range(2):
        for transition, label in ((1, 'inactive'), (3, 'active'), (4, 'inactive'),
                                  (2, 'unconfigured')):
            assert bench.change_state(name, transition), (transition, made.component)
            assert bench.state(name) == label


@pytest.mark.end_to_end
def test_forces_are_estimated_on_ros2(bench):
    wrenches = [bench.listen(WRENCH, f'{ESTIMATOR}/{foot}/wrench', 1000) for foot in FEET]
    whole = bench.listen('sensor_msgs/msg/JointState', f'{ESTIMATOR}/reactions', 1000)
    bench.host(GroundReactionNode, {**VALUES, 'use_sim_time': True})
    bench.heard(f'{ESTIMATOR}/reactions', *(f'{ESTIMATOR}/{foot}/wrench' for foot in FEET))
    robot = simulate(bench, [f'{ESTIMATOR}/answer'], **{'lock_step.listeners': 0})
    bench.until(lambda: robot.component.ended)
    end = robot.component.robot.stamp_ns
    bench.until(lambda: all(seen and convert.stamp_ns(seen[-1].header.stamp) == end
                            for seen in (*wrenches, whole)))
    found = [dict(map(convert.read_wrench, seen)) for seen in wrenches]
    stamps = [end - k * robot.component.robot.period_ns for k in range(49, -1, -1)]
    forces = np.array([[at[stamp][:3] for stamp in stamps] for at in found])
    assert np.linalg.norm(forces, axis=2).sum(axis=0) == pytest.approx(WEIGHT, rel=0.1)
    last = dict(zip(whole[-1].name, whole[-1].effort))
    assert [last[f'LF_FOOT/force.{axis}'] for axis in 'xyz'] == forces[0, -1].tolist()
    assert np.isfinite(whole[-1].effort).all() and last['RH_FOOT/contact'] == 1.0


@pytest.mark.parametrize(('node', 'values', 'name', 'keeps'), [
    (WorkspaceControllerNode, VALUES, 'workspace_controller', False),
    (FootForceController, VALUES, 'foot_force_controller', False),
    (StickybotControllerNode, WALL_VALUES, 'stickybot_controller', True)],
    ids=['workspace', 'foot force', 'stickybot'])
def test_a_controller_ends_with_zero_and_a_climber_with_what_holds_it(
        bench, node, values, name, keeps):
    commands = bench.listen('std_msgs/msg/Float64MultiArray', '/effort_controller/commands', 1000)
    bench.host(node, {**values, 'use_sim_time': True})
    bench.heard('/effort_controller/commands')
    robot = simulate(bench, [f'/{name}/answer'], values)
    bench.until(lambda: robot.component.ended)
    assert robot.component.robot.commanded and not robot.component.robot.fallen
    bench.until(lambda: any(np.any(message.data) for message in commands))
    count = len(commands)
    assert bench.change_state(f'/{name}', label='shutdown')
    bench.until(lambda: len(commands) > count and bool(np.any(commands[-1].data)) == keeps)


def test_standing_up_and_sitting_down_are_services(bench):
    node = bench.host(WorkspaceControllerNode, {**VALUES, 'use_sim_time': True})
    answer = bench.ask(Trigger, '/workspace_controller/sit_down')
    assert not answer.success and answer.message == 'the body is not under control'
    robot = simulate(bench, ['/workspace_controller/answer'], duration=0.6)
    bench.until(lambda: node.component.mode() == 'holds')
    node.component.postures.request('stand')   # nothing to wait for: the robot stands
    answer = bench.ask(Trigger, '/workspace_controller/sit_down')
    assert (answer.success, answer.message) == (True, 'sitting down')
    assert node.component.mode() == 'sinks'
    bench.until(lambda: robot.component.ended)


def test_two_robots_in_two_namespaces_do_not_collide(bench):
    seen = bench.listen(STATUS, '/diagnostics')
    for space in ('/left', '/right'):
        bench.host(GroundReactionNode, VALUES, namespace=space)

    def heads():
        return {status.name.split(': ')[0] for array in seen for status in array.status}
    bench.until(lambda: len(heads()) >= 2)
    assert heads() == {f'left{ESTIMATOR}', f'right{ESTIMATOR}'}
    assert {status.hardware_id for array in seen for status in array.status} == {'left', 'right'}


# ---- parameters ------------------------------------------------------------------------------


@pytest.mark.parametrize(('name', 'value', 'why'), [
    ('robot.feet', ['LF_FOOT'], 'is read when the node is configured'),
    ('noise.gyro', 0.1, 'is read when the node is configured'),
    ('input_depth', 7, 'is read when the node is configured'),
    ('markers.rate', -1.0, 'out'), ('markers.rate', 'fast', 'a number'),
    ('no_such', 1, 'declared'), ('autostart', False, 'read-only'), ('use_sim_time', 'yes', '')])
def test_what_would_have_no_effect_or_no_sense_is_refused(bench, name, value, why):
    node = bench.host(GroundReactionNode, VALUES)
    before = dict(node.component.parameters)
    (answer,) = bench.set(ESTIMATOR, **{name.replace('.', '__'): value})
    assert not answer.successful
    assert why == 'out' or why.lower() in answer.reason.lower(), answer.reason
    assert node.component.parameters == before and bench.state(ESTIMATOR) == 'active'


def test_what_acts_at_any_time_acts_and_the_rest_before_configuring(bench):
    node = bench.host(GroundReactionNode, VALUES)
    assert bench.set(ESTIMATOR, markers__rate=5.0)[0].successful
    assert node.component.parameters['markers.rate'] == 5.0
    for transition in (4, 2):
        assert bench.change_state(ESTIMATOR, transition)
    assert bench.set(ESTIMATOR, input_depth=7)[0].successful
    assert bench.change_state(ESTIMATOR, 1)
    assert node.component.parameters['input_depth'] == 7


def test_values_that_do_not_go_together_are_refused_before_configuring(bench):
    node = bench.host(GroundReactionNode, VALUES, start=False)
    (answer,) = bench.set(ESTIMATOR, robot__feet=['LF_FOOT', 'LF_FOOT'])
    assert not answer.successful and answer.reason
    assert node.component.parameters['robot.feet'] == list(FEET)
    assert bench.change_state(ESTIMATOR, 1)


def test_a_descriptor_says_unit_range_and_reason(bench):
    bench.host(GroundReactionNode, VALUES, start=False)
    found = bench.describe(ESTIMATOR, 'markers.rate')
    assert found.type == ParameterType.PARAMETER_DOUBLE and '[Hz]' in found.description
    assert found.floating_point_range[0].to_value == 1000.0


@pytest.mark.parametrize('policy', [('reliability', 'reliable'), ('depth', 777)])
def test_quality_of_service_can_be_overridden(bench, policy):
    name, value = policy
    bench.host(GroundReactionNode, {
        **VALUES, f'qos_overrides./joint_states.subscription.{name}': value})
    bench.until(lambda: len(bench.node.get_subscriptions_info_by_topic('/joint_states')) == 1)
    (found,) = bench.node.get_subscriptions_info_by_topic('/joint_states')
    if name == 'reliability':
        assert found.qos_profile.reliability.name == 'RELIABLE'
    (given,) = bench.get(ESTIMATOR, f'qos_overrides./joint_states.subscription.{name}')
    assert value in (given.string_value, given.integer_value)


def test_durability_can_be_overridden(bench):
    bench.host(GroundReactionNode, {
        **VALUES, 'qos_overrides./joint_states.subscription.durability': 'transient_local',
        'qos_overrides./joint_states.subscription.reliability': 'reliable',
        'qos_overrides./diagnostics.publisher.durability': 'transient_local'})
    bench.until(lambda: bench.node.get_subscriptions_info_by_topic('/joint_states')
                and bench.node.get_publishers_info_by_topic('/diagnostics'))
    found = (*bench.node.get_subscriptions_info_by_topic('/joint_states'),
             *bench.node.get_publishers_info_by_topic('/diagnostics'))
    assert [entry.qos_profile.durability.name for entry in found] == 2 * ['TRANSIENT_LOCAL']


def test_what_is_too_large_is_left_unread_and_told(bench, capfd):
    """A description of 9 MB, before one that is right."""
    hand = bench.publisher('std_msgs/msg/String', '/robot_description', NATIVE.qos.latched)
    node = bench.host(GroundReactionNode, {**VALUES, 'robot_description': ''})
    bench.until(hand.get_subscription_count)
    message, said = NATIVE.message('std_msgs/msg/String'), ''
    hand.publish(message(data='<' * 9_000_000))

    def told():
        nonlocal said
        said += capfd.readouterr().err
        return 'expected at most 8000000' in said
    bench.until(told)
    assert node.component.estimator is None
    hand.publish(message(data=URDF.read_text()))
    bench.until(lambda: node.component.estimator is not None)


def test_a_flood_is_bounded_and_told(bench, capfd):
    node = bench.host(GroundReactionNode, VALUES)
    (taker,) = [source for monitor, source in node.component.input._sources
                if monitor.name == 'imu']
    imu = serialize(convert.imu(node.component.dialect, 1, 'imu', np.zeros(3), np.zeros(3),
                                np.array([0.0, 0.0, 0.0, 1.0]), (1.0, 1.0, 1.0)),
                    'sensor_msgs/msg/Imu')
    taker.bounds._clock = lambda now=taker.bounds._since: now     # all at once
    before = node.component.input.imu.received
    for _ in range(9_000):
        taker.callback(imu)
    assert node.component.input.imu.received - before == round(FASTEST * LONGEST_PAUSE)
    assert 'the rest is left unread' in capfd.readouterr().err


def test_a_second_node_of_the_same_name_is_told(bench, capfd):
    """Both work; the later one says what to do."""
    nodes = [bench.host(GroundReactionNode, VALUES, namespace='/twins') for _ in range(2)]
    said = ''

    def told():
        nonlocal said
        said += capfd.readouterr().err
        return f'2 nodes are called /twins{ESTIMATOR}' in said
    bench.until(told)
    assert all(node.component.configured for node in nodes)


def test_an_override_without_sense_is_told(bench):
    node = bench.host(GroundReactionNode, {
        **VALUES, 'qos_overrides./imu/data.subscription.reliability': 'sometimes'}, start=False)
    assert not bench.change_state(ESTIMATOR, 1)
    with pytest.raises(ConfigurationError, match='sometimes'):
        node.component.configure()


def test_a_latched_description_is_heard_by_who_comes_late(bench):
    hand = bench.publisher('std_msgs/msg/String', '/robot_description', NATIVE.qos.latched)
    hand.publish(NATIVE.message('std_msgs/msg/String')(data=URDF.read_text()))
    node = bench.host(GroundReactionNode, {**VALUES, 'robot_description': ''})
    bench.until(lambda: node.component.estimator is not None)
