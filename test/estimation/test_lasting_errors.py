# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors that last, and feet that bear little without having left."""
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from motions import QUIET, RATE, Scene, known_robot, quadruped

from benchmarks.zoo.robots import biped
from legged_dynamics.dynamics.jacobians import CONTACT, N_FOOT_STATE
from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.estimation.contact import lift_allowance, predict_heights, update_place
from legged_dynamics.estimation.filter.forces_by_torque import _fill_bending
from legged_dynamics.estimation.filter.memory import LIFT
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.model import RobotModel
from legged_dynamics.spatial.jit import as_python


def test_the_covariance_holds_for_sensors_that_are_off_for_long():
    """Offsets, scales and biases stay as they are: no average over time shows their size."""
    scene = Scene(*quadruped(), motion=0.0)
    noise, exact = scene.config.noise, scene.measurement(0)
    truth = scene.truth(0.0)[2].wrench[:, :3]
    rng = np.random.default_rng(3)
    ratios, pushes = [], []
    for _ in range(20):
        estimator = known_robot(scene.model, scene.config)
        scale = 1.0 + noise.effort_gain * rng.normal(size=12)
        offset = TUNED.offset_share * noise.effort * rng.normal(size=12)
        bias = noise.accelerometer_bias * rng.normal(size=3)
        for k in range(120):
            r = estimator.update(replace(
                exact, stamp_ns=round(k * 1e9 / RATE),
                velocity=exact.velocity + noise.velocity * rng.normal(size=12),
                effort=scale * exact.effort + offset + noise.effort * rng.normal(size=12),
                angular_velocity=exact.angular_velocity + noise.gyro * rng.normal(size=3),
                linear_acceleration=(exact.linear_acceleration + bias
                                     + noise.accelerometer * rng.normal(size=3))), [1] * 4)
        error = np.concatenate([r.raw_wrench[i, :3] - truth[i] for i in range(4)])
        sigma = np.concatenate([np.sqrt(np.diag(r.covariance_of(foot))[:3]) for foot in r.feet])
        ratios.append(error / sigma)
        pushes.append(r.external_wrench / r.external_deviation)
    # The model of the base and the joints' dry friction are exact here, and counted as wrong.
    assert 0.6 < np.sqrt(np.mean(np.square(ratios))) < 1.3
    assert np.mean(np.abs(ratios) < 1.96) > 0.9
    # Nobody pushes: what the sensors' lasting errors look like is no certain push.
    assert 0.4 < np.sqrt(np.mean(np.square(pushes))) < 1.3


def test_friction_that_no_step_has_shown_is_in_the_deviations_of_soles():
    """Before a leg swings nothing tells what joints hold by friction: stated is not known."""
    robot = biped()
    scene = Scene(RobotModel.from_urdf(robot.urdf), robot.config, down=(True,) * 2, motion=0.0,
                  squeeze=20.0)
    exact, rng = scene.measurement(0), np.random.default_rng(11)
    truth, holds = scene.truth(0.0)[2].wrench[:, 2], 0.03 * scene.model.effort_limits
    ratios = []
    for _ in range(6):
        estimator = GroundReactionEstimator(scene.model, scene.config)
        stuck = holds * rng.normal(size=12)
        for k in range(60):
            r = estimator.update(replace(
                exact, stamp_ns=round(k * 1e9 / RATE), effort=exact.effort + stuck), [1] * 2)
        sigma = np.array([np.sqrt(r.covariance_of(foot)[2, 2]) for foot in r.feet])
        ratios.append((r.raw_wrench[:, 2] - truth) / sigma)
    assert 0.4 < np.sqrt(np.mean(np.square(ratios))) < 1.5


def test_noise_of_the_gyro_does_not_look_like_a_mass():
    """It is in the acceleration of the base and in the equations, whose product has a mean."""
    model, config = quadruped()
    noise = replace(config.noise, gyro=0.03)
    scene = Scene(model, replace(config, noise=noise), motion=0.0)
    estimator = GroundReactionEstimator(scene.model, scene.config)
    exact, rng = scene.measurement(0), np.random.default_rng(5)
    for k in range(400):
        r = estimator.update(replace(
            exact, stamp_ns=round(k * 1e9 / RATE),
            angular_velocity=exact.angular_velocity + noise.gyro * rng.normal(size=3)), [1] * 4)
    assert abs(r.mass_error) < 0.002 * scene.model.total_mass


