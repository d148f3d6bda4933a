# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Walking on two soles: the divergent component, the centre of pressure, whole walks."""
import math
import re
from itertools import pairwise

import mujoco
import numpy as np
import pytest

from benchmarks.walking_robots import Laboratory, Push, walk
from benchmarks.zoo.robots import MissingRobot, biped
from legged_dynamics.dynamics.motion import GRAVITY
from legged_dynamics.estimation import LegOdometry, Measurement
from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.model import RobotConfig, RobotModel
from legged_dynamics.resources import robot_files
from legged_dynamics.spatial.rotations import rotation_from_vector
from legged_dynamics.workspace import BodyTarget, WorkspaceController
from legged_dynamics.workspace.controller import LegPlan
from legged_dynamics.workspace.pressure import Pressure, _nearest_inside
from legged_dynamics.workspace.walking import make_walker
from legged_dynamics.workspace.walking.divergent import Shift, divergent_start
from legged_dynamics.workspace.walking.footholds import PEAK, step_correction
from legged_dynamics.workspace.walking.swing import SwingPath

OMEGA = 3.4


def follow(xi, shifts, extra=(0.0, 0.0), dt=1e-4):
    """Integrate the divergent component along shifts of the centre of pressure."""
    for start, end, duration in shifts:
        for k in range(round(duration / dt)):
            p = start + (k + 0.5) * dt / duration * (end - start) + np.array(extra)
            xi = p + (xi - p) * math.exp(OMEGA * dt)
    return xi


def test_a_walk_begun_at_the_planned_divergent_component_ends_at_rest():
    rng = np.random.default_rng(1)
    places = np.cumsum(rng.normal(0.0, 0.2, (5, 2)), axis=0)
    shifts = []
    for a, b in pairwise(places):
        shifts += [Shift(a, a, 0.31), Shift(a, b, 0.17), Shift(b, b, 0.0)]
    start = divergent_start(shifts, OMEGA)
    assert follow(start, shifts) == pytest.approx(places[-1], abs=1e-5)
    assert np.abs(follow(start + np.array([1e-3, 0.0]), shifts) - places[-1]).max() > 0.1


@pytest.mark.parametrize('error', [(0.06, -0.05), (-0.04, 0.08)])
def test_a_step_and_the_sole_take_an_error_away_together(error):
    left, shift, reach = 0.22, 0.14, np.array([0.05, 0.02])
    here, there = np.zeros(2), np.array([0.1, -0.17])
    shifts = [Shift(here, here, left), Shift(here, there, shift)]
    off = step_correction(np.array(error), OMEGA, left, shift, reach)
    begin = divergent_start(shifts, OMEGA) + error
    landed = follow(begin, shifts[:1], np.sign(error) * reach)
    assert follow(landed, [Shift(here, there + off, shift)]) == pytest.approx(there + off,
                                                                              abs=1e-4)
    small = 0.5 * reach * (1.0 - math.exp(-OMEGA * left))
    assert step_correction(small, OMEGA, left, shift, reach) == pytest.approx([0.0, 0.0])


def test_the_nearest_point_of_a_polygon():
    rng = np.random.default_rng(2)
    corners = np.array([[0.2, 0.0], [0.1, 0.15], [-0.1, 0.1], [-0.15, -0.1], [0.1, -0.12]])
    share = rng.dirichlet(np.full(5, 0.4), 20000)
    inside = np.vstack([share @ corners, *(np.linspace(a, b, 500) for a, b in
                                           zip(corners, np.roll(corners, -1, axis=0)))])
    for point in rng.normal(0.0, 0.25, (40, 2)):
        found = _nearest_inside(corners, point)
        best = np.linalg.norm(inside - point, axis=1).min()
        assert np.linalg.norm(found - point) == pytest.approx(best, abs=6e-3)
    for point in inside[:40]:
        assert _nearest_inside(corners, point) == pytest.approx(point, abs=1e-12)


# -------------------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def lab():
    return Laboratory('biped')


def tick(lab, point):
    """Return a tick's net wrench in world axes at the base, its plan, state and command."""
    model, config = lab.known, lab.config
    q = config.nominal_in(model)
    R = rotation_from_vector(np.array([0.02, -0.03, 0.4]))
    v = np.random.default_rng(3).normal(0.0, 0.2, model.nv)
    measurement = Measurement(0, q, v, None, np.array([0.1, 0.05, -0.1]), 9.81 * R[2],
                              np.array([0.01, -0.015, 0.2, 0.98]))
    state = LegOdometry(model, config).update(measurement)
    center = state.position + state.rotation @ [0.0, 0.0, 0.1]
    ground = float(state.foot_position[:, 2].mean())
    middle = state.foot_position[:, :2].mean(axis=0)
    pressure = Pressure(middle + point, middle + np.array(
        [[0.05, -0.06], [0.05, 0.06], [-0.05, 0.06], [-0.05, -0.06]]), center, ground)
    plan = LegPlan(np.ones(2, bool), np.full(2, np.inf), np.full(model.nv, np.nan),
                   pressure=pressure)
    target = BodyTarget.of(state.position + np.array([0.3, 0.1, 0.0]), np.eye(3))
    answer = WorkspaceController(model, config, {'division.friction': 2.0}).update(
        state, measurement, target, legs=plan)
    force, moment = np.split(answer.net_wrench, 2)
    f, m = state.rotation @ force, state.rotation @ moment
    high = state.position[2] - ground
    place = state.position[:2] + np.array([-high * f[0] - m[1], m[0] - high * f[1]]) / f[2]
    return f, place - middle, pressure, answer


