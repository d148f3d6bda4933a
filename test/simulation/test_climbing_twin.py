# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's climbing robot climbs as the planar simulation does, by the same commands."""
import math

import numpy as np
import pytest

from legged_dynamics.exceptions import SimulationError
from legged_dynamics.reproductions.climbing.twin import ClimbingTwin
from legged_dynamics.stickybot import (
    FootEventKind,
    RestPosition,
    StickybotCommand,
    StickybotSettings,
    accelerations,
    climb,
)

pytestmark = pytest.mark.slow

ALL = np.ones(4, bool)


@pytest.fixture(scope='module')
def settings():
    return StickybotSettings.from_parameters({'control.speed': 0.04,
                                              'adhesion.kind': 'directional'})


def test_both_climb_alike(settings):
    args = settings.model(), settings.gait(), settings.control(), settings.pads()
    twin = climb(*args, seconds=2.0, trace=True, climber=ClimbingTwin(settings))
    own = climb(*args, seconds=2.0, trace=True)
    assert twin.speed == pytest.approx(own.speed, rel=0.01)
    assert twin.peak == pytest.approx(own.peak, rel=0.05)
    assert twin.mean == pytest.approx(own.mean, rel=0.05)
    assert twin.failures == own.failures == 0
    # Counted from where the climb began, after the robot has hung still.
    assert twin.rise == pytest.approx(twin.trace.pose[-1, 1] - twin.trace.pose[0, 1], abs=1e-4)
    assert 0.03 < twin.rise < own.rise
    assert twin.trace.time[0] == pytest.approx(0.502)
    assert math.isnan(twin.energy.work)
    assert np.abs(twin.trace.pad_angle - math.pi / 2).max() < 0.05
    on = twin.trace.attached
    sizes = np.hypot(twin.trace.reaction[..., 0], twin.trace.reaction[..., 1])
    assert sizes[on].mean() > 1.0
    assert not sizes[~on].any()


def test_hanging_still_is_the_planar_equilibrium(settings):
    twin = ClimbingTwin(settings.changed({'adhesion.kind': 'none'}))
    model, command = twin.model, StickybotCommand(0, twin.model.rest, ALL)
    for _ in range(250):
        assert twin.step(command, 0.002) == []
    found = accelerations(model, twin.state, RestPosition.nominal(model))
    np.testing.assert_allclose(found.reaction, twin.reaction, atol=0.01)
    assert twin.normal_loads.sum() == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(twin.peak, np.hypot(*twin.reaction.T), rtol=1.0)
    twin.reset_peak()
    assert not twin.peak.any()
    with pytest.raises(SimulationError, match=r'expected steps of 0.002 s, got 0.01'):
        twin.step(command, 0.01)


def test_pads_let_go_and_it_is_told(settings):
    twin = ClimbingTwin(settings.changed({'adhesion.kind': 'disc', 'adhesion.shear': 0.3,
                                          'adhesion.friction': 0.0}))
    command = StickybotCommand(0, twin.model.rest, ALL)
    events = [event for _ in range(100) for event in twin.step(command, 0.002)]
    assert {event.kind for event in events} == {FootEventKind.SLIPPED}
    assert sorted(event.limb for event in events) == sorted(twin.model.limb_names)
    assert not twin.attached.any()
