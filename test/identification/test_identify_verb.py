# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The verb ``identify``: it says what it needs first, and refuses what another bag refutes."""
from dataclasses import dataclass

import pytest
from recorded_robots import healthy

from legged_dynamics.cli import DOUBTFUL, main
from legged_dynamics.cli import identify as verb
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import RobotConfig, RobotModel

SQUAT, KNEE = 'stand 1, squat 6, stand 0.5', 2


@dataclass
class Choice:
    """What the verb takes from a robot that was chosen."""

    model: RobotModel
    config: RobotConfig


def bags(monkeypatch, folder, recorded, **logs):
    """Let the verb read these recordings of a robot instead of bags, by their names."""
    monkeypatch.chdir(folder)
    for name in logs:
        (folder / name).mkdir()
        (folder / name / 'metadata.yaml').touch()
    choice = Choice(recorded.model, recorded.config)
    monkeypatch.setattr(verb, 'robot_and_readings', lambda args: (choice, logs[args.bag.name]))


def test_what_the_motion_lacks_is_said_before_it_starts(monkeypatch, capsys, tmp_path):
    """Of a light robot that only stands."""
    recorded = healthy('solo_class', 'stand 3')
    bags(monkeypatch, tmp_path, recorded, stood=recorded.log)

    def started(*args, **more):
        said = capsys.readouterr().err
        assert 'swinging it slowly and quickly' in said
        for missing in ('time: it has', 'motion of 12 of 12 joints', 'quick motion of 12',
                        'leaning about x', 'leaning about y'):
            assert f'This recording lacks {missing}' in said
        assert 'quiet standing' not in said.split('lacks', 1)[1]
        raise MeasurementError('started')
    monkeypatch.setattr('legged_dynamics.cli.identify.identify', started)
    main(['identify', 'stood', '--trust-effort'])
    assert 'started' in capsys.readouterr().err


@pytest.mark.slow
def test_what_explains_another_recording_worse_is_refused(monkeypatch, capsys, tmp_path):
    """The torque of a knee reads a third more in one recording only: no constant of the robot."""
    recorded = healthy('anymal_class', SQUAT)
    effort = recorded.log.joints.effort.copy()
    effort[:, KNEE] *= 1.33
    bags(monkeypatch, tmp_path, recorded, one=recorded.joints(effort=effort).log,
         other=recorded.log)
    out = tmp_path / 'found'
    assert main(['identify', 'one', '--validate', 'other', '--trust-effort', '-o',
                 str(out)]) == DOUBTFUL
    assert not out.exists()
    said = capsys.readouterr().out
    assert 'Refused: the other bag is explained worse' in said and 'effort' in said
