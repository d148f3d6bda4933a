# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot whose controller dies, leaves or gets company, with the watchdog before its motors."""
import re

import numpy as np
import pytest
from fault_bench import REMAP, FaultBench, Nothing, make_watchdog
from loopback_robot import DIALECT, ROBOT, URDF

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.node_registry import NODES
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.parameters import Parameter
from legged_dynamics.ros.nodes.effort_watchdog import LONGEST_WAIT_NS, EffortWatchdogNode
from legged_dynamics.ros.nodes.robot_component import (
    LONGEST_SHUTDOWN_NS,
    SIMULATED_TIME,
    STOPPING,
    Shutdown,
    SteadyClock,
)
from legged_dynamics.safety import WatchdogState
from legged_dynamics.schema import read_parameter_file

OK, WARN, ERROR = 'OK', 'WARN', 'ERROR'


@pytest.fixture(scope='module')
def bench():
    """The body controller behind the watchdog; the robot's motors hear the watchdog alone."""
    made = FaultBench(arguments=REMAP, watchdog=make_watchdog)
    assert made.watchdog.component.watchdog.owner == made.node.efforts.owner
    return made


@pytest.fixture
def standing(bench):
    bench.watchdog.component.deactivate()
    bench.watchdog.component.activate()
    bench.stand()
    bench.run(0.05)
    bench.commands.clear()
    commands = bench.node.efforts.commands
    yield bench
    bench.node.efforts.commands = commands


def status(bench, part):
    return bench.watchdog.component.judge(bench.watchdog.component.common.now())[part]


def test_commands_pass_through_without_a_tick_of_delay(standing):
    standing.run(0.2)
    assert len(standing.commands) in range(98, 103)
    assert standing.stands() and status(standing, 'commands')[0] == OK


def test_joint_states_that_are_not_used_are_named_and_no_others(standing):
    standing.run(0.6)       # until nothing of before is recent
    assert status(standing, 'joint_states')[0] == OK

    def spoil(message):
        message.velocity = [*message.velocity[:4], 1e300, *message.velocity[5:]]
        return message
    standing.joints.change = spoil
    standing.run(0.02)
    level, text = status(standing, 'joint_states')
    assert level == WARN and 'RF_HFE is said to move at 1e+300' in text
    standing.heal()


def test_efforts_are_in_the_order_of_the_robots_joints_and_not_of_its_description():
    values = read_parameter_file(ROBOT)
    names = values['robot.joints'][::-1]
    host = make_watchdog(LoopbackBus(), **{
        'robot.joints': names, 'robot_description': str(URDF),
        'robot.nominal_position': values['robot.nominal_position'][::-1]})
    assert host.component.watchdog.names == tuple(names)


def test_a_controller_that_is_killed_leaves_a_robot_that_sits_down(standing):
    standing.kill()
    state = standing.watchdog.component
    took = standing.run(0.2, lambda: state.watchdog.state.name == 'HOLDING')
    assert took <= 0.06
    level, text = status(standing, 'commands')
    assert level == ERROR and 'workspace_controller@' in text and 'is silent' in text
    standing.run(0.14)
    assert standing.stands()
    speeds = []
    while state.watchdog.state.name != 'LATCHED':
        standing.run(0.02)
        speeds.append(abs(standing.robot.data.qvel[2]))
    # A limp robot hits the ground at 2 m/s.
    assert max(speeds) < 0.8 and standing.robot.data.qpos[2] < 0.3
    assert standing.largest_share_of_limits() <= 1.0
    assert standing.largest_share_of_slew() <= 1.0 + 1e-9
    count = len(standing.commands)
    standing.run(0.1)
    assert len(standing.commands) == count and not standing.commands[-1][1].any()


def test_a_controller_that_is_stopped_for_a_moment_goes_on(standing):
    publish = standing.node.efforts.commands
    standing.kill()
    standing.run(0.15)
    standing.node.efforts.commands = publish
    standing.run(0.3)
    assert standing.stands() and status(standing, 'commands')[0] == OK


def test_a_controller_that_is_told_to_stop_has_the_robot_sit(standing):
    standing.node.deactivate()
    standing.run(0.3)
    assert standing.stands()        # a limp one lies by now
    assert 'has left' in status(standing, 'commands')[1]
    standing.run(4.0, lambda: standing.watchdog.component.watchdog.state.name == 'LATCHED')
    assert standing.robot.data.qpos[2] < 0.3


