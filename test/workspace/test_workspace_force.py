# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors on SE(3), what is asked of the body by them, and how the error then goes to zero."""
import numpy as np
import pytest

from legged_dynamics.spatial.rotations import (
    rotation_from_vector,
    rotation_vector,
    skew,
)
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.workspace_dynamics import (
    SERVO,
    wanted_acceleration,
    workspace_force,
)

OPEN = np.array([[0.0] * 6, [0.0] * 6, [0.0] * 6, [1e6] * 6, [1e6] * 6])


def gains(stiffness=100.0, damping=20.0, integral=0.0, windup=1e6, limit=1e6):
    return np.array([[value] * 6 for value in (stiffness, damping, integral, windup, limit)])


def body(position, rotation, twist=(0.0,) * 6):
    return np.concatenate([np.ravel(rotation), position, twist])


def asked(state, target, table=OPEN, integral=None, dt=0.0):
    out = np.zeros((4, 6))
    wanted_acceleration(state, target.packed, table,
                        np.zeros(6) if integral is None else integral, dt, out)
    return out


@pytest.mark.parametrize('turn', [1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-6])
def test_the_error_is_the_logarithm_of_the_rotation(turn):
    axis = np.array([0.48, -0.6, 0.64])
    R_d = rotation_from_vector([0.3, 0.2, -1.0])
    R = R_d @ rotation_from_vector(turn * axis)
    error = asked(body([1.0, 2.0, 3.0], R), BodyTarget.of([0.9, 2.2, 3.0], R_d))[SERVO.error]
    np.testing.assert_allclose(error[3:], turn * axis, atol=1e-8)
    np.testing.assert_allclose(error[:3], R.T @ [0.1, -0.2, 0.0], atol=1e-12)


def test_an_exact_half_turn_has_an_axis():
    for axis in (np.eye(3)[0], np.eye(3)[1], np.eye(3)[2], np.array([0.6, 0.0, 0.8])):
        R = 2.0 * np.outer(axis, axis) - np.eye(3)
        error = asked(body(np.zeros(3), R), BodyTarget.of(np.zeros(3), np.eye(3)))[SERVO.error]
        assert np.linalg.norm(error[3:]) == pytest.approx(np.pi)
        np.testing.assert_allclose(np.abs(error[3:] @ axis), np.pi, atol=1e-12)


def motion(t, seed):
    """Return pose, body twist and its derivative at a time, of a smooth motion."""
    rng = np.random.default_rng(seed)
    a, b, c, d = (0.3 * rng.normal(size=3) for _ in range(4))

    def pose(t):
        return (a * np.sin(2.0 * t) + b * t, rotation_from_vector(c + d * np.sin(3.0 * t)
                                                                  + a * t))

    def twist(t, h=1e-5):
        p0, R0 = pose(t - h)
        p1, R1 = pose(t + h)
        R = pose(t)[1]
        return np.concatenate([R.T @ (p1 - p0), rotation_vector(R0.T @ R1)]) / (2.0 * h)

    h = 1e-4
    return *pose(t), twist(t), (twist(t + h) - twist(t - h)) / (2.0 * h)


@pytest.mark.parametrize('seed', range(4))
def test_the_twist_error_of_a_body_that_does_as_asked_stays(seed):
    """Without gains the law asks for the target's acceleration, carried over: V_err is constant.

    So d/dt V_err = wanted - what was carried over is zero whatever the target does.
    """
    h = 1e-4
    for t in (0.2, 0.9):
        rates = []
        for s in (t - h, t + h):
            p, R, V, _ = motion(s, seed)
            p_d, R_d, V_d, A_d = motion(s, seed + 50)
            rates.append(asked(body(p, R, V), BodyTarget.of(p_d, R_d, V_d, A_d))[SERVO.rate])
        p, R, V, A = motion(t, seed)
        p_d, R_d, V_d, A_d = motion(t, seed + 50)
        out = asked(body(p, R, V), BodyTarget.of(p_d, R_d, V_d, A_d))
        np.testing.assert_allclose((rates[1] - rates[0]) / (2.0 * h), A - out[SERVO.wanted],
                                   atol=2e-5)


def test_the_body_and_target_that_agree_ask_for_nothing_more():
    p, R, V, A = motion(0.4, 3)
    out = asked(body(p, R, V), BodyTarget.of(p, R, V, A), gains())
    np.testing.assert_allclose(out[SERVO.error], 0.0, atol=1e-12)
    np.testing.assert_allclose(out[SERVO.rate], 0.0, atol=1e-12)
    np.testing.assert_allclose(out[SERVO.wanted], A, atol=1e-9)


