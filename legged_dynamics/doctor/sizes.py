# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Faults that have a size: offsets, factors, masses, tilts, delays.

A healthy robot has some of each as well, so a fitted size must be more likely of a faulty robot
than of a healthy one.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from legged_dynamics.doctor.correcting import Corrector
from legged_dynamics.doctor.hypotheses import DEGREE, RARE, legs_of
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel


@dataclass(frozen=True)
class Sized:
    """
    A fault that has a size.

    Attributes
    ----------
    kind, subject
        As `Finding` has them.
    apply : callable
        Returns the corrected configuration of a size (k,).
    steps : (k,) tuple of float
        Sizes for finite differences.
    healthy, faulty : float
        Standard deviation of each component on a healthy and on a faulty robot.
    text : callable
        Returns the sentence on a size.
    cost : float

    """

    kind: str
    subject: tuple[str, ...]
    apply: Callable[[np.ndarray], RobotConfig]
    steps: tuple[float, ...]
    healthy: float
    faulty: float
    text: Callable[[np.ndarray], str]
    cost: float = RARE

    def likelier(self, size: np.ndarray) -> float:
        """Return the log of how much more likely a size is of a faulty robot."""
        ratio = self.faulty / self.healthy
        squares = float(size @ size) / self.healthy ** 2
        return 0.5 * squares * (1.0 - ratio ** -2) - len(size) * math.log(ratio)


def sized_hypotheses(model: RobotModel, config: RobotConfig, height: float, *, imu: bool,
                     effort: np.ndarray, period: float) -> Iterator[Sized]:
    """
    Yield the faults that have a size.

    Parameters
    ----------
    model, config : RobotModel, RobotConfig
        As for :func:`hypotheses`.
    height : float [m]
        Of the base over the feet.
    imu : bool
        Whether there is one.
    effort : (nj,) array of bool
        Joints whose effort is known.
    period : float [s]
        Between joint states.

    """
    m, names, mass = Corrector(model), model.joint_names, config.apply_to(model).total_mass

    def offset(i: int) -> Sized:
        return Sized('position_offset', (names[i],), lambda x: m.shifted(config, i, float(x[0])),
                     (0.01,), 0.012, 0.15, lambda x: f'{names[i]}: the position is off by '
                     f'{-x[0] / DEGREE:.2f} degrees.')

    def motor(i: int) -> Sized:
        return Sized('effort_scale_joint', (names[i],), lambda x: m.scaled(
            config, [i], math.exp(x[0]), 'effort'), (0.02,), 0.06, 0.7, lambda x: f'{names[i]}: '
            f'the effort reads {math.exp(-x[0]):.3g} times what it is.')

    for _, joints in legs_of(model, config):
        yield from map(offset, joints)
    if effort.any():
        yield from map(motor, np.flatnonzero(effort).tolist())
        yield Sized('effort_scale', ('joint_states',),
                    lambda x: m.scaled(config, slice(None), math.exp(x[0]), 'effort'), (0.02,),
                    0.02, 2.0, lambda x: f'All efforts read {math.exp(-x[0]):.3g} times what '
                    'they are: motor currents, or efforts before the gear?', RARE + 1.0)
        yield Sized('total_mass', ('base',),
                    lambda x: m.loaded(config, mass * (math.exp(x[0]) - 1.0)), (0.02,), 0.02,
                    0.2, lambda x: f'The robot weighs {mass * math.exp(x[0]):.3g} kg, not '
                    f'{mass:.3g} kg.')
        yield Sized('center_of_mass', ('base',), lambda x: m.balanced(config, height * x),
                    (0.01,) * 3, 0.012, 0.1, lambda x: "The base's centre of mass is off by "
                    f'{1e3 * height * x[0]:.0f}, {1e3 * height * x[1]:.0f}, '
                    f'{1e3 * height * x[2]:.0f} mm (x, y, z).')
    if imu:
        yield Sized('imu_mount', ('imu',), lambda x: m.tilted(config, x), (0.01,) * 3, 0.012,
                    0.2, lambda x: 'The IMU is mounted turned by '
                    f'{x[0] / DEGREE:.1f}, {x[1] / DEGREE:.1f}, {x[2] / DEGREE:.1f} degrees '
                    'about x, y, z.')
        yield Sized('clock_offset', ('imu', 'joint_states'), lambda x: m.sensors(
            config, imu_delay=config.sensors.imu_delay + float(x[0])), (2e-3,),
            max(1.5e-3, 0.75 * period), 0.03, lambda x: 'The stamps of the IMU are '
            f'{1e3 * abs(x[0]):.1f} ms {"later" if x[0] > 0.0 else "earlier"} than those of the '
            'joints at one instant.')
    if all(foot.round for foot in config.feet):
        radius = config.feet[0].radius if config.feet else 0.0
        yield Sized('foot_radius', ('feet',), lambda x: m.rolled(config, height * x[0]), (0.01,),
                    0.006, 0.05, lambda x: "The feet's radius is "
                    f'{1e3 * max(radius + height * x[0], 0.0):.0f} mm, not '
                    f'{1e3 * radius:.0f} mm.')
