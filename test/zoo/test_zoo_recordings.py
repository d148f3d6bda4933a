# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The zoo's recordings on generated robots: physics, gaits, sensors and peers."""
from dataclasses import fields, replace

import numpy as np
import pytest
from zoo_runs import SHORT, short_run

from benchmarks.zoo.__main__ import main
from benchmarks.zoo.contact_events import closed
from benchmarks.zoo.descriptions import (
    prepared,
    rotation_of_rpy,
    rpy_of_rotation,
    scaled,
)
from benchmarks.zoo.estimators import shipped
from benchmarks.zoo.peers import observer, static
from benchmarks.zoo.plan import Plan
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import MissingRobot, robot
from benchmarks.zoo.scenarios import SCENARIOS
from benchmarks.zoo.scoring import score
from benchmarks.zoo.swing import swing_path
from legged_dynamics.dynamics import BaseMotion, Motion, inverse_dynamics
from legged_dynamics.model import RobotModel

pytestmark = pytest.mark.slow

WALKS = ['four', 'six', 'two']


def steps_of(recording):
    down = np.stack([closed(flags, 10) for flags in recording.contact.T], axis=1)
    return (down[1:] & ~down[:-1]).sum(axis=0)


@pytest.mark.parametrize('name', WALKS)
def test_true_forces_move_the_robot_as_recorded(name):
    """Our inverse dynamics of the recorded motion asks for just the recorded wrenches."""
    r = short_run(name)
    model = r.config.apply_to(r.model)
    for k in range(5, len(r), 97):
        R = r.base_rotation[k]
        base = BaseMotion(r.base_twist[k, 3:], r.base_acceleration[k, 3:],
                          r.base_acceleration[k, :3] + R.T @ [0.0, 0.0, 9.81])
        needed = inverse_dynamics(model, Motion(r.q[k], r.v[k], r.qdd[k], base)).base_wrench
        force = r.wrench[k, :, :3]
        arm = r.contact_point[k] - r.base_position[k]
        moment = np.cross(arm, force) + r.wrench[k, :, 3:]
        given = np.concatenate([R.T @ force.sum(axis=0), R.T @ moment.sum(axis=0)])
        assert given == pytest.approx(needed, abs=1e-4 * r.weight)


@pytest.mark.parametrize('name', WALKS)
def test_robots_walk(name):
    r = short_run(name)
    assert (steps_of(r) >= 1).all()
    travelled = r.base_rotation[0].T @ (r.base_position[-1] - r.base_position[0])
    assert travelled[0] > 0.01
    tilt = np.einsum('nij,kj->nik', r.base_rotation, np.eye(3))[:, 2, 2]
    slope = np.cos(np.deg2rad(SHORT[name].slope))
    assert np.degrees(np.abs(np.arccos(tilt.clip(-1, 1)) - np.arccos(slope))).max() < 5.0
    # A foot that bears load stays where it is.
    loaded = r.normal_force > 0.2 * r.weight
    both = loaded[1:] & loaded[:-1]
    moved = np.linalg.norm(np.diff(r.contact_point, axis=0), axis=2)[both]
    if r.foot_position.shape[1] > 2:        # the pressure of a sole wanders
        assert np.median(moved) * r.rate < 0.02


def test_the_ground_is_as_steep_as_asked():
    r = short_run('six')
    assert np.degrees(np.arccos(r.ground_normal[..., 2])) == pytest.approx(8.0, abs=1e-6)
    along = np.einsum('nfi,nfi->nf', r.wrench[:, :, :3], r.ground_normal)
    assert along == pytest.approx(r.normal_force, abs=1e-6 * r.weight)


def test_pushes_and_payload_are_felt():
    r = short_run('pushed')
    pushed = np.abs(r.external_wrench[:, 1]) > 0.19 * r.weight
    assert 0.5 < pushed.sum() / r.rate < 0.7
    still = slice(300, 500)
    assert r.wrench[still, :, 2].sum(axis=1).mean() == pytest.approx(1.1 * r.weight, rel=0.01)


