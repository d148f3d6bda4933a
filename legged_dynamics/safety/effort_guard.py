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
from legged_dynamics.safety.effort_watchdog import END_SUFFIX, RELEASE_SUFFIX
from legged_dynamics.safety.motor_output import MotorOutput
from legged_dynamics.safety.settings import SafetySettings, nanoseconds

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
    """State of an `EffortGuard`: whether commands are obeyed, and what goes out."""

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


@dataclass(frozen=True)
class GuardSettings:
    """Settings of the guard that are no parameters."""

    # Without joint states the safe output is zero; the motors are left alone after this.
    blind_ns: int = 500_000_000
    # Springs and dampers on joint states older than this could accelerate joints.
    reacting_age_ns: int = 20_000_000


GUARD = GuardSettings()


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
    feet : sequence of str, optional
        Links that stand on the ground; four or more tell where a joint without a reading is.

    Attributes
    ----------
    joints : tuple of str
    settings : SafetySettings
    state : GuardState
    suspect : str
        Why the joint states are not believed at present, or empty.
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
                 parameters: Mapping[str, Any] | None = None, feet: Sequence[str] = ()):
        self.settings = settings = SafetySettings.from_parameters(parameters)
        self.joints = tuple(joints)
        self._motors = MotorOutput(model, self.joints, settings,
                                   nanoseconds(settings.input_timeout), feet)
        self.deactivate()

    @property
    def table(self) -> np.ndarray:
        """Limits of the joints, in the columns of `safety.joint_watch`."""
        return self._motors.table

    @property
    def limits(self) -> np.ndarray:
        """Effort limits, (nj,) [N m or N]."""
        return self._motors.limits

    # ---- transitions by hand ---------------------------------------------------------------

    def activate(self) -> None:
        """Forget the past, faults included, and wait for the first good command."""
        self.deactivate()
        self.state = GuardState.ARMED

    def deactivate(self) -> None:
        """Stop obeying commands."""
        self._motors.reset()
        self.state, self.cause, self.suspect = GuardState.LIMP, '', ''
        self._tilted = math.nan
        self._heard_ns = self._good_ns = self._since_ns = 0
        self._blind, self._ramp_start = False, (0, 0)
        self._start = np.zeros(len(self.joints))

    @property
    def identity_suffix(self) -> str:
        """What tells an EffortWatchdog, behind the identity, that the sender ends or releases."""
        if self.state.silent:
            return END_SUFFIX
        return RELEASE_SUFFIX if self.state.released and self.settings.latch else ''

    def last(self) -> np.ndarray:
        """Return the last effort to send (nj,), which hardware holds: zeros unless it is kept."""
        parting = self._motors.parting().copy()
        self.deactivate()
        return parting

    # ---- state of the robot --------------------------------------------------------

    def sample(self, now_ns: int, stamp_ns: int, position: np.ndarray,
               velocity: np.ndarray, age_ns: int = 0) -> str:
        """
        Take a joint state; return why it is implausible, or an empty string.

        ``position``, ``velocity`` (nj,) are in command order; NaN where a joint has no reading.
        ``stamp_ns`` [ns] is by any clock that runs evenly; the sample is ``age_ns`` [ns] old.
        """
        watch = self._motors.watch
        fault = watch.check(stamp_ns, position, velocity)
        self.doubt(fault)
        believed = watch.believed(fault)
        if believed is not None:
            self._motors.take(believed, now_ns - age_ns)
            self._heard_ns = now_ns
        return fault

    def doubt(self, why: str) -> None:
        """Note why joint states are not used at present; empty when they are."""
        self.suspect = why

    def restamp(self) -> None:
        """Accept the next stamp as it is, because the clock of the stamps was set."""
        self._motors.watch.restamp()

    def tilted(self, angle: float | None) -> None:
        """Note the tilt of the base from upright [rad], None when it is not known."""
        self._tilted = math.nan if angle is None else angle

    # ---- efforts ---------------------------------------------------------------------------

    def apply(self, now_ns: int, command: Sequence[float] | None, age_ns: int = 0,
              measured: Sequence[float] | None = None, why: str = '',
              foreseen: bool = False) -> GuardedEffort:
        """
        Return what may go out: finite and inside the envelope.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.
        command : (nj,) sequence [N m or N] or None
            In command order; None when the controller has none.
        age_ns : int [ns]
            Age of the joint states that the command was computed from.
        measured : (nj,) sequence [N m or N], optional
            What the motors deliver: where the first ramp starts; zero where that is not known.
        why : str
            Why there is no command, for the diagnostics.
        foreseen : bool
            Whether the command is one by a model while joint states are silent: it goes out in
            place of what is held, for as long.

        """
        fault = self._fault(now_ns, command, age_ns, why)
        if self.state is GuardState.LIMP or self.state is GuardState.LATCHED:
            return self._silent(fault or self.cause or self.state.value)
        if self.state is GuardState.ARMED:
            if fault:
                return self._silent(fault)
            self._begin(now_ns, measured)
        elif fault:
            self._bridge(now_ns, fault)
        elif self.state is GuardState.HOLDING:
            # From what was held, blended for as long as it took, not from zero.
            self._blend_in(now_ns, min(nanoseconds(self.settings.resume), now_ns - self._good_ns))
        elif self.state.released and not self.settings.latch:
            self._begin(now_ns, measured)
        elif self.state.released:
            fault = f'{self.cause}; activate again'
        if self.state.released:
            return self._safe_output(now_ns, fault)
        if self.state is GuardState.HOLDING:
            if foreseen and command is not None and not _command_fault(self.joints, command):
                self._motors.effort[:] = command
                self._motors.send(now_ns)
            else:
                self._motors.hold(now_ns, 1.0, GUARD.reacting_age_ns)
            return self._sent(fault)
        return self._obey(now_ns, command)

    # ---- transitions -----------------------------------------------------------------------

    def _begin(self, now_ns: int, measured: Sequence[float] | None) -> None:
        """Start from what the motors deliver now, where that is known."""
        motors = self._motors
        values = np.asarray([] if measured is None else measured, float)
        known = values.shape == motors.last.shape and bool(np.isfinite(values).all())
        motors.begin(values if known else motors.last)
        motors.sent_ns = now_ns
        self._blend_in(now_ns, nanoseconds(self.settings.ramp))

    def _blend_in(self, now_ns: int, length_ns: int) -> None:
        self._start[:] = self._motors.last
        self._ramp_start = now_ns, length_ns
        self.state, self.cause = GuardState.RAMPING, ''

    def _bridge(self, now_ns: int, fault: str) -> None:
        """Hold, and release the robot when the fault is too long or the robot has fallen."""
        if self.state.obeying:
            self.state, self.cause = GuardState.HOLDING, fault
            self._since_ns, self._blind = self._good_ns, False
        if self.state is not GuardState.HOLDING:
            return
        fresh = self._motors.fresh(now_ns)
        if fresh and self._blind:
            # Joint states are back: give the controller time for a new command.
            self._since_ns = now_ns
        self._blind = not fresh
        if self._is_tilted():
            self._release(now_ns, fault)
        elif now_ns - self._since_ns >= nanoseconds(self.settings.hold):
            self._release(now_ns, self.cause)

    def _release(self, now_ns: int, cause: str) -> None:
        sits = self._motors.watch.one_bad and self.settings.output == 'damping'
        self.state = GuardState.SITTING if sits else GuardState.DAMPING
        self.cause, self._since_ns = cause, now_ns

    # ---- output ----------------------------------------------------------------------------

    def _obey(self, now_ns: int, command: Sequence[float] | None) -> GuardedEffort:
        motors, effort = self._motors, self._motors.effort
        effort[:] = command
        passed, length = now_ns - self._ramp_start[0], self._ramp_start[1]
        self.state = GuardState.ACTIVE if passed >= length else GuardState.RAMPING
        if passed < length:
            share = passed / length
            np.clip(effort, -self.limits, self.limits, out=effort)
            effort *= share
            effort += (1.0 - share) * self._start
        motors.send(now_ns)
        motors.remember()
        self._good_ns = now_ns
        return self._sent('')

    def _safe_output(self, now_ns: int, fault: str) -> GuardedEffort:
        duration = nanoseconds(self.settings.damping_duration)
        passed = now_ns - self._since_ns
        fresh = self._motors.fresh(now_ns, GUARD.reacting_age_ns)
        if self.state is GuardState.SITTING and (passed >= duration or self._is_tilted()
                                                 or not fresh):
            self.state, self._since_ns, passed = GuardState.DAMPING, now_ns, 0
        over = passed >= duration or (not fresh and passed >= GUARD.blind_ns)
        if self.settings.latch and over:
            self.state = GuardState.LATCHED
            return self._silent(fault)
        if self.state is GuardState.SITTING:
            self._motors.hold(now_ns, 1.0 - passed / duration, GUARD.reacting_age_ns)
        else:
            self._motors.brake(now_ns, GUARD.reacting_age_ns)
        return self._sent(fault)

    def _sent(self, fault: str) -> GuardedEffort:
        limited = tuple(name for name, cut in zip(self.joints, self._motors.cut.tolist()) if cut)
        return GuardedEffort(self._motors.effort.copy(), self.state, fault, limited)

    def _silent(self, fault: str) -> GuardedEffort:
        self._motors.last[:] = 0.0
        return GuardedEffort(np.zeros(len(self.joints)), self.state, fault, ())

    # ---- faults ----------------------------------------------------------------------------

    def _is_tilted(self) -> bool:
        return 0.0 < self.settings.tilt < self._tilted

    def _fault(self, now_ns: int, command: Sequence[float] | None, age_ns: int,
               why: str) -> str:
        """Return why a command is not obeyed, or ''."""
        motors = self._motors
        if self._is_tilted():
            return f'the robot is tilted by {math.degrees(self._tilted):.0f} deg'
        if self.suspect:
            return f'joint_states: {self.suspect}'
        if motors.sample_ns is None:
            return 'no joint states yet'
        silent_ns = now_ns - self._heard_ns
        silence = f'no joint states for {silent_ns * 1e-6:.0f} ms'
        if not motors.fresh(now_ns):
            if silent_ns > motors.timeout_ns:
                return silence
            age_ns = now_ns - motors.sample_ns
        elif command is None:
            return why or (silence if silent_ns > GUARD.reacting_age_ns else 'no command')
        elif (fault := _command_fault(self.joints, command)) or age_ns <= motors.timeout_ns:
            return fault
        return (f'the joint states are {age_ns * 1e-6:.1f} ms old (allowed: '
                f'{motors.timeout_ns * 1e-6:.1f} ms)')
