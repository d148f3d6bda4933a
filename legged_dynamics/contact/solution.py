# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""ContactSolution: ground reactions and joint efforts of one instant, with weights and margins."""
from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from legged_dynamics.contact.tick import KKT, OUTCOME, RANK, RESIDUAL, UNKNOWNS
from legged_dynamics.exceptions import ConfigurationError


class Support(Enum):
    """How far the feet on the ground determine their wrenches."""

    AIRBORNE = 'no foot is on the ground: no reaction, the residual is what the motion lacks'
    UNIQUE = 'the feet can carry every motion in exactly one way'
    REDUNDANT = 'the feet can carry every motion in many ways, of which one was chosen'
    DEFICIENT = 'the feet cannot carry every motion: least squares, see the root residual'
    DEFICIENT_REDUNDANT = ('the feet cannot carry every motion (least squares, see the root '
                           'residual), and squeeze between them was chosen')
    BOLTED = 'the base is bolted down: what its mount carries is the residual'


class ContactSolution:
    """
    Ground reactions and joint efforts of one instant: read-only views of one array.

    ``wrench`` (nf, 6): ground on robot, in foot axes at the frame's origin;
    ``root_residual`` (6,): unexplained base wrench, base axes; ``nullity``: undetermined
    directions of ``wrench``; ``feasible``: False when limits forbid the motion.
    """

    __slots__ = ('_data', '_shape')

    def __init__(self, data: np.ndarray, shape: tuple[int, bool]):
        self._data = data
        self._shape = shape     # number of feet, whether the base floats

    @property
    def wrench(self) -> np.ndarray:
        """Ground reactions, (nf, 6) [N, N m]."""
        return self._data[:6 * self._shape[0]].reshape(-1, 6)

    @property
    def joint_effort(self) -> np.ndarray:
        """Efforts of the motors, (nv,) [N m or N]."""
        return self._data[6 * self._shape[0]:RESIDUAL]

    @property
    def root_residual(self) -> np.ndarray:
        """Wrench on the base that is left over, (6,) [N, N m]."""
        return self._data[RESIDUAL:RESIDUAL + 6]

    @property
    def rank(self) -> int:
        """Rank of the map from contact coordinates to the base's wrench."""
        return int(self._data[RANK])

    @property
    def nullity(self) -> int:
        """Return how many directions of the wrenches the motion says nothing about."""
        return int(self._data[UNKNOWNS]) - self.rank

    @property
    def feasible(self) -> bool:
        """Whether friction, load limits and soles permit the motion."""
        return self._data[OUTCOME] == 0.0

    @property
    def kkt_residual(self) -> float:
        """Relative violation of the optimality conditions."""
        return float(self._data[KKT])

    @property
    def support(self) -> Support:
        """How far the feet on the ground determine their wrenches."""
        if not self._shape[1]:
            return Support.BOLTED
        if self._data[UNKNOWNS] == 0.0:
            return Support.AIRBORNE
        if self.rank == 6:
            return Support.REDUNDANT if self.nullity else Support.UNIQUE
        return Support.DEFICIENT_REDUNDANT if self.nullity else Support.DEFICIENT

    def __repr__(self) -> str:
        return (f'ContactSolution({self.support.name}, normal forces '
                f'{self.wrench[:, 2].round(1).tolist()} N in foot axes, '
                f'residual {np.abs(self.root_residual).max(initial=0.0):.2g})')


# -------------------------------------------------------------------------------------------------
# Variances of the equations when joint torque is measured.


@dataclass(frozen=True, eq=False)
class EquationWeights:
    """
    Variances of the equations of base and joints, and of the prior.

    Attributes
    ----------
    base : (6,) array [N^2, (N m)^2]
        Variance of the wrench that the motion requires, in base axes.
    joint : (nv,) array [(N m)^2 or N^2]
        Variance of measured less computed joint torque.
    prior_force, prior_moment : float [N, N m]
        Standard deviation of every component before anything is measured.

    """

    base: np.ndarray
    joint: np.ndarray
    prior_force: float = 1000.0
    prior_moment: float = 100.0

    def packed(self, nv: int) -> tuple[np.ndarray, np.ndarray]:
        """
        Return the variances as the kernels take them.

        Parameters
        ----------
        nv : int
            Number of joint velocities of the robot.

        Returns
        -------
        (8,) array, (nv,) array
            Of the base's equations and the priors; of the joints' equations.

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


# -------------------------------------------------------------------------------------------------
# How far a robot is from slipping, from tipping over and from its motors' limits.


def friction_used(force: np.ndarray, normal: np.ndarray, friction: float) -> np.ndarray:
    """Return the friction used by forces (n, 3): 1 at slip, infinite under tension; same axes."""
    along = (force * normal).sum(axis=1)
    across = np.linalg.norm(force - along[:, None] * normal, axis=1)
    return np.where(along > 0.0, across / np.maximum(friction * along, 1e-12), np.inf)


def support_margin(corners: np.ndarray, center: np.ndarray) -> float:
    """
    Return a point's distance [m] to the nearest edge of a convex polygon, < 0 outside.

    ``corners`` (n, 2) are counter-clockwise; two have no inside. NaN without corners.
    """
    if not len(corners) or not np.isfinite(center).all():
        return np.nan
    start, end = corners, np.roll(corners, -1, axis=0)
    edge, arm = end - start, center - start
    length = np.maximum(np.einsum('ij,ij->i', edge, edge), 1e-18)
    share = np.clip(np.einsum('ij,ij->i', edge, arm) / length, 0.0, 1.0)
    distance = float(np.linalg.norm(arm - share[:, None] * edge, axis=1).min())
    inside = len(corners) > 2 and bool(
        (edge[:, 0] * arm[:, 1] - edge[:, 1] * arm[:, 0] >= 0.0).all())
    return distance if inside else -distance


def effort_used(effort: np.ndarray, limits: np.ndarray) -> float:
    """Return the largest ratio of effort to limit (nj,); NaN where no ratio is known."""
    part = np.abs(effort) / np.where(limits > 0.0, limits, np.inf)
    return float(np.nanmax(part)) if np.isfinite(part).any() else np.nan
