# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""People on force plates, their ground reactions computed without them."""
from functools import cache

import numpy as np
import pytest
from test_human_recordings import PEOPLE, pytestmark  # noqa: F401

from benchmarks.double_support import (
    DETECTED,
    GIVEN,
    detail_table,
    evaluate,
    evaluation_table,
)
from legged_dynamics.cli import main
from legged_dynamics.people.trials.analysis import analyse_gait
from legged_dynamics.people.trials.subject import GaitOptions


@cache
def analysed(trial, kind):
    return analyse_gait(PEOPLE / trial / kind, GaitOptions(compare=False))[0]


# Newtons: all loaded samples, and those with both feet loaded.
LIMITS = {'walking1': (21.0, 27.0), 'walkingTS1': (21.0, 27.0), 'squats1': (13.0, 13.0),
          'static1': (12.0, 12.0), 'STS1': (24.0, 24.0), 'DJ1': (80.0, 80.0)}


@pytest.mark.parametrize('kind', ['bag', 'bag_unfiltered'])
@pytest.mark.parametrize('trial', LIMITS)
def test_each_foot_bears_what_its_plate_says(trial, kind):
    result = analysed(trial, kind)
    found = result.errors['travelling']
    vertical, double = LIMITS[trial]
    assert found.vertical < vertical and found.double < double
    assert found.pull >= -1e-9 * result.weight
    # Low-passed, a landing of 30 ms begins early and a take-off ends late.
    assert found.agreement > (0.92 if trial == 'DJ1' else 0.97)
    assert found.count > 100
    if trial.startswith('walking'):
        assert found.fore_aft < 22.0 and found.sideways < 12.0
        assert result.reactions.supported.all()
    if trial == 'static1':
        # Feet side by side push outward; bars hold the errors of a person's model once.
        assert found.sideways < 7.0
        stated = np.sqrt(np.mean(result.reactions.deviation[..., 2] ** 2))
        assert 0.5 < found.vertical / stated < 1.5


@pytest.mark.parametrize('trial', ['walking1', 'walkingTS1'])
def test_an_imu_will_do(trial):
    result, _ = analyse_gait(PEOPLE / trial / 'bag', GaitOptions(base='imu', compare=False))
    assert any('/imu/data' in note for note in result.notes)
    found = result.errors['travelling']
    assert found.vertical < 27.0 and found.agreement > 0.98


def test_methods_in_their_order():
    """The travelling reference is worth it, and the ankle does as badly as in Nimble."""
    walk = evaluate(PEOPLE / 'walking1' / 'bag', 'walking1', GaitOptions(cutoff=None))
    errors = {method: walk.errors[DETECTED, method].double for method in
              ('travelling', 'over_time', 'sole', 'ankle', 'transition')}
    assert errors['travelling'] < 0.6 * min(error for method, error in errors.items()
                                            if method != 'travelling')
    # 102.6 N all, 157 N in double support, by nimblephysics 0.10.52.1 with the plates' contacts.
    nimble = walk.errors[GIVEN, 'ankle']
    assert nimble.vertical == pytest.approx(102.6, abs=4.0)
    assert nimble.double == pytest.approx(157.0, abs=4.0)
    text = evaluation_table([walk]).text
    assert text.splitlines()[3].startswith('travelling') and 'ankle' in text
    count = walk.errors[DETECTED, 'travelling'].count
    assert ['walking1', '623', str(count)] == list(detail_table([walk]).rows[0][:3])


def test_a_chair_is_noticed():
    result = analysed('STS1', 'bag')
    supported, valid = result.reactions.supported, result.plates.valid
    assert supported[valid].mean() > 0.99
    seated = (result.motion.time > 2.8) & (result.motion.time < 3.3)
    assert not supported[seated].any()
    assert any('something else than the feet' in note for note in result.notes)


def test_from_the_command_line(tmp_path, capsys):
    assert main(['inverse-dynamics', str(PEOPLE / 'walking1' / 'bag'), '-o', str(tmp_path / 'out'),
                 '--feet', 'sole_r', 'sole_l', '--truth', 'sole_r=/force_plate/right',
                 '--truth', 'sole_l=/force_plate/left', '--valid',
                 '/ground_truth/all_contacts_measured', '--start', '0.1']) == 0
    said = capsys.readouterr().out
    row = next(line for line in said.splitlines() if line.startswith('travelling '))
    assert float(row.split()[1]) < 35.0
    assert (tmp_path / 'out' / 'report.html').is_file()
    table = np.genfromtxt(tmp_path / 'out' / 'inverse_dynamics.csv', delimiter=',', names=True)
    assert np.abs(table['ankle_angle_r']).max() == pytest.approx(115.0, abs=25.0)
