# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tuples of arrays that kernels take by one address."""
import gc
import weakref
from typing import NamedTuple

import numpy as np

from legged_dynamics.spatial.jit import lean_kernel
from legged_dynamics.spatial.packed import opened, pack


class Inner(NamedTuple):
    index: np.ndarray
    table: np.ndarray


class Outer(NamedTuple):
    inner: Inner
    vector: np.ndarray


@lean_kernel
def double(arrays):
    arrays = opened(arrays)
    for i in range(arrays.inner.index.shape[0]):
        arrays.vector[i] = 2.0 * arrays.inner.table[i, arrays.inner.index[i]]
    return arrays.vector.shape[0] + arrays.inner.table.shape[1]


def made(n, seed):
    rng = np.random.default_rng(seed)
    return Outer(Inner(rng.integers(0, 4, n), rng.normal(size=(n, 4))), np.zeros(n))


def test_a_kernel_sees_and_writes_the_arrays_of_a_pack():
    for n in (3, 5):
        arrays = made(n, n)
        wanted = 2.0 * arrays.inner.table[np.arange(n), arrays.inner.index]
        packed = pack(arrays)
        assert double(packed) == n + 4
        np.testing.assert_array_equal(arrays.vector, wanted)
        arrays.inner.table[:] += 1.0        # not a copy
        double(packed)
        np.testing.assert_array_equal(arrays.vector, wanted + 2.0)


def test_a_tuple_is_taken_as_well():
    arrays = made(3, 0)
    assert double(arrays) == 7 and arrays.vector.any()


def test_arrays_live_as_long_as_their_pack():
    arrays = made(3, 1)
    packed, vector = pack(arrays), weakref.ref(arrays.vector)
    del arrays
    gc.collect()
    assert vector() is not None
    del packed
    gc.collect()
    assert vector() is None
