# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How every kernel of the package is compiled.

A kernel is a plain function on floats, tuples and arrays, without checks: the public function
beside it does those. With ``NUMBA_DISABLE_JIT=1`` the same text runs as ordinary Python.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# numpy's error model: a division by zero gives inf or nan, as in C, and is caught where the
# result is judged. 'contract' lets the compiler fuse multiply and add, and nothing else:
# NaN and infinity keep their meaning.
kernel = njit(cache=True, error_model='numpy', fastmath={'contract'})


def as_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python text of a kernel, for a call too rare to be worth compiling."""
    return getattr(function, 'py_func', function)
