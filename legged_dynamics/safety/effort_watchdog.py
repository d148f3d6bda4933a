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
next one cannot ask the motors what they were told. The efforts are therefore written to a file
that is mapped into memory (a copy of some numbers for each command; the kernel keeps the pages
when the process is killed), with a flag that is cleared when nothing is sent any more. A watchdog
that finds the flag set, and motors that deliver these efforts, takes the robot over.
"""
from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.safety.envelope import bound, brake, compile_kernels, posture
from legged_dynamics.safety.imu_watch import StampClock
from legged_dynamics.safety.joint_watch import EFFORT, JointWatch, limit_table, one_a_joint
from legged_dynamics.safety.settings import SafetySettings, WatchdogSettings

# A motor delivers what it was told within this part of its effort limit.
SAME_EFFORT = 0.1
# Below this part of the limits motors count as free of torque.
NO_EFFORT = 0.02


class LastEfforts:
    """File of the efforts sent last; `left` (nj,): those of a watchdog that crashed."""

    def __init__(self, path: Path, count: int):
        size = 8 * (count + 1)
        known = path.is_file() and path.stat().st_size == size
        self._map = np.memmap(path, np.float64, 'r+' if known else 'w+', shape=(count + 1,))
        values = np.array(self._map[1:])
        usable = known and self._map[0] == 1.0 and bool(np.isfinite(values).all())
        self.left = values if usable else None

    def note(self, efforts: np.ndarray) -> None:
        """Store the efforts (nj,) being sent, in command order."""
        self._map[1:] = efforts
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


GOODBYE = ' bye'        # appended to the sender's name in its last message
LETS_GO = ' lets go'    # appended while the sender's own guard lets the robot go for good
LONGEST_STEP = 0.02     # s; longest time step of the slew limit
AVERAGING = 0.01        # s over which the efforts to hold are averaged
REMEMBERED = 8          # names of other senders that are counted
# A sender's count may grow by so many a second (the bus takes no more), and by so many at once.
FASTEST, BURST = 4000, 100
# A watchdog that takes over from one that died waits so long for joint states, and holds the
# posture for at least so long, until a controller that is still alive is found [ns].
DISCOVERY_NS, TAKE_OVER_NS = 3_000_000_000, 500_000_000


class WatchdogState(Enum):
    """What the motors get."""

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
                 parameters: Mapping[str, Any] | None = None):
        given = parameters or {}
        own = WatchdogSettings.from_parameters({name: value for name, value in given.items()
                                                if not name.startswith('safety.')})
        shared = SafetySettings.from_parameters({name: value for name, value in given.items()
                                                 if name.startswith('safety.')})
        self.names = tuple(joints)
        self._table = limit_table(model, self.names, shared)
        self._watch = JointWatch(self.names, self._table, shared.frozen)
        self._stamps = StampClock()
        self._deadline_ns, self._hold_ns = round(own.deadline * 1e9), round(own.hold * 1e9)
        self._sit_ns, self._input_ns = round(own.sit * 1e9), round(own.input_timeout * 1e9)
        self._damping_ns = round(shared.damping_duration * 1e9)
        self._sits = own.release == 'sit'
        n = len(self.names)
        self._state, self._unknown = np.zeros((2, n)), np.full((2, n), np.nan)
        self._wanted, self._effort, self._last = np.zeros(n), np.zeros(n), np.zeros(n)
        self._feed, self._place, self._none = np.zeros(n), np.zeros(n), np.zeros(n)
        self._load = np.full(n, np.nan)
        self._cut = np.zeros(n, np.int64)
        compile_kernels(self._table, self._watch)
        self.reset()

    def reset(self) -> None:
        """Forget all senders: the first to command gets the motors."""
        self.state = WatchdogState.IDLE
        self.owner: str | None = None
        self.cause = self.fault = self.doubt = ''
        self.refused: dict[str, int] = {}
        self._count = -1
        self._heard_ns = self._since_ns = self._sent_ns = 0
        self._joints_ns: int | None = None
        self._watch.reset()
        self._stamps.reset()
        self._jumps = self._stamps.jumps
        self._contested = self._empty = self._blind = False
        self._left: np.ndarray | None = None
        self._load[:] = np.nan
        self._effort[:] = self._last[:] = self._feed[:] = 0.0

    # ---- in --------------------------------------------------------------------------------

    def joints(self, now_ns: int, stamp_ns: int, position: np.ndarray, velocity: np.ndarray,
               effort: np.ndarray | None = None) -> str:
        """
        Take a joint state; return why it is implausible, or an empty string.

        Stamps that jump are refused until their source has gone on from there for a moment; a
        sample is as old as its stamp says, by the least delay ever seen.

        Parameters
        ----------
        now_ns, stamp_ns : int [ns]
            Present time, and time of the sample, by any clock that runs evenly.
        position, velocity : (nj,) array [rad, rad/s or m, m/s]
            In command order; NaN where a joint has no reading.
        effort : (nj,) array [N m or N], optional
            What the motors deliver; NaN where that is not measured.

        Returns
        -------
        str
            The fault, also kept in `doubt`.

        """
        fault = self._stamps.check(now_ns, stamp_ns, stamp_ns)
        if fault:
            self.doubt = fault
            return fault
        if self._stamps.jumps != self._jumps:
            self._jumps = self._stamps.jumps
            self._watch.restamp()
        self.doubt = fault = self._watch.check(stamp_ns, position, velocity)
        believed = self._watch.believed(fault)
        if believed is None:
            return fault
        self._state[:] = believed
        self._joints_ns = now_ns - self._stamps.age(now_ns, stamp_ns)
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
        Take over a robot whose motors may have torque of a watchdog that has ended.

        As soon as joint states come, the posture is held as it is, with the efforts that are
        measured. A controller that is still commanding goes on; without one the robot is let down.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.
        left : (nj,) array [N m or N], optional
            What that watchdog sent last: nothing is done unless the motors deliver that. Without
            it, whatever they deliver is taken over.

        """
        self._left, self._empty, self._heard_ns = left, True, now_ns
        # Joint states are waited for from the first look on: simulated time may not have come yet.
        self.state, self._since_ns = WatchdogState.HOLDING, -1
        self.cause = 'the motors have torque, and nobody commands them'

    def command(self, now_ns: int, efforts: Sequence[float], owner: str = '',
                count: int = 0) -> bool:
        """
        Take a command; return whether it is passed on.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.
        efforts : (nj,) sequence [N m or N]
            In command order.
        owner : str
            Identity of the sender, of which no other sender may know before it commands;
            `GOODBYE` is appended to it in the last message, and `LETS_GO` while the sender lets
            the robot go: one that was silent does not regain the motors in order to do that.
        count : int
            Heartbeat: grows from message to message of a sender with a name. The last message
            again is no sign of life; one that goes back, or is further on than a sender can be,
            comes from a second sender.

        Returns
        -------
        bool
            False where the reason is in `fault` or `refused`.

        """
        leaving, lets_go = owner.endswith(GOODBYE), owner.endswith(LETS_GO)
        name = owner.removesuffix(GOODBYE).removesuffix(LETS_GO)
        if not self._owns(name):
            if name in self.refused or len(self.refused) < REMEMBERED:
                self.refused[name] = self.refused.get(name, 0) + 1
            return False
        if leaving:
            self.release(now_ns, f'{name} has left')
            return False
        if lets_go and name == self.owner and self.state is WatchdogState.HOLDING:
            self.release(now_ns, f'{name} was silent, and its guard lets the robot go')
            return False
        if name and name == self.owner and self._repeats(now_ns, name, efforts, count):
            return False
        if len(efforts) != len(self.names):
            self.fault = f'expected {len(self.names)} efforts, got {len(efforts)}'
            return False
        try:
            self._none[:] = efforts
        except (TypeError, ValueError):
            self.fault = f'{name or "a command"} is no array of numbers'
            return False
        if not math.isfinite(self._none.sum()):
            self.fault = f'{name or "a command"} is not finite'
            return False
        if self.state is WatchdogState.IDLE or self._empty:
            self._start_from_load()
        self._wanted[:] = self._none
        self.owner, self._count, self.fault, self.cause = name, count, '', ''
        self._heard_ns, self.state = now_ns, WatchdogState.FORWARDING
        self._contested = False
        return True

    def _repeats(self, now_ns: int, name: str, efforts: Sequence[float], count: int) -> bool:
        """Note whether a message of the owner cannot be its next one."""
        if self.state is WatchdogState.IDLE or self.state is WatchdogState.LATCHED:
            return False
        ahead = (count - self._count) % 2**32
        if ahead == 0 and np.array_equal(efforts, self._wanted):
            self.fault = f'{name} repeats message {count}'
            return True
        passed = max(now_ns - self._heard_ns, 0) * 1e-9
        if 0 < ahead <= BURST + FASTEST * passed:
            return False
        self.fault = (f'a second sender has the identity of {name}: message {count} came after '
                      f'{self._count}')
        if self.state is WatchdogState.FORWARDING:
            self._since_ns = now_ns
        self.state, self.cause, self._contested = WatchdogState.HOLDING, self.fault, True
        return True

    def _start_from_load(self) -> None:
        """Let efforts go on from what the motors deliver, where that is known."""
        known = np.where(np.isfinite(self._load), self._load,
                         self._last if self._left is None else self._left)
        self._last[:] = np.clip(known, -self._table[:, EFFORT], self._table[:, EFFORT])
        self._feed[:] = self._last
        self._empty = False

    def release(self, now_ns: int, cause: str) -> None:
        """
        Let the robot down, and ignore what its controller still sends.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.
        cause : str
            Reason, for people.

        """
        if self.state in (WatchdogState.FORWARDING, WatchdogState.HOLDING):
            self._release(now_ns, cause)

    @property
    def at_rest(self) -> bool:
        """Whether nothing is sent."""
        return self.state in (WatchdogState.IDLE, WatchdogState.LATCHED)

    def _owns(self, name: str) -> bool:
        if self.state is WatchdogState.IDLE:
            return True
        if self.state is WatchdogState.HOLDING and (self._contested or self.owner is None):
            return not self._contested
        if self.state in (WatchdogState.FORWARDING, WatchdogState.HOLDING):
            return name == self.owner
        # A controller that was released may not resume; one that was started again has a new name.
        return self.state is WatchdogState.LATCHED and bool(name) and name != self.owner

    # ---- out -------------------------------------------------------------------------------

    def output(self, now_ns: int) -> np.ndarray | None:
        """
        Return what the motors are to get now.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.

        Returns
        -------
        (nj,) array [N m or N] or None
            Efforts in command order, in the same array each time; None when nothing is to be sent.

        """
        state = self.state
        if state is WatchdogState.FORWARDING:
            if now_ns - self._heard_ns > self._deadline_ns:
                self.cause = f'{self.owner or "who commanded"} is silent'
                self.state, self._since_ns = WatchdogState.HOLDING, now_ns
        elif state is WatchdogState.HOLDING:
            if self._empty and not self._found(now_ns):
                return None
            longest_ns = self._hold_ns if self.owner else max(self._hold_ns, TAKE_OVER_NS)
            if now_ns - self._since_ns > longest_ns:
                self._release(now_ns, self.cause)
        state = self.state
        if state is WatchdogState.IDLE or state is WatchdogState.LATCHED:
            return None
        if state is WatchdogState.FORWARDING:
            return self._forward(now_ns)
        if state is WatchdogState.HOLDING:
            return self._hold(now_ns, 1.0)
        return self._let_down(now_ns)

    def overdue(self, now_ns: int) -> bool:
        """
        Return whether :meth:`output` has something to send although no command came.

        Parameters
        ----------
        now_ns : int [ns]
            Present time.

        Returns
        -------
        bool
            True while the watchdog itself must act.

        """
        if self.state is WatchdogState.FORWARDING:
            return now_ns - self._heard_ns > self._deadline_ns
        return not self.at_rest

    def _release(self, now_ns: int, cause: str) -> None:
        self.cause, self._since_ns, self._blind = cause, now_ns, False
        self.state = WatchdogState.SITTING if self._sits else WatchdogState.DAMPING

    def _found(self, now_ns: int) -> bool:
        """Begin to hold what a dead watchdog has left; return whether anything is to be sent."""
        if self._since_ns < 0:
            self._since_ns = now_ns
        if not self._fresh(now_ns):
            if now_ns - self._since_ns > DISCOVERY_NS:      # at least the torque ends
                self._empty = False
                self._release(now_ns, f'{self.cause}; no joint states either')
            return not self._empty
        share = np.abs(self._load) / self._table[:, EFFORT]
        if np.isfinite(share).any():
            limp = float(np.nanmax(share)) < NO_EFFORT
            other = self._left is not None and float(np.nanmax(
                np.abs(self._load - self._left) / self._table[:, EFFORT])) > SAME_EFFORT
            if limp or other:
                self.state, self.cause, self._empty = WatchdogState.IDLE, '', False
                return False
        self._start_from_load()
        self._place[:] = self._state[0]
        self._since_ns = self._sent_ns = now_ns
        return True

    def _forward(self, now_ns: int) -> np.ndarray:
        self._effort[:] = self._wanted
        dt = (now_ns - self._sent_ns) * 1e-9
        out = self._bounded(now_ns)
        np.subtract(out, self._feed, out=self._none)
        self._none *= 1.0 - math.exp(-min(dt, 1.0) / AVERAGING)
        self._feed += self._none
        np.copyto(self._place, self._state[0], where=np.isfinite(self._state[0]))
        return out

    def _hold(self, now_ns: int, share: float) -> np.ndarray:
        if self._fresh(now_ns):
            posture(self._table, self._state, self._place, self._feed, share, self._effort)
        else:
            np.multiply(self._feed, share, out=self._effort)
        return self._bounded(now_ns)

    def _let_down(self, now_ns: int) -> np.ndarray:
        passed = now_ns - self._since_ns
        if self.state is WatchdogState.SITTING:
            fresh = self._fresh(now_ns)
            if fresh and self._blind:
                # It has moved meanwhile: from here on, and not back to where it was.
                np.copyto(self._place, self._state[0], where=np.isfinite(self._state[0]))
            self._blind = not fresh and self._silent(now_ns)
            if passed < self._sit_ns and self._joints_ns is not None:
                if not self._blind:
                    return self._hold(now_ns, 1.0 - passed / self._sit_ns)
                self._effort[:] = 0.0       # nothing can be held unseen for longer
                return self._bounded(now_ns)
            self.state, self._since_ns, passed = WatchdogState.DAMPING, now_ns, 0
        if passed >= self._damping_ns:
            self.state = WatchdogState.LATCHED
            self._effort[:] = self._last[:] = self._feed[:] = 0.0
            return self._effort
        if self._fresh(now_ns):
            brake(self._table, self._state[1], self._watch.seen_velocity, self._effort)
        else:
            self._effort[:] = 0.0
        return self._bounded(now_ns)

    def _silent(self, now_ns: int) -> bool:
        """Return whether joint states have stopped for longer than what is bridged."""
        return self._joints_ns is None or now_ns - self._joints_ns > self._input_ns + self._hold_ns

    def _bounded(self, now_ns: int) -> np.ndarray:
        dt = min(max(now_ns - self._sent_ns, 0) * 1e-9, LONGEST_STEP)
        known = self._state if self._fresh(now_ns) else self._unknown
        bound(self._table, known, self._last, dt, self._effort, self._cut)
        self._last[:] = self._effort
        self._sent_ns = now_ns
        return self._effort

    def _fresh(self, now_ns: int) -> bool:
        return self._joints_ns is not None and now_ns - self._joints_ns <= self._input_ns
