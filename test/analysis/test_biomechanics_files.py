# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coordinates, markers, loads and force plates in files, and what files that are nearly so say."""
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from legged_dynamics.cli import main
from legged_dynamics.exceptions import ConfigurationError, LeggedDynamicsError, MeasurementError
from legged_dynamics.people.opensim import read_osim
from legged_dynamics.people.opensim.reader import TO_OURS
from legged_dynamics.people.trials.analysis import analyse_gait, sample_walk
from legged_dynamics.people.trials.c3d import LIMITS, read_c3d, read_trc, write_trc
from legged_dynamics.people.trials.coordinates import (
    angle_unit,
    in_radians,
    read_storage,
    write_storage,
)
from legged_dynamics.people.trials.cycles import gait_cycles, peaks_table, write_cycles
from legged_dynamics.people.trials.loads import read_loads
from legged_dynamics.people.trials.subject import GaitOptions

MOTION, OPTIONS = sample_walk(GaitOptions(compare=False))
TABLE = read_storage(MOTION)
FORCES = Path(OPTIONS.loads).with_suffix('.mot')


def analysed(path=MOTION, **more):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return analyse_gait(path, GaitOptions(**{'urdf': OPTIONS.urdf, 'loads': OPTIONS.loads,
                                                 'compare': False, **more}))[0]


@pytest.fixture(scope='module')
def walk():
    return analysed()


def test_the_sample_and_what_is_measured_of_it(walk):
    """Its plates are complete, its soles are those of its bones, and forces are near the truth."""
    error = walk.errors['travelling']
    assert walk.plates.valid.all() and walk.alignment.mass == pytest.approx(1.0, abs=0.01)
    assert [foot.link for foot in walk.feet] == ['sole_r', 'sole_l']
    assert error.vertical < 0.05 * walk.weight and error.agreement > 0.93
    # Soles lie on the floor, as the file says where the feet are.
    rests = walk.reactions.contact[:, 0] & (np.abs(walk.reactions.foot_rotation[:, 0, 2, 2] - 1.0)
                                            < 1e-4)
    assert np.abs(walk.reactions.foot_position[rests, 0, 2]).max() < 0.005


def test_states_radians_and_other_orders_are_the_same_motion(tmp_path, walk):
    angles = [k for k, name in enumerate(TABLE.names)
              if name == 'pelvis_tilt' or not name.startswith(('time', 'pelvis_t'))]
    values = TABLE.values.copy()
    values[:, angles] = np.radians(values[:, angles])
    order = [0, *range(len(TABLE.names) - 1, 0, -1)]
    names = ['time' if k == 0 else f'/jointset/some/{TABLE.names[k]}/value' for k in order]
    path = tmp_path / 'states.sto'
    write_storage(path, 'states', [*names, '/jointset/some/knee_angle_r/speed'],
                  np.column_stack([values[:, order], values[:, 1]]))
    found = analysed(path)
    np.testing.assert_allclose(found.motion.position, walk.motion.position, atol=1e-7)
    np.testing.assert_allclose(found.motion.base_position, walk.motion.base_position, atol=1e-7)
    assert any('1 other columns are left alone' in note for note in found.notes)


@pytest.mark.parametrize('factor, said', [(1.0, 'taken for degrees'),
                                          (np.pi / 180.0, 'taken for radians')])
def test_without_a_unit_in_the_header_values_tell(tmp_path, walk, factor, said):
    """SIMM's tables have no such line; the kneecap follows the knee, whatever is written."""
    turning = [k for k, name in enumerate(TABLE.names)
               if name == 'pelvis_tilt' or not name.startswith(('time', 'pelvis_t'))]
    values = TABLE.values.copy()
    values[:, turning] *= factor
    path = tmp_path / 'walk.mot'
    write_storage(path, 'walk', TABLE.names, values)
    path.write_text(path.read_text().replace('inDegrees=no\n', ''))
    found = analysed(path)
    np.testing.assert_allclose(found.motion.position, walk.motion.position, atol=1e-7)
    assert sum(said in note for note in found.notes) == 1


def test_what_the_header_or_small_angles_say_of_the_unit():
    osim = read_osim(OPTIONS.urdf)
    names = [joint.name for joint in osim.joints if osim.rotational(joint.name)]
    still = {name: np.full(5, 5.0) for name in names}
    assert angle_unit(still, True, osim) == (True, [])
    assert angle_unit(still, False, osim) == (False, [])
    # Of the version whose files are in degrees, who stands still is in degrees.
    assert angle_unit(still, None, osim, True)[0] and not angle_unit(still, None, osim)[0]
    # Whoever turns round is not in degrees by that.
    assert not angle_unit({'pelvis_rotation': np.linspace(0.0, 7.0, 50)}, None, osim)[0]


