# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Toes that bend stay on the floor while the heel rises, and a rigid sole dips under it."""
from dataclasses import replace

import numpy as np
import pytest

from legged_dynamics.model import FlatFoot
from legged_dynamics.people.gait.inverse_dynamics import _toes_of
from legged_dynamics.people.trials.analysis import sample_walk
from legged_dynamics.people.trials.subject import read_trial


@pytest.fixture(scope='module')
def walker():
    path, options = sample_walk()
    subject, dynamics, _ = read_trial(path, options)
    return subject, dynamics


def test_a_toe_joint_is_found_and_other_joints_are_none(walker):
    subject, _ = walker
    model, feet = subject.model, subject.feet
    for toe, side in zip(_toes_of(model, feet), 'rl'):
        assert model.joint_names[toe.body - 1] == f'mtp_angle_{side}'
        # The sole's frame is half way from the heel to that joint.
        assert toe.start == pytest.approx(0.09, abs=1e-3)
    # A sole that ends before the joint does not bend, nor does one on another link.
    assert _toes_of(model, [FlatFoot('sole_r', 0.05, -0.1, 0.04, -0.04)]) == [None]
    assert _toes_of(model, [FlatFoot('tibia_r', 0.3, -0.3, 0.04, -0.04)]) == [None]


def test_toes_stay_on_the_floor_while_the_heel_rises(walker):
    subject, dynamics = walker
    motion = dynamics.motion
    bend = motion.position[:, subject.model.joint_index('mtp_angle_r')]
    rigid = replace(dynamics, toes=())
    front = [found.sole_points()[0].reshape(len(motion), 5, 3, 3)[:, -1].mean(axis=1)
             for found in (dynamics, rigid)]
    # The heel is up and the toes, which lift before the last of the load is gone, are still down.
    rolls = (bend > 0.1) & (bend < 0.5) & (np.gradient(bend) > 0.0)
    assert rolls.sum() > 10
    assert np.abs(front[0][rolls, 2]).max() < 0.003 < 0.01 < -front[1][rolls, 2].min()
    speed = [np.linalg.norm(np.gradient(at, motion.step, axis=0), axis=1)[rolls]
             for at in front]
    assert speed[0].max() < 0.5 * speed[1].max()
