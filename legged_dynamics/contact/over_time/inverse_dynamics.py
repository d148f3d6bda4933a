# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Contact inverse dynamics over time: the ground reactions of a whole motion at once.

Each frame's six equations leave ``6 (k - 1)`` directions open between k flat feet, and a choice
made frame by frame jumps with the noise. Here one choice is made for all frames: the least of a
cost on changes from frame to frame, contact moments, magnitudes and wrenches on feet that move
(:class:`OverTimeWeights`), among the wrenches that balance every frame exactly (Nimble).
Frames that the feet cannot balance (no foot, one or two points) are balanced as nearly as can be,
as a single instant is; the rest is the root residual.

It is the ground-force problem with a banded matrix: the work is proportional to the number of
frames (:mod:`~legged_dynamics.contact.over_time.problem`), and a recording of any length can be
solved section by section.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.contact.conditions import UP, move_references
from legged_dynamics.contact.over_time.interior_point import (
    LimitedProblem,
    Optimum,
    minimize_within,
)
from legged_dynamics.contact.over_time.limits import ConeRows, ContactLimits, OverTimeWeights
from legged_dynamics.contact.over_time.problem import by_threes
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.contact.over_time.stretch import Frames, Past, Stretch, assemble
from legged_dynamics.dynamics.jacobians import REFERENCE, SIZE, START, feet_table
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model.feet import Foot
from legged_dynamics.model.robot_model import RobotModel

# -------------------------------------------------------------------------------------------------
# The solver for one robot, cost and ground: from sections of a recording to solutions.


# A violation of the limits below this part of the largest force counts as none.
WITHIN = 1e-12


@dataclass(frozen=True, eq=False)
class OverTimeSolution:
    """
    Ground reactions and joint efforts of T frames.

    Attributes
    ----------
    wrench : (T, nf, 6) array [N, N m]
        Ground on robot, ``[f; m]`` in each foot's axes about its frame's origin; zero for a foot
        off the ground.
    joint_effort : (T, nv) array [N m or N]
        Efforts of the motors, in the model's joint order.
    root_residual : (T, 6) array [N, N m]
        Wrench on the base that the feet do not explain, in base axes about its origin.
    rank : (T,) int array
        Rank of the map from contact coordinates to the base's wrench.
    nullity : (T,) int array
        Number of directions of a frame's wrenches that its motion says nothing about.
    in_contact : (T, nf) bool array
        Feet on the ground.
    kkt_residual : float
        With limits: the largest violation of the optimality conditions, relative to the terms in
        them. 0 where the solution is direct: without limits, or where none is reached.
    iterations : int
        Iterations of the interior-point method; 0 where the solution is direct.

    """

    wrench: np.ndarray
    joint_effort: np.ndarray
    root_residual: np.ndarray
    rank: np.ndarray
    nullity: np.ndarray
    in_contact: np.ndarray
    kkt_residual: float = 0.0
    iterations: int = 0

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.wrench)


