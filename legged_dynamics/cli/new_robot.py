# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``new-robot``: a robot's YAML out of its URDF, and a list of what had to be guessed."""
from __future__ import annotations

import argparse
from pathlib import Path

from legged_dynamics.cli.arguments import Verb, argument, switch


def _run(args: argparse.Namespace) -> int:
    """Make the YAML, print what was guessed, and write it."""
    import contextlib
    import re
    import warnings

    from legged_dynamics.cli.info import feet_lines, standing_warnings, write_picture
    from legged_dynamics.exceptions import ConfigurationError, OutputError
    from legged_dynamics.model import ModelWarning, RobotConfig, RobotModel
    from legged_dynamics.model.robot_guess import guess_robot, robot_yaml
    from legged_dynamics.model.shapes import read_looks
    from legged_dynamics.model.urdf import read_description_file
    from legged_dynamics.recordings.robot import recognise

    text = read_description_file(args.urdf)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)
        model = RobotModel.from_xml(text)
    guess = guess_robot(model, read_looks(text), args.feet, args.imu)
    name = re.sub(r'\W', '_', model.name)[:60] or 'robot'
    out = args.out or Path(f'{name}.yaml')
    if out.exists() and not args.force:
        raise OutputError(f'{out} is there already; give another name with -o, or --force')
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(robot_yaml(model, guess, args.urdf.name), encoding='utf-8')
    except OSError as error:
        raise OutputError(f'cannot write {out}: {error}') from error
    print(f'{model.name}: {model.total_mass:.3f} kg, {model.n_joints} joints, base '
          f'{model.base_link}\n\nGuessed')
    for line in guess.said or ['nothing']:
        print(f'  {line}')
    with contextlib.suppress(ConfigurationError):
        shipped = recognise(model, by_name=True)
        print(f'\nThe package has a YAML of this robot, with what its maker states: {shipped}')
    print('\nTo be measured or checked')
    config = RobotConfig.from_yaml(out)
    for line in [*guess.measure, *standing_warnings(model, config)]:
        print(f'  {line}')
    print(f'\nRobot YAML:    {out}')
    if config.feet:
        picture = write_picture(model, config, out.with_suffix('.svg'), text)
        print(f'Check picture: {picture}\n')
        for line in feet_lines(model, config):
            print(f'  {line}')
    print(f'\nNext: legged-dynamics info {args.urdf} --robot {out}')
    return 0


VERBS = (Verb(
    'new-robot', _run, "write a robot's YAML from its URDF",
    'Writes a commented YAML for a URDF: guesses feet, their radius or soles, the IMU, the order '
    'of joints and the noise, says what it guessed by what, and what must be measured. Draws a '
    'check picture of the robot beside it.', (
        argument('urdf', 'URDF', kind=Path),
        argument('-o --out', 'YAML', 'default: NAME.yaml in the present folder, NAME as in the '
                 'URDF', Path),
        argument('--feet', 'LINK', 'links of the feet; default: guessed', nargs='+', default=[]),
        argument('--imu', 'LINK', 'link of the IMU; default: guessed'),
        switch('--force', 'write over a file that is there'))),)
