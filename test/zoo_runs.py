# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Short runs of the zoo's generated robots with four, six and two feet, and made-up recordings."""
import warnings
from dataclasses import replace
from functools import lru_cache

import numpy as np

from benchmarks.zoo.recording import Recording
from benchmarks.zoo.robots import robot
from benchmarks.zoo.scenarios import Scenario
from benchmarks.zoo.simulate import SETTLING, simulate
from benchmarks.zoo.simulate import _Run as Run

SHORT = {
    'four': Scenario('four', 'quadruped', 'trot', seconds=2.2, speed=0.6, landing=0.6, calm=0.6),
    'six': Scenario('six', 'hexapod', 'tripod', seconds=2.2, speed=0.6, lift=0.25, slope=8.0,
                    calm=0.6),
    'two': Scenario('two', 'biped', 'step', seconds=3.6, lift=0.05, landing=0.3, speed=0.1,
                    calm=0.6),
    'pushed': Scenario('pushed', 'quadruped', 'stand', seconds=3.0, push=0.2, payload=0.1,
                       calm=0.6)}


@lru_cache
def short_run(name):
    """Return a short recording in MuJoCo; each is simulated once in a test run."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return simulate(SHORT[name])


@lru_cache
def made_up(rate=500.0, seconds=8.0):
    """
    Return a recording of two feet that take turns, whose forces are known in closed form.

    Feet are down for 0.6 s and up for 0.4 s, in the base's axes the world's; joints rest.
    """
    zoo = robot('quadruped')
    model = zoo.model
    n, weight = round(seconds * rate), model.total_mass * 9.81
    time = np.arange(n) / rate
    phase = np.stack([time % 1.0, (time + 0.5) % 1.0], axis=1)
    down = phase < 0.6
    load = np.where(down, 0.2 + 0.8 * np.sin(np.pi * phase / 0.6).clip(0.0) ** 2, 0.0) * weight
    force = np.stack([0.1 * load, -0.05 * load, load], axis=2)
    wrench = np.concatenate([force, np.zeros_like(force)], axis=2)
    nj = model.n_joints
    still, axes = np.zeros((n, nj)), np.tile(np.eye(3), (n, 1, 1))
    three, up = np.zeros((n, 3)), np.tile([0.0, 0.0, 9.81], (n, 1))
    external = np.zeros((n, 6))
    external[(time > 3.0) & (time < 4.0), 1] = 0.2 * weight
    return Recording(
        name='made up', robot='quadruped', rate=rate, urdf=zoo.urdf, parameters=zoo.parameters,
        joints=model.joint_names, feet=tuple(
            foot.link for foot in zoo.config.feet[:2]), weight=weight,
        scored=(0.5, seconds - 0.5), stamp_ns=np.round(time * 1e9).astype(np.int64), q=still,
        v=still, qdd=still, tau=still, gyro=three, accelerometer=up, slow_accelerometer=up,
        imu_rotation=axes, base_position=three, base_rotation=axes,
        base_twist=np.zeros((n, 6)), base_acceleration=np.zeros((n, 6)), wrench=wrench,
        contact_point=np.zeros((n, 2, 3)), ground_normal=np.tile([0.0, 0.0, 1.0], (n, 2, 1)),
        normal_force=load, foot_position=np.zeros((n, 2, 3)),
        foot_rotation=np.tile(np.eye(3), (n, 2, 1, 1)), external_wrench=external)


def with_force(recording, force):
    """Return the recording with other true forces, world axes."""
    wrench = recording.wrench.copy()
    wrench[:, :, :3] = force
    return replace(recording, wrench=wrench)


class _PushedAt(Run):
    """Pushes of 0.3 of the weight, to the left and ahead, at a point of any link."""

    def __init__(self, scenario, link, point):
        self.link, self.point = link, np.array(point)
        super().__init__(scenario, 500.0)

    def _push(self, time):
        data, body = self.data, self.model.body(self.link).id
        self.external, data.xfrc_applied[body] = np.zeros(6), 0.0
        t = time - SETTLING - self.scenario.calm
        if not 0.0 <= t < 1.6:
            return
        inside = min(t % 1.0 / 0.05, 1.0, max(0.6 - t % 1.0, 0.0) / 0.05)
        size = self.scenario.push * self.estimator_model.total_mass * 9.81 * inside
        force = size * np.array([0.0, 1.0, 0.0] if t < 1.0 else [0.8, 0.0, -0.6])
        at = data.xpos[body] + data.xmat[body].reshape(3, 3) @ self.point
        data.xfrc_applied[body] = [*force, *np.cross(at - data.xipos[body], force)]
        self.external[:] = *force, *np.cross(at - data.xpos[self.body.base], force)


@lru_cache
def pushed_at(link, point):
    """Return a recording of the standing quadruped, pushed at a point of a link."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return _PushedAt(Scenario('pushed', 'quadruped', 'stand', seconds=2.6, push=0.3,
                                  calm=0.6), link, point).run()
