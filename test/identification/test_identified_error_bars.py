# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What feet in contact tell of a robot, and whether error bars are as large as errors."""
import numpy as np
import pytest
from recorded_robots import healthy, noiseless

from legged_dynamics.diagnosis.identification.identify import _make_problem, identify
from legged_dynamics.diagnosis.identification.problem import (
    TrustSettings,
    Unknowns,
    standing_height,
)
from legged_dynamics.diagnosis.identification.samples import filtered
from legged_dynamics.spatial.rotations import rotation_from_vector

# Legs that are lifted once each, a squat and a trot: the least that tells all joints apart.
MOTION = 'stand 1.5, lift_legs 8.4, squat 4, trot_in_place 3, stand 1'
ROBOTS = ('anymal_class', 'solo_class')
SEEDS = 20
# How far the description and the sensors of each drawn robot are off, and how far they are
# trusted: bars and errors are of the same robots.
TRUST = TrustSettings(position_offset=0.02, effort_scale=0.05, imu_mount=0.02, gyro_bias=0.005)
WEIGHED = 0.003         # of the mass: accuracy of the scale
KINDS = ('effort_scale', 'coulomb', 'viscous', 'armature', 'position_offset', 'imu_mount',
         'gyro_bias', 'accelerometer_bias', 'mass', 'center_of_mass')
# Errors over their deviations, rms.
WIDEST, NARROWEST = 0.7, 1.4


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
    """Return errors over deviations by kind, of a robot that is off as far as it is trusted."""
    recorded = noiseless(ROBOTS[seed % len(ROBOTS)], MOTION)
    model, config, joints = recorded.model, recorded.config, recorded.log.joints
    rng, noise, imu = np.random.default_rng(seed), config.noise, recorded.log.imu
    u = Unknowns(model, config, standing_height(model, config), TRUST, True)
    drawn = u.deviation * rng.standard_normal(u.size)
    described = np.zeros(u.size)
    described[u.parts['inertia']] = drawn[u.parts['inertia']]
    off = {name: drawn[place] for name, place in u.parts.items()}
    order = [model.joint_names.index(name) for name in joints.names]

    def noisy(values, deviation):
        return values + deviation * rng.standard_normal(values.shape)
    turned = rotation_from_vector(off['imu_mount'])
    faulty = recorded.joints(
        position=noisy(joints.position, noise.position) - off['position_offset'][order],
        velocity=noisy(joints.velocity, noise.velocity),
        effort=noisy(joints.effort, noise.effort) * np.exp(-off['effort_scale'][order])).imu(
            gyro=noisy((imu.gyro + off['gyro_bias']) @ turned, noise.gyro),
            acceleration=noisy((imu.acceleration + off['accelerometer_bias']) @ turned,
                               noise.accelerometer),
            orientation=np.full_like(imu.orientation, np.nan))
    found = identify(u.robot(described), config, faulty.log, trust=TRUST,
                     total_mass=model.total_mass * (1.0 + WEIGHED * rng.standard_normal()))
    true = {('mass', 'total'): model.total_mass,
            ('mass', model.base_link): model.body_inertia(0).mass}
    true |= {('center_of_mass', f'{model.base_link} {axis}'): value
             for axis, value in zip('xyz', model.body_inertia(0).com)}
    true |= {('effort_scale', name): value
             for name, value in zip(model.joint_names, np.exp(off['effort_scale']))}
    true |= {('position_offset', name): value
             for name, value in zip(model.joint_names, off['position_offset'])}
    true |= {(kind, axis): value for kind in ('imu_mount', 'gyro_bias', 'accelerometer_bias')
             for axis, value in zip('xyz', off[kind])}
    return {kind: [(one.value - true.get((kind, one.name), one.described)) / one.deviation
                   for one in found.quantities if one.kind == kind and one.identifiable]
            for kind in KINDS}


@pytest.mark.slow
def test_errors_are_as_large_as_their_bars_say():
    runs = [identified(seed) for seed in range(SEEDS)]
    for kind in KINDS:
        errors = np.concatenate([run[kind] for run in runs])
        assert len(errors) >= 2 * SEEDS
        assert WIDEST < np.sqrt(np.mean(errors ** 2)) < NARROWEST, kind
        assert np.mean(np.abs(errors) < 1.96) > 0.85, kind
