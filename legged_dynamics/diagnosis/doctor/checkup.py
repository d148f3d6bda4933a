# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Instructions for a checkup, and by the joints when each exercise is done."""
from __future__ import annotations

from collections import deque

import numpy as np

from legged_dynamics.diagnosis.doctor.hypotheses import legs_of
from legged_dynamics.diagnosis.doctor.settings import CHECKUP
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel


class Checkup:
    """
    A checkup: quiet standing, a lift of each leg, squats, leaning.

    Exercises are recognised by the size of the joints' motion alone, so a robot whose legs are
    swapped gets through; the leg that moved in the place of another is kept.

    Parameters
    ----------
    model, config : RobotModel, RobotConfig
        The robot.

    Attributes
    ----------
    moved : dict of str to str
        Foot whose joints moved, by the foot that the instruction named.
    skipped : list of str
        Exercises that were not seen in time.
    done : bool
        Whether there is nothing left to do.

    """

    def __init__(self, model: RobotModel, config: RobotConfig):
        self._legs = legs_of(config.apply_to(model), config)
        self._plan = ['stand', *(foot for foot, _ in self._legs), 'squat', 'lean']
        self._memory: deque[tuple[float, np.ndarray]] = deque()
        self._began: float | None = None
        self._asked = 0.0
        self._squats, self._down = 0, False
        self._rest: np.ndarray | None = None
        self.moved: dict[str, str] = {}
        self.skipped: list[str] = []

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        return not self._plan

    @property
    def instruction(self) -> str:
        """Instruction for the present exercise."""
        if self.done:
            return 'Done.'
        what = self._plan[0]
        return {'stand': f'Let the robot stand still for {CHECKUP.standing_time:g} s.',
                'squat': f'Squat {CHECKUP.squats} times: down and up again, slowly.',
                'lean': 'Lean and turn the body: forwards, sideways and about the vertical, for '
                        f'{CHECKUP.leaning_time:g} s.'}.get(
            what, f'Lift the leg of {what}, and put it down again.')

    def update(self, time: float, position: np.ndarray) -> bool:
        """
        Add a joint state.

        Parameters
        ----------
        time : float [s]
            Time of the sample.
        position : (nj,) array [rad]
            In the model's order.

        Returns
        -------
        bool
            Whether the instruction has changed.

        """
        if self.done:
            return False
        if self._began is None:
            self._began = self._asked = time
        memory = self._memory
        memory.append((time, position))
        while time - memory[0][0] > CHECKUP.window:
            memory.popleft()
        if time - self._asked > CHECKUP.time_limit:
            self.skipped.append(self._plan[0])
            return self._next()
        if time - self._began < CHECKUP.window:
            return False
        motion = np.ptp([q for _, q in memory], axis=0)
        what = self._plan[0]
        if what == 'stand':
            if motion.max() > CHECKUP.standing_motion:
                self._began = time - CHECKUP.window         # start again
            elif time - self._began > CHECKUP.standing_time:
                self._rest = position.copy()
                return self._next()
        elif what == 'squat':
            return self._squat(position)
        elif what == 'lean':
            if (motion.max() < CHECKUP.standing_motion
                    and time - self._began < CHECKUP.leaning_time):
                self._began = time - CHECKUP.window
            if time - self._began > CHECKUP.leaning_time + CHECKUP.window:
                return self._next()
        else:
            return self._lift(what, motion)
        return False

    def _lift(self, foot: str, motion: np.ndarray) -> bool:
        size = np.array([motion[joints].max() for _, joints in self._legs])
        order = np.argsort(size)
        if size[order[-1]] < CHECKUP.lift_motion or (
                len(order) > 1 and size[order[-1]] < CHECKUP.lift_ratio * size[order[-2]]):
            return False
        self.moved[foot] = self._legs[int(order[-1])][0]
        return self._next()

    def _squat(self, position: np.ndarray) -> bool:
        rest = self._rest if self._rest is not None else position
        bent = np.median([np.abs(position - rest)[joints].max() for _, joints in self._legs])
        if not self._down and bent > CHECKUP.squat_motion:
            self._down = True
        elif self._down and bent < 0.5 * CHECKUP.squat_motion:
            self._down = False
            self._squats += 1
        return self._next() if self._squats >= CHECKUP.squats else False

    def _next(self) -> bool:
        self._plan.pop(0)
        self._began = None
        self._memory.clear()
        return True
