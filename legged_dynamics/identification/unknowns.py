# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is to be identified: one vector of unknowns, zero for the robot as described."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.identification.log_cholesky import MASS, SHAPE, SHIFT, LogCholesky
from legged_dynamics.model.robot_config import RobotConfig
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.schema import Setting, checked
from legged_dynamics.spatial.rotations import rotation_from_rpy, rotation_from_vector

SETTINGS = (
    Setting('identify.base_mass', 0.15, '1', "How far the base's mass may be from the URDF's, "
            'as a fraction: one standard deviation.', 1e-6, 10.0),
    Setting('identify.base_center_of_mass', 0.05, '1', "The same of the base's centre of mass, "
            'in heights of the standing robot.', 1e-6, 10.0),
    Setting('identify.link', 0.05, '1', 'The same of the mass of each other link; its centre of '
            'mass in radii of gyration.', 1e-6, 10.0),
    Setting('identify.shape', 0.15, '1', 'The same of moments of inertia.', 1e-6, 10.0),
    Setting('identify.effort_scale', 0.3, '1', 'The same of the torque constant of each motor.',
            1e-6, 10.0),
    Setting('identify.friction', 0.1, '1', "Coulomb and viscous friction, at the joint's effort "
            'limit and at its rated speed, as a part of the effort limit.', 1e-6, 10.0),
    Setting('identify.armature', 0.05, '1', "Armature, as a part of the leg's own inertia at "
            'full stretch.', 1e-6, 10.0),
    Setting('identify.position_offset', 0.05, 'rad', 'Offset of each joint.', 1e-6, 3.0),
    Setting('identify.imu_mount', 0.05, 'rad', 'Tilt of the IMU on its link.', 1e-6, 3.0),
    Setting('identify.accelerometer_bias', 0.1, 'm/s^2', 'Bias of the accelerometer.', 1e-6,
            10.0),
    Setting('identify.gyro_bias', 0.02, 'rad/s', 'Bias of the gyro.', 1e-6, 10.0),
)
PER_JOINT = ('effort_scale', 'coulomb', 'viscous', 'armature', 'position_offset')
PER_AXIS = ('imu_mount', 'accelerometer_bias', 'gyro_bias')


@dataclass(frozen=True, eq=False)
class Trust:
    """How far each unknown may be from the description: standard deviations, by `SETTINGS`."""

    values: Mapping[str, float]

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any] | None = None) -> Trust:
        """
        Build from dotted parameter names.

        Raises
        ------
        ConfigurationError
            When a key is unknown or a value out of range.

        """
        return cls({name.removeprefix('identify.'): value
                    for name, value in checked(values or {}, SETTINGS).items()})

    def __getitem__(self, name: str) -> float:
        """Return one of them."""
        return self.values[name]


