# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""MeasurementSynchronizer: pairs depend on stamps, and on nothing else."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from legged_dynamics.estimation.measurement import (
    CAPACITY,
    ImuSample,
    JointSample,
    MeasurementSynchronizer,
    SwitchSample,
)
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.spatial.rotations import rotation_from_vector

MS = 1_000_000


def joints(ms):
    return JointSample(int(ms * MS), np.full(3, ms), np.full(3, -ms))


def imu(ms, orientation=True):
    half = 0.5e-3 * ms
    return ImuSample(int(ms * MS), np.array([ms, 0.0, 0.0]), np.array([0.0, ms, 9.81]),
                     np.array([0.0, 0.0, np.sin(half), np.cos(half)]) if orientation else None)


def feed(synchronizer, events):
    """Push ('j' or 'i', ms) events and return what came out."""
    out = []
    for kind, ms in events:
        out += (synchronizer.push_joints(joints(ms)) if kind == 'j'
                else synchronizer.push_imu(imu(ms)))
    return out


def summary(measurements):
    return [(m.stamp_ns, *(None if value is None else value.tobytes() for value in (
        m.position, m.angular_velocity, m.linear_acceleration, m.orientation)))
        for m in measurements]


@st.composite
def interleavings(draw):
    """Two topics with periods and gaps of their own, and two orders of arrival.

    Each topic keeps its order; the IMU may lag behind the joint states, or run ahead of them.
    """
    def stamps(period):
        steps = draw(st.lists(st.sampled_from([1, 1, 1, 1, 3, 15]), min_size=2, max_size=40))
        return np.cumsum(np.array(steps) * period).tolist()

    streams = {'j': stamps(draw(st.sampled_from([2.0, 5.0]))),
               'i': stamps(draw(st.sampled_from([1.0, 2.0, 2.5])))}
    # An event may come late by up to 20 ms. The joints' last stamps wait for an IMU that goes on.
    streams['i'].append(max(streams['j'][-1], streams['i'][-1]) + 1.0)

    def order():
        events = []
        for kind, times in streams.items():
            arrival = 0.0
            for ms in times:
                arrival = max(arrival, ms + draw(st.floats(0.0, 20.0)))
                events.append((arrival, kind, ms))
        return [(kind, ms) for _, kind, ms in sorted(events)]
    return order(), order()


@settings(deadline=None, max_examples=200)
@given(interleavings())
def test_pairs_do_not_depend_on_the_order_of_arrival(orders):
    # Gaps of up to 75 ms and lags of 20 ms stay below the time-out.
    first, second = (summary(feed(MeasurementSynchronizer(0.1), order)) for order in orders)
    assert first == second
    assert [entry[0] for entry in first] == [int(ms * MS) for kind, ms in
                                             sorted(orders[0], key=lambda e: e[1]) if kind == 'j']


def test_an_equal_stamp_is_taken_as_it_is_and_waited_for():
    synchronizer = MeasurementSynchronizer()
    assert feed(synchronizer, [('i', 2), ('j', 4)]) == []
    (measurement,) = synchronizer.push_imu(imu(4))
    assert measurement.stamp_ns == 4 * MS
    assert measurement.angular_velocity.tolist() == [4.0, 0.0, 0.0]


def test_neighbours_are_interpolated():
    (measurement,) = feed(MeasurementSynchronizer(), [('i', 2), ('j', 4), ('i', 10)])
    assert np.allclose(measurement.angular_velocity, [4.0, 0.0, 0.0], rtol=1e-12)
    assert np.allclose(measurement.linear_acceleration, [0.0, 4.0, 9.81], rtol=1e-12)
    assert np.allclose(measurement.orientation, imu(4)[3], atol=1e-12)


@pytest.mark.parametrize('sign', [1.0, -1.0])
@pytest.mark.parametrize('angle', [0.0, 1e-9, 1.0, 3.0])
def test_orientation_takes_the_shorter_way_whatever_the_quaternions_sign(angle, sign):
    synchronizer = MeasurementSynchronizer()
    quaternions = [np.array([np.sin(a / 2), 0.0, 0.0, np.cos(a / 2)]) for a in (0.0, angle)]
    zero = np.zeros(3)
    synchronizer.push_imu(ImuSample(0, zero, zero, quaternions[0]))
    synchronizer.push_joints(joints(5))
    (measurement,) = synchronizer.push_imu(
        ImuSample(10 * MS, zero, zero, sign * quaternions[1]))
    x, _, _, w = measurement.orientation
    got = rotation_from_vector(np.array([2.0 * np.arctan2(x, w), 0.0, 0.0]))
    assert np.allclose(got, rotation_from_vector(np.array([angle / 2, 0.0, 0.0])), atol=1e-12)
    assert np.linalg.norm(measurement.orientation) == pytest.approx(1.0, abs=1e-15)


