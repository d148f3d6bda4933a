# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""``python -m legged_dynamics.cli``, the same as ``python -m legged_dynamics``."""
import runpy

runpy.run_module('legged_dynamics', run_name=__name__)
