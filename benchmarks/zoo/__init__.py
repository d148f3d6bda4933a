# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many robots on many grounds, recorded in MuJoCo, and one way to score who estimates forces."""