def test_gains_pull_along_their_axes():
    table = OPEN.copy()
    table[0] = [1, 2, 3, 4, 5, 6]
    table[1] = [10, 20, 30, 40, 50, 60]
    R = rotation_from_vector([0.0, 0.0, np.pi / 2])
    out = asked(body([1.0, 0.0, 0.0], R, [0, 0, 1, 1, 0, 0]), BodyTarget.of(np.zeros(3), R), table)
    np.testing.assert_allclose(out[SERVO.error], [0, -1, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(out[SERVO.wanted], [0, 2, -30, -40, 0, 0], atol=1e-12)


def test_the_integral_grows_with_the_error_and_no_further_than_allowed():
    table, integral = gains(integral=10.0, windup=0.5), np.zeros(6)
    state, target = body([0.02, 0.0, 0.0], np.eye(3)), BodyTarget.of(np.zeros(3), np.eye(3))
    without = asked(state, target, gains())[SERVO.wanted]
    for _ in range(10):
        out = asked(state, target, table, integral, 0.01)
    np.testing.assert_allclose(out[SERVO.wanted, 0] - without[0], -10.0 * 0.02 * 0.1)
    for _ in range(1000):
        out = asked(state, target, table, integral, 0.01)
    np.testing.assert_allclose(out[SERVO.wanted, 0] - without[0], -0.5)
    back = body([-0.02, 0.0, 0.0], np.eye(3))
    for _ in range(250):        # it comes out of its limit at once, and not after as long again
        out = asked(back, target, table, integral, 0.01)
    np.testing.assert_allclose(out[SERVO.wanted, 0] + without[0], 0.0, atol=1e-9)


def test_the_integral_stays_where_it_is_in_the_world():
    table, integral = gains(integral=10.0), np.array([0.03, 0.0, 0.0, 0.0, 0.0, 0.01])
    R = rotation_from_vector([0.0, 0.0, np.pi / 2])
    out = asked(body(np.zeros(3), R), BodyTarget.of(np.zeros(3), R), table, integral)
    np.testing.assert_allclose(out[SERVO.wanted], [0.0, 0.3, 0.0, 0.0, 0.0, -0.1], atol=1e-12)
    np.testing.assert_allclose(integral, [0.03, 0.0, 0.0, 0.0, 0.0, 0.01], atol=1e-15)


def test_errors_ask_for_no_more_than_the_limit_and_it_is_said():
    out = asked(body([0.0, 3.0, -4.0], np.eye(3)),
                BodyTarget.of(np.zeros(3), np.eye(3), acceleration=[1.0, 0, 0, 0, 0, 0]),
                gains(limit=7.0))
    np.testing.assert_allclose(out[SERVO.wanted], [1.0, -4.2, 5.6, 0.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(out[SERVO.cut], [1, 1, 1, 0, 0, 0])


def test_the_force_is_inertia_times_acceleration_and_bias():
    rng = np.random.default_rng(0)
    inertia, bias, wanted, force = rng.normal(size=(6, 6)), *rng.normal(size=(3, 6))
    workspace_force(inertia, bias, wanted, force)
    np.testing.assert_allclose(force, inertia @ wanted + bias)


def test_a_free_body_under_the_law_comes_to_its_target():
    """Integrate a body that does exactly what is asked, towards a moving target."""
    p, R = np.array([0.2, -0.1, 0.3]), rotation_from_vector([0.8, -0.5, 0.4])
    V, h = np.array([0.1, 0.3, -0.2, 0.5, -0.4, 0.2]), 2e-3
    table = gains(stiffness=40.0, damping=9.0)
    for k in range(1500):
        p_d, R_d, V_d, A_d = motion(k * h, 7)
        out = asked(body(p, R, V), BodyTarget.of(p_d, R_d, V_d, A_d), table)
        V = V + h * out[SERVO.wanted]
        p = p + h * R @ V[:3]
        R = R @ (np.eye(3) + h * skew(V[3:]) + 0.5 * h * h * skew(V[3:]) @ skew(V[3:]))
        R = rotation_from_vector(rotation_vector(R))
    assert np.linalg.norm(out[SERVO.error]) < 5e-3
