# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many trials: files that belong together are found, and one data set holds them all."""
import shutil

import numpy as np
import pytest

from legged_dynamics.cli import main
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.people.trials.analysis import analyse_gait, sample_walk
from legged_dynamics.people.trials.batch import find_trials, trials_data
from legged_dynamics.people.trials.coordinates import read_storage, write_storage
from legged_dynamics.people.trials.subject import GaitOptions
from legged_dynamics.recordings.fleet import data_set as schema
from legged_dynamics.resources import share_directory

SAMPLE = share_directory() / 'config' / 'sample'


def place(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SAMPLE / source, target)


def of(trial, root):
    """Return person, name, and the files of a trial, from a folder."""
    return (trial.person, trial.name, *(path and str(path.relative_to(root.resolve()))
                                        for path in (trial.motion, trial.model, trial.loads)))


def test_a_folder_a_person_with_forces_beside_the_motion(tmp_path):
    for person in ('a', 'b'):
        place('walker.osim', tmp_path / person / 'model.osim')
        for trial in ('walk_1', 'walk_2'):
            place('walk.mot', tmp_path / person / f'{trial}_ik.mot')
        place('walk_forces.mot', tmp_path / person / 'walk_1_grf.mot')
        place('walk_forces.xml', tmp_path / person / 'walk_1_grf.xml')
    found = find_trials([tmp_path])
    assert [of(trial, tmp_path) for trial in found[:2]] == [
        ('a', 'walk_1', 'a/walk_1_ik.mot', 'a/model.osim', 'a/walk_1_grf.xml'),
        ('a', 'walk_2', 'a/walk_2_ik.mot', 'a/model.osim', None)]
    assert len(found) == 4 and {trial.person for trial in found} == {'a', 'b'}


def test_a_session_of_opencap_as_it_is_downloaded(tmp_path):
    session = tmp_path / 'OpenCapData_1'
    place('walker.osim', session / 'OpenSimData/Model/LaiUhlrich2022_scaled.osim')
    place('walk.mot', session / 'OpenSimData/Kinematics/walking1.mot')
    place('walk_forces.mot', session / 'ForceData/walking1_forces.mot')
    (session / 'MarkerData').mkdir()
    (session / 'MarkerData/walking1.trc').write_text('PathFileType\t4\n')
    expected = ('OpenSimData/Kinematics/walking1.mot',
                'OpenSimData/Model/LaiUhlrich2022_scaled.osim', 'ForceData/walking1_forces.mot')
    (trial,) = find_trials([session])
    assert of(trial, session) == ('OpenCapData_1', 'walking1', *expected)
    (trial,) = find_trials([tmp_path])
    assert of(trial, session) == ('OpenCapData_1', 'walking1', *expected)


def test_a_project_of_pose2sim_with_a_model_a_person(tmp_path):
    for person in ('P0', 'P1'):
        place('walker.osim', tmp_path / f'S01/kinematics/Trial_{person}_scaled.osim')
        place('walk.mot', tmp_path / f'S01/kinematics/Trial_{person}_filt.mot')
    assert [of(trial, tmp_path)[3] for trial in find_trials([tmp_path])] == [
        'S01/kinematics/Trial_P0_scaled.osim', 'S01/kinematics/Trial_P1_scaled.osim']


def test_models_that_fit_alike_are_named_and_results_are_no_motions(tmp_path):
    place('walker.osim', tmp_path / 'one.osim')
    place('walker.osim', tmp_path / 'two.osim')
    place('walk.mot', tmp_path / 'walk.mot')
    results = tmp_path / 'walk_inverse_dynamics'
    place('walk.mot', results / 'again.mot')
    (results / 'inverse_dynamics.csv').touch()
    (trial,) = find_trials([tmp_path])
    assert trial.model is None and 'one.osim, two.osim' in trial.doubt
    with pytest.raises(ConfigurationError, match='holds no motion'):
        find_trials([results])
    with pytest.raises(ConfigurationError, match='no folder'):
        find_trials([tmp_path / 'none'])


