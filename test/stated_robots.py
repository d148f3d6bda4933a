# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robots that the package ships, each with its feet stated in every form, and bags of them."""
import re
from functools import cache

import numpy as np
import yaml
from robots import CONFIG

from legged_dynamics.model import Inertia, Joint, RobotConfig, RobotModel
from legged_dynamics.model.feet import KINDS
from legged_dynamics.model.standing import standing_efforts
from legged_dynamics.model.urdf import urdf_text
from legged_dynamics.recordings.bag_writer import BagWriter
from legged_dynamics.ros import conversions as convert
from legged_dynamics.ros.middleware.parameters import StandaloneDialect
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.spatial.frames import GRAVITY, Transform

FILES = {path.stem: path for path in sorted((CONFIG / 'robots').glob('*.yaml'))}
# As shipped; and as soles, edges and balls on frames of their own.
FORMS = ('shipped', *(f'{kind} frames' for kind in KINDS))
AXES = (('roll|hip_joint|_hip$|abad', (1.0, 0.0, 0.0)), ('yaw|torso', (0.0, 0.0, 1.0)),
        ('', (0.0, 1.0, 0.0)))
DIALECT = StandaloneDialect()
START_NS, PERIOD_NS = 10 ** 18, 4_000_000


def _turned(name):
    return np.array(next(axis for pattern, axis in AXES if re.search(pattern, name)))


def _made_up(config):
    """Return a URDF with the names of a robot whose own does not come with the package."""
    links, joints, ends = {config.base_link: Inertia(10.0, np.zeros(3), 0.2 * np.eye(3))}, [], {}
    sides = {'FL': (1, 1), 'FR': (1, -1), 'RL': (-1, 1), 'RR': (-1, -1), 'left': (0, 1),
             'right': (0, -1)}

    def add(name, kind, parent, child, place, inertia):
        links[child] = inertia
        joints.append(Joint(name, kind, parent, child, Transform(np.eye(3), np.array(place)),
                            _turned(name), effort=200.0))
    parents = {frame.parent for frame in config.foot_frames}
    for name in config.joints:
        side = name.split('_')[0]
        x, y = sides.get(side, (0, 0))
        limb = side + ' arm' * bool(re.search('shoulder|elbow|wrist', name))
        hip, child = limb not in ends, re.sub('_joint$', '_link', name)
        if not config.foot_frames:
            child = name.removesuffix('_joint')
        add(name, 'revolute', ends.get(limb, config.base_link), child,
            (0.2 * x, 0.1 * y, 0.0) if hip else (0.0, 0.0, -0.12),
            Inertia(1.0, np.array([0.0, 0.0, -0.05]), 0.002 * np.eye(3)))
        ends[limb] = child
    for link in {config.imu_link, *(foot.link for foot in config.feet
                                    if not config.foot_frames)} - set(links):
        add(f'{link}_mount', 'fixed', ends.get(link.split('_')[0], config.base_link), link,
            (0.0, 0.0, -0.12), Inertia())
    assert parents <= set(links)
    return urdf_text('made_up', links, joints)


@cache
def described(robot):
    """Return the URDF of a shipped robot: its own, or one made up of its names."""
    own = FILES[robot].with_suffix('.urdf')
    return own.read_text() if own.is_file() else _made_up(RobotConfig.from_yaml(FILES[robot]))


def stated(robot, form):
    """Return a shipped robot's parameters, with its feet in a form."""
    values = read_parameter_file(FILES[robot])
    if form == 'shipped':
        return values
    feet = values['robot.feet']
    parents = values.get('robot.foot_parents', feet)
    frames = values.get('robot.foot_frames', [0.0] * 6 * len(feet))
    edges = [0.03, -0.02, 0.02, -0.02]
    return {name: value for name, value in values.items()
            if name not in ('robot.foot_types', 'robot.foot_radii', 'robot.soles')} | {
        'robot.feet': [f'{foot}_s' for foot in feet], 'robot.foot_type': form.split()[0],
        'robot.foot_radius': 0.01, 'robot.sole': edges, 'robot.foot_parents': list(parents),
        'robot.foot_frames': [float(x) for x in frames]}


def applied(robot, form):
    """Return the model of the URDF, and the configuration of a form."""
    values = {name: value for name, value in stated(robot, form).items()
              if name.startswith(('robot.', 'noise.'))}
    return RobotModel.from_xml(described(robot)), RobotConfig.from_parameters(values)


def write_yaml(folder, robot, form):
    """Write URDF and YAML of a form into a folder and return the YAML's path."""
    tree = {}
    for name, value in stated(robot, form).items():
        *path, key = name.split('.')
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        at[key] = value
    path = folder / 'stated.yaml'
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': tree}}))
    path.with_suffix('.urdf').write_text(described(robot))
    return path


def samples(robot, seconds=4.0, seed=0):
    """Yield (stamp, names, q, v, tau, gyro, acceleration) of a robot that stands and sways."""
    model, config = applied(robot, 'shipped')
    model, rng = config.apply_to(model), np.random.default_rng(seed)
    q0, names = config.nominal_in(model), model.joint_names
    effort = standing_efforts(model, config.feet, q0)
    tau = np.array([effort.get(name, 0.0) for name in names])
    for k in range(round(seconds * 1e9 / PERIOD_NS)):
        phase = 2.0 * np.pi * 0.5 * k * PERIOD_NS * 1e-9
        q = q0 + 0.02 * np.sin(phase) + 1e-5 * rng.normal(size=model.nq)
        v = 0.02 * np.pi * np.cos(phase) + 1e-3 * rng.normal(size=model.nv)
        yield (START_NS + k * PERIOD_NS, names, q, v, tau + 0.1 * rng.normal(size=model.nv),
               1e-3 * rng.normal(size=3), [0.0, 0.0, GRAVITY] + 0.02 * rng.normal(size=3))


def messages(robot, seconds=4.0):
    """Yield (topic, stamp, message) of such a robot's sensors."""
    for stamp, names, q, v, tau, gyro, acceleration in samples(robot, seconds):
        yield '/imu/data', stamp, convert.imu(DIALECT, stamp, 'imu_link', gyro, acceleration,
                                              np.array([0.0, 0.0, 0.0, 1.0]))
        yield '/joint_states', stamp, convert.joint_state(DIALECT, stamp, names, q, v, tau)


def write_bag(path, robot):
    """Write a bag of such a robot and return its path."""
    with BagWriter(path) as writer:
        for topic, kind in (('/robot_description', 'std_msgs/msg/String'),
                            ('/joint_states', 'sensor_msgs/msg/JointState'),
                            ('/imu/data', 'sensor_msgs/msg/Imu')):
            writer.add_topic(topic, kind, latched=topic == '/robot_description')
        writer.write_message('/robot_description', START_NS,
                             convert.string(DIALECT, described(robot)))
        for topic, stamp, message in messages(robot):
            writer.write_message(topic, stamp + 300_000, message)
    return path
