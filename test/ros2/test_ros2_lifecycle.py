# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A manager's requests, right and wrong ones, and what a component's failures make of a node."""
import sys
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='no ROS 2 here (rclpy cannot be imported)')

sys.path.insert(0, str(Path(__file__).parent.parent / 'middleware'))
from echo_component import Echo

from legged_dynamics.exceptions import LeggedDynamicsError

pytestmark = pytest.mark.dds

CREATE, CONFIGURE, CLEANUP, ACTIVATE, DEACTIVATE, SHUTDOWN = 0, 1, 2, 3, 4, (5, 6, 7)
VALID = {'unconfigured': {CONFIGURE, 5}, 'inactive': {CLEANUP, ACTIVATE, 6},
         'active': {DEACTIVATE, 7}, 'finalized': set()}
# All that lifecycle_msgs names, those of the machine's own included, and one that nobody names.
ALL = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 30, 40, 50, 60, 61, 62, 99, 255)


class Steps(Echo):
    """Notes its steps, and fails in those it is told to."""

    def __init__(self, node, dialect):
        super().__init__(node, dialect)
        self.steps, self.failing = [], {}

    def step(self, name):
        self.steps.append(name)
        if name in self.failing:
            raise self.failing.pop(name)

    def configure(self):
        self.step('configure')

    def activate(self):
        self.step('activate')

    def deactivate(self):
        self.step('deactivate')

    def cleanup(self):
        self.step('cleanup')

    last_ticks = 0

    def leave(self):
        self.last_ticks -= 1
        return self.last_ticks < 0


def host_in(bench, state):
    node = bench.host(Steps, start=state == 'active')
    if state == 'inactive':
        node.trigger_configure()
    if state == 'finalized':
        node.stop()
    node.component.steps.clear()
    return node


@pytest.mark.parametrize('state', VALID)
def test_no_request_that_is_not_valid_now_does_anything(bench, state):
    node = host_in(bench, state)
    for transition in ALL:
        if transition not in VALID[state]:
            assert not bench.change_state('/echo', transition), transition
            assert bench.state('/echo') == state, transition
    for label in ('fly', 'activate ', 'transition_success'):
        assert not bench.change_state('/echo', label=label)
    assert node.component.steps == []
    if state != 'finalized':    # it is not deaf
        assert bench.change_state('/echo', {'unconfigured': 1, 'inactive': 3, 'active': 4}[state])


def test_who_brings_a_robot_down_stays_active_meanwhile_and_then_goes_by_itself(bench):
    node = host_in(bench, 'active')
    node.component.last_ticks = 10**9
    assert not bench.change_state('/echo', DEACTIVATE) and bench.state('/echo') == 'active'
    node.component.last_ticks = 5
    bench.until(lambda: node.component.steps)
    assert bench.state('/echo') == 'inactive' and node.component.steps == ['deactivate']
    assert bench.change_state('/echo', ACTIVATE)


def test_who_asks_again_is_obeyed_at_once(bench):
    node = host_in(bench, 'active')
    node.component.last_ticks = 10**9
    assert not bench.change_state('/echo', DEACTIVATE)
    assert bench.change_state('/echo', DEACTIVATE) and bench.state('/echo') == 'inactive'


@pytest.mark.parametrize(('state', 'steps'), [
    ('unconfigured', []), ('inactive', ['cleanup']), ('active', ['deactivate', 'cleanup'])])
def test_a_shutdown_goes_through_the_safe_end_from_every_state(bench, state, steps):
    node = host_in(bench, state)
    assert bench.change_state('/echo', label='shutdown')
    assert bench.state('/echo') == 'finalized' and node.component.steps == steps
    node.stop()
    assert node.component.steps == steps


@pytest.mark.parametrize('ends', ['down', 'asked twice', 'signal'])
def test_a_shutdown_of_who_brings_a_robot_down_waits_for_it(bench, ends):
    node = host_in(bench, 'active')
    node.component.last_ticks = 10**9
    if ends == 'asked twice':
        assert not bench.change_state('/echo', DEACTIVATE)
    assert bench.change_state('/echo', label='shutdown') and bench.state('/echo') == 'finalized'
    if ends != 'asked twice':
        assert node.component.steps == []
    if ends == 'down':
        node.component.last_ticks = 5
        bench.until(lambda: node.component.steps)
    elif ends == 'signal':
        node.stop()
    assert node.component.steps == ['deactivate', 'cleanup']
    node.stop()
    assert node.component.steps == ['deactivate', 'cleanup']


@pytest.mark.parametrize('error', [LeggedDynamicsError('cannot'), ZeroDivisionError('defect')])
@pytest.mark.parametrize(('state', 'transition', 'fails', 'after', 'steps'), [
    ('unconfigured', CONFIGURE, 'configure', 'unconfigured', ['configure']),
    ('inactive', ACTIVATE, 'activate', 'inactive', ['activate']),
    ('active', DEACTIVATE, 'deactivate', 'unconfigured', ['deactivate', 'deactivate', 'cleanup']),
    ('inactive', CLEANUP, 'cleanup', 'unconfigured', ['cleanup', 'deactivate', 'cleanup'])])
def test_a_step_that_fails_leaves_a_safe_node_that_can_go_on(bench, state, transition, fails,
                                                             after, steps, error):
    node = host_in(bench, state)
    node.component.failing[fails] = error
    assert not bench.change_state('/echo', transition)
    assert bench.state('/echo') == after and node.component.steps == steps
    assert node.component.configured == (after == 'inactive')
    if after == 'unconfigured':
        assert bench.change_state('/echo', CONFIGURE)
    assert bench.change_state('/echo', ACTIVATE)


def test_it_stays_unconfigured_while_it_is_busy(bench):
    node = host_in(bench, 'unconfigured')
    node.busy = 'compiling'
    assert not bench.change_state('/echo', CONFIGURE)
    assert bench.state('/echo') == 'unconfigured' and node.component.steps == []
    node.busy = ''
    assert bench.change_state('/echo', CONFIGURE)
