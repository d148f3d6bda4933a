# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which motion identification needs, and what of it a recording lacks."""
from __future__ import annotations

import numpy as np

from legged_dynamics.identification.samples import SensorLog, filtered, observe
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel

NEEDS = ('Identification needs 20 s or more of: standing still; lifting each leg and swinging it '
         'slowly and quickly in the air; squatting; leaning the body about x and y; trotting.')
SHORTEST = 15.0     # s
STILL = 0.05        # rad/s, of all joints
LEAST_STILL = 1.0   # s
LEAST_TURN = 0.15   # rad
QUICK, LEAST_QUICK = 1.0, 0.01      # rad/s; part of the time
LEAST_LEAN = 0.04   # rad


def lacking(model: RobotModel, config: RobotConfig, log: SensorLog) -> list[str]:
    """
    Return which of the motions that identification needs a recording lacks.

    Parameters
    ----------
    model : RobotModel
        The robot of the URDF.
    config : RobotConfig
        Its YAML.
    log : SensorLog
        The recording.

    Returns
    -------
    list of str
        Phrases; empty where nothing is missing.

    Raises
    ------
    MeasurementError
        When the recording is too short to be filtered, or has no positions.

    """
    signals = filtered(log)
    samples = observe(signals, model, config)
    time, v, q = samples.time, samples.velocity, samples.position
    moving = [model.joint_index(name) for name in config.carrying(model)]
    names = [model.joint_names[j] for j in moving]
    found = []
    if np.ptp(time) < SHORTEST:
        found.append(f'time: it has {np.ptp(time):.0f} s')
    if not samples.has_effort[moving].all():
        found.append('efforts of '
                     f'{int((~samples.has_effort[moving]).sum())} of {len(moving)} joints')
    still = (np.abs(v[:, moving]) < STILL).all(axis=1).mean() * np.ptp(time)
    if still < LEAST_STILL:
        found.append('quiet standing')
    turned = np.ptp(q[:, moving], axis=0) > LEAST_TURN
    stiff = [name for name, turns in zip(names, turned) if not turns]
    if stiff:
        found.append(f'motion of {len(stiff)} of {len(names)} joints ({", ".join(stiff[:4])}'
                     f'{", ..." if len(stiff) > 4 else ""}): swing them with the leg lifted')
    quick = (np.abs(v[:, moving]) > QUICK).mean(axis=0) > LEAST_QUICK
    if not quick.all():
        slow = [name for name, fast in zip(names, quick) if not fast]
        found.append(f'quick motion of {len(slow)} of {len(names)} joints ({", ".join(slow[:4])}'
                     f'{", ..." if len(slow) > 4 else ""}): without it dry friction, viscous '
                     'friction and rotor inertia cannot be told apart')
    lean = np.ptp(samples.up[:, :2], axis=0)
    for axis, size in zip(('y', 'x'), lean):
        if size < LEAST_LEAN:
            found.append(f'leaning about {axis}')
    return found
