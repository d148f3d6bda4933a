# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What holds for ground reactions of any robot, whatever the method that found them."""
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from contact_oracles import four_feet, motion_of
from robots import pinocchio_twin, random_robot, random_state
from tolerances import ALGEBRA

from legged_dynamics.contact import ContactInverseDynamics, EquationWeights
from legged_dynamics.dynamics import BaseMotion, Motion, frame_poses
from legged_dynamics.force_map import FrictionCone
from legged_dynamics.model import FlatFoot, Inertia, PointFoot, RobotModel
from legged_dynamics.optimization import Outcome
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_quaternion, rotation_from_vector

GRAVITY = np.array([0.0, 0.0, -9.81])


def in_base(model, feet, motion, wrenches):
    """Return the sum of wrenches in the feet's frames, about the base's origin."""
    poses, total = frame_poses(model, motion.position), np.zeros(6)
    for foot, wrench in zip(feet, wrenches):
        pose = poses[foot.link]
        force = pose.R @ wrench[:3]
        total += np.concatenate([force, pose.R @ wrench[3:] + np.cross(pose.p, force)])
    return total


@pytest.mark.parametrize('kinds', ['pppp', 'fpfp'])
def test_the_sum_of_wrenches_is_the_rate_of_momentum(kinds):
    """Against Pinocchio's centroidal momentum, differentiated, less gravity."""
    model, feet = four_feet(kinds)
    twin = pinocchio_twin(model)
    data = twin.createData()
    q, v, a, xyzw, twist, acceleration = random_state(model, 6)
    motion = Motion(q, v, a, BaseMotion.from_twist(twist, acceleration, xyzw))
    found = ContactInverseDynamics(model, feet).solve(motion)
    position = np.array([0.4, -0.3, 1.1])
    rate = pin.computeCentroidalMomentumTimeVariation(
        twin, data, np.concatenate([position, xyzw, q]), np.concatenate([twist, v]),
        np.concatenate([acceleration, a])).vector
    mass, com = model.total_mass, data.com[0]
    force = rate[:3] - mass * GRAVITY
    R_WB = rotation_from_quaternion(xyzw)
    total = in_base(model, feet, motion, found.wrench)
    size = np.abs(total).max()
    np.testing.assert_allclose(R_WB @ total[:3], force, atol=ALGEBRA * size)
    about_base = rate[3:] + np.cross(com - position, force)
    np.testing.assert_allclose(R_WB @ total[3:], about_base, atol=ALGEBRA * size)


def scaled(model, mass=1.0, length=1.0):
    """Return a robot of another mass and size."""
    links = {name: Inertia(mass * part.mass, length * np.asarray(part.com),
                           mass * length ** 2 * np.asarray(part.about_com))
             for name, part in model.links.items()}
    joints = [replace(joint, placement=Transform(joint.placement.R, length * joint.placement.p))
              for joint in model.joints]
    return RobotModel('scaled', links, joints)


def test_forces_scale_with_mass_length_and_time():
    """Forces grow with mass, length and the square of how fast things happen."""
    model = random_robot(11, 8, ('revolute',), fixed=0)
    feet = [FlatFoot(f'link{i}', 0.1, -0.06, 0.05, -0.03) for i in (4, 5, 6, 7)]
    mass, length, speed = 3.0, 2.0, 1.5
    motion = motion_of(model, 0)
    base = motion.base
    faster = Motion(motion.position, speed * motion.velocity, speed ** 2 * motion.acceleration,
                    BaseMotion(speed * base.angular_velocity,
                               speed ** 2 * base.angular_acceleration,
                               speed ** 2 * length * base.proper_acceleration))
    larger = [FlatFoot(foot.link, *(length * edge for edge in (foot.front, foot.back, foot.left,
                                                               foot.right))) for foot in feet]
    one = ContactInverseDynamics(model, feet).solve(motion)
    other = ContactInverseDynamics(scaled(model, mass, length), larger,
                                   length_scale=0.1 * length).solve(faster)
    factor = mass * length * speed ** 2
    size = np.abs(other.wrench).max()
    np.testing.assert_allclose(other.wrench[:, :3], factor * one.wrench[:, :3],
                               atol=ALGEBRA * size)
    np.testing.assert_allclose(other.wrench[:, 3:], factor * length * one.wrench[:, 3:],
                               atol=ALGEBRA * size)
    np.testing.assert_allclose(other.joint_effort, factor * length * one.joint_effort,
                               atol=ALGEBRA * np.abs(other.joint_effort).max())


