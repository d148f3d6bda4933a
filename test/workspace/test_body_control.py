# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Quadrupeds in simulation move their bodies by workspace control from noisy joints and IMU."""
import numpy as np
import pytest
from quadruped_runs import rms, run

from legged_dynamics.workspace import WorkspaceFault

LOW = (((0.0, 0.0, -0.15), (0.0, 0.0, 0.0)),)


@pytest.mark.parametrize('name', ['anymal_class', 'solo_class'])
def test_the_body_goes_where_it_is_wanted(name):
    """Down, sideways, pitched, turned and up again: within 1 cm and 1 degree, and much less."""
    found = run(name)
    assert found.done
    assert rms(found.position) < 2e-3 and found.position.max() < 5e-3
    assert np.degrees(rms(found.angle)) < 0.2 and np.degrees(found.angle.max()) < 0.6
    assert found.faults == {WorkspaceFault.NONE}
    assert found.slide < 2e-3 and found.grip.max() < 0.6    # MuJoCo's contacts creep; mu is 0.8
    limits = found.robot.model.actuator_ctrlrange[:, 1]
    assert (np.abs(found.commands) <= 0.95 * limits + 1e-9).all()
    weight = 9.81 * found.robot.model.body_subtreemass[0]
    assert found.force_error < 0.01 * weight            # the ground gives what was wanted of it


def test_a_push_is_stood():
    found = run('anymal_class', LOW, push=(0.3, [0.0, 50.0, 0.0]))
    assert 4e-3 < found.position.max() < 15e-3
    assert found.slide < 2e-3 and found.grip.max() < 0.75 and rms(found.errors[-20:, :3]) < 2e-3


def test_commands_that_come_late_still_hold_the_body():
    found = run('anymal_class', LOW, delay=5)           # 10 ms
    assert rms(found.position) < 3e-3 and np.degrees(rms(found.angle)) < 0.3


def test_the_integral_carries_a_body_that_is_heavier_than_known():
    rest = (((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),) * 4
    without = {'gains.linear.integral': [0.0] * 3, 'gains.angular.integral': [0.0] * 3}
    sagging = run('anymal_class', rest, mass=1.05, settings=without)
    lifted = run('anymal_class', rest, mass=1.05)
    assert sagging.errors[-50:, 2].mean() < -1e-3
    assert abs(lifted.errors[-50:, 2].mean() - lifted.errors[0, 2]) < 5e-4


def test_a_body_that_is_lost_gets_no_efforts():
    found = run('anymal_class', LOW, push=(0.1, [0.0, 0.0, 3000.0]))
    assert any(fault & WorkspaceFault.LOST for fault in found.faults)
    assert (found.commands == 0.0).all(axis=1).any()
