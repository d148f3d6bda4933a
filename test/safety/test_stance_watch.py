# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Feet that stand tell how the base turns: a gyro or an encoder that drifts is seen."""
import numpy as np
import pytest
from robots import CONFIG
from scipy.spatial.transform import Rotation

from benchmarks.walking_robots import Laboratory, Push, walk
from benchmarks.zoo.robots import MissingRobot
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.safety.stance_watch import JointByFeet, StanceWatch

FILES = CONFIG / 'robots' / 'anymal_class'
CONFIGURED = RobotConfig.from_yaml(FILES.with_suffix('.yaml'))
MODEL = CONFIGURED.apply_to(RobotModel.from_urdf(FILES.with_suffix('.urdf')))
FEET = [foot.link for foot in CONFIGURED.feet]
PLACE = CONFIGURED.nominal_in(MODEL)
STANDS = [True] * 4
MS = 1_000_000


def watched(position, gyro, seconds=2.0, stance=lambda t: STANDS, turn=0.06):
    """Return a watch after joint states and gyro readings, functions of time [s]."""
    watch = StanceWatch(MODEL, FEET, turn)
    for ms in range(0, round(1e3 * seconds), 2):
        watch.imu(ms * MS, gyro(1e-3 * ms))
        watch.joints(ms * MS, position(1e-3 * ms), stance(1e-3 * ms))
    return watch


def legs_of(turn):
    """Return joint positions whose feet stand still while the base turns."""
    from scipy.optimize import least_squares

    from legged_dynamics.dynamics.kinematics import frame_poses

    def feet(q):
        return np.array([frame_poses(MODEL, q, tuple(FEET))[foot].p for foot in FEET])
    wanted = feet(PLACE) @ Rotation.from_rotvec(turn).as_matrix()
    return least_squares(lambda q: (feet(q) - wanted).ravel(), PLACE).x


def test_a_gyro_that_drifts_on_a_robot_that_stands_is_named():
    assert not watched(lambda t: PLACE, lambda t: np.zeros(3)).gyro_fault
    watch = watched(lambda t: PLACE, lambda t: np.array([0.1, 0.0, 0.0]), 0.8)
    assert '0.10 rad/s, the legs in stance say 0.00' in watch.gyro_fault
    small = watched(lambda t: PLACE, lambda t: np.array([0.04, 0.0, 0.0]))
    assert not small.gyro_fault
    assert not watched(lambda t: PLACE, lambda t: np.array([0.1, 0.0, 0.0]), turn=0.0).gyro_fault


def test_half_a_second_is_looked_at_before_anything_is_said():
    def drifting(t):
        return np.array([0.1, 0.0, 0.0])
    assert not watched(lambda t: PLACE, drifting, 0.54).gyro_fault
    assert watched(lambda t: PLACE, drifting, 0.56).gyro_fault


def test_jolts_and_feet_that_were_not_down_are_no_drift():
    def jolt(t):
        return np.array([3.0 * (1.0 < t <= 1.05), 0.0, 0.0])
    lifted = PLACE.copy()
    lifted[MODEL.joint_index('LF_KFE')] += 0.3
    for seconds in np.arange(1.0, 2.0, 0.1):
        assert not watched(lambda t: PLACE, jolt, seconds).gyro_fault
        assert not watched(lambda t: lifted if t > 1.0 else PLACE, lambda t: np.zeros(3),
                           seconds).gyro_fault


@pytest.mark.parametrize('axis', [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.6, 0.8, 0.0]])
def test_a_base_that_truly_tilts_is_believed_and_one_that_does_not_is_not(axis):
    rate = 0.1 * np.array(axis)
    end = legs_of(rate)

    def tilting(t):     # small angles: the legs follow in proportion
        return PLACE + (end - PLACE) * t
    assert not watched(tilting, lambda t: rate, 1.0).gyro_fault
    assert '0.00 rad/s, the legs in stance say 0.1' in watched(
        tilting, lambda t: np.zeros(3), 1.0).gyro_fault
    # Of the wrong sign, it is off by twice as much.
    assert watched(tilting, lambda t: -rate, 1.0).gyro_fault


def trot(t):
    """Return the stance of a trot: one diagonal, both for a moment, the other diagonal."""
    first = t % 0.6 < 0.32
    second = not 0.02 < t % 0.6 < 0.3
    return [first, second, second, first]


