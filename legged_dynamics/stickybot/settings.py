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
from legged_dynamics.schema import Setting, checked, read_parameter_file
from legged_dynamics.stickybot.control.gait import PATTERNS, ControlSettings, Gait
from legged_dynamics.stickybot.control.gait import SETTINGS as CONTROL_SETTINGS
from legged_dynamics.stickybot.model.adhesion import Adhesion
from legged_dynamics.stickybot.model.jacobian import nominal_damping
from legged_dynamics.stickybot.model.parts import Body, Limb, Link, Wall
from legged_dynamics.stickybot.model.robot import StickybotModel

PADS = ('none', 'disc', 'directional')

SETTINGS = (
    Setting('stickybot.limbs', ['left_fore', 'right_fore', 'left_hind', 'right_hind'], '',
            'Names of the limbs; all the lists per limb are in this order.'),
    Setting('stickybot.n_limbs', 0, '',
            'An even number of limbs to put in place of those listed, in pairs spread evenly from '
            'the first to the last listed hip; 0: those listed.', 0, 64),
    Setting('stickybot.body_mass', 0.29, 'kg', 'Mass of the body without limbs.', 1e-6, 1e4),
    Setting('stickybot.body_inertia', 1.0536666666666667e-3, 'kg m^2',
            "Of the body about the wall's normal.", 1e-9, 1e4),
    Setting('stickybot.body_height', 0.02, 'm',
            'Distance of the centre of mass from the wall.', 0.0, 10.0),
    Setting('stickybot.hip_x', [-0.03, 0.03, -0.03, 0.03], 'm',
            "Rest position of each hip, from the body's centre of mass.", -10.0, 10.0),
    Setting('stickybot.hip_y', [0.08, 0.08, -0.08, -0.08], 'm', 'Likewise, along the body.',
            -10.0, 10.0),
    Setting('stickybot.rest_angle', [0.0, math.pi, 0.0, math.pi], 'rad',
            'Rest angle of each limb against the body, foot to hip: 0 with the foot on the left.',
            -7.0, 7.0),
    Setting('stickybot.link_length', [0.1], 'm',
            "Lengths of a limb's links, foot to hip; the same in every limb.", 1e-4, 10.0),
    Setting('stickybot.link_mass', [0.02], 'kg', 'Masses of the links.', 1e-9, 1e4),
    Setting('stickybot.bends', [], 'rad',
            'Rest angles of the inner joints, left limbs; mirrored on the right. Empty: straight.',
            -7.0, 7.0),
    Setting('stickybot.joint_stiffness', [], 'N m/rad', "Of the inner joints' servos.", 0.0),
    Setting('stickybot.joint_damping', [], 'N m s/rad', "Of the inner joints' servos.", 0.0),
    Setting('stickybot.hip_stiffness', [2000.0, 2000.0, 5.0], 'N/m, N/m, N m/rad',
            'Of every hip: x, y, angle.', 1e-9),
    Setting('stickybot.stiffness_scale', 1.0, '', 'Multiplies the hip stiffness.', 1e-6, 1e6),
    Setting('stickybot.hip_damping', [], 'N s/m, N s/m, N m s/rad',
            'Of every hip; empty: designed for the damping ratio.', 0.0),
    Setting('stickybot.damping_ratio', 1.0, '',
            'Nominal damping ratio of the designed hip damping.', 0.0, 100.0),
    Setting('stickybot.inclination', math.pi / 2.0, 'rad',
            'Of the wall: 0 a floor, pi/2 a vertical wall, pi a ceiling.', 0.0, math.pi),
    Setting('stickybot.gravity', GRAVITY, 'm/s^2', 'Acceleration of gravity.', 0.0, 1e3),
    Setting('adhesion.kind', 'none', '', 'Limits of the feet.', choices=PADS),
    Setting('adhesion.shear', 5.0, 'N', "Largest force of a foot in the wall's plane.", 0.0),
    Setting('adhesion.normal', 2.0, 'N', 'Largest pull of a foot off the wall.', 0.0),
    Setting('adhesion.friction', 0.5, '', 'Shear gained per newton pressed to the wall.', 0.0),
    Setting('adhesion.direction', math.pi / 2.0, 'rad',
            'Direction in which a directional pad holds, in body axes at touchdown; pi/2 is '
            'towards the head.', -7.0, 7.0),
    Setting('adhesion.half_angle', math.pi / 3.0, 'rad', 'Of the cone about it.', 0.01, 1.57),
    Setting('adhesion.release_angle', math.pi / 6.0, 'rad',
            'A directional pad pulled more steeply than this lets go.', 0.01, 1.57),
    Setting('adhesion.tack', 0.2, 'N',
            'What a directional pad holds as if pulled its own way that much more.', 0.0),
    Setting('gait.pattern', 'diagonal', '', 'Which feet step together.', choices=PATTERNS),
    Setting('gait.period', 1.0, 's', 'Of the gait.', 0.01, 100.0),
    Setting('gait.duty', 0.6, '', 'Part of the period that a foot is on the wall.', 0.05, 0.99),
    Setting('gait.amplitude', 0.147, 'rad', 'Half of the sweep of a rest angle.', -1.5, 1.5),
    *CONTROL_SETTINGS,
)


