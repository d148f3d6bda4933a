# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Joint states as guard and watchdog believe them, and the efforts that they send: the envelope.

Kernels allocate nothing. ``state`` is (2, nj): positions and velocities as measured, NaN where
they are not known; the checks that need them are then left out.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.safety.joint_watch import (
    BRAKE,
    BRAKE_EFFORT,
    DAMPING,
    EFFORT,
    LOWER,
    MARGIN,
    POWER,
    SLEW,
    STIFFNESS,
    UPPER,
    VELOCITY,
    JointWatch,
    limit_table,
)
from legged_dynamics.safety.settings import SafetySettings
from legged_dynamics.safety.stance_watch import JointByFeet
from legged_dynamics.spatial.jit import lean_kernel, part

# -------------------------------------------------------------------------------------------------
# Envelope of the efforts, and the efforts of posture and brake, in command order.


# From this part of the velocity limit on, efforts that accelerate on fade.
SOFT = 0.9
# Slower joints are not braked [rad/s or m/s]: the sign of noise is no direction.
STILL = 0.05


@part
def _clip(value, bound):
    return min(max(value, -bound), bound)


@part
def _fade(value, outward, share):
    """Return a value, scaled by a share where it points in the outward direction (+1 or -1)."""
    if value * outward > 0.0:
        return value * min(max(share, 0.0), 1.0)
    return value


@lean_kernel
def bound(limits, state, last, dt, effort, cut):
    """
    Clip ``effort`` to the envelope in place; fill ``cut`` with where that was needed.

    ``limits``: columns of `joint_watch`; ``state`` (2, nj): position and velocity, NaN if
    unknown.
    """
    for j in range(len(effort)):
        wanted = effort[j]
        value = _clip(wanted, limits[j, EFFORT])
        q, v = state[0, j], state[1, j]
        if math.isfinite(q) and limits[j, MARGIN] > 0.0:
            value = _fade(value, 1.0, (limits[j, UPPER] - q) / limits[j, MARGIN])
            value = _fade(value, -1.0, (q - limits[j, LOWER]) / limits[j, MARGIN])
            # The end of the range is damped: a joint that runs into it is braked.
            if (v > STILL and q > limits[j, UPPER] - limits[j, MARGIN]) or (
                    v < -STILL and q < limits[j, LOWER] + limits[j, MARGIN]):
                value -= _clip(limits[j, DAMPING] * v, limits[j, EFFORT])
        if math.isfinite(v):
            top = limits[j, VELOCITY]
            share = (top - abs(v)) / ((1.0 - SOFT) * top)
            value = _fade(value, 1.0 if v > 0.0 else -1.0, share)
            if value * v > limits[j, POWER]:
                value = limits[j, POWER] / v
        step = limits[j, SLEW] * dt
        value = min(max(value, last[j] - step), last[j] + step)
        effort[j] = _clip(value, limits[j, EFFORT])
        cut[j] = effort[j] != wanted


@lean_kernel
def brake(limits, velocity, seen, effort):
    """
    Fill efforts that brake joints, dissipating energy only.

    Proportional to the smaller of velocity and position change where their signs agree,
    else zero, so that a wrong velocity cannot drive a joint.
    """
    for j in range(len(effort)):
        v, w = velocity[j], seen[j]
        effort[j] = 0.0
        if v * w > 0.0:
            speed = min(abs(v), abs(w)) - STILL
            if speed > 0.0:
                size = min(limits[j, BRAKE] * speed, limits[j, BRAKE_EFFORT])
                effort[j] = -size if v > 0.0 else size


@lean_kernel
def posture(limits, state, left, usual, part, share, effort):
    """
    Fill efforts that hold joints: those that held them plus PD, scaled.

    ``left`` and ``usual`` (2, nj): places and efforts at the end of the commands, and their means
    before; ``part``, 0 to 1: of the way from the former to the latter. ``share``, 0 to 1, does
    not reduce damping; a joint of unknown state (NaN) gets its share of the effort alone.
    """
    for j in range(len(effort)):
        effort[j] = share * (left[1, j] + part * (usual[1, j] - left[1, j]))
        if math.isfinite(state[0, j]) and math.isfinite(state[1, j]):
            place = left[0, j] + part * (usual[0, j] - left[0, j])
            effort[j] += (share * limits[j, STIFFNESS] * (place - state[0, j])
                          - limits[j, DAMPING] * state[1, j])


# -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OutputSettings:
    """
    Settings of what is held and sent.

    Feet in the air cannot hold a robot. Over cycles of a gait the mean of a leg's places is a
    stance, and the mean of its efforts what it has to bear in it when all feet stand.
    """

    # s over which the last efforts are averaged: the last command may be a spike of noise
    averaging: float = 0.01
    cycles: float = 0.6  # s over which places and efforts are averaged, those of a trot
    landing: float = 0.1  # s in which a robot goes from its last posture to the mean one
    longest_step: float = 0.02  # s; longest time step that the slew limit is applied to


OUTPUT = OutputSettings()


