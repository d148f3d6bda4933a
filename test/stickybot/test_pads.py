# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pads: the share of their limit that a force uses, and whether they hold the next phase."""
import numpy as np
import pytest
from climbers import WEIGHT, proposed

from legged_dynamics.stickybot import Adhesion, GaitClock, unloaded_state
from legged_dynamics.stickybot.control.load_sharing import PadForesight
from legged_dynamics.stickybot.model.adhesion import HOLDS, pad_failure


@pytest.mark.parametrize('pad', [
    Adhesion(3.0, 2.0, 0.5), Adhesion(3.0, 2.0, 0.5, 1.2, 0.8, 0.5, 0.2),
    Adhesion(3.0, 2.0, 0.0, 1.2, 0.8, 0.5, 0.0)], ids=['disc', 'directional', 'without tack'])
def test_a_pad_lets_go_where_more_than_its_limit_is_used(pad):
    rng = np.random.default_rng(3)
    held = 0
    for force in rng.normal(0.0, 2.0, (2000, 3)):
        used = pad.used(force, 0.7)
        holds = pad_failure(pad.packed(), 0.7, *force) == HOLDS
        assert holds == (used <= 1.0)
        held += holds
    assert 100 < held < 1900
    assert pad.used(np.zeros(3)) == 0.0


def test_the_share_of_a_disc_is_its_shear_or_its_pull():
    pad = Adhesion(4.0, 2.0, 0.5)
    assert pad.used([0.0, 3.0, 0.0]) == pytest.approx(0.75)
    assert pad.used([1.0, 0.0, -1.5]) == pytest.approx(0.75)
    assert pad.used([0.0, 3.0, 4.0]) == pytest.approx(0.5)      # pressed: 2 N more of shear


@pytest.mark.parametrize(('shear', 'holds'), [(0.6, True), (0.5, False)])
def test_two_feet_of_a_stride_carry_half_the_weight_each(shear, holds):
    """The next phase needs 0.5 of the weight of each pad; 5 % are kept in reserve."""
    settings = proposed()
    model, pads = settings.model(), [Adhesion(shear * WEIGHT, 10.0)] * 4
    z, _, _ = unloaded_state(model).packed(model)
    foresight = PadForesight(model, GaitClock(model, settings.gait()), pads, 0.05)
    assert foresight.holds(z, np.zeros(4), 0, 0.0) is holds
