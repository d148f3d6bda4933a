# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The planar recursion, stage by stage, against recorded cases, Pinocchio and plain mechanics."""
import numpy as np
import pinocchio as pin
import pytest
from bipeds import (
    BIPED,
    LINKS,
    PLANE,
    ROBOT,
    TO_PAPER,
    coordinates,
    held_acceleration,
    moving_state,
    twin,
)
from robots import golden
from tolerances import ALGEBRA, FINITE_DIFFERENCE, GOLDEN

from legged_dynamics.exceptions import ConfigurationError, MeasurementError, ModelError
from legged_dynamics.model import RobotModel
from legged_dynamics.reproductions.planar import (
    BIG_BASE,
    PlanarRobot,
    PlanarState,
    biped_urdf,
    force_propagation,
    start_state,
    velocity_propagation,
    workspace_dynamics,
    workspace_dynamics_big_base,
)

CASES = golden('002_workspace_dynamics.json')['cases']
STATES = range(6)


def close(actual, wanted, tolerance=GOLDEN):
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(actual, wanted, atol=tolerance * np.abs(wanted).max())


def recorded_state(case):
    return PlanarState([*case['x'], case['theta1']], case['V1_body'], case['theta'],
                       case['thetadot'])


@pytest.mark.parametrize('case', CASES, ids=range(len(CASES)))
def test_recorded_cases(case):
    motion = velocity_propagation(ROBOT, recorded_state(case))
    exact = workspace_dynamics(ROBOT, motion)
    close(exact.inertia, case['Lambda_exact'])
    close(exact.bias, case['mu_exact'])
    big = workspace_dynamics_big_base(ROBOT, motion)
    close(big.inertia, case['P1_bigbase_1e6'])
    close(big.bias, case['z1_bigbase_1e6'])
    torque, _ = force_propagation(ROBOT, motion, np.array(case['F']), (0.5, 0.5))
    close(torque, case['tau_from_F_half_split'])


# ---- stage 1 ---------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', STATES)
def test_link_velocities_are_those_of_the_links_centres_of_mass(seed):
    state = moving_state(seed, standing=False)
    motion = velocity_propagation(ROBOT, state)
    model, described = twin(), RobotModel.from_urdf(biped_urdf(BIPED))
    data = model.createData()
    pin.forwardKinematics(model, data, *coordinates(state))
    for index, link in enumerate(LINKS):
        velocity = pin.getFrameVelocity(model, data, model.getFrameId(link), pin.LOCAL)
        at_center = pin.SE3(np.eye(3), described.links[link].com).actInv(velocity).vector
        close(motion.twist[index], TO_PAPER * at_center[PLANE], ALGEBRA)


@pytest.mark.parametrize('seed', STATES)
def test_drift_is_the_rate_of_the_adjoint_times_the_inboard_twist(seed):
    state, h = moving_state(seed, standing=False), 1e-6

    def adjoint(step):
        return velocity_propagation(ROBOT, PlanarState(
            state.pose, state.twist, state.position + step * state.velocity,
            state.velocity)).adjoint
    motion = velocity_propagation(ROBOT, state)
    rate = (adjoint(h) - adjoint(-h)) / (2.0 * h)
    for link in range(1, ROBOT.n_links):
        close(motion.drift[link], rate[link] @ motion.twist[ROBOT.parent[link]],
              FINITE_DIFFERENCE)


def test_load_of_a_link_is_its_weight_and_the_turning_of_its_axes():
    state = moving_state(3, standing=False)
    motion = velocity_propagation(ROBOT, state)
    for link in range(ROBOT.n_links):
        c, s = np.cos(motion.angle[link]), np.sin(motion.angle[link])
        R = np.array([[c, s], [-s, c]])
        x, z, w = motion.twist[link]
        # In the link's axes a constant velocity turns by -w: d/dt (R v) = R (vdot + w (z, -x)).
        wanted = ROBOT.mass[link] * (R.T @ [0.0, 9.81] + w * np.array([z, -x]))
        close(motion.load[link], [*wanted, 0.0], ALGEBRA)


# ---- stage 2 ---------------------------------------------------------------------------------

@pytest.mark.parametrize('seed', STATES)
def test_torques_accelerate_the_body_as_in_pinocchio_with_the_soles_held(seed):
    state = moving_state(seed)
    torque = 40.0 * np.random.default_rng(seed).normal(size=6)
    dynamics = workspace_dynamics(ROBOT, velocity_propagation(ROBOT, state))
    acceleration = np.linalg.solve(dynamics.inertia,
                                   dynamics.rates[1:].T @ torque - dynamics.bias)
    close(acceleration, held_acceleration(state, torque), GOLDEN)


@pytest.mark.parametrize('seed', STATES)
def test_legs_add_inertia_but_none_to_turning_about_the_hips(seed):
    inertia = workspace_dynamics(ROBOT, velocity_propagation(ROBOT, moving_state(seed))).inertia
    close(inertia, inertia.T, ALGEBRA)
    legs = inertia - np.diag([ROBOT.mass[0], ROBOT.mass[0], ROBOT.inertia[0]])
    # The hips, at (0, -d), stand still at 1 rad/s when the centre moves by d along x.
    about_hips = np.array([BIPED.hip_to_center, 0.0, 1.0])
    assert np.abs(legs @ about_hips).max() < 1e-12
    assert np.linalg.eigvalsh(legs)[1] > 5.0