def test_imu_reads_what_its_place_feels():
    r = short_run('four')
    model = r.config.apply_to(r.model)
    mount = model.frame(r.config.imu_link).pose
    for k in range(5, len(r), 211):
        R, w, alpha = r.base_rotation[k], r.base_twist[k, 3:], r.base_acceleration[k, 3:]
        felt = (r.base_acceleration[k, :3] + R.T @ [0.0, 0.0, 9.81] + np.cross(alpha, mount.p)
                + np.cross(w, np.cross(w, mount.p)))
        assert r.accelerometer[k] == pytest.approx(mount.R.T @ felt, abs=1e-6)
        assert r.gyro[k] == pytest.approx(mount.R.T @ w, abs=1e-9)
        assert r.imu_rotation[k] == pytest.approx(R @ mount.R, abs=1e-9)


def test_the_slow_accelerometer_lacks_high_frequencies_alone():
    r = short_run('four')
    sharp, slow = (np.abs(np.fft.rfft(a[:, 2] - a[:, 2].mean()))
                   for a in (r.accelerometer, r.slow_accelerometer))
    f = np.fft.rfftfreq(len(r), 1.0 / r.rate)
    assert slow[f < 20.0].sum() == pytest.approx(sharp[f < 20.0].sum(), rel=0.15)
    assert slow[f > 200.0].sum() < 0.75 * sharp[f > 200.0].sum()


def test_noise_is_as_large_as_stated_and_always_the_same():
    r = short_run('two')
    once, again = (list(r.measurements()) for _ in range(2))
    assert all((a.effort == b.effort).all() and (a.orientation == b.orientation).all()
               for a, b in zip(once, again))
    q, v, tau, gyro, acc = (np.array([getattr(m, name) for m in once]) for name in (
        'position', 'velocity', 'effort', 'angular_velocity', 'linear_acceleration'))
    assert (q - r.q).std() == pytest.approx(3e-4, rel=0.05)
    assert (v - r.v).std() == pytest.approx(0.03, rel=0.05)
    assert (gyro - r.gyro).std(axis=0) == pytest.approx(0.005, rel=0.1)
    assert (acc - r.accelerometer).std(axis=0) == pytest.approx(0.05, rel=0.1)
    limit = r.model.effort_limits
    for j in range(tau.shape[1]):
        slope, offset = np.polyfit(r.tau[:, j], tau[:, j], 1)
        left = tau[:, j] - slope * r.tau[:, j] - offset
        assert left.std() == pytest.approx(0.01 * limit[j], rel=0.1)
    other = next(iter(r.measurements(seed=5)))
    assert not np.array_equal(other.position, once[0].position)
    exact = next(iter(r.measurements(noise=False, effort=False)))
    assert np.array_equal(exact.position, r.q[0]) and exact.effort is None
    assert next(iter(r.measurements(imu=False))).orientation is None


def test_recordings_are_kept(tmp_path):
    r = short_run('two')
    r.save(tmp_path / 'two.npz')
    again = Recording.load(tmp_path / 'two.npz')
    for name in (field.name for field in fields(r)):
        value, kept = getattr(r, name), getattr(again, name)
        assert np.array_equal(kept, value) if isinstance(value, np.ndarray) else kept == value


def test_peers_are_right_where_they_should_be():
    """
    Standing, without noise: both know the forces but for what dry friction hides.

    The base velocity that the observer is given is noisy even so, but not slowly.
    """
    r = replace(short_run('pushed'), scored=(0.6, 1.1))
    for peer in (static, observer()):
        assert score(r, peer, noise=False)['raw'].zero_phase < 1.0
    walk = short_run('four')
    assert score(walk, observer(), noise=False)['raw'].contact.agreement > 90.0


