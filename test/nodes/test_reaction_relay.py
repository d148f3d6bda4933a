# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts and forces in other packages' messages, over the loopback."""
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.exceptions import ConfigurationError, MiddlewareError
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.loopback import LoopbackBus
from legged_dynamics.ros.middleware.messages import DEFINITIONS as TABLE
from legged_dynamics.ros.middleware.messages import define
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.ros.nodes.reaction_relay import ReactionRelay
from legged_dynamics.schema import read_parameter_file

DIALECT = StandaloneDialect()
FEET = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
REACTIONS = '/ground_reaction_estimator/foot_reactions'
PACKED = {'relay.input': 'ground_reaction_estimator/reactions', 'relay.input_type': ''}
STATUS = 'diagnostic_msgs/msg/DiagnosticArray'
MESSAGES = {
    'state_estimator_msgs/msg/ContactDetection':
        'std_msgs/Header header; bool stance_lf; bool stance_rf; bool stance_lh; bool stance_rh',
    'pronto_msgs/msg/QuadrupedStance':
        'std_msgs/Header header; float32 lf; float32 rf; float32 lh; float32 rh',
    'pronto_msgs/msg/QuadrupedForceTorqueSensors':
        'std_msgs/Header header; geometry_msgs/Wrench lf; geometry_msgs/Wrench rf; '
        'geometry_msgs/Wrench lh; geometry_msgs/Wrench rh',
    'champ_msgs/msg/ContactsStamped': 'std_msgs/Header header; bool[] contacts',
    'inekf_msgs/msg/Contact': 'int32 id; bool indicator',
    'inekf_msgs/msg/ContactArray': 'std_msgs/Header header; Contact[] contacts',
    # a driver's state, as the package itself defines it
    **{name: text for name, text in TABLE.items() if name.startswith('unitree_go/msg/')},
}
DEFINITIONS = [f'{name}: {fields}' for name, fields in MESSAGES.items()]
LOW_STATE = 'unitree_go/msg/LowState'


class Bench:
    """A relay with one of the shipped settings, somebody who speaks to it and who listens."""

    def __init__(self, name, **more):
        for entry, fields in MESSAGES.items():
            define(entry, fields)
        self.bus = LoopbackBus()
        self.values = read_parameter_file(CONFIG / 'works_with' / f'{name}.yaml', 'reaction_relay')
        self.values.update(more)
        self.host = self.bus.host(ReactionRelay, parameters={
            **self.values, 'relay.definitions': DEFINITIONS})
        self.seen = self.bus.watch(self.values['relay.output_type'],
                                   f'/{self.values["relay.output"].lstrip("/")}')
        self.status = self.bus.watch(STATUS, '/diagnostics')
        self.node = self.bus.create_node('estimator')
        self.hands = {}

    def say(self, kind, topic, message):
        if topic not in self.hands:
            self.hands[topic] = self.node.create_publisher(DIALECT.message(kind), topic, 10)
        self.hands[topic].publish(message)
        self.bus.spin()

    def react(self, values):
        """Publish reactions, and return what came of them."""
        if self.values.get('relay.input') == PACKED['relay.input']:     # numbers by name
            self.say('sensor_msgs/msg/JointState', f'/{PACKED["relay.input"]}',
                     convert.joint_state(DIALECT, 7_000_000_005, list(values),
                                         effort=np.array(list(values.values()))))
            return self.seen[-1] if self.seen else None
        message = DIALECT.message('legged_dynamics_msgs/msg/FootReactions')(
            header=convert.header(DIALECT, 7_000_000_005, 'base'))
        for foot, (contact, force) in values.items():
            message.feet.append(DIALECT.message('legged_dynamics_msgs/msg/FootReaction')(
                foot=foot, contact=contact, base_force=convert.vector3(DIALECT, force)))
        self.say('legged_dynamics_msgs/msg/FootReactions', REACTIONS, message)
        return self.seen[-1] if self.seen else None

    def complaint(self):
        self.bus.step(0.3)
        return self.status[-1].status[0].message


def reactions(feet=FEET, down=(1, 0, 0, 1), forces=None):
    forces = np.zeros((4, 3)) if forces is None else forces
    return {foot: (bool(flag), force) for foot, flag, force in zip(feet, down, forces)}


SHIPPED = sorted(path.stem for path in (CONFIG / 'works_with').glob('*.yaml'))


@pytest.mark.parametrize('name', SHIPPED)
def test_the_shipped_settings_fill_a_message_of_what_the_estimator_says(name):
    bench = Bench(name)
    if bench.values['relay.input'].endswith('foot_reactions'):
        if bench.values.get('relay.onto'):
            bench.say(LOW_STATE, '/lowstate', DIALECT.message(LOW_STATE)())
        assert bench.react(reactions(bench.values['relay.names'])) is not None


