# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots under the workspace node: on slopes, up and down, along trajectories of any length."""
import numpy as np
import pytest
from grounded_loop import DIALECT, GroundedLoop
from grounds import parameters_of

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.nodes.workspace_controller import WorkspaceControllerNode
from legged_dynamics.safety import GuardState
from legged_dynamics.spatial.rotations import quaternion_from_rotation

pytestmark = pytest.mark.slow


def loop(name='solo_class', ground=None, **settings):
    made = GroundedLoop(WorkspaceControllerNode, *parameters_of(name), ground,
                        **{'stance': 'all', **settings})
    made.run(0.5)
    return made


def trajectory(made, points, step, way=lambda t: np.array([0.0, 0.0, -0.03 * np.sin(t) ** 2])):
    """Return a trajectory of the base about where it is."""
    def message(kind, **values):
        return DIALECT.message(kind)(**values)
    goal = made.node.targets.reference.goal
    x, y, z, w = quaternion_from_rotation(goal.rotation)
    turn = message('geometry_msgs/msg/Quaternion', x=x, y=y, z=z, w=w)
    found = message('trajectory_msgs/msg/MultiDOFJointTrajectory')
    for i in range(points):
        ns = round((i + 1) * step * 1e9)
        place = dict(zip('xyz', (goal.position + way((i + 1) * step)).tolist()))
        found.points.append(message(
            'trajectory_msgs/msg/MultiDOFJointTrajectoryPoint',
            transforms=[message('geometry_msgs/msg/Transform', rotation=turn,
                                translation=message('geometry_msgs/msg/Vector3', **place))],
            time_from_start=message('builtin_interfaces/msg/Duration', sec=ns // 10**9,
                                    nanosec=ns % 10**9)))
    return found


def test_down_to_the_belly_and_up_again():
    """Who lies takes the load off its feet and keeps its legs where they are."""
    made = loop(ground={'belly': 0.08}, stance='detected')
    say = made.publisher('std_msgs/msg/String', 'posture')
    states = made.watch('diagnostic_msgs/msg/DiagnosticStatus', '/workspace_controller/state')
    markers = made.watch('visualization_msgs/msg/MarkerArray',
                         '/workspace_controller/state_markers')
    height, seen = made.robot.truth().base_position[2], set()
    for word, end in (('sit', 'rests'), ('stand', 'holds')):
        made.slide.way[:], made.slide.largest = 0.0, 0.0
        say.publish(convert.string(DIALECT, word))
        for _ in range(60):
            made.run(0.1)
            seen.add(made.node.mode())
            if made.node.mode() == end:
                break
        assert made.node.mode() == end
        assert made.slide.largest < 5e-3
        if word == 'sit':
            made.run(0.2)
            assert made.robot.truth().base_position[2] < 0.4 * height
            assert made.true_forces()[:, 2].sum() < 0.3 * made.weight
    made.run(0.1)
    assert {'sinks', 'lets go', 'loads its feet', 'rises'} <= seen
    assert made.robot.truth().base_position[2] == pytest.approx(height, abs=5e-3)
    assert made.largest_effort() < 0.9
    assert states[-1].message == 'holds' and not made.node.lost
    (text,) = [marker.text for marker in markers[-1].markers if marker.text]
    assert text.splitlines()[0] == 'holds' and 'effort' in text
    values = {value.key: value.value for value in states[-1].values}
    assert 0.0 < float(values['margin: effort']) < 1.0
    assert float(values['z [m]']) == pytest.approx(height, abs=0.01)


def test_who_begins_to_sag_while_it_lets_go_crouches():
    """The 52 kg quadruped touches the ground with its knees first, which do not bear it."""
    made = loop('anymal_class', ground={'height': -0.35})
    made.publisher('std_msgs/msg/String', 'posture').publish(convert.string(DIALECT, 'sit'))
    seen = ['']
    while seen[-1] != 'crouches' and len(seen) < 50:
        made.run(0.1)
        seen.append(made.node.mode())
    assert {'lets go', 'loads its feet'} <= set(seen) and seen[-1] == 'crouches'
    assert made.slide.largest < 5e-3 and made.largest_effort() < 0.9
    assert made.robot.truth().base_position[2] > 0.155


