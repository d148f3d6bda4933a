# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The doctor finds planted faults, names them and fixes them; the healthy are left alone."""
import re
from dataclasses import replace

import numpy as np
import pytest
from recorded_robots import STAMP, healthy, with_friction, with_stated_friction

from benchmarks.doctor_table import WITH_TROT, available
from benchmarks.doctor_table import with_stated_friction as with_friction_of
from benchmarks.planted_faults import drifting, elastic, planted_faults, with_play
from legged_dynamics.diagnosis.doctor.evidence import Evidence, Likelihood
from legged_dynamics.diagnosis.doctor.examination import _impossible, _named, examine
from legged_dynamics.diagnosis.doctor.hypotheses import Candidate, Corrector, Finding
from legged_dynamics.diagnosis.identification.samples import SensorLog, filtered
from legged_dynamics.diagnosis.report import _readings
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import RobotConfig
from legged_dynamics.model.sensor_correction import SensorCorrection
from legged_dynamics.resources import robot_files

pytestmark = pytest.mark.slow

# A few of each sort; the whole table is in benchmarks/doctor_table.py.
# With some trotting, which late torques and rotors need.
WALK = 'stand 1, lift_legs 8.4, squat 3, trot_in_place 3, stand 0.5'
CHOSEN = ('IMU upside down', 'foot radius wrong', 'encoder dead', 'IMU frozen',
          'stamps of receipt', 'stamps all zero', 'IMU on another clock')


def test_a_healthy_robot_is_told_so():
    recorded = healthy()
    found = examine(recorded.model, recorded.config, recorded.log)
    assert found.healthy and not found.unchecked
    # What it leaves is noise: far below the tolerance on every kind of evidence.
    assert all(squares.mean() < 0.5 for squares in found.before.squares.values())


@pytest.mark.parametrize('name', CHOSEN)
def test_a_planted_fault_is_found_and_mended(name):
    recorded = healthy()
    fault = next(fault for fault in planted_faults(recorded) if fault.name == name)
    faulty = fault.plant(recorded)
    found = examine(faulty.model, faulty.config, faulty.log)
    assert fault.named_by(found.findings, recorded) == ''
    assert found.findings[0].evidence > 0.0


def test_the_mend_heals():
    recorded = healthy()
    fault = next(f for f in planted_faults(recorded) if f.name == 'front and hind leg swapped')
    faulty = fault.plant(recorded)
    finding, = examine(faulty.model, faulty.config, faulty.log).findings
    corrected = RobotConfig.from_parameters(
        {'robot.feet': [foot.link for foot in faulty.config.feet],
         'robot.joints': list(faulty.config.joints), **finding.fix})
    config = replace(faulty.config, sensors=corrected.sensors)
    signals = filtered(faulty.log)
    likelihood = Likelihood(signals, faulty.model, faulty.config)
    whole = Likelihood(filtered(recorded.log), recorded.model,
                       recorded.config).evaluate(recorded.config)
    assert likelihood.evaluate(faulty.config).score < 5.0 * whole.score - 50.0
    assert likelihood.evaluate(config).score == pytest.approx(whole.score, rel=1e-6)


def friction_said(finding):
    """Return dry and viscous friction together that a finding tells of [% of the limit]."""
    assert 'The joints rub more than the YAML says: dry friction of about' in finding.text
    return sum(float(size) for size in re.findall(r'([0-9]+) %', finding.text))


def test_friction_is_no_reason_to_scale_or_flip_a_torque():
    """Dry friction of a tenth of the limit; a thigh seemed to read 1.8 times what it is."""
    recorded = with_friction(0.1)
    found, = examine(recorded.model, recorded.config, recorded.log).findings
    assert found.kind == 'friction' and not found.fix and not found.also
    # What is planted is dry; simulated, it is soft at low speed, which reads as viscous.
    assert friction_said(found) == pytest.approx(10.0, abs=2.0)


def test_friction_does_not_hide_a_wrong_sign():
    recorded = with_friction(0.05)
    fault = next(f for f in planted_faults(recorded) if f.name == 'effort sign of a joint')
    faulty = fault.plant(recorded)
    wrong, friction = examine(faulty.model, faulty.config, faulty.log).findings
    assert fault.named_by([wrong], recorded) == '' and wrong.evidence > 100.0
    assert friction.kind == 'friction' and not friction.fix
    assert friction_said(friction) == pytest.approx(5.0, abs=1.5)


@pytest.mark.skipif('go2' not in available(), reason='example-robot-data is not installed')
def test_stated_friction_is_neither_a_fault_nor_a_delay():
    """Its shape is never quite the stated one, which looks like other friction or wrong stamps."""
    recorded = with_stated_friction(0.05, 'go2', WITH_TROT)
    assert examine(recorded.model, recorded.config, recorded.log).healthy