def test_a_watchdog_that_is_deactivated_ends_the_efforts_that_hardware_would_hold(standing):
    standing.run(0.1)
    assert np.abs(standing.commands[-1][1]).max() > 5.0
    standing.watchdog.component.deactivate()
    standing.bus.spin()
    np.testing.assert_array_equal(standing.commands[-1][1], 0.0)
    count = len(standing.commands)
    standing.run(0.1)
    assert len(standing.commands) == count


@pytest.fixture
def stopped(standing):
    """Everything is asked to stop at once; `end` lets time pass until the watchdog has ended."""
    dog, speeds, order = standing.watchdog, [], []

    def end(seconds, controller=standing.host):
        for _ in range(round(seconds / 0.002)):
            if controller is not None and controller.leave():
                order.append('controller')
                standing.node.deactivate()
                controller = None
            if dog.leave():
                order.append('watchdog')
                dog.component.deactivate()
                standing.bus.spin()
                return order
            standing.run(0.002)
            speeds.append(abs(standing.robot.data.qvel[2]))
        return order
    standing.end, standing.speeds, parameters = end, speeds, standing.node.parameters
    before = parameters['safety.stop']
    yield standing
    parameters['safety.stop'] = before
    dog.component._shutdown.longest_ns = LONGEST_WAIT_NS


@pytest.mark.parametrize('way', ['zero', 'damping', 'sit'])
def test_everything_stopped_at_once_lets_the_robot_down_before_the_last_command(stopped, way):
    stopped.node.parameters['safety.stop'] = way
    assert stopped.end(20.0) == ['controller', 'watchdog']
    # A limp robot hits the ground at 2 m/s.
    assert max(stopped.speeds) < 0.8 and stopped.robot.data.qpos[2] < 0.3
    assert 'has left' in stopped.watchdog.component.watchdog.cause
    assert not stopped.commands[-1][1].any()
    assert stopped.largest_share_of_limits() <= 1.0


def test_a_controller_that_dies_while_everything_is_stopped_is_still_watched(stopped):
    stopped.node.parameters['safety.stop'] = 'sit'
    assert stopped.end(0.3) == [] and status(stopped, 'commands') == (
        WARN, f'{STOPPING}: {WatchdogState.FORWARDING.value}')
    stopped.kill()
    assert stopped.end(20.0, controller=None) == ['watchdog']
    assert max(stopped.speeds) < 0.8 and 'is silent' in stopped.watchdog.component.watchdog.cause
    assert not stopped.commands[-1][1].any()


def test_a_controller_that_nobody_stops_loses_the_motors_to_a_robot_that_sits_down(stopped):
    shutdown = stopped.watchdog.component._shutdown
    assert shutdown.longest_ns > LONGEST_SHUTDOWN_NS
    shutdown.longest_ns = 200_000_000
    assert stopped.end(0.2, controller=None) == [] and stopped.stands()
    assert stopped.end(20.0, controller=None) == ['watchdog']
    assert max(stopped.speeds) < 0.8 and stopped.robot.data.qpos[2] < 0.3
    assert stopped.watchdog.component.watchdog.cause == STOPPING
    assert not stopped.commands[-1][1].any()


def test_launch_does_not_insist_before_the_longest_shutdown_is_over(bench):
    values = bench.watchdog.component.common.parameters
    shutdown = LONGEST_WAIT_NS * 1e-9 + values['watchdog.sit'] + values['safety.damping_duration']
    assert shutdown < NODES['effort_watchdog'].stop_timeout


def test_a_watchdog_whose_motors_nobody_has_ends_at_once(stopped):
    dog = stopped.watchdog
    dog.component.deactivate()
    assert dog.leave()
    stopped.kill()
    dog.component.activate()
    assert dog.leave()


