# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the feet of a standing robot can be given: sets, statics, and their limits."""
import numpy as np
import pytest
from robots import CONFIG, TWO_LEGS

from legged_dynamics.exceptions import ConfigurationError
from legged_dynamics.force_map.report import standing_reach
from legged_dynamics.model import FlatFoot, PointFoot, RobotConfig, RobotModel
from legged_dynamics.spatial.rotations import rotation_from_rpy

ROBOT = CONFIG / 'robots' / 'anymal_class.yaml'
FEET = RobotConfig.from_yaml(ROBOT).feet
MODEL = RobotConfig.from_yaml(ROBOT).apply_to(RobotModel.from_urdf(ROBOT.with_suffix('.urdf')))
STANCE, TILTED = np.tile([0.05, 0.5, -0.9], 4), rotation_from_rpy([0.1, -0.05, 0.0])


def test_standing_still_the_feet_carry_the_weight():
    study = standing_reach(MODEL, FEET, STANCE, TILTED)
    assert study.stands
    forces = np.array([reach.force for reach in study.reach])
    np.testing.assert_allclose(forces.sum(axis=0), [0, 0, study.weight], atol=1e-6)
    assert standing_reach(MODEL, FEET[:1], STANCE, TILTED).stands is False


@pytest.mark.parametrize('all_motors', [False, True])
def test_polytopes_hold_what_torques_within_limits_give_and_nothing_beyond(all_motors):
    study = standing_reach(MODEL, FEET, STANCE, TILTED, all_motors=all_motors)
    reach, rng = study.reach[2], np.random.default_rng(0)
    columns = reach.map.columns
    assert len(columns) == (12 if all_motors else 3)
    own = [study.map.columns.index(name) for name in columns]
    for direction in rng.normal(size=(20, 3)):
        torque = study.torque.copy()
        torque[own] = study.limits[own] * np.sign(direction @ reach.map.matrix)
        force = study.map.of_foot('LH_FOOT').force(torque)
        assert (reach.polytope.vertices @ direction).max() == pytest.approx(
            direction @ force, rel=1e-9)
    for vertex in study.allowed[2].vertices:
        assert study.cone.contains(vertex, 1e-6)


def test_soles_and_joints_without_motors():
    model = RobotModel.from_urdf(TWO_LEGS.replace(
        'type="continuous">', 'type="continuous"><limit effort="0" velocity="9"/>'))
    sole = FlatFoot('l_foot', 0.1, -0.1, 0.05, -0.05)
    study = standing_reach(model, [sole], np.zeros(model.nq), np.eye(3))
    assert 0 < len(study.map.columns) < model.n_joints
    assert study.map.matrix.shape[0] == 6
    with pytest.raises(ConfigurationError, match='expected effort limits in the URDF'):
        standing_reach(RobotModel.from_urdf(TWO_LEGS), [PointFoot('l_foot')], np.zeros(model.nq),
                       np.eye(3))
