# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A stretch of a recording as a problem over time, and the passes over it with their memory.

What one stretch hands to the next is what its frames say about the next one's contact coordinates
(:class:`Past`), and back what those became.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.contact.over_time.frames import FINITE, Walk, express, gather
from legged_dynamics.contact.over_time.limits import OverTimeWeights
from legged_dynamics.contact.over_time.problem import (
    DONE,
    Problem,
    by_threes,
    eliminate,
    gain_width,
    substitute_back,
)
from legged_dynamics.contact.over_time.stretch import (
    Stretch,
    external_of,
    standing_of,
    unit_normal,
    walk_of,
)
from legged_dynamics.contact.tick import LENGTH, allocate, carve
from legged_dynamics.dynamics.jacobians import AXES, IN_FOOT, SIZE, WRENCH, FeetTable
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.jit import as_python


@dataclass(frozen=True, eq=False)
class Past:
    """
    What earlier frames say about the contact coordinates x of the next: ``x^T P x / 2 - h^T x``.

    Attributes
    ----------
    information : (nc, nc) array
        P.
    linear : (nc,) array
        h.

    """

    information: np.ndarray
    linear: np.ndarray

    @classmethod
    def nothing(cls, n: int) -> Past:
        """Return what is known before the first frame."""
        return cls(np.zeros((n, n)), np.zeros(n))

    @classmethod
    def near(cls, x: np.ndarray, weight: np.ndarray) -> Past:
        """Return what draws the next frame to coordinates x (nc,), with weights (nc,)."""
        return cls(np.diag(weight), weight * x)


