# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Unitree's robots as their low-level interface has them: messages, motors, modes and feet.

Joint names are those of the URDFs in Unitree's ``unitree_ros``; a motor turns the way its joint
does, so there are no signs. The IMU's quaternion is w, x, y, z in all of them. Each entry of
`ROBOTS` names the file that its order was taken from.
"""
from __future__ import annotations

from dataclasses import dataclass

from legged_dynamics.exceptions import ConfigurationError

_QUADRUPED = tuple(f'{leg}_{joint}_joint' for leg in ('FR', 'FL', 'RR', 'RL')
                   for joint in ('hip', 'thigh', 'calf'))
_QUADRUPED_FEET = ('FR_foot', 'FL_foot', 'RR_foot', 'RL_foot')


@dataclass(frozen=True)
class UnitreeRobot:
    """One robot's place in LowState and LowCmd."""

    name: str  # Name as in ``--robot``; the robot's YAML has the same name
    family: str  # Package of its messages
    # URDF joint of motor 0, 1, ...; an empty name where a place has no motor
    joints: tuple[str, ...]
    # URDF links in the order of ``foot_force``; empty where LowState has no such field
    feet: tuple[str, ...]
    modes: tuple[int, ...]  # What ``mode`` of each place must be for its motor to obey
    description: str  # Its package in ``robot_descriptions`` (PyPI), or empty
    urdf: str  # Where its URDF is in ``unitree_ros``
    source: str  # Where order and modes were taken from

    @property
    def motors(self) -> tuple[int, ...]:
        """Places of the motors in LowState and LowCmd."""
        return tuple(place for place, name in enumerate(self.joints) if name)


def _both(*names: str) -> tuple[str, ...]:
    return tuple(f'{side}_{name}_joint' for side in ('left', 'right') for name in names)


_H1 = ('right_hip_roll_joint', 'right_hip_pitch_joint', 'right_knee_joint',
       'left_hip_roll_joint', 'left_hip_pitch_joint', 'left_knee_joint', 'torso_joint',
       'left_hip_yaw_joint', 'right_hip_yaw_joint', '', 'left_ankle_joint', 'right_ankle_joint',
       'right_shoulder_pitch_joint', 'right_shoulder_roll_joint', 'right_shoulder_yaw_joint',
       'right_elbow_joint', 'left_shoulder_pitch_joint', 'left_shoulder_roll_joint',
       'left_shoulder_yaw_joint', 'left_elbow_joint')
_G1 = (*_both('hip_pitch', 'hip_roll', 'hip_yaw', 'knee', 'ankle_pitch', 'ankle_roll'),
       'waist_yaw_joint', 'waist_roll_joint', 'waist_pitch_joint',
       *_both('shoulder_pitch', 'shoulder_roll', 'shoulder_yaw', 'elbow', 'wrist_roll',
              'wrist_pitch', 'wrist_yaw'))
_H1_2 = (*_both('hip_yaw', 'hip_pitch', 'hip_roll', 'knee', 'ankle_pitch', 'ankle_roll'),
         'torso_joint',
         *_both('shoulder_pitch', 'shoulder_roll', 'shoulder_yaw', 'elbow', 'wrist_roll',
                'wrist_pitch', 'wrist_yaw'))

ROBOTS: dict[str, UnitreeRobot] = {robot.name: robot for robot in (
    UnitreeRobot('go2', 'unitree_go', _QUADRUPED, _QUADRUPED_FEET, (1,) * 12,
                 'go2_description', 'robots/go2_description/urdf/go2_description.urdf',
                 'unitree_sdk2_python, example/go2/low_level (unitree_legged_const.py, '
                 'go2_stand_example.py)'),
    UnitreeRobot('b2', 'unitree_go', _QUADRUPED, _QUADRUPED_FEET, (1,) * 12,
                 'b2_description', 'robots/b2_description/urdf/b2_description.urdf',
                 'unitree_sdk2_python, example/b2/low_level (unitree_legged_const.py, '
                 'b2_stand_example.py)'),
    UnitreeRobot('h1', 'unitree_go', _H1, (),
                 (*(10,) * 10, 1, 1, *(1,) * 8), 'h1_description',
                 'robots/h1_description/urdf/h1.urdf',
                 'unitree_sdk2_python, example/h1/low_level/h1_low_level_example.py'),
    UnitreeRobot('h1_2', 'unitree_hg', _H1_2, (), (1,) * 27, '',
                 'robots/h1_2_description/h1_2.urdf',
                 'unitree_sdk2_python, example/h1_2/low_level/h1_2_low_level_example.py'),
    UnitreeRobot('g1', 'unitree_hg', _G1, (), (1,) * 29, 'g1_description',
                 'robots/g1_description/g1_29dof_rev_1_0.urdf',
                 'unitree_sdk2_python, example/g1/low_level/g1_low_level_example.py'),
)}


def robot_named(name: str) -> UnitreeRobot:
    """Return a robot by name, such as 'go2'; case and ``-`` for ``_`` do not matter."""
    found = ROBOTS.get(name.lower().replace('-', '_'))
    if found is None:
        raise ConfigurationError(f'--robot: expected one of {", ".join(ROBOTS)}, got {name!r}; '
                                 'other robots are estimated from joint_states and imu/data '
                                 '(legged-dynamics run ground_reaction_estimator)')
    return found
