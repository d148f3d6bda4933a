# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion in files, joint torques and foot wrenches out: what is read, written and refused."""
import re

import numpy as np
import pytest
from walkers import DT, GRAVITY, MASS, description, two_footed_walk

from legged_dynamics.cli import main
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.people.gait.settings import GaitSettings
from legged_dynamics.people.gait.stance_detection import in_steps
from legged_dynamics.people.trials.analysis import analyse_gait
from legged_dynamics.people.trials.csv_motion import CsvColumns, even_grid, interpolated, slerped
from legged_dynamics.people.trials.subject import GaitOptions

WALK = two_footed_walk()
BASE = ['base_x', 'base_y', 'base_z', 'base_qx', 'base_qy', 'base_qz', 'base_qw']
FEET = ('foot0', 'foot1')


def write_table(path, names, columns, sep=','):
    rows = [sep.join(f'{value:.12g}' for value in row) for row in np.column_stack(columns)]
    path.write_text('\n'.join([sep.join(names), *rows]) + '\n')
    return path


def write_walk(folder, time=None, joints=None, xyzw=(0.0, 0.0, 0.0, 1.0), sep=','):
    """Write the walk as CSV and its URDF, and return both paths."""
    urdf = folder / 'walker.urdf'
    urdf.write_text(description(2))
    path = write_table(
        folder / 'walk.csv', ['time', *BASE, *WALK.model.joint_names, 'marker_error'],
        [WALK.time if time is None else time, WALK.base, np.tile(xyzw, (len(WALK.time), 1)),
         WALK.position if joints is None else joints, np.zeros(len(WALK.time))], sep)
    return path, urdf


# The walkers pass their load along a smooth curve, and people at a nearly constant rate.
# Rigid walkers hide nothing when they land.
SETTINGS = {'transfer.step_cutoff': 2.0, 'motion.landing': 0.0}


def options(urdf, **more):
    return GaitOptions(urdf=str(urdf), feet=FEET, cutoff=None, settings=SETTINGS, **more)


def load_error(reactions):
    error = (reactions.force - WALK.force)[5:-5, :, 2]
    return float(np.sqrt(np.mean(error ** 2))) / (MASS * GRAVITY)


@pytest.mark.parametrize('sep', [',', ';', '\t'])
def test_a_walk_in_a_csv_file(tmp_path, sep):
    path, urdf = write_walk(tmp_path, sep=sep)
    result, text = analyse_gait(path, options(urdf))
    assert load_error(result.reactions) < 0.025 and text == description(2)
    assert any('Columns left alone: marker_error' in note for note in result.notes)
    assert result.plates is None and not result.errors


def test_a_urdf_is_a_robot_unless_a_yaml_says_that_it_is_a_person(tmp_path):
    """Robots do not pass their load on as people do, and have no scaled masses to be sure of."""
    path, urdf = write_walk(tmp_path)

    def of(noise='', **more):
        yaml = tmp_path / 'walker.yaml'
        yaml.write_text('/**:\n  ros__parameters:\n    robot: {feet: [foot0, foot1], foot_type: '
                        f'flat, sole: [0.13, -0.1, 0.04, -0.04]}}\n    {noise}\n')
        result = analyse_gait(path, options(urdf, **more))[0]
        stepping = in_steps(result.reactions.contact)
        assert stepping.any()
        return result.mass, result.reactions.deviation[stepping][..., 2].mean()

    weighed, robot = {'mass': f'{MASS}'}, {'robot': str(tmp_path / 'walker.yaml')}
    person = of('analysis: {model_error: false}', **robot, **weighed)[1]
    assert of(**weighed)[1] > 1.3 * person
    assert of(**robot, **weighed)[1] == pytest.approx(of(**weighed)[1], rel=0.01)
    unknown, stated = of(**robot)[0], of('noise: {mass: 0.02}', **robot)[0]
    assert (unknown.source, stated.source) == ('model', 'robot')
    assert unknown.deviation == pytest.approx(GaitSettings().mass_error * MASS)
    assert stated.deviation == pytest.approx(0.02 * MASS)


