# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots for tests, built in code or written inline."""
import json
from pathlib import Path

import numpy as np
import pinocchio as pin

from legged_dynamics.model import Inertia, Joint, PointFoot, RobotModel
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_vector

GOLDEN = Path(__file__).parent / 'golden'
CONFIG = Path(__file__).resolve().parent.parent / 'config'
RECORDED_AXES = {'RX': (1.0, 0.0, 0.0), 'RY': (0.0, 1.0, 0.0), 'RZ': (0.0, 0.0, 1.0)}


def golden(name):
    """Read a file of recorded cases."""
    return json.loads((GOLDEN / name).read_text())


def crouching_biped():
    """Return the recorded biped, and its joints in the crouch of its first case."""
    recorded = golden('004_contact_id.json')
    model = RobotModel.from_urdf(recorded['urdf'])
    crouch = dict(zip(recorded['v_order'][1:], recorded['cases'][0]['q'][7:]))
    return model, np.array([crouch[name] for name in model.joint_names])


def random_inertia(rng, mass=None):
    """Return a physically possible inertia, from a cloud of points."""
    points = rng.normal(size=(8, 3)) * 0.1
    weights = rng.uniform(0.1, 1.0, 8)
    mass = rng.uniform(0.3, 5.0) if mass is None else mass
    weights *= mass / weights.sum()
    com = weights @ points / mass
    arms = points - com
    about = sum(w * (a @ a * np.eye(3) - np.outer(a, a)) for w, a in zip(weights, arms))
    return Inertia(mass, com, about)


def random_pose(rng, reach=0.3):
    """Return any rotation and a position within reach."""
    return Transform(rotation_from_vector(rng.normal(size=3)), rng.normal(size=3) * reach)


def random_robot(seed, n_joints, kinds=('revolute', 'prismatic'), base='floating', fixed=2):
    """Return a random tree: every joint on any earlier link, some links welded on."""
    rng = np.random.default_rng(seed)
    links = {'base': random_inertia(rng, 10.0)}
    joints = []
    for i in range(n_joints + fixed):
        kind = kinds[int(rng.integers(len(kinds)))] if i < n_joints else 'fixed'
        axis = rng.normal(size=3)
        names = list(links)
        links[f'link{i}'] = random_inertia(rng)
        joints.append(Joint(f'joint{i}', kind, names[int(rng.integers(len(names)))], f'link{i}',
                            random_pose(rng), axis / np.linalg.norm(axis)))
    return RobotModel(f'random{seed}', links, joints, base)


def pinocchio_twin(model):
    """Return the same robot in Pinocchio, built from the same parts."""
    twin = pin.Model()
    root = pin.JointModelFreeFlyer() if model.floating else None
    ids = {}

    def inertia_of(link):
        part = model.links[link]
        return pin.Inertia(part.mass, part.com, part.about_com)

    def se3(pose):
        return pin.SE3(pose.R, pose.p)

    placed = {}
    if root is not None:
        ids[model.base_link] = twin.addJoint(0, root, pin.SE3.Identity(), 'root_joint')
    else:
        ids[model.base_link] = 0
    placed[model.base_link] = pin.SE3.Identity()
    # Welded links follow their body, as the model's own frames say.
    body_link = {0: model.base_link}
    for body, joint in enumerate(model.joints, start=1):
        body_link[body] = joint.child
    for joint in model.joints:
        parent_body = model.frames[joint.parent].body
        anchor = model.frames[body_link[parent_body]].pose
        to_parent = anchor.inverse() @ model.frames[joint.parent].pose
        kind = {'revolute': pin.JointModelRevoluteUnaligned,
                'continuous': pin.JointModelRevoluteUnaligned,
                'prismatic': pin.JointModelPrismaticUnaligned}.get(joint.kind)
        pin_joint = (pin.JointModelSpherical() if joint.kind == 'spherical'
                     else kind(np.asarray(joint.axis)))
        ids[joint.child] = twin.addJoint(ids[body_link[parent_body]], pin_joint,
                                         se3(to_parent @ joint.placement), joint.name)
    for link in model.links:
        body, pose = model.frames[link]
        head = body_link[body]
        local = model.frames[head].pose.inverse() @ pose
        if ids[head] or model.floating:
            twin.appendBodyToJoint(ids[head], inertia_of(link), se3(local))
        twin.addFrame(pin.Frame(link, ids[head], se3(local), pin.FrameType.BODY))
    return twin


def random_state(model, seed):
    """Return (q, v, a, xyzw, twist, acceleration) at random, quaternions of unit length."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2.0, 2.0, model.nq)
    for body, joint in enumerate(model.joints, start=1):
        if joint.kind == 'spherical':
            start = model.tree.topology[body, 2]
            q[start:start + 4] /= np.linalg.norm(q[start:start + 4])
    xyzw = rng.normal(size=4)
    return (q, rng.normal(size=model.nv), rng.normal(size=model.nv),
            xyzw / np.linalg.norm(xyzw), rng.normal(size=6), rng.normal(size=6))


def robot_of(parts, feet=()):
    """Return the floating robot that a recorded case describes, and its feet."""
    links, joints, names = {}, [], {}
    for part in parts:
        kind = part['type'].removeprefix('JointModel')
        name = names[part['id']] = part['name']
        links[name] = Inertia(part['mass'], np.array(part['com']), np.array(part['Icom']))
        if kind != 'FreeFlyer':
            joints.append(Joint(
                f'{name}_joint', 'spherical' if kind == 'Spherical' else 'revolute',
                names[part['parent']], name, Transform(part['R'], part['p']),
                np.array(RECORDED_AXES.get(kind, (0.0, 0.0, 1.0)))))
    for i, foot in enumerate(feet):
        links[f'foot{i}'] = Inertia()
        joints.append(Joint(f'weld{i}', 'fixed', foot['parent'], f'foot{i}',
                            Transform(np.eye(3), foot['p'])))
    return (RobotModel('recorded', links, joints),
            [PointFoot(f'foot{i}') for i in range(len(feet))])


TWO_LEGS = """
<robot name="two_legs">
  <link name="base"><inertial><origin xyz="0.01 0 0.02"/><mass value="8"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="imu"/>
  <joint name="imu_mount" type="fixed"><parent link="base"/><child link="imu"/>
    <origin xyz="0.05 0.02 0.03" rpy="0.1 -0.2 0.3"/></joint>
  {left}{right}
</robot>"""

_LEG = """
  <link name="{s}_thigh"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{s}_hip_x" type="revolute"><parent link="base"/><child link="{s}_hip"/>
    <origin xyz="0 {y} 0"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="30" velocity="10"/></joint>
  <link name="{s}_hip"><inertial><mass value="0.3"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{s}_hip_y" type="continuous"><parent link="{s}_hip"/><child link="{s}_thigh"/>
    <axis xyz="0 1 0"/><dynamics damping="0.2" friction="0.1"/></joint>
  <link name="{s}_shank"><inertial><origin xyz="0 0 -0.12"/><mass value="0.5"/>
    <inertia ixx="0.004" iyy="0.004" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{s}_knee" type="revolute"><parent link="{s}_thigh"/><child link="{s}_shank"/>
    <origin xyz="0 0 -0.25"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="0" effort="40" velocity="10"/></joint>
  <link name="{s}_foot"/>
  <joint name="{s}_foot_mount" type="fixed"><parent link="{s}_shank"/><child link="{s}_foot"/>
    <origin xyz="0 0 -0.25"/></joint>"""

TWO_LEGS = TWO_LEGS.format(left=_LEG.format(s='l', y='0.1'), right=_LEG.format(s='r', y='-0.1'))