@dataclass(frozen=True, eq=False)
class Frames:
    """
    A stretch, assembled.

    Attributes
    ----------
    model : RobotModel
    table : FeetTable
    walk : Walk
    problem : Problem
    foot_rotation : (T, nf, 9) array, or (0, nf, 9)
        From the feet's axes to the problem's, where they were asked for.
    normal : tuple of three floats
        Of the ground, in world axes.
    external : (T, nb, 6) array, or (0, nb, 6)
    in_world : bool
        Whether the problem is in world axes.
    memory : tuple of three arrays
        Integers, floats and results of a tick.

    """

    model: RobotModel
    table: FeetTable
    walk: Walk
    problem: Problem
    foot_rotation: np.ndarray
    normal: tuple[float, float, float]
    external: np.ndarray
    in_world: bool
    memory: tuple[np.ndarray, np.ndarray, np.ndarray]

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.problem.demand)

    @property
    def size(self) -> int:
        """Return the number of coordinates of a frame."""
        return int(self.problem.index[:, SIZE].sum())

    @property
    def standing(self) -> np.ndarray:
        """(T, nf) int array, 1 for a foot on the ground."""
        return self.problem.standing

    def head(self, count: int) -> Frames:
        """Return the first frames."""
        return self._each(lambda rows: rows[:count])

    def joined(self, following: Frames) -> Frames:
        """Return these frames and others after them."""
        others = iter(following._tables())
        return self._each(lambda rows: np.concatenate([rows, next(others)]))

    def _tables(self) -> list[np.ndarray]:
        """Return all that has a row a frame."""
        p = self.problem
        return [*self.walk, p.standing, p.points, p.axes, p.turns, p.demand, p.rank, p.line,
                p.cost, self.foot_rotation, self.external]

    def _each(self, change: Callable[[np.ndarray], np.ndarray]) -> Frames:
        tables = [change(rows) for rows in self._tables()]
        n = len(self.walk)
        problem = Problem._make([self.problem.index, *tables[n:n + 8], self.problem.smoothing,
                                 self.problem.slack])
        return replace(self, walk=Walk._make(tables[:n]), problem=problem,
                       foot_rotation=tables[-2], external=tables[-1])

    def forward(self, past: Past, after: np.ndarray) -> tuple[Pass, Past]:
        """
        Eliminate frame after frame.

        Parameters
        ----------
        past : Past
            What is known before the first frame.
        after : (nf,) int array
            Feet on the ground after the last frame, -1 each if there is no such frame.

        Raises
        ------
        ConfigurationError
            When the numbers run out of the range of floating point.

        """
        nc, nf = self.size, len(self.table.index)
        width = gain_width(self.problem.index,
                           whole=bool((self.table.index[:, SIZE] == WRENCH).all()
                                      and (self.table.index[:, AXES] < IN_FOOT).all()))
        found = Pass(self, np.empty((len(self), width)), np.empty((len(self), nc)))
        P, h = past.information.copy(), past.linear.copy()
        found.fill(np.zeros((0, nf, 6, 6)), np.zeros((0, nc)), P, h, after)
        return found, Past(P, h)

    def express(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return wrenches (T, nf, 6), joint efforts (T, nv) and root residuals (T, 6).

        Raises
        ------
        MeasurementError
            When an effort is not finite.

        """
        T, nf = self.standing.shape
        wrench, effort = np.empty((T, nf, 6)), np.empty((T, self.model.nv))
        residual = np.empty((T, 6))
        at = express(self.walk, self.normal, self.external, self.in_world, *self.memory[:2],
                     self.problem, x, self.memory[2], wrench, effort, residual)
        if at != FINITE:
            raise MeasurementError(f'frame {at}: the joint efforts of this motion are not finite')
        return wrench, effort, residual


@dataclass(frozen=True, eq=False)
class Pass:
    """
    A forward pass, which knows its frames but for what follows.

    Attributes
    ----------
    frames : Frames
    gains : (T, gain_width) array
        K, packed.
    x : (T, nc) array
        c, and the contact coordinates once `backward` has run.

    """

    frames: Frames
    gains: np.ndarray
    x: np.ndarray

    @property
    def scratch(self) -> np.ndarray:
        """Return memory for vectors."""
        return np.zeros((8, self.x.shape[1] + 6))

    def fill(self, blocks: np.ndarray, gradient: np.ndarray, P: np.ndarray, h: np.ndarray,
             after: np.ndarray) -> None:
        """Eliminate; see :func:`eliminate` for the arguments."""
        n = self.x.shape[1]
        at = eliminate(self.frames.problem, blocks, gradient, P, h, after, self.gains, self.x,
                       np.zeros((n + 6, n + 6)), self.scratch)
        if at != DONE:
            raise ConfigurationError(
                f'frame {at}: the costs leave the wrenches open, or lie so far apart that floating'
                ' point cannot tell. Take weights nearer to each other, or a larger ridge.')

    def backward(self, after: np.ndarray, x_after: np.ndarray) -> np.ndarray:
        """Return the (T, nc) contact coordinates, given those of the frame after the last."""
        substitute_back(self.frames.problem, self.gains, self.x, after, x_after, self.scratch)
        return self.x


def assemble(model: RobotModel, table: FeetTable, stretch: Stretch, weights: OverTimeWeights,
             normal: Sequence[float], *, axes: str, rotations: bool = False) -> Frames:
    """
    Walk a stretch of motion and set up its problem.

    Parameters
    ----------
    model : RobotModel
        The robot.
    table : FeetTable
        Its feet.
    stretch : Stretch
        Motion, contacts and external wrenches.
    weights : OverTimeWeights
        The cost.
    normal : (3,) sequence
        Unit normal of the ground in world axes.
    axes : {'world', 'foot'}
        Those of the contact coordinates.
    rotations : bool
        Whether to keep the feet's rotations in any case.

    Raises
    ------
    MeasurementError
        When motion, contacts or external wrenches do not fit the robot.

    """
    walk = walk_of(model, stretch.motion, weights.velocity_penalty is not None)
    T, nf = len(walk.base), len(table.index)
    standing = standing_of(stretch.in_contact, T, nf)
    in_world = axes == 'world'
    external = external_of(model, stretch.external, T)
    memory = allocate(model, table)
    as_python(carve)(*memory[:2]).settings[LENGTH] = weights.length_scale
    rotation = np.empty((T if rotations or not in_world else 0, nf, 9))
    turns = np.empty((T if not in_world or (table.index[:, AXES] >= IN_FOOT).any() else 0, nf, 9))
    speed = np.empty((T if weights.velocity_penalty is not None else 0, nf))
    problem = Problem(by_threes(table.index), standing, np.empty((T, nf, 3)),
                      np.empty((0, nf, 9)) if in_world else rotation, turns, np.empty((T, 6)),
                      np.empty(T, np.int64), np.empty((T, 6)), np.empty((T, nf, 2)),
                      weights.smoothing_diagonal(), np.zeros(6))
    up = unit_normal(normal)
    at = gather(walk, up, external, in_world, *memory[:2], problem, rotation, speed)
    if at != FINITE:
        raise MeasurementError(f'frame {at}: the motion asks for a wrench that is not finite')
    problem.cost[:] = weights.costs((T, nf), speed if len(speed) else None)
    return Frames(model, table, walk, problem, rotation, up,
                  external, in_world, memory)
