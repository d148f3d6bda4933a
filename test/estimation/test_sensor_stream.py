# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The one way from samples to measurements: pairing, screen, refusals."""
import numpy as np

from legged_dynamics.estimation.measurement import (
    ImuSample,
    JointSample,
    SampleClock,
    SwitchSample,
)
from legged_dynamics.estimation.sensor_stream import REASONS_KEPT, SensorStream, Verdict

MS = 1_000_000


def joints(ms):
    return JointSample(ms * MS, np.full(2, ms), np.zeros(2), None, ('b', 'a'))


def imu(ms):
    return ImuSample(ms * MS, np.zeros(3), np.array([0.0, 0.0, 9.81]))


class Screen:
    def __init__(self):
        self.told = []

    def check(self, sample):
        odd = sample.stamp_ns == 3 * MS
        return Verdict(not odd, 'odd' if odd else 'mended' if sample.stamp_ns == 5 * MS else '')

    def unreadable_joints(self, why):
        self.told.append(why)


def test_samples_of_all_kinds_make_measurements():
    stream = SensorStream()
    assert stream.push(SwitchSample(1 * MS, np.array([1.0, 0.0]))) == []
    assert stream.push(joints(1)) == []
    measurement, = stream.push(imu(1))
    assert measurement.stamp_ns == MS and measurement.effort is None
    assert measurement.linear_acceleration[2] == 9.81
    assert measurement.switches.tolist() == [1.0, 0.0]
    assert stream.verdict == Verdict() and not stream.refused


def test_joint_states_before_the_first_that_counts_are_left_out():
    stream = SensorStream(first_stamp_ns=2 * MS)
    found = [m for ms in range(5) for sample in (joints(ms), imu(ms)) for m in stream.push(sample)]
    assert [m.stamp_ns for m in found] == [2 * MS, 3 * MS, 4 * MS]
    assert not stream.refused


def test_a_screen_refuses_and_the_reasons_are_counted():
    screen = Screen()
    stream = SensorStream(screen=screen)
    found, verdicts = [], []
    for ms in range(1, 7):
        for sample in (imu(ms), joints(ms)):
            found += stream.push(sample)
            verdicts.append(stream.verdict)
    assert [m.stamp_ns // MS for m in found] == [1, 2, 4, 5, 6]
    assert stream.refused == {'odd': 2}
    assert verdicts[8] == Verdict(True, 'mended')
    stream.refuse('imu: no', joints=False)
    stream.refuse('joint_states: no', joints=True)
    assert screen.told == ['joint_states: no']
    assert stream.refused == {'odd': 2, 'imu: no': 1, 'joint_states: no': 1}


def test_reasons_that_differ_each_time_do_not_pile_up():
    stream = SensorStream()
    for i in range(3 * REASONS_KEPT):
        stream.refuse(f'value {i}')
    stream.refuse('value 0')
    assert len(stream.refused) == REASONS_KEPT + 1
    assert stream.refused['other faults'] == 2 * REASONS_KEPT
    assert stream.refused['value 0'] == 2


def times(stamps):
    """Return the times that a clock makes of stamps, at 500 Hz."""
    clock, found = SampleClock(500.0), []
    for stamp in stamps:
        found.append(clock.time_of(int(stamp)))
        clock.take(int(stamp), found[-1])
    return np.array(found)


def test_stamps_of_a_clock_that_is_even_are_times_also_where_samples_are_lost():
    rng = np.random.default_rng(0)
    even = 2 * MS * np.flatnonzero(rng.random(2000) > 0.05)
    assert (times(even) == even).all()
    uneven = 2 * MS * np.arange(2000) + rng.normal(0.0, 0.1 * MS, 2000).astype(int)
    assert (times(uneven) == uneven).all()


def test_times_of_receipt_become_even():
    """Stamps late by 0 to 2 steps: slopes by them were of any size, forces of any, too."""
    true = 2 * MS * np.arange(2000)
    stamps = np.sort(true + np.random.default_rng(0).integers(0, 4 * MS, len(true)))
    assert np.diff(stamps).min() < 0.01 * MS
    steps = np.diff(times(stamps))[50:] / (2 * MS)
    assert abs(steps - 1.0).max() < 0.05        # two steps over the 50 that are averaged


def test_lost_samples_are_told_from_times_of_receipt():
    true = 2 * MS * np.delete(np.arange(2000), slice(1000, 1010))
    found = times(np.sort(true + np.random.default_rng(0).integers(0, 4 * MS, len(true))))
    late = (found - true)[[999, 1050]] / (2 * MS)
    assert abs(late[1] - late[0]) < 2.0
