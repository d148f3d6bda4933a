# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What joint states, IMU readings and stamps can be true, and what cannot."""
import itertools
import math

import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.safety.imu_watch import ImuWatch
from legged_dynamics.safety.joint_watch import (
    BRAKE,
    DAMPING,
    LOWER,
    TOLERANCE,
    UPPER,
    EffortWatch,
    JointWatch,
    check_controllers,
    disagreement,
    first_state,
    limit_table,
)
from legged_dynamics.safety.sample_age import StampClock
from legged_dynamics.safety.settings import SafetySettings
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_vector

MODEL = RobotModel.from_urdf(CONFIG / 'robots' / 'anymal_class.urdf')
JOINTS = RobotConfig.from_yaml(CONFIG / 'robots' / 'anymal_class.yaml').joints
LIMITS = limit_table(MODEL, JOINTS, SafetySettings())
MS = 1_000_000
STEP = 2 * MS


class Joints:
    """Twelve joints on sines, as fast as legs swing, with the noise of encoders."""

    def __init__(self, amplitude=0.3, rate=12.0, noise=1.0, quantum=0.0):
        self.watch, self.k = JointWatch(JOINTS, LIMITS, 0.03), 0
        self.amplitude, self.rate, self.noise, self.quantum = amplitude, rate, noise, quantum
        self.random = np.random.default_rng(1)

    def sample(self):
        t, phase = self.k * 2e-3, np.arange(12.0)
        self.k += 1
        q = self.amplitude * np.sin(self.rate * t + phase)
        v = self.amplitude * self.rate * np.cos(self.rate * t + phase)
        q += self.noise * 1e-4 * self.random.standard_normal(12)
        v += self.noise * 0.01 * self.random.standard_normal(12)
        if self.quantum:
            q, v = self.quantum * np.round(q / self.quantum), 0.0 * v
        return q, v

    def run(self, count, spoil=lambda q, v: (q, v)):
        """Return the faults found."""
        found = []
        for _ in range(count):
            found.append(self.watch.check(self.k * STEP, *spoil(*self.sample())))
        return [fault for fault in found if fault]


@pytest.mark.parametrize('joints', [
    {}, {'amplitude': 0.0}, {'noise': 0.0}, {'amplitude': 0.0, 'noise': 0.0},
    {'amplitude': 0.6, 'rate': 12.0}, {'amplitude': 1e-7, 'quantum': 1e-3, 'noise': 0.0}])
def test_true_samples_are_believed_noisy_quantised_still_or_fast(joints):
    assert not Joints(**joints).run(2000)


def test_samples_that_are_late_or_lost_are_believed():
    joints, random = Joints(), np.random.default_rng(3)
    for k in range(3000):
        q, v = joints.sample()
        if random.random() < 0.3 and not 1000 < k < 1090:       # and a gap of 180 ms
            assert joints.watch.check(k * STEP, q, v) == ''


def test_a_gap_in_which_time_passed_and_nothing_moved_is_no_fault():
    """As of a simulation that was held up, or a driver that was."""
    joints, stamp = Joints(amplitude=0.1, rate=5.0), 0
    for k in range(2000):
        stamp += STEP + (k % 20 == 0) * 60 * MS
        q, v = joints.sample()
        assert joints.watch.check(stamp, q, v) == ''


@pytest.mark.parametrize('held_ms', [16, 20, 28, 40])
def test_readings_that_were_held_back_and_stamped_anew_go_on_from_where_they_were(held_ms):
    """All joints tell the same shorter pause; one that jumps besides is still found."""
    for jump in (0.0, 0.5):
        joints = Joints(amplitude=0.6, rate=12.0)
        assert not joints.run(300)
        joints.k += 1
        stamp = joints.k * STEP + held_ms * MS
        q, v = joints.sample()
        fault = joints.watch.check(stamp, q + jump * (np.arange(12) == 7), v)
        assert ('jumped' in fault) == (jump > 0.0), fault


