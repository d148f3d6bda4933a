# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Stage 3, workspace force (3.21)-(3.23): computed torque on the body's pose."""
from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.workspace.planar.state import PlanarState, PlanarTarget
from legged_dynamics.workspace.planar.workspace_dynamics import WorkspaceDynamics


def _three(value: float) -> np.ndarray:
    return np.full(3, value)


@dataclass(frozen=True, eq=False)
class PlanarGains:
    """
    Gains on x, z and angle of the body; by default the paper's.

    Attributes
    ----------
    position : (3,) array [1/s^2]
        ``K_p``. The paper's 3 is soft: one newton of wrong weight is 6 mm of height.
    velocity : (3,) array [1/s]
        ``K_v``.
    integral : (3,) array [1/s^3]
        ``K_i``, zero in the paper. Each loop is stable below ``K_v K_p``.

    Raises
    ------
    ConfigurationError
        When a gain is negative or not finite, or the integral makes a loop unstable.

    """

    position: np.ndarray = field(default_factory=lambda: _three(3.0))
    velocity: np.ndarray = field(default_factory=lambda: _three(2.46))
    integral: np.ndarray = field(default_factory=lambda: _three(0.0))

    def __post_init__(self) -> None:
        for name in ('position', 'velocity', 'integral'):
            gain = np.array(getattr(self, name), dtype=float)
            if gain.shape != (3,) or not (np.isfinite(gain) & (gain >= 0.0)).all():
                raise ConfigurationError(f'{name}: expected three gains of at least 0 '
                                         f'(x, z, angle), got {gain.tolist()}')
            gain.setflags(write=False)
            object.__setattr__(self, name, gain)
        limit = self.velocity * self.position
        if not ((self.integral < limit) | (self.integral == 0.0)).all():
            raise ConfigurationError(f'integral: expected gains below velocity * position = '
                                     f'{limit.tolist()}, beyond which the loop is unstable, got '
                                     f'{self.integral.tolist()}')


def pose_error(state: PlanarState, target: PlanarTarget) -> np.ndarray:
    """
    Return ``e`` of (3.21): pose less target, (3,), in the body's axes [m, rad].

    The difference of angles is taken the short way round.
    """
    x, z, angle = state.pose - target.pose
    c, s = math.cos(state.pose[2]), math.sin(state.pose[2])
    return np.array([c * x - s * z, s * x + c * z, math.remainder(angle, 2.0 * math.pi)])


def velocity_error(state: PlanarState, target: PlanarTarget) -> np.ndarray:
    """
    Return ``edot`` of (3.22): twist less target, (3,) [m/s, rad/s].

    A velocity error and not the rate of (3.21), from which it differs by ``w x e``.
    """
    return state.twist - target.twist


def workspace_force(dynamics: WorkspaceDynamics, gains: PlanarGains, error: np.ndarray,
                    rate: np.ndarray, acceleration: np.ndarray,
                    accumulated: np.ndarray | None = None) -> np.ndarray:
    """
    Run stage 3: return the wrench F_1 the legs should put on the body, (3,) [N, N m].

    ``F_1 = P_1 (Vdot^d - K_v edot - K_p e - K_i int e) + z_1``, (3.23) with an integral term.

    Parameters
    ----------
    dynamics : WorkspaceDynamics
        Of stage 2.
    gains : PlanarGains
        On x, z and angle.
    error, rate : (3,) array
        (3.21), (3.22), in the body's axes.
    acceleration : (3,) array
        ``Vdot_1^bd``, in the body's axes [m/s^2, rad/s^2].
    accumulated : (3,) array, optional
        Time integral of the error, in the body's axes [m s, rad s].

    """
    wanted = acceleration - gains.velocity * rate - gains.position * error
    if accumulated is not None:
        wanted = wanted - gains.integral * accumulated
    return dynamics.inertia @ wanted + dynamics.bias
