# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
How pip builds the package: by setuptools, with what compiles the kernels of a wheel at hand.

An editable install compiles nothing, nor does a build with LEGGED_DYNAMICS_COMPILE=0: kernels are
then compiled when they are first used. Names of nodes there, with commas between: theirs alone.
"""
from __future__ import annotations

import os
from importlib.util import find_spec

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

# What every part of the package needs. Caches of kernels use names that numba keeps to itself: a
# new version is tried first.
NEEDS = ['numpy>=1.26', 'scipy>=1.11', 'numba>=0.58.1,<0.69', 'transforms3d>=0.4.2', 'pyyaml>=6']
# The variable that says so.
SWITCH = 'LEGGED_DYNAMICS_COMPILE'


def compiles() -> bool:
    """Return whether kernels are compiled while the package is built."""
    return os.environ.get(SWITCH, '1') != '0'


def can_compile() -> bool:
    """Return whether they are to be, and what does so is installed."""
    return compiles() and all(map(find_spec, ('numpy', 'scipy', 'numba', 'transforms3d', 'yaml')))


def get_requires_for_build_wheel(config_settings: dict | None = None) -> list[str]:
    """Return what the build needs besides setuptools."""
    return build_meta.get_requires_for_build_wheel(config_settings) + (NEEDS if compiles() else [])