def test_what_follows_another_coordinate_is_as_the_model_has_it(tmp_path):
    """The left ankle follows the right one, as a kneecap the knee; a table has it otherwise."""
    coupling = ('<ConstraintSet><objects><CoordinateCouplerConstraint name="both">'
                '<isEnforced>true</isEnforced><coupled_coordinates_function><LinearFunction>'
                '<coefficients>-0.5 0.1</coefficients></LinearFunction>'
                '</coupled_coordinates_function><independent_coordinate_names>ankle_angle_r'
                '</independent_coordinate_names><dependent_coordinate_name>ankle_angle_l'
                '</dependent_coordinate_name></CoordinateCouplerConstraint></objects>'
                '</ConstraintSet></Model>')
    model = tmp_path / 'tied.osim'
    model.write_text(Path(OPTIONS.urdf).read_text().replace('</Model>', coupling))
    osim, master = read_osim(model), np.linspace(-0.5, 0.3, 20)
    right = {'ankle_angle_r': master, 'ankle_angle_l': 0.1 - 0.5 * master}
    for wrong in (np.degrees(right['ankle_angle_l']), 0.0 * master + 0.8):
        table = {**right, 'ankle_angle_l': wrong}
        np.testing.assert_allclose(in_radians(table, False, osim)['ankle_angle_l'],
                                   right['ankle_angle_l'])
        assert not angle_unit(table, None, osim)[0]     # it does not set the table's unit, either
    # Degrees in that column alone are refused no more.
    values = TABLE.values.copy()
    for k, name in enumerate(TABLE.names):
        if name == 'pelvis_tilt' or not name.startswith(('time', 'pelvis_t', 'ankle_angle_l')):
            values[:, k] = np.radians(values[:, k])
    values[:, TABLE.names.index('ankle_angle_l')] *= 10.0
    path = tmp_path / 'tied.mot'
    write_storage(path, 'tied', TABLE.names, values, in_degrees=False)
    found = analysed(path, urdf=str(model))
    q = dict(zip(found.model.joint_names, found.motion.position.T))
    np.testing.assert_allclose(q['ankle_angle_l'], 0.1 - 0.5 * q['ankle_angle_r'], atol=1e-9)


@pytest.mark.parametrize('change, said', [
    (lambda t: t.replace('inDegrees=yes', 'inDegrees=no'), 'write inDegrees=yes'),
    (lambda t: t.replace('knee_angle_r', 'KneeAngle_R'), 'knee_angle_r (did you mean'),
    (lambda t: t.replace('endheader\n', ''), 'ends with a line "endheader"'),
    (lambda t: re.sub(r'\n0\.01\t', '\n0.00\t', t), 'rising times')])
def test_tables_that_are_nearly_right(tmp_path, change, said):
    path = tmp_path / 'walk.mot'
    path.write_text(change(MOTION.read_text()))
    with pytest.raises(LeggedDynamicsError, match=re.escape(said)):
        analysed(path)


@pytest.mark.parametrize('suffix, said', [('.trc', 'Run inverse kinematics on it'),
                                          ('.c3d', 'legged-dynamics convert'),
                                          ('.b3d', 'only nimblephysics reads'),
                                          ('.osim', '--model')])
def test_what_is_no_motion_says_what_to_do(tmp_path, suffix, said):
    with pytest.raises(MeasurementError, match=said):
        analysed(tmp_path / f'x{suffix}')
    with pytest.raises(ConfigurationError, match='--model MODEL.osim'):
        analysed(MOTION, urdf='walker.urdf')
    with pytest.raises(MeasurementError, match='these are forces, not a motion'):
        analysed(FORCES)


def test_forces_without_names_of_bodies_find_their_feet(walk):
    """The table alone: each step goes to the foot that it is under."""
    found = analysed(loads=str(FORCES))
    # Below 20 N a step has no owner.
    on = walk.plates.force[..., 2] > 20.0
    np.testing.assert_allclose(found.plates.force[on], walk.plates.force[on], atol=1e-9)
    assert not found.plates.force[~on].any() and found.plates.valid.mean() > 0.98


def test_one_plate_is_compared_where_it_bears_all(tmp_path):
    table = read_storage(FORCES)
    right = [k for k, name in enumerate(table.names) if k == 0 or '_r_' in name]
    write_storage(tmp_path / 'one.mot', 'one', [table.names[k] for k in right],
                  table.values[:, right])
    found = analysed(loads=str(tmp_path / 'one.mot'))
    on, alone = found.plates.valid, found.plates.force[:, 0, 2] > 0.9 * found.weight
    assert 0.2 < on.mean() < 0.7 and on[alone].mean() > 0.95
    assert any('plates bear clearly less' in note for note in found.notes)
    write_storage(tmp_path / 'later.mot', 'later', table.names,
                  table.values + 100.0 * np.eye(len(table.names))[0])
    with pytest.raises(MeasurementError, match='are they of the same trial'):
        analysed(loads=str(tmp_path / 'later.mot'))


