# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
One bad joint while a robot walks: what the guard does with it, against other laws.

    python -m benchmarks.faults_joint [--robots go2,hyq] [--joints knee,hip] [--faults frozen]

A robot trots at 0.4 m/s with the sensors of the field (`benchmarks.walking_robots`). At eight
phases of a cycle one joint of its first leg goes bad, and the guard alone brings the robot down.
In the 30 ms in which a frozen joint is not found yet the motors get the efforts of the sound
robot. A robot that comes down faster than `SOFT` or tilts by more than `UPRIGHT`, more than one
does that lies on its trunk and some knees, counts as fallen. The exit code is 1 where one falls
by the law that is in use.
"""
from __future__ import annotations

import argparse
import copy
import math
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np

from benchmarks.walking_robots import RATE, STEP, Laboratory, walk
from benchmarks.zoo.robots import MissingRobot, robot
from legged_dynamics.safety import EffortGuard
from legged_dynamics.safety.joint_watch import DAMPING
from legged_dynamics.safety.stance_watch import BY_FEET
from legged_dynamics.simulation.plant import GROUND, ROBOT, add_floor
from legged_dynamics.workspace.walking.gaits import GAITS

PHASES = 8
SOFT, UPRIGHT = 1.0, 25.0       # m/s down; deg, of a robot that lies on its trunk and some knees
# Half sizes of a trunk [m], and the radius of a knee, to lie on.
SHAPES = {'anymal_class': ((0.46, 0.12, 0.1), 0.045), 'solo_class': ((0.2, 0.05, 0.0275), 0.02),
          'go2': ((0.19, 0.047, 0.057), 0.03), 'hyq': ((0.44, 0.1, 0.1), 0.05)}
# Places of the joints in a leg.
JOINTS = {'knee': 2, 'hip': 1, 'abduction': 0}


class Recorded(Laboratory):
    """
    A robot that can lie on its trunk and its knees; states over a cycle of its gait are kept.

    Parameters
    ----------
    name : str
        Of the zoo, among `SHAPES`.
    slope : tuple of float [rad]
        As `Laboratory` takes it.

    Attributes
    ----------
    kept : list
        States over the last cycle, for :meth:`back`.

    """

    def __init__(self, name: str, slope: tuple[float, float] = (0.0, 0.0)):
        zoo = robot(name)
        base = zoo.config.base_link or zoo.model.base_link

        def scenery(spec: mujoco.MjSpec) -> None:
            add_floor(spec)
            size, radius = SHAPES[name]
            touch = {'contype': ROBOT, 'conaffinity': GROUND, 'mass': 0.0,
                     'friction': [0.8, 0.005, 1e-4]}
            spec.body(base).add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=list(size), **touch)
            for body in spec.bodies:
                if body.name.lower().endswith(('shank', 'calf', 'lowerleg')):
                    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0.0, 0.0],
                                  **touch)
        super().__init__(zoo, scenery=scenery, slope=slope)
        self.kept: list[tuple] = []
        self._due: list[float] = []

    @property
    def now(self) -> int:
        """Time of the robot's clock [ns]."""
        return round(self.time * 1e9) + 10**9

    def record(self, gait: str, velocity: Sequence[float], after: float = 0.0) -> None:
        """Walk for some cycles, and for a time [s] after the last of the kept states."""
        cycle = GAITS[gait].cycle * math.sqrt(self.height / 9.81)
        self._due = [4.0 + k * cycle / PHASES for k in range(PHASES)]
        found = walk(self, gait, lambda t: velocity, 4.2 + cycle + after, stop=0.0)
        assert not found.cause and not self._due, found.cause

    def keep(self, part: Any) -> None:
        """Keep the present state, where that is wanted, and a part that belongs to it."""
        if self._due and self.time >= self._due[0]:
            self._due.pop(0)
            self.kept.append((copy.copy(self.data), copy.deepcopy((part, self._rng)),
                              list(self._queue), self._steps, self.effort.copy()))

    def back(self, kept: tuple) -> Any:
        """Go back to a kept state; return its part."""
        data, parts, queue, self._steps, self.effort = kept
        self.data, self._queue, self.time = copy.copy(data), deque(queue), self._steps * STEP
        part, self._rng = copy.deepcopy(parts)
        return part

    def down(self, seconds: float, answer: Callable[[], np.ndarray | None]) -> tuple[float, float]:
        """Go on with other efforts; return fastest fall [m/s] and most tilt to the floor [deg]."""
        height, fastest, least = self.data.xpos[self._body][2], 0.0, 1.0
        end = self.time + seconds
        while self.time < end:
            Laboratory.step(self, answer())
            z = self.data.xpos[self._body][2]
            fastest, height = max(fastest, (height - z) * RATE), z
            least = min(least, self.data.xmat[self._body][8])
        return fastest, math.degrees(math.acos(least))


def _held(lab: Guarded, motors: Any, j: int) -> None:
    """Leave the guard as it is."""


def _told(lab: Guarded, motors: Any, j: int) -> None:
    """Know the joint's true state when feet have landed: the bound of what a guard could find."""
    take, since = motors.take, []

    def taken(believed: np.ndarray, ns: int) -> None:
        take(believed, ns)
        since.extend([ns] * motors.watch.one_bad)
        if motors.watch.one_bad:
            landed = ns - since[0] >= BY_FEET.landing_ns
            motors.state[:, j] = lab.truth(j) if landed else math.nan
    motors.take = taken


