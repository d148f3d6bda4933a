# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of the nodes that hold a robot's body: controller, targets, and what they publish."""
