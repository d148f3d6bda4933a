# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Fields of a row lie one after another, and what cuts up a memory says how long it must be."""
from typing import NamedTuple

import numpy as np

from legged_dynamics.spatial.jit import as_python, lean_kernel
from legged_dynamics.spatial.layout import (
    Size,
    allocated,
    floats,
    integers,
    length_of,
    matrix,
    offsets,
    vector,
)


class Link(NamedTuple):
    mass: int = 1
    center: int = 3
    inertia: int = 6
    width: int = 0


LINK = offsets(Link())


@lean_kernel
def weigh(table):
    """Sum masses and vertical places of the centres, by name."""
    mass, height = 0.0, 0.0
    for i in range(table.shape[0]):
        mass += table[i, LINK.mass]
        height += table[i, LINK.center + 2]
    return mass, height


@lean_kernel
def carve(memory, nb, nv):
    """Cut a memory into three parts."""
    q, at = vector(memory, 0, nv)
    M, at = matrix(memory, at, nv, nv)
    bodies, end = matrix(memory, at, nb, LINK.width)
    return q, M, bodies, end


def test_each_field_begins_where_the_one_before_it_ends():
    assert LINK == (0, 1, 4, 10)
    assert type(LINK) is Link
    assert offsets(Link(center=3 * 5)) == (0, 1, 16, 22)


def test_a_kernel_finds_what_python_put_there():
    table = np.zeros((4, LINK.width))
    table[:, LINK.mass], table[:, LINK.center:LINK.inertia] = 2.0, [0.1, 0.2, 0.3]
    assert weigh(table) == as_python(weigh)(table)
    np.testing.assert_allclose(weigh(table), (8.0, 1.2))


def test_parts_lie_side_by_side_and_fill_the_memory():
    nb, nv = 3, 5
    memory = np.zeros(length_of(carve, nb, nv))
    assert memory.size == nv + nv * nv + nb * 10
    *parts, end = as_python(carve)(memory, nb, nv)
    assert carve(memory, nb, nv)[-1] == end
    for k, part in enumerate(parts):
        part[...] = k + 1.0         # views: what is written is in the memory
    assert end == memory.size
    np.testing.assert_array_equal(memory, np.repeat([1.0, 2.0, 3.0], [nv, nv * nv, nb * 10]))


class Sole(NamedTuple):
    corners: np.ndarray = floats(2 * Size('feet'), 3)
    joints: np.ndarray = integers(Size('feet') + 1)


class Gait(NamedTuple):
    known: np.ndarray
    phase: np.ndarray = floats(Size('feet'))
    sole: Sole = Sole()
    speed: np.ndarray = floats(3)


def test_arrays_have_the_shapes_that_are_said_and_fill_one_memory():
    known = np.ones(7)
    gait, memory = allocated(Gait(known), {'feet': 4})
    assert gait.known is known and gait.sole.joints.dtype == np.int64
    assert [part.shape for part in (gait.phase, gait.sole.corners, gait.sole.joints, gait.speed)
            ] == [(4,), (8, 3), (5,), (3,)]
    for k, part in enumerate((gait.phase, gait.sole.corners, gait.speed)):
        part[...] = k + 1.0         # views: what is written is in the memory
    np.testing.assert_array_equal(memory, np.repeat([1.0, 2.0, 3.0], [4, 24, 3]))
