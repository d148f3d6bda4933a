# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from motions import QUIET, RATE, Scene, known_robot, quadruped
from scipy.signal import butter, lfilter, lfilter_zi

from legged_dynamics.estimation import Fault, Measurement, Mode
from legged_dynamics.exceptions import ConfigurationError, MeasurementError, UnknownNameError
from legged_dynamics.model import Inertia, Joint, RobotConfig, RobotModel

NO_FILTER = {'force_filter.cutoff': 0.0}
# Axes are those of the middle of the last tick, half a tick from the samples described: a body
# that turns at 0.3 rad/s turns by 3e-4 in it. As a fraction of the weight.
MEAN_OF_TICKS = 5e-4
# What the base's equation does for a missing torque shares its doubt with an external wrench.
MADE_UP_FOR = 1e-3


def run(scene, count=40, settings=NO_FILTER, change=lambda m: m, contact=None):
    """Feed a scene's measurements; return the last estimate and the truth it describes."""
    estimator = known_robot(scene.model, scene.config, settings)
    for k in range(count):
        reaction = estimator.update(change(scene.measurement(k)), contact)
    return reaction, scene.truth(reaction.stamp_ns * 1e-9)[2]


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('down', [(1, 1, 1, 1), (1, 0, 0, 1), (0, 1, 1, 1)])
def test_exact_measurements_give_exact_forces_squeeze_included(seed, down):
    scene = Scene(*quadruped(**QUIET), seed=seed, down=down, squeeze=25.0 * (sum(down) > 2))
    if sum(down) == 2:      # two points cannot carry every motion: let motors and base agree
        scene.acceleration[:] = 0.0
    reaction, truth = run(scene, contact=down)
    assert reaction.mode is Mode.FUSED
    if sum(down) > 2:
        weight = scene.model.total_mass * 9.81
        np.testing.assert_allclose(reaction.raw_wrench, truth.wrench, atol=MEAN_OF_TICKS * weight)
        np.testing.assert_allclose(reaction.base_residual, np.zeros(6),
                                   atol=MEAN_OF_TICKS * weight)
        assert reaction.observable.all()
    assert not reaction.wrench[~np.array(down, bool)].any()


def test_detection_finds_the_feet_that_carry():
    scene = Scene(*quadruped(), motion=0.0, down=(1, 0, 1, 1), squeeze=0.0)
    reaction, truth = run(scene)
    assert reaction.contact.tolist() == [True, False, True, True]
    assert (reaction.contact_probability > 0.9).tolist() == [True, False, True, True]


def test_a_point_foot_gets_a_force_and_no_minimum_norm_wrench():
    """J^T w = tau solved for six unknowns at a point foot returns nonsense; for three, the force.

    A Go2-like leg (0.21 m links, hip offset 0.08 m) that carries 37 N straight up.
    """
    links = {'base': Inertia(6.9, np.zeros(3), 0.1 * np.eye(3)), 'hip': Inertia(0.01),
             'thigh': Inertia(0.01), 'calf': Inertia(0.01), 'foot': Inertia()}
    from legged_dynamics.spatial.frames import Transform

    def at(*p):
        return Transform(np.eye(3), np.array(p, float))
    joints = [Joint('hip', 'revolute', 'base', 'hip', at(0.19, 0.05, 0), np.array([1.0, 0, 0])),
              Joint('thigh', 'revolute', 'hip', 'thigh', at(0, 0.08, 0), np.array([0, 1.0, 0])),
              Joint('calf', 'revolute', 'thigh', 'calf', at(0, 0, -0.213), np.array([0, 1.0, 0])),
              Joint('ball', 'fixed', 'calf', 'foot', at(0, 0, -0.213))]
    model = RobotModel('leg', links, joints)
    config = RobotConfig.from_parameters({'robot.feet': ['foot'], 'noise.effort': 0.01})
    q = np.array([0.1, 0.8, -1.5])
    from legged_dynamics.dynamics import Motion, frame_poses
    p = frame_poses(model, q, ('foot', 'hip', 'thigh', 'calf'))
    force = np.array([0.0, 0.0, 37.0])
    axes = [np.array([1.0, 0, 0]), p['thigh'].R[:, 1], p['calf'].R[:, 1]]
    reach = [np.cross(axis, p['foot'].p - p[name].p) @ force
             for axis, name in zip(axes, ('hip', 'thigh', 'calf'))]
    from legged_dynamics.dynamics import inverse_dynamics
    still = np.zeros(3)
    tau = inverse_dynamics(model, Motion(q, still, still)).joint_effort - reach
    estimator = known_robot(model, config, {'fusion': 'torque_only'})
    for k in range(30):
        r = estimator.update(Measurement(k * 2_000_000, q, still, tau, still,
                                         np.array([0, 0, 9.81]), np.array([0, 0, 0, 1.0])))
    np.testing.assert_allclose(r.foot_rotation[0] @ r.raw_wrench[0, :3], force, atol=0.05)


