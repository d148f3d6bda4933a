# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Everything that can go wrong with what a controller hears, on a robot that stands by its efforts.

In each row: efforts within limits and slew; the safe output puts no energy into a joint; the
diagnostics name the cause; the robot stands wherever physics lets it; and nothing engages again by
itself on one that was let go. Motors hold their last command for ever, as they do in ros2_control.

A robot that trots walks on, or comes to a stand, or is let down: slower than `SOFT`, and tilted by
no more than one that lies on its trunk and some knees. Rows that fall say why they must.
"""
import copy
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from fault_bench import FaultBench, WalkingBench
from loopback_robot import DIALECT, URDF

from legged_dynamics.ros import conversions as convert

pytestmark = pytest.mark.slow

SOFT, UPRIGHT = 1.0, 25.0       # m/s; deg
SECOND, HOUR = 10**9, 3600 * 10**9
YEAR = 365 * 24 * HOUR


@dataclass
class Row:
    """What is spoilt and for how long, what the diagnostics must say, what must come of it."""

    spoil: object
    seconds: float
    text: str
    stands: bool = True
    within: float = 0.05        # s until the cause is said
    moving: bool = False
    end: str = 'down'           # of one that walks: 'walks', 'stands' or 'down'
    falls: str = ''             # why it must


def drop(message):
    return None


def joints(change):
    return lambda bench: setattr(bench.joints, 'change', change)


def imu(change):
    return lambda bench: setattr(bench.imu, 'change', change)


def both(change):
    def spoil(bench):
        bench.joints.change = bench.imu.change = change
    return spoil


def entry(field, j, change):
    def spoil(message):
        values = list(getattr(message, field))
        values[j] = change(values[j]) if callable(change) else change
        setattr(message, field, values)
        return message
    return joints(spoil)


def every(field, change):
    def spoil(message):
        setattr(message, field, [change(value) for value in getattr(message, field)])
        return message
    return joints(spoil)


def swapped(i, j):
    def spoil(message):
        for field in ('position', 'velocity', 'effort'):
            values = list(getattr(message, field))
            values[i], values[j] = values[j], values[i]
            setattr(message, field, values)
        return message
    return joints(spoil)


def frozen(name):
    def spoil(bench):
        spoiler = getattr(bench, name)
        kept = copy.deepcopy(spoiler.last)

        def change(message):
            again = copy.deepcopy(kept)
            again.header = message.header
            return again
        spoiler.change = change
    return spoil


def frozen_joint(j):
    """All that one joint says stays as it was."""
    def spoil(bench):
        for field in ('position', 'velocity'):
            change, kept = bench.joints.change, getattr(bench.joints.last, field)[j]
            entry(field, j, kept)(bench)
            again = bench.joints.change
            bench.joints.change = lambda message, first=change, then=again: then(first(message))
    return spoil


def late(ms, renew=False, *names):
    def spoil(bench):
        for name in names or ('joints', 'imu'):
            spoiler = getattr(bench, name)
            spoiler.late, spoiler.renew = ms * 10**6, renew
    return spoil


def stamped(ahead):
    def change(message):
        ns = convert.stamp_ns(message.header.stamp) + ahead
        message.header.stamp = convert.time_message(DIALECT, ns)
        return message
    return both(change)


def clocks(ours, theirs):
    def spoil(bench):
        bench.set_clock(ours)
        stamped(theirs)(bench)
    return spoil


def drifting_imu(rate):
    """Gyro and orientation agree that the base turns; it does not."""
    def spoil(bench):
        began = bench.bus.now_ns

        def change(message):
            half = 0.5e-9 * rate * (bench.bus.now_ns - began)
            o, s, c = message.orientation, np.sin(half), np.cos(half)
            o.x, o.y, o.z, o.w = (c * o.x + s * o.w, c * o.y + s * o.z, c * o.z - s * o.y,
                                  c * o.w - s * o.x)
            message.angular_velocity.x += rate
            return message
        bench.imu.change = change
    return spoil


def drifting_encoder(j, rate):
    """A position drifts away from its velocity."""
    def spoil(bench):
        began = bench.bus.now_ns
        entry('position', j, lambda q: q + rate * (bench.bus.now_ns - began) * 1e-9)(bench)
    return spoil


def lossy(share):
    def spoil(bench):
        random = np.random.default_rng(5)
        both(lambda message: None if random.random() < share else message)(bench)
    return spoil


def upside_down(message):
    for vector in (message.angular_velocity, message.linear_acceleration):
        vector.y, vector.z = -vector.y, -vector.z
    o = message.orientation
    o.x, o.y, o.z, o.w = o.w, o.z, -o.y, -o.x
    return message


def vector(field, value):
    def spoil(message):
        setattr(getattr(message, field), 'xyz'[2], value)
        return message
    return imu(spoil)


def turned_round(field, message):
    there = getattr(message, field)
    there.x, there.y, there.z = -there.x, -there.y, -there.z
    return message


def described(text, times=1):
    def spoil(bench):
        publisher = bench.stranger.create_publisher(
            DIALECT.message('std_msgs/msg/String'), '/robot_description', DIALECT.qos.latched)
        for _ in range(times):
            publisher.publish(convert.string(DIALECT, text))
            bench.run(0.01)
    return spoil


def second_publisher(bench):
    """Somebody else says that all joints are at zero, between any two true samples."""
    publisher = bench.stranger.create_publisher(
        DIALECT.message('sensor_msgs/msg/JointState'), '/joint_states', DIALECT.qos.reliable(10))

    def change(message):
        zero = [0.0] * len(message.name)
        publisher.publish(convert.joint_state(
            DIALECT, convert.stamp_ns(message.header.stamp) - 1_000_000, message.name, zero, zero,
            zero))
        return message
    bench.joints.change = change
    bench.strangers = [publisher]


def flood(kind, topic, size, times):
    """Somebody sends what nobody could decode in time."""
    def spoil(bench):
        publisher = bench.stranger.create_publisher(DIALECT.message(kind), topic,
                                                    DIALECT.qos.reliable(10))
        message = DIALECT.message(kind)()
        message.header.frame_id = 'x' * size
        for _ in range(times):
            publisher.publish(message)
            bench.run(0.002)
        bench.strangers = [publisher]
    return spoil


def crouch(bench):
    """Have the body on its way down."""
    target = bench.stranger.create_publisher(
        DIALECT.message('geometry_msgs/msg/PoseStamped'), '/workspace_controller/body_target',
        DIALECT.qos.reliable(10))
    here = bench.node.targets.reference.at(bench.robot.stamp_ns)
    target.publish(convert.pose_stamped(DIALECT, 0, 'odom', here.position - [0.0, 0.0, 0.08],
                                        [0.0, 0.0, 0.0, 1.0]))
    bench.run(0.25)


URDF_TEXT = URDF.read_text()
NAN, HUGE = float('nan'), 1e300
# What physics lets a robot stand through.
STANDS = {
    'joint states silent for 20 ms': Row(joints(drop), 0.02, ''),
    'joint states silent for 100 ms': Row(joints(drop), 0.1, 'no joint states for', within=0.06),
    'all silent for 195 ms': Row(both(drop), 0.195, 'no joint states for', within=0.06),
    'IMU silent for 200 ms': Row(imu(drop), 0.2, 'no IMU reading'),
    'velocity of 1e300 once': Row(entry('velocity', 2, HUGE), 0.002, 'LF_KFE is said to move'),
    'encoder +0.2 rad once': Row(entry('position', 2, lambda q: q + 0.2), 0.002,
                                 'LF_KFE jumped by +0.2'),
    'encoder +1 rad once': Row(entry('position', 5, lambda q: q + 1.0), 0.002,
                               'RF_KFE jumped by +1'),
    'position NaN once': Row(entry('position', 2, NAN), 0.002, 'not finite: LF_KFE = nan'),
    'effort NaN': Row(entry('effort', 2, NAN), 0.5, 'counts as not known: LF_KFE = nan'),
    'effort 1e300': Row(entry('effort', 2, HUGE), 0.5, 'counts as not known: LF_KFE = 1e+300'),
    'efforts of the wrong sign': Row(every('effort', lambda e: -e), 0.5, 'the opposite sign',
                                     within=0.12),
    'IMU NaN once': Row(vector('linear_acceleration', NAN), 0.002, 'not finite'),
    '30 % loss': Row(lossy(0.3), 1.0, ''),
    '70 % loss': Row(lossy(0.7), 1.0, ''),
    'all late by 20 ms': Row(late(20), 1.0, ''),
    'all late by 40 ms': Row(late(40), 1.0, ''),
    'late by 40 ms, stamps renewed': Row(late(40, True), 1.0, ''),
    'one stamp a year ahead': Row(stamped(YEAR), 0.002, 'in the future'),
    'stamps a year ahead': Row(stamped(YEAR), 0.5, 'in the future'),
    'clock of the robot +1 s': Row(clocks(0, SECOND), 0.5, '1 s in the future'),
    'clock of the robot -1 s': Row(clocks(0, -SECOND), 0.5, 'its clock was set back'),
    'clock of the robot -1 h': Row(clocks(0, -HOUR), 0.5, 'its clock was set back'),
    'clock of the controller +1 s': Row(clocks(SECOND, 0), 0.5, ''),
    'clock of the controller -1 h': Row(clocks(-HOUR, 0), 0.5, ''),
    'both clocks -1 h': Row(clocks(-HOUR, -HOUR), 0.5, 'its clock was set back'),
    'two publishers of joint states': Row(second_publisher, 0.5, '2 publishers where one is'),
    'joint states of 16 MB': Row(flood('sensor_msgs/msg/JointState', '/joint_states', 16 * 10**6,
                                       3), 0.1, '2 publishers'),
    'a flood of IMU readings of 100 kB': Row(flood('sensor_msgs/msg/Imu', '/imu/data', 10**5, 20),
                                             0.1, '2 publishers'),
    'the same description ten times': Row(described(URDF_TEXT, 10), 0.2, ''),
    'effort limits times ten': Row(described(URDF_TEXT.replace('effort="80', 'effort="800')), 0.2,
                                   'another robot_description came'),
    'a description that is garbage': Row(described('<robot'), 0.2,
                                         'another robot_description came'),
}
# What must be let go, for good.
LET_GO = {
    'joint states stopped': Row(joints(drop), 0.8, 'no joint states for', within=0.06),
    'all silent for 300 ms': Row(both(drop), 0.3, 'no joint states for', within=0.06),
    'IMU stopped': Row(imu(drop), 0.9, 'no IMU reading for too long', within=0.6),
    'IMU frozen': Row(frozen('imu'), 1.0, 'the IMU is frozen'),
    'IMU upside down': Row(imu(upside_down), 1.0, 'the orientation jumped by 180 deg'),
    'IMU NaN': Row(vector('angular_velocity', NAN), 0.9, 'not finite'),
    'IMU 1e300': Row(vector('angular_velocity', HUGE), 0.9, 'the gyro reads'),
    'accelerometer of the wrong sign': Row(imu(partial(turned_round, 'linear_acceleration')), 1.0,
                                           'of the wrong sign'),
    'gyro of the wrong sign': Row(imu(partial(turned_round, 'angular_velocity')), 1.5,
                                  'orientation and gyro do not agree', within=1.0, moving=True),
    'IMU drifts by 0.1 rad/s': Row(drifting_imu(0.1), 1.6, 'the legs in stance say', within=0.7),
    'IMU drifts by 0.02 rad/s': Row(drifting_imu(0.02), 4.5, 'the legs in stance say', within=3.0),
    'IMU drifts by 0.3 rad/s': Row(drifting_imu(0.3), 1.6, 'the legs in stance say', within=0.7),
    'encoder drifts by 0.02 rad/s': Row(drifting_encoder(2, 0.02), 4.0,
                                        'LF_KFE drifts away', within=3.9),
    'encoder drifts by 0.2 rad/s': Row(drifting_encoder(2, 0.2), 1.5, 'LF_KFE drifts away',
                                       within=0.5),
    'joint states frozen': Row(frozen('joints'), 0.6, 'is frozen'),
    'joint states frozen in motion': Row(frozen('joints'), 0.6, 'is frozen', moving=True),
    'velocity of 1e300': Row(entry('velocity', 2, HUGE), 0.5, 'LF_KFE is said to move at 1e+300'),
    'velocity of 1000 rad/s': Row(entry('velocity', 8, 1000.0), 0.5, 'LH_KFE is said to move'),
    'velocity NaN': Row(entry('velocity', 2, NAN), 0.5, 'not finite: LF_KFE = nan'),
    'position infinite': Row(entry('position', 2, np.inf), 0.5, 'not finite: LF_KFE = inf'),
    'encoder +0.2 rad for good': Row(entry('position', 4, lambda q: q + 0.2), 0.5,
                                     'RF_HFE jumped by +0.2'),
    'encoder +1 rad for good': Row(entry('position', 2, lambda q: q + 1.0), 0.5,
                                   'LF_KFE jumped by +1'),
    'positions of the wrong sign': Row(every('position', lambda q: -q), 0.5, 'jumped by'),
    'velocities of the wrong sign': Row(every('velocity', lambda v: -v), 0.6,
                                        'position and velocity of', within=0.3, moving=True),
    'two joints of a leg swapped': Row(swapped(1, 2), 0.5, 'LF_HFE jumped by'),
    'joints of two legs swapped': Row(swapped(1, 7), 0.5, 'LF_HFE jumped by'),
    'one velocity stuck': Row(entry('velocity', 2, 0.0), 0.8, 'velocity of LF_KFE', within=0.3,
                              moving=True),
    'all velocities stuck at rest': Row(every('velocity', lambda v: 0.0), 0.6, 'is frozen'),
    'all late by 100 ms': Row(late(100), 1.0, 'ms old', within=0.16),
}
# Of a robot that trots.
WALKING = {
    'controller silent for 100 ms': Row(WalkingBench.kill, 0.1, 'is silent', end='walks'),
    'controller silent': Row(WalkingBench.kill, 3.0, 'is silent'),
    'joint states silent for 100 ms': Row(joints(drop), 0.1, 'no joint states for', within=0.06,
                                          end='walks'),
    'all silent for 195 ms': Row(both(drop), 0.195, 'no joint states for', within=0.06,
                                 end='walks'),
    'all late by 20 ms': Row(late(20), 1.5, 'bears', within=0.5, end='walks'),
    'all late by 30 ms': Row(late(30), 2.0, 'it stops', within=0.5, end='stands'),
    **{f'{what} late by {ms} ms, stamps renewed': Row(
        late(ms, True, *names), 2.0, 'older than their stamps', within=0.2, end='stands')
       for what, names in (('all', ()), ('joint states', ('joints',))) for ms in (20, 30)},
    'IMU stopped': Row(imu(drop), 3.0, 'no IMU reading for too long', within=0.2),
    'gyro of the wrong sign': Row(imu(partial(turned_round, 'angular_velocity')), 3.0,
                                  'orientation and gyro do not agree', within=0.5),
    'IMU drifts by 0.1 rad/s': Row(drifting_imu(0.1), 3.5, 'the legs in stance say', within=0.6),
    'IMU drifts by 0.02 rad/s': Row(drifting_imu(0.02), 5.0, 'the legs in stance say', within=3.0),
    'position of a knee NaN': Row(entry('position', 2, NAN), 3.0, 'not finite: LF_KFE = nan'),
    'encoder +0.05 rad for good': Row(entry('position', 2, lambda q: q + 0.05), 3.0,
                                      'LF_KFE jumped by'),
    'a knee frozen': Row(frozen_joint(2), 3.0, 'LF_KFE', within=0.1),
}


@pytest.fixture(scope='module')
def standing():
    # Left alone soon, so that the tests need not wait.
    return FaultBench(**{'safety.damping_duration': 0.25})


def check(bench, row, until=lambda: False):
    """Spoil, wait for the diagnostics to name the cause, and go on until something holds."""
    if row.moving:
        crouch(bench)
    row.spoil(bench)
    took = bench.run(row.seconds, lambda: row.text in bench.texts()) if row.text else 0.0
    assert took is not None or row.text in bench.texts(), bench.texts()
    assert (row.seconds if took is None else took) <= max(row.within, 0.004)
    bench.run(row.seconds - (took or 0.0), until)


def judge(bench):
    """Judge all that went out."""
    assert bench.largest_share_of_limits() <= 1.0
    assert bench.largest_share_of_slew() <= 1.0 + 1e-9
    assert bench.power_put_in() < 1.0       # W; of the 600 W that a joint can give


@pytest.mark.parametrize('name', STANDS)
def test_it_stands_through(standing, name):
    standing.stand()
    check(standing, STANDS[name])
    standing.heal()         # a clock that was set is so twice
    standing.run(0.4)
    judge(standing)
    assert standing.stands(), standing.texts()
    assert standing.state() == 'ACTIVE', standing.texts()


@pytest.mark.parametrize('name', LET_GO)
def test_it_is_let_go_for_good(standing, name):
    standing.stand()
    check(standing, LET_GO[name], lambda: standing.node.efforts.state.released)
    assert standing.node.efforts.state.released, standing.texts()
    standing.heal()
    standing.run(0.5, lambda: standing.state() == 'LATCHED')
    count = len(standing.commands)
    standing.run(0.2)
    judge(standing)
    assert standing.state() == 'LATCHED'
    assert len(standing.commands) == count              # others may have the motors
    assert not standing.commands[-1][1].any()           # and get them limp
    assert 'activate the node again' in standing.texts()


@pytest.fixture(scope='module')
def walking():
    return WalkingBench()


def fault_while_walking(bench, row):
    """Spoil what a robot hears that walks; return when the cause was said, and how it ended."""
    bench.walk()
    row.spoil(bench)
    said = bench.run(row.seconds, lambda: row.text in bench.said()) if row.text else 0.0
    bench.run(row.seconds - (row.seconds if said is None else said))
    if row.end == 'walks':
        bench.walk_on()
        bench.run(0.8)
    fell = bench.fastest > SOFT or bench.tilt > UPRIGHT
    end = 'walks' if bench.walks() else 'stands' if bench.stands() else 'down'
    return said, end, fell


@pytest.mark.parametrize('moment', [0.0, 0.061, 0.122, 0.183, 0.244, 0.305, 0.366, 0.427])
def test_a_trot_goes_on_whenever_in_its_cycle_its_sensors_are_silent(walking, moment):
    walking.walk(1.2)
    walking.run(moment)
    walking.fastest = walking.tilt = 0.0
    both(drop)(walking)
    walking.run(0.195)
    walking.walk_on()
    walking.run(1.0)
    assert walking.walks(), walking.said()
    assert walking.fastest < SOFT and walking.tilt < UPRIGHT
    assert walking.largest_share_of_limits() <= 1.0
    assert walking.largest_share_of_slew() <= 1.0 + 1e-9


@pytest.mark.parametrize('name', WALKING)
def test_a_robot_that_walks_is_not_dropped(walking, name):
    row = WALKING[name]
    said, end, fell = fault_while_walking(walking, row)
    assert said is not None and said <= max(row.within, 0.004), walking.said()
    assert walking.largest_share_of_limits() <= 1.0
    assert fell == bool(row.falls), (walking.fastest, walking.tilt)
    assert row.falls or end == row.end, walking.said()
