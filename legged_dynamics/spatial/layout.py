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

Where arrays of several shapes share one flat memory, one text cuts them out in order, with
`vector` and `matrix`, for the kernel and for Python; `length_of` asks that same text how much
memory it takes.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from legged_dynamics.spatial.jit import as_python, part

# A NamedTuple of ints.
Sizes = TypeVar('Sizes', bound=tuple)


def offsets(sizes: Sizes) -> Sizes:
    """
    Return where each field begins in a row that holds them one after another.

    Parameters
    ----------
    sizes : NamedTuple of int
        How many numbers each field takes. A last one of size 0 becomes the length of all.

    """
    return type(sizes)(*itertools.accumulate(sizes[:-1], initial=0))


@part
def vector(flat, start, size):
    """Return a (size,) view of a flat array, and where it ends."""
    end = start + size
    return flat[start:end], end


@part
def matrix(flat, start, rows, columns):
    """Return a (rows, columns) view of a flat array, and where it ends."""
    end = start + rows * columns
    return flat[start:end].reshape((rows, columns)), end


def length_of(carve: Callable[..., Any], *sizes: int) -> int:
    """
    Return how many numbers a memory must have for the text that cuts it up.

    Parameters
    ----------
    carve : function of (memory, *sizes)
        Returns where the last part ends as its last result.
    sizes : int
        What it takes beside the memory.

    """
    # One number, seen as an array without end: it can be cut up and costs nothing.
    endless = np.broadcast_to(np.zeros(()), (np.iinfo(np.int32).max,))
    return int(as_python(carve)(endless, *sizes)[-1])
