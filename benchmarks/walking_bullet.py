# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Walks in another physics engine: `python -m benchmarks.walking_bullet [ROBOT ...]`, with pybullet.

PyBullet moves the robot with its own contacts; MuJoCo's sensors read what it does. PyBullet knows
no inertia of rotors, so that the robots have none; dry friction is a brake of its motors.
"""
from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mujoco
import numpy as np

from benchmarks.walking import HEAD, SIDES, Tally, off_command, row
from benchmarks.walking_robots import STEP, Laboratory, Push, walk
from benchmarks.zoo.robots import MissingRobot, robot
from legged_dynamics.dynamics.motion import GRAVITY


class BulletLaboratory(Laboratory):
    """A robot on PyBullet's plane; MuJoCo's data have its state, for sensors and judges."""

    def __init__(self, name: str, seed: int = 0):
        import pybullet
        zoo = robot(name)
        given = zoo.parameters
        super().__init__(replace(zoo, parameters={
            **given, 'robot.armature': [0.0 for _ in given['robot.armature']]}), seed=seed)
        self._bullet = bullet = pybullet
        bullet.connect(bullet.DIRECT)
        bullet.setGravity(0.0, 0.0, -GRAVITY)
        bullet.setTimeStep(STEP)
        bullet.changeDynamics(bullet.createMultiBody(0.0, bullet.createCollisionShape(
            bullet.GEOM_PLANE)), -1, lateralFriction=1.0)
        (x, y, z), (qw, qx, qy, qz) = np.split(self.data.qpos[self._free:self._free + 7], [3])
        with TemporaryDirectory() as folder:
            urdf = Path(folder) / 'robot.urdf'
            urdf.write_text(self.zoo.urdf, encoding='utf-8')
            self._robot = bullet.loadURDF(str(urdf), flags=bullet.URDF_USE_INERTIA_FROM_FILE)
        found = {bullet.getJointInfo(self._robot, k)[1].decode(): k
                 for k in range(bullet.getNumJoints(self._robot))}
        self._numbers = [found[joint] for joint in self.joints]
        self._links = {bullet.getJointInfo(self._robot, k)[12].decode(): k for k in found.values()}
        # PyBullet has a body where its centre of mass is.
        self._center = np.array(bullet.getDynamicsInfo(self._robot, -1)[3])
        model = self.model
        for k, dof in zip(self._numbers, self._dofs):
            bullet.changeDynamics(self._robot, k, jointDamping=float(model.dof_damping[dof]))
            bullet.setJointMotorControl2(self._robot, k, bullet.VELOCITY_CONTROL, targetVelocity=0,
                                         force=float(model.dof_frictionloss[dof]))
        for k in range(-1, bullet.getNumJoints(self._robot)):
            # In one call with these dampings, a link's friction would stay at PyBullet's 0.5.
            bullet.changeDynamics(self._robot, k, lateralFriction=0.8)
            bullet.changeDynamics(self._robot, k, linearDamping=0.0, angularDamping=0.0)
            link = bullet.getJointInfo(self._robot, k)[12].decode() if k >= 0 else ''
            if link and not model.body(link).mass[0]:       # it would weigh 1 kg
                bullet.changeDynamics(self._robot, k, mass=1e-6, localInertiaDiagonal=[1e-9] * 3)
        for k, q in zip(self._numbers, self.data.qpos[self._qpos]):
            bullet.resetJointState(self._robot, k, q)
        place, turn = bullet.multiplyTransforms((x, y, z), (qx, qy, qz, qw), self._center,
                                                (0, 0, 0, 1))
        bullet.resetBasePositionAndOrientation(self._robot, place, turn)
        self._pushed = np.zeros(3)

    def push(self, force: np.ndarray) -> None:
        """Push the base [N]."""
        self._pushed = np.array(force)

    def _advance(self, effort: np.ndarray) -> None:
        """Move PyBullet on by a step, and show it to MuJoCo's sensors."""
        bullet, effort = self._bullet, np.clip(effort, -self.limits, self.limits)
        bullet.setJointMotorControlArray(self._robot, self._numbers, bullet.TORQUE_CONTROL,
                                         forces=effort.tolist())
        place, _ = bullet.getBasePositionAndOrientation(self._robot)
        bullet.applyExternalForce(self._robot, -1, self._pushed.tolist(), place,
                                  bullet.WORLD_FRAME)
        bullet.stepSimulation()
        self._show(effort)

    def _show(self, effort: np.ndarray) -> None:
        """Take PyBullet's state over into MuJoCo's, with accelerations from differences."""
        bullet, data, model = self._bullet, self.data, self.model
        place, turn = bullet.getBasePositionAndOrientation(self._robot)
        R = np.array(bullet.getMatrixFromQuaternion(turn)).reshape(3, 3)
        linear, angular = map(np.array, bullet.getBaseVelocity(self._robot))
        before = data.qvel.copy()
        free, at = self._free, self._free_dof
        data.qpos[free:free + 3] = place - R @ self._center
        data.qpos[free + 3:free + 7] = np.array(turn)[[3, 0, 1, 2]]
        data.qvel[at:at + 3] = linear - np.cross(angular, R @ self._center)
        data.qvel[at + 3:at + 6] = R.T @ angular
        states = bullet.getJointStates(self._robot, self._numbers)
        data.qpos[self._qpos] = [state[0] for state in states]
        data.qvel[self._dofs] = [state[1] for state in states]
        data.ctrl[:] = effort
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_sensorPos(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_sensorVel(model, data)
        data.qacc[:] = (data.qvel - before) / STEP
        data.actuator_force[:] = effort
        mujoco.mj_rnePostConstraint(model, data)
        mujoco.mj_sensorAcc(model, data)

    def forces(self) -> np.ndarray:
        """Return the true normal force on each foot [N]."""
        bullet, found = self._bullet, np.zeros(len(self.feet))
        for i, foot in enumerate(self.feet):
            for point in bullet.getContactPoints(bodyA=self._robot, linkIndexA=self._links[foot]):
                found[i] += point[9]
        return found


def main(arguments: list[str] | None = None) -> int:
    """Print the rows; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('robots', nargs='*', default=['go2', 'anymal_class', 'solo_class', 'hyq'])
    robots = parser.parse_args(arguments).robots
    if find_spec('pybullet') is None:
        parser.error('expected pybullet, which is not installed: pip install pybullet')
    tally = Tally()
    print(HEAD)
    for name in robots:
        for title, gait, velocity, pushes in (
                ('0.3 m/s, turning at 0.2 rad/s', 'trot', (0.3, 0.0, 0.2), ()),
                *((f'60 % for 0.3 s, {side}', 'stand', (0.0, 0.0, 0.0),
                   (Push(2.0, 0.3, 0.6 * np.array(way)),)) for side, way in SIDES.items())):
            try:
                lab: Any = BulletLaboratory(name)
            except MissingRobot as error:
                tally.missing[name] = str(error)
                continue
            found = tally.count(walk(lab, gait, lambda t, v=velocity: v, 6.0, pushes),
                                f'{name}, {title}')
            lab._bullet.disconnect()
            if not found.cause and gait != 'stand':
                tally.follow(off_command(found), f'{name}, {title}')
            print(f'| {name} | {gait} | {title} | {row(found)}', flush=True)
    print(f'\n{tally.summary()}')
    return 1 if tally.causes else 0 if tally.runs else 2


if __name__ == '__main__':
    sys.exit(main())
