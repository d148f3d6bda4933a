# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
What a robot does in a recording, what a validation needs of it, and what is missing.

Standing tells the sum of all errors, a lifted foot the offset and friction of its own leg, a squat
the gains (loads change while friction's sign does), steps what fast motion adds.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

STILL = 0.15            # rad/s: rms speed of the joints of a robot that stands still
SETTLED = 0.25          # s before and after which no foot may lift
STAND, LIFT = 3.0, 0.4  # s: least time of standing still, and of each foot in the air
SQUAT = 0.15            # rad: least range of a leg's joints while all feet stand
STEPS = 4               # touch-downs of each foot
# What record --validation asks for: name, what to do, and for how long [s].
STEPS_OF_A_RECORDING = (
    ('stand', 'Let the robot stand still.', 10.0),
    ('lift', 'Lift each foot off the ground by hand or by command, one after the other, two '
     'seconds each.', 30.0),
    ('squat', 'Squat slowly up and down, five times, and lean forward, back, left and right.',
     40.0),
    ('trot', 'Walk or trot on flat ground, forward and back.', 30.0),
    ('stand again', 'Let the robot stand still.', 10.0),
)


@dataclass(frozen=True, eq=False)
class Phases:
    """
    What a robot does at each sample.

    Attributes
    ----------
    standing : (n,) bool array
        All feet stand, and have for a while.
    still : (n,) bool array
        Standing without moving joints.
    missing : tuple of str
        What the recording lacks, one sentence each.
    seconds : dict of str to float
        Time of standing still, standing and stepping [s].

    """

    standing: np.ndarray
    still: np.ndarray
    missing: tuple[str, ...]
    seconds: dict[str, float]


def phases_of(time: np.ndarray, position: np.ndarray, velocity: np.ndarray, contact: np.ndarray,
              feet: Sequence[str]) -> Phases:
    """
    Return what a robot does in a recording.

    Parameters
    ----------
    time : (n,) array [s]
        Times of the samples, even.
    position, velocity : (n, nj) array [rad, rad/s]
        Of the joints.
    contact : (n, nf) bool array
        Feet in contact.
    feet : sequence of str
        Names of the feet.

    Returns
    -------
    Phases
        With what is missing for a validation.

    """
    period = float(np.median(np.diff(time)))
    width = max(round(SETTLED / period), 1)
    kernel = np.ones(2 * width + 1)
    lifted = ~contact.all(axis=1)
    standing = np.convolve(lifted, kernel, 'same') < 0.5
    speed = np.convolve((velocity ** 2).mean(axis=1), kernel / len(kernel), 'same')
    still = standing & (np.sqrt(speed) < STILL)
    missing = []
    seconds = {'still': float(still.sum() * period), 'standing': float(standing.sum() * period),
               'stepping': float((~standing).sum() * period)}
    if seconds['still'] < STAND:
        missing.append(f'stand: {seconds["still"]:.1f} s of standing still; needed: {STAND:g} s')
    short = [foot for foot, down in zip(feet, contact.T) if (~down).sum() * period < LIFT]
    if short:
        missing.append(f'lift: {", ".join(short)} {"is" if len(short) == 1 else "are"} never off '
                       f'the ground for {LIFT:g} s')
    moved = position[standing]
    if len(moved) == 0 or np.median(np.ptp(moved, axis=0)) < SQUAT:
        missing.append('squat: joints hardly move while all feet stand, so gains and friction '
                       'cannot be told apart')
    downs = (np.diff(contact.astype(int), axis=0) > 0).sum(axis=0)
    if downs.min() < STEPS:
        missing.append(f'trot: fewer than {STEPS} steps of '
                       f'{", ".join(foot for foot, n in zip(feet, downs) if n < STEPS)}')
    return Phases(standing, still, tuple(missing), seconds)


def whole_cycles(contact: np.ndarray) -> np.ndarray:
    """
    Return which samples belong to whole gait cycles.

    Parameters
    ----------
    contact : (n, nf) bool array
        Feet in contact.

    Returns
    -------
    (n,) bool array
        From the first touch-down of the foot that steps most to its last; all where nothing steps.

    """
    downs = [np.flatnonzero(np.diff(column.astype(int)) > 0) for column in contact.T]
    most = max(downs, key=len)
    inside = np.zeros(len(contact), bool)
    if len(most) < 2:
        inside[:] = True
    else:
        inside[most[0]:most[-1]] = True
    return inside
