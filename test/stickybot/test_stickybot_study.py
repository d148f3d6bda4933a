# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from climbers import proposed
from robots import CONFIG

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.reproductions.climbing.sweep import RESULTS, combinations, study
from legged_dynamics.stickybot import StickybotSettings, climb
from legged_dynamics.stickybot.settings import SETTINGS

pytestmark = pytest.mark.slow

YAML = CONFIG / 'robots' / 'stickybot.yaml'


def test_yaml_holds_every_setting_at_its_default():
    found = StickybotSettings.from_yaml(YAML)
    assert found.values == StickybotSettings.from_parameters().values
    text = YAML.read_text()
    for setting in SETTINGS:
        # A parameter file cannot hold an empty list.
        sign = '# ' if setting.default == [] else ''
        assert f'\n      {sign}{setting.name.split(".")[1]}:' in text, setting.name
    model = found.model()
    assert model.mass == pytest.approx(0.37)
    assert model.limb_names == ('left_fore', 'right_fore', 'left_hind', 'right_hind')
    np.testing.assert_array_equal(model.sides, [1, -1, 1, -1])


def test_settings_build_what_they_say():
    settings = proposed(stickybot__n_limbs=6, stickybot__link_length=[0.06, 0.04],
                        stickybot__link_mass=[0.01, 0.01], stickybot__joint_stiffness=[3.0],
                        stickybot__bends=[0.5], stickybot__stiffness_scale=2.0,
                        stickybot__damping_ratio=0.5, stickybot__inclination=0.0,
                        adhesion__kind='directional', gait__pattern='wave', gait__duty=0.9,
                        control__reduction='turning')
    model = settings.model()
    assert model.n_limbs == 6
    assert model.n_joints == 12
    np.testing.assert_allclose([limb.hip[1] for limb in model.limbs[::2]], [0.08, 0.0, -0.08])
    np.testing.assert_allclose(model.bends, [0.5, -0.5] * 3)
    np.testing.assert_allclose(np.diag(model.limbs[0].stiffness), [4000, 4000, 10])
    assert model.limbs[0].damping[0, 0] == pytest.approx(math.sqrt(0.29 * 4000 / 6))
    assert abs(model.wall.in_plane).max() == 0.0
    assert model.wall.normal == pytest.approx(-9.81)
    assert len(settings.pads()) == 6
    assert settings.pads()[0].directional
    assert settings.gait().pattern == 'wave'
    assert settings.control().reduction == 'turning'
    assert proposed().pads() is None
    assert settings.changed({'adhesion.kind': 'none'}).pads() is None


def test_wrong_settings_are_told(tmp_path):
    with pytest.raises(ConfigurationError, match=r'hip_x: expected 4 values .there are 4 limbs of '
                                                 r'1 links., got 3'):
        proposed(stickybot__hip_x=[0.0, 0.0, 0.0])
    with pytest.raises(ConfigurationError, match='expected an even number, got 3'):
        proposed(stickybot__n_limbs=3)
    with pytest.raises(ConfigurationError, match='Did you mean gait.amplitude'):
        proposed(gait__amplitud=0.1)
    with pytest.raises(ConfigurationError, match='joint_stiffness: expected 1 values'):
        proposed(stickybot__link_length=[0.1, 0.1], stickybot__link_mass=[0.1, 0.1])
    path = tmp_path / 'robot.yaml'
    path.write_text('/**:\n  ros__parameters:\n    gait: {duty: 2.0}\n')
    with pytest.raises(ConfigurationError, match='robot.yaml, line 3: gait.duty: expected'):
        StickybotSettings.from_yaml(path)


def test_study_rows_are_climbs():
    base = {'control.reduction': 'off', 'control.rate': 250.0}
    grid = {'gait.amplitude': [0.1, 0.147], 'stickybot.n_limbs': [4, 7]}
    seen = []
    rows = study(base, grid, seconds=2.0, workers=1,
                 progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 4) for k in range(1, 5)]
    assert [(row['gait.amplitude'], row['stickybot.n_limbs']) for row in rows] == [
        (0.1, 4), (0.1, 7), (0.147, 4), (0.147, 7)]
    assert set(RESULTS) <= set(rows[0])
    settings = StickybotSettings.from_parameters({**base, 'gait.amplitude': 0.147,
                                                  'stickybot.n_limbs': 4})
    done = climb(settings.model(), settings.gait(), settings.control(), seconds=2.0)
    assert rows[2]['speed'] == done.speed
    assert rows[2]['peak_force'] == done.peak
    assert rows[2]['cost_of_transport'] == pytest.approx(
        done.energy.work / (0.37 * 9.81 * done.rise))
    assert 0.02 < rows[0]['speed'] < rows[2]['speed']
    assert 'expected an even number' in rows[1]['error']
    assert math.isnan(rows[1]['speed'])
    assert rows[0]['error'] == ''


def test_processes_make_the_same_rows():
    base = {'control.reduction': 'off', 'control.rate': 250.0}
    grid = {'stickybot.inclination': [0.5, 1.5]}
    alone = study(base, grid, seconds=2.0, workers=1)
    assert study(base, grid, seconds=2.0, workers=2) == alone
    assert alone[0]['peak_force'] < alone[1]['peak_force']


def test_wrong_studies_are_told():
    with pytest.raises(ConfigurationError, match='gait.speed is not a setting'):
        study({}, {'gait.speed': [1.0]})
    with pytest.raises(ConfigurationError, match='list of at least one value'):
        study({}, {'gait.amplitude': []})
    with pytest.raises(ConfigurationError, match='at least one worker'):
        study({}, {'gait.amplitude': [0.1]}, workers=0)
    assert combinations({'a': [1, 2], 'b': [3]}) == [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    with pytest.raises(ConfigurationError, match='duration above 0'):
        climb(proposed().model(), seconds=0.0)


def test_progress_of_a_climb():
    settings, seen = proposed(control__reduction='off', control__rate=100.0), []
    climb(settings.model(), settings.gait(), settings.control(), seconds=2.0,
          progress=seen.append)
    assert seen == [0.5, 1.0]
