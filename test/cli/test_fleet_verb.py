# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""``analyze`` of many recordings: what is found, done again, listed, kept, refused, reported."""
import csv
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from simulated_bag import messages, write
from tolerances import PATIENCE

from legged_dynamics.cli import analyze as analyze_many
from legged_dynamics.cli import main
from legged_dynamics.exceptions import BagError
from legged_dynamics.recordings.fleet import data_set as schema
from legged_dynamics.recordings.fleet import report as outliers
from legged_dynamics.recordings.fleet.batch import Outcome, do, each_result
from legged_dynamics.recordings.fleet.data_set import DataSet
from legged_dynamics.recordings.fleet.report import find_outliers, read_fleet, write_fleet_report
from legged_dynamics.recordings.fleet.summarise import find_recordings, jobs_of
from legged_dynamics.recordings.replay import AnalysisOptions

pytestmark = pytest.mark.processes


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    return write(tmp_path_factory.mktemp('one') / 'bag', messages(steps=200))


@pytest.fixture
def fleet(bag, tmp_path):
    """Two robots with two recordings each, and one that was cut off."""
    for name in ('rex/a', 'rex/b', 'fido/a', 'fido/deep/er/c'):
        shutil.copytree(bag, tmp_path / 'fleet' / name)
    broken = shutil.copytree(bag, tmp_path / 'fleet' / 'rex' / 'broken')
    (path,) = broken.glob('*.mcap')
    path.write_bytes(path.read_bytes()[:50_000])
    return tmp_path / 'fleet'


def summaries(out):
    return {row['recording']: row for row in DataSet(out).read(schema.SUMMARY).to_pylist()}


def said(row):
    """Return all that a summary says but for when and how fast it was written."""
    return {name: value for name, value in row.items()
            if name not in ('cpu', 'written') and value == value}


# ---- what is found and done ----------------------------------------------------------------


def test_recordings_are_found_at_any_depth(fleet):
    found = find_recordings([fleet])
    assert {(path.name, folder) for path, folder in found.items()} == {
        ('a', 'rex'), ('b', 'rex'), ('broken', 'rex'), ('a', 'fido'), ('c', 'fido')}
    (unclosed,) = (fleet / 'rex' / 'a').glob('*.mcap')
    (unclosed.parent / 'metadata.yaml').unlink()
    assert fleet / 'rex' / 'a' in find_recordings([fleet / 'rex'])
    assert find_recordings([fleet / 'rex' / 'b']) == {fleet / 'rex' / 'b': 'rex'}
    (fleet / 'none').mkdir()
    for place, what in ((fleet / 'none', 'holds no recording'), (fleet / 'x', 'there is no')):
        with pytest.raises(BagError, match=what):
            find_recordings([place])


def test_only_what_is_missing_or_changed_is_done_again(fleet, tmp_path):
    def sources(**options):
        found = find_recordings([fleet])
        return {job.recording: job.source for job in jobs_of(
            found, AnalysisOptions(**options), tmp_path / 'out')}
    before = sources()
    assert len(before) == 5      # two of them are called a
    assert sources(storage='sqlite3', csv=False) == before      # written of one bag only
    assert all(source != before[name] for name, source in sources(end=0.2).items())
    (path,) = (fleet / 'rex' / 'broken').glob('*.mcap')
    with path.open('ab') as file:
        file.write(b'more')
    (changed,) = {name for name, source in sources().items() if source != before[name]}
    assert changed.startswith('broken-')