@pytest.mark.parametrize('name', WALKS)
def test_shipped_estimator_goes_through_the_same_scoring(name):
    found = score(short_run(name), shipped(true_contact=True))
    assert set(found) >= {'raw', 'latest'}
    assert found['raw'].contact.agreement > 99.0 and found['raw'].zero_phase < 5.0


def test_welded_joints_keep_their_angle():
    before = robot('biped')
    angle = 0.3
    after = RobotModel.from_urdf(prepared(before.urdf, before.config.feet,
                                          {'left_knee': angle}, keep=['right']))
    model = before.model
    assert after.joint_names == tuple(n for n in model.joint_names if n.startswith('right'))
    assert after.total_mass == pytest.approx(model.total_mass)
    shank = np.array([0.0, 0.0, -0.35 - 0.06])
    turned = np.array([0.0, 0.1, -0.1 - 0.35]) + rotation_of_rpy([0, angle, 0]) @ shank
    assert after.frame('left_sole').pose.p == pytest.approx(turned)
    assert RobotModel.from_urdf(scaled(before.urdf, 1.05)).total_mass == pytest.approx(
        1.05 * model.total_mass)
    rpy = np.array([0.3, -0.7, 2.0])
    assert rpy_of_rotation(rotation_of_rpy(rpy)) == pytest.approx(rpy)


@pytest.mark.parametrize('landing', [0.2, 1.0, 2.5])
def test_feet_land_as_fast_as_asked(landing):
    start, target, top, duration = np.zeros(3), np.array([0.2, 0.05, 0.03]), 0.15, 0.3

    def at(s):
        return swing_path(start, target, top, landing, s, duration)
    assert at(0.0)[0] == pytest.approx(start) and at(1.0)[0] == pytest.approx(target)
    assert at(1.0)[1] == pytest.approx([0.0, 0.0, -landing], abs=1e-9)
    assert max(at(s)[0][2] for s in np.linspace(0, 1, 500)) == pytest.approx(top, abs=1e-4)
    h = 1e-5
    for s in (0.1, 0.4, 0.8, 0.93):
        slope = (at(s + h)[0] - at(s - h)[0]) / (2 * h * duration)
        assert at(s)[1] == pytest.approx(slope, abs=1e-4)
        curve = (at(s + h)[1] - at(s - h)[1]) / (2 * h * duration)
        assert at(s)[2] == pytest.approx(curve, rel=1e-3, abs=1e-2)


def test_the_centre_of_mass_falls_away_from_where_feet_press():
    """A pendulum's height over gravity times acceleration is the arm, along a slope too."""
    places = np.array([[0.2, 0.1], [0.2, -0.1], [-0.2, 0.1], [-0.2, -0.1]])
    gravity = 9.81 * np.array([-np.sin(0.1), 0.0, -np.cos(0.1)])
    plan = Plan(places, 'walk', 8.0, 0.2, 0.4, gravity, 0.002)
    share = plan.load / plan.load.sum(axis=1, keepdims=True)
    pressure = np.einsum('nf,nfi->ni', share, plan.where)
    arm = 0.4 / -gravity[2] * (plan.acceleration - gravity[:2])
    inside = slice(5, -5)
    assert (plan.centre - pressure)[inside] == pytest.approx(arm[inside], abs=2e-3)
    assert plan.centre[2] == pytest.approx([0.4 * np.tan(0.1), 0.0], abs=1e-3)


def test_the_command_lists_and_skips(capsys, monkeypatch, tmp_path):
    assert main(['--list']) == 0 and 'go2-trot' in capsys.readouterr().out
    monkeypatch.setenv('LEGGED_DYNAMICS_ZOO', str(tmp_path))
    monkeypatch.setenv('EXAMPLE_ROBOT_DATA', str(tmp_path))
    with pytest.raises(MissingRobot, match='example-robot-data'):
        robot('go2')
    assert main(['go2-trot']) == 2 and 'skipped' in capsys.readouterr().err
    assert main(['nothing']) == 2
    assert len({s.name for s in SCENARIOS.values()}) == len(SCENARIOS)
