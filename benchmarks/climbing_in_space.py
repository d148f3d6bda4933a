# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The climber on MuJoCo with a body free in space, for ``python -m benchmarks.climbing space``.

The wall's plant of the package keeps the body in the wall's plane. Here it may also leave the wall
and tip; feet that are off, and the trunk, touch the wall without friction.
"""
from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from legged_dynamics.reproductions.climbing import twin
from legged_dynamics.resources import robot_files
from legged_dynamics.simulation import climbing_plant, climbing_robot
from legged_dynamics.stickybot import StickybotSettings, climb

# Time constant [s] of what touches: soft enough that bodies do not bounce, far below a handover.
TOUCHING = 0.002
SOFT = [0.95, 0.99, 1e-4, 0.5, 2.0]
# Of the body's inertia about the wall's normal, that of a box of 0.06 x 0.20 x 0.02 m about x, y.
SHARES = (0.93, 0.1)
STANDING = 1.5      # s until the gait is periodic


def in_space(plant: climbing_plant.ClimbingPlant) -> mujoco.MjSpec:
    """Return the robot on its wall with its body free; feet and trunk touch the wall."""
    spec = climbing_plant.build_wall_world(plant)
    spec.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    wall = spec.body('wall')
    base = wall.first_body()
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    for name, kind, axis in (('off', slide, [0, 0, 1]), ('tip', hinge, [1, 0, 0]),
                             ('roll', hinge, [0, 1, 0])):
        base.add_joint(name=name, type=kind, axis=axis)
    yaw = base.inertia[2]
    base.inertia = [SHARES[0] * yaw, SHARES[1] * yaw, yaw]
    for geom in spec.geoms:
        foot = geom.type == mujoco.mjtGeom.mjGEOM_SPHERE
        geom.contype, geom.conaffinity, geom.condim = 0, int(foot), 1
        geom.solref, geom.solimp = [TOUCHING, 1.0], SOFT
        if foot:
            geom.pos = [geom.pos[0], geom.pos[1], geom.pos[2] + geom.size[0]]
    for geom in wall.geoms:
        geom.contype = 1
    for geom in base.geoms:
        geom.conaffinity = 1
    for grip in spec.equalities:
        grip.solref, grip.solimp = [TOUCHING, 1.0], SOFT
    return spec


class _SpaceFeet(climbing_robot._WallFeet):
    """Feet whose force along the normal is MuJoCo's; what statics say is kept beside it."""

    def __init__(self, robot: climbing_robot.ClimbingRobot):
        model = robot.model
        self._of_geom = {
            geom: i for i, foot in enumerate(robot.plant.feet) for geom in range(model.ngeom)
            if model.geom_bodyid[geom] == model.site_bodyid[model.site(foot).id]}
        self.touching = np.zeros(len(robot.plant.feet))
        self.statics = np.zeros(len(robot.plant.feet))
        super().__init__(robot)

    def reactions(self) -> np.ndarray:
        force, data, found = super().reactions(), self._data, np.zeros(6)
        self.statics, self.touching = force[:, 2].copy(), np.zeros(len(force))
        for k in range(data.ncon):
            contact = data.contact[k]
            mujoco.mj_contactForce(self._model, data, k, found)
            foot = self._of_geom.get(contact.geom1, self._of_geom.get(contact.geom2))
            if foot is not None:
                self.touching[foot] += found[0]
        held = np.zeros((self._model.neq, 3))
        held[data.efc_id[:data.ne:3]] = data.efc_force[:data.ne].reshape(-1, 3)
        force[:, 2] = (held[self._grips] @ self.R_WA)[:, 2] + self.touching
        return force


class _SpaceRobot(climbing_robot.ClimbingRobot):
    """The climber in that world, on those feet."""

    _world, _feet = staticmethod(in_space), _SpaceFeet


class SpaceTwin(twin.ClimbingTwin):
    """A twin with a free body that keeps each sample's pulls, by MuJoCo and by statics."""

    def __init__(self, settings: StickybotSettings):
        super().__init__(settings, _SpaceRobot)
        self.pulls: list[tuple[float, float]] = []

    def step(self, command: Any, duration: float) -> list:
        """Go on, and note the largest pull of a foot that holds."""
        events, feet = super().step(command, duration), self._robot.feet
        force, on = feet.reactions(), feet.attached
        if self.time > STANDING and on.any():
            worst = int(np.argmin(np.where(on, force[:, 2], np.inf)))
            self.pulls.append((-force[worst, 2], -feet.statics[worst]))
        return events


def table(seconds: float = 6.0) -> int:
    """Print a row a climb; return 1 where a foot of the reduced gaits let go."""
    print('| climb, body free in space | speed [cm/s] | feet that let go | pull of the foot that '
          'pulls most, median [N] | at 99 % [N] | by statics: error at 50, 95 % [N] |')
    print('| --- | ---: | ---: | ---: | ---: | ---: |')
    failed = 0
    for name, changes in (
            ('plain gait, no limits of pads', {'control.reduction': 'off'}),
            ('plain gait, directional pads', {'control.reduction': 'off',
                                              'adhesion.kind': 'directional'}),
            ('reduced, directional pads', {'adhesion.kind': 'directional'}),
            ('reduced by turning hips, directional pads', {
                'control.reduction': 'turning', 'adhesion.kind': 'directional'}),
            ('reduced, directional pads, 105°', {
                'adhesion.kind': 'directional', 'stickybot.inclination': np.radians(105.0)}),
            ('reduced, directional pads, wave gait, duty 0.8', {
                'adhesion.kind': 'directional', 'gait.pattern': 'wave', 'gait.duty': 0.8})):
        settings = StickybotSettings.from_yaml(robot_files('stickybot')[0]).changed(
            {'control.speed': 0.04, 'control.rate': 250.0, **changes})
        climber = SpaceTwin(settings)
        done = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                     seconds=seconds, climber=climber)
        pulls = np.array(climber.pulls)
        error = np.abs(pulls[:, 0] - pulls[:, 1])
        failed += int('reduced' in name and done.failures > 0)
        print(f'| {name} | {100 * done.speed:.2f} | {done.failures} | {np.median(pulls[:, 0]):.3f}'
              f' | {np.quantile(pulls[:, 0], 0.99):.3f} | {np.median(error):.3f}, '
              f'{np.quantile(error, 0.95):.3f} |', flush=True)
    return int(failed > 0)
