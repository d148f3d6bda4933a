# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Where the base is, by legs and IMU: exact on exact motions, near the truth in simulation."""
from functools import cache

import numpy as np
import pytest
from motions import QUIET, quadruped
from robots import CONFIG

from legged_dynamics.dynamics import frame_poses
from legged_dynamics.estimation import LegOdometry, Measurement, OdometryFault
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import FlatFoot, RobotModel
from legged_dynamics.simulation import Schedule, SimulatedRobot
from legged_dynamics.spatial.rotations import (
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
    rotation_vector,
)

PERIOD = 2_000_000
NOMINAL = np.tile([0.0, 0.4, -0.8], 2).tolist() + np.tile([0.0, -0.4, 0.8], 2).tolist()


@cache
def mount():
    return quadruped()[0].frame('imu_link').pose.R


def measured(stamp, q, v, R, w, acceleration=(0.0, 0.0, 9.81)):
    """Return the quadruped's measurement; proper acceleration in the world, w in base axes."""
    R_BI = mount()
    return Measurement(stamp, q, v, None, R_BI.T @ w, R_BI.T @ R.T @ np.array(acceleration),
                       quaternion_from_rotation(R @ R_BI))


def still(stamp, q, R=None):
    return measured(stamp, q, np.zeros(12), np.eye(3) if R is None else R, np.zeros(3))


@cache
def simulated(name, schedule, seconds, seed=0):
    """Return (model, config, [(measurement, truth)]) of a simulated robot."""
    path = CONFIG / 'robots' / f'{name}.yaml'
    robot = SimulatedRobot.from_files(path, schedule=Schedule.from_text(schedule), seed=seed)
    from legged_dynamics.model import RobotConfig
    model = RobotModel.from_urdf(robot.plant.urdf)
    order = [robot.plant.joints.index(joint) for joint in model.joint_names]
    run = []
    while robot.time < seconds:
        s = robot.read()
        run.append((Measurement(s.stamp_ns, s.position[order], s.velocity[order], None,
                                s.angular_velocity, s.linear_acceleration, s.orientation),
                    robot.truth()))
        robot.step()
    return model, RobotConfig.from_yaml(path), run


def follow(model, config, run, change=lambda m: m, contacts=True, **settings):
    """Return errors of position [m], orientation [rad] and twist, and the last state."""
    odometry = LegOdometry(model, config, {f'odometry.{k}': v for k, v in settings.items()})
    errors, offset = [], None
    for measurement, truth in run:
        state = odometry.update(change(measurement), truth.feet.contact if contacts else None)
        R = rotation_from_quaternion(truth.base_orientation)
        if offset is None:
            offset = truth.base_position - state.position
        errors.append([*(state.position - truth.base_position + offset),
                       *rotation_vector(state.rotation.T @ R), *(state.twist
                                                                 - truth.base_velocity)])
    return np.array(errors), state


