# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a validation says of planted errors, by the simulator's truth."""
from dataclasses import replace

import numpy as np
import pytest
from simulated_bag import messages, write

from benchmarks.validation import WITHIN, make_case, true_accuracy
from legged_dynamics.cli import main
from legged_dynamics.cli.arguments import scales_of
from legged_dynamics.cli.record import _announce_steps
from legged_dynamics.diagnosis.validation.torque_errors import OF_JOINT
from legged_dynamics.diagnosis.validation.validation import (
    FORCE_BAND,
    PHASES,
    _problem,
    _swing,
    _whole,
    phases_of,
    run_estimator,
    validate,
    whole_cycles,
)
from legged_dynamics.estimation import EstimatorSettings
from legged_dynamics.exceptions import ConfigurationError, MeasurementError

MOTION = 'stand 2.4, lift_legs 8.4, squat 2.5, stand 0.6'
JOINT = 4


@pytest.fixture(scope='module')
def case():
    """Return a robot in which nothing is wrong but the sensors' noise."""
    return make_case('solo_class', 7, 0.0, MOTION)


def with_torque(case, change):
    return [replace(one, effort=change(one.effort)) for one in case.measurements]


def errors_of(case, measurements, known=()):
    record = run_estimator(case.model, case.config, EstimatorSettings(rate=500.0), measurements)
    problem, _, at = _problem(case.config.apply_to(case.model), case.config, measurements,
                              record.contact)
    return problem, problem.solve(known), record, at


def test_a_healthy_robot_has_no_errors(case):
    _, errors, _, _ = errors_of(case, case.measurements)
    away = np.abs(errors.value) / errors.deviation
    assert (away < 4.0).mean() > 0.95
    gains = [errors.of_joint(name, 'gain') for name in errors.joints]
    assert max(abs(value) for value, _ in gains) < 0.06


@pytest.mark.parametrize(('gain', 'offset'), [(0.15, 0.0), (0.0, 0.15)])
def test_the_joint_that_reads_wrong_is_named(case, gain, offset):
    def spoil(effort):
        wrong = np.array(effort)
        wrong[JOINT] += gain * wrong[JOINT] + offset
        return wrong
    name = case.model.joint_names[JOINT]
    _, before, _, _ = errors_of(case, case.measurements)
    _, after, _, _ = errors_of(case, with_torque(case, spoil))
    for what, planted in (('gain', gain), ('offset', offset)):
        (old, _), (new, spread) = before.of_joint(name, what), after.of_joint(name, what)
        if planted:
            assert new - old == pytest.approx(planted, rel=0.35)
            assert abs(new) > 2.0 * spread


def test_a_scale_tells_torque_from_mass(case):
    # All torques read 6 % high: that, or 6 % less mass. The truth under one foot decides.
    measurements = with_torque(case, lambda effort: 1.06 * np.asarray(effort))
    problem, errors, _, at = errors_of(case, measurements)
    unsure = errors.of_robot('common gain')
    assert unsure[1] > 0.02
    where = np.flatnonzero(case.contact[at].all(axis=1) & (np.arange(len(at)) < 60))
    estimated, row = problem.effect_on_foot(0, where)
    up = problem._samples.up[where]
    true = np.einsum('ni,ni->n', case.force[at][where][:, 0], up).mean()
    assert estimated > 1.03 * true
    sure = problem.solve([(row, estimated - true, 0.005 * true)]).of_robot('common gain')
    assert sure[1] < 0.8 * unsure[1]
    assert abs(sure[0] - 0.06) < abs(unsure[0] - 0.06)


def test_no_torque_and_strange_scales_are_refused(case):
    blind = [replace(one, effort=None) for one in case.measurements[:200]]
    with pytest.raises(MeasurementError, match='efforts'):
        validate(case.model, case.config, blind)
    with pytest.raises(ConfigurationError, match='--scale'):
        validate(case.model, case.config, case.measurements, {'TAIL': 1.0})
    assert scales_of(['LF_FOOT=12.5'], None) == {'LF_FOOT': 12.5}
    for text in ('LF_FOOT', 'LF_FOOT=heavy', 'LF_FOOT=-1'):
        with pytest.raises(ConfigurationError, match='FOOT=KG'):
            scales_of([text], None)


