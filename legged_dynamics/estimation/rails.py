# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The motion of rails that carry a robot on a test stand and have no encoder.

A rail's velocity is the state of a small Kalman filter. A foot that stands is at rest, more or
less, which measures it through the leg; otherwise the rail is predicted to fall, with an unknown
acceleration of the size of gravity, since rails rub and robots are held by hand. The inverse
dynamics of the legs needs its acceleration, which moves their links; where the rail is does not
matter. A robot that is held in the air does not fall: the longer no foot stands, the less is known
of the speed. What a foot then corrects is this error of seconds, and no acceleration.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.model.parts import V_START
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import UP, body_frames


@dataclass(frozen=True)
class RailSettings:
    """Tuned numbers, chosen on recorded test stands."""

    # Speed of a standing foot, one deviation, in sqrt(g l), l the height of the base: it rolls,
    # and rubber, transmissions and links give way at frequencies that the rail does not follow.
    foot_speed: float = 0.15
    # Probability of contact below which a foot measures nothing.
    least_contact: float = 0.05


class Rails:
    """Tracks the rails of a fixed base."""

    def __init__(self, model: RobotModel, config: RobotConfig,
                 settings: RailSettings | None = None):
        self._model, self._settings = model, settings or RailSettings()
        self._rails = [model.joint_index(name) for name in config.rails(model)
                       if name in config.absent]
        self._feet = [(foot, model.frame(foot.link), model.chain(model.frame(foot.link).body))
                      for foot in config.feet]
        heights = [abs(float(pose.p[2])) for pose in frame_poses(
            model, config.nominal_in(model), tuple(foot.link for foot in config.feet)).values()]
        self._foot_speed = self._settings.foot_speed * float(np.sqrt(GRAVITY * max(heights)))
        self._noise = config.noise.of_joints('velocity', model, config.joints)
        self.reset()

    def reset(self) -> None:
        """Forget all motion."""
        n = len(self._rails)
        self._speed, self._covariance = np.zeros(n), np.eye(n)
        self._place = np.zeros(n)

    def advance(self, position: np.ndarray, velocity: np.ndarray, before: np.ndarray,
                contact: np.ndarray, dt: float) -> None:
        """
        Fill in position and velocity of the rails at a sample.

        ``before`` are the velocities (n, nv) of samples before it: those of rails are moved by
        what is now known better of them. ``contact`` are probabilities; dt [s] is 0 at first.
        """
        rails = self._rails
        if not rails or not np.isfinite(position).all():
            return
        position[rails], velocity[rails] = self._place, 0.0
        R, origin = body_frames(self._model, position)
        axes = R[[rail + 1 for rail in rails], :, 2]            # (rails, 3) in world axes
        # What stands does not fall: its mean acceleration is none.
        falling = 1.0 - float(np.max(contact, initial=0.0))
        self._speed = self._speed - falling * GRAVITY * dt * axes[:, 2]
        step = GRAVITY * dt
        held = 2.0 * falling * step * np.sqrt(np.diag(self._covariance))
        self._covariance = self._covariance + np.diag(step ** 2 + held)
        predicted = np.diag(self._covariance)
        for (foot, (body, pose), chain), p in zip(self._feet, contact):
            if p < self._settings.least_contact:
                continue
            point = R[body] @ pose.p + origin[body] + foot.touching(
                R[body] @ pose.R, UP, foot.center)
            motion, variance = np.zeros(3), 0.0
            for b in chain:
                joint, axis = int(self._model.tree.topology[b, V_START]), R[b][:, 2]
                if joint in rails:
                    continue
                lever = (axis if self._model.joints[b - 1].kind == 'prismatic'
                         else np.cross(axis, point - origin[b]))
                motion += lever * velocity[joint]
                variance += float(lever @ lever) * self._noise[joint] ** 2
            # The foot rests: what the rails do to it undoes what the leg does.
            error = np.eye(len(rails)) * (self._foot_speed ** 2 + variance) / p ** 2
            gain = self._covariance @ np.linalg.inv(self._covariance + error)
            correction = -gain @ (axes @ motion + self._speed)
            self._speed = self._speed + correction
            self._covariance = self._covariance - gain @ self._covariance
            # Of a foot that keeps standing, corrections follow the acceleration.
            standing = 0.5 * step ** 2 + step * np.sqrt(0.25 * step ** 2 + error[0, 0])
            before[:, rails] += (1.0 - np.minimum(standing / predicted, 1.0)) * correction
        self._place = self._place + dt * self._speed
        position[rails], velocity[rails] = self._place, self._speed