def test_the_ground_pushes_from_the_wanted_point_through_the_centre_of_mass(lab):
    f, place, pressure, answer = tick(lab, np.array([0.01, -0.012]))
    assert np.abs(place).max() < 0.05
    way = pressure.center - np.append(pressure.point, pressure.ground)
    assert f[:2] / f[2] == pytest.approx(way[:2] / way[2], abs=1e-9)
    assert answer.unbalanced == pytest.approx(0.0, abs=1e-3 * f[2])


def test_the_centre_of_pressure_stays_inside(lab):
    f, place, _, answer = tick(lab, np.array([0.2, 0.0]))
    assert place[0] == pytest.approx(0.05, abs=1e-9)
    assert abs(place[1]) <= 0.06 + 1e-9
    assert answer.unbalanced == pytest.approx(0.0, abs=1e-3 * f[2])


def test_an_arm_keeps_its_posture_over_the_steps():
    robot = biped()
    urdf = robot.urdf.replace('</robot>', """
        <link name="arm"><inertial><mass value="2"/><origin xyz="0 0 -0.2"/>
        <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
        <joint name="shoulder" type="revolute"><parent link="pelvis"/><child link="arm"/>
        <axis xyz="0 1 0"/><limit effort="30" velocity="9" lower="-2" upper="2"/></joint>
        </robot>""")
    named = robot.parameters
    config = RobotConfig.from_parameters(named | {
        'robot.joints': [*named['robot.joints'], 'shoulder'],
        'robot.nominal_position': [*named['robot.nominal_position'], 0.0]})
    model = config.apply_to(RobotModel.from_urdf(urdf))
    arm, controller = model.joint_index('shoulder'), WorkspaceController(model, config)
    q, sunk = config.nominal_in(model), 0.1
    for place, bearing in ((0.0, [True, True]), (sunk, [True, False])):
        q[arm] = place
        measurement = Measurement(0, q.copy(), np.zeros(model.nv), None, np.zeros(3),
                                  np.array([0.0, 0.0, GRAVITY]), np.array([0.0, 0.0, 0.0, 1.0]))
        state = LegOdometry(model, config).update(measurement)
        command = controller.update(
            state, measurement, BodyTarget.of(state.position, state.rotation), legs=LegPlan(
                np.array(bearing), np.full(2, np.inf), np.full(model.nv, np.nan)))
    stiffness = controller.settings.posture_stiffness
    assert controller.expected(command)[6 + arm] == pytest.approx(-stiffness * sunk)


def test_legs_of_three_joints_do_not_step():
    yaml, urdf = robot_files('biped')
    config = RobotConfig.from_yaml(yaml)
    with pytest.raises(ConfigurationError, match='two soles, each on a leg of six joints'):
        make_walker(RobotModel.from_urdf(urdf), config).check('steps')
    zoo = biped()
    make_walker(zoo.model, zoo.config).check('steps')


# -------------------------------------------------------------------------------------------------


def judge(found, wanted, first, last):
    assert not found.cause
    here = found.between(first, last)
    assert found.velocity[here].mean(axis=0) == pytest.approx(wanted, abs=0.04)
    assert np.abs(found.position[here, 2] - found.height).max() < 0.02
    assert np.degrees(np.hypot(*found.rpy[here, :2].T)).max() < 5.0
    assert (~found.bearing[here]).any(axis=0).all()
    assert found.bearing[here].any(axis=1).all()


def test_a_biped_steps_in_place_and_stands_again():
    found = walk(Laboratory('biped'), 'steps', lambda t: (0.0, 0.0, 0.0), 6.0, stop=2.5)
    judge(found, (0.0, 0.0, 0.0), 1.0, 3.5)
    last = found.between(5.7, 6.0)
    assert found.bearing[last].all()
    assert np.linalg.norm(found.velocity[last], axis=1).max() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize(('name', 'wanted'), [
    ('talos', (0.15, 0.0, 0.0)), ('g1', (0.1, 0.0, 0.0)), ('biped', (0.1, 0.0, 0.2))])
