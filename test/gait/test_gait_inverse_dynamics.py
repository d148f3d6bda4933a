# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The inverse dynamics of a recording: computed once, and the same for whoever takes it."""
from dataclasses import replace

import numpy as np
import pytest
from walkers import two_footed_walk

from legged_dynamics.dynamics import inverse_dynamics
from legged_dynamics.exceptions import ConfigurationError, MeasurementError
from legged_dynamics.model import FlatFoot
from legged_dynamics.model.robot_config import scaled_to
from legged_dynamics.people.gait.double_support import METHODS, DoubleSupport
from legged_dynamics.people.gait.inverse_dynamics import GaitInverseDynamics
from legged_dynamics.people.trials.analysis import analyse_gait, sample_walk

WALK = two_footed_walk()


def test_another_mass_scales_the_dynamics_of_the_model():
    path, options = sample_walk()
    result, _ = analyse_gait(path, replace(options, mass='80'))
    anew = GaitInverseDynamics.of(result.model, result.feet, result.motion)
    scaled = result.dynamics.as_recorded
    np.testing.assert_allclose(scaled.wrench, anew.wrench, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaled.body_wrench, anew.body_wrench, rtol=1e-9, atol=1e-9)


def test_each_frame_is_that_of_the_instant():
    motion = WALK.motion()
    found = GaitInverseDynamics.of(WALK.model, WALK.feet, motion)
    efforts = found.joint_efforts(np.zeros((len(motion), len(WALK.feet), 6)))
    for t in (0, 60, len(motion) - 1):
        one = inverse_dynamics(WALK.model, motion.instant(t))
        R_WB = motion.base_rotation[t]
        np.testing.assert_allclose(found.wrench[t].reshape(2, 3) @ R_WB,
                                   one.base_wrench.reshape(2, 3), rtol=1e-12)
        np.testing.assert_array_equal(efforts[t], one.joint_effort)


def test_other_feet_and_other_ground_keep_the_dynamics():
    motion = WALK.motion()
    feet = [FlatFoot(foot.link, 0.05, -0.05, 0.02, -0.02) for foot in WALK.feet]
    belt = np.tile([-1.2, 0.0, 0.0], (len(motion), len(feet), 1))
    anew = GaitInverseDynamics.of(WALK.model, feet, motion, belt)
    kept = GaitInverseDynamics.of(WALK.model, WALK.feet, motion).with_feet(WALK.model, feet)
    kept = kept.on_ground(belt)
    for name in ('wrench', 'foot_arm', 'foot_rotation', 'low_point', 'ground_velocity',
                 'center_of_mass', 'body_pose', 'body_wrench'):
        np.testing.assert_array_equal(getattr(kept, name), getattr(anew, name))
    with pytest.raises(ConfigurationError, match='same bodies and joints'):
        kept.with_feet(scaled_to(WALK.model, 2.0 * WALK.model.total_mass), feet)
    with pytest.raises(MeasurementError, match='velocities of the ground'):
        kept.on_ground(belt[1:])


@pytest.mark.parametrize('method', sorted(METHODS))
def test_shared_dynamics_give_what_a_call_by_itself_gives(method):
    solver, motion = DoubleSupport(WALK.model, WALK.feet), WALK.motion()
    shared = solver.share(solver.inverse_dynamics(motion), method=method)
    alone = solver.solve(motion, method=method)
    for name in ('contact', 'wrench', 'joint_effort', 'root_residual', 'center_of_pressure'):
        np.testing.assert_array_equal(getattr(shared, name), getattr(alone, name))
