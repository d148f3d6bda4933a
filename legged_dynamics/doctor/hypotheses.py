# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Faults that a robot may have or not, each as the configuration that fixes it.

Those that have a size are in `sizes`.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.doctor.correcting import Corrector
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

DEGREE, RPM = math.pi / 180.0, 2.0 * math.pi / 60.0
# Log of the prior odds against any single fault: one robot in e^9 = 8000 has just this one.
RARE = 9.0


@dataclass(frozen=True)
class Hypothesis:
    """
    A fault that is there or not.

    Attributes
    ----------
    kind, subject, text
        As `Finding` has them.
    config : RobotConfig
        That fixes it.
    cost : float
        Log of the prior odds against it.
    advice : str
    shrinks : float
        Log of the factor by which it makes readings smaller. Smaller readings leave smaller
        residuals whatever they mean: that is the density's change of variable, and costs as much
        in each block of time.

    """

    kind: str
    subject: tuple[str, ...]
    text: str
    config: RobotConfig
    cost: float = RARE
    advice: str = ''
    shrinks: float = 0.0


def legs_of(model: RobotModel, config: RobotConfig) -> list[tuple[str, list[int]]]:
    """Return each foot's name and its joints from the base on, as places in the model's order."""
    return [(foot.link, [body - 1 for body in model.chain(model.frame(foot.link).body)])
            for foot in config.feet]


def hypotheses(model: RobotModel, config: RobotConfig, *, orientation: bool, imu: bool,
               effort: bool) -> Iterator[Hypothesis]:
    """
    Yield the faults that are there or not.

    Parameters
    ----------
    model : RobotModel
        As the URDF has it.
    config : RobotConfig
        With what has been corrected so far.
    orientation, imu, effort : bool
        What was recorded.

    """
    corrector = Corrector(model)
    yield from _orders(model, config, corrector, effort)
    yield from _signs(model, config, corrector, effort)
    yield from _units(config, corrector, imu)
    if imu:
        yield from _imu(model, config, corrector, orientation)


def _orders(model: RobotModel, config: RobotConfig, corrector: Corrector,
            effort: bool) -> Iterator[Hypothesis]:
    names, nj = model.joint_names, model.n_joints
    legs = legs_of(model, config)
    seen = {tuple(range(nj))}

    def offer(source: list[int], kind: str, subject: tuple[str, ...], text: str,
              cost: float = RARE) -> Iterator[Hypothesis]:
        if tuple(source) in seen:
            return
        seen.add(tuple(source))
        yield Hypothesis(kind, subject, text, corrector.permuted(config, source), cost)
        if effort:
            yield Hypothesis('effort_order', subject, f'{text} (the efforts alone)',
                             corrector.permuted(config, source, effort_only=True), cost + 1.0)

    same = [leg for leg in legs if len(leg[1]) == len(legs[0][1])]
    count = range(len(same))
    swaps = [p for p in itertools.permutations(count) if len(same) <= 4
             or sum(a != b for a, b in zip(p, count)) == 2]
    for order in sorted(swaps, key=lambda p: sum(a != b for a, b in zip(p, count))):
        source = list(range(nj))
        for to, frm in enumerate(order):
            for a, b in zip(same[to][1], same[frm][1]):
                source[a] = b
        moved = [same[i][0] for i in count if order[i] != i]
        two = len(moved) == 2
        yield from offer(
            source, 'swapped_legs' if two else 'joint_order', tuple(moved),
            f'Legs {moved[0]} and {moved[1]} are swapped in joint_states.' if two else
            'The legs come in another order: ' + ', '.join(
                f'{same[order[i]][0]} has what belongs to {same[i][0]}' for i in count
                if order[i] != i) + '.', RARE if two else RARE + 2.0)
    for _, joints in legs:
        for a, b in itertools.combinations(joints, 2):
            source = list(range(nj))
            source[a], source[b] = b, a
            yield from offer(source, 'swapped_joints', (names[a], names[b]),
                             f'Joints {names[a]} and {names[b]} are swapped in joint_states.')
    for i, j in itertools.combinations(range(len(legs[0][1])), 2):
        source = list(range(nj))
        for _, joints in same:
            source[joints[i]], source[joints[j]] = joints[j], joints[i]
        yield from offer(source, 'joint_order', names,
                         f'In every leg the readings of joint {i + 1} and {j + 1} are swapped.',
                         RARE + 1.0)
    command = list(config.joints or names)
    by_kind = [joints[i] for i in range(max(len(j) for _, j in legs)) for _, joints in legs
               if i < len(joints)]
    orders = {'alphabetical order': sorted(range(nj), key=lambda i: names[i]),
              'the command order of the YAML': [names.index(n) for n in command],
              'the order of the legs by kind of joint': by_kind + [
                  i for i in range(nj) if i not in by_kind],
              'the order of the URDF': list(range(nj))}
    for (true, there), (said, here) in itertools.permutations(orders.items(), 2):
        # Values come in one order under the names of another: there[k] stands at here[k].
        source = list(range(nj))
        for k in range(nj):
            source[there[k]] = here[k]
        yield from offer(source, 'joint_order', names,
                         f'The values of joint_states come in {true}, its names in {said}.',
                         RARE + 1.0)


