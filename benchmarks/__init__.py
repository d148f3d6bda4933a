# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Speed side by side with the peers: each file times ours and a peer's in one process."""