def test_contacts_and_forces_are_state_interfaces_by_foot():
    forces = np.arange(12.0).reshape(4, 3)
    message = Bench('dynamic_joint_state').react(reactions(forces=forces))
    assert message.joint_names == list(FEET)
    for entry, down, force in zip(message.interface_values, (1, 0, 0, 1), forces):
        assert entry.interface_names == ['contact', 'force.x', 'force.y', 'force.z']
        assert list(entry.values) == [down, *force]


def test_the_main_output_of_the_estimator_is_relayed_unless_another_is_stated():
    bench = Bench('muse')
    shipped = {name: value for name, value in bench.values.items()
               if not name.startswith('relay.input')}
    bench.host.stop()
    bench.bus.host(ReactionRelay, parameters={**shipped, 'relay.definitions': DEFINITIONS})
    bench.bus.spin()
    message = bench.react(reactions(bench.values['relay.names'], (0, 1, 0, 0)))
    assert len(bench.seen) == 1 and message.stance_rf


def test_numbers_packed_by_name_can_still_be_relayed():
    bench = Bench('muse', **PACKED, **{'relay.fields': ['stance_rf = effort[{1}/contact]']})
    assert bench.react({'LF_FOOT/contact': 0.0, 'RF_FOOT/contact': 1.0}).stance_rf
    assert bench.react({'RF_FOOT/contact': 0.0, 'LF_FOOT/contact': 1.0}).stance_rf is False


@pytest.mark.parametrize(('name', 'flags'), [
    ('muse', lambda m: [m.stance_lf, m.stance_rf, m.stance_lh, m.stance_rh]),
    ('pronto_stance', lambda m: [m.lf > 0.01, m.rf > 0.01, m.lh > 0.01, m.rh > 0.01]),
    ('champ', lambda m: list(m.contacts)),
    ('invariant_ekf', lambda m: [c.indicator for c in sorted(m.contacts, key=lambda c: c.id)])])
def test_contact_flags_arrive_in_order_with_the_stamp_of_the_joint_state(name, flags):
    bench = Bench(name)
    for down in ((1, 0, 0, 1), (0, 1, 1, 0), (1, 1, 1, 1), (0, 0, 0, 0)):
        message = bench.react(reactions(down=down))
        assert flags(message) == [bool(flag) for flag in down]
        assert convert.stamp_ns(message.header.stamp) == 7_000_000_005
    assert len(bench.seen) == 4


def test_forces_arrive_foot_by_foot():
    forces = np.arange(12.0).reshape(4, 3) - 4.0
    message = Bench('pronto_forces').react(reactions(forces=forces))
    assert [[getattr(getattr(message, leg).force, axis) for axis in 'xyz']
            for leg in ('lf', 'rf', 'lh', 'rh')] == forces.tolist()


def test_names_of_other_feet_are_one_line():
    feet = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
    bench = Bench('champ', **{'relay.names': list(feet)})
    assert bench.react(reactions(feet, (0, 0, 1, 0))).contacts == [False, False, True, False]


def test_a_driver_s_state_is_passed_on_with_forces_in_newtons():
    bench = Bench('unitree_forces')
    feet = bench.values['relay.names']
    forces = np.array([[0, 0, 36.6], [0, 0, 0.4], [0, 0, -0.2], [0, 0, 41.0]])
    assert bench.react(reactions(feet, forces=forces)) is None
    assert 'nothing on /lowstate' in bench.complaint()
    state = DIALECT.message(LOW_STATE)()
    state.tick, state.motor_state[4].q = 77, 0.25
    bench.say(LOW_STATE, '/lowstate', state)
    sent = bench.react(reactions(feet, forces=forces))
    assert list(sent.foot_force) == [37, 0, 0, 41]
    assert (sent.tick, sent.motor_state[4].q, len(sent.motor_state)) == (77, 0.25, 20)


def test_a_driver_s_state_becomes_joint_states_by_name():
    bench = Bench('unitree_joint_states')
    state = DIALECT.message(LOW_STATE)()
    for n, motor in enumerate(state.motor_state):
        motor.q, motor.dq, motor.tau_est = float(n), 0.5 * n, -2.0 * n
    bench.say(LOW_STATE, '/lowstate', state)
    message = bench.seen[0]
    assert message.name[:4] == ['FR_hip_joint', 'FR_thigh_joint', 'FR_calf_joint', 'FL_hip_joint']
    assert message.name[-1] == 'RL_calf_joint' and len(set(message.name)) == 12
    assert list(message.position) == list(range(12))
    assert message.velocity[11] == 5.5 and message.effort[11] == -22.0
    assert convert.stamp_ns(message.header.stamp) == bench.bus.now_ns


