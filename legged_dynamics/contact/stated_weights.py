# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How far equations of motion can be trusted, from stated noise."""
from __future__ import annotations

import numpy as np

from legged_dynamics.contact.inverse_dynamics import ContactInverseDynamics
from legged_dynamics.contact.noise import MotionNoise, shifted_models, shifted_motions
from legged_dynamics.contact.weights import EquationWeights
from legged_dynamics.dynamics.motion import Motion
from legged_dynamics.model.robot_model import RobotModel


def equation_weights(model: RobotModel, noise: MotionNoise, motion: Motion, *,
                     prior_force: float = 1000.0, prior_moment: float = 100.0
                     ) -> EquationWeights:
    """
    Return how far the equations of base and joints can be trusted under stated noise.

    Parameters
    ----------
    model : RobotModel
        The robot.
    noise : MotionNoise
        Of what is measured, and of the model.
    motion : Motion
        About which: the variances hold for motions like it.
    prior_force, prior_moment : float [N, N m]
        Standard deviation of every component of a wrench before anything is measured.

    Raises
    ------
    ConfigurationError
        When an equation has no noise at all.

    """
    solver = ContactInverseDynamics(model, [])

    def answer() -> np.ndarray:
        found = solver.solve(motion)
        return np.concatenate([found.root_residual, found.joint_effort])

    shifted = solver.batch(*shifted_motions(model, motion, noise))
    pairs = np.hstack([shifted.root_residual, shifted.joint_effort])
    half = len(pairs) // 2
    moves = np.vstack([shifted_models(solver.memory, noise, answer),
                       (pairs[:half] - pairs[half:]) / 2.0])
    variance = (moves ** 2).sum(axis=0)
    return EquationWeights(variance[:6], variance[6:] + noise.of('effort', model.nv) ** 2,
                           prior_force, prior_moment)