MIRROR = np.diag([1.0, -1.0, 1.0])


def mirrored(model):
    """Return the image in the x-z plane; axes are axial vectors and turn the other way."""
    links = {name: Inertia(part.mass, MIRROR @ part.com, MIRROR @ part.about_com @ MIRROR)
             for name, part in model.links.items()}
    joints = [replace(joint, axis=-(MIRROR @ joint.axis), placement=Transform(
        MIRROR @ joint.placement.R @ MIRROR, MIRROR @ joint.placement.p))
        for joint in model.joints]
    return RobotModel('mirrored', links, joints)


def solvers(model, feet):
    """Return a solver for each way to share the load."""
    weights = EquationWeights(np.full(6, 4.0), np.full(model.nv, 0.5))
    return {'closed form': ContactInverseDynamics(model, feet),
            'friction': ContactInverseDynamics(model, feet, friction=FrictionCone(0.5)),
            'measured': ContactInverseDynamics(model, feet, weights=weights)}


def test_a_mirrored_robot_has_mirrored_reactions():
    model = random_robot(11, 8, ('revolute',), fixed=0)
    feet = [FlatFoot('link4', 0.1, -0.06, 0.05, -0.03), PointFoot('link5', 0.02),
            FlatFoot('link6', 0.1, -0.06, 0.05, -0.03), PointFoot('link7', 0.02)]
    image_feet = [FlatFoot(foot.link, foot.front, foot.back, -foot.right, -foot.left)
                  if isinstance(foot, FlatFoot) else foot for foot in feet]
    motion, axial = motion_of(model, 0), -MIRROR
    base = motion.base
    image = Motion(motion.position, motion.velocity, motion.acceleration, BaseMotion(
        axial @ base.angular_velocity, axial @ base.angular_acceleration,
        MIRROR @ base.proper_acceleration))
    effort = np.linspace(-3.0, 3.0, 8)
    pairs = zip(solvers(model, feet).items(), solvers(mirrored(model), image_feet).values())
    for (name, solver), other in pairs:
        measured = effort if name == 'measured' else None
        one, two = (s.solve(m, effort=measured) for s, m in ((solver, motion), (other, image)))
        size = np.abs(one.wrench).max()
        np.testing.assert_allclose(two.wrench[:, :3], one.wrench[:, :3] @ MIRROR,
                                   atol=1e-9 * size)
        np.testing.assert_allclose(two.wrench[:, 3:], one.wrench[:, 3:] @ axial,
                                   atol=1e-9 * size)
        np.testing.assert_allclose(two.joint_effort, one.joint_effort, atol=1e-9 * size)


def moved_base(model, pose):
    """Return the robot with its base's frame somewhere else on the same base."""
    links = dict(model.links)
    links['base'] = links['base'].seen_from(pose.inverse())
    joints = [replace(joint, placement=pose.inverse() @ joint.placement)
              if joint.parent == 'base' else joint for joint in model.joints]
    return RobotModel('moved', links, joints)