def test_a_driver_s_quaternion_begins_with_w():
    bench = Bench('unitree_imu')
    state = DIALECT.message(LOW_STATE)()
    state.imu_state.quaternion[:] = type(state.imu_state.quaternion)('f', (0.5, -0.5, 0.5, 0.5))
    state.imu_state.gyroscope[2], state.imu_state.accelerometer[1] = 3.0, -2.0
    bench.say(LOW_STATE, '/lowstate', state)
    read = convert.read_imu(bench.seen[0])
    assert read.orientation.tolist() == [-0.5, 0.5, 0.5, 0.5]
    assert read.angular_velocity.tolist() == [0.0, 0.0, 3.0]
    assert read.linear_acceleration.tolist() == [0.0, -2.0, 0.0]


def test_what_is_not_known_is_not_made_up():
    bench = Bench('muse')
    values = reactions()
    del values['LH_FOOT']
    assert bench.react(values) is None
    assert 'LH_FOOT is not among the names' in bench.complaint()
    assert bench.react(reactions()) is not None     # it goes on by itself


def test_names_may_change_their_places_between_messages():
    bench = Bench('muse')
    bench.react(reactions())
    swapped = dict(reversed(list(reactions().items())))
    assert bench.react(swapped).stance_lf and not bench.react(swapped).stance_rf


def test_nothing_is_handed_on_while_inactive():
    bench = Bench('muse')
    bench.host.component.deactivate()
    assert bench.react(reactions()) is None


@pytest.mark.parametrize(('field', 'why'), [
    ('stance_lf', 'place in the output = place in the input'),
    ('stance_lf = ', 'place in the output = place in the input'),
    ('stance_lf = feet[{7}].contact', 'relay.names has 4 names'),
    ('stance..lf = 1', 'expected a place in a message'),
    ('[0] = 1', 'expected a place in a message')])
def test_a_field_without_sense_is_refused_with_its_text(field, why):
    with pytest.raises(ConfigurationError) as caught:
        Bench('muse', **{'relay.fields': [field]})
    assert why in str(caught.value) and 'relay.fields' in str(caught.value)


@pytest.mark.parametrize(('field', 'why'), [
    ('stance = 1', 'stance'), ("header.stamp.sec = 'x'", 'header.stamp.sec'),
    ('header.frame_id = 3', 'expected text'), ('stance_lf = feet[99].contact', 'feet[99]')])
def test_a_field_that_does_not_fit_is_named_in_the_diagnostics(field, why):
    bench = Bench('muse', **{'relay.fields': [field]})
    assert bench.react(reactions()) is None
    assert why in bench.complaint()


def test_a_number_and_a_scale():
    bench = Bench('pronto_stance', **PACKED, **{
        'relay.fields': ['lf = -2 * effort[0]', 'rf = 2.5']})
    message = bench.react({'x': 3.0})
    assert (message.lf, message.rf) == (-6.0, 2.5)


def test_definitions_that_cannot_be_read_or_differ_are_refused():
    for name, text in (('a/msg/B', 'float lf'), ('B', 'bool x'), ('a/msg/B', '')):
        with pytest.raises(MiddlewareError, match='cannot read the definition'):
            define(name, text)
    define('a/msg/Twice', 'bool x')
    define('a/msg/Twice', ' bool x ')
    with pytest.raises(MiddlewareError, match='defined already'):
        define('a/msg/Twice', 'bool y')


def test_a_message_of_no_package_is_defined_by_the_settings_and_filled_by_name():
    bus = LoopbackBus()
    bus.host(ReactionRelay, parameters={
        **PACKED, 'relay.output': '/load', 'relay.output_type': 'of_nobody_msgs/msg/Load',
        'relay.definitions': ['of_nobody_msgs/msg/Load: std_msgs/Header header; float64 left'],
        'relay.fields': ['left = effort[left]']})
    seen = bus.watch('of_nobody_msgs/msg/Load', '/load')
    hand = bus.create_node('estimator').create_publisher(
        DIALECT.message('sensor_msgs/msg/JointState'), f'/{PACKED["relay.input"]}', 10)
    for names in (['left', 'right'], ['right', 'left'], ['left'], ['middle', 'right', 'left']):
        hand.publish(convert.joint_state(DIALECT, 1, names, effort=np.array(
            [10.0 if name == 'left' else -1.0 for name in names])))
        bus.spin()
        assert seen.pop().left == 10.0
