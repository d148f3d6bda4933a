# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The doctor finds planted faults, names them and fixes them; the healthy are left alone."""
import re
from dataclasses import replace

import numpy as np
import pytest
from patients import healthy, rubbing

from benchmarks.planted_faults import planted_faults
from legged_dynamics.diagnosis.doctor.evidence import Likelihood
from legged_dynamics.diagnosis.doctor.examination import _Candidate, _impossible, _named, examine
from legged_dynamics.diagnosis.doctor.finding import Finding
from legged_dynamics.diagnosis.doctor.hypotheses import Corrector
from legged_dynamics.diagnosis.doctor.parametric_faults import ParametricFault
from legged_dynamics.diagnosis.identification.samples import filtered
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
    patient = healthy()
    found = examine(patient.model, patient.config, patient.log)
    assert found.healthy and not found.unchecked
    # What it leaves is noise: far below the tolerance on every kind of evidence.
    assert all(squares.mean() < 0.5 for squares in found.before.squares.values())


@pytest.mark.parametrize('name', CHOSEN)
def test_a_planted_fault_is_found_and_mended(name):
    patient = healthy()
    fault = next(fault for fault in planted_faults(patient) if fault.name == name)
    sick = fault.plant(patient)
    found = examine(sick.model, sick.config, sick.log)
    assert fault.named_by(found.findings, patient) == ''
    assert found.findings[0].evidence > 0.0


def test_the_mend_heals():
    patient = healthy()
    fault = next(f for f in planted_faults(patient) if f.name == 'front and hind leg swapped')
    sick = fault.plant(patient)
    finding, = examine(sick.model, sick.config, sick.log).findings
    corrected = RobotConfig.from_parameters(
        {'robot.feet': [foot.link for foot in sick.config.feet],
         'robot.joints': list(sick.config.joints), **finding.fix})
    config = replace(sick.config, sensors=corrected.sensors)
    signals = filtered(sick.log)
    likelihood = Likelihood(signals, sick.model, sick.config)
    whole = Likelihood(filtered(patient.log), patient.model,
                       patient.config).evaluate(patient.config)
    assert likelihood.evaluate(sick.config).score < 5.0 * whole.score - 50.0
    assert likelihood.evaluate(config).score == pytest.approx(whole.score, rel=1e-6)


def friction_said(finding):
    """Return dry and viscous friction together that a finding tells of [% of the limit]."""
    assert 'The joints rub more than the YAML says: dry friction of about' in finding.text
    return sum(float(size) for size in re.findall(r'([0-9]+) %', finding.text))


def test_friction_is_no_reason_to_scale_or_flip_a_torque():
    """Dry friction of a tenth of the limit; a thigh seemed to read 1.8 times what it is."""
    patient = rubbing(0.1)
    found, = examine(patient.model, patient.config, patient.log).findings
    assert found.kind == 'friction' and not found.fix and not found.also
    # What is planted is dry; simulated, it is soft at low speed, which reads as viscous.
    assert friction_said(found) == pytest.approx(10.0, abs=2.0)


def test_friction_does_not_hide_a_wrong_sign():
    patient = rubbing(0.05)
    fault = next(f for f in planted_faults(patient) if f.name == 'effort sign of a joint')
    sick = fault.plant(patient)
    wrong, rubs = examine(sick.model, sick.config, sick.log).findings
    assert fault.named_by([wrong], patient) == '' and wrong.evidence > 100.0
    assert rubs.kind == 'friction' and not rubs.fix
    assert friction_said(rubs) == pytest.approx(5.0, abs=1.5)


def test_two_explanations_of_actuators_are_both_told_and_nothing_is_changed():
    patient = healthy()
    scaled = Corrector(patient.model).scaled(patient.config, [2], 0.5, 'effort')
    gain, delay = (_Candidate(Finding(kind, (kind,), f'{kind}.', 6.0), config, 6.0)
                   for kind, config in (('effort_scale_joint', scaled),
                                        ('effort_delay', patient.config)))
    found = _named(gain, [gain, delay]).finding
    assert found.text == 'Cannot tell apart: effort_scale_joint; or: effort_delay.'
    assert not found.fixable and not found.fix


