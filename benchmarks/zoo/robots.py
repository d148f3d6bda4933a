# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robots of the zoo, with the configuration that one of their users would write."""
from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.zoo.descriptions import prepared
from benchmarks.zoo.generated import spider, walker
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files

ENVIRONMENT = 'EXAMPLE_ROBOT_DATA'
FIELD_NOISE = {'noise.position': 3e-4, 'noise.velocity': 0.03, 'noise.gyro': 0.005,
               'noise.gyro_bias': 0.003, 'noise.accelerometer': 0.05,
               'noise.accelerometer_bias': 0.05, 'noise.orientation': 0.003}


class MissingRobot(Exception):
    """A robot's description is not installed; the message says what to do."""


@dataclass(frozen=True)
class ZooRobot:
    """
    One robot, for estimator and simulator.

    Attributes
    ----------
    name : str
    urdf : str
        Prepared text, with shapes at the feet.
    parameters : dict
        What the user writes into the robot's YAML, as dotted names.
    pose : dict of str to float
        Standing pose by joint [rad].

    """

    name: str
    urdf: str
    parameters: dict[str, Any]
    pose: dict[str, float]

    @property
    def config(self) -> RobotConfig:
        """Return the configuration."""
        return RobotConfig.from_parameters(self.parameters)

    @property
    def model(self) -> RobotModel:
        """Return the estimator's model."""
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return self.config.apply_to(RobotModel.from_urdf(self.urdf))


def example_robot_data() -> Path:
    """
    Return the folder ``robots`` of the package example-robot-data.

    Looked for in the environment variable EXAMPLE_ROBOT_DATA, then in the running Python.

    Raises
    ------
    MissingRobot
        When it is in neither.

    """
    given = os.environ.get(ENVIRONMENT)
    if given:
        found = next(iter(sorted(Path(given).glob('**/example-robot-data/robots'))), Path(given))
        if (found / 'go2_description').is_dir():
            return found
        raise MissingRobot(f'{ENVIRONMENT}: expected a folder that holds '
                           f'example-robot-data/robots, got {given}')
    spec = importlib.util.find_spec('cmeel')
    for place in (spec.submodule_search_locations or []) if spec else []:
        found = Path(place).parent / 'cmeel.prefix/share/example-robot-data/robots'
        if found.is_dir():
            return found
    raise MissingRobot('example-robot-data is not installed: pip install example-robot-data, or '
                       f'set {ENVIRONMENT} to where it lies')


def _read(path: str) -> str:
    return (example_robot_data() / path).read_text(encoding='utf-8')


def _robot(name: str, urdf: str, legs: dict[str, dict[str, float]], feet: list[str], *,
           imu: str, base: str, effort: float, armature: float, damping: float, friction: float,
           radius: float | None = None, sole: list[float] | None = None, **more: Any) -> ZooRobot:
    pose = {joint: angle for leg in legs.values() for joint, angle in leg.items()}
    parameters: dict[str, Any] = {
        'robot.base_link': base, 'robot.imu_link': imu, 'robot.feet': feet,
        'robot.joints': list(pose), 'robot.nominal_position': list(pose.values()),
        'robot.armature': [armature], 'robot.joint_damping': [damping],
        'robot.joint_friction': [friction], 'noise.effort': effort, **FIELD_NOISE}
    if sole:
        parameters |= {'robot.foot_type': 'flat', 'robot.sole': sole}
    else:
        parameters |= {'robot.foot_radius': radius}
    config = RobotConfig.from_parameters(parameters)
    return ZooRobot(name, prepared(urdf, config.feet, **more), parameters, pose)


def go2() -> ZooRobot:
    """Unitree's 16 kg quadruped."""
    legs = {leg: {f'{leg}_hip_joint': 0.068 * side, f'{leg}_thigh_joint': 0.785,
                  f'{leg}_calf_joint': -1.44}
            for leg, side in (('FL', 1), ('FR', -1), ('RL', 1), ('RR', -1))}
    return _robot('go2', _read('go2_description/urdf/go2.urdf'), legs, [f'{i}_foot' for i in legs],
                  imu='imu', base='base', effort=0.4, armature=0.01, damping=0.1, friction=0.1,
                  radius=0.022)


def hyq() -> ZooRobot:
    """IIT's 87 kg hydraulic quadruped."""
    legs = {}
    for leg in ('lf', 'rf', 'lh', 'rh'):
        way = 1 if leg[1] == 'f' else -1
        legs[leg] = {f'{leg}_haa_joint': -0.2, f'{leg}_hfe_joint': 0.75 * way,
                     f'{leg}_kfe_joint': -1.5 * way}
    return _robot('hyq', _read('hyq_description/robots/hyq_no_sensors.urdf'), legs,
                  [f'{i}_foot' for i in legs], imu='trunk_imu', base='base_link', effort=2.0,
                  armature=0.05, damping=0.5, friction=0.3, radius=0.02175)


def talos() -> ZooRobot:
    """PAL's 90 kg biped, upper body welded."""
    legs = {leg: {f'leg_{leg}_{i + 1}_joint': angle for i, angle in enumerate(
        (0.0, 0.0, -0.411354, 0.859395, -0.448041, -0.001708))} for leg in ('left', 'right')}
    welded = {'arm_left_1_joint': 0.25847, 'arm_left_2_joint': 0.173046,
              'arm_left_4_joint': -0.525366, 'arm_right_1_joint': -0.25847,
              'arm_right_2_joint': -0.173046, 'arm_right_4_joint': -0.525366}
    return _robot('talos', _read('talos_data/robots/talos_reduced.urdf'), legs,
                  ['left_sole_link', 'right_sole_link'], imu='imu_link', base='base_link',
                  effort=2.0, armature=0.1, damping=1.0, friction=0.5,
                  sole=[0.1, -0.1, 0.06, -0.06], welded=welded, keep=['leg_'])


