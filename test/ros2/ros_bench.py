# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Components on real ROS 2 nodes in this process, and a node of rclpy's own beside them."""
import time
from importlib import import_module

import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters
from rclpy.parameter import Parameter
from tolerances import PATIENCE

from legged_dynamics.ros.middleware.ros2_node import RclpyDialect, Spinner, _ComponentNode

RESEND = 5.0        # s


class NativeDialect(RclpyDialect):
    """rclpy's own message classes: the oracle for ours."""

    @staticmethod
    def message(name):
        package, _, kind = name.partition('/msg/')
        return getattr(import_module(f'{package}.msg'), kind)


NATIVE = NativeDialect()


class Asker:
    """
    Asks services, each through one client.

    A server that has not met a client yet loses its answer: the first request is sent until one
    comes. What would not bear that is asked for something harmless first. Nothing else is ever
    asked twice.

    Parameters
    ----------
    node : rclpy.node.Node
        Whose clients these are.
    until : callable
        Runs callbacks until a condition holds.

    """

    HARMLESS = {ChangeState: {'transition': Transition(label='greet')}}

    def __init__(self, node, until):
        self._node, self._until, self._clients = node, until, {}

    def __call__(self, service, name, **fields):
        """Return a service's answer."""
        if name not in self._clients:
            self._clients[name] = self._node.create_client(service, name)
            self._until(self._clients[name].service_is_ready)
            answer = self._greet(self._clients[name], service.Request(
                **self.HARMLESS.get(service, fields)))
            if service not in self.HARMLESS:
                return answer
        answer = self._clients[name].call_async(service.Request(**fields))
        self._until(answer.done)
        return answer.result()

    def _greet(self, client, request):
        answers, again = [], [0.0]

        def answered():
            if time.monotonic() > again[0]:
                answers.append(client.call_async(request))
                again[0] = time.monotonic() + RESEND
            return any(answer.done() for answer in answers)
        self._until(answered)
        return next(answer.result() for answer in answers if answer.done())


class RosBench:
    """Hosts components; listens, asks and waits as a stranger would."""

    def __init__(self, context):
        self.context = context
        self.spinner = Spinner(context)
        self.nodes = []
        self.node = self._keep(rclpy.create_node('tester', context=context))
        self.ask = Asker(self.node, self.until)

    def _keep(self, node):
        self.spinner.executor.add_node(node)
        self.nodes.append(node)
        return node

    def host(self, component_class, parameters=None, start=True, arguments=(), **options):
        """Return a component's node, active unless told otherwise."""
        node = _ComponentNode(component_class, context=self.context, use_global_arguments=False,
                             parameter_overrides=[Parameter(name, value=value) for name, value
                                                  in (parameters or {}).items() if value != []],
                             cli_args=['--ros-args', *arguments], **options)
        self._keep(node)
        if start:
            assert node.start()
        return node

    def listen(self, kind, topic, qos=100):
        """Return a list of what comes on a topic."""
        seen = []
        self.node.create_subscription(NATIVE.message(kind), topic, seen.append, qos)
        return seen

    def publisher(self, kind, topic, qos=100):
        """Return a publisher of rclpy's own class."""
        return self.node.create_publisher(NATIVE.message(kind), topic, qos)

    def until(self, condition, what=''):
        """Run callbacks until something holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, what
            self.spinner.spin(0.01)

    def heard(self, *topics):
        """Wait until what nodes here publish on topics is heard by somebody."""
        for topic in topics:
            self.until(lambda topic=topic: (found := [
                made for node in self.nodes for made in node.publishers
                if made.topic_name == topic]) and all(
                    made.get_subscription_count() for made in found), topic)

    def change_state(self, node, transition=0, label=''):
        """Ask for a lifecycle transition; return whether it succeeded."""
        request = ChangeState.Request().transition
        request.id, request.label = transition, label
        return self.ask(ChangeState, f'{node}/change_state', transition=request).success

    def state(self, node):
        """Return the label of a node's lifecycle state."""
        return self.ask(GetState, f'{node}/get_state').current_state.label

    def set(self, node, **values):
        """Set parameters ('.' spelled '__'); return the answers."""
        return self.ask(SetParameters, f'{node}/set_parameters', parameters=[
            Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
            for name, value in values.items()]).results

    def get(self, node, *names):
        """Return parameters' messages."""
        return self.ask(GetParameters, f'{node}/get_parameters', names=names).values

    def describe(self, node, name):
        """Return a parameter's descriptor."""
        return self.ask(DescribeParameters, f'{node}/describe_parameters',
                        names=[name]).descriptors[0]

    def close(self):
        """End every node."""
        for node in self.nodes:
            self.spinner.executor.remove_node(node)
            if isinstance(node, _ComponentNode):
                node.stop()
            node.destroy_node()
        del self.ask        # it knows us: only what nobody holds any more leaves the bus