@pytest.mark.parametrize(('name', 'part', 'draw'), [
    ('anymal_class-trot', 0.0, 0), ('hexapod-tripod', 0.05, 0), ('hexapod-tripod', 0.0, 1)])
def test_equal_steps_are_no_evidence(name, part, draw):
    """
    What a model is off by in each landing looked like gains; other feet like another IMU.

    Or, what feet that press against each other leave all the time, like knees that are swapped.
    """
    pytest.importorskip('mujoco')
    from benchmarks.zoo.cache import recording
    made = recording(name)
    run = with_friction_of(made, part, made.seed + draw)
    assert examine(run.model, run.config, run.log).healthy


@pytest.mark.parametrize(('name', 'part'), [
    ('hexapod-tripod-soft', 0.0), ('go2-pace', 0.05), ('hyq-trot-2.5mps', 0.0)])
def test_what_sensors_miss_and_stops_bear_is_no_fault(name, part):
    """
    Noise of torques looked like springs, impacts between samples like another mass.

    And, legs at their end stops like friction.
    """
    pytest.importorskip('mujoco')
    from benchmarks.zoo.cache import recording
    from benchmarks.zoo.robots import MissingRobot
    try:
        made = recording(name)
    except MissingRobot as error:
        pytest.skip(str(error))
    run = with_friction_of(made, part, made.seed)
    assert examine(run.model, run.config, run.log).healthy


@pytest.mark.parametrize('number', [102, 197])
def test_sampled_accelerations_are_no_springs(number):
    """
    An accelerometer that is read in step with the control says 8 % more than the mean.

    Legs whose accelerations are means seemed to be behind their motors, with 18 nats; and where
    landings hide 0.3 % of g from single samples, with 24.
    """
    pytest.importorskip('mujoco')
    from benchmarks.actuators import healthy_motions
    (_, made), = healthy_motions(1, 500.0, number, level=True)
    run = with_friction_of(made, 0.0, made.seed)
    assert examine(run.model, run.config, run.log).healthy


def test_two_torques_do_not_tell_which_feet_stand():
    """With fewer equations than forces, a foot in the air seemed to slip; degrees mended it."""
    pytest.importorskip('mujoco')
    from benchmarks.zoo.cache import recording
    made = recording('biped-steps')
    run = with_friction_of(made, 0.0, made.seed)
    sensors = replace(run.config.sensors, ignore_effort=tuple(
        name for i, name in enumerate(run.model.joint_names) if i % 6))
    assert examine(run.model, replace(run.config, sensors=sensors), run.log).healthy


def test_swapped_legs_and_signs_show_in_a_walk_of_equal_steps():
    """What these explain is far more than what a healthy robot leaves in each step."""
    pytest.importorskip('mujoco')
    from benchmarks.zoo.cache import recording
    made = recording('hexapod-tripod')
    run = with_friction_of(made, 0.0, made.seed + 1)
    for name in ('efforts of two legs swapped', 'effort sign of a joint'):
        fault = next(fault for fault in planted_faults(run) if fault.name == name)
        faulty = fault.plant(run)
        found = examine(faulty.model, faulty.config, faulty.log).findings
        assert fault.named_by(found, run) == ''


def test_what_repeats_in_each_block_is_counted_once():
    """20 blocks of 20 samples: the same all the time, or not, as large and as much less of it."""
    rng, blocks, samples, d = np.random.default_rng(0), 20, 20, 6.0

    def evidence(values):
        squares = np.mean(values ** 2, axis=1).reshape(blocks, samples).mean(axis=1)
        return Evidence(np.arange(blocks), {'stance': squares}, {'stance': d}, np.zeros(0),
                        np.zeros(0), None, {'stance': values / np.sqrt(samples)})
    steady = np.ones((blocks * samples, int(d)))
    changing = np.repeat(rng.choice([-1.0, 1.0], (blocks, int(d))), samples, axis=0)
    for left, change, least, most in ((steady, steady, 0.9, 0.96), (changing, changing, 0.0, 0.6),
                                      (steady, changing, 0.0, 0.5),
                                      (0.1 * steady, steady, 0.0, 0.0)):
        now, fixed = evidence(left + change), evidence(left)
        assert least <= fixed.repeated(now) / (fixed.score - now.score) <= most
        assert now.repeated(fixed) == 0.0       # nothing is gained


def test_two_explanations_of_actuators_are_both_told_and_nothing_is_changed():
    recorded = healthy()
    scaled = Corrector(recorded.model).scaled(recorded.config, [2], 0.5, 'effort')
    gain, delay = (Candidate(Finding(kind, (kind,), f'{kind}.', 6.0), config, 6.0)
                   for kind, config in (('effort_scale_joint', scaled),
                                        ('effort_delay', recorded.config)))
    found = _named(gain, [gain, delay]).finding
    assert found.text == 'Cannot tell apart: effort_scale_joint; or: effort_delay.'
    assert not found.fixable and not found.fix


