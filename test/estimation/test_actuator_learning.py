# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Actuator parameters are found from motion whose torques follow from inverse dynamics."""
import tempfile
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from motions import QUIET, RATE, Scene, known_robot, quadruped
from scipy.stats import multivariate_normal
from zoo_runs import SHORT, short_run

from benchmarks.zoo.robots import ROBOTS, robot
from benchmarks.zoo.simulate import simulate
from legged_dynamics.contact import ContactInverseDynamics
from legged_dynamics.dynamics import BaseMotion, Motion
from legged_dynamics.dynamics.jacobians import N_FOOT_STATE, contact_points, feet_table
from legged_dynamics.dynamics.kinematics import body_workspace, forward_kinematics
from legged_dynamics.estimation import (
    ActuatorLearner,
    EstimatorSettings,
    Fault,
    GroundReactionEstimator,
)
from legged_dynamics.estimation import estimator as estimator_module
from legged_dynamics.estimation.actuators.equations import CONSTANT, LAG
from legged_dynamics.estimation.actuators.parameters import Parameters, Prior
from legged_dynamics.estimation.actuators.regression import GainDrift, VelocityDelay
from legged_dynamics.estimation.actuators.settings import LearnerSettings
from legged_dynamics.estimation.contact import ContactLevels, find_swinging
from legged_dynamics.estimation.measurement import LateSignal
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.actuators import (
    ARMATURE,
    DELAY,
    FRICTION,
    GAIN,
    ActuatorModel,
)
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.parameter_file import written_file
from legged_dynamics.spatial.kernel_cache import finish_background

NJ = 12
STARTS = (1, 1 + NJ, 1 + 2 * NJ, 1 + 3 * NJ, 4 + 3 * NJ)
UNSTATED = {**QUIET, 'robot.armature': [0.0], 'robot.joint_damping': [0.0]}


class Moving:
    """A robot whose legs swing or press, with torques by inverse dynamics and known actuators."""

    def __init__(self, swinging, friction=0.0, armature=0.0, late=0.0, gain=1.0, sway=0.6,
                 seed=3, late_velocity=0.0, noise=0.0, stiffness=np.inf,
                 **parameters):
        rng = np.random.default_rng(seed)
        self.model, self.config = quadruped(**{**UNSTATED, **parameters})
        self.model = self.config.apply_to(self.model)
        self.solver = ContactInverseDynamics(self.model, self.config.feet)
        self.q0 = self.config.nominal_in(self.model)
        self.friction, self.armature, self.late, self.gain = friction, armature, late, gain
        self.sway, self.late_velocity = sway, late_velocity
        self.noise, self.stiffness = noise, stiffness
        self.phase = rng.uniform(0.0, 6.0, NJ)
        self.rate = 5.0 + rng.uniform(0.0, 4.0, NJ)
        self.size = np.full(NJ, 0.02)       # feet on the ground hardly move against each other
        self.down = np.ones(4, bool)
        chains = [[b - 1 for b in self.model.chain(self.model.frame(foot.link).body)]
                  for foot in self.config.feet]
        for foot in swinging:       # bent, so that they are well above the ground, and fast
            self.down[foot] = False
            self.q0[chains[foot][1:]] *= 1.6
            self.size[chains[foot]], self.rate[chains[foot]] = 0.25, 9.0 + rng.uniform(0, 3, 3)

    def joints(self, t):
        """Return position, velocity and acceleration."""
        angle = self.rate * t + self.phase
        return (self.q0 + self.size * np.sin(angle), self.size * self.rate * np.cos(angle),
                -self.size * self.rate ** 2 * np.sin(angle))

    def torque(self, t):
        """Return what the motors give, their own losses included."""
        q, v, a = self.joints(t)
        sway = self.sway * np.array([np.sin(7.0 * t), np.cos(9.0 * t), np.sin(11.0 * t)])
        base = BaseMotion(np.zeros(3), np.zeros(3), np.array([0.0, 0.0, 9.81]) + sway)
        found = self.solver.solve(Motion(q, v, a, base), in_contact=self.down)
        return base, found.joint_effort + self.armature * a + self.friction * np.tanh(v / 0.05)

    def learn(self, seconds, file='', kind=ActuatorLearner):
        """Return the learner after some time."""
        learner = kind(self.model, self.config, RATE, STARTS, 7 + 3 * NJ, file)
        mount, signal = self.model.frame(self.config.imu_link).pose, LateSignal()
        rng = np.random.default_rng(5)
        for k in range(round(seconds * RATE)):
            t = k / RATE
            q, v = self.joints(t)[0], self.joints(t - self.late_velocity)[1]
            v = v + self.noise * rng.standard_normal(NJ)
            signal.late = learner.velocity.late
            signal.correct(v, 1.0 / RATE)
            base, _ = self.torque(t)
            _, tau = self.torque(t - self.late)
            q = q + tau / self.stiffness        # of motors that move links through springs
            row = np.concatenate([[0.0], q, v, self.gain * tau, np.zeros(3),
                                  mount.R.T @ base.proper_acceleration])
            if learner.take(row, round(1e9 * t)):
                learner.learn((0.0, 0.0, 1.0))
        return learner


