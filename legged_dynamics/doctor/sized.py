# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Faults that have a size: offsets, factors, masses, tilts, delays, rotor inertia.

A healthy robot has some of each as well, so a fitted size must be more likely of a faulty robot
than of a healthy one; what a healthy robot has of all of them together (`nuisances`) is fitted
beside every fault, and alone, before they are compared.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.doctor.hypotheses import DEGREE, RARE, Corrector, legs_of
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

# Log of the prior odds against a fault of a kind that many robots have.
OFTEN = 5.0


@dataclass(frozen=True)
class Sized:
    """
    A fault that has a size.

    Attributes
    ----------
    kind, subject
        As `Finding` has them.
    apply : callable
        Returns a configuration corrected by a size (k,).
    steps : (k,) tuple of float
        Sizes for finite differences.
    healthy, faulty : float
        Standard deviation of each component on a healthy and on a faulty robot.
    text : callable
        Returns the sentence on a size.
    cost : float
        Log of the prior odds against the fault.

    """

    kind: str
    subject: tuple[str, ...]
    apply: Callable[[RobotConfig, np.ndarray], RobotConfig]
    steps: tuple[float, ...]
    healthy: float
    faulty: float
    text: Callable[[np.ndarray], str]
    cost: float = OFTEN


def sized_hypotheses(model: RobotModel, config: RobotConfig, height: float, *, imu: bool,
                     effort: np.ndarray, period: float) -> Iterator[Sized]:
    """
    Yield the faults that have a size.

    Parameters
    ----------
    model, config : RobotModel, RobotConfig
        As for :func:`hypotheses`.
    height : float [m]
        Height of the base over the feet.
    imu : bool
        Whether the robot has an IMU.
    effort : (nj,) array of bool
        Joints whose effort is known.
    period : float [s]
        Time between joint states.

    Yields
    ------
    Sized

    """
    m, names, mass = Corrector(model), model.joint_names, config.apply_to(model).total_mass

    def offset(i: int) -> Sized:
        return Sized('position_offset', (names[i],), lambda c, x: m.shifted(c, i, float(x[0])),
                     (0.01,), 0.012, 0.15, lambda x: f'{names[i]}: the position is off by '
                     f'{-x[0] / DEGREE:.2f} degrees.')

    def motor(i: int) -> Sized:
        return Sized('effort_scale_joint', (names[i],), lambda c, x: m.scaled(
            c, [i], math.exp(x[0]), 'effort'), (0.02,), 0.025, 0.4, lambda x: f'{names[i]}: '
            f'the effort reads {math.exp(-x[0]):.3g} times what it is.')

    for _, joints in legs_of(model, config):
        yield from map(offset, joints)
    if effort.any():
        yield from map(motor, np.flatnonzero(effort).tolist())
        yield Sized('effort_scale', ('joint_states',),
                    lambda c, x: m.scaled(c, slice(None), math.exp(x[0]), 'effort'), (0.02,),
                    0.02, 2.0, lambda x: f'All efforts read {math.exp(-x[0]):.3g} times what '
                    'they are: motor currents, or efforts before the gear?', RARE + 1.0)
        yield _armature(model, config)
        yield Sized('effort_delay', ('joint_states',), _older, (1e-3,),
                    max(6e-4, 0.3 * period), 5e-3, lambda x: 'Torques are '
                    f'{1e3 * abs(x[0]):.1f} ms {"older" if x[0] > 0.0 else "newer"} than the '
                    'positions that they come with.')
        yield Sized('total_mass', ('base',),
                    lambda c, x: m.with_payload(c, mass * (math.exp(x[0]) - 1.0)), (0.02,), 0.02,
                    0.2, lambda x: f'The robot weighs {mass * math.exp(x[0]):.3g} kg, not '
                    f'{mass:.3g} kg.')
        yield Sized('center_of_mass', ('base',),
                    lambda c, x: m.with_center_of_mass(c, height * x), (0.01,) * 3, 0.015, 0.1,
                    lambda x: "The base's centre of mass is off by "
                    f'{1e3 * height * x[0]:.0f}, {1e3 * height * x[1]:.0f}, '
                    f'{1e3 * height * x[2]:.0f} mm (x, y, z).')
    if imu:
        yield Sized('imu_mount', ('imu',), lambda c, x: m.tilted(c, x), (0.01,) * 3, 0.006,
                    0.15, lambda x: 'The IMU is mounted turned by '
                    f'{x[0] / DEGREE:.1f}, {x[1] / DEGREE:.1f}, {x[2] / DEGREE:.1f} degrees '
                    'about x, y, z.')
        yield Sized('clock_offset', ('imu', 'joint_states'), lambda c, x: m.sensors(
            c, imu_delay=c.sensors.imu_delay + float(x[0])), (2e-3,),
            max(8e-4, 0.4 * period), 0.03, lambda x: 'The stamps of the IMU are '
            f'{1e3 * abs(x[0]):.1f} ms {"later" if x[0] > 0.0 else "earlier"} than those of the '
            'joints at one instant.')
    if all(foot.round for foot in config.feet):
        radius = config.feet[0].radius if config.feet else 0.0
        yield Sized('foot_radius', ('feet',),
                    lambda c, x: m.with_foot_radius(c, height * x[0]), (0.01,), 0.006, 0.05,
                    lambda x: "The feet's radius is "
                    f'{1e3 * max(radius + height * x[0], 0.0):.0f} mm, not '
                    f'{1e3 * radius:.0f} mm.')




