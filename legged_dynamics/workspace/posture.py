# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Postures: standing up, sitting down and letting go, as shares of the efforts of body control.

Standing up, the feet are loaded over a while where the robot lies, and then the body rises.
Sitting down, it sinks until its legs end or it lies on something that keeps it from sinking on;
then the efforts fade, and what is left is damping.
"""
from __future__ import annotations

from enum import Enum

import numpy as np

from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.estimation.body_state import BodyState
from legged_dynamics.estimation.noise import nominal_position
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.feet import FlatFoot
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.workspace.reference import BodyPose

# Durations [s]: efforts fade, feet are loaded.
FADE, LOAD = 1.5, 0.8
# A body this far above where it should sink to lies on something [m].
LYING = 0.006
# Damping of a joint without command: this part of its effort limit at 1 rad/s.
DAMPING = 0.1


class Phase(Enum):
    """What the body does."""

    HOLD = 'holds'
    SINK = 'sinks'
    FADE = 'lets go'
    REST = 'rests'
    LOAD = 'loads its feet'
    RISE = 'rises'


class Posture:
    """
    Which part of the efforts goes out, and when the next phase begins.

    Parameters
    ----------
    model : RobotModel
    config : RobotConfig
        Its nominal position is the pose to stand up to.

    Attributes
    ----------
    phase : Phase
    damped : bool
        Whether joints at rest are damped.

    """

    def __init__(self, model: RobotModel, config: RobotConfig):
        limits = np.where(np.isfinite(model.effort_limits), model.effort_limits, 0.0)
        self._damping = DAMPING * limits
        self._limits = 0.5 * limits
        self._known = bool(config.nominal_position)
        poses = frame_poses(model, nominal_position(model, config))
        feet = []
        for foot in config.feet:
            pose = poses[foot.link]
            reference = (pose.R @ foot.center if isinstance(foot, FlatFoot)
                         else np.array([0.0, 0.0, -foot.radius]))
            feet.append(pose.p + reference)
        flat = [poses[foot.link].R for foot in config.feet if isinstance(foot, FlatFoot)]
        # A sole lies flat where the robot stands as it should.
        self._level = flat[0].T if flat else np.eye(3)
        self._feet = np.mean(feet, axis=0) @ self._level.T
        self.reset()

    def reset(self) -> None:
        """Hold the body from now on."""
        self.phase, self._since, self.damped = Phase.HOLD, 0, True

    @property
    def active(self) -> bool:
        """Whether it does anything but hold."""
        return self.phase is not Phase.HOLD

    @property
    def loose(self) -> bool:
        """Whether the body is not held all the way, and so cannot be lost."""
        return self.phase in (Phase.FADE, Phase.REST, Phase.LOAD)

    def begin(self, phase: Phase, stamp_ns: int) -> None:
        """Begin a phase at a stamp [ns]."""
        self.phase, self._since = phase, stamp_ns

    def standing(self, state: BodyState) -> BodyPose:
        """
        Return the pose of standing over the present feet, level, with the present heading.

        Raises
        ------
        ConfigurationError
            When the robot's nominal position is not known.

        """
        if not self._known:
            raise ConfigurationError('expected robot.nominal_position, the joints of the standing '
                                     'robot, to know how high it stands; got none')
        yaw = float(np.arctan2(state.rotation[1, 0], state.rotation[0, 0]))
        heading = rotation_from_rpy(np.array([0.0, 0.0, yaw]))
        return BodyPose(state.foot_position.mean(axis=0) - heading @ self._feet,
                        heading @ self._level)

    @staticmethod
    def below(state: BodyState) -> BodyPose:
        """Return the present pose put down to the feet: lower than legs go."""
        down = state.position[2] - state.foot_position[:, 2].mean()
        return BodyPose(state.position - np.array([0.0, 0.0, down]), state.rotation)

    def step(self, stamp_ns: int, error: np.ndarray, rotation: np.ndarray, arrived: bool) -> Phase:
        """
        Go on to the next phase when this one is over; return it.

        Parameters
        ----------
        stamp_ns : int [ns]
            Now.
        error : (6,) array [m, rad]
            Pose less target, in base axes.
        rotation : (3, 3) array
            ``R_WB``.
        arrived : bool
            Whether the reference is where it was sent.

        """
        age = (stamp_ns - self._since) * 1e-9
        if self.phase is Phase.SINK and (arrived or rotation[2] @ error[:3] > LYING):
            self.begin(Phase.FADE, stamp_ns)
        elif self.phase is Phase.FADE and age >= FADE:
            self.begin(Phase.REST, stamp_ns)
        elif self.phase is Phase.LOAD and age >= LOAD:
            self.begin(Phase.RISE, stamp_ns)
        elif self.phase is Phase.RISE and arrived and age > 0.0:
            self.begin(Phase.HOLD, stamp_ns)
        return self.phase

    def shape(self, stamp_ns: int, effort: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return what goes out of (nj,) efforts at joint velocities [rad/s or m/s]."""
        if not self.loose:
            return effort
        age = (stamp_ns - self._since) * 1e-9
        share = {Phase.FADE: 1.0 - age / FADE, Phase.LOAD: age / LOAD}.get(self.phase, 0.0)
        share = min(max(share, 0.0), 1.0)
        brake = np.clip(-self._damping * velocity, -self._limits, self._limits)
        return share * effort + (1.0 - share) * (brake if self.damped else 0.0)
