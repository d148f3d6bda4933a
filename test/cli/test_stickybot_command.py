# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The verbs of the climbing robot: their options, what they print and write."""
import argparse
import math
import re

import pytest

from legged_dynamics import cli
from legged_dynamics.cli import stickybot, verbs

pytestmark = pytest.mark.slow

QUICK = ['-p', 'control.rate:=100.0', '--duration', '2']


def parsed(*arguments):
    """Return the options of a verb."""
    parser = argparse.ArgumentParser()
    below = parser.add_subparsers()
    for verb in (verbs.STICKYBOT, verbs.STICKYBOT_SWEEP):
        verb.add_parser(below)
    return parser.parse_args(arguments)


def test_climb_writes_film_and_report(tmp_path, capsys):
    out = tmp_path / 'out'
    assert cli.main(['stickybot', *QUICK, '-o', str(out)]) == 0
    said = capsys.readouterr()
    # Progress is told where it takes long.
    assert all(re.fullmatch(r'(Climbing|Filming).*: \d+ %, \d+ s', line)
               for line in said.err.splitlines())
    assert 'plain gait, feet unlimited' in said.out
    assert f'{out / "report.html"}\n' in said.out
    assert (out / 'climb.gif').stat().st_size > 10_000
    assert 'Pads: directional.' in (out / 'report.html').read_text()


def test_options_make_the_robot(tmp_path, capsys):
    out = tmp_path / 'out'
    assert cli.main(['stickybot', *QUICK, '--no-film', '-o', str(out), '--inclination', '120',
                     '--limbs', '6', '--gait', 'wave', '--pads', 'none', '--amplitude', '0.1',
                     '--reduction', 'turning', '-p', 'stickybot.body_mass:=0.4']) == 0
    page = (out / 'report.html').read_text()
    for text in ('wave gait, 6 limbs', '520 g, wall at 120°', 'duty 0.866667',
                 'amplitude 0.1 rad', 'Feet hold anything.'):
        assert text in page, text
    assert not (out / 'climb.gif').exists()
    assert 'on pads' not in capsys.readouterr().out


def test_duty_of_a_wave_is_kept_when_given():
    found = stickybot.settings_of(parsed('stickybot', '--gait', 'wave', '--duty', '0.78'))
    assert found.values['gait.duty'] == 0.78
    found = stickybot.settings_of(parsed('stickybot', '--gait', 'wave'))
    assert found.values['gait.duty'] == pytest.approx(0.8)
    found = stickybot.settings_of(parsed('stickybot', '-p', 'gait.duty:=0.7', '-p',
                                         'gait.pattern:=wave'))
    assert found.values['gait.duty'] == 0.7


def test_sweep_writes_table_numbers_and_plot(tmp_path, capsys):
    out = tmp_path / 'out'
    assert cli.main(['stickybot-sweep', *QUICK, '--workers', '1', '--limbs', '4', '--vary',
                     'gait.duty', '0.6', '0.7', '-o', str(out)]) == 0
    said = capsys.readouterr().out
    assert 'gait.duty 0.7' in said
    assert '3 points took' in said
    for name in ('sweep.md', 'sweep.csv', 'sweep.png'):
        assert (out / name).is_file()


def test_sweep_of_everything_unless_told():
    assert len(stickybot._axes_of(parsed('stickybot-sweep'))) == 5
    axes = stickybot._axes_of(parsed('stickybot-sweep', '--inclination', '90', '45',
                                      '--vary', 'gait.pattern', 'wave', '--vary',
                                      'control.rate', '250.0'))
    assert [axis.setting for axis in axes] == ['stickybot.inclination', 'gait.pattern',
                                               'control.rate']
    assert axes[0].value(0) == pytest.approx(math.pi / 2)
    assert axes[1].values == ('wave',)
    assert axes[2].value(0) == 250.0


@pytest.mark.parametrize(('arguments', 'said'), [
    (['stickybot', '--inclination', '200'], 'stickybot.inclination: expected a value from 0'),
    (['stickybot', '--limbs', '3'], 'expected an even number, got 3'),
    (['stickybot', '--duration', '0'], 'expected a duration above 0 s'),
    (['stickybot', '--robot', 'no_robot'], 'expected a robot that comes with the package'),
    (['stickybot', '-p', 'gait.amplitud:=0.1'], 'Did you mean gait.amplitude?'),
    (['stickybot-sweep', '--vary', 'gait.duty'], 'expected at least one value'),
    (['stickybot-sweep', '--vary', 'gait.speed', '1.0'], 'gait.speed is not a setting'),
    (['stickybot-sweep', '--workers', '0', '--limbs', '4'], 'expected at least one worker'),
], ids=lambda value: ' '.join(value)[:40] if isinstance(value, list) else '')
def test_an_error_is_one_clear_line(arguments, said, capsys, tmp_path):
    assert cli.main([*arguments, '-o', str(tmp_path)]) == cli.WRONG
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f'legged-dynamics {arguments[0]}: ')
    assert said in lines[0]


def test_output_that_cannot_be_written_is_told(tmp_path, capsys):
    (tmp_path / 'file').write_text('')
    assert cli.main(['stickybot', *QUICK, '--no-film', '-o', str(tmp_path / 'file')]) == cli.WRONG
    assert 'cannot write to' in capsys.readouterr().err
