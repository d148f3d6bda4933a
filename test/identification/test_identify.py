# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planted errors of a robot are identified from its own sensors; what they cannot tell is said."""
from dataclasses import replace

import numpy as np
import pytest
from recorded_robots import healthy

from benchmarks.planted_faults import RecordedRobot
from legged_dynamics.diagnosis.identification.identify import identify, validate, with_inertias
from legged_dynamics.diagnosis.identification.samples import sensor_noise, white_noise
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import RobotModel
from legged_dynamics.resources import robot_files

pytestmark = pytest.mark.slow

NAME, KNEE, HIP = 'anymal_class', 2, 4
RECOVERED = 0.15        # of what was planted
SQUAT = 'stand 1, squat 6, stand 0.5'


@pytest.fixture(scope='module')
def planted():
    """A robot described 8 % too heavy in the base, with a motor and an encoder that are off."""
    recorded = healthy(NAME, SQUAT)
    base = recorded.model.body_inertia(0)
    wrong = recorded.model.with_body_inertia({0: replace(base, mass=1.08 * base.mass)})
    effort, position = recorded.log.joints.effort.copy(), recorded.log.joints.position.copy()
    effort[:, KNEE] *= 1.2
    position[:, HIP] += np.pi / 180.0
    faulty = recorded.joints(effort=effort, position=position)
    return recorded, identify(wrong, recorded.config, faulty.log,
                             total_mass=recorded.model.total_mass), wrong, faulty


def test_planted_errors_are_recovered(planted):
    recorded, found, wrong, _ = planted
    by_name = {(q.kind, q.name): q for q in found.quantities}
    names = recorded.log.joints.names
    base = recorded.model.body_inertia(0).mass
    assert by_name['mass', 'base'].value == pytest.approx(base, abs=RECOVERED * 0.08 * base)
    scale = by_name['effort_scale', names[KNEE]]
    assert scale.identifiable
    assert scale.value == pytest.approx(1 / 1.2, abs=RECOVERED * (1 - 1 / 1.2))
    offset = by_name['position_offset', names[HIP]].value
    assert offset == pytest.approx(-np.pi / 180.0, abs=2.0 * RECOVERED * np.pi / 180.0)
    assert found.after.force < 0.2 * found.before.force


def test_nine_tenths_of_the_planted_imbalance_are_gone(planted):
    recorded, found, wrong, faulty = planted
    true = validate(recorded.config.apply_to(recorded.model), recorded.config, recorded.log)
    described = validate(wrong, recorded.config, faulty.log)
    closed = validate(found.model, found.config, faulty.log)
    for name in ('force', 'moment'):
        least, most, now = (getattr(b, name) for b in (true, described, closed))
        assert now - least < 0.1 * (most - least)


def test_what_the_motion_does_not_tell_is_said(planted):
    _, found, _, _ = planted
    untold = {q.kind for q in found.quantities if not q.identifiable}
    # Nothing was lifted: the links of legs under load do not tell their masses.
    assert 'link_mass' in untold
    assert all(q.motion for q in found.quantities if not q.identifiable)
    assert not any(q.motion for q in found.quantities if q.identifiable)


def test_the_written_urdf_has_the_identified_bodies(planted):
    recorded, found, _, _ = planted
    text = with_inertias(robot_files(NAME)[1].read_text(), recorded.model, found.model)
    again = RobotModel.from_urdf(text)
    for body in range(again.n_bodies):
        a, b = again.body_inertia(body), found.model.body_inertia(body)
        assert a.mass == pytest.approx(b.mass, rel=1e-6)
        np.testing.assert_allclose(a.com, b.com, atol=1e-6)
        np.testing.assert_allclose(a.about_com, b.about_com, atol=1e-6)


def test_without_efforts_it_says_so():
    recorded = healthy(NAME, SQUAT)
    blind = recorded.joints(effort=np.full_like(recorded.log.joints.effort, np.nan))
    with pytest.raises(MeasurementError, match='needs joint efforts'):
        identify(recorded.model, recorded.config, blind.log)


def test_a_mass_in_grams_is_refused():
    recorded: RecordedRobot = healthy(NAME, SQUAT)
    with pytest.raises(ConfigurationError, match='kilograms'):
        identify(recorded.model, recorded.config, recorded.log, total_mass=52000.0)


@pytest.mark.parametrize('deviation', [1e-4, 0.3])
def test_white_noise_is_told_from_motion(deviation):
    rng = np.random.default_rng(3)
    time = np.arange(5000) / 500.0
    motion = 10.0 * deviation * np.sin(2.0 * np.pi * 1.3 * time)
    values = (motion + deviation * rng.standard_normal(len(time)))[:, None]
    assert white_noise(values)[0] == pytest.approx(deviation, rel=0.1)


def test_noise_of_a_recording_is_what_its_yaml_says():
    recorded = healthy(NAME, SQUAT)
    found, stated = sensor_noise(recorded.log), recorded.config.noise
    for name, value in found.items():
        # The largest of twelve joints, each known to a few per cent.
        assert value == pytest.approx(getattr(stated, name.removeprefix('noise.')), rel=0.25)
