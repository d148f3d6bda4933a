# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot's YAML as far as its URDF tells: what was guessed, by what, what must be measured."""
from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.model.foot_guess import FootGuess, guess_feet, resting_position
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.shapes import Looks

IMU_NAMES = r'imu|gyro|acceleromet|inertial_?(sensor|unit)|xsens|microstrain|vectornav|vn_?100'


class RobotGuess(NamedTuple):
    """
    What could be guessed.

    Attributes
    ----------
    feet : list of FootGuess
    imu_link : str
        Empty where nothing tells.
    said : list of str
        What was guessed, and by what.
    measure : list of str
        What a person must measure or check.

    """

    feet: list[FootGuess]
    imu_link: str
    said: list[str]
    measure: list[str]


def guess_robot(model: RobotModel, looks: Looks, feet: Sequence[str] = (),
                imu_link: str = '') -> RobotGuess:
    """
    Return what a robot's description tells of its feet and its IMU.

    Parameters
    ----------
    model : RobotModel
        The robot.
    looks : Looks
        Its shapes and sensors.
    feet : sequence of str
        Links of the feet where they are known.
    imu_link : str
        Link of the IMU where it is known.

    Raises
    ------
    UnknownNameError
        When a link is not in the model.

    """
    guessed = guess_feet(model, looks.shapes, feet)
    said, measure = [], []
    if guessed:
        said.append(f'{len(guessed)} feet, {guessed[0].why}: '
                    f'{", ".join(guess.foot.link for guess in guessed)}')
    else:
        measure.append('feet: nothing tells which links they are; name them with --feet')
    for guess in guessed:
        said.append(_said_of(guess))
        if not guess.measured_by:
            what = guess.foot.size
            heads = any(joint.child == guess.foot.link for joint in model.joints)
            place = ', where on the link it is (foot_parents, foot_frames)' if heads else ''
            measure.append(f'foot {guess.foot.link}: {what}{place}, and whether it is a sole or a '
                           'ball; the URDF does not say')
    if imu_link:
        model.frame(imu_link)
        said.append(f'IMU on {imu_link}, given')
    else:
        imu_link = _guess_imu(model, looks, said, measure)
    unlimited = [joint.name for joint in model.joints if not math.isfinite(joint.effort)]
    if unlimited:
        measure.append(f'noise.effort: {len(unlimited)} joints have no effort limit to take a '
                       f'percentage of, {unlimited[0]} first')
    measure.append('nominal_position: how the robot stands; armature and joint_friction: rotor '
                   'inertia times the gear ratio squared, and what it takes to turn a joint by '
                   'hand')
    return RobotGuess(guessed, imu_link, said, measure)


def _said_of(guess: FootGuess) -> str:
    foot = guess.foot
    by = f', from {guess.measured_by}' if guess.measured_by else ': NOT KNOWN, only a beginning'
    where = (f', fixed to {guess.frame.parent} at {np.round(guess.frame.pose.p, 4).tolist()} m'
             if guess.frame is not None else '')
    return f'foot {foot.link}: {foot.described()}{where}{by}'


def _guess_imu(model: RobotModel, looks: Looks, said: list[str], measure: list[str]) -> str:
    hinted = [link for link in looks.imu_links if link in model.frames]
    named = [link for link in model.frames if re.search(IMU_NAMES, link, re.IGNORECASE)]
    found = [*dict.fromkeys([*hinted, *named])]
    if not found:
        measure.append(f'imu_link: no link is named like one; {model.base_link} is taken')
        return ''

    def rank(link: str) -> tuple[bool, int, bool, bool, int]:
        return ('gyro' in link.lower(), len(model.chain(model.frames[link].body)),
                link not in hinted, not re.search('imu', link, re.IGNORECASE), len(link))
    best = min(found, key=rank)
    joints = len(model.chain(model.frames[best].body))
    away = f', with {joints} joints between it and the base' if joints else ''
    others = [link for link in found if link != best]
    beside = f'; others are {", ".join(others[:4])}' if others else ''
    by = ' and its simulated sensor' if best in hinted else ''
    said.append(f'IMU on {best}, by its name{by}{away}{beside}')
    measure.append(f'imu_link: that the axes of {best} are those the IMU reports in')
    return best


