# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The suite for anyone's estimator: ours and a momentum observer pass, wrong ones are found."""
import numpy as np
import pytest

from benchmarks.zoo.estimators import outputs_of
from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.testing import (
    CHECKS,
    FootForces,
    Requirements,
    check_estimator,
    make_trial,
)

SIDEWAYS = np.array([20.0, 0.0, 0.0])
RNG = np.random.default_rng(0)


def ours(output):
    """Return this package's estimator, one of its two outputs."""
    def run(trial, measurements):
        estimator = GroundReactionEstimator(trial.model, trial.config, {'rate': trial.rate})
        order = [estimator.feet.index(foot) for foot in trial.feet]
        for measurement in measurements:
            reaction = estimator.update(measurement)
            yield outputs_of(reaction, order)[output] if reaction.mode else None
    return run


def observed(trial, measurements):
    """Run the generalised-momentum observer of the benchmarks."""
    from benchmarks.zoo.peers import observer
    for said in observer()(trial, measurements):
        yield said.get('raw')


@pytest.mark.parametrize('check', CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize('output', ['raw', 'latest'])
def test_our_estimator_conforms(check, output):
    check(ours(output), Requirements(contact=0.92))


@pytest.mark.slow
def test_a_momentum_observer_conforms():
    pytest.importorskip('pinocchio')
    check_estimator(observed)


def true(trial, measurements, change=lambda force, k: force, later=0):
    """Give the truth back, changed."""
    for k, measurement in enumerate(measurements):
        yield FootForces(measurement.stamp_ns, change(trial.force[k], k),
                         trial.contact[k], np.tile(np.eye(3), (len(trial.feet), 1, 1)))


def test_the_truth_conforms():
    trial = make_trial()
    for check in CHECKS:
        if check.__name__ != 'check_symmetry' and check.__name__ != 'check_error_bars':
            check(true, Requirements())
    assert len(trial.measurements) == 2000


@pytest.mark.parametrize(('estimator', 'failing'), [
    (lambda trial, ms: true(trial, ms, lambda f, k: 1.1 * f), 'check_weight_at_rest'),
    (lambda trial, ms: true(trial, ms, lambda f, k: f + SIDEWAYS), 'check_momentum'),
    (lambda trial, ms: true(trial, ms, lambda f, k: f - [0.0, 0.0, 60.0]), 'check_no_pull'),
    (lambda trial, ms: (FootForces(m.stamp_ns, np.tile([0.0, 0.0, trial.weight / 4], (4, 1)))
                        for m in ms), 'check_air'),        # never mind the measurements
    (lambda trial, ms: true(trial, ms, lambda f, k: 2.0 * f), 'check_error_bars'),
    (lambda trial, ms: true(trial, ms, lambda f, k: f + RNG.normal(size=3)),
     'check_determinism')])
def test_what_is_wrong_is_found(estimator, failing):
    with pytest.raises(AssertionError, match=f'(?s).*{failing}: '):
        check_estimator(estimator)


def test_who_looks_ahead_is_found():
    def ahead(trial, measurements):
        every = list(measurements)
        for one in every:
            yield FootForces(one.stamp_ns, np.zeros((len(trial.feet), 3)))
    with pytest.raises(AssertionError, match='check_causality: expected an estimate for each'):
        check_estimator(ahead)
