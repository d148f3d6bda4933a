# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact switches as a further witness of contact, as good as their stated error rates."""
from dataclasses import replace

import numpy as np
import pytest
from robots import CONFIG

from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import JointOrder, RobotConfig, RobotModel
from legged_dynamics.simulation import Schedule, SimulatedRobot

PATH = CONFIG / 'robots' / 'anymal_class.yaml'
MODEL, ROBOT = RobotModel.from_urdf(PATH.with_suffix('.urdf')), RobotConfig.from_yaml(PATH)
STANDING = 250      # samples


@pytest.fixture(scope='module')
def walk():
    """Return measurements and true contact (n, nf) of half a second standing, then trotting."""
    schedule = Schedule.from_text('stand 0.5, trot_forward 2')
    robot = SimulatedRobot.from_files(PATH, schedule=schedule)
    order, measurements, contact = JointOrder(ROBOT.joints, MODEL.joint_names), [], []
    for _ in range(1000):
        robot.step()
        measurements.append(robot.read().ordered(order))
        contact.append(robot.truth().feet.contact)
    return measurements, np.array(contact, bool)


def run(measurements, **settings):
    estimator = GroundReactionEstimator(MODEL, ROBOT, settings)
    return [estimator.update(measurement) for measurement in measurements]


def with_switches(measurements, closed):
    return [replace(m, switches=np.array(row, float)) for m, row in zip(measurements, closed)]


def right(reactions, contact):
    """Return the share of feet and samples whose contact is told rightly, while it trots."""
    found = np.array([r.latest_contact for r in reactions], bool)
    return (found == contact)[STANDING:].mean()


def flipped(contact, rate, seed=5):
    return contact ^ (np.random.default_rng(seed).random(contact.shape) < rate)


@pytest.mark.parametrize('torque', [True, False])
def test_switches_with_errors_make_contact_better(walk, torque):
    measurements, contact = walk
    if not torque:
        measurements = [replace(m, effort=None) for m in measurements]
    alone = right(run(measurements), contact)
    helped = right(run(with_switches(measurements, flipped(contact, 0.05))), contact)
    assert helped > alone and helped > 0.95         # more than the switches tell by themselves


def test_a_switch_that_tells_nothing_changes_no_bit(walk):
    measurements, contact = walk
    measurements, contact = measurements[:300], contact[:300]
    plain = run(measurements)
    blank = run(with_switches(measurements, np.full(contact.shape, np.nan)))
    coin = run(with_switches(measurements, contact),
               **{'contact.switch_missed': 0.5, 'contact.switch_false': 0.5})
    for other in (blank, coin):
        assert all(a.wrench.tobytes() == b.wrench.tobytes() for a, b in zip(plain, other))


def test_a_switch_stuck_open_takes_no_loaded_foot_off_the_ground(walk):
    measurements, contact = walk
    stuck = contact[:STANDING].copy()
    stuck[:, 1] = False
    reactions = run(with_switches(measurements[:STANDING], stuck))
    assert contact[50:STANDING].all()
    assert all(r.latest_contact[1] for r in reactions[50:])


def test_switches_may_be_a_list(walk):
    first, second = walk[0][:2]
    closed = [True, False, True, True]
    lists = run([first, replace(second, switches=closed)])
    arrays = run(with_switches([first, second], [[np.nan] * 4, closed]))
    assert lists[1].wrench.tobytes() == arrays[1].wrench.tobytes()


def test_what_is_no_number_is_refused_by_name(walk):
    with pytest.raises(MeasurementError, match='velocity: expected numbers, got'):
        run([replace(walk[0][0], velocity=['fast'] * MODEL.n_joints)])


def test_switches_of_another_number_of_feet_are_refused(walk):
    with pytest.raises(MeasurementError, match=r'switches: expected 4 values .*got shape \(3,\)'):
        run(with_switches(walk[0][:1], [[1.0, 1.0, 1.0]]))
