# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runs of other kinds: robots, gaits with flight, slippery and moving ground, faulty sensors."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from benchmarks.zoo import foreign_robots  # noqa: F401  (its robots join the zoo's)
from benchmarks.zoo.recording import Recording
from benchmarks.zoo.scenarios import SCENARIOS, Scenario
from legged_dynamics.estimation import Measurement

GAP, GAP_EVERY = 0.05, 1.3      # s: samples that never came, and how often
FAULT_FROM = 3.0                # s: a channel goes wrong then


@dataclass(frozen=True)
class Foreign(Scenario):
    """
    A run of another kind.

    Attributes
    ----------
    pattern : str
        Of `foreign_plan`; '' for the motion of the base class.
    sideways, turning : float
        To the left, in leg lengths a second; about the vertical [rad/s].
    friction : float
        Of the ground; the controller takes it for 0.8.
    sink : float
        Time constant of the contacts [s]; zero for the floor's own. 0.05 s: 25 mm.
    stairs : float
        Height of each of several steps upwards [m].
    tilting : float
        Largest tilt of a plate under the robot that turns about its middle [deg].
    hand : str
        ``lift``: the robot is taken up and set down; ``drop``: it is let go in the air.
    belly : bool
        Whether it sits down on its body.
    arm : float
        By how much the joints that belong to no leg swing [rad].
    fault : str
        Of the sensors; see `Faulty`.
    start : float
        When the recording begins [s].

    """

    pattern: str = ''
    sideways: float = 0.0
    turning: float = 0.0
    friction: float = 0.8
    sink: float = 0.0
    stairs: float = 0.0
    tilting: float = 0.0
    hand: str = ''
    belly: bool = False
    arm: float = 0.0
    fault: str = ''
    start: float = 0.0

    @property
    def stepping(self) -> bool:
        """Return whether feet are lifted."""
        return bool(self.pattern) or super().stepping


@dataclass(frozen=True)
class Faulty(Recording):
    """
    A recording whose sensors fail.

    ``dead``: the torque of a knee reads zero, from 3 s on; ``nan``: it reads nothing; ``stuck``:
    it stays what it was; ``silent``: all of a leg's torques read zero, from the start.
    """

    fault: str = ''

    def measurements(self, *arguments, **more) -> Iterator[Measurement]:
        """Yield what the sensors say."""
        first, kept = float(self.stamp_ns[0]), 0.0
        knee, leg = 2, slice(0, 3)
        for measurement in super().measurements(*arguments, **more):
            tau = measurement.effort
            late = measurement.stamp_ns - first > 1e9 * FAULT_FROM
            if tau is not None:
                tau = tau.copy()
                if not late:
                    kept = tau[knee]
                elif self.fault != 'silent':
                    tau[knee] = {'dead': 0.0, 'nan': np.nan, 'stuck': kept}[self.fault]
                if self.fault == 'silent':
                    tau[leg] = 0.0
            yield replace(measurement, effort=tau)


def motion_of(scenario: Foreign) -> Foreign:
    """Return what scenarios share that differ in their sensors alone."""
    return replace(scenario, name=f'{scenario.robot}-motion', fault='', start=0.0)


def altered(made: Recording, scenario: Foreign) -> Recording:
    """Return the recording with the scenario's name, start, gaps and faults."""
    t = (made.stamp_ns - made.stamp_ns[0]) * 1e-9
    keep = t >= scenario.start
    if scenario.fault == 'gaps':
        keep &= (t % GAP_EVERY) < GAP_EVERY - GAP
    values = {f.name: getattr(made, f.name) for f in fields(Recording)} | {'name': scenario.name}
    if not keep.all():
        values = {name: value[keep] if isinstance(value, np.ndarray) else value
                  for name, value in values.items()}
        begin, end = made.scored
        values['scored'] = (max(begin - scenario.start, 0.02), end - scenario.start)
    if scenario.fault in ('dead', 'nan', 'stuck', 'silent'):
        return Faulty(**values, fault=scenario.fault)
    return Recording(**values)


def _all() -> list[Foreign]:
    def run(name: str, robot: str, pattern: str = '', **more) -> Foreign:
        more.setdefault('landing', 0.6)
        return Foreign(f'{robot}-{name}', robot, more.pop('motion', 'stand'), pattern=pattern,
                       **more)
    return [
        # Other robots.
        run('trot', 'a1', 'trot', speed=0.8),
        run('walk', 'laikago', 'walk', speed=0.4),
        run('trot', 'anymal_b', 'trot', speed=0.7),
        run('trot', 'anymal_arm', 'trot', speed=0.5, arm=0.4),
        run('stand', 'anymal_arm', '', arm=0.5),
        run('steps', 'bolt', 'step', speed=0.2, calm=0.05),
        run('steps', 'romeo', motion='step', lift=0.05, landing=0.2, speed=0.08),
        run('stand', 'romeo', 'stand'),
        # Other gaits.
        run('pace', 'go2', 'pace', speed=0.6),
        run('bound', 'go2', 'bound', speed=0.6),
        run('pronk', 'go2', 'pronk', speed=0.3),
        run('pronk', 'hyq', 'pronk', speed=0.2, landing=0.8),
        run('run', 'go2', 'run', speed=1.6, landing=0.8),
        run('crawl', 'go2', 'crawl', speed=0.15, landing=0.3),
        run('turn', 'go2', 'turn', turning=1.0),
        run('side', 'a1', 'trot', sideways=0.5),
        run('scuff', 'go2', 'walk', speed=0.3, lift=0.012, landing=0.1),
        run('lift', 'go2', 'lift', landing=0.1, seconds=14.0),
        run('tap', 'a1', 'tap', landing=0.3, lift=0.06, seconds=12.0),
        # Other ground.
        run('trot-slip', 'go2', 'trot', speed=0.8, friction=0.25),
        run('trot-sand', 'go2', 'trot', speed=0.5, sink=0.05),
        run('seesaw', 'go2', 'stand', tilting=8.0),
        run('stairs', 'go2', 'walk', speed=0.4, stairs=0.06, lift=0.45),
        # By hand, on the belly, in the air.
        run('lifted', 'go2', 'stand', hand='lift'),
        run('dropped', 'anymal_b', 'stand', hand='drop', seconds=4.0),
        run('belly', 'go2', 'stand', belly=True),
        # Sensors.
        run('gaps', 'go2', 'trot', speed=1.0, landing=1.0, fault='gaps'),
        run('dead', 'go2', 'trot', speed=1.0, landing=1.0, fault='dead'),
        run('stuck', 'go2', 'trot', speed=1.0, landing=1.0, fault='stuck'),
        run('silent', 'go2', 'walk', speed=0.5, fault='silent'),
        # Looked at last: nothing was chosen on these.
        run('pace', 'anymal_c', 'pace', speed=0.5),
        run('run-slip', 'laikago', 'run', speed=1.0, friction=0.35),
    ]


FOREIGN: dict[str, Foreign] = {scenario.name: scenario for scenario in _all()}
SCENARIOS.update(FOREIGN)
