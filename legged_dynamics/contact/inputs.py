# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a call is given: converted where that can be done, and refused where it cannot."""
from __future__ import annotations

import numpy as np

from legged_dynamics.contact.memory import NOT_SOLVED, NOT_UNIT
from legged_dynamics.dynamics.motion import BaseMotion, state_vector
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel


def as_inputs(model: RobotModel, position: np.ndarray, velocity: np.ndarray,
              acceleration: np.ndarray, base: np.ndarray | BaseMotion,
              effort: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """
    Return a tick's inputs as arrays that its kernel takes; without effort, that is None.

    Raises
    ------
    MeasurementError
        When a shape does not fit or a value is not finite.

    """
    packed = base.packed() if isinstance(base, BaseMotion) else base
    inputs = [state_vector(position, model.nq, 'joint positions'),
              state_vector(velocity, model.nv, 'joint velocities'),
              state_vector(acceleration, model.nv, 'joint accelerations'),
              state_vector(packed, 9, "components of the base's motion")]
    measured = None if effort is None else np.array(effort, float)
    if measured is not None and measured.shape != (model.nv,):
        raise MeasurementError(f'expected {model.nv} joint torques, got an array of shape '
                               f'{measured.shape}')
    return (*(a if a.flags.writeable else a.copy() for a in inputs), measured)


def refuse(failure: int, where: str = '') -> None:
    """
    Raise the error that a kernel's answer stands for.

    Raises
    ------
    MeasurementError
        Always.

    """
    reasons = {NOT_UNIT: 'expected a unit ground normal in base axes, got one of another length',
               NOT_SOLVED: 'found no admissible forces in as many steps as are allowed; the '
                           'motion, or a limit, is out of all proportion'}
    raise MeasurementError(where + reasons.get(failure, 'expected finite joint states and base '
                                               'motion, and finite forces from them'))
