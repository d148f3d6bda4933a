# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is refused before the work, and what the command says of itself."""
import os
import subprocess
import sys

import numpy as np
import pytest

from legged_dynamics.cli import main
from legged_dynamics.cli.output import output_folder
from legged_dynamics.exceptions import OutputError
from legged_dynamics.pages.page import Table, unsigned_zero
from legged_dynamics.recordings.series import InputTimes, input_statistics

pytestmark = pytest.mark.processes

OURS = ('report.html',)


def test_a_folder_with_other_things_stays_as_it_is(tmp_path):
    (tmp_path / 'thesis.tex').write_text('no')
    with pytest.raises(OutputError, match=r'holds other things \(thesis.tex\)'), \
            output_folder(tmp_path, OURS):
        raise AssertionError('must not get here')
    with pytest.raises(OutputError, match='got the file'), \
            output_folder(tmp_path / 'thesis.tex', OURS):
        raise AssertionError('must not get here')
    assert [path.name for path in tmp_path.iterdir()] == ['thesis.tex']


def test_an_earlier_result_is_replaced_and_a_failed_run_leaves_nothing(tmp_path):
    for _ in range(2):
        with output_folder(tmp_path / 'out', OURS) as folder:
            (folder / 'report.html').write_text('yes')
    with pytest.raises(ValueError, match='broken'), output_folder(tmp_path / 'new', OURS):
        raise ValueError('broken')
    assert not (tmp_path / 'new').exists()
    assert [path.name for path in (tmp_path / 'out').iterdir()] == ['report.html']


def test_two_runs_do_not_write_to_one_folder(tmp_path):
    code = ('import sys; from pathlib import Path; from legged_dynamics.cli.output import '
            'output_folder\nwith output_folder(Path(sys.argv[1]), ("report.html",)):\n'
            '    print("held", flush=True); sys.stdin.read()')
    with subprocess.Popen([sys.executable, '-c', code, str(tmp_path / 'out')], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == 'held\n'
        with pytest.raises(OutputError, match='another run is writing'), \
                output_folder(tmp_path / 'out', OURS):
            raise AssertionError('must not get here')
        other.communicate('')
    with output_folder(tmp_path / 'out', OURS):
        pass


def test_what_an_interrupted_run_keeps(tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt), output_folder(tmp_path / 'out', OURS) as folder:
        (folder / 'report.html').write_text('half')
        raise KeyboardInterrupt
    assert 'Kept in' in (said := capsys.readouterr().err) and 'report.html' in said


def test_a_bad_folder_is_refused_before_the_bag_is_read(tmp_path, capsys):
    (tmp_path / 'notes.txt').write_text('mine')
    unread = tmp_path / 'bag.mcap'
    unread.touch()
    for verb in ('analyze', 'inverse-dynamics'):
        assert main([verb, str(unread), '-o', str(tmp_path)]) == 2
        assert 'holds other things' in capsys.readouterr().err
    if os.geteuid():
        (tmp_path / 'closed').mkdir(mode=0o500)
        assert main(['analyze', 'x', '-o', str(tmp_path / 'closed' / 'out')]) == 2


def test_version_help_and_volume(tmp_path, capsys):
    with pytest.raises(SystemExit) as left:
        main(['--version'])
    assert left.value.code == 0 and capsys.readouterr().out.startswith('legged-dynamics ')
    assert main(['run', 'ground_reaction_estimator', '--help']) == 0
    assert '--ros-args' in capsys.readouterr().out
    for words in (['-q', 'info', 'anymal_class'], ['info', '-q', 'anymal_class']):
        assert main(words) == 0 and not capsys.readouterr().out
    assert main(['info', str(tmp_path / 'none.urdf'), '-v']) == 2
    assert 'Traceback' in capsys.readouterr().err


def test_a_rate_is_a_count_over_a_time():
    """Two of three messages are lost in pairs: most of the rest still come 2 ms apart."""
    times = InputTimes()
    for k in range(3000):
        if k % 30 < 10:
            times.note(k * 2_000_000, k * 6_000_000)
    found = input_statistics('/joint_states', times)
    assert found.rate == pytest.approx(500.0 / 3.0, rel=0.02)
    assert found.received == pytest.approx(500.0 / 9.0, rel=0.02)
    assert found.interval == pytest.approx(2.0) and found.gaps == 99
    assert np.isnan(input_statistics('/imu', InputTimes()).rate)


def test_nothing_has_no_sign():
    for text, shown in (('-0.0 %', '0.0 %'), ('+0 / -0.00', '0 / 0.00'), ('-0.05', '-0.05'),
                        ('1e-0', '1e-0'), ('-00.1', '-00.1'), ('2026-0', '2026-0')):
        assert unsigned_zero(text) == shown
    assert Table('t', ['a'], [['-0.0']]).rows == [['0.0']]
