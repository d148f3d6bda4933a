# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots, recordings and the Pinocchio oracle that the simulation tests share."""
from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio

from legged_dynamics.simulation import Plant, Schedule, SimulatedRobot

ROBOTS = Path(__file__).parents[2] / 'config' / 'robots'
NAMES = ('anymal_class', 'solo_class')


def make_robot(name, schedule='stand 100', **options):
    return SimulatedRobot.from_files(ROBOTS / f'{name}.yaml',
                                     schedule=Schedule.from_text(schedule), **options)


@cache
def recording(name):
    """Noise-free samples and truth of standing, trotting forward and stopping again."""
    robot = make_robot(name, 'stand 1, trot_forward 3.5, stand 1.5', noise=False)
    samples, truths, fallen = [robot.read()], [robot.truth()], False
    while robot.time < 6.0:
        robot.step()
        samples.append(robot.read())
        truths.append(robot.truth())
        fallen = fallen or robot.fallen
    return SimpleNamespace(robot=robot, samples=samples, truths=truths, fallen=fallen)


class Oracle:
    """Pinocchio's model of the same URDF, in the simulator's joint order."""

    def __init__(self, plant: Plant):
        self.plant = plant
        self.model = pinocchio.buildModelFromXML(plant.urdf, pinocchio.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.dofs = [self.model.joints[self.model.getJointId(name)].idx_v
                     for name in plant.joints]
        self.mass = sum(inertia.mass for inertia in self.model.inertias)

    def state(self, truth):
        q, v, a = pinocchio.neutral(self.model), np.zeros(self.model.nv), np.zeros(self.model.nv)
        q[:7] = np.concatenate([truth.base_position, truth.base_orientation])
        q[np.array(self.dofs) + 1] = truth.position
        v[:6] = truth.base_velocity
        v[self.dofs] = truth.velocity
        a[:6] = truth.base_acceleration
        # Pinocchio's acceleration is spatial, MuJoCo's that of the moving origin.
        a[:3] -= np.cross(truth.base_velocity[3:], truth.base_velocity[:3])
        a[self.dofs] = truth.acceleration
        return q, v, a

    def placements(self, truth, names):
        pinocchio.framesForwardKinematics(self.model, self.data, self.state(truth)[0])
        return [self.data.oMf[self.model.getFrameId(name)] for name in names]