def test_a_robot_that_is_started_where_it_lies_stands_up():
    made = GroundedLoop(WorkspaceControllerNode, *parameters_of('solo_class'),
                        {'height': -0.15, 'belly': 0.08})
    made.run(0.3)
    made.publisher('std_msgs/msg/String', 'posture').publish(convert.string(DIALECT, 'stand'))
    made.run(4.0)
    assert made.node.mode() == 'holds' and made.robot.truth().base_position[2] > 0.2
    assert made.largest_effort() < 0.9


@pytest.mark.parametrize(('way', 'brought_down'), [('zero', False), ('damping', True),
                                                  ('sit', True)])
def test_what_happens_before_it_stops_is_a_setting(way, brought_down):
    """Whatever it is, efforts go through the guard, and the last one is zero."""
    made = loop(stance='detected', **{'safety.stop': way})
    height, steps, states = made.robot.truth().base_position[2], 0, set()
    while not made.host.leave():
        made.run(0.1)
        states.add(made.node.efforts.state)
        steps += 1
        assert steps < 100
    assert (steps > 0) == brought_down and (GuardState.DAMPING in states) == brought_down
    if way == 'sit':            # down to the legs' end under control, and from there by the brake
        assert made.robot.truth().base_position[2] < 0.3 * height and made.largest_effort() < 0.9
    made.host.stop()
    made.run(0.002)
    assert not np.any(made.commands[-1].data)


def test_one_who_is_being_stopped_takes_no_wishes_and_starts_anew_as_ever():
    made = loop(**{'safety.stop': 'sit'})
    assert not made.host.leave()
    made.publisher('std_msgs/msg/String', 'posture').publish(convert.string(DIALECT, 'stand'))
    made.run(0.1)
    assert made.node.targets.monitor.fault == 'the node is being stopped'
    assert made.node.mode() == 'sinks'
    made.node.deactivate()
    made.node.activate()
    made.run(0.1)
    assert made.node.mode() == 'holds' and made.node.efforts.state.obeying


def test_a_posture_that_is_none_is_refused_and_one_who_lies_takes_no_targets():
    made = loop()
    say = made.publisher('std_msgs/msg/String', 'posture')
    say.publish(convert.string(DIALECT, 'jump'))
    made.run(0.01)
    assert 'expected a posture among stand, sit' in made.node.targets.monitor.fault
    say.publish(convert.string(DIALECT, 'damping'))
    made.run(0.1)
    assert made.node.mode() == 'lets go'
    made.go([0.0, 0.0, -0.02])
    made.run(0.01)
    assert 'ask it to stand first' in made.node.targets.monitor.fault


@pytest.mark.parametrize('slope', [(0.0, 0.26), (0.26, 0.0)])
def test_it_holds_and_moves_on_a_slope(slope):
    made = loop(ground={'slope': slope})
    errors = made.run(0.6)
    made.go([0.0, 0.0, -0.03])
    errors = np.vstack([errors, made.run(1.0)])
    assert np.abs(errors[:, :3]).max() < 3e-3
    assert np.degrees(np.linalg.norm(errors[:, 3:], axis=1).max()) < 0.5
    assert made.node.targets.monitor.received == 1 and not made.node.targets.monitor.fault


def test_a_long_trajectory_is_read_a_little_at_a_time_and_followed():
    made = loop()
    targets, looked = made.node.targets, []
    first = targets._limiter.what_ends
    targets._limiter.what_ends = lambda *more: looked.append(made.bus.now_ns) or first(*more)
    made.publisher('trajectory_msgs/msg/MultiDOFJointTrajectory', 'body_trajectory').publish(
        trajectory(made, 1000, 0.002))
    made.run(0.02)
    assert made.node.mode() == 'plans'
    made.run(0.6)
    assert made.node.mode() == 'moves' and not targets.monitor.fault
    assert np.unique(looked, return_counts=True)[1].max() == 1     # one pose a tick, no more
    assert targets.reference.end_ns - made.bus.now_ns < 2.5e9
    errors = made.run(2.0)
    assert np.abs(errors[:, :3]).max() < 3e-3
    lowest = min(targets.reference.at(made.bus.now_ns - k * 20_000_000).position[2]
                 for k in range(100))
    assert targets.reference.goal.position[2] - lowest < 0.03


def test_what_is_too_long_is_refused():
    made = loop()
    made.publisher('trajectory_msgs/msg/MultiDOFJointTrajectory', 'body_trajectory').publish(
        trajectory(made, 20_001, 1e-3))
    made.run(0.01)
    assert 'at most 20000 points' in made.node.targets.monitor.fault
    assert made.node.mode() == 'holds'
