# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The climbing robot on MuJoCo against the planar equations and their own integrator."""
import math
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from climbers import WEIGHT, proposed, random_climber
from wall_climbs import YAML, placed, plant_of

from legged_dynamics.exceptions import ConfigurationError, SimulationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.reproductions.climbing.twin import ClimbingTwin
from legged_dynamics.schema import read_parameter_file
from legged_dynamics.simulation import (
    ClimbingPlant,
    ClimbingRobot,
    SimulatedRobot,
    make_plant,
    make_robot,
)
from legged_dynamics.simulation.climbing_plant import PadFault
from legged_dynamics.stickybot import (
    Adhesion,
    ClimbingSimulation,
    StickybotCommand,
    accelerations,
    climb,
)
from legged_dynamics.stickybot.model.joints import urdf

pytestmark = pytest.mark.slow

CASES = [(0, {}), (1, {'detached': (1,)}), (2, {'links': (1, 1), 'inclination': 0.3}),
         (3, {'links': (4, 2, 1), 'detached': (0,), 'inclination': 2.4}), (4, {'damped': False})]
# MuJoCo's stiffest constraint takes away all but 1e-4 of an acceleration.
SOFTNESS = 2e-4


def full_mass(robot):
    M = np.zeros((robot.model.nv, robot.model.nv))
    mujoco.mj_fullM(robot.model, robot.data, M)
    return M


