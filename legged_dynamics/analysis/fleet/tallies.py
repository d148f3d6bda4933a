# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a recording comes to, gathered piece by piece: feet, joints, base, IMU and errors."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from legged_dynamics.analysis.accuracy import ForceError, measure_accuracy
from legged_dynamics.analysis.behaviour import (
    STANDING,
    Behaviour,
    StepCounts,
    standing_samples,
)
from legged_dynamics.analysis.fleet.moments import Moments
from legged_dynamics.analysis.fleet.slip import SlipTally
from legged_dynamics.analysis.fleet.window import Window
from legged_dynamics.analysis.series import EstimateSeries
from legged_dynamics.analysis.truth import Truth, world_force
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import Mode

# Name of what is not standing, until all of it is known.
MOVING = 'moving'


class FootTally:
    """Load, duty, steps and agreement with the truth, by foot."""

    def __init__(self, n_feet: int):
        self._count = 0
        self._down, self._observable = np.zeros(n_feet), np.zeros(n_feet)
        self._load, self._force = Moments((n_feet,)), Moments((n_feet,))
        self._peak = np.full(n_feet, np.nan)
        self._steps = np.zeros(n_feet, int)
        self._agree, self._judged = np.zeros(n_feet), 0
        self.slip = SlipTally(n_feet)

    def add(self, window: Window, force: np.ndarray, truth: Truth) -> None:
        """Add a piece; force (n, nf, 3) is as published, in world axes."""
        series, own = window.series, slice(window.first, window.last)
        contact, load = series.contact.values, force[:, :, 2]
        down = contact[own]
        self._count += len(down)
        self._down += down.sum(axis=0)
        self._observable += (down & series.observable.values[own]).sum(axis=0)
        self._force.add(load[own])
        self._load.add(np.where(down, load[own], np.nan))
        self._peak = np.fmax(self._peak, np.fmax.reduce(load[own], axis=0))
        first = max(window.first, 1)
        self._steps += (contact[first:window.last] & ~contact[first - 1:window.last - 1]).sum(
            axis=0)
        judged = window.own & truth.valid
        self._agree += (contact[judged] == truth.contact[judged]).sum(axis=0)
        self._judged += int(judged.sum())
        self.slip.add(series, window.first, window.last)

    @property
    def agreement(self) -> np.ndarray:
        """(nf,) part of the time in which contact is the true one [%]; NaN without truth."""
        return (100.0 * self._agree / self._judged if self._judged else
                np.full(len(self._agree), np.nan))

    def rows(self, feet: Sequence[str]) -> list[dict[str, object]]:
        """Return a row a foot."""
        self.slip.finish()
        total = float(self._force.sum.sum())
        share = self._force.sum / total if total > 0.0 else np.full(len(feet), np.nan)
        return [{
            'foot': foot, 'duty': self._down[i] / max(self._count, 1),
            'load': self._load.mean[i], 'load_share': share[i], 'peak': self._peak[i],
            'observable': self._observable[i] / self._down[i] if self._down[i] else np.nan,
            'steps': int(self._steps[i]), 'agreement': self.agreement[i],
            'slip': (self.slip.total[i] / self.slip.stances[i] if self.slip.stances[i]
                     else np.nan),
            'slip_largest': self.slip.largest[i] if self.slip.stances[i] else np.nan,
        } for i, foot in enumerate(feet)]


class JointTally:
    """Measured and unexplained effort, by joint."""

    def __init__(self, n_joints: int):
        self._count = 0
        self._effort, self._residual = Moments((n_joints,)), Moments((n_joints,))

    def add(self, window: Window) -> None:
        """Add a piece."""
        own = slice(window.first, window.last)
        self._count += window.last - window.first
        self._effort.add(window.series.effort.values[own])
        self._residual.add(window.series.external_torque.values[own])

    def rows(self, joints: Sequence[str]) -> list[dict[str, object]]:
        """Return a row a joint."""
        effort, residual = self._effort, self._residual
        return [{'joint': joint, 'effort': effort.rms[i],
                 'measured': effort.count[i] / max(self._count, 1), 'residual': residual.rms[i],
                 'residual_mean': residual.mean[i]} for i, joint in enumerate(joints)]


