# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""JointOrder: values follow their names, whatever order these come in."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legged_dynamics.exceptions import MeasurementError
from legged_dynamics.model import JointOrder

NAMES = [f'joint_{k}' for k in range(8)]


@given(st.permutations(NAMES), st.permutations(NAMES), st.integers(1, 8))
def test_every_value_goes_to_its_own_joint(names, wanted, n):
    wanted = wanted[:n]
    values = np.array([[NAMES.index(name), 10.0 + NAMES.index(name)] for name in names]).T
    found = JointOrder(names, wanted)(values)
    np.testing.assert_array_equal(found[0], [NAMES.index(name) for name in wanted])
    np.testing.assert_array_equal(found[1] - found[0], 10.0)


@given(st.permutations(NAMES))
def test_there_and_back_is_where_it_was(names):
    values = np.arange(8.0)
    back = JointOrder(NAMES, names)
    np.testing.assert_array_equal(back(JointOrder(names, NAMES)(values)), values)


def test_a_spare_joint_that_is_missing_is_not_a_number_and_any_other_is_refused():
    order = JointOrder(['a', 'c'], ['c', 'b', 'a'], spare=('b',))
    np.testing.assert_array_equal(order(np.array([1.0, 3.0])), [3.0, np.nan, 1.0])
    np.testing.assert_array_equal(order.lacking, [False, True, False])
    assert np.isnan(JointOrder([], ['b'], spare=('b',))(np.zeros((2, 0)))).all()
    with pytest.raises(MeasurementError, match='b is missing; the message has a, c'):
        JointOrder(['a', 'c'], ['c', 'b', 'a'])
    with pytest.raises(MeasurementError, match='a is named more than once'):
        JointOrder(['a', 'b', 'a'], ['b', 'a'])