class Guarded(Recorded):
    """A robot that walks with a guard before its motors."""

    def __init__(self, name: str, slope: tuple[float, float] = (0.0, 0.0)):
        super().__init__(name, slope)
        self.guard, self._commands = EffortGuard(self.known, self.joints, feet=self.feet), {}
        self.guard.activate()

    def truth(self, j: int) -> tuple[float, float]:
        """Return a joint's true position and velocity."""
        return self.data.qpos[self._qpos[j]], self.data.qvel[self._dofs[j]]

    def sense(self) -> Any:
        """Return what the sensors say now; the guard hears it."""
        self._heard = found = super().sense()
        assert not self.guard.sample(self.now, found.stamp_ns, found.position, found.velocity)
        return found

    def step(self, effort: np.ndarray | None) -> None:
        """Have efforts pass through the guard, and keep the state where that is wanted."""
        if effort is not None:
            self.keep(self.guard)
            self._commands[self._steps] = effort
            guarded = self.guard.apply(self.now, effort, 0, self._heard.effort)
            assert not guarded.fault, guarded.fault
            effort = guarded.effort
        super().step(effort)

    def spoilt(self, kept: tuple, j: int, change: Callable,
               law: Callable = _held, seconds: float = 3.0) -> tuple[float, float]:
        """Go on with one joint's readings changed; return fastest fall [m/s] and tilt [deg]."""
        guard: EffortGuard = self.back(kept)
        law(self, guard._motors, j)
        first: list[float] = []
        found = False

        def answer() -> np.ndarray:
            nonlocal found
            heard = Laboratory.sense(self)
            first[:] = first or [heard.position[j], heard.velocity[j]]
            heard.position[j], heard.velocity[j] = change(heard.position[j], heard.velocity[j],
                                                          *first)
            found = bool(guard.sample(self.now, heard.stamp_ns, heard.position, heard.velocity)
                         ) or found
            command = None if found else self._commands[self._steps]
            return guard.apply(self.now, command).effort
        return self.down(seconds, answer)


FAULTS: dict[str, Callable] = {
    'position NaN': lambda q, v, q0, v0: (math.nan, v),
    'position +0.05 rad': lambda q, v, q0, v0: (q + 0.05, v),
    'frozen': lambda q, v, q0, v0: (q0, v0)}


def _alone(lab: Guarded, motors: Any, j: int) -> None:
    """Give the joint the efforts of its posture without feedback."""
    take = motors.take

    def unseen(believed: np.ndarray, ns: int) -> None:
        take(believed, ns)
        if motors.watch.one_bad:
            motors.state[:, j] = math.nan
    motors.take = unseen


def _instead(effort: Callable[[Any, int], float]) -> Callable:
    """Return a law that replaces the joint's effort."""
    def law(lab: Guarded, motors: Any, j: int) -> None:
        send = motors.send

        def changed(ns: int) -> np.ndarray:
            if motors.watch.one_bad:
                motors.effort[j] = effort(motors, j)
            return send(ns)
        motors.send = changed
    return law


# Why nothing in use keeps some from falling.
BLIND = {('hip', 'frozen'): 'it moves its foot along the ground, where no plane tells its place'}
LAWS: dict[str, Callable] = {
    'held by what is known (in use)': _held,
    'told its place once feet have landed (a bound)': _told,
    'efforts without feedback': _alone,
    'damped': _instead(lambda motors, j: -motors.table[j, DAMPING] * np.nan_to_num(
        motors.state[1, j])),
    'limp': _instead(lambda motors, j: 0.0)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--robots', default=','.join(SHAPES))
    parser.add_argument('--joints', default='knee')
    parser.add_argument('--faults', default='', help='a part of their names')
    parser.add_argument('--laws', type=int, default=len(LAWS), help='how many of the laws')
    parser.add_argument('--gait', default='trot')
    parser.add_argument('--velocity', nargs=3, type=float, default=(0.4, 0.0, 0.0))
    parser.add_argument('--slope', nargs=2, type=float, default=(0.0, 0.0), help='rad')
    args = parser.parse_args(arguments)
    laws = dict(list(LAWS.items())[:args.laws])
    print(f'{args.gait} at {args.velocity}, slope {args.slope}: the fastest fall [m/s] and the '
          f'most tilt [deg] of {PHASES} phases, and how many fall\n\n'
          f'| robot | joint | what is wrong | {" | ".join(laws)} |\n|---|---|---|'
          + '---|' * len(laws))
    runs = falls = 0
    for name in args.robots.split(','):
        try:
            lab = Guarded(name, tuple(args.slope))
        except MissingRobot as missing:
            print(missing, file=sys.stderr)
            continue
        lab.record(args.gait, args.velocity, after=0.1)
        for joint in args.joints.split(','):
            j = lab.joints.index(lab.config.joints[JOINTS[joint]])
            for fault, change in FAULTS.items():
                if args.faults not in fault:
                    continue
                texts = []
                for law in laws.values():
                    found = np.array([lab.spoilt(kept, j, change, law) for kept in lab.kept])
                    bad = int((found > (SOFT, UPRIGHT)).any(axis=1).sum())
                    texts.append('{:.2f}, {:.0f}'.format(*found.max(axis=0))
                                 + f'; {bad} fall' * bool(bad))
                    if bad and law is _held and (joint, fault) in BLIND:
                        texts[-1] += f': {BLIND[joint, fault]}'
                    runs, falls = runs + len(found), falls + (bad if law is _held else 0)
                print(f'| {name} | {joint} | {fault} | {" | ".join(texts)} |', flush=True)
    print(f'\nfaults_joint: {runs} runs, {falls} falls by the law in use')
    return int(falls > 0) if runs else 2


if __name__ == '__main__':
    sys.exit(main())