@pytest.mark.parametrize('factor', [0.9, 1.1])
def test_a_small_gain_of_one_joint_is_found(factor):
    patient = healthy('anymal_class', WALK)
    effort = patient.log.joints.effort.copy()
    effort[:, 5] *= factor
    found, = examine(patient.model, patient.config, patient.joints(effort=effort).log).findings
    name = patient.log.joints.names[5]
    assert (found.kind, found.subject) == ('effort_scale_joint', (name,))
    order = list(found.fix.get('robot.joints') or patient.config.joints)
    scale = found.fix['robot.sensors.effort_scale'][order.index(name)]
    assert scale * factor == pytest.approx(1.0, abs=0.04)


def test_a_gain_of_all_torques_is_not_told_from_a_mass():
    patient = healthy('anymal_class', WALK)
    sick = patient.joints(effort=0.9 * patient.log.joints.effort)
    found, = examine(sick.model, sick.config, sick.log).findings
    assert found.text.startswith('Cannot tell apart') and not found.fix
    assert 'The robot weighs' in found.text and 'All efforts read' in found.text


def test_an_imu_that_is_4_ms_late_is_dated():
    patient = healthy('anymal_class', WALK)
    stamp = patient.log.imu.stamp_ns + 4_000_000
    found, = examine(patient.model, patient.config, patient.imu(stamp_ns=stamp).log).findings
    assert found.kind == 'clock_offset'
    assert found.fix['robot.sensors.imu_delay'] == pytest.approx(0.004, rel=0.3)


def late(patient, samples):
    """Return a recording whose torques come some samples late."""
    effort = patient.log.joints.effort
    return patient.joints(effort=np.vstack([np.repeat(effort[:1], samples, axis=0),
                                            effort[:-samples]]))


def test_late_torques_are_dated_and_not_scaled():
    patient = healthy('anymal_class', WALK)
    found, = examine(patient.model, patient.config, late(patient, 5).log).findings
    assert found.kind == 'effort_delay'
    assert found.fix['noise.effort_age'] == pytest.approx(0.010, rel=0.25)


@pytest.mark.parametrize(('kind', 'state'), [
    ('effort_delay', lambda c: replace(c, noise=replace(c.noise, effort_age=-0.00471))),
    ('armature', lambda c: replace(c, armature=(0.0, 0.0635, 0.06) * 4))])
def test_a_value_that_cannot_be_is_not_offered(kind, state):
    config = RobotConfig.from_yaml(robot_files('anymal_class')[0])
    small = ParametricFault(kind, ('joint_states',), '', 50.0, 50.0, state(config),
                            np.array([-0.1]))
    assert _impossible(small) and not _impossible(replace(small, config=config))


def test_torque_gains_as_healthy_motors_have_are_no_finding():
    patient = healthy('anymal_class', WALK)
    gains = 1.0 + 0.02 * np.random.default_rng(0).standard_normal(12)
    sick = patient.joints(effort=patient.log.joints.effort * gains)
    assert examine(sick.model, sick.config, sick.log).healthy


def test_rotors_that_the_yaml_leaves_out_are_found():
    patient = healthy('anymal_class', WALK)
    stated = patient.config.armature
    found, = examine(patient.model, replace(patient.config, armature=(0.0,)),
                     patient.log).findings
    assert found.kind == 'armature'
    knees = np.array(found.fix['robot.armature'])[2::3]
    assert knees == pytest.approx(np.full(4, max(stated)), rel=0.4)


def test_without_efforts_what_moves_is_still_judged():
    patient = healthy()
    sick = patient.joints(effort=np.full_like(patient.log.joints.effort, np.nan)).imu(
        acceleration=-patient.log.imu.acceleration)
    found = examine(sick.model, sick.config, sick.log)
    assert [finding.kind for finding in found.findings] == ['accelerometer_sign']
    assert any('no effort' in said for said in found.unchecked)


def test_names_of_another_style_are_matched():
    patient = healthy()
    names = tuple(f'{name.lower()}_joint' for name in patient.log.joints.names)
    found, = examine(patient.model, patient.config, patient.joints(names=names).log).findings
    assert found.kind == 'joint_names' and found.blocks
    correction = SensorCorrection.from_parameters(found.fix)
    assert set(correction.driver_names(patient.model.joint_names)) == set(names)


def test_a_short_recording_is_refused():
    patient = healthy()
    with pytest.raises(MeasurementError, match='record longer'):
        examine(patient.model, patient.config, patient.log.part(0.0, 1.0))


def test_a_robot_without_feet_is_refused():
    patient = healthy()
    with pytest.raises(ConfigurationError, match='at least one foot'):
        examine(patient.model, replace(patient.config, feet=()), patient.log)