def robot_yaml(model: RobotModel, guess: RobotGuess, source: str) -> str:
    """
    Return the commented YAML of a guess.

    Parameters
    ----------
    model : RobotModel
        The robot.
    guess : RobotGuess
        What is known of it.
    source : str
        Name of the URDF, for the comment.

    """
    feet = [one.foot for one in guess.feet]
    lines = [f'# Written from {source} by `legged-dynamics new-robot`. Check what says CHECK.',
             '/**:', '  ros__parameters:', '    robot:']
    if feet:
        lines.append(f'      feet: {_list([foot.link for foot in feet])}    # URDF links, or '
                     'foot_frames below')
        lines += _kinds(guess)
    else:
        lines.append('      # feet: [left_foot, right_foot]    # CHECK: could not be guessed')
    lines.append(f'      imu_link: {_word(guess.imu_link)}    # URDF link whose axes the IMU '
                 'reports in' if guess.imu_link else
                 '      # imu_link: imu_link    # CHECK: not found; the base link is taken')
    lines.append('      # Order of commands; nominal_position and values per joint are in it.')
    joints = [joint.name for joint in model.joints if joint.mimic is None
              and joint.kind != 'spherical']
    lines += _wrapped('joints', [_word(name) for name in joints])
    rest = dict(zip(model.joint_names, resting_position(model))) if len(
        model.joint_names) == model.nq else {}
    lines.append('      # rad, in the order of `joints`. CHECK: how the robot stands.')
    lines += _wrapped('nominal_position', [f'{rest.get(name, 0.0):.4g}' if '.' in
                                           f'{rest.get(name, 0.0):.4g}' else
                                           f'{rest.get(name, 0.0):.1f}' for name in joints])
    lines += ['      armature: [0.0]         # kg m^2, >= 0. CHECK: rotor inertia times gear '
              'ratio squared; one, or one per joint',
              '      joint_damping: [0.0]    # N m s/rad, >= 0: one, or one per joint',
              '      joint_friction: [0.0]   # N m, >= 0. CHECK: one, or one per joint',
              '    noise:                     # one standard deviation per sample. CHECK',
              '      position: 3.0e-4         # rad, >= 0',
              '      velocity: 0.03           # rad/s, >= 0']
    limited = all(math.isfinite(joint.effort) for joint in model.joints)
    lines += (['      effort: 0.0              # N m, >= 0: beside the percentage',
               '      effort_percent: 1.0      # % of each effort limit, >= 0'] if limited else
              ['      effort: 0.5              # N m, >= 0'])
    lines += ['      gyro: 0.005              # rad/s, >= 0',
              '      accelerometer: 0.05      # m/s^2, >= 0',
              '      orientation: 0.003       # rad, >= 0',
              '      gyro_bias: 0.003         # rad/s, >= 0',
              '      accelerometer_bias: 0.05 # m/s^2, >= 0']
    return '\n'.join(lines) + '\n'


def _kinds(guess: RobotGuess) -> list[str]:
    feet = [one.foot for one in guess.feet]
    check = '' if all(one.measured_by for one in guess.feet) else ' CHECK'
    kinds = [foot.kind for foot in feet]
    lines = []
    if len(set(kinds)) == 1:
        lines.append(f'      foot_type: {kinds[0]}')
    else:
        lines.append(f'      foot_types: {_list(kinds)}')
    radii = [foot.radius for foot in feet]
    soles = [(0.1, -0.1, 0.05, -0.05) if foot.round else foot.edges for foot in feet]
    if any(foot.round for foot in feet):
        lines.append(f'      foot_radius: {_number(radii[0])}    # m, >= 0.{check}'
                     if len(set(radii)) == 1 else
                     f'      foot_radii: {_numbers(radii)}    # m, >= 0.{check}')
    if not all(foot.round for foot in feet):
        note = f'    # m: front, back, left, right edge in the foot frame.{check}'
        if len(set(soles)) == 1:
            lines.append(f'      sole: {_numbers(soles[0])}{note}')
        else:
            values = [value for sole in soles for value in sole]
            lines.append(f'      soles: {_numbers(values)}{note}')
    if any(one.frame is not None for one in guess.feet):
        parents = [one.foot.link if one.frame is None else one.frame.parent for one in guess.feet]
        poses = [[0.0] * 6 if one.frame is None else [*one.frame.pose.p.tolist(), 0.0, 0.0, 0.0]
                 for one in guess.feet]
        lines += [f'      foot_parents: {_list(parents)}',
                  '      # m, rad: x, y, z, roll, pitch, yaw of each foot on its parent',
                  f'      foot_frames: {_numbers([value for pose in poses for value in pose])}']
    return lines


def _number(value: float) -> str:
    text = f'{value:.6g}'
    return text if '.' in text else f'{value:.1f}'


def _numbers(values: Sequence[float]) -> str:
    return f'[{", ".join(map(_number, values))}]'


def _word(name: str) -> str:
    """Return a name as YAML reads it as that string."""
    plain = re.fullmatch(r'[A-Za-z_][A-Za-z0-9_]+', name) and name.lower() not in (
        'yes', 'no', 'true', 'false', 'on', 'off', 'inf', 'nan')
    return name if plain else json.dumps(name)


def _list(names: Sequence[str]) -> str:
    return f'[{", ".join(map(_word, names))}]'


def _wrapped(key: str, words: Sequence[str], width: int = 96) -> list[str]:
    """Return a list over several lines."""
    if not words:
        return []
    lines, line = [], f'      {key}: ['
    for i, word in enumerate(words):
        word += ']' if i == len(words) - 1 else ', '
        if len(line) + len(word) > width:
            lines.append(line.rstrip())
            line = '               '
        line += word
    return [*lines, line]
