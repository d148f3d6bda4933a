# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A climbing robot as parameters: body, limbs, wall, pads, gait and control, from a YAML file."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.schema import CheckedSettings, checked, read_parameter_file, setting
from legged_dynamics.stickybot.control.gait import ControlSettings, Gait
from legged_dynamics.stickybot.model.adhesion import Adhesion
from legged_dynamics.stickybot.model.dynamics import nominal_damping
from legged_dynamics.stickybot.model.robot import Body, Limb, Link, StickybotModel, Wall

PADS = ('none', 'disc', 'directional')


@dataclass(frozen=True)
class RobotSettings(CheckedSettings):
    """Body, limbs, hips and wall, each setting with its default, unit and range."""

    limbs: list[str] = setting(
        'stickybot.limbs', ['left_fore', 'right_fore', 'left_hind', 'right_hind'], '',
        'Names of the limbs; all lists per limb are in this order.')
    n_limbs: int = setting(
        'stickybot.n_limbs', 0, '',
        'An even number of limbs to use instead of those listed, in pairs spread evenly from the'
        ' first to the last listed hip; 0: those listed.', 0, 64)
    body_mass: float = setting(
        'stickybot.body_mass', 0.29, 'kg', 'Mass of the body without limbs.', 1e-6, 1e4)
    body_inertia: float = setting(
        'stickybot.body_inertia', 1.0536666666666667e-3, 'kg m^2',
        "Inertia of the body about the wall's normal.", 1e-9, 1e4)
    body_height: float = setting(
        'stickybot.body_height', 0.02, 'm',
        'Distance of the centre of mass from the wall.', 0.0, 10.0)
    hip_x: list[float] = setting(
        'stickybot.hip_x', [-0.03, 0.03, -0.03, 0.03], 'm',
        "Rest position of each hip across the body, from the body's centre of mass.", -10.0, 10.0)
    hip_y: list[float] = setting(
        'stickybot.hip_y', [0.08, 0.08, -0.08, -0.08], 'm',
        "Rest position of each hip along the body, from the body's centre of mass.", -10.0, 10.0)
    rest_angle: list[float] = setting(
        'stickybot.rest_angle', [0.0, math.pi, 0.0, math.pi], 'rad',
        'Rest angle of each limb against the body, foot to hip: 0 with the foot on the left.',
        -7.0, 7.0)
    link_length: list[float] = setting(
        'stickybot.link_length', [0.1], 'm',
        "Lengths of a limb's links, foot to hip; the same in every limb.", 1e-4, 10.0)
    link_mass: list[float] = setting(
        'stickybot.link_mass', [0.02], 'kg', 'Masses of the links.', 1e-9, 1e4)
    bends: list[float] = setting(
        'stickybot.bends', [], 'rad',
        'Rest angles of the inner joints of left limbs, mirrored on the right. Empty: straight '
        'limbs.', -7.0, 7.0)
    joint_stiffness: list[float] = setting(
        'stickybot.joint_stiffness', [], 'N m/rad', "Stiffness of the inner joints' servos.", 0.0)
    joint_damping: list[float] = setting(
        'stickybot.joint_damping', [], 'N m s/rad', "Damping of the inner joints' servos.", 0.0)
    hip_stiffness: list[float] = setting(
        'stickybot.hip_stiffness', [2000.0, 2000.0, 5.0], 'N/m, N/m, N m/rad',
        'Stiffness of every hip: x, y, angle.', 1e-9)
    stiffness_scale: float = setting(
        'stickybot.stiffness_scale', 1.0, '', 'Factor on the hip stiffness.', 1e-6, 1e6)
    hip_damping: list[float] = setting(
        'stickybot.hip_damping', [], 'N s/m, N s/m, N m s/rad',
        'Damping of every hip: x, y, angle; empty: designed for the damping ratio.', 0.0)
    damping_ratio: float = setting(
        'stickybot.damping_ratio', 1.0, '',
        'Nominal damping ratio of the designed hip damping.', 0.0, 100.0)
    inclination: float = setting(
        'stickybot.inclination', math.pi / 2.0, 'rad',
        'Inclination of the wall: 0 a floor, pi/2 a vertical wall, pi a ceiling.',
        0.0, math.pi)
    gravity: float = setting(
        'stickybot.gravity', GRAVITY, 'm/s^2', 'Acceleration of gravity.', 0.0, 1e3)


@dataclass(frozen=True)
class PadSettings(CheckedSettings):
    """Limits of the feet, each setting with its default, unit and range."""

    kind: str = setting(
        'adhesion.kind', 'none', '', 'Model of the limits of the feet.', choices=PADS)
    shear: float = setting(
        'adhesion.shear', 5.0, 'N', "Largest force of a foot in the wall's plane.", 0.0)
    normal: float = setting(
        'adhesion.normal', 2.0, 'N', 'Largest pull of a foot off the wall.', 0.0)
    friction: float = setting(
        'adhesion.friction', 0.5, '',
        'Shear force gained per newton that the foot is pressed to the wall.', 0.0)
    direction: float = setting(
        'adhesion.direction', math.pi / 2.0, 'rad',
        'Direction in which a directional pad holds, in body axes at touchdown; pi/2 is towards '
        'the head.', -7.0, 7.0)
    half_angle: float = setting(
        'adhesion.half_angle', math.pi / 3.0, 'rad',
        'Half angle of the cone about that direction.', 0.01, 1.57)
    release_angle: float = setting(
        'adhesion.release_angle', math.pi / 6.0, 'rad',
        'A directional pad pulled off the wall more steeply than this lets go.', 0.01, 1.57)
    tack: float = setting(
        'adhesion.tack', 0.2, 'N',
        'Shear along its own direction that a directional pad counts in addition to what acts.',
        0.0)


