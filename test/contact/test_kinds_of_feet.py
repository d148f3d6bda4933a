# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every kind of foot touches at the same place for whoever asks."""
from types import SimpleNamespace

import numpy as np
import pytest
from robots import CONFIG, random_robot

from legged_dynamics.dynamics import frame_poses
from legged_dynamics.dynamics.jacobians import (
    CONTACT,
    N_FOOT_STATE,
    contact_points,
    feet_table,
    move_to_lowest_edge,
)
from legged_dynamics.dynamics.kinematics import body_workspace, forward_kinematics
from legged_dynamics.estimation import LegOdometry, Measurement
from legged_dynamics.estimation.link_contacts import LinkContacts, find_gaps
from legged_dynamics.estimation.rails import Rails
from legged_dynamics.model import Inertia, Joint, RobotConfig, RobotModel
from legged_dynamics.model.feet import KINDS, foot_of_kind
from legged_dynamics.model.robot_guess import _foot_rows
from legged_dynamics.model.standing import body_poses, half_bent_position, link_pose
from legged_dynamics.spatial.frames import Transform
from legged_dynamics.spatial.rotations import rotation_from_vector
from legged_dynamics.workspace.posture import Posture
from legged_dynamics.workspace.walking.swing import SwingLegs

RADIUS, EDGES = 0.03, (0.1, -0.06, 0.05, -0.04)
LINKS = ('link4', 'link5', 'link6', 'link7')
UP = np.array([0.0, 0.0, 1.0])
every_kind = pytest.mark.parametrize('kind', KINDS)


def feet_of(kind, links=LINKS):
    return [foot_of_kind(kind, link, RADIUS, EDGES) for link in links]


def places(kind):
    """Return where a kind may touch: the middles of balls of a radius, and that radius."""
    front, back, left, right = EDGES
    return {'point': (np.zeros((1, 3)), RADIUS),
            'line': (np.array([[front, 0.0, 0.0], [back, 0.0, 0.0]]), 0.0),
            'flat': (np.array([[x, y, 0.0] for x in (front, back) for y in (left, right)]), 0.0),
            'cylinder': (np.array([[front, 0.0, 0.0], [back, 0.0, 0.0]]), RADIUS)}[kind]


def configured(kind, links=LINKS, **more):
    return RobotConfig.from_parameters({
        'robot.feet': list(links), 'robot.foot_type': kind, 'robot.foot_radius': RADIUS,
        'robot.sole': list(EDGES), **more})


@every_kind
def test_it_says_itself_where_it_touches(kind):
    centers, radius = places(kind)
    foot, R = feet_of(kind)[0], rotation_from_vector([0.3, -0.2, 0.5])
    wanted = centers @ R.T - radius * UP
    found = foot.touching(R, UP)
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(wanted, axis=0), atol=1e-15)
    np.testing.assert_allclose(foot.touching(R, UP, foot.center), wanted.mean(axis=0), atol=1e-15)
    assert foot.touching(np.array([R, R]), UP).shape == (2, *wanted.shape)
    assert foot.rolled(-foot.radius).radius == 0.0
    assert foot_of_kind(kind, 'foot', foot.radius, foot.edges if len(centers) > 1 else EDGES
                        ).radius == radius
    shadow, _ = foot.shadow(rotation_from_vector([0.0, 0.3, 0.0]), np.zeros(3), 0.01)
    assert type(shadow) is type(foot) and shadow.radius == foot.radius


