# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The relay into messages that only ROS 2 has classes of, as other packages' are."""
import pytest

pytest.importorskip('rclpy', reason='no ROS 2 here (rclpy cannot be imported)')
from geometry_msgs.msg import PolygonStamped
from ros_bench import NATIVE
from std_msgs.msg import Int16MultiArray

from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.messages import DEFINITIONS
from legged_dynamics.ros.nodes.reaction_relay import ReactionRelay

pytestmark = pytest.mark.dds


@pytest.mark.parametrize(('kind', 'fields', 'what'), [
    (PolygonStamped, ['header = header', 'polygon.points[1].z = effort[{0}/base_force.z]'],
     lambda m: (m.header.stamp.nanosec, m.header.frame_id, [p.z for p in m.polygon.points])),
    (Int16MultiArray, ['data[0] = effort[{0}/base_force.z]', "layout.dim[0].label = 'feet'",
                       'data[1] = effort[{0}/contact]'],
     lambda m: (m.layout.dim[0].label, list(m.data)))])
def test_a_message_of_another_package_is_filled(bench, kind, fields, what):
    name = f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}'
    assert name not in DEFINITIONS
    node = bench.host(ReactionRelay, {
        'relay.input': 'ground_reaction_estimator/reactions', 'relay.output': '/filled',
        'relay.output_type': name, 'relay.fields': fields, 'relay.names': ['LF_FOOT']})
    hand = bench.publisher('sensor_msgs/msg/JointState', '/ground_reaction_estimator/reactions')
    seen = []
    bench.node.create_subscription(kind, '/filled', seen.append, 10)
    bench.until(lambda: hand.get_subscription_count()
                and node.component._publisher.get_subscription_count())
    message = convert.joint_state(NATIVE, 7, ['LF_FOOT/contact', 'LF_FOOT/base_force.z'],
                                  effort=[1.0, 120.75])

    def heard():
        hand.publish(message)
        return seen
    bench.until(heard)
    assert what(seen[0]) == ((7, '', [0.0, 120.75]) if kind is PolygonStamped
                             else ('feet', [121, 1]))
