# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The row of measurements that the estimator's kernel reads."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.exceptions import MeasurementError


class InputViews(NamedTuple):
    """Views of the row; NaN where nothing is measured."""

    position: np.ndarray            # (nj,)
    velocity: np.ndarray            # (nj,)
    effort: np.ndarray              # (nj,)
    gyro: np.ndarray                # (3,) IMU axes [rad/s]
    acceleration: np.ndarray        # (3,) IMU axes [m/s^2]
    orientation: np.ndarray         # (4,) x, y, z, w
    contact: np.ndarray             # (nf,): given ones
    switch: np.ndarray              # (nf,): logarithm of the odds by foot switches


class InputRow:
    """Writes measurements into the row, torques of passive joints as not measured."""

    def __init__(self, row: np.ndarray, index: np.ndarray, joints: Sequence[str], n_feet: int,
                 passive: Sequence[int], switch_errors: tuple[float, float]):
        nj = len(joints)
        starts = [int(index[name]) for name in (
            'position', 'velocity', 'effort', 'gyro', 'acceleration', 'orientation',
            'given_contact', 'switch_evidence')]
        self.views = InputViews(*(row[start:start + size] for start, size in zip(
            starts, (nj, nj, nj, 3, 3, 4, n_feet, n_feet))))
        self._joints, self._passive = tuple(joints), list(passive)
        self._switch_errors = switch_errors     # probabilities of missed and of false contacts
        self._given = self._switched = True     # what the row holds now: to be filled once

    def fill(self, m: Measurement, contact: Sequence[bool] | None) -> None:
        """Write a measurement into the row; MeasurementError when a shape does not fit."""
        position, velocity, effort, gyro, acceleration, orientation, given, switch = self.views
        nj, nan = len(position), np.nan
        w, a, xyzw = m.angular_velocity, m.linear_acceleration, m.orientation
        try:
            # A single value would be spread over all joints or axes without a word.
            if not (len(m.position) == nj == len(m.velocity)
                    and (m.effort is None or len(m.effort) == nj)
                    and (w is None or len(w) == 3) and (a is None or len(a) == 3)
                    and (xyzw is None or len(xyzw) == 4)
                    and (m.switches is None or len(m.switches) == len(switch))
                    and (contact is None or len(contact) == len(given))):
                raise ValueError
            position[...] = m.position
            velocity[...] = m.velocity
            effort[...] = nan if m.effort is None else m.effort
            if self._passive:
                effort[self._passive] = nan
            gyro[...] = nan if w is None else w
            acceleration[...] = nan if a is None else a
            orientation[...] = nan if xyzw is None else xyzw
            if contact is not None or self._given:
                self._given = True      # until nothing stands there again
                given[...] = nan if contact is None else contact
                self._given = contact is not None
            if m.switches is not None or self._switched:
                self._switched = True
                switch[...] = 0.0 if m.switches is None else self._switch_evidence(m.switches)
                self._switched = m.switches is not None
        except (ValueError, TypeError):
            raise MeasurementError(self._misfit(m, contact)) from None

    def _switch_evidence(self, closed: np.ndarray) -> np.ndarray:
        """Return the log-likelihood ratio of contact that switches speak for (Bayes' rule)."""
        missed, false = self._switch_errors
        closed = np.asarray(closed, dtype=float)
        return np.where(np.isnan(closed), 0.0, np.where(
            closed > 0.5, np.log((1.0 - missed) / false), np.log(missed / (1.0 - false))))

    def _misfit(self, m: Measurement, contact: Sequence[bool] | None) -> str:
        nj, nf = len(self._joints), len(self.views.switch)
        wanted = {'position': nj, 'velocity': nj, 'effort': nj, 'angular_velocity': 3,
                  'linear_acceleration': 3, 'orientation': 4}
        for name, size in wanted.items():
            value = getattr(m, name)
            optional = name not in ('position', 'velocity')
            if (value is None and not optional) or (value is not None
                                                    and np.shape(value) != (size,)):
                got = 'None' if value is None else f'shape {np.shape(value)}'
                return (f'{name}: expected {size} values'
                        f'{" in the model joint order" if size == nj else ""}, got {got}')
            if value is not None and np.asarray(value).dtype.kind not in 'biuf':
                return f'{name}: expected numbers, got {value!r}'
        if m.switches is not None and np.shape(m.switches) != (nf,):
            return (f'switches: expected {nf} values (one a foot), got shape '
                    f'{np.shape(m.switches)}')
        return f'contact: expected {nf} flags (one a foot), got {contact!r}'

    def not_finite(self, m: Measurement) -> str:
        """Return which joint states of a measurement are not finite."""
        bad = [f'{kind} of {name}' for kind, values in (('position', m.position),
                                                        ('velocity', m.velocity))
               for name, value in zip(self._joints, values) if not np.isfinite(value)]
        return f'expected finite joint states, got NaN or infinity for: {", ".join(bad)}'
