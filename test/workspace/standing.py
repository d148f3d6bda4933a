# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Standing robots, their states and Pinocchio's word on them, for the tests in SE(3)."""
from functools import cache

import numpy as np
import pinocchio as pin
from robots import CONFIG, golden, pinocchio_twin, random_inertia, random_pose, robot_of

from legged_dynamics.estimation.leg_odometry import BodyState, OdometryFault
from legged_dynamics.model import (
    FlatFoot,
    Inertia,
    Joint,
    LineFoot,
    PointFoot,
    RobotConfig,
    RobotModel,
)
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.spatial.rotations import rotation_from_quaternion, rotation_from_vector
from legged_dynamics.workspace.propagation import invert_legs, propagate_velocity
from legged_dynamics.workspace.stance_arrays import stance_arrays
from legged_dynamics.workspace.workspace_dynamics import reduce_exact

RECORDED = golden('002_se3_workspace.json')
SOLE = (0.2, -0.06, 0.05, -0.05)


@cache
def recorded_biped():
    """Return the biped of the recorded cases, and its flat feet."""
    model, _ = robot_of(RECORDED['model'])
    names = {part['id']: part['name'] for part in RECORDED['model']}
    return model, [FlatFoot(names[i], *SOLE) for i in RECORDED['feet']]


@cache
def quadruped(name='anymal_class', **parameters):
    """Return (model, config) of a quadruped; without friction in the joints unless asked for."""
    path = CONFIG / 'robots' / f'{name}.yaml'
    values = {**read_parameter_file(path), 'robot.joint_friction': [0.0],
              **{key.replace('__', '.'): value for key, value in parameters.items()}}
    config = RobotConfig.from_parameters(values)
    return config.apply_to(RobotModel.from_urdf(path.with_suffix('.urdf'))), config


def standing_pose(model, config):
    """Return the nominal joint positions in the model's order."""
    return np.array(config.nominal_position)[[config.joints.index(name)
                                              for name in model.joint_names]]


def body_state(position=(0.0, 0.0, 0.5), rotation=None, twist=None, contact=(True,) * 4,
               stamp=0, places=None):
    n = len(contact)
    return BodyState(stamp, np.array(position, float), np.eye(3) if rotation is None else rotation,
                     np.zeros(6) if twist is None else twist, np.array(contact, bool),
                     np.zeros((n, 3)) if places is None else places, np.zeros(n), 0.0, 0, 0,
                     OdometryFault.NONE)


def random_legs(seed, legs=(4, 4, 7), kinds=('revolute', 'prismatic')):
    """Return a robot on ball feet and, with seven joints, a flat one; and its feet. One arm."""
    rng = np.random.default_rng(seed)
    links, joints, feet = {'base': random_inertia(rng, 10.0)}, [], []
    for i, n in enumerate((*legs, 2)):
        parent = 'base'
        for k in range(n):
            child, axis = f'l{i}_{k}', rng.normal(size=3)
            links[child] = random_inertia(rng)
            joints.append(Joint(f'j{i}_{k}', kinds[int(rng.integers(len(kinds)))], parent, child,
                                random_pose(rng), axis / np.linalg.norm(axis)))
            parent = child
        if i < len(legs):
            feet.append(FlatFoot(parent, *SOLE) if n > 5 else PointFoot(parent))
    return RobotModel(f'legs{seed}', links, joints), feet


def waisted_robot(seed=0):
    """Return a robot whose two hind legs hang on one waist joint, and its ball feet."""
    rng = np.random.default_rng(seed)
    links, joints = {'base': random_inertia(rng, 10.0), 'rear': random_inertia(rng, 5.0)}, [
        Joint('waist', 'revolute', 'base', 'rear', random_pose(rng))]
    for i, root in enumerate(('base', 'base', 'rear', 'rear')):
        parent = root
        for k in range(3):
            links[f'l{i}{k}'] = random_inertia(rng)
            axis = rng.normal(size=3)
            joints.append(Joint(f'j{i}{k}', 'revolute', parent, f'l{i}{k}', random_pose(rng),
                                axis / np.linalg.norm(axis)))
            parent = f'l{i}{k}'
        links[f'foot{i}'] = Inertia()
        joints.append(Joint(f'weld{i}', 'fixed', parent, f'foot{i}', random_pose(rng)))
    return RobotModel('waisted', links, joints), [PointFoot(f'foot{i}') for i in range(4)]