SETTINGS = (*RobotSettings.table(), *PadSettings.table(), *Gait.table(), *ControlSettings.table())


@dataclass(frozen=True)
class StickybotSettings:
    """
    Checked settings of a climbing robot: of the robot, its pads, its gait and its controller.

    Attributes
    ----------
    robot : RobotSettings
        Body, limbs, hips and wall.
    feet : PadSettings
        Limits of the feet.
    stepping : Gait
        Which feet hold when.
    controller : ControlSettings
        Rates, limits and gains of the controller.

    Raises
    ------
    ConfigurationError
        When a list does not have as many values as there are limbs, links or inner joints, or the
        number of limbs is odd.

    """

    robot: RobotSettings
    feet: PadSettings
    stepping: Gait
    controller: ControlSettings

    def __post_init__(self) -> None:
        robot = self.robot
        n, links = len(robot.limbs), len(robot.link_length)
        inner = links - 1
        allowed = {'hip_x': (n,), 'hip_y': (n,), 'rest_angle': (n,), 'link_mass': (links,),
                   'bends': (0, inner), 'joint_stiffness': (inner,), 'joint_damping': (0, inner),
                   'hip_stiffness': (3,), 'hip_damping': (0, 3)}
        for name, lengths in allowed.items():
            length = len(getattr(robot, name))
            if length not in lengths:
                raise ConfigurationError(
                    f'stickybot.{name}: expected {" or ".join(map(str, sorted(set(lengths))))} '
                    f'values (there are {n} limbs of {links} links), got {length}')
        if robot.n_limbs % 2:
            raise ConfigurationError('stickybot.n_limbs: expected an even number, got '
                                     f'{robot.n_limbs}')

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any] | None = None) -> StickybotSettings:
        """Build from dotted names, checked; defaults are those of the proposed 370 g robot."""
        found = checked(values or {}, SETTINGS)
        return cls(RobotSettings.from_parameters(found), PadSettings.from_parameters(found),
                   Gait.from_parameters(found), ControlSettings.from_parameters(found))

    @classmethod
    def from_yaml(cls, path: str | Path) -> StickybotSettings:
        """
        Read a ROS 2 parameter file.

        ``path``: YAML file with the settings as parameters. Raises ConfigurationError when the
        file cannot be read, or its content is not a climbing robot's.
        """
        try:
            return cls.from_parameters(read_parameter_file(path))
        except ConfigurationError as error:
            if str(path) in str(error):
                raise
            raise ConfigurationError(f'{path}: {error}') from error

    @property
    def values(self) -> dict[str, Any]:
        """Return all values by dotted name, as :meth:`from_parameters` takes them."""
        return {**self.robot.values, **self.feet.values, **self.stepping.values,
                **self.controller.values}

    def changed(self, values: Mapping[str, Any]) -> StickybotSettings:
        """Return the settings with some values replaced, new ``values`` by dotted name."""
        return self.from_parameters({**self.values, **values})

    def _placements(self) -> list[tuple[str, float, float, float]]:
        """Return name, hip x, hip y and rest angle of each limb."""
        robot = self.robot
        listed = list(zip(robot.limbs, robot.hip_x, robot.hip_y, robot.rest_angle))
        n = robot.n_limbs
        if not n:
            return listed
        x, top, bottom = abs(listed[0][1]), listed[0][2], listed[-1][2]
        rows = np.linspace(top, bottom, n // 2) if n > 2 else [0.5 * (top + bottom)]
        return [(f'{side}_{k + 1}', sign * x, float(y), angle) for k, y in enumerate(rows)
                for side, sign, angle in (('left', -1.0, 0.0), ('right', 1.0, math.pi))]

    def body(self) -> Body:
        """Return the body."""
        robot = self.robot
        return Body(robot.body_mass, robot.body_inertia, robot.body_height)

    def model(self) -> StickybotModel:
        """Return the robot on its wall; ModelError when the values make none."""
        robot, body, placements = self.robot, self.body(), self._placements()
        stiffness = robot.stiffness_scale * np.array(robot.hip_stiffness)
        damping = np.array(robot.hip_damping or nominal_damping(
            body, stiffness, len(placements), robot.damping_ratio))
        inner = len(robot.link_length) - 1
        servo = [(0.0, 0.0), *zip(robot.joint_stiffness, robot.joint_damping or [0.0] * inner)]
        links = tuple(Link(length, mass, stiffness=k, damping=b)
                      for length, mass, (k, b) in zip(robot.link_length, robot.link_mass, servo))
        limbs = []
        for name, x, y, angle in placements:
            sign = 1.0 if math.cos(angle) >= 0.0 else -1.0
            limbs.append(Limb(name, links, np.array([x, y]), angle, stiffness, damping,
                              tuple(sign * bend for bend in robot.bends)))
        return StickybotModel(body, limbs, Wall(robot.inclination, robot.gravity))

    def gait(self) -> Gait:
        """Return the gait."""
        return self.stepping

    def control(self) -> ControlSettings:
        """Return the controller's settings."""
        return self.controller

    def pads(self) -> tuple[Adhesion, ...] | None:
        """Return the limits of each foot, or None when there are none."""
        feet = self.feet
        if feet.kind == 'none':
            return None
        pad = Adhesion(feet.shear, feet.normal, feet.friction,
                       feet.direction if feet.kind == 'directional' else None,
                       feet.half_angle, feet.release_angle, feet.tack)
        return (pad,) * len(self._placements())
