# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Tables of docs/walking_measured.md: robots that walk by our own commands, against the truth.

``python -m benchmarks.walking [--quick] [--robots go2,hyq] [--only gaits,ground]`` (or ``--urdf
PATHS``, for robots described by ``new-robot``) runs robots of the zoo in MuJoCo with the sensors
of the field, 2 % of torque gain, joint friction of 3 % of the effort limits that the configuration
does not know, and 5 ms from a sample to its efforts. Robots whose descriptions are not installed
are left out and named. The exit code is 1 where a robot fell, 2 where nothing was run. A simulated
second takes about half a second: all tables an hour and three quarters of one core, with
``--sequences 10`` forty minutes, ``--quick --seeds 1 --robots go2,anymal_class,g1`` ten.
"""
from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.walking_robots import Laboratory, Push, Run, bumps, described, walk
from benchmarks.zoo.robots import MissingRobot, ZooRobot
from legged_dynamics.exceptions import LeggedDynamicsError
from legged_dynamics.workspace.walking import make_walker
from legged_dynamics.workspace.walking.gaits import GAITS, fastest

BIPEDS = ('talos', 'g1', 'biped')
QUADRUPEDS = ('go2', 'anymal_class', 'solo_class', 'hyq', 'b1')
EVERY = (*QUADRUPEDS, 'hexapod', *BIPEDS)
SLOPE = math.radians(10.0)
SIDES = {'ahead': (1.0, 0.0, 0.0), 'back': (-1.0, 0.0, 0.0), 'left': (0.0, 1.0, 0.0),
         'right': (0.0, -1.0, 0.0)}


@dataclass(frozen=True)
class World:
    """Where robots come from, and what walks them."""

    laboratory: Callable[..., Laboratory] = Laboratory
    walk: Callable[..., Run] = walk
    described: Callable[[Path], ZooRobot] = described
    make_walker: Callable[..., Any] = make_walker


@dataclass
class Tally:
    """Runs, falls, robots left out and why, and the worst figures with whose they are."""

    world: World = World()
    given: dict[str, ZooRobot] = field(default_factory=dict)    # described by their URDFs
    runs: int = 0
    causes: list[str] = field(default_factory=list)
    worst: dict[str, tuple[float, str]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def laboratory(self, name: str, **options: Any) -> Laboratory | None:
        """Return a robot in its world; None, and a note, where its description is missing."""
        try:
            return self.world.laboratory(self.given.get(name, name), **options)
        except MissingRobot as error:
            self.missing[name] = str(error)
            return None

    def walk(self, what: str, *how: Any, **more: Any) -> Run:
        """Walk a robot and count the run."""
        return self.count(self.world.walk(*how, **more), what)

    def count(self, found: Run, what: str) -> Run:
        """Count a run, and note why it failed."""
        self.runs += 1
        if found.cause:
            self.causes.append(f'{what}: {found.cause}')
        return found

    def note(self, figure: str, value: float, whose: str) -> None:
        """Keep the largest value of a figure, which is a text with a place for it; NaN is none."""
        if value > self.worst.get(figure, (-1.0, ''))[0]:
            self.worst[figure] = value, whose

    def follow(self, off: Off, whose: str) -> None:
        """Note how a run has followed its commands."""
        for figure, value in zip(Off.FIGURES, (off.speed, off.drift, off.turning)):
            self.note(figure, value, whose)

    def summary(self) -> str:
        """Return the last line."""
        worst = '; '.join(f'{figure.format(value)} ({whose})'
                          for figure, (value, whose) in self.worst.items())
        return (f'walking: {self.runs} runs, {len(self.causes)} falls'
                + (f'; worst {worst}' if worst else ''))


def commands(gait: str, seconds: float) -> Callable[[float], Sequence[float]]:
    """Return all velocities that the gait is allowed, one after the other."""
    parts = GAITS[gait].tried
    return lambda t: parts[min(int(len(parts) * t / seconds), len(parts) - 1)]


def random_commands(seed: int) -> Callable[[float], Sequence[float]]:
    """Return a random velocity for every two seconds, of a trot."""
    table = np.random.default_rng(seed).uniform(-1.0, 1.0, (30, 3)) * fastest('trot')
    return lambda t: table[min(int(t / 2.0), 29)]


def _commanded(found: Run) -> list[np.ndarray]:
    """
    Return the samples of each command, from 1.5 s after its start on.

    A body sways in a cycle of its gait: only whole cycles count, from one lift-off of the first
    foot to another one, so that standing gives none, and stepping in place does.
    """
    change = np.flatnonzero((np.diff(found.wanted, axis=0) != 0.0).any(axis=1)) + 1
    lifts = np.flatnonzero(found.bearing[:-1, 0] & ~found.bearing[1:, 0]) + 1
    ways = []
    for first, last in zip([0, *change], [*change, len(found.time)]):
        within = lifts[(lifts >= first) & (lifts < last)
                       & (found.time[lifts] > found.time[first] + 1.5)]
        if len(within) > 1:
            ways.append(np.arange(within[0], within[-1]))
    return ways


@dataclass(frozen=True)
class Off:
    """
    How far mean velocities are from those commanded at most; NaN where there is none.

    An axis (ahead, to the left, turning) that is commanded by `LEAST` or more is off by a part of
    its own command. Of the others, of which a part would be one of nothing, the velocity counts.
    """

    FIGURES: ClassVar = ('mean speed error {:.1f} %', 'drift {:.0f} mm/s across the command',
                         'turning by {:.1f} deg/s that nobody commanded')
    LEAST: ClassVar = 0.05      # m/s, rad/s

    speed: float = math.nan     # % of what is commanded
    drift: float = math.nan     # mm/s
    turning: float = math.nan   # deg/s

    @classmethod
    def of(cls, error: np.ndarray, commanded: np.ndarray) -> Off:
        """Return it of (n, 3) errors of mean velocities and the sizes that were commanded."""
        def most(values: np.ndarray) -> float:
            return float(values.max()) if values.size else math.nan
        error, asked = np.abs(error), commanded >= cls.LEAST
        return cls(most(100.0 * error[asked] / commanded[asked]),
                   most(1e3 * error[:, :2][~asked[:, :2]]),
                   most(np.degrees(error[:, 2][~asked[:, 2]])))


def off_command(found: Run) -> Off:
    """Return how far the mean velocity of any command is from it."""
    ways = _commanded(found)
    if not ways:
        return Off()
    wanted = np.array([found.wanted[way[0]] for way in ways])
    mean = np.array([found.velocity[way].mean(axis=0) for way in ways])
    return Off.of(mean - wanted, np.abs(wanted))


def off_sequence(found: Run) -> Off:
    """
    Return how far the mean velocity of a whole sequence is off, its rms being what is commanded.

    What a velocity lags behind each new command cancels from one command to the next.
    """
    walked = found.bearing.all(axis=1).cumprod() == 0
    error = (found.velocity - found.wanted)[walked].mean(axis=0)
    return Off.of(error[None], np.sqrt((found.wanted[walked] ** 2).mean(axis=0))[None])


def row(found: Run, first: float = 1.5) -> str:
    """Return the columns of one run: speed, drift, height, tilt, effort, odometry, force."""
    here = found.between(first, found.time[-1] - 0.5)
    if found.cause or here.sum() < 100:
        return f'{found.cause or "too short"} |' + ' |' * (len(COLUMNS) - 1)
    off = off_command(found)
    height = np.abs(found.position[here, 2] - found.height).max()
    tilt = np.hypot(found.rpy[here, 0], found.rpy[here, 1]).max()
    astray = found.estimated[here] - found.position[here]
    way = np.linalg.norm(np.diff(found.position[here, :2], axis=0), axis=1).sum()
    drift = np.linalg.norm(astray[-1, :2] - astray[0, :2]) / max(way, 0.1)
    force = np.sqrt((found.force_error[here] ** 2).mean())
    return (f'{_number(off.speed)} | {_number(off.drift)}, {_number(off.turning, 1)} | '
            f'{1e3 * height:.0f} | {math.degrees(tilt):.1f} | '
            f'{np.percentile(found.effort[here], 99):.2f}, {found.effort[here].max():.2f} | '
            f'{100 * drift:.1f} | {100 * force:.1f} |')


def _number(value: float, digits: int = 0) -> str:
    return '-' if math.isnan(value) else f'{value:.{digits}f}'


def run(tally: Tally, name: str, gait: str, command: Callable[[float], Sequence[float]],
        seconds: float, title: str, **ground: Any) -> None:
    """Run one robot, print its row, and count it."""
    lab = tally.laboratory(name, **{'friction': 0.03} | ground)
    if lab is None:
        return
    whose = f'{name}, {gait}, {title}'
    found = tally.walk(whose, lab, gait, command, seconds)
    if not found.cause:
        tally.follow(off_command(found), whose)
    print(f'| {name} | {gait} | {title} | {row(found)}', flush=True)


COLUMNS = ('error of the mean speed [%]', 'drift across the command [mm/s], turning [deg/s]',
           'height off by at most [mm]', 'tilt at most [deg]',
           'effort: 99 %, largest [of the limit]', 'drift of the odometry [%]',
           'error of a force, rms [% of the weight]')
HEAD = (f'| robot | gait | case | {" | ".join(COLUMNS)} |\n|---|---|---|'
        + '---:|' * len(COLUMNS))


def gaits(tally: Tally, robots: Sequence[str], quick: bool) -> None:
    """Print the table of gaits."""
    print(f'\nGaits on the level floor\n\n{HEAD}')
    seconds = 12.0 if quick else 60.0
    for name in robots:
        for gait in ('tripod', 'wave') if name == 'hexapod' else ('trot', 'crawl', 'walk'):
            run(tally, name, gait, commands(gait, seconds), seconds, 'all commands')


# m/s that a robot trots with `walking.speed`, where it is not 1.2.
FAST = {'solo_class': 1.05, 'anymal_class': 0.9, 'hexapod': 0.3}


def speed(tally: Tally, robots: Sequence[str], quick: bool) -> None:
    """Print the table of the fastest trot straight ahead, from 3.5 s after its start on."""
    print('\nFast, straight ahead\n\n| robot | gait | commanded [m/s] | walked [m/s] | drift '
          'across [mm/s] | tilt at most [deg] | effort, 99 % [of the limit] |\n|---|---|'
          + '---:|' * 5)
    for name in robots:
        fast, lab = FAST.get(name, 1.2), tally.laboratory(name, friction=0.03)
        gait = 'tripod' if name == 'hexapod' else 'trot'
        if lab is None:
            continue
        whose = f'{name}, {gait} at {fast} m/s'
        found = tally.walk(whose, lab, gait, lambda t, v=fast: (v, 0.0, 0.0), 7.6,
                           settings={'walking.speed': fast})
        here = found.between(4.5, 6.1)      # it starts after 1 s, and stops 1.5 s before the end
        texts = [found.cause] + [''] * 3
        if not found.cause:
            walked = found.velocity[here].mean(axis=0)
            off = Off(100.0 * abs(walked[0] / fast - 1.0), 1e3 * abs(walked[1]))
            tally.follow(off, whose)
            tilt = math.degrees(np.hypot(*found.rpy[here, :2].T).max())
            texts = [f'{walked[0]:.3f}', f'{off.drift:.0f}', f'{tilt:.1f}',
                     f'{np.percentile(found.effort[here], 99):.2f}']
        print(f'| {name} | {gait} | {fast} | {" | ".join(texts)} |', flush=True)


def ground(tally: Tally, robots: Sequence[str], quick: bool) -> None:
    """Print the table of grounds, loads and delays."""
    print(f'\nGround, load and delay, trot\n\n{HEAD}')
    seconds = 7.0 if quick else 12.0
    cases: dict[str, dict[str, Any]] = {
        '10 deg up': {'slope': (0.0, SLOPE)}, '10 deg down': {'slope': (0.0, -SLOPE)},
        '10 deg across': {'slope': (SLOPE, 0.0)}, 'friction 0.4': {'floor_friction': 0.4},
        'soft floor': {'contact_time': 0.03}, 'stiff floor': {'contact_time': 0.003},
        '15 % payload': {'payload': (0.15, (0.05, 0.04, 0.08))},
        'model 5 % light': {'lighter': 0.05}, 'efforts 10 ms later': {'delay': 0.015}}
    for name in robots:
        if name == 'hexapod':
            continue
        for title, case in cases.items():
            run(tally, name, 'trot', lambda t: (0.3, 0.0, 0.0), seconds, title, **case)
        step = {'hyq': 0.08, 'solo_class': 0.02}.get(name, 0.04)
        run(tally, name, 'trot', lambda t: (0.3, 0.0, 0.0), seconds + 3.0,
            f'unseen steps of {100 * step:.0f} cm', scenery=bumps(step))


def pushes(tally: Tally, robots: Sequence[str], quick: bool, seeds: int = 3) -> None:
    """Print the table of pushes."""
    print('\nPushes: furthest from where it stood, or most tilt while it trots at 0.2 m/s; '
          f'a figure a seed\n\n{PUSHED}')
    for name in robots:
        for title, gait, part, duration in (('standing, 40 % for 0.3 s', 'stand', 0.4, 0.3),
                                            ('standing, 60 % for 0.3 s', 'stand', 0.6, 0.3),
                                            ('trotting, 40 % for 0.2 s', 'trot', 0.4, 0.2)
                                            )[1 if quick and name != 'hexapod' else 0:]:
            if name != 'hexapod' or gait == 'stand':
                _push_from_all_sides(tally, name, title, gait, part, duration, seeds)


PUSHED = '| robot | case | ahead | back | left | right |\n|---|---|---:|---:|---:|---:|'


def _push_from_all_sides(tally: Tally, name: str, title: str, gait: str, part: float,
                         duration: float, seeds: int) -> None:
    """Print the row of a robot that is pushed, unless its description is missing."""
    sides = []
    for side, way in SIDES.items():
        texts = []
        for seed in range(seeds):
            lab = tally.laboratory(name, seed=seed)
            if lab is None:
                return
            whose = f'{name}, {title}, {side}, seed {seed}'
            at = 2.0 if gait != 'stand' else 1.0
            found = tally.walk(whose, lab, gait, lambda t: (0.2, 0.0, 0.0), at + 3.5,
                               [Push(at, duration, part * np.array(way))])
            texts.append(_after_push(tally, found, gait, whose, at))
        sides.append('; '.join(texts))
    print(f"| {name} | {title} | {' | '.join(sides)} |", flush=True)


def _after_push(tally: Tally, found: Run, gait: str, whose: str, at: float) -> str:
    """Return how far a standing robot went since, or how far a walking one tilted; note it."""
    if found.cause:
        return found.cause
    after = found.between(at, 9.0)
    tilt = math.degrees(np.hypot(*found.rpy[after, :2].T).max())
    if gait != 'stand':
        tally.note('tilt {:.1f} deg after a push', tilt, whose)
        return f'{tilt:.1f} deg'
    away = found.position[after] - found.position[after][0]
    distance = 1e3 * float(np.linalg.norm(away, axis=1).max())
    tally.note('{:.0f} mm away after a push', distance, whose)
    return f'{distance:.0f} mm, {tilt:.1f} deg{"" if found.bearing.all() else ", steps"}'


def bipeds(tally: Tally, robots: Sequence[str], quick: bool) -> None:
    """Print the table of walking on two soles."""
    print(f'\nSteps on two soles\n\n{HEAD}')
    for name in robots:
        for title, command, seconds in (
                ('in place', (0.0, 0.0, 0.0), 33.0), ('ahead at 0.15 m/s', (0.15, 0.0, 0.0), 14.0),
                ('ahead at 0.1 m/s, turning at 0.2 rad/s', (0.1, 0.0, 0.2), 14.0),
                ('sideways at 0.06 m/s', (0.0, 0.06, 0.0), 14.0)):
            run(tally, name, 'steps', lambda t, command=command: command,    # type: ignore[misc]
                min(seconds, 8.0) if quick else seconds, title)


def soles(tally: Tally, robots: Sequence[str], quick: bool, seeds: int = 3) -> None:
    """Print the table of pushes while standing on two soles."""
    print('\nPushes of 20 % of the weight while standing: how far it went, with steps or without; '
          f'a figure a seed\n\n{PUSHED}')
    for name in robots:
        for duration in (0.3,) if quick else (0.2, 0.3):
            _push_from_all_sides(tally, name, f'20 % for {duration} s', 'stand', 0.2, duration,
                                 seeds)


DELAYS = (10, 15, 20, 25, 30, 35, 40)       # ms in all


def delays(tally: Tally, robots: Sequence[str], quick: bool) -> None:
    """Print the table of delays that the walker does not slow down for, up to the first fall."""
    lates = DELAYS[1::2] if quick else DELAYS
    print('\n(0.3 m/s, 0.2 rad/s), (0.1 m/s, 0.2 rad/s) on two soles, all efforts late: the most '
          'tilt from 1.5 s on [deg],\nand what a walker says that knows of it\n\n| robot | gait | '
          f'{" ms | ".join(map(str, lates))} ms |\n|---|---|' + '---:|' * len(lates))
    for name in robots:
        for gait in ('steps',) if name in BIPEDS else ('trot', 'walk'):
            velocity, texts = (0.1 if name in BIPEDS else 0.3, 0.0, 0.2), list[str]()
            for late in lates:
                lab = tally.laboratory(name, delay=1e-3 * late)
                if lab is None or name == 'hexapod':
                    break
                whose = f'{name}, {gait}, {late} ms late'
                found = tally.walk(whose, lab, gait, lambda t, v=velocity: v, 5.0)
                texts.append(found.cause)
                if found.cause:
                    break
                tilt = math.degrees(np.hypot(*found.rpy[found.time > 1.5, :2].T).max(initial=0.0))
                tally.note('tilt {:.1f} deg with efforts late', tilt, whose)
                walker = tally.world.make_walker(lab.known, lab.config, {'gait': gait})
                walker.age = 1e-3 * late
                says = walker.troubles.rpartition(': ')[2]
                texts[-1] = f'{tilt:.1f}, {says}' if says else f'{tilt:.1f}'
            if texts:
                texts += [''] * (len(lates) - len(texts))
                print(f'| {name} | {gait} | {" | ".join(texts)} |', flush=True)


# Standing with joint friction: the times of moves, and of judgement after each.
MOVES = ((2.0, (0.05, 0.0, 0.0), (0.0, 0.0, 0.0)), (5.0, (0.0, -0.05, 0.0), (0.0, 0.0, 0.0)),
         (8.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.2)), (11.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))


def standing(tally: Tally, robots: Sequence[str], quick: bool) -> None:
    """Print the table of payloads beside the middle, and of moves against joint friction."""
    print('\nStanding with 12 % payload at (5, 4, 8) cm, and with joint friction of 5 % moved by '
          '5 cm to two sides and 0.2 rad:\nthe most, and the mean from 2.5 to 3 s after the start '
          'or a move\n\n| robot | leans with the payload [deg] | with friction off by [mm] | '
          'turned off by [deg] |\n|---|---:|---:|---:|')
    for name in robots:
        texts: list[str] = []
        for case, moves, seconds in (({'payload': (0.12, (0.05, 0.04, 0.08))}, (), 5.0),
                                     ({'friction': 0.05}, MOVES, 14.0)):
            lab = tally.laboratory(name, **{'friction': 0.03} | case)   # type: ignore
            if lab is None:
                break
            found = tally.walk(f'{name}, standing', lab, 'stand', lambda t: (0.0, 0.0, 0.0),
                               seconds, moves=moves)
            lean = np.degrees(np.hypot(*found.rpy[:, :2].T))
            ends = [found.between(t - 0.5, t) for t in (5.0, 8.0, 11.0, 14.0) if t <= seconds]

            def text(values: np.ndarray, ends: list = ends) -> str:
                return f'{values.max():.1f}, {max(values[end].mean() for end in ends):.1f}'
            columns = [lean] if not moves else [1e3 * found.missed[:, 0],
                                                np.degrees(found.missed[:, 1])]
            texts += [found.cause or text(values) for values in columns]
        if texts:
            print(f'| {name} | {" | ".join(texts)} |', flush=True)


def random(tally: Tally, robots: Sequence[str], quick: bool, count: int = 100) -> None:
    """Print how many of many random commands end in a fall."""
    count = min(count, 3) if quick else count
    print('\nSequences of random commands of 20 s; speeds are the means of a whole sequence\n\n'
          '| robot | sequences | falls | error of the mean speed at most [%] |\n'
          '|---|---:|---:|---:|')
    for name in robots:
        if name == 'hexapod':
            continue
        falls, errors = 0, [math.nan]
        for seed in range(count):
            lab = tally.laboratory(name, seed=seed)
            if lab is None:
                break
            whose = f'{name}, random commands {seed}'
            found = tally.walk(whose, lab, 'trot', random_commands(seed), 20.0)
            falls += bool(found.cause)
            if not found.cause:
                off = off_sequence(found)
                errors.append(off.speed)
                tally.follow(off, whose)
        if name not in tally.missing:
            worst = max((error for error in errors if error == error), default=math.nan)
            print(f'| {name} | {count} | {falls} | {_number(worst)} |', flush=True)


def given(tally: Tally, paths: Sequence[Path], quick: bool, seeds: int = 3) -> None:
    """Print the tables of robots that `new-robot` describes from their makers' URDFs."""
    gaits = {}
    for path in paths:
        try:
            zoo = tally.given[path.stem] = tally.world.described(path)
            gaits[path.stem] = tally.world.make_walker(zoo.model, zoo.config).usual
        except LeggedDynamicsError as error:
            tally.missing[path.stem] = str(error)
    print(f'\nRobots by their URDFs and new-robot alone\n\n{HEAD}')
    seconds = 20.0 if quick else 60.0
    for name, gait in gaits.items():
        run(tally, name, gait, commands(gait, seconds), seconds, 'all commands')
    print(f'\nPushes while standing: how far it went, with steps or without; a figure a seed\n\n'
          f'{PUSHED}')
    for name, gait in gaits.items():
        part = 0.2 if gait == 'steps' else 0.6
        _push_from_all_sides(tally, name, f'{100 * part:.0f} % for 0.3 s', 'stand', part, 0.3,
                             seeds)