@pytest.mark.parametrize(('gap_ms', 'turned', 'believed'), [
    (100, 0.4, True), (100, 1.0, False), (20, 0.1, False)])
def test_a_leg_may_have_swung_in_a_gap_as_far_as_its_joint_can_turn(gap_ms, turned, believed):
    """From rest to rest: the knee of a trot turns by 0.4 rad in 0.1 s; 7.5 rad/s are its limit."""
    watch, q = JointWatch(JOINTS, LIMITS, 0.03), np.zeros(12)
    for k in range(10):
        assert watch.check(k * STEP, q, np.zeros(12)) == ''
    q = q + turned * (np.arange(12) == 2)
    assert (watch.check(9 * STEP + gap_ms * MS, q, np.zeros(12)) == '') == believed


def spoilt(**changes):
    def spoil(q, v):
        values = {'q': q.copy(), 'v': v.copy()}
        for key, (j, change) in changes.items():
            values[key][j] = change(values[key][j])
        return values['q'], values['v']
    return spoil


@pytest.mark.parametrize(('spoil', 'within', 'message'), [
    (spoilt(v=(2, lambda x: 1e300)), 1, 'LF_KFE is said to move at 1e+300'),
    (spoilt(v=(2, lambda x: -20.0)), 1, 'LF_KFE is said to move at -20 /s'),
    (spoilt(q=(4, lambda x: x + 0.2)), 1, 'the position of RF_HFE jumped by +0.2'),
    (spoilt(q=(4, lambda x: x - 1.0)), 1, 'the position of RF_HFE jumped by -1'),
    (spoilt(v=(3, lambda x: 0.0)), 100, 'position and velocity of RF_HAA do not agree'),
    (spoilt(v=(3, lambda x: -x)), 50, 'position and velocity of RF_HAA do not agree'),
])
def test_what_cannot_be_is_found_and_named_and_stays_found(spoil, within, message):
    joints = Joints()
    assert not joints.run(500)
    found = joints.run(within, spoil)
    assert found and message in found[-1]
    assert message.split(' by ')[0] in joints.run(500, spoil)[-1]       # a second later, still


def test_a_spike_is_forgotten_as_soon_as_it_is_over():
    joints = Joints()
    joints.run(500)
    assert joints.run(1, spoilt(q=(4, lambda x: x + 0.2)))
    assert not joints.run(500)


def put(half, value):
    """Return what spoils half of the reading of the third joint, from a sample on."""
    def spoil(q, v):
        (q, v)[half][2] = value((q, v)[half][2]) if callable(value) else value
        return q, v
    return spoil


@pytest.mark.parametrize('spoil', [
    put(0, math.nan), put(0, lambda q: q + 1.0), put(0, lambda q: q - 0.2), put(1, math.nan),
    put(1, 1e300), put(1, lambda v: v + 1000.0)])
def test_half_of_a_reading_replaces_the_other(spoil):
    joints = Joints()
    joints.run(500)
    for _ in range(1000):
        t = joints.k * 2e-3
        fault = joints.watch.check(joints.k * STEP, *spoil(*joints.sample()))
        position, velocity = joints.watch.believed(fault)
        assert 'LF_KFE' in fault and joints.watch.one_bad
        assert position[2] == pytest.approx(0.3 * math.sin(12.0 * t + 2.0), abs=0.02)
        # The change of the position is known 6 ms late.
        slow = 0.006 * 0.3 * 12.0 ** 2
        assert velocity[2] == pytest.approx(3.6 * math.cos(12.0 * t + 2.0), abs=slow + 0.2)
        assert np.isfinite(position).all() and np.isfinite(velocity).all()
    joints.run(1600, spoil)             # an integral is not believed for ever
    assert np.flatnonzero(np.isnan(joints.watch.believed('LF_KFE')[0])).tolist() == [2]
    joints.run(1000)
    assert not joints.run(1)
    assert joints.watch.believed('')[0, 2] == joints.watch.position[2]