def test_neighbours_too_far_apart_give_no_imu():
    (measurement,) = feed(MeasurementSynchronizer(0.1, 0.02), [('i', 0), ('j', 10), ('i', 21)])
    assert measurement.angular_velocity is None


def test_orientation_is_missing_when_one_neighbour_has_none():
    synchronizer = MeasurementSynchronizer()
    synchronizer.push_imu(imu(0, orientation=False))
    synchronizer.push_joints(joints(2))
    (measurement,) = synchronizer.push_imu(imu(4))
    assert measurement.orientation is None and measurement.angular_velocity is not None


def test_a_dead_imu_is_waited_for_once_and_not_for_every_sample():
    synchronizer = MeasurementSynchronizer(0.1)
    assert feed(synchronizer, [('i', 0), *(('j', ms) for ms in range(2, 101, 2))]) == []
    released = synchronizer.push_joints(joints(102))
    assert len(released) == 51 and all(m.angular_velocity is None for m in released)
    assert [m.stamp_ns for m in synchronizer.push_joints(joints(104))] == [104 * MS]
    back = feed(synchronizer, [('i', 106), ('i', 108), ('j', 108)])
    assert back[-1].angular_velocity.tolist() == [108.0, 0.0, 0.0]


def test_without_any_imu_joint_states_go_out_too():
    synchronizer = MeasurementSynchronizer(0.01)
    out = feed(synchronizer, [('j', ms) for ms in range(0, 40, 2)])
    assert [m.stamp_ns // MS for m in out] == list(range(0, 40, 2))


def test_a_burst_of_one_topic_before_the_other_costs_no_imu():
    events = [('j', ms) for ms in range(2, 80, 2)] + [('i', ms) for ms in range(2, 80, 2)]
    out = feed(MeasurementSynchronizer(0.1), events)
    assert len(out) == 39 and all(m.angular_velocity is not None for m in out)


def test_time_set_back_drops_what_waits_and_is_counted():
    synchronizer = MeasurementSynchronizer()
    feed(synchronizer, [('i', 5000), ('j', 5002)])
    out = feed(synchronizer, [('j', 1000), ('i', 1000)])
    assert [m.stamp_ns // MS for m in out] == [1000]
    assert out[0].angular_velocity.tolist() == [1000.0, 0.0, 0.0]
    assert synchronizer.jumps_back == 1
    feed(synchronizer, [('i', 10), ('j', 10)])
    assert synchronizer.jumps_back == 3     # both topics


def test_messages_out_of_order_are_left_out_and_counted():
    synchronizer = MeasurementSynchronizer()
    out = feed(synchronizer, [('i', 10), ('j', 8), ('j', 6), ('i', 9), ('j', 10)])
    assert [m.stamp_ns // MS for m in out] == [8, 10]
    assert synchronizer.late == 2


def test_memory_is_bounded():
    synchronizer = MeasurementSynchronizer(1e6)
    out = feed(synchronizer, [('j', ms) for ms in range(CAPACITY + 10)])
    assert len(out) == 10
    feed(synchronizer, [('i', 1e6 + ms) for ms in range(3 * CAPACITY)])
    assert len(synchronizer._readings) <= CAPACITY


def test_reset_forgets():
    synchronizer = MeasurementSynchronizer()
    feed(synchronizer, [('i', 2), ('j', 3)])
    synchronizer.reset()
    (measurement,) = feed(synchronizer, [('j', 1), ('i', 1)])
    assert measurement.stamp_ns == MS


@pytest.mark.parametrize('arguments', [(0.0,), (-1.0,), (float('nan'),), (0.1, 0.2), (0.1, 0.0)])
def test_wrong_times_are_refused(arguments):
    with pytest.raises(ConfigurationError, match='expected a time above 0'):
        MeasurementSynchronizer(*arguments)


def test_a_switch_counts_as_read_until_the_next_reading_or_for_a_tenth_of_a_second():
    synchronizer = MeasurementSynchronizer()
    for ms, closed in ((0, 1.0), (10, 0.0), (9, 1.0)):          # the last one came too late
        synchronizer.push_switches(SwitchSample(ms * MS, np.array([closed])))
    found = feed(synchronizer, [event for ms in (5, 10, 60, 120) for event in (
        ('i', ms), ('j', ms))])
    assert [None if m.switches is None else m.switches.tolist() for m in found] == [
        [1.0], [0.0], [0.0], None]
    assert synchronizer.late == 1
    synchronizer.reset()
    assert feed(synchronizer, [('i', 5), ('j', 5)])[0].switches is None
