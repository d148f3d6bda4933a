# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
EffortGuard: every effort goes through it on its way to the motors.

What goes out is always finite and within the limits. A command is obeyed only while it is finite,
complete, and computed from fresh joint states; otherwise the last one that was is held for a
short while, and then the safe output goes out: joint damping ``-k v`` (a limp but viscous robot)
or zero. At the start, and coming from the safe output, the command is blended in over the
start-up ramp: from what the motors deliver, where that is measured, so that nothing jumps and a
robot that stands stays up.

Controllers in hardware hold the last command for ever (ros2_controllers does), so whoever stops
must send :meth:`EffortGuard.last`, zero, as the last message.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.schema import Setting, checked

SETTINGS = (
    Setting('safety.effort_fraction', 1.0, '', 'Part of the effort limits in the URDF that may be '
            'used.', 0.0, 1.0),
    Setting('safety.input_timeout', 0.02, 's', 'Age of the joint states from which commands are '
            'not obeyed.', 1e-3, 1.0),
    Setting('safety.hold', 0.05, 's', 'How long the last good command is held before the safe '
            'output goes out.', 0.0, 1.0),
    Setting('safety.ramp', 0.5, 's', 'Time over which commands are blended in at the start and '
            'after a fault.', 0.0, 60.0),
    Setting('safety.slew_rate', 0.0, 'N m/s', 'Largest change of a commanded effort; 0: any.',
            0.0, 1e6),
    Setting('safety.output', 'damping', '', 'What goes out when commands are not obeyed.',
            choices=('damping', 'zero')),
    Setting('safety.damping', 2.0, 'N m s/rad', 'Joint damping of the safe output.', 0.0, 1000.0),
)


class GuardState(Enum):
    """Whether commands are obeyed."""

    SAFE = 'commands are not obeyed: the safe output goes out'
    HOLD = 'the last command is held, since there is no good one'
    RAMP = 'commands are being blended in'
    OBEY = 'commands are obeyed'


