# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Which simulated robot it is: one that walks on the ground, or one that climbs a wall."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.schema import Setting
from legged_dynamics.simulation.climbing_plant import SETTINGS as CLIMBING_SETTINGS
from legged_dynamics.simulation.climbing_plant import ClimbingPlant
from legged_dynamics.simulation.climbing_robot import ClimbingRobot
from legged_dynamics.simulation.hardware import SimulatedHardware
from legged_dynamics.simulation.plant import KIND, Hardware, Plant
from legged_dynamics.simulation.plant import SETTINGS as WALKING_SETTINGS
from legged_dynamics.simulation.robot import SimulatedRobot
from legged_dynamics.simulation.schedule import Schedule

SETTINGS = {'walker': WALKING_SETTINGS, 'climber': CLIMBING_SETTINGS}


def plant_settings(kind: str) -> tuple[Setting, ...]:
    """Return the settings of a ``simulation.kind``, without `KIND`."""
    return tuple(setting for setting in SETTINGS[kind] if setting.name != KIND.name)


def make_plant(parameters: Mapping[str, Any], urdf: str = '') -> Hardware:
    """
    Return the robot of dotted parameters.

    Parameters
    ----------
    parameters : mapping
        `simulation.kind` chooses among the kinds.
    urdf : str
        URDF text; a climbing robot's is made from its parameters when it is empty.

    Returns
    -------
    Hardware
        A `Plant` or a `ClimbingPlant`.

    Raises
    ------
    ConfigurationError
        When a setting is missing, wrong or does not fit the others.

    """
    if KIND.check(parameters.get(KIND.name, KIND.default)) == 'climber':
        return ClimbingPlant.from_parameters(parameters, urdf)
    if not urdf:
        raise ConfigurationError('robot_description: expected the URDF of the robot, as XML or '
                                 'as a path, got nothing')
    return Plant.from_parameters(parameters, urdf)


def make_robot(plant: Hardware, *, schedule: Schedule | None = None, noise: bool = True,
               seed: int = 0, start_ns: int = 0) -> SimulatedHardware:
    """
    Return a simulated robot at its start.

    Parameters
    ----------
    plant : Hardware
        The robot.
    schedule : Schedule, optional
        What a walking robot does on its own; a climbing one hangs on its springs.
    noise : bool
        Whether sensors have the plant's noise and bias.
    seed : int
        Seed of the noise.
    start_ns : int
        Stamp of the first sample [ns].

    Returns
    -------
    SimulatedHardware
        A `SimulatedRobot` or a `ClimbingRobot`.

    """
    if isinstance(plant, ClimbingPlant):
        return ClimbingRobot(plant, noise=noise, seed=seed, start_ns=start_ns)
    assert isinstance(plant, Plant)
    return SimulatedRobot(plant, schedule=schedule, noise=noise, seed=seed, start_ns=start_ns)
