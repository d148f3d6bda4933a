# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Belts, clocks, level and mass, planted into a walk whose truth is known."""
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d
from test_gait_files import BASE, load_error, options, write_table, write_walk
from walkers import MASS, two_footed_walk

from legged_dynamics.cli import main
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import soles_of
from legged_dynamics.people.trials.accuracy import (
    Plates,
    align,
    alignment_notes,
    belt_velocity,
    floor_slope,
    found_belt,
    plates_later,
    slope_notes,
)
from legged_dynamics.people.trials.analysis import analyse_gait

WALK = two_footed_walk()
INNER = slice(8, -8)


def plates(lag=0.0, mass=1.0):
    """Return plates that are late or heavier than the walk."""
    late = np.stack([[np.interp(WALK.time - lag, WALK.time, WALK.force[:, i, k])
                      for k in range(3)] for i in range(2)]).transpose(2, 0, 1)
    valid = np.zeros(len(WALK.time), bool)
    valid[INNER] = True
    return Plates(mass * late, valid, np.zeros_like(late))


def dynamics(**more):
    return dynamics_of(WALK.motion(**more))


def dynamics_of(motion):
    return GaitInverseDynamics.of(WALK.model, WALK.feet, motion)


@pytest.mark.parametrize('lag', [-0.013, 0.0, 0.008])
def test_the_clock_of_the_plates(lag):
    """The walker bears its weight at all times: only its horizontal force can tell."""
    assert np.isnan(align(dynamics(), plates(lag)).lag)
    rng = np.random.default_rng(0)
    bob = 0.02 * np.sin(2.0 * np.pi * 1.8 * WALK.time)
    up = -(2.0 * np.pi * 1.8) ** 2 * bob * MASS
    base = WALK.base + np.outer(bob, [0.0, 0.0, 1.0])
    late = plates(lag)
    share = late.force[..., 2] / late.force[..., 2].sum(axis=1, keepdims=True)
    late.force[..., 2] += share * np.interp(WALK.time - lag, WALK.time, up)[:, None]
    late.force[:] += rng.normal(0.0, 3.0, late.force.shape)
    found = align(dynamics(base=base), late)
    assert found.lag == pytest.approx(lag, abs=0.0015)
    assert found.late == (lag != 0.0)
    assert abs(found.lag - lag) < 3.0 * found.lag_deviation < 0.006
    said = ' '.join(alignment_notes(found))
    assert ('behind' in said) == (lag > 0.0) and ('ahead of' in said) == (lag < 0.0)
    together = plates_later(late, WALK.time, found.lag)
    np.testing.assert_allclose(together.force[20:-20, :, 0].sum(axis=1),
                               WALK.force[20:-20, :, 0].sum(axis=1), atol=25.0)
    assert not together.valid[:6].any()


def test_a_lag_within_its_error_is_none():
    """Plates and motion that differ by more than the lag are not shifted."""
    rng = np.random.default_rng(3)
    bob = 0.004 * np.sin(2.0 * np.pi * 1.8 * WALK.time)
    motion = WALK.motion(base=WALK.base + np.outer(bob, [0.0, 0.0, 1.0]))
    late = plates(0.004)
    wander = gaussian_filter1d(rng.normal(0.0, 1.0, (len(WALK.time), 3)), 5, axis=0)
    late.force[:, 0] += 60.0 * wander / wander.std(axis=0)
    found = align(dynamics_of(motion), late)
    assert found.lag_deviation > 0.003 and not found.late
    assert not any('clock' in note for note in alignment_notes(found))


def test_the_mass_by_the_plates():
    right = align(dynamics(), plates())
    assert right.mass == pytest.approx(1.0, abs=0.01) and not alignment_notes(right)
    assert align(dynamics(), plates(mass=1.06)).mass == pytest.approx(1.06, abs=0.01)
    said = ' '.join(alignment_notes(align(dynamics(), plates(mass=0.9))))
    assert '-10.' in said and '--mass' in said


