# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the ground-reaction report and of the force map, one a file."""
