# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings on disk, made when they are first asked for."""
from __future__ import annotations

import os
from pathlib import Path

from benchmarks.zoo.recording import Recording
from benchmarks.zoo.scenarios import SCENARIOS
from benchmarks.zoo.simulate import simulate

ENVIRONMENT = 'LEGGED_DYNAMICS_ZOO'


def folder() -> Path:
    """Return where recordings are kept: LEGGED_DYNAMICS_ZOO, or ~/.cache/legged_dynamics/zoo."""
    return Path(os.environ.get(ENVIRONMENT) or Path.home() / '.cache/legged_dynamics/zoo')


def recording(name: str, rate: float = 500.0, anew: bool = False) -> Recording:
    """
    Return a scenario's recording, simulated if it is not in the folder.

    Raises
    ------
    KeyError
        When there is no such scenario.
    MissingRobot
        When its robot's description is not installed.
    SimulationError
        When the robot falls.

    """
    scenario = SCENARIOS[name]
    path = folder() / (f'{name}.npz' if rate == 500.0 else f'{name}@{rate:g}.npz')
    if path.is_file() and not anew:
        return Recording.load(path)
    made = simulate(scenario, rate)
    made.save(path)
    return made