def test_rotor_inertia_is_found_where_legs_swing():
    learner = Moving((0, 3), armature=0.08).learn(3.0)
    error = learner.value[ARMATURE] - 0.08
    assert np.abs(error).max() < 0.1 * 0.08
    assert (np.abs(error) < 5.0 * np.sqrt(learner.covariance[:, ARMATURE, ARMATURE]) + 1e-3).all()


def test_coulomb_friction_is_found_and_said_with_the_line_to_write():
    learner = Moving((0, 3), friction=3.0).learn(3.0)
    assert np.abs(learner.value[FRICTION] - 3.0).max() < 0.4
    said = [one for one in learner.findings if one.fault == Fault.FRICTION_MISSTATED]
    assert said and said[0].line.startswith('robot.joint_friction: [')
    assert learner.faults & Fault.FRICTION_MISSTATED


def pasted(learner, parameters):
    """Return the configuration with every line that a learner offers, each read from a file."""
    for one in learner.findings:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'robot.yaml'
            path.write_text(f'{written_file(parameters)}    {one.line}\n')
            yield one, RobotConfig.from_yaml(path)


@pytest.mark.parametrize(('fault', 'wrong', 'parameters'), [
    (Fault.FRICTION_MISSTATED, {'friction': 3.0}, {}),
    (Fault.ARMATURE_MISSTATED, {'armature': 0.08}, {'robot.armature': [0.01]}),
    (Fault.EFFORT_LATE, {'sway': 4.0, 'late': 0.004}, {}),
    (Fault.VELOCITY_LATE, {'late_velocity': 0.005}, {})])
def test_each_line_is_read_and_says_what_the_robot_is(fault, wrong, parameters):
    """What was planted is offered, and no value that cannot be."""
    scene = Moving(() if fault == Fault.EFFORT_LATE else (0, 3), **wrong, **parameters)
    learner = scene.learn(3.0)
    stated = {'robot.joints': list(scene.model.joint_names), **parameters}
    offered = {one.fault: config for one, config in pasted(learner, stated)}
    found, joints = offered[fault], len(scene.model.joint_names)
    for config in offered.values():
        assert config.noise.effort_age >= 0.0 and config.noise.velocity_age >= 0.0
        assert all(value > 0.0 for name in ('armature', 'joint_friction')
                   for value in getattr(config, name))
    if fault == Fault.FRICTION_MISSTATED:
        assert found.joint_friction == pytest.approx([3.0] * joints, rel=0.15)
    if fault == Fault.ARMATURE_MISSTATED:
        assert found.armature == pytest.approx([0.08] * joints, rel=0.15)


@pytest.mark.parametrize('stated', [0.0, 0.06])
def test_what_is_not_told_is_offered_as_stated_or_not_at_all(stated):
    """Of hips of which nothing is learned: what is stated; where nothing is, no line."""
    scene = Moving((0, 3), **({'robot.armature': [stated]} if stated else {}))
    learner = scene.learn(0.1)
    hips = np.array([name.endswith('HAA') for name in scene.model.joint_names])
    values = np.where(hips, -0.003, 0.0635)
    line = learner._findings.line(ARMATURE, values, ~hips)
    assert ('0.0635' in line and '0.06, ' in line) if stated else line == ''


def test_a_gain_is_offered_beside_the_scale_that_is_stated():
    learner = Moving((0, 3), **{'robot.sensors.effort_scale': [2.0]}).learn(0.1)
    line = learner._findings.line(GAIN, np.full(NJ, 1.25), np.full(NJ, True))
    assert line == f'robot.sensors.effort_scale: [{", ".join(["1.6"] * NJ)}]'


