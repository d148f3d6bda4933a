# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Parts of a flat array as arrays of their own, in compiled code: an address and a shape.

Slicing and reshaping call a routine of numba's for every view, at 13 ns. These views are as long
as they are said to be, whether the array is or not, and count no references: a kernel may work on
them, and not hand them out to Python.
"""
from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


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
def row_view(typing: Any, flat: Any, start: Any, size: Any) -> Any:
    """Return a (size,) view of a flat array from ``start`` on."""
    return _of(flat, 1)


@intrinsic
def table_view(typing: Any, flat: Any, start: Any, rows: Any, columns: Any) -> Any:
    """Return a (rows, columns) view of a flat array from ``start`` on."""
    return _of(flat, 2)
