# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Where things lie in the flat arrays that kernels work on, said once and by name.

A kernel takes few arrays, because each costs its caller 50 ns, so that one array holds many
quantities side by side. What a row of it holds is a NamedTuple of *sizes*, with unit and meaning
beside each; `offsets` makes of it where each begins::

    class Link(NamedTuple):
        '''A link's constants, SI units, link axes.'''

        mass: int = 1           # kg
        center: int = 3         # m, from the joint to the centre of mass
        inertia: int = 6        # kg m^2 about it: xx, xy, xz, yy, yz, zz
        width: int = 0          # of a row

    LINK = offsets(Link())

    constants[i, LINK.mass], get3(constants, i, LINK.center), np.zeros((n, LINK.width))

To a compiled kernel these are constants, as numbers written out would be. Sizes that are known
only for a robot are given to the class, ``offsets(Link(center=3 * n))``.

The arrays of a kernel are a NamedTuple whose defaults say their shapes, in numbers and in sizes of
a robot; `allocated` makes them, for a kernel that takes them by `packed.pack`::

    NJ = Size('joints')

    class Motion(NamedTuple):
        velocity: np.ndarray = floats(NJ)           # rad/s
        noise: np.ndarray = floats(2 * NJ, 3)

Where a kernel is given one flat memory instead, one text cuts it up in order, with `vector` and
`matrix`, for the kernel and for Python; `length_of` asks that same text how much it takes.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numba.core import types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from legged_dynamics.spatial.jit import PART, as_python, part

# -------------------------------------------------------------------------------------------------
# Views of a flat array in compiled code, made of an address and a shape.
#
# Slicing and reshaping call a routine of numba for every view, which takes 13 ns. These views are
# not checked against the size of the array and are not reference counted: a kernel may use them,
# but must not return them to Python.


def _make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    flat = make_array(signature.args[0])(context, builder, args[0])
    made = make_array(signature.return_type)(context, builder)
    shape, steps = list(args[2:]), [flat.itemsize]
    for length in shape[:0:-1]:
        steps.insert(0, builder.mul(steps[0], length))
    populate_array(made, data=builder.gep(flat.data, [args[1]]), shape=shape, strides=steps,
                   itemsize=flat.itemsize, meminfo=None)
    return made._getvalue()


def _of(flat: Any, dimensions: int) -> Any:
    made = types.Array(flat.dtype, dimensions, 'C', readonly=not flat.mutable)
    return made(flat, types.intp, *[types.intp] * dimensions), _make


@intrinsic
def _row_view(typing: Any, flat: Any, start: Any, size: Any) -> Any:
    """Return a (size,) view of a flat array from ``start`` on."""
    return _of(flat, 1)


@intrinsic
def _table_view(typing: Any, flat: Any, start: Any, rows: Any, columns: Any) -> Any:
    """Return a (rows, columns) view of a flat array from ``start`` on."""
    return _of(flat, 2)


# -------------------------------------------------------------------------------------------------


# A NamedTuple of ints.
Sizes = TypeVar('Sizes', bound=tuple)
# A NamedTuple of descriptions of arrays, later of arrays.
Arrays = TypeVar('Arrays', bound=tuple)


def offsets(sizes: Sizes) -> Sizes:
    """Return the first index of each field in a row; a last size of 0 becomes the length."""
    return type(sizes)(*itertools.accumulate(sizes[:-1], initial=0))


def vector(flat, start, size):
    """Return a (size,) view of a flat array, and where it ends."""
    end = start + size
    return flat[start:end], end


@overload(vector, jit_options=PART, strict=False)
def _compiled_vector(flat: Any, start: Any, size: Any) -> Any:
    return lambda flat, start, size: (_row_view(flat, start, size), start + size)


def matrix(flat, start, rows, columns):
    """Return a (rows, columns) view of a flat array, and where it ends."""
    end = start + rows * columns
    return flat[start:end].reshape((rows, columns)), end


