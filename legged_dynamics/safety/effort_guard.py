# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
EffortGuard: the last check of every effort before it goes to the motors.

What goes out is always finite and inside the envelope: effort, slew, power, velocity, position
with a damped wall. A command is obeyed only while it is finite, complete, and answers joint states
that are recent and plausible. A fault is bridged (HOLDING): by PD on the posture of the last good
command while joint states come, else by the last efforts. A fault longer than ``safety.hold``
gives the safe output (DAMPING), which takes energy out of joints and puts none in, and then
nothing until the guard is activated again (LATCHED). One bad joint is no reason to drop the robot:
it is let down on a fading posture (SITTING). The bad joint is then held by its position or its
velocity, whichever is still right, or keeps its fading effort.

Controllers in hardware hold the last command indefinitely (ros2_controllers does), so a node that
stops must send :meth:`EffortGuard.last`, zero, as its last message.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.safety.effort_watchdog import GOODBYE, LETS_GO
from legged_dynamics.safety.envelope import bound, brake, compile_kernels, posture
from legged_dynamics.safety.joint_watch import EFFORT, JointWatch, limit_table
from legged_dynamics.safety.settings import SafetySettings

# -------------------------------------------------------------------------------------------------
# States of an EffortGuard, and its output.
#
# ::
#
#                  activate            first good command            ramp over
#           LIMP ------------> ARMED ---------------------> RAMPING ----------> ACTIVE
#            ^                   ^                            |  ^                 |
#            | deactivate        |                      fault |  | good again      | fault
#            |                   |                            v  |                 v
#         any state              | activate                  HOLDING <-------------+
#                                |                              | too long, or fallen
#                             LATCHED <------------- DAMPING, after SITTING with one bad joint
#                                       damping_duration (of each)


class GuardState(Enum):
    """Whether commands are obeyed."""

    LIMP = 'not active: nothing goes out'
    ARMED = 'waiting for the first good command: nothing goes out'
    RAMPING = 'commands are being blended in'
    ACTIVE = 'commands are obeyed'
    HOLDING = 'a fault is bridged: the posture or the last efforts are held'
    DAMPING = 'the safe output goes out'
    SITTING = 'one joint is bad: the robot is let down on a fading posture'
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
        return self in (GuardState.DAMPING, GuardState.SITTING, GuardState.LATCHED)


@dataclass(frozen=True, eq=False)
class GuardedEffort:
    """
    Efforts that may go to the motors.

    Attributes
    ----------
    effort : (nj,) array [N m or N]
        Finite and within limits, in command order; zero while the state is silent.
    state : GuardState
    fault : str
        Why the command was not obeyed, or empty.
    limited : tuple of str
        Joints whose command was clipped to a limit.

    """

    effort: np.ndarray
    state: GuardState
    fault: str
    limited: tuple[str, ...]


def _command_fault(joints: Sequence[str], command: Sequence[float]) -> str:
    """Return why a command cannot be obeyed: a wrong number of efforts, or one not finite."""
    values = np.asarray(command, float)
    if values.shape != (len(joints),):
        return f'expected {len(joints)} efforts, one a joint, got shape {values.shape}'
    if not np.isfinite(values).all():
        bad = ', '.join(name for name, value in zip(joints, values) if not np.isfinite(value))
        return f'the command is not finite for: {bad}'
    return ''


# -------------------------------------------------------------------------------------------------


# Averaging time of the efforts to hold [s], since the last command may be a spike of noise.
AVERAGING = 0.01
# Longest time step that the slew limit is applied to [s].
LONGEST_STEP = 0.02
# Without joint states the safe output is zero; the motors are left alone after this [s].
BLIND_DURATION = 0.5
# Springs and dampers on joint states older than this could accelerate joints [ns].
REACTING_AGE_NS = 20_000_000


