# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Whether a horizon pays: `python -m benchmarks.walking_horizon [ROBOT ...]`, with piqp.

The servo of a trotting body is replaced by forces of the feet over one cycle of the gait, from a
convex quadratic program (Di Carlo et al. 2018): one rigid body, planned contacts, pyramids of
friction. Its first forces are the wrench that the controller divides; footholds and everything
else stay the walker's. Each case is run with the walker as it is, then with the horizon.
"""
from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import walking_robots
from benchmarks.walking import SIDES, Tally, off_command
from benchmarks.walking_robots import Laboratory, Push, Run, bumps, walk
from benchmarks.zoo.robots import MissingRobot
from legged_dynamics.dynamics.composite_body import CompositeBody
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.spatial.rotations import rotation_vector, skew
from legged_dynamics.workspace.command import BodyTarget
from legged_dynamics.workspace.walking import Walker, Walking
from legged_dynamics.workspace.walking.stance import turned

STEPS, RATE, FRICTION = 12, 100.0, 0.5      # of a cycle; Hz
MOST = 1.2      # weights, of a foot's normal force
# Deviations that cost the same: place across and up [heights], tilt and heading [rad], velocity
# across, up and of turning [those over pendulum times], force of a foot [weights].
PLACE = np.array([0.1, 0.1, 0.02, 0.05, 0.05, 0.1])
SPEED = np.array([0.25, 0.25, 0.1, 0.5, 0.5, 0.5])
FORCE = 1.5


class Horizon(Walker):
    """A walker whose trotting body is led by a program over a horizon; `times` [s]: of each."""

    times: list[float]

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self.times, self._due, self._wanted_motion = [], 0, np.zeros(6)

    def _lead(self, state: Any, body: Any, speed: np.ndarray, dt: float) -> BodyTarget:
        target = super()._lead(state, body, speed, dt)
        if self._schedule.timing.single:
            return target
        R, (v, w) = state.rotation, state.twist.reshape(2, 3)
        if self._newest >= self._due:
            began = time.thread_time()
            self._wanted_motion = self._solve(state, body.omega, speed, target)
            self.times.append(time.thread_time() - began)
            self._due = self._newest + round(0.999e9 / RATE)
        # From the centre of mass in world axes to the origin in those of the base.
        turn, c = R.T @ self._wanted_motion[3:], self._stance.com
        along = R.T @ self._wanted_motion[:3] - np.cross(turn, c) - np.cross(w, np.cross(w, c))
        return BodyTarget(np.concatenate([R.ravel(), state.position, state.twist,
                                          along - np.cross(w, v), turn]))

    def _contacts(self, state: Any, place: np.ndarray, speed: np.ndarray, dt: float
                  ) -> tuple[np.ndarray, np.ndarray]:
        """Return which feet stand, (n, nf), and where, (n, nf, 3)."""
        schedule, t = self._schedule, self._schedule.timing
        down = np.zeros((STEPS, len(schedule.legs)), bool)
        feet = np.zeros((*down.shape, 3))
        lifting = self.state in (Walking.WALK, Walking.RECOVER) and schedule.held <= 0.0
        for i, leg in enumerate(schedule.legs):
            here = state.foot_position[i] if leg.goal is None else leg.goal
            phase, air, stood = (schedule.clock + t.offsets[i]) % 1.0, leg.swing is not None, True
            for k in range(STEPS):
                ahead = (k + 0.5) * dt
                now = phase + ahead / t.cycle
                stands = now % 1.0 < t.duty or (leg.early and now < 1.0) or not lifting
                if air:
                    late = ahead - schedule.left(i)
                    stands = late >= 0.0 and (stands or late < 0.3 * t.swing_time)
                    air = not stands
                elif stands and not stood:
                    middle = place[:2] + speed * (ahead + 0.5 * t.stance_time)
                    x, y = middle + turned(self._reference.yaw)[:2, :2] @ t.hips[i]
                    here = np.array([x, y, self._floor.at(x, y)])
                stood = stands or air
                down[k, i], feet[k, i] = stands, here
        return down, feet

    def _solve(self, state: Any, omega: float, speed: np.ndarray, target: BodyTarget
               ) -> np.ndarray:
        """Return the acceleration of the centre of mass and of turning, world axes, (6,)."""
        R, height, mass = state.rotation, self.height, self.model.total_mass
        c, dt = self._stance.com, self._schedule.timing.cycle / STEPS
        M = CompositeBody(self.model).mass_matrix(self._config.nominal_in(self.model))
        inverse = np.linalg.inv(R @ (M[3:6, 3:6] - mass * (c @ c * np.eye(3) - np.outer(c, c)))
                                @ R.T)
        center, place = state.position + R @ c, target.position + target.rotation @ c
        a, b, _ = self._floor.plane
        travel = np.array([*speed, a * speed[0] + b * speed[1], 0.0, 0.0, self.velocity[2]])
        now = np.concatenate([R @ (state.twist[:3] + np.cross(state.twist[3:], c)),
                              R @ state.twist[3:]]) - travel
        off = np.concatenate([center - place, rotation_vector(R @ target.rotation.T)])
        down, feet = self._contacts(state, place, speed, dt)
        members = np.argwhere(down)
        forces = np.zeros((STEPS, 6, 3 * len(members)))
        for j, (k, i) in enumerate(members):
            arm = feet[k, i] - (place + travel[:3] * (k + 0.5) * dt if k else center)
            forces[k, :3, 3 * j:3 * j + 3] = GRAVITY * np.eye(3)
            forces[k, 3:, 3 * j:3 * j + 3] = mass * GRAVITY * inverse @ skew(arm)
        # Places and velocities after each step by the accelerations of it and those before.
        age = np.subtract.outer(np.arange(1, STEPS + 1), np.arange(STEPS))
        after = (dt * dt * (age - 0.5) * (age > 0), dt * (age > 0))
        ends = np.arange(1, STEPS + 1)[:, None] * dt
        falls = np.array([0.0, 0.0, -GRAVITY, 0.0, 0.0, 0.0])
        H, g = np.eye(3 * len(members)) / FORCE ** 2, np.zeros(3 * len(members))
        for by, free, usual in (
                (after[0], off + ends * now, PLACE * ([height] * 3 + [1.0] * 3)),
                (after[1], np.tile(now, (STEPS, 1)), SPEED * omega * ([height] * 3 + [1.0] * 3))):
            way = (np.einsum('kj,jan->kan', by, forces) / usual[:, None]).reshape(6 * STEPS, -1)
            H += way.T @ way
            g += way.T @ ((free + by.sum(axis=1)[:, None] * falls) / usual).ravel()
        rows = np.kron(np.eye(len(members)), [[1.0, 0.0, -FRICTION], [-1.0, 0.0, -FRICTION],
                                              [0.0, 1.0, -FRICTION], [0.0, -1.0, -FRICTION],
                                              [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
        solver = import_module('piqp').DenseSolver()
        solver.setup(H, g, None, None, rows, np.full(len(rows), -1e9),
                     np.tile([0.0, 0.0, 0.0, 0.0, MOST, 0.0], len(members)))
        solver.solve()
        return forces[0] @ solver.result.x + falls


def _run(name: str, case: str) -> Run:
    if case.startswith('unseen'):
        step = {'hyq': 0.08, 'solo_class': 0.02}.get(name, 0.04)
        return walk(Laboratory(name, scenery=bumps(step)), 'trot', lambda t: (0.3, 0.0, 0.0), 7.0,
                    start=0.5, stop=0.5)
    if case.startswith('trot'):
        return walk(Laboratory(name), 'trot', lambda t: (0.9, 0.0, 0.0), 5.0, start=0.5, stop=0.5)
    part, side = float(case.split()[0]), np.array(SIDES[case.split()[-1]])
    if 'trotting' in case:
        return walk(Laboratory(name), 'trot', lambda t: (0.2, 0.0, 0.0), 5.0,
                    [Push(2.5, 0.2, 0.01 * part * side)], start=0.5)
    return walk(Laboratory(name), 'stand', lambda t: (0.0, 0.0, 0.0), 5.0,
                [Push(1.0, 0.3, 0.01 * part * side)])


CASES = ('60 % for 0.3 s, ahead', '60 % for 0.3 s, left', '60 % for 0.3 s, right',
         '75 % for 0.3 s, right', '40 % for 0.2 s, trotting, left', 'trot at 0.9 m/s',
         'unseen steps')


def _text(found: Run, case: str) -> str:
    if found.cause:
        return found.cause
    here = found.time > (2.5 if 'trotting' in case else 1.0)
    tilt = np.degrees(np.hypot(*found.rpy[here, :2].T).max())
    text = f'{tilt:.1f} deg, effort {np.percentile(found.effort[here], 99):.2f}'
    if '%' not in case:
        return f'{text}, speed {off_command(found).speed:.1f} % off'
    away = np.linalg.norm(found.position[here] - found.position[here][0], axis=1)
    return text if 'trotting' in case else f'{text}, {1e3 * away.max():.0f} mm'


def main(arguments: list[str] | None = None) -> int:
    """Print the rows; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('robots', nargs='*', default=['go2', 'solo_class', 'anymal_class'])
    parser.add_argument('--cases', action='append', metavar='WORD', default=[],
                        help=f'those with this word of: {"; ".join(CASES)}')
    options = parser.parse_args(arguments)
    if find_spec('piqp') is None:
        parser.error('expected piqp, which is not installed: pip install piqp')
    tally = Tally()
    print('| robot | case | as it is | with a horizon | program, mean [ms] |\n'
          '|---|---|---|---|---:|')
    for name in options.robots:
        for case in CASES:
            if options.cases and not any(word in case for word in options.cases):
                continue
            made: list[Horizon] = []

            def make(*given: Any, made: list = made) -> Horizon:
                made.append(Horizon(*given))
                return made[-1]
            try:
                usual = tally.count(_run(name, case), f'{name}, {case}')
                with mock.patch.object(walking_robots, 'make_walker', make):
                    led = tally.count(_run(name, case), f'{name}, {case}, with a horizon')
            except MissingRobot as error:
                tally.missing[name] = str(error)
                break
            times = made[0].times
            print(f'| {name} | {case} | {_text(usual, case)} | {_text(led, case)} | '
                  f'{f"{1e3 * np.mean(times):.1f}" if times else "-"} |', flush=True)
    print(f'\n{tally.summary()}')
    return 1 if tally.causes else 0 if tally.runs else 2


if __name__ == '__main__':
    sys.exit(main())
