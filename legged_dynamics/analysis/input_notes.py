# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sentences on an estimator's inputs: what was missing, odd or refused."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from legged_dynamics.analysis.inputs import InputStatistics
from legged_dynamics.estimation import EstimatorSettings, Fault


def input_notes(faults: Counter[Fault], refused: Counter[str], settings: EstimatorSettings,
                inputs: Sequence[InputStatistics]) -> list[str]:
    """
    Return what to know of the inputs.

    Parameters
    ----------
    faults, refused : Counter
        What the estimator said of its input, and of messages that could not be used.
    settings : EstimatorSettings
        Of the estimator.
    inputs : sequence of InputStatistics
        Joint states first, then the IMU where there is one.

    """
    notes = []
    if faults[Fault.NO_EFFORT]:
        notes.append(f'No joint torque in {faults[Fault.NO_EFFORT]} samples: forces rest on the '
                     "base's motion alone there, and how the feet share them is only a guess.")
    if faults[Fault.PARTIAL_EFFORT]:
        notes.append(f'Some joints have no torque in {faults[Fault.PARTIAL_EFFORT]} samples.')
    if faults[Fault.NO_IMU] and len(inputs) > 1:
        notes.append(f'No IMU reading for {faults[Fault.NO_IMU]} joint states.')
    if faults[Fault.NO_ORIENTATION]:
        notes.append(f'The IMU gives no orientation in {faults[Fault.NO_ORIENTATION]} samples; '
                     'tilt is taken from gyro and accelerometer, and heading is not known.')
    for fault, what in ((Fault.GAP, 'a gap in the joint states'),
                        (Fault.TIME_JUMPED_BACK, 'time set back')):
        if faults[fault]:
            notes.append(f'The estimator started anew {faults[fault]} times after {what}.')
    notes += [f'{count} messages were refused: {why}.' for why, count in refused.most_common(5)]
    for entry in inputs:
        # By stamps a simulator may run on time while messages are lost or come slowly.
        usual = 1e3 / entry.interval
        if entry.rate < 0.9 * usual:
            notes.append(f'{entry.topic}: {entry.rate:.0f} messages a second, although most come '
                         f'{entry.interval:.3g} ms after the last ({usual:.0f} Hz): '
                         f'{entry.gaps} gaps.')
    usual = 1e3 / inputs[0].interval
    if np.isfinite(usual) and abs(usual / settings.rate - 1.0) > 0.1:
        notes.append(f'Joint states come every {inputs[0].interval:.3g} ms ({usual:.0f} Hz), but '
                     f'the estimator is set to {settings.rate:.0f} Hz (parameter rate): its noise '
                     'weights are off.')
    return notes
