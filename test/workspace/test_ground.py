# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What is read of the ground, and what it can give a body."""
import numpy as np
import pytest
from standing import body_state, quadruped, random_legs, standing_pose

from legged_dynamics.dynamics.jacobians import CONTACT, contact_points
from legged_dynamics.dynamics.kinematics import forward_kinematics
from legged_dynamics.estimation.measurement import Measurement
from legged_dynamics.model import PointFoot
from legged_dynamics.spatial.rotations import rotation_from_rpy
from legged_dynamics.workspace import (
    BodyPose,
    BodyTarget,
    Ground,
    ReachLimiter,
    ReferenceGenerator,
    WorkspaceController,
    WorkspaceSettings,
)
from legged_dynamics.workspace.ground import GroundReading
from legged_dynamics.workspace.reach import solve_legs
from legged_dynamics.workspace.stance_arrays import stance_arrays
from legged_dynamics.workspace.support import hull_edges, support_excess

FEET = [PointFoot(f'foot{i}', 0.02) for i in range(4)]
PLACES = np.array([[0.3, 0.2, 0.0], [0.3, -0.2, 0.0], [-0.3, 0.2, 0.0], [-0.3, -0.2, 0.0]])
TICK = 2_000_000


def tilted(angle):
    return rotation_from_rpy([0.0, angle, 0.0])


@pytest.mark.parametrize('angle', [0.0, 0.1, 0.26])
def test_forces_that_hold_on_slope_and_steps_alike_are_relied_on(angle):
    reading, mu = GroundReading(FEET, 0.6), np.arctan(0.6)
    reading.look(body_state(places=PLACES @ tilted(angle).T))
    normal = reading.axes[0].reshape(3, 3)[:, 2]
    cone = np.arctan(reading.friction[0])
    for other in (tilted(angle)[:, 2], np.array([0.0, 0.0, 1.0])):
        between = np.arccos(min(normal @ other, 1.0))
        assert between + cone <= mu + 1e-6      # the cone lies in that about the other
    assert cone == pytest.approx(mu - angle / 2)


def test_four_feet_in_a_plane_touch_a_slope_and_others_half_of_one():
    reading, up = GroundReading(FEET, 0.6), tilted(0.2)[:, 2]
    reading.look(body_state(places=PLACES @ tilted(0.2).T))
    np.testing.assert_allclose(reading.touch, np.tile(up, (4, 1)), atol=1e-9)
    raised = PLACES.copy()
    raised[0, 2] += 0.05
    reading.reset()
    reading.look(body_state(places=raised))
    tilts = np.arccos(reading.touch[:, 2])
    assert (0.01 < tilts).all() and tilts.max() < 0.05      # the plane through them tilts by 0.08


def test_given_normals_are_believed():
    reading, up = GroundReading(FEET, 0.6), tilted(0.2)[:, 2]
    given = np.vstack([np.tile(up, (3, 1)), [[np.nan] * 3]])
    reading.look(body_state(places=PLACES), Ground(given))
    np.testing.assert_allclose(reading.axes[1].reshape(3, 3)[:, 2], up)
    assert reading.friction[1] == pytest.approx(0.6)
    np.testing.assert_allclose(reading.touch[1], up)
    np.testing.assert_allclose(reading.axes[3].reshape(3, 3)[:, 2], [0, 0, 1], atol=1e-9)


def test_a_foot_that_slides_is_relied_on_less_and_never_on_more():
    reading, force = GroundReading(FEET, 0.6), np.tile([20.0, 0.0, 100.0], (4, 1))
    assert reading.feel(np.full(4, 0.003), force) == []
    found = [reading.friction[2]]
    for way in (0.005, 0.008, 0.010, 0.015, 0.02, 0.03, 0.04, 0.05):
        reading.feel(np.array([0.0, 0.0, way, 0.0]), force)
        found.append(reading.friction[2])
    assert (np.diff(found) <= 0.0).all()
    assert found[1] == pytest.approx(0.8 * 0.6)
    assert found[-1] == pytest.approx(0.8 * 0.2)        # of the ratio that it slid with
    assert reading.friction[0] == 0.6


def test_hull_of_points():
    rng = np.random.default_rng(0)
    corners = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    edges = hull_edges(np.vstack([corners, rng.uniform(-1, 1, (20, 2))]))
    assert len(edges) == 4
    np.testing.assert_allclose(np.linalg.norm(edges[:, :2], axis=1), 1.0)
    np.testing.assert_allclose(edges[:, 2], 1.0)
    assert len(hull_edges(corners[:2])) == 0


