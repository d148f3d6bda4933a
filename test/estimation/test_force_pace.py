# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How fast standing feet's forces may change: as fast as they have of late."""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from motions import Scene, known_robot, quadruped

from legged_dynamics.dynamics.jacobians import N_INDEX, SIZE, START
from legged_dynamics.estimation import GroundReactionEstimator
from legged_dynamics.estimation.filter.force_tracking import force_rate
from legged_dynamics.estimation.filter.settings import TUNED
from legged_dynamics.spatial.jit import as_python

DT, WEIGHT, DEVIATION = 0.002, 500.0, 1.0


def paces(forces) -> list[float]:
    """Return the pace after each of the forces, (n, nf, 3), of feet known to DEVIATION [N]."""
    count, nf, _ = np.shape(forces)
    index = np.zeros((nf, N_INDEX), int)
    index[:, START], index[:, SIZE] = 3 * np.arange(nf), 3
    memory = SimpleNamespace(rate=np.full(1, TUNED.slowest_rate), mean=np.array(forces[0]))
    return [as_python(force_rate)(
        SimpleNamespace(index=index), SimpleNamespace(weight=WEIGHT, **vars(TUNED)), memory,
        np.ravel(force), DEVIATION ** 2 * np.eye(3 * nf), DT) for force in forces]


def test_of_a_robot_at_rest_noise_is_no_motion():
    rng = np.random.default_rng(0)
    assert max(paces(DEVIATION * rng.normal(size=(200, 4, 3)))) == TUNED.slowest_rate


def test_a_load_that_goes_from_foot_to_foot_wakes_all_feet_and_they_rest_again():
    forces = np.zeros((400, 4, 3))
    forces[20:, 0, 2], forces[20:, 3, 2] = -60.0, 60.0
    pace = np.array(paces(forces))
    assert (pace[:20] == TUNED.slowest_rate).all() and pace[20] > 100 * TUNED.slowest_rate
    later = 20 + int(TUNED.recent / DT)
    assert pace[later] > 0.5 * pace[20]         # the next foot lands or leaves soon
    assert pace[-1] == TUNED.slowest_rate


def test_the_pace_has_a_bound():
    forces = np.zeros((5, 2, 3))
    forces[3:, 1, 2] = 5.0 * WEIGHT
    assert paces(forces)[-1] == TUNED.fastest_rate


@pytest.mark.parametrize('share', [0.05, 0.2])
def test_a_load_that_all_equations_agree_on_is_followed_within_40_ms(share):
    """Of a resting robot whose load goes from one diagonal to the other."""
    scenes = [Scene(*quadruped(), motion=0.0, squeeze=0.0) for _ in range(2)]
    weight = scenes[0].model.total_mass * 9.81
    scenes[1].extra[:, 2] = share * weight * np.array([1.0, -1.0, -1.0, 1.0])
    before, after = (scene.truth(0.0)[2].wrench[:, :3] for scene in scenes)
    assert np.abs(after - before).max() > 0.8 * share * weight
    estimator = GroundReactionEstimator(scenes[0].model, scenes[0].config)
    for k in range(100):
        reaction = estimator.update(scenes[k >= 80].measurement(k), [1] * 4)
    error = np.abs(reaction.raw_wrench[:, :3] - after).max()
    assert error < 0.1 * np.abs(after - before).max()


def test_bars_hold_what_a_force_lags_by_that_moves_less_than_noise():
    """Its pace is that of rest, and what the equations still ask for is in the deviations."""
    scene = Scene(*quadruped(), motion=0.0, squeeze=0.0)
    weight, estimator = scene.model.total_mass * 9.81, known_robot(scene.model, scene.config)
    ratios, before = [], scene.truth(0.0)[2].wrench[:, :3]
    for k in range(200):
        scene.extra[:, 2] = 0.03 * weight * min(max(k - 120, 0) / 25.0, 1.0) * np.array(
            [1.0, -1.0, -1.0, 1.0])
        reaction = estimator.update(scene.measurement(k), [1] * 4)
        error = reaction.raw_wrench[:, :3] - before     # of the sample before
        ratios += [error[i] / np.sqrt(np.diag(reaction.covariance_of(foot))[:3])
                   for i, foot in enumerate(reaction.feet) if k > 120]
        before = scene.truth(0.0)[2].wrench[:, :3]
    assert np.abs(ratios).max() < 1.96
