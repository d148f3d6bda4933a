# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Planar controller and pinned plant: error dynamics, energy, feet, integral term, limits."""
import numpy as np
import pinocchio as pin
import pytest
from bipeds import BIPED, ROBOT, SOLES, coordinates, held_acceleration, moving_state, twin

from legged_dynamics.exceptions import ConfigurationError, SimulationError
from legged_dynamics.reproductions.planar import (
    CROUCH,
    Biped,
    PinnedRobot,
    PlanarController,
    PlanarGains,
    PlanarState,
    PlanarTarget,
    pose_error,
    start_state,
)
from legged_dynamics.workspace.command import WorkspaceFault

STANDING = np.array([-14.16224149, 37.60662853, -50.87159179] * 2)


def crouch(plant, controller, seconds, rate=100.0, target=CROUCH):
    poses = [plant.state.pose]
    for _ in range(round(seconds * rate)):
        command = controller.update(plant.state, target, 1.0 / rate)
        plant.advance(command.torque, 1.0 / rate)
        poses.append(plant.state.pose)
    return np.array(poses)


# ---- pinned plant ----------------------------------------------------------------------------

def test_energy_is_the_work_of_the_torques_and_the_push():
    plant, rng, work = PinnedRobot(ROBOT, start_state()), np.random.default_rng(0), 0.0
    begin, push = plant.energy, np.array([20.0, -30.0, 5.0])
    for _ in range(100):
        torque, before = STANDING + 5.0 * rng.normal(size=6), plant.state
        plant.advance(torque, 5e-3, push)
        after = plant.state
        work += torque @ (after.position - before.position) + push @ (after.pose - before.pose)
    assert abs(work) > 10.0
    assert plant.energy - begin == pytest.approx(work, abs=1e-8)


def test_energy_is_pinocchios():
    model = twin()
    for seed in range(4):
        state = moving_state(seed)
        data, (q, v) = model.createData(), coordinates(state)
        wanted = (pin.computeKineticEnergy(model, data, q, v)
                  + pin.computePotentialEnergy(model, data, q))
        assert PinnedRobot(ROBOT, state).energy == pytest.approx(wanted, rel=1e-12)


def test_short_step_accelerates_as_pinocchio_with_the_soles_held():
    h = 1e-5
    for seed in range(4):
        state = moving_state(seed, rate=0.5)
        torque = STANDING + 20.0 * np.random.default_rng(seed).normal(size=6)
        plant = PinnedRobot(ROBOT, state)
        plant.advance(torque, h)
        rate = (plant.state.twist - state.twist) / h
        np.testing.assert_allclose(rate, held_acceleration(state, torque), rtol=1e-3, atol=1e-3)


def test_feet_stay_where_they_are():
    model = twin()
    data = model.createData()
    plant = PinnedRobot(ROBOT, start_state())

    def soles():
        q, v = coordinates(plant.state)
        pin.forwardKinematics(model, data, q, v)
        pin.updateFramePlacements(model, data)
        ids = [model.getFrameId(sole) for sole in SOLES]
        return np.array([[*data.oMf[i].translation, *pin.log3(data.oMf[i].rotation),
                          *pin.getFrameVelocity(model, data, i).vector] for i in ids])
    before = soles()
    np.testing.assert_allclose(before[:, [2, 3, 4, 5]], 0.0, atol=1e-12)
    crouch(plant, PlanarController(ROBOT), 3.0)
    np.testing.assert_allclose(soles(), before, atol=1e-12)


def test_step_errs_with_the_fourth_power():
    def end(timestep):
        plant = PinnedRobot(ROBOT, moving_state(1), timestep)
        plant.advance(STANDING, 0.08)
        return plant.state.pose
    exact = end(1e-4)
    coarse, fine = (np.abs(end(h) - exact).max() for h in (0.02, 0.01))
    assert 10.0 < coarse / fine < 24.0


def test_leg_that_is_too_short_is_said():
    plant = PinnedRobot(ROBOT, start_state())
    with pytest.raises(SimulationError, match='stretched beyond its length'):
        plant.advance(np.zeros(6), 1.0, np.array([0.0, 5000.0, 0.0]))


# ---- controller ------------------------------------------------------------------------------

def test_pinned_crouch_ends_at_the_papers_target():
    error = crouch(PinnedRobot(ROBOT, start_state()), PlanarController(ROBOT), 9.99)[-1]
    error = (error - CROUCH.pose) * [100.0, 100.0, 180.0 / np.pi]
    assert np.abs(error).max() < 2e-4       # cm, cm, deg


@pytest.mark.parametrize('big_base', [None, 1e6])
def test_errors_obey_the_wanted_equation(big_base):
    # Without turning the error dynamics are exactly linear: e'' + Kv e' + Kp e = 0.
    gains = PlanarGains(np.array([9.0, 6.0, 5.0]), np.array([6.5, 4.0, 3.0]))
    target = PlanarTarget([*CROUCH.pose[:2], start_state().pose[2]])
    controller = PlanarController(ROBOT, gains, big_base=big_base)
    poses = crouch(PinnedRobot(ROBOT, start_state()), controller, 1.0, 1000.0, target)
    time = np.arange(len(poses)) * 1e-3
    c, n = np.cos(target.pose[2]), np.sin(target.pose[2])
    errors = (poses - target.pose) @ np.array([[c, -n, 0.0], [n, c, 0.0], [0.0, 0.0, 1.0]]).T
    for k in range(2):
        s, t = np.roots([1.0, gains.velocity[k], gains.position[k]]).astype(complex)
        ideal = errors[0, k] * np.real((t * np.exp(s * time) - s * np.exp(t * time)) / (t - s))
        # Of 0.1 m, for the held torque is on average that of half a millisecond ago.
        np.testing.assert_allclose(errors[:, k], ideal, atol=3e-4)
    np.testing.assert_allclose(errors[:, 2], 0.0, atol=5e-4)