TABLES = {'gaits': gaits, 'speed': speed, 'ground': ground, 'pushes': pushes, 'delays': delays,
          'standing': standing, 'bipeds': bipeds, 'soles': soles, 'random': random}


def main(argv: Sequence[str] | None = None, world: World = World()) -> int:
    """Print the tables; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--quick', action='store_true', help='shorter and fewer runs')
    parser.add_argument('--robots', default=','.join(EVERY))
    parser.add_argument('--only', default=','.join(TABLES), help=f'of {", ".join(TABLES)}')
    parser.add_argument('--urdf', nargs='+', type=Path, default=[],
                        help='walk the robots of these URDFs instead, as new-robot describes them')
    parser.add_argument('--sequences', type=int, default=100,
                        help='random sequences of commands a robot')
    parser.add_argument('--seeds', type=int, default=3, help='of the pushes: 3')
    args = parser.parse_args(argv)
    tables = TABLES | {'random': partial(random, count=args.sequences),
                       'pushes': partial(pushes, seeds=args.seeds),
                       'soles': partial(soles, seeds=args.seeds)}
    tally, robots = Tally(world), args.robots.split(',')
    for asked, known in ((args.only.split(','), TABLES), (robots, EVERY)):
        if unknown := sorted({*asked} - {*known}):
            parser.error(f'expected some of {", ".join(known)}, got {", ".join(unknown)}')
    if args.urdf:
        given(tally, args.urdf, args.quick, args.seeds)
    for name in () if args.urdf else args.only.split(','):
        on_soles = name in ('bipeds', 'soles')
        tables[name](tally, [robot for robot in robots if (robot in BIPEDS) == on_soles
                             or name == 'delays'], args.quick)
    for cause in tally.causes:
        print(f'\nlost: {cause}')
    for name, why in tally.missing.items():
        print(f'\nleft out: {name}: {why}')
    print(f'\n{tally.summary()}')
    return 1 if tally.causes else 0 if tally.runs else 2


if __name__ == '__main__':
    sys.exit(main())