def test_a_recording_is_there_as_a_whole_or_not_at_all(bag, tmp_path):
    (job,) = jobs_of({bag: 'rex'}, AnalysisOptions(), tmp_path)
    data = DataSet(tmp_path)
    with pytest.raises(pa.ArrowInvalid):
        data.write(('rex', '2023-11-14'), 'x', {
            schema.FEET: [{'foot': 'LF'}], schema.SUMMARY: [{'samples': 'many'}]})
    assert not list(tmp_path.rglob('*.parquet*')) and not data.there()
    assert not do(job).error and data.there() == {job.recording: job.source}
    left = data.path(schema.FEET, ('anymal_class', '2023-11-14'), '.x').with_suffix(
        '.parquet.part')
    left.write_bytes(b'half')
    data.clean()
    assert not left.exists()
    data.forget(job.recording)
    assert not list(tmp_path.rglob('*.parquet'))


# ---- the command ---------------------------------------------------------------------------


def command(fleet, out):
    return [sys.executable, '-m', 'legged_dynamics', 'analyze', str(fleet), '--workers', '1',
            '--robot-folders', '--reports', '0', '-o', str(out)]


def test_killed_and_resumed_without_loss(fleet, bag, tmp_path):
    """SIGKILL as soon as the first recording is there; the rest comes, the first is kept."""
    out = tmp_path / 'out'
    with subprocess.Popen(command(fleet, out), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        end = time.monotonic() + PATIENCE
        folder = out / 'data' / 'summary'
        while not (first := list(folder.rglob('*.parquet'))):
            assert process.poll() in (None, 0, analyze_many.SOME_FAILED), process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.05)
        process.kill()
    kept = {path: path.stat().st_mtime_ns for path in first}
    run = subprocess.run(command(fleet, out), capture_output=True, text=True, check=False)
    assert run.returncode == analyze_many.SOME_FAILED, run.stderr
    assert 'recordings are there already' in run.stdout and '1 recording could not' in run.stdout
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    with (out / 'failed.csv').open() as file:
        (row,) = csv.DictReader(file)
    assert row['path'].endswith('rex/broken') and 'cut off' in row['error']
    rows = summaries(out)
    assert len(rows) == 4 and not list(out.rglob('*.part'))
    assert sorted({row['robot'] for row in rows.values()}) == ['fido', 'rex']
    # All are copies of one bag, whose numbers alone and here are the same.
    (job,) = jobs_of({bag: 'x'}, AnalysisOptions(), tmp_path / 'alone')
    do(job)
    (alone,) = summaries(tmp_path / 'alone').values()
    apart = {'recording', 'path', 'robot', 'source_modified', 'options'}
    for row in rows.values():
        assert {name: value for name, value in said(row).items() if name not in apart} == {
            name: value for name, value in said(alone).items() if name not in apart}
    page = (out / 'report.html').read_text()
    assert 'rex/broken' in page and '1 recording could not be analysed' in page


def test_ctrl_c_says_what_was_kept(fleet, tmp_path, monkeypatch, capsys):
    def interrupted(jobs, workers):
        yield from map(do, jobs[:2])
        raise KeyboardInterrupt

    monkeypatch.setattr('legged_dynamics.recordings.fleet.batch.run_batch', interrupted)
    out = tmp_path / 'out'
    assert main(['analyze', str(fleet), '-o', str(out)]) == 130
    assert f'2 of 5 recordings are kept in {out}; the same command goes on' in (
        capsys.readouterr().err)
    assert len(summaries(out)) == 2


def test_what_is_not_to_be_trusted_gets_a_report_of_its_own(fleet, tmp_path, capsys):
    """Recordings of 0.4 s are too short for a verdict; one of the two is linked to its report."""
    shutil.rmtree(fleet / 'rex' / 'broken')
    shutil.rmtree(fleet / 'fido')
    words = ['analyze', str(fleet), '--workers', '1', '--reports', '1', '-o',
             str(tmp_path / 'out'), '--no-series']
    assert main(words) == 3
    rows = summaries(tmp_path / 'out')
    assert capsys.readouterr().out.startswith('0 of 2 recordings deserve trust')
    assert {row['robot'] for row in rows.values()} == {'anymal_class'}
    assert not (tmp_path / 'out' / 'data' / 'base_series').exists()
    (own,) = (tmp_path / 'out' / 'reports').glob('*/report.html')
    assert f'<a href="reports/{own.parent.name}/report.html">{own.parent.name}</a>' in (
        tmp_path / 'out' / 'report.html').read_text()
    written = own.stat().st_mtime_ns
    assert main(words) == 3 and own.stat().st_mtime_ns == written
    assert '2 of 2 recordings are there already; 0 to do' in capsys.readouterr().out


