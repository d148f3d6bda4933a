# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""How every kernel of the package is compiled.

A kernel is a plain function on floats, tuples and arrays, without checks: the public function
beside it does those. With ``NUMBA_DISABLE_JIT=1`` the same text runs as ordinary Python.
"""
from numba import njit

# numpy's error model: a division by zero gives inf or nan, as in C, and is caught where the
# result is judged. 'contract' lets the compiler fuse multiply and add, and nothing else:
# NaN and infinity keep their meaning.
kernel = njit(cache=True, error_model='numpy', fastmath={'contract'})
