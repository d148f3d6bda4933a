# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots on their bellies and knees, and pushed ones, in MuJoCo: what touches the ground."""
from functools import lru_cache

import mujoco
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.estimation import GroundReactionEstimator, Measurement
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.simulation.plant import Plant, build_world

ROBOTS = ('anymal_class', 'solo_class')
RATE, SETTLING, RECORDED, PUSH = 500.0, 2.5, 0.6, 0.2
# Hip and knee angles of the front legs, and of the hind ones, with the signs of the standing pose.
POSES = {'stand': None, 'belly': ((1.65, 0.0), (1.65, 0.0)), 'kneel': ((0.5, 2.6), None)}


def posture(plant, name):
    q = plant.nominal_position.copy()
    if POSES[name]:
        for legs, angles in zip(((0, 1), (2, 3)), POSES[name]):
            for leg in legs if angles else ():
                q[3 * leg + 1:3 * leg + 3] = np.sign(q[3 * leg + 1:3 * leg + 3]) * angles
    return q


@lru_cache
def scene(robot, pose, push):
    """Return model, config, measurements and the true forces off the feet by link, in W [N]."""
    path = CONFIG / 'robots' / f'{robot}.yaml'
    plant = Plant.from_files(path)
    model = RobotModel.from_urdf(path.with_suffix('.urdf'))
    world = build_world(plant.urdf, base_link=plant.base_link, imu_link=plant.imu_link,
                        joints=plant.joints, feet=plant.feet, armature=plant.armature,
                        damping=plant.joint_damping, friction=plant.joint_friction,
                        timestep=1e-3)
    data, wanted = mujoco.MjData(world), posture(plant, pose)
    joints = [world.joint(name) for name in plant.joints]
    places, rates = ([int(getattr(joint, part)[0]) for joint in joints]
                     for part in ('qposadr', 'dofadr'))
    data.qpos[places] = wanted
    data.qpos[2] = 2.0
    mujoco.mj_forward(world, data)
    while not data.ncon:
        data.qpos[2] -= 2e-3
        mujoco.mj_forward(world, data)
    limit = world.actuator_ctrlrange[:, 1]
    order = [plant.joints.index(name) for name in model.joint_names]
    measured, forces = [], []
    base = world.body(plant.base_link).id
    for step in range(round((SETTLING + RECORDED) * 1e3)):
        data.ctrl[:] = np.clip(4.0 * limit * (wanted - data.qpos[places])
                               - 0.16 * limit * data.qvel[rates], -limit, limit)
        if push and step > 1e3 * (SETTLING + 0.1):
            data.xfrc_applied[base, 1] = PUSH * model.total_mass * 9.81
        mujoco.mj_step(world, data)
        if step >= SETTLING * 1e3 and step % 2 == 0:
            mujoco.mj_forward(world, data)
            sensor = [data.sensor(name).data.copy() for name in (
                'gyro', 'accelerometer', 'orientation')]
            measured.append(Measurement(
                1 + len(measured) * 2_000_000, data.qpos[places][order],
                data.qvel[rates][order], data.ctrl[order].copy(), sensor[0], sensor[1],
                np.roll(sensor[2], -1)))
            forces.append(off_feet(world, data, model, plant))
    return model, measured, forces, data.xmat[base].reshape(3, 3).copy()


def off_feet(world, data, model, plant):
    found, local = {}, np.zeros(6)
    for k in range(data.ncon):
        contact = data.contact[k]
        link = next(world.body(int(world.geom_bodyid[geom])).name for geom in contact.geom
                    if world.geom_bodyid[geom])
        if link not in plant.feet:
            body = model.frame(link).body
            name = model.joints[body - 1].child if body else model.base_link
            mujoco.mj_contactForce(world, data, k, local)
            sign = 1.0 if world.geom_bodyid[contact.geom1] == 0 else -1.0
            found[name] = found.get(name, 0.0) + sign * (
                local[:3] @ contact.frame.reshape(3, 3))
    return found


def estimates(robot, pose, push=False):
    """Return the weight, the last 50 estimates and the truth of their links, and R_WB."""
    model, measured, forces, R = scene(robot, pose, push)
    config = RobotConfig.from_yaml(CONFIG / 'robots' / f'{robot}.yaml')
    estimator = GroundReactionEstimator(model, config, {'rate': RATE})
    found = [estimator.update(one) for one in measured]
    return model.total_mass * 9.81, found[-50:], forces[-50:], R


@pytest.mark.parametrize('robot', ROBOTS)
@pytest.mark.parametrize('pose', ['belly', 'kneel'])
def test_links_on_the_ground_are_named_and_are_no_push(robot, pose):
    weight, found, forces, R = estimates(robot, pose)
    truth = {link: force for link, force in forces[-1].items() if force[2] > 0.1 * weight}
    assert truth        # the scene is what it is meant to be
    total, seen = np.zeros(3), set()
    for one in found:
        assert one.contacts_off_feet
        seen |= {contact.link for contact in one.contacts_off_feet}
        total += sum(R @ contact.force for contact in one.contacts_off_feet) / len(found)
        assert (one.external_wrench == 0.0).all()
    assert seen == set(truth)
    off = total - sum(forces[-1].values())
    assert abs(off[2]) < 3.0 * found[-1].external_deviation[2]
    assert abs(off[2]) < 0.1 * weight


@pytest.mark.parametrize('robot', ROBOTS)
def test_a_push_on_a_standing_robot_stays_a_push(robot):
    weight, found, forces, R = estimates(robot, 'stand', push=True)
    assert not any(forces)
    assert not any(one.contacts_off_feet for one in found)
    pushes = np.mean([R @ one.external_wrench[:3] for one in found], axis=0)
    assert pushes[1] == pytest.approx(PUSH * weight, abs=0.05 * weight)
