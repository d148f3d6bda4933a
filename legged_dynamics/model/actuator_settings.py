# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What a robot's YAML says about its actuators; `model.actuators` has what follows from it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.schema import CheckedSettings, setting


@dataclass(frozen=True)
class ActuatorSettings(CheckedSettings):
    """What the YAML says about the actuators beside `robot.armature` and `robot.joint_*`."""

    joint_friction_deviation: list[float] = setting(
        'robot.joint_friction_deviation', [], 'N m',
        'Deviation of the Coulomb friction: one value, or one per joint in command order; empty: '
        'a tenth of what is stated, or what motors of that torque limit have.', 0.0)
    joint_damping_deviation: list[float] = setting(
        'robot.joint_damping_deviation', [], 'N m s/rad',
        'The same of the viscous friction.', 0.0)
    load_friction: list[float] = setting(
        'robot.load_friction', [], '1',
        'Friction that grows with load, as a share of the torque: one value, or one per joint in '
        'command order.', 0.0, 1.0)
    load_friction_deviation: list[float] = setting(
        'robot.load_friction_deviation', [], '1', 'Deviation of it.', 0.0, 1.0)
    armature_deviation: list[float] = setting(
        'robot.armature_deviation', [], 'kg m^2', 'Deviation of the rotor inertia.', 0.0)
    joint_effort_gain: list[float] = setting(
        'noise.joint_effort_gain', [], '1',
        'Error of the scale of measured torques, one deviation per joint in command order; '
        'empty: noise.effort_gain.', 0.0, 1.0)
    joint_effort_offset: list[float] = setting(
        'noise.joint_effort_offset', [], 'N m',
        'Offset of measured torques, one deviation: one value, or one per joint in command '
        'order; empty: what torque sensors of that limit have.', 0.0)
    effort_age_deviation: float = setting(
        'noise.effort_age_deviation', 0.0, 's',
        'Deviation of noise.effort_age; 0: 0.3 ms where that is stated, 3 ms where not.', 0.0,
        0.05)


SETTINGS = ActuatorSettings.table()
_LISTS = ('joint_friction_deviation', 'joint_damping_deviation', 'load_friction',
          'load_friction_deviation', 'armature_deviation', 'joint_effort_gain',
          'joint_effort_offset')


@dataclass(frozen=True)
class StatedActuators:
    """
    What a YAML states of actuators beside friction, damping and armature.

    Attributes
    ----------
    joint_friction_deviation, joint_damping_deviation, load_friction, load_friction_deviation, \
armature_deviation, joint_effort_gain, joint_effort_offset : tuple of float
        None, one for all, or one per joint in command order.
    effort_age_deviation : float [s]
        Zero where it is not stated.

    """

    joint_friction_deviation: tuple[float, ...] = ()
    joint_damping_deviation: tuple[float, ...] = ()
    load_friction: tuple[float, ...] = ()
    load_friction_deviation: tuple[float, ...] = ()
    armature_deviation: tuple[float, ...] = ()
    joint_effort_gain: tuple[float, ...] = ()
    joint_effort_offset: tuple[float, ...] = ()
    effort_age_deviation: float = 0.0

    @classmethod
    def from_checked(cls, found: Mapping[str, Any], joints: Sequence[str]) -> StatedActuators:
        """
        Take them from checked settings.

        Parameters
        ----------
        found : mapping of str to value
            Checked settings by dotted name.
        joints : sequence of str
            Names in command order, `robot.joints`.

        Raises
        ------
        ConfigurationError
            When a list has neither one value nor one per joint.

        """
        settings = ActuatorSettings.from_checked(found)
        values: dict[str, Any] = dict(vars(settings))
        for entry in ActuatorSettings.table():
            name = entry.name.rpartition('.')[2]
            if name in _LISTS:
                given = values[name]
                if len(given) not in {0, 1, len(joints)}:
                    raise ConfigurationError(
                        f'{entry.name}: expected one value, or one per name in robot.joints '
                        f'({len(joints)}), got {len(given)}')
                values[name] = tuple(given)
        return cls(**values)