def test_without_torque_the_sum_is_known_and_the_split_is_said_not_to_be():
    scene = Scene(*quadruped(**QUIET))
    reaction, truth = run(scene, change=lambda m: replace(m, effort=None), contact=[1] * 4)
    assert reaction.mode is Mode.BASE_ONLY
    assert reaction.faults & Fault.NO_EFFORT
    assert not reaction.observable.any()
    np.testing.assert_allclose(reaction.base_residual, np.zeros(6), atol=1e-3)
    error = np.abs(reaction.raw_wrench - truth.wrench)[:, :3].max()
    assert error > 5.0      # the squeeze is there and cannot be seen ...
    deviation = np.sqrt(np.diag(reaction.covariance).max())
    assert deviation > 0.1 * scene.model.total_mass * 9.81      # ... and the covariance says so
    assert np.isnan(reaction.external_torque).all()


def test_without_imu_torque_alone_carries_the_estimate():
    scene = Scene(*quadruped(), motion=0.0)
    reaction, truth = run(scene, change=lambda m: replace(m, angular_velocity=None,
                                                          linear_acceleration=None,
                                                          orientation=None))
    assert reaction.mode is Mode.TORQUE_ONLY
    assert reaction.faults & Fault.NO_IMU
    # Up is not known either, so a leg's own weight and the contact point are slightly off.
    weight = scene.model.total_mass * 9.81
    np.testing.assert_allclose(reaction.raw_wrench[:, :3], truth.wrench[:, :3], atol=0.03 * weight)
    assert np.isnan(reaction.base_residual).all()
    assert np.isfinite(reaction.wrench).all()


def test_one_dead_torque_sensor_is_made_up_for_by_the_base():
    scene = Scene(*quadruped(**QUIET))

    def dead(m):
        effort = m.effort.copy()
        effort[4] = np.nan
        return replace(m, effort=effort)
    reaction, truth = run(scene, change=dead, contact=[1] * 4)
    assert reaction.mode is Mode.FUSED
    assert reaction.faults == Fault.PARTIAL_EFFORT
    weight = scene.model.total_mass * 9.81
    np.testing.assert_allclose(reaction.raw_wrench, truth.wrench, atol=MADE_UP_FOR * weight)
    assert np.isnan(reaction.external_torque).tolist() == [j == 4 for j in range(12)]


def test_in_free_fall_nothing_touches():
    scene = Scene(*quadruped(), motion=0.0, down=(0, 0, 0, 0), squeeze=0.0)

    def fall(m):
        return replace(m, linear_acceleration=np.zeros(3), effort=np.zeros(12))
    for change in (fall, lambda m: replace(fall(m), effort=None)):
        reaction, _ = run(scene, change=change)
        assert not reaction.contact.any()
        np.testing.assert_allclose(reaction.wrench, 0.0, atol=1e-6 * scene.model.total_mass * 9.81)
        assert np.isnan(reaction.center_of_pressure).all()
        np.testing.assert_allclose(reaction.base_residual, np.zeros(6), atol=1e-3)