def test_a_second_controller_and_a_flood_are_named_and_the_robot_stands(standing):
    stranger = standing.stranger.create_publisher(
        DIALECT.message('std_msgs/msg/Float64MultiArray'), '/effort_watchdog/commands',
        DIALECT.qos.reliable(1))
    for _ in range(100):
        for k in range(10):         # 5 kHz
            stranger.publish(convert.command(DIALECT, np.full(12, 80.0), 'flood@9.9', k))
        standing.run(0.002)
    level, text = status(standing, 'commands')
    assert level == WARN and 'not passed on: flood@9.9' in text
    assert standing.stands() and standing.largest_share_of_limits() < 0.5


def test_another_description_changes_no_limit_in_force(standing):
    description = standing.stranger.create_publisher(
        DIALECT.message('std_msgs/msg/String'), '/robot_description', DIALECT.qos.latched)
    before = standing.watchdog.component.watchdog
    description.publish(convert.string(DIALECT, URDF.read_text().replace('"80"', '"800"')))
    standing.run(0.1)
    assert standing.watchdog.component.watchdog is before
    assert 'another robot_description came' in status(standing, 'robot_description')[1]
    description.publish(convert.string(DIALECT, URDF.read_text()))
    standing.run(0.01)


def test_settings_that_would_have_no_effect_or_no_sense_are_refused():
    host = LoopbackBus().host(EffortWatchdogNode, parameters={
        key: value for key, value in read_parameter_file(ROBOT).items()
        if key.startswith('robot')})

    def change(**values):
        return host.node.set_parameters_atomically([
            Parameter(name.replace('__', '.'), value) for name, value in values.items()])
    assert 'read when the node is configured' in change(watchdog__deadline=0.1).reason
    host.stop()
    assert 'silence is seen too late' in change(period=0.1).reason
    assert 'expected each joint once' in change(robot__joints=['LF_HAA', 'LF_HAA']).reason
    assert change(period=0.1, watchdog__deadline=0.1).successful
    host.start()
    with pytest.raises(ConfigurationError, match='silence is seen too late'):
        LoopbackBus().host(EffortWatchdogNode, parameters={
            'period': 0.1, 'watchdog.deadline': 0.01})


def test_a_shutdown_does_not_wait_for_time_that_has_ended():
    node, wall = [0], [0.0]
    shutdown = Shutdown(lambda: node[0], 10, lambda: wall[0])
    assert shutdown.begin() and not shutdown.begin() and shutdown.begun
    node[0], wall[0] = 10, 1e3 * SIMULATED_TIME.standstill    # this process was stopped
    assert not shutdown.late() and not shutdown.clock_stopped()
    for k in range(3 * SIMULATED_TIME.calls):               # slow, but it moves
        node[0], wall[0] = 10 + k, wall[0] + 0.9 * SIMULATED_TIME.standstill
        assert not shutdown.clock_stopped()
    assert shutdown.late()
    looks = 1
    while not shutdown.clock_stopped():
        looks, wall[0] = looks + 1, wall[0] + 0.1
    assert looks * 0.1 > SIMULATED_TIME.standstill and looks > SIMULATED_TIME.calls
    shutdown.reset()
    assert not shutdown.begun


def test_each_start_of_a_controller_has_an_identity_of_its_own(bench):
    seen = {bench.node.efforts.owner}
    for _ in range(3):
        bench.node.deactivate()
        bench.node.activate()
        seen.add(bench.node.efforts.owner)
    assert len(seen) == 4
    assert all(re.fullmatch('workspace_controller@[0-9a-f]{16}', name) for name in seen)


def test_what_is_done_and_why_is_published_with_a_stamp(standing):
    heard = {node: standing.bus.watch('diagnostic_msgs/msg/DiagnosticArray', f'/{node}/safety')
             for node in ('effort_watchdog', 'workspace_controller')}
    standing.run(0.3)
    for messages in heard.values():
        assert len(messages) in (2, 3, 4)       # ten times a second
        assert convert.stamp_ns(messages[-1].header.stamp) > standing.bus.now_ns - 150_000_000
    values = {pair.key: pair.value for pair in heard['workspace_controller'][-1].status[0].values}
    assert values['state'] == 'active' and values['identity'] == standing.node.efforts.owner
    standing.kill()
    standing.run(0.3)
    states = [{pair.key: pair.value for pair in message.status[0].values}
              for message in heard['effort_watchdog']]
    assert [state for state in ('forwarding', 'holding', 'sitting')
            if state in {one['state'] for one in states}] == ['forwarding', 'holding', 'sitting']
    assert 'is silent' in states[-1]['cause']