class _OverTimeTask:
    """
    Stages of `ContactInverseDynamicsOverTime.solve` for given limits and ground.

    ``axes`` ('world' or 'foot') are those of the contact coordinates; limits require
    'world'. ``normal``: unit normal of the ground in world axes.
    """

    def __init__(self, solver: ContactInverseDynamicsOverTime, weights: OverTimeWeights | None,
                 limits: ContactLimits | None, normal: Sequence[float]):
        self._solver, self._weights = solver, weights or OverTimeWeights()
        self._limits, self._normal = limits, normal
        self._rows: ConeRows | None = None
        self._references = solver._table.geometry[:, REFERENCE:REFERENCE + 3]
        self._index = by_threes(solver._table.index)
        self._zero = np.zeros(int(self._index[:, SIZE].sum()))
        if limits is not None:
            if solver.axes != 'world':
                raise ConfigurationError("expected axes 'world' for a solution within limits, got "
                                         f'{solver.axes!r}')
            self._rows = limits.rows(solver.feet, self._references, np.asarray(normal, float))

    def frames(self, stretch: Stretch) -> Frames:
        """Run Newton-Euler over a stretch of motion and set up its problem."""
        solver = self._solver
        return assemble(solver.model, solver._table, stretch, self._weights, self._normal,
                        axes=solver.axes, rotations=self._rows is not None)

    def first(self, frames: Frames, previous: np.ndarray | None) -> Past:
        """Return what is known of the first frame: wrenches (nf, 6) to be near to, or nothing."""
        if previous is None:
            return Past.nothing(len(self._zero))
        w, feet = np.asarray(previous, dtype=float), self._solver.feet
        if w.shape != (len(feet), 6) or not np.isfinite(w).all():
            raise MeasurementError(f'expected finite previous wrenches of shape '
                                   f'({len(feet)}, 6), got shape {w.shape}')
        R_WB = frames.section.motion.rotation[0].reshape(3, 3)
        poses = frame_poses(self._solver.model, frames.section.motion.position[0],
                            tuple(foot.link for foot in feet))
        x, on = np.zeros_like(self._zero), np.zeros_like(self._zero)
        for i, foot in enumerate(feet):
            start, size = self._index[i, START], self._index[i, SIZE]
            R = R_WB @ poses[foot.link].R if self._solver.axes == 'world' else np.eye(3)
            moment = w[i, 3:] - np.cross(self._references[i], w[i, :3])
            x[start:start + 3] = R @ w[i, :3]
            for k, row in enumerate(foot.rows[3:], start + 3):
                x[k] = (moment if row.in_foot else R @ moment)[row.axis]
            on[start:start + size] = frames.standing[0, i]
        return Past.near(x, on * self._per_coordinate(
            self._weights.previous * self._weights.comparison_length ** 2,
            self._weights.previous))

    def solve(self, frames: Frames, past: Past) -> OverTimeSolution:
        """Return the solution of frames that no others follow."""
        return self.solution(frames, self._within(frames, past, frames.alone(past)))

    def stream(self, stretches: Iterable[Stretch], lag: int, previous: np.ndarray | None
               ) -> Iterator[OverTimeSolution]:
        """Yield each stretch once the next is there, of which `lag` frames are used."""
        waiting: Frames | None = None
        for stretch in stretches:
            frames = self.frames(stretch)
            if waiting is None:
                past = self.first(frames, previous)
            else:
                found, past = self._before(waiting, frames.head(lag), past)
                yield found
            waiting = frames
        if waiting is not None:
            yield self.solve(waiting, past)

    def _before(self, frames: Frames, future: Frames, past: Past) -> tuple[OverTimeSolution, Past]:
        """Return the solution of frames, given those that follow, and what to pass on."""
        after = future.standing[0]
        if self._rows is None:
            made, handed = frames.forward(past, after)
            x = frames.backward(made, after, future.alone(handed)[0])
            return self.solution(frames, Optimum(x, 0.0, 0)), handed
        both = frames.joined(future)
        optimum = self._within(both, past, both.alone(past))
        x = optimum.x[:len(frames)]
        stays = frames.standing[-1] * after
        smoothing = self._weights.smoothing_diagonal()
        link = self._per_coordinate(*smoothing[:2]) * self._per_foot(stays)
        landing = smoothing[2] * self._per_coordinate(*smoothing[:2]) * self._per_foot(
            after * (1 - stays))
        handed = Past(np.diag(link + landing), link * x[-1])
        return self.solution(frames, Optimum(x, optimum.kkt_residual, optimum.iterations)), handed

    def _within(self, frames: Frames, past: Past, x: np.ndarray) -> Optimum:
        """Return the optimum within limits, given that without."""
        if self._rows is None or self._limits is None:
            return Optimum(x, 0.0, 0)
        problem = LimitedProblem(frames, self._rows, self._limits.residual_weight,
                                 self._weights.length_scale, past)
        if problem.holds(x, WITHIN):
            return Optimum(x, 0.0, 0)
        return minimize_within(problem, x)

    def solution(self, frames: Frames, optimum: Optimum) -> OverTimeSolution:
        """Return wrenches and efforts for contact coordinates."""
        wrench, effort, residual = frames.express(optimum.x)
        rank = frames.problem.rank
        unknowns = frames.standing @ self._solver._table.index[:, SIZE]
        return OverTimeSolution(wrench, effort, residual, rank, unknowns - rank,
                                frames.standing.astype(bool), optimum.kkt_residual,
                                optimum.iterations)

    def _per_foot(self, values: np.ndarray) -> np.ndarray:
        return np.repeat(values, self._index[:, SIZE])

    def _per_coordinate(self, force: float, moment: float) -> np.ndarray:
        return np.concatenate([[force] * 3 + [moment] * (int(size) - 3)
                               for size in self._index[:, SIZE]])


# -------------------------------------------------------------------------------------------------
# The interface.


