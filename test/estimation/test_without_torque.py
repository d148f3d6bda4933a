# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What motion alone tells: standing on any ground, load that passes over, and doubt."""
from dataclasses import replace

import numpy as np
import pytest
from motions import Scene, quadruped

from legged_dynamics.dynamics.jacobians import START
from legged_dynamics.estimation import Fault, GroundReactionEstimator, Measurement, Mode
from legged_dynamics.model import FlatFoot, Inertia, Joint, RobotConfig, RobotModel
from legged_dynamics.spatial.frames import Transform


def without_torque(scene, count, noise=0.0, rates=None):
    rng = np.random.default_rng(1)
    estimator = GroundReactionEstimator(scene.model, scene.config, {'rate': rates or 500.0})
    found = []
    for k in range(count):
        m = replace(scene.measurement(k), effort=None)
        if noise:
            m = replace(m, velocity=m.velocity + 0.01 * noise * rng.normal(size=12),
                        angular_velocity=m.angular_velocity + 3e-3 * noise * rng.normal(size=3),
                        linear_acceleration=m.linear_acceleration
                        + 0.05 * noise * rng.normal(size=3))
        found.append(estimator.update(m))
    return found


@pytest.mark.parametrize('noise', [0.0, 1.0], ids=['exact', 'noisy'])
@pytest.mark.parametrize('pose', ['slope', 'step'])
def test_feet_at_rest_stand_on_slopes_and_steps(pose, noise):
    scene = Scene(*quadruped(), motion=0.0, squeeze=0.0)
    if pose == 'slope':         # 25 degrees, the body with it
        from legged_dynamics.spatial.rotations import rotation_from_vector
        scene.R_WB = rotation_from_vector(np.array([0.0, np.radians(25.0), 0.0]))
    else:                       # one foot drawn up by a third of the leg
        scene.q0[1] += 0.75
        scene.q0[2] -= 1.5
    for r in without_torque(scene, 150, noise)[50:]:
        assert r.mode is Mode.BASE_ONLY and r.contact.all()
        error = r.raw_wrench[:, :3] - scene.truth(0.0)[2].wrench[:, :3]
        deviation = np.array([[np.sqrt(r.covariance[i + k, i + k]) for k in range(3)]
                              for i in r.layout.table.index[:, START]])
        assert (deviation > 0.0).all()
        rotated = np.einsum('fij,fj->fi', r.foot_rotation, error)
        assert (np.abs(rotated) < 2.0 * deviation + 1e-6).mean() > 0.9


def two_soles(side_of_mass=0.0, knees='fixed'):
    """Return a body of 40 kg on two massless legs, soles 0.2 m apart."""
    links = {'base': Inertia(40.0, np.array([0.0, side_of_mass, 0.0]), np.eye(3))}
    joints = []
    for side, y in (('r', -0.1), ('l', 0.1)):
        links[f'leg_{side}'], links[f'sole_{side}'] = Inertia(1e-3), Inertia()
        joints.append(Joint(f'hip_{side}', 'revolute', 'base', f'leg_{side}',
                            Transform(np.eye(3), np.array([0.0, y, 0.0])),
                            np.array([0.0, 1.0, 0.0])))
        joints.append(Joint(f'knee_{side}', knees, f'leg_{side}', f'sole_{side}',
                            Transform(np.eye(3), np.array([0.0, 0.0, -0.8])),
                            np.array([0.0, 0.0, 1.0])))
    model = RobotModel('two soles', links, joints)
    config = RobotConfig.from_parameters({
        'robot.feet': ['sole_r', 'sole_l'], 'robot.foot_type': 'flat',
        'robot.sole': [0.1, -0.1, 0.03, -0.03], 'noise.velocity': 1e-3, 'noise.gyro': 1e-3,
        'noise.accelerometer': 0.02})
    assert all(isinstance(foot, FlatFoot) for foot in config.feet)
    return model, config


