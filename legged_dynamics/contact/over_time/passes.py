# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
A section of a recording as a problem over time, and the passes over it with their memory.

One section passes on to the next the information of its frames about the next one's contact
coordinates (:class:`Past`); the backward pass returns the solution of these.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from legged_dynamics.contact.over_time.limits import OverTimeWeights
from legged_dynamics.contact.over_time.problem import (
    DONE,
    Elimination,
    Problem,
    by_threes,
    eliminate,
    gain_width,
    substitute_back,
)
from legged_dynamics.contact.over_time.stretch import (
    FINITE,
    MotionArrays,
    Section,
    Stretch,
    express,
    external_of,
    frames_of,
    gather,
    standing_of,
    unit_normal,
)
from legged_dynamics.contact.tick import LENGTH, allocate, carve
from legged_dynamics.dynamics.jacobians import AXES, IN_FOOT, SIZE, FeetTable
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.spatial.jit import as_python


@dataclass(frozen=True, eq=False)
class Past:
    """Information of earlier frames on the next one's coordinates x: ``x^T P x / 2 - h^T x``."""

    information: np.ndarray  # (nc, nc): P
    linear: np.ndarray  # (nc,): h

    @classmethod
    def nothing(cls, n: int) -> Past:
        """Return the empty information before the first frame, for n contact coordinates."""
        return cls(np.zeros((n, n)), np.zeros(n))

    @classmethod
    def near(cls, x: np.ndarray, weight: np.ndarray) -> Past:
        """Return information that pulls the next frame to x (nc,), weighting squares."""
        return cls(np.diag(weight), weight * x)


@dataclass(frozen=True, eq=False)
class Frames:
    """A section of a recording, set up as a problem."""

    model: RobotModel  # The robot
    table: FeetTable  # Its feet
    section: Section  # The frames
    problem: Problem  # Its unknowns are the frames' contact coordinates
    # (T, nf, 9): rotations from the feet's axes to the problem's, where they are needed
    foot_rotation: np.ndarray

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.problem.required)

    @property
    def size(self) -> int:
        """Return the number of coordinates of a frame."""
        return int(self.problem.index[:, SIZE].sum())

    @property
    def standing(self) -> np.ndarray:
        """(T, nf) int array, 1 for a foot on the ground."""
        return self.problem.standing

    def head(self, count: int) -> Frames:
        """Return at most the first ``count`` frames."""
        return self._each(lambda rows: rows[:count])

    def joined(self, following: Frames) -> Frames:
        """Return these frames followed by others of the same robot and feet."""
        others = iter(following._tables())
        return self._each(lambda rows: np.concatenate([rows, next(others)]))

    def _tables(self) -> list[np.ndarray]:
        """Return all tables that have one row a frame."""
        p = self.problem
        return [*self.section.motion, p.standing, p.points, p.axes, p.turns, p.required, p.rank,
                p.line, p.cost, self.foot_rotation, self.section.external]

    def _each(self, change: Callable[[np.ndarray], np.ndarray]) -> Frames:
        tables = [change(rows) for rows in self._tables()]
        n = len(self.section.motion)
        problem = Problem._make([self.problem.index, *tables[n:n + 8], self.problem.smoothing,
                                 self.problem.slack])
        section = self.section._replace(motion=MotionArrays._make(tables[:n]),
                                        external=tables[-1])
        return replace(self, section=section, problem=problem, foot_rotation=tables[-2])

    def forward(self, past: Past, after: np.ndarray) -> tuple[Pass, Past]:
        """
        Eliminate all frames; return the pass and the information after the last frame.

        ``after`` (nf,): feet on the ground after the last frame, -1 without such a frame.
        Raises ConfigurationError when numbers exceed the floating-point range.
        """
        nc, nf = self.size, len(self.table.index)
        found = Pass(self, Elimination.of(len(self), nc, gain_width(self.problem.index)))
        P, h = past.information.copy(), past.linear.copy()
        found.fill(np.zeros((0, nf, 6, 6)), np.zeros((0, nc)), P, h, after)
        return found, Past(P, h)

    def express(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """
        Return the results for contact coordinates x (T, nc).

        Wrenches (T, nf, 6) [N, N m] in foot frames, joint efforts (T, nv) [N m or N], and the
        residual wrench at the base (T, 6) in its axes.
        """
        T, nf = self.standing.shape
        wrench, effort = np.empty((T, nf, 6)), np.empty((T, self.model.nv))
        residual = np.empty((T, 6))
        at = express(self.section, self.problem, x, wrench, effort, residual)
        if at != FINITE:
            raise MeasurementError(f'frame {at}: the joint efforts of this motion are not finite')
        return wrench, effort, residual


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass: its frames are solved but for the frame that follows."""

    frames: Frames  # Those of the pass
    made: Elimination

    def fill(self, blocks: np.ndarray, gradient: np.ndarray, P: np.ndarray, h: np.ndarray,
             after: np.ndarray) -> None:
        """Eliminate the frames in place; arguments as for :func:`eliminate`."""
        at = eliminate(self.frames.problem, blocks, gradient, P, h, after, self.made)
        if at != DONE:
            raise ConfigurationError(
                f'frame {at}: the costs leave the wrenches open, or lie so far apart that floating'
                ' point cannot tell. Take weights nearer to each other, or a larger ridge.')

    def backward(self, after: np.ndarray, x_after: np.ndarray) -> np.ndarray:
        """Return x (T, nc), given the stance feet (-1: none) and x of the frame after."""
        substitute_back(self.frames.problem, after, x_after, self.made)
        return self.made.x


def assemble(model: RobotModel, table: FeetTable, stretch: Stretch, weights: OverTimeWeights,
             normal: Sequence[float], *, axes: str, rotations: bool = False) -> Frames:
    """
    Run Newton-Euler over a section of a recording and set up its problem.

    ``normal`` is in world axes; ``axes`` ('world' or 'foot') are those of the contact
    coordinates; ``rotations`` keeps the foot rotations in any case.
    """
    motion = frames_of(model, stretch.motion, weights.velocity_penalty is not None)
    T, nf = len(motion.base), len(table.index)
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
    section = Section(motion, unit_normal(normal), external, in_world, *memory)
    at = gather(section, problem, rotation, speed)
    if at != FINITE:
        raise MeasurementError(f'frame {at}: the motion requires a wrench that is not finite')
    problem.cost[:] = weights.costs((T, nf), speed if len(speed) else None)
    return Frames(model, table, section, problem, rotation)
