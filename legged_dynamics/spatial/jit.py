# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How every kernel of the package is compiled.

A kernel is a plain function on floats, tuples and arrays, without checks: the public function
beside it does those. With ``NUMBA_DISABLE_JIT=1`` the same text runs as ordinary Python.
"""
from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import njit, typeof
from numba.extending import register_jitable

from legged_dynamics.spatial.kernel_cache import PACKAGE, keep, once
from legged_dynamics.spatial.linking import KernelPipeline, PartPipeline

# numpy's error model: a division by zero gives inf or nan, as in C, and is caught where the
# result is checked. No 'fastmath', not even 'contract': which products the compiler fuses with a
# sum depends on what it pastes into what, so that a kernel just compiled rounds otherwise than
# the same one read from disk, and a replay otherwise than the robot.
_ARITHMETIC: dict[str, Any] = {'error_model': 'numpy'}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function called from Python, and cache its machine code."""
    return _compiled(function, {})


def lean_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that allocates no memory; an array then costs 25 ns instead of 55."""
    return _compiled(function, {'_nrt': False})


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    found = keep(njit(pipeline_class=KernelPipeline, **options, **_ARITHMETIC)(function))
    if hasattr(found, 'py_func'):       # with NUMBA_DISABLE_JIT it is plain Python
        # Other kernels take it in as a part.
        inside = once(njit(**{**PART, '_nrt': True, **options})(function))
        found.get_call_template, found.get_overload = inside.get_call_template, inside.get_overload
    return found


# What only kernels call; called from Python it runs as Python. Without an entry of its own it
# takes half as long to compile, and once, not once for every constant index it is called with.
PART: dict[str, Any] = {'_nrt': False, 'no_cpython_wrapper': True, 'no_cfunc_wrapper': True,
                        'pipeline_class': PartPipeline, **_ARITHMETIC}
part = register_jitable(**PART)


# As `part`, and always pasted in: a call inside a loop would keep it from being made a vector, and
# of what has many arrays a call copies all.
inlined_part = register_jitable(forceinline=True, **PART)


_as_python: dict[Any, Callable[..., Any]] = {}


def as_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel as Python with all that it calls, for a call too rare to compile."""
    plain = getattr(function, 'py_func', function)
    found = _as_python.get(plain)
    if found is None:
        names = dict(plain.__globals__)
        found = _as_python[plain] = FunctionType(plain.__code__, names, plain.__name__,
                                                 plain.__defaults__, plain.__closure__)
        for name in plain.__code__.co_names:
            called = getattr(names.get(name), 'py_func', names.get(name))
            if isinstance(called, FunctionType) and called.__module__.startswith(PACKAGE):
                names[name] = as_python(called)
    return found


def compile_ahead(function: Callable[..., Any], *arguments: Any) -> None:
    """Compile a kernel for the types of these arguments, without running it."""
    if hasattr(function, 'compile'):
        function.compile(tuple(map(typeof, arguments)))


def compile_only_for(function: Callable[..., Any], *arguments: Any) -> None:
    """Run a kernel once; other types then raise TypeError instead of seconds of compiling."""
    function(*arguments)
    if hasattr(function, 'disable_compile'):
        function.disable_compile()
