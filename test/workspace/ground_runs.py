# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Robots on all kinds of ground under body control, in process: what they did, against the truth.

``PYTHONPATH=test:test/workspace python test/workspace/ground_runs.py [robot ...]`` prints
tables; a robot is one of the package's own, or a URDF with a YAML
beside it.
"""
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from grounds import GroundedRobot, parameters_of

from legged_dynamics.estimation import LegOdometry, Measurement
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.spatial.rotations import (
    rotation_from_quaternion,
    rotation_from_vector,
    rotation_vector,
)
from legged_dynamics.workspace import (
    AskedForce,
    BodyPose,
    ReachLimiter,
    ReferenceGenerator,
    WorkspaceController,
)
from legged_dynamics.workspace.reference import run as at_once

SETTLED = 1.0       # s


def run(urdf, parameters, seconds=2.0, move=None, push=None, ask=None, **ground):
    """
    Hold a robot; from 1 s on move it, push it for 0.2 s, or ask its first foot for force.

    move is (offset [m], turn [rad]); push a force in weights; ask in weights beyond its own.
    Errors (n, 6) [m, rad] since 1 s are those of the true pose from where the robot was taken
    over, at 0.2 s; force is the true one less the one asked for, as a part of the weight.
    """
    robot = GroundedRobot(urdf, parameters, **ground)
    model, order = robot.known, robot.order
    back = np.argsort(order)
    controller, odometry = WorkspaceController(model, robot.config), LegOdometry(
        model, robot.config)
    reference = ReferenceGenerator(controller.settings)
    limiter = ReachLimiter(model, robot.config, controller.settings['reference.stretch'])
    weight, offset, errors, forces, faults, done = (
        9.81 * robot.model.body_subtreemass[robot.base], None, [], [], set(), False)
    cut, asked, own = '', {}, None
    for _ in range(100):        # until the rubber of the feet has given way
        robot.step()
    while robot.time < SETTLED + seconds and not robot.fallen:
        sample, truth = robot.read(), robot.truth()
        measurement = Measurement(sample.stamp_ns, sample.position[order], sample.velocity[order],
                                  None, sample.angular_velocity, sample.linear_acceleration,
                                  sample.orientation)
        state = odometry.update(measurement)
        R = rotation_from_quaternion(truth.base_orientation)
        if offset is None:
            reference.rest(sample.stamp_ns, BodyPose(state.position, state.rotation))
            offset = truth.base_position - state.position, R @ state.rotation.T
        target = reference.at(sample.stamp_ns)
        settled = robot.time >= SETTLED
        if settled and own is None:
            own = controller.forces()[0]
        if settled and move is not None and not done:
            goal = BodyPose(target.position + np.array(move[0]),
                            target.rotation @ rotation_from_vector(np.array(move[1])))
            support = controller.support(state)
            goal, _, cut = at_once(limiter.search(state, measurement.position, goal, support))
            reference.support = support
            reference.move_to(sample.stamp_ns, goal)
            done = True
        if settled and ask is not None:
            asked = {0: AskedForce(own + np.array([0.0, 0.0, ask * weight]))}
        command = controller.update(state, measurement, target, asked)
        faults |= {command.faults} if settled else set()
        robot.command_effort(command.effort[back])
        pushed = push is not None and SETTLED <= robot.time < SETTLED + 0.2
        robot.data.xfrc_applied[robot.base, :3] = weight * np.array(push) if pushed else 0.0
        if settled:
            errors.append([*(truth.base_position - offset[0] - target.position),
                           *rotation_vector((offset[1] @ target.rotation).T @ R)])
            site = robot.data.site(robot.plant.feet[0])
            forces.append(site.xmat.reshape(3, 3) @ truth.feet.wrench[0, :3])
        robot.step()
    missing = 0.0
    if ask is not None:
        late = np.mean(forces[-250:], axis=0)
        missing = float(np.abs(late - asked[0].force).max() / weight)
    errors = np.array(errors)
    return SimpleNamespace(
        fallen=robot.fallen, errors=errors, force=missing, cut=cut, faults=faults, end=target,
        position=np.linalg.norm(errors[:, :3], axis=1), took=reference.end_ns * 1e-9 - SETTLED,
        angle=np.linalg.norm(errors[:, 3:], axis=1), clipped=command.clipped)


def text(found):
    if found.fallen:
        return 'falls'
    return (f'{1e3 * found.position.max():.1f}, {1e3 * found.position[-50:].mean():.1f} mm, '
            f'{np.degrees(found.angle.max()):.2f} deg')


GROUNDS = {'flat': {}, 'sloping ahead': {'slope': (0.0, 1.0)},
           'sloping sideways': {'slope': (1.0, 0.0)}, 'friction 0.3': {'friction': 0.3},
           'a foot 5 cm up': {'step': 0.05}, '12 % payload': {'payload': 0.12}}
MOVES = {name: (0.05 * sign * np.eye(3)[axis], np.zeros(3)) for axis, letter in enumerate('xyz')
         for sign, name in ((1, f'+5 cm {letter}'), (-1, f'-5 cm {letter}'))}
MOVES |= {f'0.2 rad about {letter}': (np.zeros(3), 0.2 * np.eye(3)[axis])
          for axis, letter in enumerate('xyz')}


def table(name, urdf, parameters, height=0.0):
    """Print the rows of one robot."""
    flat = parameters.get('robot.foot_type') == 'flat'
    slope, strength = np.radians(8.0 if flat else 15.0), 0.1 if flat else 0.3
    for title, ground in GROUNDS.items():
        ground = dict(ground)
        if 'slope' in ground:
            ground['slope'] = tuple(slope * part for part in ground['slope'])
        try:
            held = run(urdf, parameters, height=height, **ground)
            asked = run(urdf, parameters, ask=0.1, height=height, **ground)
        except AssertionError:
            print(f'| {name} | {title} | does not stand there | |', flush=True)
            continue
        print(f'| {name} | {title} | {text(held)} | {100.0 * asked.force:.2f} % '
              f'{asked.clipped.get(0, "")} |', flush=True)
    for title, move in MOVES.items():
        found = run(urdf, parameters, move=move, seconds=2.5, height=height)
        note = f'; cut where {found.cut}' * bool(found.cut)
        print(f'| {name} | {title} | {text(found)}{note}, {found.took:.1f} s | |', flush=True)
    for part in (strength, 2.0 * strength):
        worst = [run(urdf, parameters, push=part * np.array(way), seconds=2.5, height=height)
                 for way in ([1, 0, 0], [-1, 0, 0], [0, 1, 0])]
        print(f'| {name} | pushed by {100 * part:.0f} %: ahead, back, left | '
              f'{"; ".join(text(found) for found in worst)} | |', flush=True)


def main(robots):
    print('| robot | case | off: most, at the end; turned most | asked force missed by |\n'
          '|---|---|---|---|')
    for name in robots:
        path = Path(name)
        found = ((path.read_text(encoding='utf-8'), read_parameter_file(path.with_suffix('.yaml')))
                 if path.suffix else parameters_of(name))
        table(path.stem, *found)


if __name__ == '__main__':
    main(sys.argv[1:] or ['anymal_class', 'solo_class'])