def test_load_follows_the_centre_of_pressure_and_a_foot_that_bears_all_stands_alone():
    """At rest each sole bears half; pushed sideways by m a, load passes over as m a h / d."""
    model, config = two_soles()
    estimator = GroundReactionEstimator(model, config, {'rate': 100.0})
    weight, still = model.total_mass * 9.81, np.zeros(2)
    for k in range(300):
        a = 0.0 if k < 100 else min((k - 100) * 0.01, 0.6)
        r = estimator.update(Measurement(k * 10_000_000, still, still, None, np.zeros(3),
                                         np.array([0.0, a, 9.81]), np.array([0.0, 0, 0, 1.0])))
        if k == 99:
            np.testing.assert_allclose(r.wrench[:, 2], weight / 2.0, atol=0.01 * weight)
    # The ground pushes to the left by m a at 0.8 m below the centre of mass.
    passed = 0.6 * 0.8 / 0.2 / 9.81
    assert r.wrench[0, 2] / weight == pytest.approx(0.5 + passed, abs=0.1)
    assert r.wrench[:, 2].sum() == pytest.approx(weight, rel=0.01)
    assert r.wrench[:, :2].sum(axis=0) == pytest.approx([0.0, 0.6 * model.total_mass], abs=2.0)


@pytest.mark.filterwarnings('ignore::legged_dynamics.model.robot_model.ModelWarning')
@pytest.mark.parametrize('rate', [100.0, 500.0])
def test_a_sole_without_load_is_seen_to_rise_slowly(rate):
    """The mass is over one sole; the other rises by 3 cm, waits and comes down."""
    model, config = two_soles(-0.09, 'prismatic')
    estimator = GroundReactionEstimator(model, config, {'rate': rate})
    left, rise, pause = model.joint_index('knee_l'), 0.4, 0.3
    time, down = [], []
    for k in range(round(2.2 * rate)):
        t = k / rate
        s = np.clip([(t - 0.6) / rise, (t - 0.6 - rise - pause) / rise], 0.0, 1.0)
        q, v = np.zeros(model.n_joints), np.zeros(model.n_joints)
        way = 3.0 * s ** 2 - 2.0 * s ** 3
        q[left] = 0.03 * (way[0] - way[1])
        v[left] = 0.03 * 6.0 * (s[0] * (1.0 - s[0]) - s[1] * (1.0 - s[1])) / rise
        r = estimator.update(Measurement(round(t * 1e9), q, v, None, np.zeros(3),
                                         np.array([0.0, 0.0, 9.81]), np.array([0.0, 0, 0, 1.0])))
        if r.mode and t > 0.3:
            time.append(t)
            down.append(r.contact)
    changes = np.flatnonzero(np.diff(np.array(down)[:, 1].astype(int)))
    assert np.array(down)[:, 0].all()
    leaves, *lands = np.array(time)[changes]
    assert 0.6 < leaves < 0.85
    # What lies on the ground and bears nothing may be taken for a foot in the air.
    assert len(lands) <= 1 and all(1.55 < t < 1.9 for t in lands)


def _way(t, start, time):
    """Return how far a smooth way of length one has been gone, its velocity and acceleration."""
    s = np.clip((t - start) / time, 0.0, 1.0)
    return np.array([3.0 * s ** 2 - 2.0 * s ** 3, 6.0 * s * (1.0 - s) / time,
                     (6.0 - 12.0 * s) / time ** 2 * (0.0 < s < 1.0)])


