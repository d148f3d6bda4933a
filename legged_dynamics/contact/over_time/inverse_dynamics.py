# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
r"""
Contact inverse dynamics over time: the ground reactions of a whole motion at once.

Each frame's six equations leave ``6 (k - 1)`` directions open between k flat feet, and what is
chosen frame by frame jumps with the noise. Here the choice is one for all frames: the least of a
cost on changes from frame to frame, contact moments, magnitudes and wrenches on feet that move
(:class:`OverTimeWeights`), among the wrenches that balance every frame exactly (source 004).
Frames that the feet cannot balance (no foot, one or two points) are balanced as nearly as can be,
as a single instant is; the rest is the root residual.

The work is proportional to the number of frames
(:mod:`~legged_dynamics.contact.over_time.elimination`), and a recording of any length can be
solved a stretch at a time.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from legged_dynamics.contact.conditions import UP, move_references
from legged_dynamics.contact.over_time.limits import ContactLimits
from legged_dynamics.contact.over_time.recorded_motion import RecordedMotion
from legged_dynamics.contact.over_time.stretch import Stretch
from legged_dynamics.contact.over_time.task import OverTimeSolution, OverTimeTask
from legged_dynamics.contact.over_time.weights import OverTimeWeights
from legged_dynamics.dynamics.jacobians import feet_table
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.foot import Foot
from legged_dynamics.model.robot_model import RobotModel


class ContactInverseDynamicsOverTime:
    """
    Contact inverse dynamics of one robot on given feet, over time.

    Parameters
    ----------
    model : RobotModel
    feet : sequence of Foot
    axes : {'world', 'foot'}
        Axes in which the cost sees wrenches. In the feet's own, smoothing takes a foot that rolls
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
        """Return a solver in Nimble's coordinates: the feet's axes, about their frames."""
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
            What is wanted of the answer.
        limits : ContactLimits, optional
            What the ground can give. Without them feet may pull and slip. A motion that takes
            more is answered within them, and what is missing is the root residual.
        previous : (nf, 6) array, optional [N, N m]
            Wrenches in the feet's frames to which the first frame is drawn, by the weight of
            that name.
        external : mapping of link name to (6,) or (T, 6) array, optional [N, N m]
            Wrenches ``[f; m]`` on the robot apart from gravity and ground, in the link's axes
            about its origin.
        ground_normal : (3,) sequence
            Unit normal of the ground in world axes; it places the contact point of a ball.

        Raises
        ------
        MeasurementError
            When motion, contacts, wrenches or weights do not fit the robot and each other.
        ConfigurationError
            When the weights leave the answer open, or the limits do not fit the feet.

        """
        task = self.task(weights, limits, ground_normal)
        frames = task.frames(Stretch(motion, in_contact, external))
        return task.solve(frames, task.first(frames, previous))

    def solve_stretches(self, stretches: Sequence[Stretch], *,
                        weights: OverTimeWeights | None = None,
                        previous: np.ndarray | None = None, ground_normal: Sequence[float] = UP
                        ) -> Iterator[tuple[int, OverTimeSolution]]:
        """
        Solve a recording of any length exactly, in the memory of two stretches.

        The stretches are walked from the first to the last, for what each hands on to the next,
        and once more backwards, so they must be there twice: a list, or an object with
        ``__len__`` and ``__getitem__`` that reads them from a file. Together the answers are
        those of `solve` for all frames in one.

        Parameters
        ----------
        stretches : sequence of Stretch
            Each follows on the one before without a gap.
        weights, previous, ground_normal
            As in `solve`; weights of magnitude must not be one a frame.

        Yields
        ------
        int, OverTimeSolution
            A stretch's number and its answer, the last stretch first.

        """
        return self.task(weights, None, ground_normal).solve_exactly(stretches, previous)

    def stream(self, stretches: Iterable[Stretch], *, lag: int,
               weights: OverTimeWeights | None = None, limits: ContactLimits | None = None,
               previous: np.ndarray | None = None, ground_normal: Sequence[float] = UP
               ) -> Iterator[OverTimeSolution]:
        """
        Solve a recording of any length as it comes, in the memory of two stretches.

        An approximation: the answer for a stretch knows all of the past and `lag` frames of the
        future, where `solve` knows all of it. What it lacks fades away within some
        ``sqrt(smoothing / minimum_moment)`` frames. With limits, it knows the past only by the
        last answer that was given.

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
            The answers, in order, each once the next stretch is there.

        Raises
        ------
        ConfigurationError
            When the lag is less than a frame.

        """
        if lag < 1:
            raise ConfigurationError(f'expected a lag of 1 frame or more, got {lag}')
        return self.task(weights, limits, ground_normal).stream(stretches, lag, previous)

    def task(self, weights: OverTimeWeights | None = None, limits: ContactLimits | None = None,
             normal: Sequence[float] = UP) -> OverTimeTask:
        """Return the work of `solve` in its stages, for given weights, limits and ground."""
        return OverTimeTask(self.model, self.feet, self._table, self.axes, weights, limits, normal)
