# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Feet that stand tell how the base turns: a gyro or an encoder that drifts is seen."""
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.safety.stance_watch import StanceWatch

FILES = CONFIG / 'robots' / 'anymal_class'
CONFIGURED = RobotConfig.from_yaml(FILES.with_suffix('.yaml'))
MODEL = CONFIGURED.apply_to(RobotModel.from_urdf(FILES.with_suffix('.urdf')))
FEET = [foot.link for foot in CONFIGURED.feet]
PLACE = CONFIGURED.nominal_in(MODEL)
STANDS = [True] * 4
MS = 1_000_000


def watched(position, gyro, seconds=2.0, stance=lambda t: STANDS):
    """Return a watch after joint states and gyro readings, functions of time [s]."""
    watch = StanceWatch(MODEL, FEET, 0.06)
    for ms in range(0, round(1e3 * seconds), 2):
        watch.gyro(ms * MS, gyro(1e-3 * ms))
        watch.joints(ms * MS, position(1e-3 * ms), stance(1e-3 * ms))
    return watch


def legs_of(angle):
    """Return joint positions whose feet stand still while the base rolls by an angle."""
    from scipy.optimize import least_squares
    from scipy.spatial.transform import Rotation

    from legged_dynamics.dynamics.kinematics import frame_poses

    def feet(q):
        return np.array([frame_poses(MODEL, q, tuple(FEET))[foot].p for foot in FEET])
    wanted = feet(PLACE) @ Rotation.from_rotvec([angle, 0.0, 0.0]).as_matrix()
    return least_squares(lambda q: (feet(q) - wanted).ravel(), PLACE).x


def test_a_gyro_that_drifts_on_a_robot_that_stands_is_named():
    assert not watched(lambda t: PLACE, lambda t: np.zeros(3)).gyro_fault
    watch = watched(lambda t: PLACE, lambda t: np.array([0.1, 0.0, 0.0]), 0.8)
    assert '0.10 rad/s, the legs in stance say 0.00' in watch.gyro_fault
    small = watched(lambda t: PLACE, lambda t: np.array([0.04, 0.0, 0.0]))
    assert not small.gyro_fault


def test_odd_looks_with_good_ones_between_are_no_drift():
    """A jolt and its end: one look sees the one, and half a second later one sees the other."""
    def jolt(t):
        return np.array([1.0 * (1.0 < t <= 1.05) - 1.0 * (1.05 < t <= 1.1), 0.0, 0.0])
    for seconds in np.arange(1.0, 2.5, 0.1):
        assert not watched(lambda t: PLACE, jolt, seconds).gyro_fault
    # Without the end it is seen at two looks in a row.
    assert watched(lambda t: PLACE, lambda t: np.maximum(jolt(t), 0.0), 1.104).gyro_fault


def test_a_base_that_truly_turns_is_believed_and_one_that_does_not_is_not():
    end = legs_of(0.1)

    def turning(t):     # small angles: the legs follow in proportion
        return PLACE + (end - PLACE) * t
    assert not watched(turning, lambda t: np.array([0.1, 0.0, 0.0]), 1.0).gyro_fault
    assert '0.00 rad/s, the legs in stance say 0.1' in watched(
        turning, lambda t: np.zeros(3), 1.0).gyro_fault


@pytest.mark.parametrize('rate', [0.05, 0.2])
def test_an_encoder_that_drifts_moves_a_foot_that_stands(rate):
    knee = MODEL.joint_index('LF_KFE')

    def drifting(t):
        position = PLACE.copy()
        position[knee] += rate * t
        return position
    assert 'LF_FOOT has moved by' in watched(drifting, lambda t: np.zeros(3), 2.0).foot_note
    # A leg that swings may move, and one that has landed starts anew.
    swings = watched(drifting, lambda t: np.zeros(3), 2.0,
                     lambda t: [t > 1.95, True, True, True])
    assert not swings.foot_note and not swings.gyro_fault


def test_without_three_feet_in_stance_nothing_is_said():
    for stance in (None, [True, False, False, True]):
        watch = watched(lambda t: PLACE, lambda t: np.array([0.5, 0.0, 0.0]), 1.0,
                        lambda t, stance=stance: stance)
        assert not watch.gyro_fault and not watch.foot_note
