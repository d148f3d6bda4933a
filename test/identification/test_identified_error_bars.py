# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""What feet in contact tell of a robot: errors that last count once."""
import numpy as np
import pytest
from recorded_robots import healthy

from legged_dynamics.diagnosis.identification.identify import _make_problem
from legged_dynamics.diagnosis.identification.samples import filtered


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