# A healthy robot's deviations: of an offset [rad], a torque's gain, dry friction and rotor inertia
# as parts of the effort limit, the IMU's tilt [rad], delays [s], the centre of mass as a part of
# the height.
OFFSET, GAIN, RUBS, ROTOR, TILTED, LATE, SHIFTED = 0.004, 0.02, 0.004, 4e-5, 0.004, 5e-4, 0.006


def nuisances(model: RobotModel, config: RobotConfig, height: float, *, imu: bool,
              effort: np.ndarray) -> list[Sized]:
    """
    Return what a healthy robot has of everything, to be fitted beside a fault.

    Parameters
    ----------
    model, config : RobotModel, RobotConfig
        As for :func:`sized_hypotheses`.
    height : float [m]
        Height of the base over the feet.
    imu : bool
        Whether the robot has an IMU.
    effort : (nj,) array of bool
        Joints whose effort is known.

    Returns
    -------
    list of Sized
        Their `healthy` deviations are those of a healthy robot.

    """
    m = Corrector(model)

    def part(apply: Callable[[RobotConfig, np.ndarray], RobotConfig], step: float, healthy: float,
             count: int = 1) -> Sized:
        return Sized('', (), apply, (step,) * count, healthy, healthy, lambda x: '')

    def offset(i: int) -> Sized:
        return part(lambda c, x: m.shifted(c, i, float(x[0])), 0.005, OFFSET)

    def gain(i: int) -> Sized:
        return part(lambda c, x: m.scaled(c, [i], math.exp(x[0]), 'effort'), 0.02, GAIN)

    found = [offset(i) for _, joints in legs_of(model, config) for i in joints]
    if effort.any():
        found += [gain(i) for i in np.flatnonzero(effort).tolist()]
        found.append(part(lambda c, x: m.with_center_of_mass(c, height * x), 0.01, SHIFTED, 3))
        found.append(part(_older, 5e-4, LATE))
        found.append(replace(_armature(model, config), healthy=ROTOR, faulty=ROTOR))
    if imu:
        found.append(part(lambda c, x: m.tilted(c, x), 0.005, TILTED, 3))
        found.append(part(lambda c, x: m.sensors(c, imu_delay=c.sensors.imu_delay + float(x[0])),
                          1e-3, LATE))
    return found


def _older(config: RobotConfig, x: np.ndarray) -> RobotConfig:
    """Return the configuration with older torques."""
    noise = config.noise
    return replace(config, noise=replace(noise, effort_age=noise.effort_age + float(x[0])))


def _armature(model: RobotModel, config: RobotConfig) -> Sized:
    """Return rotor inertia beyond the YAML's, one size for each place of a joint in its leg."""
    names = model.joint_names
    order = [names.index(name) for name in config.joints or names]
    legs = [joints for _, joints in legs_of(model, config)]
    count = max(len(joints) for joints in legs)
    kind = np.full(len(names), -1)
    for joints in legs:
        kind[joints] = np.arange(len(joints))
    limit = np.array([joint.effort for joint in model.joints], float)
    usual = np.isfinite(limit) & (limit > 0.0)
    limit = np.where(usual, limit, np.median(limit[usual]) if usual.any() else 1.0)

    def apply(c: RobotConfig, x: np.ndarray) -> RobotConfig:
        values = np.array([joint.armature for joint in c.apply_to(model).joints])
        values += np.where(kind >= 0, np.asarray(x)[np.maximum(kind, 0)] * limit, 0.0)
        return replace(c, armature=tuple(np.maximum(values, 0.0)[order].tolist()))

    def text(x: np.ndarray) -> str:
        sizes = ', '.join(f'{x[k] * float(np.median(limit[kind == k])):.2g}'
                          for k in range(count))
        return (f'The rotors are heavier than the YAML says, by {sizes} kg m^2 at the joints '
                'from the hip on (armature).')
    return Sized('armature', ('joint_states',), apply, (1e-4,) * count, 5e-5, 5e-4, text)
