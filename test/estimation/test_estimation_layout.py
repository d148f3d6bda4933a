# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The estimator's arrays: every number belongs to one part, whatever the robot."""
import ast
import inspect

import numpy as np
import pytest

from legged_dynamics.estimation.filter import layout, memory, results
from legged_dynamics.estimation.filter.layout import allocate, make_layout, unpack
from legged_dynamics.estimation.filter.memory import N_EXTRA, carve_memory
from legged_dynamics.estimation.filter.results import carve_results
from legged_dynamics.estimation.ground_reaction import places_of_results
from legged_dynamics.spatial.jit import as_python
from legged_dynamics.spatial.layout import length_of


def arrays_in(parts):
    for part in parts:
        yield from arrays_in(part) if isinstance(part, tuple) else (part,)


@pytest.mark.parametrize('sizes', [
    (12, 4, 12, 7),             # a quadruped on points
    (12, 2, 12, 3, 0, 34),      # two soles, with limits
    (31, 6, 21, 2, 3, 1),       # joints that follow, feet of several kinds
    (1, 1, 3, 2)])
def test_parts_lie_side_by_side_and_fill_both_arrays(sizes):
    sizes_of = make_layout(*sizes)[0]
    integers, floats = allocate(sizes_of)
    arrays = as_python(unpack)(sizes_of, integers, floats)
    for part in arrays_in(arrays):
        part += 1
    np.testing.assert_array_equal(integers, np.ones(len(integers)))
    np.testing.assert_array_equal(floats, np.ones(len(floats)))
    nx = sizes[2] + N_EXTRA
    assert arrays.memory.forces.covariance.shape == (nx, nx)
    assert arrays.ground.bounds.looked_at.shape == (sizes[5] if len(sizes) > 5 else 0,)


@pytest.mark.parametrize('carve', [carve_memory, carve_results])
def test_parts_of_memory_and_results_lie_side_by_side(carve):
    sizes = make_layout(31, 6, 21, 2)[0]
    flat = np.zeros(length_of(carve, sizes))
    parts, end = as_python(carve)(flat, sizes)
    for part in arrays_in(parts):
        part += 1
    assert end == len(flat)
    np.testing.assert_array_equal(flat, np.ones(end))


def test_every_result_has_a_place():
    sizes = make_layout(31, 6, 21, 2)[0]
    data = np.arange(float(length_of(carve_results, sizes)))
    results, _ = as_python(carve_results)(data, sizes)
    places = places_of_results(sizes)
    assert len(places) == len(list(arrays_in(results)))
    for name, (place, shape) in places.items():
        part = results
        for field in name.split('.'):
            part = getattr(part, field)
        np.testing.assert_array_equal(data[place].reshape(shape), part)


@pytest.mark.parametrize('module, carve', [(layout, 'unpack'), (memory, 'carve_memory'),
                                           (results, 'carve_results')])
def test_parts_are_put_together_by_name(module, carve):
    """Two arrays of one shape that change places would be seen by no compiler."""
    tree = ast.parse(inspect.getsource(module))
    text = next(node for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef) and node.name == carve)
    for call in ast.walk(text):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        if not hasattr(getattr(module, call.func.id, None), '_fields'):
            continue
        assert not call.args, f'{call.func.id} is made by position'
        for keyword in call.keywords:
            if isinstance(keyword.value, ast.Name):
                words = set(keyword.value.id.split('_'))
                assert words & set(keyword.arg.split('_')), (
                    f'{call.func.id}.{keyword.arg} is made of {keyword.value.id}')
