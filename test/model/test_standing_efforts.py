# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Efforts that hold a standing robot: against the force map's statics, and a load by hand."""
import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.force_map.report import standing_reach
from legged_dynamics.model import Inertia, Joint, PointFoot, RobotConfig, RobotModel
from legged_dynamics.model.parts import Mimic
from legged_dynamics.model.standing import standing_efforts
from legged_dynamics.spatial.frames import GRAVITY, Transform

# The force map weighs foot forces against the balance, and loads are a regularised problem.
STATICS = 1e-4      # of the largest effort


@pytest.mark.parametrize('name', ['anymal_class', 'solo_class'])
@pytest.mark.parametrize('spring', [0.0, 5.0])
def test_they_are_those_of_the_force_map(name, spring):
    config = RobotConfig.from_yaml(CONFIG / 'robots' / f'{name}.yaml')
    model = config.apply_to(RobotModel.from_urdf(CONFIG / 'robots' / f'{name}.urdf'))
    model = model.with_joint_physics(stiffness={model.joint_names[1]: spring})
    q = config.nominal_in(model)
    found = standing_efforts(model, config.feet, q)
    study = standing_reach(model, config.feet, q, np.eye(3))
    expected = dict(zip(study.map.columns, study.torque))
    assert found.keys() == expected.keys()
    assert list(found.values()) == pytest.approx(
        [expected[name] for name in found], abs=STATICS * np.abs(study.torque).max())


def test_a_slide_that_stands_on_its_foot_bears_what_is_above():
    ball = Inertia(2.0, np.zeros(3), 0.01 * np.eye(3))
    model = RobotModel('hopper', {'base': ball, 'leg': ball}, [
        Joint('slide', 'prismatic', 'base', 'leg', Transform.identity(),
              np.array([0.0, 0.0, 1.0]))])
    (effort,) = standing_efforts(model, [PointFoot('leg', 0.0)], np.array([-0.3])).values()
    assert effort == pytest.approx(-2.0 * GRAVITY)


def test_a_mimic_joints_load_is_its_masters():
    """Two joints that turn alike bear a foot's force at the sum of both levers."""
    light = Inertia(1e-9, np.zeros(3), 1e-9 * np.eye(3))
    heavy = Inertia(10.0, np.array([0.3, 0.0, 0.0]), np.eye(3))
    y, step = np.array([0.0, 1.0, 0.0]), Transform(np.eye(3), np.array([0.1, 0.0, 0.0]))
    model = RobotModel('pair', {'base': heavy, 'upper': light, 'lower': light, 'toe': light}, [
        Joint('hip', 'revolute', 'base', 'upper', step, y),
        Joint('knee', 'revolute', 'upper', 'lower', step, y, mimic=Mimic('hip', 2.0, 0.0)),
        Joint('toe', 'fixed', 'lower', 'toe', step, y)])
    found = standing_efforts(model, [PointFoot('toe', 0.0)], np.zeros(2))
    # Up at levers of 0.2 and 0.1 m in x: about y it turns by minus that.
    assert found == {'hip': pytest.approx(10.0 * GRAVITY * (0.2 + 2.0 * 0.1))}