@pytest.mark.parametrize('axis', [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.7, -0.7, 0.0]])
def test_a_trot_tells_both_axes_of_a_drift_within_six_tenths(axis):
    rate, swing = 0.1 * np.array(axis), legs_of([0.02, -0.02, 0.0]) - PLACE

    def rocking(t):
        return PLACE + swing * np.sin(20.0 * t)

    def true(t):
        return np.array([0.02, -0.02, 0.0]) * 20.0 * np.cos(20.0 * t)
    assert not watched(rocking, true, 3.0, trot).gyro_fault
    for began in (1.0, 1.25):
        assert watched(rocking, lambda t: true(t) + rate * (t > began), began + 0.6,  # noqa: B023
                       trot).gyro_fault


def test_feet_that_slip_on_level_ground_say_nothing_of_the_gyro():
    def slipping(t):        # the hips turn outwards and back: a diagonal turns, level
        q = PLACE.copy()
        for leg, sign in (('LF', 1.0), ('RH', -1.0)):
            q[MODEL.joint_index(f'{leg}_HFE')] += 0.1 * sign * t
        return q
    assert not watched(slipping, lambda t: np.zeros(3), 2.0,
                       lambda t: [True, False, False, True]).gyro_fault


@pytest.mark.parametrize('rate', [0.05, 0.2])
def test_an_encoder_that_drifts_moves_a_foot_that_stands(rate):
    knee = MODEL.joint_index('LF_KFE')

    def drifting(t):
        position = PLACE.copy()
        position[knee] += rate * t
        return position
    assert 'LF_FOOT has moved by' in watched(drifting, lambda t: np.zeros(3), 2.0).foot_note
    soon = (watched(drifting, lambda t: np.zeros(3), seconds).foot_note
            for seconds in np.arange(0.1, 2.0, 0.05))
    millimetres = float(next(note for note in soon if note).split('moved by ')[1].split()[0])
    assert 12 <= millimetres <= 13 + 1e3 * rate * 0.05 * 0.4
    # A leg that swings may move, and one that has landed starts anew.
    swings = watched(drifting, lambda t: np.zeros(3), 2.0,
                     lambda t: [t > 1.95, True, True, True])
    assert not swings.foot_note and not swings.gyro_fault


def test_the_foot_that_moves_is_the_one_that_is_named():
    def drifting(t):
        position = PLACE.copy()
        position[MODEL.joint_index('RH_KFE')] += 0.1 * t
        return position
    assert watched(drifting, lambda t: np.zeros(3)).foot_note.startswith('RH_FOOT has moved')


def test_three_feet_tell_which_of_them_moves():
    def drifting(t):
        position = PLACE.copy()
        position[MODEL.joint_index('LF_KFE')] += 0.2 * t
        return position
    assert watched(drifting, lambda t: np.zeros(3), 2.0,
                   lambda t: [True, True, False, True]).foot_note


def test_a_stand_of_a_moment_says_nothing():
    for stands, said in ((0.12, False), (0.4, True)):
        assert bool(watched(lambda t: PLACE, lambda t: np.array([0.15, 0.0, 0.0]), 2.0,
                            lambda t, stands=stands: [t % 0.5 < stands] * 4).gyro_fault) is said


def test_without_two_feet_in_stance_nothing_is_said():
    for stance in (None, [True, False, False, False]):
        watch = watched(lambda t: PLACE, lambda t: np.array([0.5, 0.0, 0.0]), 1.0,
                        lambda t, stance=stance: stance)
        assert not watch.gyro_fault and not watch.foot_note


def test_two_feet_tell_nothing_about_the_line_between_them():
    from legged_dynamics.dynamics.kinematics import frame_poses
    poses = frame_poses(MODEL, PLACE, tuple(FEET))
    line = poses[FEET[0]].p - poses[FEET[3]].p
    line[2] = 0.0
    for axis, said in ((line, False), (np.cross([0.0, 0.0, 1.0], line), True)):
        rate = 0.12 * axis / np.linalg.norm(axis)
        watch = watched(lambda t: PLACE, lambda t, rate=rate: rate, 1.0,
                        lambda t: [True, False, False, True])
        assert bool(watch.gyro_fault) is said


def test_after_a_gap_and_after_a_reset_everything_is_looked_at_anew():
    for gap in ('joints', 'gyro', 'reset'):
        watch = StanceWatch(MODEL, FEET, 0.06)
        for ms in range(0, 1400, 2):
            if gap != 'gyro' or not 600 <= ms < 1150:
                watch.imu(ms * MS, np.array([0.1, 0.0, 0.0]))
            if gap != 'joints' or not 600 <= ms < 900:
                watch.joints(ms * MS, PLACE, STANDS)
            if gap == 'reset' and ms == 900:
                watch.reset()
            if ms == 598:
                assert watch.gyro_fault
        assert not watch.gyro_fault