def b1() -> ZooRobot:
    """Unitree's 56 kg quadruped."""
    legs = {leg: {f'{leg}_hip_joint': 0.0, f'{leg}_thigh_joint': 0.75, f'{leg}_calf_joint': -1.5}
            for leg in ('FR', 'FL', 'RR', 'RL')}
    return _robot('b1', _read('b1_description/urdf/b1.urdf'), legs, [f'{i}_foot' for i in legs],
                  imu='imu_link', base='base', effort=1.2, armature=0.06, damping=0.3,
                  friction=0.3, radius=0.04)


def g1() -> ZooRobot:
    """Unitree's 33 kg biped, upper body welded; a frame is added in the sole."""
    joints = ('hip_pitch', 'hip_roll', 'hip_yaw', 'knee', 'ankle_pitch', 'ankle_roll')
    legs = {leg: {f'{leg}_{joint}_joint': angle for joint, angle in
                  zip(joints, (-0.35, 0.0, 0.0, 0.7, -0.35, 0.0))} for leg in ('left', 'right')}
    soles = ''.join(
        f'<link name="{leg}_sole"/><joint name="{leg}_sole_mount" type="fixed"><origin '
        f'xyz="0 0 -0.035"/><parent link="{leg}_ankle_roll_link"/><child link="{leg}_sole"/>'
        '</joint>' for leg in legs)
    return _robot('g1', _read('g1_description/urdf/g1_29dof_rev_1_0.urdf'), legs,
                  [f'{leg}_sole' for leg in legs], imu='imu_in_torso', base='pelvis', effort=1.0,
                  armature=0.03, damping=0.3, friction=0.2, sole=[0.12, -0.05, 0.028, -0.028],
                  keep=[f'{leg}_{joint}' for leg in legs for joint in ('hip', 'knee', 'ankle')],
                  welded={'left_elbow_joint': 0.6, 'right_elbow_joint': 0.6}, extra=soles)


def _spider(name: str, count: int, mass: float, limit: float, effort: float, *,
            armature: float = 0.01, **more: float) -> ZooRobot:
    legs = {f'leg{i}': {f'leg{i}_yaw': 0.0, f'leg{i}_hip': -0.4, f'leg{i}_knee': 1.7}
            for i in range(count)}
    return _robot(name, spider(count, mass, limit, **more), legs, [f'{i}_foot' for i in legs],
                  imu='imu', base='body', effort=effort, armature=armature, damping=0.1,
                  friction=0.05, radius=0.015)


def hexapod() -> ZooRobot:
    """An 18-joint hexapod of 12 kg."""
    return _spider('hexapod', 6, 12.0, 40.0, 0.8, radius=0.18, femur=0.15, tibia=0.2)


def dodecapod() -> ZooRobot:
    """Twelve legs on 20 kg: for standing."""
    return _spider('dodecapod', 12, 20.0, 40.0, 0.5, radius=0.35)


def quadruped() -> ZooRobot:
    """Four sprawling legs, 6 kg, generated."""
    return _spider('quadruped', 4, 6.0, 20.0, 0.3, armature=0.002)


def biped() -> ZooRobot:
    """A generated biped of 40 kg with soles."""
    legs = {leg: {f'{leg}_hip_yaw': 0.0, f'{leg}_hip_roll': 0.0, f'{leg}_hip_pitch': -0.4,
                  f'{leg}_knee': 0.8, f'{leg}_ankle_pitch': -0.4, f'{leg}_ankle_roll': 0.0}
            for leg in ('left', 'right')}
    return _robot('biped', walker(), legs, ['left_sole', 'right_sole'], imu='imu', base='pelvis',
                  effort=1.5, armature=0.05, damping=0.5, friction=0.3,
                  sole=[0.11, -0.08, 0.05, -0.05])


def _own(name: str, effort: float) -> ZooRobot:
    from legged_dynamics.schema import read_parameter_file
    yaml, urdf = robot_files(name)
    parameters = {key: value for key, value in read_parameter_file(yaml).items()
                  if key.startswith(('robot.', 'noise.'))}
    parameters |= FIELD_NOISE | {'noise.effort': effort}
    config = RobotConfig.from_parameters(parameters)
    return ZooRobot(name, prepared(Path(urdf).read_text(encoding='utf-8'), config.feet),
                    parameters, dict(zip(config.joints, config.nominal_position)))


def anymal_class() -> ZooRobot:
    """Our own 52 kg quadruped."""
    return _own('anymal_class', 1.0)


def solo_class() -> ZooRobot:
    """Our own 2.5 kg quadruped."""
    return _own('solo_class', 0.04)


ROBOTS: dict[str, Callable[[], ZooRobot]] = {
    make.__name__: make for make in (go2, hyq, talos, b1, g1, hexapod, dodecapod, quadruped, biped,
                                     anymal_class, solo_class)}


def robot(name: str) -> ZooRobot:
    """
    Return a robot of the zoo.

    Raises
    ------
    KeyError
        When there is none of that name.
    MissingRobot
        When its description is not installed.

    """
    return ROBOTS[name]()


def by_joint(zoo: ZooRobot, values: tuple[float, ...]) -> dict[str, float]:
    """Return per-joint values by name; joints that follow others (mimic) have the usual ones."""
    names = zoo.config.joints
    return dict.fromkeys(zoo.model.joint_names, float(np.median(values))) | dict(
        zip(names, values * len(names) if len(values) == 1 else values))


def nominal(zoo: ZooRobot, joints: tuple[str, ...]) -> np.ndarray:
    """Return the standing pose in an order of joints [rad]."""
    return np.array([zoo.pose.get(name, 0.0) for name in joints])