def test_error_stands_in_the_bodys_axes_and_goes_the_short_way_round():
    state = PlanarState([1.0, 2.0, np.pi - 0.1], np.zeros(3), np.zeros(6), np.zeros(6))
    error = pose_error(state, PlanarTarget([0.0, 2.0, -np.pi + 0.2]))
    c, s = np.cos(state.pose[2]), np.sin(state.pose[2])
    np.testing.assert_allclose(error, [c, s, -0.3], atol=1e-12)


def test_shares_change_torques_and_not_the_motion():
    def end(shares):
        return crouch(PinnedRobot(ROBOT, start_state()), PlanarController(ROBOT, shares=shares),
                      1.0)[-1]
    np.testing.assert_allclose(end((0.5, 0.5)), end((0.9, 0.1)), atol=1e-9)


def test_wrong_mass_lowers_the_body_and_the_integral_term_raises_it_again():
    heavy = Biped(body_scale=1.02).planar()
    lowered = crouch(PinnedRobot(heavy, start_state()), PlanarController(ROBOT), 9.99)[-1]
    assert -0.06 < lowered[1] - CROUCH.pose[1] < -0.04
    for scale in (0.98, 1.02):
        plant = PinnedRobot(Biped(body_scale=scale).planar(), start_state())
        controller = PlanarController(ROBOT, PlanarGains(integral=np.ones(3)))
        height = crouch(plant, controller, 20.0)[-1][1]
        assert abs(height - CROUCH.pose[1]) < 1e-4


def test_integral_is_forgotten_by_reset_and_held_within_the_windup():
    # Upright, so that the body's axes are the inertial ones.
    state = PlanarState([0.0, 1.05, 0.0], np.zeros(3), start_state().position, np.zeros(6))
    target = PlanarTarget([0.5, 0.5, 0.4])
    controller = PlanarController(ROBOT, PlanarGains(integral=np.ones(3)), windup=0.02)
    first = controller.update(state, target, 0.01)
    for _ in range(100):
        last = controller.update(state, target, 0.01)
    plain = PlanarController(ROBOT).update(state, target, 0.01)
    np.testing.assert_allclose(last.force - plain.force,
                               last.dynamics.inertia @ [0.02, -0.02, 0.02], rtol=1e-9)
    controller.reset()
    np.testing.assert_array_equal(controller.update(state, target, 0.01).force, first.force)


def test_error_is_accumulated_in_inertial_axes():
    state = PlanarState([0.0, 1.05, -0.3], np.zeros(3), start_state().position, np.zeros(6))
    controller = PlanarController(ROBOT, PlanarGains(integral=np.ones(3)))
    for _ in range(10):
        last = controller.update(state, CROUCH, 0.01)
    plain = PlanarController(ROBOT).update(state, CROUCH, 0.01)
    x, z, angle = 0.1 * (state.pose - CROUCH.pose)
    c, s = np.cos(-0.3), np.sin(-0.3)
    np.testing.assert_allclose(plain.force - last.force, last.dynamics.inertia @ [
        c * x - s * z, s * x + c * z, angle], rtol=1e-9)


@pytest.mark.parametrize(('options', 'message'), [
    ({'position': [1.0, -1.0, 1.0]}, 'position: expected three gains of at least 0'),
    ({'velocity': [1.0, 1.0]}, 'velocity: expected three gains'),
    ({'integral': [0.0, 8.0, 0.0]}, 'integral: expected gains below'),
])
def test_gains_that_cannot_work_are_refused(options, message):
    with pytest.raises(ConfigurationError, match=message):
        PlanarGains(**{name: np.array(value) for name, value in options.items()})


def test_start_stands_on_flat_soles_at_the_papers_height():
    model = twin()
    data = model.createData()
    pin.framesForwardKinematics(model, data, coordinates(start_state())[0])
    for sole in SOLES:
        placement = data.oMf[model.getFrameId(sole)]
        assert placement.translation[2] == pytest.approx(0.0, abs=1e-11)
        np.testing.assert_allclose(placement.rotation, np.eye(3), atol=1e-12)
    assert BIPED.height == pytest.approx(1.70483, abs=1e-5)


@pytest.mark.parametrize('knee', [0.0, 1e-9, -1e-7])
def test_a_straight_knee_gives_torques_that_carry_the_body_and_is_said(knee):
    state = PlanarState([0.0, 1.2, 0.0], np.zeros(3), [0.1, knee, -0.1] * 2, np.zeros(6))
    command = PlanarController(ROBOT).update(state, PlanarTarget(state.pose), 0.01)
    assert command.faults is WorkspaceFault.SINGULAR
    assert np.isfinite(command.torque).all()
    # At its target the force is the weight of the body, and legs bear it between them.
    np.testing.assert_allclose(command.force, [0.0, 9.81 * ROBOT.mass[0], 0.0], atol=1e-9)
    bent = PlanarState([0.0, 1.2, 0.0], np.zeros(3), [0.4, -0.8, 0.4] * 2, np.zeros(6))
    assert not PlanarController(ROBOT).update(bent, PlanarTarget(bent.pose), 0.01).faults