def test_what_has_no_healthy_half_is_not_believed():
    def both(q, v):
        q[2] = v[2] = math.nan
        return q, v

    def two(q, v):
        q[2] = q[5] = math.nan
        return q, v

    def four(q, v):
        q[:4] = math.nan
        return q, v
    for spoil, unknown in ((both, [2]), (two, [2, 5])):
        joints = Joints()
        joints.run(500)
        fault = joints.run(1, spoil)[0]
        assert np.flatnonzero(np.isnan(joints.watch.believed(fault)).all(axis=0)).tolist(
            ) == unknown
    assert joints.watch.believed(joints.run(1, four)[0]) is None


def test_a_frozen_sensor_is_found_where_its_noise_is_known_and_only_there():
    joints = Joints(amplitude=0.0)
    joints.run(1000)
    q, v = joints.sample()
    found = joints.run(20, lambda *_: (q, v))
    assert 'frozen' in found[-1] and len(found) < 10        # after 30 ms
    still = Joints(amplitude=0.0)
    still.run(1000)
    assert 'the velocity of RF_HAA is frozen' in still.run(30, spoilt(v=(3, lambda x: 0.0)))[-1]
    # A quiet encoder that comes to rest is no frozen one.
    quiet = Joints(quantum=1e-3, noise=0.0, amplitude=2e-3, rate=1.0)
    quiet.run(1500)
    q, v = quiet.sample()
    assert not quiet.run(500, lambda *_: (q, v))


def test_a_joint_whose_whole_reading_is_frozen_in_motion_is_not_believed_to_move_on():
    joints = Joints(rate=0.0)
    joints.run(round(8 * math.pi / 0.024))      # at rest for four periods of what comes
    joints.rate = 12.0
    assert not joints.run(1000)
    q, v = (values[2] for values in joints.sample())
    assert abs(v) > 1.0
    fault = joints.run(100, spoilt(q=(2, lambda _: q), v=(2, lambda _: v)))[-1]
    assert 'LF_KFE' in fault
    believed = joints.watch.believed(fault)
    assert np.isnan(believed[:, 2]).all() and np.isfinite(np.delete(believed, 2, axis=1)).all()


