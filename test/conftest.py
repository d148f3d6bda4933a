# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Settings of the whole suite."""
import os
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure(config):
    """Keep compiled kernels apart for every state of the sources (see the Makefile)."""
    if 'NUMBA_CACHE_DIR' not in os.environ:
        digest = 0
        for path in sorted((ROOT / 'legged_dynamics').rglob('*.py')):
            digest = zlib.crc32(path.read_bytes(), digest)
        os.environ['NUMBA_CACHE_DIR'] = str(ROOT / '.venv' / 'numba' / f'{digest:08x}')
