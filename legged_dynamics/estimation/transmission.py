# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Joints that are measured on the motor's side of an elastic transmission, such as a belt.

Above some frequency the rotor swings against the transmission, and the link hardly follows. The
link's velocity is then the measured one through a low-pass of first order; the torque that the
rotor and its friction take of the motor's at the measured velocity is subtracted from the effort.
Below that frequency nothing changes: rotor, friction and link move as one.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.model.robot_model import RobotModel

# The rotor's acceleration is a difference of noisy velocities; it is taken below this frequency.
ROTOR_CUTOFF = 100.0        # Hz


class Transmission:
    """
    Follows the links behind elastic transmissions.

    Parameters
    ----------
    model : RobotModel
        With the armature, damping and friction of its joints.
    cutoff : float [Hz]
        Frequency up to which a link follows its motor.
    joints : (n,) sequence of int
        Joints with such a transmission.

    """

    def __init__(self, model: RobotModel, cutoff: float, joints: list[int]):
        self._joints, self._cutoff = joints, cutoff
        self._physics = np.array([[model.joints[j].armature, model.joints[j].damping,
                                   model.joints[j].friction] for j in joints]).reshape(-1, 3).T
        self.reset()

    def reset(self) -> None:
        """Forget all motion."""
        self._link: np.ndarray | None = None
        self._rotor = np.zeros(0)

    def advance(self, velocity: np.ndarray, effort: np.ndarray, dt: float) -> None:
        """
        Replace the motors' velocities and efforts of a sample by those of the links.

        Parameters
        ----------
        velocity, effort : (nv,) array [rad/s, N m]
            Of all joints; written.
        dt : float [s]
            Time since the last sample; 0 for the first one.

        """
        measured = velocity[self._joints]
        if not np.isfinite(measured).all():
            return
        if self._link is None or dt <= 0.0:
            self._link, self._rotor = measured, measured
            return
        link, rotor = (old + _share(cutoff, dt) * (measured - old) for old, cutoff in
                       ((self._link, self._cutoff), (self._rotor, ROTOR_CUTOFF)))
        armature, damping, friction = self._physics
        acceleration = (rotor - self._rotor - link + self._link) / dt
        slipping = np.tanh(measured / FRICTION_SPEED) - np.tanh(link / FRICTION_SPEED)
        effort[self._joints] -= (armature * acceleration + damping * (measured - link)
                                 + friction * slipping)
        velocity[self._joints] = link
        self._link, self._rotor = link, rotor


def _share(cutoff: float, dt: float) -> float:
    """Return the share of a change that a low-pass follows in a time step."""
    return 1.0 - math.exp(-2.0 * math.pi * cutoff * dt)
