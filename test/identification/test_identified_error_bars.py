# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What feet in contact tell of a robot, and whether error bars are as large as errors."""
from dataclasses import replace

import numpy as np
import pytest
from recorded_robots import healthy

from legged_dynamics.diagnosis.identification.identify import _make_problem, identify
from legged_dynamics.diagnosis.identification.samples import filtered

# Legs that are lifted once each, a squat and a trot: the least that tells all joints apart.
MOTION = 'stand 1.5, lift_legs 8.4, squat 4, trot_in_place 3, stand 1'
SEEDS = 20
KINDS = ('effort_scale', 'coulomb', 'viscous', 'armature', 'position_offset')
# Errors over their deviations, rms: a bar may be too narrow by a half, and too wide by three
# times, since a simulator's ground is level and the tolerances of feet are for real ground.
WIDEST = 1.0 / 3.0
NARROWEST = 1.5


def test_more_samples_of_the_same_stance_tell_no_more_of_its_feet():
    """Creep, uneven ground and a tilted vertical last longer than the time between samples."""
    recorded = healthy('solo_class', 'stand 3')
    information = []
    for spacing in (0.048, 0.012):
        signals = filtered(recorded.log, 8.0, spacing)
        problem = _make_problem(recorded.model, recorded.config, signals)
        at = problem(np.zeros(problem.unknowns.size))
        kinematic = at.jacobian.reshape(-1, at.rows, problem.unknowns.size)[
            :, 6 + recorded.model.nv:, problem.unknowns.parts['position_offset']]
        information.append(np.sum(kinematic ** 2))
    assert information[0] > 0.0
    assert information[1] == pytest.approx(information[0], rel=0.05)


def identified(seed):
    """Return errors over deviations by kind, for drawn gains, offsets, mass and noise."""
    recorded = healthy('anymal_class', MOTION)
    rng, joints, noise = np.random.default_rng(seed), recorded.log.joints, recorded.config.noise
    scale = np.exp(0.05 * rng.normal(size=len(joints.names)))
    offset = 0.02 * rng.normal(size=len(joints.names))
    base = recorded.model.body_inertia(0)
    mass = 1.0 + 0.05 * rng.normal()
    wrong = recorded.model.with_body_inertia({0: replace(
        base, mass=mass * base.mass, com=base.com + 0.01 * rng.normal(size=3),
        about_com=mass * base.about_com)})

    def noisy(values, deviation):
        return values + deviation * rng.standard_normal(values.shape)
    faulty = recorded.joints(
        position=noisy(joints.position, noise.position) + offset,
        velocity=noisy(joints.velocity, noise.velocity),
        effort=noisy(joints.effort, noise.effort) * scale)
    found = identify(wrong, recorded.config, faulty.log, total_mass=recorded.model.total_mass)
    true = {'effort_scale': dict(zip(joints.names, 1.0 / scale)),
            'position_offset': dict(zip(joints.names, -offset))}
    errors = {kind: [] for kind in KINDS}
    for one in found.quantities:
        if one.identifiable and one.kind in KINDS:
            value = true.get(one.kind, {}).get(one.name, one.described)
            errors[one.kind].append((one.value - value) / one.deviation)
    return errors


@pytest.mark.slow
def test_errors_are_as_large_as_their_bars_say():
    runs = [identified(seed) for seed in range(SEEDS)]
    for kind in KINDS:
        errors = np.concatenate([run[kind] for run in runs])
        assert len(errors) >= 6 * SEEDS
        assert WIDEST < np.sqrt(np.mean(errors ** 2)) < NARROWEST, kind
        assert np.mean(np.abs(errors) < 1.96) > 0.85, kind
