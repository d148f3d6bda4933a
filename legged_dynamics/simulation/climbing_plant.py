# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a simulated climbing robot is made of: the robot on its wall, its pads, its sensors."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.schema import Setting, checked, read_parameter_file
from legged_dynamics.simulation.plant import KIND, Hardware
from legged_dynamics.stickybot.model.adhesion import Adhesion
from legged_dynamics.stickybot.model.description import BASE, urdf
from legged_dynamics.stickybot.model.joints import LimbJoints
from legged_dynamics.stickybot.model.robot import StickybotModel
from legged_dynamics.stickybot.settings import SETTINGS as STICKYBOT_SETTINGS
from legged_dynamics.stickybot.settings import StickybotSettings

SETTINGS = (
    KIND,
    Setting('simulation.rate', 500.0, 'Hz', 'Sensor samples per second.', 50.0, 1000.0),
    Setting('simulation.timestep', 1e-4, 's',
            'Physics step: short against the fastest mode of a limb on its hip, 5000/s.',
            1e-5, 1e-3),
    Setting('simulation.command_timeout', 0.1, 's',
            'Age at which an effort command is no longer obeyed.', 1e-3, 10.0),
    Setting('simulation.fault.foot', '', '', 'Foot whose pad fails once; empty: none.'),
    Setting('simulation.fault.time', 0.0, 's', 'Earliest time of that.', 0.0, 1e6),
    Setting('simulation.fault.distance', 0.0, 'm',
            'How far the robot has then climbed; 0: no matter.', 0.0, 1e3),
    *(setting for setting in STICKYBOT_SETTINGS
      if setting.name.startswith(('stickybot.', 'adhesion.'))),
)


@dataclass(frozen=True)
class PadFault:
    """
    One failure of one pad.

    Attributes
    ----------
    foot : str
        Link of the foot.
    time, distance : float [s, m]
        It fails when that much time has passed and the robot has climbed that far, as soon as it
        is on the wall; a distance of 0 asks for none.

    """

    foot: str
    time: float = 0.0
    distance: float = 0.0

    def due(self, time: float, climbed: float) -> bool:
        """Return whether it is time for it."""
        return time >= self.time and (self.distance == 0.0 or climbed >= self.distance)


@dataclass(frozen=True)
class ClimbingPlant(Hardware):
    """
    Everything that defines one simulated climbing robot.

    Attributes
    ----------
    climber : StickybotModel
        The robot on its wall.
    limbs : LimbJoints
        Its joints by name.
    pads : tuple of Adhesion or None
        Limits of the feet.
    effort_limits : (nj,) array [N or N m]
        Of the motors.
    fault : PadFault or None

    """

    climber: StickybotModel
    limbs: LimbJoints
    pads: tuple[Adhesion, ...] | None
    effort_limits: np.ndarray
    fault: PadFault | None

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], description: str = ''
                        ) -> ClimbingPlant:
        """
        Build from dotted parameter names, as a node holds them.

        Parameters
        ----------
        parameters : mapping
            Names of `SETTINGS`, of `stickybot.settings` and of a robot's YAML.
        description : str
            URDF text, for the limits of the motors; empty: made from the parameters.

        Raises
        ------
        ConfigurationError
            When a setting is wrong, or the robot's names or the URDF do not fit the parameters.

        """
        found = checked(parameters, SETTINGS)
        settings = StickybotSettings.from_parameters(
            {key: value for key, value in found.items() if not key.startswith('simulation.')})
        config = RobotConfig.from_parameters(
            {key: value for key, value in parameters.items()
             if key.startswith(('robot.', 'noise.'))})
        climber = settings.model()
        limbs = LimbJoints(climber)
        joints = config.joints or limbs.names
        for key, given, made in (('joints', joints, limbs.names), (
                'feet', [foot.link for foot in config.feet] or limbs.feet, limbs.feet)):
            if tuple(given) != made:
                raise ConfigurationError(f'robot.{key}: expected those of the parameters '
                                         f'stickybot.*, {list(made)}, got {list(given)}')
        description = description or urdf(climber)
        robot = RobotModel.from_xml(description)
        if robot.joint_names != limbs.names or not math.isclose(
                robot.total_mass, climber.mass, rel_tol=1e-3):
            raise ConfigurationError(
                f'robot_description: expected the robot of the parameters stickybot.*, of '
                f'{climber.mass:.3f} kg with the joints {list(limbs.names)}, got '
                f'{robot.total_mass:.3f} kg and {list(robot.joint_names)}; leave it empty to have '
                'it made from the parameters')
        foot = found['simulation.fault.foot']
        if foot and foot not in limbs.feet:
            raise ConfigurationError(f'simulation.fault.foot: expected one of '
                                     f'{", ".join(limbs.feet)}, got {foot!r}')
        fault = PadFault(foot, found['simulation.fault.time'],
                         found['simulation.fault.distance']) if foot else None
        return cls(
            urdf=description, base_link=robot.base_link, imu_link=config.imu_link or BASE,
            feet=limbs.feet, joints=limbs.names, noise=config.noise,
            rate=found['simulation.rate'], timestep=found['simulation.timestep'],
            command_timeout=found['simulation.command_timeout'], climber=climber, limbs=limbs,
            pads=settings.pads(), effort_limits=robot.effort_limits, fault=fault)

    @classmethod
    def from_files(cls, config: str | Path, **changes: Any) -> ClimbingPlant:
        """
        Read a robot's YAML and the URDF of the same name beside it, if there is one.

        Parameters
        ----------
        config : str or Path
            YAML of the robot.
        **changes : Any
            Parameters that replace those of the file; a__b stands for a.b.

        Raises
        ------
        ConfigurationError
            When a file cannot be read or a key is missing or out of range.

        """
        path = Path(config).with_suffix('.urdf')
        return cls.from_parameters(
            read_parameter_file(config) | {key.replace('__', '.'): value
                                           for key, value in changes.items()},
            path.read_text(encoding='utf-8') if path.is_file() else '')