@pytest.mark.filterwarnings('ignore::legged_dynamics.model.robot_model.ModelWarning')
@pytest.mark.parametrize('lifted', [True, False], ids=['lifted', 'stands up'])
@pytest.mark.parametrize('bias', [0.0, -0.1])
def test_a_robot_that_is_lifted_does_not_stand(lifted, bias):
    """The base rises by 0.1 m and sinks by 0.14, the legs give at last or follow it all along."""
    model, config = two_soles(0.0, 'prismatic')
    estimator = GroundReactionEstimator(model, config, {'rate': 200.0})
    knees = [model.joint_index('knee_r'), model.joint_index('knee_l')]
    weight = model.total_mass * 9.81
    for k in range(900):
        t = k / 200.0
        base = 0.1 * _way(t, 1.0, 0.6) - 0.14 * _way(t, 3.0, 0.7)
        legs = np.zeros(3) if lifted and base[0] > 0.0 else base
        q, v = np.zeros(model.n_joints), np.zeros(model.n_joints)
        q[knees], v[knees] = -legs[0], -legs[1]
        r = estimator.update(Measurement(
            k * 5_000_000, q, v, None, np.zeros(3), np.array([0.0, 0.0, 9.81 + bias + base[2]]),
            np.array([0.0, 0.0, 0.0, 1.0])))
        if not r.mode:
            continue
        if lifted and 1.5 < t < 3.4:
            assert not r.contact.any() and np.abs(r.wrench[:, 2]).max() < 0.02 * weight
        elif not lifted or t < 1.0 or t > 3.8:
            assert r.contact.all()
        assert (np.diag(r.covariance) > 0.0).all()
    assert r.wrench[:, 2].sum() == pytest.approx(weight, rel=0.02)


def test_no_foot_pulls_and_no_deviation_is_zero():
    scene = Scene(*quadruped(), down=(1, 1, 1, 1), squeeze=0.0)
    for r in without_torque(scene, 200, 1.0)[5:]:
        force = np.einsum('fij,fj->fi', r.foot_rotation, r.raw_wrench[:, :3])
        # A mixture of standing and swinging is the balance's only on the whole.
        assert (force @ r.base_rotation[2] > -0.02 * scene.model.total_mass * 9.81).all()
        assert (np.diag(r.covariance) > 0.0).all()


@pytest.mark.parametrize('rate', [100.0, 1000.0])
def test_contact_does_not_depend_on_the_rate(rate):
    """A foot that is lifted by 6 cm in 0.25 s is seen to leave at any rate."""
    model, config = quadruped()
    scene = Scene(model, config, motion=0.0, squeeze=0.0)
    estimator = GroundReactionEstimator(model, config, {'rate': rate})
    up = scene.R_WB.T @ [0.0, 0.0, 9.81]
    mount, seen = scene.R_BI, None
    orientation = scene.measurement(0).orientation
    for k in range(round(0.8 * rate)):
        t = k / rate
        q, v = scene.q0.copy(), np.zeros(12)
        if t > 0.5:
            s = min((t - 0.5) / 0.25, 1.0)
            q[1] += 0.35 * (3.0 * s * s - 2.0 * s ** 3)
            q[2] -= 0.7 * (3.0 * s * s - 2.0 * s ** 3)
            v[1] = 0.35 * 6.0 * s * (1.0 - s) / 0.25
            v[2] = -2.0 * v[1]
        r = estimator.update(Measurement(round(t * 1e9), q, v, None, np.zeros(3), mount.T @ up,
                                         orientation))
        if r.mode and t < 0.5:
            assert r.contact.all()
        if seen is None and r.mode and not r.contact.all():
            seen = t
            assert np.flatnonzero(~r.contact).tolist() == [0]
    assert seen is not None and 0.5 < seen < 0.75


@pytest.mark.parametrize('rate', [100.0, 400.0, 1000.0])
def test_a_flight_is_seen_from_the_accelerometer_alone(rate):
    """Joints at rest, a body that falls: nothing but the accelerometer tells of the flight."""
    model, config = two_soles()
    estimator = GroundReactionEstimator(model, config, {'rate': rate})
    rng, still = np.random.default_rng(2), np.zeros(2)
    left = landed = None
    for k in range(round(1.5 * rate)):
        t = k / rate
        flying = 0.6 <= t < 0.9
        # Up with 1.5 m/s, a flight of 0.3 s, and as much to brake.
        a = 0.0 if flying else 9.81 + (5.0 if 0.3 <= t < 0.6 or 0.9 <= t < 1.2 else 0.0)
        r = estimator.update(Measurement(
            round(t * 1e9), still, 1e-3 * rng.normal(size=2), None, 1e-3 * rng.normal(size=3),
            np.array([0.0, 0.0, a]) + 0.02 * rng.normal(size=3), np.array([0.0, 0, 0, 1.0])))
        if not r.mode:
            continue
        assert (np.diag(r.covariance) > 0.0).all()
        if 0.1 < t < 0.6 or t > 0.96:
            assert r.contact.any()
        if flying and left is None and not r.contact.any():
            left = t
        if flying and t > 0.66:
            assert not r.contact.any()
            assert np.abs(r.wrench[:, 2]).max() < 0.05 * model.total_mass * 9.81
        if t >= 0.9 and landed is None and r.contact.any():
            landed = t
    assert left - 0.6 < 0.03 and landed - 0.9 < 0.03