def standing():
    """Return controller and state of a quadruped after a tick on its four feet."""
    model, config = quadruped()
    q = standing_pose(model, config)
    controller = WorkspaceController(model, config)
    state = body_state([0.0, 0.0, 0.5])
    for _ in range(2):
        command = controller.update(state, Measurement(TICK, q, np.zeros(12), None),
                                    BodyTarget.of(state.position, state.rotation))
    return controller, state, command, q


def test_the_zero_moment_point_is_that_of_an_inverted_pendulum():
    """Accelerated by a, it shifts by h a / g, and by I alpha / (m g)."""
    controller, state, _, _ = standing()
    support = controller.support(state)
    com_height = 0.5 + support.numbers[14] - support.numbers[2]
    still, moved = np.zeros(24), np.zeros(24)
    still[:9] = moved[:9] = np.eye(3).ravel()
    still[11] = moved[11] = 0.5
    moved[18] = 6.0         # along x: the point goes back, towards the edge behind
    before, after = (-support_excess(support, row, 1.0)[0] for row in (still, moved))
    back = support.edges[np.argmin(support.edges[:, 0])]
    shift = com_height * 6.0 / 9.81
    com_x = support.numbers[12] - support.numbers[0]
    assert after + support.numbers[21] == pytest.approx(back[2] + com_x - shift, abs=1e-6)
    assert before > after
    assert support_excess(support, moved, 1.0)[1] == pytest.approx(
        6.0 / 9.81 - support.numbers[22], abs=1e-9)


def test_a_motion_is_as_slow_as_the_feet_need_it():
    """Narrow feet: the same way takes longer, and at every instant the margin is kept."""
    controller, state, _, _ = standing()
    support = controller.support(state)
    narrow = support._replace(edges=support.edges * [1.0, 1.0, 0.2])
    narrow.numbers[21] = 0.01
    times = []
    for ground in (support, narrow):
        reference = ReferenceGenerator(WorkspaceSettings.from_parameters({
            'reference.acceleration': 8.0, 'reference.velocity': 5.0, 'reference.jerk': 500.0}))
        reference.rest(0, BodyPose(state.position, state.rotation))
        reference.support = ground
        times.append(reference.move_to(0, BodyPose(state.position + np.array([0.03, 0.0, 0.0]),
                                                   state.rotation)))
        for t in np.linspace(0.0, times[-1], 50):
            margin, friction = support_excess(ground, reference.at(round(1e9 * t)).packed, 1.0)
            assert margin < 1e-4 and friction < 1e-4
    assert times[1] > 1.5 * times[0]


def test_a_target_without_support_is_cut_short_and_says_why():
    controller, state, _, q = standing()
    limiter = ReachLimiter(controller.model, quadruped()[1], 0.01)
    tight = controller.support(state)
    tight = tight._replace(edges=tight.edges * [1.0, 1.0, 0.1])
    tight.numbers[21] = 0.0
    far = BodyPose(state.position + np.array([0.0, 0.1, 0.0]), state.rotation)
    where = body_state([0.0, 0.0, 0.5], places=PLACES)
    search = limiter.search(where, q, far, tight)
    with pytest.raises(StopIteration) as found:
        for _ in range(100):
            next(search)
    _, part, why = found.value.value
    assert part < 0.9 and why == 'the support of the feet ends'


def test_margins_say_how_far_it_is_to_each_limit():
    controller, state, command, q = standing()
    margins = controller.margins(command, state, q)
    assert set(margins) == {'friction', 'support', 'effort'} | (
        {'joint'} if np.isfinite(controller.model.position_limits).any() else set())
    assert margins['effort'] == pytest.approx(
        1.0 - (np.abs(command.effort) / controller.model.effort_limits).max())
    assert 0.0 < margins['friction'] <= 1.0 and 0.0 < margins['support'] < 0.5


def test_a_joint_of_no_leg_at_its_limit_keeps_no_body_from_moving():
    model, feet = random_legs(3, kinds=('revolute',))       # and an arm of two joints
    s = stance_arrays(model, feet)
    pose = np.array([*np.eye(3).ravel(), 0.0, 0.0, 0.0])
    forward_kinematics(s.tree, s.q, s.still, s.still, s.base, s.bodies)
    contact_points(s.feet, s.bodies, (0.0, 0.0, 1.0), s.states)
    places = np.column_stack([s.states[:, CONTACT:CONTACT + 3], s.states[:, :9]])
    limits = np.tile([-1.0, 1.0], (model.n_joints, 1))
    assert solve_legs(s, pose, places, limits, 0.0)
    limits[model.joint_index('j3_0')] = 0.5, 1.0            # the arm is beyond its limit
    assert solve_legs(s, pose, places, limits, 0.0)
    limits[model.joint_index('j0_0')] = 0.5, 1.0            # a leg
    assert not solve_legs(s, pose, places, limits, 0.0)
