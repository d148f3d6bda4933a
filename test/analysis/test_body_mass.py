# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The mass of a person is a value with a deviation: in the bars, in the first line, learned."""
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from walkers import MASS, two_footed_walk

from benchmarks import people
from legged_dynamics.model.robot_config import scaled_to
from legged_dynamics.pages.section import Report, ReportSection
from legged_dynamics.people.gait.double_support import DoubleSupport
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.trials.accuracy import Plates, align
from legged_dynamics.people.trials.analysis import analyse_gait, sample_walk
from legged_dynamics.people.trials.report import COVERED, errors_table, verdict
from legged_dynamics.people.trials.subject import GaitOptions

TRUE = 70.0         # of the sample's walker [kg]
WALK = two_footed_walk()


def sample_of(folder, factor, **options):
    """Analyse the sample with a model that is too heavy by a factor."""
    source, given = sample_walk(GaitOptions(compare=False, **options))
    model = folder / 'model.osim'
    model.write_text(re.sub(
        r'(<(?:mass|inertia|inertia_..)>)([^<]*)(?=<)',
        lambda found: found[1] + ' '.join(repr(factor * float(x)) for x in found[2].split()),
        Path(given.urdf).read_text()))
    return analyse_gait(source, replace(given, urdf=str(model)))[0]


def held(result):
    """Return the part of loaded samples whose vertical force is within its 95 % bar."""
    truth = result.aligned_plates.force[..., 2]
    loaded = (truth > 20.0) & result.aligned_plates.valid[:, None]
    error = np.abs(result.reactions.force[..., 2] - truth)
    return (error < COVERED * result.reactions.deviation[..., 2])[loaded].mean()


@pytest.mark.parametrize('factor', [0.9, 1.1])
def test_bars_hold_where_the_mass_of_the_model_is_a_tenth_off(tmp_path, factor):
    assert held(sample_of(tmp_path, factor, mass='model')) > 0.9


def test_forces_of_plates_have_their_name_of_the_version_before():
    found = analyse_gait(*sample_walk(GaitOptions(compare=False)))[0].plates
    np.testing.assert_array_equal(found.world_force(None), found.force)


@pytest.mark.parametrize('factor', [0.9, 1.1])
def test_plates_correct_a_wrong_mass(tmp_path, factor):
    found = sample_of(tmp_path, factor)
    assert found.mass.source == 'plates' and found.mass.model == pytest.approx(factor * TRUE)
    assert abs(found.mass.value - TRUE) < 2.0 * found.mass.deviation < 0.04 * TRUE
    assert found.model.total_mass == pytest.approx(found.mass.value)
    assert held(found) > 0.95
    sentence, _ = verdict(found)
    assert f'{found.mass.value:.1f} ±' in sentence and f'{factor * TRUE:.1f} kg' in sentence


def test_a_mass_of_the_model_alone_is_asked_about_and_in_the_bars(tmp_path):
    found = sample_of(tmp_path, 1.05, mass='model')
    assert found.mass.source == 'model'
    assert found.mass.deviation == pytest.approx(
        GaitSettings().mass_error * 1.05 * TRUE)
    assert 'Is the mass 73.5 kg?' in verdict(found)[0]
    assert held(found) > 0.95
    given = sample_of(tmp_path, 1.05, mass=f'{TRUE}')
    assert 'Is the mass' not in verdict(given)[0] and given.mass.deviation < 0.02 * TRUE


def test_bars_have_the_mass_in_proportion_to_the_force():
    """Drawn masses spread the forces as the covariance says, horizontal ones with them."""
    rng, size = np.random.default_rng(0), 0.05
    walk = DoubleSupport(WALK.model, WALK.feet, {'error.mass': 0.0})
    sure = walk.solve(WALK.motion(), WALK.contact)
    doubted = DoubleSupport(WALK.model, WALK.feet, {'error.mass': size}).solve(
        WALK.motion(), WALK.contact)
    drawn = np.array([scaled_to(WALK.model, MASS * (1.0 + size * x)).total_mass / MASS - 1.0
                      for x in rng.normal(size=400)])
    spread = np.einsum('nfi,nfj->nfij', sure.force, sure.force) * np.mean(drawn ** 2)
    added = doubted.covariance - sure.covariance
    np.testing.assert_allclose(added, spread, rtol=0.15, atol=1e-6 * (MASS * 9.81) ** 2)


@pytest.mark.parametrize('seen', ['one stance of one plate', 'a whole cycle'])
def test_part_of_a_walk_tells_the_mass_within_its_deviation(seen):
    dynamics = GaitInverseDynamics.of(scaled_to(WALK.model, 1.1 * MASS), WALK.feet, WALK.motion())
    alone = WALK.contact[:, 0] & ~WALK.contact[:, 1]
    valid = np.ones(len(alone), bool)
    if seen != 'a whole cycle':
        first = np.flatnonzero(alone)[0]
        end = first + np.flatnonzero(~alone[first:])[0]
        valid[:], valid[first:end] = False, True
    force = np.where(valid[:, None, None], WALK.force, 0.0)
    found = align(dynamics, Plates(force, valid, np.zeros_like(force)), GaitSettings())
    assert abs(found.mass - 1.0 / 1.1) < 2.0 * found.mass_deviation
    assert found.mass_deviation < 0.04


# -------------------------------------------------------------------------------------------------
# What the page says of methods.


def test_long_descriptions_of_methods_wrap():
    table = errors_table(analyse_gait(*sample_walk())[0])
    html = Report('', '', [ReportSection('Error', [table])], '').html()
    assert html.count('<td class="text">') == sum(len(row[-1]) > 40 for row in table.rows) == 3
    assert 'td.text { white-space: normal' in html


def test_the_benchmark_states_what_its_rule_leaves_out():
    found, _ = analyse_gait(*sample_walk(GaitOptions(compare=False, mass='model')))
    cut = found.plates.valid.copy()
    cut[:len(cut) // 4] = False
    part = replace(found, plates=replace(found.plates, valid=cut), alignment=None)
    table = people.tables({'some': [people.measure(part)]})[0]
    assert float(table.rows[0][list(table.head).index('left out [%]')]) == pytest.approx(
        100.0 * (1.0 - cut.mean()), abs=0.1)
