# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Descriptions as makers write them run in the simulator: the same masses, motions and feet."""
import mujoco
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.dynamics.composite_body import mass_matrix
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotModel
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import Plant, SimulatedRobot
from legged_dynamics.simulation.plant import build_world

YAML = CONFIG / 'robots' / 'anymal_class.yaml'
URDF = YAML.with_suffix('.urdf').read_text()
# A lidar without inertia on a mount without mass, a material twice, meshes, and a joint to the
# world: all of it in one maker's file or another.
CLUTTER = """
  <material name="black"><color rgba="0 0 0 1"/></material>
  <material name="black"><color rgba="0 0 0 1"/></material>
  <link name="mount"/>
  <joint name="mount_joint" type="fixed"><parent link="base"/><child link="mount"/></joint>
  <link name="lidar"><inertial><mass value="0.4"/>
    <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>
    <visual><geometry><mesh filename="package://maker/lidar.dae"/></geometry>
      <material name="black"/><material name="black"/></visual></link>
  <joint name="lidar_joint" type="fixed"><origin xyz="0.2 0 0.1" rpy="0 0 0"/>
    <parent link="mount"/><child link="lidar"/></joint>
</robot>"""


def cluttered():
    return URDF.replace('</robot>', CLUTTER)


def world(plant):
    return build_world(plant.physics or plant.urdf, base_link=plant.base_link,
                       imu_link=plant.imu_link, joints=plant.joints, feet=plant.feet,
                       armature=np.zeros(12), damping=np.zeros(12), friction=np.zeros(12),
                       timestep=plant.timestep)


def test_a_clean_description_is_simulated_as_it_is():
    assert Plant.from_parameters(read_parameter_file(YAML), URDF).physics == ''


def test_a_cluttered_one_has_the_masses_of_the_estimator_s_model():
    plant = Plant.from_parameters(read_parameter_file(YAML), cluttered())
    assert plant.urdf == cluttered()            # what the node publishes is the maker's
    model, twin = RobotModel.from_xml(cluttered()), world(plant)
    data, rng = mujoco.MjData(twin), np.random.default_rng(0)
    for _ in range(3):
        q = rng.uniform(-1.0, 1.0, model.nq)
        for name, value in zip(model.joint_names, q):
            data.joint(name).qpos[0] = value
        mujoco.mj_forward(twin, data)
        full = np.zeros((twin.nv, twin.nv))
        mujoco.mj_fullM(twin, data, full)
        dofs = [twin.joint(name).dofadr[0] for name in model.joint_names]
        ours = mass_matrix(model, q)[6:, 6:]
        np.testing.assert_allclose(full[np.ix_(dofs, dofs)], ours, atol=1e-8)
    assert twin.body_mass.sum() == pytest.approx(model.total_mass, rel=1e-9)


def test_it_stands():
    robot = SimulatedRobot(Plant.from_parameters(read_parameter_file(YAML), cluttered()))
    for _ in range(500):
        robot.step()
    weight = robot.truth().feet.wrench[:, :3]
    total = RobotModel.from_xml(cluttered()).total_mass * 9.81
    assert not robot.fallen
    assert np.linalg.norm(weight, axis=1).sum() == pytest.approx(total, rel=0.1)


def test_noise_in_per_cent_and_what_a_new_yaml_leaves_out_are_understood():
    values = read_parameter_file(YAML)
    for name in ('robot.base_link', 'robot.imu_link', 'noise.effort'):
        values.pop(name)
    values |= {'noise.effort_percent': 2.0, 'noise.effort': 0.0}
    plant = Plant.from_parameters(values, URDF)
    assert plant.base_link == plant.imu_link == 'base'
    model = RobotModel.from_xml(URDF)
    for name, noise in zip(plant.joints, plant.noise.joint_effort):
        assert noise == pytest.approx(0.02 * model.joints[model.joint_index(name)].effort)


def test_everything_that_is_wrong_is_said_at_once():
    values = read_parameter_file(YAML)
    del values['robot.nominal_position']
    values |= {'robot.imu_link': 'nose', 'robot.feet': ['LF_FOOT', 'TAIL', 'LH_FOOT', 'RH_FOOT']}
    with pytest.raises(ConfigurationError) as caught:
        Plant.from_parameters(values, URDF)
    for what in ('nominal_position', 'nose', 'TAIL'):
        assert what in str(caught.value)