def test_friction_that_is_stated_wrong_is_found_in_the_first_swing():
    wrong = {'robot.joint_friction': [0.1]}
    learner = Moving((0, 3), friction=3.0, **wrong).learn(0.3)
    assert (learner.value[FRICTION] > 1.5).all()
    right = Moving((0, 3), friction=0.1, **wrong).learn(2.0)
    assert np.abs(right.value[FRICTION] - 0.1).max() < 0.1


def test_a_late_signal_is_what_a_low_pass_made_it_from():
    """Of 20 Hz through 50 Hz (Butterworth, second order) the slope alone leaves 16 %."""
    rate, w, cutoff = 2000.0, 2.0 * np.pi * 20.0, 2.0 * np.pi * 50.0
    passed = 1.0 / (1.0 + np.sqrt(2.0) * 1j * w / cutoff - (w / cutoff) ** 2)
    signal, errors = LateSignal(), []
    signal.late = np.sqrt(2.0) / cutoff
    for k in range(400):
        whole = np.exp(1j * (w * k / rate + np.arange(3.0)))
        sample = (passed * whole).real
        signal.correct(sample, 1.0 / rate)
        errors.append(sample - whole.real)
    assert np.abs(errors[10:]).max() < 0.05


def test_white_noise_of_a_late_signal_is_continued_by_its_slope_alone():
    signal, rng, last = LateSignal(), np.random.default_rng(1), np.zeros(12)
    signal.late = 0.006
    for k in range(100):
        now = rng.standard_normal(12)
        sample = now.copy()
        signal.correct(sample, 1.0 / RATE)
        if k > 20:
            assert sample == pytest.approx(now + 0.006 * RATE * (now - last))
        last = now


def test_noise_that_a_correction_amplifies_is_no_further_delay():
    """A delay of 4 ms was learned as 15: what is corrected is noisier, and seems late again."""
    delay, sums = VelocityDelay(0.0, RATE, LearnerSettings()), np.zeros(LAG.size)
    for seems, late in ((0.004, 0.004), (0.004, 0.004), (0.004, 0.004), (0.0015, 0.0055),
                        (0.004, 0.0055), (-0.0007, 0.0055)):
        sums[[LAG.error, LAG.motion, LAG.noise]] = 1e6 * seems, 1e6, 1e-3
        delay.count(1.0, 100)
        delay.update(sums)
        assert delay.late == pytest.approx(late)


def test_a_robot_that_is_as_stated_has_no_finding():
    assert not Moving((0, 3)).learn(3.0).findings


def test_late_torques_are_found():
    on_time, late = (Moving((), sway=4.0, late=late).learn(3.0) for late in (0.0, 0.004))
    found = late.value[DELAY, 0] - on_time.value[DELAY, 0]
    assert found == pytest.approx(0.004, rel=0.25)
    assert late.effort_age > 0.002
    lines = [one.line for one in late.findings if one.fault == Fault.EFFORT_LATE]
    assert lines == [f'noise.effort_age: {late.effort_age:.3g}']     # what is used is offered


def test_elastic_drives_are_found_with_their_stiffness():
    learner = Moving((0, 3), sway=4.0, stiffness=800.0).learn(4.0)
    assert 1.0 / learner.compliance == pytest.approx(800.0, rel=0.3)
    said = [one for one in learner.findings if one.fault == Fault.DRIVES_ELASTIC]
    assert said and said[0].line.startswith('robot.joint_stiffness: ')
    assert not learner.faults & (Fault.EFFORT_LATE | Fault.GAIN_MISSTATED)
    assert Moving((0, 3), sway=4.0).learn(4.0).compliance == 0.0


def test_noisy_torques_are_not_taken_for_elastic_drives():
    """Noise that is in a regressor and in its equation would be a compliance."""
    scene, rng = Moving((0, 3), sway=4.0), np.random.default_rng(2)
    torque = scene.torque
    scene.torque = lambda t: (torque(t)[0], torque(t)[1] + 5.0 * rng.standard_normal(NJ))
    assert scene.learn(3.0).compliance == 0.0


@pytest.mark.parametrize('rise', [0.04, 0.1])
def test_gains_that_rise_are_no_elastic_drives(rise):
    """They make forces larger, which bending legs do not."""
    scene = Moving((0, 3), sway=2.0)
    torque = scene.torque
    scene.torque = lambda t: (torque(t)[0], (1.0 + rise * t) * torque(t)[1])
    assert scene.learn(4.0).compliance == 0.0


