# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Make the film of docs/walking.md: MUJOCO_GL=egl python docs/film.py [FILE].

A simulated quadruped trots ahead, turns, goes sideways, is pushed and comes to a stand under the
package's own estimates and efforts. Yellow arrows are the estimated forces on its feet.
"""
from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

from legged_dynamics.estimation import GroundReactionEstimator, LegOdometry
from legged_dynamics.model import JointOrder, RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.simulation import Plant, SimulatedRobot
from legged_dynamics.workspace import WorkspaceController
from legged_dynamics.workspace.walking import make_walker

FILE = Path(__file__).resolve().parent / 'images' / 'walking.webp'
# Time [s] and the velocity ahead and to the left [m/s] and turning rate [rad/s] from then on.
COMMANDS = ((0.5, (0.5, 0.0, 0.0)), (2.5, (0.25, 0.0, 0.6)), (4.5, (0.0, 0.2, 0.0)),
            (5.5, (0.2, 0.0, 0.0)))
PUSHED, END = 6.0, 8.0      # s
SIZE, EVERY = (480, 300), 0.08      # pixels; s between pictures
LENGTH = 1.2                # m: length of an arrow of a force as large as the weight


def draw(scene: mujoco.MjvScene, color: tuple[float, ...], width: float, start: np.ndarray,
         end: np.ndarray, kind: int = mujoco.mjtGeom.mjGEOM_ARROW) -> None:
    """Add an arrow or another kind of shape between two places [m] to a scene."""
    shape = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(shape, kind, np.zeros(3), np.zeros(3), np.zeros(9),
                        np.array(color, np.float32))
    mujoco.mjv_connector(shape, kind, width, start, end)
    scene.ngeom += 1


def draw_grid(scene: mujoco.MjvScene, middle: np.ndarray) -> None:
    """Add lines on the floor, half a metre apart, so that motion is seen."""
    for k in range(-8, 9):
        for axis in (0, 1):
            start, end = np.zeros(3), np.zeros(3)
            start[axis] = end[axis] = 0.5 * (round(2.0 * middle[axis]) + k)
            start[1 - axis], end[1 - axis] = middle[1 - axis] - 4.0, middle[1 - axis] + 4.0
            draw(scene, (0.3, 0.35, 0.32, 1.0), 0.004, start, end,
                 mujoco.mjtGeom.mjGEOM_CAPSULE)


def main(arguments: list[str]) -> None:
    """Walk, draw, and write the film."""
    yaml, urdf = robot_files('anymal_class')
    plant = replace(Plant.from_files(yaml, urdf), push_time=PUSHED, push_duration=0.2,
                    push_force=[0.0, 0.4, 0.0])
    robot = SimulatedRobot(plant)
    model, config = RobotModel.from_urdf(urdf), RobotConfig.from_yaml(yaml)
    estimator, odometry = GroundReactionEstimator(model, config), LegOdometry(model, config)
    controller = WorkspaceController(model, config)
    walker = make_walker(model, config, {'gait': 'trot'})
    order = JointOrder(plant.joints, model.joint_names)
    back = [list(model.joint_names).index(name) for name in plant.joints]
    weight, pictures = 9.81 * model.total_mass, []
    camera = mujoco.MjvCamera()
    camera.distance, camera.azimuth, camera.elevation = 1.9, 120.0, -38.0
    with mujoco.Renderer(robot.model, SIZE[1], SIZE[0]) as renderer:
        while robot.time < END and not robot.fallen:
            measurement = robot.read().ordered(order)
            reaction = estimator.update(measurement)
            state = odometry.update(measurement, walker.trusted)
            walker.walk = COMMANDS[0][0] <= robot.time < END - 1.0
            walker.command(*next((velocity for start, velocity in reversed(COMMANDS)
                                  if robot.time >= start), (0.0, 0.0, 0.0)))
            plan = walker.update(state, measurement, reaction.latest_contact,
                                 reaction.wrench[:, :3])
            command = controller.update(state, measurement, plan.target, legs=plan.legs)
            robot.command_effort(command.effort[back])
            robot.step()
            if robot.time >= EVERY * len(pictures):
                base = robot.truth().base_position
                camera.lookat[:] = base[0], base[1], 0.25
                renderer.update_scene(robot.data, camera)
                draw_grid(renderer.scene, base)
                # Estimates in base axes, drawn at the true places of the feet.
                R = robot.data.body(plant.base_link).xmat.reshape(3, 3)
                for foot, R_BF, wrench in zip(plant.feet, reaction.foot_rotation,
                                              reaction.wrench):
                    place = robot.data.site(foot).xpos
                    draw(renderer.scene, (1.0, 0.8, 0.1, 1.0), 0.02, place,
                         place + LENGTH / weight * (R @ R_BF @ wrench[:3]))
                pictures.append(Image.fromarray(renderer.render()))
    file = Path(arguments[0]) if arguments else FILE
    pictures[0].save(file, save_all=True, append_images=pictures[1:], loop=0, method=6,
                     duration=round(1e3 * EVERY), quality=55)
    print(f'{file}: {len(pictures)} pictures, {file.stat().st_size / 1e6:.2f} MB, '
          f'{"fallen" if robot.fallen else walker.state.value} at {robot.time:.1f} s')


if __name__ == '__main__':
    main(sys.argv[1:])