def test_bipeds_walk_with_the_commanded_velocity(name, wanted):
    try:
        robot = Laboratory(name)
    except MissingRobot as missing:
        pytest.skip(str(missing))
    judge(walk(robot, 'steps', lambda t: wanted, 9.0, stop=1.0), wanted, 3.5, 7.9)


@pytest.mark.slow
def test_a_turning_biped_goes_ahead_and_not_sideways_in_spite_of_joint_friction():
    try:
        robot = Laboratory('g1')
    except MissingRobot as missing:
        pytest.skip(str(missing))
    found = walk(robot, 'steps', lambda t: (0.1, 0.0, 0.2), 14.0)
    judge(found, (0.1, 0.0, 0.2), 2.5, 12.5)
    assert found.velocity[found.between(2.5, 12.5), 1].mean() == pytest.approx(0.0, abs=0.015)


@pytest.mark.parametrize('far', [0.1, 0.3])
def test_a_minimum_jerk_motion_accelerates_by_its_peak(far):
    duration, dt = 0.4, 1e-4
    path, fastest = SwingPath(np.zeros(3), 0.05), 0.0
    for k in range(round((duration - 0.03) / dt)):
        motion = path.advance(np.array([far, 0.0, 0.0]), k * dt / duration, duration - k * dt,
                              duration, dt)
        fastest = max(fastest, abs(motion[6]))
    assert fastest == pytest.approx(PEAK * far / duration ** 2, rel=0.01)


@pytest.mark.parametrize('weaker', [1.0, 10.0])
def test_a_swung_sole_takes_no_more_than_the_rest_of_the_other_and_half_its_efforts(
        weaker):
    """The foot's acceleration, its efforts and the ground's moment for it by another engine."""
    lab = Laboratory('biped', friction=0.0)
    config, robot = lab.config, lab.model
    model = config.apply_to(RobotModel.from_xml(re.sub(
        'effort="([^"]*)"', lambda limit: f'effort="{float(limit[1]) / weaker}"', lab.zoo.urdf)))
    limits = model.effort_limits
    q = config.nominal_in(model)
    measurement = Measurement(0, q, np.zeros(model.nv), None, np.zeros(3),
                              np.array([0.0, 0.0, GRAVITY]), np.array([0.0, 0.0, 0.0, 1.0]))
    walker = make_walker(model, config)
    walker.update(LegOdometry(model, config).update(measurement), measurement, np.ones(2, bool),
                  np.zeros((2, 3)))
    data = mujoco.MjData(robot)
    data.qpos[lab._qpos], data.qpos[lab._free + 2] = q, 9.0     # in the air
    mujoco.mj_forward(robot, data)
    J = np.zeros((2, 3, robot.nv))
    mujoco.mj_jacSite(robot, data, *J, data.site(lab.feet[0]).id)
    free, legs = range(lab._free_dof, lab._free_dof + 6), lab._dofs
    height = (data.qpos[lab._free + 2] - data.site(lab.feet[0]).xpos[2]).item()
    front, back, left, right = config.feet[0].edges
    for axis, half in enumerate((0.5 * (front - back), 0.5 * (left - right))):
        fast = np.zeros(6)
        fast[axis] = walker._footholds._swift[axis]
        wrenches = []
        for part in (0.0, 1.0):
            data.qacc[:] = 0.0
            data.qacc[legs] = part * np.linalg.lstsq(np.vstack(J)[:, legs], fast)[0]
            mujoco.mj_inverse(robot, data)
            wrenches.append(data.qfrc_inverse[[*free, *legs]])
        f, m, efforts = np.split(wrenches[1] - wrenches[0], [3, 6])
        moved = np.array([-height * f[0] - m[1], m[0] - height * f[1]]) / (
            model.total_mass * GRAVITY)
        # A step reckons with half of the sole.
        parts = abs(moved[axis]) / (0.5 * half), np.abs(efforts / limits).max() / 0.5
        assert max(parts) == pytest.approx(1.0, rel=0.05)
        assert (parts[1] > parts[0]) == (weaker > 1.0)


@pytest.mark.slow
@pytest.mark.parametrize('side', [1.0, -1.0])
@pytest.mark.parametrize('name', ['biped', 'g1'])
def test_a_push_ahead_or_back_is_caught_by_a_step(name, side):
    try:
        robot = Laboratory(name)
    except MissingRobot as missing:
        pytest.skip(str(missing))
    found = walk(robot, 'stand', lambda t: (0.0, 0.0, 0.0), 6.0,
                 [Push(2.0, 0.3, (0.2 * side, 0.0, 0.0))])
    assert not found.cause
    assert not found.bearing.all()
    last = found.between(5.7, 6.0)
    assert found.bearing[last].all()
    assert np.linalg.norm(found.velocity[last], axis=1).max() < 0.03