def test_what_is_wrong_is_said_before_the_work(fleet, tmp_path, capsys):
    (tmp_path / 'mine').mkdir()
    (tmp_path / 'mine' / 'thesis.tex').write_text('no')
    for words, what in (
            ([str(fleet), '-o', str(tmp_path / 'mine')], 'holds other things'),
            ([str(fleet), '--contact', 'bag'], 'contacts can only be detected'),
            ([str(fleet), str(tmp_path / 'no')], 'there is no bag at')):
        if '-o' not in words:
            words = [*words, '-o', str(tmp_path / 'out')]
        assert main(['analyze', *words]) == 2
        assert what in capsys.readouterr().err
    assert not (tmp_path / 'out').exists()


# ---- worker processes ----------------------------------------------------------------------


def test_a_process_that_dies_takes_only_its_own_job_along():
    jobs = ['6 * 7', '1 // 0', "__import__('os')._exit(9)", '7 * 8']
    results = dict(each_result(eval, jobs, 1))
    assert results['6 * 7'] == 42 and results['7 * 8'] == 56
    assert isinstance(results['1 // 0'], ZeroDivisionError)
    with pytest.raises(ChildProcessError, match='fewer --workers'):
        raise results[jobs[2]]


@pytest.mark.parametrize('end', [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_whoever_has_started_them(end):
    code = ('from legged_dynamics.recordings.fleet.batch import each_result\n'
            'for _, found in each_result(eval, ["__import__(\'os\').getpid()", '
            '"__import__(\'time\').sleep(600)"], 1): print(found, flush=True)')
    with subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        worker = int(process.stdout.readline())
        process.send_signal(end)
        process.wait(PATIENCE)
    limit = time.monotonic() + PATIENCE
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < limit:
            os.kill(worker, 0)
            time.sleep(0.05)


# ---- outliers and page ---------------------------------------------------------------------


def feet_rows(loads):
    return pd.DataFrame([{'recording': f'r{k}', 'robot': 'rex', 'foot': 'LF', 'load_share': load,
                          'duty': 0.5, 'slip': None} for k, load in enumerate(loads)])


def test_outliers_are_far_from_their_like():
    usual = [0.25, 0.251, 0.249, 0.25, 0.252, 0.248]
    assert not find_outliers(feet_rows(usual), outliers.FEET, 'foot')
    (found,) = find_outliers(feet_rows([*usual, 0.35]), outliers.FEET, 'foot')
    assert (found.recording, found.what) == ('r6', 'share of the load, LF')
    assert (found.value, found.usual) == ('35.0 %', '25.0 %')
    # Alike as they are, a little more is not worth a word; and of few nothing is usual.
    assert not find_outliers(feet_rows([*[0.25] * 6, 0.27]), outliers.FEET, 'foot')
    assert not find_outliers(feet_rows([0.25, 0.25, 0.25, 0.9]), outliers.FEET, 'foot')
    # Slip less than usual is nothing bad.
    rows = feet_rows(usual).assign(slip=(0.1, 0.1, 0.1, 0.1, 0.1, 0.0))
    assert not find_outliers(rows, outliers.FEET, 'foot')


def test_an_empty_fleet_has_a_report(tmp_path):
    found = read_fleet(DataSet(tmp_path))
    failed = [Outcome('x', '/bags/<x>', 'cut off')]
    text = Path(write_fleet_report(found, failed, tmp_path, {})).read_text()
    assert 'No recording could be analysed' in text and '/bags/&lt;x&gt;' in text