@every_kind
@pytest.mark.parametrize('turn', [(0.0, 0.0, 0.4), (0.5, 0.3, 0.2), (-0.4, 0.8, 0.0)])
def test_kernels_touch_there_as_well_level_and_tilted(kind, turn):
    model, (centers, radius) = random_robot(11, 8), places(kind)
    feet, bodies = feet_of(kind), body_workspace(model)
    q, zero = np.linspace(-0.5, 0.5, model.nq), np.zeros(model.nv)
    forward_kinematics(model.tree, q, zero, zero, np.zeros(9), bodies)
    table, states = feet_table(model, feet), np.zeros((len(feet), N_FOOT_STATE))
    poses = frame_poses(model, q)
    for i, foot in enumerate(feet):       # the ground as one foot has it
        normal = poses[foot.link].R @ rotation_from_vector(turn).T @ UP
        contact_points(table, bodies, tuple(normal), states)
        pose = poses[foot.link]
        wanted = pose.p + centers @ pose.R.T - radius * normal
        np.testing.assert_allclose(states[i, CONTACT:], wanted.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(pose.p + table.touching(i, pose.R, normal).mean(axis=0),
                                   wanted.mean(axis=0), atol=1e-12)
        move_to_lowest_edge(table, tuple(normal), states)
        # As far below the axis as it is round, within the edges, and at the low end if tilted.
        inside = pose.R.T @ (states[i, CONTACT:] + radius * normal - pose.p)
        assert abs(inside[2]) < 1e-12
        assert (inside <= centers.max(axis=0) + 1e-12).all()
        assert (inside >= centers.min(axis=0) - 1e-12).all()
        heights = wanted @ normal
        height = states[i, CONTACT:] @ normal
        assert heights.min() - 1e-12 <= height <= heights.mean() + 1e-12


@every_kind
def test_contacts_off_the_feet_are_compared_with_where_feet_touch(kind):
    model, config = random_robot(11, 8), configured(kind)
    q = np.linspace(-0.5, 0.5, model.nq)
    columns = {name: slice(0, model.nv) for name in (
        'position', 'velocity', 'effort', 'gyro', 'acceleration')}
    off = LinkContacts(model, config, 500.0, columns, slice(0, 3), slice(3, 7))
    bodies, zero = body_workspace(model), np.zeros(model.nv)
    forward_kinematics(model.tree, q, zero, zero, np.zeros(9), bodies)
    count = off.points.n_feet
    gaps, standing = np.zeros(count), np.eye(4)[0]
    find_gaps(bodies, UP, standing, off._bodies_and_feet[:count], off._spheres[:count], gaps)
    poses, (centers, radius) = frame_poses(model, q), places(kind)
    heights = [(poses[link].p + centers @ poses[link].R.T)[:, 2] - radius for link in LINKS]
    for i, found in enumerate(np.split(gaps, len(LINKS))):
        wanted = [np.abs(height - heights[0]).min() for height in heights[i]]
        np.testing.assert_allclose(np.sort(found), np.sort(wanted), atol=1e-12)


def cart(kind):
    """Return a body on a level rail, with a leg of one hinge, and its foot."""
    part = Inertia(1.0, np.zeros(3), 0.01 * np.eye(3))
    model = RobotModel('cart', {'root': Inertia(), 'body': part, 'foot': part}, [
        Joint('rail', 'prismatic', 'root', 'body', Transform(np.eye(3), np.zeros(3)),
              np.array([1.0, 0.0, 0.0])),
        Joint('hip', 'revolute', 'body', 'foot', Transform(np.eye(3), np.array([0.0, 0.0, -0.2])),
              np.array([0.0, 1.0, 0.0]), effort=10.0)], 'fixed')
    return model, configured(
        kind, ['foot'], **{'robot.base': 'fixed', 'robot.joints': ['hip'],
                           'robot.passive_joints': ['rail'], 'robot.absent_joints': ['rail'],
                           'robot.nominal_position': [0.0]})


@every_kind
def test_a_rail_is_followed_by_the_point_that_touches(kind):
    model, config = cart(kind)
    rails, (centers, radius) = Rails(config.apply_to(model), config), places(kind)
    q, speed = 0.3, 0.7
    for _ in range(4000):
        position, velocity = np.array([0.0, q]), np.array([0.0, speed])
        rails.advance(position, velocity, np.zeros((1, 2)), np.ones(1), 0.002)
    R = rotation_from_vector([0.0, q, 0.0])
    down = (centers @ R.T).mean(axis=0) - radius * UP
    assert velocity[0] == pytest.approx(-speed * down[2], rel=1e-6, abs=1e-9)


@every_kind
def test_a_pose_to_begin_with_has_what_is_long_or_wide_level(kind):
    path = CONFIG / 'robots' / 'anymal_class.urdf'
    links = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
    model = RobotModel.from_urdf(path)
    q = half_bent_position(model, feet_of(kind, links), np.zeros(model.nq))
    tilt = np.array([link_pose(model, body_poses(model, q), link).R[2, :2] for link in links])
    long = np.ptp(places(kind)[0], axis=0)[:2] > 0.0
    assert np.abs(tilt * long).max() < 0.25          # three joints a leg, against the rest
    free = half_bent_position(model, feet_of('point', links), np.zeros(model.nq))
    assert np.allclose(q, free) == (not long.any())


@every_kind
def test_posture_and_swinging_legs_take_it(kind):
    path = CONFIG / 'robots' / 'anymal_class.yaml'
    links = ('LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT')
    base = RobotConfig.from_yaml(path)
    config = configured(kind, links, **{'robot.joints': list(base.joints),
                                        'robot.nominal_position': list(base.nominal_position)})
    model = config.apply_to(RobotModel.from_urdf(path.with_suffix('.urdf')))
    posture, (centers, radius) = Posture(model, config), places(kind)
    poses = frame_poses(model, config.nominal_in(model))
    wanted = np.mean([poses[link].p + centers.mean(axis=0) @ poses[link].R.T - radius * UP
                      for link in links], axis=0)
    level = poses[links[0]].R.T if kind == 'flat' else np.eye(3)
    np.testing.assert_allclose(posture._feet, wanted @ level.T, atol=1e-12)
    assert not SwingLegs(model, config.feet, [0, 2]).arrays.feet.geometry[:, 15].any()


@every_kind
def test_odometry_rolls_with_what_is_round_and_stays_on_what_is_not(kind):
    """A foot turns about its own x axis on the spot: only what is round moves the body."""
    part = Inertia(1.0, np.zeros(3), 0.01 * np.eye(3))
    model = RobotModel('roller', {'base': Inertia(10.0, np.zeros(3), 0.1 * np.eye(3)),
                                  'l': part, 'r': part}, [
        Joint(f'turn_{side}', 'revolute', 'base', side,
              Transform(np.eye(3), np.array([0.0, y, -0.3])), np.array([1.0, 0.0, 0.0]),
              effort=10.0) for side, y in (('l', 0.2), ('r', -0.2))])
    edges = [0.1, -0.1, 0.05, -0.05]
    config = configured(kind, ['l', 'r'], **{'robot.sole': edges})
    odometry = LegOdometry(model, config)
    speed, dt = 0.2, 0.002
    for k in range(200):
        q = np.full(2, speed * dt * k)
        found = odometry.update(Measurement(
            round(k * dt * 1e9), q, np.full(2, speed), None, np.zeros(3),
            np.array([0.0, 0.0, 9.81]), np.array([0.0, 0.0, 0.0, 1.0])), (True, True))
        if k == 0:
            start = found.position
    moved = found.position - start
    rolled = -RADIUS * q[0] if places(kind)[1] else 0.0
    if kind != 'flat':      # which holds against that turn, and so makes the body turn instead
        assert moved[1] == pytest.approx(rolled, abs=0.02 * RADIUS * q[0])


@every_kind
def test_what_is_guessed_of_it_is_read_as_it(kind):
    foot = feet_of(kind)[0]
    rows = _foot_rows([SimpleNamespace(foot=foot, frame=None, measured_by='')])
    said = {f'robot.{name}': value for name, value, _ in rows}
    assert RobotConfig.from_parameters(said).feet == (foot,)
