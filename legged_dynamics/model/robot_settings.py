# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The settings of a robot's YAML, and the noise among them."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model.feet import KINDS
from legged_dynamics.model.robot_model import RobotModel
from legged_dynamics.model.sensor_correction import SETTINGS as SENSOR_SETTINGS
from legged_dynamics.schema import Setting

SETTINGS = (
    Setting('robot.base_link', '', '', 'Link that carries the IMU; empty: the root of the URDF.'),
    Setting('robot.feet', [], '', 'Links of the feet.'),
    Setting('robot.foot_type', 'point', '', 'What a foot can carry; of all feet.',
            choices=tuple(KINDS)),
    Setting('robot.foot_types', [], '', 'The same, one per foot.', choices=tuple(KINDS)),
    Setting('robot.foot_radius', 0.0, 'm', 'Radius of a point foot; of all feet.', 0.0, 1.0),
    Setting('robot.foot_radii', [], 'm', 'The same, one per foot; of others not looked at.',
            0.0, 1.0),
    Setting('robot.sole', [0.1, -0.1, 0.05, -0.05], 'm',
            'Front, back, left and right edge of a flat foot in its frame; of a line its ends.',
            -1.0, 1.0),
    Setting('robot.soles', [], 'm',
            'The same, four per foot in a row; of a point foot not looked at.', -1.0, 1.0),
    Setting('robot.foot_parents', [], '',
            'One per foot: the link a foot is fixed to that is no link of the URDF; its own name '
            'for one that is.'),
    Setting('robot.foot_frames', [], 'm, rad',
            'Six per foot in a row: x, y, z, roll, pitch, yaw of the foot on its parent.',
            -10.0, 10.0),
    Setting('robot.imu_link', '', '',
            'Link the IMU is mounted on, any link; empty: the base link.'),
    Setting('robot.joints', [], '', 'Joints in command order; empty: the order of the URDF.'),
    Setting('robot.nominal_position', [], 'rad',
            'Joint positions of the standing robot, in command order; empty: zero.'),
    Setting('robot.absent_joints', [], '',
            'Joints that joint_states does not have. They may carry neither a foot nor the IMU.'),
    Setting('robot.absent_positions', [], 'rad', 'Where they stand, one each; empty: zero.'),
    Setting('robot.armature', [], 'kg m^2',
            'Rotor inertia at the joint: one value, or one per joint in command order.', 0.0),
    Setting('robot.joint_damping', [], 'N m s/rad',
            'Viscous friction: one value, or one per joint in command order.', 0.0),
    Setting('robot.joint_friction', [], 'N m',
            'Coulomb friction: one value, or one per joint in command order.', 0.0),
    Setting('robot.payload_mass', 0.0, 'kg',
            'What the base carries beyond the URDF; negative where the URDF has too much.'),
    Setting('robot.payload_position', [0.0, 0.0, 0.0], 'm',
            'Where the payload is, in the axes of the root link.', -10.0, 10.0),
    Setting('robot.center_of_mass_offset', [0.0, 0.0, 0.0], 'm',
            "Shift of the base's centre of mass from where the URDF has it.", -1.0, 1.0),
    *SENSOR_SETTINGS,
    Setting('noise.position', 1e-4, 'rad', 'Joint position, one standard deviation.', 0.0),
    Setting('noise.velocity', 0.01, 'rad/s', 'Joint velocity, one standard deviation.', 0.0),
    Setting('noise.effort', 0.5, 'N m', 'Joint torque, one standard deviation.', 0.0),
    Setting('noise.effort_percent', 0.0, '%',
            "The same in percent of each joint's effort limit, beside noise.effort.", 0.0, 100.0),
    Setting('noise.effort_gain', 0.02, '',
            'Error of the scale of measured torques, one deviation: as motor constants vary.', 0.0,
            1.0),
    Setting('noise.effort_age', 0.0, 's',
            'How much older measured torques are than the positions of their message: half a '
            'period where a driver reports what its motors have held until then.', -0.05, 0.05),
    Setting('noise.joint_position', [], 'rad',
            'Position, one per joint in command order; empty: noise.position.', 0.0),
    Setting('noise.joint_velocity', [], 'rad/s',
            'Velocity, one per joint in command order; empty: noise.velocity.', 0.0),
    Setting('noise.joint_effort', [], 'N m',
            'Torque, one per joint in command order; empty: noise.effort.', 0.0),
    Setting('noise.gyro', 0.003, 'rad/s', 'Angular velocity, one standard deviation.', 0.0),
    Setting('noise.accelerometer', 0.05, 'm/s^2', 'Acceleration, one standard deviation.', 0.0),
    Setting('noise.orientation', 0.002, 'rad', 'Orientation, one standard deviation.', 0.0),
    Setting('noise.gyro_bias', 0.001, 'rad/s', 'Bias of the gyro, one standard deviation.', 0.0),
    Setting('noise.accelerometer_bias', 0.02, 'm/s^2',
            'Bias of the accelerometer, one standard deviation.', 0.0),
    Setting('noise.mass', 0.005, '', "Error of the model's mass, as a fraction.", 0.0, 1.0),
    Setting('noise.center_of_mass', 0.002, 'm',
            "Error of the model's centre of mass, one standard deviation.", 0.0, 1.0),
)


@dataclass(frozen=True)
class SensorNoise:
    """One standard deviation of white noise per sample, of biases, and of the model itself."""

    position: float = 0.0
    velocity: float = 0.0
    effort: float = 0.0
    gyro: float = 0.0
    accelerometer: float = 0.0
    orientation: float = 0.0
    gyro_bias: float = 0.0
    accelerometer_bias: float = 0.0
    mass: float = 0.0
    center_of_mass: float = 0.0
    effort_percent: float = 0.0
    effort_gain: float = 0.02
    effort_age: float = 0.0
    joint_position: tuple[float, ...] = ()
    joint_velocity: tuple[float, ...] = ()
    joint_effort: tuple[float, ...] = ()

    def of_joints(self, quantity: str, model: RobotModel, joints: Sequence[str] = ()
                  ) -> np.ndarray:
        """
        Return the deviation of each joint in the model's order, (n_joints,).

        Parameters
        ----------
        quantity : {'position', 'velocity', 'effort'}
            What is measured: [rad or m], [rad/s or m/s], [N m or N].
        model : RobotModel
            Whose effort limits ``effort_percent`` is of.
        joints : sequence of str
            The command order that values per joint are in; empty: the model's.

        Raises
        ------
        ConfigurationError
            When there are not as many values as joints, or a percentage is asked of a joint
            without an effort limit.

        """
        found = np.full(model.n_joints, float(getattr(self, quantity)))
        each: tuple[float, ...] = getattr(self, f'joint_{quantity}')
        names = joints or model.joint_names
        if each and len(each) != len(names):
            raise ConfigurationError(f'noise.joint_{quantity}: expected {len(names)} values, one '
                                     f'per joint in command order, got {len(each)}')
        for name, value in zip(names, each):
            found[model.joint_index(name)] = value
        if quantity == 'effort' and self.effort_percent > 0.0:
            limits = model.effort_limits
            if not np.isfinite(limits).all():
                name = model.joint_names[int(np.flatnonzero(~np.isfinite(limits))[0])]
                raise ConfigurationError('noise.effort_percent: expected an effort limit of every '
                                         f'joint, and {name!r} has none in the URDF; give '
                                         'noise.joint_effort instead')
            found = np.hypot(found, 0.01 * self.effort_percent * limits)
        return found
