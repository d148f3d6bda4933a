# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What README.md tells a user to type exists, is understood, and is run by a test."""
import re
import shlex
from pathlib import Path

import pytest

from legged_dynamics import JointOrder, RobotConfig, RobotModel, robot_files
from legged_dynamics.cli import command_parser
from legged_dynamics.simulation import SimulatedRobot

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / 'README.md').read_text(encoding='utf-8')
VERB = r'[a-z][a-z-]+'


def typed(start):
    """Return the commands in README's code, inline or in blocks, that begin with a text."""
    blocks = re.compile(r'^```(\w*)\n(.*?)^```', re.DOTALL | re.MULTILINE)
    pieces = [' '.join(piece.split())
              for piece in re.findall(r'`([^`]+)`', blocks.sub('', README))]
    pieces += [line.split('#')[0].strip() for language, block in blocks.findall(README)
               if not language for line in block.splitlines()]
    return sorted({piece for piece in pieces if re.match(start, piece)})


def verbs_of_the_table():
    rows = README[README.index('| `legged-dynamics ...` |'):].splitlines()[2:]
    cells = [row.split('|')[1] for row in rows[:next(
        k for k, row in enumerate(rows) if not row.startswith('|'))]]
    return sorted({re.match(VERB, words)[0] for cell in cells
                   for words in re.findall(r'`([^`]+)`', cell)})


@pytest.mark.parametrize('command', typed('(ros2 run legged_dynamics )?legged-dynamics [a-z]'))
def test_a_command_line_is_understood(command):
    words = shlex.split(command.removeprefix('ros2 run legged_dynamics '))[1:]
    if words != ['...']:        # the head of the table
        command_parser().parse_args(words)


def test_there_are_commands_to_look_at():
    assert len(typed('legged-dynamics [a-z]')) >= 3 and len(verbs_of_the_table()) >= 12


# `view` runs until Ctrl-C: what it is made of is tested in test/view.
@pytest.mark.parametrize('verb', sorted({*verbs_of_the_table()} - {'view'}))
def test_every_verb_is_run_by_a_test(verb):
    run = re.compile(rf"(main\(\[|cli',|command = \[|\*COMMAND,)\s*'{verb}'")
    assert any(run.search(path.read_text(encoding='utf-8'))
               for path in ROOT.glob('test/**/test_*.py')), f'no test runs {verb!r}'


def test_what_make_and_launch_are_asked_for_is_there():
    targets = re.search(r'^\.PHONY: (.*)$', (ROOT / 'Makefile').read_text(), re.MULTILINE)[1]
    asked = {word for command in typed('make ') for word in command.split()[1:]
             if '=' not in word}
    assert asked and asked <= set(targets.split())
    launched = {command.split()[3] for command in typed('ros2 launch legged_dynamics ')}
    assert launched and launched <= {path.name for path in ROOT.glob('launch/*.py')}


def test_the_python_in_it_runs():
    code, = re.findall(r'^```python\n(.*?)^```', README, re.DOTALL | re.MULTILINE)
    yaml, urdf = robot_files('anymal_class')
    model = RobotModel.from_urdf(urdf)
    order = JointOrder(RobotConfig.from_yaml(yaml).joints, model.joint_names)
    robot, measurements = SimulatedRobot.from_files(yaml), []
    for _ in range(500):
        robot.step()
        measurements.append(robot.read().ordered(order))
    code, filled = re.subn(r'^measurements: .*\n', '', code, flags=re.MULTILINE)
    assert filled == 1
    names = {'measurements': measurements}
    exec(code, names)
    reaction = names['reaction']
    up = reaction.base_rotation[2]
    forces = [up @ R @ wrench[:3] for R, wrench in zip(reaction.foot_rotation, reaction.wrench)]
    assert reaction.contact.all()
    assert sum(forces) == pytest.approx(model.total_mass * 9.81, rel=0.02)
