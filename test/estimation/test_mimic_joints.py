# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""A leg with a joint that follows another: its motor feels both, and the estimator knows."""
import math
from dataclasses import replace

import numpy as np
import pytest
from motions import QUIET, Scene, known_robot, quadruped
from robots import CONFIG

from legged_dynamics.estimation import Mode
from legged_dynamics.model import RobotModel

URDF = (CONFIG / 'robots' / 'anymal_class.urdf').read_text()
RATIO, OFFSET = -2.0, 0.1
# Two motors cannot tell three forces: the base's equations help, and are taken to be this good.
BASE_HELPS = 2e-3


def with_mimics(*legs):
    text = URDF
    for leg in legs:
        head = f'<joint name="{leg}_KFE" type="revolute">'
        assert head in text
        text = text.replace(head, f'{head}<mimic joint="{leg}_HFE" multiplier="{RATIO}" '
                                  f'offset="{OFFSET}"/>')
    return RobotModel.from_xml(text)


class FollowingScene(Scene):
    """The followers follow; a master's motor gives the power of both."""

    def __init__(self, model, config, **kwargs):
        super().__init__(model, config, **kwargs)
        self.q0 = self.model.mimics.positions(self.q0)
        self.v0, self.a = self.model.mimics.rates(self.v0), self.model.mimics.rates(self.a)

    def measurement(self, k):
        exact = super().measurement(k)
        mimics, effort = self.model.mimics, np.full(self.model.nv, math.nan)
        effort[mimics.free] = mimics.matrix().T @ exact.effort
        return replace(exact, effort=effort)


@pytest.mark.parametrize('legs', [('LF',), ('LF', 'RF', 'LH', 'RH')])
def test_forces_are_found_through_a_mimic(legs):
    _, config = quadruped(**QUIET)
    model = with_mimics(*legs)
    assert len(model.mimics.joints) == len(legs)
    scene = FollowingScene(model, config, seed=1)
    estimator = known_robot(model, config)
    for k in range(30):
        reaction = estimator.update(scene.measurement(k), [True] * 4)
    truth = scene.truth(reaction.stamp_ns * 1e-9)[2].wrench
    assert reaction.mode == Mode.FUSED and reaction.observable.all()
    np.testing.assert_allclose(reaction.raw_wrench[:, :3], truth[:, :3],
                               atol=BASE_HELPS * 9.81 * model.total_mass)