def write_c3d(path, turn, rate=100.0, times=1):
    """Write the sample's forces as two plates of type 2 and a marker, in turned axes, in mm."""
    ezc3d = pytest.importorskip('ezc3d')
    loads = read_loads(OPTIONS.loads)[0]
    file = ezc3d.c3d()
    n = len(loads[0].time)
    file['parameters']['POINT']['RATE']['value'] = [rate]
    file['parameters']['POINT']['LABELS']['value'] = ['M1']
    file['parameters']['POINT']['UNITS']['value'] = ['mm']
    points = np.ones((4, 1, n))
    points[:3, 0] = 1e3 * loads[0].point.T
    file['data']['points'] = np.tile(points, times)
    corners, origins, analog, names = [], [], [], []
    for k, load in enumerate(loads):
        # A plate as large as the walkway; its z is down, as makers have it: it reads the action.
        middle, size = np.array([1.5, 0.0, 0.0]), np.array([4.0, 1.0, 0.0])
        own = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]).T
        signs = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
        corners.append(1e3 * (middle + signs * size @ own.T) @ turn.T)
        origins.append([0.0, 0.0, 0.0])
        f = -load.force @ own
        m = -(load.moment + np.cross(load.point - middle, load.force)) @ own
        analog += [*f.T, *(1e3 * m.T)]
        names += [f'{what}{axis}{k}' for what in 'FM' for axis in 'xyz']
    file['data']['analogs'] = np.tile(analog, times)[None]
    parameters = file['parameters']
    parameters['ANALOG']['RATE']['value'] = [rate]
    parameters['ANALOG']['LABELS']['value'] = names
    parameters['ANALOG']['UNITS']['value'] = ['N', 'N', 'N', 'Nmm', 'Nmm', 'Nmm'] * 2
    parameters['ANALOG']['SCALE']['value'] = [1.0] * 12
    parameters['ANALOG']['OFFSET']['value'] = [0] * 12
    for name, value in (('USED', [2]), ('TYPE', [2, 2]), ('ZERO', [0, 0]),
                        ('CHANNEL', np.arange(1, 13).reshape(2, 6).T),
                        ('CORNERS', np.array(corners).transpose(2, 1, 0)),
                        ('ORIGIN', np.array(origins).T)):
        parameters['FORCE_PLATFORM'][name]['value'] = np.asarray(value)
    file.write(str(path))
    return loads


@pytest.mark.parametrize('turn', [np.eye(3), np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0],
                                                       [0.0, 0.0, 1.0]])])
def test_force_plates_of_a_c3d_file(tmp_path, walk, turn):
    """Plates in the laboratory's own axes are turned to the motion's, and bear what they bore."""
    write_c3d(tmp_path / 'walk.c3d', turn)
    found = analysed(loads=str(tmp_path / 'walk.c3d'))
    on = walk.plates.force[..., 2] > 25.0
    on[:3] = on[-3:] = False
    np.testing.assert_allclose(found.plates.force[on], walk.plates.force[on], atol=0.1)
    np.testing.assert_allclose(found.plates.moment[on], walk.plates.moment[on], atol=0.1)
    said = any('axes of the force plates were turned' in note for note in found.notes)
    assert said == (not np.allclose(turn, np.eye(3)))


def test_a_c3d_file_that_crashes_or_never_ends_its_reader_is_refused(tmp_path):
    """Ezc3d believes a file's sizes; that costs a process of its own its life, not ours."""
    path, cut, long = (tmp_path / name for name in ('walk.c3d', 'cut.c3d', 'long.c3d'))
    write_c3d(path, np.eye(3))
    cut.write_bytes(path.read_bytes()[:520])
    with pytest.raises(MeasurementError, match='cut.c3d: this is not a C3D file that ezc3d can'):
        read_c3d(cut)
    read_c3d(path)
    # Linux counts a process's time in steps of 1 to 10 ms: this one takes some 100.
    write_c3d(long, np.eye(3), times=300)
    with pytest.raises(MeasurementError, match=r'takes ezc3d more than 0\.001 s'):
        read_c3d(long, replace(LIMITS, time=1e-3, time_of_byte=0.0))
    with pytest.raises(MeasurementError, match='is not a C3D file'):
        read_c3d(path, replace(LIMITS, memory=100_000, memory_of_byte=0))


