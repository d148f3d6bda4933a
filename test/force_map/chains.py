# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots that stand on one foot, for the tests of the force maps."""
from itertools import pairwise

import numpy as np

from legged_dynamics.model import Inertia, Joint, RobotModel
from legged_dynamics.spatial.frames import Transform

LEG = Inertia(11.0, np.array([0.0, 0.0, 0.5]), np.diag([0.7, 0.7, 0.03]))
TORSO = Inertia(50.0, np.array([0.0, 0.0, 0.3]), np.diag([3.0, 2.6, 0.6]))
HIP = Transform(np.eye(3), np.array([0.0, 0.0, 0.9]))
# Recorded wrenches are angular first.
LINEAR_FIRST = np.r_[3:6, 0:3]


def chain_of(tree, bodies):
    """Return the chain of revolute joints about local z that a recorded case describes."""
    links, joints = {'ground': Inertia()}, []
    for i, (place, body) in enumerate(zip(tree, bodies), start=1):
        links[f'b{i}'] = Inertia(body['m'], np.array(body['rho']), np.array(body['Ic']))
        parent = f'b{i - 1}' if i > 1 else 'ground'
        joints.append(Joint(f'j{i}', 'revolute', parent, f'b{i}',
                            Transform(place['R'], place['p'])))
    return RobotModel('chain', links, joints, base='fixed')


def ball_leg(torso=TORSO):
    """Return a torso on a leg, a ball at the foot and a ball at the hip: 61 kg."""
    return RobotModel('ball leg', {'ground': Inertia(), 'leg': LEG, 'torso': torso},
                      [Joint('foot', 'spherical', 'ground', 'leg'),
                       Joint('hip', 'spherical', 'leg', 'torso', HIP)], base='fixed')


def ring_leg():
    """Return the same with massless gimbal rings, x then y then z, in place of the balls."""
    links = {'ground': Inertia(), 'fx': Inertia(), 'fy': Inertia(), 'leg': LEG,
             'hx': Inertia(), 'hy': Inertia(), 'torso': TORSO}
    names, joints = list(links), []
    for i, (parent, child) in enumerate(pairwise(names)):
        joints.append(Joint(f'{child}_joint', 'revolute', parent, child,
                            HIP if i == 3 else Transform.identity(), np.eye(3)[i % 3]))
    return RobotModel('ring leg', links, joints, base='fixed')


def knee_leg():
    """Return a leg with thigh, knee and ankle, and an arm on the torso: a tree on one foot."""
    shank = Inertia(4.0, np.array([0.0, 0.0, 0.25]), np.diag([0.08, 0.08, 0.01]))
    thigh = Inertia(7.0, np.array([0.0, 0.0, 0.2]), np.diag([0.12, 0.12, 0.03]))
    arm = Inertia(3.0, np.array([0.2, 0.0, 0.0]), np.diag([0.01, 0.05, 0.05]))
    up = Transform(np.eye(3), np.array([0.0, 0.0, 0.45]))
    return RobotModel(
        'knee leg', {'ground': Inertia(), 'shank': shank, 'thigh': thigh, 'torso': TORSO,
                     'arm': arm, 'slide': arm},
        [Joint('foot', 'spherical', 'ground', 'shank'),
         Joint('knee', 'revolute', 'shank', 'thigh', up, np.array([0.0, 1.0, 0.0])),
         Joint('hip', 'spherical', 'thigh', 'torso', up),
         Joint('shoulder', 'revolute', 'torso', 'arm', up, np.array([1.0, 0.0, 0.0])),
         Joint('rail', 'prismatic', 'torso', 'slide', HIP, np.array([0.0, 1.0, 0.0]))],
        base='fixed')