@pytest.mark.parametrize('half_window', [1, 2, 5])
def test_an_estimate_describes_the_sample_half_a_window_ago(half_window):
    scene = Scene(*quadruped(**QUIET))
    settings = {**NO_FILTER, 'derivative.half_window': half_window}
    estimator = known_robot(scene.model, scene.config, settings)
    for k in range(30):
        reaction = estimator.update(scene.measurement(k), [1] * 4)
        warm = k >= 2 * half_window
        assert (reaction.mode is not Mode.UNAVAILABLE) == warm
        assert bool(reaction.faults & Fault.WARMING_UP) != warm
        if warm:
            assert reaction.stamp_ns == round((k - half_window) * 1e9 / RATE)
    truth, beside = (scene.truth(reaction.stamp_ns * 1e-9 + late)[2].wrench
                     for late in (0.0, 1.0 / RATE))
    # Far nearer to the truth of its stamp than to that of the next sample: forces that change by
    # no more than errors of sensors explain are followed a fraction of a sample late.
    assert np.abs(reaction.raw_wrench - truth).max() < 0.2 * np.abs(beside - truth).max()


def test_forces_are_filtered_by_a_butterworth_low_pass():
    scene = Scene(*quadruped(**QUIET), motion=0.3)
    rng = np.random.default_rng(1)
    smoothing = known_robot(scene.model, scene.config, {'force_filter.cutoff': 40.0})
    plain = known_robot(scene.model, scene.config, NO_FILTER)
    latest, smooth = [], []
    for k in range(60):
        m = scene.measurement(k)
        noisy = replace(m, effort=m.effort + rng.normal(size=12))
        for estimator, found in ((plain, latest), (smoothing, smooth)):
            r = estimator.update(noisy, [1] * 4)
            if r.mode:
                found.append(r.base_rotation @ r.foot_rotation[2] @ r.wrench[2, :3])
    b, a = butter(2, 40.0, fs=RATE)
    expected, _ = lfilter(b, a, np.array(latest), axis=0,
                          zi=np.outer(lfilter_zi(b, a), latest[0]))
    np.testing.assert_allclose(smooth, expected, atol=1e-6)


def test_the_covariance_is_that_of_the_errors():
    """Over many noisy samples, normalised squared errors average to one per dimension."""
    scene = Scene(*quadruped(), motion=0.0)
    noise = scene.config.noise
    rng = np.random.default_rng(0)
    estimator = known_robot(scene.model, scene.config, NO_FILTER)
    exact = scene.measurement(0)
    truth = scene.truth(0.0)[2].wrench[:, :3]
    normalised = []
    for k in range(1500):
        r = estimator.update(replace(
            exact, stamp_ns=round(k * 1e9 / RATE),
            velocity=exact.velocity + noise.velocity * rng.normal(size=12),
            effort=exact.effort + noise.effort * rng.normal(size=12),
            angular_velocity=exact.angular_velocity + noise.gyro * rng.normal(size=3),
            linear_acceleration=(exact.linear_acceleration
                                 + noise.accelerometer * rng.normal(size=3))), [1] * 4)
        if r.mode:
            for i, foot in enumerate(r.feet):
                error = r.raw_wrench[i, :3] - truth[i]
                normalised.append(error @ np.linalg.solve(r.covariance_of(foot)[:3, :3], error))
    # Part of the stated torque noise is taken to last, which here it does not.
    assert 0.15 < np.mean(normalised) / 3.0 < 1.5


