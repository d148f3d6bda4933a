# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``force-map``: the forces that a standing robot's feet can be given, as a figure."""
from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from legged_dynamics.cli.arguments import assigned, write_file
from legged_dynamics.dynamics import frame_jacobian
from legged_dynamics.dynamics.motion import BaseMotion, Motion, state_vector
from legged_dynamics.dynamics.newton_euler import inverse_dynamics
from legged_dynamics.estimation.settings import nominal_position
from legged_dynamics.exceptions import ConfigurationError, OutputError, index_of
from legged_dynamics.force_map import ForceMap, TorqueProgram
from legged_dynamics.force_map.affine import column_names
from legged_dynamics.model import PointFoot, RobotConfig, RobotModel
from legged_dynamics.model.feet import Foot
from legged_dynamics.pages.page import Table
from legged_dynamics.recordings.robot import read_model, recognise
from legged_dynamics.resources import robot_files, urdf_path
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.stickybot import StickybotSettings

if TYPE_CHECKING:
    from legged_dynamics.force_map.report import StandingReach

FORMATS = ('.png', '.svg', '.pdf')
AXES = 'ground axes: z away from the ground, x and y along it; on level ground the world axes'
COMPONENTS = ('force x', 'force y', 'force z', 'moment x', 'moment y', 'moment z')


def run(args: argparse.Namespace) -> int:
    """Compute, print the tables, write figure or table."""
    out, formats = args.out, ('.csv',) if args.wrench else ('.csv', *FORMATS)
    if out and out.suffix.lower() not in formats:
        raise OutputError(f'expected a file that ends in {", ".join(formats)}, got {out}')
    of_feet = args.force or args.torque
    if bool(args.at) != bool(args.force or args.wrench) or (of_feet if args.wrench else
                                                            args.velocity):
        raise ConfigurationError('expected --at LINK together with --force or --wrench (one of '
                                 'them); --velocity only with --wrench, --torque only without')
    model, feet, nominal, slope = _robot(args)
    position = _position(model, nominal, args.pose)
    R_WG = rotation_from_rpy([slope, 0.0, 0.0])
    R_WB = R_WG @ rotation_from_rpy([*(math.radians(angle) for angle in args.tilt), 0.0])
    if args.wrench:
        record, lines = _holding(args, model, position, R_WB)
    else:
        from legged_dynamics.force_map.report import draw_force_map, standing_reach
        from legged_dynamics.pages import style
        study = standing_reach(model, _standing(feet, args.on), position, R_WB, args.friction,
                               args.all_motors, R_WG)
        record, lines = _asked(args, study, R_WG)
        out = out or (None if args.json else Path(f'{model.name}_force_map.png'))
    print(json.dumps(record, indent=1) if args.json else '\n'.join(lines))
    if out:
        suffix = out.suffix.lower()
        what = 'table' if suffix == '.csv' else 'figure'
        content = (_csv(record) if suffix == '.csv' else
                   style.picture(draw_force_map(study), suffix[1:]))
        write_file(out, content, f'the {what} ')
        if not args.json:
            print(f'\n{what.capitalize()}: {out}')
    return 0


def _robot(args: argparse.Namespace) -> tuple[RobotModel, Sequence[Foot], np.ndarray, float]:
    """Return model, feet, nominal pose and the inclination of the ground that the YAML states."""
    model, notes = read_model(urdf_path(args.urdf))
    for note in notes:
        print(note, file=sys.stderr if args.json else sys.stdout)
    if args.feet and not args.robot:
        return (model, [PointFoot(link, args.point_radius) for link in args.feet],
                np.zeros(model.nq), 0.0)
    yaml = robot_files(args.robot)[0] if args.robot else recognise(model)
    config = RobotConfig.from_yaml(yaml)
    model = config.apply_to(model)
    climbs = any(name.startswith('stickybot.') for name in read_parameter_file(yaml))
    slope = StickybotSettings.from_yaml(yaml).robot.inclination if climbs else 0.0
    return model, config.feet, nominal_position(model, config), slope


def _standing(feet: Sequence[Foot], links: Sequence[str]) -> list[Foot]:
    for link in links:
        index_of('foot link', link, [foot.link for foot in feet])
    standing = [foot for foot in feet if not links or foot.link in links]
    if not standing:
        raise ConfigurationError('expected at least one foot: the robot YAML has none, give '
                                 '--feet')
    return standing