FEET = SimpleNamespace(index=np.zeros((2, 3), dtype=np.int64))
SETTINGS = SimpleNamespace(risen=0.002, natural_frequency=4.0, **vars(TUNED))
UP = (0.0, 0.0, 1.0)


def heights(*values):
    states = np.zeros((2, N_FOOT_STATE))
    states[:, CONTACT + 2] = values
    return states


def stand(lift, at, seconds=1.0):
    for i in range(2):
        lift[i, LIFT.height] = lift[i, LIFT.place] = at[i]
        as_python(update_place)(lift, i, 1.0, True, seconds)


@pytest.mark.parametrize('body', [0.0, -0.03, 0.05])
def test_a_foot_rises_over_its_own_place_however_the_body_moves(body):
    lift = np.zeros((2, LIFT.width))
    stand(lift, (-0.5, -0.4))         # on a step
    places = []
    for rise in (0.0, 0.001, 0.004, -0.001, -0.004):
        # Only the other foot bears weight and carries the place along.
        trial = lift.copy()
        trial[1, LIFT.state] = 1.0
        as_python(predict_heights)(FEET, heights(-0.5 + body, -0.4 + body + rise), UP, trial)
        places.append(as_python(lift_allowance)(SETTINGS, trial, 1))
    assert places[0] > places[1] > 0.0
    assert places[2] == 0.0
    # A foot that sinks has not stood there: a force was seen while it was in the air.
    assert places[0] > places[3] > 0.0
    assert places[4] == 0.0


def test_what_has_just_landed_does_not_leave():
    lift = np.zeros((2, LIFT.width))
    stand(lift, (-0.5, -0.5), seconds=0.01)
    landed = as_python(lift_allowance)(SETTINGS, lift, 0)
    stand(lift, (-0.5, -0.5), seconds=1.0)
    stood = as_python(lift_allowance)(SETTINGS, lift, 0)
    assert landed > 1.0 > stood > 0.0


def test_places_are_lost_where_nobody_bears_weight():
    lift = np.zeros((2, LIFT.width))
    stand(lift, (-0.5, -0.5))
    for i in range(2):
        as_python(update_place)(lift, i, 0.0, False, 0.01)
    as_python(predict_heights)(FEET, heights(-0.5, -0.5), UP, lift)
    assert as_python(lift_allowance)(SETTINGS, lift, 0) == 0.0


def test_forces_of_drives_that_may_yield_are_doubted_by_what_torques_bend_them_by():
    """Equations change by what J changes by where each joint is turned by its torque."""
    model, config = quadruped(**QUIET)      # a ball's place on the ground does not turn with it
    scene = Scene(model, replace(config, feet=[replace(foot, radius=0.0) for foot in config.feet]))
    tables, bend = [], 1e-6
    for m in (still := scene.measurement(0),
              replace(still, position=still.position + bend * still.effort)):
        estimator = known_robot(scene.model, scene.config)
        for k in range(3):
            estimator.update(replace(m, stamp_ns=round(k * 1e9 / RATE)))
        tables.append(estimator._arrays)
    robot, scratch = tables[0].robot, tables[0].scratch
    forces = np.random.default_rng(2).normal(size=len(tables[0].memory.forces.state))
    bending = np.zeros(12)
    as_python(_fill_bending)(robot, scratch, forces, bending)
    moved = (tables[1].scratch.jacobian - scratch.jacobian)[:12].T @ forces[:12] / bend
    np.testing.assert_allclose(bending, moved, rtol=1e-3, atol=1e-3 * np.abs(moved).max())


def test_bars_hold_for_links_that_stand_otherwise_than_their_motors():
    scene = Scene(*quadruped(**QUIET), motion=0.0)
    soft, truth = 0.002, scene.truth(0.0)[2].wrench[:, :3]      # rad/(N m)
    worst = []
    for elastic in (0.0, 1.0):
        estimator = known_robot(scene.model, scene.config)
        estimator._settings['elastic'], estimator._settings['compliance_error'] = elastic, soft
        for k in range(200):
            m = scene.measurement(0)
            r = estimator.update(replace(m, stamp_ns=round(k * 1e9 / RATE),
                                         position=m.position + soft * m.effort))
        sigma = np.sqrt([np.diag(r.covariance_of(foot))[:3] for foot in r.feet])
        worst.append(np.abs((r.raw_wrench[:, :3] - truth) / sigma).max())
    assert worst[1] < 2.0 < worst[0]