@pytest.mark.parametrize('effort', [np.zeros(12), np.full(12, np.nan)], ids=['zeros', 'nan'])
def test_efforts_that_are_not_measured_are_no_efforts(effort):
    scene = Scene(*quadruped(), motion=0.3, squeeze=0.0)
    with_none = without_torque(scene, 60)
    estimator = GroundReactionEstimator(scene.model, scene.config, {'rate': 500.0})
    for k in range(60):
        r = estimator.update(replace(scene.measurement(k), effort=effort))
        assert Fault.NO_EFFORT in r.faults
        if r.mode is not Mode.UNAVAILABLE:
            assert r.mode is Mode.BASE_ONLY and np.isnan(r.external_torque).all()
            np.testing.assert_array_equal(r.raw_wrench, with_none[k].raw_wrench)


@pytest.mark.parametrize('half_window', [0, 2])
def test_noise_of_velocities_hurts_no_more_at_a_higher_rate(half_window):
    """Load sways; noise of a gyro makes larger differences at a higher rate, not larger errors."""
    model, config = two_soles()
    config = replace(config, noise=replace(config.noise, gyro=0.05))
    still, weight, rms = np.zeros(2), model.total_mass * 9.81, {}
    for rate in (100.0, 1000.0):
        estimator = GroundReactionEstimator(model, config, {
            'rate': rate, 'derivative.half_window': half_window})
        rng, errors, ratios = np.random.default_rng(3), [], []
        for k in range(round(4.0 * rate)):
            a = 0.8 * np.sin(6.0 * k / rate)
            r = estimator.update(Measurement(
                round(k * 1e9 / rate), still, still, None, 0.05 * rng.normal(size=3),
                np.array([0.0, a, 9.81]) + 0.02 * rng.normal(size=3), np.array([0, 0, 0, 1.0])))
            if k > rate:
                # The ground pushes to the left by m a at 0.8 m below the centre of mass.
                a = 0.8 * np.sin(6e-9 * r.stamp_ns)
                passed = weight * a * 0.8 / 0.2 / 9.81
                errors.append(r.raw_wrench[:, 2] - weight / 2.0 - [passed, -passed])
                ratios.append(errors[-1] / np.sqrt(
                    [r.covariance[s + 2, s + 2] for s in r.layout.table.index[:, START]]))
        rms[rate] = np.sqrt(np.mean(np.square(errors))) / weight
        assert np.sqrt(np.mean(np.square(ratios))) < 1.6
    # Of a window of samples: that is shorter at a higher rate, and smooths less.
    assert rms[1000.0] < (1.3 if half_window == 0 else 2.0) * rms[100.0]


def test_a_blow_at_the_end_of_a_tick_is_within_the_bars_of_the_newest_sample():
    """The tick's mean shows half of it, on both feet; it was one foot that landed."""
    model, config = two_soles()
    estimator = GroundReactionEstimator(model, config, {'rate': 500.0})
    still, weight = np.zeros(2), model.total_mass * 9.81
    for k in range(500):
        hit = 30.0 if k == 499 else 0.0
        r = estimator.update(Measurement(
            round(k * 2e6), still, still, None, np.zeros(3), np.array([0.0, 0.0, 9.81 + hit]),
            np.array([0, 0, 0, 1.0])))
    force = np.einsum('fij,fj->fi', r.foot_rotation, r.wrench[:, :3])[:, 2]
    starts = r.layout.table.index[:, START]
    newest, before = (np.sqrt([P[s + 2, s + 2] for s in starts])
                      for P in (r.latest_covariance, r.covariance))
    for landed in range(2):
        truth = np.full(2, 0.5 * weight)
        truth[landed] += hit * model.total_mass
        assert (np.abs(force - truth) < 1.96 * newest).all()
    assert (before < 0.5 * newest).all()        # the sample before had no such reading


