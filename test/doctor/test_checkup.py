# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The checkup asks for one exercise after the other and sees each when it is done."""
import numpy as np
import pytest
from recorded_robots import healthy

from legged_dynamics.diagnosis.doctor.checkup import Checkup

pytestmark = pytest.mark.slow


def test_a_robot_goes_through_its_checkup():
    recorded = healthy()
    order = [recorded.log.joints.names.index(name) for name in recorded.model.joint_names]
    position = recorded.log.joints.position[:, order]
    checkup = Checkup(recorded.model, recorded.config)
    said, time = [checkup.instruction], 0.0
    # It does what it is asked for: stands, lifts its legs in the order of its feet, squats, leans.
    parts = {'stand still': slice(0, 700), 'Lift': None, 'Squat': slice(4950, 6400),
             'Lean': slice(4950, 6700)}
    lift, lifts = 0, [slice(750 + 1050 * i, 1800 + 1050 * i) for i in range(4)]
    for _ in range(12):
        if checkup.done:
            break
        word = next(word for word in parts if word in checkup.instruction)
        for q in position[lifts[min(lift, 3)] if word == 'Lift' else parts[word]]:
            time += 0.002
            if checkup.update(time, q):
                said.append(checkup.instruction)
                break
        lift += word == 'Lift'
        for _ in range(1200 if word == 'Lift' else 0):      # and stands quietly in between
            time += 0.002
    assert checkup.done and not checkup.skipped, said
    assert checkup.moved == {foot.link: foot.link for foot in recorded.config.feet}


def test_the_leg_that_moved_is_kept():
    recorded = healthy()
    checkup = Checkup(recorded.model, recorded.config)
    q = np.zeros(recorded.model.n_joints)
    for k in range(3000):
        checkup.update(0.002 * k, q)
    assert 'LF_FOOT' in checkup.instruction
    other = recorded.model.joint_index('RF_HFE')
    for k in range(3000, 6000):
        q = q.copy()
        q[other] = 0.3 * np.sin(0.01 * k)
        checkup.update(0.002 * k, q)
        if checkup.moved:
            break
    assert checkup.moved == {'LF_FOOT': 'RF_FOOT'}


def test_what_never_happens_is_skipped():
    recorded = healthy()
    checkup = Checkup(recorded.model, recorded.config)
    for k in range(5000):
        checkup.update(0.1 * k, np.zeros(recorded.model.n_joints))
    assert checkup.done
    assert checkup.skipped == [*(foot.link for foot in recorded.config.feet), 'squat', 'lean']
