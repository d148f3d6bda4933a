# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Tuples of arrays that kernels take by one address.

A call of a kernel looks at every array of its arguments: 4 us for a NamedTuple of thirty.
:func:`pack` does so once and keeps addresses and shapes; a kernel that gets these begins with
:func:`opened`. A copy of a pack is no pack of a copy: it refers to the same arrays.

This rests on how Numba lays out arrays in memory, and tests fail where a release changes that.
Its supported ways were measured on thirty arrays: a call that takes the tuple 5.5 us, a pack 0.5,
a structref 1.2, a jitclass 0.8. Both count references, which lean kernels do not, and a kernel
that takes a jitclass cannot be kept on disk.
"""
from __future__ import annotations

import hashlib
import weakref
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from legged_dynamics.spatial.jit import PART

# Types of the tuples by the name that a pack carries.
_KINDS: dict[str, types.Type] = {}


def pack(arrays: Any) -> Any:
    """Return a (1,) record array of addresses and shapes; the arrays must outlive it."""
    if numba.config.DISABLE_JIT:
        return arrays
    kind = numba.typeof(arrays)
    name = hashlib.sha256(str(kind).encode()).hexdigest()[:16]
    _KINDS[name] = kind
    memory = np.array(_words(arrays), np.int64)
    packed = memory.view([(name, np.int64, memory.shape)])
    weakref.finalize(packed, len, arrays).atexit = False
    return packed


def opened(packed):
    """Return a packed tuple by its address, for lean kernels; a tuple is unchanged."""
    return packed


@overload(opened, jit_options={**PART, 'forceinline': True}, strict=False)
def _compiled_opened(packed: Any) -> Any:
    if isinstance(packed, types.BaseTuple):
        return lambda packed: packed
    return lambda packed: _load(packed)


def _words(arrays: Any) -> list[int]:
    """Return owners (none), sizes, address, shape and strides, as compiled code has them."""
    if isinstance(arrays, tuple):
        return [word for part in arrays for word in _words(part)]
    return [0, 0, arrays.size, arrays.itemsize, arrays.ctypes.data, *arrays.shape,
            *arrays.strides]


@intrinsic
def _load(typing: Any, packed: Any) -> Any:
    """Return a stored tuple."""
    name, = packed.dtype.fields
    found = _KINDS[name]

    def part(builder: Any, pointer: Any, kind: Any) -> Any:
        # Number by number: the compiler leaves out what is not used.
        if not hasattr(kind, 'elements'):
            return builder.load(pointer)
        value = kind(None)
        for k, element in enumerate(kind.elements):
            value = builder.insert_value(
                value, part(builder, cgutils.gep_inbounds(builder, pointer, 0, k), element), k)
        return value

    def make(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(found)
        data = make_array(signature.args[0])(context, builder, args[0]).data
        return part(builder, builder.bitcast(data, kind.as_pointer()), kind)
    return found(packed), make
