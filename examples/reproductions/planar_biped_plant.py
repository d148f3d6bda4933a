# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The paper's biped on MuJoCo contact, seen as the planar controller sees it."""
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from legged_dynamics.estimation.leg_odometry import LegOdometry
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import SimulationError
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.reproductions.planar import Biped, PlanarState, biped_urdf
from legged_dynamics.resources import robot_files
from legged_dynamics.simulation.plant import Plant
from legged_dynamics.simulation.robot import SimulatedRobot

RATE = 1000.0           # Hz, of the sensors, and so of pushes, delays and controllers at most
COMMAND_TIMEOUT = 1.0   # s for which a command is obeyed
STANDING = 0.5          # s


def _planar_state(p_WB: np.ndarray, R_WB: np.ndarray, twist: np.ndarray, position: np.ndarray,
                  velocity: np.ndarray) -> PlanarState:
    """Return the paper's view of base and joints: its +x is backward, its +y to the right."""
    pitch = math.atan2(-R_WB[2, 0], R_WB[2, 2])
    return PlanarState([-p_WB[0], p_WB[2], -pitch], [-twist[0], twist[2], -twist[4]],
                       position, velocity)


class PlanarBiped:
    """
    A 3-D simulated robot whose motion is expressed in the paper's plane.

    Only its symmetry keeps it there. ``standing`` [s]: time under its own joint controller
    before the start; ``noisy``: state from leg odometry; ``changes``: ``floor_friction``,
    ``drop_height``, ``restitution``, ``timestep``.
    """

    def __init__(self, biped: Biped | None = None, *, standing: float = STANDING,
                 noisy: bool = False, seed: int = 0, **changes: Any):
        yaml, _ = robot_files('biped')
        plant = replace(Plant.from_files(yaml), urdf=biped_urdf(biped or Biped()), rate=RATE,
                        command_timeout=COMMAND_TIMEOUT, **changes)
        self.robot = SimulatedRobot(plant, noise=noisy, seed=seed)
        self._base = self.robot.model.body(plant.base_link).id
        self._soles = [self.robot.model.site(foot).id for foot in plant.feet]
        for _ in range(round(standing * RATE)):
            self.robot.step()
        self._odometry: LegOdometry | None = None
        if noisy:
            self._odometry = LegOdometry(RobotModel.from_urdf(plant.urdf),
                                         RobotConfig.from_yaml(yaml))
            self._sense(self._odometry)
            # Odometry's world begins at the feet, the paper's at the body.
            self._origin = self.robot.truth().base_position - self._body.position
            self._origin[2] = 0.0

    @property
    def state(self) -> PlanarState:
        """Body pose and twist and the joints, as the controller knows them."""
        if self._odometry is None:
            return self.true_state
        body, sample = self._body, self._sample
        return _planar_state(body.position + self._origin, body.rotation, body.twist,
                             sample.position, sample.velocity)

    @property
    def true_state(self) -> PlanarState:
        """Body pose and twist and the joints, as they are."""
        truth = self.robot.truth()
        R_WB = self.robot.data.xmat[self._base].reshape(3, 3)
        return _planar_state(truth.base_position, R_WB, truth.base_velocity, truth.position,
                             truth.velocity)

    @property
    def ground(self) -> np.ndarray:
        """
        Each foot on the ground, (2, 5) array.

        Where the sole is, forward and to the left [m]; the ground's force, along and normal [N];
        centre of pressure ahead of the ankle [m], NaN without load.
        """
        data, rows = self.robot.data, []
        for site, wrench in zip(self._soles, self.robot.truth().feet.wrench):
            R_WF = data.site_xmat[site].reshape(3, 3)
            force = R_WF @ wrench[:3]
            center = -wrench[4] / wrench[2] if wrench[2] > 0.0 else math.nan
            rows.append([*data.site_xpos[site][:2], math.hypot(*force[:2]), force[2], center])
        return np.array(rows)

    @property
    def fallen(self) -> bool:
        """Whether the robot has fallen."""
        return self.robot.fallen

    def advance(self, torque: np.ndarray, duration: float, push: np.ndarray | None = None
                ) -> None:
        """
        Simulate with constant joint torques (6,) and a push.

        ``duration``: whole milliseconds [s]; ``push`` (3,): force and moment on the body's CoM,
        in the paper's inertial axes.
        """
        robot, steps = self.robot, round(duration * RATE)
        if abs(steps - duration * RATE) > 1e-6:
            raise SimulationError(f'expected a whole number of {1e3 / RATE:g} ms, '
                                  f'got {1e3 * duration} ms')
        x, z, moment = np.zeros(3) if push is None else push
        robot.data.xfrc_applied[self._base] = [-x, 0.0, z, 0.0, -moment, 0.0]
        for _ in range(steps):
            robot.command_effort(torque)
            robot.step()
            if self._odometry is not None:
                self._sense(self._odometry)

    def _sense(self, odometry: LegOdometry) -> None:
        sample = self._sample = self.robot.read()
        self._body = odometry.update(Measurement(
            sample.stamp_ns, sample.position, sample.velocity, sample.effort,
            sample.angular_velocity, sample.linear_acceleration, sample.orientation))
