# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quadrupeds for doctor and identification: two of the package, others of example-robot-data."""
from __future__ import annotations

import math
import os
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from benchmarks.planted_faults import Patient, record_sensors
from legged_dynamics.dynamics.kinematics import frame_poses
from legged_dynamics.model import RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import Plant, Schedule, SimulatedRobot

OURS = ('anymal_class', 'solo_class')
CHECKUP = 'stand 1.5, lift_legs 8.4, squat 6, stand 1'
# Of example-robot-data (PyPI): URDF, feet, joints of a leg by its prefix, standing pose, radius.
_UNITREE = (('FL', 'FR', 'RL', 'RR'), '{}_foot', ('{}_hip_joint', '{}_thigh_joint',
                                                  '{}_calf_joint'))
_HYQ = (('lf', 'rf', 'lh', 'rh'), '{}_foot', ('{}_haa_joint', '{}_hfe_joint', '{}_kfe_joint'))
_ANYMAL = (('LF', 'RF', 'LH', 'RH'), '{}_FOOT', ('{}_HAA', '{}_HFE', '{}_KFE'))
_SAME = ((0.0, 0.8, -1.6),) * 4
_X = ((0.0, 0.75, -1.5),) * 2 + ((0.0, -0.75, 1.5),) * 2
OTHERS = {
    'go2': ('go2_description/urdf/go2.urdf', _UNITREE, _SAME, 0.022),
    'hyq': ('hyq_description/robots/hyq_no_sensors.urdf', _HYQ, _X, 0.021),
    'b1': ('b1_description/urdf/b1.urdf', _UNITREE, _SAME, 0.03),
    'go1': ('go1_description/urdf/go1.urdf', _UNITREE, _SAME, 0.02),
    'anymal_b': ('anymal_b_simple_description/robots/anymal.urdf', _ANYMAL, _X, 0.03),
}


def data_folder() -> Path | None:
    """Return the robots of example-robot-data: LEGGED_ROBOT_DATA, or where pip put them."""
    import site
    import sys
    places = [os.environ.get('LEGGED_ROBOT_DATA', '')]
    places += [f'{folder}/cmeel.prefix/share/example-robot-data/robots'
               for folder in (*site.getsitepackages(), *sys.path)]
    return next((Path(place) for place in places if place and Path(place).is_dir()), None)


def available(names: tuple[str, ...] = ('go2', 'hyq')) -> list[str]:
    """Return our robots, and those of the others that are installed."""
    folder = data_folder()
    return [*OURS, *(name for name in names
                     if folder is not None and (folder / OTHERS[name][0]).is_file())]


def plant_of(name: str) -> tuple[Plant, dict]:
    """Return a robot for the simulator, and its parameters as a YAML would have them."""
    if name in OURS:
        yaml, urdf = robot_files(name)
        parameters = read_parameter_file(yaml)
        return Plant.from_parameters(parameters, urdf.read_text()), parameters
    file, (legs, foot, joints), pose, radius = OTHERS[name]
    feet = [foot.format(leg) for leg in legs]
    text = _bare(Path(data_folder() / file).read_text(), feet, radius)
    model = RobotModel.from_urdf(text)
    names = [joint.format(leg) for leg in legs for joint in joints]
    q = np.zeros(model.nq)
    for joint, angle in zip(names, np.ravel(pose)):
        q[model.joint_index(joint)] = angle
    height = float(np.mean([abs(p.p[2]) for p in frame_poses(model, q, tuple(feet)).values()]))
    work = model.total_mass * 9.81 * height
    parameters = {
        'robot.base_link': model.base_link, 'robot.imu_link': model.base_link,
        'robot.feet': feet, 'robot.foot_radius': radius, 'robot.joints': names,
        'robot.nominal_position': [float(x) for x in np.ravel(pose)],
        'robot.armature': [0.004 * model.total_mass * height ** 2],
        'robot.joint_damping': [0.002 * work], 'robot.joint_friction': [0.0015 * work],
        'noise.effort': 0.002 * work, 'noise.velocity': 0.02,
        'simulation.gait.stiffness': 1.3 * work, 'simulation.gait.damping': 0.035 * work,
        'simulation.gait.stance_stiffness': 0.25 * work,
        'simulation.gait.stance_damping': 0.015 * work,
        'simulation.gait.step_height': 0.12 * height,
        'simulation.gait.period': 2.8 * math.sqrt(height / 9.81)}
    return Plant.from_parameters(parameters, text), parameters


def _bare(text: str, feet: list[str], radius: float) -> str:
    """Return a URDF without meshes, whose feet are balls and whose joints have limits."""
    root = ElementTree.fromstring(text)
    for link in root.findall('link'):
        for part in ('visual', 'collision'):
            for element in link.findall(part):
                link.remove(element)
        inertial = link.find('inertial')
        if inertial is not None and float(inertial.find('mass').get('value')) < 1e-2:
            link.remove(inertial)       # a placeholder that no distribution of mass has
        if link.get('name') in feet:
            link.append(ElementTree.fromstring(
                f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'))
    for tag in ('transmission', 'gazebo', 'material', 'mujoco'):
        for element in root.findall(tag):
            root.remove(element)
    return ElementTree.tostring(root, encoding='unicode')


def healthy(name: str, schedule: str = CHECKUP, seed: int = 0) -> Patient:
    """Return a robot and a recording of it in which nothing is wrong."""
    from legged_dynamics.model import RobotConfig
    plant, parameters = plant_of(name)
    plan = Schedule.from_text(schedule)
    robot = SimulatedRobot(plant, schedule=plan, seed=seed, start_ns=10 ** 18)
    log = record_sensors(robot, plan.duration)
    if robot.fallen:
        raise RuntimeError(f'{name} fell')
    config = RobotConfig.from_parameters({key: value for key, value in parameters.items()
                                          if key.startswith(('robot.', 'noise.'))})
    return Patient(RobotModel.from_urdf(plant.urdf), config, log)