@pytest.mark.parametrize('rate', [-0.025, 0.025])
def test_gains_that_drift_alike_are_followed_and_said(rate):
    """What a robot weighs does not drift: torques that do have gains that do."""
    scene = Moving((0, 3), sway=2.0)
    torque = scene.torque
    scene.torque = lambda t: (torque(t)[0], (1.0 + rate * t) * torque(t)[1])
    learner = scene.learn(6.0)
    drift = learner.regression.drift
    assert drift.change == pytest.approx(6.0 * rate, rel=0.25)
    assert abs(drift.change - 6.0 * rate) < 2.5 * drift.doubt
    assert learner.value[GAIN] == pytest.approx(1.0 + 6.0 * rate, abs=0.04)
    assert learner.faults & Fault.GAIN_MISSTATED


def test_a_load_that_is_put_on_is_no_drift_of_gains():
    """A mass m on the base needs (1 + m/M) of the torques that press: all at once, as a load."""
    scene = Moving((0, 3), sway=2.0)
    torque = scene.torque
    scene.torque = lambda t: (torque(t)[0], (1.0 + 0.1 * (t > 3.0)) * torque(t)[1])
    learner = scene.learn(6.0)
    assert abs(learner.regression.drift.change) < 0.005
    assert not learner.faults & Fault.GAIN_MISSTATED


def weighed(gains, each=60.0):
    """Return the follower after readings of a robot's weight by torques of these gains."""
    settings, rng = LearnerSettings(), np.random.default_rng(4)
    drift, noise = GainDrift(settings), settings.scale_noise / np.sqrt(each * settings.block_time)
    for gain in gains:      # read torques are divided by what is known of their gain
        read = (gain + noise * rng.standard_normal()) / (1.0 + drift.change)
        drift.update(np.array([each * (1.0 - read), each]))
    return drift


def test_gains_that_are_off_alike_from_the_start_are_no_drift():
    """They may as well be a load: followed is what changes."""
    for gain in (0.9, 1.0, 1.1):
        drift = weighed(np.full(100, gain))
        assert abs(drift.change) < 0.005 and drift.doubt < 0.01


def test_a_drift_is_followed_back_and_stays_where_it_stays():
    fall = np.linspace(1.0, 0.85, 20)
    assert weighed(fall).change == pytest.approx(-0.15, abs=0.03)
    assert weighed([*fall, *np.full(200, 0.85)]).change == pytest.approx(-0.15, abs=0.03)
    assert weighed([*fall, *fall[::-1]]).change == pytest.approx(0.0, abs=0.03)


def test_a_robot_that_is_lifted_is_no_gain_of_none():
    """Torques that bear less and less make no correction without bound."""
    assert -0.5 <= weighed(np.linspace(1.0, -1.0, 100)).change < 0.0


def test_springs_that_data_do_not_show_are_taken_back():
    learner = Moving((0, 3), sway=4.0).learn(2.0)
    learner.hypotheses.reject(np.array([learner.parameters.compliance]))
    for _ in learner._solve():
        pass
    assert learner.compliance == 0.0


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_legs_that_slide_count_as_stiff(kind):
    """A compliance is an angle by a torque."""
    model, config = quadruped()
    model = config.apply_to(model)
    parameters = Parameters(model, feet_table(model, config.feet))
    model.joints = tuple(replace(one, kind=kind) for one in model.joints)
    found, at = Prior(model, config, parameters, 0.5, LearnerSettings()), parameters.compliance
    assert (found.wide[at] > found.tight[at]) == (kind == 'revolute')


