# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Simulated quadrupeds under workspace control, in process: what they did, against the truth.

``PYTHONPATH=test python test/workspace/quadruped_runs.py`` prints a table.
"""
from types import SimpleNamespace

import mujoco
import numpy as np
from robots import CONFIG

from legged_dynamics.estimation import LegOdometry, Measurement
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.simulation import Schedule, SimulatedRobot
from legged_dynamics.spatial.rotations import (
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_vector,
)
from legged_dynamics.workspace import (
    BodyPose,
    ReferenceGenerator,
    WorkspaceController,
    WorkspaceSettings,
)

# Down, sideways, pitched, turned and up again: offsets in heights of the base, roll pitch yaw.
DANCE = (((0.0, 0.0, -0.25), (0.0, 0.0, 0.0)), ((0.0, 0.10, -0.1), (0.0, 0.0, 0.0)),
         ((0.0, -0.05, -0.1), (0.0, 0.15, 0.0)), ((0.05, 0.0, -0.05), (0.1, 0.0, 0.2)),
         ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
PAUSE_NS = 200_000_000


class Slide:
    """
    How far each foot's contact point has been dragged over the ground, as material.

    MuJoCo's friction removes the speed of a contact at 200/s and knows nothing of ``Jdot v``: a
    foot creeps at ``Jdot v / 200`` while the leg moves, a millimetre or so in a dance.
    """

    def __init__(self, robot):
        self.robot, self.way = robot, np.zeros((len(robot.plant.feet), 2))
        self.largest = 0.0
        self.sites = [robot.model.site(foot).id for foot in robot.plant.feet]

    def add(self, points):
        twists = np.zeros((len(self.sites), 6))
        for site, twist in zip(self.sites, twists):
            mujoco.mj_objectVelocity(self.robot.model, self.robot.data,
                                     mujoco.mjtObj.mjOBJ_SITE, site, twist, 0)
        (wx, wy, wz, vx, vy, _) = twists.T
        x, y, z = (points - self.robot.data.site_xpos[self.sites]).T
        v = np.stack([vx + wy * z - wz * y, vy + wz * x - wx * z], axis=1)
        self.way += v * self.robot.period_ns * 1e-9
        self.largest = max(self.largest, np.linalg.norm(self.way, axis=1).max())


def scale_masses(robot, base, legs):
    trunk = robot.model.body(robot.plant.base_link).id
    for body in range(1, robot.model.nbody):
        factor = base if body == trunk else legs
        robot.model.body_mass[body] *= factor
        robot.model.body_inertia[body] *= factor
    mujoco.mj_setConst(robot.model, mujoco.MjData(robot.model))


def run(name, poses=DANCE, *, mass=1.0, legs=1.0, friction=None, push=None, delay=0, hold=1,
        seconds=30.0, settings=None, seed=0):
    """
    Move a robot through poses; return errors (n, 6) [m, rad] and what else there is to judge.

    mass and legs are factors of what the base and the legs weigh;
    push is (start [s], force [N]) for 0.2 s; delay is in samples, of the command; hold is how many
    samples a command is kept.
    """
    path = CONFIG / 'robots' / f'{name}.yaml'
    robot = SimulatedRobot.from_files(path, schedule=Schedule.from_text('stand 100'), seed=seed)
    if (mass, legs) != (1.0, 1.0):
        scale_masses(robot, mass, legs)
    if friction is not None:
        robot.model.geom_friction[:, 0] = friction
    model, config = RobotModel.from_urdf(robot.plant.urdf), RobotConfig.from_yaml(path)
    order = [robot.plant.joints.index(joint) for joint in model.joint_names]
    back = np.argsort(order)
    chosen = WorkspaceSettings.from_parameters(settings)
    odometry, reference = LegOdometry(model, config), ReferenceGenerator(chosen)
    controller = WorkspaceController(model, config, chosen)
    for _ in range(100):
        robot.step()
    base = robot.model.body(robot.plant.base_link).id
    errors, forces, grip, faults, commands, slide = [], [], [], set(), [], Slide(robot)
    start, next_ns, index = None, 0, 0
    begin = robot.time
    while robot.time - begin < seconds:
        sample, truth = robot.read(), robot.truth()
        measurement = Measurement(sample.stamp_ns, sample.position[order], sample.velocity[order],
                                  None, sample.angular_velocity, sample.linear_acceleration,
                                  sample.orientation)
        state = odometry.update(measurement)
        if start is None:
            yaw = np.arctan2(state.rotation[1, 0], state.rotation[0, 0])
            start, offset = state, truth.base_position - state.position
            reference.rest(sample.stamp_ns, BodyPose(state.position, state.rotation))
        if sample.stamp_ns >= next_ns:
            if index == len(poses):
                break
            shift, (roll, pitch, turn) = poses[index]
            index += 1
            reference.move_to(sample.stamp_ns, BodyPose(
                start.position + start.position[2] * np.array(shift),
                rotation_from_rpy(np.array([roll, pitch, yaw + turn]))))
            next_ns = reference.end_ns + PAUSE_NS
        target = reference.at(sample.stamp_ns)
        command = controller.update(state, measurement, target)
        faults.add(command.faults)
        if len(commands) % hold == 0 or not commands:
            effort = command.effort[back]
        commands.append(effort)
        robot.command_effort(commands[max(len(commands) - 1 - delay, 0)])
        robot.data.xfrc_applied[base, :3] = 0.0
        if push is not None and push[0] <= robot.time - begin < push[0] + 0.2:
            robot.data.xfrc_applied[base, :3] = push[1]
        robot.step()
        R = rotation_from_quaternion(truth.base_orientation)
        errors.append([*(truth.base_position - offset - target.position),
                       *rotation_vector(target.rotation.T @ R)])
        in_world = [robot.data.site_xmat[site].reshape(3, 3) @ wrench[:3]
                    for site, wrench in zip(slide.sites, truth.feet.wrench)]
        grip.append(max(np.hypot(f[0], f[1]) / max(f[2], 1e-9) for f in in_world))
        forces.append(np.abs(truth.feet.wrench[:, :3] - command.foot_wrench[:, :3]).max())
        slide.add(np.where(truth.feet.contact[:, None], truth.feet.point,
                           robot.data.site_xpos[slide.sites]))
    errors = np.array(errors)
    return SimpleNamespace(
        robot=robot, errors=errors, command=command, commands=np.array(commands), faults=faults,
        slide=slide.largest, grip=np.array(grip), force_error=rms(forces), state=state,
        position=np.linalg.norm(errors[:, :3], axis=1),
        angle=np.linalg.norm(errors[:, 3:], axis=1), done=index == len(poses))


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


CASES = {
    'as modelled': {}, 'base 5 % lighter': {'mass': 0.95}, 'base 5 % heavier': {'mass': 1.05},
    'legs 10 % lighter': {'legs': 0.9}, 'legs 10 % heavier': {'legs': 1.1},
    'friction 0.3': {'friction': 0.3}, 'friction 3': {'friction': 3.0},
    'commands at 125 Hz': {'hold': 4}, 'commands at 50 Hz': {'hold': 10},
    'commands at 25 Hz': {'hold': 20}, 'commands 10 ms late': {'delay': 5},
    'commands 20 ms late': {'delay': 10}, 'commands 30 ms late': {'delay': 15},
    'pushed to the left for 0.2 s': {'push': (1.5, np.array([0.0, 1.0, 0.0]))},
    'pushed forward for 0.2 s': {'push': (1.5, np.array([1.0, 0.0, 0.0]))}}
# Of a push [N]: a tenth of each robot's weight.
PUSHES = {'anymal_class': 50.0, 'solo_class': 2.4}


def main():
    print('| robot | case | position, rms and max [mm] | angle, rms and max [deg] '
          '| tangential over normal force | creep [mm] |\n|---|---|---:|---:|---:|---:|')
    for name, newtons in PUSHES.items():
        for case, options in CASES.items():
            if 'push' in options:
                options = {'push': (options['push'][0], newtons * options['push'][1])}
            found = run(name, **options)
            assert found.done and found.faults == {0}
            print(f'| {name} | {case} | {1e3 * rms(found.position):.2f}, '
                  f'{1e3 * found.position.max():.2f} | {np.degrees(rms(found.angle)):.2f}, '
                  f'{np.degrees(found.angle.max()):.2f} | {found.grip.max():.2f} '
                  f'| {1e3 * found.slide:.1f} |', flush=True)


if __name__ == '__main__':
    main()