def _position(model: RobotModel, nominal: np.ndarray, words: Sequence[str]) -> np.ndarray:
    """Return the pose that words describe."""
    q = nominal.copy()
    for word in words:
        if word in ('nominal', 'zero'):
            q = nominal.copy() if word == 'nominal' else 0.0 * nominal
            continue
        name, angle = assigned(word, '--pose: expected nominal, zero or JOINT=RAD')
        joint = model.joints[model.joint_index(name)]
        if not joint.allows(angle):
            raise ConfigurationError(
                f'expected joint {name} within {joint.lower:.3g} to {joint.upper:.3g} '
                f'{joint.unit}, got {angle:g}; is it in {joint.mistaken_unit}?')
        q[model.joint_index(name)] = angle
    return q


def _changed(values: np.ndarray, names: Sequence[str], words: Sequence[str], expected: str
             ) -> np.ndarray:
    """Return values by name, some changed by NAME=VALUE."""
    values = values.copy()
    for word in words:
        name, value = assigned(word, expected)
        values[index_of('joint', name, names)] = value
    return values


def _table(study: StandingReach) -> list[str]:
    """Return what a figure does not say: condition, weakest direction, range of forces."""
    from legged_dynamics.force_map.report import weakest

    lines = [f'{study.model.name}: weight {study.weight:.1f} N on '
             f'{", ".join(part.foot for part in study.reach)}; '
             f'condition of the whole map {study.map.condition:.3g}']
    redundancy = study.map.redundancy
    if redundancy is not None:
        lines.append(f'The contacts are not independent: rank {redundancy.rank} of '
                     f'{len(study.map.offset)}; the smallest forces that fit are shown')
    if not study.stands:
        lines.append('These feet cannot hold the robot still; they lack '
                     f'{np.linalg.norm(study.lacking[:3]):.1f} N and '
                     f'{np.linalg.norm(study.lacking[3:]):.1f} N m')
    for name, torque, limit in zip(study.map.columns, study.torque, study.limits):
        if abs(torque) > limit:
            lines.append(f'{name} would need {torque:.1f} N m to stand, and has {limit:.1f}')
    rows = []
    for reach, allowed in zip(study.reach, study.allowed):
        heights, condition = allowed.vertices[:, 2], reach.map.condition
        rows.append((
            reach.foot, str(reach.map.rank),
            f'{condition:.3g}' if math.isfinite(condition) else 'singular', weakest(reach),
            ', '.join(f'{round(value, 1) + 0.0:.1f}' for value in reach.force),
            f'{abs(heights.min()):.0f} to {heights.max():.0f}' if len(heights) else 'none'))
    return [*lines, *Table('', ('foot', 'rank', 'condition', 'least producible (x, y, z)',
                                'now: x, y, z [N]', 'along z, in the cone [N]'),
                           rows).text.splitlines()]


# -------------------------------------------------------------------------------------------------
# The maps as numbers, and what is asked of them.


def _asked(args: argparse.Namespace, study: StandingReach, R_WG: np.ndarray
           ) -> tuple[dict[str, Any], list[str]]:
    """Return maps, and forces or efforts asked for: as --json prints them, and as lines."""
    record: dict[str, Any] = {
        'robot': study.model.name, 'axes': AXES, 'side': 'on the robot',
        'ground_in_world': R_WG.tolist(), 'columns': study.map.columns,
        'standing_effort': study.torque.tolist(), 'maps': []}
    lines = [*_table(study), '', 'f = k_0 + D tau: ground on the robot [N; moments N m] by joint '
             'efforts [N m; sliding joints N], in', f'{AXES}.',
             'constrained: all these feet stay; chain: on this foot alone, a ball at its origin.']
    for foot, reach, chain in zip(study.feet, study.reach, study.chain):
        for form, found in (('constrained', study.map.of_foot(foot.link)), ('chain', chain)):
            rows = [COMPONENTS[3 * row.kind + row.axis] + (' (foot axes)' if row.in_foot else '')
                    for row in foot.rows[:len(found.offset)]]
            record['maps'].append({'foot': foot.link, 'form': form, 'rows': rows, 'k_0':
                                   found.offset.tolist(), 'D': found.matrix.tolist()})
            columns = zip(found.columns, found.matrix.T)
            lines += [f'{form} map of {foot.link}: {", ".join(rows)}', *_rows(
                [('k_0', found.offset), *(row for row in columns if row[0] in reach.map.columns)])]
    if args.torque:
        lines += _forces_of(args.torque, study, record)
    if args.force:
        lines += _torques_for(args.force, args.at, study, record)
    return record, lines


