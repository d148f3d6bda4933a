# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real ROS 2 in this process, on a domain of its own on the loopback interface."""
import os

import pytest

from legged_dynamics.ros.middleware.discovery import DomainLease


@pytest.fixture(scope='session')
def environ():
    with DomainLease() as lease:
        # a CYCLONEDDS_URI of the user's keeps ROS 2 itself on the loopback; it must stay
        made = {**lease.environment(), **{key: value for key, value in os.environ.items()
                                          if key == 'CYCLONEDDS_URI'}}
        made.pop('PYTHONWARNINGS', None)
        yield made


@pytest.fixture(scope='session')
def context(environ):
    rclpy = pytest.importorskip('rclpy', reason='no ROS 2 here (rclpy cannot be imported)')
    from rclpy.signals import SignalHandlerOptions
    before = dict(os.environ)
    os.environ.update(environ)
    made = rclpy.Context()
    rclpy.init(context=made, signal_handler_options=SignalHandlerOptions.NO)
    os.environ.clear()
    os.environ.update(before)
    yield made
    rclpy.shutdown(context=made)


@pytest.fixture
def bench(context):
    from ros_bench import RosBench
    made = RosBench(context)
    yield made
    made.close()