def test_a_stated_stiffness_is_kept_and_positions_of_links_follow_from_it():
    stated = {'robot.joint_stiffness': 800.0}
    learner = Moving((0, 3), sway=4.0, stiffness=800.0, **stated).learn(3.0)
    assert learner.compliance == 1.0 / 800.0 and not learner.findings
    found = []
    for parameters, compliance in (({}, 0.0), (stated, 1.0 / 800.0)):
        scene = Scene(*quadruped(**QUIET, **parameters))
        estimator = known_robot(scene.model, scene.config)
        for k in range(20):
            m = scene.measurement(k)
            found.append(estimator.update(replace(
                m, position=m.position + compliance * m.effort)).data.copy())
    np.testing.assert_allclose(found[39], found[19], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize('late', [0.0, 0.004])
def test_stamps_of_receipt_are_said(late):
    scene, rng = Scene(*quadruped()), np.random.default_rng(0)
    estimator = known_robot(scene.model, scene.config, {'rate': RATE})
    stamps = np.sort(np.arange(200) / RATE + rng.uniform(0.0, late, 200))
    for k, stamp in enumerate(stamps):
        m = scene.measurement(0)
        found = estimator.update(replace(m, stamp_ns=round(1e9 * stamp) + k))
    assert bool(found.faults & Fault.STAMPS_UNEVEN) == (late > 0.0)


def test_forces_that_change_are_doubted_where_stamps_are_late():
    scene, found = Scene(*quadruped()), []
    for late in (0.0, 0.004):
        rng = np.random.default_rng(0)
        estimator = known_robot(scene.model, scene.config, {'rate': RATE})
        stamps = np.sort(np.arange(200) / RATE + rng.uniform(0.0, late, 200))
        for k, stamp in enumerate(stamps):
            m = scene.measurement(0)
            m = replace(m, effort=m.effort * (1.0 + 0.2 * np.sin(1.5 * k)),
                        stamp_ns=round(1e9 * stamp) + k)
            found.append(estimator.update(m))
    even, uneven = (np.trace(one.latest_covariance[:3, :3]) for one in (found[199], found[399]))
    change = np.linalg.norm((found[399].wrench - found[399].raw_wrench)[0, :3])
    assert uneven - even > (0.5 * change) ** 2


def test_friction_is_not_taken_for_late_torques():
    assert not Moving((0, 3), friction=2.0, noise=0.03).learn(2.0).faults & Fault.EFFORT_LATE


def test_a_robot_that_only_stands_says_nothing_of_gains_and_masses():
    stands, walks = (Moving(swinging, gain=1.06).learn(2.0) for swinging in ((), (0, 3)))
    assert stands.hypotheses.scale_doubt == 0.0 and (stands.doubt[:, GAIN, GAIN] == 0.0).all()
    assert walks.hypotheses.scale_doubt > 0.0


def test_velocities_behind_a_low_pass_are_found_late_and_nothing_else_is_said():
    learner = Moving((0, 3), late_velocity=0.005).learn(3.0)
    assert learner.velocity.late == pytest.approx(0.005, rel=0.1)
    assert [one.fault for one in learner.findings] == [Fault.VELOCITY_LATE]
    assert learner.findings[0].line.startswith('noise.velocity_age: 0.00')
    assert Moving((0, 3)).learn(3.0).velocity.late == 0.0


def test_differences_of_positions_are_not_continued_along_their_slope():
    """They are half a sample late, and would be 1.8 times as noisy."""
    learner = Moving((0, 3), late_velocity=0.55 / RATE).learn(3.0)
    assert learner.velocity.late == 0.0 and not learner.faults


def test_friction_that_hardly_changes_the_forces_is_learned_and_not_said():
    learner = Moving((0, 3), friction=0.5).learn(3.0)
    assert np.abs(learner.value[FRICTION] - 0.5).max() < 0.2
    assert not learner.findings


def test_no_call_does_a_block_and_a_new_estimate():
    learner = Moving((0, 3)).learn(1.0)
    row, blocks, news = learner.regression.rows[0].copy(), [], []
    for k in range(500):
        busy = learner.take(row + 1e-3 * np.sin(k + np.arange(len(row))),
                            round(1e9 * (1.0 + k / RATE)))
        blocks.append(busy and learner.regression.complete)
        news.append(busy and learner.learn((0.0, 0.0, 1.0)))
    assert sum(news) >= 2
    assert not (np.array(blocks) & np.array(news)).any()


def test_a_gain_is_found_from_the_base_alone():
    learner = Moving((), gain=1.08, sway=4.0, **{'noise.effort_gain': 0.1}).learn(3.0)
    assert np.abs(learner.value[GAIN, 2::3] - 1.08).max() < 0.02     # the knees, which carry


def test_torques_that_are_all_too_large_are_as_well_a_heavier_robot():
    learner = Moving((), gain=1.05, sway=4.0).learn(2.0)
    assert (learner.value[GAIN] == 1.0).all() and not learner.findings


def ended(work):
    """Return what a generator returns at its end."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def test_the_evidence_for_wrong_gains_is_that_of_all_data_at_once():
    learner = Moving((), sway=4.0, gain=1.06).learn(0.2)
    rng, at = np.random.default_rng(1), learner.parameters.of_torques
    tight, wide = learner.prior.tight[at], learner.prior.wide[at]
    n, settings = len(learner.parameters.gains), LearnerSettings()
    A = rng.standard_normal((60, len(at))) / wide
    b = A @ (wide * rng.standard_normal(len(at))) + rng.standard_normal(60)
    C = np.linalg.inv(A.T @ A + np.diag(tight ** -2.0))
    found = ended(learner.hypotheses.odds_of_gains(
        np.linalg.cholesky(C), C @ A.T @ b, tight, learner.walks))
    alike = np.diag(tight ** 2)
    alike[:n, :n] += settings.mass_deviation ** 2
    loose, loaded = tight.copy(), wide.copy()
    loose[:n] *= settings.gain_factor
    loaded[:n] = tight[:n]
    expected = [multivariate_normal.logpdf(b, cov=A @ P @ A.T + np.eye(60)) for P in (
        np.diag(tight ** 2), np.diag(loose ** 2), np.diag(loaded ** 2), alike)]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-6)


def test_feet_swing_where_they_are_raised_and_move_against_the_lowest():
    model, config = quadruped(**QUIET)
    table = feet_table(model, config.feet)
    bodies, states = body_workspace(model), np.zeros((4, N_FOOT_STATE))
    q, v, up = config.nominal_in(model), np.zeros(NJ), (0.0, 0.0, 1.0)
    chain = [b - 1 for b in model.chain(model.frame(config.feet[2].link).body)]

    def swinging(spin=0.0):
        base, found = np.zeros(9), np.zeros(4)
        base[2] = spin
        forward_kinematics(model.tree, q, v, np.zeros(NJ), base, bodies)
        contact_points(table, bodies, up, states)
        find_swinging(table, bodies, states, up, 0.5, found)
        return found.tolist()
    assert swinging() == [0.0] * 4
    v[chain] = 3.0
    assert swinging() == [0.0] * 4                      # fast, on the ground
    q[chain[1:]] *= 1.6
    assert swinging() == [0.0, 0.0, 1.0, 0.0]
    v[:] = 0.0
    assert swinging() == [0.0] * 4                      # on a step
    assert swinging(spin=1e-3) == [0.0] * 4             # all feet turn with the base


def test_doubted_torques_raise_the_levels_of_point_feet_and_not_of_soles():
    for made, moved in ((robot('anymal_class'), True), (robot('biped'), False)):
        model = made.config.apply_to(made.model)
        levels = ContactLevels(model, made.config, EstimatorSettings())
        sure, doubted = (np.array(list(levels.of(np.full(model.nv, variance))))
                         for variance in (0.0, 25.0))
        assert np.allclose(sure[:, 3], 0.0) and (doubted[:, 3] > 0.02).all()
        assert np.allclose(doubted[:, 2] ** 2, sure[:, 2] ** 2 + doubted[:, 3] ** 2)
        assert (doubted[:, :2] > sure[:, :2]).all() == moved


def test_noise_of_zero_is_no_certainty():
    learner = Moving((0,), **{f'noise.{name}': 0.0 for name in (
        'accelerometer_bias', 'mass', 'center_of_mass')}).learn(0.5)
    assert np.isfinite(learner.value).all() and not learner.findings


@pytest.mark.parametrize('factor', [1.0, 1.3, 2.0])
def test_whether_a_value_is_stated_does_not_depend_on_how_wide_the_unknown_is(factor):
    model, config = quadruped(**{'robot.armature': [0.05], 'robot.joint_friction': [0.0]})
    parameters = Parameters(config.apply_to(model), feet_table(model, config.feet))
    free = Prior(config.apply_to(model), config, parameters, 0.5,
                 replace(LearnerSettings(), unknown_factor=factor)).free
    assert not free[parameters.leg_armatures].any()
    assert free[parameters.place[parameters.in_legs, FRICTION]].all()


def test_what_is_stated_is_believed_and_what_is_not_fits_the_torque_limit():
    model, config = quadruped(**{'robot.armature': [0.05], 'robot.joint_damping': [0.0],
                                 'robot.joint_friction_deviation': [0.3]})
    actuators = ActuatorModel.of(config.apply_to(model), config)
    assert np.allclose(actuators.deviation[ARMATURE], 0.005)
    assert np.allclose(actuators.deviation[FRICTION], 0.3)
    # More torque, more of everything that was not stated.
    order = np.argsort(actuators.limit)
    assert (np.diff(actuators.unknown[FRICTION, order]) >= 0.0).all()
    assert actuators.unknown[FRICTION].min() > 0.0


def test_what_was_learned_is_kept_from_start_to_start(tmp_path):
    moving = Moving((0, 3), armature=0.08)
    file = tmp_path / 'actuators.yaml'
    first = moving.learn(2.0, file=str(file))
    first.keep()
    again = moving.learn(0.0, file=str(file))
    assert np.abs(again.value[ARMATURE] - 0.08).max() < 0.2 * 0.08
    assert (again.covariance[:, ARMATURE, ARMATURE]
            > first.covariance[:, ARMATURE, ARMATURE]).all()
    file.write_text('of another robot')
    with pytest.raises(ConfigurationError, match='actuators.file'):
        moving.learn(0.0, file=str(file))


def rms_after(run, parameters, begin, **settings):
    """Return the error of standing feet from some time on, over the weight."""
    from dataclasses import replace
    run = replace(run, parameters={**run.parameters, **parameters})
    estimator = GroundReactionEstimator(run.model, run.config, {'rate': run.rate, **settings})
    errors = []
    for k, measurement in enumerate(run.measurements()):
        r = estimator.update(measurement)
        if k > begin * run.rate:
            force = np.einsum('fij,fj->fi', r.foot_rotation, r.raw_wrench[:, :3])
            errors.append((force - run.force_B[k - 1])[run.contact[k - 1]])
    return np.sqrt((np.concatenate(errors) ** 2).sum(axis=1).mean()) / run.weight, estimator


@pytest.mark.slow
def test_rotor_inertia_that_the_yaml_lacks_does_no_harm_to_a_trotting_robot():
    run = short_run('four')
    lacking = {'robot.armature': [0.0]}
    stated, _ = rms_after(run, {}, 1.0)
    learned, estimator = rms_after(run, lacking, 1.0)
    untold, _ = rms_after(run, lacking, 1.0, **{'actuators.learn': False})
    assert learned < 1.1 * stated < untold
    assert any(one.fault == Fault.ARMATURE_MISSTATED for one in estimator.actuator_findings)


@pytest.mark.slow
def test_late_torques_of_a_trot_are_found():
    run = simulate(SHORT['four'])
    late = replace(run, tau=np.concatenate([run.tau[:2], run.tau[:-2]]))
    found = [one for one in rms_after(late, {}, 1.0)[1].actuator_findings
             if one.fault == Fault.EFFORT_LATE]
    assert found and found[0].amount == pytest.approx(2.0 / run.rate, rel=0.25)


@pytest.mark.slow
def test_an_imu_that_is_late_is_found_and_less_believed_at_impacts():
    run = simulate(replace(SHORT['four'], seconds=5.0))
    late = replace(run, **{name: np.concatenate([getattr(run, name)[:1], getattr(run, name)[:-1]])
                           for name in ('gyro', 'accelerometer', 'imu_rotation')})
    assert not rms_after(run, {}, 1.5)[1].actuator_findings
    learned, estimator = rms_after(late, {}, 3.0)
    untold, _ = rms_after(late, {}, 3.0, **{'actuators.learn': False})
    found = [one for one in estimator.actuator_findings if one.fault == Fault.IMU_LATE]
    assert found and found[0].amount == pytest.approx(1.0 / run.rate, rel=0.3)
    assert learned < untold


@pytest.mark.parametrize('jerk, said', [(50.0, True), (2.0, False)])
def test_two_milliseconds_of_a_slow_motion_may_be_an_error_of_the_base(jerk, said):
    """Of 50 m/s^3 they are 1 % of gravity, of 2 m/s^3 less than what models leave (0.2 %)."""
    learner = Moving(()).learn(0.0)
    x, force, imu = learner.regression.x, learner.names.index('base z'), len(learner.names) - 1
    known = 2e-4 ** -2      # as is known of the delay to 0.2 ms, with such a jerk
    x.information[imu, imu], x.right[imu] = known, known * 0.002
    x.information[force, force] = known / (x.constants[CONSTANT.mass] * jerk) ** 2
    for _ in range(2):      # it is let go of, then judged
        for _ in learner._solve():
            pass
    assert bool(learner.faults & Fault.IMU_LATE) == said


def test_noise_of_velocities_at_rest_says_nothing_of_rotor_inertia():
    robot = Moving((), sway=0.0, noise=0.03, **{'noise.velocity': 0.03, 'robot.armature': [0.1]})
    robot.size[:], robot.armature = 0.0, 0.1
    error = robot.learn(6.0).value[ARMATURE] - 0.1
    assert np.abs(error).max() < 0.01


@pytest.mark.slow
def test_much_dry_friction_is_learned_though_joints_stick_in_stance(monkeypatch):
    plain = robot('hexapod')
    dry = 0.05 * plain.model.effort_limits      # MuJoCo's frictionloss: a soft constraint
    parameters = {**plain.parameters, 'robot.joint_friction': dry.tolist()}
    monkeypatch.setitem(ROBOTS, 'rusty', lambda: replace(plain, parameters=parameters))
    run = simulate(replace(SHORT['six'], robot='rusty', slope=0.0))
    run = replace(run, parameters=plain.parameters)
    _, estimator = rms_after(run, {}, 1.0)
    # The yaws hardly move. Joints that creep below the speed at which friction is smoothed show
    # less than all of it, and are not to be taken for joints with half.
    hip, knee = estimator.actuators.value[FRICTION, 1:3] / dry[1:3]
    assert 0.7 < hip < 1.2 and 0.7 < knee < 1.2


def test_torques_that_are_five_milliseconds_old_are_continued_along_their_slope():
    age, found = 0.005, {}
    scene = Scene(*quadruped(**QUIET))
    late = Scene(*quadruped(**QUIET, **{'noise.effort_age': age}))
    exact, told, untold = (known_robot(s.model, s.config, {'ground.limits': 'none'})
                           for s in (scene, late, scene))
    for k in range(60):
        for name, estimator, shift in (('exact', exact, 0.0), ('told', told, age),
                                       ('untold', untold, age)):
            m = scene.measurement(k)
            m.effort[:] = m.effort + 200.0 * (k / RATE - shift) * np.cos(np.arange(12.0))
            found[name] = estimator.update(m, [1] * 4).raw_wrench
    assert np.abs(found['told'] - found['exact']).max() < 0.1 * np.abs(
        found['untold'] - found['exact']).max()


def test_a_robot_on_its_belly_teaches_nothing():
    """The belly bears half of the weight: as if all torques were given half."""
    robot = Moving((), gain=0.5)
    before, standing = robot.learn(0.0).value, robot.learn(3.0).value
    assert not np.allclose(standing, before, rtol=0.01, atol=1e-3)      # what would be learned
    for foot in robot.config.feet:
        chain = [b - 1 for b in robot.model.chain(robot.model.frame(foot.link).body)]
        robot.q0[chain[1:]] = np.sign(robot.q0[chain[1:]]) * (1.35, 2.7)
    np.testing.assert_allclose(robot.learn(3.0).value, before, rtol=1e-3, atol=1e-3)


def test_forces_are_estimated_while_learning_still_waits_for_its_kernels(monkeypatch):
    """Until it joins all is as with learning off; then it learns."""
    ready, scene = Event(), Scene(*quadruped(**QUIET))
    made = estimator_module.GroundReactionEstimator._new_learner
    monkeypatch.setattr(estimator_module, 'is_kept', lambda kernel: False)
    monkeypatch.setattr(estimator_module.GroundReactionEstimator, '_new_learner',
                        lambda self: ready.wait(60.0) and made(self))
    waits = GroundReactionEstimator(scene.model, scene.config, {'rate': RATE}, wait=False)
    off = GroundReactionEstimator(scene.model, scene.config, {
        'rate': RATE, 'actuators.learn': False})
    for k in range(10):
        m = scene.measurement(k)
        np.testing.assert_array_equal(waits.update(m).data, off.update(m).data)
    assert waits.compiling and waits.actuators is None
    ready.set()
    finish_background()
    for k in range(10, 60):
        waits.update(scene.measurement(k))
    assert not waits.compiling and waits.actuators.seconds > 0.0
    waits.reset()
    assert waits.actuators is not None and not waits.compiling


def test_no_sample_does_more_than_a_step_of_an_estimate():
    steps = []

    class Counted(ActuatorLearner):
        def take(self, *row):
            steps.append(0)
            return super().take(*row)

        def _renew(self):
            for step in super()._renew():
                steps[-1] += 1
                yield step
            steps[-1] += 1
    Moving((0, 3)).learn(1.0, kind=Counted)
    assert max(steps) == 1 and sum(steps) > 100