def test_a_radius_of_nothing_is_no_mend():
    recorded = healthy()
    for more, doubted in ((-0.001, False), (-1.0, True)):
        config = replace(recorded.config, feet=tuple(
            foot.rolled(more) for foot in recorded.config.feet))
        assert _impossible(Candidate(Finding('foot_radius', ('feet',), '', 6.0), config, 6.0)
                           ) == doubted


@pytest.mark.parametrize('factor', [0.9, 1.1])
def test_a_small_gain_of_one_joint_is_found(factor):
    recorded = healthy('anymal_class', WALK)
    effort = recorded.log.joints.effort.copy()
    effort[:, 5] *= factor
    found, = examine(recorded.model, recorded.config, recorded.joints(effort=effort).log).findings
    name = recorded.log.joints.names[5]
    assert (found.kind, found.subject) == ('effort_scale_joint', (name,))
    order = list(found.fix.get('robot.joints') or recorded.config.joints)
    scale = found.fix['robot.sensors.effort_scale'][order.index(name)]
    assert scale * factor == pytest.approx(1.0, abs=0.04)


def test_a_gain_of_all_torques_is_not_told_from_a_mass():
    recorded = healthy('anymal_class', WALK)
    faulty = recorded.joints(effort=0.9 * recorded.log.joints.effort)
    found, = examine(faulty.model, faulty.config, faulty.log).findings
    assert found.text.startswith('Cannot tell apart') and not found.fix
    assert 'The robot weighs' in found.text and 'All efforts read' in found.text


def test_an_imu_that_is_4_ms_late_is_dated():
    recorded = healthy('anymal_class', WALK)
    stamp = recorded.log.imu.stamp_ns + 4_000_000
    found, = examine(recorded.model, recorded.config, recorded.imu(stamp_ns=stamp).log).findings
    assert found.kind == 'clock_offset'
    assert found.fix['robot.sensors.imu_delay'] == pytest.approx(0.004, rel=0.3)


def late(recorded, samples):
    """Return a recording whose torques come some samples late."""
    effort = recorded.log.joints.effort
    return recorded.joints(effort=np.vstack([np.repeat(effort[:1], samples, axis=0),
                                            effort[:-samples]]))


def test_late_torques_are_dated_and_not_scaled():
    recorded = healthy('anymal_class', WALK)
    found, = examine(recorded.model, recorded.config, late(recorded, 5).log).findings
    assert found.kind == 'effort_delay'
    assert found.fix['noise.effort_age'] == pytest.approx(0.010, rel=0.25)


def test_late_velocities_are_dated():
    """In two steps: accelerations 6 ms late are not linear in that, and one step found 4.2 ms."""
    recorded = healthy('anymal_class', WALK)
    velocity = recorded.log.joints.velocity
    faulty = recorded.joints(velocity=np.vstack([np.repeat(velocity[:1], 3, axis=0),
                                                 velocity[:-3]]))
    found, = examine(faulty.model, faulty.config, faulty.log).findings
    assert found.kind == 'velocity_delay'
    assert found.fix['noise.velocity_age'] == pytest.approx(0.006, rel=0.1)


@pytest.mark.parametrize(('kind', 'state'), [
    ('effort_delay', lambda c: replace(c, noise=replace(c.noise, effort_age=-0.00471))),
    ('armature', lambda c: replace(c, armature=(0.0, 0.0635, 0.06) * 4))])
def test_a_value_that_cannot_be_is_not_offered(kind, state):
    config = RobotConfig.from_yaml(robot_files('anymal_class')[0])
    small = Candidate(Finding(kind, ('joint_states',), '', 50.0), state(config), 50.0,
                      np.array([-0.1]))
    assert _impossible(small) and not _impossible(replace(small, config=config))


def test_torque_gains_as_healthy_motors_have_are_no_finding():
    recorded = healthy('anymal_class', WALK)
    gains = 1.0 + 0.02 * np.random.default_rng(0).standard_normal(12)
    faulty = recorded.joints(effort=recorded.log.joints.effort * gains)
    assert examine(faulty.model, faulty.config, faulty.log).healthy


def test_rotors_that_the_yaml_leaves_out_are_found():
    recorded = healthy('anymal_class', WALK)
    stated = recorded.config.armature
    found, = examine(recorded.model, replace(recorded.config, armature=(0.0,)),
                     recorded.log).findings
    assert found.kind == 'armature'
    knees = np.array(found.fix['robot.armature'])[2::3]
    assert knees == pytest.approx(np.full(4, max(stated)), rel=0.4)