@pytest.mark.parametrize('driver', ['zeros', 'nothing'])
def test_a_leg_without_torque_is_told_of(driver):
    """One leg's driver sends zeros: nobody measures it, and its force is not nothing."""
    scene = Scene(*quadruped(), motion=0.3, squeeze=0.2)
    estimator = GroundReactionEstimator(scene.model, scene.config, {'rate': 500.0})
    leg = scene.model.chain(scene.model.frame(scene.config.feet[0].link).body)
    for k in range(100):
        m = scene.measurement(k)
        effort = m.effort.copy()
        effort[np.array(leg) - 1] = 0.0 if driver == 'zeros' else np.nan
        r = estimator.update(replace(m, effort=effort))
        if r.mode:
            assert r.mode is Mode.FUSED and Fault.PARTIAL_EFFORT in r.faults
    load = np.einsum('fij,fj->fi', r.foot_rotation, r.raw_wrench[:, :3]) @ r.base_rotation[2]
    true = scene.truth(99 / 500.0)[2].wrench
    assert load[0] == pytest.approx(true[0, 2], abs=0.1 * scene.model.total_mass * 9.81)
    assert r.contact.all()


def test_torque_that_stops_and_comes_back_is_told_of_in_every_sample():
    scene = Scene(*quadruped(), motion=0.3, squeeze=0.2)
    estimator = GroundReactionEstimator(scene.model, scene.config, {'rate': 500.0})
    before, weight = None, scene.model.total_mass * 9.81
    deviation = {}
    for k in range(240):
        m = scene.measurement(k)
        r = estimator.update(replace(m, effort=None) if 80 <= k < 160 else m)
        if not r.mode:
            continue
        # A sample lies between two measurements: it is without torque when either is.
        without = 80 <= k <= 160
        assert r.mode is (Mode.BASE_ONLY if without else Mode.FUSED)
        assert (Fault.NO_EFFORT in r.faults) == without
        assert (r.external_deviation[:3] > 0.5 * weight).all() == without
        deviation.setdefault(bool(without), []).append(np.sqrt(np.trace(r.covariance)))
        force = np.einsum('fij,fj->fi', r.foot_rotation, r.raw_wrench[:, :3])
        if before is not None:
            assert np.abs(force - before).max() < 0.15 * weight
        before = force
    assert np.median(deviation[True]) > 2.0 * np.median(deviation[False])


def test_load_that_passes_from_a_diagonal_to_the_other_is_doubted_and_no_sum_is():
    """Feet on a rectangle: what goes over between its diagonals changes no force, no moment."""
    from types import SimpleNamespace

    from legged_dynamics.dynamics.jacobians import CONTACT, N_FOOT_STATE, feet_table
    from legged_dynamics.estimation.filter.forces_by_motion import _let_load_pass

    model, config = quadruped()
    feet, states = feet_table(model, config.feet), np.zeros((4, N_FOOT_STATE))
    places = np.array([[0.3, 0.2], [0.3, -0.2], [-0.3, 0.2], [-0.3, -0.2]])
    states[:, CONTACT:CONTACT + 2] = places
    x, covariance = np.zeros(18), np.zeros((12, 12))
    x[[2, 11]] = 50.0           # all on the diagonal that stood
    _let_load_pass(feet, SimpleNamespace(reach=0.4), states, (0.0, 0.0, 1.0), np.ones(4), x,
                   np.zeros(4), covariance)
    loads = covariance[2::3, 2::3]
    # 50 N to 0 N, with equal probability: the mean, and a twelfth of the square about it.
    np.testing.assert_allclose(x[2:12:3], 25.0, rtol=1e-5)
    np.testing.assert_allclose(np.diag(loads), 50.0 ** 2 / 12.0, rtol=1e-5)
    for seen in (np.ones(4), *places.T):
        assert seen @ loads @ seen < 1e-3
