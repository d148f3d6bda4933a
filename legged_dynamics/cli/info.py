# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verbs ``info`` and ``new-robot``: what a URDF says, and a robot's YAML out of it."""
from __future__ import annotations

import argparse
import contextlib
import json
import math
import re
from pathlib import Path
from typing import Any

from legged_dynamics.cli import DOUBTFUL
from legged_dynamics.cli.arguments import write_file
from legged_dynamics.cli.output import say
from legged_dynamics.exceptions import ConfigurationError, OutputError
from legged_dynamics.model import Joint, RobotConfig, RobotModel
from legged_dynamics.model.robot_guess import guess_robot, robot_yaml
from legged_dynamics.model.shapes import read_looks
from legged_dynamics.model.standing import body_poses, foot_loads, link_pose, standing_efforts
from legged_dynamics.model.urdf import read_description_file
from legged_dynamics.pages.robot_picture import robot_picture
from legged_dynamics.recordings.robot import read_model, recognise
from legged_dynamics.resources import robot_files, urdf_path
from legged_dynamics.spatial.frames import GRAVITY

# A centre of mass that is farther outside of the feet makes a robot fall [m].
FALL = 1e-3


def run(args: argparse.Namespace) -> int:
    """Print everything."""
    if args.description and args.urdf:
        raise ConfigurationError('expected one URDF, got two: give it with or without --urdf')
    if not (args.description or args.urdf or args.robot):
        raise ConfigurationError('expected a URDF, or a robot that comes with one (--robot)')
    source = Path(args.description or args.urdf or urdf_path(args.robot))
    model, _ = read_model(source)       # warnings are shown in their own section
    yaml, config, unknown = None, None, ''
    try:
        yaml = robot_files(args.robot)[0] if args.robot else recognise(model, by_name=True)
        config = RobotConfig.from_yaml(yaml)
    except ConfigurationError as error:
        if args.robot:
            raise
        unknown = str(error)
    odd = [*model.warnings, *_joint_warnings(model),
           *(standing_warnings(model, config) if config else [])]
    if args.json:
        print(json.dumps(_facts(model, config, odd), indent=1))
        return 0
    print(f'{model.name}: {model.total_mass:.3f} kg, {model.n_joints} moving joints, '
          f'{len(model.links)} links; the base is {model.base_link}')
    print(f'Robot YAML: {yaml or "none of the package is of this name"}\n')
    for line in _tree_lines(model):
        print(line)
    print('\nWarnings')
    for warning in odd or ['none']:
        print(f'  {warning}')
    if yaml is None or config is None:
        print(f'\nFeet\n  not known: {unknown}')
        return 0
    print(f'\nFeet ({yaml.name})')
    for line in feet_lines(model, config):
        print(f'  {line}')
    if args.robot or args.picture:
        picture = args.picture or Path(f'{yaml.stem}_check.svg')
        path = write_picture(model, config, picture, read_description_file(source))
        print(f'\nCheck picture: {path}')
    return 0


def _facts(model: RobotModel, config: RobotConfig | None, odd: list[str]) -> dict[str, Any]:
    """Return what is printed with ``--json``; SI units."""
    def stated(value: Any) -> Any:
        return None if isinstance(value, float) and math.isinf(value) else value
    return {
        'name': model.name, 'mass': model.total_mass, 'base_link': model.base_link,
        'links': {name: link.mass for name, link in model.links.items()},
        'joints': {joint.name: {key: stated(getattr(joint, key)) for key in (
            'kind', 'parent', 'child', 'lower', 'upper', 'velocity', 'effort')}
            for joint in model.joints},
        'feet': {foot.link: foot.kind for foot in config.feet} if config else None,
        'warnings': odd}


def _tree_lines(model: RobotModel) -> list[str]:
    """Return one line a link, indented by its depth, with mass, joint and limits."""
    lines: list[tuple[str, str, str]] = []
    waiting: list[tuple[str, Joint | None, int]] = [(model.base_link, None, 0)]
    while waiting:
        link, joint, depth = waiting.pop()
        kind = '' if depth == 0 else 'fixed' if joint is None else _describe(joint)
        mass = model.links[link].mass
        lines.append((f'{"  " * min(depth, 40)}{link}', f'{mass:.4g} kg' if mass else '-', kind))
        waiting += [(child, joint, depth + 1)
                    for child, joint in reversed(_children(model, link))]
    width = max(len(name) for name, _, _ in lines)
    return [f'{name:<{width}}  {heavy:>11}  {joint}'.rstrip() for name, heavy, joint in lines]


def _children(model: RobotModel, link: str) -> list[tuple[str, Joint | None]]:
    """Return the child links by moving joints, and for the base also those welded to it."""
    heads = {joint.child for joint in model.joints} | {model.base_link}
    body = model.frames[link].body
    if link not in heads:
        return []
    welded: list[tuple[str, Joint | None]] = [
        (name, None) for name, frame in model.frames.items()
        if frame.body == body and name != link and name in model.links]
    return welded + [(joint.child, joint) for joint in model.joints
                     if model.frames[joint.parent].body == body]


def _describe(joint: Joint) -> str:
    unit, force = joint.unit, _effort_unit(joint)
    parts = [f'{joint.kind} {joint.name}']
    if math.isfinite(joint.lower) or math.isfinite(joint.upper):
        parts.append(f'{joint.lower:.3g} to {joint.upper:.3g} {unit}')
    if math.isfinite(joint.velocity):
        parts.append(f'{joint.velocity:.3g} {unit}/s')
    if math.isfinite(joint.effort):
        parts.append(f'{joint.effort:.3g} {force}')
    if joint.mimic is not None:
        parts.append(f'{joint.mimic.multiplier:g} times {joint.mimic.joint} '
                     f'{joint.mimic.offset:+g}')
    return ', '.join(parts)


