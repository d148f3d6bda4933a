# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots that stand on slopes, steps and slippery floors, held by the body controller."""
from types import SimpleNamespace

import mujoco
import numpy as np
from robots import CONFIG

from legged_dynamics.dynamics.jacobians import contact_points
from legged_dynamics.dynamics.kinematics import forward_kinematics
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import SimulatedRobot
from legged_dynamics.simulation.hardware import SimulatedHardware
from legged_dynamics.simulation.plant import GROUND, ROBOT, Plant, add_floor, build_world
from legged_dynamics.simulation.truth import ContactTruth
from legged_dynamics.spatial.rotations import quaternion_from_rotation, rotation_from_rpy
from legged_dynamics.workspace.reach import solve_legs
from legged_dynamics.workspace.stance_arrays import stance_arrays


def parameters_of(name):
    """Return URDF text and parameters of one of the package's own robots."""
    path = CONFIG / 'robots' / f'{name}.yaml'
    return path.with_suffix('.urdf').read_text(encoding='utf-8'), read_parameter_file(path)


class GroundedRobot(SimulatedRobot):
    """
    A robot put on a given ground, upright, with nobody to hold it but who commands efforts.

    slope is (about x, about y) in radians; step lifts the ground under the first foot [m]; payload
    is added to the base, in masses of the robot. A robot without shapes but feet gets a belly so
    far below its base [m].
    """

    def __init__(self, urdf, parameters, slope=(0.0, 0.0), step=0.0, friction=0.8, payload=0.0,
                 height=0.0, belly=None, seed=0, noise=True):
        plant = Plant.from_parameters({**parameters, 'simulation.floor_friction': friction}, urdf)
        config = RobotConfig.from_parameters({
            key: value for key, value in parameters.items()
            if key.startswith(('robot.', 'noise.'))})
        self.known = config.apply_to(RobotModel.from_urdf(urdf))
        self.config, self.tilt = config, rotation_from_rpy([*slope, 0.0])
        self.order = [plant.joints.index(joint) for joint in self.known.joint_names]
        q, pose, places = self._place(plant, step, height)

        def scenery(spec):
            add_floor(spec)
            spec.geom('floor').quat = quaternion_from_rotation(self.tilt)[[3, 0, 1, 2]]
            if belly:
                spec.body(plant.base_link).add_geom(
                    type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.15, 0.08, 0.01],
                    pos=[0.0, 0.0, 0.01 - belly], contype=ROBOT, conaffinity=GROUND)
            if step:
                spec.worldbody.add_geom(
                    name='step', type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.5 * step],
                    pos=places[0] - self.tilt @ [0.0, 0.0, 0.5 * step],
                    quat=quaternion_from_rotation(self.tilt)[[3, 0, 1, 2]], contype=GROUND,
                    conaffinity=ROBOT)

        model = build_world(
            urdf, base_link=plant.base_link, imu_link=plant.imu_link, joints=plant.joints,
            feet=plant.feet, armature=plant.armature, damping=plant.joint_damping,
            friction=plant.joint_friction, timestep=plant.timestep,
            foot_friction=plant.floor_friction, contact_time=plant.contact_time,
            restitution=plant.restitution, scenery=scenery)
        SimulatedHardware.__init__(self, plant, model, noise=noise, seed=seed, start_ns=0)
        self.base = model.body(plant.base_link).id
        if payload:
            model.body_mass[self.base] += payload * model.body_subtreemass[self.base]
            mujoco.mj_setConst(model, self.data)
        free = model.body_jntadr[self.base]
        self._free_qpos = model.jnt_qposadr[free] + np.arange(7)
        self._free_dofs = model.jnt_dofadr[free] + np.arange(6)
        self.data.qpos[self._qpos[self.order]] = q
        self.data.qpos[self._free_qpos[:3]] = pose[9:]
        self.data.qpos[self._free_qpos[3:]] = quaternion_from_rotation(
            pose[:9].reshape(3, 3))[[3, 0, 1, 2]]
        self._contacts = ContactTruth(self.model, plant.feet)
        self._controller = SimpleNamespace(height=pose[11])
        self._held = self.data.qpos[self._qpos].copy()
        mujoco.mj_forward(self.model, self.data)

    def _place(self, plant, step, height):
        """Return joints, pose of the base and contact points of the upright robot."""
        s = stance_arrays(self.known, self.config.feet)
        s.q[:] = plant.nominal_position[self.order]
        flat = s.feet.index[:, 2] == 6
        R = np.eye(3)
        forward_kinematics(s.tree, s.q, s.still, s.still, s.base, s.bodies)
        contact_points(s.feet, s.bodies, (0.0, 0.0, 1.0), s.states)
        points = s.states[:, 12:15].copy()
        if flat.any():
            R = s.states[0, :9].reshape(3, 3).T
            points = points @ R.T
        base = -points.mean(axis=0)
        base[2] += height
        places = np.zeros((len(flat), 12))
        for i, point in enumerate(points):
            foot = point + base
            foot[2] = (-self.tilt[0, 2] * foot[0] - self.tilt[1, 2] * foot[1]) / self.tilt[2, 2]
            # a ball touches below its centre along the normal, and solve_legs looks along up
            radius = s.feet.geometry[i, 15]
            up_part = radius * (self.tilt[:, 2] - [0.0, 0.0, 1.0])
            places[i, :3] = foot + step * (i == 0) * self.tilt[:, 2] + up_part
            places[i, 3:] = self.tilt.ravel()
        pose = np.array([*R.ravel(), *base])
        for part in np.linspace(0.0, 1.0, 11)[1:]:
            goal = places.copy()
            start = np.column_stack([points + base, np.tile(np.eye(3).ravel(), (len(flat), 1))])
            goal[:, :3] = start[:, :3] + part * (places[:, :3] - start[:, :3])
            goal[:, 3:] = rotation_from_rpy(part * np.array(rpy_of(self.tilt))).ravel()
            assert solve_legs(s, pose, goal, np.tile([-10.0, 10.0], (len(s.q), 1)), 0.0)
        return s.q.copy(), pose, places[:, :3]

    def _advance(self, period):
        for _ in range(self._substeps):
            self.data.ctrl[:] = self._stiff() if self._command is None else self._command
            mujoco.mj_step(self.model, self.data)

    def _stiff(self):
        """Return efforts that keep the joints where they were at the start."""
        away = self._held - self.data.qpos[self._qpos]
        return self._limits * (20.0 * away - 0.4 * self.data.qvel[self._dofs])

    def _take_over(self):
        pass


def rpy_of(R):
    return [np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(R[2, 0]), np.arctan2(R[1, 0], R[0, 0])]