def test_the_choice_of_the_base_frame_does_not_matter():
    model = random_robot(11, 8, ('revolute',), fixed=0)
    feet = [FlatFoot(f'link{i}', 0.1, -0.06, 0.05, -0.03) for i in (4, 5, 6, 7)]
    motion = motion_of(model, 2)
    pose = Transform(rotation_from_vector(np.array([0.4, -1.0, 0.3])), np.array([0.2, 0.1, -0.3]))
    base, R, p = motion.base, pose.R, pose.p
    w, alpha = base.angular_velocity, base.angular_acceleration
    there = base.proper_acceleration + np.cross(alpha, p) + np.cross(w, np.cross(w, p))
    seen = Motion(motion.position, motion.velocity, motion.acceleration,
                  BaseMotion(R.T @ w, R.T @ alpha, R.T @ there))
    one = ContactInverseDynamics(model, feet).solve(motion)
    other = ContactInverseDynamics(moved_base(model, pose), feet).solve(seen)
    size = np.abs(one.wrench).max()
    np.testing.assert_allclose(other.wrench, one.wrench, atol=ALGEBRA * size)
    np.testing.assert_allclose(other.joint_effort, one.joint_effort, atol=ALGEBRA * size)


def test_the_order_of_joints_and_feet_does_not_matter():
    model = random_robot(11, 8, fixed=0)
    shuffled = RobotModel('shuffled', model.links, model.joints[::-1])
    feet = [FlatFoot('link4', 0.1, -0.06, 0.05, -0.03), PointFoot('link5', 0.02),
            PointFoot('link6', 0.02), FlatFoot('link7', 0.1, -0.06, 0.05, -0.03)]
    order = [model.joint_names.index(name) for name in shuffled.joint_names]
    assert order != sorted(order)
    motion, effort = motion_of(model, 3), np.linspace(-3.0, 3.0, 8)
    other_motion = Motion(motion.position[order], motion.velocity[order],
                          motion.acceleration[order], motion.base)
    place = [2, 0, 3, 1]
    pairs = zip(solvers(model, feet).items(),
                solvers(shuffled, [feet[i] for i in place]).values())
    for (name, solver), other in pairs:
        measured = effort if name == 'measured' else None
        one = solver.solve(motion, effort=measured)
        two = other.solve(other_motion, effort=None if measured is None else effort[order])
        size = np.abs(one.wrench).max()
        np.testing.assert_allclose(two.wrench, one.wrench[place], atol=1e-9 * size)
        np.testing.assert_allclose(two.joint_effort, one.joint_effort[order], atol=1e-9 * size)


@pytest.mark.parametrize('kinds', ['pppp', 'pfpl', 'ffff'])
@pytest.mark.parametrize('torque', [False, True])
def test_the_kernels_solve_the_open_problem(kinds, torque):
    """Row by row and foot by foot: one problem, with and without torque, inside cones and out."""
    model, feet = four_feet(kinds, seed=21)
    weights = EquationWeights(np.full(6, 9.0), np.full(8, 0.3), prior_force=200.0,
                              prior_moment=20.0)
    rng = np.random.default_rng(4)
    for friction in (None, FrictionCone(0.6)):
        solver = ContactInverseDynamics(model, feet, friction=friction, weights=weights)
        acting = 0
        for seed in range(6):
            motion = motion_of(model, seed, 0.2)
            given = {'in_contact': [True, True, seed % 2 == 0, True],
                     'effort': 5.0 * rng.normal(size=8) if torque else None}
            if seed > 3:
                given['guess'] = 50.0 * rng.normal(size=(4, 6))
            found = solver.solve(motion, **given)
            instant = solver.problem(motion, **given)
            answer = instant.problem.solve()
            if not found.feasible:
                assert answer.outcome is Outcome.INFEASIBLE
                continue
            size = max(np.abs(found.wrench).max(), model.total_mass * 9.81)
            np.testing.assert_allclose(instant.wrenches(answer.mean), found.wrench,
                                       atol=2e-5 * size)
            acting += len(answer.active) > 0
            if torque:      # what limits tell makes nothing less certain, and nothing certain
                free = instant.problem.without_limits().solve().covariance
                left = np.linalg.eigvalsh(free - answer.covariance)
                assert left.min() > -1e-9 * left.max() - 1e-9
                assert np.linalg.eigvalsh(answer.covariance).min() > 0.0
        assert acting > 0 or friction is None or not torque