@dataclass(frozen=True, eq=False)
class GuardedEffort:
    """
    What may go to the motors.

    Attributes
    ----------
    effort : (nj,) array [N m or N]
        Finite and within limits, in command order.
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


class EffortGuard:
    """
    Limits, checks and ramps the efforts of one robot.

    Parameters
    ----------
    model : RobotModel
        Its effort limits hold.
    joints : sequence of str
        Command order.
    parameters : mapping, optional
        Dotted names of `SETTINGS`.

    Raises
    ------
    ConfigurationError
        When a setting is wrong, or a joint has no effort limit or a limit of zero in the URDF:
        guessing one would be dangerous, and zero would silently mean a limp joint.
    UnknownNameError
        When a joint is not in the model.

    """

    def __init__(self, model: RobotModel, joints: Sequence[str],
                 parameters: Mapping[str, Any] | None = None):
        values = checked(parameters or {}, SETTINGS)
        self.joints = tuple(joints)
        limits = [model.joints[model.joint_index(name)].effort for name in self.joints]
        for name, limit in zip(self.joints, limits):
            if not 0.0 < limit < math.inf:
                raise ConfigurationError(
                    f'joint {name!r}: expected an effort limit above zero in the URDF '
                    f'(<limit effort="..."/>), got {limit:g}; without it no effort is safe')
        self.limits = values['safety.effort_fraction'] * np.array(limits)
        self._timeout_ns = round(values['safety.input_timeout'] * 1e9)
        self._hold_ns = round(values['safety.hold'] * 1e9)
        self._ramp_ns = round(values['safety.ramp'] * 1e9)
        self._slew = values['safety.slew_rate']
        self._damping = values['safety.damping'] if values['safety.output'] == 'damping' else 0.0
        self.reset()

    def reset(self) -> None:
        """Start over: the next command is blended in from the safe output."""
        self._obeyed_ns: int | None = None
        self._ramp_start_ns: int | None = None
        self._start: np.ndarray | None = None
        self._last = np.zeros(len(self.joints))

    def apply(self, now_ns: int, command: Sequence[float] | None, velocity: Sequence[float],
              input_ns: int, measured: Sequence[float] | None = None) -> GuardedEffort:
        """
        Return what may go out.

        Parameters
        ----------
        now_ns : int [ns]
            Present time, on the clock of `input_ns`.
        command : (nj,) sequence [N m or N] or None
            In command order; None when the controller has none.
        velocity : (nj,) sequence [rad/s or m/s]
            Joint velocities, in command order, for the safe output; NaN counts as zero.
        input_ns : int [ns]
            Stamp of the joint states that the command was computed from.
        measured : (nj,) sequence [N m or N], optional
            What the motors deliver: where the ramp starts. Without it, or where it is not finite,
            the ramp starts from the safe output.

        """
        safe = self.safe(velocity)
        fault = self._fault(now_ns, command, input_ns)
        if fault:
            if self._obeyed_ns is not None and 0 <= now_ns - self._obeyed_ns < self._hold_ns:
                return GuardedEffort(self._last.copy(), GuardState.HOLD, fault, ())
            self.reset()
            self._last = safe
            return GuardedEffort(safe, GuardState.SAFE, fault, ())
        wanted = np.asarray(command, float)
        bounded = np.clip(wanted, -self.limits, self.limits)
        limited = tuple(name for name, cut in zip(self.joints, bounded != wanted) if cut)
        if self._ramp_start_ns is None:
            self._ramp_start_ns = now_ns
            self._start = self._measured(measured)
        share = self._share(now_ns)
        start = safe if self._start is None else self._start
        effort = share * bounded + (1.0 - share) * start
        if self._slew and self._obeyed_ns is not None:
            step = self._slew * max(now_ns - self._obeyed_ns, 0) * 1e-9
            effort = np.clip(effort, self._last - step, self._last + step)
        self._obeyed_ns, self._last = now_ns, effort
        return GuardedEffort(effort, GuardState.OBEY if share >= 1.0 else GuardState.RAMP, '',
                             limited)

    def safe(self, velocity: Sequence[float]) -> np.ndarray:
        """Return the safe output for joint velocities, (nj,) [N m or N]."""
        v = np.asarray(velocity, float)
        if v.shape != (len(self.joints),):
            return np.zeros(len(self.joints))
        if self._damping == 0.0:
            return np.zeros(len(self.joints))
        # Cut before multiplying: an absurd velocity must not overflow.
        fastest = self.limits / self._damping
        return -self._damping * np.clip(np.nan_to_num(v, nan=0.0, posinf=0.0, neginf=0.0),
                                        -fastest, fastest)

    def last(self) -> np.ndarray:
        """Return the last effort ever to send, zero: hardware holds it for ever."""
        self.reset()
        return np.zeros(len(self.joints))

    def _measured(self, measured: Sequence[float] | None) -> np.ndarray | None:
        values = np.asarray([] if measured is None else measured, float)
        if values.shape != (len(self.joints),) or not np.isfinite(values).all():
            return None
        return np.clip(values, -self.limits, self.limits)

    def _share(self, now_ns: int) -> float:
        assert self._ramp_start_ns is not None
        if self._ramp_ns == 0:
            return 1.0
        return min(max((now_ns - self._ramp_start_ns) / self._ramp_ns, 0.0), 1.0)

    def _fault(self, now_ns: int, command: Sequence[float] | None, input_ns: int) -> str:
        if command is None:
            return 'no command'
        values = np.asarray(command, float)
        if values.shape != (len(self.joints),):
            return (f'expected {len(self.joints)} efforts, one a joint, '
                    f'got shape {values.shape}')
        if not np.isfinite(values).all():
            bad = ', '.join(name for name, value in zip(self.joints, values)
                            if not np.isfinite(value))
            return f'the command is not finite for: {bad}'
        age = now_ns - input_ns
        if age > self._timeout_ns:
            return (f'the joint states are {age * 1e-6:.1f} ms old (allowed: '
                    f'{self._timeout_ns * 1e-6:.1f} ms)')
        return ''