def test_who_publishes_past_the_watchdog_is_named(standing):
    standing.strangers = [standing.stranger.create_publisher(
        DIALECT.message('std_msgs/msg/Float64MultiArray'), '/effort_controller/commands',
        DIALECT.qos.reliable(1))]
    standing.run(0.6)
    assert status(standing, 'motors') == (
        ERROR, 'others publish past the watchdog to the motors: /stranger')
    standing.heal()
    standing.run(0.6)
    assert 'motors' not in standing.watchdog.component.judge(standing.bus.now_ns)


def test_a_watchdog_that_falls_silent_is_named_by_the_controller(standing):
    report = standing.watchdog.component._report
    publisher, report._publisher = report._publisher, Nothing()
    standing.run(0.7)
    level, text = standing.node.judge(standing.bus.now_ns)['watchdog']
    assert level == ERROR and '/effort_watchdog has been silent' in text and 'killed' in text
    report._publisher = publisher
    standing.run(0.2)
    assert standing.node.judge(standing.bus.now_ns)['watchdog'][0] == OK
    standing.watchdog.component.deactivate()
    standing.bus.spin()
    assert 'is not active' in standing.node.judge(standing.bus.now_ns)['watchdog'][1]


def test_a_watchdog_started_anew_takes_over_from_motors_with_torque(standing):
    component, parameters = standing.watchdog.component, (
        standing.watchdog.component.common.parameters)
    before, parameters['watchdog.take_over'] = parameters['watchdog.take_over'], 'always'
    try:
        component.watchdog.reset()      # as a new process: it knows nothing
        component._take_over(component.watchdog)
        standing.run(0.2)               # the controller is still there
        assert component.watchdog.state.name == 'FORWARDING' and standing.stands()
        standing.kill()
        component.watchdog.reset()
        component._take_over(component.watchdog)
        standing.run(0.3)
        assert component.watchdog.state.name == 'HOLDING' and standing.stands()
        speeds = []
        while component.watchdog.state.name != 'LATCHED':
            standing.run(0.02)
            speeds.append(abs(standing.robot.data.qvel[2]))
        assert max(speeds) < 0.8 and not standing.commands[-1][1].any()
    finally:
        parameters['watchdog.take_over'] = before


def test_simulated_time_goes_on_with_the_samples_where_the_clock_topic_is_lost():
    node, ms = LoopbackBus().create_node('node', parameters={'use_sim_time': True}), 10**6
    steady, clock = SteadyClock(node), node.get_clock()
    clock.follow(1000 * ms)
    steady()
    for k in range(1, 101):             # 200 ms without /clock
        steady.heard((1000 + 2 * k) * ms)
        assert steady() == steady.wall() == (1000 + 2 * k) * ms
    steady.heard(10**15)                # a wrong stamp is no time
    assert steady() == 1200 * ms
    for k in range(11):                 # stamps of another clock advance time alike
        steady.heard(10**15 + 2 * k * ms)
    assert steady() == steady.wall() == 1220 * ms
    clock.follow(1300 * ms)
    assert steady() == steady.wall() == 1300 * ms
    clock.follow(5 * ms)                # another simulation
    assert steady.wall() == 5 * ms and steady() == 1300 * ms
    clock.follow(7 * ms)
    assert steady() == 1302 * ms


@pytest.mark.parametrize(('fields', 'j', 'name'), [
    (['position'], 2, 'LF_KFE'), (['velocity'], 4, 'RF_HFE'),
    (['position', 'velocity'], 1, 'LF_HFE')])
def test_one_bad_joint_does_not_drop_the_robot(standing, fields, j, name):
    def spoil(message):
        for field in fields:
            getattr(message, field)[j] = float('nan')
        return message
    standing.joints.change = spoil
    speeds, states = [], set()
    for _ in range(260):
        standing.run(0.02)
        speeds.append(-standing.robot.data.qvel[2])
        states.add(standing.state())
    # A limp robot hits the ground at 2.3 m/s, one whose joints are braked at 1.4.
    assert max(speeds) < 1.0 and name in standing.texts()
    assert 'SITTING' in states and standing.state() == 'LATCHED'
    standing.heal()