def run_stages(model, feet, q, v, threshold=1e-6):
    """Run stages 1 and 2 for Pinocchio's q and v; return the arrays."""
    s = stance_arrays(model, feet)
    up = rotation_from_quaternion(q[3:7])[2]
    s.q[:], s.v[:], s.base[:3], s.base[6:] = q[7:], v[6:], v[3:6], 9.81 * up
    propagate_velocity(s, tuple(up))
    invert_legs(s, threshold)
    reduce_exact(s, v[:6])
    return s


def random_motion(model, seed, scale=1.0):
    """Return Pinocchio's q and v at random."""
    rng = np.random.default_rng(seed)
    xyzw = pin.Quaternion(rotation_from_vector(0.3 * rng.normal(size=3))).coeffs()
    return (np.concatenate([rng.normal(size=3), xyzw, rng.uniform(-1.5, 1.5, model.nv)]),
            scale * rng.normal(size=6 + model.nv))


class Pinned:
    """Pinocchio's dynamics of a robot with its feet held: M, h, J, Jdot v, in base axes."""

    def __init__(self, model, feet, q, v):
        twin = pinocchio_twin(model)
        data = twin.createData()
        self.M = pin.crba(twin, data, q)
        self.M = np.triu(self.M) + np.triu(self.M, 1).T
        self.M[6:, 6:] += np.diag([joint.armature for joint in model.joints])
        self.h = pin.rnea(twin, data, q, v, np.zeros(twin.nv))
        self.h[6:] += np.array([joint.damping for joint in model.joints]) * v[6:]
        R_WB = rotation_from_quaternion(q[3:7])
        pin.forwardKinematics(twin, data, q, v, np.zeros(twin.nv))
        rows, drift = [], []
        for foot in feet:
            size = 3 if isinstance(foot, PointFoot) else 6
            frame = twin.getFrameId(foot.link)
            center = np.concatenate([foot.center if size == 6 else np.zeros(3), np.ones(1)])
            body = twin.frames[frame]
            at = body.placement * pin.SE3(np.eye(3), center[:3])
            point = twin.addFrame(pin.Frame(f'{foot.link}_contact', body.parentJoint, at,
                                            pin.FrameType.OP_FRAME))
            found = twin.createData()
            pin.forwardKinematics(twin, found, q, v, np.zeros(twin.nv))
            axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            J = pin.computeFrameJacobian(twin, found, q, point, axes)
            pin.forwardKinematics(twin, found, q, v, np.zeros(twin.nv))
            a = pin.getFrameClassicalAcceleration(twin, found, point, axes).vector
            pin.updateFramePlacement(twin, found, point)
            across = R_WB.T @ found.oMf[point].rotation[:, 1:2]
            for k in range(0, size, 3):
                turn = across.T if isinstance(foot, LineFoot) and k else np.eye(3)
                rows.append(turn @ R_WB.T @ J[k:k + 3])
                drift.append(turn @ R_WB.T @ a[k:k + 3])
        self.J, self.drift = np.vstack(rows), np.concatenate(drift)

    def project(self):
        """Return Lambda and mu by the formula of the source, with numpy's pseudo-inverse."""
        pull = np.linalg.pinv(self.J[:, 6:])
        n = len(self.h)
        N, n0 = np.eye(n, 6), np.zeros(n)
        N[6:], n0[6:] = -pull @ self.J[:, :6], -pull @ self.drift
        return N.T @ self.M @ N, N.T @ (self.h + self.M @ n0)

    def accelerate(self, effort):
        """Return acceleration and the feet's forces that joint efforts cause."""
        n, m = len(self.h), len(self.drift)
        K = np.block([[self.M, -self.J.T], [self.J, np.zeros((m, m))]])
        right = np.concatenate([-self.h, -self.drift])
        right[6:n] += effort
        x = np.linalg.solve(K, right)
        return x[:n], x[n:]
