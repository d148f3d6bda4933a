# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
The states of an EffortGuard, and what it lets out.

::

                 activate            first good command            ramp over
          LIMP ------------> ARMED ---------------------> RAMPING ----------> ACTIVE
           ^                   ^                            |  ^                 |
           | deactivate        |                      fault |  | good again      | fault
           |                   |                            v  |                 v
        any state              | activate                  HOLDING <-------------+
                               |                              | too long, or fallen
                            LATCHED <------------------- DAMPING
                                      damping_duration
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np


class GuardState(Enum):
    """Whether commands are obeyed."""

    LIMP = 'not active: nothing goes out'
    ARMED = 'waiting for the first good command: nothing goes out'
    RAMPING = 'commands are being blended in'
    ACTIVE = 'commands are obeyed'
    HOLDING = 'a fault is bridged: the posture or the last efforts are held'
    DAMPING = 'the safe output goes out'
    LATCHED = 'nothing goes out until the guard is activated again'

    @property
    def obeying(self) -> bool:
        """Whether commands have a part in what goes out."""
        return self in (GuardState.RAMPING, GuardState.ACTIVE)

    @property
    def silent(self) -> bool:
        """Whether nothing is to be sent."""
        return self in (GuardState.LIMP, GuardState.ARMED, GuardState.LATCHED)

    @property
    def released(self) -> bool:
        """Whether the robot has been let go after it was commanded."""
        return self in (GuardState.DAMPING, GuardState.LATCHED)


@dataclass(frozen=True, eq=False)
class GuardedEffort:
    """
    What may go to the motors.

    Attributes
    ----------
    effort : (nj,) array [N m or N]
        Finite and within limits, in command order; zero while the state is silent.
    state : GuardState
    fault : str
        Why the command was not obeyed, or empty.
    limited : tuple of str
        Joints whose command was cut to a limit.

    """

    effort: np.ndarray
    state: GuardState
    fault: str
    limited: tuple[str, ...]


def command_fault(joints: Sequence[str], command: Sequence[float]) -> str:
    """Return why efforts are no command for joints, or an empty string."""
    values = np.asarray(command, float)
    if values.shape != (len(joints),):
        return f'expected {len(joints)} efforts, one a joint, got shape {values.shape}'
    if not np.isfinite(values).all():
        bad = ', '.join(name for name, value in zip(joints, values) if not np.isfinite(value))
        return f'the command is not finite for: {bad}'
    return ''
