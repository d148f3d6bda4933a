# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Joints that are measured on the motor's side of an elastic transmission, such as a belt.

Above some frequency the rotor swings against the transmission, and the link hardly follows. The
link's velocity is then the measured one through a low-pass of first order; the torque that the
rotor and its friction take of the motor's at the measured velocity is subtracted from the
effort.
Below that frequency nothing changes: rotor, friction and link move as one. How far the link
follows above it is not known: of the difference between the two accelerations it may have any
share, with equal probability, which makes an error of the torque on the link's inertia.
"""
from __future__ import annotations

import math

import numpy as np

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.dynamics.newton_euler import FRICTION_SPEED
from legged_dynamics.model.robot_model import RobotModel

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