class EffortGuard:
    """
    Limits, checks and ramps the efforts of one robot.

    All times are of one monotonic clock. Joint states go in by :meth:`sample` as they come, then
    each command by :meth:`apply`; while none comes, :meth:`apply` with None returns what to send.

    Parameters
    ----------
    model : RobotModel
        With the configured joint physics; its limits hold as long as the guard lives.
    joints : sequence of str
        Command order.
    parameters : mapping, optional
        Values by dotted name, of `safety.settings.SafetySettings`.

    Attributes
    ----------
    joints : tuple of str
    limits : (nj,) array [N m or N]
        Effort limits.
    state : GuardState
    suspect : str
        Why the joint states are not believed at present, or empty.
    latches : bool
        Whether only :meth:`activate` ends the safe output.
    cause : str
        What led out of ACTIVE, for as long as the guard is not back there.

    Raises
    ------
    ConfigurationError
        When a setting is wrong, or a joint has no effort limit or a limit of zero in the URDF.
    UnknownNameError
        When a joint is not in the model.

    """

    def __init__(self, model: RobotModel, joints: Sequence[str],
                 parameters: Mapping[str, Any] | None = None):
        settings = SafetySettings.from_parameters(parameters)
        self.joints = tuple(joints)
        self.table = limit_table(model, self.joints, settings)
        self.limits = self.table[:, EFFORT].copy()
        self._watch = JointWatch(self.joints, self.table, settings.frozen)
        self._timeout_ns = round(settings.input_timeout * 1e9)
        self._hold_ns = round(settings.hold * 1e9)
        self._ramp_ns = round(settings.ramp * 1e9)
        self._resume_ns = round(settings.resume * 1e9)
        self._damping_ns = round(settings.damping_duration * 1e9)
        self.latches, self._tilt = settings.latch, settings.tilt
        self._sits = settings.output == 'damping'
        n = len(self.joints)
        self._state, self._unknown = np.zeros((2, n)), np.full((2, n), np.nan)
        self._effort, self._feed, self._place = np.zeros(n), np.zeros(n), np.zeros(n)
        self._cut = np.zeros(n, np.int64)
        self.deactivate()
        compile_kernels(self.table, self._watch)

    # ---- transitions by hand ---------------------------------------------------------------

    def activate(self) -> None:
        """Forget the past, faults included, and wait for the first good command."""
        self.deactivate()
        self.state = GuardState.ARMED

    def deactivate(self) -> None:
        """Stop obeying commands."""
        self._watch.reset()
        self.state, self.cause = GuardState.LIMP, ''
        self.suspect = ''
        self._tilted: float | None = None
        self._sample_ns: int | None = None
        self._heard_ns = 0
        self._good_ns = self._sent_ns = self._since_ns = 0
        self._blind = False
        self._ramp_start: tuple[int, int] = 0, 0
        self._start = np.zeros(len(self.joints))
        self._last = np.zeros(len(self.joints))
        self._feed[:] = 0.0

    @property
    def farewell(self) -> str:
        """What an EffortWatchdog is told behind the sender's name: that it ends, or lets go."""
        if self.state.silent:
            return GOODBYE
        return LETS_GO if self.state.released and self.latches else ''

    def last(self) -> np.ndarray:
        """
        Return the last effort to send, zero: hardware holds it indefinitely.

        Returns
        -------
        (nj,) array [N m or N]
            Zeros.

        """
        self.deactivate()
        return np.zeros(len(self.joints))

    # ---- state of the robot --------------------------------------------------------

    def sample(self, now_ns: int, stamp_ns: int, position: np.ndarray,
               velocity: np.ndarray, age_ns: int = 0) -> str:
        """
        Take a joint state; return why it is implausible, or an empty string.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.
        stamp_ns : int [ns]
            When the joints were read, by any clock that runs evenly.
        position, velocity : (nj,) array [rad, rad/s or m, m/s]
            In command order; NaN where a joint has no reading. Arrays of another length, or of
            anything but numbers, are a fault like any other.
        age_ns : int [ns]
            How old the sample is.

        Returns
        -------
        str
            The fault of the first joint that has one.

        """
        fault = self._watch.check(stamp_ns, position, velocity)
        self.doubt(fault)
        believed = self._watch.believed(fault)
        if believed is not None:
            self._state[:] = believed
            self._heard_ns, self._sample_ns = now_ns, now_ns - age_ns
        return fault

    def doubt(self, why: str) -> None:
        """
        Note why joint states are not used at present.

        Parameters
        ----------
        why : str
            Reason; an empty string when they are used again.

        """
        self.suspect = why

    def restamp(self) -> None:
        """Accept the next stamp as it is, because the clock of the stamps was set."""
        self._watch.restamp()

    def tilted(self, angle: float | None) -> None:
        """
        Note the tilt of the base.

        Parameters
        ----------
        angle : float [rad] or None
            Of the base from upright; None when it is not known.

        """
        self._tilted = angle

    # ---- efforts ---------------------------------------------------------------------------

    def apply(self, now_ns: int, command: Sequence[float] | None, age_ns: int = 0,
              measured: Sequence[float] | None = None, why: str = '') -> GuardedEffort:
        """
        Return what may go out.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.
        command : (nj,) sequence [N m or N] or None
            In command order; None when the controller has none.
        age_ns : int [ns]
            Age of the joint states that the command was computed from.
        measured : (nj,) sequence [N m or N], optional
            What the motors deliver: where the first ramp starts. Without it, or where it is not
            finite, it starts from zero.
        why : str
            Why there is no command, for the diagnostics.

        Returns
        -------
        GuardedEffort
            Finite and inside the envelope.

        """
        fault = self._fault(now_ns, command, age_ns, why)
        if self.state is GuardState.LIMP or self.state is GuardState.LATCHED:
            return self._silent(fault or self.cause or self.state.value)
        if self.state is GuardState.ARMED:
            if fault:
                return self._silent(fault)
            self._begin(now_ns, measured)
        elif fault:
            self._falter(now_ns, fault)
        elif self.state is GuardState.HOLDING:
            self._resume(now_ns)
        elif self.state.released:
            if self.latches:
                fault = f'{self.cause}; activate again'
            else:
                self._begin(now_ns, measured)
        if self.state.released:
            return self._let_go(now_ns, fault)
        if self.state is GuardState.HOLDING:
            return self._hold(now_ns, fault)
        return self._obey(now_ns, command)

    def _begin(self, now_ns: int, measured: Sequence[float] | None) -> None:
        values = np.asarray([] if measured is None else measured, float)
        known = values.shape == self._last.shape and bool(np.isfinite(values).all())
        self._start = np.clip(values, -self.limits, self.limits) if known else self._last.copy()
        # What the motors deliver now is what the slew starts from.
        self._last = self._start.copy()
        self._feed[:] = self._start
        self._ramp_start, self._sent_ns = (now_ns, self._ramp_ns), now_ns
        self.state, self.cause = GuardState.RAMPING, ''

    def _resume(self, now_ns: int) -> None:
        """Go on from what was held: blended for as long as it took, not from zero."""
        self._start = self._last.copy()
        self._ramp_start = now_ns, min(self._resume_ns, now_ns - self._good_ns)
        self.state, self.cause = GuardState.RAMPING, ''

    def _falter(self, now_ns: int, fault: str) -> None:
        if self.state.obeying:
            self.state, self.cause = GuardState.HOLDING, fault
            self._since_ns, self._blind = self._good_ns, False
        if self.state is GuardState.HOLDING:
            if self._is_tilted():
                self._release(now_ns, fault, upright=False)
                return
            if not self._fresh(now_ns):
                self._blind = True
            elif self._blind:
                # Joint states are back: give the controller time for a new command.
                self._since_ns, self._blind = now_ns, False
            if now_ns - self._since_ns >= self._hold_ns:
                self._release(now_ns, self.cause)

    def _release(self, now_ns: int, cause: str, upright: bool = True) -> None:
        sits = upright and self._watch.one_bad and self._sits and self._fresh(now_ns)
        self.state = GuardState.SITTING if sits else GuardState.DAMPING
        self.cause, self._since_ns = cause, now_ns

    def _obey(self, now_ns: int, command: Sequence[float] | None) -> GuardedEffort:
        effort = self._effort
        effort[:] = command
        began, length = self._ramp_start
        share = 1.0 if now_ns - began >= length else (now_ns - began) / length
        self.state = GuardState.ACTIVE if share >= 1.0 else GuardState.RAMPING
        if share < 1.0:
            np.clip(effort, -self.limits, self.limits, out=effort)
            effort *= share
            effort += (1.0 - share) * self._start
        out = self._send(now_ns, '')
        weight = 1.0 - math.exp(-(now_ns - self._good_ns) * 1e-9 / AVERAGING)
        self._feed += (weight if self._good_ns else 1.0) * (out.effort - self._feed)
        np.copyto(self._place, self._state[0], where=np.isfinite(self._state[0]))
        self._good_ns = now_ns
        return out

    def _hold(self, now_ns: int, fault: str) -> GuardedEffort:
        if self._fresh(now_ns, REACTING_AGE_NS):
            posture(self.table, self._state, self._place, self._feed, 1.0, self._effort)
        else:
            self._effort[:] = self._feed
        return self._send(now_ns, fault)

    def _let_go(self, now_ns: int, fault: str) -> GuardedEffort:
        passed = now_ns - self._since_ns
        fresh = self._fresh(now_ns, REACTING_AGE_NS)
        if self.state is GuardState.SITTING and (passed >= self._damping_ns
                                                 or self._is_tilted() or not fresh):
            self.state, self._since_ns, passed = GuardState.DAMPING, now_ns, 0
        if self.state is GuardState.SITTING:
            share = 1.0 - passed / self._damping_ns
            posture(self.table, self._state, self._place, self._feed, share, self._effort)
        elif fresh:
            brake(self.table, self._state[1], self._watch.seen_velocity, self._effort)
        else:
            self._effort[:] = 0.0
        if self.latches and (passed >= self._damping_ns or (
                not fresh and passed >= round(BLIND_DURATION * 1e9))):
            self.state = GuardState.LATCHED
            return self._silent(fault)
        return self._send(now_ns, fault)

    def _send(self, now_ns: int, fault: str) -> GuardedEffort:
        dt = min(max(now_ns - self._sent_ns, 0) * 1e-9, LONGEST_STEP)
        state = self._state if self._fresh(now_ns) else self._unknown
        bound(self.table, state, self._last, dt, self._effort, self._cut)
        self._last[:] = self._effort
        self._sent_ns = now_ns
        limited = tuple(name for name, cut in zip(self.joints, self._cut.tolist()) if cut)
        return GuardedEffort(self._effort.copy(), self.state, fault, limited)

    def _silent(self, fault: str) -> GuardedEffort:
        self._last[:] = 0.0
        return GuardedEffort(np.zeros(len(self.joints)), self.state, fault, ())

    def _is_tilted(self) -> bool:
        return self._tilted is not None and 0.0 < self._tilt < self._tilted

    def _fresh(self, now_ns: int, limit_ns: int = 10**18) -> bool:
        return (self._sample_ns is not None
                and now_ns - self._sample_ns <= min(self._timeout_ns, limit_ns))

    def _fault(self, now_ns: int, command: Sequence[float] | None, age_ns: int,
               why: str) -> str:
        if self._is_tilted():
            assert self._tilted is not None
            return f'the robot is tilted by {math.degrees(self._tilted):.0f} deg'
        if self.suspect:
            return f'joint_states: {self.suspect}'
        if self._sample_ns is None:
            return 'no joint states yet'
        silent_ns = now_ns - self._heard_ns
        silence = f'no joint states for {silent_ns * 1e-6:.0f} ms'
        if not self._fresh(now_ns):
            late = silent_ns > self._timeout_ns
            return silence if late else self._old(now_ns - self._sample_ns)
        if command is None:
            return why or (silence if silent_ns > REACTING_AGE_NS else 'no command')
        fault = _command_fault(self.joints, command)
        return self._old(age_ns) if not fault and age_ns > self._timeout_ns else fault

    def _old(self, age_ns: int) -> str:
        return (f'the joint states are {age_ns * 1e-6:.1f} ms old (allowed: '
                f'{self._timeout_ns * 1e-6:.1f} ms)')