def test_degrees_uneven_times_and_joints_left_out(tmp_path):
    joints = WALK.position.copy()
    pitch = [k for k, name in enumerate(WALK.model.joint_names) if name.endswith('pitch')]
    joints[:, pitch] *= 180.0 / np.pi
    rng = np.random.default_rng(0)
    time = WALK.time + rng.uniform(-0.1, 0.1, len(WALK.time)) * DT
    at = [interpolated(WALK.time, values, time) for values in (joints, WALK.base)]
    path = write_table(tmp_path / 'uneven.csv', ['time', *BASE, *WALK.model.joint_names],
                       [time, at[1], np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1)), at[0]])
    urdf = write_walk(tmp_path)[1]
    result, _ = analyse_gait(path, GaitOptions(urdf=str(urdf), feet=FEET, degrees=True,
                                              settings=SETTINGS))
    assert any('uneven' in note for note in result.notes)
    at_times = interpolated(result.motion.time, result.reactions.force[..., 2], WALK.time)
    error = (at_times - WALK.force[..., 2])[20:-20]
    assert np.sqrt(np.mean(error ** 2)) < 0.06 * MASS * GRAVITY
    keep = [k for k, name in enumerate(WALK.model.joint_names) if k not in pitch]
    names = [WALK.model.joint_names[k] for k in keep]
    path = write_table(tmp_path / 'fewer.csv', ['time', *BASE, *names],
                       [WALK.time, WALK.base, np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1)),
                        WALK.position[:, keep]])
    with pytest.raises(MeasurementError, match=r'no column for joint leg0_pitch, leg1_pitch\.'):
        analyse_gait(path, options(urdf))
    result, _ = analyse_gait(path, options(urdf, missing_at_zero=True))
    assert any('stay at zero: leg0_pitch, leg1_pitch' in note for note in result.notes)