def test_up_is_found_without_an_orientation():
    scene = Scene(*quadruped(), motion=0.0)
    tilted, _ = run(scene, change=lambda m: replace(m, orientation=None))
    oriented, _ = run(scene)
    assert tilted.faults == Fault.NO_ORIENTATION
    np.testing.assert_allclose(tilted.base_rotation[2], oriented.base_rotation[2], atol=1e-9)
    np.testing.assert_allclose(tilted.raw_wrench, oriented.raw_wrench, atol=1e-6)


def test_centre_of_pressure_and_net_wrench_balance_the_robot_at_rest():
    scene = Scene(*quadruped(**QUIET), motion=0.0)
    r, _ = run(scene, count=80)
    up = r.base_rotation[2]
    net = r.net_wrench
    np.testing.assert_allclose(net[:3], scene.model.total_mass * 9.81 * up, atol=1e-3)
    # About the centre of pressure the ground has no tipping moment.
    about = net[3:] - np.cross(r.center_of_pressure, net[:3])
    heights = r.contact_point @ up
    if np.ptp(heights) < 1e-3:
        np.testing.assert_allclose(np.cross(about, up), np.zeros(3), atol=1e-2)


def test_a_reset_forgets_to_the_last_bit():
    scene = Scene(*quadruped())
    first, second = (known_robot(scene.model, scene.config) for _ in range(2))
    for k in range(20):
        first.update(scene.measurement(k))
    first.reset()
    for k in range(20):
        a, b = first.update(scene.measurement(k)), second.update(scene.measurement(k))
        assert a.data.tobytes() == b.data.tobytes()


def test_when_the_estimator_was_started_is_soon_forgotten():
    """A bag that begins later than the live run did gives the live run's estimates, nearly."""
    scene = Scene(*quadruped(), motion=0.0)
    measurements = [replace(scene.measurement(k), stamp_ns=10**18 + 2_000_000 * k + k % 3)
                    for k in range(1500)]
    early = known_robot(scene.model, scene.config)
    late = known_robot(scene.model, scene.config)
    for k, m in enumerate(measurements):
        a = early.update(m)
        if k >= 501:
            b = late.update(m)
    np.testing.assert_allclose(a.wrench, b.wrench, atol=1e-3 * scene.model.total_mass * 9.81)


def test_a_pressed_foot_is_down_however_high_it_stands():
    """Neither a pitched base nor a foot on a step makes a loaded foot carry nothing."""
    scene = Scene(*quadruped(**QUIET), motion=0.0, seed=3)
    heights = scene.truth(0.0)[2].wrench[:, 2]
    reaction, truth = run(scene, count=300)
    assert reaction.contact[np.linalg.norm(truth.wrench[:, :3], axis=1) > 40.0].all()
    assert heights.shape == (4,)
    deviation = np.sqrt(np.diag(reaction.covariance))
    assert (deviation > 0.0).all()


def test_a_push_on_the_body_is_not_the_feet():
    """What torques do not show and the base does is an external wrench; the feet keep theirs."""
    scene = Scene(*quadruped(), motion=0.0)
    weight = scene.model.total_mass * 9.81
    push = np.array([0.1 * weight, 0.05 * weight, 0.0])
    estimator = known_robot(scene.model, scene.config)
    for k in range(300):
        m = scene.measurement(k)
        if k >= 150:        # the same torques; the body accelerates as the push makes it
            mount = scene.model.frame(scene.config.imu_link).pose
            m = replace(m, linear_acceleration=m.linear_acceleration
                        + mount.R.T @ push / scene.model.total_mass)
        r = estimator.update(m, [1] * 4)
    truth = scene.truth(0.0)[2].wrench
    error = np.linalg.norm((r.raw_wrench - truth)[:, :3], axis=1)
    assert error.max() < 0.02 * weight
    np.testing.assert_allclose(r.external_wrench[:3], push, atol=0.03 * weight)