class BaseTally:
    """Residual at the base, modes, and what the IMU says while the robot stands."""

    def __init__(self) -> None:
        self.samples = self.standing = 0
        self.modes = np.zeros(max(Mode) + 1, int)
        self._force, self._wrench = Moments(), Moments((6,))
        self._gyro, self._gravity = Moments((3,)), Moments()
        self._second, self._worst = (-1, 0.0, 0), (0.0, np.nan)
        self._last = (0, 0.0)           # stamp of the last estimate, and its mass error
        self._start = 0

    def add(self, window: Window, standing: np.ndarray) -> None:
        """Add a piece, of which some samples stand."""
        series, own = window.series, slice(window.first, window.last)
        self.samples += window.last - window.first
        self.standing += int(standing[own].sum())
        self.modes += np.bincount(series.mode.values[own], minlength=len(self.modes))
        wrench = series.base_residual.values[own]
        force = np.linalg.norm(wrench[:, :3], axis=1)
        self._force.add(force)
        self._wrench.add(wrench)
        still = np.flatnonzero(standing[own]) + window.first
        self._gyro.add(series.angular_velocity.values[still])
        self._gravity.add(np.linalg.norm(series.linear_acceleration.values[still], axis=1))
        self._start = window.start_ns
        stamps = series.stamp_ns.values[own]
        self._last = (int(stamps[-1]), float(series.mass_error.values[window.last - 1]))
        self._seconds((stamps - window.start_ns) // 1_000_000_000, force)

    def _seconds(self, second: np.ndarray, force: np.ndarray) -> None:
        """Look for the second with the largest residual."""
        squares = np.where(np.isfinite(force), force, 0.0) ** 2
        begin = np.flatnonzero(np.diff(second, prepend=second[0] - 1))
        for start, end in zip(begin, [*begin[1:], len(second)]):
            which, total, count = self._second
            total, count = (total, count) if which == second[start] else (0.0, 0)
            self._second = (int(second[start]), total + float(squares[start:end].sum()),
                            count + int(end - start))
            mean = self._second[1] / self._second[2]
            if mean > self._worst[0]:
                self._worst = (mean, float(second[start]))

    @property
    def estimate(self) -> str:
        """Name what most estimates rest on."""
        known = self.modes.copy()
        known[Mode.UNAVAILABLE] = 0
        return (Mode(int(known.argmax())).name.lower().replace('_', ' ') if known.any()
                else 'unavailable')

    @property
    def residual(self) -> float:
        """Force left unexplained, rms [N]; zero where it is not known."""
        return float(np.nan_to_num(self._force.rms))

    def row(self) -> dict[str, Any]:
        """Return the columns of the summary."""
        mean, gyro = self._wrench.mean, self._gyro.mean
        return {
            'samples': self.samples, 'standing': self.standing / max(self.samples, 1),
            'silent': self.modes[Mode.UNAVAILABLE] / max(self.samples, 1),
            'estimate': self.estimate, 'residual': float(self._force.rms),
            **{f'residual_mean_{axis}': mean[k]
               for k, axis in enumerate(('fx', 'fy', 'fz', 'mx', 'my', 'mz'))},
            **{f'gyro_bias_{axis}': gyro[k] for k, axis in enumerate('xyz')},
            'gravity_error': float(self._gravity.mean) - GRAVITY,
            'worst_at': self._worst[1], 'mass_error': self._last[1]}


class ErrorTally:
    """Errors against the truth; what is not standing gets its name at the end."""

    def __init__(self, n_feet: int, weight: float):
        self._weight = weight
        self._errors: dict[tuple[str, str], tuple[Moments, Moments]] = {}
        self._steps, self._position = StepCounts(n_feet), Moments((n_feet, 2))

    def add(self, window: Window, truth: Truth) -> np.ndarray:
        """Add a piece; return the (n,) samples in which the robot stands."""
        series, own = window.series, window.own
        contact = np.where(np.isfinite(truth.force).all(axis=2), truth.contact,
                           series.contact.values)
        standing = standing_samples(series.time, contact)
        self._steps.add(contact[own & ~standing])
        self._position.add(series.foot_position.values[own][:, :, :2])
        if (truth.valid & own).any():
            parts = [Behaviour(STANDING, standing), Behaviour(MOVING, ~standing)]
            judged = Truth(truth.force, truth.contact, truth.valid & own,
                           truth.center_of_pressure, [])
            accuracy = measure_accuracy(series, {}, judged, parts, self._weight)
            for error in (*accuracy.feet, *accuracy.sums):
                total, vertical = self._errors.setdefault(
                    (error.subject, error.treatment), (Moments(), Moments()))
                total.add_squares(error.count, error.count * error.total ** 2)
                vertical.add_squares(error.count, error.count * error.vertical ** 2)
        return standing

    @property
    def gait(self) -> str:
        """Name what the robot does while it does not stand; empty when it always does."""
        return self._steps.gait(self._position.mean) if self._steps.count else ''

    def errors(self, estimate: str) -> list[ForceError]:
        """Return the errors, with behaviours by their names."""
        return [ForceError(estimate, treatment, self.gait if subject == MOVING else subject,
                           int(total.count), float(total.rms), float(vertical.rms), self._weight)
                for (subject, treatment), (total, vertical) in self._errors.items()]


def force_of(series: EstimateSeries) -> np.ndarray:
    """(n, nf, 3) force as published, in world axes [N]."""
    return world_force(series, series.foot_to_world, raw=False)
