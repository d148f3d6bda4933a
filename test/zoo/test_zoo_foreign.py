# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What the estimator was not made on, on a generated robot: flight, a hand, a dead torque."""
import warnings
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from benchmarks.zoo.estimators import shipped
from benchmarks.zoo.foreign import Foreign, altered
from benchmarks.zoo.foreign_run import simulate_foreign
from benchmarks.zoo.peers import observer
from benchmarks.zoo.scoring import score
from legged_dynamics.estimation import Fault, GroundReactionEstimator

pytestmark = pytest.mark.slow

PRONK = Foreign('pronk', 'quadruped', 'stand', seconds=2.4, pattern='pronk', speed=0.1,
                landing=0.6, calm=0.6)
DROP = Foreign('drop', 'quadruped', 'stand', seconds=2.2, hand='drop')
STAND = Foreign('stand', 'quadruped', 'stand', seconds=1.3)
SINCE = 0.6        # s: a torque freezes


@lru_cache
def recorded(scenario):
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        return simulate_foreign(scenario)


def estimates(recording):
    """Return the newest forces along base's z and the external wrench, by sample; the faults."""
    estimator = GroundReactionEstimator(recording.model, recording.config,
                                        {'rate': recording.rate})
    order = [estimator.feet.index(foot) for foot in recording.feet]
    up, external, deviation, error, faults = [], [], [], [], []
    for measurement in recording.measurements():
        r = estimator.update(measurement)
        force = np.einsum('fij,fj->fi', r.foot_rotation, r.wrench[:, :3])[order]
        up.append(force[:, 2])
        external.append(r.external_wrench[2])
        deviation.append(r.external_deviation[2])
        error.append(r.mass_error)
        faults.append(r.faults)
    return np.array(up), np.array(external), np.array(deviation), np.array(error), faults


def test_feet_in_flight_have_no_force_and_landing_is_seen():
    r = recorded(PRONK)
    begin, end = (round(t * r.rate) for t in r.scored)
    flying = ~r.contact.any(axis=1)
    flying[:begin], flying[end:] = False, False
    assert flying.sum() > 0.1 * r.rate
    found = score(r, shipped())['raw']
    assert found.zero_phase < next(iter(score(r, observer(250.0)).values())).zero_phase
    assert found.normalised < 1.3       # the deviation covers what is not known
    assert found.contact.agreement > 98.0
    assert found.contact.longest_up_ms <= 10.0
    # What is cut off on one side would be a bias once it is averaged.
    assert abs(estimates(r)[0][flying].mean()) < 0.005 * r.weight


def test_a_robot_in_somebodys_hands_is_not_lighter():
    """From the start a hand bears all the weight; a second later it lets go."""
    r = recorded(DROP)
    _, external, deviation, mass, _ = estimates(r)
    held = slice(round(0.5 * r.rate), round(0.95 * r.rate))
    assert external[held] == pytest.approx(r.external_wrench[held, 2], abs=0.1 * r.weight)
    ratio = (external[held] - r.external_wrench[held, 2]) / deviation[held]
    assert np.sqrt((ratio ** 2).mean()) < 2.0
    assert np.abs(mass).max() < 0.1 * r.weight / 9.81
    stands = slice(round(1.8 * r.rate), None)
    assert np.abs(external[stands].mean()) < 0.05 * r.weight


@pytest.mark.parametrize('fault', ['dead', 'stuck'])
def test_a_torque_that_does_not_change_is_not_believed(fault):
    r = recorded(STAND)
    failing = altered(r, replace(STAND, fault=fault), SINCE)
    up, _, _, _, faults = estimates(failing)
    found = round((SINCE + 0.15) * r.rate)
    right, *_, none = estimates(r)
    assert not any(f & Fault.PARTIAL_EFFORT for f in none)
    assert not any(f & Fault.PARTIAL_EFFORT for f in faults[:round(SINCE * r.rate)])
    assert all(f & Fault.PARTIAL_EFFORT for f in faults[found:])
    truth = r.force_B[found:, :, 2]
    error = np.sqrt(((up[found:] - truth) ** 2).mean())
    assert error < 3.0 * np.sqrt(((right[found:] - truth) ** 2).mean())
    assert np.abs((up[found:] - truth).mean(axis=0)).max() < 0.02 * r.weight


def test_exact_sensors_of_a_robot_at_rest_may_stay_the_same():
    """Where no torque changes, none is taken for frozen."""
    r = recorded(STAND)
    estimator = GroundReactionEstimator(r.model, r.config, {'rate': r.rate})
    first = next(r.measurements())
    for k in range(200):
        found = estimator.update(replace(first, stamp_ns=int(r.stamp_ns[k])))
        assert not found.faults & Fault.PARTIAL_EFFORT
