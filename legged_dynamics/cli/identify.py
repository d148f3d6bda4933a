# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``identify``: masses, friction, motors and sensors of a robot out of a bag."""
from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path
from typing import Any

from legged_dynamics.cli import DOUBTFUL
from legged_dynamics.cli.arguments import write_file, write_yaml
from legged_dynamics.cli.doctor import robot_and_readings
from legged_dynamics.diagnosis.doctor.hypotheses import changes
from legged_dynamics.diagnosis.identification.identify import (
    NEEDS,
    identify,
    lacking,
    validate,
    with_inertias,
)
from legged_dynamics.diagnosis.identification.samples import sensor_noise

UNTOLD = 1          # exit code when masses and torques have no scale
# Share by which a residual on the other bag may grow by chance.
WORSE = 0.02
UNCHECKED = ('Not to be trusted yet: experimental, and not validated on another bag (--validate). '
             'Error bars are too small for light robots whose joints rub.')
PER_JOINT = {'friction': 'joint_friction', 'damping': 'joint_damping', 'armature': 'armature'}


def run(args: argparse.Namespace) -> int:
    """Identify, print the table, write YAML and URDF."""
    choice, log = robot_and_readings(args)
    # Said before it starts; the result's first line is whether it can be trusted.
    print(NEEDS, file=sys.stderr)
    for line in lacking(choice.model, choice.config, log):
        print(f'- This recording lacks {line}.', file=sys.stderr)
    found = identify(choice.model, choice.config, log, total_mass=args.total_mass,
                     trust_effort=args.trust_effort)
    checked = bool(args.validate) and args.validate.resolve() != args.bag.resolve()
    if not checked:
        print(UNCHECKED)
    noise = {name: float(f'{value:.3g}') for name, value in sensor_noise(log).items()}
    if not found.absolute:
        print('No scale: masses and torques are known but for a common factor. Weigh the robot '
              'and give --total-mass, or trust the torques with --trust-effort.')
    print(_table(found))
    print('\nSensor noise: ' + ', '.join(f'{name} {value:g}' for name, value in noise.items()))
    print('\nWhat forces of the ground cannot explain, root mean square:')
    print(_comparison('this bag', found.before, found.after))
    worse: list[str] = []
    if checked:
        text, worse = _validation(args, choice, found)
        print(text)
    if worse:
        print('\nRefused: the other bag is explained worse than as described '
              f'({", ".join(worse)}). Nothing is changed. Friction or motion that this bag does '
              'not tell apart was mistaken for something else; the motions above tell it.')
        return DOUBTFUL
    if args.out:
        _write(args.out, choice, found, noise, args)
    if not found.absolute:
        return UNTOLD
    return 0 if checked else DOUBTFUL


def _table(found: Any) -> str:
    """Return the identified quantities, and what was not told."""
    lines = [f'{"":34}{"described":>11}{"identified":>12}{"+-":>10}  unit']
    untold: dict[str, list[str]] = {}
    for q in found.quantities:
        if q.identifiable:
            lines.append(f'{q.kind + " " + q.name:34.34}{q.described:11.4g}{q.value:12.4g}'
                         f'{q.deviation:10.2g}  {q.unit}')
        else:
            untold.setdefault(f'{q.kind}: {q.motion}', []).append(q.name)
    if untold:
        lines.append('\nNot told by this motion:')
        lines += [f'  {names[0]}{f" and {len(names) - 1} more" if len(names) > 1 else ""}, '
                  f'{what}' for what, names in untold.items()]
    return '\n'.join(lines)


def _comparison(what: str, before: Any, after: Any) -> str:
    """Return one line on how well the equations closed before and after."""
    return (f'  {what}: force {100 * before.force:.2f} -> {100 * after.force:.2f} % of the weight,'
            f' moment {100 * before.moment:.2f} -> {100 * after.moment:.2f} % of weight times '
            f'height, effort {before.effort:.3g} -> {after.effort:.3g} N m')


def _validation(args: argparse.Namespace, choice: Any, found: Any) -> tuple[str, list[str]]:
    """Return the comparison on another bag, and what is explained worse there."""
    other = copy.copy(args)
    other.bag, other.start, other.end = args.validate, None, None
    log = robot_and_readings(other)[1]
    before = validate(choice.config.apply_to(choice.model), choice.config, log)
    after = validate(found.model, found.config, log)
    worse = [name for name in ('force', 'moment', 'effort')
             if getattr(after, name) > (1.0 + WORSE) * getattr(before, name)]
    return _comparison('the other bag', before, after), worse


def _settings(choice: Any, found: Any, noise: dict[str, float]) -> dict[str, Any]:
    """Return what the robot's YAML gets, by dotted name."""
    model = found.model
    order = list(choice.config.joints or model.joint_names)
    joints = {joint.name: joint for joint in model.joints}
    changed: dict[str, Any] = {'robot.joints': order}
    for column, key in PER_JOINT.items():
        changed[f'robot.{key}'] = [float(f'{getattr(joints[name], column):.5g}')
                                   for name in order]
    # The identified inertias stand in the URDF; what the YAML added to the old ones goes.
    changed['robot.payload_mass'] = 0.0
    changed['robot.center_of_mass_offset'] = [0.0, 0.0, 0.0]
    changed.update(changes(choice.config, found.config, model.joint_names))
    return {**changed, **noise}


def _write(folder: Path, choice: Any, found: Any, noise: dict[str, float],
           args: argparse.Namespace) -> None:
    """Write YAML and URDF."""
    stem = choice.name
    write_file(folder / f'{stem}.urdf', with_inertias(choice.urdf, choice.model, found.model))
    write_yaml(folder / f'{stem}.yaml', choice.parameters, _settings(choice, found, noise),
               f'{stem}, as legged-dynamics identify found it in {args.bag}')
    print(f'\nIdentified robot: {folder / stem}.yaml and .urdf')