@pytest.mark.parametrize('late', [2, 5])
def test_velocities_that_come_late_are_no_drift(late):
    joints, waiting = Joints(), []

    def held_back(q, v):
        waiting.append(v)
        return q, waiting[max(len(waiting) - 1 - late // 2, 0)]
    assert not joints.run(5000, held_back)


def test_efforts_that_never_came_are_no_fault_and_hide_none_of_the_others():
    """As of a joint that follows another one, or one without a sensor."""
    watch, nothing, stamps = EffortWatch(MODEL, np.arange(12)), np.nan, itertools.count(0, STEP)
    watch.commanded(np.full(12, 10.0))

    def said(*first):
        return watch.check(next(stamps), np.append(first, [10.0] * (12 - len(first))))
    assert not any(said(nothing) for _ in range(100))
    assert [said(nothing, -10.0) for _ in range(100)][-1].endswith(f': {MODEL.joint_names[1]}')
    assert said(nothing, 10.0, nothing).endswith(f': {MODEL.joint_names[2]} = nan')


class Imu:
    """A base that rolls and pitches, with gyro, accelerometer and orientation that agree."""

    def __init__(self, orientation=True, rate=2.0):
        self.watch, self.k = ImuWatch(0.03), 0
        self.random, self.orientation, self.rate = np.random.default_rng(2), orientation, rate
        self.R = np.eye(3)

    def reading(self):
        t = self.k * 2e-3
        gyro = self.rate * np.array([math.sin(7.0 * t), math.cos(5.0 * t), 0.3])
        self.R = self.R @ rotation_from_vector(2e-3 * gyro)
        self.k += 1
        noise = self.random.standard_normal
        acceleration = self.R.T @ (np.array([0.0, 0.0, 9.81]) + 3.0 * noise(3))
        seen = self.R @ rotation_from_vector(0.002 * noise(3))
        return (gyro + 0.003 * noise(3), acceleration,
                quaternion_from_rotation(seen) if self.orientation else None)

    def run(self, count, spoil=lambda *reading: reading):
        found = [self.watch.check(self.k * STEP, *spoil(*self.reading())) for _ in range(count)]
        return [fault for fault in found if fault]


def turned(gyro, acceleration, orientation):
    x, y, z, w = orientation
    return gyro * [1, -1, -1], acceleration * [1, -1, -1], np.array([w, z, -y, -x])


@pytest.mark.parametrize(('spoil', 'within', 'message'), [
    (lambda g, a, o: (g * 1e300, a, o), 1, 'the gyro reads ('),
    (lambda g, a, o: (g, a * 1e6, o), 1, 'the accelerometer reads'),
    (turned, 1, 'the orientation jumped by 180 deg'),
    (lambda g, a, o: (g, -a, o), 30, 'upside down, or of the wrong sign'),
    (lambda g, a, o: (-g, a, o), 50, 'orientation and gyro do not agree'),
])
def test_an_imu_that_cannot_be_true_is_found_and_stays_found(spoil, within, message):
    imu = Imu()
    assert not imu.run(1000)
    found = imu.run(within, spoil)
    assert found and message in found[-1]
    assert imu.run(500, spoil)[-1]
    up = imu.watch.up
    assert up[2] > 0.3                  # the last that could be true


def test_a_frozen_imu_is_found_and_one_without_orientation_is_believed():
    for orientation in (True, False):
        imu = Imu(orientation)
        assert not imu.run(1000)
        last = imu.reading()
        found = imu.run(20, lambda *_, last=last: last)
        assert 'frozen' in found[-1]
        assert not imu.run(1) or orientation


class Source:
    """Samples every 2 ms by a source's clock, seen by another's, both settable."""

    def __init__(self):
        self.clock, self.ms, self.ours, self.theirs = StampClock(), 0, 0, 0

    def tell(self, count, late=0):
        """Return fault and age [ms] of the last sample."""
        for _ in range(count):
            self.ms += 2
            now, stamp = self.ms * MS, (self.ms + self.theirs - late) * MS
            fault = self.clock.check(now, (self.ms + self.ours) * MS, stamp)
        return fault, self.clock.age(now, stamp) * 1e-6


HOUR = 3_600_000


def test_ages_do_not_ask_the_clock_that_can_be_set():
    source = Source()
    source.ours = source.theirs = 10**12
    assert source.tell(10) == ('', 0.0)
    fault, age = source.tell(1, late=40)
    assert 'before the last sample' in fault and age == pytest.approx(40.0)
    source.ms += 40
    assert source.tell(20, late=40) == ('', pytest.approx(40.0, abs=0.1))
    for ours in (-HOUR, 0, 1000, -1000):
        source.ours = 10**12 + ours
        fault, age = source.tell(10)
        assert fault == '' and age == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize('set_by', [1000, -1000, -HOUR, 365 * 24 * HOUR])
def test_stamps_that_jump_are_refused_until_they_go_on_from_there(set_by):
    source = Source()
    source.tell(50)
    source.theirs = set_by
    fault, _ = source.tell(10)
    assert ('in the future' if set_by > 0 else 'before the last sample') in fault
    source.theirs = 0
    assert source.tell(1) == ('', pytest.approx(0.0, abs=0.1))
    source.theirs = set_by
    assert source.tell(40) == ('', pytest.approx(0.0, abs=0.1))
    assert source.clock.jumps == 1


def test_a_source_that_is_ahead_from_the_start_is_refused():
    source = Source()
    source.theirs = 500
    fault, _ = source.tell(100)
    assert "0.5 s ahead of this machine's clock" in fault
    source.theirs = 0
    assert source.tell(1)[0] == ''


def test_urdf_joint_states_and_controllers_must_name_the_same_joints(tmp_path):
    assert disagreement(MODEL, JOINTS) == ''
    assert "'gripper', which" in disagreement(MODEL, [*JOINTS, 'gripper'])
    still = np.zeros(12)
    assert first_state(JOINTS, LIMITS, still, still) == ''
    off = still.copy()
    off[3] = -1.0
    assert first_state(JOINTS, LIMITS, off, still).startswith('RF_HAA is at -1.000, outside')
    low, high = LIMITS[0, [LOWER, UPPER]]       # a zero may be off by a tenth of a radian
    for place, fine in ((low - 0.09, True), (high + 0.09, True), (low - 0.11, False),
                        (high + 0.11, False)):
        off[[0, 3]] = place, 0.0
        assert (first_state(JOINTS, LIMITS, off, still) == '') is fine
    path = tmp_path / 'controllers.yaml'

    def told(joints):
        path.write_text('joint_state_broadcaster:\n  ros__parameters: {}\neffort_controller:\n'
                        f'  ros__parameters:\n    interface_name: effort\n    joints: {joints}\n')
    told(list(JOINTS))
    check_controllers(path, JOINTS)
    told([JOINTS[1], JOINTS[0], *JOINTS[2:]])
    with pytest.raises(ConfigurationError, match="joint 1 of effort_controller .* is 'LF_HFE'"):
        check_controllers(path, JOINTS)
    told(list(JOINTS[:-1]))
    with pytest.raises(ConfigurationError, match='has 11 joints.*RH_KFE'):
        check_controllers(path, JOINTS)
    path.write_text('a: [')
    with pytest.raises(ConfigurationError, match='cannot read'):
        check_controllers(path, JOINTS)


def test_an_impact_of_milliseconds_does_not_turn_an_imu_over():
    """A light body on stiff legs is pushed down by nine times its weight for 10 ms."""
    imu = Imu()
    assert not imu.run(1000)
    assert not imu.run(5, lambda g, a, o: (g, -9.0 * a, o))
    assert not imu.run(500)


def test_after_its_clock_was_set_a_source_is_compared_from_where_it_is():
    joints = Joints()
    joints.run(1000)
    joints.k -= 500         # set back by a second; and the robot has moved on
    joints.watch.restamp()
    assert not joints.run(500)
    assert joints.run(1, spoilt(q=(2, lambda x: x + 0.2)))


def test_damping_stops_no_joint_within_a_sample_whatever_else_moves():
    """Damping times a sample is a change of momentum: half of the joint's own at most."""
    table = limit_table(MODEL, JOINTS, SafetySettings(damping=1000.0, posture_damping=10.0))
    places = np.zeros(MODEL.nq), np.clip(np.zeros(MODEL.nq), *(
        [getattr(joint, end) for joint in MODEL.joints] for end in ('lower', 'upper')))
    own = np.min([1.0 / np.diag(np.linalg.inv(mass_matrix(MODEL, place)))[-12:]
                  for place in places], axis=0)[[MODEL.joint_index(name) for name in JOINTS]]
    assert (table[:, [BRAKE, DAMPING]] * 0.002 <= 0.5 * own[:, None] * (1.0 + 1e-9)).all()
    assert (table[:, [BRAKE, DAMPING]] * 0.002 >= 0.4 * own[:, None]).any()


def test_what_counts_as_a_jump_is_less_for_a_joint_that_can_move_little():
    assert LIMITS[:, TOLERANCE] == pytest.approx(0.02)      # rad
    text = (CONFIG / 'robots' / 'anymal_class.urdf').read_text()
    lower = f'lower="{MODEL.joints[MODEL.joint_index(JOINTS[0])].lower:g}"'
    upper = f'upper="{MODEL.joints[MODEL.joint_index(JOINTS[0])].upper:g}"'
    assert lower in text and upper in text
    little = RobotModel.from_urdf(text.replace(lower, 'lower="-0.1"').replace(
        upper, 'upper="0.1"'))
    assert limit_table(little, JOINTS[:1], SafetySettings())[0, TOLERANCE] == pytest.approx(0.01)