class MotorOutput:
    """
    Joint states as believed, and efforts in command order; nothing is allocated after it is made.

    ``timeout_ns``: age from which joint states are not used; ``feet``: links that stand.
    `effort`: the next efforts, then those sent; `held` (2, nj): where the joints were at the last
    command, and the average of what was sent; `memory` (3, nj): what was sent last, and the means
    of places and efforts over cycles; `cut`: which of the efforts a limit has changed.
    """

    def __init__(self, model: RobotModel, joints: Sequence[str], settings: SafetySettings,
                 timeout_ns: int, feet: Sequence[str] = ()):
        self.table = limit_table(model, joints, settings)
        self.limits = self.table[:, EFFORT].copy()
        self.watch = JointWatch(joints, self.table, settings.frozen)
        self._by_feet = JointByFeet(model, joints, feet)
        self.timeout_ns, self.keeps = timeout_ns, settings.output == 'keep'
        n = len(joints)
        self.state, self._unknown = np.zeros((2, n)), np.full((2, n), np.nan)
        self.effort, self.cut, self.memory = np.zeros(n), np.zeros(n, bool), np.zeros((3, n))
        self.last, self._usual = self.memory[0], self.memory[1:]
        self.held, self._change = np.zeros((2, n)), np.zeros((2, n))
        self.reset()
        self._compile()

    def reset(self) -> None:
        """Forget the last joint state and all efforts."""
        self.watch.reset()
        self.sample_ns: int | None = None
        self.sent_ns = 0
        self.rest()

    def rest(self) -> None:
        """Go on from zero."""
        self.effort[:] = 0.0
        self.begin(self.effort)

    def begin(self, effort: np.ndarray) -> None:
        """Go on from these efforts, clipped to their limits."""
        self.last[:] = np.clip(effort, -self.limits, self.limits)
        self.held[1] = self._usual[1] = self.last
        self._commanded = 0.0       # s since
        self._obeyed_ns: int | None = None      # when last

    def take(self, believed: np.ndarray, sample_ns: int) -> None:
        """Use a joint state (2, nj) of a time."""
        self.state[:], self.sample_ns = believed, sample_ns
        if self.watch.one_bad:
            self._by_feet.fill(sample_ns, self.state, self.held[0])

    def fresh(self, now_ns: int, limit_ns: int = 10**18) -> bool:
        """Return whether the joint state may be used, and is not older than a limit."""
        return (self.sample_ns is not None
                and now_ns - self.sample_ns <= min(self.timeout_ns, limit_ns))

    def send(self, now_ns: int) -> np.ndarray:
        """Return `effort`, brought into the envelope."""
        dt = min(max(now_ns - self.sent_ns, 0) * 1e-9, OUTPUT.longest_step)
        known = self.state if self.fresh(now_ns) else self._unknown
        bound(self.table, known, self.last, dt, self.effort, self.cut)
        self.last[:] = self.effort
        self.sent_ns = now_ns
        return self.effort

    def remember(self) -> None:
        """Average what was sent into what is to be held."""
        before, self._obeyed_ns = self._obeyed_ns, self.sent_ns
        np.copyto(self.held[0], self.state[0], where=np.isfinite(self.state[0]))
        if before is None:
            self.held[1] = self.effort
            self._usual[:] = self.held
            return
        seconds = max(self.sent_ns - before, 1) * 1e-9
        np.subtract(self.effort, self.held[1], out=self._change[1])
        self._change[1] *= -math.expm1(-seconds / OUTPUT.averaging)
        self.held[1] += self._change[1]
        np.subtract(self.held, self._usual, out=self._change)
        # Over as many cycles as there were.
        self._commanded += seconds
        self._change *= math.expm1(-seconds / OUTPUT.cycles) / math.expm1(
            -self._commanded / OUTPUT.cycles)
        self._usual += self._change

    def follow(self) -> None:
        """Let the joints be held where they are now."""
        np.copyto(self.held[0], self.state[0], where=np.isfinite(self.state[0]))
        self._usual[0] = self.held[0]

    def land(self, now_ns: int, usual: np.ndarray) -> None:
        """Go from where the joints are to mean places and efforts (2, nj) that another had."""
        self.follow()
        self._usual[:], self._obeyed_ns = usual, now_ns

    def hold(self, now_ns: int, share: float, limit_ns: int = 10**18) -> np.ndarray:
        """Send a share (0 to 1) of what holds the robot; without joint states, of efforts only."""
        if self.keeps:
            return self.brake(now_ns)
        state = self.state if self.fresh(now_ns, limit_ns) else self._unknown
        since = now_ns - (self._obeyed_ns or now_ns)
        part = min(max(since, 0) * 1e-9 / OUTPUT.landing, 1.0)
        posture(self.table, state, self.held, self._usual, part, share, self.effort)
        return self.send(now_ns)

    def parting(self) -> np.ndarray:
        """Return what to send last, since hardware holds it: zeros, or what is to be kept."""
        return self.held[1] if self.keeps else np.zeros(len(self.table))

    def brake(self, now_ns: int, limit_ns: int = 10**18) -> np.ndarray:
        """Send what brakes the joints, without joint states zero; or what is to be kept."""
        if not self.keeps and self.fresh(now_ns, limit_ns):
            brake(self.table, self.state[1], self.watch.seen_velocity, self.effort)
        else:
            self.effort[:] = self.parting()
        return self.send(now_ns)

    def _compile(self) -> None:
        """Run every kernel between command and motors once, at rest, before a robot waits."""
        still, effort = np.zeros(len(self.table)), self.effort
        bound(self.table, self._unknown, still, 0.0, effort, self.cut)
        brake(self.table, still, still, effort)
        posture(self.table, self.state, self.held, self._usual, 1.0, 1.0, effort)
        self.watch.check(0, still, still)
        self.reset()
