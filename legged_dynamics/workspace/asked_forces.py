# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Desired foot forces: how fast they are applied and released, and why one is not met.

Of the forces under a robot only the internal part, which sums to zero, is free: what one foot
gains the others lose. A request cannot run away from what is feasible: it stays within a tenth of
the weight of it, so that a request of ten weights is released as quickly as one of a third.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError

AXES = ('world', 'base', 'foot')
# A force further than this part of the weight from what was asked is reported as clipped.
CLIPPED = 0.01
# How far, in weights, the force worked towards may be ahead of what can be given.
AHEAD = 0.1


@dataclass(frozen=True, eq=False)
class AskedForce:
    """
    A force asked for, of the ground on one foot.

    Attributes
    ----------
    force : (3,) array [N]
    axes : {'world', 'base', 'foot'}
        Axes of its components.

    Raises
    ------
    ConfigurationError
        When it is not three finite numbers, or the axes are none of these.

    """

    force: np.ndarray
    axes: str = 'world'

    def __post_init__(self) -> None:
        force = np.array(self.force, dtype=float)
        if force.shape != (3,) or not np.isfinite(force).all():
            raise ConfigurationError(f'expected a force of three finite numbers, got {self.force}')
        if self.axes not in AXES:
            raise ConfigurationError(f'expected axes {", ".join(AXES)}; got {self.axes!r}')
        object.__setattr__(self, 'force', force)

    def in_world(self, R_WB: np.ndarray, R_BF: np.ndarray) -> np.ndarray:
        """Return its components in world axes, (3,) [N]."""
        if self.axes == 'world':
            return self.force
        return R_WB @ (self.force if self.axes == 'base' else R_BF @ self.force)


class ForceRequests:
    """
    Moves each target force towards what is asked, and back when it is no longer asked for.

    Parameters
    ----------
    weight : float [N]
        Of the robot.

    Attributes
    ----------
    sought : dict of int to (3,) array [N]
        Forces worked towards, in world axes, by the foot's place.

    """

    def __init__(self, weight: float):
        self._weight = weight
        self.sought: dict[int, np.ndarray] = {}

    def seek(self, asked: Mapping[int, np.ndarray], step: float, standing: Container[int],
             given: Callable[[int], np.ndarray],
             free: Callable[[Mapping[int, np.ndarray]], Mapping[int, np.ndarray]]) -> None:
        """
        Move on by one step.

        Parameters
        ----------
        asked : mapping of int to (3,) array [N]
            In world axes.
        step : float [N]
            Length of the step.
        standing : container of int
            Feet that can have a force.
        given : callable
            Returns what such a foot had last, (3,) [N].
        free : callable
            Returns what they get when only these forces are sought: where a foot that nobody asks
            any more goes back to.

        """
        for foot in [foot for foot in self.sought if foot not in standing]:
            del self.sought[foot]
        leaving = self.sought.keys() - asked.keys() if self.sought.keys() != asked.keys() else ()
        goals = {foot: force for foot, force in asked.items() if foot in standing}
        if leaving:
            alone = free({foot: force for foot, force in self.sought.items() if foot in asked})
            goals |= {foot: alone[foot] for foot in leaving}
        for foot, goal in goals.items():
            if goal is self.sought.get(foot):       # there already
                continue
            start = self.sought[foot] if foot in self.sought else given(foot)
            gap = goal - start
            far = math.hypot(*gap.tolist())
            if foot in leaving and far <= step:
                del self.sought[foot]
            else:
                self.sought[foot] = goal if far <= step else start + gap * (step / far)

    def stay_near(self, given: Callable[[int], np.ndarray]) -> list[int]:
        """Keep each target force near what is feasible; return feet that do not get it."""
        short = []
        for foot, sought in self.sought.items():
            gap = sought - given(foot)
            ahead = math.hypot(*gap.tolist())
            if ahead > CLIPPED * self._weight:
                short.append(foot)
            if ahead > AHEAD * self._weight:
                self.sought[foot] = given(foot) + gap * (AHEAD * self._weight / ahead)
        return short
