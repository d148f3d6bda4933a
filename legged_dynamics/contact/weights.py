# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How far each equation is trusted when measured joint torque joins the motion."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError


@dataclass(frozen=True, eq=False)
class EquationWeights:
    """
    Variances of the equations of base and joints, and the prior where neither sees.

    Attributes
    ----------
    base : (6,) array [N^2, (N m)^2]
        Of the wrench that the motion asks of the ground, in base axes.
    joint : (nv,) array [(N m)^2 or N^2]
        Of measured less computed joint torque.
    prior_force, prior_moment : float [N, N m]
        Standard deviation of every component before anything is measured.

    """

    base: np.ndarray
    joint: np.ndarray
    prior_force: float = 1000.0
    prior_moment: float = 100.0

    def packed(self, nv: int) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the variances of the base's equations with the priors', and the joints'.

        Raises
        ------
        ConfigurationError
            When a variance is not above zero, or their number does not fit.

        """
        base = np.append(np.asarray(self.base, float),
                         [self.prior_force ** 2, self.prior_moment ** 2])
        joint = np.asarray(self.joint, float)
        if base.shape != (8,) or joint.shape != (nv,):
            raise ConfigurationError(f'expected variances of 6 base and {nv} joint equations, got '
                                     f'shapes {np.shape(self.base)} and {joint.shape}')
        if not ((base > 0.0).all() and (joint > 0.0).all()):
            raise ConfigurationError('expected variances above 0, got base '
                                     f'{base[:6].tolist()}, joint {joint.tolist()}')
        return base, joint
