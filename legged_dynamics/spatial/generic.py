# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The processor that kernels are compiled for ahead; numba, which reads it, is not imported."""
from __future__ import annotations

import os
import platform

# The least of each kind: x86-64 of 2009 on, or whatever a processor has by name.
GENERIC = {'x86_64': 'x86-64-v2', 'AMD64': 'x86-64-v2'}.get(platform.machine(), 'generic')


def compile_for_any() -> None:
    """Compile for any processor of this kind from now on; before numba is imported."""
    os.environ |= {'NUMBA_CPU_NAME': GENERIC, 'NUMBA_CPU_FEATURES': '',
                   'NUMBA_DISABLE_INTEL_SVML': '1'}