def test_a_payload_is_learned_and_not_put_into_squeeze():
    """The URDF lacks a tenth of the weight: torques and motion say so together."""
    scene = Scene(*quadruped(), motion=0.0)
    extra = 0.1 * scene.model.total_mass
    up = scene.truth(0.0)[1].T @ [0.0, 0.0, 1.0]
    estimator = known_robot(scene.model, scene.config)
    solver = scene.solver
    motion, _, solution = scene.truth(0.0)
    # The load sits in the base's origin: feet carry what they did and an even share of it.
    wrench = solution.wrench.copy()
    torque = solution.joint_effort.copy()
    share = extra * 9.81 * up / 4.0
    carried = solver.solve(motion, in_contact=[1] * 4, guess=wrench, ground_normal=up)
    from legged_dynamics.dynamics import frame_poses
    poses = frame_poses(scene.model, scene.q0)
    for foot in scene.config.feet:
        point = poses[foot.link].p - foot.radius * up
        for b in scene.model.chain(int(scene.model.frame(foot.link).body)):
            name = scene.model.joint_names[b - 1]
            pose = poses[next(j.child for j in scene.model.joints if j.name == name)]
            axis = pose.R @ next(j.axis for j in scene.model.joints if j.name == name)
            torque[b - 1] -= np.cross(axis, point - pose.p) @ share
    assert carried.rank == 6
    for k in range(600):
        r = estimator.update(replace(scene.measurement(k), effort=torque), [1] * 4)
    assert r.mass_error == pytest.approx(extra, rel=0.1)


def test_a_refused_measurement_leaves_no_trace():
    scene = Scene(*quadruped())
    clean, disturbed = (known_robot(scene.model, scene.config) for _ in range(2))
    for k in range(20):
        m = scene.measurement(k)
        if k > 5:
            position = m.position.copy()
            position[3] = np.nan
            with pytest.raises(MeasurementError, match='NaN or infinity for: position of RF_HAA'):
                disturbed.update(replace(m, position=position))
            with pytest.raises(MeasurementError, match='velocity: expected 12 values'):
                disturbed.update(replace(m, velocity=np.zeros(11)))
        a, b = clean.update(m), disturbed.update(m)
        assert a.data.tobytes() == b.data.tobytes()


@pytest.mark.parametrize(('field', 'value', 'message'), [
    ('position', None, 'position: expected 12 values in the model joint order, got None'),
    ('effort', np.zeros(1), r'effort: expected 12 values .* got shape \(1,\)'),
    ('angular_velocity', np.zeros(2), r'angular_velocity: expected 3 values, got shape \(2,\)'),
    ('linear_acceleration', np.zeros(1), r'linear_acceleration: expected 3 values'),
    ('orientation', np.zeros(3), r'orientation: expected 4 values'),
])
def test_what_does_not_fit_is_named(field, value, message):
    scene = Scene(*quadruped())
    estimator = known_robot(scene.model, scene.config)
    with pytest.raises(MeasurementError, match=message):
        estimator.update(replace(scene.measurement(0), **{field: value}))


def test_time_that_stands_still_jumps_back_or_leaps():
    scene = Scene(*quadruped())
    estimator = known_robot(scene.model, scene.config)
    for k in range(10):
        estimator.update(scene.measurement(k))
    with pytest.raises(MeasurementError, match='expected a stamp later than the last one'):
        estimator.update(scene.measurement(9))
    back = estimator.update(scene.measurement(2))
    assert back.faults == Fault.TIME_JUMPED_BACK | Fault.WARMING_UP
    assert back.mode is Mode.UNAVAILABLE
    for k in range(3, 8):
        reaction = estimator.update(scene.measurement(k))
    assert reaction.mode is Mode.FUSED
    leap = estimator.update(scene.measurement(500))
    assert leap.faults == Fault.GAP | Fault.WARMING_UP