class ContactInverseDynamicsOverTime:
    """
    Contact inverse dynamics of one robot on given feet, over time.

    Parameters
    ----------
    model : RobotModel
        Robot with a floating base.
    feet : sequence of Foot
        All that touch the ground at some time.
    axes : {'world', 'foot'}
        Axes of the wrenches in the cost. In the feet's own axes, smoothing takes a foot that rolls
        under a steady load for a change of load.
    reference : {'sole', 'frame'} or (nf, 3) array [m]
        Where a flat foot's moment is taken: the middle of its sole, its link's frame, or points in
        the feet's frames.

    Raises
    ------
    ConfigurationError
        When an option is out of range, there are no feet, or the model's base is fixed.
    UnknownNameError
        When a foot is not in the model.

    """

    def __init__(self, model: RobotModel, feet: Sequence[Foot], *, axes: str = 'world',
                 reference: str | np.ndarray = 'sole'):
        if not model.floating:
            raise ConfigurationError(
                'contact inverse dynamics over time needs a floating base, got a model with a '
                'fixed one. Its joint efforts are what inverse_dynamics returns.')
        if not len(feet):
            raise ConfigurationError('expected one foot or more, got none')
        if axes not in ('world', 'foot'):
            raise ConfigurationError(f"expected axes 'world' or 'foot', got {axes!r}")
        self.model = model
        self.feet = tuple(feet)
        self.axes = axes
        self._table = feet_table(model, feet)
        move_references(self._table, reference)

    @classmethod
    def like_nimble(cls, model: RobotModel, feet: Sequence[Foot]
                    ) -> ContactInverseDynamicsOverTime:
        """
        Return a solver in Nimble's coordinates: the feet's axes, about their frames.

        Parameters
        ----------
        model : RobotModel
            Robot with a floating base.
        feet : sequence of Foot
            All that touch the ground at some time.

        Returns
        -------
        ContactInverseDynamicsOverTime

        """
        return cls(model, feet, axes='foot', reference='frame')

    def solve(self, motion: RecordedMotion, *,
              in_contact: np.ndarray | Sequence[bool] | None = None,
              weights: OverTimeWeights | None = None, limits: ContactLimits | None = None,
              previous: np.ndarray | None = None,
              external: Mapping[str, np.ndarray] | None = None,
              ground_normal: Sequence[float] = UP) -> OverTimeSolution:
        """
        Return the ground reactions of a motion.

        Parameters
        ----------
        motion : RecordedMotion
            T frames, evenly spaced; `GeneralizedMotion` makes one of positions alone.
        in_contact : (nf,) or (T, nf) array of bool, optional
            Feet on the ground; all by default. They may come and go.
        weights : OverTimeWeights, optional
            Weights of the cost.
        limits : ContactLimits, optional
            Limits of the ground's forces. Without them feet may pull and slip. Of a motion that
            requires more, the part beyond the limits is the root residual.
        previous : (nf, 6) array, optional [N, N m]
            Wrenches in the feet's frames to which the first frame is drawn, by the weight of
            that name.
        external : mapping of link name to (6,) or (T, 6) array, optional [N, N m]
            Wrenches ``[f; m]`` on the robot apart from gravity and ground, in the link's axes
            about its origin.
        ground_normal : (3,) sequence
            Unit normal of the ground in world axes; it places the contact point of a ball.

        Returns
        -------
        OverTimeSolution

        Raises
        ------
        MeasurementError
            When motion, contacts, wrenches or weights do not fit the robot and each other.
        ConfigurationError
            When the weights leave the solution open, or the limits do not fit the feet.

        """
        task = _OverTimeTask(self, weights, limits, ground_normal)
        frames = task.frames(Stretch(motion, in_contact, external))
        return task.solve(frames, task.first(frames, previous))

    def stream(self, stretches: Iterable[Stretch], *, lag: int,
               weights: OverTimeWeights | None = None, limits: ContactLimits | None = None,
               previous: np.ndarray | None = None, ground_normal: Sequence[float] = UP
               ) -> Iterator[OverTimeSolution]:
        """
        Solve a recording of any length as it comes, in the memory of two stretches.

        An approximation: the solution of a stretch uses all of the past and `lag` frames of the
        future, while `solve` uses all of it. The difference decays within about
        ``sqrt(smoothing / minimum_moment)`` frames. With limits, the past is represented only by
        the last solution.

        Parameters
        ----------
        stretches : iterable of Stretch
            Each follows on the one before without a gap.
        lag : int
            Frames of the next stretch to look at, 1 or more; of a shorter one, all.
        weights, limits, previous, ground_normal
            As in `solve`; weights of magnitude must not be one a frame.

        Yields
        ------
        OverTimeSolution
            The solutions, in order, each once the next stretch is available.

        Raises
        ------
        ConfigurationError
            When the lag is less than a frame.

        """
        if lag < 1:
            raise ConfigurationError(f'expected a lag of 1 frame or more, got {lag}')
        task = _OverTimeTask(self, weights, limits, ground_normal)
        return task.stream(stretches, lag, previous)
