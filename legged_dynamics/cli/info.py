# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Verb ``info``: what a URDF says, and what is odd about it."""
from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from legged_dynamics.model import Joint, RobotConfig, RobotModel


def add_parser(verbs: Any) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser(
        'info', help='masses, joints, feet and oddities of a URDF',
        description='Shows the tree of a URDF with its masses and joints, what is odd about it, '
        'and what the ground does to the feet of the standing robot.')
    parser.add_argument('urdf', metavar='URDF',
                        help='path of a URDF, or the name of a robot that comes with the package')
    parser.add_argument('--robot', default='', metavar='YAML',
                        help='robot YAML (path, or name of one that comes with the package); '
                        'without it, the one that fits the URDF')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print everything."""
    import warnings

    from legged_dynamics.analysis.robot import recognise
    from legged_dynamics.exceptions import ConfigurationError
    from legged_dynamics.model import ModelWarning, RobotConfig, RobotModel
    from legged_dynamics.resources import robot_files, urdf_path

    source = urdf_path(args.urdf)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ModelWarning)       # shown in their own section
        model = RobotModel.from_urdf(source)
    print(f'{model.name}: {model.total_mass:.3f} kg, {model.n_joints} moving joints, '
          f'{len(model.links)} links, base {model.base_link}\n')
    for line in tree_lines(model):
        print(line)
    print('\nWarnings')
    for warning in [*model.warnings, *joint_warnings(model)] or ['none']:
        print(f'  {warning}')
    try:
        yaml = robot_files(args.robot)[0] if args.robot else recognise(model)
    except ConfigurationError as error:
        if args.robot:
            raise
        print(f'\nFeet\n  not known: {error}')
        return 0
    config = RobotConfig.from_yaml(yaml)
    print(f'\nFeet ({yaml.name})')
    for line in feet_lines(model, config):
        print(f'  {line}')
    return 0


def tree_lines(model: RobotModel) -> list[str]:
    """Return one line a link, indented by its depth, with mass, joint and limits."""
    lines = [(model.base_link, _mass(model, model.base_link), '')]
    lines += _below(model, model.base_link, '')
    width = max(len(name) for name, _, _ in lines)
    return [f'{name:<{width}}  {mass:>11}  {joint}'.rstrip() for name, mass, joint in lines]


def _below(model: RobotModel, link: str, indent: str) -> Iterator[tuple[str, str, str]]:
    for child, joint in children(model, link):
        yield (f'{indent}  {child}', _mass(model, child),
               _describe(joint) if joint is not None else 'fixed')
        yield from _below(model, child, f'{indent}  ')


def children(model: RobotModel, link: str) -> list[tuple[str, Joint | None]]:
    """
    Return the links that hang on one by a moving joint, or are welded to the base's body.

    The model welds fixed links to bodies, so these are listed below the link that heads the body.
    """
    heads = {joint.child for joint in model.joints} | {model.base_link}
    body = model.frames[link].body
    if link not in heads:
        return []
    welded: list[tuple[str, Joint | None]] = [
        (name, None) for name, frame in model.frames.items()
        if frame.body == body and name != link and name in model.links]
    return welded + [(joint.child, joint) for joint in model.joints
                     if model.frames[joint.parent].body == body]


def _mass(model: RobotModel, link: str) -> str:
    mass = model.links[link].mass
    return f'{mass:.4g} kg' if mass else '-'


def _describe(joint: Joint) -> str:
    unit, force = ('m', 'N') if joint.kind == 'prismatic' else ('rad', 'N m')
    parts = [f'{joint.kind} {joint.name}']
    if math.isfinite(joint.lower) or math.isfinite(joint.upper):
        parts.append(f'{joint.lower:.3g} to {joint.upper:.3g} {unit}')
    if math.isfinite(joint.velocity):
        parts.append(f'{joint.velocity:.3g} {unit}/s')
    if math.isfinite(joint.effort):
        parts.append(f'{joint.effort:.3g} {force}')
    return ', '.join(parts)


def joint_warnings(model: RobotModel) -> list[str]:
    """Return what is odd about joint limits."""
    found = []
    for joint in model.joints:
        if joint.effort == 0.0:
            found.append(f'joint {joint.name!r}: effort limit 0 means that the motor may give no '
                         'torque at all')
        if joint.velocity == 0.0:
            found.append(f'joint {joint.name!r}: velocity limit 0')
        if joint.lower >= joint.upper:
            found.append(f'joint {joint.name!r}: limits from {joint.lower:g} to {joint.upper:g} '
                         'leave no room to move')
    return found


def feet_lines(model: RobotModel, config: RobotConfig) -> list[str]:
    """Return one line a foot: where it is in the standing pose, and what it carries there."""
    import numpy as np

    from legged_dynamics.dynamics.motion import GRAVITY
    from legged_dynamics.estimation import GroundReactionEstimator, Measurement
    from legged_dynamics.estimation.noise import nominal_position

    estimator = GroundReactionEstimator(model, config)
    position = nominal_position(estimator.model, config)
    still, up = np.zeros(model.n_joints), np.array([0.0, 0.0, GRAVITY])
    mount = model.frame(config.imu_link or model.base_link).pose.R
    contact = [True] * len(estimator.feet)
    for tick in range(2 * estimator.delay + 2):
        reaction = estimator.update(Measurement(
            tick * 2_000_000, position, still, None, np.zeros(3), mount.T @ up), contact)
    lines = []
    for i, foot in enumerate(estimator.feet):
        x, y, z = reaction.foot_position[i]
        force = float(np.linalg.norm(reaction.raw_wrench[i, :3]))
        lines.append(f'{foot}: at ({x:+.3f}, {y:+.3f}, {z:+.3f}) m from the base, carries '
                     f'{force:.1f} N ({100.0 * force / (model.total_mass * GRAVITY):.1f} % of the '
                     'weight) while standing')
    return lines