@dataclass(frozen=True)
class StickybotSettings:
    """
    Checked parameters of a climbing robot; the table `SETTINGS` documents each.

    Attributes
    ----------
    values : dict
        Dotted names to values.

    """

    values: Mapping[str, Any]

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any] | None = None) -> StickybotSettings:
        """
        Check dotted parameter names; what is not given is that of the proposed 370 g robot.

        Raises
        ------
        ConfigurationError
            When a key is unknown, or a value has the wrong type, length or range.

        """
        found = cls(checked(values or {}, SETTINGS))
        found._check_lengths()
        return found

    @classmethod
    def from_yaml(cls, path: str | Path) -> StickybotSettings:
        """
        Read a ROS 2 parameter file.

        Raises
        ------
        ConfigurationError
            When the file cannot be read, or its content is not a climbing robot's.

        """
        try:
            return cls.from_parameters(read_parameter_file(path))
        except ConfigurationError as error:
            if str(path) in str(error):
                raise
            raise ConfigurationError(f'{path}: {error}') from error

    def changed(self, values: Mapping[str, Any]) -> StickybotSettings:
        """Return the settings with some values replaced."""
        return self.from_parameters({**self.values, **values})

    def _check_lengths(self) -> None:
        values = self.values
        n, links = len(values['stickybot.limbs']), len(values['stickybot.link_length'])
        inner = links - 1
        allowed = {'stickybot.hip_x': (n,), 'stickybot.hip_y': (n,), 'stickybot.rest_angle': (n,),
                   'stickybot.link_mass': (links,), 'stickybot.bends': (0, inner),
                   'stickybot.joint_stiffness': (inner,), 'stickybot.joint_damping': (0, inner),
                   'stickybot.hip_stiffness': (3,), 'stickybot.hip_damping': (0, 3)}
        for name, lengths in allowed.items():
            if len(values[name]) not in lengths:
                raise ConfigurationError(
                    f'{name}: expected {" or ".join(map(str, sorted(set(lengths))))} values '
                    f'(there are {n} limbs of {links} links), got {len(values[name])}')
        if values['stickybot.n_limbs'] % 2:
            raise ConfigurationError('stickybot.n_limbs: expected an even number, got '
                                     f'{values["stickybot.n_limbs"]}')

    def _placements(self) -> list[tuple[str, float, float, float]]:
        """Return name, hip x, hip y and rest angle of each limb."""
        values = self.values
        listed = list(zip(values['stickybot.limbs'], values['stickybot.hip_x'],
                          values['stickybot.hip_y'], values['stickybot.rest_angle']))
        n = values['stickybot.n_limbs']
        if not n:
            return listed
        x, top, bottom = abs(listed[0][1]), listed[0][2], listed[-1][2]
        rows = np.linspace(top, bottom, n // 2) if n > 2 else [0.5 * (top + bottom)]
        return [(f'{side}_{k + 1}', sign * x, float(y), angle) for k, y in enumerate(rows)
                for side, sign, angle in (('left', -1.0, 0.0), ('right', 1.0, math.pi))]

    def body(self) -> Body:
        """Return the body."""
        values = self.values
        return Body(values['stickybot.body_mass'], values['stickybot.body_inertia'],
                    values['stickybot.body_height'])

    def model(self) -> StickybotModel:
        """
        Return the robot on its wall.

        Raises
        ------
        ModelError
            When the values make no robot.

        """
        values, body, placements = self.values, self.body(), self._placements()
        stiffness = values['stickybot.stiffness_scale'] * np.array(
            values['stickybot.hip_stiffness'])
        damping = np.array(values['stickybot.hip_damping'] or nominal_damping(
            body, stiffness, len(placements), values['stickybot.damping_ratio']))
        lengths, masses = values['stickybot.link_length'], values['stickybot.link_mass']
        inner = len(lengths) - 1
        servo = [(0.0, 0.0), *zip(values['stickybot.joint_stiffness'],
                                  values['stickybot.joint_damping'] or [0.0] * inner)]
        links = tuple(Link(length, mass, stiffness=k, damping=b)
                      for length, mass, (k, b) in zip(lengths, masses, servo))
        limbs = []
        for name, x, y, angle in placements:
            sign = 1.0 if math.cos(angle) >= 0.0 else -1.0
            limbs.append(Limb(name, links, np.array([x, y]), angle, stiffness, damping,
                              tuple(sign * bend for bend in values['stickybot.bends'])))
        wall = Wall(values['stickybot.inclination'], values['stickybot.gravity'])
        return StickybotModel(body, limbs, wall)

    def gait(self) -> Gait:
        """Return the gait."""
        return Gait(*(self.values[f'gait.{name}']
                      for name in ('pattern', 'period', 'duty', 'amplitude')))

    def control(self) -> ControlSettings:
        """Return the controller's settings."""
        return ControlSettings.from_parameters(
            {name: value for name, value in self.values.items() if name.startswith('control.')})

    def pads(self) -> tuple[Adhesion, ...] | None:
        """Return the limits of each foot, or None when there are none."""
        values = self.values
        if values['adhesion.kind'] == 'none':
            return None
        pad = Adhesion(
            values['adhesion.shear'], values['adhesion.normal'], values['adhesion.friction'],
            values['adhesion.direction'] if values['adhesion.kind'] == 'directional' else None,
            values['adhesion.half_angle'], values['adhesion.release_angle'],
            values['adhesion.tack'])
        return (pad,) * len(self._placements())