@overload(matrix, jit_options=PART, strict=False)
def _compiled_matrix(flat: Any, start: Any, rows: Any, columns: Any) -> Any:
    return lambda flat, start, rows, columns: (_table_view(flat, start, rows, columns),
                                               start + rows * columns)


def length_of(carve: Callable[..., Any], *sizes: int) -> int:
    """Return the memory length for ``carve``, whose last result is the end."""
    # One number, seen as an array without end: it can be cut up and costs nothing.
    memory = np.broadcast_to(np.zeros(()), (np.iinfo(np.int32).max,))
    return int(as_python(carve)(memory, *sizes)[-1])


@dataclass(frozen=True)
class Size:
    """A length that is known only for a robot, a multiple of one of its sizes and more."""

    name: str
    factor: int = 1
    more: int = 0

    def __rmul__(self, factor: int) -> Size:
        return Size(self.name, factor * self.factor, factor * self.more)

    def __add__(self, more: int) -> Size:
        return Size(self.name, self.factor, self.more + more)


@dataclass(frozen=True)
class _Shape:
    lengths: tuple[int | Size, ...]
    dtype: type

    def of(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(one.factor * int(sizes[one.name]) + one.more if isinstance(one, Size) else one
                     for one in self.lengths)


def floats(*lengths: int | Size) -> Any:
    """Return the description of an array of floats, for :func:`allocated`."""
    return _Shape(lengths, float)


def integers(*lengths: int | Size) -> Any:
    """Return the description of an array of integers, for :func:`allocated`."""
    return _Shape(lengths, np.int64)


def allocated(described: Arrays, sizes: Mapping[str, int]) -> tuple[Arrays, np.ndarray]:
    """Return zeroed arrays for descriptions, and the memory of all floats, which lie in order."""
    def leaves(one: Any) -> list[Any]:
        return [leaf for each in one for leaf in leaves(each)] if isinstance(one, tuple) else [one]

    def filled(one: Any) -> Any:
        if isinstance(one, tuple):
            return type(one)(*map(filled, one))
        if not isinstance(one, _Shape):
            return one
        shape = one.of(sizes)
        if one.dtype is not float:
            return np.zeros(shape, one.dtype)
        start = next(starts)
        return flat[start:start + math.prod(shape)].reshape(shape)

    lengths = [math.prod(one.of(sizes)) for one in leaves(described)
               if isinstance(one, _Shape) and one.dtype is float]
    flat, starts = np.zeros(sum(lengths)), itertools.accumulate(lengths, initial=0)
    return filled(described), flat


# -------------------------------------------------------------------------------------------------
# Reading and writing tuples in 2-D arrays with one body a row, by row and first column.
#
# Inside a loop with branches a row used as an array of its own (``bodies[i]``) is reference
# counted, which takes 20 ns each time; an element accessed by both indices is not.


@part
def get3(table, i, c):
    """Return the vector at row i, column c."""
    return table[i, c], table[i, c + 1], table[i, c + 2]


@part
def get6(table, i, c):
    """Return the symmetric matrix at row i, column c: (xx, xy, xz, yy, yz, zz)."""
    return get3(table, i, c) + get3(table, i, c + 3)


@part
def get9(table, i, c):
    """Return the 3x3 matrix, by rows, at row i, column c."""
    return get3(table, i, c) + get3(table, i, c + 3) + get3(table, i, c + 6)


@part
def put3(table, i, c, v):
    """Write a vector at row i, column c."""
    table[i, c] = v[0]
    table[i, c + 1] = v[1]
    table[i, c + 2] = v[2]


@part
def put6(table, i, c, m):
    """Write a symmetric matrix (xx, xy, xz, yy, yz, zz) at row i, column c."""
    put3(table, i, c, m)
    put3(table, i, c + 3, (m[3], m[4], m[5]))


@part
def put9(table, i, c, m):
    """Write a 3x3 matrix, by rows, at row i, column c."""
    put3(table, i, c, m)
    put3(table, i, c + 3, (m[3], m[4], m[5]))
    put3(table, i, c + 6, (m[6], m[7], m[8]))
