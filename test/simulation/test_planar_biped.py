# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The biped on MuJoCo contact: it stands, rebounds as told, and is what the planar plant is."""
import dataclasses

import mujoco
import numpy as np
import pytest
from simulated_recordings import ROBOTS

from legged_dynamics.exceptions import SimulationError
from legged_dynamics.reproductions.planar import Biped, PinnedRobot, start_state
from legged_dynamics.reproductions.planar_biped_plant import PlanarBiped, _planar_state
from legged_dynamics.simulation import Plant, SimulatedRobot
from legged_dynamics.simulation.plant import build_world

BRICK = """
<robot name="brick"><link name="base">
  <inertial><mass value="10"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
  <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link></robot>"""
STANDING = np.array([-14.16224149, 37.60662853, -50.87159179] * 2)


@pytest.mark.parametrize('restitution', [0.05, 0.1, 0.1353, 0.3, 0.5])
def test_brick_rebounds_with_the_speed_asked_for(restitution):
    none = np.zeros(0)
    model = build_world(BRICK, base_link='base', imu_link='base', joints=(), feet=('base',),
                        armature=none, damping=none, friction=none, timestep=2e-4,
                        contact_time=5e-3, restitution=restitution)
    data, speed = mujoco.MjData(model), []
    data.qpos[2] = 0.05 + 0.02
    while data.time < 0.12:
        mujoco.mj_step(model, data)
        speed.append(data.qvel[2])
    # The step in which the contact begins and the softness of its onset take their part.
    assert max(speed) / -min(speed) == pytest.approx(restitution, rel=0.12)


def test_links_without_inertia_are_massless_in_the_world():
    robot = SimulatedRobot.from_files(ROBOTS / 'biped.yaml', noise=False)
    assert robot.model.body('L_SOLE').mass[0] == 0.0
    assert robot.model.body_mass.sum() == pytest.approx(72.5, rel=1e-10)


def test_starts_in_the_papers_pose_on_level_soles():
    plant = PlanarBiped(standing=0.0)
    state, start = plant.state, start_state()
    np.testing.assert_allclose(state.pose, start.pose, atol=1e-10)
    np.testing.assert_allclose(state.position, start.position, atol=1e-10)
    assert PlanarBiped(standing=0.0, drop_height=0.01).state.pose[1] == pytest.approx(1.06)


def test_stands_by_itself_and_takes_over_where_it_is_left():
    robot = SimulatedRobot.from_files(ROBOTS / 'biped.yaml', noise=False)
    assert robot.behaviour == 'stand'
    height = robot.truth().base_position[2]
    for _ in range(1000):
        robot.step()
    truth = robot.truth()
    assert not robot.fallen
    assert truth.base_position[2] == pytest.approx(height, abs=1e-3)
    assert truth.feet.wrench[:, 2].sum() == pytest.approx(72.5 * 9.81, rel=1e-3)
    assert truth.feet.stray == 0
    robot.command_effort(truth.effort + np.array([5.0, 0.0, 0.0, 5.0, 0.0, 0.0]))
    for _ in range(60):
        robot.step()
    assert robot.command_timeouts == 1
    left = robot.truth().position
    for _ in range(500):
        robot.step()
    assert not robot.fallen
    np.testing.assert_allclose(robot.truth().position, left, atol=0.05)
    assert np.abs(robot.truth().velocity).max() < 0.01


def test_short_motion_is_that_of_the_pinned_plant():
    contact = PlanarBiped()
    pinned = PinnedRobot(Biped().planar(), contact.state)
    rng = np.random.default_rng(0)
    for _ in range(5):
        torque = STANDING + 4.0 * np.tile(rng.normal(size=3), 2)
        for plant in (contact, pinned):
            plant.advance(torque, 0.02, np.array([15.0, -20.0, 3.0]))
    there, here = contact.state, pinned.state
    moved = np.abs(here.pose - start_state().pose)
    assert moved.max() > 5e-3
    np.testing.assert_allclose(there.pose, here.pose, atol=5e-4)
    np.testing.assert_allclose(there.twist, here.twist, atol=0.01)


@pytest.mark.parametrize(('push', 'coordinate', 'sign'), [
    ((100.0, 0.0, 0.0), 0, 1.0), ((0.0, -100.0, 0.0), 1, -1.0), ((0.0, 0.0, 50.0), 2, 1.0)])
def test_push_goes_where_the_papers_axes_say(push, coordinate, sign):
    pushed, left = PlanarBiped(), PlanarBiped()
    pushed.advance(STANDING, 0.05, np.array(push))
    left.advance(STANDING, 0.05)
    change = pushed.state.pose - left.state.pose
    assert sign * change[coordinate] > 1e-4


def test_planar_state_turns_the_robots_axes_into_the_papers():
    c, s = np.cos(0.2), np.sin(0.2)
    R_WB = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])       # 0.2 rad, nose down
    state = _planar_state(np.array([1.0, 0.0, 2.0]), R_WB,
                          np.array([3.0, 0.0, 4.0, 0.0, 5.0, 0.0]), np.arange(6), np.ones(6))
    np.testing.assert_allclose(state.pose, [-1.0, 2.0, -0.2])
    np.testing.assert_allclose(state.twist, [-3.0, 4.0, -5.0])


def test_noisy_biped_is_seen_by_its_odometry_near_where_it_is():
    plant = PlanarBiped(noisy=True)
    assert plant.state.pose[0] == pytest.approx(plant.true_state.pose[0], abs=1e-9)
    plant.advance(STANDING, 0.05)
    seen, true = plant.state, plant.true_state
    assert not np.array_equal(seen.pose, true.pose)
    np.testing.assert_allclose(seen.pose, true.pose, atol=5e-3)
    np.testing.assert_allclose(seen.twist, true.twist, atol=0.1)


def test_parts_of_a_millisecond_are_refused():
    with pytest.raises(SimulationError, match='a whole number of 1 ms'):
        PlanarBiped().advance(STANDING, 1.5e-3)


def test_flat_feet_are_recognised_by_the_configuration():
    plant = Plant.from_files(ROBOTS / 'biped.yaml')
    assert plant.flat_feet
    assert not Plant.from_files(ROBOTS / 'solo_class.yaml').flat_feet
    assert dataclasses.replace(plant, drop_height=0.3).drop_height == 0.3