def _signs(model: RobotModel, config: RobotConfig, corrector: Corrector,
           effort: bool) -> Iterator[Hypothesis]:
    names = model.joint_names
    groups = [((name,), [i]) for i, name in enumerate(names)]
    groups += [((f'leg {foot}',), joints) for foot, joints in legs_of(model, config)]
    groups += [(('all joints',), list(range(len(names))))]
    for subject, joints in groups:
        who = subject[0]
        cost = RARE
        if effort:
            yield Hypothesis('joint_sign', subject, f'{who}: position, velocity and effort have '
                             'the wrong sign: its axis is the other way round.',
                             corrector.scaled(config, joints, -1.0, 'position', 'velocity',
                                           'effort'), cost)
            yield Hypothesis('effort_sign', subject, f'{who}: the effort has the wrong sign.',
                             corrector.scaled(config, joints, -1.0, 'effort'), cost)
        yield Hypothesis('position_sign' if effort else 'joint_sign', subject,
                         f'{who}: position and velocity have the wrong sign.',
                         corrector.scaled(config, joints, -1.0, 'position', 'velocity'), cost)
        yield Hypothesis('velocity_sign', subject, f'{who}: the velocity has the wrong sign.',
                         corrector.scaled(config, joints, -1.0, 'velocity'), cost)


def _units(config: RobotConfig, corrector: Corrector, imu: bool) -> Iterator[Hypothesis]:
    every = slice(None)
    for fields, what in ((('position', 'velocity'), 'Positions and velocities come'),
                         (('position',), 'Positions come'), (('velocity',), 'Velocities come')):
        kind = 'degrees' if 'position' in fields else 'velocity_degrees'
        yield Hypothesis(kind, ('joint_states',), f'{what} in degrees, not radians.',
                         corrector.scaled(config, every, DEGREE, *fields),
                         shrinks=-math.log(DEGREE))
    yield Hypothesis('velocity_rpm', ('joint_states',),
                     'Velocities come in turns a minute, not rad/s.',
                     corrector.scaled(config, every, RPM, 'velocity'), RARE + 1.0,
                     shrinks=-math.log(RPM))
    if not imu:
        return
    c = config.sensors
    for kind, factor, text in (
            ('gyro_degrees', DEGREE, 'The gyro reports degrees/s, not rad/s.'),
            ('gyro_sign', -1.0, "The gyro's three axes have the wrong sign.")):
        yield Hypothesis(kind, ('imu',), text,
                         corrector.sensors(config, gyro_scale=c.gyro_scale * factor),
                         shrinks=-math.log(abs(factor)))
    for kind, factor, text in (
            ('accelerometer_sign', -1.0, 'The accelerometer reads gravity downwards: +g belongs '
             'upwards at rest (REP-145).'),
            ('accelerometer_units', 9.80665, 'The accelerometer reports g, not m/s^2.'),
            ('accelerometer_units', 1e-3, 'The accelerometer reports mm/s^2, not m/s^2.')):
        yield Hypothesis(kind, ('imu',), text, corrector.sensors(
            config, accelerometer_scale=c.accelerometer_scale * factor))


def _imu(model: RobotModel, config: RobotConfig, corrector: Corrector,
         orientation: bool) -> Iterator[Hypothesis]:
    upside = {(1, -1, -1), (-1, 1, -1)}
    for order in itertools.permutations(range(3)):
        for sign in itertools.product((1, -1), repeat=3):
            signed = np.zeros((3, 3))
            signed[range(3), order] = sign
            if order == (0, 1, 2) and sign == (1, 1, 1):
                continue
            proper = np.linalg.det(signed) > 0.0
            turned = corrector.turned(config, signed)
            axes = ', '.join(turned.sensors.imu_axes)
            if order == (0, 1, 2) and sign in upside:
                kind, text = 'imu_upside_down', 'The IMU is upside down'
            elif proper:
                kind, text = 'imu_axes', 'The IMU is mounted another way round'
            else:
                kind, text = 'imu_axes', "The IMU's axes are mixed up into a left-handed set"
            yield Hypothesis(kind, ('imu',), f"{text}: the IMU link's x, y, z are its {axes}.",
                             turned, RARE + (0.0 if proper else 2.0))
    here = config.imu_link or config.base_link or model.base_link
    mine = model.frame(here).pose
    for link, frame in model.frames.items():
        if frame.body == 0 and link != here and not (
                np.allclose(frame.pose.R, mine.R, atol=1e-3)
                and np.allclose(frame.pose.p, mine.p, atol=5e-3)):
            yield Hypothesis('imu_link', (link,), f'The IMU sits on {link}, not on {here}.',
                             _on_link(config, link), RARE + 1.0)
    if orientation:
        other = 'wxyz' if config.sensors.quaternion_order == 'xyzw' else 'xyzw'
        yield Hypothesis('quaternion_order', ('imu',), f'The orientation comes as {other}.',
                         corrector.sensors(config, quaternion_order=other))
        if not config.sensors.ignore_orientation:
            yield Hypothesis('orientation', ('imu',), 'The orientation does not fit gyro and '
                             'accelerometer: it is of another frame, or its filter is off.',
                             corrector.sensors(config, ignore_orientation=True), RARE + 6.0)
        yield Hypothesis('missing_gravity', ('imu',), 'The accelerometer comes without gravity.',
                         corrector.sensors(config, add_gravity=True), RARE,
                         'Have the driver publish the raw acceleration (REP-145): what is added '
                         'here is no better than the orientation.')


def _on_link(config: RobotConfig, link: str) -> RobotConfig:
    """Return the configuration with the IMU on another link."""
    return replace(config, imu_link=link)
