# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The estimator's arrays: what is kept and what is found is each in one memory, by name."""
import numpy as np
import pytest

from legged_dynamics.estimation.filter.layout import LAYOUT, allocate, make_layout
from legged_dynamics.estimation.filter.memory import N_EXTRA
from legged_dynamics.estimation.ground_reaction import places_of_results


def arrays_in(parts):
    for part in parts:
        yield from arrays_in(part) if isinstance(part, tuple) else (part,)


@pytest.mark.parametrize('sizes', [
    (12, 4, 12, 7),             # a quadruped on points
    (12, 2, 12, 3, 0, 34),      # two soles, with limits
    (31, 6, 21, 2, 3, 1),       # joints that follow, feet of several kinds
    (1, 1, 3, 2)])
def test_memory_and_results_each_fill_one_array(sizes):
    layout = make_layout(*sizes)
    assert layout.dtype is LAYOUT
    arrays, kept, out = allocate(layout, np.zeros(1), 3)
    for flat, group in ((kept, arrays.memory), (out, arrays.results)):
        for part in arrays_in(group):
            part += 1
        np.testing.assert_array_equal(flat, np.ones(len(flat)))
    assert not any(np.shares_memory(one, other) for one in (kept, out)
                   for other in arrays_in((arrays.robot, arrays.scratch, arrays.tracking)))
    nx = sizes[2] + N_EXTRA
    assert arrays.memory.forces.covariance.shape == (nx, nx)
    assert arrays.ground.bounds.slack.shape == (sizes[5] if len(sizes) > 5 else 0,)


def test_every_result_has_a_place():
    layout = make_layout(31, 6, 21, 2)
    arrays, _, out = allocate(layout, np.zeros(1), 2)
    out[:] = np.arange(len(out))
    places = places_of_results(layout, 2)
    assert len(places) == len(list(arrays_in(arrays.results)))
    for name, (place, shape) in places.items():
        part = arrays.results
        for field in name.split('.'):
            part = getattr(part, field)
        np.testing.assert_array_equal(out[place].reshape(shape), part)