def test_the_command_writes_table_bag_and_report(tmp_path, capsys):
    path, urdf = write_walk(tmp_path)
    out = tmp_path / 'out'
    words = ['inverse-dynamics', str(path), '--urdf', str(urdf), '--feet', *FEET, '--cutoff', '0',
             '-p', 'transfer.step_cutoff:=2.0', '-p', 'motion.landing:=0.0', '-o', str(out)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert 'Feet (weight 589 N), contacts detected, off line' in said
    table = CsvColumns(out / 'inverse_dynamics.csv')
    wrench = np.array([[table[f'{foot}_{c}'] for c in ('fx', 'fy', 'fz', 'mx', 'my', 'mz')]
                       for foot in FEET])
    world = np.array([table[f'{foot}_world_fz'] for foot in FEET]).T
    assert np.sqrt(np.mean((world - WALK.force[..., 2])[5:-5] ** 2)) < 0.025 * MASS * GRAVITY
    # A leg without mass that slides upright pushes with what its foot bears.
    assert np.abs(table['leg0_z'] + table['foot0_world_fz']).max() < 1e-3 * MASS * GRAVITY
    page = (out / 'report.html').read_text()
    # Forces, balance, torques, and over the gait cycle three components and five joints thrice.
    assert page.count('<img') == 1 and page.count('class="chart"') == 3 + 3 + 1 + 3 + 15
    assert 'Joint torques' in page and '<p class="caution"' not in page

    # What was written is a motion again; contacts may come from a file.
    again, _ = analyse_gait(out / 'inverse_dynamics_bag', GaitOptions(feet=FEET, cutoff=None,
                                                                       settings=SETTINGS))
    assert again.model.name == 'walker'
    written = np.array([again.reactions.wrench[:, i].T for i in range(2)])
    np.testing.assert_allclose(written, wrench, atol=1e-5 * MASS * GRAVITY)
    contact = write_table(tmp_path / 'contact.csv', ['time', 'foot1', 'foot0'],
                          [WALK.time, WALK.contact[:, 1], WALK.contact[:, 0]])
    assert main([*words, '--contact', str(contact), '--no-bag', '--no-report']) == 0
    assert 'contacts taken from contact.csv' in capsys.readouterr().out
    given = CsvColumns(out / 'inverse_dynamics.csv')
    assert (given['foot0_contact'] == WALK.contact[:, 0]).all()


BAD = {
    'a word': (lambda text: text.replace('\n0.05,', '\nfive,', 1),
               r"line 7, column 'time': expected a finite number, got 'five'"),
    'nothing': (lambda text: re.sub(r'\n0\.05,[^,]*,', '\n0.05,,', text, count=1),
                r"line 7, column 'base_x': expected a finite number, got nothing; fill gaps"),
    'nan': (lambda text: re.sub(r'\n0\.05,[^,]*,', '\n0.05,nan,', text, count=1),
            r"line 7, column 'base_x': expected a finite number, got 'nan'"),
    'a value more': (lambda text: re.sub(r'\n0\.05,', '\n0.05,1,', text, count=1),
                     r'line 7: expected 17 values, one a column, got 18'),
    'no base': (lambda text: text.replace('base_z', 'pelvis_z'),
                r"column 'base_z' .*missing; the columns are: time, base_x"),
    'a misspelt name': (lambda text: text.replace('base_qw', 'base_qW'),
                        r"'base_qw' \(did you mean 'base_qW'\?\) missing"),
    'no names': (lambda text: text.split('\n', 1)[1], r'column names in the first line'),
    'a name twice': (lambda text: text.replace('leg1_x', 'leg0_x'),
                     r"column 'leg0_x' stands there more than once"),
    'names only': (lambda text: text.split('\n', 1)[0], 'column names and no numbers below'),
    'nothing at all': (lambda text: '\n# a comment\n', 'is empty: expected a line of column'),
    'time back': (lambda text: text.replace('\n0.05,', '\n0.03,', 1),
                  r'rising times, got 0.03 s after 0.04 s'),
    'a gap': (lambda text: re.sub(r'\n0\.(3|4)[^\n]*', '', text),
              r'gap of 0.21 s after 0.29 s in samples that come every 0.01 s'),
    'scalar first': (lambda text: re.sub(r',0,0,0,1,', ',1,1,0,0,', text),
                     r'unit quaternions .*the scalar last\), got one of length 1.41'),
}


@pytest.mark.parametrize('flaw', BAD)
def test_a_bad_file_is_refused_in_clear_words(tmp_path, flaw, capsys):
    path, urdf = write_walk(tmp_path)
    change, words = BAD[flaw]
    path.write_text(change(path.read_text()))
    with pytest.raises(MeasurementError, match=words):
        analyse_gait(path, options(urdf))
    assert main(['inverse-dynamics', str(path), '--urdf', str(urdf), '--feet', *FEET]) == 2
    assert capsys.readouterr().err.startswith('legged-dynamics inverse-dynamics: ')


@pytest.mark.parametrize(('words', 'expected'), [
    ([], 'give the URDF with --urdf'),
    (['--urdf', 'URDF'], 'none of the robots that come with the package fits'),
    (['--urdf', 'URDF', '--feet', 'foot9'], "expected the name of a link, got 'foot9'"),
    (['--urdf', 'URDF', '--feet', 'foot0', 'foot1', '--method', 'best'], 'expected a method'),
    (['--urdf', 'URDF', '--feet', 'foot0', 'foot1', '--cutoff', '80'], 'cut-off above 0 and'),
    (['--urdf', 'URDF', '--feet', 'foot0', 'foot1', '--contact', 'none.csv'], 'cannot read'),
    (['--urdf', 'URDF', '--sole', '1', '0', '1', '0'], 'describe the feet named with --feet'),
    (['--urdf', 'URDF', '--feet', 'foot0', '-p', 'stance.hight:=1.0'], 'is not a setting'),
])
def test_options_that_do_not_fit(tmp_path, capsys, words, expected):
    path, urdf = write_walk(tmp_path)
    found = [str(urdf) if word == 'URDF' else word for word in words]
    assert main(['inverse-dynamics', str(path), *found, '-o', str(tmp_path / 'out')]) == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()


def test_contacts_of_a_file_must_cover_the_motion(tmp_path):
    path, urdf = write_walk(tmp_path)
    late = write_table(tmp_path / 'late.csv', ['time', *FEET],
                       [WALK.time[50:], WALK.contact[50:]])
    with pytest.raises(MeasurementError, match=r'contacts from 0 s on, got the first ones at 0.5'):
        analyse_gait(path, options(urdf, contact=str(late)))
    odd = write_table(tmp_path / 'odd.csv', ['time', *FEET], [WALK.time, 0.5 + WALK.contact])
    with pytest.raises(MeasurementError, match=r"0 or 1 in column 'foot0', got"):
        analyse_gait(path, options(urdf, contact=str(odd)))


def test_an_even_grid():
    time = np.arange(20) * 0.01
    assert even_grid(time) is time
    jittered = time + 0.002 * (-1.0) ** np.arange(20)
    grid = even_grid(jittered)
    np.testing.assert_allclose(np.diff(grid), np.median(np.diff(jittered)), rtol=1e-9)
    half = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
    quarter = slerped(np.array([0.0, 1.0]), half, np.array([0.5]))
    np.testing.assert_allclose(np.abs(quarter), [[0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]])
    with pytest.raises(MeasurementError, match='three samples or more'):
        even_grid(time[:2])