def test_convert_a_c3d_file_for_opensim(tmp_path, capsys):
    loads = write_c3d(tmp_path / 'walk.c3d', np.eye(3))
    assert main(['convert', str(tmp_path / 'walk.c3d'), '-o', str(tmp_path / 'out')]) == 0
    said = capsys.readouterr().out
    markers = read_trc(tmp_path / 'out' / 'walk.trc')
    assert markers.names == ('M1',) and 'walk.trc' in said
    again = read_loads(tmp_path / 'out' / 'walk_forces.mot')[0]
    for one, other in zip(again, loads):
        np.testing.assert_allclose(one.force, other.force, atol=0.01)
        on = other.force[:, 2] > 50.0
        np.testing.assert_allclose(one.point[on], other.point[on], atol=1e-3)
    seen = markers.position[:, 0] @ TO_OURS.T
    np.testing.assert_allclose(seen[loads[0].force[:, 2] > 50.0],
                               loads[0].point[loads[0].force[:, 2] > 50.0], atol=1e-3)


def test_markers_that_were_not_seen(tmp_path):
    time = 0.01 * np.arange(4)
    position = np.arange(24.0).reshape(4, 2, 3)
    position[2, 1] = np.nan
    write_trc(tmp_path / 'm.trc', time, ['heel', 'toe'], position)
    found = read_trc(tmp_path / 'm.trc')
    assert found.names == ('heel', 'toe')
    np.testing.assert_allclose(found.position, position, atol=1e-9)
    np.testing.assert_allclose(found.time, time, atol=1e-9)


def test_the_gait_cycle_per_kilogram(tmp_path, walk):
    """Over a whole stride the ground bears the weight; both sides of the walker are alike."""
    cycles = gait_cycles(walk)
    assert cycles.phase == 'gait cycle' and {stride.foot for stride in cycles.strides} == {0, 1}
    for stride in cycles.strides:
        assert stride.end - stride.start == pytest.approx(1.1, abs=0.011)
    vertical = cycles.of('vertical force')
    assert sum(curve.mean[:-1].mean() for curve in vertical) == pytest.approx(9.81, rel=0.01)
    assert sum(curve.measured_mean[:-1].mean() for curve in vertical) == pytest.approx(
        9.81, rel=0.01)
    knees = [curve for curve in cycles.of('moment') if curve.name.startswith('knee')]
    peak = max(np.abs(knee.mean).max() for knee in knees)
    assert np.abs(knees[0].mean - knees[1].mean).max() < 0.1 * peak
    # Under the true forces moments differ, and by no more than forces do.
    assert 1e-3 < np.nanmax(np.abs(knees[0].mean - knees[0].measured_mean)) < 0.3 * peak
    rows = {row[0] + row[1]: row for row in peaks_table(walk, cycles).rows}
    assert abs(float(rows['vertical force, sole rmost'][4].strip('()'))) <= 3.0
    write_cycles(cycles, tmp_path / 'cycles.csv')
    lines = (tmp_path / 'cycles.csv').read_text().splitlines()
    assert len(lines) == 1 + 101 * len(cycles.curves)


def test_a_frame_for_pandas(tmp_path, walk):
    from legged_dynamics.people.trials.export import to_pandas
    pandas = pytest.importorskip('pandas')
    pytest.importorskip('pyarrow')
    frame = to_pandas(walk)
    np.testing.assert_array_equal(frame['sole_r_world_fz'], walk.reactions.force[:, 0, 2])
    frame.to_parquet(tmp_path / 'x.parquet')
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp_path / 'x.parquet'), frame)


def test_the_command_with_the_sample(tmp_path, capsys):
    assert main(['inverse-dynamics', '--sample', '-o', str(tmp_path / 'out'), '--no-bag',
                 '--no-report', '--no-compare']) == 0
    said = capsys.readouterr().out
    assert 'nobody walked' in said and (tmp_path / 'out' / 'gait_cycles.csv').is_file()
    assert main(['inverse-dynamics', '--no-bag']) == 2
    assert 'or --sample' in capsys.readouterr().err


def test_the_documented_tables_of_the_sample(capsys):
    """docs/biomechanics.md shows what the command prints."""
    from benchmarks.made_walk import sample_tables
    page = (Path(__file__).parents[2] / 'docs' / 'biomechanics.md').read_text()
    for table in sample_tables():
        numbers = re.findall(r'-?\d+(?:\.\d+)?', table)
        start = page.index(re.split(r'\d', table)[0])
        shown = re.findall(r'-?\d+(?:\.\d+)?', page[start:start + len(table)])
        assert len(numbers) == len(shown)
        # Other versions of numpy and scipy round otherwise.
        np.testing.assert_allclose([float(word) for word in numbers],
                                   [float(word) for word in shown], rtol=0.01, atol=0.11)
