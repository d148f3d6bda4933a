# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the watchdog alone does with a robot that walks, when its controller is gone."""
import numpy as np
import pytest

from benchmarks.faults_joint import FAULTS, PHASES, SOFT, UPRIGHT, Guarded, Recorded
from benchmarks.zoo.robots import MissingRobot
from legged_dynamics.safety import EffortWatchdog, WatchdogState

pytestmark = pytest.mark.slow

OWNER = 'walker@1'
ROBOTS = ('anymal_class', 'solo_class', 'go2')


class Watched(Recorded):
    """A robot that walks with a watchdog between its controller and its motors."""

    def __init__(self, name, slope=(0.0, 0.0)):
        super().__init__(name, slope)
        self.dog = EffortWatchdog(self.known, self.joints)

    def step(self, effort):
        """Have efforts pass through the watchdog, and keep the state where that is wanted."""
        if effort is not None:
            self.keep(self.dog)
            self.hear()
            assert self.dog.command(self.now, effort, OWNER, round(self.time / 0.002))
            effort = self.dog.output(self.now)
        super().step(effort)

    def hear(self):
        data = self.data
        self.dog.joints(self.now, self.now, data.qpos[self._qpos], data.qvel[self._dofs],
                        data.actuator_force)

    def end(self, kept, without=lambda dog, now: None, seconds=3.0):
        """Go on without a controller; return the fastest fall [m/s] and the most tilt [deg]."""
        self.dog = self.back(kept)
        without(self.dog, self.now)

        def answer():
            self.hear()
            return self.dog.output(self.now) if self.dog.overdue(self.now) else None
        return self.down(seconds, answer)


@pytest.fixture(scope='module', params=ROBOTS)
def trotting(request):
    try:
        made = Watched(request.param)
    except MissingRobot as missing:
        pytest.skip(str(missing))
    made.record('trot', (0.4, 0.0, 0.0))
    return made


def leaves(dog, now):
    assert not dog.command(now, np.zeros(len(dog.names)), f'{OWNER} bye', 10**6)
    assert dog.state is WatchdogState.SITTING


@pytest.mark.parametrize('phase', range(PHASES))
@pytest.mark.parametrize('way', [lambda dog, now: None, leaves], ids=['killed', 'leaves'])
def test_a_trot_whose_controller_is_gone_ends_softly_and_upright(trotting, phase, way):
    fastest, tilt = trotting.end(trotting.kept[phase], way)
    assert fastest < SOFT and tilt < UPRIGHT
    assert trotting.dog.state in (WatchdogState.DAMPING, WatchdogState.SITTING)


@pytest.mark.parametrize(('gait', 'velocity', 'slope'), [
    ('trot', (0.3, 0.0, 0.6), (0.0, 0.0)), ('trot', (0.3, 0.0, 0.0), (0.0, 0.17)),
    ('trot', (0.3, 0.0, 0.0), (0.17, 0.0)), ('crawl', (0.1, 0.0, 0.0), (0.0, 0.0))])
def test_so_do_other_walks(gait, velocity, slope):
    made = Watched('anymal_class', slope)
    made.record(gait, velocity)
    found = np.array([made.end(kept) for kept in made.kept])
    assert (found < (SOFT, UPRIGHT)).all()


def test_within_the_hold_the_robot_is_near_enough_to_its_gait(trotting):
    """What is held is on the way to a stand: a controller that comes back can walk on."""
    fastest, tilt = trotting.end(trotting.kept[0], seconds=0.09)
    assert trotting.dog.state is WatchdogState.HOLDING and fastest < 0.5 and tilt < 10.0


@pytest.mark.parametrize('fault', FAULTS)
@pytest.mark.parametrize(('name', 'joint'), [('go2', 2), ('go2', 0), ('anymal_class', 2)])
def test_one_bad_joint_ends_a_trot_softly_and_upright(name, joint, fault):
    """Also one of which nothing is known: its foot stands where the others do."""
    try:
        made = Guarded(name)
    except MissingRobot as missing:
        pytest.skip(str(missing))
    made.record('trot', (0.4, 0.0, 0.0), after=0.1)
    j = made.joints.index(made.config.joints[joint])
    found = np.array([made.spoilt(kept, j, FAULTS[fault]) for kept in made.kept])
    assert (found < (SOFT, UPRIGHT)).all(), found