@pytest.mark.parametrize(('size', 'error'), [(1e1, 1e-3), (1e3, 1e-5), (1e6, 1e-8)])
def test_big_base_errs_by_its_size(size, error):
    for seed in STATES:
        motion = velocity_propagation(ROBOT, moving_state(seed))
        exact = workspace_dynamics(ROBOT, motion)
        big = workspace_dynamics_big_base(ROBOT, motion, size)
        off = np.linalg.norm(big.inertia - exact.inertia) / np.linalg.norm(exact.inertia)
        assert 0.1 * error < off < error
        assert np.abs(big.bias - exact.bias).max() < 1e3 * error


def test_the_papers_start_is_within_3e_9_at_the_papers_size():
    motion = velocity_propagation(ROBOT, start_state())
    exact = workspace_dynamics(ROBOT, motion)
    big = workspace_dynamics_big_base(ROBOT, motion, BIG_BASE)
    off = np.linalg.norm(big.inertia - exact.inertia) / np.linalg.norm(exact.inertia)
    assert off < 3e-9


def test_straight_knee_shows_in_the_condition():
    def condition(knee):
        state = PlanarState([0, 1.2, 0], np.zeros(3), [0.2, knee, 0.1, 0.7, -1.2, 0.5],
                            np.zeros(6))
        return workspace_dynamics(ROBOT, velocity_propagation(ROBOT, state)).condition
    bent, nearly, almost = (condition(np.radians(-knee)) for knee in (70.0, 1.0, 0.1))
    assert bent < 20.0
    assert nearly > 300.0
    assert almost == pytest.approx(10.0 * nearly, rel=0.05)
    assert not condition(0.0) < 1e12


# ---- stage 4 ---------------------------------------------------------------------------------

@pytest.mark.parametrize('shares', [(0.5, 0.5), (0.7, 0.3), (1.0, 0.0)])
@pytest.mark.parametrize('seed', STATES)
def test_torques_of_each_leg_do_the_work_of_its_share(seed, shares):
    state = moving_state(seed)
    motion = velocity_propagation(ROBOT, state)
    force = np.random.default_rng(seed).normal(size=3) * [50.0, 500.0, 30.0]
    torque, wrenches = force_propagation(ROBOT, motion, force, shares)
    for leg, share in enumerate(shares):
        joints = slice(3 * leg, 3 * leg + 3)
        power = torque[joints] @ state.velocity[joints]
        assert power == pytest.approx(share * force @ state.twist, abs=1e-10)
    # What the legs press on the ground is what they carry: forces in inertial axes add up.
    total = np.zeros(2)
    for foot in ROBOT.feet:
        c, s = np.cos(motion.angle[foot]), np.sin(motion.angle[foot])
        total -= np.array([[c, s], [-s, c]]) @ wrenches[foot, :2]
    c, s = np.cos(state.pose[2]), np.sin(state.pose[2])
    close(total, np.array([[c, s], [-s, c]]) @ force[:2], ALGEBRA)


def test_wrench_on_the_body_comes_out_of_the_torques_again():
    motion = velocity_propagation(ROBOT, moving_state(2))
    force = np.array([30.0, 600.0, -20.0])
    torque, _ = force_propagation(ROBOT, motion, force, (0.5, 0.5))
    close(workspace_dynamics(ROBOT, motion).rates[1:].T @ torque, force, ALGEBRA)


# ---- what is refused -------------------------------------------------------------------------

def test_wrong_input_is_refused_with_what_was_expected():
    state = moving_state(0)
    with pytest.raises(MeasurementError, match='expected 6 joint angles, got 5'):
        velocity_propagation(ROBOT, PlanarState([0, 1, 0], np.zeros(3), np.zeros(5),
                                                np.zeros(5)))
    with pytest.raises(MeasurementError, match='twist: expected 3 finite values'):
        PlanarState([0, 1, 0], [0, np.nan, 0], np.zeros(6), np.zeros(6))
    with pytest.raises(MeasurementError, match='velocity: expected 6 finite values'):
        PlanarState([0, 1, 0], np.zeros(3), np.zeros(6), np.zeros(5))
    motion = velocity_propagation(ROBOT, state)
    with pytest.raises(ConfigurationError, match='2 shares with a sum of one'):
        force_propagation(ROBOT, motion, np.zeros(3), (0.5, 0.6))
    with pytest.raises(ConfigurationError, match='size of the base above zero'):
        workspace_dynamics_big_base(ROBOT, motion, 0.0)


@pytest.mark.parametrize(('parent', 'mass', 'message'), [
    ((-1, 0, 1, 2, 0, 4, 4), np.ones(7), 'legs of 3 joints each that share no link'),
    ((-1, 0, 1, 2, 0, 4), np.ones(6), 'legs of 3 joints'),
    ((0, 0, 1, 2), np.ones(4), 'expected the body first'),
    ((-1, 0, 1, 2), np.zeros(4), 'a mass and an inertia above zero'),
    ((-1,), np.ones(1), 'legs of 3 joints'),
])
def test_robots_that_the_recursion_cannot_do_are_refused(parent, mass, message):
    with pytest.raises(ModelError, match=message):
        PlanarRobot(parent, mass, np.ones(len(mass)), np.zeros((len(mass), 2)),
                    np.ones((len(mass), 2)))
