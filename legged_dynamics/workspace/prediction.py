# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
StatePredictor: the state at the time at which efforts reach the motors.

A command that answers a measurement acts some milliseconds after it. Meanwhile the motors get the
commands before it, whose accelerations are known: those that inverse dynamics was asked for, less
what the feet could not give. The state is carried over that time by them (a predictor of Smith's
kind, 1957, with the model that computes the efforts).
"""
from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from legged_dynamics.estimation.leg_odometry import BodyState
from legged_dynamics.model.measurement import Measurement
from legged_dynamics.spatial.rotations import rotation_from_vector

# Commands that are kept: at 1 kHz those of a tenth of a second.
KEPT = 100


class StatePredictor:
    """Carries states over the time from sensor to motor, by the accelerations commanded before."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all commands."""
        self._stamps: deque[int] = deque(maxlen=KEPT)
        self._accelerations: deque[np.ndarray] = deque(maxlen=KEPT)

    def note(self, stamp_ns: int, acceleration: np.ndarray) -> None:
        """Keep the accelerations (6 + nv,) of a command: base in its axes, then joints."""
        if self._stamps and stamp_ns <= self._stamps[-1]:
            self.reset()
        self._stamps.append(stamp_ns)
        self._accelerations.append(acceleration)

    def predict(self, state: BodyState, measurement: Measurement, age: float
                ) -> tuple[BodyState, Measurement]:
        """Return state and measurement an ``age`` [s] later; feet stay where they stand."""
        first = state.stamp_ns - round(age * 1e9)
        if age <= 0.0 or not self._stamps or self._stamps[0] > first:
            return state, measurement
        stamps = np.array(self._stamps)
        # The command of a stamp acts from an age after it on, until the next one does.
        begin = np.clip((stamps - first) * 1e-9, 0.0, age)
        end = np.append(begin[1:], age)
        acting = end > begin
        a = np.array(self._accelerations)[acting]
        step = (end - begin)[acting]
        faster = step @ a
        further = (step * (age - 0.5 * (begin + end)[acting])) @ a
        v, R = np.asarray(measurement.velocity), state.rotation
        move = state.twist * age + further[:6]
        turned = R @ rotation_from_vector(move[3:])
        return (replace(state, position=state.position + R @ move[:3], rotation=turned,
                        twist=state.twist + faster[:6]),
                replace(measurement, position=measurement.position + v * age + further[6:],
                        velocity=v + faster[6:]))