def test_feet_of_a_trot_are_in_the_air_and_bear_nothing():
    """By the simulator's truth of when they are, and though some foot always is near a change."""
    case = make_case('solo_class', 7, 0.0, 'stand 6, trot_in_place 4')
    assert (np.diff(case.contact.astype(int), axis=0) < 0).sum(axis=0).min() > PHASES.steps
    applied = case.config.apply_to(case.model)
    problem = _problem(applied, case.config, case.measurements, case.contact, FORCE_BAND)[0]
    feet = tuple(foot.link for foot in case.config.feet)
    assert max(_swing(problem, feet).values()) < 8.0        # percent of the weight; NaN: never
    assert not np.isnan(list(_swing(problem, feet).values())).any()


def test_joint_states_without_imu_are_left_out_and_counted(case):
    """One in fifty hardly changes what is found; beyond a tenth, nothing is said of torques."""
    def without(every):
        return [replace(one, angular_velocity=None, linear_acceleration=None)
                if k % every == 3 else one for k, one in enumerate(case.measurements)]
    kept, said = _whole(without(50))
    count = len(case.measurements)
    left_out = sum(k % 50 == 3 for k in range(count))
    assert len(kept) == count - left_out and f'{left_out} without IMU left out' in said
    assert said.startswith(f'joint states: {count} messages over ') and 'none lost' in said
    with pytest.raises(MeasurementError, match='left out.* got 80 %: what is missing'):
        validate(case.model, case.config, without(5))


@pytest.mark.parametrize(('picked', 'said'), [
    (lambda k: k < 300, '300 messages over 0.60 s, none lost; expected at least 1 s'),
    (lambda k: k % 100 < 31, '69 % lost; expected .* got 31 %')])
def test_an_incomplete_recording_is_refused_by_what_it_lacks(case, picked, said):
    some = [one for k, one in enumerate(case.measurements) if picked(k)]
    with pytest.raises(MeasurementError, match=said):
        validate(case.model, case.config, some)


def test_phases_name_what_is_missing():
    time = np.arange(0.0, 6.0, 0.002)
    q = np.zeros((len(time), 2))
    contact = np.ones((len(time), 2), bool)
    found = phases_of(time, q, q, contact, ('left', 'right'))
    assert found.seconds['still'] == pytest.approx(6.0, abs=0.02)
    assert [one.split(':')[0] for one in found.missing] == ['lift', 'squat', 'trot']
    contact[:, 0] = np.sin(2 * np.pi * time) > -0.5
    stepping = phases_of(time, q, q, contact, ('left', 'right'))
    assert not stepping.standing.all()
    assert 'right' in next(one for one in stepping.missing if one.startswith('lift'))
    downs = np.flatnonzero(np.diff(contact[:, 0].astype(int)) > 0)
    cycles = np.flatnonzero(whole_cycles(contact))
    assert (cycles[0], cycles[-1]) == (downs[0], downs[-1] - 1)


def test_the_steps_of_a_recording_are_what_phases_ask_for(capsys):
    waited = []
    _announce_steps(waited.append)
    assert sum(waited) == 120.0
    said = capsys.readouterr().out
    for what in ('stand', 'Lift each foot', 'Squat', 'trot'):
        assert what in said


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'seed', 'size'), [('anymal_class', 11, 1.0),
                                                    ('solo_class', 12, 1.5)])
def test_the_stated_accuracy_is_the_true_one(name, seed, size):
    case = make_case(name, seed, size, MOTION)
    found, true = validate(case.model, case.config, case.measurements), true_accuracy(case)
    for part, value in true.items():
        assert 1.0 / WITHIN < found.accuracy[part] / value < WITHIN
    assert len(found.joints) * len(OF_JOINT) + 6 == len(found.errors.value)


@pytest.mark.slow
def test_the_verb_writes_a_page_and_its_exit_code_is_the_verdict(tmp_path, capsys):
    bag, page = write(tmp_path / 'bag', messages()), tmp_path / 'page.html'
    assert main(['validate', str(bag), '-o', str(page)]) == 0
    said = capsys.readouterr().out
    had, first = said.splitlines()[:2]
    assert had == 'joint states: 1900 messages over 3.80 s, none lost.'
    assert first.startswith('forces on this robot are right to')
    assert 'missing: stand' in said
    assert 'Feet in the air' in page.read_text()
    assert main(['validate', str(bag), '-o', str(page), '--limit', '0.01']) == 3
    assert 'not to be trusted' in capsys.readouterr().out
    assert main(['validate', str(bag), '--scale', 'LF_FOOT']) == 2
