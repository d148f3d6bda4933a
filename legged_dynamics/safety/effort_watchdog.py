# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
EffortWatchdog: between controllers and motors, in a process of its own or in a driver's loop.

A controller that is killed, stopped or stuck leaves its last command in the hardware. The watchdog
passes on the commands of one controller alone, inside the same envelope as the guard's, and acts
when that misses a deadline: it holds the posture for a moment, and then lets the robot sit down,
or damps its joints. After that it obeys only a controller that was started again. It does the
same when two senders use one identity, because it cannot tell which of them is genuine.

A joint whose readings are implausible is held by its position or its velocity, whichever is still
right, or by the effort that it had, and let go with the rest; healthy joints are held and braked
by their own readings.

Everything it needs is allocated and compiled when it is made; its loop does neither.

Hardware holds the last command indefinitely. A watchdog that is killed leaves it there, and the
next one cannot ask the motors what they were told. The efforts, and the means that would be held,
are therefore written to a file that is mapped into memory (a copy of some numbers for each
command; the kernel keeps the pages when the process is killed), with a flag that is cleared when
nothing is sent any more. A watchdog that finds the flag set, and motors that deliver these
efforts, takes the robot over.
"""
from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.safety.joint_watch import one_a_joint
from legged_dynamics.safety.motor_output import MotorOutput
from legged_dynamics.safety.sample_age import StampClock
from legged_dynamics.safety.settings import SafetySettings, WatchdogSettings, nanoseconds


class LastEfforts:
    """
    File of `EffortWatchdog.memory`; `left`: the numbers of a watchdog that crashed, or None.

    Without a path nothing outlives the process.
    """

    def __init__(self, path: Path | None, count: int):
        known = path is not None and path.is_file() and path.stat().st_size == 8 * (count + 1)
        self._map = np.zeros(count + 1) if path is None else np.memmap(
            path, np.float64, 'r+' if known else 'w+', shape=(count + 1,))
        values = np.array(self._map[1:])
        usable = self._map[0] == 1.0 and np.isfinite(values).all()
        self.left = values if usable else None

    def note(self, efforts: np.ndarray) -> None:
        """Store the efforts being sent, and what belongs to them."""
        self._map[1:] = efforts.ravel()
        self._map[0] = 1.0

    def clear(self) -> None:
        """Note that nothing is sent any more, and zero was the last."""
        self._map[0] = 0.0
        self.left = None


def place_of(name: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """
    Return the file of a watchdog's last efforts in a private folder, or None.

    ``name``: domain, node and joints, to tell watchdogs apart. In XDG_RUNTIME_DIR, else in
    the folder of temporary files.
    """
    parent = Path(environ.get('XDG_RUNTIME_DIR') or tempfile.gettempdir())
    folder = parent / f'legged_dynamics-{os.getuid()}'
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    if status.st_uid != os.getuid() or status.st_mode & 0o022 or folder.is_symlink():
        return None
    return folder / f'last_efforts_{hashlib.sha256(name.encode()).hexdigest()[:16]}'


END_SUFFIX = ' bye'  # of the sender's identity in its last message
RELEASE_SUFFIX = ' lets go'  # while the sender's own guard releases the robot for good


@dataclass(frozen=True)
class TakeOverSettings:
    """Settings of a watchdog that takes over from one that died."""

    same_effort: float = 0.1  # part of its limit within which a motor delivers what it was told
    no_effort: float = 0.02  # part of the limits below which motors count as free of torque
    discovery_ns: int = 3_000_000_000  # longest wait for joint states
    # for which the posture is held at least, until a controller that is still alive is found
    hold_ns: int = 500_000_000


@dataclass(frozen=True)
class SenderSettings:
    """What senders of commands can do."""

    remembered: int = 8  # names of other senders that are counted
    rate: int = 4000  # 1/s by which a sender's count may grow: the bus takes no more
    burst: int = 100  # by which it may grow at once


TAKE_OVER = TakeOverSettings()
SENDERS = SenderSettings()


class WatchdogState(Enum):
    """State of an `EffortWatchdog`: what the motors get."""

    IDLE = 'nobody commands: nothing goes out'
    FORWARDING = 'commands of the node that has the motors are passed on'
    HOLDING = 'the node that has the motors is silent: the posture is held'
    SITTING = 'the robot is let down on a fading posture'
    DAMPING = 'joints are braked'
    LATCHED = 'nothing goes out until a controller is started again'


class EffortWatchdog:
    """
    Watches over the commands for one robot's motors.

    Call :meth:`joints` and :meth:`command` as messages come, and :meth:`output` after each command
    and at least every few milliseconds; times are of one monotonic clock.

    Parameters
    ----------
    model : RobotModel
        With the configured joint physics.
    joints : sequence of str
        Command order.
    parameters : mapping, optional
        Values by dotted name, of `WATCHDOG_SETTINGS` and `SHARED` in `safety.settings`.
    feet : sequence of str, optional
        Links that stand on the ground; four or more tell where a joint without a reading is.

    Attributes
    ----------
    state : WatchdogState
    owner : str or None
        Name of the node that has the motors, or had them last.
    cause : str
        What ended FORWARDING.
    refused : dict of str to int
        Messages that were not passed on, by the name of their sender.
    fault : str
        Why the last message of the owner was not passed on, or empty.
    doubt : str
        Why the last joint state is not used, or which joint's part of it, or empty.

    Raises
    ------
    ConfigurationError
        When a setting is wrong, or a joint has no usable effort limit in the URDF.
    UnknownNameError
        When a joint is not in the model.

    """

    def __init__(self, model: RobotModel, joints: Sequence[str],
                 parameters: Mapping[str, Any] | None = None, feet: Sequence[str] = ()):
        given = parameters or {}
        own = WatchdogSettings.from_parameters({name: value for name, value in given.items()
                                                if not name.startswith('safety.')})
        shared = SafetySettings.from_parameters({name: value for name, value in given.items()
                                                 if name.startswith('safety.')})
        self.names, self._settings = tuple(joints), own
        self._damping_ns = nanoseconds(shared.damping_duration)
        self._hold_ns, self._deadline_ns = nanoseconds(own.hold), nanoseconds(own.deadline)
        self.motors = MotorOutput(model, self.names, shared, nanoseconds(own.input_timeout), feet)
        self._stamps = StampClock()
        n = len(self.names)
        self._wanted, self._given, self._load = np.zeros(n), np.zeros(n), np.full(n, np.nan)
        self.reset()

    def reset(self) -> None:
        """Forget all senders: the first to command gets the motors."""
        self.state = WatchdogState.IDLE
        self.owner: str | None = None
        self.cause = self.fault = self.doubt = ''
        self.refused: dict[str, int] = {}
        self._count = -1
        self._heard_ns = self._since_ns = 0
        self.motors.reset()
        self._stamps.reset()
        self._jumps = self._stamps.jumps
        self._contested = self._empty = self._blind = False
        self._left: np.ndarray | None = None
        self._load[:] = np.nan

    # ---- in --------------------------------------------------------------------------------

    def joints(self, now_ns: int, stamp_ns: int, position: np.ndarray, velocity: np.ndarray,
               effort: np.ndarray | None = None) -> str:
        """
        Take a joint state; return why it is implausible, or an empty string; kept in `doubt`.

        ``position``, ``velocity`` [rad, rad/s or m, m/s] and ``effort`` [N m or N], what the
        motors deliver, are (nj,) in command order; NaN where there is no reading. ``stamp_ns`` is
        the sample's stamp, ``now_ns`` the time at which it came: its age is their difference less
        the least one ever seen. A source whose stamps jump is refused for a moment.
        """
        watch, fault = self.motors.watch, self._stamps.check(now_ns, stamp_ns, stamp_ns)
        if fault:
            self.doubt = fault
            return fault
        if self._stamps.jumps != self._jumps:
            self._jumps = self._stamps.jumps
            watch.restamp()
        self.doubt = fault = watch.check(stamp_ns, position, velocity)
        believed = watch.believed(fault)
        if believed is None:
            return fault
        self.motors.take(believed, now_ns - self._stamps.age(now_ns, stamp_ns))
        if effort is not None:
            self._note_load(effort)
        return fault

    def _note_load(self, effort: np.ndarray) -> None:
        try:
            values = one_a_joint(effort, len(self.names), 'efforts')
        except MeasurementError as error:
            self.doubt = str(error)
            return
        np.copyto(self._load, values, where=np.isfinite(values))

    def take_over(self, now_ns: int, left: np.ndarray | None = None) -> None:
        """
        Hold the posture of a robot whose watchdog has ended, when joint states come.

        ``now_ns``: present time. ``left``: the `memory` of that watchdog, or None: any efforts.
        Motors that deliver other efforts are left alone. With nobody there the robot sits down.
        """
        self._left = None if left is None else left.reshape(-1, len(self.names))
        self._empty, self._heard_ns = True, now_ns
        # Joint states are waited for from the first look on: simulated time may not have come yet.
        self.state, self._since_ns = WatchdogState.HOLDING, -1
        self.cause = 'the motors have torque, and nobody commands them'

    def command(self, now_ns: int, efforts: Sequence[float], owner: str = '',
                count: int = 0) -> bool:
        """
        Take a command; return whether it is passed on, else `fault` or `refused` says why not.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.
        efforts : (nj,) sequence [N m or N]
            In command order.
        owner : str
            Identity of the sender, unknown to others before it commands. `END_SUFFIX` is appended
            in its last message, `RELEASE_SUFFIX` while it releases the robot: one that was silent
            does not regain the motors in order to do that.
        count : int
            Grows from message to message of a sender with a name. The same again is no sign of
            life; one that goes back, or is further on than a sender can be, is a second sender's.

        """
        ends, releases = owner.endswith(END_SUFFIX), owner.endswith(RELEASE_SUFFIX)
        name = owner.removesuffix(END_SUFFIX).removesuffix(RELEASE_SUFFIX)
        if not self._owns(name):
            if name in self.refused or len(self.refused) < SENDERS.remembered:
                self.refused[name] = self.refused.get(name, 0) + 1
            return False
        if ends:
            self.release(now_ns, f'{name} has left')
            return False
        if releases and name == self.owner and self.state is WatchdogState.HOLDING:
            self.release(now_ns, f'{name} was silent, and its guard lets the robot go')
            return False
        if name and name == self.owner and self._repeats(now_ns, name, efforts, count):
            return False
        self.fault = self._read(efforts, name)
        if self.fault:
            return False
        if self.state is WatchdogState.IDLE or self._empty:
            self._start_from_load()
            self.motors.sent_ns = now_ns       # efforts change from there at their rate
        self._wanted[:] = self._given
        self.owner, self._count, self.cause, self._contested = name, count, '', False
        self._heard_ns, self.state = now_ns, WatchdogState.FORWARDING
        return True

    def _read(self, efforts: Sequence[float], name: str) -> str:
        """Read efforts; return why they cannot be passed on, or ''."""
        if len(efforts) != len(self.names):
            return f'expected {len(self.names)} efforts, got {len(efforts)}'
        try:
            self._given[:] = efforts
        except (TypeError, ValueError):
            return f'{name or "a command"} is no array of numbers'
        return '' if math.isfinite(self._given.sum()) else f'{name or "a command"} is not finite'

    def _repeats(self, now_ns: int, name: str, efforts: Sequence[float], count: int) -> bool:
        """Note whether a message of the owner cannot be its next one."""
        if self.state is WatchdogState.IDLE or self.state is WatchdogState.LATCHED:
            return False
        ahead = (count - self._count) % 2**32
        passed = max(now_ns - self._heard_ns, 0) * 1e-9
        if 0 < ahead <= SENDERS.burst + SENDERS.rate * passed:
            return False
        if ahead == 0 and np.array_equal(efforts, self._wanted):
            self.fault = f'{name} repeats message {count}'
            return True
        self.fault = (f'a second sender has the identity of {name}: message {count} came after '
                      f'{self._count}')
        if self.state is WatchdogState.FORWARDING:
            self._since_ns = now_ns
        self.state, self.cause, self._contested = WatchdogState.HOLDING, self.fault, True
        return True

    def _start_from_load(self) -> None:
        """Let efforts go on from what the motors deliver, where that is known."""
        self.motors.begin(np.where(np.isfinite(self._load), self._load,
                                    self.motors.last if self._left is None else self._left[0]))
        self._empty = False

    def release(self, now_ns: int, cause: str) -> None:
        """Let the robot down from ``now_ns`` on; ``cause`` is said. Its controller is ignored."""
        if self.state in (WatchdogState.FORWARDING, WatchdogState.HOLDING):
            self._release(now_ns, cause)

    @property
    def memory(self) -> np.ndarray:
        """What the next watchdog needs, if this one is killed; a view, (3, nj)."""
        return self.motors.memory

    @property
    def at_rest(self) -> bool:
        """Whether nothing is sent."""
        return self.state in (WatchdogState.IDLE, WatchdogState.LATCHED)

    def _owns(self, name: str) -> bool:
        if self.state is WatchdogState.HOLDING:
            return not self._contested and self.owner in (None, name)
        if self.state is WatchdogState.FORWARDING:
            return name == self.owner
        # A controller that was released may not resume; one that was started again has a new name.
        return self.state is WatchdogState.IDLE or (
            self.state is WatchdogState.LATCHED and name not in ('', self.owner))

    # ---- out -------------------------------------------------------------------------------

    def output(self, now_ns: int) -> np.ndarray | None:
        """
        Return what the motors are to get at ``now_ns``, (nj,) in command order [N m or N].

        The same array each time; None when nothing is to be sent.
        """
        if self.state is WatchdogState.FORWARDING and self.overdue(now_ns):
            self.cause = f'{self.owner or "who commanded"} is silent'
            self.state, self._since_ns = WatchdogState.HOLDING, now_ns
        elif self.state is WatchdogState.HOLDING:
            if self._empty and not self._found(now_ns):
                return None
            longest_ns = self._hold_ns if self.owner else max(self._hold_ns, TAKE_OVER.hold_ns)
            if now_ns - self._since_ns > longest_ns:
                self._release(now_ns, self.cause)
        if self.at_rest:
            return None
        if self.state is WatchdogState.FORWARDING:
            return self._forward(now_ns)
        if self.state is WatchdogState.HOLDING:
            return self.motors.hold(now_ns, 1.0)
        return self._sit(now_ns) if self.state is WatchdogState.SITTING else self._damp(now_ns)

    def overdue(self, now_ns: int) -> bool:
        """Return whether :meth:`output` has something to send at ``now_ns`` without a command."""
        if self.state is WatchdogState.FORWARDING:
            return now_ns - self._heard_ns > self._deadline_ns
        return not self.at_rest

    def _release(self, now_ns: int, cause: str) -> None:
        self.cause, self._since_ns, self._blind = cause, now_ns, False
        if self.motors.keeps:
            # Until somebody commands: nobody may let go of a wall.
            self.state, self.owner, self._contested = WatchdogState.HOLDING, None, False
            return
        sits = self._settings.release == 'sit'
        self.state = WatchdogState.SITTING if sits else WatchdogState.DAMPING

    def _found(self, now_ns: int) -> bool:
        """Begin to hold what a dead watchdog has left; return whether anything is to be sent."""
        motors = self.motors
        if self._since_ns < 0:
            self._since_ns = now_ns
        if not motors.fresh(now_ns):
            if now_ns - self._since_ns > TAKE_OVER.discovery_ns:    # at least the torque ends
                self._empty = False
                self._release(now_ns, f'{self.cause}; no joint states either')
            return not self._empty
        if not self._left_torque():
            self.state, self.cause, self._empty = WatchdogState.IDLE, '', False
            return False
        self._start_from_load()
        motors.follow()
        if self._left is not None and len(self._left) == len(motors.memory):
            motors.land(now_ns, self._left[1:])
        self._since_ns = motors.sent_ns = now_ns
        return True

    def _left_torque(self) -> bool:
        """Return whether the motors deliver what a dead watchdog has left, as far as is known."""
        known = np.isfinite(self._load)
        if not known.any():
            return True
        load, limits = self._load[known], self.motors.limits[known]
        other = self._left is not None and (
            np.abs(load - self._left[0][known]) > TAKE_OVER.same_effort * limits).any()
        return not other and bool((np.abs(load) >= TAKE_OVER.no_effort * limits).any())

    def _forward(self, now_ns: int) -> np.ndarray:
        self.motors.effort[:] = self._wanted
        out = self.motors.send(now_ns)
        self.motors.remember()
        return out

    def _sit(self, now_ns: int) -> np.ndarray:
        """Let the robot down on a fading posture, or where it cannot be held brake its joints."""
        motors, passed = self.motors, now_ns - self._since_ns
        fresh, duration = motors.fresh(now_ns), nanoseconds(self._settings.sit)
        if fresh and self._blind:
            motors.follow()     # it has moved meanwhile: from here on, not back to where it was
        self._blind = not (fresh or motors.fresh(now_ns - self._hold_ns))
        if passed < duration and motors.sample_ns is not None:
            if not self._blind:
                return motors.hold(now_ns, 1.0 - passed / duration)
            motors.effort[:] = 0.0      # nothing can be held unseen for longer
            return motors.send(now_ns)
        self.state, self._since_ns = WatchdogState.DAMPING, now_ns
        return self._damp(now_ns)

    def _damp(self, now_ns: int) -> np.ndarray:
        if now_ns - self._since_ns >= self._damping_ns:
            self.state = WatchdogState.LATCHED
            self.motors.rest()
            return self.motors.effort
        return self.motors.brake(now_ns)