def _effort_unit(joint: Joint) -> str:
    return 'N' if joint.kind == 'prismatic' else 'N m'


def _joint_warnings(model: RobotModel) -> list[str]:
    """Return what is odd about joints and their limits."""
    found = [] if model.joints else ['no joint moves: there is nothing to measure or to command; '
                                     'is a part of the URDF missing?']
    for joint in model.joints:
        if joint.effort == 0.0:
            found.append(f'joint {joint.name!r}: effort limit 0 means that the motor may give no '
                         'torque at all')
        if joint.velocity == 0.0:
            found.append(f'joint {joint.name!r}: velocity limit 0')
        wide = joint.unit == 'rad' and 4.0 * math.pi < joint.upper < math.inf
        if wide or joint.lower >= joint.upper:
            found.append(f'joint {joint.name!r}: limits from {joint.lower:g} to {joint.upper:g} '
                         f'{"rad; are they in degrees?" if wide else "leave no room to move"}')
    return found


def standing_warnings(model: RobotModel, config: RobotConfig) -> list[str]:
    """Return warnings about the standing pose: joints beyond limits, the weakest motor."""
    model = config.apply_to(model)
    position = config.nominal_in(model)
    joints = {joint.name: joint for joint in model.joints}
    given = dict(zip(config.joints or model.joint_names, config.nominal_position))
    found = [f'robot.nominal_position: {name} at {value:g} {joints[name].unit} is outside its '
             f'limits; is it in {joints[name].mistaken_unit}?'
             for name, value in given.items() if not joints[name].allows(value)]
    if found or not given or not config.feet or config.base != 'floating':
        return found
    if foot_loads(model, config.feet, body_poses(model, position))[1] > FALL:
        return []
    weak = {name: abs(effort) / joints[name].effort
            for name, effort in standing_efforts(model, config.feet, position).items()
            if 0.0 < joints[name].effort < abs(effort) and name not in config.passive_joints}
    if weak:
        joint = joints[max(weak, key=lambda name: weak[name])]
        found.append('the motors cannot hold the robot while it stands: '
                     f'{joint.name} would need {weak[joint.name] * joint.effort:.1f} '
                     f'{_effort_unit(joint)} of {joint.effort:.3g}; are masses in kilograms?')
    return found


def feet_lines(model: RobotModel, config: RobotConfig) -> list[str]:
    """Return one line per foot: its position and load in the standing pose."""
    model = config.apply_to(model)
    bodies = body_poses(model, config.nominal_in(model))
    if not config.feet:
        return ['none are named in the YAML']
    loads, fall = foot_loads(model, config.feet, bodies)
    lines = []
    for foot, load in zip(config.feet, loads):
        x, y, z = link_pose(model, bodies, foot.link).p
        lines.append(f'{foot.link}: at ({x:+.3f}, {y:+.3f}, {z:+.3f}) m from the base, carries '
                     f'{load * model.total_mass * GRAVITY:.1f} N ({100.0 * load:.1f} % of the '
                     'weight) while standing')
    if fall > FALL and config.base == 'floating':
        lines.append(f'It cannot stand so: its centre of mass is {fall:.3f} m outside of its feet '
                     '(robot.nominal_position, with the base level)')
    return lines


def write_picture(model: RobotModel, config: RobotConfig, path: Path, urdf: str = '') -> Path:
    """Write the check picture and return its path; ``urdf`` is XML, for the body shapes."""
    model = config.apply_to(model)
    return write_file(path, robot_picture(model, config, config.nominal_in(model), urdf),
                      'the picture ')


# -------------------------------------------------------------------------------------------------
# Verb ``new-robot``.


def run_new(args: argparse.Namespace) -> int:
    """Make the YAML, print what was guessed, and write it."""
    text = read_description_file(args.urdf)
    model, _ = read_model(args.urdf)
    guess = guess_robot(model, read_looks(text), args.feet, args.imu)
    name = re.sub(r'\W', '_', model.name)[:60] or 'robot'
    out = args.out or Path(f'{name}.yaml')
    if out.exists() and not args.force:
        raise OutputError(f'{out} is there already; give another name with -o, or --force')
    write_file(out, robot_yaml(model, guess, args.urdf.name))
    config = RobotConfig.from_yaml(out)
    doubts = [*guess.doubts, *standing_warnings(model, config)]
    if doubts:
        say(f'Not to be trusted: {"; ".join(doubts)}.', 'bold red')
    print(f'{model.name}: {model.total_mass:.3f} kg, {model.n_joints} joints, base '
          f'{model.base_link}\n\nGuessed')
    for line in guess.said or ['nothing']:
        print(f'  {line}')
    with contextlib.suppress(ConfigurationError):
        shipped = recognise(model, by_name=True)
        print(f'\nThe package has a YAML of this robot, with what its maker states: {shipped}')
    print('\nTo be measured or checked')
    for line in guess.measure:
        print(f'  {line}')
    print(f'\nRobot YAML:    {out}')
    if config.feet:
        picture = write_picture(model, config, out.with_suffix('.svg'), text)
        print(f'Check picture: {picture}\n')
        for line in feet_lines(model, config):
            print(f'  {line}')
    print(f'\nNext: legged-dynamics info {args.urdf} --robot {out}')
    return DOUBTFUL if doubts else 0
