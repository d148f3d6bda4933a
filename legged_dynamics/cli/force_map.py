# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``force-map``: the forces that a standing robot's feet can be given, as a figure."""
from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from legged_dynamics.cli.arguments import URDF, Verb, argument, robot_arguments, switch

if TYPE_CHECKING:
    import numpy as np

    from legged_dynamics.force_map.report import StandingReach
    from legged_dynamics.model import RobotModel
    from legged_dynamics.model.feet import Foot

FORMATS = ('.png', '.svg', '.pdf')





def _run(args: argparse.Namespace) -> int:
    """Compute, print the table, write the figure."""
    from legged_dynamics.exceptions import OutputError
    from legged_dynamics.force_map.report import standing_reach
    from legged_dynamics.spatial.rotations import rotation_from_rpy

    suffix = args.out.suffix.lower() if args.out else '.png'
    if suffix not in FORMATS:
        raise OutputError(f'expected a figure that ends in {", ".join(FORMATS)}, got {args.out}')
    model, feet, nominal = _robot(args)
    out = args.out or Path(f'{model.name}_force_map.png')
    feet = _standing(feet, args.on)
    roll, pitch = (math.radians(angle) for angle in args.tilt)
    study = standing_reach(model, feet, _position(model, nominal, args.pose),
                           rotation_from_rpy([roll, pitch, 0.0]), args.friction, args.all_motors)
    for line in _table(study):
        print(line)
    try:
        from legged_dynamics.force_map.report import draw_force_map
        from legged_dynamics.pages import style
    except ModuleNotFoundError as error:
        if args.out or (error.name or '').split('.')[0] != 'matplotlib':
            raise
        print("\nFigure: not drawn: the Python package 'matplotlib' is not installed "
              '(pip install ".[bag]")')
        return 0
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(style.picture(draw_force_map(study), suffix[1:]))
    except OSError as error:
        raise OutputError(f'cannot write the figure {out}: {error}') from error
    print(f'\nFigure: {out}')
    return 0


def _robot(args: argparse.Namespace) -> tuple[RobotModel, Sequence[Foot], np.ndarray]:
    """Return model, feet and nominal pose."""
    import numpy as np

    from legged_dynamics.estimation.settings import nominal_position
    from legged_dynamics.model import PointFoot, RobotConfig
    from legged_dynamics.recordings.robot import read_model, recognise
    from legged_dynamics.resources import robot_files, urdf_path

    model, notes = read_model(urdf_path(args.urdf))
    for note in notes:
        print(note)
    if args.feet and not args.robot:
        return (model, [PointFoot(link, args.point_radius) for link in args.feet],
                np.zeros(model.nq))
    yaml = robot_files(args.robot)[0] if args.robot else recognise(model)
    config = RobotConfig.from_yaml(yaml)
    model = config.apply_to(model)
    return model, config.feet, nominal_position(model, config)


def _standing(feet: Sequence[Foot], links: Sequence[str]) -> list[Foot]:
    from legged_dynamics.exceptions import ConfigurationError, UnknownNameError

    names = [foot.link for foot in feet]
    for link in links:
        if link not in names:
            raise UnknownNameError('foot link', link, names)
    standing = [foot for foot in feet if not links or foot.link in links]
    if not standing:
        raise ConfigurationError('expected at least one foot: the robot YAML has none, give '
                                 '--feet')
    return standing


def _position(model: RobotModel, nominal: np.ndarray, words: Sequence[str]) -> np.ndarray:
    """Return the pose that words describe."""
    from legged_dynamics.exceptions import ConfigurationError

    q = nominal.copy()
    for word in words:
        name, equals, value = word.partition('=')
        if word in ('nominal', 'zero'):
            q = nominal.copy() if word == 'nominal' else 0.0 * nominal
            continue
        try:
            angle = float(value)
        except ValueError:
            angle = math.nan
        if not equals or not math.isfinite(angle):
            raise ConfigurationError('--pose: expected nominal, zero or JOINT=RAD, got '
                                     f'{word!r}')
        joint = model.joints[model.joint_index(name)]
        if not joint.allows(angle):
            raise ConfigurationError(
                f'expected joint {name} within {joint.lower:.3g} to {joint.upper:.3g} '
                f'{joint.unit}, got {value}; is it in {joint.mistaken_unit}?')
        q[model.joint_index(name)] = angle
    return q


def _table(study: StandingReach) -> list[str]:
    """Return what a figure does not say: condition, weakest direction, range of forces."""
    import numpy as np

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
    lines.append('')
    lines.append(f'{"foot":<12} {"rank":>4} {"condition":>9}  {"least producible (x, y, z)":<27} '
                 f'{"now: x, y, z [N]":<22} {"up, in the cone [N]"}')
    for reach, allowed in zip(study.reach, study.allowed):
        weakest = ', '.join(f'{value:+.2f}' for value in reach.map.weakest_direction[:3])
        now = ', '.join(f'{round(value, 1) + 0.0:.1f}' for value in reach.force)
        heights = allowed.vertices[:, 2]
        span = f'{abs(heights.min()):.0f} to {heights.max():.0f}' if len(heights) else 'none'
        condition = reach.map.condition
        shown = f'{condition:.3g}' if math.isfinite(condition) else 'singular'
        lines.append(f'{reach.foot:<12} {reach.map.rank:>4} {shown:>9}  {weakest:<27} {now:<22} '
                     f'{span}')
    return lines


VERBS = (Verb(
    'force-map', _run, 'which forces the feet can be given in a pose, as a figure',
    'Draws, for each foot of a standing robot, the ground forces that joint efforts within their '
    'limits can produce (polytope, and ellipsoid inside it) and the friction cone, and prints how '
    'well conditioned the map from efforts to forces is and along which direction a force is '
    'hardest to ask for.', (
        URDF,
        argument('-o --out', 'FILE', 'figure, a .png, .svg or .pdf; default: NAME_force_map.png '
                 'in the present folder', Path),
        argument('--friction', 'MU', 'coefficient', float, default=0.6),
        switch('--all-motors', "forces by all motors, not by each foot's own leg alone"),
        'robot', robot_arguments(otherwise='the one that fits the URDF, unless feet are given')[0],
        argument('--feet', 'LINK', 'point feet, without a robot YAML', nargs='+', default=[]),
        argument('--point-radius', 'M', 'radius of the feet given (default: 0)', float,
                 default=0.0),
        'pose',
        argument('--pose', 'POSE', 'nominal (of the robot YAML; default), zero, and '
                 'joints that depart from it as JOINT=RAD', nargs='+', default=['nominal']),
        argument('--tilt', ('ROLL', 'PITCH'), 'of the base [deg]', float, nargs=2,
                 default=(0.0, 0.0)),
        argument('--on', 'LINK', 'feet on the ground; default: all', nargs='+', default=[]))),)