def rms(errors):
    return np.sqrt((errors[len(errors) // 5:] ** 2).mean(axis=0))


@pytest.mark.parametrize('name', ['anymal_class', 'solo_class'])
def test_a_noisy_standing_robot_is_where_it_is(name):
    errors, state = follow(*simulated(name, 'stand 9', 1.0), contacts=False)
    deviation = rms(errors)
    assert (deviation[:3] < 2e-3).all()             # the ground gives way by 1 mm under the start
    assert (deviation[3:6] < 5e-4).all()            # the sensor's own noise is 2e-3
    assert (deviation[6:9] < 1.5e-3).all()          # one foot's is 5e-3
    assert (deviation[9:] < 3.5e-3).all()
    assert state.steps == 0 and state.slips == 0 and not state.faults
    assert state.foot_offset.max() < 1e-3


def test_a_trotting_robot_is_followed_over_ground():
    errors, state = follow(*simulated('anymal_class', 'stand 0.5, trot_forward 9', 3.5))
    assert state.position[0] > 0.5
    assert (np.abs(errors[-1, :2]) < 3e-3).all()
    assert (np.abs(errors[:, 3:6]).max(axis=0) < 5e-3).all()
    assert (rms(errors)[6:9] < 8e-3).all()
    assert state.steps > 10 and state.slips == 0
    assert 0.5e-3 < state.position_deviation < 5e-3


def test_deviations_of_orientation_and_turning_cover_the_errors():
    def blind(m):
        return Measurement(m.stamp_ns, m.position, m.velocity, None, m.angular_velocity,
                           m.linear_acceleration)
    model, config, run = simulated('anymal_class', 'stand 0.5, trot_forward 9', 3.5)
    errors, state = follow(model, config, run)
    off, said = rms(errors), (state.tilt_deviation, state.heading_deviation, state.rate_deviation)
    for error, deviation in zip((off[3:5].max(), off[5], off[9:].max()), said):
        assert 0.1 * deviation < error < 2.0 * deviation
    _, blind_state = follow(model, config, run, blind)
    assert blind_state.tilt_deviation > state.tilt_deviation
    # Without its reference the heading drifts as the feet step.
    _, early = follow(model, config, run[:300], blind)
    assert blind_state.heading_deviation > 1.5 * early.heading_deviation


def test_on_flat_ground_the_height_does_not_drift():
    run = simulated('solo_class', 'stand 0.3, trot_in_place 9', 2.5)
    free, flat = (follow(*run, flat_ground=known)[0][:, 2] for known in (False, True))
    early, late = slice(400, 500), slice(-100, None)
    assert abs(free[late].mean() - free[early].mean()) > 2e-3
    assert abs(flat[late].mean() - flat[early].mean()) < 5e-4


def test_without_orientation_the_feet_hold_the_heading():
    def blind(m):
        return Measurement(m.stamp_ns, m.position, m.velocity, None, m.angular_velocity,
                           m.linear_acceleration)
    model, config, run = simulated('anymal_class', 'stand 9', 1.0)
    run = run[100:]         # it has come to rest by then
    errors, state = follow(model, config, run, blind)
    assert state.faults == OdometryFault.NO_ORIENTATION
    assert (np.abs(errors[:, 3:5]).max(axis=0) < 2e-2).all()    # of one sample, moving a little
    assert (np.abs(errors[100:, 3:5]).max(axis=0) < 4e-3).all()
    assert np.abs(errors[:, 5] - errors[0, 5]).max() < 2e-3
    errors, state = follow(model, config, run, lambda m: Measurement(m.stamp_ns, m.position,
                                                                     m.velocity))
    assert state.faults == OdometryFault.NO_IMU
    assert (rms(errors)[:3] < 5e-3).all() and (rms(errors)[9:] < 0.03).all()


def test_a_heading_of_the_imu_that_drifts_is_resisted_or_left_out():
    model, config, run = simulated('anymal_class', 'stand 9', 1.0)

    def drifting(m):
        t = (m.stamp_ns - run[0][0].stamp_ns) * 1e-9
        R = rotation_from_vector([0.0, 0.0, 0.05 * t]) @ rotation_from_quaternion(m.orientation)
        return Measurement(m.stamp_ns, m.position, m.velocity, None, m.angular_velocity,
                           m.linear_acceleration, quaternion_from_rotation(R))
    pulled, _ = follow(model, config, run, drifting)
    held, _ = follow(model, config, run, drifting, heading='feet')
    assert abs(held[-1, 5] - held[0, 5]) < 3e-3
    assert 3.0 * abs(held[-1, 5] - held[0, 5]) < abs(pulled[-1, 5]) < 0.04


def foot_points(model, config, q, R):
    poses = frame_poses(model, q, tuple(foot.link for foot in config.feet))
    return np.array([poses[foot.link].p - foot.radius * R[2] for foot in config.feet])


def lower(model, config, steps=400, drop=0.12, turn=0.2):
    """Return measurements and truth of a body that sinks and pitches over feet that roll."""
    from scipy.optimize import least_squares
    q0, R0 = np.array(NOMINAL), np.eye(3)
    order = [config.joints.index(name) for name in model.joint_names]
    q = q0[order]
    links = tuple(foot.link for foot in config.feet)
    radius = config.feet[0].radius
    start = frame_poses(model, q, links)
    p = np.array([0.0, 0.0, -foot_points(model, config, q, R0)[:, 2].mean()])
    centers = np.array([p + start[link].p for link in links])
    turned = [start[link].R for link in links]
    run = []
    for k in range(steps + 1):
        s = k / steps
        s = 10 * s ** 3 - 15 * s ** 4 + 6 * s ** 5
        R, p_now = rotation_from_vector([0.0, turn * s, 0.0]), p - [0.0, 0.0, drop * s]

        def residual(q, R=R, p_now=p_now):
            poses = frame_poses(model, q, links)
            off = []
            for i, link in enumerate(links):
                # Rolling: the centre moves by the ball's turn times the radius.
                roll = rotation_vector(R @ poses[link].R @ turned[i].T)
                off.append(p_now + R @ poses[link].p - centers[i]
                           - np.cross(roll, [0.0, 0.0, radius]))
            return np.concatenate(off)
        q = least_squares(residual, q, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        poses = frame_poses(model, q, links)
        for i, link in enumerate(links):
            R_WF = R @ poses[link].R
            centers[i] = p_now + R @ poses[link].p
            turned[i] = R_WF
        run.append((q.copy(), p_now.copy(), R))
    return run


@pytest.mark.parametrize(('radius', 'error'), [(None, 2e-4), (0.0, None)])
def test_balls_roll_on_the_ground(radius, error):
    """A body that sinks and pitches: a ball taken for a point would lose millimetres."""
    model, config = quadruped(**QUIET)
    path = lower(model, config, steps=60)
    _, other = quadruped(**QUIET, **({} if radius is None else {'robot.foot_radius': radius}))
    odometry = LegOdometry(model, other)
    h = PERIOD * 1e-9 * 5
    for k, (q, _, R) in enumerate(path):
        last, following = path[max(k - 1, 0)], path[min(k + 1, len(path) - 1)]
        w = rotation_vector(last[2].T @ following[2]) / (2 * h)
        v = (following[0] - last[0]) / (2 * h)
        state = odometry.update(measured(5 * PERIOD * k, q, v, R, w))
    moved = state.position - path[0][1]
    miss = np.linalg.norm((moved - (path[-1][1] - path[0][1]))[:2])
    if error is not None:
        assert miss < error
    else:
        assert miss > 1e-3


def test_the_world_starts_on_the_ground_amid_the_feet():
    model, config = quadruped(**QUIET)
    q = np.array(NOMINAL)
    R = rotation_from_vector([0.0, 0.1, 0.7])
    state = LegOdometry(model, config).update(still(0, q, R))
    np.testing.assert_allclose(state.foot_position.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(state.rotation, R, atol=1e-9)
    points = foot_points(model, config, q, R)
    np.testing.assert_allclose(state.position, -R @ points.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(state.twist, 0.0, atol=1e-6)
    assert not state.position.flags.writeable


def test_feet_that_land_get_new_places_and_those_in_the_air_say_nothing():
    model, config = quadruped(**QUIET)
    q, odometry = np.array(NOMINAL), LegOdometry(model, config)
    for k in range(20):
        state = odometry.update(still(k * PERIOD, q))
    before = state
    swung = q.copy()
    swung[model.joint_index('LF_HFE')] += 0.2
    for k in range(20, 40):
        state = odometry.update(still(k * PERIOD, swung), [False, True, True, True])
    np.testing.assert_allclose(state.position, before.position, atol=1e-6)
    assert abs(state.foot_position[0, 0] - before.foot_position[0, 0]) > 0.02
    assert state.steps == 0 and not state.contact[0]
    for k in range(40, 60):
        state = odometry.update(still(k * PERIOD, swung))
    assert state.steps == 1 and state.contact.all()
    assert state.position_deviation > 0.0
    np.testing.assert_allclose(state.position, before.position, atol=1e-6)


def test_a_foot_that_slips_is_found_and_gets_a_new_place():
    model, config = quadruped(**QUIET)
    q, odometry = np.array(NOMINAL), LegOdometry(model, config)
    for k in range(20):
        state = odometry.update(still(k * PERIOD, q))
    away = q.copy()
    away[model.joint_index('RF_HFE')] += 0.15
    slipped = odometry.update(still(20 * PERIOD, away))
    assert slipped.faults == OdometryFault.SLIP and slipped.slips == 1
    for k in range(21, 40):
        state = odometry.update(still(k * PERIOD, away))
    assert not state.faults and state.slips == 1
    assert np.linalg.norm(state.position) == pytest.approx(0.5, abs=0.05)


def test_a_foot_off_its_place_is_thought_to_slip_before_it_gets_a_new_one():
    odometry, q = LegOdometry(*quadruped()), np.array(NOMINAL)
    for k in range(20):
        state = odometry.update(still(k * PERIOD, q))
    assert (state.slip_probability < 0.02).all()
    away = q.copy()
    away[1] += 0.03     # about 15 mm at the foot, less than slip_distance
    state = odometry.update(still(20 * PERIOD, away))
    assert 5e-3 < state.foot_offset[0] < 0.02 and state.slips == 0
    assert state.slip_probability[0] > 0.5 > state.slip_probability[3]
    state = odometry.update(still(21 * PERIOD, q), [False, True, True, True])
    assert state.slip_probability[0] == 0.0


def test_in_the_air_gyro_and_accelerometer_carry_on():
    model, config = quadruped(**QUIET)
    q, odometry, nobody = np.array(NOMINAL), LegOdometry(model, config), [False] * 4
    for k in range(10):
        state = odometry.update(still(k * PERIOD, q))
    z = state.position[2]
    for k in range(10, 60):
        state = odometry.update(measured(k * PERIOD, q, np.zeros(12), np.eye(3), np.zeros(3),
                                         np.zeros(3)), nobody)
    assert state.faults == OdometryFault.NO_STANCE
    t = 0.1
    np.testing.assert_allclose(state.twist[2], -9.81 * t, rtol=0.03)
    np.testing.assert_allclose(state.position[2] - z, -9.81 * t * t / 2.0, rtol=0.06)


def test_gaps_and_jumps_of_time_are_said():
    model, config = quadruped(**QUIET)
    q, odometry = np.array(NOMINAL), LegOdometry(model, config)
    odometry.update(still(0, q))
    first = odometry.update(still(PERIOD, q))
    after = odometry.update(still(PERIOD + 500_000_000, q))
    assert after.faults == OdometryFault.GAP
    np.testing.assert_allclose(after.position, first.position, atol=1e-9)
    assert odometry.update(still(0, q)).faults == OdometryFault.TIME_JUMPED_BACK
    with pytest.raises(MeasurementError, match='again'):
        odometry.update(still(0, q))


def test_measurements_that_do_not_fit_are_refused_and_nothing_is_lost():
    model, config = quadruped(**QUIET)
    q, odometry = np.array(NOMINAL), LegOdometry(model, config)
    odometry.update(still(0, q))
    for bad, message in ((still(PERIOD, q[:5]), 'position: expected 12 values'),
                         (still(PERIOD, np.full(12, np.nan)), 'finite joint positions')):
        with pytest.raises(MeasurementError, match=message):
            odometry.update(bad)
    with pytest.raises(MeasurementError, match='contact'):
        odometry.update(still(PERIOD, q), [True])
    assert not odometry.update(still(PERIOD, q)).faults
    with pytest.raises(ConfigurationError, match='odometry.settling'):
        LegOdometry(model, config, {'odometry.settling': -1.0})


def test_a_flat_foot_alone_holds_all_of_the_base():
    """One sole holds position and heading; turned legs and body cancel out."""
    from dataclasses import replace

    from robots import TWO_LEGS

    from legged_dynamics.model import RobotConfig
    model = RobotModel.from_urdf(TWO_LEGS)
    config = replace(RobotConfig.from_parameters({
        'robot.feet': ['l_foot', 'r_foot'], 'robot.imu_link': 'imu', **QUIET}),
        feet=(FlatFoot('l_foot', 0.1, -0.1, 0.05, -0.05),
              FlatFoot('r_foot', 0.1, -0.1, 0.05, -0.05)))
    odometry, mount = LegOdometry(model, config), model.frame('imu').pose
    q0, h = np.array([0.05, 0.3, -0.6, 0.02, 0.2, -0.4]), 0.01
    v0 = np.array([0.2, -0.5, 0.9, 0.0, 0.0, 0.0])
    foot = frame_poses(model, q0, ('l_foot',))['l_foot']
    for k in range(40):
        q = q0 + k * h * v0
        now, soon = (frame_poses(model, q + d * v0, ('l_foot',))['l_foot'] for d in (0.0, 1e-6))
        # The foot stays: the base's pose is the inverse of the leg's.
        R = foot.R @ now.R.T
        p = foot.p - R @ now.p
        w = -rotation_vector(soon.R @ now.R.T) / 1e-6
        state = odometry.update(Measurement(
            round(k * h * 1e9), q, v0, None, mount.R.T @ w, mount.R.T @ R.T @ [0, 0, 9.81], None),
            [True, False])
        if k == 0:
            first, R_first, p_first = state, R, p
    np.testing.assert_allclose(first.rotation.T @ state.rotation, R_first.T @ R, atol=2e-3)
    np.testing.assert_allclose(first.rotation.T @ (state.position - first.position),
                               R_first.T @ (p - p_first), atol=2e-3)
    assert np.linalg.norm(rotation_vector(R_first.T @ R)) > 0.15
