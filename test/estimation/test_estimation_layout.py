# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The estimator's two arrays: every number belongs to one part, whatever the robot."""
import numpy as np
import pytest

from legged_dynamics.estimation.filter.layout import allocate, make_layout, unpack
from legged_dynamics.spatial.jit import as_python


def arrays_in(parts):
    for part in parts:
        yield from arrays_in(part) if isinstance(part, tuple) else (part,)


@pytest.mark.parametrize('sizes', [
    (12, 4, 12, 7),             # a quadruped on points
    (12, 2, 12, 3, 0, 34),      # two soles, with limits
    (31, 6, 21, 2, 3, 1),       # joints that follow, feet of several kinds
    (1, 1, 3, 2)])
def test_parts_lie_side_by_side_and_fill_both_arrays(sizes):
    layout = make_layout(*sizes)[0]
    integers, floats = allocate(layout)
    arrays = as_python(unpack)(layout, integers, floats)
    # These two are parts of the memory, which is filled itself.
    tracking = arrays.tracking._replace(state=floats[:0], covariance=floats[:0])
    for part in arrays_in(arrays._replace(tracking=tracking)):
        part += 1
    np.testing.assert_array_equal(integers, np.ones(len(integers)))
    np.testing.assert_array_equal(floats, np.ones(len(floats)))
    assert np.shares_memory(arrays.tracking.covariance, arrays.memory)
    nx = sizes[2] + 6
    assert arrays.tracking.covariance.shape == (nx, nx)
    assert arrays.ground.bounds.looked_at.shape == (sizes[5] if len(sizes) > 5 else 0,)