def test_a_floor_that_is_not_level_is_found():
    c, s = np.cos(0.05), np.sin(0.05)
    lean = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    xyzw = np.tile([0.0, np.sin(0.025), 0.0, np.cos(0.025)], (len(WALK.time), 1))
    motion = RecordedMotion.from_poses(WALK.model, WALK.time, WALK.base @ lean.T, xyzw,
                                       WALK.position)
    seen = dynamics_of(motion)
    x, y = floor_slope(seen, soles_of(seen, GaitSettings.from_parameters()), WALK.contact)
    assert np.arctan(x) == pytest.approx(-0.05, abs=0.005) and np.isnan(y)
    assert '-2.8 deg along x' in slope_notes((x, y))[0]
    level = dynamics()
    assert not slope_notes(floor_slope(level, soles_of(level, GaitSettings.from_parameters()),
                                       WALK.contact))


def on_a_belt(folder, speed):
    """Write the walk as it is on a treadmill."""
    urdf = write_walk(folder)[1]
    base = WALK.base - np.outer(WALK.time, [speed, 0.0, 0.0])
    path = write_table(folder / 'belt.csv', ['time', *BASE, *WALK.model.joint_names],
                       [WALK.time, base, np.tile([0.0, 0.0, 0.0, 1.0], (len(base), 1)),
                        WALK.position])
    return path, urdf


@pytest.mark.parametrize('said', ['auto', '1.2', 'foot0=1.2 foot1=1.2'])
def test_a_walk_on_a_treadmill_is_a_walk(tmp_path, said):
    path, urdf = on_a_belt(tmp_path, 1.2)
    result, _ = analyse_gait(path, options(urdf, belt_speed=tuple(said.split())))
    overground, _ = analyse_gait(write_walk(tmp_path)[0], options(urdf))
    assert load_error(result.reactions) < 1.1 * load_error(overground.reactions)
    assert any('1.20 m/s' in note for note in result.notes)
    assert not any('m/s' in note for note in overground.notes)


def test_the_floor_is_no_belt_and_a_belt_is_found():
    gone = np.outer(WALK.time, [3.0, 0.0, 0.0])
    seen = found_belt(dynamics_of(WALK.motion(WALK.base - gone)))
    np.testing.assert_allclose(seen, [-3.0, 0.0, 0.0], atol=0.05)
    assert found_belt(dynamics()) is None


def test_what_is_refused(tmp_path):
    path, urdf = write_walk(tmp_path)
    for words, said in (('hand=1.0', r"expected a foot \(foot0, foot1\), got 'hand'"),
                        ('foot0=1.0', 'none for foot1; 0 for the floor'),
                        ('fast', "expected m/s, got 'fast'")):
        with pytest.raises(ConfigurationError, match=said):
            belt_velocity([words], ('foot0', 'foot1'), np.eye(3)[None])
    with pytest.raises(ConfigurationError, match="kilograms, 'plates' or 'model', got 'heavy'"):
        analyse_gait(path, options(urdf, mass='heavy'))
    with pytest.raises(ConfigurationError, match='a mass above 0 kg, got -3'):
        analyse_gait(path, options(urdf, mass='-3'))
    with pytest.raises(ConfigurationError, match='expected a recording with force plates'):
        analyse_gait(path, options(urdf, mass='plates'))


def test_a_mass_from_a_scale(tmp_path):
    path, urdf = write_walk(tmp_path)
    plain, _ = analyse_gait(path, options(urdf))
    heavy, _ = analyse_gait(path, options(urdf, mass='72'))
    np.testing.assert_allclose(heavy.reactions.force, 72.0 / plain.model.total_mass
                               * plain.reactions.force, atol=1e-6)
    assert any('72.00 kg (--mass), and not the 60.00 kg' in note for note in heavy.notes)
    assert main(['inverse-dynamics', str(path), '--urdf', str(urdf), '--feet', 'foot0', 'foot1',
                 '--mass', '72', '--belt-speed', '0', '-o', str(tmp_path / 'out'), '--no-report',
                 '--no-bag']) == 0
