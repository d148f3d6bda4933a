# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Gait of a whole recording, off line: when each foot stands, and which foot bears what meanwhile.

:mod:`.double_support` is where a caller begins. It asks :mod:`.stance_detection` when feet stand,
:mod:`.ground_demand` what the motion asks of the ground, :mod:`.load_transfer` how feet that stand
together share it, and :mod:`.wrench_completion` for the wrench that goes with each foot's load.
"""
