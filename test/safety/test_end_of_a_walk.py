# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the watchdog alone does with a robot that walks, when its controller is gone."""
import copy
import math
from collections import deque

import mujoco
import numpy as np
import pytest

from benchmarks.walking_robots import STEP, Laboratory, walk
from benchmarks.zoo.robots import MissingRobot, robot
from legged_dynamics.safety import EffortWatchdog, WatchdogState
from legged_dynamics.simulation.plant import GROUND, ROBOT, add_floor
from legged_dynamics.workspace.walking.gaits import GAITS

pytestmark = pytest.mark.slow

PHASES = 8
SOFT, TILT = 1.0, 25.0      # m/s down; deg, of a robot that lies on its trunk and some knees
MS = 1_000_000
# Half sizes of a trunk [m], and the radius of a knee, to lie on.
SHAPES = {'anymal_class': ((0.46, 0.12, 0.1), 0.045), 'solo_class': ((0.2, 0.05, 0.0275), 0.02),
          'go2': ((0.19, 0.047, 0.057), 0.03)}
OWNER = 'walker@1'


class Recorded(Laboratory):
    """A robot that walks with a watchdog between its controller and its motors."""

    def __init__(self, name, slope=(0.0, 0.0)):
        zoo = robot(name)
        base = zoo.config.base_link or zoo.model.base_link

        def scenery(spec):
            add_floor(spec)
            size, radius = SHAPES[name]
            touch = {'contype': ROBOT, 'conaffinity': GROUND, 'mass': 0.0,
                     'friction': [0.8, 0.005, 1e-4]}
            spec.body(base).add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=list(size), **touch)
            for body in spec.bodies:
                if body.name.lower().endswith(('shank', 'calf')):
                    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0.0, 0.0],
                                  **touch)
        super().__init__(zoo, scenery=scenery, slope=slope)
        self.dog, self.kept, self.due = EffortWatchdog(self.known, self.joints), [], []

    def step(self, effort):
        """Have efforts pass through the watchdog, and keep the state where that is wanted."""
        if effort is not None:
            self.hear()
            assert self.dog.command(self.now, effort, OWNER, round(self.time / 0.002))
            effort = self.dog.output(self.now)
        super().step(effort)
        if self.due and self.time >= self.due[0]:
            self.due.pop(0)
            self.kept.append((copy.copy(self.data), copy.deepcopy(self.dog), list(self._queue),
                              self._steps, self.effort.copy()))

    @property
    def now(self):
        return round(self.time * 1e9) + 10**9

    def hear(self):
        data = self.data
        self.dog.joints(self.now, self.now, data.qpos[self._qpos], data.qvel[self._dofs],
                        data.actuator_force)

    def walk(self, gait, velocity):
        """Walk for some cycles; keep states over the last of them."""
        cycle = GAITS[gait].cycle * math.sqrt(self.height / 9.81)
        self.due = [4.0 + k * cycle / PHASES for k in range(PHASES)]
        found = walk(self, gait, lambda t: velocity, 4.2 + cycle, stop=0.0)
        assert not found.cause and not self.due

    def end(self, kept, without=lambda dog, now: None, seconds=3.0):
        """Go on without a controller; return the fastest fall [m/s] and the most tilt [deg]."""
        data, dog, queue, self._steps, self.effort = kept
        self.data, self.dog, self._queue = copy.copy(data), copy.deepcopy(dog), deque(queue)
        self.time, height, fastest, least = self._steps * STEP, data.xpos[self._body][2], 0.0, 1.0
        without(self.dog, self.now)
        end = self.time + seconds
        while self.time < end:
            self.hear()
            super().step(self.dog.output(self.now) if self.dog.overdue(self.now) else None)
            z = self.data.xpos[self._body][2]
            fastest, height = max(fastest, (height - z) / 0.002), z
            least = min(least, self.data.xmat[self._body][8])
        return fastest, math.degrees(math.acos(least))


@pytest.fixture(scope='module', params=SHAPES)
def trotting(request):
    try:
        made = Recorded(request.param)
    except MissingRobot as missing:
        pytest.skip(str(missing))
    made.walk('trot', (0.4, 0.0, 0.0))
    return made


def leaves(dog, now):
    assert not dog.command(now, np.zeros(len(dog.names)), f'{OWNER} bye', 10**6)
    assert dog.state is WatchdogState.SITTING


@pytest.mark.parametrize('phase', range(PHASES))
@pytest.mark.parametrize('way', [lambda dog, now: None, leaves], ids=['killed', 'leaves'])
def test_a_trot_whose_controller_is_gone_ends_softly_and_upright(trotting, phase, way):
    fastest, tilt = trotting.end(trotting.kept[phase], way)
    assert fastest < SOFT and tilt < TILT
    assert trotting.dog.state in (WatchdogState.DAMPING, WatchdogState.SITTING)


@pytest.mark.parametrize(('gait', 'velocity', 'slope'), [
    ('trot', (0.3, 0.0, 0.6), (0.0, 0.0)), ('trot', (0.3, 0.0, 0.0), (0.0, 0.17)),
    ('trot', (0.3, 0.0, 0.0), (0.17, 0.0)), ('crawl', (0.1, 0.0, 0.0), (0.0, 0.0))])
def test_so_do_other_walks(gait, velocity, slope):
    made = Recorded('anymal_class', slope)
    made.walk(gait, velocity)
    found = np.array([made.end(kept) for kept in made.kept])
    assert (found < (SOFT, TILT)).all()


def test_within_the_hold_the_robot_is_near_enough_to_its_gait(trotting):
    """What is held is on the way to a stand: a controller that comes back can walk on."""
    fastest, tilt = trotting.end(trotting.kept[0], seconds=0.09)
    assert trotting.dog.state is WatchdogState.HOLDING and fastest < 0.5 and tilt < 10.0
