# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robots' URDFs and YAMLs: masses, inertias, limits, and the MuJoCo model made of them."""
from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from simulated_recordings import NAMES, ROBOTS, make_robot

from legged_dynamics.exceptions import ConfigurationError, SimulationError
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import Plant
from legged_dynamics.simulation.plant import build_world

MASS = {'anymal_class': 52.1, 'solo_class': 2.5}
EFFORT = {'anymal_class': 80.0, 'solo_class': 2.7}
FRAMES = {'imu_link'}


def links(name):
    return ElementTree.parse(ROBOTS / f'{name}.urdf').getroot().findall('link')


def inertia_of(link):
    values = {key: float(value) for key, value in link.find('inertial/inertia').attrib.items()}
    x, y, z = values['ixy'], values['ixz'], values['iyz']
    return np.array([[values['ixx'], x, y], [x, values['iyy'], z], [y, z, values['izz']]])


@pytest.mark.parametrize('name', NAMES)
def test_masses_sum_to_the_published_total(name):
    total = sum(float(mass.get('value')) for link in links(name) for mass in link.iter('mass'))
    assert total == pytest.approx(MASS[name], rel=2e-3)


@pytest.mark.parametrize('name', NAMES)
def test_every_inertia_is_one_of_a_real_body(name):
    for link in links(name):
        if link.find('inertial') is None:
            assert link.get('name') in FRAMES
            continue
        a, b, c = np.linalg.eigvalsh(inertia_of(link))
        assert a > 0.0, link.get('name')
        assert a + b >= c, link.get('name')


@pytest.mark.parametrize('name', NAMES)
def test_mujoco_has_the_urdfs_bodies(name):
    model = make_robot(name).model
    for link in links(name):
        body, inertial = model.body(link.get('name')), link.find('inertial')
        if inertial is None:
            assert body.mass[0] == 0.0
            continue
        assert body.mass[0] == pytest.approx(float(inertial.find('mass').get('value')), rel=1e-12)
        np.testing.assert_allclose(np.sort(body.inertia), np.linalg.eigvalsh(inertia_of(link)),
                                   rtol=1e-9)


@pytest.mark.parametrize('name', NAMES)
def test_drives_have_the_yamls_properties_and_the_urdfs_limits(name):
    robot = make_robot(name)
    model, plant = robot.model, robot.plant
    assert [model.actuator(i).name for i in range(model.nu)] == list(plant.joints)
    for index, joint in enumerate(plant.joints):
        dof = model.joint(joint).dofadr[0]
        assert model.dof_armature[dof] == plant.armature[index] > 0.0
        assert model.dof_damping[dof] == plant.joint_damping[index] > 0.0
        assert model.dof_frictionloss[dof] == plant.joint_friction[index] > 0.0
        np.testing.assert_allclose(model.actuator(joint).ctrlrange, [-EFFORT[name], EFFORT[name]])


@pytest.mark.parametrize('name', NAMES)
def test_nominal_pose_is_within_the_joints_limits(name):
    robot = make_robot(name)
    for joint, angle in zip(robot.plant.joints, robot.plant.nominal_position):
        lower, upper = robot.model.joint(joint).range
        assert lower < angle < upper


@pytest.mark.parametrize('name', NAMES)
def test_every_number_of_the_yaml_has_a_comment(name):
    lines = (ROBOTS / f'{name}.yaml').read_text().splitlines()
    numbers = [index for index, line in enumerate(lines)
               if re.match(r'\s+\w+: \[?-?[0-9]', line)]
    assert len(numbers) > 20
    for index in numbers:
        assert '#' in lines[index] or lines[index - 1].lstrip().startswith('#'), lines[index]


def test_wrong_length_of_a_drive_property_is_refused():
    parameters = read_parameter_file(ROBOTS / 'solo_class.yaml')
    parameters['robot.armature'] = [0.1, 0.2]
    with pytest.raises(ConfigurationError, match=r'armature: expected 0 or 1 or 12 .* got 2'):
        Plant.from_parameters(parameters, '')


def test_a_ball_without_a_radius_has_nothing_to_stand_on():
    parameters = read_parameter_file(ROBOTS / 'solo_class.yaml') | {'robot.foot_radius': 0.0}
    with pytest.raises(ConfigurationError, match='robot.foot_radius'):
        Plant.from_parameters(parameters, (ROBOTS / 'solo_class.urdf').read_text())


def test_missing_and_misspelt_keys_are_named():
    parameters = read_parameter_file(ROBOTS / 'solo_class.yaml')
    with pytest.raises(ConfigurationError, match=r'Did you mean simulation\.gait\.duty'):
        Plant.from_parameters({**parameters, 'simulation.gait.dutty': 0.6}, '')
    del parameters['robot.nominal_position']
    with pytest.raises(ConfigurationError, match=r'robot\.nominal_position is missing'):
        Plant.from_parameters(parameters, (ROBOTS / 'solo_class.urdf').read_text())


@pytest.mark.parametrize(('old', 'new', 'message'), [
    ('effort="2.7"', 'effort="0"', 'joint LF_HAA has no effort limit'),
    ('name="LF_HAA"', 'name="LF_HAB"', 'The joints are: LF_HAB, LF_HFE'),
    ('"imu_link"', '"imu"', "expected a link of the URDF, got 'imu_link'"),
    ('</robot>', '', 'MuJoCo cannot read the URDF'),
])
def test_unusable_urdfs_are_refused(old, new, message):
    plant = Plant.from_files(ROBOTS / 'solo_class.yaml')
    urdf = plant.urdf.replace(old, new)
    with pytest.raises(SimulationError, match=message):
        build_world(urdf, base_link=plant.base_link, imu_link=plant.imu_link, joints=plant.joints,
                    feet=plant.feet, armature=plant.armature, damping=plant.joint_damping,
                    friction=plant.joint_friction, timestep=1e-3)
