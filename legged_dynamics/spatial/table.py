# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Tuples in and out of 2-D arrays that hold one body a row, by row and first column.

Inside a loop with branches a row taken as an array of its own (``bodies[i]``) is reference
counted, at 20 ns each time; an element taken by both indices is not.
"""
from __future__ import annotations

from legged_dynamics.spatial.jit import part


@part
def get3(table, i, c):
    """Read a vector."""
    return table[i, c], table[i, c + 1], table[i, c + 2]


@part
def get6(table, i, c):
    """Read a symmetric matrix."""
    return (table[i, c], table[i, c + 1], table[i, c + 2], table[i, c + 3], table[i, c + 4],
            table[i, c + 5])


@part
def get9(table, i, c):
    """Read a rotation or any 3x3 matrix."""
    return (table[i, c], table[i, c + 1], table[i, c + 2], table[i, c + 3], table[i, c + 4],
            table[i, c + 5], table[i, c + 6], table[i, c + 7], table[i, c + 8])


@part
def put3(table, i, c, v):
    """Write a vector."""
    table[i, c] = v[0]
    table[i, c + 1] = v[1]
    table[i, c + 2] = v[2]


@part
def put6(table, i, c, m):
    """Write a symmetric matrix."""
    put3(table, i, c, m)
    put3(table, i, c + 3, (m[3], m[4], m[5]))


@part
def put9(table, i, c, m):
    """Write a rotation or any 3x3 matrix."""
    put3(table, i, c, m)
    put3(table, i, c + 3, (m[3], m[4], m[5]))
    put3(table, i, c + 6, (m[6], m[7], m[8]))