@pytest.fixture(scope='module')
def batch(tmp_path_factory):
    """Three trials, of which one is cut off in the middle of a row."""
    folder, out = tmp_path_factory.mktemp('trials'), tmp_path_factory.mktemp('out')
    for person in ('a', 'b'):
        place('walker.osim', folder / person / 'model.osim')
        place('walk.mot', folder / person / 'walk_ik.mot')
    place('walk_forces.xml', folder / 'a/walk_grf.xml')
    place('walk_forces.mot', folder / 'a/walk_forces.mot')
    cut = (SAMPLE / 'walk.mot').read_text()
    (folder / 'b/cut_ik.mot').write_text(cut[:len(cut) // 2])
    return folder, out, main(['inverse-dynamics', str(folder), '-o', str(out), '--workers', '1'])


@pytest.mark.processes
def test_one_bad_trial_stops_no_other_and_the_data_set_holds_what_one_trial_says(batch):
    folder, out, code = batch
    assert code == 4
    data = trials_data(out)
    rows = {(row['person'], row['trial']): row for row in data.read(schema.TRIALS).to_pylist()}
    assert set(rows) == {('a', 'walk'), ('b', 'walk')}
    motion, options = sample_walk(GaitOptions(compare=False))
    alone, _ = analyse_gait(motion, options)
    errors = {row['clocks']: row for row in data.read(schema.TRIAL_ERRORS).to_pylist()}
    assert errors['as recorded']['vertical'] == pytest.approx(
        alone.errors['travelling'].vertical, rel=1e-12)
    series = data.read(schema.TRIAL_FOOT_SERIES).to_pandas()
    own = series[series['recording'] == rows['a', 'walk']['recording']]
    np.testing.assert_allclose(own['world_fz'].to_numpy().reshape(-1, len(alone.feet)),
                               alone.reactions.force[..., 2], rtol=1e-6, atol=1e-3)
    assert 'cut_ik.mot' in (out / 'failed.csv').read_text()
    assert 'cut_ik.mot' in (out / 'report.html').read_text()


@pytest.mark.processes
def test_what_is_done_is_not_done_again(batch, capsys):
    folder, out, _ = batch
    before = {row['recording']: row['written']
              for row in trials_data(out).read(schema.TRIALS).to_pylist()}
    main(['inverse-dynamics', str(folder), '-o', str(out), '--workers', '1'])
    assert '2 of 3 trials are there already; 1 to do.' in capsys.readouterr().out
    assert before == {row['recording']: row['written']
                      for row in trials_data(out).read(schema.TRIALS).to_pylist()}


# -------------------------------------------------------------------------------------------------
# Units and columns of a table.


def rewritten(path, change=lambda names, values: (names, values), header=None):
    """Write the sample's motion in another way; `header` replaces the lines above endheader."""
    table = read_storage(SAMPLE / 'walk.mot')
    names, values = change(list(table.names), table.values.copy())
    write_storage(path, 'walk', names, values, bool(table.in_degrees))
    if header is not None:
        text = path.read_text()
        path.write_text(header + text[text.index('endheader'):])
    return path


def forces(path, **more):
    result, _ = analyse_gait(path, GaitOptions(urdf=str(SAMPLE / 'walker.osim'), compare=False,
                                               **more))
    return result


def test_a_table_of_simm_is_in_degrees_although_it_does_not_say_so(tmp_path):
    table = read_storage(SAMPLE / 'walk.mot')
    turning = [k for k, name in enumerate(table.names)
               if name not in ('time', 'pelvis_tx', 'pelvis_ty', 'pelvis_tz')]

    def still(names, values):
        """Someone who stands with joints of less than a degree: values say nothing."""
        values[:] = np.where(np.isin(np.arange(len(names)), [0]), values, values[0])
        values[:, turning] = 0.5
        return names, values
    path = rewritten(tmp_path / 'walk.mot', still, 'Run_1\nnRows=3\n')
    found = forces(path)
    assert np.abs(found.motion.position).max() < np.radians(1.0)
    assert any('of this version are in degrees' in note for note in found.notes)


def test_missing_toes_are_held_and_said_and_a_missing_knee_is_an_error(tmp_path):
    def without(part):
        def change(names, values):
            kept = [k for k, name in enumerate(names) if not name.startswith(part)]
            return [names[k] for k in kept], values[:, kept]
        return change
    whole = forces(SAMPLE / 'walk.mot')
    found = forces(rewritten(tmp_path / 'toes.mot', without('mtp_angle')))
    assert sum('mtp_angle_r' in note for note in found.notes) == 1
    np.testing.assert_allclose(found.dynamics.wrench[:, 2], whole.dynamics.wrench[:, 2],
                               atol=0.01 * whole.weight)
    with pytest.raises(Exception, match='knee_angle_r'):
        forces(rewritten(tmp_path / 'knee.mot', without('knee_angle')))