def _csv(record: dict[str, Any]) -> str:
    """Return a row for each component of each map, or for each joint of a wrench."""
    if 'maps' in record:
        rows = [['foot', 'form', 'component (ground axes)', 'k_0', *record['columns']]]
        rows += [[part['foot'], part['form'], name, k, *values] for part in record['maps']
                 for name, k, values in zip(part['rows'], part['k_0'], part['D'])]
    else:
        columns = {'joint': record['joints'], **record['efforts']}
        rows = [list(columns), *map(list, zip(*columns.values()))]
    return ''.join(','.join(map(str, row)) + '\n' for row in rows)


def _rows(rows: Sequence[tuple[str, Sequence[float]]]) -> list[str]:
    return [f'  {name:<24}' + ''.join(f' {round(value, 6) + 0.0:>11.4g}' for value in values)
            for name, values in rows]


def _forces_of(words: Sequence[str], study: StandingReach, record: dict[str, Any]) -> list[str]:
    """Return the forces of the efforts given, the others as they stand."""
    torque = _changed(study.torque, study.map.columns, words, '--torque: expected JOINT=NM')
    for part in record['maps']:
        part['force'] = [k + sum(d * torque) for k, d in zip(part['k_0'], part['D'])]
    return ['', f'With {", ".join(words)} and the other motors as they stand:', *_rows(
        [(f'{part["foot"]}, {part["form"]}', part['force']) for part in record['maps']])]


def _torques_for(force: Sequence[float], at: str, study: StandingReach, record: dict[str, Any]
                 ) -> list[str]:
    """Return the efforts within their limits for a wanted force, and what they cannot give."""
    study.map.rows(at)    # says which feet there are
    found = next(reach.map for reach in study.reach if reach.foot == at)
    own = [study.map.columns.index(name) for name in found.columns]
    solved = TorqueProgram(study.limits[own]).solve(
        ForceMap(found.offset[:3], found.matrix[:3], found.columns), force,
        reference=study.torque[own])
    efforts, unproducible = solved.torque.tolist(), solved.unproducible.T.tolist()
    record['wanted'] = {'foot': at, 'efforts': dict(zip(found.columns, efforts)),
                        'force': solved.force.tolist(), 'lost': solved.residual.tolist(),
                        'outcome': solved.reach.value, 'unproducible': unproducible}
    return ['', f'Efforts for a force on the robot of {force} N at {at}, the other motors as they '
            f'stand, friction apart; {solved.reach.value}:', *_rows(
                [*((name, [effort]) for name, effort in zip(found.columns, efforts)),
                 ('force', solved.force), ('lost', solved.residual),
                 *(('no effort changes', line) for line in unproducible)])]


def _holding(args: argparse.Namespace, model: RobotModel, position: np.ndarray,
             R_WB: np.ndarray) -> tuple[dict[str, Any], list[str]]:
    """Return joint efforts J^T g for a wrench at a link, and those of the robot's own motion."""
    still, names = np.zeros(model.nv), column_names(model, range(1, model.n_bodies))
    velocity = _changed(still, names, args.velocity, '--velocity: expected JOINT=RAD/S')
    wrench = state_vector(args.wrench, 6, 'components of the wrench').reshape(2, 3)
    J = frame_jacobian(model, position, args.at, 'link' if args.axes == 'link' else 'base')
    on_environment = 1.0 if args.side == 'environment' else -1.0
    push = on_environment * J[:, -model.nv:].T @ (
        wrench @ R_WB if args.axes == 'world' else wrench).ravel()
    own = inverse_dynamics(model, Motion(position, velocity, still,
                                         BaseMotion.at_rest(R_WB))).joint_effort
    efforts = {'J^T g': push.tolist(), 'own': own.tolist(), 'sum': (push + own).tolist()}
    record = {'robot': model.name, 'link': args.at, 'axes': f'{args.axes} axes', 'side':
              f'on the {args.side}', 'wrench': args.wrench, 'joints': names, 'efforts': efforts}
    return record, [
        f'{model.name}: joint efforts [N m; sliding joints N], the base held, for the wrench',
        f'  {args.wrench} N, N m on the {args.side} about the origin of {args.at}, in '
        f'{args.axes} axes;', "own: the robot's weight, and its motion without acceleration",
        f'  {"":<24}' + ''.join(f' {name:>11}' for name in efforts),
        *_rows(list(zip(names, zip(*efforts.values()))))]