@pytest.mark.parametrize('seed, options', CASES)
def test_accelerations_and_reactions_are_those_of_the_planar_equations(seed, options):
    model, state, rest = random_climber(seed, **options)
    robot, expected = placed(model, state, rest), accelerations(model, state, rest)
    found = robot.state
    for name in ('pose', 'velocity', 'foot', 'foot_velocity', 'joint', 'joint_velocity'):
        np.testing.assert_allclose(getattr(found, name), getattr(state, name), atol=1e-14)
    data = robot.data
    np.testing.assert_allclose(data.qacc[:3], expected.body, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(robot.feet.reactions()[:, :2], expected.reaction,
                               atol=SOFTNESS * np.abs(expected.reaction).max())
    # With MuJoCo's mass matrix, forces and Jacobians but rigid constraints, all agrees.
    J = np.vstack([robot.feet.foot_jacobian(i)[:2] for i in np.flatnonzero(state.attached)])
    h, qpos = 1e-6, data.qpos.copy()
    slope = np.zeros_like(J)
    for sign in (1, -1):
        data.qpos[:] = qpos + sign * h * data.qvel
        mujoco.mj_kinematics(robot.model, data)
        mujoco.mj_comPos(robot.model, data)
        slope += sign / (2 * h) * np.vstack([robot.feet.foot_jacobian(i)[:2]
                                             for i in np.flatnonzero(state.attached)])
    data.qpos[:] = qpos
    mujoco.mj_forward(robot.model, data)
    smooth, M = data.qfrc_smooth, full_mass(robot)
    force = np.linalg.solve(J @ np.linalg.solve(M, J.T),
                            -slope @ data.qvel - J @ np.linalg.solve(M, smooth))
    qacc = np.linalg.solve(M, smooth + J.T @ force)
    np.testing.assert_allclose(force.reshape(-1, 2), expected.reaction[state.attached],
                               rtol=1e-6, atol=1e-7)
    rates = robot.plant.limbs.link_rates(qacc[[robot.model.joint(name).dofadr[0]
                                               for name in robot.plant.joints]], qacc[2])
    np.testing.assert_allclose(rates, expected.joint, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize('seed', [11, 12])
def test_touchdown_is_plastic_as_in_the_planar_equations(seed):
    model, state, rest = random_climber(seed, detached=(2,), damped=False)
    robot = placed(model, state, rest)
    simulation = ClimbingSimulation(model, rest, state)
    simulation.step(StickybotCommand(0, rest.hip, np.ones(4, bool), rest.joint), 1e-12)
    M, before = full_mass(robot), robot.data.qvel.copy()
    robot.feet.hold(2)
    after = robot.data.qvel
    np.testing.assert_allclose(robot.state.joint_velocity, simulation.state.joint_velocity,
                               rtol=1e-6, atol=1e-6)
    assert np.abs(robot.feet.foot_jacobian(2) @ after).max() < 1e-12
    assert 0.5 * after @ M @ after < 0.5 * before @ M @ before - 1e-5


@pytest.fixture(scope='module')
def climbs():
    """Return climbs on MuJoCo and on the own integrator, by kind of reduction."""
    found = {}
    for reduction in ('off', 'full'):
        settings = proposed(control__speed=0.04, control__reduction=reduction)
        args = settings.model(), settings.gait(), settings.control()
        found[reduction] = [climb(*args, seconds=3.0, trace=True, climber=climber)
                            for climber in (ClimbingTwin(settings), None)]
    return found


def stride(trace):
    """Return the reactions of the last period from a touchdown of the first foot on."""
    on, last = trace.attached[-500:, 0], trace.reaction[-500:]
    return np.roll(last, -int(np.argmax(on & ~np.roll(on, 1))), axis=0)


@pytest.mark.parametrize('reduction', ['off', 'full'])
def test_climbs_as_on_the_own_integrator(climbs, reduction):
    mujoco, own = climbs[reduction]
    assert mujoco.speed == pytest.approx(0.04, rel=0.01)
    assert mujoco.speed == pytest.approx(own.speed, rel=2e-3)
    assert mujoco.peak == pytest.approx(own.peak, rel=0.02)
    # Over the last period, when the different beginnings are forgotten.
    errors = stride(mujoco.trace) - stride(own.trace)
    assert np.sqrt(np.mean(errors ** 2)) < 0.03
    assert not mujoco.failures


def test_reduction_lowers_the_peak_on_mujoco_too(climbs):
    assert climbs['full'][0].peak < 0.70 * climbs['off'][0].peak


def test_pads_that_fail_the_plain_gait_carry_the_reduced_one():
    weak = {'adhesion__kind': 'disc', 'adhesion__shear': 2.0, 'adhesion__normal': 3.0,
            'adhesion__friction': 0.0, 'control__speed': 0.04}
    failures = []
    for reduction in ('off', 'full'):
        settings = proposed(control__reduction=reduction, **weak)
        done = climb(settings.model(), settings.gait(), settings.control(), settings.pads(),
                     seconds=2.0, climber=ClimbingTwin(settings))
        failures.append(done.failures)
    assert failures[0] > 4
    assert failures[1] == 0
    assert done.speed == pytest.approx(0.04, rel=0.02)


@pytest.mark.parametrize('inclination', [0.0, 0.7, math.pi / 2, 2.5])
def test_sensors_and_truth_of_a_hanging_robot(inclination):
    model = proposed(stickybot__inclination=inclination).model()
    robot = ClimbingRobot(plant_of(model))
    for _ in range(250):
        robot.step()
    sample, truth = robot.read(), robot.truth()
    up = np.array([0.0, math.sin(inclination), math.cos(inclination)])
    np.testing.assert_allclose(sample.linear_acceleration, 9.81 * up, atol=0.02)
    x, y, z, w = sample.orientation
    seen = [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    np.testing.assert_allclose(seen, up, atol=1e-3)
    assert truth.feet.contact.all()
    # Left feet look along the wall's x axis, right feet against it.
    force = truth.feet.wrench[:, :2] * np.array([[1], [-1], [1], [-1]])
    np.testing.assert_allclose(force.sum(axis=0), [0.0, WEIGHT * math.sin(inclination)],
                               atol=0.02)
    c, s = math.cos(inclination), math.sin(inclination)
    along, off = np.array([0.0, c, s]), np.array([0.0, -s, c])
    np.testing.assert_allclose(truth.base_position, robot.climbed * along + 0.02 * off, atol=1e-4)
    np.testing.assert_allclose(truth.feet.point[:, 0], [-0.13, 0.13, -0.13, 0.13], atol=1e-6)


def test_overloaded_pads_let_go_until_they_are_told_twice():
    model = proposed().model()
    weak, strong = Adhesion(shear=0.5), Adhesion(shear=5.0)
    robot = ClimbingRobot(plant_of(model, pads=(weak, strong, strong, strong)))
    for _ in range(100):
        robot.step()
    notes = robot.take_notes()
    assert len(notes) == 1
    assert 'foot left_fore let go: its shear force left' in notes[0]
    assert robot.feet.attached.tolist() == [False, True, True, True]
    for hold in ([1, 1, 1, 1], [0, 1, 1, 1]):
        robot.command_effort(np.zeros(12))
        robot.command_grips(hold)
        robot.step()
        assert not robot.feet.attached[0]
    robot.command_grips([1, 1, 1, 1])
    robot.step()
    assert robot.feet.attached[0]
    peeling = ClimbingRobot(plant_of(model, pads=(Adhesion(normal=0.01),) * 4))
    for _ in range(100):
        peeling.step()
    assert 'was pulled off the wall harder than' in peeling.take_notes()[0]


def test_an_overhang_is_hung_from_by_loaded_pads():
    # A gecko's pad resists a pull only under shear, which relaxed springs do not give yet.
    settings = proposed(adhesion__kind='directional', stickybot__inclination=math.radians(100.0))
    robot = ClimbingRobot(plant_of(settings.model(), pads=settings.pads()))
    for _ in range(200):
        robot.step()
    assert robot.feet.attached.all()


@pytest.mark.parametrize('when', [{'time': 0.1}, {'distance': 0.01}])
def test_a_pad_fails_once_when_it_is_told_to(when):
    model = proposed().model()
    robot = ClimbingRobot(plant_of(model, fault=PadFault('right_hind_foot', **when)))
    notes = []
    for _ in range(100):
        robot.step()
        notes += robot.take_notes()
        if 'distance' in when and robot.time > 0.08:
            robot.data.qpos[1] = 0.02
    assert len(notes) == 1
    assert 'right_hind' in notes[0]
    assert float(notes[0].split()[0]) == pytest.approx(0.1 if 'time' in when else 0.082, abs=3e-3)
    assert robot.feet.attached.tolist() == [True, True, True, False]
    for hold in ([1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]):
        robot.command_effort(np.zeros(12))
        robot.command_grips(hold)
        robot.step()
    assert robot.feet.attached.all()
    assert not robot.take_notes()


def test_without_commands_motors_rest_and_feet_hold():
    robot = ClimbingRobot(plant_of(proposed().model()))
    robot.command_effort(np.full(12, 0.1))
    robot.command_grips([1, 0, 0, 1])
    robot.step()
    assert robot.feet.attached.tolist() == [True, False, False, True]
    np.testing.assert_array_equal(robot.read().effort, 0.1)
    for _ in range(52):
        robot.step()
    assert robot.command_timeouts == 1
    assert robot.feet.attached.all()
    np.testing.assert_array_equal(robot.read().effort, 0.0)
    assert not robot.fallen
    robot.command_effort(np.zeros(12))
    robot.command_grips(np.zeros(4))
    robot.step()
    assert robot.fallen


def test_bad_commands_are_refused():
    robot = ClimbingRobot(plant_of(proposed().model()))
    with pytest.raises(SimulationError, match=r'expected 4 finite values \(one per foot, left_fo'):
        robot.command_grips([1, 1, 1])
    with pytest.raises(SimulationError, match='expected 12 efforts'):
        robot.command_effort([0.0])
    walker = SimulatedRobot.from_files(YAML.with_name('solo_class.yaml'))
    with pytest.raises(SimulationError, match='the feet of solo_class do not grip'):
        walker.command_grips([1, 1, 1, 1])


def test_shipped_description_is_that_of_the_parameters():
    plant = ClimbingPlant.from_files(YAML)
    text = YAML.with_suffix('.urdf').read_text()
    made = urdf(plant.climber).splitlines()
    assert [line for line in text.splitlines() if line in made] == made
    model = RobotConfig.from_yaml(YAML).apply_to(RobotModel.from_urdf(text))
    assert model.warnings == ()
    assert model.joint_names == plant.joints
    np.testing.assert_array_equal(plant.effort_limits, [20.0, 20.0, 2.5] * 4)
    assert plant.imu_link == 'imu_link'


def test_kind_of_robot_is_chosen_by_its_parameters():
    values = read_parameter_file(YAML)
    assert isinstance(make_robot(make_plant(values)), ClimbingRobot)
    walker = YAML.with_name('solo_class')
    plant = make_plant(read_parameter_file(walker.with_suffix('.yaml')),
                       walker.with_suffix('.urdf').read_text())
    robot = make_robot(plant, start_ns=5)
    assert isinstance(robot, SimulatedRobot)
    robot.delay(7)
    assert robot.stamp_ns == 12
    with pytest.raises(ConfigurationError, match='robot_description: expected the URDF'):
        make_plant(read_parameter_file(walker.with_suffix('.yaml')))
    with pytest.raises(ConfigurationError, match='one of walker, climber'):
        make_plant({**values, 'simulation.kind': 'swimmer'})


def test_parameters_that_do_not_fit_each_other_are_told():
    values = read_parameter_file(YAML)
    with pytest.raises(ConfigurationError, match='robot.joints: expected those of the'):
        ClimbingPlant.from_parameters({**values, 'stickybot.n_limbs': 6})
    with pytest.raises(ConfigurationError, match=r'robot_description: .* got 0.370 kg'):
        ClimbingPlant.from_parameters({**values, 'stickybot.body_mass': 0.5},
                                      YAML.with_suffix('.urdf').read_text())
    with pytest.raises(ConfigurationError, match='fault.foot: expected one of left_fore_foot'):
        ClimbingPlant.from_parameters({**values, 'simulation.fault.foot': 'left'})
    names = {key: value for key, value in values.items() if not key.startswith('robot.')}
    six = ClimbingPlant.from_parameters({**names, 'stickybot.n_limbs': 6})
    assert len(six.joints) == 18


def test_noise_is_that_of_the_file_and_seeded():
    plant = ClimbingPlant.from_files(YAML)
    samples = [ClimbingRobot(plant, seed=seed).read() for seed in (1, 1, 2)]
    np.testing.assert_array_equal(samples[0].position, samples[1].position)
    assert (samples[0].position != samples[2].position).all()
    assert 1e-6 < np.std(samples[0].position) < 1e-4


def test_description_for_people():
    plant = replace(plant_of(proposed().model()), pads=(Adhesion(),) * 4)
    assert ClimbingRobot(plant).describe().startswith(
        'stickybot: 0.370 kg on a wall of 90 degrees, 12 motors, 4 feet, limited pads')