class Unknowns:
    """
    The vector of unknowns of a robot and what it means.

    Parameters
    ----------
    model : RobotModel
        With the joint physics of the configuration.
    config : RobotConfig
    height : float [m]
        Of the base over the feet.
    trust : Trust
    imu : bool
        Whether there is one.

    Attributes
    ----------
    parts : dict of str to slice
        Where 'inertia' (ten a body), the joints' and the IMU's unknowns stand.
    deviation : (p,) array
        Of each unknown before anything is measured.
    size : int

    """

    def __init__(self, model: RobotModel, config: RobotConfig, height: float, trust: Trust,
                 imu: bool):
        self.model, self.config = model, config
        self.bodies = [LogCholesky(model.body_inertia(i)) for i in range(model.n_bodies)]
        nj, start = model.n_joints, 10 * model.n_bodies
        self.parts = {'inertia': slice(0, start)}
        for name in PER_JOINT:
            self.parts[name] = slice(start, start + nj)
            start += nj
        for name in PER_AXIS if imu else ():
            self.parts[name] = slice(start, start + 3)
            start += 3
        self.size = start
        self.deviation = np.ones(start)
        self._trust(height, trust)

    def _trust(self, height: float, trust: Trust) -> None:
        each = self.deviation[self.parts['inertia']].reshape(-1, 10)
        each[:, MASS], each[:, SHAPE], each[:, SHIFT] = (
            0.5 * trust['link'], 0.5 * trust['shape'], trust['link'])
        each[0, MASS] = 0.5 * trust['base_mass']
        each[0, SHIFT] = trust['base_center_of_mass'] * height / np.maximum(
            self.bodies[0].radius, 1e-3)
        model = self.model
        weight = model.total_mass * 9.81
        limit = np.minimum(model.effort_limits, weight * height)
        speed = np.array([min(joint.velocity, 10.0) for joint in model.joints])
        set_ = self.deviation
        set_[self.parts['effort_scale']] = trust['effort_scale']
        set_[self.parts['coulomb']] = trust['friction'] * limit
        set_[self.parts['viscous']] = trust['friction'] * limit / speed
        set_[self.parts['armature']] = trust['armature'] * model.total_mass * height ** 2
        set_[self.parts['position_offset']] = trust['position_offset']
        for name in PER_AXIS:
            if name in self.parts:
                set_[self.parts[name]] = trust[name]

    def inertial(self, x: np.ndarray) -> np.ndarray:
        """Return what the regressor multiplies, (10 nb,)."""
        each = x[self.parts['inertia']].reshape(-1, 10)
        return np.concatenate([body.parameters(theta) for body, theta in zip(self.bodies, each)])

    def inertial_gradient(self, x: np.ndarray) -> np.ndarray:
        """Return its derivative, (nb, 10, 10): blocks of the diagonal."""
        each = x[self.parts['inertia']].reshape(-1, 10)
        return np.stack([body.gradient(theta) for body, theta in zip(self.bodies, each)])

    def robot(self, x: np.ndarray) -> RobotModel:
        """Return the model with the inertias and joint physics that the unknowns say."""
        each = x[self.parts['inertia']].reshape(-1, 10)
        model = self.model.with_body_inertia(
            {i: body.inertia(theta) for i, (body, theta) in enumerate(zip(self.bodies, each))})
        changed = {}
        for column, name in (('friction', 'coulomb'), ('damping', 'viscous'),
                             ('armature', 'armature')):
            values = np.maximum([getattr(joint, column) for joint in self.model.joints]
                                + x[self.parts[name]], 0.0)
            changed[column] = dict(zip(model.joint_names, values.tolist()))
        return model.with_joint_physics(**changed)

    def configuration(self, x: np.ndarray) -> RobotConfig:
        """Return the configuration with the sensors that the unknowns say."""
        c, names = self.config.sensors, self.model.joint_names
        scale = c.per_joint('effort_scale', names, 1.0) * np.exp(x[self.parts['effort_scale']])
        offset = c.per_joint('position_offset', names, 0.0) + x[self.parts['position_offset']]
        c = c.with_joint('effort_scale', names, scale).with_joint('position_offset', names, offset)
        if 'imu_mount' in self.parts:
            R = rotation_from_vector(x[self.parts['imu_mount']]) @ rotation_from_rpy(
                np.asarray(c.imu_rpy))
            pitch = float(np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)))
            rpy = (float(np.arctan2(R[2, 1], R[2, 2])), pitch,
                   float(np.arctan2(R[1, 0], R[0, 0])))
            c = replace(c, imu_rpy=rpy,
                        accelerometer_bias=tuple((np.asarray(c.accelerometer_bias)
                                                  + x[self.parts['accelerometer_bias']]).tolist()),
                        gyro_bias=tuple((np.asarray(c.gyro_bias)
                                         + x[self.parts['gyro_bias']]).tolist()))
        return replace(self.config, sensors=c)


def check_total_mass(mass: float | None, model: RobotModel) -> None:
    """
    Check a weighed mass.

    Raises
    ------
    ConfigurationError
        When it is not positive, or so far from the description that a unit must be wrong.

    """
    if mass is not None and not 0.3 * model.total_mass < mass < 3.0 * model.total_mass:
        raise ConfigurationError(
            f'--total-mass: expected about what the URDF says ({model.total_mass:.3g} kg), got '
            f'{mass:g} kg; is it in kilograms, and is the URDF that of the robot?')
