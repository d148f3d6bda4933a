# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
StatePredictor: the state at the time at which efforts reach the motors.

A command acts some milliseconds after the measurement that it answers. Meanwhile the motors get
those before it, whose accelerations are known: what inverse dynamics was asked for, less what the
feet could not give. They carry the state over that time (as in Smith's predictor, 1957).
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
        self._stamps: deque[int] = deque(maxlen=KEPT)
        self._accelerations: deque[np.ndarray] = deque(maxlen=KEPT)

    def note(self, stamp_ns: int, acceleration: np.ndarray) -> None:
        """Keep accelerations (6 + nv,) that act from a time: base in its axes, then joints."""
        while self._stamps and stamp_ns <= self._stamps[-1]:    # what a newer one has replaced
            self._stamps.pop(), self._accelerations.pop()
        self._stamps.append(stamp_ns)
        self._accelerations.append(acceleration)

    def predict(self, state: BodyState, measurement: Measurement, age: float
                ) -> tuple[BodyState, Measurement]:
        """Return state and measurement an ``age`` [s] later; feet stay where they stand."""
        if age <= 0.0 or not self._stamps or self._stamps[0] > state.stamp_ns:
            return state, measurement
        # A command acts until the next one does, however old the measurement of each was.
        begin = np.clip((np.array(self._stamps) - state.stamp_ns) * 1e-9, 0.0, age)
        end = np.append(begin[1:], age)
        acting = end > begin
        a = np.array(self._accelerations)[acting]
        step = (end - begin)[acting]
        faster = step @ a
        further = (step * (age - 0.5 * (begin + end)[acting])) @ a
        v, R = np.asarray(measurement.velocity), state.rotation
        move = state.twist * age + further[:6]
        return (replace(state, position=state.position + R @ move[:3],
                        rotation=R @ rotation_from_vector(move[3:]),
                        twist=state.twist + faster[:6]),
                replace(measurement, position=measurement.position + v * age + further[6:],
                        velocity=v + faster[6:]))
