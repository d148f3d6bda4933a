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

import math

import numpy as np

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.model.parts import V_START
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.standing import UP, body_frames

# Speed of a standing foot, one deviation, as a multiple of sqrt(g l), l the height of the base: it
# rolls, and rubber, transmissions and links give way at frequencies that the rail does not follow.
LOOSE = 0.15
# A foot less likely in contact than this measures nothing.
LEAST_CONTACT = 0.05


class Stand:
    """Tracks the rails of a fixed base."""

    def __init__(self, model: RobotModel, config: RobotConfig):
        self._model = model
        self._rails = [model.joint_index(name) for name in config.rails(model)
                       if name in config.absent]
        self._feet = [(foot, model.frame(foot.link), model.chain(model.frame(foot.link).body))
                      for foot in config.feet]
        heights = [abs(float(pose.p[2])) for pose in frame_poses(
            model, config.nominal_in(model), tuple(foot.link for foot in config.feet)).values()]
        self._loose = LOOSE * float(np.sqrt(GRAVITY * max(heights)))
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
            if p < LEAST_CONTACT:
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
            error = np.eye(len(rails)) * (self._loose ** 2 + variance) / p ** 2
            gain = self._covariance @ np.linalg.inv(self._covariance + error)
            correction = -gain @ (axes @ motion + self._speed)
            self._speed = self._speed + correction
            self._covariance = self._covariance - gain @ self._covariance
            # Of a foot that keeps standing, corrections follow the acceleration.
            standing = 0.5 * step ** 2 + step * np.sqrt(0.25 * step ** 2 + error[0, 0])
            before[:, rails] += (1.0 - np.minimum(standing / predicted, 1.0)) * correction
        self._place = self._place + dt * self._speed
        position[rails], velocity[rails] = self._place, self._speed


# -------------------------------------------------------------------------------------------------
# Joints that are measured on the motor's side of an elastic transmission, such as a belt.
#
# Above some frequency the rotor swings against the transmission, and the link hardly follows. The
# link's velocity is then the measured one through a low-pass of first order; the torque that the
# rotor and its friction take of the motor's at the measured velocity is subtracted from the
# effort.
# Below that frequency nothing changes: rotor, friction and link move as one. How far the link
# follows above it is not known: of the difference between the two accelerations it may have any
# share, with equal probability, which makes an error of the torque on the link's inertia.


# The rotor's acceleration is a difference of noisy velocities; it is taken below this frequency.
ROTOR_CUTOFF = 100.0        # Hz
# Variance of the share of an acceleration that a link follows: mean square of 0 to 1.
FOLLOWS = 1.0 / 3.0


class Transmission:
    """
    Tracks the links behind elastic transmissions of some joints.

    ``cutoff`` [Hz]: up to which a link follows its motor; ``position``: standing pose for
    the inertias; `variance` (n,) [(N m)^2]: joint torque variance by unknown link
    accelerations.
    """

    def __init__(self, model: RobotModel, cutoff: float, joints: list[int], position: np.ndarray):
        self.joints, self._cutoff = joints, cutoff
        inertia = np.diag(mass_matrix(model, position))[-model.n_joints:][joints]
        self._physics = np.array([[model.joints[j].armature, model.joints[j].damping,
                                   model.joints[j].friction] for j in joints]).reshape(-1, 3).T
        self._inertia = inertia - self._physics[0]
        self.reset()

    def reset(self) -> None:
        """Forget all motion."""
        self._link: np.ndarray | None = None
        self._rotor = np.zeros(0)
        self.variance = np.zeros(len(self.joints))

    def advance(self, velocity: np.ndarray, effort: np.ndarray, dt: float) -> None:
        """Replace motor velocities and efforts by those of the links, in place."""
        measured = velocity[self.joints]
        if not np.isfinite(measured).all():
            return
        if self._link is None or dt <= 0.0:
            self._link, self._rotor = measured, measured
            return
        link, rotor = (old + _share(cutoff, dt) * (measured - old) for old, cutoff in
                       ((self._link, self._cutoff), (self._rotor, ROTOR_CUTOFF)))
        armature, damping, friction = self._physics
        acceleration = (rotor - self._rotor - link + self._link) / dt
        error = FOLLOWS * (self._inertia * acceleration) ** 2
        self.variance = self.variance + _share(self._cutoff, dt) * (error - self.variance)
        slipping = np.tanh(measured / FRICTION_SPEED) - np.tanh(link / FRICTION_SPEED)
        effort[self.joints] -= (armature * acceleration + damping * (measured - link)
                                 + friction * slipping)
        velocity[self.joints] = link
        self._link, self._rotor = link, rotor


def _share(cutoff: float, dt: float) -> float:
    """Return the share of a change that a low-pass follows in a time step."""
    return 1.0 - math.exp(-2.0 * math.pi * cutoff * dt)
