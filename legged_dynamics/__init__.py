# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Ground reactions, force maps and body control for legged robots without foot sensors."""
from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version('legged_dynamics')
except PackageNotFoundError:        # running from a source tree that is not installed
    __version__ = 'unknown'

__all__ = ['__version__']