def test_nothing_published_is_ever_nan():
    """Whatever is missing or broken, wrenches, contact and geometry stay finite."""
    scene = Scene(*quadruped())
    estimator = known_robot(scene.model, scene.config)
    rng = np.random.default_rng(0)
    modes = set()
    for k in range(300):
        m = scene.measurement(k)
        if rng.random() < 0.3:
            m = replace(m, effort=None)
        elif rng.random() < 0.3:
            effort = m.effort.copy()
            effort[rng.integers(12)] = np.nan
            m = replace(m, effort=effort)
        if rng.random() < 0.2:
            m = replace(m, angular_velocity=None, linear_acceleration=None)
        if rng.random() < 0.2:
            m = replace(m, orientation=None)
        r = estimator.update(m)
        modes.add(r.mode)
        for value in (r.wrench, r.raw_wrench, r.net_wrench, r.contact_probability,
                      r.contact_point, r.covariance, r.base_rotation):
            assert np.isfinite(value).all()
    assert modes == set(Mode)


def test_results_are_read_only():
    scene = Scene(*quadruped())
    reaction, _ = run(scene)
    with pytest.raises(ValueError, match='read-only'):
        reaction.wrench[0, 0] = 1.0
    with pytest.raises(AttributeError):
        reaction.stamp_ns = 3


@pytest.mark.parametrize(('settings', 'message'), [
    ({'fusion': 'all'}, 'fusion: expected one of fused, base_only, torque_only'),
    ({'rate': -5.0}, 'rate: expected a value from 1 to 10000 Hz'),
    ({'contact.clearence': 0.5}, r'contact.clearence is not .* Did you mean contact.clearance\?'),
    ({'derivative.half_window': -1}, 'derivative.half_window: expected a value from 0 to 50'),
])
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        known_robot(*quadruped(), settings)


def test_robots_that_cannot_be_estimated_are_refused():
    model, config = quadruped()
    with pytest.raises(ConfigurationError, match='expected at least one foot link, got none'):
        known_robot(model, RobotConfig.from_parameters({}))
    with pytest.raises(UnknownNameError, match='paw'):
        known_robot(model, RobotConfig.from_parameters({'robot.feet': ['paw']}))


def test_covariance_of_an_unknown_foot_lists_the_feet():
    reaction, _ = run(Scene(*quadruped()))
    with pytest.raises(UnknownNameError, match='LF_FOOT, RF_FOOT, LH_FOOT, RH_FOOT'):
        reaction.covariance_of('paw')


@pytest.mark.parametrize('half_window, periods', [(0, 0.5), (0, -0.5), (2, 1.5)])
def test_torques_that_are_older_than_their_sample_are_taken_from_a_later_one(half_window, periods):
    """A driver that stamps torques late; those of the instant are in the next sample."""
    scene = Scene(*quadruped(**QUIET))
    age = periods / RATE
    late = Scene(*quadruped(**QUIET, **{'noise.effort_age': age}))
    settings = {**NO_FILTER, 'derivative.half_window': half_window, 'ground.limits': 'none'}
    exact, told, untold = (known_robot(s.model, s.config, settings)
                           for s in (scene, late, scene))
    found = {}
    for k in range(40):
        t = k / RATE
        for name, estimator, shift in (('exact', exact, 0.0), ('told', told, age),
                                       ('untold', untold, age)):
            m = scene.measurement(k)
            m.effort[:] += 400.0 * np.sin(30.0 * (t - shift)) * np.cos(np.arange(12.0))
            found[name] = estimator.update(m, [1] * 4).raw_wrench
    assert np.abs(found['told'] - found['exact']).max() < 0.02 * np.abs(
        found['untold'] - found['exact']).max()


@pytest.mark.parametrize('half_window', [0, 3])
def test_torques_of_a_sample_that_is_not_there_are_refused(half_window):
    with pytest.raises(ConfigurationError, match='noise.effort_age: expected at least'):
        known_robot(*quadruped(**{'noise.effort_age': -0.009}),
                                {'derivative.half_window': half_window})