def told(joint, feet=FEET, seconds=0.4):
    """Return what is made of a joint without a reading, and its truth, while the base tilts."""
    j, end = MODEL.joint_index(joint), legs_of([0.03, -0.04, 0.0])
    by_feet, speed = JointByFeet(MODEL, MODEL.joint_names, feet), (end - PLACE) / seconds
    for ms in range(0, round(1e3 * seconds) + 1, 2):
        truth = np.array([PLACE + 1e-3 * ms * speed, speed])
        state = truth.copy()
        state[:, j] = np.nan
        by_feet.fill(ms * MS, state, PLACE - 0.1)
        if ms == 50:
            assert np.isnan(state[:, j]).all()      # feet may still be in the air
    others = np.arange(len(PLACE)) != j
    assert (state[:, others] == truth[:, others]).all()
    return state[:, j], truth[:, j]


@pytest.mark.parametrize('joint', ['LF_KFE', 'RH_KFE', 'RF_HAA'])
def test_a_joint_without_a_reading_is_where_its_foot_is_on_the_plane_of_the_others(joint):
    found, truth = told(joint)
    # Between their ends the joints go straight, so that feet leave the plane a little.
    assert found[0] == pytest.approx(truth[0], abs=2e-3)
    assert found[1] == pytest.approx(truth[1], abs=0.02)


def test_three_feet_tell_nothing_and_nor_does_a_joint_that_moves_its_foot_along_the_ground():
    assert np.isnan(told('LF_KFE', FEET[:3])[0]).all()
    assert np.isnan(told('LF_HFE')[0]).all()


def quaternion_product(a, b):
    return (Rotation.from_quat(a) * Rotation.from_quat(b)).as_quat()


class Believing:
    """The odometry of a robot that walks, and what feet in stance say of its IMU meanwhile."""

    def __init__(self, lab, began, roll):
        self._lab, self._odometry, self._began, self._roll = lab, lab.odometry, began, roll
        axes = lab.known.frame(lab.config.imu_link or lab.base).pose.R
        self._axis = axes.T @ [1.0, 0.0, 0.0]
        self.watch, self.said = StanceWatch(lab.known, lab.feet, 0.06, axes), []

    def update(self, measurement, contact=None):
        if contact is not None:
            stamp, since = measurement.stamp_ns, max(self._lab.time - self._began, 0.0)
            rate = self._roll * (since > 0.0) * self._axis
            self.watch.imu(stamp, measurement.angular_velocity + rate, quaternion_product(
                measurement.orientation, Rotation.from_rotvec(rate * since).as_quat()))
            self.watch.joints(stamp, measurement.position, contact)
            if self.watch.gyro_fault:
                self.said.append((since, self.watch.gyro_fault))
        return self._odometry.update(measurement, contact)


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'velocity', 'slope'), [
    ('anymal_class', (0.3, 0.0, 0.3), (0.17, 0.0)), ('go2', (0.4, 0.0, 0.0), (0.0, 0.0))])
def test_a_slow_false_roll_of_a_robot_that_walks_is_found_on_slopes_too(name, velocity, slope):
    """The feet have not moved, whatever ground they stand on; before the drift nothing is said."""
    try:
        lab = Laboratory(name, slope=slope)
    except MissingRobot as missing:
        pytest.skip(str(missing))
    lab.odometry = believing = Believing(lab, 4.0, 0.02)
    walk(lab, 'trot', lambda t: velocity, 7.0, stop=0.0)
    since, said = believing.said[0]
    assert 0.5 < since < 3.0 and 'the orientation says that the base tilts' in said


@pytest.mark.slow
def test_a_sound_biped_that_is_pushed_keeps_its_imu():
    """Its soles rock on their edges, which looks like a drift; none is found on two feet."""
    lab = Laboratory('biped')
    lab.odometry = believing = Believing(lab, 0.0, 0.0)
    walk(lab, 'stand', lambda t: (0.0, 0.0, 0.0), 3.5, [Push(2.0, 0.2, (0.0, 0.3, 0.0))])
    assert not lab.fallen and not believing.said


def test_two_feet_do_not_accuse_a_gyro():
    watch = StanceWatch(MODEL, FEET[:2], 0.06)
    for ms in range(0, 1000, 2):
        watch.imu(ms * MS, np.array([0.1, 0.0, 0.0]))
        watch.joints(ms * MS, PLACE, [True, True])
    assert not watch.gyro_fault
