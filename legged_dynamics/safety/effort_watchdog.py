# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
EffortWatchdog: between controllers and motors, in a process of its own or in a driver's loop.

A controller that is killed, stopped or stuck leaves its last command in the hardware. The watchdog
passes on the commands of one controller alone, inside the same envelope as the guard's, and acts
when that misses a deadline: it holds the posture for a moment, and then lets the robot sit down,
or damps its joints. After that it obeys only a controller that was started again.

Everything it needs is allocated and compiled when it is made; its loop does neither.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.safety.envelope import bound, brake, compile_kernels, posture
from legged_dynamics.safety.joint_watch import JointWatch, limit_table
from legged_dynamics.safety.settings import SafetySettings, WatchdogSettings

GOODBYE = ' bye'        # appended to the sender's name in its last message
LONGEST_STEP = 0.02     # s; longest time step of the slew limit
AVERAGING = 0.01        # s over which the efforts to hold are averaged
REMEMBERED = 8          # names of other senders that are counted


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
        self._deadline_ns, self._hold_ns = round(own.deadline * 1e9), round(own.hold * 1e9)
        self._sit_ns, self._input_ns = round(own.sit * 1e9), round(own.input_timeout * 1e9)
        self._damping_ns = round(shared.damping_duration * 1e9)
        self._sits = own.release == 'sit'
        n = len(self.names)
        self._state, self._unknown = np.zeros((2, n)), np.full((2, n), np.nan)
        self._wanted, self._effort, self._last = np.zeros(n), np.zeros(n), np.zeros(n)
        self._feed, self._place, self._none = np.zeros(n), np.zeros(n), np.zeros(n)
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
        self._effort[:] = self._last[:] = self._feed[:] = 0.0

    # ---- in --------------------------------------------------------------------------------

    def joints(self, now_ns: int, stamp_ns: int, position: np.ndarray,
               velocity: np.ndarray) -> str:
        """
        Take a joint state; return why it is implausible, or an empty string.

        Parameters
        ----------
        now_ns, stamp_ns : int [ns]
            Present time, and time of the sample.
        position, velocity : (nj,) array [rad, rad/s or m, m/s]
            In command order.

        """
        self.doubt = self._watch.check(stamp_ns, position, velocity)
        if not self.doubt:
            self._state[0], self._state[1] = position, velocity
            self._joints_ns = now_ns
        return self.doubt

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
            Name of the sender; `GOODBYE` is appended to it in the last message.
        count : int
            Heartbeat: grows from message to message of a sender with a name. A message whose count
            does not grow is an old one.

        """
        leaving = owner.endswith(GOODBYE)
        name = owner[:-len(GOODBYE)] if leaving else owner
        if not self._owns(name):
            if name in self.refused or len(self.refused) < REMEMBERED:
                self.refused[name] = self.refused.get(name, 0) + 1
            return False
        if leaving:
            self.release(now_ns, f'{name} has left')
            return False
        if name and self.state is not WatchdogState.IDLE and name == self.owner:
            if 0 <= self._count - count < 2**31:
                self.fault = f'{name} repeats message {count}'
                return False
        if len(efforts) != len(self.names):
            self.fault = f'expected {len(self.names)} efforts, got {len(efforts)}'
            return False
        self._wanted[:] = efforts
        if not math.isfinite(self._wanted.sum()):
            self.fault = f'{name or "a command"} is not finite'
            return False
        self.owner, self._count, self.fault, self.cause = name, count, '', ''
        self._heard_ns, self.state = now_ns, WatchdogState.FORWARDING
        return True

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
        elif state is WatchdogState.HOLDING and now_ns - self._since_ns > self._hold_ns:
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
        self.cause, self._since_ns = cause, now_ns
        self.state = WatchdogState.SITTING if self._sits else WatchdogState.DAMPING

    def _forward(self, now_ns: int) -> np.ndarray:
        self._effort[:] = self._wanted
        dt = (now_ns - self._sent_ns) * 1e-9
        out = self._bounded(now_ns)
        np.subtract(out, self._feed, out=self._none)
        self._none *= 1.0 - math.exp(-min(dt, 1.0) / AVERAGING)
        self._feed += self._none
        self._place[:] = self._state[0]
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
            if passed < self._sit_ns and self._fresh(now_ns):
                return self._hold(now_ns, 1.0 - passed / self._sit_ns)
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

    def _bounded(self, now_ns: int) -> np.ndarray:
        dt = min(max(now_ns - self._sent_ns, 0) * 1e-9, LONGEST_STEP)
        known = self._state if self._fresh(now_ns) else self._unknown
        bound(self._table, known, self._last, dt, self._effort, self._cut)
        self._last[:] = self._effort
        self._sent_ns = now_ns
        return self._effort

    def _fresh(self, now_ns: int) -> bool:
        return self._joints_ns is not None and now_ns - self._joints_ns <= self._input_ns