def test_without_efforts_what_moves_is_still_judged():
    recorded = healthy()
    faulty = recorded.joints(effort=np.full_like(recorded.log.joints.effort, np.nan)).imu(
        acceleration=-recorded.log.imu.acceleration)
    found = examine(faulty.model, faulty.config, faulty.log)
    assert [finding.kind for finding in found.findings] == ['accelerometer_sign']
    assert any('no effort' in said for said in found.unchecked)


def test_elastic_drives_are_no_offsets_of_encoders():
    """Springs that yield by some degrees under the robot's weight; stiff ones are left alone."""
    recorded = healthy('anymal_class', WALK)
    soft = elastic(recorded, 1000.0)
    found, = examine(soft.model, soft.config, soft.log).findings
    assert found.kind == 'elasticity' and not found.fix
    stiff = elastic(recorded, 1e5)
    assert examine(stiff.model, stiff.config, stiff.log).healthy


@pytest.mark.parametrize('degrees', [0.5, 1.0])
def test_play_is_never_certain_to_be_something_else(degrees):
    loose = with_play(healthy('anymal_class', WALK), np.deg2rad(degrees))
    for finding in examine(loose.model, loose.config, loose.log).findings:
        assert finding.kind == 'play' or finding.text.startswith('Cannot tell apart')
        assert not finding.fix


def test_play_of_a_light_robot_is_named():
    """The encoder jumps across the gap, faster than velocities follow."""
    loose = with_play(healthy('solo_class', WITH_TROT), np.deg2rad(1.0))
    found, = examine(loose.model, loose.config, loose.log).findings
    assert found.kind == 'play' and not found.fix


def test_a_gain_that_drifts_is_told():
    recorded = healthy('anymal_class', WALK)
    faulty = drifting(recorded, 0.85, recorded.log.duration)
    findings = examine(faulty.model, faulty.config, faulty.log).findings
    drift, = (one for one in findings if one.kind == 'effort_drift')
    assert not any(one.fix for one in findings)
    factor, = re.findall(r'a factor of ([0-9.]+)', drift.text)
    assert float(factor) == pytest.approx(0.85, abs=0.06)


def test_stamps_that_jitter_are_no_late_imu():
    recorded = healthy('anymal_class', WALK)
    stamp = recorded.log.joints.stamp_ns
    late = np.random.default_rng(2).uniform(0.0, 4e6, len(stamp)).astype(np.int64)
    kinds = {one.kind for one in examine(recorded.model, recorded.config,
                                         recorded.joints(stamp_ns=stamp + late).log).findings}
    assert kinds == {'stamps_back', 'stamp_jitter'}


def test_what_cannot_be_told_apart_is_certain_only_together():
    found = Finding('elasticity', ('joint_states',), 'Cannot tell apart: the drives are elastic; '
                    'or: feet sink into the ground.', 41.0)
    assert found.sure == 'one of these: certain'
    assert replace(found, text='The drives are elastic.').sure == 'certain'


def test_names_of_another_style_are_matched():
    recorded = healthy()
    names = tuple(f'{name.lower()}_joint' for name in recorded.log.joints.names)
    found, = examine(recorded.model, recorded.config, recorded.joints(names=names).log).findings
    assert found.kind == 'joint_names' and found.blocks
    correction = SensorCorrection.from_parameters(found.fix)
    assert set(correction.driver_names(recorded.model.joint_names)) == set(names)


def test_a_short_recording_is_refused():
    recorded = healthy()
    joints = {name: values[:500] if isinstance(values, np.ndarray) else values
              for name, values in vars(recorded.log.joints).items()}
    with pytest.raises(MeasurementError, match='record longer'):
        examine(recorded.model, recorded.config, recorded.joints(**joints).log)


@pytest.mark.parametrize('simulated', [True, False])
def test_charts_have_the_time_that_the_page_states(simulated):
    """A recorder of a simulation at half of real time: 13 s of the robot, 27 s of its own."""
    slow = healthy().log
    joints, imu = (replace(log, receipt_ns=STAMP + 2 * (log.stamp_ns - STAMP))
                   for log in (slow.joints, slow.imu))
    log = SensorLog(joints, imu, simulated)
    for subject in ('LF_KFE', 'imu'):
        chart = _readings(Finding('effort_sign', (subject,), '', 9.0), log)
        assert chart.time[-1] == pytest.approx(log.duration, abs=0.01)
        assert log.duration == pytest.approx(13.4 if simulated else 26.8, abs=0.1)


def test_a_robot_without_feet_is_refused():
    recorded = healthy()
    with pytest.raises(ConfigurationError, match='at least one foot'):
        examine(recorded.model, replace(recorded.config, feet=()), recorded.log)
